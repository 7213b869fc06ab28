"""A folder of tables: one series per file, one time point per row."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mvdfq.io.dataset import Dataset, ReadError, check_inside
from mvdfq.io.formats import Format, Glimpse
from mvdfq.io.source import Source
from mvdfq.io.tables.column_roles import COLUMNS, Columns, Roles, is_bare_series, looked_at
from mvdfq.io.tables.csv_tables import Table, is_value, named_rows, table_of
from mvdfq.io.tables.long_tables import Growing

__all__ = ["FORMAT"]

METADATA = "metadata.csv"
ENDING = re.compile(r"\.(csv|tsv)(\.gz)?$", re.IGNORECASE)


def _is_csv_folder(glimpse: Glimpse) -> bool:
    """Is this one series, or a folder with a table whose first lines hold a number?"""
    if not glimpse.path.is_dir():
        return _is_one_series(glimpse)
    files = csv_files(glimpse.path)
    return bool(files) and any(re.search(r"\d", line) for line in Glimpse(files[0]).lines)


def _is_one_series(glimpse: Glimpse) -> bool:
    """Is there a column of times, and are all other columns numbers, and not ids or labels?"""
    looked = looked_at(glimpse)
    if looked is None:
        return False
    roles, rows = looked
    numbers = all(is_value(row[i]) for row in rows for i in roles.channels)
    is_timed = roles.is_clock or is_bare_series(roles, rows)
    return is_timed and numbers and not {"id", "label"} & {*roles.places}


def csv_files(folder: Path) -> list[Path]:
    """Return the tables in a folder and its sub-folders, without hidden files and metadata.csv."""
    found = (path for path in folder.rglob("*") if ENDING.search(path.name))
    named = [(path.relative_to(folder), path) for path in found if path.name != METADATA]
    for _, path in named:
        check_inside(path, folder)
    return [path for name, path in sorted(named) if not re.search(r"(^|/)\.", name.as_posix())]


def read_csv_folder(source: Source, **options: Any) -> Dataset:
    """Read one series per file; `read_series` says which options there are.

    The source is a folder, or one or several files as they lie in such a folder.
    """
    columns = Columns(**options)
    named = list(_named_files(source))
    growing = Growing(source, columns)
    facts = _facts(source, [path for _, path in named], columns)
    for i, (name, path) in enumerate(named):
        who = growing.code("id", [name])[0]
        growing.paths[int(who)] = path
        file = Source(path, max_bytes=source.max_bytes, remarks=source.remarks)
        try:
            _add_file(growing, file, name, facts(path))
        except ReadError as error:
            growing.spoil(who, error.problem, error.hint)
        source.tell(i + 1, len(named))
    if not growing.chunks:
        source.fail("no file that can be read", str(next(iter(growing.bad.values()))))
    return growing.dataset()


def _named_files(source: Source) -> Iterator[tuple[str, Path]]:
    """Yield the name of each series and its file; files in a folder are named from the folder."""
    if not source.path.is_dir():
        yield from ((path.as_posix(), path) for path in source.files or [source.path])
        return
    files = csv_files(source.path)
    if not files:
        source.fail("no .csv file in the folder")
    yield from ((file.relative_to(source.path).as_posix(), file) for file in files)


def _facts(source: Source, files: Sequence[Path], columns: Columns) -> Any:
    """Return a function that gives label and group of a file, by metadata.csv or sub-folder."""
    if (source.path / METADATA).is_file():
        check_inside(source.path / METADATA, source.path)
        listed = _metadata(Source(source.path / METADATA), columns)
        return lambda path: _listed(listed, path, source.path)
    # A label that the user names stands in the files; one file has no sub-folder.
    if columns.label != "label" or not source.path.is_dir():
        return lambda path: {}
    depths = {len(path.relative_to(source.path).parts) for path in files}
    if depths == {1}:
        return lambda path: {}
    if depths != {2}:
        hint = f"make one folder per class, or write {METADATA} with file_name,label"
        source.fail("files must all lie in the folder, or all in sub-folders of the folder", hint)
    return lambda path: {"label": path.parent.name}


def _metadata(source: Source, columns: Columns) -> dict[str, dict[str, str]]:
    keys = {"label": str(columns.label), "group": str(columns.group)}
    listed: dict[str, dict[str, str]] = {}
    for line, row in named_rows(source, ["file_name"], list(keys.values())):
        if row["file_name"] in listed:
            source.fail(f"line {line}: {row['file_name']!r} a second time")
        listed[row["file_name"]] = {key: row[name] for key, name in keys.items() if name in row}
    return listed


def _listed(listed: Mapping[str, dict[str, str]], path: Path, folder: Path) -> dict[str, str]:
    name = path.relative_to(folder).as_posix()
    if name not in listed:
        raise ReadError(path, f"not listed in {METADATA}")
    return listed[name]


def _add_file(growing: Growing, file: Source, name: str, facts: Mapping[str, str]) -> None:
    """Add a file whose rows are time points and whose header names the channels."""
    table = table_of(file)
    roles = _roles(growing, file, table, facts)
    n_cells, done = len(table.header), 0
    for chunk in table.chunks():
        for line, row in chunk:
            if len(row) != n_cells:
                file.fail(f"line {line}: {len(row)} cells, the first line has {n_cells}")
        lines, cells = zip(*chunk, strict=True)
        keyed = roles.by_key(list(zip(*cells, strict=True)))
        keyed |= {key: [word] * len(lines) for key, word in {"id": name, **facts}.items()}
        growing.add(lines, keyed, roles)
        done += len(lines)
    if not done:
        file.fail("a header, but no values")


def _roles(growing: Growing, file: Source, table: Table, facts: Mapping[str, str]) -> Roles:
    """Return the role of each column; compare the channels with the channels of the first file."""
    columns = Columns.of({**vars(growing.columns), **{key: key for key in facts}})
    roles = columns.find(file, table.header, table.sample)
    roles = replace(roles, places={k: i for k, i in roles.places.items() if k != "id"})
    if "label" in facts and "label" in roles.places:
        hint = f"labels come from sub-folders or {METADATA}; a long table is one file"
        name = table.header[roles.places["label"]]
        file.fail(f"line 1: a column {name!r} within one series", hint)
    if growing.roles is None:
        growing.roles, growing.is_named = roles, table.is_named
    channels = growing.channels
    if set(roles.names) != set(channels) or table.is_named != growing.is_named:
        hint = "channels=NAMES names the columns that all files have"
        file.fail(f"line 1: channels {roles.names[:20]}, other files have {channels[:20]}", hint)
    if not channels:
        file.fail("line 1: no column besides times and labels")
    return roles


FORMAT = Format(
    "csv-folder",
    _is_csv_folder,
    read_csv_folder,
    options=tuple(name for name in COLUMNS if name != "id"),
    is_series=True,
    takes_many=True,
)

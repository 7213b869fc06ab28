"""One time point per row: long tables, and folders with one table per series."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mvdfq.io.dataset import Dataset, Format
from mvdfq.io.source import Glimpse, ReadError, Source, files_in
from mvdfq.io.tables.column_roles import COLUMNS, Columns, Roles, how_to_name, text_layout
from mvdfq.io.tables.csv_tables import METADATA, TABLES, table_of
from mvdfq.io.tables.growing import Growing

ENDING = re.compile(r"\.(csv|tsv)(\.gz)?$", re.IGNORECASE)
NO_ROWS = "a header, but no rows"


def long_dataset(source: Source, columns: Columns, table: Any) -> Dataset:
    """Read the rows of a table, each a time point of the sequence that its id names."""
    roles = columns.find(source, table.header, table.sample, table.index)
    if "id" not in roles.places and not roles.has_runs:
        source.fail("line 1: no column of ids", how_to_name("id", roles.header))
    if "" in roles.names:
        source.fail(f"line 1: column {roles.header.index('') + 1} has no name")
    if not roles.channels:
        source.fail("line 1: no column besides id, time, label and group")
    growing = Growing(source, columns, roles, is_named=table.is_named, row=table.row)
    _add_rows(growing, source, table, roles, {})
    return growing.dataset()


def _add_rows(
    growing: Growing, file: Source, table: Any, roles: Roles, facts: Mapping[str, str]
) -> None:
    """Add the rows of a table; `facts` are the same in all rows: the name and label of a file."""
    # a run of rows has a label
    place, n_rows = roles.places.get("id", roles.places.get("label", 0)), 0
    for lines, cells, torn in table.batches(roles.places.values()):
        for line, row in torn:  # its sequence is spoilt
            above = "header" if table.is_named else "first line"
            problem = f"line {line}: {len(row)} cells, the {above} has {len(table.header)}"
            if "id" in facts:
                file.fail(problem)
            if not (name := row[place] if place < len(row) else ""):
                file.fail(f"line {line}: no id or label")
            growing.spoil(growing.code("id", [name])[0], problem)
        if not lines:
            continue
        keyed = roles.by_key(cells) | {key: [word] * len(lines) for key, word in facts.items()}
        who = list(keyed["id" if "id" in keyed else "label"])
        if "" in who:
            file.fail(f"{table.row} {lines[who.index('')]}: no id or label")
        growing.add(lines, keyed, roles)
        n_rows += len(lines)
    if not n_rows:
        file.fail(NO_ROWS)


LONG_CSV = Format(
    "long-csv",
    lambda glimpse: text_layout(glimpse) == "long",
    lambda source, **options: long_dataset(source, Columns(**options), table_of(source)),
    options=COLUMNS,
    extensions=TABLES,
)


def _is_csv_folder(glimpse: Glimpse) -> bool:
    """Is this one series, or a folder with a table whose first lines hold a number?"""
    if not glimpse.path.is_dir():
        return text_layout(glimpse) == "one"
    return any(re.search(r"\d", line) for file in csv_files(glimpse.path)[:1]
               for line in Glimpse(file).lines)  # fmt: skip


def csv_files(folder: Path) -> list[Path]:
    """Return the tables in a folder and its sub-folders, without hidden files and metadata.csv."""
    return [path for path in files_in(folder, ENDING) if path.name != METADATA]


def read_csv_folder(source: Source, elsewhere: bool = False, **options: Any) -> Dataset:
    """Read one series per file of a folder; sub-folders are labels, unless those are elsewhere."""
    columns, root = Columns(**options), source.path
    # files in a folder are named from the folder
    named = [(path.as_posix(), path) for path in source.files or [root]]
    if root.is_dir():
        named = [(path.relative_to(root).as_posix(), path) for path in csv_files(root)]
    if not named:
        source.fail("no .csv file in the folder")
    depths = {name.count("/") for name, _ in named}
    # A label that the user names stands in the files; one file has no sub-folder.
    by_folder = not elsewhere and columns.label == "label" and root.is_dir() and depths != {0}
    if by_folder and depths != {1}:
        hint = "make one folder per class, or pass labels=TABLE or label_pattern='/([^/.]+)'"
        source.fail("files must all lie in the folder, or all in sub-folders of the folder", hint)
    facts = [{"label": path.parent.name} if by_folder else {} for _, path in named]
    tables = [(*one, table_of, told) for one, told in zip(named, facts, strict=True)]
    return series_dataset(source, columns, tables)


def series_dataset(
    source: Source,
    columns: Columns,
    tables: Sequence[tuple[str, Path, Callable[[Source], Any], Mapping[str, str]]],
    row: str = "line",
) -> Dataset:
    """Read tables of one series each, given as name, path, what opens it, and label and group."""
    growing = Growing(source, columns, row=row)
    for i, (name, path, opened, facts) in enumerate(tables):
        who = growing.code("id", [name])[0]
        growing.paths[int(who)] = path
        file = Source(path, max_bytes=source.max_bytes, remarks=source.remarks)
        try:
            table = opened(file)
            roles = _roles(growing, file, table, facts)
            _add_rows(growing, file, table, roles, {"id": name, **facts})
        except ReadError as error:
            growing.spoil(who, error.problem, error.hint)
        source.tell(i + 1, len(tables))
    if not growing.chunks:
        source.fail("no file that can be read", str(next(iter(growing.bad.values()))))
    return growing.dataset()


def _roles(growing: Growing, file: Source, table: Any, facts: Mapping[str, str]) -> Roles:
    """Return the role of each column; compare the channels with the channels of the first file."""
    columns = Columns.of({**vars(growing.columns), **{key: key for key in facts}})
    roles = columns.find(file, table.header, table.sample, table.index)
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


CSV_FOLDER = Format(
    "csv-folder",
    _is_csv_folder,
    read_csv_folder,
    options=(*(name for name in COLUMNS if name != "id"), "elsewhere"),
    takes_many=True,
)

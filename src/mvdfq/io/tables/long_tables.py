"""One time point per row: long tables, Parquet, and folders with one table per series."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mvdfq.io.dataset import Dataset, Format
from mvdfq.io.source import Glimpse, ReadError, Source, check_inside, unchanged
from mvdfq.io.tables.column_roles import (
    COLUMNS,
    Columns,
    Roles,
    how_to_name,
    is_bare_series,
    looked_at,
)
from mvdfq.io.tables.csv_tables import (
    CHUNK,
    LOOK,
    METADATA,
    TABLES,
    Table,
    is_value,
    named_rows,
    table_of,
)
from mvdfq.io.tables.growing import Growing

ENDING = re.compile(r"\.(csv|tsv)(\.gz)?$", re.IGNORECASE)


def _is_long(glimpse: Glimpse) -> bool:
    """Is there a column of ids, and a column of times or ids that repeat?"""
    looked = looked_at(glimpse)
    if looked is None:
        return False
    roles, rows = looked
    if glimpse.options.get("id", "id") != "id":
        return True
    if roles.has_runs:
        return True
    ids = [row[roles.places["id"]] for row in rows] if "id" in roles.places else []
    return bool(ids) and (roles.is_clock or 2 * len(set(ids)) <= len(ids))


def read_long(source: Source, **options: Any) -> Dataset:
    """Read a table with one time point per row; `read_series` says which options there are."""
    columns, table = Columns(**options), table_of(source)
    roles = columns.find(source, table.header, table.sample)
    check_long(source, roles)
    growing = Growing(source, columns, roles, is_named=table.is_named)
    id = roles.places.get("id", roles.places.get("label", 0))  # a run has a label
    for chunk in table.chunks():
        kept = [row for row in chunk if len(row[1]) == len(table.header) and row[1][id]]
        if len(kept) < len(chunk):
            _spoil_torn(growing, chunk, len(table.header), id)
        if kept:
            lines, cells = zip(*kept, strict=True)
            growing.add(lines, roles.by_key(list(zip(*cells, strict=True))), roles)
    if not growing.chunks:
        source.fail("a header, but no lines that can be read")
    return growing.dataset()


def check_long(source: Source, roles: Roles) -> None:
    """Refuse a table that cannot be a long table."""
    if "id" not in roles.places and not roles.has_runs:
        source.fail("line 1: no column of ids", how_to_name("id", roles.header))
    if "" in roles.names:
        source.fail(f"line 1: column {roles.header.index('') + 1} has no name")
    if not roles.channels:
        source.fail("line 1: no column besides id, time, label and group")


def _spoil_torn(
    growing: Growing, chunk: list[tuple[int, list[str]]], n_cells: int, id: int
) -> None:
    """Spoil the sequences of rows that lack cells; such a row must have an id."""
    for line, cells in chunk:
        name = cells[id] if id < len(cells) else ""
        if not name:
            growing.source.fail(f"line {line}: no id or label")
        if len(cells) != n_cells:
            who = growing.code("id", [name])[0]
            growing.spoil(who, f"line {line}: {len(cells)} cells, the header has {n_cells}")


LONG_CSV = Format("long-csv", _is_long, read_long, options=COLUMNS, extensions=TABLES)


def read_parquet(source: Source, **options: Any) -> Dataset:
    """Read a Parquet file; `read_series` says which options there are."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        source.fail("reading Parquet needs pyarrow", "pip install pyarrow")
    try:
        with (
            open(source.path, "rb") as raw,
            unchanged(raw, source.path),
            ParquetFile(source.path) as file,
        ):
            return _read_batches(source, Columns(**options), file)
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        source.fail(f"the file is damaged or cut short ({error})"[:300])


def _read_batches(source: Source, columns: Columns, file: Any) -> Dataset:
    header = file.schema_arrow.names
    first: Any = next(file.iter_batches(batch_size=LOOK), [])
    sample = zip(*(_arrow_cells(source, column, True) for column in first), strict=True)
    roles = columns.find(source, header, list(sample), _index_names(file.schema_arrow.metadata))
    check_long(source, roles)
    places = roles.places
    growing = Growing(source, columns, roles, row="row")
    size, done = file.metadata.num_rows, 0
    if size * len(header) * 8 > source.max_bytes:
        source.fail(f"{size} rows of {len(header)} columns", "max_bytes allows more")
    for batch in file.iter_batches(batch_size=CHUNK):
        cells = [
            _arrow_cells(source, column, i in places.values()) for i, column in enumerate(batch)
        ]
        rows = range(done + 1, done + 1 + len(batch))
        if "" in cells[places["id"]]:
            source.fail(f"row {rows[cells[places['id']].index('')]}: no id")
        growing.add(rows, roles.by_key(cells), roles)
        done += len(batch)
        source.tell(done, size)
    if not done:
        source.fail("a table without rows")
    return growing.dataset()


def _index_names(metadata: Mapping[bytes, bytes] | None) -> set[str]:
    """Return the columns that pandas wrote as the index of a data frame, by the file's metadata."""
    try:
        listed = json.loads((metadata or {})[b"pandas"])["index_columns"]
    except (KeyError, TypeError, ValueError, RecursionError):  # not pandas, or not its metadata
        return set()
    # A range of numbers is a dictionary, and no column.
    return {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()


def _arrow_cells(source: Source, column: Any, as_text: bool) -> Any:
    """A column: numbers become floats, all else becomes text, a missing value empty text."""
    from pyarrow import types

    kind = column.type
    is_numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    if is_numeric and not as_text:
        return column.cast("float64", safe=False).to_numpy(zero_copy_only=False)
    if types.is_nested(kind) or types.is_binary(kind):
        source.fail(f"a column of type {kind}", "numbers, text and times are read")
    if types.is_timestamp(kind) or types.is_date(kind):
        return [str(value) for value in column.cast("timestamp[ns]").to_numpy(zero_copy_only=False)]
    return ["" if value is None else str(value) for value in column.to_pylist()]


PARQUET = Format(
    "parquet",
    lambda glimpse: glimpse.start.startswith(b"PAR1"),
    read_parquet,
    options=COLUMNS,
    extensions=("parquet",),
)


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


CSV_FOLDER = Format(
    "csv-folder",
    _is_csv_folder,
    read_csv_folder,
    options=tuple(name for name in COLUMNS if name != "id"),
    takes_many=True,
)

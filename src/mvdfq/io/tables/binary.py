"""Tables in files that are not plain text: Parquet, Feather, Excel and JSON."""

import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial, wraps
from typing import Any

import numpy as np

from mvdfq.io.dataset import Dataset, Format
from mvdfq.io.source import Glimpse, ReadError, Source, unchanged
from mvdfq.io.tables.arrays import damage_is_said
from mvdfq.io.tables.column_roles import COLUMNS
from mvdfq.io.tables.csv_tables import CHUNK, Table, table_from
from mvdfq.io.tables.in_memory import Frame, columns_dataset, table_dataset
from mvdfq.sequences.tables import TableColumns, as_column, columns_of

# Bytes of a JSON file; as objects of Python its numbers take about ten times as much.
LARGEST_JSON = 2**28


def _named(read: Callable[..., Dataset]) -> Callable[..., Dataset]:
    """Return a reader whose errors name the file."""

    @wraps(read)
    def run(source: Source, **options: Any) -> Dataset:
        try:
            return read(source, **options)
        except ReadError:
            raise
        except (ValueError, OverflowError) as error:
            source.fail(str(error))

    return run


def _begins(mark: bytes, glimpse: Glimpse) -> bool:
    return glimpse.start.startswith(mark)


@_named
def read_arrow(source: Source, **options: Any) -> Dataset:
    """Read a Parquet file, or a Feather file, which is an Arrow file, batch by batch."""
    try:
        import pyarrow
        from pyarrow.dataset import dataset
    except ImportError:
        source.fail("reading Parquet and Feather needs pyarrow", "pip install pyarrow")
    kind = "parquet" if Glimpse(source.path).start.startswith(b"PAR1") else "feather"
    try:
        with open(source.path, "rb") as raw, unchanged(raw, source.path):
            table = dataset(source.path, format=kind)
            _check_arrow(source, pyarrow, table.schema, table.count_rows())
            return _from_batches(source, pyarrow, table, options)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        source.fail(f"the file is damaged or cut short ({error})"[:300])


def _check_arrow(source: Source, arrow: Any, schema: Any, size: int) -> None:
    """Refuse a table that is too large, or empty, or holds what is not a value."""
    if size * len(schema.names) * 8 > source.max_bytes:
        source.fail(f"{size} rows of {len(schema.names)} columns", "max_bytes allows more")
    if not size or not schema.names:
        source.fail("a table without rows")
    for name, kind in zip(schema.names, schema.types, strict=True):
        if arrow.types.is_binary(kind) or arrow.types.is_struct(kind):
            source.fail(f"column {name!r} is of type {kind}", "numbers, text and times are read")


def _from_batches(source: Source, arrow: Any, table: Any, options: Mapping[str, Any]) -> Dataset:
    schema, size = table.schema, table.count_rows()
    if any(map(arrow.types.is_nested, schema.types)):
        return columns_dataset(source, columns_of(_valid(table.to_table())), options)

    def parts() -> Iterator[list[np.ndarray]]:
        done = 0
        for batch in table.to_batches(batch_size=CHUNK):
            if len(batch):
                mine = arrow.Table.from_batches([_valid(batch)])
                yield list(columns_of(mine).arrays.values())
            done += len(batch)
            source.tell(done, size)

    frame = Frame(list(schema.names), parts, _index_names(schema.metadata))
    return table_dataset(source, frame, options)


def _valid(values: Any) -> Any:
    """Return a table or batch whose lengths stay inside its bytes, or raise an error."""
    # Arrow believes what a file says of its bytes: a damaged file would end the process
    values.validate(full=True)
    return values


def _index_names(metadata: Mapping[bytes, bytes] | None) -> set[str]:
    """Return the columns that pandas wrote as the index of a data frame, by the file's metadata."""
    try:
        listed = json.loads((metadata or {})[b"pandas"])["index_columns"]
    except (KeyError, TypeError, ValueError, RecursionError):  # not pandas, or not its metadata
        return set()
    # A range of numbers is a dictionary, and no column.
    return {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()


def read_excel(source: Source, **options: Any) -> Dataset:
    """Read the first sheet of an Excel file."""
    try:
        import openpyxl
    except ImportError:
        hint = "pip install openpyxl, or save the sheet as CSV"
        source.fail("reading Excel files needs openpyxl", hint)
    with damage_is_said(source, "the file"):
        with zipfile.ZipFile(source.path) as archive:
            if sum(member.file_size for member in archive.infolist()) > source.max_bytes:
                source.fail("too large when unpacked", "max_bytes allows more")
        book = openpyxl.load_workbook(source.path, read_only=True, data_only=True, keep_links=False)
        with closing(book):
            if len(book.sheetnames) > 1:
                source.remark(f"sheet {book.sheetnames[0]!r} is read; other sheets are left out")
            return table_dataset(source, _sheet(source, book.worksheets[0]), options)


def _sheet(source: Source, sheet: Any) -> Table:
    def rows() -> Iterator[tuple[int, list[str]]]:
        for i, row in enumerate(sheet.iter_rows(values_only=True), 1):
            cells = ["" if value is None else str(value).strip() for value in row]
            if any(cells):
                yield i, cells

    return table_from(source, rows())


def _is_json(glimpse: Glimpse) -> bool:
    """Does the file begin like a JSON list or object, as a table in JSON does?"""
    first = next(iter(glimpse.said), "")
    return first[:1] == "{" or (first[:1] == "[" and first[1:].lstrip()[:1] in ("{", "[", ""))


@_named
def read_json(source: Source, **options: Any) -> Dataset:
    """Read a table in JSON: a list of records, lines of records, columns, or columns and data."""
    if source.path.stat().st_size > min(LARGEST_JSON, source.max_bytes):
        source.fail(f"more than {LARGEST_JSON} bytes of JSON", "write the table as Parquet or CSV")
    lines = [line for _, line in source.lines()]
    try:
        try:
            found = json.loads("\n".join(lines))
        except ValueError:
            found = [json.loads(line) for line in lines if line.strip()]
        arrays = _json_columns(found)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        hint = 'a list of records [{"x": 1}, ...] and columns {"x": [1, ...]} are read'
        source.fail(f"the JSON is not a table ({error})"[:200], hint)
    return columns_dataset(source, TableColumns(arrays), options)


def _json_columns(found: Any) -> dict[str, np.ndarray]:
    """Return the columns of a table as programs write it in JSON."""
    if isinstance(found, dict) and {"columns", "data"} <= {*found}:
        found = [dict(zip(found["columns"], row, strict=True)) for row in found["data"]]
    if isinstance(found, list):
        names = dict.fromkeys(name for record in found for name in record.keys())
        found = {name: [record.get(name) for record in found] for name in names}
    columns = {
        name: list(values.values()) if isinstance(values, dict) else values
        for name, values in found.items()
    }
    return {name: as_column([_plain(value) for value in values], name)
            for name, values in columns.items()}  # fmt: skip


def _plain(value: Any) -> Any:
    """Return None as NaN: nothing in place of a number, or of a word."""
    return float("nan") if value is None else value


PARQUET, FEATHER = (
    Format(name, partial(_begins, mark), read_arrow, options=COLUMNS, extensions=(name,))
    for name, mark in (("parquet", b"PAR1"), ("feather", b"ARROW1"))
)
EXCEL = Format(
    "xlsx",
    lambda glimpse: "xl/workbook.xml" in glimpse.members,
    read_excel,
    options=COLUMNS,
    extensions=("xlsx",),
)
JSON = Format("json", _is_json, read_json, options=COLUMNS, extensions=("json", "jsonl", "ndjson"))

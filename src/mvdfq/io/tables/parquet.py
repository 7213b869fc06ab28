"""Long tables in Parquet files, one time point per row; pyarrow reads them."""

import json
from collections.abc import Mapping
from typing import Any

from mvdfq.io.dataset import Dataset
from mvdfq.io.formats import Format
from mvdfq.io.source import Source
from mvdfq.io.steady import unchanged
from mvdfq.io.tables.column_roles import COLUMNS, Columns
from mvdfq.io.tables.csv_tables import CHUNK, LOOK
from mvdfq.io.tables.long_tables import Growing, check_long

__all__ = ["FORMAT"]


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


FORMAT = Format(
    "parquet",
    lambda glimpse: glimpse.start.startswith(b"PAR1"),
    read_parquet,
    options=COLUMNS,
    extensions=("parquet",),
    is_series=True,
)

"""Files of other programs: Parquet, Feather, Excel, JSON and MATLAB; what is not read."""

import json
import math
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from io import BytesIO
from typing import IO, Any

import numpy as np

from mvdfq.io.dataset import Dataset
from mvdfq.io.source import Glimpse, Source, unchanged
from mvdfq.io.tables.arrays import arrays_dataset
from mvdfq.io.tables.csv_tables import CHUNK, table_of
from mvdfq.io.tables.long_tables import Frame, by_column, columns_dataset, table_dataset
from mvdfq.sequences.converters import TableColumns, as_column, columns_of

# Bytes of a JSON file; as objects of Python its numbers take about ten times as much.
LARGEST_JSON = 2**28
# MATLAB's classes of variables that hold numbers, text, or a list of arrays.
PLAIN = frozenset(
    "double single int8 uint8 int16 uint16 int32 uint32 int64 uint64 logical char cell".split()
)
COMPRESSED = 15


def read_arrow(source: Source, **options: Any) -> Dataset:
    """Read a Parquet file, or a Feather file, which is an Arrow file, batch by batch."""
    try:
        import pyarrow
        from pyarrow.dataset import dataset
    except ImportError:
        source.fail("reading Parquet and Feather needs pyarrow", "pip install pyarrow")
    kind = "parquet" if Glimpse(source.path).start.startswith(b"PAR1") else "feather"
    with source.guard(), open(source.path, "rb") as raw, unchanged(raw, source.path):
        try:
            return _from_batches(source, pyarrow, dataset(source.path, format=kind), options)
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            source.fail(f"the file is damaged or cut short ({error})"[:300])


def _from_batches(source: Source, arrow: Any, table: Any, options: Mapping[str, Any]) -> Dataset:
    """Read a table, unless it is too large, or empty, or holds what is not a value."""
    schema, size = table.schema, table.count_rows()
    if size * len(schema.names) * 8 > source.max_bytes:
        source.fail(f"{size} rows of {len(schema.names)} columns", "max_bytes allows more")
    if not size or not schema.names:
        source.fail("a table without rows")
    for name, kind in zip(schema.names, schema.types, strict=True):
        if arrow.types.is_binary(kind) or arrow.types.is_struct(kind):
            source.fail(f"column {name!r} is of type {kind}", "numbers, text and times are read")
    if any(map(arrow.types.is_nested, schema.types)):
        whole = table.to_table()
        whole.validate(full=True)
        return columns_dataset(source, columns_of(whole), options)

    def parts() -> Iterator[list[np.ndarray]]:
        done = 0
        for batch in table.to_batches(batch_size=CHUNK):
            # Arrow believes what a file says of its bytes: a damaged file would end the process
            batch.validate(full=True)
            if len(batch):
                yield list(columns_of(arrow.Table.from_batches([batch])).arrays.values())
            done += len(batch)
            source.tell(done, size)

    frame = Frame(list(schema.names), parts, _index_names(schema.metadata))
    return table_dataset(source, frame, options)


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
    with source.guard("the file"):
        with zipfile.ZipFile(source.path) as archive:
            if sum(member.file_size for member in archive.infolist()) > source.max_bytes:
                source.fail("too large when unpacked", "max_bytes allows more")
        book = openpyxl.load_workbook(source.path, read_only=True, data_only=True, keep_links=False)
        with closing(book):
            if len(book.sheetnames) > 1:
                source.remark(f"sheet {book.sheetnames[0]!r} is read; other sheets are left out")
            sheet = enumerate(book.worksheets[0].iter_rows(values_only=True), 1)
            texts = ((i, ["" if v is None else str(v).strip() for v in row]) for i, row in sheet)
            rows = ((i, cells) for i, cells in texts if any(cells))
            return table_dataset(source, table_of(source, rows), options)


def is_json(glimpse: Glimpse) -> bool:
    """Does the file begin like a JSON list or object, as a table in JSON does?"""
    first = next(iter(glimpse.content), "")
    return first[:1] == "{" or (first[:1] == "[" and first[1:].lstrip()[:1] in ("{", "[", ""))


def read_json(source: Source, **options: Any) -> Dataset:
    """Read a table in JSON: a list of records, lines of records, columns, or columns and data."""
    if source.path.stat().st_size > min(LARGEST_JSON, source.max_bytes):
        source.fail(f"more than {LARGEST_JSON} bytes of JSON", "write the table as Parquet or CSV")
    lines = [line for _, line in source.lines()]
    try:
        try:
            content = json.loads("\n".join(lines))
        except ValueError:
            content = [json.loads(line) for line in lines if line.strip()]
        arrays = _json_columns(content)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        hint = 'a list of records [{"x": 1}, ...] and columns {"x": [1, ...]} are read'
        source.fail(f"the JSON is not a table ({error})"[:200], hint)
    with source.guard():
        return columns_dataset(source, TableColumns(arrays), options)


def _json_columns(content: Any) -> dict[str, np.ndarray]:
    """Return the columns of a table as programs write it in JSON."""
    if isinstance(content, dict) and {"columns", "data"} <= {*content}:
        content = [dict(zip(content["columns"], row, strict=True)) for row in content["data"]]
    if isinstance(content, list):
        content = by_column(content)
    columns = {}
    for name, values in content.items():
        cells = values.values() if isinstance(values, dict) else values
        # None is NaN: nothing in place of a number, or of a word
        columns[name] = as_column([float("nan") if cell is None else cell for cell in cells], name)
    return columns


def read_mat(source: Source, time_first: bool = False, **named: Any) -> Dataset:
    """Read the variables X and y, or X_train ..., of a MATLAB file; X may be a cell array."""
    with open(source.path, "rb") as file, unchanged(file, source.path):
        with source.guard("the file"):
            unpacked = _check_unpacked(source, file)
        variables = _in_a_process(source, unpacked)
    arrays = {name: _plain(source, name, values) for name, values in variables.items()}
    return arrays_dataset(source, arrays, time_first, named)


def _in_a_process(source: Source, unpacked: int) -> dict[str, Any]:
    """Return the variables as another process reads them; cells are a list of arrays."""
    # scipy believes what a file says of its bytes: a damaged file would end the process
    command = [sys.executable, "-c", f"from {__name__} import send; send()"]
    done = subprocess.run([*command, str(source.path), str(unpacked)], capture_output=True)
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        problem = last.partition(": ")[2]
        damaged = f"the file is damaged or cut short ({problem or 'its reader crashed'})"
        source.fail(problem if problem.startswith("variable ") else damaged)
    variables: dict[str, Any] = {}
    for key, values in np.load(BytesIO(done.stdout)).items():
        name, is_cell, _ = key.partition("/")
        if is_cell:
            variables.setdefault(name, []).append(values)
        else:
            variables[name] = values
    return variables


def send() -> None:
    """Write the variables of the file that the command line names to the output, as .npz."""
    from scipy.io import loadmat, whosmat

    path, unpacked = sys.argv[1], int(sys.argv[2])
    hint = "save arrays of numbers, or a cell array of them, as X and y"
    # Refuse variables of other classes, and those that claim more than the file can hold.
    for name, shape, kind in whosmat(path):
        if math.prod(shape) > unpacked:
            raise ValueError(f"variable {name!r} claims shape {shape}, more than the file can hold")
        if kind not in PLAIN:
            raise ValueError(f"variable {name!r} is of class {kind} {shape}; {hint}")
    variables = loadmat(path, chars_as_strings=True)
    arrays = {name: values for name, values in variables.items() if not name.startswith("__")}
    for name in [name for name, values in arrays.items() if values.dtype.kind == "O"]:
        cells = arrays.pop(name).ravel().tolist()
        if any(cell.dtype.hasobject for cell in cells):
            raise ValueError(f"variable {name!r} holds cells or structures within cells; {hint}")
        arrays |= {f"{name}/{i}": cell for i, cell in enumerate(cells)}
    np.savez(sys.stdout.buffer, **arrays)  # NumPy 2.0 takes allow_pickle for an array


def _check_unpacked(source: Source, file: IO[bytes]) -> int:
    """Return the size of the unpacked variables of version 5; refuse more than `max_bytes`."""
    left = source.max_bytes
    order: Any = {b"IM": "little", b"MI": "big"}.get(file.read(128)[126:128])
    while order and len(tag := file.read(8)) == 8:
        end = file.tell() + (size := int.from_bytes(tag[4:], order))
        packer = zlib.decompressobj() if int.from_bytes(tag[:4], order) == COMPRESSED else None
        while size > 0 and (block := file.read(min(size, 1 << 16))):
            size -= len(block)
            while block:
                left -= len(packer.decompress(block, 1 << 20)) if packer else len(block)
                block = packer.unconsumed_tail if packer else b""
                if left < 0:
                    source.fail("too large when unpacked", "max_bytes allows more")
        file.seek(end)
    file.seek(0)
    return source.max_bytes - left


def _plain(source: Source, name: str, values: Any) -> Any:
    """Return a variable: text as a column, a column of a matrix as a column, cells as a list."""
    if not isinstance(values, list):
        if values.dtype.kind == "U":
            return np.char.strip(values.ravel())
        # MATLAB has no arrays of one axis
        is_column = values.ndim == 2 and 1 in values.shape
        return values.squeeze(axis=int(values.shape[0] != 1)) if is_column else values
    if all(cell.dtype.kind == "U" for cell in values):
        return np.array([str(cell.squeeze()) for cell in values])
    if not all(cell.dtype.kind in "biuf" for cell in values):
        source.fail(f"variable {name!r} holds cells that are neither numbers nor text")
    return values

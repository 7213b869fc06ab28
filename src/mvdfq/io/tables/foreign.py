"""Files of other programs: MATLAB's .mat, and how to convert what is not read."""

import math
import subprocess
import sys
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import IO, Any

import numpy as np

from mvdfq.io.dataset import Dataset, Format
from mvdfq.io.source import ReadError, Source, unchanged
from mvdfq.io.tables.arrays import arrays_dataset, damage_is_said

# MATLAB's classes of variables that hold numbers, text, or a list of arrays.
PLAIN = frozenset(
    "double single int8 uint8 int16 uint16 int32 uint32 int64 uint64 logical char cell".split()
)
COMPRESSED = 15


def read_mat(source: Source, time_first: bool = False) -> Dataset:
    """Read the variables X and y, or X_train ..., of a MATLAB file; X may be a cell array."""
    with open(source.path, "rb") as file, unchanged(file, source.path):
        with damage_is_said(source, "the file"):
            unpacked = _check_unpacked(source, file)
        arrays = {
            name: _plain(source, name, values)
            for name, values in _in_a_process(source, unpacked).items()
        }
    return arrays_dataset(source, arrays, time_first)


def _in_a_process(source: Source, unpacked: int) -> dict[str, Any]:
    """Return the variables as another process reads them; cells are a list of arrays."""
    # scipy believes what a file says of its bytes: a damaged file would end the process
    command = [sys.executable, "-c", f"from {__name__} import send; send()"]
    done = subprocess.run([*command, str(source.path), str(unpacked)], capture_output=True)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2].partition(": ")[2]
        damaged = f"the file is damaged or cut short ({said or 'its reader crashed'})"
        source.fail(said if said.startswith("variable ") else damaged)
    found: dict[str, Any] = {}
    with np.load(BytesIO(done.stdout)) as sent:
        for key in sent.files:
            name, is_cell, _ = key.partition("/")
            if is_cell:
                found.setdefault(name, []).append(sent[key])
            else:
                found[name] = sent[key]
    return found


def send() -> None:
    """Write the variables of the file that the command line names to the output, as .npz."""
    from scipy.io import loadmat

    path, unpacked = sys.argv[1], int(sys.argv[2])
    _check_variables(path, unpacked)
    arrays: dict[str, np.ndarray] = {}
    for name, values in loadmat(path, chars_as_strings=True).items():
        if name.startswith("__"):
            continue
        if values.dtype.kind == "O":
            arrays |= {f"{name}/{i}": cell for i, cell in enumerate(values.ravel().tolist())}
        else:
            arrays[name] = values
    np.savez(sys.stdout.buffer, allow_pickle=False, **arrays)


def _check_variables(path: str, unpacked: int) -> None:
    """Refuse variables of other classes, and those that claim more than the file can hold."""
    from scipy.io import whosmat

    for name, shape, kind in whosmat(path):
        if math.prod(shape) > unpacked:
            raise ValueError(f"variable {name!r} claims shape {shape}, more than the file can hold")
        if kind not in PLAIN:
            raise ValueError(
                f"variable {name!r} is of class {kind} {shape}; save arrays of numbers, or a cell "
                f"array of them, as X and y"
            )


def _check_unpacked(source: Source, file: IO[bytes]) -> int:
    """Return the size of the unpacked variables; refuse more than `max_bytes`."""
    left = source.max_bytes
    for kind, size in _elements(file):
        packer = zlib.decompressobj() if kind == COMPRESSED else None
        while size > 0 and (block := file.read(min(size, 1 << 16))):
            size -= len(block)
            while block:
                left -= len(packer.decompress(block, 1 << 20)) if packer else len(block)
                block = packer.unconsumed_tail if packer else b""
                if left < 0:
                    source.fail("too large when unpacked", "max_bytes allows more")
    file.seek(0)
    return source.max_bytes - left


def _elements(file: IO[bytes]) -> Iterator[tuple[int, int]]:
    """Yield kind and size of the variables of a file of version 5; none for older files."""
    head = file.read(128)
    order: Any = {b"IM": "little", b"MI": "big"}.get(head[126:128])
    while order and len(tag := file.read(8)) == 8:
        end = file.tell() + (size := int.from_bytes(tag[4:], order))
        yield int.from_bytes(tag[:4], order), size
        file.seek(end)


def _plain(source: Source, name: str, values: Any) -> Any:
    """Return a variable: text as a column, a column of a matrix as a column, cells as a list."""
    if not isinstance(values, list):
        words = values.dtype.kind == "U"
        return np.char.strip(values.ravel()) if words else np.squeeze(values, axis=_axes(values))
    if all(cell.dtype.kind == "U" for cell in values):
        return np.array([str(cell.squeeze()) for cell in values])
    if not all(cell.dtype.kind in "biuf" for cell in values):
        source.fail(f"variable {name!r} holds cells that are neither numbers nor text")
    return values


def _axes(values: np.ndarray) -> tuple[int, ...]:
    """Return the axis to leave out: MATLAB has no arrays of one axis."""
    return (int(values.shape[0] != 1),) if values.ndim == 2 and 1 in values.shape else ()


MAT = Format(
    "mat",
    lambda glimpse: glimpse.start.startswith(b"MATLAB 5.0"),
    read_mat,
    options=("time_first",),
    extensions=("mat",),
)
# Files that are not read, by their ending: how to convert them.
CONVERT = {
    **dict.fromkeys(("h5", "hdf5"), "mvdfq.io.write_npz('a.npz', h5py.File(PATH)['X'][:], y)"),
    "edf": "mne.io.read_raw_edf(PATH).to_data_frame().to_csv('a.csv')",
    "bdf": "mne.io.read_raw_bdf(PATH).to_data_frame().to_csv('a.csv')",
    "xls": "save the sheet as .xlsx or CSV",
    "pkl": "pickled objects may hold code and are never loaded; mvdfq.io.write_npz(PATH, X, y)",
    "rds": "write.csv(readRDS(PATH), 'a.csv', row.names=FALSE)",
    "sav": "pandas.read_spss(PATH).to_csv('a.csv')",
    "dta": "pandas.read_stata(PATH).to_csv('a.csv')",
    "wma": "ffmpeg -i a.wma a.wav",
}


def conversion(name: str) -> ReadError | None:
    """Return the error for a file of a format that is not read, with the way to convert it."""
    ending = name.lower().rpartition(".")[2]
    if ending not in CONVERT:
        return None
    return ReadError(name, f".{ending} files are not read", f"convert: {CONVERT[ending]}")

"""Arrays from .npz and .npy files that are not trusted: the one guarded reader.

Nothing is unpickled, and a file cannot ask for more memory than its bytes can fill.
"""

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO

import numpy as np
from numpy.lib import format as npy

from mvdfq.io.dataset import ReadError
from mvdfq.io.source import Source
from mvdfq.io.steady import unchanged

__all__ = ["LABELS", "as_offsets", "column", "read_archive", "read_array", "required"]

# What arrays of labels are called, in lower case.
LABELS = ["y", "labels", "label", "target"]


@contextmanager
def _damage_is_said(source: Source, what: str) -> Iterator[None]:
    """Turn every error that a damaged file leads to into a ReadError."""
    try:
        yield
    except ReadError:
        raise
    except Exception as error:  # zipfile, zlib and NumPy's reader of headers raise many types
        source.fail(f"{what} is damaged or cut short ({type(error).__name__}: {error})"[:300])


def read_array(source: Source) -> np.ndarray:
    """Read the array of an .npy file."""
    size = source.path.stat().st_size
    with (
        open(source.path, "rb") as file,
        unchanged(file, source.path),
        _damage_is_said(source, "the array"),
    ):
        values = _read(source, file, size, "the array")
    source.tell(size, size)
    return values


def read_archive(source: Source, names: Sequence[str] = ()) -> dict[str, np.ndarray]:
    """Read the named arrays of an .npz file, by name; all arrays if no names are given."""
    arrays = {}
    with (
        _damage_is_said(source, "the archive"),
        open(source.path, "rb") as raw,
        unchanged(raw, source.path),
        zipfile.ZipFile(raw) as archive,
    ):
        files = [f"{name}.npy" for name in names]
        found = [member for member in archive.infolist() if member.filename.endswith(".npy")]
        members = [member for member in found if member.filename in files or not names]
        if len(members) < len(names):
            source.fail(f"the arrays are {[m.filename[:-4] for m in found]}, expected {[*names]}")
        total = sum(member.file_size for member in members)
        if total > source.max_bytes:
            source.fail(f"arrays of {total} bytes", "max_bytes allows more")
        for i, member in enumerate(members):
            name = member.filename.removesuffix(".npy")
            with archive.open(member) as file:
                arrays[name] = _read(source, file, member.file_size, f"array {name!r}")
            source.tell(i + 1, len(members))
    if not arrays:
        source.fail("an archive without arrays", "numpy.savez writes them")
    return arrays


def _read(source: Source, file: IO[bytes], size: int, what: str) -> np.ndarray:
    """Read one array, after its header was compared with the number of bytes."""
    shape, fortran, dtype = _read_header(file)
    if dtype.hasobject:
        hint = "they may hold code; store numbers, mvdfq.io.write_npz takes unequal lengths"
        source.fail(f"{what} holds pickled Python objects, which are never loaded", hint)
    if dtype.kind not in "biufSU":
        source.fail(f"{what} is of dtype {dtype}", "real numbers and text can be read")
    count = int(np.prod(shape, dtype=object)) if shape else 1
    # an array without values may still claim 10**12 sequences, which a loop would visit
    if count * dtype.itemsize > min(size, source.max_bytes) or max(shape, default=0) > size + 1:
        source.fail(f"{what} claims shape {shape}, more than its {size} bytes can hold")
    content = file.read(count * dtype.itemsize)
    values = np.frombuffer(content, dtype, count) if count * dtype.itemsize else np.empty(0, dtype)
    return values.reshape(shape, order="F" if fortran else "C")


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    version = npy.read_magic(file)
    if version == (1, 0):
        return npy.read_array_header_1_0(file)
    if version == (2, 0):
        return npy.read_array_header_2_0(file)
    # Version 3 differs from 2 in names of fields alone, and we read no fields.
    raise ValueError(f"version {version} of the .npy format")


def required(source: Source, arrays: Mapping[str, np.ndarray], *names: str) -> list[np.ndarray]:
    """Return the arrays of these names; refuse an archive without one of them."""
    for name in names:
        if name not in arrays:
            source.fail(f"there is no array {name!r}", f"{' and '.join(names)} are needed")
    return [arrays[name] for name in names]


def as_offsets(source: Source, name: str, values: np.ndarray, n: int) -> np.ndarray:
    """Return where each sequence begins, and the end of all `n` frames; refuse other arrays."""
    is_list = values.ndim == 1 and values.dtype.kind in "iu" and values.size > 1
    offsets = values.astype(np.int64) if is_list else np.array([-1])  # unsigned steps never fall
    if offsets[0] != 0 or offsets[-1] != n or (np.diff(offsets) < 0).any():
        source.fail(f"{name} must be whole numbers that rise from 0 to {n}, the number of frames")
    return offsets


def column(
    source: Source, arrays: Mapping[str, np.ndarray], keys: Sequence[str], n: int
) -> np.ndarray | None:
    """Return the array that has one of the names in `keys`, with `n` values, or None."""
    for key in keys:
        if key in arrays:
            values = arrays[key]
            if values.ndim == 2 and 1 in values.shape:  # a column, as Keras has it
                values = values.ravel()
            if values.shape != (n,):
                source.fail(f"array {key!r} has shape {values.shape}, expected ({n},)")
            if key in LABELS and values.dtype.kind == "f" and np.isnan(values).any():
                source.fail(f"array {key!r}: label {np.isnan(values).argmax() + 1} is missing")
            return values.astype(str) if values.dtype.kind == "S" else values
    return None

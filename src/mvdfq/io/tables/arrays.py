"""Arrays in .npz and .npy: our own layout, and common layouts of others. Nothing is unpickled.

Our layout has the fields of `mvdfq.Sequences` as arrays, ``y``, ``names``, ``groups`` and ``split``
if they are known, and ``mvdfq_series``, the version of the layout.
"""

import math
import zipfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from mvdfq._utils.errors import Sentence
from mvdfq._utils.files import guarded_array, replacing
from mvdfq._utils.short import some
from mvdfq.io.dataset import Dataset, joined_parts
from mvdfq.io.source import Source, unchanged
from mvdfq.sequences import Sequences, check_sequences
from mvdfq.sequences.check import refuse
from mvdfq.sequences.converters import from_time_first

# What arrays of labels are called, in lower case.
LABELS = ["y", "labels", "label", "target"]
MARK = "mvdfq_series"
# What others call the arrays, in lower case; a layout in two parts adds train or test before or
# after the name.
VALUES = ["x", "data", "values"]
LENGTHS = ["lengths", "length", "len"]
COLUMNS = {"y": LABELS, "names": ["names", "ids", "name", "id"], "groups": ["groups", "group"]}
Arrays = Mapping[str, Any]


def read_archive(source: Source, names: Sequence[str] = ()) -> dict[str, np.ndarray]:
    """Read the named arrays of an .npz file, by name; all arrays if no names are given."""
    arrays = {}
    with source.guard("the archive"), open(source.path, "rb") as raw, unchanged(raw, source.path):
        archive = zipfile.ZipFile(raw)
        files = [f"{name}.npy" for name in names]
        listed = [member for member in archive.infolist() if member.filename.endswith(".npy")]
        members = [member for member in listed if member.filename in files or not names]
        if len(members) < len(names):
            source.fail(f"the arrays are {[m.filename[:-4] for m in listed]}, expected {[*names]}")
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

    def check(shape: tuple[int, ...], dtype: np.dtype) -> None:
        if dtype.hasobject:
            hint = "they may hold code; store numbers, mvdfq.io.write_npz takes unequal lengths"
            source.fail(f"{what} holds pickled Python objects, which are never loaded", hint)
        if dtype.kind not in "biufSU":
            source.fail(f"{what} is of dtype {dtype}", "real numbers and text can be read")
        needed = math.prod(shape) * dtype.itemsize
        # an array without values may still claim 10**12 sequences, which a loop would visit
        if needed > min(size, source.max_bytes) or max(shape, default=0) > size + 1:
            source.fail(f"{what} claims shape {shape}, more than its {size} bytes can hold")

    return guarded_array(file, check)


def column(source: Source, arrays: Arrays, keys: Sequence[str], n: int) -> np.ndarray | None:
    """Return the array that has one of the names in `keys`, with `n` values, or None."""
    for key in keys:
        if key in arrays:
            values = arrays[key]
            if values.ndim == 2 and 1 in values.shape:  # a column, as Keras has it
                values = values.ravel()
            if values.shape != (n,):
                source.fail(f"array {key!r} has shape {values.shape}, expected ({n},)")
            return values.astype(str) if values.dtype.kind == "S" else values
    return None


def read_npy(source: Source, time_first: bool = False) -> Dataset:
    """Read an array with two or three axes, without labels."""
    size = source.path.stat().st_size
    with open(source.path, "rb") as file, unchanged(file, source.path), source.guard("the array"):
        values = _read(source, file, size, "the array")
    source.tell(size, size)
    return _foreign(source, {"x": values}, time_first, {})


def read_npz(source: Source, time_first: bool = False, **named: Any) -> Dataset:
    """Read an archive of arrays; `label` and `group` may name arrays."""
    arrays = read_archive(source)
    if MARK in arrays:
        return _own(source, arrays, named)
    return arrays_dataset(source, arrays, time_first, named)


def arrays_dataset(source: Source, arrays: Arrays, time_first: bool, named: Arrays) -> Dataset:
    """Return the data set of arrays that have common names, in one part or in two."""
    lower = {name.lower(): values for name, values in arrays.items()}
    parts = {part: members for part in ("train", "test") if (members := _part(lower, part))}
    if not parts:
        return _foreign(source, lower, time_first, named)
    ends = tuple(parts)
    _tell_unused(source, [n for n in lower if not (n.startswith(ends) or n.endswith(ends))])
    datasets = [_foreign(source, own, time_first, named, f":{part}") for part, own in parts.items()]
    return joined_parts(source.path, datasets, list(parts))


def _own(source: Source, arrays: Arrays, named: Arrays) -> Dataset:
    """Read our own layout, with all optional arrays, after a check of their lengths."""
    if arrays[MARK].shape != () or arrays[MARK].dtype.kind not in "iu" or arrays[MARK] != 1:
        source.fail("a layout of a newer mvdfq", "update mvdfq: this version reads layout 1")
    data, offsets = (arrays.get(name, np.empty(0)) for name in ("data", "offsets"))
    if 0 in (data.ndim, *data.shape[:1]) or offsets.size < 2:
        source.fail("no channels or no sequences: data and offsets hold both")
    offsets = offsets.astype(np.int64) if offsets.dtype.kind in "iu" else offsets
    names = column(source, arrays, ["channel_names"], len(data))
    flags = column(source, arrays, ["symbolic"], len(data))
    with source.guard():
        X = check_sequences(
            Sequences(data, offsets, symbolic=() if flags is None else tuple(map(bool, flags))),
            channel_names=None if names is None else names.tolist(),
            sampling_rate=arrays["sampling_rate"].tolist() if "sampling_rate" in arrays else None,
        )
        refuse(np.isinf(X.data), X, "is infinite", "NaN marks a missing value")
    columns = COLUMNS | {"split": ["split"]} | _asked(source, arrays, named)
    return _dataset(source, arrays, X, columns)


def _asked(source: Source, arrays: Arrays, named: Arrays) -> dict[str, list[str]]:
    """Return the arrays that the user names for labels and groups; None: no array."""
    asked = {}
    for name, key in (("label", "y"), ("group", "groups")):
        wish = named.get(name)
        if wish is not None and str(wish).lower() not in arrays:
            hint = Sentence({name: "NAME"}, f" is one of {some(sorted(arrays))}")
            source.fail(f"no array {wish!r}", hint)
        if name in named:
            asked[key] = [] if wish is None else [str(wish).lower()]
    return asked


def _dataset(
    source: Source, arrays: Arrays, X: Sequences, columns: Mapping[str, list[str]], part: str = ""
) -> Dataset:
    """Return the data set with columns per sequence; sequences without names get numbers."""
    per: Any = {name: column(source, arrays, keys, len(X)) for name, keys in columns.items()}
    y, names = per["y"], per.pop("names")
    if y is not None and y.dtype.kind == "f" and np.isnan(y).any():
        source.fail(f"array {columns['y'][0]!r}: label {np.isnan(y).argmax() + 1} is missing")
    numbers = (f"{source.stem}{part}:{i + 1}" for i in range(len(X)))
    names = [*(numbers if names is None else map(str, names.tolist()))]
    return Dataset(X, names=names, remarks=tuple(source.remarks), **per)


def _part(arrays: Arrays, part: str) -> dict[str, np.ndarray]:
    """Return the arrays of one part under short names: ``x_train`` and ``train_x`` become ``x``."""
    members = {}
    for name, values in arrays.items():
        for short in (name.removeprefix(part), name.removesuffix(part)):
            if short != name:
                members[short.strip("_")] = values
    return members if any(name in members for name in VALUES) else {}


def _foreign(
    source: Source, arrays: Arrays, time_first: bool, named: Arrays, part: str = ""
) -> Dataset:
    """Return the data set of arrays that have common names."""
    key = next((name for name in VALUES if name in arrays), None)
    if key is None:
        hint = "name the arrays X and y, or X_train, y_train, X_test and y_test"
        source.fail(f"no array of values among {sorted(arrays)[:20]}", hint)
    values = arrays[key]
    if not isinstance(values, list) and values.dtype.kind not in "biuf":
        source.fail(f"array {key!r} is of dtype {values.dtype}", "sequences are numbers")
    is_array = not isinstance(values, list)
    length = next((name for name in LENGTHS if is_array and name in arrays), None)
    if is_array and (values.ndim not in (2, 3) or 0 in values.shape):
        wanted = "(n_sequences, n_channels, n_timepoints) or, univariate,"
        problem = f"shape {values.shape} cannot be {wanted} (n_sequences, n_timepoints)"
        source.fail(f"array {key!r}: {problem}")
    if length is not None:
        values, time_first = _cut(source, values, arrays[length], time_first), False
    is_turned = time_first and not (is_array and values.ndim == 2)
    with source.guard():
        X = from_time_first(values) if is_turned else check_sequences(values)
    columns = COLUMNS | _asked(source, arrays, named)
    used = {next((name for name in names if name in arrays), None) for names in columns.values()}
    _tell_unused(source, {*arrays} - used - {key, length})
    return _dataset(source, arrays, X, columns, part)


def _tell_unused(source: Source, names: Collection[str]) -> None:
    if names:
        unused = f"arrays that are not used: {some(sorted(names))}; "
        wishes = {"label": "NAME"}, " or ", {"group": "NAME"}
        source.remark(Sentence(unused, *wishes, " reads one of them"))


def _cut(source: Source, values: np.ndarray, lengths: Any, time_first: bool) -> list[np.ndarray]:
    """Return the sequences of an array with lengths: padded, or frames that lie end to end."""
    is_whole = lengths.dtype.kind in "iuf" and (lengths == np.floor(np.abs(lengths))).all()
    if not is_whole or lengths.max(initial=0) > values.size:
        source.fail(f"the lengths are not whole numbers >= 0 and at most {values.size}")
    lengths = lengths.ravel().astype(np.int64)
    ends, most = np.cumsum(lengths), lengths.max(initial=0)
    if values.ndim == 2 and len(ends) and ends[-1] in values.shape:
        frames = values.T if ends[-1] == values.shape[0] else values
        return np.split(frames, ends[:-1], axis=1)
    cube = values[:, None] if values.ndim == 2 else values.swapaxes(1, 2) if time_first else values
    if len(lengths) != len(cube) or most > cube.shape[2] or most == cube.shape[1] < cube.shape[2]:
        wanted = f"{len(cube)} sequences of at most {cube.shape[2]} frames"
        hint = "time_first=True reads (n_sequences, n_timepoints, n_channels)"
        total = f"{len(lengths)} sequences, {ends[-1:].sum()} frames, at most {most} each"
        source.fail(f"the lengths say {total}, but {values.shape} has {wanted}", hint)
    return [x[:, :n] for x, n in zip(cube, lengths, strict=True)]


def write_npz(
    path: str | Path,
    X: Any,
    y: Any = None,
    names: Any = None,
    groups: Any = None,
    *,
    split: Any = None,
) -> None:
    """Write sequences with labels, names, groups and splits as one .npz file for `read`.

    The file holds the arrays of `mvdfq.Sequences`, ``data`` and ``offsets``, and the given columns.
    Nothing is pickled; `numpy.load` reads the file too.

    Parameters
    ----------
    path : str or Path
        The file.
    X : Sequences, list of array-like or 3-D array
        The sequences; channel names, sampling rate and symbolic channels are kept.
    y, names, groups, split : array-like of shape (n_sequences,), default=None
        Per sequence: the label (number or text), the name, the group (a speaker, an album), and
        ``"train"`` or ``"test"``.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np
    >>> from mvdfq.io import read, write_npz
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.npz"
    >>> write_npz(path, [np.ones((2, 3)), np.zeros((2, 4))], y=["a", "b"], names=["x", "y"])
    >>> data = read(path)
    >>> data.X.lengths, data.y, data.names
    (array([3, 4]), array(['a', 'b'], dtype='<U1'), ['x', 'y'])
    """
    X = check_sequences(X)
    per = {"y": y, "names": names, "groups": groups, "split": split}
    arrays: dict[str, Any] = {MARK: np.int64(1), "data": X.data, "offsets": X.offsets}
    arrays |= {key: _to_write(key, kept, len(X)) for key, kept in per.items() if kept is not None}
    arrays |= {"channel_names": X.channel_names, "sampling_rate": X.sampling_rate}
    arrays["symbolic"] = X.symbolic or None
    with replacing(Path(path)) as file:
        np.savez_compressed(file, **{key: kept for key, kept in arrays.items() if kept is not None})


def _to_write(key: str, values: Any, n: int) -> np.ndarray:
    values = np.asarray(values)
    if values.dtype.kind == "O":
        values = np.array([str(value) for value in values.tolist()])
    if values.shape != (n,) or values.dtype.kind not in "biufU":
        got = f"got shape {values.shape} of dtype {values.dtype}"
        raise ValueError(f"{key} must be one number or text per sequence, {n} in all; {got}.")
    return values

"""Fitted classifiers as files: a zip of JSON and arrays; reading does not run code.

``model.json`` describes the object as a tree of plain values, see `tree.py`. Arrays are ``.npy``
entries beside ``model.json``, which holds the size and the checksum of every array.
"""

import hashlib
import io
import json
import math
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mvdfq._utils.checks import parse_memory
from mvdfq._utils.files import LARGEST_HEADER, guarded_array, replacing
from mvdfq._utils.version import version_of
from mvdfq.classifier.saving import DESCRIPTION
from mvdfq.classifier.saving.tree import DTYPES, MOST_VALUES, TreeReader, TreeWriter
from mvdfq.frames.learned import LearnedError, require

FORMAT = "mvdfq model"
SCHEMA = 1
# A description usually has a few kilobytes; the limit allows models of thousands of parts.
LARGEST_DESCRIPTION = 2**26
# A value of JSON takes at least 64 bytes as an object of Python: a description of many empty
# objects would take 25 times its size.
MOST_JSON = 2 * MOST_VALUES
DEFAULT_LIMIT = 2**33  # bytes of all arrays together
# Most lines of an array that holds no value.
MOST_LINES = 10**7


class ModelFileError(ValueError):
    """A model file cannot be read, or a model cannot be written to a file.

    Parameters
    ----------
    message : str
        The file, and what is wrong.

    Examples
    --------
    >>> import mvdfq, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "notes.txt"
    >>> _ = path.write_text("some notes")
    >>> mvdfq.load(path)
    Traceback (most recent call last):
    mvdfq.classifier.saving.file.ModelFileError: ...notes.txt is not a model file, or is incomplete.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)


def save_model(model: Any, path: str | Path) -> None:
    """Write a fitted classifier; an incomplete file never appears under `path`."""
    path, writer = Path(path), TreeWriter()
    try:
        described = writer.describe(model, "the classifier")
    except LearnedError as error:
        raise ModelFileError(f"{path} was not written: {error}.") from None
    description = {
        "format": FORMAT,
        "schema": SCHEMA,
        "mvdfq": version_of("mvdfq"),
        "labels": [str(label) for label in model.classes_],
        "channels": model.channel_names_in_,
        "model": described,
        "arrays": {name: _passport(array) for name, array in writer.arrays.items()},
    }
    text = json.dumps(description, indent=1, ensure_ascii=False, allow_nan=False)
    with replacing(path) as file, _Archive(file, "w", zipfile.ZIP_DEFLATED) as archive:
        # names of files may hold bytes that are not UTF-8
        archive.writestr(DESCRIPTION, text.encode("utf-8", "surrogatepass"))
        for name, array in writer.arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            archive.writestr(name, buffer.getbuffer())


class _Archive(zipfile.ZipFile):
    """An archive that only `close` completes: after Ctrl-C, its file is closed and removed."""

    def __del__(self) -> None:
        """Leave the file as it is."""


def _passport(array: np.ndarray) -> dict[str, Any]:
    digest = hashlib.sha256(array.ravel().view(np.uint8).data).hexdigest()
    return {"dtype": array.dtype.str, "shape": list(array.shape), "sha256": digest}


def load(path: str | Path, *, memory_limit: int | str | None = None) -> Any:
    """Read a classifier that `SequenceClassifier.save` wrote.

    Loading does not run code from the file. Sizes are checked before memory is allocated;
    checksums and consistency are checked afterwards.

    Parameters
    ----------
    path : str or Path
        The file.
    memory_limit : int or str, default=None
        Largest size of the model: bytes, or text such as ``"500 MB"``. The default is 8 GiB.

    Returns
    -------
    classifier : SequenceClassifier
        The fitted classifier; its predictions equal the saved classifier's to the last bit.

    Examples
    --------
    >>> import mvdfq, pathlib, tempfile
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> clf = mvdfq.SequenceClassifier("mvdfq-sssk", C=10).fit(X, y)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "vowels.mvdfq"
    >>> clf.save(path)
    >>> again = mvdfq.load(path)
    >>> (again.decision_function(X) == clf.decision_function(X)).all()
    np.True_
    """
    limit = DEFAULT_LIMIT if memory_limit is None else parse_memory(memory_limit)
    with open(path, "rb") as file:  # a missing file is an OSError
        try:
            return _read(file, path, limit)
        except (ModelFileError, MemoryError):
            raise
        except zipfile.BadZipFile:
            raise ModelFileError(f"{path} is not a model file, or is incomplete.") from None
        except LearnedError as error:
            raise ModelFileError(f"{path} is damaged: {error}.") from None
        except Exception as error:  # any other error that a damaged file causes
            raise ModelFileError(f"{path} is damaged: {type(error).__name__}: {error}") from error


def _read(file: BinaryIO, path: Any, limit: int) -> Any:
    with zipfile.ZipFile(file) as archive:
        description = _description(archive, path, limit)
        passports = description["arrays"]
        same = sorted(archive.namelist()) == sorted([DESCRIPTION, *passports])
        require(same, "the file must hold exactly the arrays that it describes, got other arrays")
        _check_limit(sum(map(_size, passports.values())), path, limit)
        arrays = {name: _array(archive, name, note, path) for name, note in passports.items()}
    model = TreeReader(arrays).built(description["model"])
    if type(model).__name__ != "SequenceClassifier":
        raise ModelFileError(f"{path} must hold a SequenceClassifier, got {type(model).__name__}.")
    return model


def _description(archive: zipfile.ZipFile, path: Any, limit: int) -> dict[str, Any]:
    if DESCRIPTION not in archive.namelist():
        raise ModelFileError(f"{path} is not a model file: it has no entry {DESCRIPTION}.")
    for info in archive.infolist():  # other methods need other libraries
        usual = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        problem = f"{info.filename} must be stored or deflated, but is compressed in another way"
        require(usual, problem)
    size = archive.getinfo(DESCRIPTION).file_size
    most = LARGEST_DESCRIPTION
    require(size <= most, f"the description must be at most {most} bytes, got {size}")
    _check_limit(size, path, limit)
    text = archive.read(DESCRIPTION)
    n_values = sum(map(text.count, (b",", b"[", b"{")))
    require(n_values <= MOST_JSON, f"the description must hold at most {MOST_JSON} values")
    description = json.loads(text, parse_constant=_refuse_constant)
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ModelFileError(f"{path} is not a model file of mvdfq.")
    if description["schema"] > SCHEMA:
        writer, reader = description.get("mvdfq"), version_of("mvdfq")
        problem = f"in a format that version {reader} does not know; update mvdfq"
        raise ModelFileError(f"{path} was written by mvdfq {writer}, {problem}.")
    return description


def _refuse_constant(text: str) -> None:
    raise LearnedError(f"the description holds {text}, which is not JSON")


def _check_limit(size: int, path: Any, limit: int) -> None:
    if size > limit:
        problem = f"{path} needs {size} bytes, more than the limit of {limit}"
        raise ModelFileError(f"{problem}; pass a larger memory_limit.")


def _size(passport: dict[str, Any]) -> int:
    dtype, shape = np.dtype(passport["dtype"]), passport["shape"]
    whole = all(type(n) is int and n >= 0 for n in shape)
    known = dtype.kind in DTYPES and dtype.str == passport["dtype"] and dtype.itemsize > 0
    # an array without values may still have 10**12 lines, which a loop would visit
    usable = known and whole and not (0 in shape and max(shape) > MOST_LINES)
    require(usable, f"{passport['dtype']} of shape {shape} is not an array of numbers or text")
    return dtype.itemsize * math.prod(shape)


def _array(archive: zipfile.ZipFile, name: str, passport: dict, path: Any) -> np.ndarray:
    """Read an array; memory is allocated only after all sizes have been compared."""
    size, dtype = _size(passport), np.dtype(passport["dtype"])
    whole = archive.getinfo(name).file_size
    problem = f"{name} does not have the described size"
    require(size < whole < size + LARGEST_HEADER, problem)
    with archive.open(name) as file:

        def check(shape: tuple[int, ...], claimed: np.dtype) -> None:
            header = list(shape), claimed, file.tell()
            require(header == (passport["shape"], dtype, whole - size), problem)

        array = guarded_array(file, check)
    if _passport(array) != passport:
        raise ModelFileError(f"{path} was changed after it was written: {name} differs.")
    return array.astype(dtype.newbyteorder("="), copy=False)

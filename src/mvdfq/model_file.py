"""Fitted classifiers as files: a zip of JSON and arrays; reading one executes nothing.

``model.json`` describes the object as a tree of plain values. Arrays stand beside it as ``.npy``
entries, each with its size and checksum in the description. Objects are of the classes listed here
and no other; they are filled, not called.
"""

import hashlib
import io
import json
import math
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from mvdfq.gram import parse_memory
from mvdfq.sequences import Ragged
from mvdfq.symbols.base import Symbols

__all__ = ["ModelFileError", "load", "save_model"]

FORMAT = "mvdfq model"
SCHEMA = 1
DESCRIPTION = "model.json"
# A description is text of a few kilobytes; this is for models of thousands of parts.
LARGEST_DESCRIPTION = 2**26
DEFAULT_LIMIT = 2**33

# Where the classes live that a file may hold.
CLASSES = {
    **dict.fromkeys(["SequenceClassifier"], "mvdfq.classifier"),
    **dict.fromkeys(["KernelMachine", "LinearMachine"], "mvdfq.machine"),
    **dict.fromkeys(["SequenceKernel", "SequenceFeatures"], "mvdfq.kernel"),
    **dict.fromkeys(["Problems", "Margins"], "mvdfq.svm"),
    "Recipe": "mvdfq.recipe",
    "Symbols": "mvdfq.symbols.base",
    **dict.fromkeys(["Sequences", "Ragged"], "mvdfq.sequences"),
    **dict.fromkeys(["Vocabulary", "Buckets"], "mvdfq.features"),
    **dict.fromkeys(
        ["Centre", "Delta", "Lags", "Rotate", "Smooth", "Stack", "Standardize"], "mvdfq.frames"
    ),
    **dict.fromkeys(
        ["CodebookQuantizer", "DirectQuantizer", "HashingQuantizer", "JointQuantizer", "Letters"],
        "mvdfq.symbols",
    ),
    "Rows": "mvdfq.symbols",
    **dict.fromkeys(
        ["Gapped", "Gappy", "Mismatch", "MismatchPairs", "Profile", "Spatial", "Spectrum"],
        "mvdfq.layouts",
    ),
    **dict.fromkeys(["Subsequence", "Wildcard", "Words"], "mvdfq.layouts"),
    "Pipeline": "sklearn.pipeline",
}
# Attributes that belong to a session, not to a model.
PASSING = {"_skl_callbacks", "_parent_callback_ctx", "_sklearn_version", "_table"}


class ModelFileError(ValueError):
    """A file is no model, or not one that can be read here."""


def save_model(model: Any, path: str | Path) -> None:
    """Write a fitted classifier; the file appears only when it is complete."""
    writer = _Writer()
    described = writer.describe(model, "the classifier")
    description = {
        "format": FORMAT,
        "schema": SCHEMA,
        "mvdfq": version("mvdfq"),
        "labels": [str(label) for label in model.classes_],
        "channels": getattr(model.frames_ or model.symbols_, "channel_names_in_", None),
        "model": described,
        "arrays": {name: _passport(array) for name, array in writer.arrays.items()},
    }
    text = json.dumps(description, indent=1, ensure_ascii=False, allow_nan=False)
    path = Path(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as z:
            z.writestr(DESCRIPTION, text)
            for name, array in writer.arrays.items():
                z.writestr(name, _npy(array))
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _passport(array: np.ndarray) -> dict[str, Any]:
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    return {"dtype": array.dtype.str, "shape": list(array.shape), "sha256": digest}


class _Writer:
    """Describes objects as plain values and gathers their arrays, each once."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.seen: dict[int, tuple[int, Any]] = {}

    def describe(self, value: Any, where: str) -> Any:
        """Return a value as JSON has it; `where` names it in errors."""
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, list):
            return [self.describe(one, where) for one in value]
        if isinstance(value, tuple) and type(value) is tuple:
            return {"tuple": [self.describe(one, where) for one in value]}
        if isinstance(value, dict):
            pairs = [[self.describe(k, where), self.describe(v, where)] for k, v in value.items()]
            return {"dict": pairs}
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.array(value), where)}
        return self._once(value, where)

    def _once(self, value: Any, where: str) -> Any:
        if id(value) in self.seen:
            return {"again": self.seen[id(value)][0]}
        number = len(self.seen)
        self.seen[id(value)] = number, value  # the value is held, so that its id stays its own
        if isinstance(value, np.ndarray):
            return {"array": self._array(value, where), "number": number}
        if isinstance(value, sp.csr_array):
            parts = [self._array(part, where) for part in (value.data, value.indices, value.indptr)]
            return {"csr": parts, "shape": list(value.shape), "number": number}
        return self._object(value, where, number)

    def _array(self, array: np.ndarray, where: str) -> Any:
        name = f"{len(self.arrays):04d}.npy"
        if array.dtype == object:
            if not all(isinstance(one, str) for one in array.ravel()):
                raise ModelFileError(
                    f"{where} holds objects that are no text; they cannot be saved."
                )
            self.arrays[name] = array.astype(str)
            return {"text": name}
        self.arrays[name] = array
        return name

    def _object(self, value: Any, where: str, number: int) -> Any:
        kind = type(value).__name__
        home = CLASSES.get(kind)
        if home is None or getattr(import_module(home), kind) is not type(value):
            raise ModelFileError(
                f"{where} holds {kind}, which is no part of mvdfq; a model file keeps only what "
                f"can be read without running code. pickle or skops keep the rest."
            )
        state = {
            name: self.describe(one, f"{kind}.{name}")
            for name, one in vars(value).items()
            if name not in PASSING
        }
        return {"object": kind, "state": state, "number": number}


def load(path: str | Path, *, memory_limit: int | str | None = None) -> Any:
    """Read a classifier that `SequenceClassifier.save` wrote.

    Nothing in the file is executed. Sizes are checked before memory is taken, checksums and the
    consistency of what was read afterwards.

    Parameters
    ----------
    path : str or Path
        The file.

    memory_limit : int or str, default=None
        Refuse a model that takes more bytes than this; 8 GiB by default.

    Returns
    -------
    classifier : SequenceClassifier
        The fitted classifier; it predicts the same bytes as the one that was saved.

    Examples
    --------
    >>> import mvdfq, os, tempfile
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> clf = mvdfq.SequenceClassifier("mvdfq-sssk", C=10).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     clf.save(os.path.join(folder, "vowels.mvdfq"))
    ...     again = mvdfq.load(os.path.join(folder, "vowels.mvdfq"))
    >>> (again.decision_function(X) == clf.decision_function(X)).all()
    np.True_
    """
    limit = DEFAULT_LIMIT if memory_limit is None else parse_memory(memory_limit)
    try:
        with zipfile.ZipFile(path) as archive:
            description = _description(archive, path)
            arrays = _arrays(archive, description, limit, path)
        return _Reader(arrays, path).built(description["model"])
    except ModelFileError:
        raise
    except zipfile.BadZipFile:
        raise ModelFileError(f"{path} is no model file, or it is cut short.") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError, EOFError,
            zlib.error) as error:  # fmt: skip
        raise ModelFileError(f"{path} is damaged: {type(error).__name__}: {error}") from None


def _description(archive: zipfile.ZipFile, path: Any) -> dict[str, Any]:
    if DESCRIPTION not in archive.namelist():
        raise ModelFileError(f"{path} is no model file: it holds no {DESCRIPTION}.")
    if archive.getinfo(DESCRIPTION).file_size > LARGEST_DESCRIPTION:
        raise ModelFileError(f"{path} is damaged: its description is too large.")
    description = json.loads(archive.read(DESCRIPTION))
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ModelFileError(f"{path} is no model file of mvdfq.")
    if description["schema"] > SCHEMA:
        raise ModelFileError(
            f"{path} was written by mvdfq {description.get('mvdfq')}, in a format that version "
            f"{version('mvdfq')} does not know; update mvdfq."
        )
    return description


def _arrays(
    archive: zipfile.ZipFile, description: dict[str, Any], limit: int, path: Any
) -> dict[str, np.ndarray]:
    """Read the arrays, each no larger than its description says and all within the limit."""
    passports = description["arrays"]
    sizes = {
        name: np.dtype(one["dtype"]).itemsize * math.prod(map(int, one["shape"]))
        for name, one in passports.items()
    }
    if sum(sizes.values()) > limit:
        raise ModelFileError(
            f"{path} holds {sum(sizes.values())} bytes, more than the limit of {limit}; "
            f"memory_limit= allows more."
        )
    return {name: _array(archive, name, one, sizes[name], path) for name, one in passports.items()}


def _array(archive: zipfile.ZipFile, name: str, passport: dict, size: int, path: Any) -> np.ndarray:
    info = archive.getinfo(name)
    if not size <= info.file_size <= size + 2**12:  # the header of the array
        raise ModelFileError(f"{path} is damaged: {name} is not of the size described.")
    with archive.open(name) as file:
        array = np.lib.format.read_array(io.BytesIO(file.read()), allow_pickle=False)
    if _passport(array) != passport:
        raise ModelFileError(f"{path} was changed after it was written: {name} differs.")
    return array


class _Reader:
    """Builds objects from their description."""

    def __init__(self, arrays: dict[str, np.ndarray], path: Any) -> None:
        self.arrays, self.path = arrays, path
        self.built_ones: dict[int, Any] = {}

    def built(self, value: Any) -> Any:
        """Return the value that was described."""
        if isinstance(value, list):
            return [self.built(one) for one in value]
        if not isinstance(value, dict):
            return value
        if "again" in value:
            return self.built_ones[value["again"]]
        if "object" in value:
            return self._object(value)
        result = self._plain(value)
        if "number" in value:
            self.built_ones[value["number"]] = result
        return result

    def _plain(self, value: dict[str, Any]) -> Any:
        builders: dict[str, Callable[[], Any]] = {
            "float": lambda: float(value["float"]),
            "tuple": lambda: tuple(self.built(one) for one in value["tuple"]),
            "dict": lambda: {self.built(k): self.built(v) for k, v in value["dict"]},
            "scalar": lambda: self._array(value["scalar"])[()],
            "array": lambda: self._array(value["array"]),
            "csr": lambda: _checked_csr([self._array(one) for one in value["csr"]], value["shape"]),
        }
        return next(build for key, build in builders.items() if key in value)()

    def _array(self, name: Any) -> np.ndarray:
        if isinstance(name, dict):
            return self.arrays[name["text"]].astype(object)
        return self.arrays[name]

    def _object(self, value: dict[str, Any]) -> Any:
        kind = value["object"]
        if kind not in CLASSES:
            raise ModelFileError(f"{self.path} holds {kind!r}, which is no part of a model.")
        cls = getattr(import_module(CLASSES[kind]), kind)
        result = object.__new__(cls)
        self.built_ones[value["number"]] = result
        for name, one in value["state"].items():
            if not name.isidentifier() or name.startswith("__"):
                raise ModelFileError(f"{self.path} is damaged: {name!r} names no attribute.")
            object.__setattr__(result, name, self.built(one))
        if is_dataclass(cls):
            for field in fields(cls):
                if field.name in PASSING:
                    object.__setattr__(result, field.name, [])
                elif not hasattr(result, field.name):
                    raise ModelFileError(f"{self.path} is damaged: {kind} has no {field.name}.")
        _check(result, self.path)
        return result


def _checked_csr(parts: list[np.ndarray], shape: list[int]) -> sp.csr_array:
    matrix = sp.csr_array(tuple(parts), shape=tuple(shape))
    matrix.check_format(full_check=True)
    return matrix


def _check(value: Any, path: Any) -> None:
    """Refuse what compiled code, which checks nothing, could not read safely."""
    problem = None
    if isinstance(value, Ragged):
        offsets, n = np.asarray(value.offsets), value.data.shape[1]
        if offsets.ndim != 1 or not offsets.size or offsets[0] != 0 or offsets[-1] != n:
            problem = "its sequences do not cover its frames"
        elif (np.diff(offsets) < 0).any():
            problem = "its sequences overlap"
    if isinstance(value, Symbols) and problem is None:
        known = (value.data < value.n_symbols[:, None]) | (value.data == value.missing)
        if value.n_symbols.shape != (len(value.data),) or not known.all():
            problem = "its symbols are outside their alphabets"
    if type(value).__name__ == "KernelMachine":
        n, n_rows = len(value.reader.train_), len(value.reader.recipe_.row_weights)
        if len(value.margins.coefficients) != n or value.norms.shape != (n,):
            problem = "its coefficients are not those of its sequences"
        elif value.scale.shape != (n_rows, n) or value.reader.train_.n_rows < n_rows > 1:
            problem = "its rows are not those of its sequences"
    if problem is not None:
        raise ModelFileError(f"{path} is damaged: {problem}.")

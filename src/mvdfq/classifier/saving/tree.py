"""A fitted classifier as a tree of plain values and arrays, and back without running code.

A tree may only hold objects of the classes listed here. Reading sets the attributes of an object,
does not call its constructor, and then checks the object.
"""

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

import numpy as np
import scipy.sparse as sp

from mvdfq.classifier.registry import EXPORTED
from mvdfq.classifier.saving.checks import check
from mvdfq.frames.learned import LearnedError, check_kinds, is_record, require

# Kinds of arrays that hold numbers or text: bool, int, uint, float, str.
DTYPES = "biufU"
# A model is a tree of about twelve levels; Python's own limit differs by version.
MOST_DEEP = 200
# Values of a tree, each counted as often as the tree refers to it: a few bytes can describe tuples
# of tuples with 2**40 leaves. The default of 2000 channels has about a million values.
MOST_VALUES = 3 * 10**6

# The only classes that a tree may hold, with the module of each; parts come from the registry.
CLASSES = {
    "SequenceClassifier": "mvdfq.classifier.estimator",
    "FittedSum": "mvdfq.terms.fitted",
    **dict.fromkeys(["FittedFeatures", "FittedKernel"], "mvdfq.terms.plain_answers"),
    **dict.fromkeys(["FittedWords", "WordTerm"], "mvdfq.terms.words"),
    **dict.fromkeys(["FilterBank", "FilterTerm", "FittedFilters"], "mvdfq.terms.filters"),
    "PlainTerm": "mvdfq.terms.plain",
    "Problems": "mvdfq.terms.svm",
    "Calibration": "mvdfq.terms.typical",
    "SequenceKernel": "mvdfq.gram.kernel",
    "SequenceFeatures": "mvdfq.gram.features",
    "Plan": "mvdfq.gram.plan",
    "Symbols": "mvdfq.symbols",
    "Sequences": "mvdfq.sequences",
    **dict.fromkeys(["Vocabulary", "Buckets"], "mvdfq.gram.vocabulary"),
    "Pipeline": "sklearn.pipeline",
    **{name: cls.__module__ for parts in EXPORTED.values() for name, cls in parts.items()},
}


class TreeWriter:
    """Describes objects as plain values and collects their arrays, each array once."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.seen: dict[int, tuple[int, Any]] = {}

    def describe(self, value: Any, where: str) -> Any:
        """Return a value in the form of JSON; errors call the value `where`."""
        if isinstance(value, np.generic):  # first: some NumPy numbers are also Python numbers
            return {"scalar": self._stored(np.array(value), where)}
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, list):
            return [self.describe(item, where) for item in value]
        if type(value) is tuple:
            return {"tuple": [self.describe(item, where) for item in value]}
        if type(value) is range:
            return {"range": [value.start, value.stop, value.step]}
        if isinstance(value, dict):
            pairs = [[self.describe(k, where), self.describe(v, where)] for k, v in value.items()]
            return {"dict": pairs}
        return self._once(value, where)

    def _once(self, value: Any, where: str) -> Any:
        """Describe an object; further places of the same object refer to the first place."""
        if id(value) in self.seen:
            return {"again": self.seen[id(value)][0]}
        number = len(self.seen)
        self.seen[id(value)] = number, value  # holding the value keeps its id unique
        if isinstance(value, sp.csr_array):
            arrays = value.data, value.indices, value.indptr
            described = {"csr": [self._stored(array, where) for array in arrays]}
        elif not isinstance(value, np.ndarray):
            return {"number": number, **self._object(value, where)}
        elif value.dtype != object:
            return {"number": number, "array": self._stored(value, where)}
        else:
            described = {"text": value.ravel().tolist()}
            is_text = all(isinstance(word, str) for word in described["text"])
            require(is_text, f"{where} must hold text, got other objects")
        return {"number": number, **described, "shape": list(value.shape)}

    def _stored(self, array: np.ndarray, where: str) -> str:
        is_known = array.dtype.kind in DTYPES
        require(is_known, f"{where} must hold numbers or text, got an array of {array.dtype}")
        name = f"{len(self.arrays):04d}.npy"
        self.arrays[name] = array
        return name

    def _object(self, value: Any, where: str) -> dict[str, Any]:
        cls = type(value)
        is_known = cls.__name__ in CLASSES and _class(cls.__name__) is cls
        problem = f"{where} holds {cls.__name__}, which is not a part of mvdfq"
        hint = "a model file only holds parts of mvdfq; use pickle or skops instead"
        require(is_known, f"{problem}; {hint}")
        state = {}
        for name, attribute in vars(value).items():
            # computed on demand; or a fact about the machine, which the next machine may not have
            if name.startswith("_") or name == "engine":
                continue
            place, is_known = f"{cls.__name__}.{name}", _is_attribute(cls, name)
            require(is_known, f"{place} is not a parameter, and fit does not set it")
            state[name] = self.describe(attribute, place)
        try:
            check_kinds(value)
        except LearnedError as error:
            raise LearnedError(f"load would refuse {cls.__name__}: {error}") from None
        return {"object": cls.__name__, "state": state}


class TreeReader:
    """Builds objects from their description."""

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self.arrays = arrays
        self.numbered: dict[int, Any] = {}
        self.sizes: dict[int, int] = {}
        self.depth = self.n_values = 0

    def built(self, value: Any) -> Any:
        """Return the value that was described."""
        require(self.depth <= MOST_DEEP, f"parts must be nested at most {MOST_DEEP} levels deep")
        self.depth += 1
        self._count(1)
        result = self._value(value)
        self.depth -= 1
        return result

    def _count(self, n: int) -> None:
        """Count values of the tree, and refuse a tree that takes too long to walk through."""
        self.n_values += n
        fits = self.n_values <= MOST_VALUES
        require(fits, f"the description must hold at most {MOST_VALUES} values")

    def _value(self, value: Any) -> Any:
        match value:
            case None | bool() | int() | float() | str():
                return value
            case list():
                return [self.built(item) for item in value]
            case {"again": number}:
                self._count(self.sizes[number])
                return self.numbered[number]  # complete objects only, so no object can hold itself
            case {"number": number, **described}:
                before = self.n_values
                self.numbered[number] = self._value(described)
                self.sizes[number] = self.n_values - before
                return self.numbered[number]
            case {"float": str(text)}:
                return float(text)
            case {"tuple": list(items)}:
                return tuple(self.built(item) for item in items)
            case {"range": [int(), int(), int()] as ends}:
                self._count(len(range(*ends)))
                return range(*ends)
            case {"dict": list(pairs)}:
                return {self.built(key): self.built(item) for key, item in pairs}
            case {"object": str(kind), "state": dict(state)}:
                return self._object(kind, state)
            case {"scalar": str(name)}:
                return self.arrays[name][()]
            case {"array": str(name)}:
                return self.arrays[name]
            case {"text": list(words), "shape": list(shape)}:
                is_text = all(isinstance(word, str) for word in words)
                require(is_text, f"an array of text must hold text, got {words!r:.40}")
                fits = math.prod(shape) == len(words) >= max([0, *shape])
                require(fits, f"{len(words)} words cannot have the shape {shape}")
                return np.array([*words, None], dtype=object)[:-1].reshape(shape)
            case {"csr": [*names], "shape": [int(), int()] as shape}:
                matrix = sp.csr_array(tuple(self.arrays[name] for name in names), shape=shape)
                matrix.check_format(full_check=True)
                return matrix
        raise LearnedError(f"the file holds {str(value)[:40]}, which does not describe a value")

    def _object(self, kind: str, state: dict[str, Any]) -> Any:
        require(kind in CLASSES, f"the file holds {kind!r}, which is not a part of a model")
        cls = _class(kind)
        result: Any = object.__new__(cls)
        for name, described in state.items():
            require(_is_attribute(cls, name), f"{name!r} is not an attribute of {kind}")
            object.__setattr__(result, name, self.built(described))
        for name, default in _defaults(cls).items():
            if name not in state:  # a newer version may have more parameters than the file
                object.__setattr__(result, name, default)
        check(result)
        return result


def _class(kind: str) -> type:
    return getattr(import_module(CLASSES[kind]), kind)


def _is_attribute(cls: type, name: str) -> bool:
    """Tell whether a file may set an attribute: a parameter, a field or a fitted value."""
    if name.startswith("_"):
        return False
    if is_record(cls):
        return name in {field.name for field in fields(cls)}
    return name.endswith("_") or name in _parameters(cls)


@cache  # reading signatures took two fifths of the time of `load`
def _parameters(cls: type) -> Mapping[str, Parameter]:
    return signature(cls).parameters


def _defaults(cls: Any) -> dict[str, Any]:
    """Return new default values of parameters or fields."""
    if not is_record(cls):
        defaults = ((name, parameter.default) for name, parameter in _parameters(cls).items())
        return {name: value for name, value in defaults if value is not Parameter.empty}
    made = {field.name: field.default_factory for field in fields(cls) if field.default is MISSING}
    return {name: make() for name, make in made.items() if make is not MISSING}

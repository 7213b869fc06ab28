"""Annotations as promises: a part of a model holds what its class declares.

A class declares its parameters in the signature of its constructor, and what `fit` learns in its
body: ``mean_: np.ndarray``. A dataclass declares its fields. `check_kinds` compares an object with
these declarations; what must hold of the values themselves is in `checks.py` and in the methods
`check_learned`.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from numbers import Integral, Real
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from mvdfq.frames.learned import LearnedError, check_array, learned_names, require

# scikit-learn declares nothing.
STEPS = {"steps": list[tuple[str, Any]]}


def check_finite(array: np.ndarray, name: str, shape: tuple[int | None, ...]) -> None:
    """Raise an error unless the array has this shape and holds finite numbers."""
    check_array(array, name, shape)
    require(np.isfinite(array).all(), f"{name} must hold finite numbers")


def check_norms(array: np.ndarray, name: str, shape: tuple[int | None, ...]) -> None:
    """Raise an error unless the array has this shape and holds finite numbers from 0 on."""
    check_finite(array, name, shape)
    require((array >= 0).all(), f"{name} must not be negative")


def class_name(part: Any) -> str:
    """Return the class of a part: its parameters may make a very long text."""
    return type(part).__name__


def check_kinds(value: Any) -> None:
    """Raise an error if an attribute is missing, or is not what its class declares."""
    cls: Any = type(value)
    missing = [name for name in _needed(cls) if not hasattr(value, name)]
    learned = [name for name in _learned(cls) if not hasattr(value, name)]
    if len(learned) < len(_learned(cls)):  # otherwise the part is not fitted
        missing += learned
    if missing:
        raise LearnedError(f"the file must hold {', '.join(missing)}, but does not")
    for name, hint in _hints(cls).items():
        if hasattr(value, name) and not fits(getattr(value, name), hint):
            shown = _shown(getattr(value, name))
            raise LearnedError(f"{name} must be {_written(hint)}, got {shown}")


def fits(value: Any, hint: Any) -> bool:
    """Tell whether a value is what an annotation says; 1 may stand for True, and 1 for 1.0.

    Examples
    --------
    >>> fits([("a", 1)], list[tuple[str, int]]), fits(None, int | None), fits(True, int)
    (True, True, False)
    """
    if hint is Any:
        return True
    if get_origin(hint) in (Union, UnionType):
        return any(fits(value, kind) for kind in get_args(hint))
    if get_origin(hint) in COLLECTIONS:
        return COLLECTIONS[get_origin(hint)](value, get_args(hint))
    if is_typeddict(hint):
        return _is_record(value, hint)
    if hint in NUMBERS:
        return NUMBERS[hint](value)
    return isinstance(value, hint)


def _is_list(value: Any, args: tuple[Any, ...]) -> bool:
    return isinstance(value, list) and all(fits(item, args[0]) for item in value)


def _is_sequence(value: Any, args: tuple[Any, ...]) -> bool:
    if isinstance(value, range):
        return fits(value.start, args[0])  # a range may be long, and all its members are alike
    is_list = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)
    return is_list and all(fits(item, args[0]) for item in value)


def _is_tuple(value: Any, args: tuple[Any, ...]) -> bool:
    if not isinstance(value, tuple):
        return False
    wanted = (args[0],) * len(value) if args[-1] is Ellipsis else args
    return len(value) == len(wanted) and all(map(fits, value, wanted))


def _is_dict(value: Any, args: tuple[Any, ...]) -> bool:
    pairs = value.items() if isinstance(value, dict) else [(None, None)]
    return isinstance(value, dict) and all(fits(k, args[0]) and fits(v, args[1]) for k, v in pairs)


def _is_record(value: Any, hint: Any) -> bool:
    if not isinstance(value, dict) or not hint.__required_keys__ <= value.keys():
        return False
    hints = get_type_hints(hint)
    return all(key in hints and fits(item, hints[key]) for key, item in value.items())


COLLECTIONS: dict[Any, Callable[[Any, tuple[Any, ...]], bool]] = {
    list: _is_list,
    tuple: _is_tuple,
    dict: _is_dict,
    Sequence: _is_sequence,
}

# Users may pass numbers of NumPy for numbers of Python, and 0 or 1 for a flag.
NUMBERS: dict[Any, Callable[[Any], bool]] = {
    bool: lambda value: isinstance(value, bool | np.bool_ | Integral) and value in (0, 1),
    int: lambda value: isinstance(value, Integral) and not isinstance(value, bool),
    float: lambda value: isinstance(value, Real) and not isinstance(value, bool),
}


def is_record(cls: type) -> bool:
    """Tell whether objects of a class have all their fields; a part has some after `fit` alone."""
    return not issubclass(cls, BaseEstimator) and is_dataclass(cls)


@cache
def _hints(cls: Any) -> dict[str, Any]:
    if cls is Pipeline:
        return STEPS
    hints = get_type_hints(cls) | ({} if is_record(cls) else get_type_hints(cls.__init__))
    return {name: hint for name, hint in hints.items() if not name.startswith("_")}


@cache
def _needed(cls: type) -> list[str]:
    """Return the names that every object has: fields of a dataclass, steps of a pipeline."""
    if cls is Pipeline:
        return list(STEPS)
    if not is_record(cls):
        return []
    return [field.name for field in fields(cls) if not field.name.startswith("_")]


@cache
def _learned(cls: type) -> list[str]:
    """Return the names that `fit` sets; a name with a value in its class is newer than some files.

    Files without such a name go by the value in the class.
    """
    names = [] if is_record(cls) else learned_names(cls)
    return [name for name in names if not hasattr(cls, name)]


def _written(hint: Any) -> str:
    """Return an annotation as people write it."""
    return hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)


def _shown(value: Any) -> str:
    """Return a number, a text or nothing as it is; the text of other objects may be very long."""
    plain = value is None or isinstance(value, str | int | float)
    return f"{value!r:.60}" if plain else type(value).__name__

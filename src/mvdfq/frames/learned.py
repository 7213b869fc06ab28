"""Checks of what a part holds, for parts read from a model file: annotations are promises.

A class declares its parameters in the signature of its constructor, and what `fit` learns in its
body: ``mean_: np.ndarray``. A dataclass declares its fields. `check_kinds` compares an object with
these declarations; what must hold of the values is in `classifier/saving/checks.py` and in the
methods `check_learned`.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from inspect import get_annotations
from numbers import Integral, Real
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline


class LearnedError(ValueError):
    """The values of a part do not belong together, or no file can hold the part."""


def require(condition: Any, problem: str) -> None:
    """Raise an error with the text `problem` unless the condition holds."""
    if not condition:
        raise LearnedError(problem)


def require_equal(actual: int, wanted: int, text: str) -> None:
    """Raise an error unless a number is the wanted number, which stands at {} in the text."""
    require(actual == wanted, f"{text.format(wanted)}, got {actual}")


def require_array(part: Any, name: str, *wanted: Any, **bounds: Any) -> None:
    """Raise an error unless an attribute is an array, see `check_array`."""
    check_array(getattr(part, name), name, *wanted, **bounds)


def check_array(
    array: Any, name: str, shape: Any, dtype: Any = float, low: Any = None, high: float = np.inf
) -> None:
    """Raise an error unless a value is an array of this shape, dtype and range; None fits all."""
    kind = "" if dtype is None else f" of {np.dtype(dtype)}"
    # a length that may be anything is written n
    wanted = f"{name} must be an array{kind} of shape {shape}".replace("None", "n")
    require(isinstance(array, np.ndarray), f"{wanted}, got {type(array).__name__}")
    fits = len(array.shape) == len(shape) and all(
        length in (None, n) for n, length in zip(array.shape, shape, strict=True)
    )
    actual = f"got {array.dtype} of shape {array.shape}"
    require(fits and dtype in (None, array.dtype), f"{wanted}, {actual}")
    if low is not None:
        inside = np.isfinite(array).all() and ((array >= low) & (array <= high)).all()
        ends = f"numbers from {low} to {high}"
        if high == np.inf:
            ends = "finite numbers" if low == -np.inf else f"finite numbers from {low} on"
        require(inside, f"{name} must hold {ends}")


def require_axes(part: Any, n: int) -> None:
    """Raise an error unless `mean_` and `components_` are principal axes of `n` rows."""
    require_array(part, "mean_", (n,), low=-np.inf)
    require_array(part, "components_", (None, n), low=-np.inf)


@cache
def learned_names(cls: Any) -> tuple[str, ...]:
    """Return the attributes that `fit` gives to objects of a class, and that the class declares."""
    declared = [name for base in reversed(cls.__mro__) for name in get_annotations(base)]
    # "_" alone separates the parameters of a dataclass
    return tuple(name for name in dict.fromkeys(declared) if name.endswith("_") and name != "_")


# scikit-learn declares nothing.
STEPS = {"steps": list[tuple[str, Any]]}


def check_kinds(value: Any) -> None:
    """Raise an error if an attribute is missing, or is not what its class declares."""
    cls: Any = type(value)
    names, always = _promised(cls)
    missing = [name for name in names if not hasattr(value, name)]
    if missing and (always or len(missing) < len(names)):  # without any, a part is not fitted
        raise LearnedError(f"the file must hold {', '.join(missing)}, but does not")
    for name, hint in _hints(cls).items():
        if hasattr(value, name) and not fits(actual := getattr(value, name), hint):
            # the text of other objects may be very long
            is_plain = actual is None or isinstance(actual, str | int | float)
            shown = f"{actual!r:.60}" if is_plain else type(actual).__name__
            wanted = hint.__name__ if isinstance(hint, type) and not get_args(hint) else hint
            raise LearnedError(f"{name} must be {wanted}, got {shown}")


def fits(value: Any, hint: Any) -> bool:
    """Tell whether a value is what an annotation says; 1 may stand for True, and 1 for 1.0.

    >>> fits([("a", 1)], list[tuple[str, int]]), fits(None, int | None), fits(True, int)
    (True, True, False)
    """
    kind, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if kind in (Union, UnionType):
        return any(fits(value, choice) for choice in args)
    if kind is Sequence and isinstance(value, range):
        return fits(value.start, args[0])  # a range may be long, and all its members are alike
    if kind in (list, Sequence):
        allowed = list if kind is list else list | tuple | np.ndarray
        is_list = isinstance(value, allowed) and getattr(value, "ndim", 1) > 0
        return is_list and all(fits(item, args[0]) for item in value)
    if kind is tuple:
        wanted = (args[0],) * len(value) if isinstance(value, tuple) and args[-1] is ... else args
        is_tuple = isinstance(value, tuple) and len(value) == len(wanted)
        return is_tuple and all(map(fits, value, wanted))
    if kind is dict:
        is_dict = isinstance(value, dict)
        return is_dict and all(fits(k, args[0]) and fits(v, args[1]) for k, v in value.items())
    if is_typeddict(hint):
        hints = get_type_hints(hint)
        is_whole = isinstance(value, dict) and hint.__required_keys__ <= value.keys()
        return is_whole and all(k in hints and fits(v, hints[k]) for k, v in value.items())
    return NUMBERS[hint](value) if hint in NUMBERS else isinstance(value, hint)


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
def _promised(cls: type) -> tuple[list[str], bool]:
    """Return the names that every object has, and True, or those that `fit` sets, and False."""
    if cls is Pipeline:
        return list(STEPS), True
    if is_record(cls):
        return [field.name for field in fields(cls) if not field.name.startswith("_")], True
    return [name for name in learned_names(cls) if not hasattr(cls, name)], False

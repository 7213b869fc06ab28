"""Checks of what a transformer learned, for transformers read from a model file."""

from functools import cache
from inspect import get_annotations
from typing import Any

import numpy as np


class LearnedError(ValueError):
    """The values of a part do not belong together, or no file can hold the part."""


def require(condition: Any, problem: str) -> None:
    """Raise an error with the text `problem` unless the condition holds."""
    if not condition:
        raise LearnedError(problem)


def require_array(part: Any, name: str, shape: tuple[int | None, ...], dtype: Any = float) -> None:
    """Raise an error unless an attribute is an array of this shape and dtype."""
    check_array(getattr(part, name), name, shape, dtype)


def check_array(array: Any, name: str, shape: tuple[int | None, ...], dtype: Any = float) -> None:
    """Raise an error unless a value is an array of this shape and dtype; None fits all."""
    kind = "" if dtype is None else f" of {np.dtype(dtype)}"
    # a length that may be anything is written n
    wanted = f"{name} must be an array{kind} of shape {shape}".replace("None", "n")
    require(isinstance(array, np.ndarray), f"{wanted}, got {type(array).__name__}")
    fits = len(array.shape) == len(shape) and all(
        length in (None, n) for n, length in zip(array.shape, shape, strict=True)
    )
    found = f"got {array.dtype} of shape {array.shape}"
    require(fits and dtype in (None, array.dtype), f"{wanted}, {found}")


def require_axes(part: Any, n: int) -> None:
    """Raise an error unless `mean_` and `components_` are principal axes of `n` rows."""
    require_array(part, "mean_", (n,))
    require_array(part, "components_", (None, n))
    finite = np.isfinite(part.mean_).all() and np.isfinite(part.components_).all()
    require(finite, "mean_ and components_ must hold finite numbers")


@cache
def learned_names(cls: Any) -> tuple[str, ...]:
    """Return the attributes that `fit` gives to objects of a class.

    A class declares these attributes by annotations in its body: ``mean_: np.ndarray``.
    """
    declared = [name for base in reversed(cls.__mro__) for name in get_annotations(base)]
    # "_" alone separates the parameters of a dataclass
    return tuple(name for name in dict.fromkeys(declared) if name.endswith("_") and name != "_")

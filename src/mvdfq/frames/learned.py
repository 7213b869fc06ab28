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


def require_array(part: Any, name: str, *wanted: Any, **bounds: Any) -> None:
    """Raise an error unless an attribute is an array, see `check_array`."""
    check_array(getattr(part, name), name, *wanted, **bounds)


def check_array(
    array: Any, name: str, shape: Any, dtype: Any = float, low: Any = None, high: float = np.inf
) -> None:
    """Raise an error unless a value is an array of this shape and dtype; None fits all.

    With `low`, the numbers must be finite and from `low` to `high`.
    """
    kind = "" if dtype is None else f" of {np.dtype(dtype)}"
    # a length that may be anything is written n
    wanted = f"{name} must be an array{kind} of shape {shape}".replace("None", "n")
    require(isinstance(array, np.ndarray), f"{wanted}, got {type(array).__name__}")
    fits = len(array.shape) == len(shape) and all(
        length in (None, n) for n, length in zip(array.shape, shape, strict=True)
    )
    found = f"got {array.dtype} of shape {array.shape}"
    require(fits and dtype in (None, array.dtype), f"{wanted}, {found}")
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
    """Return the attributes that `fit` gives to objects of a class.

    A class declares these attributes by annotations in its body: ``mean_: np.ndarray``.
    """
    declared = [name for base in reversed(cls.__mro__) for name in get_annotations(base)]
    # "_" alone separates the parameters of a dataclass
    return tuple(name for name in dict.fromkeys(declared) if name.endswith("_") and name != "_")

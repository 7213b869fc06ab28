"""What every check of a model file demands, and the error if a demand is not met."""

from typing import Any

import numpy as np

from mvdfq.frames.learned import check_array

__all__ = ["TreeError", "check_finite", "check_norms", "class_name", "require"]


class TreeError(ValueError):
    """A model cannot be written as a tree, or a tree is not a valid model."""


def require(condition: Any, problem: str) -> None:
    """Raise an error with the text `problem` unless the condition holds."""
    if not condition:
        raise TreeError(problem)


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

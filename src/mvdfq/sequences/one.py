"""One sequence as an array of numbers: letters, masked values and objects are read here."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

__all__ = ["as_array", "one_sequence", "unmasked"]


def one_sequence(x: Any, i: int) -> tuple[np.ndarray, tuple[bool, ...]]:
    """Return one sequence as a 2-D array of numbers, and which of its rows were letters."""
    if isinstance(x, str):
        return _letters(x)[np.newaxis], (True,)
    if isinstance(x, list | tuple) and any(isinstance(row, str) for row in x):
        return _rows_with_letters(x, i)
    x = as_array(x, i)
    if x.ndim == 0:
        raise ValueError(
            f"Sequence {i} must be an array, got a single value ({x.item()!r}); "
            f"if X is one univariate sequence, pass [X]."
        )
    if x.ndim > 2:
        raise ValueError(
            f"Sequence {i} must have shape (n_channels, n_timepoints) or be 1-D, got shape "
            f"{x.shape}."
        )
    return np.atleast_2d(_real(x, i)), (False,) * (len(x) if x.ndim == 2 else 1)


def as_array(x: Any, i: int) -> np.ndarray:
    """Return sequence `i` as an array; masked values, also of single rows, become NaN."""
    if isinstance(x, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in x):
        x = [unmasked(row) for row in x]
    try:
        return np.asarray(unmasked(x))
    except ValueError:
        raise ValueError(
            f"Sequence {i} has rows of different lengths; all rows of a sequence must have the "
            f"same length."
        ) from None


def unmasked(x: Any) -> Any:
    """Return a masked array as numbers with NaN where masked; return anything else unchanged."""
    if not isinstance(x, np.ma.MaskedArray):
        return x
    if x.dtype.kind in "biu":
        x = x.astype(float)
    return x.filled(np.nan) if x.dtype.kind in "fO" else np.ma.getdata(x)


def _real(x: np.ndarray, i: int) -> np.ndarray:
    """Return the values as real numbers; None is a missing value, other objects are refused."""
    if x.dtype.kind in "biuf":
        return x
    if x.dtype.kind == "O":
        with suppress(TypeError, ValueError):
            return _without_na(x).astype(float)
    hint = "mvdfq.from_long_table(categories=...) reads states and words as symbols."
    if x.dtype.kind == "c":  # the words that the estimator checks of scikit-learn ask for
        hint = "Complex data not supported, pass the real and the imaginary part as two channels."
    raise ValueError(f"Sequence {i} must hold real numbers, got dtype {x.dtype}; {hint}")


def _without_na(x: np.ndarray) -> np.ndarray:
    """Return objects with NaN for pandas.NA, which is a missing value, but not a number."""
    is_na = [type(value).__name__ == "NAType" for value in x.ravel()]
    return np.where(np.reshape(is_na, x.shape), np.nan, x) if any(is_na) else x


def _letters(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)


def _rows_with_letters(x: Sequence[Any], i: int) -> tuple[np.ndarray, tuple[bool, ...]]:
    """Read a sequence that is a list of rows; some rows are strings."""
    _refuse_tokens(x, i)
    rows = [_letters(row) if isinstance(row, str) else _real(as_array(row, i), i) for row in x]
    if any(row.shape != (rows[0].size,) for row in rows):
        shapes = [row.shape for row in rows]
        raise ValueError(
            f"Sequence {i} has rows of different lengths, with the shapes {shapes}; all rows of a "
            f"sequence must have the same length."
        )
    return np.array(rows, dtype=float), tuple(isinstance(row, str) for row in x)


def _refuse_tokens(x: Sequence[Any], i: int) -> None:
    """Refuse strings that are probably not rows: single letters, words."""
    lengths = {len(row) if isinstance(row, str) else None for row in x}
    if lengths == {1} and len(x) > 1:
        raise ValueError(
            f"Sequence {i} must be one string, got a list of {len(x)} single letters; pass "
            f'"".join(letters).'
        )
    if len(lengths) > 1 and None not in lengths:
        raise ValueError(
            f"Sequence {i} is a list of strings of different lengths; rows of letters must have "
            f"the same length. mvdfq.from_long_table(categories=...) reads sequences of words."
        )

"""What rounding can do to numbers: when values are constant, and when two values are the same."""

from typing import Any

import numpy as np

# A few hundred roundings of double precision, as a share of the largest value: sums of equal
# numbers in different orders differ by less, and a signal of 1e-3 on an offset of 1e9 by more.
ROUNDING = 2.0**-44
# Two values closer than this share of the largest value are the same value: what a channel leaves
# after smoothing and slopes has lost some digits. But never more than this share of the range.
SAME, SMALL = 2.0**-36, 2.0**-12


def is_constant(low: Any, high: Any) -> Any:
    """Tell whether values from `low` to `high` differ by no more than rounding, or are none.

    Values that are none have ``low = inf`` and ``high = -inf``.

    Examples
    --------
    >>> is_constant(np.array([0.1, 1e9, 1e9]), np.array([0.1 + 1e-16, 1e9 + 1e-7, 1e9 + 1e-3]))
    array([ True,  True, False])
    """
    with np.errstate(over="ignore"):
        return (high < low) | (high - low <= ROUNDING * np.maximum(np.abs(low), np.abs(high)))


def same_within(low: float, high: float) -> float:
    """Return the distance up to which two values between `low` and `high` are the same value."""
    same = SAME * max(abs(low), abs(high))
    return same if is_constant(low, high) else min(same, SMALL * high - SMALL * low)


def lowered(edges: np.ndarray) -> np.ndarray:
    """Return rising edges a little lower, so that a value on an edge stays on its upper side.

    Infinite edges stay infinite.
    """
    finite = edges[np.isfinite(edges)]
    return edges - same_within(finite[0], finite[-1]) if finite.size else edges

"""Ranges, means and variances of channels: what is constant, the same or far outside."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mvdfq._engines.choice import on_card
from mvdfq._utils.checks import ROUNDING
from mvdfq._utils.errors import Sentence, warn
from mvdfq._utils.short import counted, some
from mvdfq.sequences.containers import Sequences

# A value is far outside if its distance from the range is more than so many times the range.
FAR = 10
# Two values closer than this share of the largest value are the same value: what a channel leaves
# after smoothing and slopes has lost some digits. But never more than this share of the range.
SAME, SMALL = 2.0**-36, 2.0**-12


def is_constant(low: Any, high: Any) -> Any:
    """Tell whether values from `low` to `high` differ by no more than rounding, or are none.

    Values that are none have ``low = inf`` and ``high = -inf``.

    >>> is_constant(np.array([0.1, 1e9, 1e9]), np.array([0.1 + 1e-16, 1e9 + 1e-7, 1e9 + 1e-3]))
    array([ True,  True, False])
    """
    with np.errstate(over="ignore"):
        return (high < low) | (high - low <= ROUNDING * np.maximum(np.abs(low), np.abs(high)))


def same_within(low: float, high: float, share: float = SAME) -> float:
    """Return the distance up to which two values between `low` and `high` are the same value."""
    same = share * max(abs(low), abs(high))
    return same if is_constant(low, high) else min(same, SMALL * high - SMALL * low)


def lowered(edges: np.ndarray) -> np.ndarray:
    """Return rising edges a little lower, so that a value on an edge stays on its upper side."""
    finite = edges[np.isfinite(edges)]
    return edges - same_within(finite[0], finite[-1]) if finite.size else edges


def bounds_of(X: Sequences) -> np.ndarray:
    """Return the least and the largest value of every channel; inf and -inf for none."""
    device, card = on_card("frames")
    if device:
        return card.bounds(X.held, device)
    low = np.fmin.reduce(X.data, axis=1, initial=np.inf)
    return np.stack([low, np.fmax.reduce(X.data, axis=1, initial=-np.inf)])


def ranges_of(X: Sequences) -> np.ndarray:
    """Return the bounds of the channels of numbers, (2, n_channels); NaN for symbols."""
    return np.where(X.symbolic_mask, np.nan, bounds_of(X))


def mean_and_variance(x: np.ndarray) -> np.ndarray:
    """Return the means of all rows, then their variances; NaN for a row that holds only NaN."""
    known = ~np.isnan(x)
    with np.errstate(invalid="ignore"):  # 0 / 0 gives this NaN
        mean = np.where(known, x, 0.0).sum(axis=1) / known.sum(axis=1)
        squares = np.where(known, (x - mean[:, None]) ** 2, 0.0)
        return np.concatenate([mean, squares.sum(axis=1) / known.sum(axis=1)])


def constant_channels(ranges: np.ndarray) -> np.ndarray:
    """Return the indices of the channels whose values differ by no more than rounding."""
    return np.flatnonzero(is_constant(*ranges))


def without_constants(X: Sequences, ranges: np.ndarray) -> Sequences:
    """Return X with 0 for all values of the channels that are constant by these ranges."""
    # whatever such a channel does in new sequences, a quantizer takes no rounding for a signal
    constant = constant_channels(ranges)
    if not constant.size or not X.data[constant].any():
        return X
    data = X.data.copy()
    data[constant] = 0
    return X.with_data(data)


def warn_constant(ranges: np.ndarray, names: Sequence[str]) -> None:
    """Warn about constant channels, and name them."""
    constant = constant_channels(ranges)
    if constant.size:
        problem = f"The training sequences do not change in {_named(names, constant)}"
        warn(f"{problem}; answers do not depend on a constant channel.")


def warn_outside(X: Sequences, ranges: np.ndarray, names: Sequence[str]) -> None:
    """Warn about values far outside the ranges of training; costs one pass over the values."""
    low, high = ranges
    with np.errstate(invalid="ignore", over="ignore"):
        room = np.where(is_constant(low, high), np.nan, FAR * (high - low))
        ranges_here = ranges_of(X)
        outside = (ranges_here[0] < low - room) | (ranges_here[1] > high + room)
    if not outside.any():
        return
    # frame by frame only where a range was left, which is rare
    far = np.zeros(X.data.shape[1], dtype=bool)
    for c in np.flatnonzero(outside):
        far |= (X.data[c] < low[c] - room[c]) | (X.data[c] > high[c] + room[c])
    n = np.unique(np.searchsorted(X.offsets, np.flatnonzero(far), side="right")).size
    first = int(np.flatnonzero(outside)[0])
    problem = f"{n} of {counted(len(X), 'sequence')} hold values far outside the range of training"
    here, usual = (
        f"from {ends[0, first]:.4g} to {ends[1, first]:.4g}" for ends in (ranges_here, ranges)
    )
    example = f"{names[first]!r} runs {here}, in training {usual}. Are the units the same?"
    where = _named(names, np.flatnonzero(outside))
    warn(f"{problem}, in {where}: {example}")


def warn_rate(X: Sequences, rate: float | None) -> None:
    """Warn about another sampling rate than in training: words would span other times."""
    if rate and X.sampling_rate and not 0.9 < X.sampling_rate / rate < 1.1:
        problem = f"X has {X.sampling_rate:g} frames per second, the training data have {rate:g}; "
        hint = {"resample": rate}, " reads tables at the rate of the training data."
        warn(Sentence(problem, *hint))


def _named(names: Sequence[str], channels: np.ndarray) -> str:
    return f"channel{'s' * (channels.size > 1)} {some([names[c] for c in channels])}"

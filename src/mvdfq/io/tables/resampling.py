"""Sequences of unequal sampling rates: say so, or bring them to one rate."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mvdfq.io.source import Source
from mvdfq.io.tables.times import rate_of
from mvdfq.sequences import Sequences, offsets_of
from mvdfq.sequences.check import check_sampling_rate

__all__ = ["SAME_RATE", "at_one_rate", "resampled"]

# Rates that differ by more than a tenth are different rates, and not the jitter of one clock.
SAME_RATE = 0.1
# Two rows that are further apart than this many steps have a gap between them: one lost row makes
# two steps, and jitter makes a few tenths of a step.
GAP = 1.75
# A grid with more places per row than this is a mistake in the unit of the times.
MOST_PLACES = 1000


def at_one_rate(
    source: Source,
    X: Sequences,
    seconds: Sequence[np.ndarray | None],
    rate: float | None = None,
) -> Sequences:
    """Return sequences at `rate`, or as they are with the rate that their times tell.

    `seconds` holds the times of each sequence, None where the unit of the times is not known.
    """
    check_sampling_rate(rate, "resample")
    known = [times for times in seconds if times is not None]
    if rate is not None:
        if len(known) < len(seconds):
            hint = "time='NAME:ms' says that column NAME holds milliseconds; s, us and ns work too"
            source.fail("resample needs times, and the unit of the times is not known", hint)
        return _resampled_all(source, X, known, rate)
    rates = np.array([rate_of(times) for times in known])
    rates = rates[np.isfinite(rates)]
    if not rates.size:
        return X
    middle = _round_rate(float(np.median(rates)))
    if _differ(rates, middle).any():
        low, high = rates.min(), rates.max()
        source.remark(
            f"the sampling rates differ: {low:.4g} to {high:.4g} rows per second; "
            f"resample={middle:g} brings all sequences to one rate"
        )
        return X
    uneven = sum(_is_uneven(times) for times in known)
    source.remark(f"sampling rate from the times: {middle:g} rows per second")
    if uneven:
        source.remark(
            f"{uneven} of {len(X)} sequences have gaps in time, but rows count as evenly spaced; "
            f"resample={middle:g} puts missing values into the gaps"
        )
    return replace(X, sampling_rate=middle)


def _round_rate(rate: float) -> float:
    """Return 50 for 50.0000477, since times are rounded, but not 0.01667 for 1/60."""
    plain = float(f"{rate:.4g}")
    return plain if abs(plain - rate) <= 1e-5 * rate else rate


def _differ(rates: np.ndarray, rate: float) -> np.ndarray:
    return np.abs(np.log(rates / rate)) > np.log1p(SAME_RATE)


def _is_uneven(seconds: np.ndarray) -> bool:
    steps = np.diff(seconds)
    return bool(steps.size and steps.max() > GAP * np.median(steps))


def _resampled_all(
    source: Source, X: Sequences, seconds: Sequence[np.ndarray], rate: float
) -> Sequences:
    parts = []
    for x, times in zip(X, seconds, strict=True):
        if times[-1] * rate > MOST_PLACES * len(times):
            problem = f"{len(times)} rows last {times[-1]:.4g} s, which is too long for "
            hint = "time='NAME:ms' says that column NAME holds milliseconds"
            source.fail(f"{problem}resample={rate:g}", hint)
        parts.append(resampled(x, times, rate, X.symbolic_mask))
    source.remark(f"all sequences are resampled to {rate:g} rows per second")
    data = np.concatenate(parts, axis=1)
    offsets = offsets_of(part.shape[1] for part in parts)
    return replace(X.with_data(data, offsets), sampling_rate=float(rate))


def resampled(
    x: np.ndarray, seconds: np.ndarray, rate: float, symbolic: Sequence[bool] | np.ndarray
) -> np.ndarray:
    """Return one sequence at times 0, 1/rate, 2/rate, ... after its first time.

    A value between two rows lies on the straight line between them. A lower rate takes the mean
    of this line around each new time, so that fast changes do not turn into slow ones. A symbol
    is the nearest symbol. Where two values are further apart than `GAP` steps of the slower of
    both rates, the new values between them are missing.
    """
    step = 1 / rate_of(seconds) if len(seconds) > 1 else 1 / rate
    grid = np.arange(int(np.floor(seconds[-1] * rate + 1e-6)) + 1) / rate
    half = max(0.0, (1 / rate - step) / 2)
    out = np.full((len(x), len(grid)), np.nan)
    for row, new, is_symbol in zip(x, out, symbolic, strict=True):
        there = ~np.isnan(row)
        times, values = seconds[there], row[there]
        inside = _covered(times, grid, GAP * max(step, 1 / rate), 1e-3 * step)
        if not inside.any():
            continue
        if is_symbol:
            new[inside] = values[_nearest(times, grid[inside])]
        else:
            new[inside] = _line(times, values, grid[inside], half)
    return out


def _covered(times: np.ndarray, grid: np.ndarray, most: float, near: float) -> np.ndarray:
    """Tell which new times are at a value, or between two values that are close in time."""
    if not times.size:
        return np.zeros(len(grid), dtype=bool)
    left = np.clip(np.searchsorted(times, grid + near, "right") - 1, 0, len(times) - 1)
    right = np.clip(np.searchsorted(times, grid - near), 0, len(times) - 1)
    inside = (times[left] <= grid + near) & (times[right] >= grid - near)
    return inside & (times[right] - times[left] <= most)


def _nearest(times: np.ndarray, grid: np.ndarray) -> np.ndarray:
    right = np.clip(np.searchsorted(times, grid), 1, max(1, len(times) - 1))
    if len(times) == 1:
        return np.zeros(len(grid), dtype=np.int64)
    return np.where(grid - times[right - 1] <= times[right] - grid, right - 1, right)


def _line(times: np.ndarray, values: np.ndarray, grid: np.ndarray, half: float) -> np.ndarray:
    """Return the straight lines between values, or their means over `half` to both sides.

    Near the ends the mean is over less, and as much to both sides.
    """
    line = np.interp(grid, times, values)
    reach = np.minimum(half, np.minimum(grid - times[0], times[-1] - grid))
    wide = reach > half / 1000
    if not half or not wide.any():
        return line
    from scipy.interpolate import make_interp_spline

    area = make_interp_spline(times, values, k=1).antiderivative()
    low, high = grid[wide] - reach[wide], grid[wide] + reach[wide]
    line[wide] = (area(high) - area(low)) / (high - low)
    return line

"""Sequences whose frames have times, brought to another sampling rate."""

from typing import Any

import numpy as np

# Two rows that are further apart than this many steps have a gap between them: one lost row makes
# two steps, and jitter makes a few tenths of a step.
GAP = 1.75


def rate_of(seconds: np.ndarray) -> float:
    """Return the rows per second of one sequence, by the median step; NaN for fewer than 2 rows."""
    return 1 / float(np.median(np.diff(seconds))) if len(seconds) > 1 else np.nan


def resampled(x: np.ndarray, seconds: np.ndarray, rate: float, symbolic: Any) -> np.ndarray:
    """Return one sequence at times 0, 1/rate, ...: by lines between rows, or the nearest symbol.

    A lower rate takes means of the lines. Values further apart than `GAP` steps have a gap.
    """
    step = 1 / rate_of(seconds) if len(seconds) > 1 else 1 / rate
    grid = np.arange(int(np.floor(seconds[-1] * rate + 1e-6)) + 1) / rate
    half, near = max(0.0, (1 / rate - step) / 2), 1e-3 * step
    out = np.full((len(x), len(grid)), np.nan)
    for row, new, is_symbol in zip(x, out, symbolic, strict=True):
        there = ~np.isnan(row)
        times, values = seconds[there], row[there]
        if not times.size:
            continue
        left = np.clip(np.searchsorted(times, grid + near, "right") - 1, 0, len(times) - 1)
        right = np.clip(np.searchsorted(times, grid - near), 0, len(times) - 1)
        inside = (times[left] <= grid + near) & (times[right] >= grid - near)
        inside &= times[right] - times[left] <= GAP * max(step, 1 / rate)
        if is_symbol:
            right = np.clip(np.searchsorted(times, grid[inside]), 0, len(times) - 1)
            left = np.maximum(right - 1, 0)
            is_left = grid[inside] - times[left] <= times[right] - grid[inside]
            new[inside] = values[np.where(is_left, left, right)]
        else:
            new[inside] = _line(times, values, grid[inside], half)
    return out


def _line(times: np.ndarray, values: np.ndarray, grid: np.ndarray, half: float) -> np.ndarray:
    """Return the lines between values, or their means over `half` to both sides."""
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

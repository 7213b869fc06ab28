"""Sequences in time: durations, windows of long sequences, and other sampling rates."""

import re
from typing import Any

import numpy as np

from mvdfq._utils.errors import ParameterError, Sentence
from mvdfq.sequences.containers import Sequences, offsets_of

UNITS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}
DURATION = re.compile(r"\s*([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)\s*(ms|s|min|h)?\s*", re.IGNORECASE)


def frames_of(duration: Any, rate: float | None, name: str) -> int:
    """Return a duration in frames: a whole number of frames, or text such as ``"2.5s"``.

    >>> frames_of("2.5s", 100.0, "window"), frames_of(50, None, "window"), frames_of("1min", 2, "")
    (250, 50, 120)
    """
    match = DURATION.fullmatch(str(duration)) if isinstance(duration, str | int) else None
    if match is None:
        wanted = "a number of frames, or a duration such as '5s', '500ms' or '2min'"
        raise ParameterError(name, f"must be {wanted}, got {duration!r}")
    number, unit = float(match[1]), match[2]
    if unit is not None and rate is None:
        wanted = "a number of frames, since the sampling rate is not known"
        says = " says the unit of the times, which gives the rate"
        hint = Sentence("in a table, ", {"time": "NAME:ms"}, says)
        raise ParameterError(name, f"must be {wanted}, got {duration!r}", hint)
    frames = number if unit is None else number * UNITS[unit.lower()] * float(rate or 0)
    if round(frames) < 1 or (unit is None and frames != round(frames)):
        wanted = "at least one frame, in whole frames, or a duration such as '5s'"
        raise ParameterError(name, f"must be {wanted}, got {duration!r}")
    return round(frames)


def window_starts(n_frames: int, size: int, step: int) -> np.ndarray:
    """Return where the windows of a sequence begin; a shorter sequence is one window.

    >>> window_starts(10, 4, 3), window_starts(3, 4, 3), window_starts(0, 4, 3)
    (array([0, 3, 6]), array([0]), array([], dtype=int64))
    """
    return np.arange(0, max(n_frames - size, min(n_frames, 1) - 1) + 1, step)


def cut(X: Sequences, size: int, step: int) -> tuple[Sequences, np.ndarray, np.ndarray]:
    """Return the windows of all sequences, and the sequence and first frame of each window."""
    starts = [window_starts(n, size, step) for n in X.lengths.tolist()]
    owners = np.repeat(np.arange(len(X)), list(map(len, starts)))
    first = np.concatenate([*starts, np.empty(0, np.int64)]).astype(np.int64)
    parts = [X[i][:, a : a + size] for i, a in zip(owners.tolist(), first.tolist(), strict=True)]
    data = np.concatenate([X.data[:, :0], *parts], axis=1)
    return X.with_data(data, offsets_of([part.shape[1] for part in parts])), owners, first


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
    # the usual distance of rows, by which gaps are told from jitter
    step = 1 / rate_of(seconds) if len(seconds) > 1 else 1 / rate
    grid = np.arange(int(np.floor(seconds[-1] * rate + 1e-6)) + 1) / rate
    half, near = max(0.0, (1 / rate - step) / 2), 1e-3 * step
    out = np.full((len(x), len(grid)), np.nan)
    for row, new, is_symbol in zip(x, out, symbolic, strict=True):
        known = ~np.isnan(row)
        times, values = seconds[known], row[known]
        if not times.size:
            continue
        left = np.clip(np.searchsorted(times, grid + near, "right") - 1, 0, len(times) - 1)
        right = np.clip(np.searchsorted(times, grid - near), 0, len(times) - 1)
        inside = (times[left] <= grid + near) & (times[right] >= grid - near)
        inside &= times[right] - times[left] <= GAP * max(step, 1 / rate)
        # a channel of states has no value between two states: the nearer state is taken
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

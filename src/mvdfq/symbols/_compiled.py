"""Bins of numbers: compiled loops without checks.

Callers guarantee sorted thresholds without NaN, and values without infinities.
"""

import numpy as np
from numba import njit

# Frames per block: 2048 values and codes, at most 24 KB, stay in the first-level cache.
BLOCK = 2048


@njit(nogil=True, cache=True)
def count_thresholds(values, thresholds, codes, missing):
    """Write, for every value, the number of thresholds that are at most the value.

    NaN gets the code `missing`. The loop over the values is inside and has no branches, so that
    one instruction compares many values. Measured: faster than `numpy.searchsorted` even for 250
    thresholds.
    """
    one = codes.dtype.type(1)
    zero = codes.dtype.type(0)
    for start in range(0, values.size, BLOCK):
        x = values[start : start + BLOCK]
        out = codes[start : start + BLOCK]
        out[:] = zero
        for threshold in thresholds:
            for t in range(x.size):
                out[t] += one if x[t] >= threshold else zero
        for t in range(x.size):
            if x[t] != x[t]:
                out[t] = missing


@njit(nogil=True, cache=True)
def split_costs(values, weights, n_bins):
    """Return the least squared error of sorted values in 1 to `n_bins` runs, and where to cut.

    ``errors[q]`` is the error of ``q + 1`` runs. In the best cut of the first ``i`` values into
    ``q + 1`` runs, the last run begins at ``starts[q, i]``. Cost: O(n_bins n log n) time and
    O(n_bins n) memory.
    """
    n = values.size
    w = np.concatenate((np.zeros(1), np.cumsum(weights)))
    wx = np.concatenate((np.zeros(1), np.cumsum(weights * values)))
    wxx = np.concatenate((np.zeros(1), np.cumsum(weights * values**2)))
    starts = np.zeros((n_bins, n + 1), dtype=np.int32)
    best = wxx - np.concatenate((np.zeros(1), wx[1:] ** 2 / w[1:]))
    errors = np.empty(n_bins)
    errors[0] = best[n]
    for q in range(1, n_bins):
        best = _one_more_run(best, q, w, wx, wxx, starts[q])
        errors[q] = best[n]
    return errors, starts


@njit(nogil=True, cache=True)
def _one_more_run(before, q, w, wx, wxx, starts):
    """Return the cost of the first i values in ``q + 1`` runs, for every i.

    `before` holds the costs in ``q`` runs. The start of the best last run never moves back as i
    grows, so the answers for every second i bound the search for the values of i between.
    """
    n = before.size - 1
    best = np.full(n + 1, np.inf)
    step = 1
    while step <= n:
        step *= 2
    while step > 1:
        half = step // 2
        for i in range(half, n + 1, step):
            first = max(starts[i - half], q)
            last = starts[i + half] if i + half <= n else i - 1
            for a in range(first, min(last, i - 1) + 1):
                sum_, weight = wx[i] - wx[a], w[i] - w[a]
                cost = before[a] + (wxx[i] - wxx[a]) - sum_ * sum_ / weight
                if cost < best[i]:
                    best[i], starts[i] = cost, a
        step = half
    return best


@njit(nogil=True, cache=True)
def join_digits(codes, members, radices, missing, out, missing_out):
    """Write one number for the codes of several channels; the first channel is the lowest digit.

    An unknown symbol has a code beyond its radix and counts as the highest digit.
    """
    out[:] = 0
    for i in range(members.size - 1, -1, -1):
        row, highest = codes[members[i]], radices[i] - 1
        for t in range(out.size):
            out[t] = out[t] * radices[i] + min(np.int64(row[t]), highest)
    for i in range(members.size):
        row = codes[members[i]]
        for t in range(out.size):
            if row[t] == missing:
                out[t] = missing_out

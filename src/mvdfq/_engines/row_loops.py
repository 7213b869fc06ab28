"""Rows of numbers and of codes: compiled loops without checks.

Sequence i is ``data[:, offsets[i]:offsets[i + 1]]``. Callers guarantee sorted thresholds without
NaN, and values without infinities.
"""

import numpy as np

from mvdfq._engines.compiled import bare, compiled
from mvdfq._utils.checks import ROUNDING

# Frames per block of a projection: 64 frames of 4000 channels are 2 MB and stay in the second-level
# cache. A rotation of 4000 channels takes a third of the time that blocks of 512 frames take; a
# rotation of 60 channels takes the same time.
PROJECTED = 64
# Frames per block of a comparison with thresholds: values and codes, at most 24 KB, stay in cache.
COMPARED = 2048


def moments(data: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of every channel of every sequence, without NaN.

    Two passes over the values keep all digits when the mean is large. Values that are equal but
    for rounding have a deviation of exactly 0; a channel without values has mean and deviation 0.
    """
    means, deviations = np.zeros((2, len(data), len(offsets) - 1))
    _write_moments(data, offsets, means, deviations)
    return means, deviations


@bare
def _write_moments(data, offsets, means, deviations):
    for c in range(data.shape[0]):
        for i in range(offsets.size - 1):
            n, total, low, high = 0, 0.0, np.inf, -np.inf
            for t in range(offsets[i], offsets[i + 1]):
                value = data[c, t]
                if value == value:
                    n += 1
                    total += value
                    low, high = value if value < low else low, value if value > high else high
            if n == 0:
                continue
            largest = high if high > -low else -low
            # constant but for rounding: the sum of squares would be rounding alone
            if high - low <= ROUNDING * largest:
                means[c, i] = (low + high) / 2
            else:
                # a second pass: the difference of two large sums would lose digits
                mean, squares = total / n, 0.0
                for t in range(offsets[i], offsets[i + 1]):
                    difference = data[c, t] - mean
                    squares += difference * difference if difference == difference else 0.0
                means[c, i], deviations[c, i] = mean, np.sqrt(squares / n)


def moving_average(data: np.ndarray, offsets: np.ndarray, half: int, out: np.ndarray) -> None:
    """Write the mean of the values at most `half` frames away, in the same sequence, not NaN."""
    _average(data, offsets, half, *np.empty((2, data.shape[1])), out)


@bare
def _average(data, offsets, half, sums, counts, out):
    """Write moving averages; `sums` and `counts` are memory for one channel."""
    for c in range(data.shape[0]):
        for i in range(offsets.size - 1):
            start, n = offsets[i], offsets[i + 1] - offsets[i]
            for t in range(n):
                sums[t] = counts[t] = 0.0
            # one shift after another, so that one instruction adds many values; every sum still
            # runs from the earliest frame to the latest
            for shift in range(-half, half + 1):
                first, last = -shift if shift < 0 else 0, n - shift if shift > 0 else n
                if first < last:  # otherwise the shift is longer than the sequence
                    values = data[c, start + first + shift : start + last + shift]
                    total, number = sums[first:last], counts[first:last]
                    for t in range(values.size):
                        is_present = values[t] == values[t]
                        total[t] += values[t] if is_present else 0.0
                        number[t] += 1.0 if is_present else 0.0
            for t in range(n):
                value = data[c, start + t]
                out[c, start + t] = sums[t] / counts[t] if value == value else np.nan


def project(data: np.ndarray, mean: np.ndarray, components: np.ndarray, out: np.ndarray) -> None:
    """Write ``components @ (data - mean)``, frame by frame.

    A matrix product may round a frame differently among other frames. Here the sum runs in the
    same order for every frame, so that one sequence alone gives the same numbers.
    """
    more = -len(data) % 4  # channels of zeros make the number a multiple of 4
    weights = np.pad(components, ((0, 0), (0, more)))
    centred = np.zeros((len(data) + more, PROJECTED))
    _project(data, mean, weights, np.empty(PROJECTED), centred, out)


@bare
def _project(data, mean, components, sums, centred, out):
    """Write projections; `sums` and `centred` are memory for a block of frames."""
    for start in range(0, data.shape[1], sums.size):
        size = data.shape[1] - start
        size = sums.size if size > sums.size else size
        for c in range(data.shape[0]):
            for t in range(size):
                centred[c, t] = data[c, start + t] - mean[c]
        for q in range(components.shape[0]):
            weights = components[q]
            for t in range(size):
                sums[t] = 0.0
            # four channels at a time, so that a sum is read and written once for four channels;
            # the brackets keep the order of the channels
            for c in range(0, weights.size, 4):
                w0, w1, w2, w3 = weights[c], weights[c + 1], weights[c + 2], weights[c + 3]
                x0, x1, x2, x3 = centred[c], centred[c + 1], centred[c + 2], centred[c + 3]
                for t in range(size):
                    sums[t] = (((sums[t] + w0 * x0[t]) + w1 * x1[t]) + w2 * x2[t]) + w3 * x3[t]
            for t in range(size):
                out[q, start + t] = sums[t]


@bare
def count_thresholds(values, thresholds, codes, missing):
    """Write, for every value, the number of thresholds that are at most the value.

    NaN gets the code `missing`. The inner loop has no branches, so that one instruction compares
    many values. Measured: faster than `numpy.searchsorted` even for 250 thresholds.
    """
    step, zero = codes.dtype.type(1), codes.dtype.type(0)
    for start in range(0, values.size, COMPARED):
        x = values[start : start + COMPARED]
        out = codes[start : start + COMPARED]
        for t in range(x.size):
            out[t] = zero
        for threshold in thresholds:
            for t in range(x.size):
                out[t] += step if x[t] >= threshold else zero
        for t in range(x.size):
            if x[t] != x[t]:
                out[t] = missing


@bare
def find_nearest(distances, near, data, words, memory, codes):
    """Write the index of the nearest codeword of every frame; a tie goes to the lowest index.

    `distances` (n_words, n_frames) are rounded: codewords may be nearest if their distances exceed
    the least by at most `near` (n_frames,). Where several may be, double precision decides. `data`
    is (n_channels, n_frames), `words` (n_words, n_channels). `memory` is three arrays (n_frames,):
    numbers as `distances`, and twice numbers as `codes`, which are 32 bits.
    """
    least, n_near, total = memory
    for t in range(codes.size):
        least[t], n_near[t], total[t] = np.inf, 0, 0
    # frames are inside, without branches: one instruction compares many
    for j in range(distances.shape[0]):
        row = distances[j]
        for t in range(codes.size):
            least[t] = row[t] if row[t] < least[t] else least[t]
    for t in range(codes.size):
        least[t] += near[t]
    for j in range(distances.shape[0]):
        row = distances[j]
        for t in range(codes.size):
            is_near = np.int32(1) if row[t] <= least[t] else np.int32(0)
            n_near[t] += is_near
            total[t] += is_near * np.int32(j)
    for t in range(codes.size):
        codes[t], best = total[t], np.inf  # the index, if one codeword alone is near
        for j in range(words.shape[0] if n_near[t] > 1 else 0):
            if distances[j, t] <= least[t]:
                squares = 0.0
                for c in range(data.shape[0]):
                    squares += (data[c, t] - words[j, c]) ** 2
                if squares < best:
                    best, codes[t] = squares, j


def split_costs(
    values: np.ndarray, weights: np.ndarray, n_bins: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least squared error of sorted values in 1 to `n_bins` runs, and where to cut.

    ``errors[q]`` is the error of ``q + 1`` runs; in the best cut of the first ``i`` values, their
    last run begins at ``starts[q, i]``. Cost: O(n_bins n log n) time and O(n_bins n) memory.
    """
    parts = weights, weights * values, weights * values**2
    w, wx, wxx = (np.concatenate([[0.0], np.cumsum(part)]) for part in parts)
    starts = np.zeros((n_bins, values.size + 1), dtype=np.int32)
    best = wxx - np.concatenate([[0.0], wx[1:] ** 2 / w[1:]])
    errors = [best[-1]]
    for q in range(1, n_bins):
        best = _one_more_run(best, q, w, wx, wxx, starts[q])
        errors.append(best[-1])
    return np.array(errors), starts


@compiled
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

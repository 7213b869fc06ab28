"""Sums along time: compiled loops without checks.

Sequence i is ``data[:, offsets[i]:offsets[i + 1]]``.
"""

import numpy as np
from numba import njit

from mvdfq._utils.rounding import ROUNDING

# Frames per block: 64 frames of 4000 channels are 2 MB and stay in the second-level cache. A
# rotation of 4000 channels takes a third of the time that blocks of 512 frames take; a rotation of
# 60 channels takes the same time.
BLOCK = 64


@njit(nogil=True, cache=True)
def moments(data, offsets):
    """Return mean and standard deviation of every channel of every sequence, without NaN.

    Two passes over the values keep all digits when the mean is large. Values that are equal but
    for rounding have a deviation of exactly 0; a channel without values has mean and deviation 0.
    """
    n_channels, n_sequences = data.shape[0], offsets.size - 1
    means = np.zeros((n_channels, n_sequences))
    deviations = np.zeros((n_channels, n_sequences))
    for c in range(n_channels):
        for i in range(n_sequences):
            x = data[c, offsets[i] : offsets[i + 1]]
            means[c, i], deviations[c, i] = _mean_and_deviation(x)
    return means, deviations


@njit(nogil=True, cache=True)
def _mean_and_deviation(x):
    n, total, low, high = 0, 0.0, np.inf, -np.inf
    for value in x:
        if value == value:
            n += 1
            total += value
            low, high = min(low, value), max(high, value)
    if n == 0:
        return 0.0, 0.0
    if high - low <= ROUNDING * max(abs(low), abs(high)):
        return (low + high) / 2, 0.0
    mean, squares = total / n, 0.0
    for value in x:
        if value == value:
            squares += (value - mean) ** 2
    return mean, np.sqrt(squares / n)


@njit(nogil=True, cache=True)
def moving_average(data, offsets, half, out):
    """Write the mean of the values at most `half` frames away, in the same sequence, not NaN."""
    total, count = np.empty(data.shape[1]), np.empty(data.shape[1])
    for c in range(data.shape[0]):
        for i in range(offsets.size - 1):
            x = data[c, offsets[i] : offsets[i + 1]]
            sums, n = total[: x.size], count[: x.size]
            sums[:] = 0.0
            n[:] = 0.0
            # one shift after another, so that one instruction adds many values; every sum still
            # runs from the earliest frame to the latest
            for shift in range(-half, half + 1):
                first, last = max(0, -shift), min(x.size, x.size - shift)
                if first < last:  # otherwise the shift is longer than the sequence
                    add_present(x[first + shift : last + shift], sums[first:last], n[first:last])
            for t in range(x.size):
                out[c, offsets[i] + t] = sums[t] / n[t] if x[t] == x[t] else np.nan


@njit(nogil=True, cache=True)
def add_present(values, sums, n):
    """Add values that are not NaN to the sums, and count them."""
    for t in range(values.size):
        is_present = values[t] == values[t]
        sums[t] += values[t] if is_present else 0.0
        n[t] += 1.0 if is_present else 0.0


@njit(nogil=True, cache=True)
def shift_and_scale(data, mean, scale, out):
    """Write ``(data - mean) / scale`` channel by channel, in double precision."""
    for c in range(data.shape[0]):
        for t in range(data.shape[1]):
            out[c, t] = (data[c, t] - mean[c]) / scale[c]


@njit(nogil=True, cache=True)
def project(data, mean, components, out):
    """Write ``components @ (data - mean)``, frame by frame.

    A matrix product may round a frame differently among other frames. Here the sum runs in the
    same order for every frame, so that one sequence alone gives the same numbers.
    """
    n_channels = data.shape[0]
    fours = n_channels - n_channels % 4
    sums, centred = np.empty(BLOCK), np.empty((n_channels, BLOCK))
    for start in range(0, data.shape[1], BLOCK):
        size = min(BLOCK, data.shape[1] - start)
        for c in range(n_channels):
            for t in range(size):
                centred[c, t] = data[c, start + t] - mean[c]
        for q in range(components.shape[0]):
            weights = components[q]
            sums[:size] = 0.0
            # four channels at a time, so that a sum is read and written once for four channels;
            # the brackets keep the order of the channels
            for c in range(0, fours, 4):
                w0, w1, w2, w3 = weights[c], weights[c + 1], weights[c + 2], weights[c + 3]
                x0, x1, x2, x3 = centred[c], centred[c + 1], centred[c + 2], centred[c + 3]
                for t in range(size):
                    sums[t] = (((sums[t] + w0 * x0[t]) + w1 * x1[t]) + w2 * x2[t]) + w3 * x3[t]
            for c in range(fours, n_channels):
                for t in range(size):
                    sums[t] += weights[c] * centred[c, t]
            for t in range(size):
                out[q, start + t] = sums[t]

"""Slow, obvious versions of what the baselines compute; the tests compare with them.

A sequence is a list of rows. Nothing here imports mvdfq: a reference that leans on the code it
checks proves nothing.
"""

import math
from itertools import pairwise

import numpy as np


def is_missing(value):
    return value != value


def mean(values):
    return sum(values) / len(values)


def variance(values):
    centre = mean(values)
    return mean([(value - centre) ** 2 for value in values])


def mean_and_variance(sequence):
    rows = [[value for value in row if not is_missing(value)] for row in sequence]
    return [mean(row) for row in rows] + [variance(row) for row in rows]


def blocks(row, n_blocks):
    n = len(row)
    ends = [math.floor(b * n / n_blocks) for b in range(n_blocks + 1)]
    return [row[a:b] for a, b in pairwise(ends)]


def averaged(sequence, n_blocks):
    if len(sequence[0]) <= n_blocks:
        return sequence
    return [[mean(block) for block in blocks(row, n_blocks)] for row in sequence]


def slope(row, t):
    if len(row) == 1:
        return 0.0
    before, after = max(t - 1, 0), min(t + 1, len(row) - 1)
    return (row[after] - row[before]) / (after - before)


def segments(sequence, length):
    """Means, then variances, of the channels and their slopes, for every segment."""
    rows = sequence + [[slope(row, t) for t in range(len(row))] for row in sequence]
    n_segments = max(len(sequence[0]) // length, 1)
    cut = [blocks(row, n_segments) for row in rows]
    return [mean_and_variance([row[s] for row in cut]) for s in range(n_segments)]


def autoregression(sequence, order, ridge):
    """Normal equations of one channel after the other, term by term."""
    channels, n = range(len(sequence)), len(sequence[0])
    equations = []
    for t in range(order, n):
        past = [1.0] + [sequence[j][t - lag] for lag in range(1, order + 1) for j in channels]
        now = [sequence[j][t] for j in channels]
        if not any(map(is_missing, past + now)):
            equations.append((past, now))
    size = 1 + order * len(sequence)
    left = [
        [sum(past[a] * past[b] for past, _ in equations) for b in range(size)] for a in range(size)
    ]
    for a in range(1, size):
        left[a][a] += ridge * len(equations)
    solved = [
        np.linalg.solve(
            left, [sum(past[a] * now[j] for past, now in equations) for a in range(size)]
        )
        for j in channels
    ]
    errors = [
        [now[j] - sum(w * p for w, p in zip(solved[j], past, strict=True)) for j in channels]
        for past, now in equations
    ]
    vector = [solved[j][0] for j in channels]
    for lag in range(order):
        for j in channels:
            vector += [solved[j][1 + lag * len(sequence) + k] for k in channels]
    for j in channels:
        vector += [mean([e[j] * e[k] for e in errors]) for k in channels if k >= j]
    return vector


def moments_and_energy(band):
    centre, spread = mean(band), math.sqrt(variance(band))
    skewness = mean([((a - centre) / spread) ** 3 for a in band]) if spread else 0.0
    return [centre, spread**2, skewness, mean([abs(a) for a in band])]


def log_likelihood(frames, weights, centres, covariances):
    """Log-likelihood of frames under a mixture of Gaussians."""
    total = 0.0
    for frame in frames:
        density = 0.0
        for weight, centre, covariance in zip(weights, centres, covariances, strict=True):
            away = np.subtract(frame, centre)
            square = away @ np.linalg.solve(covariance, away)
            volume = math.sqrt(np.linalg.det(2 * math.pi * np.array(covariance)))
            density += weight * math.exp(-square / 2) / volume
        total += math.log(density)
    return total


def alignments(n, m):
    """All paths from the first to the last pair of frames, by steps of one in either or both."""
    if n == m == 1:
        return [[(0, 0)]]
    before = [(n - 1, m), (n, m - 1), (n - 1, m - 1)]
    paths = [path for a, b in before if a and b for path in alignments(a, b)]
    return [[*path, (n - 1, m - 1)] for path in paths]


def square(x, y, s, t):
    return sum((a[s] - b[t]) ** 2 for a, b in zip(x, y, strict=True))


def warped_distance(x, y):
    paths = alignments(len(x[0]), len(y[0]))
    return math.sqrt(min(sum(square(x, y, s, t) for s, t in path) for path in paths))


def alignment_kernel(x, y, sigma):
    """Cuturi's kernel, before it is normalised."""

    def local(s, t):
        gauss = math.exp(-square(x, y, s, t) / (2 * sigma**2))
        return gauss / (2 - gauss)

    paths = alignments(len(x[0]), len(y[0]))
    return sum(math.prod(local(s, t) for s, t in path) for path in paths)

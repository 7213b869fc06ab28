"""Slow, obvious versions of what happens to numbers before the kernels; tests compare with them.

Nothing here imports mvdfq: a reference that leans on the code it checks proves nothing.
"""

import itertools
import math
from fractions import Fraction
from statistics import NormalDist


def is_missing(value):
    return value != value


def present(values):
    return [value for value in values if not is_missing(value)]


# Frames: a sequence is a list of rows.


def mean(values):
    values = present(values)
    return sum(values) / len(values) if values else 0.0


def deviation(values):
    values = present(values)
    centre = mean(values)
    return math.sqrt(sum((v - centre) ** 2 for v in values) / len(values)) if values else 0.0


def slopes(row):
    if len(row) == 1:
        return [row[0] - row[0]]
    middle = [(row[t + 1] - row[t - 1]) / 2 for t in range(1, len(row) - 1)]
    return [row[1] - row[0], *middle, row[-1] - row[-2]] if row else []


def moving_average(row, window):
    half, out = window // 2, []
    for t, value in enumerate(row):
        near = [row[u] for u in range(len(row)) if abs(u - t) <= half]
        out.append(value if is_missing(value) else mean(near))
    return out


def lags(sequence, n_lags, step):
    n = len(sequence[0]) - (n_lags - 1) * step
    return [row[lag * step : lag * step + max(n, 0)] for lag in range(n_lags) for row in sequence]


# Bins of one channel; codes in the numbering of the paper: 1 to B, 0 and B + 1 outside.


def code(value, breakpoints):
    return None if is_missing(value) else 1 + sum(1 for e in breakpoints if value >= e)


def uniform_code(value, low, high, n_bins, margin=1):
    if is_missing(value):
        return None
    low, high = low - (margin - 1) * (high - low) / 2, high + (margin - 1) * (high - low) / 2
    if low == high:
        n_bins = 1
    if value < low:
        return 0
    if value > high:
        return n_bins + 1
    return code(value, [low + (high - low) * i / n_bins for i in range(1, n_bins)])


def quantile_breakpoints(values, n_bins):
    return sorted(set(quantiles(values, n_bins)))


def quantiles(values, n_bins):
    """Edges midway between neighbouring distinct values, as near to equal bins as they can be."""
    values = present(values)
    gaps = list(itertools.pairwise(sorted(set(values))))
    found = []
    for i in range(1, n_bins):
        wanted = math.ceil(Fraction(i * (len(values) - 1), n_bins))

        def distance(gap, wanted=wanted):
            return abs(sum(v <= gap[0] for v in values) - wanted)

        found += [sum(min(gaps, key=distance)) / 2] if gaps else []
    return found


def gaussian_code(value, values, n_bins):
    if is_missing(value):
        return None
    if len(set(present(values))) == 1:
        return 1
    z = (value - mean(values)) / deviation(values)
    return code(z, [NormalDist().inv_cdf(i / n_bins) for i in range(1, n_bins)])


def squared_error(groups):
    return sum((v - mean(group)) ** 2 for group in groups for v in group)


def best_split(values, n_bins):
    """The split of the sorted values into runs that has the least squared error."""
    ordered = sorted(values)
    splits = []
    for cuts in itertools.combinations(range(1, len(ordered)), n_bins - 1):
        bounds = [0, *cuts, len(ordered)]
        splits.append([ordered[a:b] for a, b in itertools.pairwise(bounds)])
    return min(splits, key=squared_error)


# Frames as symbols.


def nearest(frame, codebook):
    distances = [sum((a - b) ** 2 for a, b in zip(frame, word, strict=True)) for word in codebook]
    return distances.index(min(distances))


def lowest_modes(ranges, n_bits):
    candidates = []
    for i, extent in enumerate(ranges):
        for v in range(1, math.ceil((n_bits + 1) * extent / max(ranges))):
            candidates.append((v * math.pi / extent, i, v))
    return [(i, v) for _, i, v in sorted(candidates)[:n_bits]]


def hash_bits(point, low, ranges, modes):
    bits = []
    for i, v in modes:
        inside = min(max(point[i], low[i]), low[i] + ranges[i])
        bits.append(int(math.cos(v * math.pi * (inside - low[i]) / ranges[i]) > 0))
    return bits


def column_ids(columns, known=()):
    """Number columns by first sight, those of `known` first."""
    ids = {}
    for column in [*known, *columns]:
        ids.setdefault(tuple(column), len(ids))
    return [ids[tuple(column)] for column in columns]


# Several channels together.


def rotated(sequence, centre, components):
    def component(axis, frame):
        return sum(w * (v - c) for w, v, c in zip(axis, frame, centre, strict=True))

    frames = list(zip(*sequence, strict=True))
    return [[component(axis, frame) for frame in frames] for axis in components]


def joint_code(codes, sizes):
    """One number for several codes, the first the lowest digit."""
    total = 0
    for code_, size in reversed(list(zip(codes, sizes, strict=True))):
        total = total * size + code_
    return total


def filtered(sequence, members, taps, dilation, zeros):
    """Response of a filter of nine taps to the sum of some channels, frame by frame."""
    channels = [sequence[c] for c in members]
    n = len(channels[0])
    total = [sum(channel[t] for channel in channels) for t in range(n)]

    def at(t):
        if 0 <= t < n:
            return total[t]
        return 0 if zeros else total[0 if t < 0 else n - 1]

    weights = [2 if tap in taps else -1 for tap in range(9)]
    return [
        sum(w * at(t + (tap - 4) * dilation) for tap, w in enumerate(weights)) for t in range(n)
    ]


def above(row, threshold):
    return [int(value >= threshold) for value in row]


def resampled(times, values, rate, n_new, gap=1.75):
    """Straight lines between the values that are there, or their means where the rate is lower.

    The mean is taken of a thousand points of the line.
    """
    steps = sorted(b - a for a, b in itertools.pairwise(times))
    middle = len(steps) // 2
    step = steps[middle] if len(steps) % 2 else (steps[middle - 1] + steps[middle]) / 2
    known = [(t, v) for t, v in zip(times, values, strict=True) if not is_missing(v)]
    new = []
    for i in range(n_new):
        time = i / rate
        left = [t for t, _ in known if t <= time + step / 1000]
        right = [t for t, _ in known if t >= time - step / 1000]
        if not left or not right or min(right) - max(left) > gap * max(step, 1 / rate):
            new.append(math.nan)
            continue
        reach = min(max(0, (1 / rate - step) / 2), time - known[0][0], known[-1][0] - time)
        points = [time + reach * (2 * k / 1000 - 1) for k in range(1001)] if reach > 0 else [time]
        new.append(mean([on_line(known, point) for point in points]))
    return new


def on_line(known, time):
    for (t, v), (u, w) in itertools.pairwise(known):
        if t <= time <= u:
            return v + (w - v) * (time - t) / (u - t)
    return known[0][1] if time < known[0][0] else known[-1][1]

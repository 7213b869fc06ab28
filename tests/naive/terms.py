"""Standardized words, slowly: counts of every word, roots of shares, means and deviations."""

import math
import zlib
from collections import Counter


def words(row, layout, missing):
    """Yield the place and the symbols of every word without a missing value."""
    for t in range(len(row) - layout[-1]):
        word = tuple(row[t + offset] for offset in layout)
        if missing not in word:
            yield t, word


def root_shares(row, layouts, n_levels, missing=None):
    """Roots of the shares of all words of all layouts and cells in one row."""
    counts = Counter()
    for g, layout in enumerate(layouts):
        n_words = len(row) - layout[-1]
        for t, word in words(row, layout, missing):
            for level in range(n_levels):
                counts[g, word, level, t * 2**level // n_words] += 1
    total = sum(counts.values())
    return {key: math.sqrt(count / total) for key, count in counts.items()}


def standardized(rows, layouts, n_levels, min_share, missing=None, n_train=None):
    """One dictionary of standardized features per sequence; `rows` holds one row of each.

    The first `n_train` sequences, by default all, give the means and deviations.
    """
    shares = [root_shares(row, layouts, n_levels, missing) for row in rows]
    found = [{} for _ in rows]
    for key in sorted({key for one in shares[:n_train] for key in one}):
        values = [one.get(key, 0.0) for one in shares]
        known = values[:n_train]
        mean = sum(known) / len(known)
        deviation = math.sqrt(sum((v - mean) ** 2 for v in known) / len(known))
        if sum(v > 0 for v in known) > min_share * len(known) and deviation > 1e-6:
            for one, value in zip(found, values, strict=True):
                one[key] = (value - mean) / deviation
    return found


def told(features, y):
    """What every word tells of the classes: its variance between classes, less that by chance."""
    n, classes = len(y), sorted(set(y))
    by_chance = (len(classes) - 1) / (n - 1)
    found = {}
    for key in features[0]:
        between = 0
        for c in classes:
            mine = [one[key] for one, label in zip(features, y, strict=True) if label == c]
            between += len(mine) / n * (sum(mine) / len(mine)) ** 2
        found[key] = max(0, (between - by_chance) / (1 - by_chance)) + 0.001
    return found


def gram(features, weights=None):
    """Inner products of all pairs of sequences, and the number of features."""
    weights = dict.fromkeys(features[0], 1) if weights is None else weights
    products = [[sum(w * a[key] * b[key] for key, w in weights.items()) for b in features]
                for a in features]  # fmt: skip
    return products, len(features[0])


def sketches(features, name, width):
    """Every column is added to one place of a sketch, with a sign: bits of SplitMix64."""
    found = [[0.0] * width for _ in features]
    for column in range(len(features[0])):
        bits = (column + (zlib.crc32(name.encode()) << 32)) * 0x9E3779B97F4A7C15 % 2**64
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EB % 2**64
        bits ^= bits >> 31
        for sketch, values in zip(found, features, strict=True):
            sketch[bits % width] += -values[column] if bits >> 63 else values[column]
    return found


def boundary(decision, y, n_steps=100):
    """The decision value at which two classes are equally probable, by Newton's steps for Platt."""
    ones, zeros = sum(y), len(y) - sum(y)
    targets = [(ones + 1) / (ones + 2) if label else 1 / (zeros + 2) for label in y]
    slope = shift = 0.0
    for _ in range(n_steps):
        p = [1 / (1 + math.exp(-(slope * f + shift))) for f in decision]
        errors = [q - t for q, t in zip(p, targets, strict=True)]
        first = sum(e * f for e, f in zip(errors, decision, strict=True)), sum(errors)
        curve = [
            sum(q * (1 - q) * f**k for q, f in zip(p, decision, strict=True)) for k in range(3)
        ]
        determinant = curve[2] * curve[0] - curve[1] ** 2
        slope -= (curve[0] * first[0] - curve[1] * first[1]) / determinant
        shift -= (curve[2] * first[1] - curve[1] * first[0]) / determinant
    return -shift / slope

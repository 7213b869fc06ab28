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


def standardized(rows, layouts, n_levels, min_share, missing=None):
    """One dictionary of standardized features per sequence; `rows` holds one row of each."""
    shares = [root_shares(row, layouts, n_levels, missing) for row in rows]
    found = [{} for _ in rows]
    for key in sorted({key for one in shares for key in one}):
        values = [one.get(key, 0.0) for one in shares]
        mean = sum(values) / len(values)
        deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))
        if sum(v > 0 for v in values) > min_share * len(values) and deviation > 1e-6:
            for one, value in zip(found, values, strict=True):
                one[key] = (value - mean) / deviation
    return found


def gram(features):
    """Inner products of all pairs of sequences, and the number of features."""
    products = [[sum(a[key] * b[key] for key in a) for b in features] for a in features]
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

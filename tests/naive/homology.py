"""Slow, obvious twins of the kernels on residues; nothing here imports mvdfq."""

from itertools import product
from math import dist, exp, sqrt

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"


def rbf_gram(strings, points, k, m, width):
    """Every word near one of x with every word near one of y, by the RBF of joined points."""
    sigma = width * mean_distance(points)
    words = [near_words(string, k, m) for string in strings]
    K = [[sum(rbf(u, v, points, sigma) for u in a for v in b) for b in words] for a in words]
    own = [K[i][i] for i in range(len(K))]
    return [
        [value / sqrt(own[i] * own[j]) if own[i] and own[j] else 0 for j, value in enumerate(line)]
        for i, line in enumerate(K)
    ]


def mean_distance(points):
    pairs = [(a, b) for i, a in enumerate(points) for b in points[:i]]
    return sum(dist(a, b) for a, b in pairs) / len(pairs)


def near_words(string, k, m):
    """Words of the twenty amino acids that are in the string but for m residues."""
    windows = [string[i : i + k] for i in range(len(string) - k + 1)]
    return [
        "".join(word)
        for window in windows
        if set(window) <= set(AMINO_ACIDS)
        for word in product(AMINO_ACIDS, repeat=k)
        if sum(a != b for a, b in zip(window, word, strict=True)) <= m
    ]


def rbf(u, v, points, sigma):
    first, second = ([x for a in word for x in points[AMINO_ACIDS.index(a)]] for word in (u, v))
    return exp(-(dist(first, second) ** 2) / (2 * sigma**2))

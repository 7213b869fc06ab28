"""Ranks, pairs of methods and corrected p-values of a table.

A table has one line per set and one column per method.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata, wilcoxon


class Pair(NamedTuple):
    """Two columns: how often the first is better, equal and worse, and the corrected p-value."""

    first: int
    second: int
    counts: tuple[int, int, int]
    p: float


def mean_ranks(values):
    """Return the mean rank of every column; 1 is the best, equal values share their ranks."""
    return rankdata(-values, axis=1).mean(axis=0)


def holm(chances):
    """Return p-values corrected by Holm for the number of tests."""
    chances, corrected, largest = np.asarray(chances), np.empty(len(chances)), 0.0
    for place, k in enumerate(np.argsort(chances)):
        largest = max(largest, min(1.0, chances[k] * (len(chances) - place)))
        corrected[k] = largest
    return corrected


def compare(values):
    """Compare all pairs of columns: counts, and Wilcoxon's signed-rank test corrected by Holm."""
    pairs = list(combinations(range(values.shape[1]), 2))
    differences = [values[:, i] - values[:, j] for i, j in pairs]
    corrected = holm([wilcoxon(d).pvalue if d.any() else 1.0 for d in differences])
    return [Pair(*pair, wins(d), float(p))
            for pair, d, p in zip(pairs, differences, corrected, strict=True)]  # fmt: skip


def wins(difference):
    """Return how many differences are above, at and below zero."""
    return tuple(int(np.count_nonzero(np.sign(difference) == sign)) for sign in (1, 0, -1))


def cliques(ranks, pairs, level=0.05):
    """Return the longest runs of neighbours by rank in which no pair differs at this level."""
    order = np.argsort(ranks, kind="stable")
    place = {int(column): i for i, column in enumerate(order)}
    differ = {tuple(sorted((place[pair.first], place[pair.second])))
              for pair in pairs if pair.p < level}  # fmt: skip
    runs = []
    for start in range(len(order)):
        stop = start
        while stop + 1 < len(order) and not any(
            (i, stop + 1) in differ for i in range(start, stop + 1)
        ):
            stop += 1
        if stop > start and not (runs and runs[-1][1] >= stop):
            runs.append((start, stop))
    return [order[a : b + 1].tolist() for a, b in runs]


def geometric_mean(ratios):
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(ratios))))

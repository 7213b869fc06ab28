"""Slow twins of the numbers of a report."""

import numpy as np


def kernel_pca(K):
    """Two coordinates of every sequence by all eigenvectors of the centred matrix."""
    n = len(K)
    H = [[(1.0 if i == j else 0.0) - 1 / n for j in range(n)] for i in range(n)]
    centred = np.array(H) @ np.array(K) @ np.array(H)
    values, vectors = np.linalg.eigh(centred)
    order = sorted(range(n), key=lambda i: -values[i])[:2]
    places = [[vectors[i, k] * values[k] ** 0.5 for k in order] for i in range(n)]
    return places, [values[k] / sum(values) for k in order]


def calibration(sure, right, n_bins=10):
    """Number, mean confidence and accuracy of every bin that is not empty."""
    found = []
    for b in range(n_bins):
        mine = [
            (s, r)
            for s, r in zip(sure, right, strict=True)
            if b / n_bins <= s < (b + 1) / n_bins or (b == n_bins - 1 and s == 1)
        ]
        if mine:
            mean = sum(s for s, _ in mine) / len(mine)
            found.append((len(mine), round(mean, 9), sum(r for _, r in mine) / len(mine)))
    return found


def sets_of_classes(p, truth, coverage):
    """Share of sets that hold the true class, mean size, share of empty sets."""
    sets = [{c for c, one in enumerate(row) if round(one, 9) > round(1 - coverage, 9)} for row in p]
    n = len(sets)
    hits = sum(c in one for c, one in zip(truth, sets, strict=True))
    return hits / n, sum(map(len, sets)) / n, sum(not one for one in sets) / n


def tidy(value, digits=5):
    """One number in `digits` significant digits; None for a value that is not a number."""
    known = value is not None and abs(value) < float("inf")
    return float(f"{value:.{digits}g}") if known else None


def holders(sequences, codes, offsets):
    """Numbers of the sequences, lists of codes, that hold a word: its codes at its offsets."""
    span = offsets[-1]
    return [
        i
        for i, row in enumerate(sequences)
        if any(
            all(row[start + o] == code for o, code in zip(offsets, codes, strict=True))
            for start in range(len(row) - span)
        )
    ]

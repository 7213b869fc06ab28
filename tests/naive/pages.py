"""Slow twins of the numbers of a report."""

import math

import numpy as np


def kernel_pca(K):
    """Two coordinates of every sequence by all eigenvectors of the centred matrix."""
    n = len(K)
    H = [[(1.0 if i == j else 0.0) - 1 / n for j in range(n)] for i in range(n)]
    centred = np.array(H) @ np.array(K) @ np.array(H)
    values, vectors = np.linalg.eigh(centred)
    order = sorted(range(n), key=lambda i: -values[i])[:2]
    return [[vectors[i, k] * values[k] ** 0.5 for k in order] for i in range(n)]


def between(places, classes):
    """The share of the variance of numbers that lies between the means of their classes."""
    mean, total, within = sum(places) / len(places), 0.0, 0.0
    for place, c in zip(places, classes, strict=True):
        mine = [p for p, k in zip(places, classes, strict=True) if k == c]
        total += (place - mean) ** 2
        within += (place - sum(mine) / len(mine)) ** 2
    return 1 - within / total


def strongest(evidence, width):
    """The largest sum of `width` neighbours."""
    return max(sum(evidence[a : a + width]) for a in range(len(evidence) - width + 1))


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


def logo(aligned, alphabet):
    """The heights in bits of the letters of every position of aligned texts; a space is nothing."""
    piles = []
    for k in range(len(aligned[0])):
        letters = [text[k] for text in aligned if text[k] != " "]
        n, pile = len(letters), {}
        shares = {letter: letters.count(letter) / n for letter in set(letters)}
        entropy = -sum(share * math.log2(share) for share in shares.values())
        bits = math.log2(len(alphabet)) - entropy - (len(alphabet) - 1) / (2 * math.log(2) * n)
        for letter, share in shares.items():
            if bits > 0:
                pile[letter] = bits * share
        piles.append(pile)
    return piles


def log_loss(probabilities, truth):
    """Mean surprise: minus the logarithm of the probability of the true class, at least 1e-15."""
    return sum(
        -math.log(max(p[c], 1e-15)) for p, c in zip(probabilities, truth, strict=True)
    ) / len(truth)


def calibration_error(probabilities, truth, n_bins=10):
    """Mean over cases of the gap between mean confidence and accuracy of the bin of the case."""
    sure = [max(p) for p in probabilities]
    right = [p.index(max(p)) == c for p, c in zip(probabilities, truth, strict=True)]
    gaps = [n * abs(mean - share) for n, mean, share in calibration(sure, right, n_bins)]
    return sum(gaps) / len(truth)

"""Evidence of words of filter responses at their places: compiled loops without checks."""

from functools import cache

import numpy as np

from mvdfq._engines.compiled import bare, inlined
from mvdfq._engines.filter_words import N_WORDS


def filter_evidence(levels, counts, step, members, weights, means, by_channel, by_kind, rest):
    """Add the evidence of all words in one sequence to the responses that the words read.

    `filter_words.filter_levels` returns `levels` and `counts`; `step` and `members` are the
    dilation and the channels of the filters. `weights` and `means` are
    (n_filters, n_thresholds, 10, n_columns), see `terms/baseline.py`. The evidence of a word is
    divided equally among its symbols, and then among the channels that the filter sums:
    `by_channel` is (n_channels, n_frames * n_columns), by the frame of the response. `rest`
    (n_channels, n_columns) gets what belongs to no response; `by_kind` (2, n_channels, n_columns)
    gets the sums over single symbols and over triples.
    """
    n, n_levels, n_columns = levels.shape[1], weights.shape[1] + 1, weights.shape[3]
    n_words = counts[:, 0].sum(axis=1, keepdims=True, dtype=float)
    n_single = counts[:, 0, :2].sum(axis=1, keepdims=True, dtype=float)
    roots = np.sqrt(counts.reshape(len(counts), -1) / np.maximum(n_words, 1))
    sizes = np.hstack([n_single, n_words - n_single, n_words])
    shares, even = np.empty((roots.shape[1], n_columns)), np.empty((4, n_columns))
    tables = np.empty((n_levels, n_columns)), np.empty((n_levels**3, n_columns))
    memory = shares, even, *tables, np.empty((2, n * n_columns)), levels_of_triples(n_levels)
    words = (array.reshape(-1, n_columns) for array in (weights, means))
    out = by_channel, by_kind.reshape(-1, n_columns), rest
    spread_filters(levels, roots, sizes, step, members, *words, memory, *out)


@cache
def levels_of_triples(n_levels):
    """Return how the words of three values follow from the words of values one level lower.

    The columns are the number of the triple with one value lower by a level, the word that the
    triples lose and the word that they gain. A value that reaches one more threshold changes the
    word of this threshold alone.
    """
    steps = np.zeros((n_levels**3, 3), np.int64)
    for number in range(1, n_levels**3):
        values = [number // n_levels**2, number // n_levels % n_levels, number % n_levels]
        place = max(i for i in range(3) if values[i])  # the last value that is not the lowest
        q = values[place] - 1
        word = q * N_WORDS + 2 + sum(4 >> i for i in range(place) if values[i] > q)
        steps[number] = number - n_levels ** (2 - place), word, word + (4 >> place)
    return steps


@bare
def spread_filters(
    levels, roots, sizes, step, members, weights, means, memory, by_channel, by_kind, rest
):
    """Do what `filter_evidence` does, given the root shares of words and the numbers of words."""
    shares, even, singles, triples, by_frame, steps = memory
    for f in range(levels.shape[0]):
        share_weights(f, roots, sizes, weights, means, shares, even)
        write_tables(shares, even, steps, singles, triples)
        write_frames(levels[f], step, singles, triples, by_frame)
        # a filter reads fewer channels than there are places: -1 ends its list
        n_own = 0
        while n_own < members.shape[1] and members[f, n_own] >= 0:
            n_own += 1
        for i in range(n_own):
            c = members[f, i]
            for t in range(by_frame.shape[1]):
                by_channel[c, t] += by_frame[0, t] * (1 / n_own)
            for kind in range(2):
                for k in range(even.shape[1]):
                    value = even[2 + kind, k] * (1 / n_own)
                    by_kind[kind * rest.shape[0] + c, k] += value
                    rest[c, k] += value if sizes[f, kind] == 0 else 0.0


@inlined
def share_weights(f, roots, sizes, weights, means, out, even):
    """Write the evidence of one occurrence of every word, and of any single symbol and triple.

    Rows 0 and 1 of `even` are the evidence of words that do not occur and of the means, for any
    single symbol and any triple; 0 without any occurrence. Rows 2 and 3 add up all evidence.
    """
    for i in range(even.shape[0]):
        for k in range(even.shape[1]):
            even[i, k] = 0.0
    for u in range(out.shape[0]):
        root, kind, word = roots[f, u], 0 if u % N_WORDS < 2 else 1, f * out.shape[0] + u
        for k in range(even.shape[1]):
            mean = np.float64(means[word, k])
            # as in `find_slopes`: root shares become shares, which occurrences can divide
            slope = weights[word, k] / (root + mean) if root + mean > 0 else 0.0
            out[u, k] = slope / sizes[f, 2] if root > 0 else 0.0
            even[kind, k] -= slope * mean * mean
            even[2 + kind, k] += slope * (root * root - mean * mean)
    for kind in range(2):
        n = sizes[f, kind]
        for k in range(even.shape[1]):
            even[kind, k] *= 1 / n if n > 0 else 0.0


@inlined
def write_tables(shares, even, steps, singles, triples):
    """Write the evidence of a value by its level, and a third of the evidence of triples.

    Thresholds are sorted, so the number of thresholds below a value gives all its symbols.
    """
    for level in range(singles.shape[0]):
        for k in range(even.shape[1]):
            singles[level, k] = even[0, k]
            for q in range(singles.shape[0] - 1):
                singles[level, k] += shares[q * N_WORDS + (1 if level > q else 0), k]
    for k in range(even.shape[1]):
        triples[0, k] = even[1, k] / 3
        for q in range(singles.shape[0] - 1):
            triples[0, k] += shares[q * N_WORDS + 2, k] / 3
    for number in range(1, triples.shape[0]):
        before, lost, gained = steps[number, 0], steps[number, 1], steps[number, 2]
        for k in range(even.shape[1]):
            change = shares[gained, k] - shares[lost, k]
            triples[number, k] = triples[before, k] + change / 3


@inlined
def write_frames(levels, step, singles, triples, by_frame):
    """Write the evidence of the words of one filter at all frames to row 0 of `by_frame`."""
    n_levels, n_columns = singles.shape
    for t in range(levels.size):
        for k in range(n_columns):
            by_frame[0, t * n_columns + k] = singles[levels[t], k] if levels[t] >= 0 else 0.0
    n = levels.size - 2 * step
    for t in range(n):
        a, b, c = levels[t], levels[t + step], levels[t + 2 * step]
        number = (np.int64(a) * n_levels + b) * n_levels + c
        for k in range(n_columns):
            value = triples[number, k] if a >= 0 and b >= 0 and c >= 0 else 0.0
            by_frame[1, t * n_columns + k] = value
    for place in range(3):
        for i in range(n * n_columns):
            by_frame[0, place * step * n_columns + i] += by_frame[1, i]

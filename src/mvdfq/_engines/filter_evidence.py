"""Evidence of words of filter responses at their places: compiled loops without checks."""

from functools import cache
from itertools import product

import numpy as np

from mvdfq._engines.compiled import bare, inlined
from mvdfq._engines.filter_words import N_WORDS


def filter_evidence(levels, counts, step, members, weights, means, by_channel, by_kind, rest):
    """Add the evidence of all words in one sequence to the responses that the words read.

    `filter_words.filter_levels` returns `levels` and `counts`; `step` and `members` are the
    dilation and the channels of the filters. `weights` and `means` are
    (n_filters, n_thresholds, 10, n_columns), see `terms/baseline.py`. The evidence of a word is
    divided equally among its symbols, and then among the channels that the filter sums:
    `by_channel` is (n_columns, n_channels, n_frames), by the frame of the response. `rest`
    (n_channels, n_columns) gets what belongs to no response; `by_kind` (2, n_channels, n_columns)
    gets the sums over single symbols and over triples.
    """
    n, n_levels, n_columns = levels.shape[1], weights.shape[1] + 2, weights.shape[3]
    n_words = counts[:, 0].sum(axis=1, keepdims=True, dtype=float)
    n_single = counts[:, 0, :2].sum(axis=1, keepdims=True, dtype=float)
    roots = np.sqrt(counts.reshape(len(counts), -1) / np.maximum(n_words, 1))
    sizes = np.hstack([n_single, n_words - n_single, n_words])
    shares, even = np.empty((roots.shape[1], n_columns)), np.empty((4, n_columns))
    # a missing value and its triples have no evidence: level 0
    tables = np.zeros((n_levels, n_columns)), np.zeros((n_levels**3, n_columns))
    numbers = np.empty(max(n - 2 * step, 0), np.uint32)
    memory = shares, even, *tables, np.empty((2, n)), numbers, levels_of_triples(n_levels)
    words = (array.reshape(-1, n_columns) for array in (weights, means))
    out = by_channel.reshape(-1, n), by_kind.reshape(-1, n_columns), rest
    spread_filters(levels, roots, sizes, step, members, *words, memory, *out)


@cache
def levels_of_triples(n_levels):
    """Return how the words of three values follow from the words of values one level lower.

    The columns are the number of the triple, its number with one value lower by a level, the word
    that the triples lose and the word that they gain. A value that reaches one more threshold
    changes the word of this threshold alone. Level 0 is for missing values.
    """
    steps = []
    for values in product(range(1, n_levels), repeat=3):
        if max(values) > 1:
            place = max(i for i in range(3) if values[i] > 1)  # the last that is not the lowest
            q = values[place] - 2
            word = q * N_WORDS + 2 + sum(4 >> i for i in range(place) if values[i] > q + 1)
            number = (values[0] * n_levels + values[1]) * n_levels + values[2]
            steps.append((number, number - n_levels ** (2 - place), word, word + (4 >> place)))
    return np.array(steps, np.int64)


@bare
def spread_filters(
    levels, roots, sizes, step, members, weights, means, memory, by_channel, by_kind, rest
):
    """Do what `filter_evidence` does, given the root shares of words and the numbers of words."""
    shares, even, singles, triples, by_frame, numbers, steps = memory
    for f in range(levels.shape[0]):
        share_weights(f, roots, sizes, weights, means, shares, even)
        write_tables(shares, even, steps, singles, triples)
        n_levels = singles.shape[0]
        a, b, c = levels[f], levels[f, step:], levels[f, 2 * step :]
        for t in range(numbers.size):
            numbers[t] = (a[t] * n_levels + b[t]) * n_levels + c[t]
        # a filter reads fewer channels than there are places: -1 ends its list
        n_own = 0
        while n_own < members.shape[1] and members[f, n_own] >= 0:
            n_own += 1
        for k in range(even.shape[1]):
            write_frames(levels[f], numbers, step, k, 1 / n_own, singles, triples, by_frame)
            for i in range(n_own):
                row = k * rest.shape[0] + members[f, i]
                for t in range(by_frame.shape[1]):
                    by_channel[row, t] += by_frame[0, t]
                for kind in range(2):
                    value = even[2 + kind, k] * (1 / n_own)
                    by_kind[kind * rest.shape[0] + members[f, i], k] += value
                    rest[members[f, i], k] += value if sizes[f, kind] == 0 else 0.0


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
    n_levels = singles.shape[0]
    lowest = n_levels * n_levels + n_levels + 1  # the triple of three values of level 1
    for level in range(1, n_levels):
        for k in range(even.shape[1]):
            singles[level, k] = even[0, k]
            for q in range(n_levels - 2):
                singles[level, k] += shares[q * N_WORDS + (1 if level > q + 1 else 0), k]
    for k in range(even.shape[1]):
        triples[lowest, k] = even[1, k] / 3
        for q in range(n_levels - 2):
            triples[lowest, k] += shares[q * N_WORDS + 2, k] / 3
    for i in range(steps.shape[0]):
        number, before, lost, gained = steps[i, 0], steps[i, 1], steps[i, 2], steps[i, 3]
        for k in range(even.shape[1]):
            change = shares[gained, k] - shares[lost, k]
            triples[number, k] = triples[before, k] + change / 3


@inlined
def write_frames(levels, numbers, step, k, share, singles, triples, by_frame):
    """Write a share of the evidence of the words of one filter in column k, to row 0."""
    for t in range(levels.size):
        by_frame[0, t] = share * singles[levels[t], k]
    for t in range(numbers.size):
        by_frame[1, t] = share * triples[numbers[t], k]
    for place in range(3):
        frames = by_frame[0, place * step :]
        for t in range(numbers.size):
            frames[t] += by_frame[1, t]

"""Evidence of words of filter responses at their places: compiled loops without checks."""

import numpy as np

from mvdfq._engines.compiled import compiled, inlined, inner
from mvdfq._engines.filter_words import N_WORDS


@compiled
def filter_evidence(levels, counts, filters, weights, means, by_channel, by_kind, rest):
    """Add the evidence of all words in one sequence to the responses that the words read.

    `filter_words.filter_levels` returns `levels` and `counts`. `weights` and `means` are
    (n_filters, n_thresholds, 10, n_columns), see `terms/baseline.py`. The evidence of a word is
    divided equally among its symbols, and then among the channels that the filter sums:
    `by_channel` is (n_channels, n_frames * n_columns), by the frame of the response. `rest`
    (n_channels, n_columns) gets what belongs to no response; `by_kind` (2, n_channels, n_columns)
    gets the sums over single symbols and over triples.
    """
    step, _, members, _, _ = filters
    n, n_columns, n_levels = levels.shape[1], weights.shape[3], weights.shape[1] + 1
    shares, kinds = np.empty(weights.shape[1:]), np.empty((2, n_columns))
    found, even = np.empty(n * n_columns), np.empty((2, n_columns))
    singles = np.empty((n_levels, n_columns))
    triples = np.empty((n_levels, n_levels, n_levels, n_columns))
    for f in range(len(levels)):
        n_single, n_all = share_weights(weights[f], means[f], counts[f], shares, even, kinds)
        write_singles(levels[f], shares, even[0], singles, found)
        write_triples(shares, even[1], triples)
        add_triples(levels[f], step, triples, found)
        n_own = 0
        while n_own < members.shape[1] and members[f, n_own] >= 0:
            n_own += 1
        for c in members[f, :n_own]:
            add_to(by_channel[c], found, 1 / n_own)
            for kind in range(2):
                add_to(by_kind[kind, c], kinds[kind], 1 / n_own)
                if (n_single if kind == 0 else n_all - n_single) == 0:
                    add_to(rest[c], kinds[kind], 1 / n_own)


@inlined
def share_weights(weights, means, counts, out, even, kinds):
    """Write the evidence of one occurrence of every word, and of any single symbol and triple.

    `even` (2, n_columns) is the evidence of words that do not occur and of the means, for any
    occurrence; 0 without any occurrence. `kinds` (2, n_columns) is all evidence. Returns the
    number of single symbols and the number of all words.
    """
    n_single = np.float64(counts[0, 0]) + counts[0, 1]
    n_words = n_single
    for word in range(2, N_WORDS):
        n_words += counts[0, word]
    even[:] = 0
    kinds[:] = 0
    for q in range(counts.shape[0]):
        for word in range(N_WORDS):
            root = np.sqrt(counts[q, word] / n_words) if n_words > 0 else 0.0
            kind = 0 if word < 2 else 1
            for k in range(even.shape[1]):
                mean = np.float64(means[q, word, k])
                slope = weights[q, word, k] / (root + mean) if root + mean > 0 else 0.0
                out[q, word, k] = slope / n_words if root > 0 else 0.0
                even[kind, k] -= slope * mean * mean
                kinds[kind, k] += slope * (root * root - mean * mean)
    for kind in range(2):
        n = n_single if kind == 0 else n_words - n_single
        for k in range(even.shape[1]):
            even[kind, k] *= 1 / n if n > 0 else 0.0
    return n_single, n_words


@inlined
def write_singles(levels, shares, even, table, out):
    """Write the evidence of single symbols, (n_frames * n_columns); `table` is by level.

    Thresholds are sorted, so the number of thresholds below a value gives all its symbols.
    """
    n_columns = even.size
    for level in range(table.shape[0]):
        for k in range(n_columns):
            table[level, k] = even[k]
            for q in range(shares.shape[0]):
                table[level, k] += shares[q, 1 if level > q else 0, k]
    for t in range(levels.size):
        for k in range(n_columns):
            out[t * n_columns + k] = table[levels[t], k] if levels[t] >= 0 else 0.0


@inlined
def add_triples(levels, step, table, out):
    """Add the evidence of triples to the frames of their symbols; `table` has a third of it."""
    n_columns, n = table.shape[3], max(levels.size - 2 * step, 0)
    found = np.zeros(n * n_columns)
    for t in range(n):
        a, b, c = levels[t], levels[t + step], levels[t + 2 * step]
        if min(a, b, c) >= 0:
            for k in range(n_columns):
                found[t * n_columns + k] = table[a, b, c, k]
    for place in range(3):
        for i in range(found.size):
            out[place * step * n_columns + i] += found[i]


@inlined
def write_triples(shares, even, table):
    """Write a third of the evidence of the triples that three values form at all thresholds.

    `table` is by the levels of the values. A value that reaches one more threshold changes the
    word of this threshold alone, so every entry follows from the entry before.
    """
    n_levels = table.shape[0]
    for k in range(even.size):
        table[0, 0, 0, k] = even[k] / 3
        for q in range(n_levels - 1):
            table[0, 0, 0, k] += shares[q, 2, k] / 3
    for a in range(n_levels):
        for k in range(even.size if a else 0):
            change = shares[a - 1, 6, k] - shares[a - 1, 2, k]
            table[a, 0, 0, k] = table[a - 1, 0, 0, k] + change / 3
        for b in range(n_levels):
            word = 6 if a > b - 1 else 2
            for k in range(even.size if b else 0):
                change = shares[b - 1, word + 2, k] - shares[b - 1, word, k]
                table[a, b, 0, k] = table[a, b - 1, 0, k] + change / 3
            for c in range(1, n_levels):
                word = 2 + (4 if a > c - 1 else 0) + (2 if b > c - 1 else 0)
                for k in range(even.size):
                    change = shares[c - 1, word + 1, k] - shares[c - 1, word, k]
                    table[a, b, c, k] = table[a, b, c - 1, k] + change / 3


@inner
def add_to(out, values, factor):
    """Add values * factor to `out`."""
    for k in range(out.size):
        out[k] += values[k] * factor

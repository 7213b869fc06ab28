"""Words of filter responses cut at thresholds: compiled loops without checks, one thread each.

Every threshold of a response gives a row of two symbols, below and above. The words of a row are
its single symbols and triples of symbols `dilation` frames apart. No row is ever written: one
64-bit word holds the symbols of all thresholds at one frame, one byte per threshold. `filters` is
as in `row_loops.py`.
"""

import numpy as np

from mvdfq._engines.compiled import compiled, inlined, inner
from mvdfq._engines.row_loops import N_TAPS, prepare, respond

# Thresholds that one 64-bit word holds as bytes; the last byte tells that a value is present.
MOST_THRESHOLDS = 7
BYTE, LAST = np.uint64(8), np.uint64(56)
ONE, LOW = np.uint64(1), np.uint64(255)
SUM = np.uint64(0x0101010101010101)
# A byte counts up to 255.
RUN = 255
# Words of one row: two single symbols and eight triples.
N_WORDS = 10
# Sequences that share one reading of the weights, which do not fit the first-level cache.
TOGETHER = 8


@compiled
def filter_shares(data, offsets, filters, thresholds, out):
    """Write the roots of the shares of binary words, (n_sequences, n_filters, n_thresholds, 10).

    The words of a threshold are single symbols (below, above) and triples of symbols `dilation`
    frames apart. `thresholds` is (n_filters, n_thresholds), at most `MOST_THRESHOLDS`, sorted.
    Equal to writing all responses, comparing them with all thresholds and counting the words of
    every row, but no row is ever written.
    """
    for s in range(offsets.size - 1):
        start, stop = offsets[s], offsets[s + 1]
        if start == stop:
            out[s] = 0
            continue
        padded, nine = prepare(data, start, stop, filters)
        total = np.empty(padded.shape[2], data.dtype)
        response = np.empty(stop - start, data.dtype)
        above = np.empty(stop - start, np.uint64)
        for f in range(out.shape[1]):
            respond(padded, nine, f, filters, total, response)
            compare(response, thresholds[f], above)
            n_words = np.float32(count_words(above, filters[0], out[s, f]))
            for q in range(out.shape[2]):
                for word in range(N_WORDS):
                    out[s, f, q, word] = np.sqrt(out[s, f, q, word] / n_words) if n_words else 0


@compiled
def filter_evidence(data, limits, filters, thresholds, weights, means, by_channel, by_kind, rest):
    """Add the evidence of all words in one sequence to the responses that the words read.

    The sequence has the frames from ``limits[0]`` to ``limits[1]``. `weights` and `means` are
    (n_filters, n_thresholds, 10, n_columns), see `terms/baseline.py`. The evidence of a word is
    divided equally among its symbols, and then among the channels that the filter sums:
    `by_channel` is (n_channels, n_frames * n_columns), by the frame of the response. `rest`
    (n_channels, n_columns) gets what belongs to no response; `by_kind` (2, n_channels, n_columns)
    gets the sums over single symbols and over triples.
    """
    step, _, members, _, _ = filters
    n, n_columns = limits[1] - limits[0], weights.shape[3]
    padded, nine = prepare(data, limits[0], limits[1], filters)
    total = np.empty(padded.shape[2], data.dtype)
    response, above = np.empty(n, data.dtype), np.empty(n, np.uint64)
    counts = np.empty((thresholds.shape[1], N_WORDS), np.float32)
    shares, levels = np.empty(weights.shape[1:]), np.empty(n, np.int64)
    found, kinds = np.empty(n * n_columns), np.empty((2, n_columns))
    even, singles = np.empty((2, n_columns)), np.empty((thresholds.shape[1] + 1, n_columns))
    triples = np.empty((len(singles), len(singles), len(singles), n_columns))
    for f in range(thresholds.shape[0]):
        respond(padded, nine, f, filters, total, response)
        compare(response, thresholds[f], above)
        count_words(above, step, counts)
        n_single, n_all = share_weights(weights[f], means[f], counts, shares, even, kinds)
        for t in range(n):
            levels[t] = level_of(above[t])
        write_singles(levels, shares, even[0], singles, found)
        write_triples(shares, even[1], triples)
        add_triples(levels, step, triples, found)
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
    occurrence; 0 if there is none of the kind. `kinds` (2, n_columns) is all evidence. Returns the
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


@inlined
def level_of(word):
    """Return how many thresholds a value reaches, -1 for a missing value."""
    if not word >> LAST:
        return -1
    # the highest byte of the product is the sum of all bytes; the last byte counts, too
    return np.int64((word * SUM) >> LAST) - 1


@compiled
def spread_taps(by_channel, dilation, out):
    """Divide the evidence of responses equally among the frames that a response reads.

    Taps beyond the ends carry nothing: else the ends would gather what belongs to the middle.
    `out` is (n_columns, n_channels, n_frames).
    """
    n, half = by_channel.shape[1], N_TAPS // 2
    for c in range(by_channel.shape[0]):
        for t in range(n):
            first, last = -min(t // dilation, half), min((n - 1 - t) // dilation, half)
            for tap in range(first, last + 1):
                for k in range(out.shape[0]):
                    out[k, c, t + tap * dilation] += by_channel[c, t, k] / (last - first + 1)


@inner
def compare(response, thresholds, above):
    """Set byte q of each word to 1 where the response is at least threshold q.

    The last byte is 1 where the response is not NaN.
    """
    for t in range(response.size):
        above[t] = ONE << LAST if response[t] == response[t] else np.uint64(0)
    for q in range(thresholds.size):
        bit, threshold = ONE << (BYTE * np.uint64(q)), thresholds[q]
        for t in range(response.size):
            above[t] |= bit if response[t] >= threshold else np.uint64(0)


@inner
def count_words(above, step, out):
    """Write the counts of all words of one filter, (n_thresholds, 10); return how many there are.

    One addition of 64 bits counts for all thresholds at once. Of a triple (a, b, c) the counts of
    a, b, c, ab, ac, bc and abc are taken; the counts of the eight words follow.
    """
    found = np.zeros((8, 8), np.int64)
    single = found[7]
    for start in range(0, above.size, RUN):
        count = np.uint64(0)
        for t in range(start, min(start + RUN, above.size)):
            count += above[t]
        add_bytes(count, single)
    # a sequence shorter than a triple has single symbols alone
    n = max(above.size - 2 * step, 0)
    for start in range(0, n, RUN):
        count_triples(above, step, start, min(start + RUN, n), found)
    for q in range(out.shape[0]):
        # inclusion and exclusion: from "at least these above" to "exactly these above"
        a, b, c, abc = found[0, q], found[1, q], found[2, q], found[6, q]
        ab, ac, bc = found[3, q], found[4, q], found[5, q]
        out[q, 0], out[q, 1] = single[7] - single[q], single[q]
        out[q, 2] = found[0, 7] - a - b - c + ab + ac + bc - abc
        out[q, 3] = c - ac - bc + abc
        out[q, 4] = b - ab - bc + abc
        out[q, 5] = bc - abc
        out[q, 6] = a - ab - ac + abc
        out[q, 7] = ac - abc
        out[q, 8] = ab - abc
        out[q, 9] = abc
    return single[7] + found[0, 7]


@inlined
def count_triples(above, step, start, stop, found):
    """Add the counts of at most 255 triples; a triple with a missing symbol does not count."""
    n_a = n_b = n_c = n_ab = n_ac = n_bc = n_abc = np.uint64(0)
    first, second = above[start:stop], above[start + step : stop + step]
    third = above[start + 2 * step : stop + 2 * step]
    for t in range(stop - start):
        a, b, c = first[t], second[t], third[t]
        here = np.uint64(0) - ((a & b & c) >> LAST)  # all bits, or none
        a, b, c = a & here, b & here, c & here
        n_a += a
        n_b += b
        n_c += c
        n_ab += a & b
        n_ac += a & c
        n_bc += b & c
        n_abc += a & b & c
    for i, count in enumerate((n_a, n_b, n_c, n_ab, n_ac, n_bc, n_abc)):
        add_bytes(count, found[i])


@inner
def add_bytes(word, out):
    """Add the eight bytes of a 64-bit word to eight counts."""
    for q in range(8):
        out[q] += np.int64((word >> (BYTE * np.uint64(q))) & LOW)


@compiled
def weigh(shares, weights, out):
    """Add the weights of all words, (n_words, n_columns), times their shares to `out`.

    Every sequence is added up alone and in the same order, so one sequence alone gives the same
    numbers, which a matrix product does not promise.
    """
    n = shares.shape[0]
    for start in range(0, n, TOGETHER):
        for u in range(shares.shape[1]):
            for s in range(start, min(start + TOGETHER, n)):
                share = np.float64(shares[s, u])  # the product is a double, whatever the weights
                for c in range(out.shape[1]):
                    out[s, c] += share * weights[u, c]

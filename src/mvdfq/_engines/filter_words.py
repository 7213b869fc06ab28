"""Filters, and words of their responses cut at thresholds: compiled loops without checks.

A filter has nine taps `dilation` frames apart, six of weight -1 and three of weight +2, and reads
the sum of a few channels. The arguments `filters` of the functions below are a tuple:

- ``dilation``;
- ``taps`` (n_filters, 3), the taps of weight +2;
- ``members`` (n_filters, most), the channels that a filter sums, filled up with -1;
- ``zero_padded`` (n_filters,), whether zeros or the end values stand beyond the ends;
- ``used`` (2, n_channels), the channels that any filter of each kind of padding reads.

Every threshold of a response gives a row of two symbols, below and above. The words of a row are
its single symbols and triples of symbols `dilation` frames apart. No row is ever written: one
64-bit word holds the symbols of all thresholds at one frame, one byte per threshold.
"""

import numpy as np

from mvdfq._engines.compiled import compiled, inlined, inner

# Number of taps of a filter; with three of nine taps set to +2 there are 84 filters.
N_TAPS = 9
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


def filter_responses(data, offsets, filters, out):
    """Write the response of every filter at every frame, (n_filters, n_frames)."""
    scale = np.zeros(len(data)), np.ones(len(data))
    none = np.empty((out.shape[0], 0)), np.empty((0, 0), np.int8), np.empty((0,) * 4, np.float32)
    read_filters((data, offsets, scale), filters, none[0], out, *none[1:])


def filter_shares(read, filters, thresholds, out):
    """Write the roots of the shares of binary words, (n_sequences, n_filters, n_thresholds, 10).

    The words of a threshold are single symbols (below, above) and triples of symbols `dilation`
    frames apart. `thresholds` is (n_filters, n_thresholds), at most `MOST_THRESHOLDS`, sorted.
    Equal to writing all responses, comparing them with all thresholds and counting the words of
    every row, but no row is ever written. `read` is as in `read_filters`.
    """
    none = np.empty((0, 0), read[0].dtype), np.empty((0, 0), np.int8)
    read_filters(read, filters, thresholds, *none, out)


def filter_levels(read, filters, thresholds):
    """Return how many thresholds each response of one sequence reaches, and all counts of words.

    Shapes: (n_filters, n_frames), -1 for a missing response, and (n_filters, n_thresholds, 10).
    `read` is as in `read_filters`.
    """
    data, (start, stop), _ = read
    levels = np.empty((len(thresholds), stop - start), np.int8)
    counts = np.empty((1, *thresholds.shape, N_WORDS), np.float32)
    read_filters(read, filters, thresholds, np.empty((0, 0), data.dtype), levels, counts)
    return levels, counts[0]


@compiled
def read_filters(read, filters, thresholds, responses, levels, words):
    """Write what is not empty of responses, levels and words of every sequence.

    `read` is a tuple: data, offsets, and the mean and deviation of every channel, which is
    standardized while it is read.

    One function, since each function that reads filters takes seconds to compile. `levels` belong
    to one sequence; with levels, `words` are counts, else roots of shares. Sums run in the
    same order for every sequence, so one sequence alone gives the same numbers.
    """
    data, offsets, scale = read
    for s in range(offsets.size - 1):
        start, stop = offsets[s], offsets[s + 1]
        if start == stop:
            words[s : s + 1] = 0
            continue
        padded, nine = prepare(data, start, stop, scale, filters)
        total = np.empty(padded.shape[2], data.dtype)
        response = np.empty(stop - start, data.dtype)
        above = np.empty(stop - start, np.uint64)
        for f in range(thresholds.shape[0]):
            respond(padded, nine, f, filters, total, response)
            if responses.size:
                for t in range(response.size):
                    responses[f, start + t] = response[t]
                continue
            compare(response, thresholds[f], above)
            n_words = np.float32(count_words(above, filters[0], words[s, f]))
            if levels.size:
                for t in range(above.size):
                    levels[f, t] = level_of(above[t])
                continue
            for q in range(words.shape[2]):
                for word in range(N_WORDS):
                    share = words[s, f, q, word] / n_words if n_words else np.float32(0)
                    words[s, f, q, word] = np.sqrt(share)


@inlined
def prepare(data, start, stop, scale, filters):
    """Return the padded channels of one sequence and their sums of nine taps, by padding."""
    dilation, _, _, _, used = filters
    n, pad = stop - start, (N_TAPS // 2) * dilation
    # channels that no filter reads stay unwritten and are never read
    padded = np.empty((2, data.shape[0], n + 2 * pad), data.dtype)
    nine = np.empty((2, data.shape[0], n), data.dtype)
    for c in range(data.shape[0]):
        for kind in range(2):
            if not used[kind, c]:
                continue
            own, sums = padded[kind, c], nine[kind, c]
            for t in range(own.size):
                # beyond the ends: the end values, or zeros
                near = min(max(t - pad, 0), n - 1)
                value = (data[c, start + near] - scale[0][c]) / scale[1][c]
                own[t] = value if kind == 0 or near == t - pad else 0
            sums[:] = 0
            for tap in range(N_TAPS):
                shifted = own[tap * dilation : tap * dilation + n]
                for t in range(n):
                    sums[t] += shifted[t]
    return padded, nine


@inlined
def respond(padded, nine, f, filters, total, out):
    """Write the response of filter `f` at every frame; NaN wherever a tap reads NaN.

    With weights -1 and +2,

        response = 3 * (sum of three taps) - (sum of all nine taps).

    The second sum is the same for all filters that read a channel, so it is computed once for
    each channel and kind of padding, as in MiniRocket (Dempster et al. 2021).
    """
    dilation, taps, members, zero_padded, _ = filters
    kind = 1 if zero_padded[f] else 0
    out[:] = 0
    total[:] = 0
    for c in members[f]:
        # the rest of the list is filled up with -1
        if c < 0:
            break
        own, all_taps = padded[kind, c], nine[kind, c]
        for t in range(total.size):
            total[t] += own[t]
        for t in range(out.size):
            out[t] -= all_taps[t]
    first = total[taps[f, 0] * dilation : taps[f, 0] * dilation + out.size]
    second = total[taps[f, 1] * dilation : taps[f, 1] * dilation + out.size]
    third = total[taps[f, 2] * dilation : taps[f, 2] * dilation + out.size]
    for t in range(out.size):
        out[t] += 3 * (first[t] + second[t] + third[t])


@inlined
def level_of(word):
    """Return how many thresholds a value reaches, -1 for a missing value."""
    if not word >> LAST:
        return -1
    # the highest byte of the product is the sum of all bytes; the last byte counts, too
    return np.int64((word * SUM) >> LAST) - 1


@inlined
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


@inlined
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

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

from mvdfq._engines.compiled import bare, inlined

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
    none = np.empty((0, 0), np.int8), np.empty((0, 0), np.float32)
    if out.size:  # what is empty is not asked for
        _read((data, offsets, scale), filters, np.empty((len(out), 0)), out, *none)


def filter_shares(read, filters, thresholds, out):
    """Write the roots of the shares of binary words, (n_sequences, n_filters, n_thresholds, 10).

    The words of a threshold are single symbols (below, above) and triples of symbols `dilation`
    frames apart. `thresholds` is (n_filters, n_thresholds), at most `MOST_THRESHOLDS`, sorted.
    Equal to writing all responses, comparing them with all thresholds and counting the words of
    every row, but no row is ever written. `read` is as in `read_filters`.
    """
    none = np.empty((0, 0), read[0].dtype), np.empty((0, 0), np.int8)
    _read(read, filters, thresholds, *none, out)
    if out.size:
        n_words = out[:, :, :1].sum(axis=3, keepdims=True, dtype=np.float64)
        out /= np.maximum(n_words, 1).astype(np.float32)
        np.sqrt(out, out=out)


def filter_levels(read, filters, thresholds):
    """Return how many thresholds each response of one sequence reaches, and all counts of words.

    Shapes: (n_filters, n_frames), -1 for a missing response, and (n_filters, n_thresholds, 10).
    `read` is as in `read_filters`.
    """
    data, (start, stop), _ = read
    levels = np.empty((len(thresholds), stop - start), np.int8)
    counts = np.empty((1, *thresholds.shape, N_WORDS), np.float32)
    _read(read, filters, thresholds, np.empty((0, 0), data.dtype), levels, counts)
    return levels, counts[0]


def _read(read, filters, thresholds, responses, levels, words):
    """Call `read_filters` with memory for the longest sequence: compiled loops do not allocate."""
    data, offsets, _ = read
    most, pad = int(np.diff(offsets).max(initial=0)), (N_TAPS - 1) * filters[0]
    # channels that no filter reads stay unwritten and are never read
    padded = np.empty((2 * len(data), most + pad), data.dtype)
    sums = np.empty((2 * len(data), most), data.dtype), np.empty((2, most + pad), data.dtype)
    counts = np.empty(most, np.uint64), np.empty(8, np.uint64), np.empty((8, 8), np.int64)
    flat = words.reshape(len(words) * words.shape[1], thresholds.shape[1] * N_WORDS)
    read_filters(read, filters, thresholds, (padded, *sums, *counts), responses, levels, flat)


@bare
def read_filters(read, filters, thresholds, memory, responses, levels, words):
    """Write what is not empty of responses, levels and counts of words of every sequence.

    `read` is a tuple: data, offsets, and the mean and deviation of every channel, which is
    standardized while it is read. `levels` belong to one sequence; `words` are
    (n_sequences * n_filters, n_thresholds * 10).

    One function, since each function that reads filters takes seconds to compile. Sums run in the
    same order for every sequence, so one sequence alone gives the same numbers.
    """
    data, offsets, scale = read
    padded, nine, sums, above, packed, found = memory
    for s in range(offsets.size - 1):
        start, n = offsets[s], offsets[s + 1] - offsets[s]
        prepare(data, start, n, scale, filters, padded, nine)
        for f in range(thresholds.shape[0]):
            response = sums[1, :n]
            respond(padded, nine, f, filters, sums[0], response)
            if responses.size:
                for t in range(n):
                    responses[f, start + t] = response[t]
                continue
            compare(response, thresholds[f], above)
            count_words(above[:n], filters[0], packed, found)
            write_counts(found, words[s * thresholds.shape[0] + f])
            if levels.size:
                for t in range(n):
                    # the highest byte of the product is the sum of all bytes, with the last byte
                    levels[f, t] = np.int64((above[t] * SUM) >> LAST) - 1


@inlined
def prepare(data, start, n, scale, filters, padded, nine):
    """Write the padded channels of one sequence and their sums of nine taps, by padding."""
    dilation, _, _, _, used = filters
    # a number that the compiler does not know: it would write one loop for every tap
    n_taps = (padded.shape[1] - nine.shape[1]) // dilation + 1
    pad = (n_taps // 2) * dilation
    for row in range(2 * data.shape[0] if n else 0):
        kind, c = row // data.shape[0], row % data.shape[0]
        if not used[kind, c]:
            continue
        own, sums, values = padded[row], nine[row, :n], data[c, start : start + n]
        middle, mean, deviation = own[pad : pad + n], scale[0][c], scale[1][c]
        for t in range(n):
            middle[t] = (values[t] - mean) / deviation
            sums[t] = 0
        # beyond the ends: the end values, or zeros
        first, last = (middle[0], middle[n - 1]) if kind == 0 else (0.0, 0.0)
        for t in range(pad):
            own[t] = first
            own[pad + n + t] = last
        for tap in range(n_taps):
            shifted = own[tap * dilation : tap * dilation + n]
            for t in range(n):
                sums[t] += shifted[t]


@inlined
def respond(padded, nine, f, filters, total, out):
    """Write the response of filter `f` at every frame; NaN wherever a tap reads NaN.

    With weights -1 and +2,

        response = 3 * (sum of three taps) - (sum of all nine taps).

    The second sum is the same for all filters that read a channel, so it is computed once for
    each channel and kind of padding, as in MiniRocket (Dempster et al. 2021).
    """
    dilation, taps, members, zero_padded, _ = filters
    n_padded, before = out.size + (N_TAPS - 1) * dilation, padded.shape[0] // 2
    for t in range(n_padded):
        total[t] = 0
    for t in range(out.size):
        out[t] = 0
    for i in range(members.shape[1]):
        # the rest of the list is filled up with -1
        if members[f, i] < 0:
            break
        row = members[f, i] + (before if zero_padded[f] else 0)
        own, all_taps = padded[row], nine[row]
        for t in range(n_padded):
            total[t] += own[t]
        for t in range(out.size):
            out[t] -= all_taps[t]
    first, second = total[taps[f, 0] * dilation :], total[taps[f, 1] * dilation :]
    third = total[taps[f, 2] * dilation :]
    for t in range(out.size):
        out[t] += 3 * (first[t] + second[t] + third[t])


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
def count_words(above, step, packed, found):
    """Write how often a, b, c, ab, ac, bc and abc of a triple (a, b, c) are above; last, singles.

    `found` is (8, 8), by threshold. One addition of 64 bits counts for all thresholds at once.
    """
    for i in range(packed.size):
        for q in range(packed.size):
            found[i, q] = 0
    for start in range(0, above.size, RUN):
        first, second, third = above[start:], above[start + step :], above[start + 2 * step :]
        single = n_a = n_b = n_c = n_ab = n_ac = n_bc = n_abc = np.uint64(0)
        for t in range(first.size if first.size < RUN else RUN):
            single += first[t]
        # a sequence shorter than a triple has single symbols alone
        for t in range(third.size if third.size < RUN else RUN):
            a, b, c = first[t], second[t], third[t]
            # a triple with a missing symbol does not count: all bits, or none
            here = np.uint64(0) - ((a & b & c) >> LAST)
            a, b, c = a & here, b & here, c & here
            n_a += a
            n_b += b
            n_c += c
            n_ab += a & b
            n_ac += a & c
            n_bc += b & c
            n_abc += a & b & c
        packed[0], packed[1], packed[2], packed[3] = n_a, n_b, n_c, n_ab
        packed[4], packed[5], packed[6], packed[7] = n_ac, n_bc, n_abc, single
        for i in range(packed.size):
            for q in range(packed.size):
                found[i, q] += np.int64((packed[i] >> (BYTE * np.uint64(q))) & LOW)


@inlined
def write_counts(found, out):
    """Write the counts of the ten words of every threshold, (n_thresholds * 10,)."""
    for q in range(out.size // N_WORDS):
        # inclusion and exclusion: from "at least these above" to "exactly these above"
        a, b, c, abc = found[0, q], found[1, q], found[2, q], found[6, q]
        ab, ac, bc, first = found[3, q], found[4, q], found[5, q], q * N_WORDS
        out[first], out[first + 1] = found[7, 7] - found[7, q], found[7, q]
        out[first + 2] = found[0, 7] - a - b - c + ab + ac + bc - abc
        out[first + 3] = c - ac - bc + abc
        out[first + 4] = b - ab - bc + abc
        out[first + 5] = bc - abc
        out[first + 6] = a - ab - ac + abc
        out[first + 7] = ac - abc
        out[first + 8] = ab - abc
        out[first + 9] = abc


@bare
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

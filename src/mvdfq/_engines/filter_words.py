"""Filters, and words of their responses cut at thresholds: compiled loops without checks.

A filter has nine taps `dilation` frames apart, six of weight -1 and three of weight +2, and reads
the sum of a few channels. The arguments `filters` of `bank_of` are a tuple:

- ``dilation``;
- ``taps`` (n_filters, 3), the taps of weight +2;
- ``members`` (n_filters, most), the channels that a filter sums, filled up with -1;
- ``zero_padded`` (n_filters,), whether zeros or the end values stand beyond the ends.

Responses are single precision: twice as many fit one instruction. Sums run in the same order
everywhere, and thresholds are learned from the same responses.

Every threshold of a response gives a row of two symbols, below and above. The words of a row are
its single symbols and triples of symbols `dilation` frames apart. A row has one bit per frame, so
one instruction reads 64 frames or more, and words are counted by counting bits.
"""

from typing import NamedTuple

import numpy as np

from mvdfq._engines.compiled import bare, inlined, inner

# Number of taps of a filter; with three of nine taps set to +2 there are 84 filters.
N_TAPS = 9
# Thresholds that one byte holds as bits; the last bit tells that a value is present.
MOST_THRESHOLDS = 7
PRESENT = np.uint8(1 << MOST_THRESHOLDS)
# Bits of one word of a row.
WORD = 64
ONE, TOP, ALL = np.uint64(1), np.uint64(63), np.uint64(2**64 - 1)
# Channels and taps that one loop adds: a sum is read and written once for all of them.
TERMS = 3
THREE = np.float32(3)
# Standardized values beyond this are cut, so that no sum is infinite in single precision.
LARGEST = 1e30
# Words of one row: two single symbols and eight triples.
N_WORDS = 10


class Bank(NamedTuple):
    """Filters and thresholds as compiled loops read them.

    `rows` are the rows of channels that each filter sums, filled up with a row of zeros, and
    `used` tells which rows any filter sums. `thresholds` are filled up to seven with NaN, which no
    response reaches.
    """

    dilation: int
    taps: np.ndarray
    rows: np.ndarray
    used: np.ndarray
    thresholds: np.ndarray


def bank_of(filters, n_channels, thresholds=None):
    """Return the bank of filters of one dilation; `thresholds` are (n_filters, at most 7), sorted.

    Channels come twice, padded with their end values and with zeros.
    """
    dilation, taps, members, zero_padded = filters
    (n, most), zeros = members.shape, 2 * n_channels
    rows = np.full((n, -(-most // TERMS) * TERMS), zeros)
    rows[:, :most] = np.where(members < 0, zeros, members + n_channels * zero_padded[:, None])
    used = np.bincount(rows.ravel(), minlength=zeros + 1) > 0
    cuts = np.full((n, MOST_THRESHOLDS), np.float32(np.nan))
    if thresholds is not None:
        cuts[:, : thresholds.shape[1]] = in_single(thresholds)
    return Bank(dilation, taps, rows, used, cuts)


def in_single(thresholds):
    """Return thresholds that the same single-precision values reach, rounded up."""
    with np.errstate(over="ignore"):
        rounded = thresholds.astype(np.float32)
    return np.where(rounded < thresholds, np.nextafter(rounded, np.float32(np.inf)), rounded)


def filter_responses(data, offsets, bank, out):
    """Write the response of every filter at every frame, (n_filters, n_frames)."""
    scale = np.zeros(len(data)), np.ones(len(data))
    none = np.empty((0, 0), np.uint8), np.empty((0, 0), np.float32)
    if out.size:  # what is empty is not asked for
        _read((data, offsets, scale), bank, out, *none)


def filter_shares(read, bank, out):
    """Write the roots of the shares of binary words, (n_sequences, n_filters, n_thresholds, 10).

    The words of a threshold are single symbols (below, above) and triples of symbols `dilation`
    frames apart. Equal to writing all responses, comparing them with all thresholds and counting
    the words of every row. `read` is as in `read_filters`.
    """
    flat = out.reshape(len(out) * out.shape[1], -1)
    _read(read, bank, np.empty((0, 0)), np.empty((0, 0), np.uint8), flat)
    if out.size:
        n_words = out[:, :, :1].sum(axis=3, keepdims=True, dtype=np.float64)
        out /= np.maximum(n_words, 1).astype(np.float32)
        np.sqrt(out, out=out)


def filter_levels(read, bank, n_thresholds):
    """Return the level of each response of one sequence, and all counts of words.

    The level is 0 for a missing response, otherwise 1 + the number of thresholds that the response
    reaches. Shapes: (n_filters, n_frames) and (n_filters, n_thresholds, 10). `read` is as in
    `read_filters`.
    """
    n, (start, stop) = len(bank.taps), read[1]
    levels = np.empty((n, stop - start), np.uint8)
    counts = np.empty((n, n_thresholds * N_WORDS), np.float32)
    _read(read, bank, np.empty((0, 0)), levels, counts)
    return levels, counts.reshape(n, n_thresholds, N_WORDS)


def _read(read, bank, responses, levels, words):
    """Call `read_filters` with memory for the longest sequence: compiled loops do not allocate."""
    most, n_rows = int(np.diff(read[1]).max(initial=0)), len(bank.used)
    channels = np.empty((n_rows, 2 * most + (N_TAPS - 1) * bank.dilation), np.float32)
    channels[-1] = 0
    sums = np.empty_like(channels[0]), np.empty(most, np.float32)
    n_words = -(-most // WORD) + 2
    above, whole = np.empty(n_words * WORD, np.uint8), np.empty(n_words, np.uint64)
    # twice as long: words are also read beyond the end, where nothing counts
    bits = np.empty((MOST_THRESHOLDS + 1, 2 * n_words * 8), np.uint8)
    memory = channels, *sums, above, above.view(np.uint64), bits, bits.view(np.uint64), whole
    read_filters(read, tuple(bank[:-1]), bank.thresholds, memory, responses, levels, words)


@bare
def read_filters(read, filters, thresholds, memory, responses, levels, words):
    """Write what is not empty of responses, levels and counts of words of every sequence.

    `read` is a tuple: data, offsets, and the mean and deviation of every channel, which is
    standardized while it is read. `filters` is a `Bank` without its thresholds. `levels` belong to
    one sequence; `words` are (n_sequences * n_filters, n_thresholds * 10).

    One function, since each function that reads filters takes seconds to compile. Sums run in the
    same order for every sequence, so one sequence alone gives the same numbers.
    """
    data, offsets, scale = read
    channels, total, response, above, eights, eighths, bits, whole = memory
    for s in range(offsets.size - 1):
        start, n = offsets[s], offsets[s + 1] - offsets[s]
        # a number that the compiler does not know: it would write one loop for every tap
        n_taps = (total.size - 2 * response.size) // filters[0] + 1
        prepare(data, start, n, scale, n_taps, filters, channels)
        for f in range(thresholds.shape[0]):
            respond(channels, f, filters, total, response[:n])
            if responses.size:
                for t in range(n):
                    responses[f, start + t] = response[t]
                continue
            compare(response[:n], thresholds[f], above)
            for t in range(n if levels.size else 0):
                x = above[t]  # how many bits are set, as in `count_bits`
                x = x - ((x >> 1) & 0x55)
                x = (x & 0x33) + ((x >> 2) & 0x33)
                levels[f, t] = (x + (x >> 4)) & 0x0F
            write_bits(eights[: -(-n // WORD) * 8], eighths, bits)
            count_words(bits, n, filters[0], whole, words[s * thresholds.shape[0] + f])


@inlined
def prepare(data, start, n, scale, n_taps, filters, channels):
    """Write minus the sums of nine taps and then the padded values of every channel, by padding."""
    dilation, _, _, used = filters
    pad = (n_taps // 2) * dilation
    for row in range(2 * data.shape[0] if n else 0):
        if not used[row]:
            continue
        kind, c = row // data.shape[0], row % data.shape[0]
        sums, own, values = channels[row, :n], channels[row, n:], data[c, start : start + n]
        middle, mean, deviation = own[pad : pad + n], scale[0][c], scale[1][c]
        for t in range(n):
            value = (values[t] - mean) / deviation
            value = LARGEST if value > LARGEST else value  # NaN stays NaN
            middle[t] = -LARGEST if value < -LARGEST else value
            sums[t] = 0
        # beyond the ends: the end values, or zeros
        first, last = (middle[0], middle[n - 1]) if kind == 0 else (0.0, 0.0)
        for t in range(pad):
            own[t] = first
            own[pad + n + t] = last
        for tap in range(0, n_taps, TERMS):
            x, y = own[tap * dilation :], own[(tap + 1) * dilation :]
            z = own[(tap + 2) * dilation :]
            for t in range(n):
                sums[t] = ((sums[t] - x[t]) - y[t]) - z[t]


@inlined
def respond(channels, f, filters, total, out):
    """Write the response of filter `f` at every frame; NaN wherever a tap reads NaN.

    With weights -1 and +2,

        response = 3 * (sum of three taps) - (sum of all nine taps).

    The second sum is the same for all filters that read a channel, so it is computed once for
    each channel and kind of padding, as in MiniRocket (Dempster et al. 2021).
    """
    dilation, taps, rows, _ = filters
    zeros, a, b, c = channels.shape[0] - 1, rows[f, 0], rows[f, 1], rows[f, 2]
    source = channels[a] if b == zeros else total  # one channel needs no sum
    # up to the last frame that a tap reads
    stop = 2 * out.size + taps[f, 2] * dilation if b != zeros else 0
    x, y, z = channels[a], channels[b], channels[c]
    for t in range(stop):
        total[t] = (x[t] + y[t]) + z[t]
    for i in range(TERMS, rows.shape[1], TERMS):
        if rows[f, i] == zeros:  # and so is the rest of the list
            break
        x, y, z = channels[rows[f, i]], channels[rows[f, i + 1]], channels[rows[f, i + 2]]
        for t in range(stop):
            total[t] = ((total[t] + x[t]) + y[t]) + z[t]
    padded = source[out.size :]
    x, y = padded[taps[f, 0] * dilation :], padded[taps[f, 1] * dilation :]
    z = padded[taps[f, 2] * dilation :]
    for t in range(out.size):
        out[t] = source[t] + THREE * (x[t] + y[t] + z[t])


@inlined
def compare(response, thresholds, above):
    """Set bit q of each byte where the response is at least threshold q, of seven thresholds.

    The last bit is set where the response is not NaN. Bytes up to a multiple of 64 become 0.
    """
    t0, t1, t2, t3 = thresholds[0], thresholds[1], thresholds[2], thresholds[3]
    t4, t5, t6, none = thresholds[4], thresholds[5], thresholds[6], np.uint8(0)
    for t in range(response.size):
        x = response[t]
        bits = PRESENT if x == x else none
        bits |= np.uint8(1) if x >= t0 else none
        bits |= np.uint8(2) if x >= t1 else none
        bits |= np.uint8(4) if x >= t2 else none
        bits |= np.uint8(8) if x >= t3 else none
        bits |= np.uint8(16) if x >= t4 else none
        bits |= np.uint8(32) if x >= t5 else none
        bits |= np.uint8(64) if x >= t6 else none
        above[t] = bits
    for t in range(response.size, -(-response.size // WORD) * WORD):
        above[t] = none


@inlined
def write_bits(eights, eighths, bits):
    """Write one row of bits per threshold, `bits` or in bytes `eighths`, given bytes per frame.

    `eights` are the bytes of eight frames each, a square of 8 x 8 bits, which is transposed by
    swapping ever larger squares (Warren, Hacker's Delight, section 7-3).
    """
    for k in range(eights.size):
        x = eights[k]
        y = (x ^ (x >> np.uint64(7))) & np.uint64(0x00AA00AA00AA00AA)
        x = x ^ y ^ (y << np.uint64(7))
        y = (x ^ (x >> np.uint64(14))) & np.uint64(0x0000CCCC0000CCCC)
        x = x ^ y ^ (y << np.uint64(14))
        y = (x ^ (x >> np.uint64(28))) & np.uint64(0x00000000F0F0F0F0)
        eights[k] = x ^ y ^ (y << np.uint64(28))
    for q in range(bits.shape[0]):
        for k in range(eights.size):
            eighths[q, k] = np.uint8(eights[k] >> np.uint64(8 * q))
        bits[q, eights.size // 8] = 0


@inlined
def count_words(bits, n, step, whole, out):
    """Write the counts of the ten words of every threshold, (n_thresholds * 10,).

    `whole` is memory for the triples without a missing symbol, which alone count.
    """
    # a sequence shorter than a triple has single symbols alone
    n_starts, step = (n - 2 * step, step) if n > 2 * step else (0, 0)
    # b and c of a triple begin inside a word: the rest comes from the next word
    b_word, b_cut = step // WORD, np.uint64(step % WORD)
    c_word, c_cut = 2 * step // WORD, np.uint64(2 * step % WORD)
    n_triples = n_present = np.uint64(0)
    for k in range(whole.size):
        whole[k] = ALL if k * WORD < n_starts else np.uint64(0)
    for q in range(MOST_THRESHOLDS, -1, -1):  # the last row first: it tells what is present
        row, first, is_last = bits[q], q * N_WORDS, q == MOST_THRESHOLDS
        if not is_last and first >= out.size:
            continue
        b1, c1 = row[b_word:], row[c_word:]
        b2, c2 = b1[1:], c1[1:]
        single = n_a = n_b = n_c = n_ab = n_ac = n_bc = n_abc = np.uint64(0)
        for k in range((n + WORD - 1) // WORD):
            single += count_bits(row[k])
            # in two steps: no word can be shifted by 64 bits
            b = (b1[k] >> b_cut) | ((b2[k] << ONE) << (TOP - b_cut))
            c = (c1[k] >> c_cut) | ((c2[k] << ONE) << (TOP - c_cut))
            a, b, c = row[k] & whole[k], b & whole[k], c & whole[k]
            whole[k] = a & b & c if is_last else whole[k]
            n_a += count_bits(a)
            n_b += count_bits(b)
            n_c += count_bits(c)
            n_ab += count_bits(a & b)
            n_ac += count_bits(a & c)
            n_bc += count_bits(b & c)
            n_abc += count_bits(a & b & c)
        if is_last:
            n_triples, n_present = n_abc, single
            continue
        # inclusion and exclusion: from "at least these above" to "exactly these above"
        out[first], out[first + 1] = n_present - single, single
        out[first + 2] = n_triples + n_ab + n_ac + n_bc - n_a - n_b - n_c - n_abc
        out[first + 3] = n_c + n_abc - n_ac - n_bc
        out[first + 4] = n_b + n_abc - n_ab - n_bc
        out[first + 5] = n_bc - n_abc
        out[first + 6] = n_a + n_abc - n_ab - n_ac
        out[first + 7] = n_ac - n_abc
        out[first + 8] = n_ab - n_abc
        out[first + 9] = n_abc


@inner
def count_bits(x):
    """Return how many bits of a word are set; a compiler takes this form for one instruction."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)

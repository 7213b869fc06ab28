"""Prediction by looking words up: compiled, unchecked, one thread each.

A *table* gives every word of one row and one group of layouts a slot of weights. Slots of small
alphabets are the keys themselves; others are found by open addressing: the keys of a row stand in
`keys[first[r]:first[r + 1]]`, a power of two of places, `EMPTY` where there is none.
"""

import numpy as np
from numba import njit

from mvdfq.engines.cpu import is_present, read_keys, segment

EMPTY = np.uint64(2**64 - 1)


@njit(nogil=True, cache=True)
def place_of(keys, key):
    """Return where `key` stands in a power of two of places, or the empty one where it would."""
    # the finaliser of splitmix64 (Steele et al. 2014): neighbouring keys are spread
    x = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mask = np.uint64(keys.size - 1)
    place = (x ^ (x >> np.uint64(31))) & mask
    while keys[place] != key and keys[place] != EMPTY:
        place = (place + np.uint64(1)) & mask
    return place


@njit(nogil=True, cache=True)
def insert_keys(keys, words):
    """Give every word a place."""
    for word in words:
        keys[place_of(keys, word)] = word


@njit(nogil=True, cache=True)
def find_keys(keys, words, out):
    """Write the place of every word, -1 for those that have none."""
    for w in range(words.size):
        place = place_of(keys, words[w])
        out[w] = np.int64(place) if keys[place] == words[w] else -1


@njit(nogil=True, cache=True)
def add_weights(indptr, sequence, value, slots, coefficients, out):
    """Add, for every word, the coefficients of the sequences it occurs in, times its value there.

    `coefficients` is (n_sequences, n_columns), `out` (n_slots, n_columns).
    """
    for c in range(slots.size):
        weights = out[slots[c]]
        for e in range(indptr[c], indptr[c + 1]):
            own = coefficients[sequence[e]]
            for j in range(weights.size):
                weights[j] += value[e] * own[j]


@njit(nogil=True, cache=True)
def is_repeated(codes, t, layouts, j, base, key):
    """Tell whether a layout before `j` reads the same word in the window at `t`."""
    for i in range(j):
        other = np.uint64(0)
        for o in layouts[i]:
            other = other * base + np.uint64(codes[t + o])
        if other == key:
            return True
    return False


@njit(nogil=True, cache=True)
def count_row(codes, start, stop, present, reading, base, dense, n_levels, scratch):
    """Count the words of one row of one sequence in the finest cells of the pyramid.

    The counts of a word stand at its key if `dense`, else at its place among the `local` keys;
    `touched` lists those places. Returns how many there are.
    """
    layouts, windows, layout_weights, distinct = reading
    local, count, touched, buffer = scratch
    n_touched = 0
    for j in range(layouts.shape[0]):
        words = buffer[: max(stop - start - windows[j, -1], 0)]
        read_keys(codes, start, layouts[j], base, words)
        for fine in range(count.shape[1]):
            begin, end = segment(words.size, n_levels - 1, fine)
            for t in range(begin, end):
                if present.size and not is_present(present, start + t, windows[j]):
                    continue
                if distinct and is_repeated(codes, start + t, layouts, j, base, words[t]):
                    continue
                slot = words[t] if dense else place_of(local, words[t])
                if local[slot] == EMPTY:
                    local[slot] = words[t]
                    touched[n_touched] = slot
                    n_touched += 1
                count[slot, fine] += layout_weights[j]
    return n_touched


@njit(nogil=True, cache=True)
def fold(fine, cells):
    """Add up the counts of the finest cells to those of all; clear them.

    The cells of a pyramid are a binary heap: each holds its two halves.
    """
    cells[fine.size - 1 :] = fine
    for cell in range(fine.size - 2, -1, -1):
        cells[cell] = cells[2 * cell + 1] + cells[2 * cell + 2]
    fine[:] = 0


@njit(nogil=True, cache=True)
def weigh_row(n_touched, scratch, keys, values, dense, root, cells, margin):
    """Look the counted words up; add to `margin`; return the sum of squares; clear the counts."""
    local, count, touched, _ = scratch
    squares = 0.0
    for i in range(n_touched):
        slot = touched[i]
        place = slot if dense else place_of(keys, local[slot])
        known = dense or keys[place] == local[slot]
        fold(count[slot], cells)
        for cell in range(cells.size):
            if cells[cell] > 0:
                value = np.sqrt(cells[cell]) if root else cells[cell]
                squares += value * value
                if known:
                    for c in range(margin.size):
                        margin[c] += np.float32(value) * values[place, cell, c]
        local[slot] = EMPTY
    return squares


@njit(nogil=True, cache=True)
def scratch_for(longest, n_layouts, n_fine, n_words):
    """Memory to count one row in: local keys, counts, touched places, words read.

    `n_words` is how many words the alphabet has if they are numbered by their keys, else 0.
    """
    most = max(longest * n_layouts, 1)
    capacity = n_words
    if n_words == 0:
        capacity = 1
        while capacity < 2 * most:
            capacity *= 2
    return (
        np.full(capacity, EMPTY),
        np.zeros((capacity, n_fine)),
        np.empty(min(capacity, most), np.uint64),
        np.empty(longest, np.uint64),
    )


@njit(nogil=True, cache=True)
def score_words(
    codes, offsets, present, reading, bases, table, n_levels, root, weights, margins, own, total
):
    """Count the words of one group in every row of every sequence; add up what they weigh.

    `reading` is (layouts, windows, layout weights, distinct); `table` (first slots, keys, values
    of shape (n_slots, n_cells, n_columns)). Adds to `margins`, (n_sequences, n_rows, n_columns),
    the weights of the words times their embedded counts; to `total` and `own`,
    (n_sequences, n_rows), the squares of those, the latter times the group's weight in the row.
    """
    first, keys, values = table
    dense = keys.size == 0
    n_fine = 1 << (n_levels - 1)
    longest = np.diff(offsets).max()
    n_words = np.diff(first).max() if dense else 0
    scratch = scratch_for(longest, reading[0].shape[0], n_fine, n_words)
    cells = np.empty(2 * n_fine - 1)
    margin = np.empty(margins.shape[2], np.float32)
    for s in range(offsets.size - 1):
        for r in range(bases.size):
            here = present[r] if present.size else np.empty(0, np.bool_)
            n_touched = count_row(
                codes[r],
                offsets[s],
                offsets[s + 1],
                here,
                reading,
                np.uint64(bases[r]),
                dense,
                n_levels,
                scratch,
            )
            margin[:] = 0
            mine = slice(first[r], first[r + 1])
            row_keys = keys if dense else keys[mine]
            squares = weigh_row(
                n_touched, scratch, row_keys, values[mine], dense, root, cells, margin
            )
            margins[s, r] += margin
            total[s, r] += squares
            own[s, r] += weights[r] * squares

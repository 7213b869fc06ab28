"""Prediction by looking words up: compiled loops without checks, one thread each.

A *table* gives every word of one row and one group of layouts a slot of weights. Slots of small
alphabets are the keys themselves (*dense*). Other slots are found by open addressing (*hashed*):
the keys of a row stand in `keys[first[r]:first[r + 1]]`, `EMPTY` in places without a key.
"""

import numpy as np

from mvdfq._engines.compiled import compiled, inlined, inner
from mvdfq._engines.cpu import read_words, segment

# Marks a place without a key; callers guarantee that all keys are smaller.
EMPTY = np.uint64(2**64 - 1)


@inner
def place_of(keys, key):
    """Return the place of `key`, or the empty place where `key` would be inserted."""
    # the finaliser of splitmix64 (Steele et al. 2014), so that neighbouring keys are spread
    x = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    # scale the upper half to the number of places, which need not be a power of two
    place = ((x >> np.uint64(32)) * np.uint64(keys.size)) >> np.uint64(32)
    while keys[place] != key and keys[place] != EMPTY:
        place += np.uint64(1)
        if place == np.uint64(keys.size):
            place = np.uint64(0)
    return place


@compiled
def insert_keys(keys, words):
    """Give every word a place."""
    for word in words:
        keys[place_of(keys, word)] = word


@compiled
def find_keys(keys, words, out):
    """Write the place of every word, -1 for a word without a place."""
    for w in range(words.size):
        place = place_of(keys, words[w])
        out[w] = np.int64(place) if keys[place] == words[w] else -1


@compiled
def add_weights(indptr, sequence, value, coefficients, out):
    """Add, for every word, the coefficients of the sequences it occurs in, times its value there.

    `coefficients` is (n_sequences, n_columns), `out` (n_words, n_columns).
    """
    for c in range(out.shape[0]):
        for e in range(indptr[c], indptr[c + 1]):
            own = coefficients[sequence[e]]
            for j in range(own.size):
                out[c, j] += value[e] * own[j]


@inner
def count_dense(codes, start, stop, present, group, base, n_levels, cells, touched):
    """Count the words of one row of one sequence at their keys: ``cells[key, cell]``.

    `cells` must be 0 and `touched` gets the keys of the words; returns how many there are. The
    cells of a pyramid are a binary heap: each cell is the sum of its two halves. So only the
    finest cells are counted, and the other cells are added up.
    """
    read, weights, buffer = group
    windows = read[1]
    n_fine = cells.shape[1] // 2 + 1
    n_touched = 0
    for j in range(weights.size):
        # a layout of weight 0 would touch words without counting them
        if weights[j] == 0:
            continue
        n_words = max(stop - start - windows[j, -1], 0)
        for fine in range(n_fine):
            begin, end = segment(n_words, n_levels - 1, fine)
            words = buffer[: end - begin]
            for i in range(read_words(codes, start + begin, read, j, base, present, words)):
                count = cells[words[i]]
                # the first cell is the whole sequence, so 0 means that the word is new
                if count[0] == 0:
                    touched[n_touched] = words[i]
                    n_touched += 1
                if n_fine > 1:
                    count[0] = 1  # only a mark: the whole sequence is added up below
                count[n_fine - 1 + fine] += weights[j]
    for word in touched[:n_touched]:
        count = cells[word]
        for cell in range(n_fine - 2, -1, -1):
            # from fine to coarse: both halves are complete before their sum is taken
            count[cell] = count[2 * cell + 1] + count[2 * cell + 2]
    return n_touched


@inlined
def weigh_dense(cells, touched, values, root, margin):
    """Add the weights of the counted words to `margin`; return the sum of squared counts.

    Clears the counts.
    """
    squares = 0.0
    for word in touched:
        for cell in range(cells.shape[1]):
            count = cells[word, cell]
            if count == 0:
                continue
            # on the way: clearing all cells would take longer than a short sequence
            cells[word, cell] = 0
            value = np.sqrt(count) if root else count
            squares += value * value
            for c in range(margin.size):
                margin[c] += np.float32(value) * values[word, cell, c]
    return squares


@inlined
def count_hashed(codes, start, stop, present, group, base, n_levels, scratch):
    """Count the words of one row of one sequence in the finest cells of the pyramid.

    The counts of a word stand at its place among the `local` keys; `touched` lists these places.
    Returns the number of touched places.
    """
    read, weights, buffer = group
    windows = read[1]
    local, count, touched, _ = scratch
    n_touched = 0
    for j in range(weights.size):
        n_words = max(stop - start - windows[j, -1], 0)
        for fine in range(count.shape[1]):
            begin, end = segment(n_words, n_levels - 1, fine)
            words = buffer[: end - begin]
            for i in range(read_words(codes, start + begin, read, j, base, present, words)):
                place = place_of(local, words[i])
                if local[place] == EMPTY:
                    local[place] = words[i]
                    touched[n_touched] = place
                    n_touched += 1
                count[place, fine] += weights[j]
    return n_touched


@inlined
def weigh_hashed(n_touched, scratch, keys, values, root, margin):
    """Do as `weigh_dense` does for hashed words, and clear the counts."""
    local, count, touched, cells = scratch
    n_fine = count.shape[1]
    squares = 0.0
    for i in range(n_touched):
        slot = touched[i]
        place = place_of(keys, local[slot])
        # a word that training did not have counts in the norm, but has no weights
        known = keys[place] == local[slot]
        for fine in range(n_fine):
            cells[n_fine - 1 + fine] = count[slot, fine]
        for cell in range(n_fine - 2, -1, -1):
            cells[cell] = cells[2 * cell + 1] + cells[2 * cell + 2]
        for cell in range(cells.size):
            value = np.sqrt(cells[cell]) if root else cells[cell]
            squares += value * value
            if known and value > 0:
                for c in range(margin.size):
                    margin[c] += np.float32(value) * values[place, cell, c]
        # clear only the touched places: clearing all would take longer than a short sequence
        count[slot] = 0
        local[slot] = EMPTY
    return squares


@compiled
def score(
    codes, offsets, present, group, bases, first, keys, values, n_levels, root, weights, memory, out
):
    """Count the words of one group in every row of every sequence; add up their weights.

    `group` is ((layouts, windows, distinct), layout weights, memory for the longest sequence).
    Row `r` owns the `values`, (n_slots, n_cells, n_columns), from ``first[r]`` on; `keys` is None
    if the table is dense, and the compiler leaves the other way out. `memory` is what `scratch`
    returns. `out` is a tuple: adds to `margins`, (n_sequences, n_rows, n_columns), the weights of
    the words times their embedded counts; to `own`, (n_sequences, n_rows), the squared counts times
    the weight of the group in the row; to `total`, the squared counts.
    """
    margins, own, total = out
    _, cells, touched, _ = memory
    margin, everywhere = np.empty(margins.shape[2], np.float32), np.empty(0, np.bool_)
    for s in range(offsets.size - 1):
        for r in range(bases.size):
            here = present[r] if present.size else everywhere
            start, stop = offsets[s], offsets[s + 1]
            base, mine = np.uint64(bases[r]), slice(first[r], first[r + 1])
            margin[:] = 0
            if keys is None:
                n = count_dense(codes[r], start, stop, here, group, base, n_levels, cells, touched)
                squares = weigh_dense(cells, touched[:n], values[mine], root, margin)
            else:
                n = count_hashed(codes[r], start, stop, here, group, base, n_levels, memory)
                squares = weigh_hashed(n, memory, keys[mine], values[mine], root, margin)
            for c in range(margin.size):
                margins[s, r, c] += margin[c]
            total[s, r] += squares
            own[s, r] += weights[r] * squares


def scratch(most: int, n_levels: int, dense: bool) -> tuple[np.ndarray, ...]:
    """Return memory of `score`, to count at most `most` words of one row of one sequence.

    Local keys, counts, the touched keys or places, and the cells of one word. Dense counts stand
    at their keys and need no local keys.
    """
    n_cells = 2**n_levels - 1
    capacity = most if dense else most * 3 // 2 + 1  # two thirds full, so searches stay short
    local = np.full(0 if dense else capacity, EMPTY)
    count = np.zeros((capacity, n_cells if dense else n_cells // 2 + 1))
    return local, count, np.empty(capacity, np.uint64), np.empty(n_cells)

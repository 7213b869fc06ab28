"""Prediction by looking words up: compiled loops without checks, one thread each.

A *table* gives every word of one row and one group of layouts a slot of weights. Slots of small
alphabets are the keys themselves (*dense*). Other slots are found by open addressing (*hashed*):
the keys of a row stand in `keys[first[r]:first[r + 1]]`, `EMPTY` in places without a key.
"""

import numpy as np

from mvdfq._engines.compiled import compiled, inlined, inner
from mvdfq._engines.cpu import read_words

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


@inlined
def count_slots(place, group, base, n_slots, local, cells, touched):
    """Count the words of one row of one sequence at their slots: ``cells[slot, cell]``.

    `place` is the codes of the row, where the sequence begins and ends, and the present positions.
    The slot of a word is its key or, if there are `local` keys, its place among them. `cells` must
    be 0; `touched` gets the slots of the words, and their number is returned. A word is noted when
    it comes for the first time. If there are at most as many slots (`n_slots`) as words, all slots
    are searched at the end instead, which takes a third of the time. The cells of a pyramid are a
    binary heap: each cell is the sum of its two halves. So only the finest cells are counted, and
    the other cells are added up.
    """
    codes, start, stop, present = place
    read, weights, buffer, flags = group
    windows = read[1]
    n_fine = cells.shape[1] // 2 + 1
    n_touched, searches = 0, n_slots <= (stop - start) * weights.size
    for j in range(weights.size):
        # a layout of weight 0 would touch words without counting them
        if weights[j] == 0:
            continue
        n_words = stop - start - windows[j, -1]
        for fine in range(n_fine if n_words > 0 else 0):
            # as `segment`: -(-a // b) rounds up
            begin, end = -(-fine * n_words // n_fine), -(-(fine + 1) * n_words // n_fine)
            words = buffer[: end - begin]
            n = read_words(codes, start + begin, read, j, base, present, words, flags)
            for i in range(n):
                slot = words[i]
                if local is not None:
                    slot = place_of(local, words[i])
                    local[slot] = words[i]
                if not searches:
                    # the first cell is the whole sequence, so 0 means that the word is new
                    touched[n_touched] = slot
                    n_touched += 1 if cells[slot, 0] == 0 else 0
                    if n_fine > 1:
                        cells[slot, 0] = 1  # only a mark: the whole sequence is added up below
                cells[slot, n_fine - 1 + fine] += weights[j]
    n_found = 0
    for i in range(n_slots if searches else n_touched):
        slot = i if searches else np.int64(touched[i])
        for cell in range(n_fine - 2, -1, -1):
            # from fine to coarse: both halves are complete before their sum is taken
            cells[slot, cell] = cells[slot, 2 * cell + 1] + cells[slot, 2 * cell + 2]
        touched[n_found] = slot  # no branch: whether a word occurs is hard to guess
        n_found += 1 if cells[slot, 0] != 0 else 0
    return n_found


@inlined
def weigh_slots(memory, n, keys, values, first, root, margin):
    """Add the weights of the `n` counted words to `margin`; return the sum of squared counts.

    Clears the counts in `memory`. `keys` are the words of the row; their weights begin at
    ``values[first]``.
    """
    local, cells, touched = memory
    squares = 0.0
    for i in range(n):
        slot = touched[i]
        place = place_of(keys, local[slot])
        # a word that training did not have counts in the norm, but has no weights
        known = keys[place] == local[slot]
        local[slot] = EMPTY
        for cell in range(cells.shape[1]):
            count = cells[slot, cell]
            # on the way: clearing all cells would take longer than a short sequence
            cells[slot, cell] = 0
            value = np.sqrt(count) if root else count
            squares += value * value
            for c in range(margin.size if known and count != 0 else 0):
                margin[c] += np.float32(value) * values[first + np.int64(place), cell, c]
    return squares


@compiled
def score(codes, offsets, present, group, bases, first, keys, values, root, weights, memory, out):
    """Count the words of one group in every row of every sequence; add up their weights.

    `group` is ((layouts, windows, distinct), layout weights, *memory for the longest sequence).
    Row `r` owns the `keys` and the `values`, (n_slots, n_cells, n_columns), from ``first[r]`` on.
    `present` is (n_rows, 0) if all positions hold a symbol. `memory` is what `scratch`
    returns. `out` is a tuple: adds to `margins`, (n_sequences, n_rows, n_columns), the weights of
    the words times their embedded counts; to `own`, (n_sequences, n_rows), the squared counts times
    the weight of the group in the row; to `total`, the squared counts.
    """
    margins, own, total = out
    local, cells, touched = memory
    margin = np.empty(margins.shape[2], np.float32)
    for s in range(offsets.size - 1):
        for r in range(bases.size):
            here, base, first_slot = present[r], np.uint64(bases[r]), first[r]
            begin, end = offsets[s], offsets[s + 1]
            margin[:] = 0
            place = codes[r], begin, end, here
            n = count_slots(place, group, base, local.size, local, cells, touched)
            learned = keys[first_slot : first[r + 1]]
            squares = weigh_slots(memory, n, learned, values, first_slot, root, margin)
            for c in range(margin.size):
                margins[s, r, c] += margin[c]
            total[s, r] += squares
            own[s, r] += weights[r] * squares


def scratch(most: int, n_levels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return memory of `score`, to count at most `most` words of one row of one sequence.

    Local keys, counts, and the touched slots.
    """
    capacity = most * 3 // 2 + 1  # two thirds full, so searches stay short
    cells = np.zeros((capacity, 2**n_levels - 1))
    return np.full(capacity, EMPTY), cells, np.empty(capacity, np.uint64)

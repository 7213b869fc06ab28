"""Keys and counts of words: compiled loops without checks, one thread each.

A collection is one flat row of codes and its `offsets`. An *entry* packs everything that is
known about one word into 64 bits, ``key | sequence | layout`` from high to low. One stable sort
by key then brings the occurrences of a word together, with their sequences in order.
*Columns* are the result, as in a CSC matrix: column ``c`` owns
``sequence[indptr[c]:indptr[c + 1]]``, ascending, and the counts beside them.
Callers guarantee that entries fit into 64 bits and that outputs are large enough.
"""

import numpy as np
from numba import njit

# Bits per pass of the sort: 2048 buckets of 8 bytes fit into the first-level cache. Measured on
# 1.3 million entries: 8, 12 and 16 bits per pass take the same time within a tenth.
DIGIT = 11


@njit(nogil=True, cache=True)
def segment(n_words, level, cell):
    """Return the first and last + 1 start t with ``floor(t * 2**level / n_words) == cell``."""
    # -(-a // b) rounds up, in whole numbers: the cells of a level cover every word exactly once.
    cells = 1 << level
    return -(-cell * n_words // cells), -(-(cell + 1) * n_words // cells)


@njit(nogil=True, cache=True)
def is_present(present, t, window):
    """Tell whether every position of the window at `t` holds a symbol."""
    for o in window:
        if not present[t + o]:
            return False
    return True


@njit(nogil=True, cache=True)
def read_keys(codes, start, layout, base, out):
    """Read the words that start at `start` and after as numbers in base `base`, filling `out`."""
    # The loop over offsets is outside and the loop over positions inside, on slices that begin at
    # 0: the compiler sees no negative index and uses vector instructions (5 times faster).
    out[:] = 0
    for o in layout:
        symbols = codes[start + o : start + o + out.size]
        for i in range(out.size):
            out[i] = out[i] * base + symbols[i]


@njit(nogil=True, cache=True)
def mark_repeated(codes, start, layouts, j, repeated):
    """Mark the windows, from `start` on, in which a layout before `j` reads the same word."""
    # The loop over windows is inside, as in `read_keys`: vector instructions save more time than
    # stopping at the first difference would.
    same = np.empty_like(repeated)
    for i in range(j):
        same[:] = True
        for p in range(layouts.shape[1]):
            if layouts[i, p] == layouts[j, p]:
                continue
            mine = codes[start + layouts[j, p] : start + layouts[j, p] + same.size]
            other = codes[start + layouts[i, p] : start + layouts[i, p] + same.size]
            for t in range(same.size):
                same[t] &= mine[t] == other[t]
        for t in range(same.size):
            repeated[t] |= same[t]


@njit(nogil=True, cache=True)
def read_words(codes, start, read, j, base, present, words):
    """Read the words of layout `j` that start at `start` and after, filling `words`.

    Moves the words that count to the front and returns how many words count. A word counts where
    its window holds no missing value and, in a distinct group, where no layout before `j` reads
    the same word in the same window. `read` is (layouts, windows, distinct).
    """
    layouts, windows, distinct = read
    read_keys(codes, start, layouts[j], base, words)
    # the usual case: nothing missing, every word counts, nothing to move
    if not present.size and not distinct:
        return words.size
    left_out = np.zeros(words.size, np.bool_)
    if distinct:
        mark_repeated(codes, start, layouts, j, left_out)
    kept = 0
    for i in range(words.size):
        if not left_out[i] and (not present.size or is_present(present, start + i, windows[j])):
            words[kept] = words[i]
            kept += 1
    return kept


@njit(nogil=True, cache=True)
def emit(codes, offsets, read, base, present, level, cell, shifts, out):
    """Write an entry for every word of every sequence; return how many entries there are.

    `read` is (layouts, windows, distinct), the arrays of shape (n_layouts, n_positions); `present`
    tells which positions hold a symbol (of size 0: all positions do); `shifts` are the places of
    the key and of the sequence.
    """
    # Words are read straight into `out` and get their tag there, so no word is stored twice.
    count = 0
    base = np.uint64(base)
    key_shift, sequence_shift = np.uint64(shifts[0]), np.uint64(shifts[1])
    layouts, windows, _ = read
    for s in range(offsets.size - 1):
        for j in range(layouts.shape[0]):
            width = windows[j, -1] + 1
            first, last = segment(max(offsets[s + 1] - offsets[s] - width + 1, 0), level, cell)
            words = out[count : count + last - first]
            words = words[: read_words(codes, offsets[s] + first, read, j, base, present, words)]
            # the same for all words of a sequence and a layout
            tag = (np.uint64(s) << sequence_shift) | np.uint64(j)
            for i in range(words.size):
                words[i] = (words[i] << key_shift) | tag
            count += words.size
    return count


@njit(nogil=True, cache=True)
def sort_by_key(entries, spare, low, bits):
    """Sort by the `bits` bits above bit `low`, stably; return the array that holds the result.

    A radix sort, lowest digit first. Measured on entries with 31 key bits: a seventh of the time
    of ``np.sort``. The bits below `low` are in order already.
    """
    n_passes = (bits + DIGIT - 1) // DIGIT
    mask = np.uint64((1 << DIGIT) - 1)
    places = np.zeros((n_passes, 1 << DIGIT), dtype=np.uint64)
    for entry in entries:  # one pass counts the digits of all passes
        rest = entry >> np.uint64(low)
        for p in range(n_passes):
            places[p, rest & mask] += np.uint64(1)
            rest >>= np.uint64(DIGIT)
    for p in range(n_passes):
        place = places[p]
        total = np.uint64(0)
        for digit in range(place.size):
            total, place[digit] = total + place[digit], total  # counts become first places
        shift = np.uint64(low + p * DIGIT)
        for entry in entries:
            digit = (entry >> shift) & mask
            spare[place[digit]] = entry
            place[digit] += np.uint64(1)
        entries, spare = spare, entries
    return entries


@njit(nogil=True, cache=True)
def count_runs(entries, shifts, weights, keys, indptr, sequence, count):
    """Add up the weights of equal (key, sequence); return the numbers of columns and counts."""
    key_shift, sequence_shift = np.uint64(shifts[0]), np.uint64(shifts[1])
    sequence_mask = (np.uint64(1) << (key_shift - sequence_shift)) - np.uint64(1)
    layout_mask = (np.uint64(1) << sequence_shift) - np.uint64(1)
    n_columns = n_counts = 0
    for i in range(entries.size):
        entry = entries[i]
        weight = weights[entry & layout_mask]
        # entries are sorted, so a new key begins a new column
        fresh = i == 0 or (entry >> key_shift) != (entries[i - 1] >> key_shift)
        if fresh:
            keys[n_columns] = entry >> key_shift
            indptr[n_columns] = n_counts
            n_columns += 1
        # compares key and sequence at once: the layout alone is shifted away
        if fresh or (entry >> sequence_shift) != (entries[i - 1] >> sequence_shift):
            sequence[n_counts] = (entry >> sequence_shift) & sequence_mask
            count[n_counts] = weight
            n_counts += 1
        else:
            count[n_counts - 1] += weight
    indptr[n_columns] = n_counts
    return n_columns, n_counts


@njit(nogil=True, cache=True)
def join_columns(left, right, n_left, keys, indptr, sequence, count):
    """Merge the columns of two blocks of sequences; return the number of columns.

    A block is (keys, indptr, sequence, count), keys ascending. The sequences of the right block
    come after the `n_left` sequences of the left block.
    """
    left_keys, left_ptr, left_sequence, left_count = left
    right_keys, right_ptr, right_sequence, right_count = right
    i = j = n = end = 0
    while i < left_keys.size or j < right_keys.size:
        # a key may be in both blocks; then both parts of its column are copied
        in_left = j == right_keys.size or (i < left_keys.size and left_keys[i] <= right_keys[j])
        in_right = i == left_keys.size or (j < right_keys.size and right_keys[j] <= left_keys[i])
        keys[n] = left_keys[i] if in_left else right_keys[j]
        indptr[n] = end
        n += 1
        if in_left:
            for e in range(left_ptr[i], left_ptr[i + 1]):
                sequence[end], count[end] = left_sequence[e], left_count[e]
                end += 1
            i += 1
        if in_right:
            for e in range(right_ptr[j], right_ptr[j + 1]):
                sequence[end], count[end] = right_sequence[e] + n_left, right_count[e]
                end += 1
            j += 1
    indptr[n] = end
    return n


@njit(nogil=True, cache=True)
def add_dense_counts(entries, shifts, weights, counts):
    """Add the weight of every entry to ``counts[sequence, key]``."""
    key_shift, sequence_shift = np.uint64(shifts[0]), np.uint64(shifts[1])
    sequence_mask = (np.uint64(1) << (key_shift - sequence_shift)) - np.uint64(1)
    layout_mask = (np.uint64(1) << sequence_shift) - np.uint64(1)
    for entry in entries:
        s = (entry >> sequence_shift) & sequence_mask
        counts[s, entry >> key_shift] += weights[entry & layout_mask]

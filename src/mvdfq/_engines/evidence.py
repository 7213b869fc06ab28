"""Evidence of words at their places: compiled loops without checks, one thread each."""

import numpy as np
from numba import njit

from mvdfq._engines.cpu import is_present, read_keys, segment
from mvdfq._engines.lookup import count_dense


@njit(nogil=True, cache=True)
def spread_dense(codes, offsets, present, group, base, values, n_levels, root, out):
    """Add the evidence of the words of one group in one row to the frames that the words read.

    `values` is (n_words, n_cells, n_columns), the weights of words. `out` is a tuple: `by_frame`
    (n_frames, n_columns), `by_sequence` (n_sequences, n_columns) and `squares` (n_sequences,), the
    sums of squared embedded counts. Two passes over a sequence: the first counts its words, the
    second divides the weight of a word among its occurrences.
    """
    by_frame, by_sequence, squares = out
    read, weights, buffer = group
    layouts, windows, _ = read
    n_words, n_cells, n_columns = values.shape
    # cells are a binary heap, so the finest level is its second half
    n_fine = n_cells // 2 + 1
    cells, touched = np.zeros((n_words, n_cells)), np.empty(n_words, np.uint64)
    shares = np.empty((n_words, n_fine, n_columns))
    one = np.empty(n_columns)
    for s in range(offsets.size - 1):
        start, stop = offsets[s], offsets[s + 1]
        n = count_dense(codes, start, stop, present, group, base, n_levels, cells, touched)
        for word in touched[:n]:
            # also clears the counts, for the next sequence
            squares[s] += share_word(cells[word], values[word], root, shares[word])
        for j in range(weights.size):
            length = max(stop - start - windows[j, -1], 0)
            for fine in range(n_fine):
                begin, end = segment(length, n_levels - 1, fine)
                words = buffer[: end - begin]
                read_keys(codes, start + begin, layouts[j], base, words)
                for i in range(words.size):
                    t = start + begin + i
                    if present.size and not is_present(present, t, windows[j]):
                        continue
                    for c in range(n_columns):
                        one[c] = weights[j] * shares[words[i], fine, c]
                        by_sequence[s, c] += one[c]
                    for o in layouts[j]:
                        for c in range(n_columns):
                            by_frame[t + o, c] += one[c] / layouts.shape[1]


@njit(nogil=True, cache=True)
def share_word(count, values, root, out):
    """Write the evidence of one occurrence of a word, by the finest cell that it stands in.

    A cell of the pyramid lies in all cells above it. Clears the counts, and returns the sum of
    their squared embedded values.
    """
    n_fine = out.shape[0]
    squares = 0.0
    out[:] = 0
    for fine in range(n_fine):
        cell = n_fine - 1 + fine
        while cell >= 0:
            if count[cell] > 0:
                # weight times root of count, divided among `count` occurrences
                factor = 1 / np.sqrt(count[cell]) if root else 1.0
                for c in range(out.shape[1]):
                    out[fine, c] += factor * values[cell, c]
            # up to the cell that holds this cell
            cell = (cell - 1) // 2 if cell else -1
    for cell in range(count.size):
        squares += count[cell] if root else count[cell] * count[cell]
        count[cell] = 0
    return squares

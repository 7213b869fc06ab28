"""Evidence of standardized words compared with a baseline: compiled loops, one thread each.

The formulas are those of `terms/baseline.py`. `table` is a tuple for one row and one group of
layouts: the weights of words and their means over the baseline, (n_words, n_cells, n_columns)
each, and the sums over all words of weight times mean, (n_cells, n_columns).
"""

import numpy as np
from numba import njit

from mvdfq._engines.cpu import is_present, read_keys, segment
from mvdfq._engines.filter_words import add_to
from mvdfq._engines.lookup import count_dense


@njit(nogil=True, cache=True)
def count_places(offsets, present, windows, n_levels, out):
    """Add the number of words of one layout in every sequence, once for each level, to `out`."""
    for s in range(offsets.size - 1):
        for t in range(offsets[s], offsets[s + 1] - windows[-1]):
            if not present.size or is_present(present, t, windows):
                out[s] += n_levels


@njit(nogil=True, cache=True)
def compare_words(codes, offsets, present, group, base, table, totals, n_levels, out):
    """Write the evidence of every word of one layout to the frame where the word starts.

    `totals` are the numbers of words of the row in every sequence. `out` is a tuple: evidence is
    added to `starts` (n_frames, n_columns) or, if it belongs to a cell without any word, to `rest`
    (n_sequences, n_columns), and in both cases to `sums` (n_sequences, n_columns).
    """
    starts, sums, rest = out
    values, means, lost = table
    read, _, buffer = group
    layout, window = read[0][0], read[1][0]
    n_words, n_cells, n_columns = values.shape
    n_fine = n_cells // 2 + 1
    cells, touched = np.zeros((n_words, n_cells)), np.empty(n_words, np.uint64)
    slopes, even = np.empty(values.shape), np.empty((n_cells, n_columns))
    one, none = np.empty(n_columns), np.empty(n_columns)
    for s in range(offsets.size - 1):
        start, stop = offsets[s], offsets[s + 1]
        n = count_dense(codes, start, stop, present, group, base, n_levels, cells, touched)
        even[:] = -lost
        find_slopes(cells, touched[:n], values, means, totals[s], slopes, even)
        none[:] = 0
        divide_evenly(cells, touched[:n], even, none)
        add_to(rest[s], none, 1.0)
        add_to(sums[s], none, 1.0)
        length = max(stop - start - window[-1], 0)
        for fine in range(n_fine):
            begin, end = segment(length, n_levels - 1, fine)
            words = buffer[: end - begin]
            read_keys(codes, start + begin, layout, base, words)
            for i in range(words.size):
                t = start + begin + i
                if not present.size or is_present(present, t, window):
                    sum_cells(slopes[words[i]], even, n_fine - 1 + fine, one)
                    add_to(starts[t], one, 1.0)
                    add_to(sums[s], one, 1.0)


@njit(nogil=True, cache=True)
def find_slopes(cells, touched, values, means, total, slopes, even):
    """Write the evidence of one occurrence of every word, and add what means have in common."""
    for word in touched:
        for cell in range(cells.shape[1]):
            if cells[word, cell] == 0:
                continue
            root = np.sqrt(cells[word, cell] / total)
            for c in range(slopes.shape[2]):
                mean = means[word, cell, c]
                slope = values[word, cell, c] / (root + mean)
                slopes[word, cell, c] = slope / total
                even[cell, c] += slope * mean * root


@njit(nogil=True, cache=True)
def divide_evenly(cells, touched, even, rest):
    """Divide the evidence of each cell by its number of words; clears the counts.

    The evidence of a cell without any word is added to `rest`.
    """
    for cell in range(cells.shape[1]):
        n = 0.0
        for word in touched:
            n += cells[word, cell]
            cells[word, cell] = 0
        for c in range(rest.size):
            if n > 0:
                even[cell, c] /= n
            else:
                rest[c] += even[cell, c]


@njit(nogil=True, cache=True)
def sum_cells(slopes, even, cell, out):
    """Write the evidence of one occurrence in a cell and in all cells above it."""
    out[:] = 0
    while cell >= 0:
        add_to(out, slopes[cell], 1.0)
        add_to(out, even[cell], 1.0)
        cell = (cell - 1) // 2 if cell else -1


@njit(nogil=True, cache=True)
def spread_starts(starts, layout, by_frame):
    """Divide the evidence of words among the frames that they read; clears `starts`."""
    for t in range(starts.shape[0]):
        for o in layout:
            if t + o < starts.shape[0]:  # no word starts where it would not fit
                add_to(by_frame[t + o], starts[t], 1 / layout.size)
        starts[t] = 0

"""Evidence of words at their places: compiled loops without checks, one thread each.

The formulas of evidence that is compared with a baseline are those of `terms/baseline.py`.
"""

import numpy as np

from mvdfq._engines.compiled import compiled, inlined
from mvdfq._engines.cpu import is_present, read_keys, segment
from mvdfq._engines.filter_words import add_to
from mvdfq._engines.lookup import count_dense


@compiled
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


@inlined
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


@compiled
def compare_words(codes, offsets, present, group, base, table, totals, n_levels, out):
    """Write the evidence of every word of one layout, compared, to the frame where the word starts.

    `table` is a tuple for one row and one group of layouts: the weights of words and their means
    over the baseline, (n_words, n_cells, n_columns) each, and the sums over all words of weight
    times mean, (n_cells, n_columns). `totals` are the numbers of words of the row in every
    sequence. `out` is a tuple: evidence is added to `starts` (n_frames, n_columns) or, if it
    belongs to a cell without any word, to `rest` (n_sequences, n_columns), and in both cases to
    `sums` (n_sequences, n_columns).
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
        for cell in range(n_cells):
            for c in range(n_columns):
                even[cell, c] = -lost[cell, c]
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


@inlined
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


@inlined
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


@inlined
def sum_cells(slopes, even, cell, out):
    """Write the evidence of one occurrence in a cell and in all cells above it."""
    out[:] = 0
    while cell >= 0:
        add_to(out, slopes[cell], 1.0)
        add_to(out, even[cell], 1.0)
        cell = (cell - 1) // 2 if cell else -1


def count_places(
    offsets: np.ndarray, present: np.ndarray, window: np.ndarray, n_levels: int, out: np.ndarray
) -> None:
    """Add the number of words of one layout in every sequence, once for each level, to `out`."""
    ends = np.maximum(offsets[1:] - window[-1], offsets[:-1])
    if present.size:
        words = np.ones(max(present.size - window[-1], 0), bool)
        for o in window:
            words &= present[o : o + words.size]
        seen = np.append(0, np.cumsum(words))
        # no word starts in the last frames of the last sequence
        first, last = (np.minimum(places, words.size) for places in (offsets[:-1], ends))
        out += n_levels * (seen[last] - seen[first])
    else:
        out += n_levels * (ends - offsets[:-1])


def spread_starts(starts: np.ndarray, layout: np.ndarray, by_frame: np.ndarray) -> None:
    """Divide the evidence of words among the frames that they read; clears `starts`."""
    for o in layout[::-1].tolist():  # so that a frame adds up words in the order of their starts
        by_frame[o:] += starts[: max(len(starts) - o, 0)] * (1 / layout.size)
    starts[:] = 0

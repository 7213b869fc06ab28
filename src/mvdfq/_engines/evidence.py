"""Evidence of words at their places: compiled loops without checks, one thread each.

`terms/baseline.py` has the formulas. The cells of a pyramid are a binary heap: cell 1 is the whole
sequence, cells ``2c`` and ``2c + 1`` are the halves of cell c.
"""

import numpy as np

from mvdfq._engines.compiled import bare, inlined


def spread_words(slots, offsets, read, table, totals, reached, out):
    """Compare the words of one group with a baseline; divide their evidence among their frames.

    `slots` (n_used, n_layouts, n_frames) are the words that start at each frame of the rows in use;
    where no word starts, the number of all words. `read` is a tuple: the rows in use, the last
    place of each window and the weight of each layout. `table` is a tuple: the first word of every
    row, the weights of words and their means over the baseline, (n_words, n_cells, n_columns) each,
    and the sums over all words of a row of weight times mean, (n_used, n_cells, n_columns).
    `totals` (n_rows, n_sequences) is what the counts of words are divided by; `reached` (n_layouts,
    n) are frames, counted from the start of a word. `out` is a tuple: evidence is added to
    `by_frame` (n_columns * n_rows, n_frames) or, if it belongs to a cell without any word, to
    `rest` (n_rows, n_sequences, n_columns), and in both cases to `sums`, as large as `rest`. If not
    empty, `found` (n_words, 1 + n_finest_cells, n_columns) gets the evidence of every word of one
    sequence, and of one occurrence in each of the finest cells.
    """
    first, *numbers = table
    n_cells, n_columns = numbers[0].shape[1:]
    most, longest = np.diff(first).max(initial=0), np.diff(offsets).max(initial=0)
    cells, even = np.zeros((most, n_cells + 1)), np.zeros((n_cells + 1, n_columns))
    # the last line is for frames where no word starts
    slopes = np.zeros((most * (n_cells + 1) + 1, n_columns))
    memory = cells, np.empty(most, np.int64), slopes, even, np.empty(n_cells + 1)
    by_frame, sums, rest, found = out
    # arrays of two axes, since every further axis costs time of compiling wherever it is read
    flat = [array.reshape(-1, n_columns) for array in (*numbers, sums, rest, found)]
    out = by_frame, *flat[3:], np.empty(longest, np.uint32), np.empty(longest)
    spread_group(slots, offsets, read, (first, *flat[:3]), totals, reached, memory, out)


@bare
def spread_group(slots, offsets, read, table, totals, reached, memory, out):
    """Do what `spread_words` does, with arrays whose rows are numbered by one index."""
    by_frame, sums, rest, found, lines, at_start = out
    first, _, _, lost = table
    _, _, slopes, even, sizes = memory
    rows, last, weights = read
    n_cells, n_columns = even.shape
    n_fine = n_cells // 2
    for p in range(rows.size):
        for s in range(offsets.size - 1):
            start, stop, at = offsets[s], offsets[s + 1], rows[p] * (offsets.size - 1) + s
            slots_of_row, total = (first[p], first[rows.size]), totals[rows[p], s]
            n = count_starts(slots[p], (start, stop), slots_of_row, last, weights, memory)
            for cell in range(1, n_cells):
                sizes[cell] = 0.0
                for c in range(n_columns):
                    even[cell, c] = -lost[p * (n_cells - 1) + cell - 1, c]
            find_slopes(n, slots_of_row[0], table, total, memory)
            divide_evenly(n, slots_of_row[0], memory, (sums, rest, found), at)
            for j in range(weights.size if reached.shape[1] else 0):
                length, share = stop - start - last[j], weights[j] / reached.shape[1]
                for fine in range(n_fine if length > 0 else 0):
                    # the finest cell that holds the start of the word; -(-a // b) rounds up
                    for t in range(-(-fine * length // n_fine), -(-(fine + 1) * length // n_fine)):
                        slot = slots[p, j, start + t]
                        line = (slot - slots_of_row[0]) * n_cells + n_fine + fine
                        lines[t] = line if slot < slots_of_row[1] else slopes.shape[0] - 1
                for c in range(n_columns):
                    row = c * totals.shape[0] + rows[p]
                    for t in range(length):
                        at_start[t] = share * slopes[lines[t], c]
                    for k in range(reached.shape[1]):
                        frames = by_frame[row, start + reached[j, k] :]
                        for t in range(length):
                            frames[t] += at_start[t]


@inlined
def count_starts(slots, place, slots_of_row, last, weights, memory):
    """Count the words of one row of one sequence in the finest cells; list them, return how many.

    Place 0 of the counts of a word marks a word that is listed.
    """
    start, stop = place
    cells, touched, _, _, _ = memory
    n, n_fine = 0, cells.shape[1] // 2
    for j in range(weights.size):
        length = stop - start - last[j]
        # a layout of weight 0 would list words without counting them
        for fine in range(n_fine if weights[j] != 0 and length > 0 else 0):
            for t in range(-(-fine * length // n_fine), -(-(fine + 1) * length // n_fine)):
                word = slots[j, start + t] - slots_of_row[0]
                if word + slots_of_row[0] < slots_of_row[1]:
                    if cells[word, 0] == 0:
                        cells[word, 0] = 1.0
                        touched[n] = word
                        n += 1
                    cells[word, n_fine + fine] += weights[j]
    return n


@inlined
def find_slopes(n, base, table, total, memory):
    """Write the evidence of one occurrence of every listed word in every cell.

    An occurrence counts in its cell and in all cells above it. What the means of words have in
    common is added to `even`.
    """
    _, values, means, _ = table
    cells, touched, slopes, even, sizes = memory
    n_cells, n_columns = even.shape
    for i in range(n):
        word = touched[i]
        # a cell is the sum of its two halves, as in a binary heap
        for cell in range(n_cells // 2 - 1, 0, -1):
            cells[word, cell] = cells[word, 2 * cell] + cells[word, 2 * cell + 1]
        for cell in range(1, n_cells):
            count = cells[word, cell]
            sizes[cell] += count
            embedded = np.sqrt(count / total)
            at, first_cell = (base + word) * (n_cells - 1) + cell - 1, word * n_cells
            for c in range(n_columns):
                mean = means[at, c]
                # w (a - m) = w (a**2 - m**2) / (a + m): shares, unlike roots, can be divided
                slope = values[at, c] / (embedded + mean) if count > 0 else 0.0
                even[cell, c] += slope * mean * embedded
                slopes[first_cell + cell, c] = slopes[first_cell + cell // 2, c] + slope / total


@inlined
def divide_evenly(n, base, memory, out, at):
    """Divide the evidence of each cell among its words, and add all evidence to `sums`.

    The evidence of a cell without any word is added to `rest`. Clears the counts.
    """
    cells, touched, slopes, even, sizes = memory
    sums, rest, found = out
    n_cells, n_columns = even.shape
    for cell in range(1, n_cells):
        for c in range(n_columns):
            if sizes[cell] == 0:
                rest[at, c] += even[cell, c]
                sums[at, c] += even[cell, c]
            else:
                # an occurrence gets its part of its cell and of all cells above
                even[cell, c] = even[cell, c] * (1 / sizes[cell]) + even[cell // 2, c]
    for i in range(n):
        word = touched[i]
        total = (base + word) * (n_cells // 2 + 1)  # the line of `found`
        for cell in range(n_cells // 2, n_cells):
            cell_of_word = word * n_cells + cell
            for c in range(n_columns):
                slopes[cell_of_word, c] += even[cell, c]
                value = cells[word, cell] * slopes[cell_of_word, c]
                sums[at, c] += value
                if found.size:
                    found[total, c] += value
                    found[total + 1 + cell - n_cells // 2, c] = slopes[cell_of_word, c]
        for cell in range(n_cells):
            cells[word, cell] = 0.0


def count_places(
    offsets: np.ndarray, present: np.ndarray, window: np.ndarray, n_levels: int, out: np.ndarray
) -> None:
    """Add the number of words of one layout in every row and sequence, once for each level."""
    ends = np.maximum(offsets[1:] - window[-1], offsets[:-1])
    if present.size:
        words = np.ones((len(present), max(present.shape[1] - window[-1], 0)), bool)
        for o in window:
            words &= present[:, o : o + words.shape[1]]
        seen = np.pad(np.cumsum(words, axis=1), ((0, 0), (1, 0)))
        # no word starts in the last frames of the last sequence
        first, last = (np.minimum(places, words.shape[1]) for places in (offsets[:-1], ends))
        out += n_levels * (seen[:, last] - seen[:, first])
    else:
        out += n_levels * (ends - offsets[:-1])

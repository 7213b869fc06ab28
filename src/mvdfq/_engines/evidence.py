"""Evidence of words at their places: compiled loops without checks, one thread each.

`terms/baseline.py` has the formulas. Plain words are words whose means are 0, and whose
counts are divided by 1.
"""

import numpy as np

from mvdfq._engines.compiled import compiled, inlined, inner
from mvdfq._engines.cpu import is_present, read_keys, segment
from mvdfq._engines.filter_evidence import add_to
from mvdfq._engines.lookup import count_slots


@compiled
def spread_words(codes, offsets, present, group, used, table, totals, n_levels, root, reached, out):
    """Divide the evidence of every word of one group, compared, among frames of the word.

    `used` are the rows in the table and the bases of their keys. `table` is a tuple for one group
    of layouts: the first word of every row, the weights of words and their means over the baseline,
    (n_words, n_cells, n_columns) each, and the sums over all words of a row of weight times mean,
    (n_used, n_cells, n_columns). `codes` holds all rows, `totals` (n_rows, n_sequences) what their
    counts are divided by; `reached` (n_layouts, n) are frames, counted from the start of a word:
    the layouts, or one frame each. `out` is a tuple: evidence is added to `by_frame` (n_rows,
    n_frames, n_columns) or, if it belongs to a cell without any word, to `rest` (n_rows,
    n_sequences, n_columns), and in both cases to `sums`, as large as `rest`; `squares` (n_rows,
    n_sequences) gets the sums of squared embedded counts.
    """
    by_frame, sums, rest, squares = out
    first, values, means, lost = table
    _, n_cells, n_columns = values.shape
    rows, bases = used
    n_fine, most = n_cells // 2 + 1, 0
    for p in range(rows.size):  # np.diff(first).max() takes seconds to compile
        most = max(most, first[p + 1] - first[p])
    cells, touched = np.zeros((most, n_cells)), np.empty(most, np.uint64)
    slopes, even = np.zeros((most, n_fine, n_columns)), np.empty((n_cells, n_columns))
    for p in range(rows.size):
        r, base, own = rows[p], bases[p], slice(first[p], first[p + 1])
        here = present[r] if present.size else np.empty(0, np.bool_)
        for s in range(offsets.size - 1):
            ends = offsets[s], offsets[s + 1]
            n = count_slots(codes[r], *ends, here, group, base, n_levels, None, cells, touched)
            for cell in range(n_cells):
                for c in range(n_columns):
                    even[cell, c] = -lost[p, cell, c]
            squares[r, s] += find_slopes(
                cells, touched[:n], values[own], means[own], totals[r, s], root, slopes, even
            )
            divide_evenly(cells, touched[:n], even, slopes, sums[r, s], rest[r, s])
            read = codes[r], ends, here, group, base, n_levels
            write_words(read, slopes, reached, by_frame[r].reshape(-1))


@inlined
def find_slopes(cells, touched, values, means, total, root, slopes, even):
    """Write the evidence of one occurrence of every word in each of the finest cells.

    An occurrence counts in its cell and in all cells above it. What the means of words have in
    common is added to `even`. Returns the sum of squared embedded counts.
    """
    n_fine, n_columns = slopes.shape[1:]
    own = np.empty(n_columns)
    squares = 0.0
    for word in touched:
        slopes[word] = 0
        for cell in range(cells.shape[1]):
            count = cells[word, cell]
            if count == 0:
                continue
            squares += count if root else count * count
            embedded = np.sqrt(count / total)
            for c in range(n_columns):
                mean = means[word, cell, c]
                slope = values[word, cell, c] / (embedded + mean) if root else values[word, cell, c]
                even[cell, c] += slope * mean * embedded
                own[c] = slope / total
            begin, end = fine_cells(cell, n_fine)
            for fine in range(begin, end):
                for c in range(n_columns):
                    slopes[word, fine, c] += own[c]
    return squares


@inner
def fine_cells(cell, n_fine):
    """Return the first and last + 1 of the finest cells below a cell of the binary heap."""
    begin, end = cell, cell + 1
    while begin < n_fine - 1:
        begin, end = 2 * begin + 1, 2 * end + 1
    return begin - (n_fine - 1), end - (n_fine - 1)


@inlined
def divide_evenly(cells, touched, even, slopes, sums, rest):
    """Divide the evidence of each cell among its words, and add all evidence to `sums`.

    The evidence of a cell without any word is added to `rest`. Clears the counts.
    """
    n_fine, n_columns = slopes.shape[1:]
    shared = np.zeros((n_fine, n_columns))
    for cell in range(cells.shape[1]):
        n = 0.0
        for word in touched:
            n += cells[word, cell]
        if n == 0:
            add_to(rest, even[cell], 1.0)
            add_to(sums, even[cell], 1.0)
            continue
        begin, end = fine_cells(cell, n_fine)
        for fine in range(begin, end):
            add_to(shared[fine], even[cell], 1 / n)
    for word in touched:
        for fine in range(n_fine):
            count = cells[word, n_fine - 1 + fine]
            for c in range(n_columns):
                slopes[word, fine, c] += shared[fine, c]
                sums[c] += count * slopes[word, fine, c]
        cells[word] = 0


@inner
def write_words(read, slopes, reached, by_frame):
    """Add the evidence of all words of one row of one sequence to the frames that they reach."""
    codes, (start, stop), present, ((layouts, windows, _), weights, buffer), base, n_levels = read
    n_columns = slopes.shape[2]
    for j in range(weights.size):
        length, share = max(stop - start - windows[j, -1], 0), weights[j] / reached.shape[1]
        found = np.zeros(length * n_columns)
        for fine in range(slopes.shape[1]):
            begin, end = segment(length, n_levels - 1, fine)
            words = buffer[: end - begin]
            read_keys(codes, start + begin, layouts[j], base, words)
            for i in range(words.size):
                if not present.size or is_present(present, start + begin + i, windows[j]):
                    for c in range(n_columns):  # an index: making a slice takes longer than the sum
                        found[(begin + i) * n_columns + c] = share * slopes[words[i], fine, c]
        for o in reached[j]:
            first = (start + o) * n_columns
            add_to(by_frame[first : first + found.size], found, 1.0)


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

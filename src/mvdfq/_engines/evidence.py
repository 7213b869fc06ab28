"""Evidence of words at their places: compiled loops without checks, one thread each.

The formulas of evidence that is compared with a baseline are those of `terms/baseline.py`.
"""

import numpy as np

from mvdfq._engines.compiled import compiled, inlined, inner
from mvdfq._engines.cpu import is_present, read_keys, segment
from mvdfq._engines.filter_evidence import add_to
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
def compare_words(codes, offsets, present, group, bases, table, totals, n_levels, reached, out):
    """Divide the evidence of every word of one layout, compared, among frames of the word.

    `table` is a tuple for one group of layouts: the first word of every row, the weights of words
    and their means over the baseline, (n_words, n_cells, n_columns) each, and the sums over all
    words of a row of weight times mean, (n_rows, n_cells, n_columns). `codes` holds the rows,
    `totals` (n_rows, n_sequences) their numbers of words; `reached` are frames, counted from the
    start of a word: the layout, or 0 alone. `out` is a tuple: evidence is added to `by_frame`
    (n_rows, n_frames, n_columns) or, if it belongs to a cell without any word, to `rest` (n_rows,
    n_sequences, n_columns), and in both cases to `sums`, as large as `rest`.
    """
    by_frame, sums, rest = out
    first, values, means, lost = table
    _, n_cells, n_columns = values.shape
    n_fine, most = n_cells // 2 + 1, 0
    for r in range(len(bases)):  # np.diff(first).max() takes seconds to compile
        most = max(most, first[r + 1] - first[r])
    cells, touched = np.zeros((most, n_cells)), np.empty(most, np.uint64)
    slopes, even = np.zeros((most, n_fine, n_columns)), np.empty((n_cells, n_columns))
    for r in range(len(bases)):
        own = slice(first[r], first[r + 1])
        here = present[r] if present.size else np.empty(0, np.bool_)
        for s in range(offsets.size - 1):
            ends = offsets[s], offsets[s + 1]
            n = count_dense(codes[r], *ends, here, group, bases[r], n_levels, cells, touched)
            for cell in range(n_cells):
                for c in range(n_columns):
                    even[cell, c] = -lost[r, cell, c]
            find_slopes(cells, touched[:n], values[own], means[own], totals[r, s], slopes, even)
            divide_evenly(cells, touched[:n], even, slopes, sums[r, s], rest[r, s])
            read = codes[r], ends, here, group, bases[r], n_levels
            write_words(read, slopes, reached, by_frame[r].reshape(-1))


@inlined
def find_slopes(cells, touched, values, means, total, slopes, even):
    """Write the evidence of one occurrence of every word in each of the finest cells.

    An occurrence counts in its cell and in all cells above it. What the means of words have in
    common is added to `even`.
    """
    n_fine, n_columns = slopes.shape[1:]
    own = np.empty(n_columns)
    for word in touched:
        slopes[word] = 0
        for cell in range(cells.shape[1]):
            if cells[word, cell] == 0:
                continue
            root = np.sqrt(cells[word, cell] / total)
            for c in range(n_columns):
                mean = means[word, cell, c]
                slope = values[word, cell, c] / (root + mean)
                even[cell, c] += slope * mean * root
                own[c] = slope / total
            begin, end = fine_cells(cell, n_fine)
            for fine in range(begin, end):
                for c in range(n_columns):
                    slopes[word, fine, c] += own[c]


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
    codes, (start, stop), present, ((layouts, windows, _), _, buffer), base, n_levels = read
    layout, window, n_columns, share = layouts[0], windows[0], slopes.shape[2], 1 / reached.size
    length = max(stop - start - window[-1], 0)
    found = np.zeros(length * n_columns)
    for fine in range(slopes.shape[1]):
        begin, end = segment(length, n_levels - 1, fine)
        words = buffer[: end - begin]
        read_keys(codes, start + begin, layout, base, words)
        for i in range(words.size):
            if not present.size or is_present(present, start + begin + i, window):
                for c in range(n_columns):  # an index: making a slice takes longer than the sum
                    found[(begin + i) * n_columns + c] = share * slopes[words[i], fine, c]
    for o in reached:
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

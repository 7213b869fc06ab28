"""Compiled loops over root shares of words: counts, their roots, sums, standardized columns.

Shares are lists of (column, value), one list per sequence, as in a CSR matrix: sequence ``s`` has
the places from ``indptr[s]`` to ``indptr[s + 1]``. Loops over the lists take one pass, where
products and slices of sparse matrices copy everything several times. Long sequences hold most words
of a small alphabet: their counts are an array, with half the memory and a third of the time.
"""

from typing import Any

import numpy as np

from mvdfq._engines.compiled import bare
from mvdfq._engines.cpu import read_words, segment
from mvdfq._engines.lookup import count_slots

# Sequences that are counted before their roots are taken: their counts are still in the cache.
COUNTED = 16
# Columns that are added up at a time: 24 KB of sums.
ADDED = 1024


def listed_counts(*words, roots=False):
    """Return the counts of all words of each row of each sequence: counts, columns, indptr.

    Takes the arguments of `lists_of_counts` and closes the gaps between its lists. With
    `roots`, counts are replaced by the roots of their shares of the list.
    """
    first, filled, columns, counts = lists_of_counts(*words)
    close_gaps(first, filled, roots, columns, counts)
    indptr = np.concatenate([[0], np.cumsum(filled)])
    return counts[: indptr[-1]], columns[: indptr[-1]], indptr


def root_shares_of_all(codes, offsets, present, groups, bases, starts, n_levels):
    """Return the root shares of `listed_counts` as an array, (n_sequences, n_columns).

    All rows have one alphabet, and no layout has a weight.
    """
    shape, n_cells = (len(offsets) - 1, len(bases)), 2**n_levels - 1
    sizes = [int(bases[0]) ** group.length for group in groups]
    counters = [np.zeros((n_cells, size), np.uint32) for size in sizes]
    buffers = buffers_of(np.diff(offsets), np.uint32)
    out = np.empty((*shape, sum(sizes) * n_cells), np.float32)
    for a in range(0, shape[0], COUNTED):
        block = out[a : a + COUNTED]
        words = codes, offsets[a : a + COUNTED + 1], present
        for group, start, cells in zip(groups, starts[:, 0].tolist(), counters, strict=True):
            columns = block[:, :, start : start + cells.size]
            count_cells(*words, (*group.arrays, *buffers), bases[0], cells, columns)
        # single precision holds these counts exactly, as long as memory holds the sequence
        block /= np.maximum(block.sum(axis=2, keepdims=True), 1)
        np.sqrt(block, out=block)
    return out.reshape(shape[0], -1)


@bare
def count_cells(codes, offsets, present, group, base, cells, out):
    """Write the counts of all words of one group, (n_sequences, n_rows, n_words * n_cells).

    `group` is (layouts, windows, distinct, *`buffers_of`); `cells` (n_cells, n_words) hold zeros.
    """
    layouts, windows, distinct, buffer, flags = group
    n_cells, base = cells.shape[0], np.uint32(base)
    n_fine, level = n_cells // 2 + 1, 0
    while 1 << level < n_fine:
        level += 1
    for s in range(out.shape[0]):
        for r in range(out.shape[1]):
            begin, read = offsets[s], (layouts, windows, distinct)
            for j in range(layouts.shape[0]):
                n_words = max(offsets[s + 1] - begin - windows[j, -1], 0)
                for fine in range(n_fine):
                    first, last = segment(n_words, level, fine)
                    words, cell = buffer[: last - first], cells[n_fine - 1 + fine]
                    here = present[r]
                    n = read_words(codes[r], begin + first, read, j, base, here, words, flags)
                    for i in range(n):
                        cell[words[i]] += np.uint32(1)
            for c in range(n_fine - 2, -1, -1):
                for w in range(cells.shape[1]):
                    cells[c, w] = cells[2 * c + 1, w] + cells[2 * c + 2, w]
            for c in range(n_cells):
                for w in range(cells.shape[1]):
                    out[s, r, w * n_cells + c] = cells[c, w]
                    cells[c, w] = 0


def lists_of_counts(codes, offsets, present, groups, bases, starts, n_levels):
    """List the counts of all words of each row of each sequence.

    The list of row r of sequence s has the number ``s * n_rows + r``. Row r has the alphabet size
    ``bases[r]``; the words of group g begin at column ``starts[g][r]``, with one column for every
    cell of the pyramid. `present` tells which positions hold a symbol; if empty, all positions do.
    Returns where each list begins, how many entries it has, and the columns and counts of all.
    """
    lengths, n_cells, base = np.diff(offsets), 2**n_levels - 1, int(bases.max(initial=1))
    # a list has at most one entry per place, layout and level, and one per column
    n_layouts = sum(len(group.layouts) for group in groups)
    n_columns = sum(base**group.length for group in groups) * n_cells
    most = np.repeat(np.minimum(lengths * n_layouts * n_levels, n_columns), len(bases))
    first, filled = np.concatenate([[0], np.cumsum(most)]), np.zeros(len(most), np.int64)
    # one more, which is written and not kept
    columns, counts = np.empty(first[-1] + 1, np.int32), np.empty(first[-1] + 1, np.float32)
    buffers = buffers_of(lengths, np.uint32)
    present = present if present.size else np.empty((len(codes), 0), bool)
    for group, start in zip(groups, starts, strict=True):
        read = group.arrays, group.layout_weights, *buffers
        memory = np.zeros((base**group.length, n_cells)), np.empty(base**group.length, np.uint32)
        words = codes, offsets, present, read, bases
        list_counts(*words, start, memory, first, filled, columns, counts)
    return first[:-1], filled, columns, counts


def buffers_of(lengths: np.ndarray, dtype: Any = np.uint64) -> tuple[np.ndarray, np.ndarray]:
    """Return memory of `count_slots`: words and flags of one layout in the longest sequence."""
    most = lengths.max(initial=0)
    return np.empty(most, dtype), np.empty((2, most), bool)


@bare
def list_counts(
    codes, offsets, present, group, bases, start, memory, first, filled, columns, counts
):
    """Append the counts of the words of one group to the list of every row of every sequence.

    List i begins at ``first[i]`` and has ``filled[i]`` entries so far. The column of a word in a
    cell is ``start[r] + word * n_cells + cell``. `memory` is (zeros, words) for all possible words.
    """
    cells, touched = memory
    n_cells = cells.shape[1]
    for s in range(offsets.size - 1):
        for r in range(bases.size):
            i, here, base = s * bases.size + r, present[r], np.uint64(bases[r])
            begin, end = offsets[s], offsets[s + 1]
            n_slots, where = bases[r] ** group[0][0].shape[1], (codes[r], begin, end, here)
            n = count_slots(where, group, base, n_slots, None, cells, touched)
            place = first[i] + filled[i]
            for w in range(n):
                word = touched[w]
                for cell in range(n_cells):
                    # no branch: whether a cell is 0 is hard to guess
                    columns[place] = start[r] + word * n_cells + cell
                    counts[place] = cells[word, cell]
                    place += 1 if cells[word, cell] != 0 else 0
                    cells[word, cell] = 0
            filled[i] = place - first[i]


@bare
def close_gaps(first, filled, roots, columns, counts):
    """Move all lists together, one after another; with `roots`, take the roots of shares."""
    place = 0
    for i in range(filled.size):
        total = 0.0
        for e in range(first[i], first[i] + filled[i]):
            total += counts[e]
        whole = np.float32(total)
        for e in range(first[i], first[i] + filled[i]):
            columns[place] = columns[e]
            counts[place] = np.sqrt(counts[e] / whole) if roots else counts[e]
            place += 1


@bare
def weigh(lists, places, root, weights, out, squares):
    """Add the weights of the words of every list times their counts to a row of `out`.

    `lists` is as `lists_of_counts` returns; the columns of list i begin at ``places[i]``, so that
    lists of all words share their columns. With `root`, the counts are replaced by their roots.
    `squares` gets the sums of their squares. Every list is added up alone and in the same order, so
    one sequence alone gives the same numbers, which a matrix product does not promise.
    """
    first, filled, columns, counts = lists
    for i in range(filled.size):
        row_counts, words = counts[first[i] : first[i] + filled[i]], columns[places[i] :]
        total = 0.0
        for e in range(row_counts.size):
            value = np.float64(np.sqrt(row_counts[e]) if root else row_counts[e])
            total += value * value
            own = weights[np.uint64(words[e])]
            for c in range(out.shape[1]):
                out[i, c] += value * own[c]
        squares[i] = total


def weighed(features: Any, weights: np.ndarray) -> np.ndarray:
    """Return ``features @ weights``, dense or sparse, by `weigh`."""
    n, size = features.shape
    ends, sums = np.arange(n + 1) * size, np.zeros((n, weights.shape[1]))
    columns, values, places = np.arange(size, dtype=np.int32), features, np.zeros(n, int)
    if hasattr(features, "indptr"):
        ends, columns, values = features.indptr.astype(int), features.indices, features.data
        places = ends[:-1]
    lists = ends[:-1], np.diff(ends), columns, values.ravel()
    weigh(lists, places, False, weights, sums, np.empty(n))
    return sums


@bare
def add_entries(indptr, columns, values, weight, held, total, squares):
    """Add to every column its number of entries that are not 0, their sum and their squares.

    Entries of sequence ``s`` count ``weight[s]`` times. Without `columns`, lists hold all columns.
    """
    n_rows = weight.size if weight.size else 1
    # 0 also for lists that are all empty
    n_columns = 0 if columns.size else indptr[weight.size] // n_rows
    for start in range(0, n_columns, ADDED):
        h, t, q = held[start:], total[start:], squares[start:]
        size = n_columns - start
        size = ADDED if size > ADDED else size
        for s in range(weight.size):
            w, row = weight[s], values[indptr[s] + start :]
            for i in range(size):
                value = np.float64(row[i])
                h[i] += w if value != 0 else 0.0
                t[i] += w * value
                q[i] += w * (value * value)
    for s in range(weight.size if columns.size else 0):
        for e in range(indptr[s], indptr[s + 1]):
            value, column = np.float64(values[e]), columns[e]
            held[column] += weight[s] if value != 0 else 0.0
            total[column] += weight[s] * value
            squares[column] += weight[s] * (value * value)


@bare
def standardize(indptr, columns, values, places, mean, factor, out):
    """Write the standardized columns of shares to `out`, (n_sequences, n_kept).

    Column j goes to ``places[j]``, and is left out if this is -1; without `columns`, column
    ``places[p]`` goes to p. `mean` and `factor` belong to the columns of `out`.
    """
    for i in range(out.shape[0]):
        if not columns.size:
            row, here = values[indptr[i] : indptr[i + 1]], out[i]
            for p in range(here.size):
                here[p] = (row[np.uint64(places[p])] - mean[p]) * factor[p]
            continue
        for p in range(out.shape[1]):
            # the standardized share of a word that does not occur
            out[i, p] = -mean[p] * factor[p]
        for e in range(indptr[i], indptr[i + 1]):
            p = places[columns[e]]
            if p >= 0:
                out[i, p] = (values[e] - mean[p]) * factor[p]

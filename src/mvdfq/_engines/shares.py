"""Compiled loops over root shares of words: counts, their roots, sums, standardized columns.

Shares are lists of (column, value), one list per sequence, as in a CSR matrix: sequence ``s`` has
the places from ``indptr[s]`` to ``indptr[s + 1]``. Loops over the lists take one pass, where
products and slices of sparse matrices copy everything several times.
"""

from typing import Any

import numpy as np

from mvdfq._engines.compiled import bare
from mvdfq._engines.lookup import count_slots


def listed_counts(*words, roots=False):
    """Return the counts of all words of each row of each sequence: counts, columns, indptr.

    Takes the arguments of `lists_of_counts` and closes the gaps between its lists. With
    `roots`, counts are replaced by the roots of their shares of the list.
    """
    first, filled, columns, counts = lists_of_counts(*words)
    close_gaps(first, filled, roots, columns, counts)
    indptr = np.concatenate([[0], np.cumsum(filled)])
    return counts[: indptr[-1]], columns[: indptr[-1]], indptr


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
    cell is ``start[r] + word * n_cells + cell``. `memory` is (counts that are 0, words), for all
    possible words.
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


@bare
def add_entries(indptr, places, columns, values, weight, held, total, squares):
    """Add to every column its number of entries that are not 0, their sum and their squares.

    An entry of sequence ``s`` counts ``weight[s]`` times; `places` is as in `weigh`.
    """
    for s in range(weight.size):
        for e in range(indptr[s + 1] - indptr[s]):
            value, column = np.float64(values[indptr[s] + e]), columns[places[s] + e]
            held[column] += weight[s] if value != 0 else 0.0
            total[column] += weight[s] * value
            squares[column] += weight[s] * (value * value)


@bare
def standardize(lists, places, mean, factor, out):
    """Write the standardized columns of sparse shares to `out`, (n_sequences, n_kept).

    `lists` is (indptr, columns, values); column j goes to ``places[j]``, and is left out if this
    is -1. `mean` and `factor` belong to the columns of `out`.
    """
    indptr, columns, values = lists
    for i in range(out.shape[0]):
        for p in range(out.shape[1]):
            # the standardized share of a word that does not occur
            out[i, p] = -mean[p] * factor[p]
        for e in range(indptr[i], indptr[i + 1]):
            p = places[columns[e]]
            if p >= 0:
                out[i, p] = (values[e] - mean[p]) * factor[p]

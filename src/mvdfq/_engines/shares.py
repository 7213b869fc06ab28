"""Compiled loops over root shares of words: counts, their roots, sums, standardized columns.

Shares are lists of (column, value), one list per sequence, as in a CSR matrix: sequence ``s`` has
the places from ``indptr[s]`` to ``indptr[s + 1]``. Loops over the lists take one pass, where
products and slices of sparse matrices copy everything several times.
"""

import numpy as np

from mvdfq._engines.compiled import compiled
from mvdfq._engines.lookup import count_slots


@compiled
def list_counts(codes, offsets, present, group, base, n_levels, start, n_words, first, filled, out):
    """Append the counts of the words of one group in one row to the list of every sequence.

    The list of sequence s begins at ``first[s]`` and has ``filled[s]`` entries so far; `out` is
    (columns, counts). The column of a word in a cell is ``start + word * n_cells + cell``; there
    are `n_words` possible words.
    """
    cells, touched = np.zeros((n_words, 2**n_levels - 1)), np.empty(n_words, np.uint64)
    columns, counts = out
    for s in range(offsets.size - 1):
        place = first[s] + filled[s]
        ends = offsets[s], offsets[s + 1]
        n = count_slots(codes, *ends, present, group, base, n_levels, None, cells, touched)
        for word in touched[:n]:
            for cell in range(cells.shape[1]):
                if cells[word, cell] != 0:
                    columns[place] = start + np.int64(word) * cells.shape[1] + cell
                    counts[place] = cells[word, cell]
                    cells[word, cell] = 0
                    place += 1
        filled[s] = place - first[s]


@compiled
def take_roots(first, before, filled, counts):
    """Replace the counts that were appended since `before` by the roots of their shares."""
    for s in range(filled.size):
        begin, end = first[s] + before[s], first[s] + filled[s]
        total = 0.0
        for e in range(begin, end):
            total += counts[e]
        whole = np.float32(total)
        for e in range(begin, end):
            counts[e] = np.sqrt(counts[e] / whole)


@compiled
def close_gaps(first, filled, columns, counts):
    """Move the lists of all sequences together, one after another."""
    place = 0
    for s in range(filled.size):
        for e in range(first[s], first[s] + filled[s]):
            columns[place], counts[place] = columns[e], counts[e]
            place += 1


@compiled
def add_columns(values, weight, held, total, squares):
    """Add to every column its number of entries that are not 0, their sum and their squares.

    An entry of sequence ``i`` counts ``weight[i]`` times.
    """
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            value = np.float64(values[i, j])
            held[j] += weight[i] if value != 0 else 0.0
            total[j] += weight[i] * value
            squares[j] += weight[i] * (value * value)


@compiled
def add_entries(indptr, columns, values, scale, weight, held, total, squares):
    """Do what `add_columns` does, for a sparse matrix.

    With a `scale` per sequence, the values are counts: see `multiply_counts`.
    """
    for s in range(weight.size):
        for e in range(indptr[s], indptr[s + 1]):
            if scale is None:
                value = np.float64(values[e])
            else:
                value = np.sqrt(np.float32(values[e])) * scale[s]
            column = np.int64(columns[e])
            held[column] += weight[s]
            total[column] += weight[s] * value
            squares[column] += weight[s] * (value * value)


@compiled
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


@compiled
def multiply_counts(indptr, columns, counts, scale, transposed, factors, out):
    """Add the product of the values of all words with `factors` to `out`, in float32.

    The value of a word is the root of its count, times the scale of the sequence. `factors` is
    (n_words, n_columns) and `out` (n_sequences, n_columns); of the transposed product, the other
    way round.
    """
    for s in range(indptr.size - 1):
        for e in range(indptr[s], indptr[s + 1]):
            value = np.float32(np.sqrt(np.float32(counts[e])) * scale[s])
            word = np.int64(columns[e])
            a, b = (word, s) if transposed else (s, word)
            for c in range(out.shape[1]):
                out[a, c] += value * factors[b, c]

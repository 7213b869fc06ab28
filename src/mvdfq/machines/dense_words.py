"""Counts of the words of one row, as a sparse matrix with a column for every possible word.

For alphabets with few possible words: words are counted at their keys, nothing is sorted.
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from mvdfq._engines import lookup
from mvdfq.kernels import Group
from mvdfq.kernels.counting import Row

__all__ = ["count_words"]


def count_words(row: Row, groups: Sequence[Group], n_levels: int) -> sp.csr_array:
    """Return the counts of all words of some groups of layouts, (n_sequences, n_columns).

    The columns are the words of all groups and cells of the pyramid: group by group, word by word,
    cell by cell. Cost: O(n) in the number of symbols, times the number of layouts.
    """
    n_cells, lengths = 2**n_levels - 1, np.diff(row.offsets)
    starts = np.cumsum([0, *(row.base**group.length * n_cells for group in groups)])
    n_layouts = sum(len(group.layouts) for group in groups)
    # a sequence has at most one entry per place, layout and level, and one per column
    most = np.minimum(lengths * n_layouts * n_levels, starts[-1])
    first = np.concatenate([[0], np.cumsum(most)])
    filled = np.zeros(len(lengths), np.int64)
    columns, counts = np.empty(first[-1], np.int32), np.empty(first[-1], np.float32)
    buffer = np.empty(lengths.max(initial=0), np.uint64)
    for group, start in zip(groups, starts.tolist(), strict=False):
        lookup.list_counts(
            row.data,
            row.offsets,
            row.present,
            (group.arrays, group.layout_weights, buffer),
            np.uint64(row.base),
            n_levels,
            (start, *lookup.scratch_dense(row.base**group.length, n_cells)),
            first,
            filled,
            (columns, counts),
        )
    lookup.close_gaps(first, filled, columns, counts)
    indptr = np.concatenate([[0], np.cumsum(filled)])
    found = counts[: indptr[-1]], columns[: indptr[-1]], indptr
    return sp.csr_array(found, shape=(len(lengths), starts[-1]))

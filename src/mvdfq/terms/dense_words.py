"""Counts of the words of rows, as a sparse matrix with a column for every possible word.

For alphabets with few possible words: words are counted at their keys, nothing is sorted.
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from mvdfq._engines import lookup, shares
from mvdfq.kernels import Group
from mvdfq.kernels.base import Row

__all__ = ["count_words", "share_words"]


def count_words(row: Row, groups: Sequence[Group], n_levels: int) -> sp.csr_array:
    """Return the counts of all words of some groups of layouts, (n_sequences, n_columns).

    The columns are the words of all groups and cells of the pyramid: group by group, word by word,
    cell by cell. Cost: O(n) in the number of symbols, times the number of layouts.
    """
    lists = _Lists(1, row, groups, n_levels)
    lists.append(row)
    return lists.matrix()


def share_words(rows: Sequence[Row], groups: Sequence[Group], n_levels: int) -> sp.csr_array:
    """Return the roots of the shares of all words in each row, (n_sequences, n_columns).

    A row has the columns of `count_words`; the columns of the first row come first. All rows must
    have the same alphabet.
    """
    lists = _Lists(len(rows), rows[0], groups, n_levels)
    for row in rows:
        # roots of shares are taken row by row: a share is of the words of one row
        before = lists.filled.copy()
        lists.append(row)
        shares.take_roots(lists.first, before, lists.filled, lists.counts)
    return lists.matrix()


class _Lists:
    """One list of columns and counts per sequence; rows of one alphabet are appended to it."""

    def __init__(self, n_rows: int, row: Row, groups: Sequence[Group], n_levels: int) -> None:
        self.groups, self.n_levels, self.n_cells = groups, n_levels, 2**n_levels - 1
        sizes = [row.base**group.length * self.n_cells for group in groups]
        self.starts, self.n_columns, self.start = np.cumsum([0, *sizes]), sum(sizes) * n_rows, 0
        lengths, n_layouts = np.diff(row.offsets), sum(len(group.layouts) for group in groups)
        # a sequence has at most one entry per place, layout and level, and one per column
        most = n_rows * np.minimum(lengths * n_layouts * n_levels, self.starts[-1])
        self.first = np.concatenate([[0], np.cumsum(most)])
        self.filled = np.zeros(len(lengths), np.int64)
        self.columns = np.empty(self.first[-1], np.int32)
        self.counts = np.empty(self.first[-1], np.float32)
        self.buffer = np.empty(lengths.max(initial=0), np.uint64)

    def append(self, row: Row) -> None:
        """Append the counts of the words of a row, in new columns after all columns so far."""
        for group, start in zip(self.groups, self.starts.tolist(), strict=False):
            lookup.list_counts(
                row.data,
                row.offsets,
                row.present,
                (group.arrays, group.layout_weights, self.buffer),
                np.uint64(row.base),
                self.n_levels,
                (self.start + start, *lookup.scratch_dense(row.base**group.length, self.n_cells)),
                self.first,
                self.filled,
                (self.columns, self.counts),
            )
        self.start += int(self.starts[-1])

    def matrix(self) -> sp.csr_array:
        """Return all lists, one line per sequence; the lists are moved and cannot grow again."""
        shares.close_gaps(self.first, self.filled, self.columns, self.counts)
        indptr = np.concatenate([[0], np.cumsum(self.filled)])
        found = self.counts[: indptr[-1]], self.columns[: indptr[-1]], indptr
        return sp.csr_array(found, shape=(len(self.filled), self.n_columns))

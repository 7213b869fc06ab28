"""The evidence in one sequence, and its words in blocks."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mvdfq._utils.short import Short


class WordBlock(NamedTuple):
    """The words of a sequence that one group of layouts reads, ordered by row and symbols.

    Word ``w`` has the symbols ``codes[w]`` in row ``rows[w]``; its occurrences are ``indptr[w]``
    to ``indptr[w + 1]`` of `starts` (frames where windows start), `layouts` and `shares` (the
    evidence, (n_occurrences, n_columns)).
    """

    group: int
    rows: np.ndarray
    codes: np.ndarray
    indptr: np.ndarray
    starts: np.ndarray
    layouts: np.ndarray
    shares: np.ndarray

    def totals(self, column: int) -> np.ndarray:
        """Return the evidence of each word, over all its occurrences."""
        return np.add.reduceat(self.shares[:, column], self.indptr[:-1])


@dataclass(frozen=True, repr=False)
class Evidence(Short):
    """The evidence of a term in one sequence, for each column of the margins.

    `by_frame` is (n_columns, n_rows, n_frames), `by_layout` is (n_columns, n_rows, n_groups). Sums
    over rows and frames, and over rows and layouts, are equal. `words` lists the
    words of the sequence, in blocks: a sequence may hold ten thousand words, so
    `find_words` lists them when they are first asked for. ``find_top(column, n)`` lists at least
    the `n` words with the most evidence in a column, in the same order.
    """

    by_frame: np.ndarray
    by_layout: np.ndarray
    find_words: Callable[[], list[WordBlock]]
    find_top: Callable[[int, int], list[WordBlock]] | None = None

    @cached_property
    def words(self) -> list[WordBlock]:
        """The words of the sequence."""
        return self.find_words()

    def top(self, column: int, n: int) -> list[WordBlock]:
        """Return words, among them the `n` words with the most evidence in a column."""
        return self.words if self.find_top is None else self.find_top(column, n)

    def weighed(self, weights: np.ndarray) -> "Evidence":
        """Return the sums of columns by weights (n_columns, n)."""
        return Evidence(
            np.tensordot(weights.T, self.by_frame, axes=1),
            np.tensordot(weights.T, self.by_layout, axes=1),
            lambda: [block._replace(shares=block.shares @ weights) for block in self.words],
        )

    def nothing(self) -> "Evidence":
        """Return evidence of 0 for everything."""
        return self.weighed(np.zeros((len(self.by_frame),) * 2))

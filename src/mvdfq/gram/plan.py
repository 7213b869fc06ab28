"""What is to be computed: a kernel and its options, spelt out as tasks for each row."""

from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np

from mvdfq.kernels import Group, Kernel, Mismatch, Profile, Subsequence
from mvdfq.kernels.counting import GroupTask, Row, pyramid_cells, row_of
from mvdfq.kernels.neighbours import SMALL_TABLE, NeighbourTask, observed_words
from mvdfq.kernels.profile import ProfileTask, profile_row
from mvdfq.kernels.subsequence import SubsequenceTask
from mvdfq.sequences import Ragged
from mvdfq.symbols.base import Symbols

__all__ = ["Plan"]

# Bytes that a task takes for each word it reads, found by measuring: entries, a copy for the
# sort, keys, columns, counts and their roots. Neighbourhoods keep a table of counts for each set
# of positions, and list the words that are near several of them.
BYTES_PER_WORD = 64
BYTES_PER_TABLE = 24
BYTES_PER_LISTED_WORD = 160
# With thousands of symbols hardly a word repeats and far more lie between two others: there were
# ten listed words to a frame with 1024 codewords, one with 32 bins.
LARGE_ALPHABET = 256


@dataclass(frozen=True)
class Plan:
    """A kernel with its options, for collections of known alphabets.

    `root` is the manifold embedding: the square root of counts, every row divided by its total;
    `row_norm` says whether each row is then brought to unit length. `listed` asks for
    every word by itself (explicit features) rather than the Gram matrix alone.
    """

    kernel: Kernel
    n_symbols: np.ndarray
    row_weights: np.ndarray
    root: bool = False
    row_norm: str = "none"
    group_weights: np.ndarray | None = None
    n_levels: int = 1
    listed: bool = False
    vocabularies: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)

    def row(self, parts: list[Any], r: int) -> Row:
        """Return row `r` of one or more collections, joined, in the form that tasks read."""
        if isinstance(self.kernel, Profile):
            return profile_row(reduce(Ragged.joined, parts))
        joined = reduce(Symbols.joined, [part.rows(slice(r, r + 1)) for part in parts])
        return row_of(joined, closed=self.is_closed)

    def tasks(self, r: int) -> list[tuple[float, Any]]:
        """Return the tasks of row `r`, each with the weight of its Gram matrix."""
        cells = pyramid_cells(self.n_levels)
        if isinstance(self.kernel, Profile):
            k, sigma = self.kernel.k, self.kernel.sigma
            return [(1, ProfileTask(k, sigma, cell)) for cell in cells]
        if isinstance(self.kernel, Subsequence) and not self.kernel.has_features:
            return [(1, SubsequenceTask(self.kernel.k, self.kernel.decay))]
        if self.counts_neighbours or self._has_few_words(r):
            return [(1, task) for cell in cells for task in self._neighbour_tasks(r, cell)]
        return [(g.weight, GroupTask(g, cell)) for g in self.groups(r) for cell in cells]

    @property
    def normalises_rows(self) -> bool:
        """Whether every row is brought to one size before rows are averaged."""
        return self.root or self.row_norm == "cosine"

    @property
    def counts_neighbours(self) -> bool:
        """Whether mismatch counts themselves are needed, not only the closed form."""
        if not isinstance(self.kernel, Mismatch):
            return False
        return self.root or self.listed or self.kernel.neighbourhood == "observed"

    def _has_few_words(self, r: int) -> bool:
        """Whether counting neighbours directly is cheaper than the closed form."""
        if not isinstance(self.kernel, Mismatch):
            return False
        return int(self.n_symbols[r]) ** self.kernel.k <= SMALL_TABLE

    @property
    def counts_groups(self) -> bool:
        """Whether every task counts the words of a group of layouts."""
        if self.counts_neighbours or isinstance(self.kernel, Profile):
            return False
        return self.kernel.has_features or not isinstance(self.kernel, Subsequence)

    @property
    def is_closed(self) -> bool:
        """Whether symbols never seen in training count as missing values."""
        return isinstance(self.kernel, Mismatch)

    @property
    def bytes_per_frame(self) -> int:
        """Working memory of the largest task for each frame of a row."""
        if self.counts_neighbours:
            k, m = self.kernel.k, self.kernel.m
            n_tables = len(NeighbourTask(k, m).kept)
            per_frame = 10 if self.n_symbols.max() > LARGE_ALPHABET else 1
            listed = BYTES_PER_LISTED_WORD * per_frame
            return BYTES_PER_WORD + BYTES_PER_TABLE * n_tables + listed
        if isinstance(self.kernel, Profile):
            return BYTES_PER_WORD * 100
        if isinstance(self.kernel, Subsequence) and not self.kernel.has_features:
            return 0
        return BYTES_PER_WORD * max(len(group.layouts) for group in self.groups(0))

    def only_row(self, r: int) -> "Plan":
        """Return the plan for row `r` alone, of weight 1."""
        words = {(0, d): found for (row, d), found in self.vocabularies.items() if row == r}
        return replace(
            self,
            n_symbols=self.n_symbols[r : r + 1],
            row_weights=np.ones(1),
            vocabularies=words,
        )

    def with_vocabularies(self, collection: Ragged) -> "Plan":
        """Return the plan with the words that occur in `collection`, where it needs them."""
        if not (isinstance(self.kernel, Mismatch) and self.kernel.neighbourhood == "observed"):
            return self
        words = {}
        for r in range(len(self.row_weights)):
            row = self.row([collection], r)
            for task in self._neighbour_tasks(r, (0, 0)):
                words[r, task.dilation] = observed_words(row, task.k, task.dilation)
        return replace(self, vocabularies=words)

    def groups(self, r: int) -> list[Group]:
        """Return the groups of layouts that row `r` is read by, with their weights."""
        groups = self.kernel.groups(int(self.n_symbols[r]))
        if self.group_weights is None:
            return groups
        pairs = zip(groups, self.group_weights, strict=True)
        return [Group(g.layouts, g.weight * float(w), g.distinct) for g, w in pairs]

    def _neighbour_tasks(self, r: int, cell: tuple[int, int]) -> list[NeighbourTask]:
        kernel = self.kernel
        return [
            NeighbourTask(kernel.k, kernel.m, d, cell, self.vocabularies.get((r, d)), self.listed)
            for d in np.atleast_1d(kernel.dilation).tolist()
        ]

r"""The word table: the weight of every word for every class.

A kernel machine is :math:`f(x) = \sum_i a_i K(x, x_i) + b`. If the kernel is a sum over words, the
machine is a sum over words too: the weights of a word in all training sequences are added once.
Prediction then looks up the words of a new sequence, and its time does not depend on the number of
training sequences. For a linear machine on features, the coefficients are the weights of words.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from mvdfq._engines import lookup
from mvdfq._engines.shares import buffers_of, lists_of_counts, weigh
from mvdfq._utils.short import Short
from mvdfq._utils.threads import n_threads, run_in_order
from mvdfq.gram.plan import Plan, inverse_root
from mvdfq.gram.vocabulary import Vocabulary
from mvdfq.kernels import Group
from mvdfq.kernels.counting import GroupTask
from mvdfq.kernels.keys import word_keys
from mvdfq.symbols.base import Symbols
from mvdfq.terms.standard import DENSE_WORDS, count_at_keys

# The words of one cell of the pyramid, as keys, and their weights (n_words, n_columns).
Weighed = tuple[np.ndarray, np.ndarray]
# What yields the words of a row and a group of layouts, cell by cell of the pyramid.
Weigh = Callable[[int, int], Iterable[Weighed]]

# Counts that are listed at once: 32 MB.
LISTED = 2**22


@dataclass(frozen=True, repr=False)
class GroupTable(Short):
    """The words that one group of layouts reads, row by row, and their weights.

    `values` is (n_slots, n_cells, n_columns); row `r` owns the slots from ``first[r]`` to
    ``first[r + 1]``. In a dense table `keys` is empty and slots are in the order of the keys.
    """

    group: Group
    bases: np.ndarray
    first: np.ndarray
    keys: np.ndarray
    values: np.ndarray

    @property
    def dense(self) -> bool:
        """Whether words are numbered by their keys."""
        return not self.keys.size

    def slots(self, r: int, keys: np.ndarray) -> np.ndarray:
        """Return the slot of each word of row `r`, -1 for a word without a slot."""
        if self.dense:
            return self.first[r] + keys.astype(np.int64)
        # search inside the slots of the row: equal keys of other rows are other words
        places = np.empty(keys.size, np.int64)
        lookup.find_keys(self.keys[self.first[r] : self.first[r + 1]], keys, places)
        return np.where(places < 0, -1, places + self.first[r])


@dataclass(frozen=True, repr=False)
class WordTable(Short):
    """Weights of all words; `margins` looks up the words of new sequences.

    `rows` are the rows in use; margins are divided by `mean`, or (None) by norms of sequences.
    """

    plan: Plan
    rows: np.ndarray
    groups: list[GroupTable]
    mean: float | None

    @property
    def nbytes(self) -> int:
        """Memory of the table in bytes."""
        return sum(group.keys.nbytes + group.values.nbytes for group in self.groups)

    def margins(self, symbols: Symbols, n_jobs: int | None = None) -> np.ndarray:
        """Return the margins, (n_sequences, n_columns)."""
        # rows of weight 0 are not in the table
        symbols = symbols.rows(self.rows)
        workers = n_threads(n_jobs)
        # one part per thread: a sequence is read by one thread, so the order of its sum is fixed
        cuts = np.linspace(0, len(symbols), min(workers, len(symbols)) + 1).astype(int)
        parts = [symbols[a:b] for a, b in pairwise(cuts.tolist())]
        done = run_in_order(self._margins, parts, workers)
        return np.concatenate([margins for _, margins in done])

    def _margins(self, symbols: Symbols) -> np.ndarray:
        margins, own, total = self._scores(symbols)
        scale = self.plan.row_scale(own, total) if self.plan.normalises_rows else np.ones(own.shape)
        # not `@`: a matrix product rounds a row differently among other rows, and so the last bit
        # would depend on how many threads share the sequences
        norms = (own * scale**2 * self.plan.row_weights[self.rows]).sum(axis=1)
        outer = inverse_root(norms) if self.mean is None else 1 / self.mean
        return np.einsum("sr,src->sc", scale, margins) * np.reshape(outer, (-1, 1))

    def _scores(self, symbols: Symbols) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the margins of rows, (n_sequences, n_rows, n_columns), and their squared norms."""
        shape = len(symbols), len(self.rows)
        margins = np.zeros((*shape, self.groups[0].values.shape[2]))
        own, total = np.zeros(shape), np.zeros(shape)
        present, longest = present_positions(symbols), int(symbols.lengths.max(initial=0))
        for g, table in enumerate(self.groups):
            if table.dense:
                for block, added, squares in self._listed(table, symbols, present):
                    margins[block] += added
                    total[block] += squares
                    own[block] += self.group_weights[g] * squares
                continue
            layouts = table.group.arrays, table.group.layout_weights, *buffers_of(symbols.lengths)
            words = table.bases, table.first, table.keys, table.values
            # at most one new word per place and layout
            memory = lookup.scratch(longest * len(table.group.layouts), self.plan.n_levels)
            how = self.plan.root, self.group_weights[g], memory, (margins, own, total)
            lookup.score(symbols.codes, symbols.offsets, present, layouts, *words, *how)
        return margins, own, total

    def _listed(self, table: GroupTable, symbols: Symbols, present: np.ndarray) -> Iterator[Any]:
        """Yield blocks of sequences with what a dense table adds to margins and squared counts."""
        n_rows, n_cells, n_levels = len(self.rows), len(self.plan.cells), self.plan.n_levels
        most = int(symbols.lengths.max(initial=0)) * len(table.group.layouts) * n_levels * n_rows
        step = max(1, LISTED // max(most, 1))
        values = table.values.reshape(-1, table.values.shape[2])
        for a in range(0, len(symbols), step):
            offsets = symbols.offsets[a : a + step + 1]
            read = symbols.codes, offsets, present, [table.group], table.bases
            lists = lists_of_counts(*read, [table.first[:-1] * n_cells], n_levels)
            shape = len(offsets) - 1, n_rows
            added, squares = np.zeros((len(lists[0]), values.shape[1])), np.empty(shape)
            weigh(lists, lists[0], self.plan.root, values, added, squares.ravel())
            yield slice(a, a + shape[0]), added.reshape(*shape, -1), squares

    @cached_property
    def group_weights(self) -> np.ndarray:
        """Weights of the groups' Gram matrices, (n_groups, n_rows), by alphabet."""
        weights = [[group.weight for group in self.plan.groups(r)] for r in self.rows.tolist()]
        return np.ascontiguousarray(np.array(weights, float).T)


def dense_table(
    plan: Plan, rows: np.ndarray, values: list[np.ndarray], mean: float | None
) -> WordTable:
    """Return the table with these weights of all possible words, one array per group."""
    bases, no_keys = np.maximum(plan.n_symbols[rows], 1), np.empty(0, np.uint64)
    parts = zip(plan.groups(0), plan.first_slots(rows), values, strict=True)
    return WordTable(plan, rows, [GroupTable(g, bases, f, no_keys, v) for g, f, v in parts], mean)


def has_table(plan: Plan) -> bool:
    """Tell whether a kernel is a sum over words whose keys fit into 64 bits."""
    sizes = ((int(n), g.length) for r, n in enumerate(plan.n_symbols) for g in plan.groups(r))
    # without the limit of 64, the power of a long word would fill the memory
    return plan.counts_groups and all(n < 2 or (k <= 64 and n**k < 2**64 - 1) for n, k in sizes)


def present_positions(symbols: Symbols) -> np.ndarray:
    """Tell which positions hold a known symbol; (n_rows, 0) if all positions do."""
    # also unseen symbols, which no table knows, are left out
    present = symbols.codes < symbols.n_symbols[:, None]
    return present[:, :0] if present.all() else present


class TableTooLarge(Exception):
    """The word table does not fit into the memory limit."""


def word_table(
    plan: Plan, weigh: Weigh, n_columns: int, mean: float | None, memory: int, n_jobs: int | None
) -> WordTable | None:
    """Return the table of the words that `weigh` yields; None if it does not fit into memory."""
    n_groups = len(plan.groups(0))

    def table_of(g: int) -> GroupTable:
        return group_table(plan, g, weigh, n_columns, memory // n_groups)

    try:
        tables = [table for _, table in run_in_order(table_of, range(n_groups), n_threads(n_jobs))]
    except TableTooLarge:
        return None
    return WordTable(plan, np.flatnonzero(plan.row_weights), tables, mean)


def summed_words(
    train: Symbols, plan: Plan, coefficients: np.ndarray, scale: np.ndarray, r: int, g: int
) -> Iterator[Weighed]:
    """Yield the words of training sequences and their weights, for `word_table`.

    `coefficients`, (n_sequences, n_columns), are the coefficients of the machines divided by the
    norms of the training sequences; `scale` is (n_rows, n_sequences).
    """
    row, group = plan.kernel.row([train], r), plan.groups(r)[g]
    # the weights of row, group and sequence go into the coefficients, so counts stay plain
    factor = plan.row_weights[r] * group.weight * scale[r][:, None]
    weighted = (factor * coefficients).astype(np.float32)
    if row.base**group.length <= DENSE_WORDS:
        # few possible words: count at their keys, without a sort
        counts = count_at_keys([row], [group], plan.n_levels)
        if plan.root:
            np.sqrt(counts.data, out=counts.data)
        weights = (counts.T @ weighted).reshape(-1, len(plan.cells), weighted.shape[1])
        keys = np.arange(len(weights), dtype=np.uint64)
        yield from ((keys, weights[:, c]) for c in range(len(plan.cells)))
        return
    for cell in plan.cells:
        for columns in GroupTask(group, cell).columns(row):
            # if word and sequence do not fit into 64 bits together, words come as rows of codes
            words = columns.words if columns.words.ndim == 1 else word_keys(columns.words, row.base)
            count = columns.count.astype(np.float32)
            value = np.sqrt(count) if plan.root else count
            shape = len(columns.words), row.n_sequences
            yield words, sp.csr_array((value, columns.sequence, columns.indptr), shape) @ weighted


def learned_words(
    vocabulary: Vocabulary, plan: Plan, coefficients: np.ndarray, r: int, g: int
) -> Iterator[Weighed]:
    """Yield the words of explicit features and their learned weights, for `word_table`."""
    n_cells = len(plan.cells)
    # features hold the root of the weights, as products of two features hold the weights
    factor = np.sqrt(plan.row_weights[r] * plan.groups(r)[g].weight)
    for task in range(g * n_cells, (g + 1) * n_cells):
        words, start = vocabulary.words[r, task], vocabulary.first[r, task]
        keys = word_keys(words, max(int(plan.n_symbols[r]), 1))
        yield keys, factor * coefficients[start : start + len(words)]


def group_table(plan: Plan, g: int, weigh: Weigh, n_columns: int, memory: int) -> GroupTable:
    """Put the words of all rows that one group of layouts reads into one table."""
    group, rows = plan.groups(0)[g], np.flatnonzero(plan.row_weights)
    bases = np.maximum(plan.n_symbols[rows], 1)
    sizes = [int(base) ** group.length for base in bases]
    shape = len(plan.cells), n_columns
    # single precision for each cell and column, and a key of 64 bits
    most = memory // (4 * shape[0] * shape[1] + 8)
    dense = max(sizes) <= DENSE_WORDS
    # before the values are made, since their size is known
    if dense and sum(sizes) > most:
        raise TableTooLarge
    keys, values = [], []
    for r, size in zip(rows.tolist(), sizes, strict=True):
        places, filled = _filled(weigh(r, g), size if dense else None, shape)
        keys.append(places)
        values.append(filled)
        # after every row: how many words occur is known only then
        if sum(map(len, values)) > most:
            raise TableTooLarge
    first = np.concatenate([[0], np.cumsum([len(slots) for slots in values])]).astype(np.int64)
    return GroupTable(group, bases, first, np.concatenate(keys), np.concatenate(values))


def _filled(
    weighed: Iterable[Weighed], size: int | None, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the keys and values of one row: `size` dense slots, or (None) hashed slots.

    The first cell of a pyramid is the whole sequence, so the first cell lists all words.
    """
    keys = np.empty(0, np.uint64)
    values: Any = None
    for cell, (words, weights) in enumerate(weighed):
        if cell == 0:
            if size is None:
                # a fifth of the places is empty, so that searches stay short
                keys = np.full(len(words) * 5 // 4 + 1, lookup.EMPTY)
                lookup.insert_keys(keys, words)
            values = np.zeros((len(keys) if size is None else size, *shape), np.float32)
        slots = words.astype(np.int64)
        if size is None:
            lookup.find_keys(keys, words, slots)
        values[slots, cell] = weights
    return keys, values

r"""Machines on standardized words: every word has the same spread over the training sequences.

The feature of a word is the root of its share of a row, less its mean and divided by its standard
deviation over the training sequences,

.. math:: z_u(x) = \left(\sqrt{c_u(x) / \textstyle\sum_v c_v(x)} - \mu_u\right) / \sigma_u .

Words that few training sequences hold are left out: their deviation is small by chance. Features
are made one piece of rows after another and added to the kernel matrix; after training, the
weights of words are all that is kept.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from mvdfq._engines import lookup
from mvdfq._utils.memory import DEFAULT_MEMORY
from mvdfq._utils.short import Short
from mvdfq._utils.threads import n_threads, run_in_order
from mvdfq.gram.features import SequenceFeatures
from mvdfq.gram.plan import Plan
from mvdfq.machines.machine import Machine
from mvdfq.machines.svm import Margins
from mvdfq.machines.word_table import GroupTable, WordTable, present_positions
from mvdfq.symbols.base import Symbols

__all__ = ["Piece", "StandardGram", "WordMachine", "first_slots", "root_shares"]

# Some rows of one alphabet, and a function that makes the root shares of their words.
Piece = tuple[np.ndarray, Callable[[], np.ndarray]]
# Columns with a deviation below this are constant but for rounding: shares are at most 1.
SMALLEST = 1e-6


def root_shares(symbols: Symbols, plan: Plan, rows: np.ndarray) -> np.ndarray:
    """Return the roots of the shares of all words of some rows, all of one alphabet.

    The result is (n_sequences, n_rows, n_columns) with the words of all groups and cells as
    columns: group by group, word by word, cell by cell.
    """
    symbols = symbols.rows(rows)
    base, present = max(int(plan.n_symbols[rows[0]]), 1), present_positions(symbols)
    buffer = np.empty(symbols.lengths.max(initial=0), np.uint64)
    counts = []
    for group in plan.groups(int(rows[0])):
        shape = len(symbols), len(rows), len(plan.cells), base**group.length
        counted = np.empty(shape, np.float32)
        arrays = group.arrays, group.layout_weights, buffer
        lookup.count_rows(
            symbols.codes,
            symbols.offsets,
            present,
            arrays,
            np.uint64(base),
            plan.n_levels,
            counted,
        )
        counts.append(counted.swapaxes(2, 3).reshape(*shape[:2], -1))
    found = np.concatenate(counts, axis=2)
    total = found.sum(axis=2, keepdims=True)
    return np.sqrt(np.divide(found, total, out=found, where=total > 0), out=found)


def first_slots(plan: Plan) -> list[np.ndarray]:
    """Return, for each group of layouts, the first slot of every row and the end of the last."""
    bases = np.maximum(plan.n_symbols, 1)
    return [np.concatenate([[0], np.cumsum(bases**g.length)]) for g in plan.groups(0)]


@dataclass(repr=False)
class WordMachine(Machine):
    """A machine that keeps one weight per word and column.

    `values` holds one array of shape (n_slots, n_cells, n_columns) for each group of layouts, as
    `GroupTable` does. `norms` is the share of each row in the squared norms of the machines.
    """

    reader: SequenceFeatures
    values: list[np.ndarray] = field(default_factory=list)
    norms: np.ndarray = field(default_factory=lambda: np.empty(0))

    def of(self, collection: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return the margins of sequences; words with unseen symbols do not count."""
        assert self.table is not None
        margins, _ = self.table.margins(collection, n_jobs or self.n_jobs)
        return margins + self.margins.intercepts

    def _build(self) -> WordTable:
        plan = self.reader.plan_
        bases = np.maximum(plan.n_symbols, 1)
        parts = zip(plan.groups(0), first_slots(plan), self.values, strict=True)
        tables = [GroupTable(g, bases, f, np.empty(0, np.uint64), v) for g, f, v in parts]
        return WordTable(plan, np.arange(len(bases)), tables, self.reader.row_mean())


class StandardGram:
    """The kernel matrix of standardized words, and the machine that belongs to it.

    A piece is some rows of one alphabet and a function that makes their root shares. Features
    that do not fit into `memory` bytes are made a second time for the machine.
    """

    def __init__(
        self,
        reader: SequenceFeatures,
        pieces: list[Piece],
        n_sequences: int,
        min_share: float,
        memory: int = DEFAULT_MEMORY,
        n_jobs: int | None = None,
    ) -> None:
        self.reader, self.pieces, self.n_jobs = reader, pieces, n_jobs
        self.values = np.zeros((n_sequences, n_sequences))
        self.scales: list[Scale] = []
        self._kept: list[np.ndarray | None] = []
        room = memory
        workers = n_threads(n_jobs) if len(pieces) > 1 else 1
        for _, (scale, z, product) in run_in_order(partial(_measured, min_share), pieces, workers):
            self.values += product
            self.scales.append(scale)
            room -= z.nbytes
            self._kept.append(z if room > 0 else None)

    @property
    def n_words(self) -> int:
        """Number of words that are not left out: the variance of all features together."""
        return sum(scale.kept.size for scale in self.scales)

    def machine(self, coefficients: np.ndarray) -> WordMachine:
        """Return the machine with these coefficients of the training sequences."""
        plan, n_columns = self.reader.plan_, coefficients.shape[1]
        firsts = first_slots(plan)
        values = [np.zeros((f[-1], len(plan.cells), n_columns), np.float32) for f in firsts]
        norms, intercepts = np.zeros(len(plan.n_symbols)), np.zeros(n_columns)
        for (rows, make), scale, z in zip(self.pieces, self.scales, self._kept, strict=True):
            z = scale.features(make()) if z is None else z
            learned = z.T @ coefficients
            weights = np.zeros((scale.mean.size, n_columns))
            weights[scale.kept] = learned * scale.factor[scale.kept, None]
            intercepts -= scale.mean @ weights
            squares = np.zeros(scale.mean.size)
            squares[scale.kept] = (learned**2).sum(axis=1)
            norms[rows] = squares.reshape(len(rows), -1).sum(axis=1)
            weights *= self.reader.row_mean()  # tables divide by it, as kernels do
            _place(weights.reshape(len(rows), -1, n_columns), rows, firsts, values)
        margins = Margins(np.zeros((0, n_columns)), intercepts)
        return WordMachine(self.reader, margins, None, self.n_jobs, values=values, norms=norms)


@dataclass(frozen=True, repr=False)
class Scale(Short):
    """Mean of every column and 1 / its deviation, 0 for a column that is left out."""

    mean: np.ndarray
    factor: np.ndarray

    @classmethod
    def of(cls, shares: np.ndarray, min_share: float) -> "Scale":
        """Measure root shares, (n_sequences, n_rows, n_columns)."""
        flat = shares.reshape(len(shares), -1)
        mean, spread = flat.mean(axis=0, dtype=float), flat.std(axis=0, dtype=float)
        held = np.count_nonzero(flat, axis=0) > min_share * len(flat)
        kept = held & (spread > SMALLEST)
        return cls(mean, np.divide(1, spread, out=np.zeros_like(spread), where=kept))

    @cached_property
    def kept(self) -> np.ndarray:
        """The columns that are not left out."""
        return np.flatnonzero(self.factor)

    def features(self, shares: np.ndarray) -> np.ndarray:
        """Return the standardized columns that are not left out."""
        flat = shares.reshape(len(shares), -1)[:, self.kept]
        return ((flat - self.mean[self.kept]) * self.factor[self.kept]).astype(np.float32)


def _measured(min_share: float, piece: Piece) -> tuple[Scale, np.ndarray, np.ndarray]:
    """Return the scale of a piece, its features and their products; runs in a thread."""
    shares = piece[1]()
    scale = Scale.of(shares, min_share)
    z = scale.features(shares)
    return scale, z, z @ z.T


def _place(
    weights: np.ndarray, rows: np.ndarray, firsts: list[np.ndarray], values: list[np.ndarray]
) -> None:
    """Copy the weights of some rows, in the order of `root_shares`, to the slots of their words."""
    for i, r in enumerate(rows.tolist()):
        start = 0
        for first, slots in zip(firsts, values, strict=True):
            mine = slots[first[r] : first[r + 1]]
            stop = start + mine.shape[0] * mine.shape[1]
            mine[:] = weights[i, start:stop].reshape(mine.shape)
            start = stop

"""A machine on words that keeps one weight per word and class."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mvdfq.gram.base import warn_wordless
from mvdfq.gram.features import SequenceFeatures
from mvdfq.gram.sums import inverse_root
from mvdfq.machines.machine import Machine
from mvdfq.machines.standard import Learned, Scale, StandardGram, on_host, pieces_of
from mvdfq.machines.svm import Margins
from mvdfq.machines.table_sums import dense_table, first_slots
from mvdfq.machines.word_table import WordTable
from mvdfq.symbols.base import Symbols

__all__ = ["WordMachine"]


@dataclass(repr=False)
class WordMachine(Machine):
    """A machine that keeps one weight per word and column.

    `values` holds one array of shape (n_slots, n_cells, n_columns) for each group of layouts, as
    `GroupTable` does. `norms` is the share of each row in the squared norms of the machines.
    `train` are the training sequences, for similarities; None in a view. `scales` are the means and
    deviations of the words: model files do not hold them, `train` gives them again.
    """

    reader: SequenceFeatures
    values: list[np.ndarray] = field(default_factory=list)
    norms: np.ndarray = field(default_factory=lambda: np.empty(0))
    train: Symbols | None = None
    min_share: float = 0.0
    _scales: list[Scale] = field(default_factory=list, repr=False)

    @classmethod
    def from_gram(
        cls, gram: StandardGram, reader: SequenceFeatures, coefficients: np.ndarray
    ) -> "WordMachine":
        """Return the machine with these coefficients of the training sequences."""
        pieces, n_columns = gram.learned(coefficients), coefficients.shape[1]
        machine = cls.of_learned(reader, pieces, n_columns, gram.n_jobs)
        machine._scales = gram.scales
        return machine

    @classmethod
    def of_learned(
        cls,
        reader: SequenceFeatures,
        pieces: Iterable[Learned],
        n_columns: int,
        n_jobs: int | None,
    ) -> "WordMachine":
        """Return the machine that learned these pieces, which hold all rows."""
        plan = reader.plan_
        firsts = first_slots(plan, np.arange(len(plan.n_symbols)))
        values = [np.zeros((f[-1], len(plan.cells), n_columns), np.float32) for f in firsts]
        norms, intercepts = np.zeros(len(plan.n_symbols)), np.zeros(n_columns)
        for learned in pieces:
            intercepts += learned.intercepts
            norms[learned.rows] = learned.norms
            _place(learned, reader.row_mean(), firsts, values)
        margins = Margins(np.zeros((0, n_columns)), intercepts)
        return cls(reader, margins, None, n_jobs, values=values, norms=norms)

    def of(self, collection: Any) -> np.ndarray:
        """Return the margins of sequences; words with unseen symbols do not count."""
        assert self.table is not None
        margins, norms = self.table.margins(collection, self.n_jobs)
        warn_wordless(norms)
        return margins + self.margins.intercepts

    @property
    def train_symbols(self) -> Any:
        """The training sequences, as `reader` reads them; None in a view."""
        return self.train

    def features(self, collection: Symbols) -> Iterator[np.ndarray]:
        """Yield the standardized words of sequences, a few rows at a time."""
        pieces = pieces_of(collection.without_unseen(), self.reader.plan_)
        for (_, make), scale in zip(pieces, self.scales, strict=True):
            yield on_host(scale.features(make()))

    @property
    def scales(self) -> list[Scale]:
        """The scales of all pieces; empty for a view that was read from a file."""
        if not self._scales and self.train is not None:
            pieces = pieces_of(self.train, self.reader.plan_)
            self._scales = [Scale.of(make(), self.min_share) for _, make in pieces]
        return self._scales

    @property
    def n_words(self) -> int:
        """Number of words that are not left out, by which the training kernel matrix is divided."""
        return max(sum(scale.kept.size for scale in self.scales), 1)

    def compare(self, left: Symbols, right: Symbols) -> np.ndarray:
        """Return the cosines of the features of left and right sequences."""
        products = np.zeros((len(left), len(right)))
        own, other = np.zeros(len(left)), np.zeros(len(right))
        for a, b in zip(self.features(left), self.features(right), strict=True):
            products += a @ b.T
            own += np.einsum("ij,ij->i", a, a)
            other += np.einsum("ij,ij->i", b, b)
        return products * inverse_root(own)[:, None] * inverse_root(other)

    def similarities(self, collection: Any) -> np.ndarray:
        """Return the cosines of the features of sequences and of the training sequences."""
        assert self.train is not None
        return self.compare(collection, self.train)

    def _build(self) -> WordTable:
        plan = self.reader.plan_
        return dense_table(
            plan, np.arange(len(plan.n_symbols)), self.values, self.reader.row_mean()
        )


def _place(
    learned: Learned, mean: float, firsts: list[np.ndarray], values: list[np.ndarray]
) -> None:
    """Copy the weights of some rows, in the order of `root_shares`, to the slots of their words."""
    start = 0
    for r in learned.rows.tolist():
        for first, slots in zip(firsts, values, strict=True):
            mine = slots[first[r] : first[r + 1]].reshape(-1, slots.shape[2])
            a, b = np.searchsorted(learned.kept, [start, start + len(mine)])
            # tables divide by the mean of rows, as kernels do
            mine[learned.kept[a:b] - start] = learned.weights[a:b] * mean
            start += len(mine)

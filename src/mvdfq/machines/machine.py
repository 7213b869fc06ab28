"""Trained machines: margins of new sequences, by a word table if the kernel has one."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from mvdfq._utils.memory import parse_memory
from mvdfq._utils.short import Short
from mvdfq.gram.base import warn_wordless
from mvdfq.gram.features import SequenceFeatures
from mvdfq.gram.kernel import SequenceKernel
from mvdfq.gram.sums import Gram, inverse_root
from mvdfq.gram.vocabulary import Vocabulary
from mvdfq.machines.svm import Margins
from mvdfq.machines.table_sums import TableTooLarge, dense_table, learned_table, sum_up
from mvdfq.machines.word_table import WordTable, has_table
from mvdfq.symbols.base import Symbols

__all__ = ["KernelMachine", "LinearMachine", "Machine"]


@dataclass(repr=False)
class Machine(Short):
    """What kernel and linear machines share: the margins of new sequences.

    The word table is made when it is first needed, if it fits into the memory limit.
    """

    reader: SequenceKernel | SequenceFeatures
    margins: Margins
    memory_limit: Any = None
    n_jobs: int | None = None
    _made: dict[str, Any] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": {}}  # large, and quick to make again

    def once(self, name: str, make: Callable[["Machine"], Any]) -> Any:
        """Return ``make(self)``, which is computed once and kept under `name`."""
        if name not in self._made:
            self._made[name] = make(self)
        return self._made[name]

    @property
    def table(self) -> WordTable | None:
        """The word table; None if the table does not fit or the kernel is not a sum over words."""
        return self.once("table", lambda machine: machine._build())

    def of(self, collection: Any) -> np.ndarray:
        """Return the margins of sequences, (n_sequences, n_problems), read by `reader.read_new`."""
        if self.table is None:
            return self.margins.of(self.reader.values(collection))
        margins, norms = self.table.margins(collection, self.n_jobs)
        margins += self.margins.intercepts
        # unseen symbols are not in the table, but they count in the norm: use the kernel instead
        strange = np.flatnonzero(_has_unseen(collection, self.table.plan.kernel.is_closed))
        norms[strange] = 1
        warn_wordless(norms)
        if strange.size:
            margins[strange] = self.margins.of(self.reader.values(collection[strange]))
        return margins

    @property
    def train_symbols(self) -> Any:
        """The training sequences, as `reader` reads them; None if they are not kept."""
        return None

    @property
    def n_train(self) -> int:
        """Number of training sequences."""
        return 0 if self.train_symbols is None else len(self.train_symbols)

    def similarities(self, collection: Any) -> np.ndarray:
        """Return the kernel values of sequences with the training sequences."""
        raise NotImplementedError

    def _build(self) -> WordTable | None:
        raise NotImplementedError


@dataclass(repr=False)
class KernelMachine(Machine):
    """Machines on kernel values, with the `norms` and `scale` of the training sequences.

    `values` are the weights of a dense word table, if they are kept: see `keep_table`.
    """

    reader: SequenceKernel
    norms: np.ndarray = field(default_factory=lambda: np.empty(0))
    scale: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    values: list[np.ndarray] | None = None

    @classmethod
    def from_gram(cls, kernel: SequenceKernel, result: Gram, margins: Margins) -> "KernelMachine":
        """Return the machine on a kernel whose training matrix was `result`."""
        return cls(
            kernel,
            margins,
            kernel.memory_limit,
            kernel.n_jobs,
            norms=result.left,
            scale=result.scale,
        )

    @property
    def train_symbols(self) -> Any:
        """The training sequences, as `reader` reads them."""
        return self.reader.train_

    @property
    def coefficients(self) -> np.ndarray:
        """Coefficients for kernel values that are not yet divided by the training norms."""
        if not self.reader.normalize:
            return self.margins.coefficients
        return self.margins.coefficients * inverse_root(self.norms)[:, None]

    @property
    def mean(self) -> float | None:
        """The divisor of kernel values; None means the norms of both sequences."""
        return None if self.reader.normalize else self.reader.row_mean()

    def similarities(self, collection: Any) -> np.ndarray:
        """Return the kernel values of sequences with the training sequences."""
        return self.reader.values(collection)

    def keep_table(self) -> None:
        """Keep the word table with the machine if it is smaller than the training sequences.

        A model file then holds the table, which takes as long to build as reading all training
        sequences.
        """
        table = self.table
        if table is None or not all(group.dense for group in table.groups):
            return
        if table.nbytes < self.reader.train_.data.nbytes:
            self.values = [group.values for group in table.groups]

    def _build(self) -> WordTable | None:
        kernel = self.reader
        if kernel.gamma is not None or not has_table(kernel.plan_):
            return None
        if self.values is not None:
            rows = np.flatnonzero(kernel.plan_.row_weights)
            return dense_table(kernel.plan_, rows, self.values, self.mean)
        used = np.flatnonzero(self.margins.coefficients.any(axis=1))
        try:
            return sum_up(
                cast(Symbols, kernel.train_.take(used)),
                kernel.plan_,
                self.coefficients[used],
                self.scale[:, used],
                self.mean,
                parse_memory(self.memory_limit),
                self.n_jobs,
            )
        except TableTooLarge:
            return None


@dataclass(repr=False)
class LinearMachine(Machine):
    """Machines on explicit features: the coefficients are the weights of words.

    `train` are the features of the training sequences.
    """

    reader: SequenceFeatures
    train: sp.csr_array = None

    @property
    def n_train(self) -> int:
        """Number of training sequences."""
        return self.train.shape[0]

    def similarities(self, collection: Any) -> np.ndarray:
        """Return the kernel values of sequences with the training sequences."""
        return (self.reader.values(collection) @ self.train.T).toarray()

    def _build(self) -> WordTable | None:
        features = self.reader
        if not isinstance(features.columns_, Vocabulary) or not has_table(features.plan_):
            return None
        try:
            return learned_table(
                features.columns_,
                features.plan_,
                self.margins.coefficients,
                None if features.normalize else features.row_mean(),
                parse_memory(self.memory_limit),
            )
        except TableTooLarge:
            return None


def _has_unseen(symbols: Symbols, closed: bool) -> np.ndarray:
    """Tell which sequences hold symbols that `fit` did not see."""
    if closed:
        return np.zeros(len(symbols), dtype=bool)
    unseen_frames = np.append(symbols.unseen.any(axis=0), False)
    frames = np.add.reduceat(unseen_frames.astype(int), symbols.offsets[:-1])
    return (frames > 0) & (symbols.lengths > 0)

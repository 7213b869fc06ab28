"""Terms that count words plainly, fitted: by kernel values, or by explicit features."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from mvdfq._utils.checks import parse_memory
from mvdfq.gram.features import SequenceFeatures
from mvdfq.gram.kernel import SequenceKernel
from mvdfq.gram.plan import inverse_root
from mvdfq.gram.vocabulary import Vocabulary
from mvdfq.symbols.base import Symbols
from mvdfq.terms import word_table
from mvdfq.terms.fitted import ReadingTerm
from mvdfq.terms.standard import class_members
from mvdfq.terms.typical import Nearness, squared
from mvdfq.terms.word_table import Weigh, WordTable, has_table


@dataclass(repr=False, kw_only=True)
class FittedPlain(ReadingTerm):
    """What kernel values and explicit features share: sums by the word table if there is one."""

    coefficients: np.ndarray
    memory_limit: Any = None

    @classmethod
    def of(cls, coefficients: np.ndarray, share: float, reader: Any, **about: Any) -> Any:
        """Return the term, given the coefficients of its machines."""
        about |= {"reader": reader, "memory_limit": reader.memory_limit, "n_jobs": reader.n_jobs}
        intercepts = _least(reader) * coefficients.sum(axis=0)
        return cls(coefficients=coefficients, share=share, intercepts=intercepts, **about)

    def sums(self, read: Any) -> np.ndarray:
        """Return the sums of the weights of words, (n_sequences, n_columns)."""
        if self.table is None:
            return self._products(read)
        sums = self.table.margins(read, self.n_jobs)
        # unseen symbols are not in the table, but they count in the norm: use the kernel instead
        if not self.table.plan.kernel.is_closed:
            unseen_frames = np.append(read.unseen.any(axis=0), False)
            frames = np.add.reduceat(unseen_frames.astype(int), read.offsets[:-1])
            strange = np.flatnonzero((frames > 0) & (read.lengths > 0))
            if strange.size:
                sums[strange] = self._products(read[strange])
        return sums

    def _products(self, read: Any) -> np.ndarray:
        return self.reader.values(read) @ self.coefficients

    @property
    def mean(self) -> float | None:
        """The divisor of kernel values; None means the norms of both sequences."""
        return None if self.reader.normalize else self.reader.row_mean()

    def _table_of(self, weigh: Weigh) -> WordTable | None:
        plan, memory = self.reader.plan_, parse_memory(self.memory_limit)
        n_columns = self.coefficients.shape[1]
        return word_table.word_table(plan, weigh, n_columns, self.mean, memory, self.n_jobs)


@dataclass(repr=False, kw_only=True)
class FittedKernel(FittedPlain):
    """Machines on kernel values, with the `norms` and `scale` of the training sequences.

    `values` are the weights of a dense word table, if they are kept: see `prepare_saving`. With the
    Hellinger RBF, the value of two sequences without a common word is in `intercepts`.
    """

    reader: SequenceKernel
    norms: np.ndarray
    scale: np.ndarray
    values: list[np.ndarray] | None = None

    @property
    def train(self) -> Any:
        """The training sequences, as `reader` reads them."""
        return self.reader.train_

    def _products(self, read: Any) -> np.ndarray:
        return (self.reader.values(read) - _least(self.reader)) @ self.coefficients

    @property
    def divided(self) -> np.ndarray:
        """Coefficients for kernel values that are not yet divided by the training norms."""
        if not self.reader.normalize:
            return self.coefficients
        return self.coefficients * inverse_root(self.norms)[:, None]

    def compare(self, left: Any, right: Any) -> np.ndarray:
        """Return the kernel values of sequences."""
        return self.reader.compare(left, None if right is left else right)[0]

    def nearness(self, read: Any, y: np.ndarray) -> Nearness:
        """Return the products of sequences with themselves and with the means of the classes.

        The means are machines whose coefficients are the shares of members; model files do not
        hold sample weights, so all members count alike.
        """
        least, members = _least(self.reader), class_members(y, None, by_class=True)
        none = np.zeros(members.shape[1])
        about: Any = {"coefficients": members, "intercepts": none, "values": None, "_made": {}}
        means = self.once("means", lambda: replace(self, **about))
        products = self.once("products", lambda: members.T @ (means.sums(self.train) + least))
        # plain kernels are normalized
        return Nearness(np.ones(len(read)), means.sums(read) + least, products)

    def prepare_saving(self) -> None:
        """Keep the word table with the term if the table is smaller than the training sequences.

        To build the table takes as long as to read all training sequences.
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
            return word_table.dense_table(kernel.plan_, rows, self.values, self.mean)
        # only support vectors add something to the table
        used = np.flatnonzero(self.coefficients.any(axis=1))
        train = cast(Symbols, kernel.train_.take(used))
        learned = train, kernel.plan_, self.divided[used], self.scale[:, used]
        return self._table_of(partial(word_table.summed_words, *learned))


@dataclass(repr=False, kw_only=True)
class FittedFeatures(FittedPlain):
    """Machines on features, by weights of words; `kept` are the features of training sequences."""

    reader: SequenceFeatures
    kept: sp.csr_array | None = None

    @property
    def train(self) -> Any:
        """The features of the training sequences that are kept."""
        return self.kept

    def compare(self, left: Any, right: Any) -> np.ndarray:
        """Return the kernel values of sequences, or of their features."""
        a, b = (x if sp.issparse(x) else self.reader.values(x) for x in (left, right))
        return (a @ b.T).toarray()

    def nearness(self, read: Any, y: np.ndarray) -> Nearness:
        """Return the products of sequences with themselves and with the means of the classes."""
        kept: Any = self.kept
        members, features = class_members(y, None, by_class=True), self.reader.values(read)
        means = self.once("means", lambda: kept.T @ members)
        own = np.asarray(squared(features).sum(axis=1)).ravel()
        return Nearness(own, features @ means, means.T @ means)

    def _build(self) -> WordTable | None:
        features = self.reader
        if not isinstance(features.columns_, Vocabulary) or not has_table(features.plan_):
            return None
        learned = features.columns_, features.plan_, self.coefficients
        return self._table_of(partial(word_table.learned_words, *learned))


def _least(reader: SequenceKernel | SequenceFeatures) -> float:
    """Return the kernel value of two sequences without a common word: 0 but for the RBF."""
    gamma = getattr(reader, "gamma", None)
    return 0.0 if gamma is None else float(np.exp(-2 * float(gamma)))

"""Weights of words: where a machine keeps what it learned of a word."""

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvdfq.gram.features import SequenceFeatures
from mvdfq.kernels.keys import word_keys
from mvdfq.symbols.base import Symbols
from mvdfq.terms.table_sums import sum_group
from mvdfq.terms.word_table import GroupTable

# The word table of one group has no memory limit: the table is made, used and dropped.
UNBOUNDED = 2**62


def weights_of_words(term: Any, symbols: Symbols) -> Any:
    """Return a function from groups to the weights of words of a `ReadingTerm`."""
    if term.table is not None:
        tables = term.table.groups
        return lambda g: _Looked(tables[g]).weights
    if isinstance(term.reader, SequenceFeatures):
        return lambda g: _Columns(term, g).weights
    coefficients, train = _rbf_split(term, symbols), term.reader.train_

    def made_for_once(g: int) -> Any:
        table = sum_group(train, term.reader.plan_, g, coefficients, term.scale, UNBOUNDED)
        return _Looked(table).weights

    return made_for_once


def _rbf_split(term: Any, symbols: Symbols) -> np.ndarray:
    """Return coefficients with which the RBF is linear in the kernel, for one sequence.

    ``exp(-g (2 - 2 K)) - exp(-2 g)`` is 0 for K = 0, so this difference is K times a number.
    """
    gamma = term.reader.gamma
    if gamma is None:
        return term.divided
    linear = copy(term.reader)
    linear.gamma = None
    K = linear.compare(symbols, linear.train_)[0][0]
    slope = np.full_like(K, 2 * gamma * np.exp(-2 * gamma))
    # exp(2 g K) alone would overflow if g is large
    difference = -np.expm1(-2 * gamma * K) * np.exp(2 * gamma * np.minimum(K - 1, 0))
    np.divide(difference, K, out=slope, where=K > 0)
    return term.divided * slope[:, None]


@dataclass(frozen=True)
class _Looked:
    """Weights of words, looked up in a word table."""

    table: GroupTable

    def weights(
        self, p: int, cell: int, words: np.ndarray, owners: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return a number of each word of each sequence, and its weights in one cell."""
        base = int(self.table.bases[p])
        # a key of an unseen symbol would be the key of another word
        known = np.all(words < base, axis=1)
        slots = self.table.slots(p, word_keys(np.where(known[:, None], words, 0), base))
        known &= slots >= 0
        weights = self.table.values[slots, cell].astype(float)
        return np.arange(len(words)), np.where(known[:, None], weights, 0)


@dataclass(frozen=True)
class _Columns:
    """Weights of words that are columns of explicit features."""

    term: Any
    g: int

    def weights(
        self, p: int, cell: int, words: np.ndarray, owners: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers that tell the columns of each sequence apart, and their weights."""
        features = self.term.reader
        plan = features.plan_
        r = int(np.flatnonzero(plan.row_weights)[p])
        task = self.g * len(plan.cells) + cell
        column = features.columns_.columns_of(r, task, words, int(plan.n_symbols[r]))
        # words without a column must not share a count
        unknown = column.max(initial=0) + 1 + np.arange(len(column))
        ids = np.where(column >= 0, column, unknown)
        _, ids = np.unique(owners * (int(ids.max(initial=0)) + 1) + ids, return_inverse=True)
        factor = np.sqrt(plan.row_weights[r] * plan.groups(r)[self.g].weight)
        weights = factor * self.term.coefficients[column]
        return ids, np.where(column[:, None] >= 0, weights, 0)

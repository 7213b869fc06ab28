"""Weights of words: where a machine keeps what it learned of a word."""

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvdfq.kernels.keys import word_keys
from mvdfq.machines.machine import KernelMachine, LinearMachine, Machine
from mvdfq.machines.table_sums import sum_group
from mvdfq.machines.word_table import GroupTable
from mvdfq.symbols.base import Symbols

__all__ = ["weights_of_words"]

# The word table of one group has no memory limit: the table is made, used and dropped.
UNBOUNDED = 2**62


def weights_of_words(machine: Machine, symbols: Symbols) -> tuple[Any, np.ndarray]:
    """Return a function from groups to the weights of words, and the constant part."""
    intercepts = machine.margins.intercepts
    if machine.table is not None:
        tables = machine.table.groups
        return lambda g: _Looked(tables[g]).weights, intercepts
    if isinstance(machine, LinearMachine):
        return lambda g: _Columns(machine, g).weights, intercepts
    assert isinstance(machine, KernelMachine)
    coefficients, constant = _rbf_split(machine, symbols)
    train: Any = machine.reader.train_

    def made_for_once(g: int) -> Any:
        table = sum_group(train, machine.reader.plan_, g, coefficients, machine.scale, UNBOUNDED)
        return _Looked(table).weights

    return made_for_once, intercepts + constant


def _rbf_split(machine: KernelMachine, symbols: Symbols) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients with which the RBF is linear in the kernel, for one sequence.

    ``exp(-g (2 - 2 K)) - exp(-2 g)`` is 0 for K = 0, so this difference is K times a number.
    """
    gamma = machine.reader.gamma
    if gamma is None:
        return machine.coefficients, np.zeros(len(machine.margins.intercepts))
    linear = _without_gamma(machine)
    K = linear.compare(symbols, linear.train_)[0][0]
    slope = np.full_like(K, 2 * gamma * np.exp(-2 * gamma))
    # exp(2 g K) alone would overflow if g is large
    difference = -np.expm1(-2 * gamma * K) * np.exp(2 * gamma * np.minimum(K - 1, 0))
    np.divide(difference, K, out=slope, where=K > 0)
    constant = np.exp(-2 * gamma) * machine.margins.coefficients.sum(axis=0)
    return machine.coefficients * slope[:, None], constant


def _without_gamma(machine: KernelMachine) -> Any:
    kernel = copy(machine.reader)
    kernel.gamma = None
    return kernel


@dataclass(frozen=True)
class _Looked:
    """Weights of words, looked up in a word table."""

    table: GroupTable

    def weights(
        self, p: int, cell: int, words: np.ndarray, owners: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return a number of each word of each sequence, and its weights in one cell."""
        base = int(self.table.bases[p])
        known = np.all(words < base, axis=1)
        slots = self.table.slots(p, word_keys(np.where(known[:, None], words, 0), base))
        known &= slots >= 0
        weights = self.table.values[slots, cell].astype(float)
        return np.arange(len(words)), np.where(known[:, None], weights, 0)


@dataclass(frozen=True)
class _Columns:
    """Weights of the words of a linear machine: the weights of their columns."""

    machine: LinearMachine
    g: int

    def weights(
        self, p: int, cell: int, words: np.ndarray, owners: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers that tell the columns of each sequence apart, and their weights."""
        features = self.machine.reader
        plan = features.plan_
        r = int(np.flatnonzero(plan.row_weights)[p])
        task = self.g * len(plan.cells) + cell
        column = features.columns_.columns_of(r, task, words, int(plan.n_symbols[r]))
        unknown = column.max(initial=0) + 1 + np.arange(len(column))
        ids = np.where(column >= 0, column, unknown)
        _, ids = np.unique(owners * (int(ids.max(initial=0)) + 1) + ids, return_inverse=True)
        factor = np.sqrt(plan.row_weights[r] * plan.groups(r)[self.g].weight)
        weights = factor * self.machine.margins.coefficients[column]
        return ids, np.where(column[:, None] >= 0, weights, 0)

"""The importance of rows: their shares in what was learned."""

import numpy as np

from mvdfq.gram.vocabulary import Vocabulary
from mvdfq.machines.alignment import row_units, unit_grams
from mvdfq.machines.machine import KernelMachine, LinearMachine, Machine
from mvdfq.machines.word_machine import WordMachine
from mvdfq.machines.word_table import WordTable
from mvdfq.symbols.base import Symbols

__all__ = ["row_norms", "shares_of_norms"]


def row_norms(machine: Machine) -> np.ndarray:
    """Return the part of each row in the squared norms of all machines."""
    if isinstance(machine, WordMachine):
        return machine.norms
    if isinstance(machine, KernelMachine):
        norms = _kernel_norms(machine) if machine.table is None else _table_norms(machine.table)
    else:
        assert isinstance(machine, LinearMachine)
        norms = _linear_norms(machine)
    return np.maximum(norms, 0)  # rounding may leave a norm just below 0


def shares_of_norms(norms: np.ndarray) -> np.ndarray:
    """Return norms as shares that sum to 1; equal shares if all norms are 0."""
    return norms / norms.sum() if norms.any() else np.full(len(norms), 1 / len(norms))


def _table_norms(table: WordTable) -> np.ndarray:
    """Return the squared norms from the weights of words, which hold the weights of the kernel.

    A word of row `r` and group `g` weighs ``v = w_r * w_g * sum_i(a_i * count_i)``. The part of
    the word in the squared norm is ``w_r * w_g * sum_i(a_i * count_i)**2 = v**2 / (w_r * w_g)``.
    """
    norms = np.zeros(len(table.plan.row_weights))
    for weights, group in zip(table.group_weights, table.groups, strict=True):
        squares = (group.values.astype(float) ** 2).sum(axis=(1, 2))
        mine = np.add.reduceat(np.append(squares, 0), group.first[:-1])
        factors = weights * table.plan.row_weights[table.rows]
        norms[table.rows] += np.divide(mine, factors, out=np.zeros_like(mine), where=factors != 0)
    return norms


def _kernel_norms(machine: KernelMachine) -> np.ndarray:
    kernel, coefficients = machine.reader, machine.coefficients
    if not isinstance(kernel.train_, Symbols):
        raise AttributeError(
            f"{type(kernel.plan_.kernel).__name__} reads all rows together, so it does not have "
            f"an importance per row; use a kernel of symbols, such as mvdfq.Spatial()."
        )
    used = np.flatnonzero(coefficients.any(axis=1))
    units = row_units(kernel.train_[used], kernel.plan_)
    grams = unit_grams(units, kernel.n_jobs, kernel.memory_limit)
    mine = coefficients[used]
    squares = [float(np.einsum("ic,ij,jc->", mine, K, mine, optimize=True)) for K in grams]
    return np.array(squares) * kernel.plan_.row_weights


def _linear_norms(machine: LinearMachine) -> np.ndarray:
    columns, coefficients = machine.reader.columns_, machine.margins.coefficients
    if not isinstance(columns, Vocabulary):
        raise AttributeError(
            "The words of all rows are hashed to the same columns, so the importance of a row is "
            "not known; pass solver='kernel', which keeps the words of each row apart."
        )
    norms = np.zeros(len(machine.reader.plan_.row_weights))
    for (r, t), words in columns.words.items():
        first = columns.first[r, t]
        norms[r] += float((coefficients[first : first + len(words)] ** 2).sum())
    return norms

r"""Evidence: what each word of a sequence adds to the margin of each class, exactly.

A machine on an additive kernel is a sum over words, :math:`f(x) = \sum_u w_u \phi_u(x) + b`. The
share of a word is divided equally among its occurrences, and the share of an occurrence among the
frames that the word reads. Shares added up by row, by time or by layout give the margin.
"""

from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from mvdfq._utils.short import Short
from mvdfq.gram.features import SequenceFeatures
from mvdfq.gram.plan import Plan
from mvdfq.gram.tiles import inverse_root, row_scale
from mvdfq.kernels import Group
from mvdfq.kernels.counting import GroupTask, Occurrences, Row
from mvdfq.kernels.keys import rank_words, word_keys
from mvdfq.machines.machine import KernelMachine, LinearMachine, Machine
from mvdfq.machines.word_table import GroupTable, sum_group
from mvdfq.symbols.base import Symbols

__all__ = ["Evidence", "find_evidence"]

# The word table of one group has no memory limit: the table is made, used and dropped.
UNBOUNDED = 2**62


@dataclass(frozen=True, repr=False)
class Evidence(Short):
    """The evidence for each column of a machine.

    `by_frame` is (n_columns, n_rows, n_frames), `by_layout` is (n_columns, n_rows, n_groups). The
    sum over rows and frames, or over rows and layouts, is the margins minus `constant`. `words`
    lists the words of the sequence: row, group, codes, frames where windows start, layouts, and
    the evidence of each occurrence, (n_starts, n_columns).
    """

    by_frame: np.ndarray
    by_layout: np.ndarray
    constant: np.ndarray
    words: list[tuple[Any, ...]]


def find_evidence(machine: Machine, symbols: Symbols) -> Evidence:
    """Return the evidence in `symbols`, which holds one sequence with the rows in use."""
    plan = machine.reader.plan_
    _check_traceable(plan)
    weigh, constant = _weights(machine, symbols)
    rows = np.flatnonzero(plan.row_weights)
    n_groups, n_columns = len(plan.groups(0)), len(machine.margins.intercepts)
    by_frame = np.zeros((n_columns, len(plan.row_weights), symbols.data.shape[1]))
    by_layout = np.zeros((n_columns, len(plan.row_weights), n_groups))
    own, total = np.zeros(len(plan.row_weights)), np.zeros(len(plan.row_weights))
    found: list[tuple[int, int, Occurrences, np.ndarray]] = []
    for g in range(n_groups):
        weights_of = weigh(g)
        for p, r in enumerate(rows.tolist()):
            row, group = plan.row([symbols], r), plan.groups(r)[g]
            read = GroupTask(group).occurrences(row)
            shares, squares = _shares(read, row, group, plan, partial(weights_of, p))
            total[r] += squares
            own[r] += group.weight * squares
            found.append((r, g, read, shares))
    scale = _scales(machine, symbols, own, total)
    words: list[tuple[Any, ...]] = []
    for r, g, read, shares in found:
        shares *= scale[r]
        by_layout[:, r, g] = shares.sum(axis=0)
        _spread(read, plan.groups(r)[g], shares, by_frame[:, r])
        words += [(r, g, *word) for word in _by_word(read, shares)]
    return Evidence(by_frame, by_layout, constant, words)


def _check_traceable(plan: Plan) -> None:
    """Raise an error for a kernel that does not count the words of the sequence."""
    if plan.counts_groups:
        return
    hint = "use a kernel of layouts, such as mvdfq.Spatial() or mvdfq.Gapped()"
    if plan.kernel.counts_groups(needs_counts=False):
        hint = f"pass solver='kernel' and manifold=False, or {hint}"
    options = f"manifold={plan.root}, solver={'linear' if plan.listed else 'kernel'!r}"
    raise ValueError(
        f"The evidence of {plan.kernel!r} with {options} cannot be traced to frames: this "
        f"kernel does not count the words of the sequence; {hint}."
    )


def _scales(machine: Machine, symbols: Symbols, own: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Return the factor of each row: from the norm of the row and the norm of the sequence."""
    reader, plan = machine.reader, machine.reader.plan_
    scale = row_scale(plan, own, total) if plan.normalises_rows else np.ones_like(own)
    if not reader.normalize:
        return scale / reader.row_mean()
    if isinstance(reader, SequenceFeatures) and machine.table is None:
        return scale * inverse_root(reader.norms(symbols))  # words may share columns
    return scale * inverse_root(np.array([(plan.row_weights * own * scale**2).sum()]))


def _shares(
    read: Occurrences, row: Row, group: Group, plan: Plan, weights_of: Any
) -> tuple[np.ndarray, float]:
    """Return the evidence of every occurrence, before norms, and the sum of squared counts."""
    n_words = np.array([row.data.size - layout.window[-1] for layout in group.layouts])[read.layout]
    shares: Any = 0.0
    squares = 0.0
    amount = group.layout_weights[read.layout]
    for c, (level, cell) in enumerate(plan.cells):
        inside = np.flatnonzero(read.starts * 2**level // np.maximum(n_words, 1) == cell)
        ids, weights = weights_of(c, read.words[inside])
        count = np.bincount(ids, amount[inside], minlength=1)
        embedded = np.sqrt(count) if plan.root else count
        squares += float(embedded @ embedded)
        factor = (amount[inside] * embedded[ids] / count[ids])[:, None]
        full = np.zeros((len(read.starts), weights.shape[1]))
        full[inside] = factor * weights
        shares = shares + full
    return shares, squares


def _spread(read: Occurrences, group: Group, shares: np.ndarray, frames: np.ndarray) -> None:
    """Divide the evidence of every occurrence among the frames that the occurrence reads."""
    for j, layout in enumerate(group.layouts):
        mine = read.layout == j
        places = layout.offsets or layout.window  # a word of wildcards only has no offsets
        for offset in places:
            np.add.at(frames.T, read.starts[mine] + offset, shares[mine] / len(places))


def _by_word(read: Occurrences, shares: np.ndarray) -> list[tuple[np.ndarray, ...]]:
    """Return codes, starts, layouts and evidence of the occurrences of every word."""
    ranks, first = rank_words(read.words)
    order = np.argsort(ranks, kind="stable")
    ends = np.cumsum(np.bincount(ranks.astype(np.int64), minlength=len(first))).tolist()
    pieces = (order[a:b] for a, b in pairwise([0, *ends]))
    pairs = zip(read.words[first], pieces, strict=True)
    return [(word, read.starts[i], read.layout[i], shares[i]) for word, i in pairs]


def _weights(machine: Machine, symbols: Symbols) -> tuple[Any, np.ndarray]:
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
    slope = np.full_like(K, 2 * gamma)
    np.divide(np.expm1(2 * gamma * K), K, out=slope, where=K > 0)
    slope *= np.exp(-2 * gamma)
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

    def weights(self, p: int, cell: int, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers that tell words apart, and their weights in one cell."""
        base = int(self.table.bases[p])
        known = np.all(words < base, axis=1)
        slots = self.table.slots(p, word_keys(np.where(known[:, None], words, 0), base))
        known &= slots >= 0
        weights = self.table.values[slots, cell].astype(float)
        return rank_words(words)[0].astype(np.int64), np.where(known[:, None], weights, 0)


@dataclass(frozen=True)
class _Columns:
    """Weights of the words of a linear machine: the weights of their columns."""

    machine: LinearMachine
    g: int

    def weights(self, p: int, cell: int, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers that tell columns apart, and their weights."""
        features = self.machine.reader
        plan = features.plan_
        r = int(np.flatnonzero(plan.row_weights)[p])
        task = self.g * len(plan.cells) + cell
        column = features.columns_.columns_of(r, task, words, int(plan.n_symbols[r]))
        ranks = rank_words(words)[0].astype(np.int64)
        ids = np.where(column >= 0, column, column.max(initial=0) + 1 + ranks)
        _, ids = np.unique(ids, return_inverse=True)
        factor = np.sqrt(plan.row_weights[r] * plan.groups(r)[self.g].weight)
        weights = factor * self.machine.margins.coefficients[column]
        return ids, np.where(column[:, None] >= 0, weights, 0)

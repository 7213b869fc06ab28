r"""Evidence: what each word of a sequence adds to the margin of each class, exactly.

A term is a sum over words, :math:`\sum_u w_u \phi_u(x)`. The share of a word is divided equally
among its occurrences, and the share of an occurrence among the frames that the word reads. Shares
added up by row, by time or by layout give the margin.
"""

from collections.abc import Callable
from copy import copy
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from mvdfq.gram.features import SequenceFeatures
from mvdfq.gram.plan import Plan
from mvdfq.kernels.counting import GroupTask
from mvdfq.kernels.keys import word_keys
from mvdfq.symbols.base import Symbols
from mvdfq.terms.dense_evidence import dense_evidence, is_dense
from mvdfq.terms.evidence_words import Evidence, WordBlock, joined
from mvdfq.terms.occurrences import Norms, Read, by_word, shares_of, spread
from mvdfq.terms.word_table import GroupTable, sum_group

# The word table of one group has no memory limit: the table is made, used and dropped.
UNBOUNDED = 2**62
# Numbers that tell the columns of each sequence apart, and the weights of each column.
Weights = tuple[np.ndarray, np.ndarray]


def find_evidence(term: Any, symbols: Symbols) -> list[Evidence]:
    """Return the evidence in each sequence of `symbols`, which hold the rows in use.

    All sequences are read at once: the time for one row of one sequence is mostly overhead.
    """
    _check_traceable(term.reader.plan_)
    if getattr(term.reader, "gamma", None) is not None and len(symbols) > 1:
        # the RBF gives each sequence its own weights of words
        return [find_evidence(term, symbols[[i]])[0] for i in range(len(symbols))]
    if is_dense(term, symbols):
        return dense_evidence(term, symbols)
    return _listed_evidence(term, symbols)


def _listed_evidence(term: Any, symbols: Symbols) -> list[Evidence]:
    """Return the evidence in each sequence, by a list of all occurrences of words."""
    plan, offsets, n = term.reader.plan_, symbols.offsets, len(symbols)
    weigh, found, norms = _weights_of_words(term, symbols), [], Norms(plan, symbols)
    for g in range(len(plan.groups(0))):
        weights_of = weigh(g)
        for p, r in enumerate(np.flatnonzero(plan.row_weights).tolist()):
            row, group = plan.row([symbols], r), plan.groups(r)[g]
            read = Read.of(GroupTask(group).occurrences(row))
            shares, squares = shares_of(read, row, group, plan, partial(weights_of, p))
            norms.add(r, group, squares)
            found.append((r, g, read, shares))
    # norms are known when all groups were read
    scale = norms.scales(term, symbols)
    n_columns, n_rows = len(term.intercepts), len(plan.row_weights)
    by_frame = np.zeros((n_columns, n_rows, symbols.data.shape[1]))
    by_layout = np.zeros((n, n_columns, n_rows, len(plan.groups(0))))
    words: list[dict[int, list[WordBlock]]] = [{} for _ in range(n)]
    for r, g, read, shares in found:
        shares *= scale[r][read.all.sequence][:, None]
        # a sequence occurs many times in this index, and `+=` would add once only
        np.add.at(by_layout[:, :, r, g], read.all.sequence, shares)
        spread(read.all, plan.groups(r)[g], shares, by_frame[:, r])
        for i, (owners, *rest) in by_word(read, offsets, shares):
            words[i].setdefault(g, []).append(WordBlock(g, np.full_like(owners, r), *rest))
    return [
        Evidence(by_frame[:, :, a:b], by_layout[i], partial(_all_joined, words[i]))
        for i, (a, b) in enumerate(pairwise(offsets.tolist()))
    ]


def _all_joined(blocks: dict[int, list[WordBlock]]) -> list[WordBlock]:
    return [joined(mine) for mine in blocks.values()]


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


def _weights_of_words(term: Any, symbols: Symbols) -> Callable[[int], Callable[..., Weights]]:
    """Return a function from groups to the weights of words: where a machine keeps them."""
    if term.table is not None:
        return lambda g: partial(_looked_up, term.table.groups[g])
    if isinstance(term.reader, SequenceFeatures):
        return lambda g: partial(_weights_of_columns, term, g)
    coefficients, train = _rbf_split(term, symbols), term.reader.train_

    def made_for_once(g: int) -> Callable[..., Weights]:
        table = sum_group(train, term.reader.plan_, g, coefficients, term.scale, UNBOUNDED)
        return partial(_looked_up, table)

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


def _looked_up(
    table: GroupTable, p: int, cell: int, words: np.ndarray, owners: np.ndarray
) -> Weights:
    """Return a number of each word of each sequence, and its weights in one cell of a table."""
    base = int(table.bases[p])
    # a key of an unseen symbol would be the key of another word
    known = np.all(words < base, axis=1)
    slots = table.slots(p, word_keys(np.where(known[:, None], words, 0), base))
    known &= slots >= 0
    weights = table.values[slots, cell].astype(float)
    return np.arange(len(words)), np.where(known[:, None], weights, 0)


def _weights_of_columns(
    term: Any, g: int, p: int, cell: int, words: np.ndarray, owners: np.ndarray
) -> Weights:
    """Return numbers that tell the columns of explicit features apart, and their weights."""
    features, plan = term.reader, term.reader.plan_
    r = int(np.flatnonzero(plan.row_weights)[p])
    task = g * len(plan.cells) + cell
    column = features.columns_.columns_of(r, task, words, int(plan.n_symbols[r]))
    # words without a column must not share a count
    unknown = column.max(initial=0) + 1 + np.arange(len(column))
    ids = np.where(column >= 0, column, unknown)
    _, ids = np.unique(owners * (int(ids.max(initial=0)) + 1) + ids, return_inverse=True)
    factor = np.sqrt(plan.row_weights[r] * plan.groups(r)[g].weight)
    return ids, np.where(column[:, None] >= 0, factor * term.coefficients[column], 0)

r"""Evidence of plain words: what each adds to the margin of each class, exactly.

A term is a sum over words, :math:`\sum_u w_u \phi_u(x)`. The share of a word is divided equally
among its occurrences, and the share of an occurrence among the frames that the word reads. Shares
added up by row, by time or by layout give the margin.
"""

from collections.abc import Callable
from copy import copy
from functools import partial
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np

from mvdfq.gram.features import SequenceFeatures
from mvdfq.gram.plan import Plan, inverse_root
from mvdfq.kernels import Group
from mvdfq.kernels.base import Row
from mvdfq.kernels.counting import GroupTask, Occurrences
from mvdfq.kernels.keys import rank_words, word_keys
from mvdfq.symbols.base import Symbols
from mvdfq.terms.baseline import Evidence, WordBlock
from mvdfq.terms.word_table import GroupTable, group_table, summed_words

# The word table of one group has no memory limit: the table is made, used and dropped.
UNBOUNDED = 2**62
# Numbers that tell the columns of each sequence apart, and the weights of each column.
Weights = tuple[np.ndarray, np.ndarray]


class Read(NamedTuple):
    """All occurrences, and the distinct words of each sequence, in the order of the sequences.

    Occurrence ``e`` is of word ``ranks[e]``; `words` and `owners` are codes and sequence of words.
    """

    all: Occurrences
    ranks: np.ndarray
    words: np.ndarray
    owners: np.ndarray

    @classmethod
    def of(cls, read: Occurrences) -> "Read":
        """Number the words of each sequence."""
        # ranks are in the order of the sequences, since the sequence is the first digit
        ranks, first = rank_words(np.column_stack([read.sequence, read.words]))
        return cls(read, ranks.astype(np.int64), read.words[first], read.sequence[first])


def find_evidence(term: Any, symbols: Symbols) -> list[Evidence]:
    """Return the evidence in each sequence of `symbols`, which hold the rows in use.

    All sequences are read at once: the time for one row of one sequence is mostly overhead.
    """
    _check_traceable(term.reader.plan_)
    if getattr(term.reader, "gamma", None) is not None and len(symbols) > 1:
        # the RBF gives each sequence its own weights of words
        return [find_evidence(term, symbols[[i]])[0] for i in range(len(symbols))]
    plan, n = term.reader.plan_, len(symbols)
    n_columns, n_rows, n_groups = len(term.intercepts), len(plan.row_weights), len(plan.groups(0))
    weigh, parts, squares = _weights_of_words(term, symbols), [], np.zeros((n_groups, n_rows, n))
    for g in range(n_groups):
        weights_of = weigh(g)
        for p, r in enumerate(np.flatnonzero(plan.row_weights).tolist()):
            row, group = plan.kernel.row([symbols], r), plan.groups(r)[g]
            read = Read.of(GroupTask(group).occurrences(row))
            shares, squares[g, r] = _shares_of(read, row, group, plan, partial(weights_of, p))
            parts.append((r, g, read, shares))
    # norms are known when all groups were read
    scale = _scales(term, symbols, squares)
    by_frame = np.zeros((n_columns, n_rows, symbols.data.shape[1]))
    by_layout = np.zeros((n, n_columns, n_rows, n_groups))
    for r, g, read, shares in parts:
        shares *= scale[r][read.all.sequence][:, None]
        # a sequence occurs many times in this index, and `+=` would add once only
        np.add.at(by_layout[:, :, r, g], read.all.sequence, shares)
        _spread(read.all, plan.groups(r)[g], shares, by_frame[:, r])
    return [
        Evidence(by_frame[:, :, a:b], by_layout[i], partial(_words, parts, a, i))
        for i, (a, b) in enumerate(pairwise(symbols.offsets.tolist()))
    ]


def _words(parts: list[tuple[int, int, Read, np.ndarray]], first: int, i: int) -> list[WordBlock]:
    """Return the words of sequence `i`, whose first frame is `first`: one block per group."""
    blocks = []
    for g, same in groupby(parts, key=lambda part: part[1]):
        by_row = []
        for r, _, read, shares in same:
            places = np.flatnonzero(read.all.sequence == i)
            # stable: the occurrences of a word stay in the order of time
            places = places[np.argsort(read.ranks[places], kind="stable")]
            begin = np.flatnonzero(np.diff(read.ranks[places], prepend=-1))
            sizes, words = np.diff(begin, append=len(places)), read.all.words[places[begin]]
            facts = [read.all.starts[places] - first, read.all.layout[places], shares[places]]
            by_row.append((np.full(len(begin), r), words, sizes, *facts))
        rows, codes, sizes, *facts = map(np.concatenate, zip(*by_row, strict=True))
        if rows.size:
            blocks.append(WordBlock(g, rows, codes, np.append(0, np.cumsum(sizes)), *facts))
    return blocks


def _shares_of(
    read: Read, row: Row, group: Group, plan: Plan, weights_of: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the evidence of every occurrence, before norms, and squared counts by sequence."""
    starts, sequence, layout, _ = read.all
    windows = np.array([layout.window[-1] for layout in group.layouts])
    # possible starts of a word, which the pyramid cuts into equal parts
    n_words = np.maximum(np.diff(row.offsets)[sequence] - windows[layout], 1)
    places = starts - row.offsets[sequence]
    shares: Any = None
    squares = np.zeros(row.n_sequences)
    amount = group.layout_weights[layout]
    for c, (level, cell) in enumerate(plan.cells):
        inside = np.flatnonzero(places * 2**level // n_words == cell)
        ids, weights = weights_of(c, read.words, read.owners)
        shares = np.zeros((len(starts), weights.shape[1])) if shares is None else shares
        word, counted = read.ranks[inside], amount[inside]
        column = ids[word]
        # several words may share a column, and then they share its count
        owners = np.zeros(int(ids.max(initial=-1)) + 1, np.int64)
        owners[ids] = read.owners
        count = np.bincount(column, counted, minlength=len(owners))
        embedded = np.sqrt(count) if plan.root else count
        squares += np.bincount(owners, embedded**2, minlength=row.n_sequences)
        # the weight of a word times its embedded count, divided among its occurrences
        shares[inside] += (counted * embedded[column] / count[column])[:, None] * weights[word]
    return shares, squares


def _scales(term: Any, symbols: Symbols, squares: np.ndarray) -> np.ndarray:
    """Return the factor of each row and sequence: by the norms of the row and the sequence.

    `squares` (n_groups, n_rows, n_sequences) are the sums of squared embedded counts.
    """
    reader, plan = term.reader, term.reader.plan_
    rows = range(len(plan.row_weights))
    weights = np.array([[group.weight for group in plan.groups(r)] for r in rows], float)
    own, total = np.einsum("rg,grs->rs", weights, squares), squares.sum(axis=0)
    scale = plan.row_scale(own, total) if plan.normalises_rows else np.ones(own.shape)
    if not reader.normalize:
        return scale / reader.row_mean()
    if isinstance(reader, SequenceFeatures) and term.table is None:
        return scale * inverse_root(reader.norms(symbols))  # words may share columns
    return scale * inverse_root((plan.row_weights[:, None] * own * scale**2).sum(axis=0))


def _spread(read: Occurrences, group: Group, shares: np.ndarray, frames: np.ndarray) -> None:
    """Divide the evidence of every occurrence among the frames that the occurrence reads."""
    for j, layout in enumerate(group.layouts):
        same_layout = read.layout == j
        places = layout.offsets or layout.window  # a word of wildcards only has no offsets
        each = shares[same_layout].T / len(places)
        for offset in places:
            # a layout reads a frame once at most at each offset: no index occurs twice
            frames[:, read.starts[same_layout] + offset] += each


def _check_traceable(plan: Plan) -> None:
    """Raise an error for a kernel that does not count the words of the sequence."""
    if plan.counts_groups:
        return
    hint = "use a kernel of layouts, such as mvdfq.Spatial() or mvdfq.Gapped()"
    if plan.kernel.counts_groups(needs_counts=False):
        hint = f"pass solver='kernel' and manifold=False, or {hint}"
    options = f"manifold={plan.root}, solver={'linear' if plan.listed else 'kernel'!r}"
    problem = f"The evidence of {plan.kernel!r} with {options} cannot be traced to frames"
    raise ValueError(f"{problem}: this kernel does not count the words of the sequence; {hint}.")


def _weights_of_words(term: Any, symbols: Symbols) -> Callable[[int], Callable[..., Weights]]:
    """Return a function from groups to the weights of words: where a machine keeps them."""
    if term.table is not None:
        return lambda g: partial(_looked_up, term.table.groups[g])
    if isinstance(term.reader, SequenceFeatures):
        return lambda g: partial(_weights_of_columns, term, g)
    coefficients, train = _rbf_split(term, symbols), term.reader.train_
    plan, n_columns = term.reader.plan_, coefficients.shape[1]
    weigh = partial(summed_words, train, plan, coefficients, term.scale)
    return lambda g: partial(_looked_up, group_table(plan, g, weigh, n_columns, UNBOUNDED))


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
    ids = np.where(column >= 0, column, column.max(initial=0) + 1 + np.arange(len(column)))
    _, ids = np.unique(owners * (int(ids.max(initial=0)) + 1) + ids, return_inverse=True)
    factor = np.sqrt(plan.row_weights[r] * plan.groups(r)[g].weight)
    return ids, np.where(column[:, None] >= 0, factor * term.coefficients[column], 0)

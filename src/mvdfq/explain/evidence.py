r"""Evidence: what each word of a sequence adds to the margin of each class, exactly.

A machine on an additive kernel is a sum over words, :math:`f(x) = \sum_u w_u \phi_u(x) + b`. The
share of a word is divided equally among its occurrences, and the share of an occurrence among the
frames that the word reads. Shares added up by row, by time or by layout give the margin.
"""

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from mvdfq._engines.evidence import spread_dense
from mvdfq._utils.short import Short
from mvdfq.gram.features import SequenceFeatures
from mvdfq.gram.plan import Plan
from mvdfq.gram.tiles import inverse_root, row_scale
from mvdfq.kernels import Group
from mvdfq.kernels.counting import GroupTask, Occurrences, Row
from mvdfq.kernels.keys import rank_words, word_keys
from mvdfq.machines.machine import KernelMachine, LinearMachine, Machine
from mvdfq.machines.word_table import GroupTable, present_positions, sum_group
from mvdfq.symbols.base import Symbols

__all__ = ["Evidence", "WordBlock", "find_evidence"]

# The word table of one group has no memory limit: the table is made, used and dropped.
UNBOUNDED = 2**62


class WordBlock(NamedTuple):
    """The words of a sequence that one group of layouts reads, ordered by row and symbols.

    Word ``w`` has the symbols ``codes[w]`` in row ``rows[w]``; its occurrences are ``indptr[w]``
    to ``indptr[w + 1]`` of `starts` (frames where windows start), `layouts` and `shares` (the
    evidence, (n_occurrences, n_columns)).
    """

    group: int
    rows: np.ndarray
    codes: np.ndarray
    indptr: np.ndarray
    starts: np.ndarray
    layouts: np.ndarray
    shares: np.ndarray

    def totals(self, column: int) -> np.ndarray:
        """Return the evidence of each word, over all its occurrences."""
        return np.add.reduceat(self.shares[:, column], self.indptr[:-1])

    def take(self, words: np.ndarray) -> "WordBlock":
        """Return the block with the words at these places, in this order."""
        counts = np.diff(self.indptr)[words]
        indptr = np.append(0, np.cumsum(counts))
        at = np.arange(indptr[-1]) + np.repeat(self.indptr[words] - indptr[:-1], counts)
        parts = (part[at] for part in (self.starts, self.layouts, self.shares))
        return WordBlock(self.group, self.rows[words], self.codes[words], indptr, *parts)


def _joined(blocks: list[WordBlock]) -> WordBlock:
    """Return one block of all words of several blocks of the same group, ordered by row."""
    sizes = np.cumsum([0, *(block.indptr[-1] for block in blocks)])
    ends = [block.indptr[1:] + size for block, size in zip(blocks, sizes, strict=False)]
    columns = zip(*((b.rows, b.codes, b.starts, b.layouts, b.shares) for b in blocks), strict=True)
    rows, codes, starts, layouts, shares = (np.concatenate(column) for column in columns)
    indptr = np.concatenate([[0], *ends])
    whole = WordBlock(blocks[0].group, rows, codes, indptr, starts, layouts, shares)
    return whole if np.all(rows[:-1] <= rows[1:]) else whole.take(np.argsort(rows, kind="stable"))


@dataclass(frozen=True, repr=False)
class Evidence(Short):
    """The evidence for each column of a machine.

    `by_frame` is (n_columns, n_rows, n_frames), `by_layout` is (n_columns, n_rows, n_groups). The
    sum over rows and frames, or over rows and layouts, is the margins minus `constant`. `words`
    lists the words of the sequence, in blocks: a sequence may hold ten thousand words, so
    `find_words` lists them when they are first asked for.
    """

    by_frame: np.ndarray
    by_layout: np.ndarray
    constant: np.ndarray
    find_words: Callable[[], list[WordBlock]]

    @cached_property
    def words(self) -> list[WordBlock]:
        """The words of the sequence."""
        return self.find_words()


def find_evidence(machine: Machine, symbols: Symbols) -> list[Evidence]:
    """Return the evidence in each sequence of `symbols`, which hold the rows in use.

    All sequences are read at once: the time for one row of one sequence is mostly overhead.
    """
    _check_traceable(machine.reader.plan_)
    if getattr(machine.reader, "gamma", None) is not None and len(symbols) > 1:
        # the RBF gives each sequence its own weights of words
        return [find_evidence(machine, symbols[[i]])[0] for i in range(len(symbols))]
    if _is_dense(machine, symbols):
        return _dense_evidence(machine, symbols)
    return _listed_evidence(machine, symbols)


def _is_dense(machine: Machine, symbols: Symbols) -> bool:
    """Tell whether all words are in dense tables, so that none must be listed."""
    table, plan = machine.table, machine.reader.plan_
    if table is None or symbols.unseen.any():
        return False
    groups = [group for r in table.rows.tolist() for group in plan.groups(r)]
    plain = all(not g.distinct and all(one.offsets for one in g.layouts) for g in groups)
    return plain and all(group.dense for group in table.groups)


def _dense_evidence(machine: Machine, symbols: Symbols) -> list[Evidence]:
    """Return the evidence in each sequence, by tables of all possible words."""
    table, plan, n = machine.table, machine.reader.plan_, len(symbols)
    assert table is not None
    n_columns, n_rows = len(machine.margins.intercepts), len(plan.row_weights)
    by_frame = np.zeros((n_rows, symbols.data.shape[1], n_columns))
    by_layout = np.zeros((n_rows, len(table.groups), n, n_columns))
    own, total = np.zeros((n_rows, n)), np.zeros((n_rows, n))
    present = present_positions(symbols)
    buffer = np.empty(symbols.lengths.max(initial=0), np.uint64)
    for p, r in enumerate(table.rows.tolist()):
        here = present[r] if present.size else np.empty(0, bool)
        for g, part in enumerate(table.groups):
            squares = np.zeros(n)
            spread_dense(
                symbols.codes[r],
                symbols.offsets,
                here,
                (part.group.arrays, part.group.layout_weights, buffer),
                np.uint64(part.bases[p]),
                part.values[part.first[p] : part.first[p + 1]],
                plan.n_levels,
                plan.root,
                (by_frame[r], by_layout[r, g], squares),
            )
            total[r] += squares
            own[r] += plan.groups(r)[g].weight * squares
    scale = _scales(machine, symbols, own, total)
    by_frame *= np.repeat(scale, symbols.lengths, axis=1)[:, :, None]
    by_layout *= scale[:, None, :, None]
    words = cache(lambda: _dense_words(machine, symbols, scale))
    return [
        Evidence(
            by_frame[:, a:b].transpose(2, 0, 1),
            by_layout[:, :, i].transpose(2, 0, 1),
            machine.margins.intercepts,
            partial(lambda i: words()[i], i),
        )
        for i, (a, b) in enumerate(pairwise(symbols.offsets.tolist()))
    ]


def _dense_words(machine: Machine, symbols: Symbols, scale: np.ndarray) -> list[list[WordBlock]]:
    """Return the words of each sequence; `scale` is the factor of each row and sequence.

    Rows of one alphabet are read as if each row were a sequence: the time for one row of one
    sequence is mostly overhead, and there may be hundreds of rows.
    """
    table, plan, n = machine.table, machine.reader.plan_, len(symbols)
    assert table is not None
    words: list[list[WordBlock]] = [[] for _ in range(n)]
    sizes = table.plan.n_symbols[table.rows]
    stacks = [_Stack.of(symbols, table.rows, np.flatnonzero(sizes == k)) for k in np.unique(sizes)]
    for g, part in enumerate(table.groups):
        found: list[list[WordBlock]] = [[] for _ in range(n)]
        for stack in stacks:
            row, group = plan.row([stack.symbols], 0), plan.groups(int(stack.rows[0]))[g]
            read = _Read.of(GroupTask(group).occurrences(row))
            shares, _ = _shares(read, row, group, plan, partial(stack.weights, part))
            shares *= scale[stack.rows].T.ravel()[read.all.sequence][:, None]
            for i, block in _by_word(read, row.offsets, shares, len(stack.rows)):
                owners, *rest = block
                found[i].append(WordBlock(g, stack.rows[owners % len(stack.rows)], *rest))
        for mine, blocks in zip(words, found, strict=True):
            if blocks:
                mine.append(_joined(blocks))
    return words


class _Stack(NamedTuple):
    """Rows of one alphabet as one row, in which every row of every sequence is a sequence.

    All rows of the first sequence come first. `rows` are the rows, `places` their places in the
    word table.
    """

    symbols: Symbols
    rows: np.ndarray
    places: np.ndarray

    @classmethod
    def of(cls, symbols: Symbols, rows: np.ndarray, places: np.ndarray) -> "_Stack":
        """Stack the rows at `places` among `rows`."""
        rows = rows[places]
        pieces = [symbols.data[rows, a:b].ravel() for a, b in pairwise(symbols.offsets.tolist())]
        data = np.concatenate([*pieces, symbols.data[0, :0]])[None]
        offsets = np.append(0, np.cumsum(np.repeat(symbols.lengths, len(rows))))
        return cls(Symbols(data, offsets, n_symbols=symbols.n_symbols[rows[:1]]), rows, places)

    def weights(
        self, table: GroupTable, cell: int, words: np.ndarray, owners: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return a number of each word of each row, and its weights in one cell."""
        places = self.places[owners % len(self.rows)]
        keys = word_keys(words, int(table.bases[self.places[0]]))
        slots = table.first[places] + keys.astype(np.int64)
        return np.arange(len(words)), table.values[slots, cell].astype(float)


def _listed_evidence(machine: Machine, symbols: Symbols) -> list[Evidence]:
    """Return the evidence in each sequence, by a list of all occurrences of words."""
    plan = machine.reader.plan_
    weigh, constant = _weights(machine, symbols)
    rows, offsets = np.flatnonzero(plan.row_weights), symbols.offsets
    n, n_rows, n_groups = len(symbols), len(plan.row_weights), len(plan.groups(0))
    n_columns = len(machine.margins.intercepts)
    by_frame = np.zeros((n_columns, n_rows, symbols.data.shape[1]))
    by_layout = np.zeros((n, n_columns, n_rows, n_groups))
    own, total = np.zeros((n_rows, n)), np.zeros((n_rows, n))
    found: list[tuple[int, int, _Read, np.ndarray]] = []
    for g in range(n_groups):
        weights_of = weigh(g)
        for p, r in enumerate(rows.tolist()):
            row, group = plan.row([symbols], r), plan.groups(r)[g]
            read = _Read.of(GroupTask(group).occurrences(row))
            shares, squares = _shares(read, row, group, plan, partial(weights_of, p))
            total[r] += squares
            own[r] += group.weight * squares
            found.append((r, g, read, shares))
    scale = _scales(machine, symbols, own, total)
    words: list[dict[int, list[WordBlock]]] = [{} for _ in range(n)]
    for r, g, read, shares in found:
        shares *= scale[r][read.all.sequence][:, None]
        np.add.at(by_layout[:, :, r, g], read.all.sequence, shares)
        _spread(read.all, plan.groups(r)[g], shares, by_frame[:, r])
        for i, (owners, *rest) in _by_word(read, offsets, shares):
            words[i].setdefault(g, []).append(WordBlock(g, np.full_like(owners, r), *rest))
    pieces = (by_frame[:, :, a:b] for a, b in pairwise(offsets.tolist()))
    return [
        Evidence(piece, by_layout[i], constant, partial(_all_joined, words[i]))
        for i, piece in enumerate(pieces)
    ]


def _all_joined(blocks: dict[int, list[WordBlock]]) -> list[WordBlock]:
    return [_joined(mine) for mine in blocks.values()]


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
    """Return the factor of each row and sequence: from the norms of the row and the sequence."""
    reader, plan = machine.reader, machine.reader.plan_
    scale = row_scale(plan, own, total) if plan.normalises_rows else np.ones_like(own)
    if not reader.normalize:
        return scale / reader.row_mean()
    if isinstance(reader, SequenceFeatures) and machine.table is None:
        return scale * inverse_root(reader.norms(symbols))  # words may share columns
    return scale * inverse_root((plan.row_weights[:, None] * own * scale**2).sum(axis=0))


class _Read(NamedTuple):
    """All occurrences, and the distinct words of each sequence, in the order of the sequences.

    Occurrence ``e`` is an occurrence of word ``ranks[e]``; `words` and `owners` are the codes and
    the sequence of each word.
    """

    all: Occurrences
    ranks: np.ndarray
    words: np.ndarray
    owners: np.ndarray

    @classmethod
    def of(cls, found: Occurrences) -> "_Read":
        # ranks are in the order of the sequences, since the sequence is the first digit
        ranks, first = rank_words(np.column_stack([found.sequence, found.words]))
        return cls(found, ranks.astype(np.int64), found.words[first], found.sequence[first])


def _shares(
    read: _Read, row: Row, group: Group, plan: Plan, weights_of: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the evidence of every occurrence, before norms, and sums of squared counts.

    There is one sum of squared counts per sequence.
    """
    starts, sequence, layout, _ = read.all
    windows = np.array([one.window[-1] for one in group.layouts])
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
        at = ids[word]
        owners = np.zeros(int(ids.max(initial=-1)) + 1, np.int64)
        owners[ids] = read.owners
        count = np.bincount(at, counted, minlength=len(owners))
        embedded = np.sqrt(count) if plan.root else count
        squares += np.bincount(owners, embedded**2, minlength=row.n_sequences)
        shares[inside] += (counted * embedded[at] / count[at])[:, None] * weights[word]
    return shares, squares


def _spread(read: Occurrences, group: Group, shares: np.ndarray, frames: np.ndarray) -> None:
    """Divide the evidence of every occurrence among the frames that the occurrence reads."""
    for j, layout in enumerate(group.layouts):
        mine = read.layout == j
        places = layout.offsets or layout.window  # a word of wildcards only has no offsets
        each = shares[mine].T / len(places)
        for offset in places:
            # a layout reads a frame once at most at each offset: no index occurs twice
            frames[:, read.starts[mine] + offset] += each


def _by_word(
    read: _Read, offsets: np.ndarray, shares: np.ndarray, n_rows: int = 1
) -> Iterator[tuple[int, tuple[np.ndarray, ...]]]:
    """Yield the words of every sequence: owners, codes, indptr, starts, layouts and evidence.

    `n_rows` is the number of owners per sequence: rows that are stacked.
    """
    order = np.argsort(read.ranks, kind="stable")
    ends = np.append(0, np.cumsum(np.bincount(read.ranks, minlength=len(read.words))))
    starts = (read.all.starts - offsets[read.all.sequence])[order]
    layouts, shares = read.all.layout[order], shares[order]
    cuts = np.searchsorted(read.owners, np.arange(0, len(offsets), n_rows))
    for i, (a, b) in enumerate(pairwise(cuts.tolist())):
        if a < b:
            mine = slice(ends[a], ends[b])
            indptr = ends[a : b + 1] - ends[a]
            yield i, (read.owners[a:b], read.words[a:b], indptr,
                      starts[mine], layouts[mine], shares[mine])  # fmt: skip


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

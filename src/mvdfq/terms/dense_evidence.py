"""Evidence by tables of all possible words: no word is listed unless it is asked for.

Plain words add their weights; standardized words are compared with a baseline, see `baseline.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from mvdfq._engines.evidence import compare_words, count_places, spread_dense, spread_starts
from mvdfq.kernels.counting import GroupTask
from mvdfq.kernels.keys import word_keys
from mvdfq.symbols.base import Symbols
from mvdfq.terms.baseline import View
from mvdfq.terms.evidence_words import Evidence, WordBlock, joined
from mvdfq.terms.occurrences import Norms, Read, by_word, shares_of
from mvdfq.terms.word_table import GroupTable, WordTable, present_positions

# (g, stack, read, row, group) -> the evidence of every occurrence that group `g` reads in a stack.
Shares = Callable[..., np.ndarray]


def is_dense(term: Any, symbols: Symbols) -> bool:
    """Tell whether all words are in dense tables, so that none must be listed."""
    table, plan = term.table, term.reader.plan_
    if table is None or symbols.unseen.any():
        return False
    # the compiled loop reads plain layouts: not words that count once, nor words of wildcards alone
    groups = [group for r in table.rows.tolist() for group in plan.groups(r)]
    plain = all(not g.distinct and all(one.offsets for one in g.layouts) for g in groups)
    return plain and all(group.dense for group in table.groups)


def dense_evidence(term: Any, symbols: Symbols) -> list[Evidence]:
    """Return the evidence of plain words in each sequence."""
    table, plan = term.table, term.reader.plan_
    by_frame, by_layout = _nothing(table, symbols, len(plan.row_weights), len(term.intercepts))
    norms, reading = Norms(plan, symbols), _Reading(table, symbols)
    for p, r in enumerate(table.rows.tolist()):
        for g, part in enumerate(table.groups):
            squares, own = np.zeros(len(symbols)), slice(*part.first[p : p + 2])
            out = by_frame[r], by_layout[r, g], squares
            numbers = part.values[own], plan.n_levels, plan.root, out
            spread_dense(*(*reading.row(r, p, part), *numbers))
            norms.add(r, plan.groups(r)[g], squares)
    # norms are known when all groups were read
    scale = norms.scales(term, symbols)
    by_frame *= np.repeat(scale, symbols.lengths, axis=1)[:, :, None]
    by_layout *= scale[:, None, :, None]
    return _divided(table, symbols, by_frame, by_layout, partial(_plain_shares, term, scale))


def _plain_shares(
    term: Any, scale: np.ndarray, g: int, stack: "Stack", read: Read, row: Any, group: Any
) -> np.ndarray:
    weights = partial(stack.weights, term.table.groups[g])
    shares, _ = shares_of(read, row, group, term.reader.plan_, weights)
    return shares * scale[stack.rows].T.ravel()[read.all.sequence][:, None]


@dataclass(frozen=True)
class ComparedWords:
    """Words by group of layouts, compared with a baseline: weights, means and lost weights.

    The weights and the means are (n_slots, n_cells, n_columns), as in `GroupTable`; what the
    baseline adds is (n_rows, n_cells, n_columns). Evidence is divided by `mean`, as margins are.
    """

    table: WordTable
    mean: float
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]

    @classmethod
    def of(cls, table: WordTable, means: list[np.ndarray], view: View) -> "ComparedWords":
        """Return the words of a table as a view sees them, given their means by class."""
        assert table.mean is not None
        parts = []
        for group, by_class in zip(table.groups, means, strict=True):
            weights, mine = view.weigh(group.values), view.means(by_class)
            lost = [
                np.einsum("wkc,wkc->kc", weights[a:b], mine[a:b], dtype=float)
                for a, b in pairwise(group.first.tolist())
            ]
            parts.append((weights, mine, np.array(lost)))
        return cls(table, table.mean, parts)

    @property
    def shift(self) -> np.ndarray:
        """What the words of the baseline add, (n_columns,)."""
        return sum(lost.sum(axis=(0, 1)) for _, _, lost in self.parts) / self.mean

    def evidence(self, symbols: Symbols) -> list[Evidence]:
        """Return the evidence in each sequence: it adds up to the sum of the term less `shift`."""
        table, lengths, n_columns = self.table, symbols.lengths, self.parts[0][0].shape[2]
        n_rows, reading = len(table.rows), _Reading(table, symbols)
        by_frame, by_layout = _nothing(table, symbols, n_rows, n_columns)
        starts, rest = np.zeros(by_frame.shape[1:]), np.zeros((n_rows, len(symbols), n_columns))
        for r in range(n_rows):
            for g, part in enumerate(table.groups):
                self._compare(reading, r, g, (starts, by_layout[r, g], rest[r]))
                spread_starts(starts, part.group.arrays[0][0], by_frame[r])
        by_frame += np.repeat(rest / np.maximum(lengths, 1)[:, None], lengths, axis=1)
        by_frame /= self.mean
        by_layout /= self.mean
        return _divided(table, symbols, by_frame, by_layout, partial(self._shares, reading))

    def _compare(self, reading: "_Reading", r: int, g: int, out: tuple[np.ndarray, ...]) -> None:
        """Add the evidence of one group of layouts in row `r`, see `compare_words`."""
        part, levels = self.table.groups[g], self.table.plan.n_levels
        weights, means, lost = self.parts[g]
        own = slice(*part.first[r : r + 2])
        numbers = (weights[own], means[own], lost[r]), reading.totals[r], levels, out
        compare_words(*(*reading.row(r, r, part), *numbers))

    def _shares(self, reading: "_Reading", g: int, stack: "Stack", read: Read, *_: Any) -> Any:
        symbols, n_columns = reading.symbols, self.parts[0][0].shape[2]
        found = np.zeros((len(stack.rows), symbols.data.shape[1], n_columns))
        ignored = np.zeros((2, len(symbols), n_columns))
        for starts, r in zip(found, stack.rows.tolist(), strict=True):
            self._compare(reading, r, g, (starts, *ignored))
        cuts = pairwise(symbols.offsets.tolist())
        stacked = np.concatenate([found[:, a:b].reshape(-1, n_columns) for a, b in cuts])
        return stacked[read.all.starts] / self.mean


class _Reading:
    """Sequences as the compiled loops read them."""

    def __init__(self, table: WordTable, symbols: Symbols) -> None:
        self.table, self.symbols, self.codes = table, symbols, symbols.codes
        self.present = present_positions(symbols)
        self.buffer = np.empty(symbols.lengths.max(initial=0), np.uint64)

    def row(self, r: int, p: int, part: GroupTable) -> Any:
        """Return the first arguments of a loop over row `r`, which is row `p` of the table."""
        group = part.group.arrays, part.group.layout_weights, self.buffer
        base = np.uint64(part.bases[p])
        return self.codes[r], self.symbols.offsets, self._present(r), group, base

    def _present(self, r: int) -> np.ndarray:
        # size 0 says that nothing is missing, which the loops read faster
        return self.present[r] if self.present.size else np.empty(0, bool)

    @cached_property
    def totals(self) -> np.ndarray:
        """The number of words of every row and sequence, (n_rows, n_sequences)."""
        found = np.zeros((len(self.table.rows), len(self.symbols)))
        for r, totals in enumerate(found):
            for part in self.table.groups:
                windows, levels = part.group.arrays[1][0], self.table.plan.n_levels
                count_places(self.symbols.offsets, self._present(r), windows, levels, totals)
        return found


def _nothing(table: WordTable, symbols: Symbols, n_rows: int, n_columns: int) -> Any:
    """Return zeros for evidence: (row, frame, column) and (row, group, sequence, column)."""
    frames, layouts = symbols.data.shape[1:], (len(table.groups), len(symbols))
    return np.zeros((n_rows, *frames, n_columns)), np.zeros((n_rows, *layouts, n_columns))


def _divided(
    table: WordTable, symbols: Symbols, by_frame: Any, by_layout: Any, shares: Shares
) -> list[Evidence]:
    """Divide evidence among the sequences; all words are listed when one list is asked for."""
    words = _ListedWords(table, symbols, shares)
    return [
        Evidence(
            by_frame[:, a:b].transpose(2, 0, 1),
            by_layout[:, :, i].transpose(2, 0, 1),
            partial(words.of, i),
        )
        for i, (a, b) in enumerate(pairwise(symbols.offsets.tolist()))
    ]


@dataclass
class _ListedWords:
    """The words of several sequences, which are listed together when they are first asked for."""

    table: WordTable
    symbols: Symbols
    shares: Shares

    def of(self, i: int) -> list[WordBlock]:
        """Return the words of one sequence."""
        return self.listed[i]

    @cached_property
    def listed(self) -> list[list[WordBlock]]:
        """The words of each sequence.

        Rows of one alphabet are read as if each row were a sequence: the time for one row of one
        sequence is mostly overhead, and there may be hundreds of rows.
        """
        table, plan = self.table, self.table.plan
        words: list[list[WordBlock]] = [[] for _ in range(len(self.symbols))]
        sizes = plan.n_symbols[table.rows]
        places = [np.flatnonzero(sizes == k) for k in np.unique(sizes)]
        stacks = [Stack.of(self.symbols, table.rows, mine) for mine in places]
        for g in range(len(table.groups)):
            found: list[list[WordBlock]] = [[] for _ in words]
            for stack in stacks:
                row, group = plan.row([stack.symbols], 0), plan.groups(int(stack.rows[0]))[g]
                read = Read.of(GroupTask(group).occurrences(row))
                evidence = self.shares(g, stack, read, row, group)
                for i, (owners, *rest) in by_word(read, row.offsets, evidence, len(stack.rows)):
                    found[i].append(WordBlock(g, stack.rows[owners % len(stack.rows)], *rest))
            for mine, blocks in zip(words, found, strict=True):
                if blocks:
                    mine.append(joined(blocks))
        return words


class Stack(NamedTuple):
    """Rows of one alphabet as one row, in which every row of every sequence is a sequence.

    All rows of the first sequence come first. `rows` are the rows, `places` their places in the
    word table.
    """

    symbols: Symbols
    rows: np.ndarray
    places: np.ndarray

    @classmethod
    def of(cls, symbols: Symbols, rows: np.ndarray, places: np.ndarray) -> "Stack":
        """Stack the rows at `places` among `rows`."""
        rows = rows[places]
        pieces = [symbols.data[rows, a:b].ravel() for a, b in pairwise(symbols.offsets.tolist())]
        # the empty piece gives the type if there is no sequence
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

"""Evidence of standardized words, compared with a baseline: see `baseline.py`."""

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np

from mvdfq._engines.evidence import compare_words, count_places
from mvdfq.symbols.base import Symbols
from mvdfq.terms.baseline import View
from mvdfq.terms.dense_evidence import ListedWords, Stack
from mvdfq.terms.evidence_words import Evidence, WordBlock
from mvdfq.terms.occurrences import Read
from mvdfq.terms.word_table import GroupTable, WordTable, present_positions


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
        pairs = zip(table.groups, means, strict=True)
        assert table.mean is not None
        return cls(table, table.mean, [_compared(group, mine, view) for group, mine in pairs])

    @property
    def shift(self) -> np.ndarray:
        """What the words of the baseline add, (n_columns,)."""
        return sum(lost.sum(axis=(0, 1)) for _, _, lost in self.parts) / self.mean


def _compared(
    group: GroupTable, means: np.ndarray, view: View
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    weights, means = view.weigh(group.values), view.means(means)
    lost = np.add.reduceat(weights * means, group.first[:-1], axis=0, dtype=float)
    return weights, means, lost


def compared_evidence(words: ComparedWords, symbols: Symbols) -> list[Evidence]:
    """Return the evidence in each sequence; it adds up to the sum of the term less the `shift`."""
    reading, table, lengths = _Reading(words, symbols), words.table, symbols.lengths
    n, n_rows, n_columns = len(symbols), len(table.rows), words.parts[0][0].shape[2]
    by_frame = np.zeros((n_rows, symbols.data.shape[1], n_columns))
    by_layout = np.zeros((len(table.groups), n_rows, n, n_columns))
    rest = np.zeros((n_rows, n, n_columns))
    for g, part in enumerate(table.groups):
        reading.compare(g, part.group.arrays[0][0], (by_frame, by_layout[g], rest))
    by_frame += np.repeat(rest / np.maximum(lengths, 1)[:, None], lengths, axis=1)
    by_frame /= words.mean
    by_layout /= words.mean
    listed = ListedWords(table, symbols, reading.shares)
    return [
        Evidence(
            by_frame[:, a:b].transpose(2, 0, 1),
            by_layout[:, :, i].transpose(2, 1, 0),
            partial(listed.of, i),
            partial(_top, words, symbols, i),
        )
        for i, (a, b) in enumerate(pairwise(symbols.offsets.tolist()))
    ]


def _top(words: ComparedWords, symbols: Symbols, i: int, column: int, n: int) -> list[WordBlock]:
    """Return the `n` words of each layout with the most evidence in sequence `i`.

    The evidence of all words is added up in the slots of the table: no word is listed.
    """
    reading, found = _Reading(words, symbols[i : i + 1]), []
    for g, part in enumerate(words.table.groups):
        layout, first = part.group.arrays[0][0], part.first
        starts, keys = reading.starts(g), reading.keys(g)
        slots = np.where(keys < 0, first[-1], first[:-1, None] + keys)  # the last slot: no word
        mine = starts[:, : keys.shape[1], column].ravel()
        totals = np.abs(np.bincount(slots.ravel(), mine, first[-1] + 1))[:-1]
        least = np.partition(totals, -n)[-n] if n < len(totals) else 0.0
        best = np.flatnonzero((totals >= least) & (totals > 0))
        rows = np.searchsorted(first, best, side="right") - 1
        at = [np.flatnonzero(slots[r] == slot) for r, slot in zip(rows, best, strict=True)]
        if len(best):
            places, sizes = np.concatenate(at), [len(one) for one in at]
            owners = np.repeat(rows, sizes)
            codes = reading.codes[rows[:, None], np.array([one[0] for one in at])[:, None] + layout]
            indptr, none = np.append(0, np.cumsum(sizes)), np.zeros(len(places), np.int64)
            shares = starts[owners, places] / words.mean
            found.append(WordBlock(g, rows, codes, indptr, places, none, shares))
    return found


class _Reading:
    """The words of several sequences at the frames where they start."""

    def __init__(self, words: ComparedWords, symbols: Symbols) -> None:
        self.words, self.symbols, self.codes = words, symbols, symbols.codes
        self.present = present_positions(symbols)
        self.buffer, self.one = np.empty(symbols.lengths.max(initial=0), np.uint64), np.ones(1)
        self._known: tuple[int, Any] = (-1, None)

    @cached_property
    def totals(self) -> np.ndarray:
        """The number of words of every row and sequence, (n_rows, n_sequences)."""
        table, offsets = self.words.table, self.symbols.offsets
        found = np.zeros((len(table.rows), len(self.symbols)))
        for part in table.groups:
            windows = part.group.arrays[1][0]
            count_places(offsets, self.present, windows, table.plan.n_levels, found)
        return found

    def compare(self, g: int, reached: np.ndarray, out: tuple[np.ndarray, ...]) -> None:
        """Add the evidence of one group of layouts, see `compare_words`."""
        table, part = self.words.table, self.words.table.groups[g]
        compare_words(
            self.codes,
            self.symbols.offsets,
            self.present,
            (part.group.arrays, self.one, self.buffer),
            part.bases.astype(np.uint64),
            (part.first, *self.words.parts[g]),
            self.totals,
            table.plan.n_levels,
            reached,
            out,
        )

    def starts(self, g: int) -> np.ndarray:
        """Return the evidence of every word at its start, (n_rows, n_frames, n_columns)."""
        if self._known[0] != g:  # stacks of rows ask for the same group one after another
            shape = len(self.words.table.rows), self.words.parts[g][0].shape[2]
            found = np.zeros((shape[0], self.symbols.data.shape[1], shape[1]))
            ignored = np.zeros((2, shape[0], len(self.symbols), shape[1]))
            self.compare(g, np.zeros(1, np.int64), (found, *ignored))
            self._known = g, found
        return self._known[1]

    def keys(self, g: int) -> np.ndarray:
        """Return the key of the word at every start in a single sequence; -1 if it is unknown."""
        part = self.words.table.groups[g]
        layout, window = (one[0].tolist() for one in part.group.arrays[:2])
        n = max(self.codes.shape[1] - window[-1], 0)
        found = np.zeros((len(self.codes), n), np.int64)
        for o in layout:
            found = found * part.bases[:, None] + self.codes[:, o : o + n]
        for o in window if self.present.size else ():
            found[~self.present[:, o : o + n]] = -1
        return found

    def shares(self, g: int, stack: Stack, read: Read, *_: Any) -> np.ndarray:
        """Return the evidence of every occurrence in stacked rows."""
        mine, cuts = self.starts(g)[stack.rows], pairwise(self.symbols.offsets.tolist())
        stacked = np.concatenate([mine[:, a:b].reshape(-1, mine.shape[2]) for a, b in cuts])
        return stacked[read.all.starts] / self.words.mean

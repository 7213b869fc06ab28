"""Evidence of standardized words, compared with a baseline: see `baseline.py`."""

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np

from mvdfq._engines.evidence import compare_words, count_places, spread_starts
from mvdfq.symbols.base import Symbols
from mvdfq.terms.baseline import View
from mvdfq.terms.dense_evidence import ListedWords, Stack
from mvdfq.terms.evidence_words import Evidence
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
    lost = [
        np.einsum("wkc,wkc->kc", weights[a:b], means[a:b], dtype=float)
        for a, b in pairwise(group.first.tolist())
    ]
    return weights, means, np.array(lost)


def compared_evidence(words: ComparedWords, symbols: Symbols) -> list[Evidence]:
    """Return the evidence in each sequence; it adds up to the sum of the term less the `shift`."""
    reading, table, lengths = _Reading(words, symbols), words.table, symbols.lengths
    n, n_frames = len(symbols), symbols.data.shape[1]
    n_columns, n_rows = reading.n_columns, len(table.rows)
    by_frame, starts = np.zeros((n_rows, n_frames, n_columns)), np.zeros((n_frames, n_columns))
    by_layout = np.zeros((n_rows, len(table.groups), n, n_columns))
    rest = np.zeros((n_rows, n, n_columns))
    for r in range(n_rows):
        for g, part in enumerate(table.groups):
            reading.compare(r, g, (starts, by_layout[r, g], rest[r]))
            spread_starts(starts, part.group.arrays[0][0], by_frame[r])
    by_frame += np.repeat(rest / np.maximum(lengths, 1)[:, None], lengths, axis=1)
    by_frame /= words.mean
    by_layout /= words.mean
    listed = ListedWords(table, symbols, reading.shares)
    return [
        Evidence(
            by_frame[:, a:b].transpose(2, 0, 1),
            by_layout[:, :, i].transpose(2, 0, 1),
            partial(listed.of, i),
        )
        for i, (a, b) in enumerate(pairwise(symbols.offsets.tolist()))
    ]


class _Reading:
    """The words of several sequences at the frames where they start."""

    def __init__(self, words: ComparedWords, symbols: Symbols) -> None:
        self.words, self.symbols, self.codes = words, symbols, symbols.codes
        self.n_columns = words.parts[0][0].shape[2]
        self.present = present_positions(symbols)
        self.buffer, self.one = np.empty(symbols.lengths.max(initial=0), np.uint64), np.ones(1)

    @cached_property
    def totals(self) -> np.ndarray:
        """The number of words of every row and sequence, (n_rows, n_sequences)."""
        table, levels = self.words.table, self.words.table.plan.n_levels
        found = np.zeros((len(table.rows), len(self.symbols)))
        for r, totals in enumerate(found):
            for part in table.groups:
                windows = part.group.arrays[1][0]
                count_places(self.symbols.offsets, self._here(r), windows, levels, totals)
        return found

    def compare(self, r: int, g: int, out: tuple[np.ndarray, ...]) -> None:
        """Add the evidence of one group of layouts in row `r`, see `compare_words`."""
        table, (weights, means, lost) = self.words.table, self.words.parts[g]
        part = table.groups[g]
        own = slice(*part.first[r : r + 2])
        compare_words(
            self.codes[r],
            self.symbols.offsets,
            self._here(r),
            (part.group.arrays, self.one, self.buffer),
            np.uint64(part.bases[r]),
            (weights[own], means[own], lost[r]),
            self.totals[r],
            table.plan.n_levels,
            out,
        )

    def _here(self, r: int) -> np.ndarray:
        return self.present[r] if self.present.size else np.empty(0, bool)

    def shares(self, g: int, stack: Stack, read: Read, *_: Any) -> np.ndarray:
        """Return the evidence of every occurrence in stacked rows."""
        rows, n = stack.rows.tolist(), len(self.symbols)
        found = np.zeros((len(rows), self.symbols.data.shape[1], self.n_columns))
        ignored = np.zeros((2, n, self.n_columns))
        for starts, r in zip(found, rows, strict=True):
            self.compare(r, g, (starts, *ignored))
        cuts = pairwise(self.symbols.offsets.tolist())
        stacked = np.concatenate([found[:, a:b].reshape(-1, self.n_columns) for a, b in cuts])
        return stacked[read.all.starts] / self.words.mean

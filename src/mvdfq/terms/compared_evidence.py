"""Evidence of standardized words, compared with a baseline: see `baseline.py`."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from mvdfq._engines.compared_words import compare_words, count_places
from mvdfq.symbols.base import Symbols
from mvdfq.terms.baseline import View
from mvdfq.terms.dense_evidence import ListedWords, Stack
from mvdfq.terms.evidence_words import Evidence
from mvdfq.terms.occurrences import Read
from mvdfq.terms.word_table import GroupTable, WordTable, present_positions

__all__ = ["ComparedWords", "compared_evidence"]


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
    reading, table = _Reading(words, symbols), words.table
    n, n_frames = len(symbols), symbols.data.shape[1]
    n_columns, n_rows = reading.n_columns, len(table.rows)
    by_frame = np.zeros((n_rows, n_frames, n_columns))
    by_layout = np.zeros((n_rows, len(table.groups), n, n_columns))
    owner = np.repeat(np.arange(n), symbols.lengths)
    for r in range(n_rows):
        for g, (starts, sums, rest) in enumerate(reading.of_row(r)):
            (layout,) = table.groups[g].group.layouts
            for o in layout.offsets:
                by_frame[r, o:] += starts[: max(n_frames - o, 0)] / len(layout.offsets)
            by_frame[r] += (rest / np.maximum(symbols.lengths, 1)[:, None])[owner]
            by_layout[r, g] = sums + rest
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
        self.words, self.symbols = words, symbols
        self.n_columns = words.parts[0][0].shape[2]
        self.present = present_positions(symbols)
        self.buffer = np.empty(symbols.lengths.max(initial=0), np.uint64)

    def of_row(self, r: int) -> Iterator[tuple[np.ndarray, ...]]:
        """Yield, for each group, evidence by frame, its sums, and what belongs to no word."""
        totals = self.totals(r)
        yield from (self.of_group(r, g, totals) for g in range(len(self.words.parts)))

    def totals(self, r: int) -> np.ndarray:
        """Return the number of words of row `r` in every sequence."""
        found, levels = np.zeros(len(self.symbols)), self.words.table.plan.n_levels
        for part in self.words.table.groups:
            windows = part.group.arrays[1][0]
            count_places(self.symbols.offsets, self._here(r), windows, levels, found)
        return found

    def of_group(self, r: int, g: int, totals: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the evidence of one group of layouts in row `r`."""
        table, (weights, means, lost) = self.words.table, self.words.parts[g]
        group, own = table.groups[g], slice(*table.groups[g].first[r : r + 2])
        n, n_frames = len(self.symbols), self.symbols.data.shape[1]
        found = tuple(np.zeros((size, self.n_columns)) for size in (n_frames, n, n))
        compare_words(
            self.symbols.codes[r],
            self.symbols.offsets,
            self._here(r),
            (group.group.arrays, np.ones(1), self.buffer),
            np.uint64(group.bases[r]),
            (weights[own], means[own], lost[r]),
            totals,
            table.plan.n_levels,
            found,
        )
        return tuple(one / self.words.mean for one in found)

    def _here(self, r: int) -> np.ndarray:
        return self.present[r] if self.present.size else np.empty(0, bool)

    def shares(self, g: int, stack: Stack, read: Read, *_: Any) -> np.ndarray:
        """Return the evidence of every occurrence in stacked rows."""
        found = np.stack([self.of_group(r, g, self.totals(r))[0] for r in stack.rows.tolist()])
        cuts = pairwise(self.symbols.offsets.tolist())
        return np.concatenate([found[:, a:b].reshape(-1, self.n_columns) for a, b in cuts])[
            read.all.starts
        ]

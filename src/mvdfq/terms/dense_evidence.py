"""Evidence by tables of all possible words: no word is listed unless it is asked for.

Standardized words are compared with a baseline, see `baseline.py`; plain words with nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from mvdfq._engines.evidence import count_places, spread_words
from mvdfq.symbols.base import Symbols
from mvdfq.terms.baseline import Evidence, View, WordBlock
from mvdfq.terms.word_table import WordTable, present_positions


def is_dense(term: Any, symbols: Symbols) -> bool:
    """Tell whether all words are in dense tables, so that none must be listed."""
    table, plan = term.table, term.reader.plan_
    if table is None or symbols.unseen.any():
        return False
    # the compiled loop reads plain layouts: not words that count once, nor words of wildcards alone
    groups = [group for r in table.rows.tolist() for group in plan.groups(r)]
    plain = all(not g.distinct and all(one.offsets for one in g.layouts) for g in groups)
    return plain and all(group.dense for group in table.groups)


@dataclass(frozen=True)
class SeenWords:
    """The words of a table as a view sees them, by group: weights, means and lost weights.

    The weights and the means over the baseline are (n_slots, n_cells, n_columns), as in
    `GroupTable`; what the baseline adds is (n_rows, n_cells, n_columns).
    """

    table: WordTable
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]

    @classmethod
    def compared(cls, table: WordTable, means: list[np.ndarray], view: View) -> "SeenWords":
        """Return the words of a table as a view sees them, given their means by class."""
        parts = []
        for group, mine in zip(table.groups, means, strict=True):
            weights, seen = view.weigh(group.values), view.means(mine)
            lost = np.add.reduceat(weights * seen, group.first[:-1], axis=0, dtype=float)
            parts.append((weights, seen, lost))
        return cls(table, parts)

    @classmethod
    def plain(cls, table: WordTable) -> "SeenWords":
        """Return the words of a table, compared with nothing: their means are 0."""
        values = [group.values for group in table.groups]
        lost = np.zeros((len(table.rows), *values[0].shape[1:]))
        return cls(table, [(mine, np.zeros_like(mine), lost) for mine in values])

    @property
    def shift(self) -> np.ndarray:
        """What the words of the baseline add, (n_columns,)."""
        return sum(lost.sum(axis=(0, 1)) for _, _, lost in self.parts) / self.table.mean


def dense_evidence(
    words: SeenWords, symbols: Symbols, scale_of: Callable[[np.ndarray], Any] | None = None
) -> list[Evidence]:
    """Return the evidence in each sequence; it adds up to the sum of the term less the `shift`.

    ``scale_of(squares)`` returns the factor of each row and sequence, given the sums of squared
    counts, (n_groups, n_rows, n_sequences); None is for standardized words.
    """
    reading, groups, lengths = _Reading(words, symbols), words.table.groups, symbols.lengths
    n_rows, n, n_columns = len(symbols.codes), len(symbols), words.parts[0][0].shape[2]
    by_frame = np.zeros((n_rows, symbols.data.shape[1], n_columns))
    by_layout = np.zeros((len(groups), n_rows, n, n_columns))
    rest, squares = np.zeros((n_rows, n, n_columns)), np.zeros((len(groups), n_rows, n))
    if scale_of is None:
        reading.count_totals()
    for g, part in enumerate(groups):
        reading.spread(g, part.group.arrays[0], (by_frame, by_layout[g], rest, squares[g]))
    if scale_of is not None:
        reading.scale = scale_of(squares)
    by_frame += np.repeat(rest / np.maximum(lengths, 1)[:, None], lengths, axis=1)
    by_frame *= np.repeat(reading.scale, lengths, axis=1)[:, :, None]
    by_layout *= reading.scale[:, :, None]
    return [
        Evidence(
            by_frame[:, a:b].transpose(2, 0, 1),
            by_layout[:, :, i].transpose(2, 1, 0),
            partial(_words, reading, i),
            partial(_words, reading, i),
        )
        for i, (a, b) in enumerate(pairwise(symbols.offsets.tolist()))
    ]


def _words(reading: "_Reading", i: int, column: int | None = None, n: int = 0) -> list[WordBlock]:
    """Return the words of sequence `i`, or the `n` words of each group with most in a column."""
    one, found = reading.only(i), []
    for g, part in enumerate(one.table.groups):
        by_place, size = one.slots(g), int(part.first[-1])
        slots, shares = by_place.ravel(), one.starts(g)[one.table.rows]
        shares = shares.reshape(slots.size, shares.shape[3])  # an empty sequence has no frames
        used = np.flatnonzero(slots < size)
        if column is not None:  # add up the evidence in the slots of the table: no word is listed
            totals = np.abs(np.bincount(slots, shares[:, column], size + 1))[:-1]
            least = np.partition(totals, -n)[-n] if n < size else 0.0
            used = np.flatnonzero(np.append((totals >= least) & (totals > 0), False)[slots])
        # stable: the occurrences of a word stay in the order of time
        used = used[np.argsort(slots[used], kind="stable")]
        if used.size:
            begin = np.flatnonzero(np.diff(slots[used], prepend=-1))
            places, layouts, frames = np.unravel_index(used, by_place.shape)
            rows, read = one.table.rows[places[begin]], part.group.arrays[0][layouts[begin]]
            codes = one.symbols.codes[rows[:, None], frames[begin][:, None] + read]
            indptr = np.append(begin, len(used))
            found.append(WordBlock(g, rows, codes, indptr, frames, layouts, shares[used]))
    return found


class _Reading:
    """The words of several sequences at the frames where they start.

    The counts of a row of a sequence are divided by its `totals`; all evidence in the row is
    multiplied by its `scale`.
    """

    def __init__(self, words: SeenWords, symbols: Symbols) -> None:
        self.seen, self.table, self.symbols = words, words.table, symbols
        self.present = present_positions(symbols)
        self.totals = np.ones((len(symbols.codes), len(symbols)))
        self.scale = self.totals

    def count_totals(self) -> None:
        """Divide counts by the number of all words of a row, and margins by the mean of rows."""
        assert self.table.mean is not None
        self.totals, self.scale = np.zeros_like(self.scale), self.scale / self.table.mean
        n_levels, offsets = self.table.plan.n_levels, self.symbols.offsets
        for part in self.table.groups:
            count_places(offsets, self.present, part.group.arrays[1][0], n_levels, self.totals)

    def only(self, i: int) -> "_Reading":
        """Return the words of one sequence."""
        one = _Reading(self.seen, self.symbols[i : i + 1])
        one.totals, one.scale = self.totals[:, i : i + 1], self.scale[:, i : i + 1]
        return one

    def spread(self, g: int, reached: np.ndarray, out: tuple[np.ndarray, ...]) -> None:
        """Add the evidence of one group of layouts, see `spread_words`."""
        part = self.table.groups[g]
        spread_words(
            self.slots(g),
            self.symbols.offsets,
            (self.table.rows, part.group.arrays[1][:, -1].copy(), part.group.layout_weights),
            (part.first, *self.seen.parts[g]),
            self.totals,
            self.table.plan.root,
            reached,
            out,
        )

    def starts(self, g: int) -> np.ndarray:
        """Return the evidence of every word at its start, by row, layout, frame and column."""
        n_rows, n_frames = self.symbols.codes.shape
        n_layouts = len(self.table.groups[g].group.layouts)
        n, n_columns = len(self.symbols), self.seen.parts[g][0].shape[2]
        found = np.zeros((n_rows, n_layouts, n_frames, n_columns))
        ignored, squares = np.zeros((2, n_rows, n, n_columns)), np.zeros((n_rows, n))
        # one array of frames per layout, one after another
        reached = np.arange(n_layouts)[:, None] * n_frames
        self.spread(g, reached, (found.reshape(n_rows, -1, n_columns), *ignored, squares))
        return found * np.repeat(self.scale, self.symbols.lengths, axis=1)[:, None, :, None]

    def slots(self, g: int) -> np.ndarray:
        """Return the slot of the word at every start in one sequence, by row, layout and frame.

        Where there is no word, the slot is the number of all slots.
        """
        part, rows = self.table.groups[g], self.table.rows
        codes, first = self.symbols.codes[rows], part.first
        found = np.full((len(rows), len(part.group.layouts), codes.shape[1]), first[-1])
        for j, layout in enumerate(part.group.layouts):
            n = max(codes.shape[1] - layout.window[-1], 0)
            keys = found[:, j, :n]
            keys[:] = 0
            for o in layout.offsets:
                keys *= part.bases[:, None]
                keys += codes[:, o : o + n]
            keys += first[:-1, None]
            for o in layout.window if self.present.size else ():
                keys[~self.present[rows, o : o + n]] = first[-1]
        return found

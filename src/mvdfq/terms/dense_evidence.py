"""Evidence of standardized words, compared with a baseline: see `baseline.py`.

The tables hold all possible words, and no word is listed unless it is asked for.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from mvdfq._engines.evidence import count_places, spread_words
from mvdfq.symbols.base import Symbols
from mvdfq.terms.baseline import Evidence, View, WordBlock
from mvdfq.terms.word_table import WordTable, present_positions


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
        for group, class_means in zip(table.groups, means, strict=True):
            weights, seen = view.weigh(group.values), view.means(class_means)
            lost = np.add.reduceat(weights * seen, group.first[:-1], axis=0, dtype=float)
            parts.append((weights, seen, lost))
        return cls(table, parts)

    @property
    def shift(self) -> np.ndarray:
        """What the words of the baseline add, (n_columns,)."""
        return sum(lost.sum(axis=(0, 1)) for _, _, lost in self.parts) / self.table.mean


def dense_evidence(words: SeenWords, symbols: Symbols) -> list[Evidence]:
    """Return the evidence in each sequence; it adds up to the sum of the term less the `shift`."""
    reading, groups, lengths = _Reading(words, symbols), words.table.groups, symbols.lengths
    n_rows, n, n_columns = len(symbols.codes), len(symbols), words.parts[0][0].shape[2]
    by_frame = np.zeros((n_rows, symbols.data.shape[1], n_columns))
    by_layout = np.zeros((len(groups), n_rows, n, n_columns))
    rest = np.zeros((n_rows, n, n_columns))
    for g, part in enumerate(groups):
        reading.spread(g, part.group.arrays[0], (by_frame, by_layout[g], rest))
    # the evidence of cells without any word belongs to all frames alike
    by_frame += np.repeat(rest / np.maximum(lengths, 1)[:, None], lengths, axis=1)
    by_frame /= reading.mean
    by_layout /= reading.mean
    frames, layouts = by_frame.transpose(2, 0, 1), by_layout.transpose(2, 3, 1, 0)
    find = [partial(_words, reading, i) for i in range(n)]
    return [
        Evidence(frames[:, :, a:b], layouts[i], find[i], find[i])
        for i, (a, b) in enumerate(pairwise(symbols.offsets.tolist()))
    ]


def _words(reading: "_Reading", i: int, column: int | None = None, n: int = 0) -> list[WordBlock]:
    """Return the words of sequence `i`, or the `n` words of each group with most in a column."""
    reading_i, blocks = _Reading(reading.seen, reading.symbols[i : i + 1]), []
    for g, part in enumerate(reading_i.table.groups):
        by_place, size = reading_i.slots(g), int(part.first[-1])
        slots, shares = by_place.ravel(), reading_i.starts(g)[reading_i.table.rows]
        shares = shares.reshape(slots.size, shares.shape[3])  # an empty sequence has no frames
        used = np.flatnonzero(slots < size)
        if column is not None:  # add up the evidence in the slots of the table: no word is listed
            totals = np.abs(np.bincount(slots, shares[:, column], size + 1))[:-1]
            # the n-th largest total, found without sorting all words
            least = np.partition(totals, -n)[-n] if n < size else 0.0
            used = np.flatnonzero(np.append((totals >= least) & (totals > 0), False)[slots])
        # stable: the occurrences of a word stay in the order of time
        used = used[np.argsort(slots[used], kind="stable")]
        if used.size:
            begin = np.flatnonzero(np.diff(slots[used], prepend=-1))
            places, layouts, frames = np.unravel_index(used, by_place.shape)
            rows, read = reading_i.table.rows[places[begin]], part.group.arrays[0][layouts[begin]]
            codes = reading_i.symbols.codes[rows[:, None], frames[begin][:, None] + read]
            indptr = np.append(begin, len(used))
            blocks.append(WordBlock(g, rows, codes, indptr, frames, layouts, shares[used]))
    return blocks


class _Reading:
    """The words of several sequences at the frames where they start.

    The counts of a row of a sequence are divided by `totals`, the number of all its words; all
    evidence is divided by the `mean` of the table.
    """

    def __init__(self, words: SeenWords, symbols: Symbols) -> None:
        self.seen, self.table, self.symbols = words, words.table, symbols
        assert self.table.mean is not None
        self.mean, self.present = self.table.mean, present_positions(symbols)
        self.totals = np.zeros((len(symbols.codes), len(symbols)))
        n_levels, offsets = self.table.plan.n_levels, symbols.offsets
        for part in self.table.groups:
            count_places(offsets, self.present, part.group.arrays[1][0], n_levels, self.totals)

    def spread(self, g: int, reached: np.ndarray, out: tuple[np.ndarray, ...]) -> None:
        """Add the evidence of one group of layouts, see `spread_words`."""
        part, offsets = self.table.groups[g], self.symbols.offsets
        layouts = self.table.rows, part.group.arrays[1][:, -1].copy(), part.group.layout_weights
        words = part.first, *self.seen.parts[g]
        spread_words(self.slots(g), offsets, layouts, words, self.totals, reached, out)

    def starts(self, g: int) -> np.ndarray:
        """Return the evidence of every word at its start, by row, layout, frame and column."""
        n_rows, n_frames = self.symbols.codes.shape
        n_layouts = len(self.table.groups[g].group.layouts)
        n, n_columns = len(self.symbols), self.seen.parts[g][0].shape[2]
        shares = np.zeros((n_rows, n_layouts, n_frames, n_columns))
        ignored = np.zeros((2, n_rows, n, n_columns))
        # one array of frames per layout, one after another
        reached = np.arange(n_layouts)[:, None] * n_frames
        self.spread(g, reached, (shares.reshape(n_rows, -1, n_columns), *ignored))
        return shares / self.mean

    def slots(self, g: int) -> np.ndarray:
        """Return the slot of the word at every start in one sequence, by row, layout and frame.

        Where there is no word, the slot is the number of all slots.
        """
        part, rows = self.table.groups[g], self.table.rows
        codes, first = self.symbols.codes[rows], part.first
        slots = np.full((len(rows), len(part.group.layouts), codes.shape[1]), first[-1])
        for j, layout in enumerate(part.group.layouts):
            n = max(codes.shape[1] - layout.window[-1], 0)
            keys = slots[:, j, :n]
            keys[:] = 0
            for o in layout.offsets:
                keys *= part.bases[:, None]
                keys += codes[:, o : o + n]
            keys += first[:-1, None]
            for o in layout.window if self.present.size else ():
                keys[~self.present[rows, o : o + n]] = first[-1]
        return slots

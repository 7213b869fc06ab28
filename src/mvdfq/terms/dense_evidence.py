"""Evidence of standardized words, compared with a baseline: see `baseline.py`.

The tables hold all possible words, and no word is listed unless it is asked for.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

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
    by_frame = np.zeros((n_columns * n_rows, symbols.data.shape[1]))
    by_layout = np.zeros((len(groups), n_rows, n, n_columns))
    rest = np.zeros((n_rows, n, n_columns))
    # one class against another: its strongest words are asked for next
    is_contrast = n == n_columns == 1
    found = [
        reading.spread(g, part.group.arrays[0], (by_frame, by_layout[g], rest), is_contrast)
        for g, part in enumerate(groups)
    ]
    by_frame = by_frame.reshape(n_columns, n_rows, -1) / reading.mean
    # the evidence of cells without any word belongs to all frames alike
    rest /= reading.mean * np.maximum(lengths, 1)[:, None]
    by_frame += np.repeat(rest.transpose(2, 0, 1), lengths, axis=2)
    layouts = by_layout.transpose(2, 3, 1, 0) / reading.mean
    find = [partial(_words, reading, i, found if is_contrast else None) for i in range(n)]
    return [
        Evidence(by_frame[:, :, a:b], layouts[i], find[i], find[i])
        for i, (a, b) in enumerate(pairwise(symbols.offsets.tolist()))
    ]


def _words(reading: "_Reading", i: int, known: Any, column: Any = None, n: int = 0) -> Any:
    """Return the words of sequence `i`, or the `n` words of each group with most in a column.

    `known` is what `spread_words` found about the words of each group, or None.
    """
    reading_i, blocks = _Reading(reading.seen, reading.symbols[i : i + 1]), []
    for g, part in enumerate(reading_i.table.groups):
        found = reading_i.spread(g) if known is None else known[g]
        listed = np.arange(len(found) + 1) < len(found)
        if column is not None:
            totals = np.abs(found[:, 0, column])
            # the n-th largest total, found without sorting all words
            least = np.partition(totals, -n)[-n] if n < len(found) else 0.0
            listed[:-1] = (totals >= least) & (totals > 0)
        # the rows that have these words
        in_use = np.unique(part.first.searchsorted(np.flatnonzero(listed), side="right") - 1)
        by_place = reading_i.slots(g, in_use)
        slots, used = by_place.ravel(), np.flatnonzero(listed.take(by_place))
        # stable: the occurrences of a word stay in the order of time
        used = used[np.argsort(slots[used], kind="stable")]
        if used.size:
            begin = np.flatnonzero(np.diff(slots[used], prepend=-1))
            places, layouts, frames = np.unravel_index(used, by_place.shape)
            rows = reading_i.table.rows[in_use[places[begin]]]
            read = frames[begin][:, None] + part.group.arrays[0][layouts[begin]]
            lengths = by_place.shape[2] - part.group.arrays[1][layouts, -1]
            shares = found[slots[used], 1 + frames * (found.shape[1] - 1) // lengths]
            shares *= part.group.layout_weights[layouts, None] / reading.mean
            facts = np.append(begin, len(used)), frames, layouts, shares
            blocks.append(WordBlock(g, rows, reading_i.symbols.codes[rows[:, None], read], *facts))
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

    def spread(self, g: int, reached: Any = None, out: Any = None, finds: bool = True) -> Any:
        """Add the evidence of one group of layouts; return what is found, see `spread_words`.

        Without `reached`, nothing is added; without `finds`, nothing is found.
        """
        part, offsets = self.table.groups[g], self.symbols.offsets
        size, n_cells, n_columns = self.seen.parts[g][0].shape
        found = np.zeros((size if finds else 0, 1 + (n_cells + 1) // 2, n_columns))
        if reached is None:
            reached = np.empty((len(part.group.layouts), 0), np.int64)
            out = np.empty((0, 0)), *np.zeros((2, *self.totals.shape, n_columns))
        layouts = self.table.rows, part.group.arrays[1][:, -1].copy(), part.group.layout_weights
        words = part.first, *self.seen.parts[g]
        spread_words(self.slots(g), offsets, layouts, words, self.totals, reached, (*out, found))
        return found

    def slots(self, g: int, used: Any = slice(None)) -> np.ndarray:
        """Return the slot of the word at every start in one sequence, by row, layout and frame.

        Where no word starts, the slot is the number of all slots. `used` names rows of the table.
        """
        part, rows = self.table.groups[g], self.table.rows[used]
        # half the size of 64 bits, and twice as fast; a dense table has fewer slots
        first, bases = part.first.astype(np.int32), part.bases.astype(np.int32)
        codes = self.symbols.codes[rows]
        slots = np.full((len(rows), len(part.group.layouts), codes.shape[1]), first[-1])
        for j, layout in enumerate(part.group.layouts):
            n = max(codes.shape[1] - layout.window[-1], 0)
            keys = slots[:, j, :n]
            keys[:] = 0
            for o in layout.offsets:
                keys *= bases[used, None]
                keys += codes[:, o : o + n]
            keys += first[:-1, None][used]
            for o in layout.window if self.present.size else ():
                keys[~self.present[rows, o : o + n]] = first[-1]
        return slots

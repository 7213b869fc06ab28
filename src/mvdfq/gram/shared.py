"""Counts -> sums of products, where most counts are 1 or 2: bits, and the rest one by one."""

import numpy as np

from mvdfq._engines import shared_words
from mvdfq._engines.shared_words import FULL, PANEL, PLANES, WIDTH

# Entries with their values, as in `Columns`: indptr, where the left part of each column ends,
# sequences and values.
Sides = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class SharedWords:
    """Numbers of words that left and right sequences share, on their way into `values`.

    Numbers wait as binary digits until they might be too large; `finish` adds the last of them.
    There is one number for each pair of levels: how many words are at least `low` or at least
    `high` in the left sequence, and at least `low` or at least `high` in the right sequence.
    """

    def __init__(self, values: np.ndarray, first_right: int) -> None:
        self.values, self.first_right = values, np.uint32(first_right)
        # panels of right sequences, and the digits of each panel and pair of levels
        self.cuts = [slice(a, a + PANEL) for a in range(0, values.shape[1], PANEL)]
        self.planes: list[np.ndarray] = []
        self.most = 0  # no number that waits is larger
        self.levels = 0.0, 0.0

    def add(self, sides: Sides, columns: np.ndarray, levels: tuple[float, float]) -> None:
        """Add the products of some columns, whose values are mostly one of two levels."""
        indptr, middle, sequence, value = sides
        n_left = len(self.values)
        left = [
            shared_words.words_of_sequences(indptr, middle, sequence, value, columns, level, n_left)
            for level in levels
        ]
        most = int(np.diff(left[0][0]).max(initial=0))
        if most >= FULL:  # at most as many words as columns
            for half in np.array_split(columns, 2):
                self.add(sides, half, levels)
            return
        if self.most + most >= FULL or levels != self.levels:
            self.finish()
        self.most, self.levels = self.most + most, levels
        # within one collection every entry is both left and right
        first = middle if self.first_right else indptr[:-1]
        right = indptr, first, sequence, value, columns
        self._count(left, right)
        odd = shared_words.odd_entries(*right, *levels)
        where = self.first_right, self.values
        shared_words.add_odd_products(right, left[0], odd, *levels, *where)

    def _count(self, left: list[tuple[np.ndarray, ...]], right: tuple[np.ndarray, ...]) -> None:
        """Add the bits of all right sequences to the numbers that wait."""
        if not self.planes:  # made when the first number comes
            shape = 4, len(self.values), PLANES * WIDTH
            self.planes = [np.zeros(shape, np.uint64) for _ in self.cuts]
        for panel, planes in enumerate(self.planes):
            for j, level in enumerate(self.levels):
                where = self.first_right, panel
                bits = shared_words.rows_of_bits(*right, level, *where)
                for i, (begin, _, place) in enumerate(left):
                    shared_words.add_bits(bits, begin, place, planes[2 * i + j])

    def finish(self) -> None:
        """Add the numbers that wait to `values`."""
        low, high = self.levels
        steps = low, high - low  # a value that is at least `high` is the sum of both
        for cut, planes in zip(self.cuts, self.planes, strict=False):
            for n, waiting in enumerate(planes if self.most else ()):
                weight = steps[n // 2] * steps[n % 2]
                shared_words.add_planes(waiting, weight, self.values[:, cut])
        self.most = 0

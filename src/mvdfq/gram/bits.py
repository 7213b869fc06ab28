"""Products of common words: one bit for each right sequence, added up in binary.

Where a word occurs once in each of two sequences, it adds 1 to their product, and the sum over many
words is a number of bits. So a word is a row of bits of the right sequences, and a left sequence
adds the rows of its words, for 512 right sequences with one instruction. Words that occur twice
have a second row; what larger counts have more is multiplied one by one.
"""

import numpy as np

from mvdfq._engines import cpu
from mvdfq.kernels.counting import Counted

# Most rows of marks at a time: 2 MB, which stay in a cache.
MARKED_ROWS = 1 << 14


class Bits:
    """Sums of rows of bits, until they are added to the tile `out`."""

    def __init__(self, out: np.ndarray) -> None:
        self.out = out
        self.counters = np.zeros((len(out), 3, cpu.WIDTH * cpu.DIGITS), np.uint64)
        self.marks = np.zeros((0, cpu.WIDTH), np.uint64)
        self.spare = np.empty(8 + 2**cpu.DIGITS, np.int64)
        # what the bits stand for, and a bound on the number in a counter
        self.levels, self.most = np.zeros(3), 0

    def add(self, left: Counted, right: Counted, pairs: np.ndarray, most_steps: int) -> np.ndarray:
        """Add the products of columns that both sides have; return which columns are left.

        Columns are left if they take fewer steps than bits would take, where a product is a step
        and no column takes more than `most_steps`.
        """
        _, numbers, more, levels, most = left.lists
        if (levels != self.levels).any() or self.most + most >= 2**cpu.DIGITS:
            self.finish()
        self.levels, self.most = levels, self.most + most
        n_rows = min(MARKED_ROWS, 2 * pairs.shape[1] + 1)
        if n_rows > len(self.marks):
            self.marks = np.zeros((n_rows, cpu.WIDTH), np.uint64)
        places = np.zeros((2, more.shape[1]), np.int32)
        is_left = np.empty(pairs.shape[1], np.bool_)
        sides = _side(left), _side(right)
        symmetric = left is right
        limits = most_steps, 1 + symmetric  # within one block, half of the products are needed
        memory = places, self.marks, self.spare
        cpu.mark_columns(*sides, pairs, limits, tuple(levels), *memory, is_left, self.out)
        n_words = -(-self.out.shape[1] // 512) * 8
        cpu.add_marks(left.lists.ends, numbers, *memory, symmetric, n_words, self.counters)
        return is_left

    def finish(self) -> None:
        """Add what was counted to `out`."""
        low, high, _ = self.levels.astype(float)
        weights = np.array([low * low, low * (high - low), (high - low) ** 2])
        n_digits = self.most.bit_length()
        cpu.add_counters(self.counters, n_digits, weights, self.spare, self.out)
        self.most = 0


def _side(counted: Counted) -> tuple[np.ndarray, ...]:
    columns = counted.values
    return columns.indptr, columns.sequence, columns.count, counted.lists.more

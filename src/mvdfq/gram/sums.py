"""Counts -> sums of products -> kernel values: weights and norms of rows, the lower triangle."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mvdfq._engines import cpu
from mvdfq.gram.bits import Bits
from mvdfq.gram.plan import Plan
from mvdfq.kernels.counting import Columns, Counted

# A column takes (left degree * right degree) steps as an outer product and (n_left * n_right) steps
# in a dense matrix product, but one step of a matrix product is about 48 times faster (measured on
# 1000 x 1000 sequences).
DENSE_GAIN = 48
# Columns of one dense product: enough for full speed, 4 MB for 1000 sequences.
DENSE_COLUMNS = 1024
# Of the columns of one side: where they begin and end, and sequence and value of all entries.
Side = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class Products:
    """Inner products of left and right sequences, summed over the columns that are added.

    The first `n_left` sequences are left, and all other sequences are right. With `first_right` 0,
    all sequences are both left and right, and only the upper triangle of `values` is filled. `own`
    holds the inner product of each sequence with itself.
    """

    def __init__(self, n_left: int, first_right: int, n_sequences: int, root: bool) -> None:
        self.symmetric = first_right == 0
        self.first_right = first_right
        self.n_left, self.n_sequences, self.root = n_left, n_sequences, root
        self.values = np.zeros((n_left, n_sequences - self.first_right))
        self.own = np.zeros(n_sequences)
        # frequent columns that wait for a product, as rows, and a bound on the values of a product
        self.waiting: list[np.ndarray] = []
        self.largest = 0.0
        self.bits: Bits | None = None  # of common columns

    def add_columns(self, columns: Columns, bound: float) -> None:
        """Add the products of columns; the counts of a sequence sum to at most `bound`."""
        begin, end, sequence = columns.indptr[:-1], columns.indptr[1:], columns.sequence
        value = self._embed(columns.count)
        if columns.multiplicity is not None:
            times = np.repeat(np.sqrt(columns.multiplicity), np.diff(columns.indptr))
            value = value * times.astype(value.dtype)
        cpu.add_squares(sequence, value, self.own)
        # within one collection every entry is both left and right
        left = right = begin, end, sequence, value
        if not self.symmetric:
            middle = begin + cpu.left_degrees(columns.indptr, sequence, self.n_left)
            left = begin, middle, sequence, value
            right = middle, end, sequence - np.uint32(self.first_right), value
        self._add(left, right, bound)

    def add_counted(self, left: Counted, right: Counted) -> None:
        """Add the products of a left and a right block, or of the only block with itself."""
        bound, both = max(left.bound, right.bound), [left] if left is right else [left, right]
        self.own += np.concatenate([block.own for block in both])
        if isinstance(left.values, np.ndarray):
            values = np.concatenate([block.values for block in both])
            self._add_later(values.astype(self._precision(bound), copy=False).T, bound)
            return
        keys = [block.values.words for block in both]
        pairs: Any = (slice(None), slice(None))
        if left is not right:
            pairs = np.empty((2, min(map(len, keys))), np.int64)
            pairs = pairs[:, : cpu.common_keys(*keys, *pairs)]
        elif left.lists is not None:
            pairs = np.tile(np.arange(len(keys[0])), (2, 1))
        if left.lists is not None and right.lists is not None:
            self.bits = self.bits or Bits(self.values)
            is_left = self.bits.add(left, right, pairs, self.values.size // DENSE_GAIN)
            pairs = pairs[:, is_left]
        sides = [_side(block.values, places) for block, places in zip(both, pairs, strict=False)]
        self._add(sides[0], sides[-1], bound)

    def add_dense(self, counts: np.ndarray, bound: float) -> None:
        """Add the products of counts in a dense (n_sequences, n_words) matrix."""
        values = self._embed(counts).astype(self._precision(bound), copy=False)
        self.own += np.einsum("ij,ij->i", values, values, dtype=float)
        self._add_later(values.T, bound)

    def _embed(self, count: np.ndarray) -> np.ndarray:
        return np.sqrt(count) if self.root else count

    def _precision(self, bound: float) -> np.dtype:
        """Return float32 if products of whole numbers are exact in float32, else float64."""
        return np.dtype("f4" if self.root or bound**2 < cpu.EXACT_SINGLE else "f8")

    def _add(self, left: Side, right: Side, bound: float) -> None:
        """Add the products of columns that have a left and a right side."""
        degree = left[1] - left[0]
        steps = degree * (degree if left is right else right[1] - right[0])
        dense = (steps > 0) & (steps * DENSE_GAIN >= self.values.size)
        # the diagonal is known, so a word of only one sequence adds nothing
        is_shared = steps > (1 if self.symmetric else 0)
        self._add_frequent(left, right, np.flatnonzero(dense), bound)
        rest = np.flatnonzero(~dense & is_shared)
        cpu.add_outer_products(left, right, rest, self.symmetric, self.values)

    def _add_frequent(self, left: Side, right: Side, places: np.ndarray, bound: float) -> None:
        for first in range(0, len(places), DENSE_COLUMNS):
            part = places[first : first + DENSE_COLUMNS]
            block = np.zeros((len(part), self.n_sequences), dtype=self._precision(bound))
            cpu.fill_dense(left, part, block)
            if not self.symmetric:
                cpu.fill_dense(right, part, block[:, self.first_right :])
            self._add_later(block, bound)

    def _add_later(self, block: np.ndarray, bound: float) -> None:
        """Keep dense columns until there are enough: every matrix product writes a whole tile."""
        is_other = bool(self.waiting) and self.waiting[0].dtype != block.dtype
        if is_other or (not self.root and self.largest + bound**2 >= cpu.EXACT_SINGLE):
            self._multiply()
        self.waiting.append(block)
        self.largest += bound**2
        if sum(map(len, self.waiting)) >= DENSE_COLUMNS:
            self._multiply()

    def _multiply(self) -> None:
        """Add the products of the dense columns that wait."""
        if self.waiting:
            block = np.concatenate(self.waiting).T
            # numpy halves the work when both are the same array
            self.values += block[: self.n_left] @ block[self.first_right :].T
        self.waiting, self.largest = [], 0.0

    def finish(self) -> None:
        """Add what waits; `values` are complete then."""
        self._multiply()
        if self.bits is not None:
            self.bits.finish()


def _side(columns: Columns, places: np.ndarray) -> Side:
    """Return the columns at some places."""
    return columns.indptr[:-1][places], columns.indptr[1:][places], columns.sequence, columns.count


@dataclass(frozen=True)
class Gram:
    """Kernel values of left (rows) and right (columns), and of each sequence with itself.

    `scale` holds the factor by which each row of each left sequence was multiplied.
    """

    values: np.ndarray
    left: np.ndarray
    right: np.ndarray
    scale: np.ndarray


def mirror_upper(values: np.ndarray, own: np.ndarray) -> None:
    """Make a square matrix symmetric by its upper triangle; write `own` to its diagonal."""
    upper = np.triu(values, 1)
    np.add(upper, upper.T, out=values)
    np.fill_diagonal(values, own)


def add_row(out: Gram, plan: Plan, r: int, parts: list[tuple[float, Products]]) -> None:
    """Add the kernel of one row to the tile, normalized and weighted as the plan says."""
    first = parts[0][1]
    # mismatch weights grow with the alphabet and alternate in sign, so that rounding errors would
    # show where whole numbers exceed 2**53
    largest = sum(abs(weight) * part.own.max(initial=0) for weight, part in parts)
    number: Any = np.longdouble if largest >= 2**53 else np.float64
    total = np.sum([part.own for _, part in parts], axis=0)
    own = np.sum([number(weight) * part.own for weight, part in parts], axis=0).astype(float)
    values: Any = None
    for weight, part in parts:
        # in place: each array is as large as a tile
        more = part.values.astype(number, copy=False)
        if weight != 1:
            more *= number(weight)
        values = more if values is None else np.add(values, more, out=values)
    if plan.normalises_rows:
        scale = plan.row_scale(own, total)
        values *= scale[: first.n_left, None]
        values *= scale[first.first_right :]
        own *= scale**2
        out.scale[r] = scale[: first.n_left]
    weight = plan.row_weights[r]
    out.values[...] += values if weight == 1 else weight * values
    out.left[...] += weight * own[: first.n_left]
    out.right[...] += weight * own[first.first_right :]

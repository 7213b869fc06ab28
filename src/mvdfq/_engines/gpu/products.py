"""Counts -> sums of products of all pairs of sequences."""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import torch

from mvdfq._engines.gpu.counts import Runs

__all__ = ["Factors", "Kind", "Sums", "add_dense", "add_runs"]

# Whole numbers up to this are exact in half precision, below this exact in single precision.
EXACT_HALF = 2**11
EXACT_SINGLE = 2**24
# A word that this share of the sequences hold costs less in a matrix product than as a list of
# pairs: a card multiplies some 600e12 and adds some 50e9 scattered numbers per second.
DENSE_SHARE = 1 / 40
FEWEST_DENSE = 8
# Columns of one matrix product. More columns lose digits: sums of products are in single precision.
COLUMNS = 2**13


@dataclass(frozen=True)
class Kind:
    """How counts become values, and what their products are multiplied by.

    With `root`, values are square roots of counts. The products count `weight` times in `values`
    and `own` of `Sums`, and all sums count `times` times: the square of the weight of the layouts,
    or with `root` the weight. No count exceeds `largest`, no sum of products of counts `most`.
    """

    root: bool
    weight: float
    times: float
    largest: int
    most: int

    @property
    def is_precise(self) -> bool:
        """Whether products must be in double precision: whole numbers stay exact."""
        return not self.root and self.most >= EXACT_SINGLE


@dataclass
class Sums:
    """Inner products of left and right sequences for some rows, in double precision.

    The first `n_left` sequences are left, those from `first_right` on are right; with
    `first_right` 0 all are both, and only the upper triangle is complete. `own` and `total` are
    (n_rows, n_sequences): the products of each sequence with itself, with and without the weights
    of groups and words. No intermediate sum exceeds `largest`.
    """

    values: torch.Tensor
    own: torch.Tensor
    total: torch.Tensor
    n_left: int
    first_right: int
    largest: torch.Tensor

    @classmethod
    def zeros(
        cls, n_rows: int, n_left: int, first_right: int, n: int, device: torch.device
    ) -> "Sums":
        """Return sums without any product."""
        values, own, total = (
            torch.zeros(shape, dtype=torch.float64, device=device)
            for shape in [(n_rows, n_left, n - first_right), (n_rows, n), (n_rows, n)]
        )
        largest = torch.zeros((), dtype=torch.float64, device=device)
        return cls(values, own, total, n_left, first_right, largest)

    @property
    def symmetric(self) -> bool:
        """Whether all sequences are both left and right."""
        return self.first_right == 0

    def one(self, r: int) -> "Sums":
        """Return the sums of row `r` alone; what is added there is added here."""
        parts = (part[r : r + 1] for part in (self.values, self.own, self.total))
        return Sums(*parts, self.n_left, self.first_right, self.largest)

    def add_own(self, squares: torch.Tensor, kind: Kind) -> None:
        """Add the products of each sequence with itself, (n_rows, n_sequences)."""
        self.own.add_(squares, alpha=kind.weight * kind.times)
        self.largest += abs(kind.weight * kind.times) * squares.max()

    def add(self, r: int, block: torch.Tensor, kind: Kind) -> None:
        """Add the products of a block of values, (n_sequences, n_columns), to row `r`."""
        product = _product(block, self, kind)
        self.values[r].add_(product, alpha=kind.weight * kind.times)


def add_dense(
    sums: Sums, counts: torch.Tensor, kind: Kind, factors: torch.Tensor | None = None
) -> None:
    """Add the products of counts in dense matrices, (n_rows, n_sequences, n_words).

    `factors`, (n_rows, n_words), multiply the values of words.
    """
    values = counts.sqrt() if kind.root else counts
    squares = counts.sum(-1, dtype=torch.float64) if kind.root else _squares(counts)
    sums.total.add_(squares, alpha=kind.times)
    if factors is not None:
        values = values.double() * factors[:, None]
        squares = _squares(values)
        values = values.float() if kind.root else values
    sums.add_own(squares, kind)
    for r in range(len(values)):
        for first in range(0, values.shape[2], COLUMNS):
            sums.add(r, values[r, :, first : first + COLUMNS], kind)


def _squares(values: torch.Tensor) -> torch.Tensor:
    """Return the sum of squares over the last axis, in double precision."""
    return values.double().square().sum(dim=-1)


def add_runs(
    sums: Sums, runs: Runs, words_per_row: int, kind: Kind, factors: "Factors | None" = None
) -> None:
    """Add the products of runs; row `r` owns the words from ``r * words_per_row`` on."""
    if not runs.word.numel():
        return
    n = sums.own.shape[1]
    value = runs.count.to(
        torch.float32 if kind.root or kind.largest < EXACT_SINGLE else torch.float64
    )
    value = value.sqrt_() if kind.root else value
    first = torch.ones_like(runs.word, dtype=torch.bool)
    torch.ne(runs.word[1:], runs.word[:-1], out=first[1:])
    column = first.cumsum(0) - 1
    starts = first.nonzero().squeeze(1)
    ends = torch.cat([starts[1:], starts.new_tensor([len(column)])])
    row = runs.word // words_per_row
    place = row * n + runs.sequence
    squares = runs.count.double() if kind.root else value.double().square()
    squares = torch.zeros_like(sums.own).view(-1).index_add_(0, place, squares).view_as(sums.own)
    sums.total.add_(squares, alpha=kind.times)
    used = torch.ones_like(starts, dtype=torch.bool)
    if factors is not None:
        factor = factors.of(runs.word[starts])
        used = factor > 0
        value = value.double() * factor[column]
        squares = torch.zeros_like(sums.own).view(-1).index_add_(0, place, value.square())
        squares = squares.view_as(sums.own)
        value = value.float() if kind.root else value
    sums.add_own(squares, kind)
    degree = ends - starts
    dense = used & (degree >= max(FEWEST_DENSE, n * DENSE_SHARE))
    table = _Table(runs.sequence, value, row, column, starts, ends)
    _add_frequent(sums, table, dense, kind)
    _add_pairs(sums, table, used & ~dense & (degree > 1), kind.weight * kind.times)


@dataclass(frozen=True)
class Factors:
    """Factors of words: ascending `words`, numbered as in `Runs`, and one value per word."""

    words: torch.Tensor
    values: torch.Tensor

    def of(self, words: torch.Tensor) -> torch.Tensor:
        """Return the factor of each word, 0 for a word without a factor."""
        if not len(self.words):
            return torch.zeros(len(words), dtype=torch.float64, device=words.device)
        at = torch.searchsorted(self.words, words).clamp_(max=len(self.words) - 1)
        return torch.where(self.words[at] == words, self.values[at], 0.0)


@dataclass(frozen=True)
class _Table:
    """Runs with their values, rows and columns, and where each column starts and ends."""

    sequence: torch.Tensor
    value: torch.Tensor
    row: torch.Tensor
    column: torch.Tensor
    starts: torch.Tensor
    ends: torch.Tensor


def _add_frequent(sums: Sums, table: _Table, dense: torch.Tensor, kind: Kind) -> None:
    """Add the products of the columns that many sequences hold, as dense matrices, row by row."""
    which = dense.nonzero().squeeze(1)
    if not which.numel():
        return
    n = sums.own.shape[1]
    ranks = dense.cumsum(0) - 1
    member = dense[table.column].nonzero().squeeze(1)
    rank, sequence = ranks[table.column[member]], table.sequence[member]
    value = table.value[member]
    # the first column of each row, then of each block of columns
    rows = torch.arange(len(sums.values) + 1, device=which.device)
    edges = torch.searchsorted(table.row[table.starts[which]], rows).tolist()
    cuts = [(r, a) for r, (x, y) in enumerate(pairwise(edges)) for a in range(x, y, COLUMNS)]
    stops = [min(a + COLUMNS, edges[r + 1]) for r, a in cuts]
    ends = torch.searchsorted(rank, torch.tensor(stops, device=which.device)).tolist()
    begin = 0
    for (r, a), b, end in zip(cuts, stops, ends, strict=True):
        block = torch.zeros((b - a, n), dtype=value.dtype, device=value.device)
        flat = (rank[begin:end] - a) * n + sequence[begin:end]
        block.view(-1)[flat] = value[begin:end]
        sums.add(r, block.T, kind)
        begin = end


def _add_pairs(sums: Sums, table: _Table, rare: torch.Tensor, weight: float) -> None:
    """Add the products of the columns that few sequences hold, pair by pair.

    Round `d` multiplies every entry with the entry `d` places later in its column, so the work of
    all rounds together is the number of pairs.
    """
    _, n_left, n_right = sums.values.shape
    left = rare[table.column].nonzero().squeeze(1)
    end = table.ends[table.column[left]]
    out = sums.values.view(-1)
    distance = 1
    while True:
        stays = left + distance < end
        left, end = left[stays], end[stays]
        if not left.numel():
            return
        right = left + distance
        a, b = table.sequence[left], table.sequence[right] - sums.first_right
        place = (table.row[left] * n_left + a) * n_right + b
        product = table.value[left].double() * table.value[right]
        if not sums.symmetric:
            crosses = (a < n_left) & (b >= 0)
            place, product = place[crosses], product[crosses]
        out.index_add_(0, place, product, alpha=weight)
        distance += 1


def _product(block: torch.Tensor, sums: Sums, kind: Kind) -> torch.Tensor:
    """Return ``left @ right.T`` of a block (n_sequences, n_columns).

    A card multiplies halves ten times faster than singles. A root is the sum of two halves, to
    the precision of singles; the product of the second halves is too small to matter. Whole counts
    up to `EXACT_HALF` are halves, and their sums are exact below `EXACT_SINGLE`.
    """
    if kind.is_precise:
        block = block.double()
    as_halves = block.dtype == torch.float32 and (kind.root or kind.largest <= EXACT_HALF)
    if not as_halves or not has_half_products(block.device):
        return block[: sums.n_left] @ block[sums.first_right :].T
    high = block.to(torch.float16)
    left, right = high[: sums.n_left], high[sums.first_right :]
    found = half_product(left, right)
    if not kind.root:
        return found
    low = (block - high).to(torch.float16)
    mixed = half_product(left, low[sums.first_right :])
    if sums.symmetric:
        return found.add_(mixed).add_(mixed.T)
    return found.add_(mixed).add_(half_product(low[: sums.n_left], right))


def half_product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return ``left @ right.T`` of halves, summed up and returned as singles."""
    return torch.mm(left, right.T, out_dtype=torch.float32)


@cache
def has_half_products(device: torch.device) -> bool:
    """Tell whether torch sums up products of halves as singles on this device (2.8 and later)."""
    if device.type != "cuda":
        return False
    try:
        half_product(*[torch.ones((8, 8), dtype=torch.float16, device=device)] * 2)
    except (TypeError, RuntimeError):
        return False
    return True

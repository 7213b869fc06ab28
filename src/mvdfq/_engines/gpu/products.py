"""Counts -> sums of products of all pairs of sequences."""

from dataclasses import dataclass
from itertools import accumulate, pairwise

import torch

from mvdfq._engines.cpu import EXACT_SINGLE
from mvdfq._engines.gpu import fused
from mvdfq._engines.gpu.counts import Runs
from mvdfq._engines.gpu.halves import Kind, Sums, add_block, add_blocks, has_half_products

# A word that occurs in this share of the sequences costs less in a matrix product than as a list of
# pairs: a card multiplies some 600e12 and adds some 50e9 scattered numbers per second.
DENSE_SHARE = 1 / 40
FEWEST_DENSE = 8
# Columns of one dense matrix.
COLUMNS = 2**13
# Columns of one product of halves, if each word occurs in few sequences: see `HALF_COLUMNS`.
SPARSE_COLUMNS = 2**11


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
            add_block(sums, r, values[r, :, first : first + COLUMNS], kind)


def _squares(values: torch.Tensor) -> torch.Tensor:
    """Return the sum of squares over the last axis, in double precision."""
    return values.double().square().sum(dim=-1)


def add_runs(
    sums: Sums, runs: Runs, words_per_row: int, kind: Kind, factors: "Factors | None" = None
) -> None:
    """Add the products of runs; row `r` owns the words from ``r * words_per_row`` on."""
    if not runs.word.numel():
        return
    first = torch.ones_like(runs.word, dtype=torch.bool)
    torch.ne(runs.word[1:], runs.word[:-1], out=first[1:])
    # runs come in the order of their words, so a new word is a new column
    column = first.cumsum(0).sub_(1)
    starts = first.nonzero().squeeze(1)
    ends = torch.nn.functional.pad(starts[1:], (0, 1), value=len(column))
    n = sums.own.shape[1]
    frequent = ends - starts >= max(FEWEST_DENSE, n * DENSE_SHARE)
    columns = _Columns(column, starts, ends, frequent)
    if factors is None and kind.fits_halves and _is_fused(runs.word.device):
        _add_fused(sums, runs, columns, words_per_row, kind)
    else:
        _add_plain(sums, runs, columns, words_per_row, kind, factors)


def _is_fused(device: torch.device) -> bool:
    return fused.has_triton(device) and has_half_products(device)


@dataclass(frozen=True)
class _Columns:
    """The words of runs: the column of each run; where a column starts and ends; its kind."""

    column: torch.Tensor
    starts: torch.Tensor
    ends: torch.Tensor
    frequent: torch.Tensor


def _add_fused(sums: Sums, runs: Runs, columns: _Columns, words_per_row: int, kind: Kind) -> None:
    """Add the products in few passes: one kernel, and one product of all frequent words."""
    n_rows, n = sums.own.shape
    which = columns.frequent.nonzero().squeeze(1)
    row = runs.word[columns.starts[which]] // words_per_row
    in_row = torch.bincount(row, minlength=n_rows).tolist()
    # every row begins with a new block of columns
    blocks = [-(-size // SPARSE_COLUMNS) for size in in_row]
    # two halves of 2 bytes for each place of the dense matrix
    if 4 * n * SPARSE_COLUMNS * sum(blocks) > sums.room // 2:
        _add_plain(sums, runs, columns, words_per_row, kind, None)
        return
    first_block = [0, *accumulate(blocks)]
    before = [0, *accumulate(in_row)]
    moved = [b * SPARSE_COLUMNS - a for b, a in zip(first_block, before, strict=True)][:n_rows]
    ranks = torch.full_like(columns.starts, -1)
    shifts = torch.tensor(moved, device=row.device)
    ranks[which] = torch.arange(len(which), device=row.device) + shifts[row]
    shape = first_block[-1], SPARSE_COLUMNS, 2 if kind.root else 1, n
    dense = torch.zeros(shape, dtype=torch.float16, device=row.device)
    squares, pairs = torch.zeros_like(sums.own), torch.zeros_like(sums.values)
    sizes = n, sums.n_left, sums.first_right, words_per_row
    fused.spread(
        runs, (columns.column, columns.ends, ranks), sizes, kind.root, (squares, pairs, dense)
    )
    sums.total.add_(squares, alpha=kind.times)
    sums.add_own(squares, kind)
    add_blocks(pairs, dense, first_block, sums)
    sums.values.add_(pairs, alpha=kind.weight * kind.times)


def _add_plain(
    sums: Sums, runs: Runs, columns: _Columns, words_per_row: int, kind: Kind,
    factors: "Factors | None",
) -> None:  # fmt: skip
    """Add the products step by step."""
    small = kind.root or kind.largest < EXACT_SINGLE
    value = runs.count.to(torch.float32 if small else torch.float64)
    value = value.sqrt_() if kind.root else value
    row = runs.word // words_per_row
    place = row * sums.own.shape[1] + runs.sequence
    squares = runs.count.double() if kind.root else value.double().square()
    sums.total.add_(_summed(squares, place, sums), alpha=kind.times)
    used = torch.ones_like(columns.frequent)
    if factors is not None:
        factor = factors.of(runs.word[columns.starts])
        # words of factor 0 count in `total`, which is taken before factors, and nowhere else
        used = factor > 0
        value = value.double() * factor[columns.column]
        squares = value.square()
        value = value.float() if kind.root else value
    sums.add_own(_summed(squares, place, sums), kind)
    table = _Table(runs.sequence, value, row, columns.column, columns.starts, columns.ends)
    _add_frequent(sums, table, used & columns.frequent, kind)
    # a word of one sequence has no pairs
    rare = used & ~columns.frequent & (columns.ends - columns.starts > 1)
    _add_pairs(sums, table, rare, kind.weight * kind.times)


def _summed(values: torch.Tensor, place: torch.Tensor, sums: Sums) -> torch.Tensor:
    """Sum up values by row and sequence."""
    return torch.zeros_like(sums.own).view(-1).index_add_(0, place, values).view_as(sums.own)


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
    """Add the products of the columns of frequent words, as dense matrices, row by row."""
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
        add_block(sums, r, block.T, kind)
        begin = end


def _add_pairs(sums: Sums, table: _Table, rare: torch.Tensor, weight: float) -> None:
    """Add the products of the columns of rare words, pair by pair.

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
            # pairs of two left or two right sequences belong to other tiles
            crosses = (a < n_left) & (b >= 0)
            place, product = place[crosses], product[crosses]
        out.index_add_(0, place, product, alpha=weight)
        distance += 1

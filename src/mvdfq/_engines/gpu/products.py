"""Counts -> sums of products of all pairs of sequences, and products of values split in halves."""

from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, pairwise

import torch

from mvdfq._engines.cpu import EXACT_SINGLE
from mvdfq._engines.gpu import fused
from mvdfq._engines.gpu.counts import Runs

# Whole numbers up to this are exact in half precision.
EXACT_HALF = 2**11
# Columns of one product of halves. A card cuts off the last digits of sums: 8192 columns of counts
# gave errors of 2e-5, and the errors grow with the number of columns that are not 0.
HALF_COLUMNS = 2**9
# Bytes of the products of several blocks.
PRODUCT_BYTES = 2**31
# A word that occurs in this share of the sequences costs less in a matrix product than as a list of
# pairs: a card multiplies some 600e12 and adds some 50e9 scattered numbers per second.
DENSE_SHARE = 1 / 40
FEWEST_DENSE = 8
# Columns of one dense matrix.
COLUMNS = 2**13
# Columns of one product of halves, if each word occurs in few sequences: see `HALF_COLUMNS`.
SPARSE_COLUMNS = 2**11


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
    def fits_halves(self) -> bool:
        """Whether values are halves, or sums of two halves."""
        return self.root or (self.largest <= EXACT_HALF and self.most < EXACT_SINGLE)


@dataclass
class Sums:
    """Inner products of left and right sequences for some rows, in double precision.

    The first `n_left` sequences are left, those from `first_right` on are right; with
    `first_right` 0 all are both, and only the upper triangle is complete. `own` and `total` are
    (n_rows, n_sequences): the products of each sequence with itself, with and without the weights
    of groups. No intermediate sum exceeds `largest`.
    """

    values: torch.Tensor
    own: torch.Tensor
    total: torch.Tensor
    n_left: int
    first_right: int
    largest: torch.Tensor
    room: int

    @classmethod
    def zeros(
        cls, n_rows: int, n_left: int, first_right: int, n: int, device: torch.device, room: int
    ) -> "Sums":
        """Return sums without any product; `room` is the memory of the card in bytes."""
        shapes = (n_rows, n_left, n - first_right), (n_rows, n), (n_rows, n), ()
        made = (torch.zeros(shape, dtype=torch.float64, device=device) for shape in shapes)
        values, own, total, largest = made
        return cls(values, own, total, n_left, first_right, largest, room)

    @property
    def symmetric(self) -> bool:
        """Whether all sequences are both left and right."""
        return self.first_right == 0

    def one(self, r: int) -> "Sums":
        """Return the sums of row `r` alone; what is added there is added here."""
        values, own, total = (part[r : r + 1] for part in (self.values, self.own, self.total))
        return replace(self, values=values, own=own, total=total)

    def add_own(self, squares: torch.Tensor, kind: Kind) -> None:
        """Add the products of each sequence with itself, (n_rows, n_sequences)."""
        self.total.add_(squares, alpha=kind.times)
        self.own.add_(squares, alpha=kind.weight * kind.times)
        self.largest += abs(kind.weight * kind.times) * squares.max()


def add_blocks(out: torch.Tensor, dense: torch.Tensor, first_block: list[int], sums: Sums) -> None:
    """Add the products of blocks of columns, row by row.

    `dense` is (n_blocks, n_columns, n_halves, n_sequences): the halves are the values rounded, and
    what rounding left over, if there are two. The products of the second halves are too small to
    matter.
    """
    n_halves, (n_rows, n_left, n_right) = dense.shape[2], out.shape
    products = torch.zeros((n_rows, n_left, n_halves, n_right), device=out.device)
    at_once = max(1, PRODUCT_BYTES // (4 * products[0].numel() + 1))
    for r, (begin, end) in enumerate(pairwise(first_block)):
        for first in range(begin, end, at_once):
            block = dense[first : min(first + at_once, end)]
            right = block[..., sums.first_right :]
            product = half_products(block[:, :, 0, :n_left], right.flatten(2)).sum(dim=0)
            products[r] += product.view_as(products[r])
            if n_halves == 2 and not sums.symmetric:
                out[r] += half_products(block[:, :, 1, :n_left], right[:, :, 0]).sum(dim=0)
    out += products[:, :, 0]
    if n_halves == 2:
        out += products[:, :, 1]
        if sums.symmetric:
            out += products[:, :, 1].transpose(1, 2)


def add_block(sums: Sums, r: int, block: torch.Tensor, kind: Kind) -> None:
    """Add ``left @ right.T`` of a block of values, (n_sequences, n_columns), to row `r`.

    A card multiplies halves ten times faster than singles. A root is the sum of two halves, to
    the precision of singles; the product of the second halves is too small to matter. Whole counts
    up to `EXACT_HALF` are halves, and their sums are exact below `EXACT_SINGLE`.
    """
    if not kind.root and kind.most >= EXACT_SINGLE:
        block = block.double()  # whole numbers stay exact
    as_halves = block.dtype == torch.float32 and kind.fits_halves
    weight = kind.weight * kind.times
    if not as_halves or not has_half_products(block.device):
        product = block[: sums.n_left] @ block[sums.first_right :].T
        sums.values[r].add_(product, alpha=weight)
        return
    # (n_sequences, n_columns) as (n_blocks, columns of a block, n_sequences)
    n_blocks = -(-block.shape[1] // HALF_COLUMNS)
    padded = torch.nn.functional.pad(block, (0, n_blocks * HALF_COLUMNS - block.shape[1]))
    parts = padded.reshape(len(block), n_blocks, HALF_COLUMNS).permute(1, 2, 0)
    halves = [parts.to(torch.float16)]
    if kind.root:
        # what rounding to a half left over: together 22 bits
        halves.append((parts - halves[0]).to(torch.float16))
    out = torch.zeros((1, *sums.values.shape[1:]), dtype=torch.float64, device=block.device)
    add_blocks(out, torch.stack(halves, dim=2), [0, len(parts)], sums)
    sums.values[r].add_(out[0], alpha=weight)


def half_products(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return ``left[i].T @ right[i]`` of halves for all `i`, summed up and returned as singles."""
    return torch.bmm(left.transpose(1, 2), right, out_dtype=torch.float32)


@cache
def has_half_products(device: torch.device) -> bool:
    """Tell whether torch sums up products of halves as singles on this device (2.8 and later)."""
    if device.type != "cuda":
        return False
    try:
        half_products(*[torch.ones((1, 8, 8), dtype=torch.float16, device=device)] * 2)
    except (TypeError, RuntimeError):
        return False
    return True


def add_dense(sums: Sums, counts: torch.Tensor, kind: Kind) -> None:
    """Add the products of counts in dense matrices, (n_rows, n_sequences, n_words)."""
    values = counts.sqrt() if kind.root else counts
    sums.add_own(counts.sum(-1, dtype=torch.float64) if kind.root else _squares(counts), kind)
    for r in range(len(values)):
        for first in range(0, values.shape[2], COLUMNS):
            add_block(sums, r, values[r, :, first : first + COLUMNS], kind)


def _squares(values: torch.Tensor) -> torch.Tensor:
    """Return the sum of squares over the last axis, in double precision."""
    return values.double().square().sum(dim=-1)


def add_runs(sums: Sums, runs: Runs, words_per_row: int, kind: Kind) -> None:
    """Add the products of runs; row `r` owns the words from ``r * words_per_row`` on."""
    if not runs.word.numel():
        return
    differs = torch.zeros_like(runs.word, dtype=torch.bool)
    torch.ne(runs.word[1:], runs.word[:-1], out=differs[1:])
    # runs come in the order of their words, so a new word is a new column
    column = differs.cumsum(0, dtype=torch.int32)
    starts = torch.nn.functional.pad(differs.nonzero().squeeze(1), (1, 0))
    ends = torch.nn.functional.pad(starts[1:], (0, 1), value=len(column))
    n, device = sums.own.shape[1], runs.word.device
    frequent = ends - starts >= max(FEWEST_DENSE, n * DENSE_SHARE)
    columns = _Columns(runs, column, starts, ends, frequent, words_per_row)
    can_fuse = fused.has_triton(device) and has_half_products(device)
    if not (kind.fits_halves and can_fuse and _add_fused(sums, columns, kind)):
        _add_plain(sums, columns, kind)


@dataclass(frozen=True)
class _Columns:
    """Runs; the column of each run; where a column starts and ends, and whether it is frequent."""

    runs: Runs
    column: torch.Tensor
    starts: torch.Tensor
    ends: torch.Tensor
    frequent: torch.Tensor
    words_per_row: int


def _add_fused(sums: Sums, columns: _Columns, kind: Kind) -> bool:
    """Add the products in few passes: one kernel, and one product of all frequent words.

    Return False, and add nothing, if the frequent words do not fit into the memory.
    """
    runs, (n_rows, n) = columns.runs, sums.own.shape
    frequent = columns.frequent.nonzero().squeeze(1)
    row = runs.word[columns.starts[frequent]] // columns.words_per_row
    in_row = torch.bincount(row, minlength=n_rows).tolist()
    # every row begins with a new block of columns
    blocks = [-(-size // SPARSE_COLUMNS) for size in in_row]
    # two halves of 2 bytes for each place of the dense matrix
    if 4 * n * SPARSE_COLUMNS * sum(blocks) > sums.room // 2:
        return False
    first_block = [0, *accumulate(blocks)]
    before = [0, *accumulate(in_row)]
    moved = [b * SPARSE_COLUMNS - a for b, a in zip(first_block, before, strict=True)][:n_rows]
    ranks = torch.full_like(columns.starts, -1)
    shifts = torch.tensor(moved, device=row.device)
    ranks[frequent] = torch.arange(len(frequent), device=row.device) + shifts[row]
    shape = first_block[-1], SPARSE_COLUMNS, 2 if kind.root else 1, n
    dense = torch.zeros(shape, dtype=torch.float16, device=row.device)
    squares, pairs = torch.zeros_like(sums.own), torch.zeros_like(sums.values)
    sizes = n, sums.n_left, sums.first_right, columns.words_per_row
    where, out = (columns.column, columns.ends, ranks), (squares, pairs, dense)
    fused.spread(runs, where, sizes, kind.root, out)
    sums.add_own(squares, kind)
    add_blocks(pairs, dense, first_block, sums)
    sums.values.add_(pairs, alpha=kind.weight * kind.times)
    return True


def _add_plain(sums: Sums, columns: _Columns, kind: Kind) -> None:
    """Add the products step by step."""
    runs = columns.runs
    small = kind.root or kind.largest < EXACT_SINGLE
    value = runs.count.to(torch.float32 if small else torch.float64)
    value = value.sqrt_() if kind.root else value
    row = runs.word // columns.words_per_row
    place = row * sums.own.shape[1] + runs.sequence
    squares = runs.count.double() if kind.root else value.double().square()
    summed = torch.zeros_like(sums.own).view(-1).index_add_(0, place, squares)
    sums.add_own(summed.view_as(sums.own), kind)
    _add_frequent(sums, columns, row, value, kind)
    # a word of one sequence has no pairs
    rare = ~columns.frequent & (columns.ends - columns.starts > 1)
    _add_pairs(sums, columns, row, value, rare, kind.weight * kind.times)


def _add_frequent(
    sums: Sums, columns: _Columns, row: torch.Tensor, value: torch.Tensor, kind: Kind
) -> None:
    """Add the products of the columns of frequent words, as dense matrices, row by row."""
    dense = columns.frequent
    frequent = dense.nonzero().squeeze(1)
    if not frequent.numel():
        return
    n = sums.own.shape[1]
    ranks = dense.cumsum(0) - 1
    member = dense[columns.column].nonzero().squeeze(1)
    rank, sequence = ranks[columns.column[member]], columns.runs.sequence[member]
    value = value[member]
    # the first column of each row, then of each block of columns
    rows = torch.arange(len(sums.values) + 1, device=frequent.device)
    edges = torch.searchsorted(row[columns.starts[frequent]], rows).tolist()
    cuts = [(r, a) for r, (x, y) in enumerate(pairwise(edges)) for a in range(x, y, COLUMNS)]
    stops = [min(a + COLUMNS, edges[r + 1]) for r, a in cuts]
    ends = torch.searchsorted(rank, torch.tensor(stops, device=frequent.device)).tolist()
    begin = 0
    for (r, a), b, end in zip(cuts, stops, ends, strict=True):
        block = torch.zeros((b - a, n), dtype=value.dtype, device=value.device)
        flat = (rank[begin:end] - a) * n + sequence[begin:end]
        block.view(-1)[flat] = value[begin:end]
        add_block(sums, r, block.T, kind)
        begin = end


def _add_pairs(
    sums: Sums, columns: _Columns, row: torch.Tensor, value: torch.Tensor, rare: torch.Tensor,
    weight: float,
) -> None:  # fmt: skip
    """Add the products of the columns of rare words, pair by pair.

    Round `d` multiplies every entry with the entry `d` places later in its column, so the work of
    all rounds together is the number of pairs.
    """
    _, n_left, n_right = sums.values.shape
    sequence = columns.runs.sequence
    left = rare[columns.column].nonzero().squeeze(1)
    end = columns.ends[columns.column[left]]
    out = sums.values.view(-1)
    distance = 1
    while True:
        stays = left + distance < end
        left, end = left[stays], end[stays]
        if not left.numel():
            return
        right = left + distance
        a, b = sequence[left], sequence[right] - sums.first_right
        place = (row[left] * n_left + a) * n_right + b
        product = value[left].double() * value[right]
        if not sums.symmetric:
            # pairs of two left or two right sequences belong to other tiles
            crosses = (a < n_left) & (b >= 0)
            place, product = place[crosses], product[crosses]
        out.index_add_(0, place, product, alpha=weight)
        distance += 1

"""Sums of products of sequences, and products of values split into halves."""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import torch

from mvdfq._engines.cpu import EXACT_SINGLE

# Whole numbers up to this are exact in half precision.
EXACT_HALF = 2**11
# Columns of one product of halves. A card cuts off the last digits of sums: 8192 columns of counts
# gave errors of 2e-5, and the errors grow with the number of columns that are not 0.
HALF_COLUMNS = 2**9
# Bytes of the products of several blocks.
PRODUCT_BYTES = 2**31


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
    room: int

    @classmethod
    def zeros(
        cls, n_rows: int, n_left: int, first_right: int, n: int, device: torch.device, room: int
    ) -> "Sums":
        """Return sums without any product; `room` is the memory of the card in bytes."""
        values, own, total = (
            torch.zeros(shape, dtype=torch.float64, device=device)
            for shape in [(n_rows, n_left, n - first_right), (n_rows, n), (n_rows, n)]
        )
        largest = torch.zeros((), dtype=torch.float64, device=device)
        return cls(values, own, total, n_left, first_right, largest, room)

    @property
    def symmetric(self) -> bool:
        """Whether all sequences are both left and right."""
        return self.first_right == 0

    def one(self, r: int) -> "Sums":
        """Return the sums of row `r` alone; what is added there is added here."""
        values, own, total = (part[r : r + 1] for part in (self.values, self.own, self.total))
        return Sums(values, own, total, self.n_left, self.first_right, self.largest, self.room)

    def add_own(self, squares: torch.Tensor, kind: Kind) -> None:
        """Add the products of each sequence with itself, (n_rows, n_sequences)."""
        self.own.add_(squares, alpha=kind.weight * kind.times)
        self.largest += abs(kind.weight * kind.times) * squares.max()


def add_block(sums: Sums, r: int, block: torch.Tensor, kind: Kind) -> None:
    """Add the products of a block of values, (n_sequences, n_columns), to row `r`."""
    sums.values[r].add_(_product(block, sums, kind), alpha=kind.weight * kind.times)


def add_blocks(out: torch.Tensor, dense: torch.Tensor, first_block: list[int], sums: Sums) -> None:
    """Add the products of blocks of columns, row by row.

    `dense` is (n_blocks, n_columns, n_halves, n_sequences): the halves are the values rounded, and
    what rounding left over, if there are two. The products of the second halves are too small to
    matter.
    """
    n_halves, (n_rows, n_left, n_right) = dense.shape[2], out.shape
    found = torch.zeros((n_rows, n_left, n_halves, n_right), device=out.device)
    at_once = max(1, PRODUCT_BYTES // (4 * found[0].numel() + 1))
    for r, (begin, end) in enumerate(pairwise(first_block)):
        for first in range(begin, end, at_once):
            block = dense[first : min(first + at_once, end)]
            right = block[..., sums.first_right :]
            product = half_products(block[:, :, 0, :n_left], right.flatten(2)).sum(dim=0)
            found[r] += product.view_as(found[r])
            if n_halves == 2 and not sums.symmetric:
                out[r] += half_products(block[:, :, 1, :n_left], right[:, :, 0]).sum(dim=0)
    out += found[:, :, 0]
    if n_halves == 2:
        out += found[:, :, 1]
        if sums.symmetric:
            out += found[:, :, 1].transpose(1, 2)


def _product(block: torch.Tensor, sums: Sums, kind: Kind) -> torch.Tensor:
    """Return ``left @ right.T`` of a block (n_sequences, n_columns).

    A card multiplies halves ten times faster than singles. A root is the sum of two halves, to
    the precision of singles; the product of the second halves is too small to matter. Whole counts
    up to `EXACT_HALF` are halves, and their sums are exact below `EXACT_SINGLE`.
    """
    if kind.is_precise:
        block = block.double()
    as_halves = block.dtype == torch.float32 and kind.fits_halves
    if not as_halves or not has_half_products(block.device):
        return block[: sums.n_left] @ block[sums.first_right :].T
    parts = _in_blocks(block)
    halves = [parts.to(torch.float16)]
    if kind.root:
        # what rounding to a half left over: together 22 bits
        halves.append((parts - halves[0]).to(torch.float16))
    out = torch.zeros((1, *sums.values.shape[1:]), dtype=torch.float64, device=block.device)
    add_blocks(out, torch.stack(halves, dim=2), [0, len(parts)], sums)
    return out[0]


def _in_blocks(block: torch.Tensor) -> torch.Tensor:
    """Return (n_sequences, n_columns) as (n_blocks, columns of a block, n_sequences)."""
    n_blocks = -(-block.shape[1] // HALF_COLUMNS)
    padded = torch.nn.functional.pad(block, (0, n_blocks * HALF_COLUMNS - block.shape[1]))
    return padded.reshape(len(block), n_blocks, HALF_COLUMNS).permute(1, 2, 0)


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

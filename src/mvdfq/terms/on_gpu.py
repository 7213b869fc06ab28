"""Standardized words on a graphics card: root shares, their scales and products."""

from typing import Any

import numpy as np
import torch

from mvdfq._engines.gpu.counts import histogram
from mvdfq._engines.gpu.device import (
    budget,
    full_precision,
    most_kept,
    sent_once,
    to_device,
    to_host,
)
from mvdfq._engines.gpu.filters import filter_counts
from mvdfq._engines.gpu.reading import Rows
from mvdfq.gram.gram_on_gpu import device_rows, reading_of
from mvdfq.gram.plan import Plan
from mvdfq.kernels.counting import GroupTask
from mvdfq.sequences import Sequences
from mvdfq.symbols.base import Symbols

__all__ = ["column_sums", "features", "filter_shares", "product", "root_shares", "to_host"]

# Bytes of the card per frame and filter: responses, levels, and the places of their words.
BYTES_PER_RESPONSE = 32
# Bytes of the card per count: counts, counts in another order, their roots.
BYTES_PER_COUNT = 16
# Columns to sum up in doubles at a time.
COLUMNS = 2**14


def root_shares(symbols: Symbols, plan: Plan, rows: np.ndarray, device: str) -> torch.Tensor:
    """Return what `root_shares` of `standard.py` returns, as a dense tensor."""
    codes, offsets = device_rows([symbols.rows(rows)], device)
    geometry, groups = Rows.of(codes, offsets), plan.groups(int(rows[0]))
    n_symbols = int(plan.n_symbols[rows[0]])
    n_words = sum(n_symbols**group.length for group in groups) * len(plan.cells)
    # a quarter of the card: the parts, their sum and the products need the rest
    at_once = max(1, budget(device, None) // 4 // (BYTES_PER_COUNT * n_words * len(symbols) + 1))
    parts = []
    for first in range(0, len(rows), at_once):
        mine = list(range(first, min(first + at_once, len(rows))))
        read = geometry.chosen(mine, n_symbols, symbols.missing)
        counts = torch.cat([_by_word(read, group, plan) for group in groups], dim=2)
        parts.append(_roots(counts).transpose(0, 1).reshape(len(symbols), -1))
    return torch.cat(parts, dim=1)


def _by_word(read: Rows, group: Any, plan: Plan) -> torch.Tensor:
    """Return the counts of one group, (n_rows, n_sequences, n_columns): cell by cell of a word."""
    readings = [reading_of(GroupTask(group, cell)) for cell in plan.cells]
    found = histogram(read, readings)
    by_cell = found.reshape(*found.shape[:2], len(readings), -1)
    return by_cell.transpose(2, 3).reshape(found.shape) * float(group.layout_weights[0])


def _roots(counts: torch.Tensor) -> torch.Tensor:
    """Return the roots of the shares of the last axis, 0 for a sequence without words."""
    total = counts.sum(dim=-1, keepdim=True).clamp(min=float(np.finfo(np.float32).tiny))
    return counts.div_(total).sqrt_()


def filter_shares(
    X: Sequences, scale: Any, filters: Any, thresholds: np.ndarray, device: str
) -> torch.Tensor:
    """Return what `filter_shares` of `filter_words.py` returns, as a tensor.

    `scale` holds the means and deviations of the numeric channels.
    """
    values, offsets, numeric = (
        X.data,
        X.offsets,
        to_device(np.flatnonzero(~X.symbolic_mask), device),
    )
    # all banks of filters read the same values
    whole = sent_once(values, device) if values.nbytes <= most_kept(device) else None
    mean, deviation = (to_device(part, device)[:, None] for part in scale)
    cuts = to_device(thresholds, device)
    n_filters, n = len(thresholds), len(offsets) - 1
    shares = torch.empty((n, n_filters * thresholds.shape[1] * 10), device=device)
    per_frame = n_filters * BYTES_PER_RESPONSE + 40 * len(values) * values.itemsize
    at_once = budget(device, None) // 4 // per_frame
    first = 0
    while first < n:
        last = int(np.searchsorted(offsets, offsets[first] + at_once, side="right")) - 1
        last = min(max(last, first + 1), n)
        frames = slice(offsets[first], offsets[last])
        block = to_device(values[:, frames], device) if whole is None else whole[:, frames]
        # doubles, as on the processor: a value on a threshold must fall on the same side
        block = ((block[numeric].double() - mean) / deviation).to(block.dtype)
        starts = to_device(offsets[first : last + 1] - offsets[first], device)
        counts = filter_counts(block, starts, filters, cuts)
        shares[first:last] = _filter_roots(counts).reshape(last - first, -1)
        first = last
    return shares


def _filter_roots(counts: torch.Tensor) -> torch.Tensor:
    # all thresholds of a filter have the same number of words: the first is enough
    total = counts[:, :, :1].sum(dim=-1, keepdim=True).clamp(min=1)
    return (counts / total).sqrt_()


def column_sums(
    shares: torch.Tensor, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, for every column, the weights of the entries, of their sum and of their squares."""
    held, total, squares = [], [], []
    often = to_device(weight, str(shares.device))
    for part in shares.split(COLUMNS, dim=1):  # doubles take twice the memory
        held.append(often @ (part != 0).double())
        total.append(often @ part.double())
        squares.append(often @ part.double().square_())
    return to_host(torch.cat(held)), to_host(torch.cat(total)), to_host(torch.cat(squares))


def features(
    shares: torch.Tensor, kept: np.ndarray, mean: np.ndarray, factor: np.ndarray
) -> torch.Tensor:
    """Return the standardized columns that are kept."""
    device = str(shares.device)
    # a copy, which may be changed in place
    z = shares[:, to_device(kept, device)]
    z -= to_device(mean[kept].astype(np.float32), device)
    z *= to_device(factor[kept].astype(np.float32), device)
    return z


def product(z: torch.Tensor, coefficients: np.ndarray | None) -> np.ndarray:
    """Return ``z @ z.T``, or ``z.T @ coefficients``."""
    with full_precision():
        if coefficients is None:
            return to_host(z @ z.T)
        return to_host(z.double().T @ to_device(coefficients, str(z.device)))

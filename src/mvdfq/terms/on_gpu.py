"""Terms on a graphics card: standardized words and their products."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from mvdfq._engines.filter_words import in_single
from mvdfq._engines.gpu import device as card
from mvdfq._engines.gpu.counts import histogram
from mvdfq._engines.gpu.device import budget, full_precision, to_device, to_host
from mvdfq._engines.gpu.filters import filter_counts
from mvdfq._engines.gpu.reading import Rows
from mvdfq.gram.gram_on_gpu import device_rows, reading_of
from mvdfq.gram.plan import Plan
from mvdfq.kernels.counting import GroupTask
from mvdfq.sequences import Sequences, blocks_of
from mvdfq.symbols.base import Symbols

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
        rows_now = list(range(first, min(first + at_once, len(rows))))
        read = geometry.chosen(rows_now, n_symbols, symbols.missing)
        counts = torch.cat([_by_word(read, group, plan) for group in groups], dim=2)
        # the roots of the shares, 0 for a sequence without words
        total = counts.sum(dim=-1, keepdim=True).clamp(min=float(np.finfo(np.float32).tiny))
        parts.append(counts.div_(total).sqrt_().transpose(0, 1).reshape(len(symbols), -1))
    return torch.cat(parts, dim=1)


def _by_word(read: Rows, group: Any, plan: Plan) -> torch.Tensor:
    """Return the counts of one group, (n_rows, n_sequences, n_columns): cell by cell of a word."""
    readings = [reading_of(GroupTask(group, cell)) for cell in plan.cells]
    counts = histogram(read, readings)
    by_cell = counts.reshape(*counts.shape[:2], len(readings), -1)
    return by_cell.transpose(2, 3).reshape(counts.shape) * float(group.layout_weights[0])


def filter_shares(
    X: Sequences, scale: Any, filters: Any, thresholds: np.ndarray, device: str
) -> torch.Tensor:
    """Return what `filter_shares` of `filter_words.py` returns, as a tensor.

    `scale` holds the means and deviations of the numeric channels.
    """
    values, offsets = X.data, X.offsets
    numeric = to_device(np.flatnonzero(~X.symbolic_mask), device)
    # all banks of filters read the same values
    whole = card.sent_once(values, device) if values.nbytes <= card.most_kept(device) else None
    mean, deviation = (to_device(part, device)[:, None] for part in scale)
    cuts = to_device(in_single(thresholds), device)
    n_filters, n = len(thresholds), len(offsets) - 1
    shares = torch.empty((n, n_filters * thresholds.shape[1] * 10), device=device)
    per_frame = n_filters * BYTES_PER_RESPONSE + 40 * len(values) * values.itemsize
    for rows in blocks_of(offsets, budget(device, None) // 4 // per_frame):
        first, last = rows.start, rows.stop
        frames = slice(offsets[first], offsets[last])
        block = to_device(values[:, frames], device) if whole is None else whole[:, frames]
        # doubles, as on the processor: a value on a threshold must fall on the same side
        block = (block[numeric].double() - mean) / deviation
        starts = to_device(offsets[first : last + 1] - offsets[first], device)
        counts = filter_counts(block, starts, filters, cuts)
        # all thresholds of a filter have the same number of words: the first is enough
        total = counts[:, :, :1].sum(dim=-1, keepdim=True).clamp(min=1)
        shares[rows] = (counts / total).sqrt_().reshape(last - first, -1)
    return shares


def column_sums(
    shares: torch.Tensor, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, for every column, the weights of the entries, of their sum and of their squares."""
    often = to_device(weight, str(shares.device))
    parts = []
    for part in shares.split(COLUMNS, dim=1):  # doubles take twice the memory
        x = part.double()
        parts.append(torch.stack([often @ (part != 0).double(), often @ x, often @ x.square()]))
    held, total, squares = to_host(torch.cat(parts, dim=1))
    return held, total, squares


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


def zeros(shape: tuple[int, ...], device: str) -> torch.Tensor:
    """Return doubles to add to."""
    return torch.zeros(shape, dtype=torch.float64, device=device)


def product(z: torch.Tensor, factor: np.ndarray | None) -> torch.Tensor:
    """Return ``z @ z.T``, of columns times their factors."""
    if factor is not None:
        z = z * to_device(factor.astype(np.float32), str(z.device))
    with full_precision():
        return z @ z.T


def weighed(shares: torch.Tensor, weights: np.ndarray) -> np.ndarray:
    """Return the sums of the weights of words, times their root shares."""
    return to_host(shares.double() @ to_device(weights, str(shares.device)).double())


def learned(
    z: torch.Tensor, parts: list[np.ndarray], factors: list[np.ndarray], mean: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of words, and their means over classes, as `Learned` holds them.

    `parts` are coefficients and members of classes, `factors` what their sums are multiplied by.
    """
    device, wide = str(z.device), z.double()
    weights, centred = (
        (wide.T @ to_device(part, device)).mul_(to_device(factor, device)[:, None])
        for part, factor in zip(parts, factors, strict=True)
    )
    # in singles, as predictions read them: half the bytes to the host
    return to_host(weights.float()), to_host(centred.add_(to_device(mean, device)[:, None]).float())


def between(z: torch.Tensor, members: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the sums over classes of squared means of columns, times the shares of the classes."""
    device = str(z.device)
    with full_precision():
        means = z.T @ to_device(members.astype(np.float32), device)
        return to_host(means.double().square() @ to_device(shares, device))


def held_out(
    z: torch.Tensor, row: np.ndarray, folds: list[Any], coefficients: np.ndarray, shares: np.ndarray
) -> Iterator[torch.Tensor]:
    """Yield what channels add to the margins of the sequences that each fold checks.

    `row` is the row of each column, `coefficients` are those of all folds side by side, `shares`
    (n_rows, n_channels) those of the channels. One product for each fold takes the place of one
    product for each row: a card starts few large products sooner than many small ones.
    """
    device = str(z.device)
    with full_precision():
        learned = (z.T @ to_device(coefficients, device)).chunk(len(folds), dim=1)
        parts = to_device(shares.astype(np.float32), device)[to_device(row, device), None]
        for fold, weights in zip(folds, learned, strict=True):
            sums = z[to_device(fold.check, device)] @ (weights[:, :, None] * parts).flatten(1)
            yield sums.reshape(len(fold.check), weights.shape[1], -1)


def projected(z: torch.Tensor, matrix: Any) -> torch.Tensor:
    """Return ``z @ matrix`` of a `projection`: one entry per line of the matrix."""
    places = to_device(matrix.indices.astype(np.int64), str(z.device))
    signs = to_device(matrix.data, str(z.device))
    out = zeros((len(z), matrix.shape[1]), str(z.device))
    # in doubles, so that the order of the additions, which changes, is invisible
    parts = z.split(COLUMNS, dim=1), places.split(COLUMNS), signs.split(COLUMNS)
    for part, places_here, sign in zip(*parts, strict=True):
        out.index_add_(1, places_here, (part * sign).double())
    return out

"""Frames and symbols on a card; arrays or tensors in, tensors out, which stay on the card.

What a transformer makes of values is equal to the processor to the last bit: sums run in the same
order, and products are rounded before they are added. What a transformer learns by long sums
(means, deviations, covariances) differs from the processor by rounding in double precision.
"""

from typing import Any

import numpy as np
import torch

from mvdfq._engines.gpu.device import sent_once, to_device, to_host
from mvdfq._engines.gpu.reading import Rows

MISSING = 255


def joined(parts: list[Any], device: str) -> torch.Tensor:
    """Return the rows of all parts."""
    return torch.cat([sent_once(part, device) for part in parts])


def gradient(data: Any, offsets: np.ndarray, device: str) -> torch.Tensor:
    """Return `numpy.gradient` along time, for each sequence alone."""
    x = sent_once(data, device)
    rows = Rows.of(x, sent_once(offsets, device))
    frames = torch.arange(x.shape[1], device=device)
    slopes = x[:, frames + (rows.rest > 1)] - x[:, frames - (rows.place.clamp(max=1))]
    inner = (rows.rest > 1) & (rows.place > 0)
    return torch.where(inner, slopes / 2, slopes)


def moving_average(data: Any, offsets: np.ndarray, half: int, device: str) -> torch.Tensor:
    """Return the mean of the values at most `half` frames away, in the same sequence, not NaN."""
    x = sent_once(data, device)
    rows = Rows.of(x, sent_once(offsets, device))
    present = ~x.isnan()
    sums = torch.zeros(x.shape, dtype=torch.float64, device=device)
    counts = torch.zeros_like(sums)
    n = x.shape[1]
    for shift in range(max(-half, 1 - n), min(half, n - 1) + 1):
        here = slice(max(0, -shift), n - max(0, shift))
        there = slice(max(0, shift), n - max(0, -shift))
        inside = (rows.rest[here] > shift) & (rows.place[here] + shift >= 0)
        used = present[:, there] & inside
        sums[:, here] += torch.where(used, x[:, there], 0)
        counts[:, here] += used
    return torch.where(present, sums / counts, torch.nan)


def scaled(data: Any, mean: np.ndarray, scale: np.ndarray, device: str) -> torch.Tensor:
    """Return ``(data - mean) / scale``, row by row."""
    centred = sent_once(data, device) - to_device(mean, device)[:, None]
    return centred.div_(to_device(scale, device)[:, None])


def project(data: Any, mean: np.ndarray, components: np.ndarray, device: str) -> torch.Tensor:
    """Return ``components @ (data - mean)``."""
    x, weights = sent_once(data, device), to_device(components, device)
    sums = torch.zeros((len(weights), x.shape[1]), dtype=torch.float64, device=device)
    for c, centre in enumerate(mean.tolist()):
        sums += weights[:, c, None] * (x[c] - centre)
    return sums


def bounds(data: Any, device: str) -> np.ndarray:
    """Return the smallest and the largest value of every row, inf and -inf without values."""
    x = sent_once(data, device)
    if not x.shape[1]:
        return np.stack([np.full(len(x), np.inf), np.full(len(x), -np.inf)])
    missing = x.isnan()
    low = x.masked_fill(missing, torch.inf).amin(1)
    return to_host(torch.stack([low, x.masked_fill(missing, -torch.inf).amax(1)]))


def moments(data: Any, device: str) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of every row, without NaN; 0 without values."""
    x = sent_once(data, device)
    present = ~x.isnan()
    n = present.sum(1).clamp(min=1)
    mean = torch.where(present, x, 0).sum(1) / n
    squares = torch.where(present, (x - mean[:, None]).square(), 0).sum(1)
    return to_host(mean), to_host((squares / n).sqrt())


def whole_frames(data: Any, device: str) -> torch.Tensor:
    """Return the frames without NaN."""
    x = sent_once(data, device)
    whole = ~x.isnan().any(0)
    return x if bool(whole.all()) else x[:, whole]


def spread_of_frames(data: Any, device: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean and bounds of the rows, and the sums of products of centred rows."""
    mean = data.mean(1)
    centred = data - mean[:, None]
    return to_host(mean), bounds(data, device), to_host(centred @ centred.T)


def quantiles(rows: Any, n_bins: int, same: tuple[float, float], device: str) -> list[np.ndarray]:
    """Return what `cuts` of `symbols/bins.py` reads of each row, for all rows at once.

    The result is the number of values, the least and the largest, (n_rows,), and the values
    before and at the places of the cuts, (n_rows, n_bins - 1). `same` are the shares of the largest
    value and of the range up to which two values are the same value.
    """
    ordered = sent_once(rows, device).sort(dim=1).values
    missing = ordered.isnan()
    n, ordered = (~missing).sum(1, keepdim=True), ordered.masked_fill(missing, torch.inf)
    low, high = ordered[:, :1], ordered.gather(1, (n - 1).clamp(min=0))
    steps = torch.arange(1, n_bins, device=device)
    place = (-(-steps * (n - 1) // n_bins)).clamp(min=0)  # rounded up
    of_largest, of_range = same
    near = of_largest * torch.maximum(low.abs(), high.abs())
    near = torch.minimum(near, of_range * high - of_range * low)
    at_place = ordered.gather(1, place)
    # where no values around a place are the same, the place stays where it is
    first = torch.searchsorted(ordered, at_place - near)
    last = torch.searchsorted(ordered, at_place + near, right=True)
    goes_up = (first == 0) | ((last < n) & (last - place < place - first))
    place = torch.where(goes_up, last, first)
    places = torch.cat([place - 1, place], dim=1).clamp(0, ordered.shape[1] - 1)
    parts = to_host(torch.cat([n, low, high, ordered.gather(1, places)], dim=1))
    return [*parts[:, :3].T, *np.hsplit(parts[:, 3:], 2)]


def levels(data: Any, thresholds: list[np.ndarray], device: str) -> torch.Tensor:
    """Return how many thresholds of its row each value reaches, as bytes; `MISSING` for NaN."""
    x = sent_once(data, device).contiguous()
    cuts = np.full((len(thresholds), max(map(len, thresholds))), np.inf)
    for row, row_thresholds in zip(cuts, thresholds, strict=True):
        row[: len(row_thresholds)] = row_thresholds
    levels_of = torch.searchsorted(to_device(cuts, device), x, right=True, out_int32=True)
    return levels_of.to(torch.uint8).masked_fill_(x.isnan(), MISSING)


def combined(codes: Any, sets: np.ndarray, radices: np.ndarray, device: str) -> torch.Tensor:
    """Return one code for the codes of every set of rows, (n_sets, n_members); the first lowest."""
    rows = sent_once(codes, device)
    out = torch.zeros((len(sets), rows.shape[1]), dtype=torch.uint8, device=device)
    missing = torch.zeros_like(out, dtype=torch.bool)
    for members in reversed(sets.T):
        radix = to_device(radices[members].astype(np.uint8), device)[:, None]
        digits = rows[to_device(members, device)]
        missing |= digits == MISSING
        out = out * radix + torch.minimum(digits, radix - 1)
    return out.masked_fill_(missing, MISSING)

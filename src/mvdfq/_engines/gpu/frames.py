"""Frames and symbols on a card: arrays in, arrays out, equal to the processor to the last bit.

Sums run in the same order as on the processor; products are rounded before they are added.
"""

import numpy as np
import torch

from mvdfq._engines.gpu.device import to_device, to_host
from mvdfq._engines.gpu.reading import Rows


def gradient(data: np.ndarray, offsets: np.ndarray, device: str) -> np.ndarray:
    """Return `numpy.gradient` along time, for each sequence alone."""
    x = to_device(data, device)
    rows = Rows.of(x, to_device(offsets, device))
    frames = torch.arange(x.shape[1], device=device)
    after = x[:, frames + (rows.rest > 1)]
    before = x[:, frames - (rows.place.clamp(max=1))]
    inner = (rows.rest > 1) & (rows.place > 0)
    slopes = after - before
    return to_host(torch.where(inner, slopes / 2, slopes))


def moving_average(data: np.ndarray, offsets: np.ndarray, half: int, device: str) -> np.ndarray:
    """Return the mean of the values at most `half` frames away, in the same sequence, not NaN."""
    x = to_device(data, device)
    rows = Rows.of(x, to_device(offsets, device))
    present = ~x.isnan()
    sums = torch.zeros(x.shape, dtype=torch.float64, device=device)
    counts = torch.zeros_like(sums)
    n = x.shape[1]
    for shift in range(max(-half, 1 - n), min(half, n - 1) + 1):
        here = slice(max(0, -shift), n - max(0, shift))
        there = slice(max(0, shift), n - max(0, -shift))
        inside = (rows.rest[here] > shift) & (rows.place[here] + shift >= 0)
        used = present[:, there] & inside
        sums[:, here] += torch.where(used, x[:, there], 0).double()
        counts[:, here] += used
    averages = torch.where(present, sums / counts, torch.nan)
    return to_host(averages.to(x.dtype))


def project(data: np.ndarray, mean: np.ndarray, components: np.ndarray, device: str) -> np.ndarray:
    """Return ``components @ (data - mean)``, in double precision, rounded to the type of `data`."""
    x = to_device(data, device)
    weights = to_device(components.astype(float), device)
    sums = torch.zeros((len(weights), x.shape[1]), dtype=torch.float64, device=device)
    for c, centre in enumerate(mean.tolist()):
        centred = x[c].double() - centre
        for q in range(len(weights)):
            sums[q] += weights[q, c] * centred
    return to_host(sums.to(x.dtype))


def ordered(values: np.ndarray, device: str) -> np.ndarray:
    """Return the sorted values."""
    return to_host(to_device(values, device).sort().values)


def count_thresholds(
    values: np.ndarray, thresholds: np.ndarray, codes: np.ndarray, missing: int, device: str
) -> None:
    """Write, for every value, the number of thresholds that are at most the value."""
    x, cuts = to_device(values, device), to_device(thresholds.astype(values.dtype), device)
    found = torch.searchsorted(cuts, x, right=True, out_int32=True)
    found.masked_fill_(x.isnan(), missing)
    small = codes.dtype.itemsize == 1
    codes[:] = to_host(found.to(torch.uint8) if small else found)

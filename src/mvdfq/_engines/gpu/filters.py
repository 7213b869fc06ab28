"""Responses of filters and the words of their thresholds on a card.

`filters` is as in `_engines/filter_words.py`. Sums run in the same order as on the processor and
without fused operations, so responses are equal to the last bit.
"""

from dataclasses import replace
from functools import cache, reduce
from itertools import product
from typing import Any

import numpy as np
import torch

from mvdfq._engines.filter_words import LARGEST, N_TAPS, N_WORDS
from mvdfq._engines.gpu import fused
from mvdfq._engines.gpu.counts import histogram
from mvdfq._engines.gpu.device import sent_once
from mvdfq._engines.gpu.reading import Reading, Rows

MISSING = 255


def filter_counts(
    data: torch.Tensor, offsets: torch.Tensor, filters: Any, thresholds: torch.Tensor
) -> torch.Tensor:
    """Return the counts of binary words, (n_sequences, n_filters, n_thresholds, 10).

    `data` are standardized doubles, `thresholds` as `in_single` returns.
    The level of a response is the number of thresholds that it reaches. All binary words of three
    levels follow from the three levels, so levels are counted, as words over a small alphabet.
    """
    rows, n_thresholds, step = Rows.of(data, offsets), thresholds.shape[1], filters[0]
    levels = _read(_single(data), rows, filters, thresholds)
    every = list(range(len(levels)))
    read = replace(rows, codes=levels).chosen(every, n_thresholds + 1, MISSING)
    triple = (0, step, 2 * step)
    readings = [Reading(((0,),), ((0,),)), Reading((triple,), (triple,))]
    counts = histogram(read, readings) @ _words_of_levels(n_thresholds, data.device)
    return counts.reshape(len(levels), -1, n_thresholds, N_WORDS).transpose(0, 1)


def responses(data: Any, offsets: np.ndarray, banks: list[Any], device: str) -> torch.Tensor:
    """Return the response of every filter of every bank at every frame, (n_filters, n_frames)."""
    x = sent_once(data, device)
    rows = Rows.of(x, sent_once(offsets, device))
    return torch.cat([_read(_single(x), rows, filters, None) for filters in banks]).to(x.dtype)


def _single(data: torch.Tensor) -> torch.Tensor:
    """Return values in single precision, as the processor reads them."""
    return data.clamp(-LARGEST, LARGEST).float()


def _read(data: torch.Tensor, rows: Rows, filters: Any, thresholds: Any) -> torch.Tensor:
    """Return responses, or with thresholds the levels of responses, (n_filters, n_frames)."""
    if fused.has_triton(data.device):
        return fused.respond(data, rows, filters, thresholds)
    responses = _responses(data, rows, filters)
    return responses if thresholds is None else _levels(responses, thresholds)


def _responses(data: torch.Tensor, rows: Rows, filters: Any) -> torch.Tensor:
    """Return the response of every filter at every frame, (n_filters, n_frames)."""
    dilation, taps, members, zero_padded = filters
    shifted = [_shifted(data, rows, (tap - N_TAPS // 2) * dilation) for tap in range(N_TAPS)]
    nine = [torch.zeros_like(data) for _ in range(2)]
    for kind in range(2):
        for values in shifted:
            nine[kind] += values[kind]
    out = torch.empty((len(taps), data.shape[1]), dtype=data.dtype, device=data.device)
    for f, response in enumerate(out):
        kind, channels = int(zero_padded[f]), [c for c in members[f].tolist() if c >= 0]
        response.zero_()
        for c in channels:
            response -= nine[kind][c]
        # sums of channels, then of taps, from left to right as on the processor
        tapped = [reduce(torch.add, shifted[tap][kind][channels]) for tap in taps[f].tolist()]
        three = reduce(torch.add, tapped)
        response += 3 * three
    return out


def _shifted(data: torch.Tensor, rows: Rows, distance: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the values some frames later; beyond the ends, the end values or zeros."""
    inside = torch.minimum(rows.rest - 1, (-rows.place).clamp(min=distance))
    frames = torch.arange(data.shape[1], device=data.device)
    near = data[:, frames + inside]
    return near, near.masked_fill(inside != distance, 0)


def _levels(responses: torch.Tensor, thresholds: torch.Tensor) -> torch.Tensor:
    """Return how many thresholds each response reaches; `MISSING` for NaN."""
    # a filter without values has the thresholds NaN, which no response reaches
    thresholds = thresholds.nan_to_num(nan=torch.inf, posinf=torch.inf, neginf=-torch.inf)
    reached = torch.searchsorted(thresholds, responses, right=True, out_int32=True)
    return reached.to(torch.uint8).masked_fill_(responses.isnan(), MISSING)


@cache
def _words_of_levels(n: int, device: torch.device) -> torch.Tensor:
    """Return which words one level, and three levels, form at each of `n` thresholds.

    The shape is (n_levels + n_levels**3, n * 10).
    """
    levels = range(n + 1)
    table = torch.zeros((n + 1 + (n + 1) ** 3, n, N_WORDS))
    for q in range(n):
        for level in levels:
            table[level, q, int(level > q)] = 1
        for place, (a, b, c) in enumerate(product(levels, repeat=3), start=n + 1):
            table[place, q, 2 + 4 * (a > q) + 2 * (b > q) + (c > q)] = 1
    return table.reshape(len(table), -1).to(device)

"""Counts of words for explicit features, by a graphics card."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from mvdfq._engines.gpu.counts import KEY_BITS, run_bits, runs_of
from mvdfq._engines.gpu.device import to_host
from mvdfq._engines.gpu.reading import Rows
from mvdfq.gram.gram_on_gpu import CannotCount, device_rows, reading_of
from mvdfq.gram.plan import Plan
from mvdfq.kernels.counting import EXACT_SINGLE, Columns
from mvdfq.kernels.keys import word_codes
from mvdfq.symbols.base import Symbols

__all__ = ["count_tasks"]


def count_tasks(collection: Any, plan: Plan, device: str) -> Iterator[tuple[int, int, Columns]]:
    """Yield row, number and counts of every task; words are rows of codes.

    Raises `CannotCount` before the first result if the card cannot count the words.
    """
    if not isinstance(collection, Symbols):
        raise CannotCount("the kernel reads numbers")
    if not plan.counts_groups:
        raise CannotCount("the kernel has its own way of counting")
    readings = [
        [(reading_of(task), float(task.group.layout_weights[0])) for _, task in plan.tasks(r)]
        for r in range(len(plan.row_weights))
    ]
    codes, offsets = device_rows([collection], device)
    geometry = Rows.of(codes, offsets)
    rows = []
    for r, listed in enumerate(readings):
        n_symbols = int(plan.n_symbols[r])
        missing = n_symbols if plan.kernel.is_closed else collection.missing
        rows.append(geometry.chosen([r], n_symbols, missing))
        if any(run_bits(rows[-1], [reading]) > KEY_BITS for reading, _ in listed):
            raise CannotCount("words of this length do not fit into 64 bits")
    for r, listed in enumerate(readings):
        for t, (reading, weight) in enumerate(listed):
            yield r, t, _columns(rows[r], reading, weight)


def _columns(row: Rows, reading: Any, weight: float) -> Columns:
    """Count the words of one reading in one row."""
    runs = runs_of(row, [reading])
    words, sizes = torch.unique_consecutive(runs.word, return_counts=True)
    counts = to_host(runs.count) * weight
    # as on the processor: whole numbers that single precision holds exactly
    single = counts.max(initial=0) < EXACT_SINGLE and weight % 1 == 0
    return Columns(
        np.concatenate([[0], np.cumsum(to_host(sizes))]),
        to_host(runs.sequence).astype(np.uint32),
        counts.astype(np.float32 if single else np.float64),
        word_codes(to_host(words).astype(np.uint64), row.base, reading.length),
    )

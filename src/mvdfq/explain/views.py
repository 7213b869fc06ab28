"""Evidence of views: words of the rows of the first kernel, and filters by channel and frame."""

from dataclasses import replace

import numpy as np

from mvdfq.explain.evidence import Evidence, WordBlock
from mvdfq.machines.filter_words import FilterMachine
from mvdfq.sequences import Sequences
from mvdfq.symbols.base import Symbols

__all__ = ["add_evidence", "add_filters", "with_levels", "with_rows"]

# Levels that channels are shown in.
LEVELS = 8


def add_evidence(first: Evidence, other: Evidence, rows: np.ndarray) -> Evidence:
    """Add the evidence of another machine that reads the same symbols by the same layouts.

    `rows` are the places of its rows; -1 for a row without words that differ, which has none.
    """
    by_frame, by_layout = first.by_frame.copy(), first.by_layout.copy()
    known = rows >= 0
    by_frame[:, rows[known]] += other.by_frame[:, known]
    by_layout[:, rows[known]] += other.by_layout[:, known]
    blocks = {(block.row, block.group): block for block in first.words}
    for block in other.words:
        row = int(rows[block.row])
        if row >= 0:
            mine = blocks.get((row, block.group))
            block = block._replace(row=row)
            blocks[row, block.group] = block if mine is None else _added(mine, block)
    return Evidence(by_frame, by_layout, first.constant + other.constant, list(blocks.values()))


def _added(first: WordBlock, other: WordBlock) -> WordBlock:
    """Return a block with the evidence of both: both read the same words of the same row."""
    assert first.codes.shape == other.codes.shape, "both machines read the same symbols"
    return first._replace(shares=first.shares + other.shares)


def add_filters(first: Evidence, machine: FilterMachine, X: Sequences) -> Evidence:
    """Add the evidence of filters to the last rows, one row per channel.

    The evidence of an occurrence is divided equally among the channels that the filter sums, the
    responses that the word reads and the frames that each response reads. The layouts of the
    machine come after those there are.
    """
    found, by_kind = machine.evidence(X)
    by_frame = first.by_frame.copy()
    by_frame[:, -X.n_rows :] += found
    layouts = np.zeros((*first.by_layout.shape[:2], 2))
    layouts[:, -X.n_rows :] = by_kind
    by_layout = np.concatenate([first.by_layout, layouts], axis=2)
    return Evidence(by_frame, by_layout, first.constant + machine.intercepts, first.words)


def with_rows(first: Evidence, n_rows: int) -> Evidence:
    """Return the evidence with `n_rows` more rows, which have none yet."""
    more = (0, 0), (0, n_rows), (0, 0)
    by_frame, by_layout = np.pad(first.by_frame, more), np.pad(first.by_layout, more)
    return replace(first, by_frame=by_frame, by_layout=by_layout)


def with_levels(symbols: Symbols, X: Sequences) -> Symbols:
    """Return the symbols with one more row per channel: its values in eight levels, to look at."""
    low = np.nanmin(X.data, axis=1, keepdims=True, initial=np.inf)
    high = np.nanmax(X.data, axis=1, keepdims=True, initial=-np.inf)
    width = np.where(high > low, high - low, 1)
    levels = np.floor((X.data - low) / width * LEVELS).clip(0, LEVELS - 1)
    codes = np.where(np.isnan(levels), symbols.missing, np.nan_to_num(levels))
    return replace(
        symbols,
        data=np.concatenate([symbols.data, codes.astype(symbols.data.dtype)]),
        n_symbols=np.append(symbols.n_symbols, np.full(len(codes), LEVELS)),
        channel_names=None,
    )

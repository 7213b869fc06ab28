"""Evidence of views: words of the rows of the first kernel, and filters by channel and frame."""

from dataclasses import replace
from typing import Any

import numpy as np

from mvdfq._engines import lookup
from mvdfq.explain.evidence import Evidence
from mvdfq.frames.steps import shares_of, steps_of
from mvdfq.gram.tiles import inverse_root
from mvdfq.machines.standard import WordMachine
from mvdfq.machines.word_table import present_positions
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
    words = {_key(word): word for word in first.words}
    for row, *rest in other.words:
        if rows[row] < 0:
            continue
        word = (int(rows[row]), *rest)
        mine = words.get(_key(word))
        words[_key(word)] = word if mine is None else (*mine[:-1], mine[-1] + word[-1])
    return Evidence(by_frame, by_layout, first.constant + other.constant, list(words.values()))


def _key(word: tuple[Any, ...]) -> tuple[Any, ...]:
    row, group, codes, *_ = word
    return row, group, codes.tobytes(), codes.dtype.str


def add_filters(
    first: Evidence, machine: WordMachine, symbols: Symbols, encoder: Any, n_channels: int
) -> Evidence:
    """Add the evidence of filters to the last `n_channels` rows, one row per channel.

    The evidence of an occurrence is divided equally among the channels that the filter sums, the
    responses that the word reads and the frames that each response reads. The groups of layouts
    of the machine come after those there are.
    """
    plan, n_frames = machine.reader.plan_, symbols.data.shape[1]
    base, present = np.uint64(plan.n_symbols[0]), present_positions(symbols)
    buffer = np.empty(n_frames, np.uint64)
    read = [(g.arrays, g.layout_weights, buffer) for g in plan.groups(0)]
    scale = _row_scales(symbols, present, read, base) / machine.reader.row_mean()
    owners = _owners(shares_of([encoder], n_channels))
    taps = next(step.taps() for step in steps_of(encoder) if hasattr(step, "taps"))
    by_frame, by_layout = first.by_frame, [first.by_layout]
    for group, values in zip(read, machine.values, strict=True):
        found = np.zeros((by_frame.shape[0], n_channels, n_frames))
        weights = values.reshape(len(symbols.codes), -1, values.shape[2]).astype(float)
        lookup.spread_words(
            symbols.codes, present, group, base, weights, scale, owners, taps, found
        )
        by_frame[:, -n_channels:] += found
        layout = np.zeros((*first.by_layout.shape[:2], 1))
        layout[:, -n_channels:, 0] = found.sum(axis=2)
        by_layout.append(layout)
    constant = first.constant + machine.margins.intercepts
    return Evidence(by_frame, np.concatenate(by_layout, axis=2), constant, first.words)


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


def _row_scales(
    symbols: Symbols, present: np.ndarray, read: list[Any], base: np.uint64
) -> np.ndarray:
    """Return 1 / the root of the number of words of every row."""
    total = np.zeros(len(symbols.codes))
    for group in read:
        shape = 1, len(symbols.codes), 1, int(base) ** group[0][0].shape[1]
        counts = np.empty(shape, np.float32)
        lookup.count_rows(symbols.codes, symbols.offsets, present, group, base, 1, counts)
        total += counts.sum(axis=(0, 2, 3))
    return inverse_root(total)


def _owners(shares: np.ndarray) -> np.ndarray:
    """Return the channels of every row, filled up with -1."""
    owners = np.full((len(shares), int((shares > 0).sum(axis=1).max())), -1)
    for row, mine in zip(owners, shares, strict=True):
        channels = np.flatnonzero(mine)
        row[: channels.size] = channels
    return owners

"""Evidence of views: words of the rows of the first kernel, and filters by channel and frame."""

from dataclasses import replace
from typing import Any

import numpy as np

from mvdfq.explain.evidence import Evidence, find_evidence
from mvdfq.machines.filter_words import FilterMachine
from mvdfq.machines.standard import WordMachine
from mvdfq.sequences import Sequences
from mvdfq.symbols.base import Symbols

__all__ = ["add_evidence", "add_filters", "with_levels", "with_rows"]

# Levels that channels are shown in.
LEVELS = 8


def add_evidence(
    first: Evidence, machine: WordMachine, symbols: Symbols, rows: np.ndarray
) -> Evidence:
    """Add the evidence of a machine that reads the same symbols by the same layouts.

    `rows` are the places of its rows; -1 for a row without words that differ, which has none.
    """
    other = find_evidence(machine, symbols)
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

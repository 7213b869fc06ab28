"""Evidence of views: words of other rows, and filters by channel and frame."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mvdfq.explain.explanation import Explanation
from mvdfq.explain.words import Evidence, WordBlock
from mvdfq.machines.filter_words import FilterMachine
from mvdfq.sequences import Sequences
from mvdfq.symbols.base import Symbols

__all__ = ["LEVELS", "filter_evidence", "filter_levels", "with_rows"]

# Levels that channels are shown in.
LEVELS = 8


def filter_evidence(machines: list[FilterMachine], X: Sequences) -> Evidence:
    """Return the evidence of filters in one sequence: one row per channel.

    The evidence of an occurrence is divided equally among the channels that the filter sums, the
    responses that the word reads and the frames that each response reads. There are two layouts
    per dilation: single symbols and triples. Words are not listed: there are thousands.
    """
    found = [machine.evidence(X) for machine in machines]
    by_frame = np.sum([by_frame for by_frame, _ in found], axis=0)
    by_layout = np.concatenate([by_layout for _, by_layout in found], axis=2)
    constant = np.sum([machine.intercepts for machine in machines], axis=0)
    return Evidence(by_frame, by_layout, constant, list)


def filter_levels(X: Sequences) -> Symbols:
    """Return every channel of one sequence in eight levels, to look at."""
    low = np.nanmin(X.data, axis=1, keepdims=True, initial=np.inf)
    high = np.nanmax(X.data, axis=1, keepdims=True, initial=-np.inf)
    width = np.where(high > low, high - low, 1)
    levels = np.floor((X.data - low) / width * LEVELS).clip(0, LEVELS - 1)
    codes = np.where(np.isnan(levels), np.iinfo(np.uint8).max, np.nan_to_num(levels))
    return Symbols(codes.astype(np.uint8), X.offsets, n_symbols=np.full(len(codes), LEVELS))


def with_rows(
    plain: Explanation,
    evidence: Evidence,
    symbols: Symbols,
    row_names: Sequence[str],
    offsets: Sequence[Any],
    names: Sequence[Any],
    find_shares: Callable[[], np.ndarray],
) -> Explanation:
    """Return the explanation with the rows and layouts of another machine after its own."""
    dtype = max(plain.symbols.data.dtype, symbols.data.dtype)
    parts = [part.astype(dtype) for part in (plain.symbols, symbols)]
    return replace(
        plain,
        evidence=_below(plain.evidence, evidence),
        symbols=replace(
            parts[0],
            data=np.concatenate([part.data for part in parts]),
            n_symbols=np.concatenate([part.n_symbols for part in parts]),
            channel_names=None,
        ),
        row_names=[*plain.row_names, *row_names],
        offsets=[*plain.offsets, *offsets],
        names=[*plain.names, *names],
        find_shares=lambda: np.concatenate([plain.find_shares(), find_shares()]),
    )


def _below(first: Evidence, other: Evidence) -> Evidence:
    """Return the evidence of two machines that read other rows by other layouts."""
    by_frame = np.concatenate([first.by_frame, other.by_frame], axis=1)
    n_rows, n_groups = first.by_layout.shape[1:]
    more_rows, more_groups = other.by_layout.shape[1:]
    mine = np.pad(first.by_layout, ((0, 0), (0, more_rows), (0, more_groups)))
    mine[:, n_rows:, n_groups:] = other.by_layout

    def words() -> list[WordBlock]:
        moved = [b._replace(rows=b.rows + n_rows, group=b.group + n_groups) for b in other.words]
        return [*first.words, *moved]

    return Evidence(by_frame, mine, first.constant + other.constant, words)

"""Symbols in words: what a code of a row means to a person."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from mvdfq.symbols import DirectQuantizer, HashingQuantizer, JointQuantizer, Letters, Rows

__all__ = ["names_of_symbols", "symbol_names"]

LEVELS = ("lowest", "low", "middle", "high", "highest")
SLOPES = ("falling fast", "falling", "steady", "rising", "rising fast")


def names_of_symbols(quantizer: Any, kernel: Any) -> list[list[str]]:
    """Return words for the symbols of every row that a fitted kernel was given."""
    sizes = kernel.n_symbols_.tolist()
    places = list(_rows_of(quantizer))
    if len(places) != len(sizes):  # none, or one that we know nothing of
        places = [(None, r) for r in range(len(sizes))]
    return [
        symbol_names(part, row, name, size)
        for (part, row), name, size in zip(places, kernel.row_names_, sizes, strict=True)
    ]


def _rows_of(quantizer: Any) -> Iterator[tuple[Any, int]]:
    """List the quantizers behind every row, and which of their rows it is."""
    if isinstance(quantizer, Rows):
        for _, view in quantizer.views_:
            yield from _rows_of(view)
    elif isinstance(quantizer, Pipeline):
        yield from _rows_of(quantizer[-1])
    else:
        # what quantizers keep for each of their rows
        kept = [getattr(quantizer, name, ()) for name in ("n_symbols_", "alphabets_", "modes_")]
        yield from ((quantizer, row) for row in range(max(map(len, kept))))


def symbol_names(quantizer: Any, row: int, row_name: str, n_symbols: int) -> list[str]:
    """Return a word for every symbol of one row.

    Examples
    --------
    >>> from mvdfq import DirectQuantizer
    >>> quantizer = DirectQuantizer(3).fit([[0.0, 1.0, 2.0]])
    >>> symbol_names(quantizer, 0, "x0", 3), symbol_names(quantizer, 0, "delta x0", 3)
    (['low', 'middle', 'high'], ['falling', 'steady', 'rising'])
    """
    if isinstance(quantizer, DirectQuantizer):
        return _bin_names(quantizer, row, row_name)
    if isinstance(quantizer, Letters):
        return [c if c.isprintable() else f"U+{ord(c):04X}" for c in quantizer.alphabets_[row]]
    if isinstance(quantizer, JointQuantizer) and not quantizer.columns_[row]:
        return _joint_names(quantizer, row, row_name)
    if isinstance(quantizer, HashingQuantizer):
        return ["0", "1"]
    return [f"#{code}" for code in range(n_symbols)]


def _bin_names(quantizer: DirectQuantizer, row: int, row_name: str) -> list[str]:
    if quantizer.categories_[row].size:
        return [f"{value:g}" for value in quantizer.categories_[row]]
    names = _level_names(len(quantizer.bin_edges_[row]) - 1, row_name)
    has_special = quantizer.n_symbols_[row] > len(names)
    return ["below range", *names, "above range"] if has_special else names


def _level_names(n_bins: int, row_name: str) -> list[str]:
    """Words for bins from low to high; numbered where there are more bins than words."""
    words = SLOPES if row_name.startswith("delta ") else LEVELS
    chosen = {
        1: words[2:3],
        2: words[1::2],
        3: words[1:4],
        4: (*words[:2], *words[3:]),
        5: words,
    }
    if n_bins in chosen:
        return list(chosen[n_bins])
    places = np.floor((np.arange(n_bins) + 0.5) / n_bins * 5).astype(int)
    counts = np.bincount(places, minlength=5)
    ranks = [int(np.sum(places[:b] == place)) + 1 for b, place in enumerate(places)]
    return [
        words[place] if counts[place] == 1 else f"{words[place]} {rank}"
        for place, rank in zip(places, ranks, strict=True)
    ]


def _joint_names(quantizer: JointQuantizer, row: int, row_name: str) -> list[str]:
    """Words for all combinations of bins; the bins of the first channel change fastest."""
    names = [""]
    parts = row_name.split(" & ")
    for place, channel in enumerate(quantizer.sets_[row]):
        name = parts[place] if len(parts) == len(quantizer.sets_[row]) else row_name
        bins = _bin_names(quantizer.bins_, channel, name)
        names = [f"{before}&{one}" if before else one for one in bins for before in names]
    return names

"""Names of symbols for explanations."""

from collections.abc import Sequence
from math import prod
from typing import Any, overload

import numpy as np

from mvdfq.frames.steps import steps_of

__all__ = ["JointNames", "letter_name", "level_names", "names_of", "numbered"]

LEVELS = ("lowest", "low", "middle", "high", "highest")
SLOPES = ("falling fast", "falling", "steady", "rising", "rising fast")


def names_of(part: Any, n_symbols: Sequence[int]) -> list[Sequence[str]]:
    """Return the names of the symbols of every row that a fitted part makes.

    The last transformer of the part names the symbols. Symbols of a transformer without
    `symbol_names` are numbered.
    """
    last = steps_of(part)[-1:]
    if last and hasattr(last[0], "symbol_names"):
        return last[0].symbol_names()
    return [numbered(size) for size in n_symbols]


def numbered(n_symbols: int) -> list[str]:
    """Return the names ``#0, #1, ...`` for symbols without a meaning."""
    return [f"#{code}" for code in range(n_symbols)]


def level_names(n_bins: int, row_name: str) -> list[str]:
    """Return names for bins from low to high; names are numbered if there are many bins.

    Examples
    --------
    >>> level_names(3, "x0"), level_names(3, "delta x0")
    (['low', 'middle', 'high'], ['falling', 'steady', 'rising'])
    """
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


def letter_name(letter: str) -> str:
    """Return a character as it is, or its code point if it cannot be printed."""
    return letter if letter.isprintable() else f"U+{ord(letter):04X}"


class JointNames(Sequence[str]):
    """Names of all combinations of the symbols of several channels, made on demand.

    The symbols of the first channel change fastest. There can be 2**32 combinations.

    Examples
    --------
    >>> list(JointNames([["low", "high"], ["A", "B"]]))
    ['low&A', 'high&A', 'low&B', 'high&B']
    """

    def __init__(self, names: list[list[str]]) -> None:
        self.names = names

    def __len__(self) -> int:
        return prod(map(len, self.names))

    @overload
    def __getitem__(self, code: int) -> str: ...
    @overload
    def __getitem__(self, code: slice) -> list[str]: ...
    def __getitem__(self, code: Any) -> Any:
        if isinstance(code, slice):
            return [self[one] for one in range(*code.indices(len(self)))]
        if not 0 <= code < len(self):
            raise IndexError(code)
        found = []
        for names in self.names:
            code, digit = divmod(code, len(names))
            found.append(names[digit])
        return "&".join(found)

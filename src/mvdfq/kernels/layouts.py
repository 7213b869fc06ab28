"""Layouts and groups: which positions a kernel reads as words."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from mvdfq._utils.checks import check_whole

__all__ = [
    "LONGEST_WORD",
    "MOST_LAYOUTS",
    "Group",
    "Layout",
    "check_count",
    "check_mismatches",
    "check_subsets",
    "check_window",
    "subsets",
]

# Each layout is counted by itself. With more layouts than this, a kernel matrix takes days and the
# list of layouts takes gigabytes.
MOST_LAYOUTS = 10**5
# Symbols read by all layouts together; a word is never longer than a sequence.
MOST_READS = 2 * 10**6
# Compiled loops add an offset to a position.
LARGEST_OFFSET = 2**31
# Longest window, and longest word of a kernel that does not list its layouts: the number of
# choices, or of words, is computed before anything is refused.
LONGEST_WORD = 1000


@dataclass(frozen=True)
class Layout:
    """The offsets read as one word, and the window that must not hold a missing value."""

    offsets: tuple[int, ...]
    window: tuple[int, ...]
    weight: float = 1.0

    def __post_init__(self) -> None:
        """Refuse offsets with which compiled loops could not compute."""
        largest = max((*self.offsets, *self.window), default=0)
        if largest >= LARGEST_OFFSET:
            raise ValueError(
                f"The offsets of a word must be below 2**31 frames, got {largest}; "
                f"use smaller offsets or a smaller dilation."
            )


@dataclass(frozen=True)
class Group:
    """Layouts whose words share one feature space, and the weight of its Gram matrix."""

    layouts: tuple[Layout, ...]
    weight: float = 1
    distinct: bool = False

    @property
    def length(self) -> int:
        """Number of symbols in a word."""
        return len(self.layouts[0].offsets)

    @cached_property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, bool]:
        """Offsets and windows of the layouts, and `distinct`, in the form of the compiled loops."""
        offsets = np.array([layout.offsets for layout in self.layouts], np.int64)
        windows = np.array([layout.window for layout in self.layouts], np.int64)
        return offsets, windows, self.distinct

    @cached_property
    def layout_weights(self) -> np.ndarray:
        """Weight of each layout."""
        return np.array([layout.weight for layout in self.layouts], float)


def check_subsets(g: int, kept: Iterable[int], dilations: list[int]) -> None:
    """Refuse too many choices of `kept` positions out of a window, for all dilations together."""
    check_count(len(dilations) * sum(comb(g, k) for k in kept), g)


def subsets(g: int, k: int, dilation: int) -> list[Layout]:
    """Return all choices of `k` positions out of a window of `g`; call `check_subsets` first."""
    window = tuple(range(0, g * dilation, dilation))
    return [Layout(offsets, window) for offsets in combinations(window, k)]


def check_count(n_layouts: int, length: int) -> None:
    """Refuse too many layouts, or too long layouts, before they fill the memory."""
    if n_layouts > MOST_LAYOUTS:
        raise ValueError(
            f"These parameters make {n_layouts} layouts, more than the limit of {MOST_LAYOUTS}; "
            f"a shorter window or fewer gaps make fewer layouts."
        )
    if n_layouts * length > MOST_READS:
        raise ValueError(
            f"These parameters make layouts that read {n_layouts * length} symbols, more than the "
            f"limit of {MOST_READS}; shorter words read fewer symbols."
        )


def check_window(g: Any, k: Any) -> tuple[int, int]:
    """Return the length of a window and the number of positions kept."""
    k = check_whole(k, "k", at_most=LONGEST_WORD)
    return check_whole(g, "g", at_least=k, at_most=LONGEST_WORD), k


def check_mismatches(k: Any, m: Any) -> tuple[int, int]:
    """Return the length of words and the number of positions that may differ."""
    k = check_whole(k, "k", at_most=LONGEST_WORD)
    m = check_whole(m, "m", at_least=0)
    if m > k:
        raise ValueError(f"m must be at most k={k}, the length of the words, got m={m}.")
    return k, m

"""Layouts and groups: which positions a kernel reads as words."""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from mvdfq._utils.checks import check_whole

__all__ = ["Group", "Layout", "check_count", "check_mismatches", "check_window", "subsets"]

# Each layout is counted by itself. With more layouts than this, a kernel matrix takes days and the
# list of layouts takes gigabytes.
MOST_LAYOUTS = 10**5


@dataclass(frozen=True)
class Layout:
    """The offsets read as one word, and the window that must not hold a missing value."""

    offsets: tuple[int, ...]
    window: tuple[int, ...]
    weight: float = 1.0


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


def subsets(g: int, k: int, dilation: int) -> list[Layout]:
    """Return all choices of `k` positions out of a window of `g` positions."""
    check_count(comb(g, k))
    window = tuple(range(0, g * dilation, dilation))
    return [Layout(offsets, window) for offsets in combinations(window, k)]


def check_count(n_layouts: int) -> None:
    """Refuse too many layouts before they fill the memory."""
    if n_layouts > MOST_LAYOUTS:
        raise ValueError(
            f"These parameters make {n_layouts} layouts, more than the limit of {MOST_LAYOUTS}; "
            f"a shorter window or fewer gaps make fewer layouts."
        )


def check_window(g: Any, k: Any) -> tuple[int, int]:
    """Return the length of a window and the number of positions kept."""
    k = check_whole(k, "k")
    return check_whole(g, "g", at_least=k), k


def check_mismatches(k: Any, m: Any) -> tuple[int, int]:
    """Return the length of words and the number of positions that may differ."""
    k, m = check_whole(k, "k"), check_whole(m, "m", at_least=0)
    if m > k:
        raise ValueError(f"m must be at most k={k}, the length of the words, got m={m}.")
    return k, m

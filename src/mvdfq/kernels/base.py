"""The table that every kernel is: layouts, groups and the checks of their parameters."""

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

from sklearn.base import BaseEstimator

from mvdfq._utils.checks import check_whole

__all__ = [
    "Group",
    "Kernel",
    "Layout",
    "check_count",
    "check_mismatches",
    "check_window",
    "subsets",
]

# Beyond this many layouts a kernel takes days, and their table gigabytes.
MOST_LAYOUTS = 10**5


@dataclass(frozen=True)
class Layout:
    """Positions read as one word, and those that must be present for the word to count."""

    offsets: tuple[int, ...]
    window: tuple[int, ...]
    weight: float = 1.0


@dataclass(frozen=True)
class Group:
    """Layouts whose words share one feature space, and the weight of its Gram matrix."""

    layouts: tuple[Layout, ...]
    weight: float = 1
    distinct: bool = False


class Kernel(BaseEstimator):
    """A table of layouts with scikit-learn's parameters; subclasses fill in `groups`."""

    #: Whether sequences have explicit feature counts, which the manifold embedding needs.
    has_features = True

    def groups(self, n_symbols: int) -> list[Group]:
        """Return the groups of layouts for a row whose alphabet has `n_symbols` symbols."""
        raise NotImplementedError

    def check(self) -> None:
        """Refuse parameters that make no sense."""
        self.groups(2)


def subsets(g: int, k: int, dilation: int) -> list[Layout]:
    """All choices of `k` positions out of a window of `g`; the whole window must be present."""
    check_count(comb(g, k))
    window = tuple(range(0, g * dilation, dilation))
    return [Layout(offsets, window) for offsets in combinations(window, k)]


def check_count(n_layouts: int) -> None:
    """Refuse a table of layouts before it fills the memory."""
    if n_layouts > MOST_LAYOUTS:
        raise ValueError(
            f"These parameters make {n_layouts} layouts, more than {MOST_LAYOUTS}, each counted "
            f"by itself; a shorter window or fewer gaps make fewer."
        )


def check_window(g: Any, k: Any) -> tuple[int, int]:
    """Return the length of a window and how many of its positions are kept."""
    k = check_whole(k, "k")
    return check_whole(g, "g", at_least=k), k


def check_mismatches(k: Any, m: Any) -> tuple[int, int]:
    """Return the length of words and how many of their positions may differ."""
    k, m = check_whole(k, "k"), check_whole(m, "m", at_least=0)
    if m > k:
        raise ValueError(f"m={m} positions do not fit into words of length k={k}.")
    return k, m

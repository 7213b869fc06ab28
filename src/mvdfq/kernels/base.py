"""What a kernel reads, layouts and rows, and the base class of all kernels."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mvdfq._utils.checks import check_several, check_whole
from mvdfq.symbols.base import Symbols

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
            problem = f"The offsets of a word must be below 2**31 frames, got {largest}"
            raise ValueError(f"{problem}; use smaller offsets or a smaller dilation.")


@dataclass(frozen=True)
class Group:
    """Layouts whose words share one feature space, and the weight of its Gram matrix."""

    layouts: tuple[Layout, ...]
    weight: float = 1
    distinct: bool = False

    @cached_property
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


@dataclass(frozen=True)
class Row:
    """One row of a collection: what a task reads."""

    data: np.ndarray
    offsets: np.ndarray
    n_symbols: int
    base: int
    present: np.ndarray

    @property
    def n_sequences(self) -> int:
        """Number of sequences."""
        return len(self.offsets) - 1


class Kernel(BaseEstimator):
    """Groups of layouts with scikit-learn's parameters.

    A kernel of layouts defines `groups` and nothing else. A kernel that counts in another way
    overrides `counts_groups`, `own_tasks` and `own_bytes_per_frame`.
    """

    #: Whether words can be listed as explicit features. The manifold embedding needs features.
    has_features = True
    #: Whether users may weight the groups of layouts.
    has_groups = True
    #: Whether all kernel matrices are positive semi-definite.
    is_definite = True
    #: Whether symbols outside the training alphabet count as missing values.
    is_closed = False
    #: Whether the kernel reads symbols. Otherwise it reads numbers, all rows together.
    reads_symbols = True
    #: Whether the kernel must know the words of the training sequences.
    needs_vocabulary = False

    def groups(self, n_symbols: int) -> list[Group]:
        """Return the groups of layouts for a row whose alphabet has `n_symbols` symbols."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise an error if a parameter has a wrong value."""
        self.groups(2)

    def check_values(self, sequences: Any) -> None:
        """Raise an error for numbers that the kernel cannot read, if `reads_symbols` is False."""

    def row(self, parts: list[Any], r: int) -> Row:
        """Return row `r` of one or more collections, joined, in the form that tasks read."""
        symbols, place = parts[0], r
        if len(parts) > 1:
            symbols, place = reduce(Symbols.joined, [x.rows(slice(r, r + 1)) for x in parts]), 0
        codes = np.ascontiguousarray(symbols.codes[place])
        n_symbols = int(symbols.n_symbols[place])
        # new sequences may hold symbols that `fit` did not see, numbered from n_symbols upwards
        present = codes < n_symbols if self.is_closed else codes != symbols.missing
        base = max(n_symbols, int(codes.max(where=present, initial=0)) + 1)
        return Row(codes, symbols.offsets, n_symbols, base, present[: 0 if present.all() else None])

    def counts_groups(self, needs_counts: bool) -> bool:
        """Tell whether the kernel is a sum over the words of its groups.

        `needs_counts` is False where inner products are enough, without square roots or features.
        """
        return True

    def own_tasks(self, n_symbols, cells, needs_counts, listed, vocabulary) -> list[Any] | None:
        """Return the tasks for one row, or None to count the words of each group and cell.

        `cells` are pairs (level, segment) of the pyramid; `listed` asks for one column per word;
        `vocabulary` is the result of `vocabulary`.
        """
        return None

    def own_bytes_per_frame(self, n_symbols: int) -> int:
        """Return the bytes per frame that one task of `own_tasks` needs."""
        return 0

    def vocabulary(self, row: Row) -> dict[int, np.ndarray]:
        """Return the words of a training row by dilation, if `needs_vocabulary` is True."""
        raise NotImplementedError


def subsets(g: int, kept: Sequence[int], dilation: Any) -> list[list[Layout]]:
    """Return all choices of `kept` positions out of a window of `g`, for each dilation.

    Refuses too many choices, for all dilations together.
    """
    dilations = check_several(dilation, "dilation")
    check_count(len(dilations) * sum(comb(g, k) for k in kept), g)
    windows = [tuple(range(0, g * d, d)) for d in dilations]
    return [[Layout(o, w) for k in kept for o in combinations(w, k)] for w in windows]


def check_count(n_layouts: int, length: int) -> None:
    """Refuse too many layouts, or too long layouts, before they fill the memory."""
    if n_layouts > MOST_LAYOUTS:
        limit = f"more than the limit of {MOST_LAYOUTS}"
        hint = "a shorter window or fewer gaps make fewer layouts"
        raise ValueError(f"These parameters make {n_layouts} layouts, {limit}; {hint}.")
    if n_layouts * length > MOST_READS:
        problem = f"These parameters make layouts that read {n_layouts * length} symbols"
        limit = f"more than the limit of {MOST_READS}"
        raise ValueError(f"{problem}, {limit}; shorter words read fewer symbols.")


def check_window(g: Any, k: Any) -> tuple[int, int]:
    """Return the length of a window and the number of positions kept."""
    k = check_whole(k, "k", at_most=LONGEST_WORD)
    return check_whole(g, "g", at_least=k, at_most=LONGEST_WORD), k


def check_mismatches(k: Any, m: Any) -> tuple[int, int]:
    """Return the length of words and the number of positions that may differ."""
    k, m = check_whole(k, "k", at_most=LONGEST_WORD), check_whole(m, "m", at_least=0)
    if m > k:
        raise ValueError(f"m must be at most k={k}, the length of the words, got m={m}.")
    return k, m

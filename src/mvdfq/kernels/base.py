"""The base class of all kernels: what a kernel says about itself."""

from functools import reduce
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mvdfq.kernels.counting import Row, row_of
from mvdfq.kernels.layouts import Group
from mvdfq.symbols.base import Symbols

__all__ = ["Kernel"]


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
        joined = reduce(Symbols.joined, [part.rows(slice(r, r + 1)) for part in parts])
        return row_of(joined, closed=self.is_closed)

    def counts_groups(self, needs_counts: bool) -> bool:
        """Tell whether the kernel is a sum over the words of its groups.

        `needs_counts` is True where each count is needed (for square roots or features), and
        False where inner products are enough.
        """
        return True

    def own_tasks(
        self,
        n_symbols: int,
        cells: list[tuple[int, int]],
        needs_counts: bool,
        listed: bool,
        vocabulary: dict[int, np.ndarray],
    ) -> list[Any] | None:
        """Return the tasks for one row, or None to count the words of each group and cell.

        `listed` asks for one column per word. `vocabulary` is the result of `vocabulary`.
        """
        return None

    def own_bytes_per_frame(self, n_symbols: int) -> int:
        """Return the bytes per frame that one task of `own_tasks` needs."""
        raise NotImplementedError

    def vocabulary(self, row: Row) -> dict[int, np.ndarray]:
        """Return the words of a training row by dilation, if `needs_vocabulary` is True."""
        raise NotImplementedError

"""Gap-weighted subsequences: layouts, or a dynamic program for each pair of sequences."""

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from mvdfq._engines import kernel_loops
from mvdfq._utils.checks import check_decay, check_whole
from mvdfq.kernels.base import LONGEST_WORD, MOST_LAYOUTS, Group, Kernel, Layout, Row, check_count


@dataclass(eq=False, repr=False)
class Subsequence(Kernel):
    r"""Count common subsequences of length `k`; longer gaps have smaller weights.

    .. math:: K(x, y) = \sum_{|u| = k} \ \sum_{i : x_i = u} \lambda^{span(i)}
              \sum_{j : y_j = u} \lambda^{span(j)}

    Exact, by dynamic programming, in :math:`O(k \, n \, n')` for each pair of sequences, which
    suits short sequences. With `max_span` the kernel has layouts like the other kernels, takes
    time linear in the length, and has explicit features.

    Parameters
    ----------
    k : int, default=2
        Length of the subsequences.
    decay : float, default=0.5
        The factor :math:`\lambda` per position from the first to the last symbol.
    max_span : int, default=None
        Count only occurrences that span at most this many positions.

    References
    ----------
    .. [1] H. Lodhi, C. Saunders, J. Shawe-Taylor, N. Cristianini, C. Watkins, "Text
       classification using string kernels", Journal of Machine Learning Research 2, 2002.

    Examples
    --------
    >>> from mvdfq import SequenceKernel, Subsequence
    >>> SequenceKernel(Subsequence(k=2), normalize=False).fit_transform(["cat", "car"])
    array([[0.140625, 0.0625  ],
           [0.0625  , 0.140625]])
    """

    k: int = 2
    decay: float = 0.5
    max_span: int | None = None

    def check(self) -> None:
        """Raise an error if a parameter has a wrong value."""
        check_whole(self.k, "k", at_most=LONGEST_WORD)
        check_decay(self.decay)
        if self.has_features:
            self.groups(2)

    @property
    def has_features(self) -> bool:  # type: ignore[override]
        """Whether the span is bounded, so that words can be listed."""
        return self.max_span is not None

    has_groups = has_features

    def counts_groups(self, needs_counts: bool) -> bool:
        """Tell whether the span is bounded, so that there are layouts."""
        return self.has_features

    def own_tasks(self, n_symbols, cells, needs_counts, listed, vocabulary) -> list[Any] | None:
        """Return the dynamic program over all pairs, where the span has no bound."""
        return None if self.has_features else [SubsequenceTask(self.k, self.decay)]

    def groups(self, n_symbols: int) -> list[Group]:
        """Return one group of all layouts within the span, weighted by their spans."""
        k, decay = check_whole(self.k, "k", at_most=LONGEST_WORD), check_decay(self.decay)
        span = check_whole(self.max_span, "max_span", at_least=k, at_most=MOST_LAYOUTS)
        check_count(comb(span - 1, k - 1), k)
        rest = combinations(range(1, span), k - 1)
        layouts = sorted(((0, *offsets) for offsets in rest), key=lambda o: (o[-1], o))
        return [Group(tuple(Layout(o, o, decay ** (o[-1] + 1)) for o in layouts))]


@dataclass(frozen=True)
class SubsequenceTask:
    """Compare all pairs of sequences by Lodhi's dynamic program."""

    k: int
    decay: float

    def add_to(self, products: Any, row: Row) -> None:
        """Add the kernel of all pairs to `products`."""
        read = row.data, row.offsets, self.k, self.decay, np.iinfo(row.data.dtype).max
        pairs = products.first_right, products.symmetric, products.own, products.values
        kernel_loops.add_subsequence_products(*read, *pairs)

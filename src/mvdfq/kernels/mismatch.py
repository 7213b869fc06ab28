"""Kernels of words that differ in a few positions, as weighted matches of gapped words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import comb
from typing import Any

import numpy as np

from mvdfq._utils.checks import check_choice, check_several
from mvdfq.kernels.base import Group, Kernel, Row, check_mismatches, subsets
from mvdfq.kernels.keys import word_codes
from mvdfq.kernels.neighbours import FEW_WORDS, NeighbourTask, exact_words, intersection_size

# Bytes per frame, measured: first entries, their copy for the sort, keys and columns; then the
# counts of each set of positions; then the words that are near several of these sets.
BYTES_PER_WORD = 64
BYTES_PER_SET = 24
BYTES_PER_LISTED_WORD = 160
# In large alphabets few words repeat, and more words lie between two others. Measured: ten listed
# words per frame with 1024 codewords, one listed word per frame with 32 bins.
LARGE_ALPHABET = 256


@dataclass(eq=False, repr=False)
class Mismatch(Kernel):
    r"""Count words of length `k` allowing up to `m` mismatches (neighbourhood version).

    .. math:: c_u(x) = \#\{t : d(x_t \dots x_{t+k-1}, u) \le m\} \quad \text{for all } u \in
              \Sigma^k

    The Gram matrix takes :math:`\sum_{l \le \min(2m, k)} \binom{k}{l}` rounds of exact matching,
    whatever the size of the alphabet [2]_. The manifold embedding needs each count: for ``m=1``
    words near only one observed word have a closed form, so alphabets of thousands of symbols
    stay computable; for larger `m` all words are listed. A symbol outside the training alphabet
    is a missing value: words that hold such a symbol do not count.

    Parameters
    ----------
    k : int, default=5
        Length of the words.
    m : int, default=1
        Largest number of mismatches.
    neighbourhood : {"full", "observed"}, default="full"
        Which words count, with the manifold embedding and as explicit features: all words of the
        alphabet, or only the words of the training sequences (a cheaper, different kernel).
    dilation : int or sequence of int, default=1
        Distance between the symbols of a word; several distances are counted side by side.

    References
    ----------
    .. [1] C. Leslie, E. Eskin, J. Weston, W. S. Noble, "Mismatch string kernels for SVM protein
       classification", NIPS, 2002.
    .. [2] P. Kuksa, P.-H. Huang, V. Pavlovic, "Scalable algorithms for string kernels with
       inexact matching", NIPS, 2008.

    Examples
    --------
    >>> from mvdfq import Mismatch, SequenceKernel
    >>> K = SequenceKernel(Mismatch(k=3, m=1), n_symbols=3, normalize=False)
    >>> K.fit_transform([[0, 1, 0, 2, 1, 0], [1, 0, 2, 2, 1, 0]])[0, 1]
    np.float64(29.0)
    """

    k: int = 5
    m: int = 1
    neighbourhood: str = "full"
    dilation: int | Sequence[int] = 1

    has_groups = False  # the weights of the groups are fixed by k and m
    is_closed = True

    def groups(self, n_symbols: int) -> list[Group]:
        """Return the gapped words whose weighted matches make up the kernel."""
        check_choice(self.neighbourhood, "neighbourhood", ("full", "observed"))
        k, m = check_mismatches(self.k, self.m)
        size_at = partial(intersection_size, k, m, n_symbols)
        return _weighted_gapped(k, min(2 * m, k), size_at, self.dilation)

    @property
    def needs_vocabulary(self) -> bool:  # type: ignore[override]
        """Whether only words of the training sequences count."""
        return self.neighbourhood == "observed"

    def vocabulary(self, row: Row) -> dict[int, np.ndarray]:
        """Return the words of a training row, for each dilation."""
        words = {}
        for d in check_several(self.dilation, "dilation"):
            (columns,) = exact_words(self.k, d).columns(row)
            words[d] = word_codes(columns.words, row.base, self.k)
        return words

    def counts_groups(self, needs_counts: bool) -> bool:
        """Tell whether the closed form over gapped words is enough."""
        return not (needs_counts or self.needs_vocabulary)

    def own_tasks(self, n_symbols, cells, needs_counts, listed, vocabulary) -> list[Any] | None:
        """Return the tasks that count neighbours, where they are needed or cheaper."""
        # with few words, counting the neighbours of all words is cheaper than the closed form
        if self.counts_groups(needs_counts) and n_symbols**self.k > FEW_WORDS:
            return None
        pairs = product(cells, check_several(self.dilation, "dilation"))
        words = self.k, self.m
        return [NeighbourTask(*words, d, cell, vocabulary.get(d), listed) for cell, d in pairs]

    def own_bytes_per_frame(self, n_symbols: int) -> int:
        """Return the working memory of counting neighbours, for each frame."""
        n_listed = 10 if n_symbols > LARGE_ALPHABET else 1
        n_sets = len(NeighbourTask(self.k, self.m).kept)
        return BYTES_PER_WORD + BYTES_PER_SET * n_sets + BYTES_PER_LISTED_WORD * n_listed


@dataclass(eq=False, repr=False)
class MismatchPairs(Kernel):
    r"""Count the pairs of words of length `k` that differ in at most `m` positions.

    .. math:: K(x, y) = \#\{(t, t') : d(x_t \dots x_{t+k-1}, y_{t'} \dots y_{t'+k-1}) \le m\}

    The second of the paper's two definitions of mismatch. **Not positive semi-definite**: on
    all words the smallest eigenvalue is :math:`1 - k` for ``m=1``. Prefer `Mismatch`, or
    `Wildcard`, which does not depend on the size of the alphabet.

    Parameters
    ----------
    k : int, default=5
        Length of the words.
    m : int, default=1
        Largest number of mismatches.

    Examples
    --------
    >>> import warnings
    >>> from mvdfq import MismatchPairs, SequenceKernel
    >>> K = SequenceKernel(MismatchPairs(k=3, m=1), normalize=False)
    >>> with warnings.catch_warnings(action="ignore"):
    ...     K.fit_transform([[1, 2, 1, 3, 2, 1], [2, 1, 3, 3, 2, 1]])[0, 1]
    np.float64(5.0)
    """

    k: int = 5
    m: int = 1

    has_features = False
    has_groups = False
    is_definite = False

    def groups(self, n_symbols: int) -> list[Group]:
        """Return the gapped words whose weighted matches make up the kernel."""
        k, m = check_mismatches(self.k, self.m)
        return _weighted_gapped(k, m, lambda distance: 1, 1)


def _weighted_gapped(
    k: int, largest: int, size_at: Callable[[int], int], dilation: Any
) -> list[Group]:
    r"""Return groups that give a pair of windows at distance `i` the value ``size_at(i)``.

    With `j` positions ignored, a pair at distance `i` matches in :math:`\binom{k-i}{j-i}` of the
    position sets; inverting this relation gives the weights. Groups of weight 0 stay in the list,
    so that rows of all alphabets have the same groups.
    """
    # first of all, since too many layouts are refused
    by_dilation = subsets(k, range(k, k - largest - 1, -1), dilation)
    sizes = [size_at(i) for i in range(largest + 1)]
    weights = [
        sum((-1) ** (i - j) * comb(k - j, i - j) * sizes[i] for i in range(j, largest + 1))
        for j in range(largest + 1)
    ]
    every = (layout for layouts in by_dilation for layout in layouts)
    return [Group((layout,), weights[k - len(layout.offsets)]) for layout in every]

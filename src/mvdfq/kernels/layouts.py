"""Kernels that are lists of layouts: k-mers, spatial samples, any offsets, gaps and wildcards."""

from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any

import numpy as np

from mvdfq._utils.checks import check_decay, check_several, check_whole, is_number
from mvdfq._utils.short import counted
from mvdfq.kernels import base
from mvdfq.kernels.base import Group, Kernel, Layout, subsets


@dataclass(eq=False, repr=False)
class Spectrum(Kernel):
    r"""Count the words of `k` neighbouring symbols (k-mers).

    .. math:: c_u(x) = \#\{t : x_t \dots x_{t+k-1} = u\}

    Cost: `k` reads for each position.

    Parameters
    ----------
    k : int or sequence of int, default=3
        Length of the words; several lengths are counted side by side.
    dilation : int or sequence of int, default=1
        Distance between the symbols of a word; several distances are counted side by side.

    References
    ----------
    .. [1] C. Leslie, E. Eskin, W. S. Noble, "The spectrum kernel: a string kernel for SVM
       protein classification", Pacific Symposium on Biocomputing, 2002.

    Examples
    --------
    >>> from mvdfq import SequenceKernel, Spectrum
    >>> K = SequenceKernel(Spectrum(k=2), normalize=False)
    >>> K.fit_transform([[1, 2, 1, 3, 2, 1], [2, 1, 3, 3, 2, 1]])
    array([[7., 6.],
           [6., 7.]])
    """

    k: int | Sequence[int] = 3
    dilation: int | Sequence[int] = 1

    def groups(self, n_symbols: int) -> list[Group]:
        """Return one group for each word length and dilation."""
        dilations, lengths = check_several(self.dilation, "dilation"), check_several(self.k, "k")
        base.check_count(len(dilations) * len(lengths), max(lengths))
        windows = [tuple(range(0, k * d, d)) for d, k in product(dilations, lengths)]
        return [Group((Layout(window, window),)) for window in windows]


@dataclass(eq=False, repr=False)
class Words(Kernel):
    """Count words read at the offsets that you name, such as ``(0, 4, 8)``.

    Parameters
    ----------
    layouts : sequence of tuple of int
        Offsets of each word, ascending from 0. Words of different layouts never match.
    weights : sequence of float, default=None
        Positive factor of the counts of each layout; 1 by default.

    Examples
    --------
    >>> from mvdfq import SequenceKernel, Words
    >>> K = SequenceKernel(Words([(0, 2)]), normalize=False)
    >>> K.fit_transform(["ABAB", "AXA"])
    array([[2., 1.],
           [1., 1.]])
    """

    layouts: Sequence[Sequence[int]]
    weights: Sequence[float] | None = None

    def groups(self, n_symbols: int) -> list[Group]:
        """Return one group for each layout."""
        given = self.layouts if isinstance(self.layouts, Sized) else [self.layouts]
        lengths = [len(offsets) for offsets in given if isinstance(offsets, Sized)]
        base.check_count(len(given), max(lengths, default=0))
        layouts = [_check_offsets(offsets) for offsets in given]
        weights = [1.0] * len(layouts) if self.weights is None else list(self.weights)
        are_positive = all(is_number(w) and 0 < w < np.inf for w in weights)
        if not layouts or len(weights) != len(layouts) or not are_positive:
            wanted = "at least one layout and one positive weight per layout"
            got = f"got {counted(len(layouts), 'layout')} and weights={self.weights!r}"
            raise ValueError(f"Words needs {wanted}, {got}.")
        pairs = zip(layouts, weights, strict=True)
        return [Group((Layout(offsets, offsets, float(w)),)) for offsets, w in pairs]


@dataclass(eq=False, repr=False)
class Spatial(Kernel):
    r"""Sparse spatial sample kernel (SSSK): `t` k-mers with up to `d` - 1 symbols between.

    A feature is :math:`(a_1, g_1, a_2, \dots, g_{t-1}, a_t)`: k-mers :math:`a_i` and the numbers
    :math:`0 \le g_i < d` of symbols skipped from one k-mer to the next. The gaps are part of the
    feature, so there are :math:`d^{t-1}` groups of one layout each.

    Parameters
    ----------
    t : int, default=3
        Number of k-mers in a sample.
    k : int, default=1
        Length of each k-mer.
    d : int, default=5
        Number of distances from one k-mer to the next; for ``k=1`` the distances are 1 to `d`.
    dilation : int or sequence of int, default=1
        Distance between neighbouring positions; several distances are counted side by side.

    References
    ----------
    .. [1] P. Kuksa, V. Pavlovic, "Fast kernels for string classification and remote homology
       detection: spatial sample kernels", ICPR, 2008.

    Examples
    --------
    >>> from mvdfq import SequenceKernel, Spatial
    >>> K = SequenceKernel(Spatial(t=2, k=1, d=2), normalize=False)
    >>> K.fit_transform([[1, 2, 1, 3, 2, 1], [2, 1, 3, 3, 2, 1]])[0, 1]
    np.float64(8.0)
    """

    t: int = 3
    k: int = 1
    d: int = 5
    dilation: int | Sequence[int] = 1

    def groups(self, n_symbols: int) -> list[Group]:
        """Return one group for each combination of gaps."""
        t = check_whole(self.t, "t", at_most=base.LONGEST_WORD)  # d**t is computed below
        k, d = check_whole(self.k, "k"), check_whole(self.d, "d", at_most=base.MOST_LAYOUTS)
        dilations = check_several(self.dilation, "dilation")
        base.check_count(len(dilations) * d ** (t - 1), t * k)
        groups = []
        for dilation in dilations:
            for gaps in product(range(d), repeat=t - 1):
                # a k-mer begins behind the k-mer before it and the symbols that are skipped
                starts = np.concatenate([[0], np.cumsum([k + g for g in gaps], dtype=int)])
                offsets = tuple(int(s + i) * dilation for s in starts for i in range(k))
                groups.append(Group((Layout(offsets, offsets),)))
        return groups


@dataclass(eq=False, repr=False)
class Gapped(Kernel):
    r"""Count the words left when `g` - `k` positions of a window of `g` are ignored.

    .. math:: K(x, y) = \sum_{|P| = k} \sum_u c^P_u(x) \, c^P_u(y)

    where :math:`P` runs over the sets of `k` kept positions; each set is one group (the kernel
    of gkm-SVM and FastSK). Cost: :math:`\binom{g}{k}` words for each position.

    Parameters
    ----------
    g : int, default=5
        Length of the window.
    k : int, default=3
        Number of positions kept.
    dilation : int or sequence of int, default=1
        Distance between the positions of a window; several distances are counted side by side.

    References
    ----------
    .. [1] M. Ghandi, D. Lee, M. Mohammad-Noori, M. A. Beer, "Enhanced regulatory sequence
       prediction using gapped k-mer features", PLoS Computational Biology 10(7), 2014.

    Examples
    --------
    >>> from mvdfq import Gapped, SequenceKernel
    >>> K = SequenceKernel(Gapped(g=3, k=2), normalize=False)
    >>> K.fit_transform([[1, 2, 1, 3, 2, 1], [2, 1, 3, 3, 2, 1]])[0, 1]
    np.float64(9.0)
    """

    g: int = 5
    k: int = 3
    dilation: int | Sequence[int] = 1

    def groups(self, n_symbols: int) -> list[Group]:
        """Return one group for each set of kept positions."""
        g, k = base.check_window(self.g, self.k)
        return [Group((each,)) for each in chain.from_iterable(subsets(g, [k], self.dilation))]


@dataclass(eq=False, repr=False)
class Gappy(Kernel):
    r"""Count the subsequences of length `k` of every window of `g` symbols.

    Unlike `Gapped`, `Gappy` takes the same symbols at any places of the window as one feature.
    Cost: :math:`\binom{g}{k}` words for each position.

    Parameters
    ----------
    g : int, default=5
        Length of the window.
    k : int, default=3
        Length of the subsequences.
    distinct : bool, default=True
        True counts a subsequence once in each window, as the definition says. False counts every
        way to find the subsequence in the window.
    dilation : int or sequence of int, default=1
        Distance between the positions of a window; several distances are counted side by side.

    References
    ----------
    .. [1] C. Leslie, R. Kuang, "Fast string kernels using inexact matching for protein
       sequences", Journal of Machine Learning Research 5, 2004.

    Examples
    --------
    >>> from mvdfq import Gappy, SequenceKernel
    >>> K = SequenceKernel(Gappy(g=3, k=2), normalize=False)
    >>> K.fit_transform([[1, 2, 1, 3, 2, 1], [2, 1, 3, 3, 2, 1]])[0, 1]
    np.float64(16.0)
    """

    g: int = 5
    k: int = 3
    distinct: bool = True
    dilation: int | Sequence[int] = 1

    def groups(self, n_symbols: int) -> list[Group]:
        """Return one group for each dilation, of all sets of positions."""
        g, k = base.check_window(self.g, self.k)
        by_dilation = subsets(g, [k], self.dilation)
        return [Group(tuple(layouts), distinct=self.distinct) for layouts in by_dilation]


@dataclass(eq=False, repr=False)
class Wildcard(Kernel):
    r"""Count patterns of `k` positions with at most `m` wildcards.

    A window adds :math:`\lambda^j` to each pattern with `j` wildcards that fits the window.
    Cost: :math:`\sum_{j \le m} \binom{k}{j}` words for each position. The size of
    the alphabet does not matter.

    Parameters
    ----------
    k : int, default=5
        Length of the patterns.
    m : int, default=1
        Largest number of wildcards.
    decay : float, default=1.0
        The factor :math:`\lambda` of the counts for every wildcard.
    dilation : int or sequence of int, default=1
        Distance between the positions of a window; several distances are counted side by side.

    References
    ----------
    .. [1] C. Leslie, R. Kuang, "Fast string kernels using inexact matching for protein
       sequences", Journal of Machine Learning Research 5, 2004.

    Examples
    --------
    >>> from mvdfq import SequenceKernel, Wildcard
    >>> K = SequenceKernel(Wildcard(k=3, m=1, decay=0.5), normalize=False)
    >>> K.fit_transform([[1, 2, 1, 3, 2, 1], [2, 1, 3, 3, 2, 1]])[0, 1]
    np.float64(4.25)
    """

    k: int = 5
    m: int = 1
    decay: float = 1.0
    dilation: int | Sequence[int] = 1

    def groups(self, n_symbols: int) -> list[Group]:
        """Return one group for each set of kept positions, weighted by its wildcards."""
        k, m = base.check_mismatches(self.k, self.m)
        decay, kept = check_decay(self.decay), range(k, k - m - 1, -1)
        every = chain.from_iterable(subsets(k, kept, self.dilation))
        return [Group((replace(each, weight=decay ** (k - len(each.offsets))),)) for each in every]


def _check_offsets(offsets: Any) -> tuple[int, ...]:
    """Return the offsets of one layout, or say what the offsets should be."""
    if not isinstance(offsets, Iterable):
        raise ValueError(f"Each layout must list its offsets, as in [(0, 4, 8)], got {offsets!r}.")
    checked = tuple(check_whole(offset, "an offset", at_least=0) for offset in offsets)
    if not checked or checked[0] != 0 or list(checked) != sorted(set(checked)):
        raise ValueError(f"Offsets must ascend from 0, got {checked}.")
    return checked

"""Kernels that read some positions of a window: gaps and wildcards."""

from collections.abc import Sequence
from dataclasses import dataclass

from mvdfq._utils.checks import check_decay, check_several
from mvdfq.kernels.base import (
    Group,
    Kernel,
    Layout,
    check_mismatches,
    check_subsets,
    check_window,
    subsets,
)


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
        g, k = check_window(self.g, self.k)
        dilations = check_several(self.dilation, "dilation")
        check_subsets(g, [k], dilations)
        return [Group((layout,)) for dilation in dilations for layout in subsets(g, k, dilation)]


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
        g, k = check_window(self.g, self.k)
        dilations = check_several(self.dilation, "dilation")
        check_subsets(g, [k], dilations)
        return [
            Group(tuple(subsets(g, k, dilation)), distinct=self.distinct) for dilation in dilations
        ]


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
        k, m = check_mismatches(self.k, self.m)
        decay, dilations = check_decay(self.decay), check_several(self.dilation, "dilation")
        check_subsets(k, range(k - m, k + 1), dilations)
        return [
            Group((Layout(layout.offsets, layout.window, decay**stars),))
            for dilation in dilations
            for stars in range(m + 1)
            for layout in subsets(k, k - stars, dilation)
        ]

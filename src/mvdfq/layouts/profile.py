"""Words that a profile makes likely; not a table of layouts, the words come from numbers."""

from mvdfq.layouts.table import Kernel, check_positive, check_whole

__all__ = ["Profile"]


class Profile(Kernel):
    r"""Count the words that a profile makes likely (for sequences of probability vectors).

    The word :math:`u` is hit at position `t` when
    :math:`-\sum_i \ln p_{t+i}(u_i) < \sigma`. Sequences have one channel for each letter of the
    alphabet and hold probabilities. Cost: the number of words that are hit.

    Parameters
    ----------
    k : int, default=5
        Length of the words.

    sigma : float, default=7.5
        Threshold of the negative log-likelihood.

    References
    ----------
    .. [1] R. Kuang et al., "Profile-based string kernels for remote homology detection and motif
       extraction", Journal of Bioinformatics and Computational Biology 3(3), 2005.

    Examples
    --------
    >>> from mvdfq import Profile, SequenceKernel
    >>> X = [[[0.7, 0.1, 0.3], [0.2, 0.8, 0.3], [0.1, 0.1, 0.4]]]
    >>> SequenceKernel(Profile(k=2, sigma=2.0), normalize=False).fit_transform(X)
    array([[7.]])
    """

    def __init__(self, k: int = 5, sigma: float = 7.5) -> None:
        self.k = k
        self.sigma = sigma

    def check(self) -> None:
        """Refuse parameters that make no sense."""
        check_whole(self.k, "k")
        check_positive(self.sigma, "sigma")

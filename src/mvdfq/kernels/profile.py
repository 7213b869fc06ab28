"""Words that a profile makes likely: the kernel, and how its words are counted.

The words come from probabilities, so the kernel is not a table of layouts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvdfq._engines import cpu
from mvdfq._utils.checks import check_positive, check_whole
from mvdfq.kernels.base import Kernel
from mvdfq.kernels.counting import ENTRY_BITS, Columns, Row, count_entries
from mvdfq.sequences.containers import Sequences, refuse

__all__ = ["Profile", "ProfileTask", "check_profiles", "profile_row"]


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


@dataclass(frozen=True)
class ProfileTask:
    """Count the words whose negative log-likelihood stays below `sigma`, in one cell."""

    k: int
    sigma: float
    cell: tuple[int, int] = (0, 0)

    @property
    def length(self) -> int:
        """Number of letters in a word."""
        return self.k

    @property
    def title(self) -> str:
        """What is counted, for people."""
        return f"likely above exp(-{self.sigma:g})"

    def add_to(self, products: Any, row: Row) -> None:
        """Add the products of all counts to `products`."""
        for columns in self.columns(row):
            products.add_columns(columns, columns.count.sum())

    def columns(self, row: Row) -> Iterator[Columns]:
        """Yield the counts of all words, in one piece."""
        key_shift = (row.n_sequences - 1).bit_length()
        if (row.n_symbols**self.k - 1).bit_length() + key_shift > ENTRY_BITS:
            raise ValueError(
                f"Profile words of k={self.k} letters out of {row.n_symbols} for "
                f"{row.n_sequences} sequences do not fit into 64 bits; pass a smaller k."
            )
        entries = self._emit(row, key_shift, 0)
        entries = self._emit(row, key_shift, len(entries))
        yield count_entries(entries, (key_shift, 0), None, np.ones(1))

    def _emit(self, row: Row, key_shift: int, size: int) -> np.ndarray:
        """Entries of all hits; a first call with size 0 tells only how many there are."""
        out = np.empty(size, dtype=np.uint64)
        least = row.data.min(axis=0)
        n = cpu.emit_profile(
            row.data, least, row.offsets, self.k, self.sigma, *self.cell, key_shift, out
        )
        return out if size else np.empty(n, dtype=np.uint64)


def profile_row(profiles: Sequences) -> Row:
    """Return the negative logarithms of the probabilities as one row; NaN where missing."""
    with np.errstate(divide="ignore"):
        costs = -np.log(profiles.data.astype(float))
    n_letters = profiles.n_rows
    return Row(costs, profiles.offsets, n_letters, n_letters, np.zeros(0, bool))


def check_profiles(profiles: Sequences) -> Sequences:
    """Refuse what cannot be probabilities, naming the sequence, channel and time."""
    bad = (profiles.data < 0) | (profiles.data > 1)
    refuse(
        bad, profiles, "is outside 0..1", "Profile reads probabilities, a channel for each letter"
    )
    return profiles

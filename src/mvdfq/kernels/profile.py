"""Words that a profile makes likely: they come from probabilities, so there are no layouts."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from mvdfq._engines import kernel_loops
from mvdfq._engines.cpu import bits
from mvdfq._utils.checks import check_positive, check_whole
from mvdfq.kernels.base import LONGEST_WORD, Kernel, Row
from mvdfq.kernels.counting import Columns, count_entries
from mvdfq.kernels.keys import KEY_BITS
from mvdfq.sequences.check import refuse
from mvdfq.sequences.containers import Ragged, Sequences

# Bytes per frame, measured: with the default threshold, about a hundred likely words start at a
# frame, and each word takes 64 bytes.
BYTES_PER_FRAME = 6400


@dataclass(eq=False, repr=False)
class Profile(Kernel):
    r"""Count the words that a profile makes likely (for sequences of probability vectors).

    The word :math:`u` is hit at position `t` when
    :math:`-\sum_i \ln p_{t+i}(u_i) < \sigma`. Sequences have one channel for each letter of the
    alphabet and hold probabilities. Cost: the number of hits.

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

    k: int = 5
    sigma: float = 7.5

    has_groups = False
    reads_symbols = False

    def check(self) -> None:
        """Raise an error if a parameter has a wrong value."""
        check_whole(self.k, "k", at_most=LONGEST_WORD)
        check_positive(self.sigma, "sigma")

    def check_values(self, sequences: Sequences) -> None:
        """Raise an error that names the sequence, channel and time of a number outside 0..1."""
        bad = (sequences.data < 0) | (sequences.data > 1)
        hint = "Profile reads probabilities, one channel for each letter"
        refuse(bad, sequences, "is outside 0..1", hint)

    def row(self, parts: list[Any], r: int) -> Row:
        """Return the negative logarithms of all probabilities as one row; NaN where missing."""
        profiles = reduce(Ragged.joined, parts)
        with np.errstate(divide="ignore"):
            costs = -np.log(profiles.data.astype(float))
        n_letters = profiles.n_rows
        return Row(costs, profiles.offsets, n_letters, n_letters, np.zeros(0, bool))

    def counts_groups(self, needs_counts: bool) -> bool:
        """Return False: profiles have no layouts."""
        return False

    def own_tasks(self, n_symbols, cells, needs_counts, listed, vocabulary) -> list[Any]:
        """Return one task for each cell of the pyramid."""
        return [ProfileTask(self.k, self.sigma, cell) for cell in cells]

    def own_bytes_per_frame(self, n_symbols: int) -> int:
        """Return the working memory for each frame."""
        return BYTES_PER_FRAME


@dataclass(frozen=True)
class ProfileTask:
    """Count the words whose negative log-likelihood stays below `sigma`, in one cell."""

    length: int
    sigma: float
    cell: tuple[int, int] = (0, 0)

    @property
    def title(self) -> str:
        """What is counted, as text for users."""
        return f"likely above exp(-{self.sigma:g})"

    def add_to(self, products: Any, row: Row) -> None:
        """Add the products of all counts to `products`."""
        for columns in self.columns(row):
            products.add_columns(columns, columns.count.sum())

    def columns(self, row: Row) -> Iterator[Columns]:
        """Yield the counts of all words, in one piece."""
        key_shift = bits(row.n_sequences)
        if bits(row.n_symbols**self.length) + key_shift > KEY_BITS:
            words = f"Profile words of k={self.length} letters out of {row.n_symbols}"
            problem = f"{words} for {row.n_sequences} sequences do not fit into 64 bits"
            raise ValueError(f"{problem}; pass a smaller k.")
        read = row.data, row.data.min(axis=0), row.offsets, self.length, self.sigma, *self.cell
        # once to count the hits, once to write them
        n = kernel_loops.emit_profile(*read, key_shift, np.empty(0, np.uint64))
        entries = np.empty(n, np.uint64)
        kernel_loops.emit_profile(*read, key_shift, entries)
        yield count_entries(entries, (key_shift, 0), None, np.ones(1))

"""Counts of the words that profiles make likely: sequences of probability vectors."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvdfq.counting import ENTRY_BITS, Columns, Row, count_entries
from mvdfq.engines import cpu
from mvdfq.sequences import Sequences, refuse

__all__ = ["ProfileTask", "check_profiles", "profile_row"]


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

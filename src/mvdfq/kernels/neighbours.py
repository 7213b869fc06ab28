r"""Mismatch counts: how many windows of a sequence lie within `m` mismatches of a word.

The square roots of the counts have no closed form, so the counts are computed from the counts of
gapped words: :math:`c_u(x) = \sum_{i \le m} a_i \sum_{|P| = i} G_P(x, u \setminus P)`, where
:math:`G_P` counts the windows that agree with `u` outside :math:`P`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from math import comb, factorial
from typing import Any

import numpy as np
import scipy.sparse as sp

from mvdfq.kernels.base import Group, Layout, Row
from mvdfq.kernels.counting import Columns, GroupTask
from mvdfq.kernels.keys import find_words, pack_words, word_codes

# Counts in one block of columns; a block takes about 16 bytes for each count.
BLOCK_COUNTS = 2**21
# Largest number of words to list one by one; more words would take hours.
LISTED_WORDS = 2**31
# With at most this many words, the counts of all words are kept for every sequence.
FEW_WORDS = 2**10


@dataclass(frozen=True)
class GappedCounts:
    """Counts of gapped words as columns, one set of kept positions after the other."""

    kept: list[tuple[int, ...]]
    words: list[np.ndarray]
    factors: np.ndarray
    indptr: np.ndarray
    sequence: np.ndarray
    count: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        """First column of each set."""
        return np.cumsum([0, *map(len, self.words)])

    def columns_of(self, words: np.ndarray) -> np.ndarray:
        """Return the column of each word in each set, -1 for a word without a column."""
        ids = np.empty((len(words), len(self.kept)), dtype=np.int32)
        for j, kept in enumerate(self.kept):
            places = find_words(self.words[j], words[:, kept])
            ids[:, j] = np.where(places < 0, -1, places + self.starts[j])
        return ids


@dataclass(frozen=True)
class NeighbourTask:
    """Count words with up to `m` mismatches in one cell of the pyramid.

    Counts the words of `vocabulary`; with None, all words that are near any window. With `listed`
    False and ``m=1``, words near only one family of windows come as one column that stands for
    all of these words, which keeps alphabets of thousands of symbols computable.
    """

    k: int
    m: int
    dilation: int = 1
    cell: tuple[int, int] = (0, 0)
    vocabulary: np.ndarray | None = None
    listed: bool = False

    @property
    def length(self) -> int:
        """Number of symbols in a word."""
        return self.k

    @property
    def title(self) -> str:
        """What is counted, as text for users."""
        window = "".join(f"+{i * self.dilation}" for i in range(self.k))
        return f"{window}, up to {self.m} changed"

    @property
    def kept(self) -> list[tuple[int, ...]]:
        """Sets of kept positions, with up to `m` positions left out; first the full set."""
        sizes = range(self.k, self.k - self.m - 1, -1)
        return [p for size in sizes for p in combinations(range(self.k), size)]

    def add_to(self, products: Any, row: Row) -> None:
        """Add the products of all counts to `products`."""
        size = intersection_size(self.k, self.m, row.n_symbols, 0)
        bound = int(np.diff(row.offsets).max(initial=0)) * size
        if self._is_small(row):
            products.add_dense(self._all_counts(row), bound)
            return
        for columns in self.columns(row):
            products.add_columns(columns, bound)

    def _is_small(self, row: Row) -> bool:
        """Tell whether the counts of all words of the alphabet take little memory."""
        n_words = row.base**self.k
        is_little = n_words <= FEW_WORDS or n_words * row.n_sequences <= 8 * row.data.size
        return is_little and self.vocabulary is None

    def _all_counts(self, row: Row) -> np.ndarray:
        """Return the counts of all words, (n_sequences, n_words).

        ``near[d]`` counts windows at exact distance `d`, one more position in each round: at this
        position a window either agrees with the word or has one of the other symbols.
        """
        exact = exact_words(self.k, self.dilation, self.cell).all_counts(row)
        cube = exact.T.reshape(*(row.base,) * self.k, row.n_sequences)
        known = cube[(slice(row.n_symbols),) * self.k]  # words with missing values do not count
        near = np.zeros((self.m + 1, known.size))
        near[0] = known.ravel()
        for place in range(self.k):
            inner = row.n_symbols ** (self.k - 1 - place) * row.n_sequences
            at = near.reshape(self.m + 1, -1, row.n_symbols, inner)
            # downwards: the smaller distance must not know this place yet
            for distance in range(self.m, 0, -1):
                at[distance] += at[distance - 1].sum(axis=1, keepdims=True) - at[distance - 1]
        return near.sum(axis=0).reshape(-1, row.n_sequences).T

    def columns(self, row: Row) -> Iterator[Columns]:
        """Yield the counts block by block."""
        gapped = self._gapped_counts(row)
        if self.vocabulary is not None:
            yield from _blocks(gapped, self.vocabulary, row.n_sequences)
        elif self.m == 1 and not self.listed:
            yield from self._exceptional_and_rest(gapped, row)
        else:
            n_words = len(gapped.words[0])
            size = n_words * intersection_size(self.k, self.m, row.n_symbols, 0)
            if size > LISTED_WORDS:
                raise ValueError(
                    f"Mismatch(k={self.k}, m={self.m}) over {row.n_symbols} symbols has "
                    f"{size:.0e} neighbours of the {n_words} words that occur, more than the limit "
                    f"of {LISTED_WORDS:.0e}; pass neighbourhood='observed', a smaller m or a "
                    f"smaller alphabet."
                )
            # by the first symbol, so that one part of the list is in memory at a time
            for first in range(row.n_symbols):
                near = near_words(gapped.words[0], self.m, row.n_symbols, first)
                yield from _blocks(gapped, near, row.n_sequences)

    def _gapped_counts(self, row: Row) -> GappedCounts:
        """Count words with up to `m` of their positions left out."""
        window = tuple(range(0, self.k * self.dilation, self.dilation))
        parts: list[Columns] = []
        for positions in self.kept:
            layout = Layout(tuple(window[p] for p in positions), window)
            parts += GroupTask(Group((layout,)), self.cell).columns(row)
        starts = np.cumsum([0, *(int(part.indptr[-1]) for part in parts)])
        pointers = [part.indptr[:-1] + a for part, a in zip(parts, starts[:-1], strict=True)]
        # With the exact distances M_i = C_i - sum_{j<i} comb(k-j, i-j) M_j, the count is
        # M_0 + ... + M_m; the factor of C_i, with i positions left out, is how often it enters.
        left = [(self.k - i, range(self.m + 1 - i)) for i in (self.k - len(p) for p in self.kept)]
        factors = [sum((-1) ** j * comb(rest, j) for j in most) for rest, most in left]
        return GappedCounts(
            self.kept,
            [word_codes(p.words, row.base, len(q)) for p, q in zip(parts, self.kept, strict=True)],
            np.array(factors, dtype=float),
            np.append(np.concatenate(pointers), starts[-1]),
            np.concatenate([part.sequence for part in parts]),
            np.concatenate([part.count for part in parts]),
        )

    def _exceptional_and_rest(self, gapped: GappedCounts, row: Row) -> Iterator[Columns]:
        """Yield words near several families of windows one by one, then other words by family.

        A family is all windows that agree except at one position. A word near only one family has
        the count of this family, whatever the symbol of the word at the left-out position.
        """
        words = exceptional_words(gapped.words[0])
        listed = np.zeros(len(gapped.indptr) - 1, dtype=np.int64)
        for block in np.array_split(words, len(words) // BLOCK_COUNTS + 1):
            ids = gapped.columns_of(block)
            listed += np.bincount(ids[ids >= 0], minlength=len(listed))
            yield from _blocks(gapped, block, row.n_sequences, ids)
        for j, (first, last) in enumerate(zip(gapped.starts[1:-1], gapped.starts[2:], strict=True)):
            begin, end = gapped.indptr[first], gapped.indptr[last]
            yield Columns(
                gapped.indptr[first : last + 1] - begin,
                gapped.sequence[begin:end],
                gapped.count[begin:end],
                gapped.words[j + 1],
                multiplicity=row.n_symbols - listed[first:last],
            )


def intersection_size(k: int, m: int, n_symbols: int, distance: int) -> int:
    """Return how many words lie within `m` mismatches of both of two words at `distance`.

    Exact, in Python's unbounded integers.

    >>> [intersection_size(5, 1, 20, d) for d in range(3)]
    [96, 20, 2]
    """
    s, d = n_symbols, distance
    total = 0
    for i in range(k - d + 1):  # positions where the two words agree and the third word differs
        for p, q in product(range(d + 1), repeat=2):  # agrees with the first, the second word
            if p + q <= d and i + d - p <= m and i + d - q <= m:
                ways = factorial(d) // (factorial(p) * factorial(q) * factorial(d - p - q))
                total += comb(k - d, i) * (s - 1) ** i * ways * (s - 2) ** (d - p - q)
    return total


def exact_words(k: int, dilation: int, cell: tuple[int, int] = (0, 0)) -> GroupTask:
    """Return the task that counts words of length `k` without mismatches."""
    window = tuple(range(0, k * dilation, dilation))
    return GroupTask(Group((Layout(window, window),)), cell)


def exceptional_words(words: np.ndarray) -> np.ndarray:
    """Return all words that are near two or more families of windows.

    Such a word occurs itself, or position `p` of one word and position `q` of another word were
    changed to make it. The two words agree elsewhere, so the word mixes their symbols at `p`, `q`.
    """
    near, base = [words], int(words.max(initial=0)) + 1
    for p, q in combinations(range(words.shape[1]), 2):
        alike = pack_words(np.delete(words, (p, q), axis=1))
        _, one, group, size = np.unique(alike, True, True, True)
        several = size[group] > 1
        left, right = (np.unique(group[several] * base + words[several, i]) for i in (p, q))
        # every symbol at `p` beside every symbol at `q` of the same group
        n_right = np.bincount(right // base, minlength=len(size))
        times = n_right[left // base]
        left, nth = np.repeat(left, times), np.arange(times.sum())
        nth -= np.repeat(np.cumsum(times) - times, times)
        grid = words[one[left // base]]
        grid[:, p] = left % base
        grid[:, q] = right[(np.cumsum(n_right) - n_right)[left // base] + nth] % base
        near.append(_distinct(grid))
    return _distinct(np.concatenate(near))


def near_words(words: np.ndarray, m: int, n_symbols: int, first: int) -> np.ndarray:
    """Return all words that begin with `first` and lie within `m` of one of `words`."""
    # how many more symbols of each word may change, after its first symbol
    left = m - (words[:, 0] != first)
    origin = np.flatnonzero(left >= 0)
    left, near = left[origin], np.full((len(origin), 1), first, dtype=words.dtype)
    for place in range(1, words.shape[1]):
        own = words[origin, place]
        same = np.column_stack([near, own])
        # every other symbol, for words that may still differ
        free = np.repeat(np.flatnonzero(left > 0), n_symbols)
        symbol = np.tile(np.arange(n_symbols, dtype=words.dtype), len(free) // n_symbols)
        free, symbol = free[symbol != own[free]], symbol[symbol != own[free]]
        near = np.concatenate([same, np.column_stack([near[free], symbol])])
        origin = np.concatenate([origin, origin[free]])
        left = np.concatenate([left, left[free] - 1])
    return _distinct(near)


def _distinct(words: np.ndarray) -> np.ndarray:
    """Return the distinct rows, sorted."""
    _, index = np.unique(pack_words(words), return_index=True)
    return words[index]


def _blocks(
    gapped: GappedCounts, words: np.ndarray, n_sequences: int, ids: np.ndarray | None = None
) -> Iterator[Columns]:
    """Yield the counts of the given words in pieces of bounded size."""
    ids = gapped.columns_of(words) if ids is None else ids
    sizes = np.append(np.diff(gapped.indptr), 0)[ids].sum(axis=1)  # id -1 takes the added 0
    words, ids, sizes = words[sizes > 0], ids[sizes > 0], sizes[sizes > 0]
    ends, known = np.cumsum(sizes), ids >= 0
    cuts = np.searchsorted(ends, np.arange(BLOCK_COUNTS, ends[-1:].sum(), BLOCK_COUNTS))
    # the gapped words of each word, by the factors of their sets, times the counts of gapped words
    factors = np.broadcast_to(gapped.factors, ids.shape)[known]
    indptr = np.append(0, np.cumsum(known.sum(axis=1)))
    parts = sp.csr_array((factors, ids[known], indptr), (len(words), len(gapped.indptr) - 1))
    counts = gapped.count.astype(float), gapped.sequence, gapped.indptr
    by_sequence = sp.csr_array(counts, (len(gapped.indptr) - 1, n_sequences))
    for a, b in pairwise(np.unique(np.concatenate([[0], cuts, [len(words)]]))):
        found = parts[a:b] @ by_sequence
        found.sort_indices()
        columns = found.indptr.astype(np.int64), found.indices.astype(np.uint32), found.data
        yield Columns(*columns, words[a:b])

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
    """Counts of gapped words by sequence, one set of kept positions after the other."""

    kept: list[tuple[int, ...]]
    words: list[np.ndarray]
    factors: np.ndarray
    counts: sp.csr_array

    @property
    def starts(self) -> np.ndarray:
        """First line of each set in `counts`."""
        return np.cumsum([0, *map(len, self.words)])

    def lines_of(self, words: np.ndarray) -> np.ndarray:
        """Return the line of each word in each set, -1 for a word without a line."""
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

    length: int
    m: int
    dilation: int = 1
    cell: tuple[int, int] = (0, 0)
    vocabulary: np.ndarray | None = None
    listed: bool = False

    @property
    def title(self) -> str:
        """What is counted, as text for users."""
        window = "".join(f"+{i * self.dilation}" for i in range(self.length))
        return f"{window}, up to {self.m} changed"

    @property
    def kept(self) -> list[tuple[int, ...]]:
        """Sets of kept positions, with up to `m` positions left out; first the full set."""
        sizes = range(self.length, self.length - self.m - 1, -1)
        return [p for size in sizes for p in combinations(range(self.length), size)]

    def add_to(self, products: Any, row: Row) -> None:
        """Add the products of all counts to `products`."""
        size = intersection_size(self.length, self.m, row.n_symbols, 0)
        bound = int(np.diff(row.offsets).max(initial=0)) * size
        if self._is_small(row):
            products.add_dense(self._all_counts(row), bound)
            return
        for columns in self.columns(row):
            products.add_columns(columns, bound)

    def _is_small(self, row: Row) -> bool:
        """Tell whether the counts of all words of the alphabet take little memory."""
        n_words = row.base**self.length
        is_little = n_words <= FEW_WORDS or n_words * row.n_sequences <= 8 * row.data.size
        return is_little and self.vocabulary is None

    def _all_counts(self, row: Row) -> np.ndarray:
        """Return the counts of all words, (n_sequences, n_words).

        ``near[d]`` counts windows at exact distance `d`, one more position in each round: at this
        position a window either agrees with the word or has one of the other symbols.
        """
        exact = exact_words(self.length, self.dilation, self.cell).all_counts(row)
        cube = exact.T.reshape(*(row.base,) * self.length, row.n_sequences)
        # words with missing values do not count
        known = cube[(slice(row.n_symbols),) * self.length]
        near = np.zeros((self.m + 1, known.size))
        near[0] = known.ravel()
        for place in range(self.length):
            inner = row.n_symbols ** (self.length - 1 - place) * row.n_sequences
            part = near.reshape(self.m + 1, -1, row.n_symbols, inner)
            # downwards: the smaller distance must not know this place yet
            for distance in range(self.m, 0, -1):
                part[distance] += part[distance - 1].sum(axis=1, keepdims=True) - part[distance - 1]
        return near.sum(axis=0).reshape(-1, row.n_sequences).T

    def columns(self, row: Row) -> Iterator[Columns]:
        """Yield the counts block by block."""
        gapped = self._gapped_counts(row)
        if self.vocabulary is not None:
            yield from _blocks(gapped, self.vocabulary)
        elif self.m == 1 and not self.listed:
            yield from self._exceptional_and_rest(gapped, row)
        else:
            n_words = len(gapped.words[0])
            size = n_words * intersection_size(self.length, self.m, row.n_symbols, 0)
            if size > LISTED_WORDS:
                kernel = f"Mismatch(k={self.length}, m={self.m}) over {row.n_symbols} symbols"
                problem = f"has {size:.0e} neighbours of the {n_words} words that occur"
                limit = f"more than the limit of {LISTED_WORDS:.0e}"
                hint = "pass neighbourhood='observed', a smaller m or a smaller alphabet"
                raise ValueError(f"{kernel} {problem}, {limit}; {hint}.")
            # by the first symbol, so that one part of the list is in memory at a time
            for first in range(row.n_symbols):
                near = near_words(gapped.words[0], self.m, row.n_symbols, first)
                yield from _blocks(gapped, near)

    def _gapped_counts(self, row: Row) -> GappedCounts:
        """Count words with up to `m` of their positions left out."""
        window = tuple(range(0, self.length * self.dilation, self.dilation))
        layouts = [Layout(tuple(window[p] for p in kept), window) for kept in self.kept]
        parts = [next(GroupTask(Group((each,)), self.cell).columns(row)) for each in layouts]
        pairs, n = zip(parts, self.kept, strict=True), row.n_sequences
        words = [word_codes(part.words, row.base, len(kept)) for part, kept in pairs]
        counts = [sp.csr_array((p.count, p.sequence, p.indptr), (len(p.words), n)) for p in parts]
        # With the exact distances M_i = C_i - sum_{j<i} comb(k-j, i-j) M_j, the count is
        # M_0 + ... + M_m; the factor of C_i, with i positions left out, is how often it enters.
        most, sizes = self.m - self.length, [len(kept) for kept in self.kept]
        factors = [sum((-1) ** j * comb(n, j) for j in range(most + n + 1)) for n in sizes]
        stacked = sp.vstack(counts, format="csr")
        return GappedCounts(self.kept, words, np.array(factors, dtype=float), stacked)

    def _exceptional_and_rest(self, gapped: GappedCounts, row: Row) -> Iterator[Columns]:
        """Yield words near several families of windows one by one, then other words by family.

        A family is all windows that agree except at one position. A word near only one family has
        the count of this family, whatever the symbol of the word at the left-out position.
        """
        words = exceptional_words(gapped.words[0])
        listed = np.zeros(gapped.counts.shape[0], dtype=np.int64)
        for block in np.array_split(words, len(words) // BLOCK_COUNTS + 1):
            ids = gapped.lines_of(block)
            listed += np.bincount(ids[ids >= 0], minlength=len(listed))
            yield from _blocks(gapped, block, ids)
        for j, (first, last) in enumerate(zip(gapped.starts[1:-1], gapped.starts[2:], strict=True)):
            alike = row.n_symbols - listed[first:last]
            yield _columns(gapped.counts[first:last], gapped.words[j + 1], alike)


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
        _, first, group, size = np.unique(alike, True, True, True)
        several = size[group] > 1
        left, right = (np.unique(group[several] * base + words[several, i]) for i in (p, q))
        # every symbol at `p` beside every symbol at `q` of the same group
        n_right = np.bincount(right // base, minlength=len(size))
        times = n_right[left // base]
        left, nth = np.repeat(left, times), np.arange(times.sum())
        nth -= np.repeat(np.cumsum(times) - times, times)
        grid = words[first[left // base]]
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
    gapped: GappedCounts, words: np.ndarray, ids: np.ndarray | None = None
) -> Iterator[Columns]:
    """Yield the counts of the given words in pieces of bounded size."""
    ids = gapped.lines_of(words) if ids is None else ids
    sizes = np.append(np.diff(gapped.counts.indptr), 0)[ids].sum(axis=1)  # id -1 takes the added 0
    words, ids, sizes = words[sizes > 0], ids[sizes > 0], sizes[sizes > 0]
    ends, known = np.cumsum(sizes), ids >= 0
    cuts = np.searchsorted(ends, np.arange(BLOCK_COUNTS, ends[-1:].sum(), BLOCK_COUNTS))
    # the gapped words of each word, by the factors of their sets, times the counts of gapped words
    factors = np.broadcast_to(gapped.factors, ids.shape)[known]
    indptr = np.append(0, np.cumsum(known.sum(axis=1)))
    parts = sp.csr_array((factors, ids[known], indptr), (len(words), gapped.counts.shape[0]))
    by_sequence = gapped.counts.astype(float)
    for a, b in pairwise(np.unique(np.concatenate([[0], cuts, [len(words)]]))):
        counts = parts[a:b] @ by_sequence
        counts.sort_indices()
        yield _columns(counts, words[a:b])


def _columns(counts: sp.csr_array, words: np.ndarray, alike: np.ndarray | None = None) -> Columns:
    """Return counts with one line for each word as columns; a line stands for `alike` words."""
    pointers, sequence = counts.indptr.astype(np.int64), counts.indices.astype(np.uint32)
    return Columns(pointers, sequence, counts.data, words, alike)

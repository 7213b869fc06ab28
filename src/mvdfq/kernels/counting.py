"""Symbols and layouts -> counts: which word occurs how often in which sequence.

One *task* counts the words of one group of layouts in one cell of the temporal pyramid, for one
row of all sequences at once. Its result is *columns*, one for each word that occurs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvdfq._engines import cpu
from mvdfq.kernels import Group
from mvdfq.symbols.base import Symbols, code_dtype

__all__ = [
    "EXACT_SINGLE",
    "Columns",
    "GroupTask",
    "Row",
    "count_entries",
    "find_words",
    "pack_words",
    "pyramid_cells",
    "rank_words",
    "row_of",
    "word_codes",
    "word_keys",
]

# Entries are 64 bits wide: word, sequence and layout must fit in together.
ENTRY_BITS = 64
# Whole numbers below this are exact in single precision.
EXACT_SINGLE = 2**24

# Packed words, the places of key and sequence in them, and what a key means (None: its digits).
Entries = tuple[np.ndarray, tuple[int, int], np.ndarray | None]


@dataclass(frozen=True)
class Row:
    """One row of a collection: what a task reads."""

    data: np.ndarray
    offsets: np.ndarray
    n_symbols: int
    base: int
    present: np.ndarray

    @property
    def n_sequences(self) -> int:
        """Number of sequences."""
        return len(self.offsets) - 1


@dataclass(frozen=True)
class Columns:
    """Counts of words, as in a CSC matrix of shape (n_sequences, n_words).

    Word ``c`` is ``words[c]`` and occurs ``count[e]`` times in ``sequence[e]`` for ``e`` from
    ``indptr[c]`` to ``indptr[c + 1]``; sequences ascend. It stands for ``multiplicity[c]``
    words with equal counts (None: for itself).
    """

    indptr: np.ndarray
    sequence: np.ndarray
    count: np.ndarray
    words: np.ndarray
    multiplicity: np.ndarray | None = None


def row_of(symbols: Symbols, closed: bool = False) -> Row:
    """Return the only row of a collection, ready to be read.

    New sequences may hold symbols never seen before, numbered from `n_symbols` upwards; in a
    `closed` alphabet they are missing values.
    """
    codes = np.ascontiguousarray(symbols.codes[0])
    n_symbols = int(symbols.n_symbols[0])
    present = codes < n_symbols if closed else codes != symbols.missing
    base = max(n_symbols, int(codes.max(where=present, initial=0)) + 1)
    return Row(codes, symbols.offsets, n_symbols, base, present[: 0 if present.all() else None])


def pyramid_cells(n_levels: int) -> list[tuple[int, int]]:
    """List the cells of a temporal pyramid: whole, halves, quarters, as (level, segment).

    Examples
    --------
    >>> pyramid_cells(2)
    [(0, 0), (1, 0), (1, 1)]
    """
    return [(level, cell) for level in range(n_levels) for cell in range(2**level)]


@dataclass(frozen=True)
class GroupTask:
    """Count the words that one group of layouts reads in one cell of the pyramid."""

    group: Group
    cell: tuple[int, int] = (0, 0)

    @property
    def length(self) -> int:
        """Number of symbols in a word."""
        return len(self.group.layouts[0].offsets)

    @property
    def title(self) -> str:
        """Which offsets are read, for people; a star at those that are passed over."""
        return " or ".join(
            "".join(f"+{o}" if o in layout.offsets else f"*{o}" for o in layout.window)
            for layout in self.group.layouts
        )

    def add_to(self, products: Any, row: Row) -> None:
        """Add the products of all counts to `products`."""
        bound = self._largest_total(row)
        table = self.table(row)
        if table is not None:
            products.add_table(table, bound)
            return
        for columns in self.columns(row):
            products.add_columns(columns, bound)

    def columns(self, row: Row) -> Iterator[Columns]:
        """Yield the counts of all words, in one piece."""
        yield count_entries(*self._entries(row), self._weights(row))

    def table(self, row: Row) -> np.ndarray | None:
        """Counts as a dense (n_sequences, n_words) table, or None if it were large.

        While the table is no larger than the list of entries, filling it is three times faster
        than sorting the list.
        """
        n_words = row.base**self.length
        if n_words * row.n_sequences > row.data.size * len(self.group.layouts):
            return None
        return self.full_table(row)

    def full_table(self, row: Row) -> np.ndarray:
        """Counts as a dense (n_sequences, n_words) table, however large."""
        n_words = row.base**self.length
        entries, shifts, _ = self._entries(row)
        weights = self._weights(row)
        table = np.zeros((row.n_sequences, n_words), dtype=weights.dtype)
        cpu.add_dense_counts(entries, shifts, weights, table)
        return table

    def _largest_total(self, row: Row) -> float:
        """Bound on the sum of the counts of one sequence; infinite if they are not whole."""
        weights = [layout.weight for layout in self.group.layouts]
        if not all(float(weight).is_integer() for weight in weights):
            return np.inf
        return int(np.diff(row.offsets).max(initial=0)) * sum(weights)

    def _weights(self, row: Row) -> np.ndarray:
        """Weights of the layouts; single precision holds whole counts up to 2**24 exactly."""
        dtype = np.float32 if self._largest_total(row) < EXACT_SINGLE else np.float64
        return np.array([layout.weight for layout in self.group.layouts], dtype=dtype)

    def _entries(self, row: Row) -> Entries:
        """All words as entries in the order of the sequences, and the places of their parts."""
        layouts = np.array([layout.offsets for layout in self.group.layouts], dtype=np.int64)
        sequence_shift = _bits(len(layouts))
        shifts = sequence_shift + _bits(row.n_sequences), sequence_shift
        if _bits(row.base**self.length) + shifts[0] > ENTRY_BITS:
            return self._ranked_entries(row, layouts, shifts)
        emit = cpu.emit_distinct if self.group.distinct else cpu.emit
        return self._emit(emit, row.data, row, layouts, row.base, shifts), shifts, None

    def _emit(self, emit, data, row: Row, layouts: np.ndarray, base: int, shifts) -> np.ndarray:
        windows = np.array([layout.window for layout in self.group.layouts], dtype=np.int64)
        out = np.empty(row.data.size * len(layouts), dtype=np.uint64)
        n = emit(data, row.offsets, layouts, windows, base, row.present, *self.cell, shifts, out)
        return out[:n]

    def _ranked_entries(self, row: Row, layouts: np.ndarray, shifts) -> Entries:
        """Entries of words too long for 64 bits: their rank among those that occur."""
        # Reading positions as if they were one-symbol words lists where the words start.
        places = np.arange(row.data.size)
        starts = self._emit(cpu.emit, places, row, np.zeros_like(layouts[:, :1]), 1, shifts)
        tags = starts & np.uint64((1 << shifts[0]) - 1)
        at = (starts >> np.uint64(shifts[0])).astype(np.int64)
        which = (tags & np.uint64((1 << shifts[1]) - 1)).astype(np.int64)
        words = row.data[at[:, None] + layouts[which]]
        ranks, first = rank_words(words)
        listed = words[first]
        if self.group.distinct:
            _, kept = np.unique(np.stack([at.astype(np.uint64), ranks]), axis=1, return_index=True)
            kept.sort()
            ranks, tags = ranks[kept], tags[kept] >> np.uint64(shifts[1]) << np.uint64(shifts[1])
        return (ranks << np.uint64(shifts[0])) | tags, shifts, listed


def count_entries(entries: np.ndarray, shifts, listed, weights: np.ndarray) -> Columns:
    """Sort entries by key and add up their weights for each word and sequence."""
    bits = int(entries.max(initial=0) >> np.uint64(shifts[0])).bit_length()
    entries = cpu.sort_by_key(entries, np.empty_like(entries), shifts[0], bits)
    keys, indptr = np.empty(entries.size, np.uint64), np.empty(entries.size + 1, np.int64)
    sequence, count = np.empty(entries.size, np.uint32), np.empty(entries.size, weights.dtype)
    n, n_counts = cpu.count_runs(entries, shifts, weights, keys, indptr, sequence, count)
    words = keys[:n] if listed is None else listed[keys[:n]]
    return Columns(indptr[: n + 1], sequence[:n_counts], count[:n_counts], words)


def word_codes(words: np.ndarray, base: int, length: int) -> np.ndarray:
    """Write words as a matrix of codes, one row each.

    Examples
    --------
    >>> word_codes(np.array([34, 10], dtype=np.uint64), base=10, length=2)
    array([[3, 4],
           [1, 0]], dtype=uint8)
    """
    if words.ndim == 2:
        return words
    codes = np.empty((len(words), length), dtype=code_dtype(base))
    for place in reversed(range(length)):
        words, codes[:, place] = np.divmod(words, np.uint64(base))
    return codes


def word_keys(words: np.ndarray, base: int) -> np.ndarray:
    """Read rows of codes as numbers in base `base`; `word_codes` is the way back.

    Examples
    --------
    >>> word_keys(np.array([[3, 4], [1, 0]]), base=10)
    array([34, 10], dtype=uint64)
    """
    keys = np.zeros(len(words), dtype=np.uint64)
    for digit in words.T:
        keys = keys * np.uint64(base) + digit.astype(np.uint64)
    return keys


def find_words(vocabulary: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Return where each word stands in a sorted vocabulary, -1 if it does not.

    Examples
    --------
    >>> find_words(np.array([[0, 1], [2, 0]]), np.array([[2, 0], [1, 1]]))
    array([ 1, -1])
    """
    keys = pack_words(np.concatenate([vocabulary, words]))
    known, wanted = keys[: len(vocabulary)], keys[len(vocabulary) :]
    at = np.searchsorted(known, wanted)
    hit = np.append(known, np.uint64(0))[at] == wanted
    return np.where(hit & (at < len(known)), at, -1)


def rank_words(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number the distinct rows of a matrix of codes in their order; say where each first is.

    Examples
    --------
    >>> rank_words(np.array([[5, 7], [1, 9], [5, 7]]))
    (array([1, 0, 1], dtype=uint64), array([1, 0]))
    """
    _, first, ranks = np.unique(pack_words(words), return_index=True, return_inverse=True)
    return ranks.astype(np.uint64), first


def pack_words(words: np.ndarray) -> np.ndarray:
    """Turn the rows of a matrix of codes into numbers with the same order and equalities.

    Digits are packed while they fit into 64 bits; then the prefix is replaced by its rank.

    Examples
    --------
    >>> pack_words(np.array([[5, 7], [1, 9]]))
    array([57, 19], dtype=uint64)
    """
    prefix, n_prefixes = np.zeros(len(words), dtype=np.uint64), 1
    for digit in words.T:
        base = int(digit.max(initial=0)) + 1
        if _bits(n_prefixes * base) > ENTRY_BITS:
            distinct, ranks = np.unique(prefix, return_inverse=True)
            prefix, n_prefixes = ranks.astype(np.uint64), len(distinct)
        prefix = prefix * np.uint64(base) + digit.astype(np.uint64)
        n_prefixes *= base
    return prefix


def _bits(n: int) -> int:
    """Bits for numbers below `n`."""
    return max(int(n) - 1, 0).bit_length()

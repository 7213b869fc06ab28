"""Symbols and layouts -> counts: which word occurs how often in which sequence.

One *task* counts the words of one group of layouts in one cell of the temporal pyramid, for one
row of all sequences at once. The result is *columns*, one column for each word that occurs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from mvdfq._engines import cpu
from mvdfq.kernels.base import Group, Row
from mvdfq.kernels.keys import KEY_BITS, rank_words

# Packed words, the shifts of key and sequence, and the word of each key (None: the key's digits).
Entries = tuple[np.ndarray, tuple[int, int], np.ndarray | None]


@dataclass(frozen=True)
class Columns:
    """Counts of words, as in a CSC matrix of shape (n_sequences, n_words).

    Word ``c`` is ``words[c]`` and occurs ``count[e]`` times in ``sequence[e]`` for ``e`` from
    ``indptr[c]`` to ``indptr[c + 1]``; sequences ascend. Column ``c`` stands for
    ``multiplicity[c]`` words with equal counts (None: each column stands for one word).
    """

    indptr: np.ndarray
    sequence: np.ndarray
    count: np.ndarray
    words: np.ndarray
    multiplicity: np.ndarray | None = None


class Lists(NamedTuple):
    """The columns of each sequence, as `cpu.list_by_sequence` makes them, for products as bits.

    Most values are one of the first two `levels`. One sequence adds a bit at most `most` times.
    """

    ends: np.ndarray
    numbers: np.ndarray
    more: np.ndarray
    levels: np.ndarray
    most: int


@dataclass(frozen=True)
class Counted:
    """The counts of one task in one block of sequences, or their square roots.

    `values` is a dense (n_sequences, n_words) matrix or columns whose keys are in `base`. The
    counts of a sequence sum to at most `bound`, the squares of its values to `own`. `lists` are
    the `Lists` of the columns, or None.
    """

    values: Any
    own: np.ndarray
    base: int
    bound: float
    lists: Any = None

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays; of a part of an array, the bytes of the whole array."""
        values = self.values
        if isinstance(values, np.ndarray):
            return values.nbytes
        arrays = values.indptr, values.sequence, values.count, values.words, *(self.lists or ())[:3]
        return sum((a if a.base is None else a.base).nbytes for a in arrays)

    def fits(self, other: "Counted") -> bool:
        """Tell whether `other` has counts of the same kind, with the same keys."""
        pair = self.values, other.values
        are_keys = all(isinstance(part, np.ndarray) or part.words.ndim == 1 for part in pair)
        is_alike = self.base == other.base and type(pair[0]) is type(pair[1]) and are_keys
        return is_alike or other is self


class Occurrences(NamedTuple):
    """One entry for each time that a word is read: its first frame, sequence, layout and codes."""

    starts: np.ndarray
    sequence: np.ndarray
    layout: np.ndarray
    words: np.ndarray


@dataclass(frozen=True)
class GroupTask:
    """Count the words that one group of layouts reads in one cell of the pyramid."""

    group: Group
    cell: tuple[int, int] = (0, 0)

    @property
    def length(self) -> int:
        """Number of symbols in a word."""
        return self.group.length

    @property
    def title(self) -> str:
        """The offsets as text for users; a star marks an offset of the window that is not read."""
        return " or ".join(
            "".join(f"+{o}" if o in layout.offsets else f"*{o}" for o in layout.window)
            for layout in self.group.layouts
        )

    def add_to(self, products: Any, row: Row) -> None:
        """Add the products of all counts to `products`."""
        counted = self.counted(row)
        add = products.add_dense if isinstance(counted.values, np.ndarray) else products.add_columns
        add(counted.values, counted.bound)

    def counted(self, row: Row, root: bool = False) -> Counted:
        """Count all words, as a dense matrix or as columns, whichever takes less time.

        `root` asks for the square roots of the counts. Measured: filling the matrix is three times
        faster than sorting the list of entries, as long as the matrix is not larger than the list.
        """
        about = row.base, self._largest_total(row)
        if row.base**self.length * row.n_sequences <= row.data.size * len(self.group.layouts):
            values = self.all_counts(row)
            values = np.sqrt(values) if root else values
            return Counted(values, np.einsum("ij,ij->i", values, values, dtype=float), *about)
        columns, own = next(self.columns(row)), np.zeros(row.n_sequences)
        levels = self._weights(row).min() * np.array([1, 2, 1.5], columns.count.dtype)
        if root:
            columns, levels = replace(columns, count=np.sqrt(columns.count)), np.sqrt(levels)
        cpu.add_squares(columns.sequence, columns.count, own)
        return Counted(columns, own, *about, listed_by_sequence(columns, row.n_sequences, levels))

    def columns(self, row: Row) -> Iterator[Columns]:
        """Yield the counts of all words, in one piece."""
        yield count_entries(*self._entries(row), self._weights(row))

    def all_counts(self, row: Row) -> np.ndarray:
        """Return counts as a dense (n_sequences, n_words) matrix, however large."""
        entries, shifts, _ = self._entries(row)
        weights = self._weights(row)
        counts = np.zeros((row.n_sequences, row.base**self.length), dtype=weights.dtype)
        cpu.add_dense_counts(entries, shifts, weights, counts)
        return counts

    def occurrences(self, row: Row) -> Occurrences:
        """List all words of the cell one by one, in the order of the sequences."""
        layouts = self.group.arrays[0]
        key, tag = self._shifts(row)
        # Reading positions as if they were one-symbol words lists where the words start.
        positions = np.arange(row.data.size, dtype=np.uint64)
        first = np.zeros((len(layouts), 1), np.int64)
        entries = self._emit(positions, row, first, False, 1)
        starts = (entries >> np.uint64(key)).astype(np.int64)
        sequence = ((entries & np.uint64((1 << key) - 1)) >> np.uint64(tag)).astype(np.int64)
        layout = (entries & np.uint64((1 << tag) - 1)).astype(np.int64)
        read = Occurrences(starts, sequence, layout, row.data[starts[:, None] + layouts[layout]])
        if not self.group.distinct:
            return read
        _, kept = rank_words(np.column_stack([read.starts, read.words]))
        return Occurrences(*(part[kept] for part in read))

    def _largest_total(self, row: Row) -> float:
        """Return a bound on the counts of one sequence; infinite if counts are not whole."""
        weights = self.group.layout_weights
        if (weights % 1).any():
            return np.inf
        return int(np.diff(row.offsets).max(initial=0)) * float(weights.sum())

    def _weights(self, row: Row) -> np.ndarray:
        """Return the weights of the layouts; float32 holds whole counts up to 2**24 exactly."""
        dtype = np.float32 if self._largest_total(row) < cpu.EXACT_SINGLE else np.float64
        return self.group.layout_weights.astype(dtype)

    def _shifts(self, row: Row) -> tuple[int, int]:
        """Return the places of key and sequence in an entry; the layout is at place 0."""
        sequence_shift = cpu.bits(len(self.group.layouts))
        return sequence_shift + cpu.bits(row.n_sequences), sequence_shift

    def _entries(self, row: Row) -> Entries:
        """Return all words as entries, in the order of the sequences."""
        layouts, _, distinct = self.group.arrays
        shifts = self._shifts(row)
        if cpu.bits(row.base**self.length) + shifts[0] <= KEY_BITS:
            return self._emit(row.data, row, layouts, distinct, row.base), shifts, None
        # Longer words do not fit: their key is the rank among the words that occur.
        read = self.occurrences(row)
        ranks, first = rank_words(read.words)
        tags = (read.sequence << shifts[1]) | read.layout
        entries = (ranks << np.uint64(shifts[0])) | tags.astype(np.uint64)
        return entries, shifts, read.words[first]

    def _emit(self, data, row: Row, layouts: np.ndarray, distinct: bool, base: int) -> np.ndarray:
        windows, shifts = self.group.arrays[1], self._shifts(row)
        out = np.empty(row.data.size * len(layouts), dtype=np.uint64)
        read = (layouts, windows, distinct)
        flags = np.empty((2, np.diff(row.offsets).max(initial=0)), bool)
        about = row.offsets, read, base, row.present, *self.cell
        n = cpu.emit(data, *about, shifts=shifts, flags=flags, out=out)
        return out[:n]


def count_entries(entries: np.ndarray, shifts, listed, weights: np.ndarray) -> Columns:
    """Sort entries by key and add up their weights for each word and sequence."""
    n_bits = int(entries.max(initial=0) >> np.uint64(shifts[0])).bit_length()
    entries = cpu.sort_by_key(entries, np.empty_like(entries), shifts[0], n_bits)
    keys, indptr = np.empty(entries.size, np.uint64), np.empty(entries.size + 1, np.int64)
    sequence, count = np.empty(entries.size, np.uint32), np.empty(entries.size, weights.dtype)
    n, n_counts = cpu.count_runs(entries, shifts, weights, keys, indptr, sequence, count)
    # copies, since columns may be kept: there are far fewer words than entries
    words = keys[:n].copy() if listed is None else listed[keys[:n]]
    return Columns(indptr[: n + 1].copy(), sequence[:n_counts], count[:n_counts], words)


def listed_by_sequence(columns: Columns, n_sequences: int, levels: np.ndarray) -> Lists | None:
    """Return the columns of each sequence, for products as bits.

    None if bits would hardly save time: for rare words, large counts or a few common words.
    """
    indptr, count, n = columns.indptr, columns.count, columns.sequence.size
    too_many = n_sequences > 64 * cpu.WIDTH or indptr.size > 2**16
    if too_many or n < cpu.MARK_STEPS * indptr.size or 16 * (count > levels[1]).sum() > n:
        return None
    # every addition of bits to a tile takes about as long as a product for each value of the tile
    degree = np.diff(indptr)
    if 4 * (degree @ degree) < n_sequences**2:
        return None
    ends, more = np.zeros(2 * n_sequences + 1, np.int64), np.empty((2, degree.size), np.int32)
    numbers = np.empty(columns.sequence.size, np.uint16)
    about = columns.indptr, columns.sequence, columns.count, levels
    cpu.list_by_sequence(*about, ends, numbers, more)
    n_twice, n_once = np.diff(ends, prepend=0)[:-1].reshape(-1, 2).T
    most = int((2 * n_twice + n_once).max())
    return Lists(ends, numbers, more, levels, most) if most < 2**cpu.DIGITS else None

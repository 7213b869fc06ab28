"""Symbols: rows of small whole numbers, which quantizers return and kernels read; their names.

Quantizers make symbols with `encode_values`, `to_symbols` and `as_symbols`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from mvdfq._engines.choice import on_card, on_host
from mvdfq._utils.errors import warn
from mvdfq._utils.short import counted
from mvdfq.frames.base import steps_of
from mvdfq.sequences import Ragged, Sequences, gather, offsets_of

# Code of a missing value in arrays of signed codes.
MISSING = -1
# Names of the bins of numbers and of slopes, from low to high.
LEVELS = ("lowest", "low", "middle", "high", "highest")
SLOPES = ("falling fast", "falling", "steady", "rising", "rising fast")
# Words with an unseen symbol tell nothing; a fifth of unseen symbols spoils most words of six.
MOST_UNSEEN = 0.2
# Alphabets up to this size are letters, states or bins.
FEW_SYMBOLS = 64


@dataclass(frozen=True, eq=False, repr=False)
class Symbols(Ragged):
    """A collection of sequences of symbols, one code per row and frame.

    Parameters
    ----------
    data : ndarray of shape (n_rows, n_frames), unsigned integers
        The codes of all sequences, one after another. The largest number of the dtype is the
        code of a missing value.
    offsets : ndarray of shape (n_sequences + 1,), dtype=int64
        First frame of each sequence, and the end of the last sequence.
    channel_names : tuple of str, default=None
        Names of the rows; None if the rows have no names.
    sampling_rate : float, default=None
        Frames per second, if known.
    n_symbols : ndarray of shape (n_rows,), dtype=int64
        Size of the alphabet of each row: codes run from 0 to ``n_symbols - 1``.

    Examples
    --------
    >>> from mvdfq import Letters
    >>> symbols = Letters().fit_transform(["ABBA", "AC"])
    >>> symbols.n_symbols, symbols[1]
    (array([3]), array([[0, 2]], dtype=uint8))
    """

    n_symbols: np.ndarray = None  # type: ignore[assignment]

    _dtypes = ("uint8", "uint16", "uint32")

    def in_words(self) -> str:
        """Return what the collection holds, with the sizes of the alphabets."""
        sizes = sorted({*self.n_symbols.tolist()})
        return f"{super().in_words()}, {' to '.join(map(str, sizes[:1] + sizes[1:][-1:]))} symbols"

    @property
    def codes(self) -> np.ndarray:
        """The codes, ``(n_rows, n_frames)``."""
        return self.data

    @property
    def missing(self) -> int:
        """The code of a missing value."""
        return int(np.iinfo(self.dtype).max)

    @property
    def dtype(self) -> np.dtype:
        """The type of the codes; a card holds bytes only."""
        return self.data.dtype if isinstance(self.held, np.ndarray) else np.dtype(np.uint8)

    @property
    def largest(self) -> np.ndarray:
        """The largest code of each row, missing values among them."""
        held = self.held
        if isinstance(held, np.ndarray) or not held.shape[1]:
            return self.data.max(axis=1, initial=0)
        return on_host(held.amax(1))

    @property
    def unseen(self) -> np.ndarray:
        """Return True for symbols that `fit` did not see, (n_rows, n_frames)."""
        return (self.codes >= self.n_symbols[:, None]) & (self.codes != self.missing)

    @property
    def n_present(self) -> np.ndarray:
        """Number of frames of each sequence in which some row has a symbol."""
        present = on_host((self.held != self.missing).any(axis=0))
        return np.diff(np.append(0, np.cumsum(present))[self.offsets])

    def without_unseen(self) -> "Symbols":
        """Return the same sequences; symbols that `fit` did not see are missing values."""
        held = self.held
        if not isinstance(held, np.ndarray) and held.shape[1]:  # bytes: a missing value, 255, wraps
            if (on_host((held + 1).amax(1)) <= self.n_symbols).all():
                return self
        if not (unseen := self.unseen).any():
            return self
        data = np.where(unseen, self.missing, self.codes).astype(self.data.dtype)
        return replace(self, data=data)

    def rows(self, which: slice | np.ndarray) -> "Symbols":
        """Return the same sequences with only some of the rows."""
        names, n_symbols = self.channel_names, self.n_symbols[which]
        kept = None if names is None else tuple(np.array(names)[which].tolist())
        return replace(self, data=self.held[which], n_symbols=n_symbols, channel_names=kept)

    def joined(self, other: "Symbols") -> "Symbols":
        """Return one collection: the sequences of `self`, then the sequences of `other`."""
        dtype = max(self.data.dtype, other.data.dtype)
        return Ragged.joined(self.astype(dtype), other.astype(dtype))

    def astype(self, dtype: np.dtype) -> "Symbols":
        """Return the same codes in another dtype; missing values get the largest number."""
        if self.dtype == dtype:
            return self
        data = self.data.astype(dtype)
        data[self.data == self.missing] = np.iinfo(dtype).max
        return replace(self, data=data)


def code_dtype(n_symbols: int) -> np.dtype:
    """Return the smallest unsigned dtype for codes below `n_symbols` and for missing values."""
    dtype = np.min_scalar_type(n_symbols)
    if dtype.itemsize > 4:
        raise ValueError(f"An alphabet must have fewer than 2**32 symbols, got {n_symbols}.")
    return dtype


def check_symbols(X: Any, n_symbols: Any = None) -> Symbols:
    """Read `X` as symbols: `Symbols` as they are, or sequences of non-negative integers.

    `n_symbols` is the size of the alphabet, one number or one number per row; None means one more
    than the largest code of the row.
    """
    if isinstance(X, Symbols):
        return X
    arrays = [x for x, _ in gather(X)]
    for i, x in enumerate(arrays):
        if x.size and x.dtype.kind not in "biu":
            problem = f"Symbols must be integers, but sequence {i} holds {x.dtype}"
            hint = "mvdfq.DirectQuantizer turns numbers into symbols, x.astype(int) makes integers"
            raise ValueError(f"{problem}; {hint}.")
        if x.size and (x.min() < 0 or x.max() >= 2**32 - 1):
            problem = f"sequence {i} holds symbols from {x.min()} to {x.max()}"
            raise ValueError(f"Symbols must be from 0 to 2**32 - 2, but {problem}.")
    needed = np.zeros(len(arrays[0]), dtype=np.int64)
    for x in arrays:
        # as 64-bit integers: the largest code plus one may not fit the type of the codes
        needed = np.maximum(needed, x.max(axis=1, initial=0).astype(int) + 1 if x.size else 0)
    data = np.concatenate(arrays, axis=1, dtype=code_dtype(int(needed.max())), casting="unsafe")
    sizes = needed if n_symbols is None else _alphabet(n_symbols, needed)
    return Symbols(data, offsets_of([x.shape[1] for x in arrays]), n_symbols=sizes)


def _alphabet(n_symbols: Any, needed: np.ndarray) -> np.ndarray:
    """Return the alphabet sizes of the rows; refuse less than the codes need."""
    sizes = np.asarray(n_symbols)
    if sizes.dtype.kind not in "iu" or sizes.shape not in ((), needed.shape):
        problem = f"n_symbols must be one whole number, or one number per row ({needed.size} rows)"
        raise ValueError(f"{problem}, got {n_symbols!r}.")
    sizes = np.broadcast_to(sizes, needed.shape).astype(np.int64)
    for r in np.flatnonzero(sizes < needed):
        problem = f"With n_symbols={sizes[r]}, symbols must be from 0 to {sizes[r] - 1}"
        raise ValueError(f"{problem}, but row {r} holds the symbol {needed[r] - 1}.")
    return sizes


def encode_values(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the code of every value: its index in the sorted array `known`; `MISSING` for NaN."""
    codes = np.searchsorted(known, values)
    is_known = np.take(known, codes, mode="clip") == values if known.size else np.zeros(1, bool)
    fresh = ~is_known & ~np.isnan(values)
    codes[np.isnan(values)] = MISSING
    if fresh.any():  # other values get the next codes, in sorted order
        _, places = np.unique(values[fresh], return_inverse=True)
        codes[fresh] = known.size + places
    return codes


def to_symbols(
    X: Ragged, rows: Sequence[np.ndarray], n_symbols: np.ndarray, names: tuple[str, ...] | None
) -> Symbols:
    """Return rows of signed codes, with `MISSING`, as `Symbols` in the smallest dtype."""
    largest = max((int(row.max()) for row in rows if row.size), default=-1)
    dtype = code_dtype(max(largest + 1, int(n_symbols.max())))
    data = np.empty((len(rows), X.data.shape[1]), dtype)
    for row, codes in zip(data, rows, strict=True):
        row[:] = codes.astype(dtype)
        row[codes == MISSING] = np.iinfo(dtype).max
    return as_symbols(X, data, n_symbols, names)


def side_by_side(parts: Sequence[Symbols], names: tuple[str, ...] | None) -> Symbols:
    """Return one collection with the rows of all parts, whose sequences have the same frames."""
    dtype = max(part.dtype for part in parts)
    rows = [part.astype(dtype) for part in parts]
    device, card = on_card("frames")
    held = [part.held for part in rows]
    is_there = device and not all(isinstance(array, np.ndarray) for array in held)
    data = card.joined(held, device) if is_there else np.concatenate(held)
    n_symbols = np.concatenate([part.n_symbols for part in rows])
    return replace(rows[0], data=data, n_symbols=n_symbols, channel_names=names)


def as_symbols(
    X: Ragged, data: np.ndarray, n_symbols: np.ndarray, names: tuple[str, ...] | None
) -> Symbols:
    """Return codes in their final dtype as `Symbols` with the offsets and rate of `X`."""
    return Symbols(data, X.offsets, names, X.sampling_rate, n_symbols=n_symbols.copy())


def warn_unseen(X: Any, read: list[Any]) -> None:
    """Warn once about symbols that did not occur in training; `read` is X as terms read it."""
    # new columns of numbers are nothing strange; new letters and categories are
    of_numbers = isinstance(X, Symbols) or (isinstance(X, Sequences) and not any(X.symbolic))
    for symbols in (part for part in read if isinstance(part, Symbols)):
        # a quick look first: any code that is not a symbol of training is unseen or missing
        if not (symbols.largest >= symbols.n_symbols).any():
            continue
        # a large vocabulary: new words are nothing strange
        strange = symbols.unseen & (symbols.n_symbols <= FEW_SYMBOLS)[:, None]
        counts = np.append(strange.sum(axis=0), 0)
        unseen = np.where(symbols.lengths > 0, np.add.reduceat(counts, symbols.offsets[:-1]), 0)
        most = (MOST_UNSEEN if of_numbers else 0) * symbols.n_rows * symbols.lengths
        if not (n := np.count_nonzero(unseen > most)):
            continue
        rows, names = np.flatnonzero(strange.any(axis=1)), symbols.channel_names
        where = f" of {', '.join(repr(names[r]) for r in rows[:5])}" if names else ""
        text = "".join(X) if isinstance(X, list) and isinstance(X[0], str) else ""
        if len(text) == strange.shape[1]:
            letters = sorted({text[place] for place in np.flatnonzero(strange.any(axis=0))})
            where += f" ({', '.join(map(repr, letters[:5]))})"
        problem = f"{counted(unseen.sum(), 'symbol')}{where} in {n} of "
        problem += f"{counted(len(symbols), 'sequence')} did not occur in training"
        hint = "Is this the kind of data that the classifier was trained on?"
        warn(f"{problem}; the answer rests on the other symbols. {hint}")
        return


def names_of(part: Any, n_symbols: Sequence[int]) -> list[Sequence[str]]:
    """Return the names of the symbols of every row: the last transformer names or numbers them."""
    last = steps_of(part)[-1:]
    if last and hasattr(last[0], "symbol_names"):
        return last[0].symbol_names()
    return [numbered(size) for size in n_symbols]


def numbered(n_symbols: int) -> list[str]:
    """Return the names ``#0, #1, ...`` for symbols without a meaning."""
    return [f"#{code}" for code in range(n_symbols)]


def level_names(n_bins: int, row_name: str) -> list[str]:
    """Return names for bins from low to high; names are numbered if there are many bins.

    >>> level_names(3, "x0"), level_names(3, "delta x0")
    (['low', 'middle', 'high'], ['falling', 'steady', 'rising'])
    """
    words = SLOPES if row_name.startswith("delta ") else LEVELS
    places = np.floor((np.arange(n_bins) + 0.5) / n_bins * 5).astype(int)
    if n_bins == 3:
        places = np.arange(1, 4)
    counts, first = np.bincount(places, minlength=5), np.searchsorted(places, range(5))
    return [
        words[place] if counts[place] == 1 else f"{words[place]} {b - first[place] + 1}"
        for b, place in enumerate(places)
    ]


def letter_name(letter: str) -> str:
    """Return a character as it is, or its code point if it cannot be printed."""
    return letter if letter.isprintable() else f"U+{ord(letter):04X}"


class JointNames(Sequence[str]):
    """Names of all combinations of the symbols of several channels, made on demand.

    The symbols of the first channel change fastest. There can be 2**32 combinations.

    >>> list(JointNames([["low", "high"], ["A", "B"]]))
    ['low&A', 'high&A', 'low&B', 'high&B']
    """

    def __init__(self, names: list[list[str]]) -> None:
        self.names = names

    def __len__(self) -> int:
        return prod(map(len, self.names))

    def __getitem__(self, code: Any) -> Any:
        if isinstance(code, slice):
            return [self[place] for place in range(*code.indices(len(self)))]
        if not 0 <= code < len(self):
            raise IndexError(code)
        symbols = []
        for names in self.names:
            code, digit = divmod(code, len(names))
            symbols.append(names[digit])
        return "&".join(symbols)

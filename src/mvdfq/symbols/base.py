"""Symbols: rows of small whole numbers, which quantizers return and kernels read."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mvdfq.sequences import Ragged, gather, offsets_of

__all__ = ["Symbols", "check_symbols", "code_dtype"]


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

    _dtypes = ("u1", "u2", "u4")

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
        return int(np.iinfo(self.data.dtype).max)

    @property
    def unseen(self) -> np.ndarray:
        """Return True for symbols that `fit` did not see, (n_rows, n_frames)."""
        return (self.codes >= self.n_symbols[:, None]) & (self.codes != self.missing)

    @property
    def n_present(self) -> np.ndarray:
        """Number of frames of each sequence in which some row has a symbol."""
        present = (self.codes != self.missing).any(axis=0)
        return np.diff(np.append(0, np.cumsum(present))[self.offsets])

    def without_unseen(self) -> "Symbols":
        """Return the same sequences; symbols that `fit` did not see are missing values."""
        unseen = self.unseen
        if not unseen.any():
            return self
        return replace(
            self, data=np.where(unseen, self.missing, self.codes).astype(self.data.dtype)
        )

    def rows(self, which: slice | np.ndarray) -> "Symbols":
        """Return the same sequences with only some of the rows."""
        names = self.channel_names
        return replace(
            self,
            data=self.data[which],
            n_symbols=self.n_symbols[which],
            channel_names=None if names is None else tuple(np.array(names)[which].tolist()),
        )

    def joined(self, other: "Symbols") -> "Symbols":
        """Return one collection: the sequences of `self`, then the sequences of `other`."""
        dtype = max(self.data.dtype, other.data.dtype)
        return Ragged.joined(self.astype(dtype), other.astype(dtype))

    def astype(self, dtype: np.dtype) -> "Symbols":
        """Return the same codes in another dtype; missing values get the largest number."""
        if self.data.dtype == dtype:
            return self
        data = self.data.astype(dtype)
        data[self.data == self.missing] = np.iinfo(dtype).max
        return replace(self, data=data)


def code_dtype(n_symbols: int) -> np.dtype:
    """Return the smallest unsigned dtype for codes below `n_symbols` and for missing values."""
    for dtype in (np.uint8, np.uint16, np.uint32):
        if n_symbols <= np.iinfo(dtype).max:
            return np.dtype(dtype)
    raise ValueError(f"An alphabet must have fewer than 2**32 symbols, got {n_symbols}.")


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
            raise ValueError(
                f"Symbols must be integers, but sequence {i} holds {x.dtype}; "
                f"mvdfq.DirectQuantizer turns numbers into symbols, x.astype(int) makes integers."
            )
        if x.size and (x.min() < 0 or x.max() >= 2**32 - 1):
            raise ValueError(
                f"Symbols must be from 0 to 2**32 - 2, but sequence {i} holds symbols "
                f"from {x.min()} to {x.max()}."
            )
    largest = np.full(len(arrays[0]), -1)
    for x in arrays:
        largest = np.maximum(largest, x.max(axis=1, initial=0).astype(int) if x.size else -1)
    sizes = _alphabet(n_symbols, largest + 1)
    dtype = code_dtype(int(largest.max()) + 1)
    data = np.concatenate(arrays, axis=1, dtype=dtype, casting="unsafe")
    return Symbols(data, offsets_of([x.shape[1] for x in arrays]), n_symbols=sizes)


def _alphabet(n_symbols: Any, needed: np.ndarray) -> np.ndarray:
    """Return the alphabet sizes of the rows: `n_symbols`, or what the codes need."""
    if n_symbols is None:
        return needed
    sizes = np.asarray(n_symbols)
    if sizes.dtype.kind not in "iu" or sizes.shape not in ((), needed.shape):
        raise ValueError(
            f"n_symbols must be one whole number, or one number per row ({needed.size} rows), "
            f"got {n_symbols!r}."
        )
    sizes = np.broadcast_to(sizes, needed.shape).astype(np.int64)
    for r in np.flatnonzero(sizes < needed):
        raise ValueError(
            f"With n_symbols={sizes[r]}, symbols must be from 0 to {sizes[r] - 1}, but row {r} "
            f"holds the symbol {needed[r] - 1}."
        )
    return sizes

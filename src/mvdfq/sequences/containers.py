"""Collections of sequences of unequal length: one flat array, over which compiled code runs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse

from mvdfq._engines.choice import current_engine, on_host
from mvdfq._utils.short import counted


@dataclass(frozen=True, eq=False, repr=False)
class Ragged:
    """Sequences of unequal length as one flat array; `Sequences` describes the fields.

    A number as an index gives a view of one sequence, other indices a smaller collection. The
    tensor of a step on a card stays there until somebody reads `data`; the next step reads `held`.
    """

    data: np.ndarray
    offsets: np.ndarray
    channel_names: tuple[str, ...] | None = None
    sampling_rate: float | None = None

    _row = "row"  # what a row is called in words
    # types of data, in the byte order of the machine
    _dtypes: ClassVar[tuple[str, ...]] = ("float32", "float64", "uint8", "uint16", "uint32")

    def __post_init__(self) -> None:
        # on a card a step passes its tensor on; `check` refuses a tensor everywhere else
        if hasattr(self.data, "is_cuda") and current_engine().name == "gpu":
            object.__setattr__(self, "_tensor", self.__dict__.pop("data"))
        self.check()

    def __getattr__(self, name: str) -> Any:
        if name != "data" or "_tensor" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        object.__setattr__(self, "data", on_host(self._tensor))
        self.check()
        return self.data

    def __getstate__(self) -> dict[str, Any]:
        # whoever reads a file or gets a message may have no card
        state = {**self.__dict__, "data": self.data}
        state.pop("_tensor", None)
        return state

    @property
    def held(self) -> Any:
        """The values as the engine reads them: a tensor if they are on its card, or `data`."""
        is_there = "_tensor" in self.__dict__ and current_engine().name == "gpu"
        return self._tensor if is_there else self.data

    def check(self) -> None:
        """Refuse what compiled loops cannot read, or would read past the end of."""
        is_on_card = "data" not in self.__dict__
        data = self._tensor if is_on_card else self.data
        for name, array in (("data", data), ("offsets", self.offsets))[is_on_card:]:
            is_array = isinstance(array, np.ndarray)
            if not is_array or isinstance(array, np.ma.MaskedArray | np.matrix):
                problem = f"{name} must be a plain NumPy array, got {type(array).__name__}"
                raise TypeError(f"{problem}; mvdfq.check_sequences reads lists and other arrays.")
        # a type in the other byte order has another name
        if data.ndim != 2 or str(data.dtype).removeprefix("torch.") not in self._dtypes:
            got = f"an array of {data.dtype} with {data.ndim} dimensions"
            problem = f"data must be a 2-D array of one of the types {self._dtypes}, got {got}"
            raise ValueError(f"{problem}; mvdfq.check_sequences reads other arrays.")
        offsets, n_frames, names = self.offsets, data.shape[1], self.channel_names
        if offsets.dtype != np.int64 or offsets.ndim != 1 or not offsets.size:
            got = f"an array of {offsets.dtype} with shape {offsets.shape}"
            raise ValueError(f"offsets must be a list of int64 numbers, got {got}.")
        if (offsets[0], offsets[-1]) != (0, n_frames) or (offsets[1:] < offsets[:-1]).any():
            wanted = f"run from 0 to the number of frames in data, {n_frames}, and must not fall"
            raise ValueError(f"offsets must {wanted}; got {offsets[:8].tolist()}.")
        if names is not None and len(names) != self.n_rows:
            wanted = f"one name for each of the {self.n_rows} {self._row}s or be None"
            raise ValueError(f"channel_names must hold {wanted}, got {len(names)} names.")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.in_words()}>"

    def in_words(self) -> str:
        """Return what the collection holds: numbers of sequences, rows and frames, and names."""
        words = [counted(len(self), "sequence"), counted(self.n_rows, self._row)]
        if self.channel_names:
            names, more = self.channel_names[:6], len(self.channel_names) - 6
            words[-1] += f" ({', '.join(names)}{f' and {more} more' if more > 0 else ''})"
        if len(self):
            low, high = self.lengths.min(), self.lengths.max()
            words.append(f"{low} to {high} frames long" if low < high else f"{low} frames long")
        if self.sampling_rate is not None:
            words.append(f"{self.sampling_rate:g} frames per second")
        return ", ".join(words)

    @property
    def shape(self) -> tuple[int]:
        """Number of sequences, in the form that the indexing of scikit-learn asks for."""
        return (len(self),)

    @property
    def n_rows(self) -> int:
        """Number of rows (channels) of every sequence."""
        return self.held.shape[0]

    @property
    def lengths(self) -> np.ndarray:
        """Number of frames of each sequence."""
        return np.diff(self.offsets)

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):  # scikit-learn asks for X[indices, ...]
            key = key[0]
        if isinstance(key, int | np.integer):
            i = range(len(self))[key]
            return self.data[:, self.offsets[i] : self.offsets[i + 1]]
        if isinstance(key, slice) and key.step in (None, 1):  # a view: neighbours need no copy
            start, stop, _ = key.indices(len(self))
            offsets = self.offsets[start : max(start, stop) + 1]
            return self.with_data(self.data[:, offsets[0] : offsets[-1]], offsets - offsets[0])
        return self.take(np.arange(len(self))[key])

    def take(self, indices: np.ndarray) -> Self:
        """Return the collection of the sequences at `indices`, in that order."""
        parts = [self[i] for i in indices]
        data = np.concatenate(parts, axis=1) if parts else self.data[:, :0]
        return self.with_data(data, offsets_of([p.shape[1] for p in parts]))

    def joined(self, other: Self) -> Self:
        """Return one collection: these sequences, then the sequences of `other`."""
        data = np.concatenate([self.data, other.data], axis=1)
        offsets = np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]])
        return self.with_data(data, offsets)

    def with_fields(self, **changes: Any) -> Self:
        """Return a copy with other fields; values that are on a card stay there."""
        return replace(self, **{"data": self.held, **changes})

    def with_data(self, data: np.ndarray, offsets: np.ndarray | None = None) -> Self:
        """Return a copy with other data and the same names."""
        return replace(self, data=data, offsets=self.offsets if offsets is None else offsets)


@dataclass(frozen=True, eq=False, repr=False)
class Sequences(Ragged):
    """A checked collection of multivariate sequences: floats, NaN where a value is missing.

    `check_sequences`, `from_time_first` and `from_long_table` make a `Sequences`; every estimator
    takes a `Sequences` instead of a list. A `Sequences` also holds the channel names, the
    sampling rate, and which channels hold symbols rather than quantities.

    Parameters
    ----------
    data : ndarray of shape (n_channels, n_frames), float32 or float64
        All frames of all sequences, side by side.
    offsets : ndarray of shape (n_sequences + 1,), dtype=int64
        Where each sequence begins, and where the last sequence ends.
    channel_names : tuple of str, default=None
        Names of the channels, if the channels have names.
    sampling_rate : float, default=None
        Frames per second, if known.
    symbolic : tuple of bool, default=()
        Which channels already hold symbols (letters, states); empty if no channel does.

    Examples
    --------
    >>> import numpy as np
    >>> from mvdfq import check_sequences
    >>> X = check_sequences([np.zeros((2, 5)), np.ones((2, 3))])
    >>> len(X), X.n_rows, X.lengths
    (2, 2, array([5, 3]))
    >>> X[1].shape
    (2, 3)
    """

    symbolic: tuple[bool, ...] = ()

    _row = "channel"
    _dtypes = ("float32", "float64")

    def check(self) -> None:
        """Refuse what `Ragged` refuses, and another number of flags than channels."""
        super().check()
        if len(self.symbolic) not in (0, self.n_rows):
            wanted = f"one flag for each of the {self.n_rows} channels or be empty"
            raise ValueError(f"symbolic must hold {wanted}, got {len(self.symbolic)} flags.")

    def in_words(self) -> str:
        """Return what the collection holds, with the share of missing values and symbols."""
        words = [super().in_words()]
        missing = float(np.isnan(self.data).mean()) if self.data.size else 0.0
        n = sum(self.symbolic)
        words += [f"symbols in {n} of {self.n_rows} channels"] if n else []
        words += [f"{missing:.2%} of the values missing"] if missing else []
        return ", ".join(words)

    @property
    def symbolic_mask(self) -> np.ndarray:
        """One flag per channel: whether the channel already holds symbols."""
        return np.array(self.symbolic or [False] * self.n_rows, dtype=bool)


def offsets_of(lengths: Iterable[int]) -> np.ndarray:
    """Return where sequences of the given lengths begin if they lie side by side."""
    return np.concatenate([[0], np.cumsum(list(lengths), dtype=np.int64)]).astype(np.int64)


def blocks_of(offsets: np.ndarray, most: float) -> list[slice]:
    """Cut sequences into blocks of at most `most` frames; a longer sequence is a block alone."""
    blocks, start = [], 0
    while start < len(offsets) - 1:
        stop = int(np.searchsorted(offsets, offsets[start] + most, side="right")) - 1
        blocks.append(slice(start, max(start + 1, stop)))
        start = blocks[-1].stop
    return blocks


def check_lengths(parts: Mapping[str, Ragged]) -> None:
    """Raise an error if two views return different numbers of frames."""
    (first, reference), *others = parts.items()
    for name, part in others:
        if not np.array_equal(part.offsets, reference.offsets):
            i = int(np.argmax(part.lengths != reference.lengths))
            got = f"sequence {i} has {reference.lengths[i]} and {part.lengths[i]} frames"
            hint = "put a transformer that shortens sequences before or after the stack"
            raise ValueError(f"Views {first!r} and {name!r} differ in length: {got}; {hint}.")


def is_table(X: Any) -> bool:
    """Is this a data frame, an array of xarray or a dictionary of columns?"""
    if issparse(X):  # one kind of sparse matrix is a mapping
        return False
    named = ("collect_schema", "to_dataframe", "columns")
    return isinstance(X, Mapping) or any(hasattr(X, name) for name in named)


def unmasked(x: Any) -> Any:
    """Return a masked array as numbers with NaN where masked; return anything else unchanged."""
    if not isinstance(x, np.ma.MaskedArray):
        return x
    if x.dtype.kind in "biu":
        x = x.astype(float)
    return x.filled(np.nan) if x.dtype.kind in "fO" else np.ma.getdata(x)

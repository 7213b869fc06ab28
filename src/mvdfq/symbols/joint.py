"""Joint symbols: one code for several channels together."""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import combinations
from math import comb, prod
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state, check_scalar

from mvdfq.frames.base import SequenceTransformer, card_for, channel_index, channel_names
from mvdfq.frames.learned import check_array, require
from mvdfq.sequences import Sequences
from mvdfq.symbols import base
from mvdfq.symbols.base import MISSING, Symbols, as_symbols, code_dtype, encode_values, to_symbols
from mvdfq.symbols.direct import MOST_BYTES, DirectQuantizer

# Name of the values of a symbolic channel that `fit` did not see.
OTHER = "other"
# Codes have 32 bits; one code is for missing values.
MAX_ALPHABET = 2**32 - 1
# Largest alphabet of a group of channels: the alphabet times the number of distinct columns must
# stay below 2**63.
MAX_KEY = 2**31


@dataclass(eq=False, repr=False)
class JointQuantizer(SequenceTransformer):
    r"""Encode the bins of several channels at the same time as one symbol.

    .. math:: J(f) = Q_1(f_1) + s_1 Q_2(f_2) + s_1 s_2 Q_3(f_3) + \dots

    with the bins :math:`Q_j` of `DirectQuantizer` and their alphabets :math:`s_j`. A row of
    `DirectQuantizer` reads one channel; a joint row reads several channels together. If the
    product of alphabets is too large, and for ``order="all"``, the distinct columns of codes in
    `fit` are numbered, and the symbol is the number of the column; new columns get codes from
    ``n_symbols`` upwards, equal columns the same code. A frame with NaN in any channel of the set
    is missing. The row of channels ``a`` and ``b`` is called ``a & b``. Cost: O(n) per set,
    O(n log n) if columns are numbered.

    Parameters
    ----------
    order : int or "all", default=2
        Number of channels in a set (all channels, if there are fewer), or ``"all"`` for one set of
        all channels, the 1-D method that [1]_ compares with. Channels that are constant in
        training are in no set.
    n_bins : int or sequence of int, default=3
        Number of bins of every channel; few, since the numbers of bins are multiplied.
    strategy : {"quantile", "uniform", "kmeans", "gaussian"}, default="quantile"
        How to place the bins, see `DirectQuantizer`.
    max_sets : int, default=40
        Largest number of sets; if there are more sets of channels, draw this many at random.
    sets : list of tuple of int or str, default=None
        The sets of channels, by index or channel name; `order` and `max_sets` are then not
        used.
    random_state : int, RandomState or None, default=0
        Seed of the draw.

    Attributes
    ----------
    sets_ : list of tuple of int
        The sets of channels, one per row.
    bins_ : DirectQuantizer
        The bins of the channels.
    columns_ : list of list of ndarray
        For each set with numbered columns: the sorted keys seen in `fit`, one array per group of
        channels that share a key. An empty list for the other sets.
    n_symbols_ : ndarray of shape (n_sets,)
        Size of the alphabet of each row.

    References
    ----------
    .. [1] P. P. Kuksa, "Efficient multivariate kernels for sequence classification",
       arXiv:1409.8211, 2014.

    Examples
    --------
    >>> from mvdfq.symbols import JointQuantizer
    >>> joint = JointQuantizer(n_bins=2).fit([[[0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]]])
    >>> joint.transform([[[0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]]])[0]
    array([[0, 1, 2, 3]], dtype=uint8)
    """

    order: Any = 2
    _: KW_ONLY
    n_bins: Any = 3
    strategy: str = "quantile"
    max_sets: int = 40
    sets: Any = None
    random_state: Any = 0

    sets_: list[tuple[int, ...]] = field(init=False)
    bins_: DirectQuantizer = field(init=False)
    columns_: list[list[np.ndarray]] = field(init=False)

    def _fit(self, X: Sequences, y: Any) -> None:
        self.bins_ = DirectQuantizer(self.n_bins, strategy=self.strategy).fit(X)
        self.sets_ = self._choose_sets() if self.sets is None else _named_sets(self.sets, X)
        all_together = self.sets is None and self.order == "all"
        numbered = [all_together or self._alphabet(set_) > MAX_ALPHABET for set_ in self.sets_]
        digits = self._digits(self.bins_.transform(X)) if any(numbered) else np.empty(0)
        pairs = zip(self.sets_, numbered, strict=True)
        self.columns_ = [self._learn_columns(digits, set_) if flag else [] for set_, flag in pairs]

    def _transform(self, X: Sequences) -> Symbols:
        symbols, sizes, labels = self.bins_.transform(X), self.n_symbols_, channel_names(X)
        names = tuple(" & ".join(labels[j] for j in members) for members in self.sets_)
        if any(self.columns_):
            digits = self._digits(symbols)
            pairs = zip(self.sets_, self.columns_, strict=True)
            rows = [self._encode(digits, members, keys) for members, keys in pairs]
            return to_symbols(X, rows, sizes, names)
        device, card = card_for(X)
        alike = len({len(members) for members in self.sets_}) == 1
        if device and alike and sizes.max() <= MOST_BYTES:
            radices = np.array(self._radices())
            codes = card.combined(symbols.held, np.array(self.sets_), radices, device)
        else:
            codes = self._joined(symbols, code_dtype(int(sizes.max())))
        return as_symbols(X, codes, sizes, names)

    def channel_shares(self) -> np.ndarray:
        """Return equal shares of the channels of every set that are not constant."""
        inside = np.array([np.isin(range(self.n_channels_in_), members) for members in self.sets_])
        counted = inside & self.bins_.varies
        counted = np.where(counted.any(axis=1, keepdims=True), counted, inside)
        return counted / counted.sum(axis=1, keepdims=True)

    def symbol_names(self) -> list[Sequence[str]]:
        """Return names of combinations of bins, such as ``low&high``, or numbers of columns."""
        named = zip(self._symbolic_mask, self.bins_.symbol_names(), strict=True)
        bins = [[*names, OTHER] if is_symbolic else names for is_symbolic, names in named]
        return [
            base.numbered(keys[-1].size) if keys else base.JointNames([bins[j] for j in members])
            for keys, members in zip(self.columns_, self.sets_, strict=True)
        ]

    def _check_learned(self) -> None:
        n, bins = self.n_channels_in_, self.bins_
        fits = getattr(bins, "n_channels_in_", 0) == n
        require(fits, f"bins_ must be a fitted DirectQuantizer of {n} channels, got another")
        require(self.sets_, "sets_ must hold at least one set, got an empty list")
        for members in self.sets_:
            fits = members and all(0 <= j < n for j in members)
            require(fits, f"sets_ must hold tuples of channels from 0 to {n - 1}, got {members!r}")
        fits = len(self.columns_) == len(self.sets_)
        require(fits, f"columns_ must hold one list for each of the {len(self.sets_)} sets")
        for i, (keys, members) in enumerate(zip(self.columns_, self.sets_, strict=True)):
            groups = self._groups(members) if keys else []
            fits = len(keys) == len(groups)
            require(fits, f"columns_[{i}] must be empty or hold one array for each of {groups}")
            for known in keys:
                check_array(known, f"an array of columns_[{i}]", (None,), np.int64)
            largest = keys[-1].size if keys else self._alphabet(members)
            require(largest <= MAX_ALPHABET, f"sets_[{i}] must have fewer than 2**32 symbols")

    @property
    def n_symbols_(self) -> np.ndarray:
        """Sizes of the alphabets: numbered columns, or combinations of bins."""
        pairs, radices = zip(self.columns_, self.sets_, strict=True), self._radices()
        sizes = [k[-1].size if k else prod(radices[j] for j in set_) for k, set_ in pairs]
        return np.array(sizes, dtype=np.int64)

    def _joined(self, symbols: Symbols, dtype: np.dtype) -> np.ndarray:
        """Return the codes of all sets, if no set has numbered columns."""
        codes = np.zeros((len(self.sets_), symbols.data.shape[1]), dtype)
        data, missing = symbols.data, symbols.data == symbols.missing
        radices = np.array(self._radices(), dtype)
        # an unknown symbol has a code beyond its radix and counts as the highest digit
        digits = np.minimum(data, radices[:, None] - 1, dtype=dtype)
        some, unknown = missing.any(axis=1).tolist(), np.iinfo(dtype).max
        for row, members in zip(codes, self.sets_, strict=True):
            row += digits[members[-1]]
            for c in members[-2::-1]:  # the first channel is the lowest digit
                row *= radices[c]
                row += digits[c]
            for c in members:
                if some[c]:
                    row[missing[c]] = unknown
        return codes

    def _choose_sets(self) -> list[tuple[int, ...]]:
        """Return all sets of `order` channels, or a random choice if there are too many sets."""
        varies = self.bins_.varies  # constant channels are in no set, unless all are constant
        channels = np.flatnonzero(varies if varies.any() else ~varies).tolist()
        if self.order == "all":
            return [tuple(channels)]
        check_scalar(self.order, "order", Integral, min_val=1)
        check_scalar(self.max_sets, "max_sets", Integral, min_val=1)
        order = min(self.order, len(channels))
        if comb(len(channels), order) <= self.max_sets:
            return list(combinations(channels, order))
        random, chosen = check_random_state(self.random_state), set[tuple[int, ...]]()
        # there are more sets than are wanted, so draws repeat seldom
        while len(chosen) < self.max_sets:
            members = random.choice(channels, order, replace=False)
            chosen.add(tuple(sorted(members.tolist())))
        return sorted(chosen)

    def _digits(self, symbols: Symbols) -> np.ndarray:
        """Return the codes of all channels, below their radix; `MISSING` for missing values."""
        # all unseen values of a symbolic channel share the last digit
        last = np.array(self._radices())[:, np.newaxis] - 1
        digits = np.minimum(symbols.codes.astype(np.int64), last)
        digits[symbols.codes == symbols.missing] = MISSING
        return digits

    def _radices(self) -> list[int]:
        """Return the alphabets of the channels; symbolic channels have one more, for new values."""
        return (self.bins_.n_symbols_ + self._symbolic_mask).tolist()

    def _alphabet(self, members: tuple[int, ...]) -> int:
        radices = self._radices()
        return prod(radices[j] for j in members)

    def _groups(self, members: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Cut a set into groups whose alphabets are small enough for one key per group."""
        groups: list[tuple[int, ...]] = [()]
        for j in members:
            if self._alphabet((*groups[-1], j)) > MAX_KEY:
                groups.append(())
            groups[-1] = (*groups[-1], j)
        return groups

    def _learn_columns(self, digits: np.ndarray, members: tuple[int, ...]) -> list[np.ndarray]:
        """Return the sorted distinct keys of the columns, group by group."""
        whole = digits[:, (digits[list(members)] != MISSING).all(axis=0)]
        columns: list[np.ndarray] = []
        ids = np.zeros(whole.shape[1], dtype=np.int64)
        for group in self._groups(members):
            keys = self._keys(whole, group, ids)
            columns.append(np.unique(keys))
            ids = encode_values(keys, columns[-1])
        return columns

    def _encode(
        self, digits: np.ndarray, members: tuple[int, ...], columns: list[np.ndarray]
    ) -> np.ndarray:
        """Return the codes of the columns of one set."""
        ids = np.zeros(digits.shape[1], dtype=np.int64)
        if not columns:
            ids = self._keys(digits, members, ids)
        # a key that is unknown in one group stays unknown: its new number is part of the next keys
        for group, known in zip(self._groups(members) if columns else (), columns, strict=True):
            ids = encode_values(self._keys(digits, group, ids), known)
        ids[(digits[list(members)] == MISSING).any(axis=0)] = MISSING
        return ids

    def _keys(self, digits: np.ndarray, group: tuple[int, ...], ids: np.ndarray) -> np.ndarray:
        """Return keys: the codes of a group, the first code lowest, and above them the `ids`."""
        radices = self._radices()
        for j in reversed(group):
            ids = ids * radices[j] + np.maximum(digits[j], 0)
        return ids


def _named_sets(sets: Any, X: Sequences) -> list[tuple[int, ...]]:
    """Return sets of channels, given by index or name, as tuples of indices."""
    if isinstance(sets, str) or not isinstance(sets, Iterable):
        raise TypeError(f"sets must be a list of tuples of channels, got {sets!r}.")
    known_sets = []
    for members in sets:
        if isinstance(members, str) or not isinstance(members, Iterable):
            problem = f"sets must be a list of tuples of channels, got {members!r} in it"
            raise TypeError(f"{problem}; a set of one channel is ({members!r},).")
        given = tuple(members)
        indices = tuple(channel_index(j, channel_names(X), "sets") for j in given)
        if not indices or len(set(indices)) < len(indices):
            raise ValueError(f"A set must hold each channel once, at least one, got {given}.")
        known_sets.append(indices)
    if not known_sets:
        raise ValueError("sets must hold at least one set of channels, got an empty list.")
    return known_sets

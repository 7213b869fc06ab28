"""Direct feature quantization: every channel has its own bins."""

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from mvdfq._engines.row_loops import count_thresholds
from mvdfq._utils.checks import check_choice, is_number
from mvdfq._utils.errors import warn
from mvdfq.frames.base import PerChannel, card_for, channel_index, channel_names
from mvdfq.frames.learned import check_array, require
from mvdfq.frames.linear import centred
from mvdfq.sequences.containers import Sequences
from mvdfq.sequences.statistics import bounds_of, is_constant, lowered, same_within
from mvdfq.symbols import bins
from mvdfq.symbols.base import MISSING, Symbols, as_symbols, code_dtype, encode_values, level_names

# The rules for edges that need no more than the values and the number of bins.
EDGES = {"kmeans": bins.kmeans_edges, "gaussian": bins.gaussian_edges}
# If a larger share of values lies outside all bins (not counting the share that `range` cuts off),
# the values are probably in other units or from another sensor.
MANY_OUTSIDE = 0.5
# A card writes the codes of alphabets up to this size as bytes.
MOST_BYTES = 255
# Larger values overflow: k-means and gaussian bins take squares, the other strategies multiply
# differences by the number of bins.
MAX_SIZE = {"quantile": 1e302, "uniform": 1e302, "kmeans": 1e145, "gaussian": 1e145}


@dataclass(eq=False, repr=False)
class DirectQuantizer(PerChannel):
    r"""Turn every channel into symbols by cutting its range into bins (DFQ).

    .. math:: Q(f) = \#\{i : e_i \le f\}

    where :math:`e_1 < \dots < e_{B-1}` are the breakpoints learned for the channel [1]_.
    Codes start at 0; the paper's codes start at 1. A channel whose training values differ by no
    more than rounding has one bin. With ``strategy="uniform"`` and
    ``out_of_range="special"`` both agree: 0 means below all bins, :math:`B + 1` means above all
    bins. NaN becomes the code of a missing value. Cost: `fit` sorts each
    channel once at most; `transform` compares every value with every breakpoint, many values at
    a time.

    Parameters
    ----------
    n_bins : int or sequence of int, default=8
        Number of bins :math:`B`: one number for all channels, or one number per channel.
    strategy : {"quantile", "uniform", "kmeans", "gaussian"}, default="quantile"
        ``"quantile"``: equally many training values in each bin; each breakpoint lies midway
        between two values, and fewer bins remain if values repeat. ``"uniform"``: bins of equal
        width. ``"kmeans"``: least squared distance to the mean of the bin, exactly, on at most
        4096 distinct values or cells. ``"gaussian"``: the equally probable bins of a
        normal law, as in SAX [2]_.
    out_of_range : {"special", "clip"}, default="special"
        What uniform bins do with values outside all bins: ``"special"`` gives two more symbols
        (alphabet :math:`B + 2`), ``"clip"`` uses the outermost bins (alphabet :math:`B`). The
        outer bins of the other strategies are unbounded.
    range : tuple of two float, default=None
        Percentiles between which uniform bins lie, for example ``(1, 99)``, so that single spikes
        do not stretch the bins; None means the smallest and the largest value.
    margin : float, default=1.0
        Width that uniform bins cover, as a factor of the range :math:`[a, b]` of each channel; at
        least 1. The bins lie between :math:`(a + b)/2 - m (b - a)/2` and
        :math:`(a + b)/2 + m (b - a)/2` for the margin :math:`m`. A larger margin leaves room for
        new values beyond the training values, and makes the bins wider.
    adaptive : {None, "budget"} or float, default=None
        Choose the number of k-means bins per channel. A number: the fewest bins, `n_bins` at most,
        that leave at most this share of the channel's variance. ``"budget"``: `n_bins` times the
        number of channels, given to the channels whose variance they reduce most.
    per_sequence : bool, default=False
        Standardize each sequence before gaussian bins, as SAX does.
    symbolic : int, str, sequence of them or mask of bool, default=None
        Channels that already hold symbols: indices, names, or one flag per channel. Channels that
        the sequences mark as symbolic are added. The codes of such a channel are its distinct
        values in sorted order; values not seen in `fit` get new codes from ``n_symbols`` upwards,
        which do not match any training symbol.

    Attributes
    ----------
    bin_edges_ : list of ndarray of shape (n_bins + 1,)
        Edges of the bins of each channel. The outermost edges are the ends of the training range,
        widened by `margin`, and matter only for special codes. Empty for symbolic channels.
    categories_ : list of ndarray
        Distinct values of symbolic channels; empty for numeric channels.
    n_symbols_ : ndarray of shape (n_channels,)
        Size of the alphabet of each channel.

    References
    ----------
    .. [1] P. P. Kuksa, "Efficient multivariate kernels for sequence classification",
       arXiv:1409.8211, 2014.
    .. [2] J. Lin, E. Keogh, L. Wei and S. Lonardi, "Experiencing SAX: a novel symbolic
       representation of time series", Data Mining and Knowledge Discovery 15, 2007.

    Examples
    --------
    >>> from mvdfq.symbols import DirectQuantizer
    >>> quantizer = DirectQuantizer(n_bins=4, strategy="uniform").fit([[0.0, 4.0]])
    >>> quantizer.transform([[-0.5, 0.0, 0.99, 1.0, 2.5, 4.0, 4.2]])[0]
    array([[0, 1, 1, 2, 3, 4, 5]], dtype=uint8)
    >>> quantizer.bin_edges_
    [array([0., 1., 2., 3., 4.])]
    >>> DirectQuantizer(n_bins=4, strategy="uniform", margin=1.5).fit([[0.0, 4.0]]).bin_edges_
    [array([-1. ,  0.5,  2. ,  3.5,  5. ])]
    """

    n_bins: Any = 8
    _: KW_ONLY
    strategy: str = "quantile"
    out_of_range: str = "special"
    range: Any = None
    margin: float = 1.0
    adaptive: Any = None
    per_sequence: bool = False
    symbolic: Any = None

    bin_edges_: list[np.ndarray] = field(init=False)
    categories_: list[np.ndarray] = field(init=False)

    def _fit(self, X: Sequences, y: Any) -> None:
        self._check_parameters()
        symbolic = X.symbolic_mask | _named_channels(self.symbolic, X)
        self._refuse_wide(X, symbolic)
        self.symbolic_in_ = tuple(symbolic.tolist()) if symbolic.any() else ()
        # the default: rows are cut where they are held, on a card if there is one
        if self.strategy == "quantile" and np.ndim(self.n_bins) == 0 and not symbolic.any():
            self.categories_ = [np.empty(0)] * X.n_rows
            rows = bins.rows_cut(X.held, self.n_bins)
            self.bin_edges_ = [_quantile_edges(*row) for row in rows]
            return
        self.categories_, quantities = [], []
        for row, flag in zip(self._scaled(X), symbolic, strict=True):
            missing = np.isnan(row)
            row = row[~missing] if missing.any() else row
            self.categories_.append(np.unique(row if flag else row[:0]))
            quantities.append(row[:0] if flag else row)
        given = np.asarray(self.n_bins)
        if given.shape not in ((), (X.n_rows,)):
            raise ValueError(f"n_bins must have {X.n_rows} entries, got {given.size}.")
        n_bins = np.broadcast_to(given, X.n_rows).tolist()
        if self.adaptive is not None:
            n_bins = bins.adapted_n_bins(quantities, n_bins, self.adaptive)
        self.bin_edges_ = [self._edges(row, b) for row, b in zip(quantities, n_bins, strict=True)]

    def _transform(self, X: Sequences) -> Symbols:
        device, card = card_for(X)
        most = int(self.n_symbols_.max())
        if device and not self.per_sequence and most <= MOST_BYTES:
            cuts_of = [self._thresholds(j) for j in range(X.n_rows)]
            return self._symbols(X, card.levels(X.held, cuts_of, device))
        data = self._scaled(X)
        symbolic = np.flatnonzero(X.symbolic_mask).tolist()
        known = {j: encode_values(data[j], self.categories_[j]) for j in symbolic}
        # a category that was not in training has a code of its own, above all others
        largest = max([most, *(row.max(initial=0) + 1 for row in known.values())])
        codes = np.empty(data.shape, code_dtype(largest))
        missing = codes.dtype.type(np.iinfo(codes.dtype).max)
        for j, row in enumerate(codes):
            if j in known:
                row[:] = np.where(known[j] == MISSING, missing, known[j])
            else:
                count_thresholds(data[j], self._thresholds(j), row, missing)
        return self._symbols(X, codes)

    def _symbols(self, X: Sequences, codes: Any) -> Symbols:
        symbols = as_symbols(X, codes, self.n_symbols_, X.channel_names)
        if self._has_special_codes():
            self._warn_if_many_outside(X, symbols.data)
        return symbols

    def symbol_names(self) -> list[list[str]]:
        """Return one name per bin, or per value of a symbolic channel, for every row."""
        below, above = (["below range"], ["above range"]) if self._has_special_codes() else ([], [])
        return [
            [f"{value:g}" for value in self.categories_[j]]
            if self._symbolic_mask[j]
            else below + level_names(len(self.bin_edges_[j]) - 1, name) + above
            for j, name in enumerate(channel_names(self._nothing()))
        ]

    def _check_learned(self) -> None:
        n = self.n_channels_in_
        for name in ("bin_edges_", "categories_"):
            arrays = getattr(self, name)
            require(len(arrays) == n, f"{name} must hold one array for each of the {n} channels")
            for j, array in enumerate(arrays):
                check_array(array, f"{name}[{j}]", (None,), None)
                require(array.dtype.kind == "f", f"{name}[{j}] must hold numbers")
                # also refuses NaN, which is not above anything; a repeated edge is an empty bin
                rises = (array[1:] >= array[:-1]).all() and not np.isnan(array[:1]).any()
                require(rises, f"{name}[{j}] must rise, got {array}")

    @property
    def n_symbols_(self) -> np.ndarray:
        """Number of symbols of each channel: its values, or its bins."""
        values = np.array([len(values) for values in self.categories_], dtype=np.int64)
        n_bins = np.array([len(edges) - 1 for edges in self.bin_edges_], dtype=np.int64)
        return np.where(self._symbolic_mask, values, n_bins + 2 * self._has_special_codes())

    def _refuse_wide(self, X: Sequences, symbolic: np.ndarray) -> None:
        """Raise an error for values so large that their bins would overflow."""
        low, high = bounds_of(X)
        largest = MAX_SIZE[self.strategy] / self.margin
        for j in np.flatnonzero(~symbolic & (np.maximum(-low, high) > largest)):
            problem = f"the range is too wide for {self.strategy} bins, at most {largest:g}"
            values = f"values from {low[j]:g} to {high[j]:g}: {problem}"
            hint = "divide the channel by a constant"
            raise ValueError(f"Channel {channel_names(X)[j]} holds {values}; {hint}.")

    @property
    def varies(self) -> np.ndarray:
        """One flag per channel: whether the channel has more than one bin or value."""
        # the codes for below and above all bins are not bins
        return self.n_symbols_ - 2 * (self._has_special_codes() & ~self._symbolic_mask) > 1

    def _has_special_codes(self) -> bool:
        return self.strategy == "uniform" and self.out_of_range == "special"

    def _scaled(self, X: Sequences) -> np.ndarray:
        return centred(X, scale=True) if self.per_sequence else X.data

    def _edges(self, values: np.ndarray, n_bins: int) -> np.ndarray:
        """Return the edges of the bins of one channel; one bin if the channel is constant."""
        if not values.size:
            return np.array([-np.inf, np.inf])
        if is_constant(low := values.min(), high := values.max()):
            return np.array([low, high])
        if self.strategy == "uniform":
            return bins.uniform_edges(values, n_bins, self.range, self.margin)
        if self.strategy == "quantile":
            return _quantile_edges(low, high, bins.cuts(values, n_bins))
        if self.per_sequence:  # sequences have mean 0 and spread 1 already
            values = np.array([-1.0, 1.0])
        return EDGES[self.strategy](values, n_bins)

    def _thresholds(self, j: int) -> np.ndarray:
        """Return thresholds: the code of a value is the number of thresholds <= the value."""
        edges = self.bin_edges_[j]
        if self.strategy == "quantile":  # edges between values
            return edges[1:-1]
        inner = lowered(edges)[1:-1]  # rounding does not move a value on an edge to another bin
        if not self._has_special_codes():
            return inner
        low, high = edges[0], edges[-1]
        same = same_within(low, high)
        above = max(high + same, np.nextafter(high, np.inf))
        return np.concatenate([[low - same], inner, [above]])

    def _warn_if_many_outside(self, X: Sequences, codes: np.ndarray) -> None:
        """Warn if most values of a channel lie outside the range of the training values."""
        cut_off = 0 if self.range is None else 1 - (self.range[1] - self.range[0]) / 100
        outside = [
            np.count_nonzero(row == 0) + np.count_nonzero(row == size - 1)
            for row, size in zip(codes, self.n_symbols_.tolist(), strict=True)
        ]
        shares = np.where(X.symbolic_mask, 0, outside) / max(codes.shape[1], 1)
        j = int(shares.argmax())
        if shares[j] > cut_off + MANY_OUTSIDE:
            values = f"{shares[j]:.0%} of the values of channel {channel_names(X)[j]}"
            hint = "check that training and new values have the same units"
            warn(f"{values} lie outside the range learned in fit; {hint}.")

    def _check_parameters(self) -> None:
        """Raise an error for wrong parameters, or parameters that do not go together."""
        check_choice(self.strategy, "strategy", tuple(MAX_SIZE))
        check_choice(self.out_of_range, "out_of_range", ("special", "clip"))
        for b in np.ravel(self.n_bins).tolist():
            if not isinstance(b, int) or not 2 <= b < 2**16 - 2:
                raise ValueError(f"n_bins must be integers from 2 to 65533, got {self.n_bins!r}.")
        if not is_number(self.margin) or not 1 <= self.margin < np.inf:
            raise ValueError(f"margin must be a finite number of at least 1, got {self.margin!r}.")
        for name, strategy, is_default in (
            ("range", "uniform", self.range is None),
            ("margin", "uniform", self.margin == 1),
            ("adaptive", "kmeans", self.adaptive is None),
            ("per_sequence", "gaussian", not self.per_sequence),
        ):
            if not is_default and self.strategy != strategy:
                problem = f"{name}={getattr(self, name)!r} needs strategy={strategy!r}"
                raise ValueError(f"{problem}, got strategy={self.strategy!r}.")
        ends: Any = self.range if np.shape(self.range) == (2,) else (None, None)
        fits = all(map(is_number, ends)) and 0 <= ends[0] < ends[1] <= 100
        if self.range is not None and not fits:
            raise ValueError(f"range must be two rising percentiles in 0..100, got {self.range!r}.")
        share = self.adaptive
        if share is not None and share != "budget" and not (is_number(share) and 0 < share < 1):
            wanted = "None, 'budget' or a share between 0 and 1"
            raise ValueError(f"adaptive must be {wanted}, got {share!r}.")


def _quantile_edges(low: float, high: float, inner: np.ndarray) -> np.ndarray:
    """Return bins of equally many values; fewer bins if values repeat, one without values."""
    if high < low:
        return np.array([-np.inf, np.inf])
    return np.concatenate([[low], np.unique(inner), [high]])


def _named_channels(wanted: Any, X: Sequences) -> np.ndarray:
    """Return one flag per channel, True if `wanted` gives the channel by index, name or mask."""
    flags = np.zeros(X.n_rows, dtype=bool)
    if wanted is None:
        return flags
    listed = [wanted] if isinstance(wanted, str) or np.ndim(wanted) == 0 else list(wanted)
    if listed and all(isinstance(flag, bool | np.bool_) for flag in listed):
        if len(listed) != X.n_rows:
            raise ValueError(f"symbolic must have {X.n_rows} flags, got {len(listed)}.")
        return np.array(listed)
    for channel in listed:
        flags[channel_index(channel, channel_names(X), "symbolic")] = True
    return flags

"""Edges of the bins of one channel, and the quantizer that cuts channels at thresholds.

Each rule for edges is one function of at least one value, without NaN. The functions return
the edges with both ends, so that there is one more edge than bins.
"""

from collections.abc import Iterator
from statistics import NormalDist
from typing import Any

import numpy as np

from mvdfq._engines.choice import on_card, on_host
from mvdfq._engines.row_loops import count_thresholds, split_costs
from mvdfq._utils.checks import check_whole
from mvdfq.frames.base import SequenceTransformer, channel_names
from mvdfq.frames.learned import require, require_array
from mvdfq.sequences import Sequences
from mvdfq.sequences.statistics import SAME, SMALL, is_constant, same_within
from mvdfq.symbols.base import Symbols, as_symbols

# If there are more distinct values than this, they are first put into this many cells of equal
# width: the exact dynamic program takes memory in proportion to the number of values.
N_CELLS = 4096
# To find quantiles of more values, look at a sample of this size first: half the time.
LONG, SAMPLED = 2**17, 2**15
# Values per channel to learn thresholds from: more values hardly change the quantiles.
SAMPLE = 2**12
# Responses of filters, which thresholds cut, are sums of dozens of values in single precision: two
# of them closer than this share of the largest are the same.
SAME_SUMS = 2.0**-18


def uniform_edges(values: np.ndarray, n_bins: int, percentiles: Any, margin: float) -> np.ndarray:
    """Return bins of equal width, over `margin` times the range or two percentiles."""
    low, high = float(values.min()), float(values.max())
    if percentiles is not None:
        low, high = np.percentile(values, percentiles).tolist()
    added = (margin - 1) * (high - low) / 2  # exactly 0 for margin 1: the ends stay as they are
    low, high = low - added, high + added
    return np.array([low + (high - low) * i / n_bins for i in range(n_bins)] + [high])


def rows_cut(
    rows: Any, n_bins: int, same: float = SAME
) -> Iterator[tuple[float, float, np.ndarray]]:
    """Yield the least and the largest value of each row, and its cuts; inf, -inf without values."""
    device, card = on_card("frames")
    if not device or not rows.shape[1]:
        for row in on_host(rows):
            missing = np.isnan(row)
            values = row[~missing] if missing.any() else np.ascontiguousarray(row)
            low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
            yield low, high, cuts(values, n_bins, same) if values.size else np.empty(0)
        return
    n, low, high, *neighbours = card.quantiles(rows, n_bins, (same, SMALL), device)
    low, high = np.where(n > 0, low, np.inf), np.where(n > 0, high, -np.inf)
    constant, between = is_constant(low, high), _between(*neighbours)
    for r, inner in enumerate(between):
        yield low[r], high[r], inner[:0] if constant[r] else inner


def cuts(values: np.ndarray, n_bins: int, share: float = SAME) -> np.ndarray:
    """Return the edges between bins of equally many values; none if the values are constant.

    An edge is midway between neighbours that differ by more than rounding, as near to the quantile
    as such neighbours are: rounding, up to a `share` of the largest value, moves no value to
    another bin.
    """
    low, high = float(values.min()), float(values.max())
    if is_constant(low, high):
        return np.empty(0)
    place = -(-np.arange(1, n_bins) * (values.size - 1) // n_bins)  # values below, rounded up
    before, at = _values_at(values, np.stack([place - 1, place]))
    same = same_within(low, high, share)
    if (at - before <= same).any():
        # to the nearer end of the values that are the same as the value at the place
        ends = np.stack([at - same, np.nextafter(at + same, np.inf)])
        limits, which = np.unique(ends, return_inverse=True)
        first, last = np.cumsum(_cells_of(values, limits)[1])[which].reshape(ends.shape)
        goes_up = (first == 0) | ((last < values.size) & (last - place < place - first))
        place = np.where(goes_up, last, first)
        before, at = _values_at(values, np.stack([place - 1, place]))
    return _between(before, at)


def _values_at(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the values at some places of the sorted values, which are not sorted as a whole."""
    if values.size < LONG:
        return np.partition(values, np.unique(places))[places]
    # a sample says which values are near the places; only these values are put in order
    sample = np.sort(values[:: values.size // SAMPLED])
    near = places * (sample.size - 1) // (values.size - 1)
    off = sample.size // 128  # nearly three standard errors of a median
    limits = np.unique(sample[np.clip([near - off, near + off], 0, sample.size - 1)])
    cells, sizes = _cells_of(values, limits)
    used = np.searchsorted(np.cumsum(sizes), places, side="right")
    is_used = np.isin(np.arange(sizes.size), used)
    before = np.cumsum(np.where(is_used, 0, sizes))[used]
    inside = values[np.flatnonzero(is_used.take(cells))]
    return np.partition(inside, np.unique(places - before))[places - before]


def _cells_of(values: np.ndarray, limits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how many of the sorted limits each value reaches, and how often each number occurs."""
    cells = np.empty(values.size, np.min_scalar_type(limits.size + 1))
    count_thresholds(values, limits, cells, cells.dtype.type(0))
    return cells, np.bincount(cells, minlength=limits.size + 1)


def _between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the values midway between smaller and larger values, or just the larger ones."""
    middle = a / 2 + b / 2  # a sum could overflow
    return np.where((middle > a) & (middle <= b), middle, b)


def gaussian_edges(values: np.ndarray, n_bins: int) -> np.ndarray:
    """Return bins of equal probability under a normal law with mean and spread of the values."""
    z = np.array([NormalDist().inv_cdf(i / n_bins) for i in range(1, n_bins)])
    inner = values.mean(dtype=float) + values.std(dtype=float) * z
    return np.concatenate([[-np.inf], inner, [np.inf]])


def kmeans_edges(values: np.ndarray, n_bins: int) -> np.ndarray:
    """Return bins of least squared distance to their means; edges are midway between means."""
    centres = kmeans_centres(values, n_bins)
    return np.concatenate([[values.min()], (centres[1:] + centres[:-1]) / 2, [values.max()]])


def kmeans_centres(values: np.ndarray, n_bins: int) -> np.ndarray:
    """Return the means of the best split of `values` into `n_bins` runs, or fewer if needed."""
    cells, weights, mean = _cells(values)
    n_bins = min(n_bins, cells.size)
    _, starts = split_costs(cells, weights, n_bins)
    bounds = [cells.size]
    for q in range(n_bins - 1, -1, -1):
        bounds.append(int(starts[q, bounds[-1]]))
    first = np.array(bounds[:0:-1])
    return mean + np.add.reduceat(weights * cells, first) / np.add.reduceat(weights, first)


def adapted_n_bins(
    channels: list[np.ndarray], n_bins: list[int], adaptive: float | str
) -> list[int]:
    """Return the number of k-means bins of each channel, see `adaptive` of `DirectQuantizer`."""
    most = 4 if adaptive == "budget" else 1  # times its `n_bins`
    shares = [_distortion(x, most * b) for x, b in zip(channels, n_bins, strict=True)]
    if adaptive != "budget":
        return [int(np.argmax(np.append(share[:-1] <= adaptive, True))) + 1 for share in shares]
    given = [1] * len(channels)
    # Drops become smaller as a channel gets more bins, so taking the largest drop is optimal.
    drops = [(-d, j) for j, share in enumerate(shares) for d in -np.diff(share) if d > 0]
    for _, j in sorted(drops)[: sum(n_bins) - len(channels)]:
        given[j] += 1
    return given


def _distortion(values: np.ndarray, n_bins: int) -> np.ndarray:
    """Return the squared error with 1, 2, ... bins, as a share of the error with one bin."""
    if not values.size or is_constant(values.min(), values.max()):
        return np.zeros(1)
    cells, weights, _ = _cells(values)
    errors, _ = split_costs(cells, weights, min(n_bins, cells.size))
    return np.maximum(errors, 0) / errors[0]


def _cells(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return distinct values minus their mean, or cells of values; their weights; and the mean."""
    # without subtracting the mean, the sums of squares of the dynamic program would lose digits
    mean = float(values.mean(dtype=float))
    ordered = np.sort(values).astype(float) - mean
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    if first.size > N_CELLS:
        cuts = np.linspace(ordered[0], ordered[-1], N_CELLS + 1)[:-1]
        first = np.unique(np.searchsorted(ordered, cuts))
    weights = np.diff(np.append(first, ordered.size)).astype(float)
    return np.add.reduceat(ordered, first) / weights, weights, mean


class ThresholdQuantizer(SequenceTransformer):
    r"""Cut every channel at several thresholds; each threshold gives one row of two symbols.

    .. math:: b_{q,t} = [x_t \ge \tau_q]

    with thresholds :math:`\tau_1 \le \dots \le \tau_Q` at equally spaced quantiles of the training
    values, each midway between two values. A word of such a row says when a channel is above or
    below one level, no matter how far: the bins are cumulative, while the bins of `DirectQuantizer`
    are separate. The share of the word ``above`` is the proportion of positive values of
    MiniRocket [1]_. NaN is a missing value in all rows of its channel. Cost: O(n) in the number
    of values for each threshold.

    Parameters
    ----------
    n_thresholds : int, default=3
        Number of thresholds, and so of rows, per channel.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_channels, n_thresholds)
        The thresholds of each channel, rising; NaN if a channel has no values, and minus infinity
        if a channel is constant.

    References
    ----------
    .. [1] A. Dempster, D. F. Schmidt, G. I. Webb, "MiniRocket: a very fast (almost) deterministic
       transform for time series classification", KDD, 2021.

    Examples
    --------
    >>> from mvdfq.symbols import ThresholdQuantizer
    >>> quantizer = ThresholdQuantizer(3).fit([[0.0, 1.0, 2.0, 3.0, 4.0]])
    >>> quantizer.thresholds_
    array([[0.5, 1.5, 2.5]])
    >>> symbols = quantizer.transform([[0.4, 1.4, 9.0]])
    >>> symbols[0]
    array([[0, 1, 1],
           [0, 0, 1],
           [0, 0, 1]], dtype=uint8)
    >>> symbols.channel_names
    ('x0 >= 0.5', 'x0 >= 1.5', 'x0 >= 2.5')
    """

    thresholds_: np.ndarray

    def __init__(self, n_thresholds: int = 3) -> None:
        self.n_thresholds = n_thresholds

    def _fit(self, X: Sequences, y: Any) -> None:
        n = check_whole(self.n_thresholds, "n_thresholds")
        self._refuse_symbols(X)
        # frames at equal distances, the same frames in every run
        sample = X.held[:, :: max(1, X.held.shape[1] // SAMPLE)]
        self.thresholds_ = np.full((X.n_rows, n), -np.inf)
        pairs = zip(rows_cut(sample, n + 1, SAME_SUMS), self.thresholds_, strict=True)
        for (low, high, inner), thresholds in pairs:
            # no cuts if the channel is constant
            thresholds[: inner.size] = inner
            thresholds[:] = thresholds if low <= high else np.nan

    def _transform(self, X: Sequences) -> Symbols:
        n_rows = self.thresholds_.size
        codes = np.empty((n_rows, X.data.shape[1]), np.uint8)
        missing = np.uint8(np.iinfo(np.uint8).max)
        for r, threshold in enumerate(self.thresholds_.ravel()):
            channel = r // self.thresholds_.shape[1]
            count_thresholds(X.data[channel], np.array([threshold]), codes[r], missing)
        pairs = zip(channel_names(X), self.thresholds_, strict=True)
        names = tuple(f"{name} >= {threshold:.4g}" for name, row in pairs for threshold in row)
        return as_symbols(X, codes, np.full(n_rows, 2), names)

    def channel_shares(self) -> np.ndarray:
        """Return rows with one 1: every threshold belongs to one channel."""
        return np.repeat(np.eye(self.n_channels_in_), self.thresholds_.shape[1], axis=0)

    def symbol_names(self) -> list[list[str]]:
        """Return the names of the two symbols, for every row."""
        return [["below", "above"]] * self.thresholds_.size

    def _check_learned(self) -> None:
        require_array(self, "thresholds_", (self.n_channels_in_, None))
        require(self.thresholds_.shape[1] >= 1, "thresholds_ must hold at least one threshold")

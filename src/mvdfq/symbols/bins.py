"""Edges of the bins of one channel; each rule is one function of the values.

All functions return the edges of the bins with both ends, so that there is one more edge than
bins. Values must not hold NaN. A channel without values has one bin for all numbers.
"""

from statistics import NormalDist

import numpy as np

from mvdfq._engines.choice import on_card
from mvdfq.symbols._compiled import split_costs

__all__ = [
    "adapted_n_bins",
    "gaussian_edges",
    "kmeans_centres",
    "kmeans_edges",
    "quantile_edges",
    "uniform_edges",
]

# If there are more distinct values than this, they are first put into this many cells of equal
# width: the exact dynamic program takes memory in proportion to the number of values.
N_CELLS = 4096


def uniform_edges(
    values: np.ndarray,
    n_bins: int,
    percentiles: tuple[float, float] | None = None,
    margin: float = 1.0,
) -> np.ndarray:
    """Return bins of equal width between the extremes, or between two percentiles.

    The bins cover `margin` times this range, with the same centre. A bin is found by comparing
    with its edges: ``floor((f - low) / width)`` would put 0.3 into the third instead of the fourth
    of ten bins of [0, 1].
    """
    if not values.size:
        return np.array([-np.inf, np.inf])
    if percentiles is None:
        low, high = float(values.min()), float(values.max())
    else:
        low, high = np.percentile(values, percentiles).tolist()
    added = (margin - 1) * (high - low) / 2  # exactly 0 for margin 1: the ends stay as they are
    low, high = low - added, high + added
    return np.array([low + (high - low) * i / n_bins for i in range(n_bins)] + [high])


def quantile_edges(values: np.ndarray, n_bins: int) -> np.ndarray:
    """Return bins of equally many values; repeated edges are dropped, which leaves fewer bins."""
    if not values.size:
        return np.array([-np.inf, np.inf])
    inner = np.arange(1, n_bins) / n_bins
    low, *found, high = _quantiles(values, np.concatenate([[0], inner, [1]])).tolist()
    edges = np.unique(found)
    return np.concatenate([[low], edges[(edges > low) & (edges < high)], [high]])


def gaussian_edges(values: np.ndarray, n_bins: int) -> np.ndarray:
    """Return bins of equal probability under a normal law with the mean and spread of the values.

    A constant channel has no spread: all values, new values too, fall into the bin of the mean.
    """
    z = np.array([NormalDist().inv_cdf(i / n_bins) for i in range(1, n_bins)])
    if not values.size or values.min() == values.max():
        inner = np.where(z <= 0, -np.inf, np.inf)
    else:
        inner = values.mean(dtype=float) + values.std(dtype=float) * z
    return np.concatenate([[-np.inf], inner, [np.inf]])


def kmeans_edges(values: np.ndarray, n_bins: int) -> np.ndarray:
    """Return bins of least squared distance to their means; edges are midway between means."""
    if not values.size:
        return np.array([-np.inf, np.inf])
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
    """Return the number of k-means bins of each channel by the rate-distortion rule.

    If `adaptive` is a number: the fewest bins, `n_bins` at most, that leave at most this share of
    the squared error of a single bin. If `adaptive` is ``"budget"``: the sum of `n_bins` is
    given out bin by bin to the channel whose share drops most; a channel gets at most four times
    its `n_bins`.
    """
    most = 4 if adaptive == "budget" else 1
    shares = [_distortion(x, most * b) for x, b in zip(channels, n_bins, strict=True)]
    if adaptive != "budget":
        return [int(np.argmax(np.append(share[:-1] <= adaptive, True))) + 1 for share in shares]
    given = [1] * len(channels)
    # Drops become smaller as a channel gets more bins, so taking the largest drop is optimal.
    drops = [(-d, j) for j, share in enumerate(shares) for d in -np.diff(share) if d > 0]
    for _, j in sorted(drops)[: sum(n_bins) - len(channels)]:
        given[j] += 1
    return given


def _quantiles(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return quantiles: linear interpolation between the two sorted values nearest to a share."""
    places = shares * (values.size - 1)
    below = np.floor(places).astype(np.int64)
    both = np.stack([below, np.minimum(below + 1, values.size - 1)])
    low, high = _order_statistics(values, both).astype(float)
    return low + (high - low) * (places - below)


def _order_statistics(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    device, card = on_card("frames")
    if device:
        return card.order_statistics(values, places, device)
    # a few places: half the time of sorting; not as float64, which takes longer
    return np.partition(values, np.unique(places))[places]


def _distortion(values: np.ndarray, n_bins: int) -> np.ndarray:
    """Return the squared error with 1, 2, ... bins, as a share of the error with one bin."""
    if not values.size or values.min() == values.max():
        return np.zeros(1)
    cells, weights, _ = _cells(values)
    errors, _ = split_costs(cells, weights, min(n_bins, cells.size))
    return np.maximum(errors, 0) / errors[0]


def _cells(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return distinct values minus their mean, how often each value occurs, and the mean.

    More than `N_CELLS` values are put into cells; a cell stands for the mean of its values.
    Without subtracting the mean, the sums of squares of the dynamic program would lose digits.
    """
    mean = float(values.mean(dtype=float))
    ordered = np.sort(values).astype(float) - mean
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    if first.size > N_CELLS:
        cuts = np.linspace(ordered[0], ordered[-1], N_CELLS + 1)[:-1]
        first = np.unique(np.searchsorted(ordered, cuts))
    weights = np.diff(np.append(first, ordered.size)).astype(float)
    return np.add.reduceat(ordered, first) / weights, weights, mean

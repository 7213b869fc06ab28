"""Where to cut the range of one channel into bins; each rule is one function of its values.

All return the edges of the bins, the outermost included, so that there is one bin fewer
than edges. Values hold no NaN; a channel without values has one bin for everything.
"""

from statistics import NormalDist

import numpy as np

from mvdfq.symbols._compiled import split_costs

__all__ = [
    "adapted_n_bins",
    "gaussian_edges",
    "kmeans_centres",
    "kmeans_edges",
    "quantile_edges",
    "uniform_edges",
]

# More distinct values than this are gathered in as many cells of equal width first.
N_CELLS = 4096


def uniform_edges(
    values: np.ndarray, n_bins: int, percentiles: tuple[float, float] | None = None
) -> np.ndarray:
    """Bins of equal width between the extremes, or between two percentiles.

    Edges are computed one by one and searched: ``floor((f - low) / width)`` would put 0.3
    into the third of ten bins of [0, 1] rather than the fourth.
    """
    if not values.size:
        return np.array([-np.inf, np.inf])
    if percentiles is None:
        low, high = float(values.min()), float(values.max())
    else:
        low, high = np.percentile(values, percentiles).tolist()
    return np.array([low + (high - low) * i / n_bins for i in range(n_bins)] + [high])


def quantile_edges(values: np.ndarray, n_bins: int) -> np.ndarray:
    """Bins that hold equally many values; repeated edges are dropped, so there may be fewer."""
    if not values.size:
        return np.array([-np.inf, np.inf])
    ordered = np.sort(values)  # in their own dtype: float32 sorts faster
    low, high = float(ordered[0]), float(ordered[-1])
    edges = np.unique(_quantiles(ordered, np.arange(1, n_bins) / n_bins))
    return np.concatenate([[low], edges[(edges > low) & (edges < high)], [high]])


def gaussian_edges(values: np.ndarray, n_bins: int) -> np.ndarray:
    """Bins that are equally probable under a normal law with the mean and spread of the values.

    A constant channel has no spread: every value, later ones too, is taken for the mean.
    """
    z = np.array([NormalDist().inv_cdf(i / n_bins) for i in range(1, n_bins)])
    if not values.size or values.min() == values.max():
        inner = np.where(z <= 0, -np.inf, np.inf)
    else:
        inner = values.mean(dtype=float) + values.std(dtype=float) * z
    return np.concatenate([[-np.inf], inner, [np.inf]])


def kmeans_edges(values: np.ndarray, n_bins: int) -> np.ndarray:
    """Bins whose squared distance to their means is least; edges midway between the means."""
    if not values.size:
        return np.array([-np.inf, np.inf])
    centres = kmeans_centres(values, n_bins)
    return np.concatenate([[values.min()], (centres[1:] + centres[:-1]) / 2, [values.max()]])


def kmeans_centres(values: np.ndarray, n_bins: int) -> np.ndarray:
    """Means of the best split of `values` into `n_bins` runs, or as many as they are distinct."""
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
    """How many k-means bins each channel gets by the rate-distortion rule.

    With a number, the fewest bins that leave at most that share of the squared error of a
    single bin, `n_bins` at most. With ``"budget"``, as many bins in all as `n_bins` sums up
    to, handed out one by one to the channel whose share drops most, but at most four times
    its `n_bins` to each.
    """
    most = 4 if adaptive == "budget" else 1
    shares = [_distortion(x, most * b) for x, b in zip(channels, n_bins, strict=True)]
    if adaptive != "budget":
        return [int(np.argmax(np.append(share[:-1] <= adaptive, True))) + 1 for share in shares]
    given = [1] * len(channels)
    # Drops shrink as a channel's bins grow, so taking the largest each time is optimal.
    drops = [(-d, j) for j, share in enumerate(shares) for d in -np.diff(share) if d > 0]
    for _, j in sorted(drops)[: sum(n_bins) - len(channels)]:
        given[j] += 1
    return given


def _quantiles(ordered: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Linear interpolation between the two sorted values nearest to each share."""
    places = shares * (ordered.size - 1)
    below = np.floor(places).astype(np.int64)
    low = ordered[below].astype(float)
    high = ordered[np.minimum(below + 1, ordered.size - 1)].astype(float)
    return low + (high - low) * (places - below)


def _distortion(values: np.ndarray, n_bins: int) -> np.ndarray:
    """Squared error with 1, 2, ... bins, as a share of that with one."""
    if not values.size or values.min() == values.max():
        return np.zeros(1)
    cells, weights, _ = _cells(values)
    errors, _ = split_costs(cells, weights, min(n_bins, cells.size))
    return np.maximum(errors, 0) / errors[0]


def _cells(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Distinct values less their mean, how often each occurs, and the mean.

    Too many are gathered in cells, each represented by the mean of its values. Without the
    subtraction the sums of squares of the dynamic program would lose their digits.
    """
    mean = float(values.mean(dtype=float))
    ordered = np.sort(values).astype(float) - mean
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    if first.size > N_CELLS:
        cuts = np.linspace(ordered[0], ordered[-1], N_CELLS + 1)[:-1]
        first = np.unique(np.searchsorted(ordered, cuts))
    weights = np.diff(np.append(first, ordered.size)).astype(float)
    return np.add.reduceat(ordered, first) / weights, weights, mean

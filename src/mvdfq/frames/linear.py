"""Linear maps of the frames: standardized, centred, or rotated to principal components."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.utils import check_scalar

from mvdfq._engines import row_loops
from mvdfq._engines.row_loops import moments
from mvdfq._utils.checks import check_spread
from mvdfq.frames import base
from mvdfq.frames.base import PerChannel, SequenceTransformer, card_for, channel_names, with_rows
from mvdfq.frames.learned import require, require_array, require_axes
from mvdfq.frames.time import with_slopes
from mvdfq.sequences import Sequences
from mvdfq.sequences.statistics import SAME, bounds_of, is_constant

# Frames per block of the covariance: blocks of some dozens of rows stay in the cache.
BLOCK = 2**12
# Variances below this share of the largest may be rounding: their axes are looked at.
SMALL = 1e-9


class Standardize(PerChannel):
    r"""Give every channel mean 0 and standard deviation 1 over the training frames.

    .. math:: z = (x - \mu_c) / \sigma_c

    NaN stays NaN and does not count. A channel whose training values differ by no more than
    rounding is constant: all its values become 0, new values too. Symbolic channels pass through;
    channels keep their names. Cost: O(n) in the number of values.

    Attributes
    ----------
    mean_ : ndarray of shape (n_channels,)
        Mean of each channel; 0 for a symbolic channel.
    scale_ : ndarray of shape (n_channels,)
        Standard deviation of each channel; 1 for a symbolic channel, infinity for a constant
        channel.

    Examples
    --------
    >>> from mvdfq.frames import Standardize
    >>> Standardize().fit([[1.0, 3.0], [5.0, 7.0]]).transform([[4.0]])[0]
    array([[0.]])
    """

    mean_: np.ndarray
    scale_: np.ndarray

    def _fit(self, X: Sequences, y: Any) -> None:
        device, card = card_for(X)
        if device:
            means, deviations = card.moments(X.held, device)
            deviations = np.where(is_constant(*bounds_of(X)), 0.0, deviations)
        else:
            means, deviations = (moment[:, 0] for moment in moments(X.data, X.offsets[[0, -1]]))
        check_spread(deviations[~X.symbolic_mask])
        self.mean_ = np.where(X.symbolic_mask, 0.0, means)
        self.scale_ = np.where(X.symbolic_mask, 1.0, np.where(deviations == 0, np.inf, deviations))

    def _transform(self, X: Sequences) -> Sequences:
        device, card = card_for(X)
        if device:
            return X.with_data(card.scaled(X.held, self.mean_, self.scale_, device))
        scaled = np.empty_like(X.data)
        # channel by channel, to save memory; in double precision
        for channel, mean, scale, out in zip(X.data, self.mean_, self.scale_, scaled, strict=True):
            out[:] = np.subtract(channel, mean, dtype=np.float64) / scale
        return X.with_data(scaled)

    def _check_learned(self) -> None:
        require_array(self, "mean_", (self.n_channels_in_,), low=-np.inf)
        require_array(self, "scale_", (self.n_channels_in_,))
        require((self.scale_ > 0).all(), f"scale_ must be positive, got {self.scale_}")


class Centre(PerChannel):
    r"""Subtract from every sequence the mean of each of its channels.

    .. math:: z_t = x_t - \frac{1}{n} \sum_u x_u

    Centring removes a constant that the recording adds to all frames (cepstral mean
    normalization). NaN stays NaN and does not count; symbolic channels pass through. Channel ``a``
    becomes ``centred a``. Cost: O(n) in the number of values.

    Parameters
    ----------
    scale : bool, default=False
        Also divide by the standard deviation of the channel in the sequence, unless the
        deviation is 0.

    Examples
    --------
    >>> from mvdfq.frames import Centre
    >>> X = Centre().fit_transform([[1.0, 3.0], [10.0, 10.0, 40.0]])
    >>> X[0], X[1]
    (array([[-1.,  1.]]), array([[-10., -10.,  20.]]))
    """

    def __init__(self, *, scale: bool = False) -> None:
        self.scale = scale

    def _transform(self, X: Sequences) -> Sequences:
        return base.renamed(X, centred(X, scale=self.scale), "centred")


class Rotate(SequenceTransformer):
    r"""Project the frames on their principal components (PCA).

    .. math:: z_t = W (x_t - \mu)

    where the rows of :math:`W` are the eigenvectors of the covariance of the training frames,
    by decreasing variance. The largest entry of each eigenvector is positive, so that the same
    data give the same signs. A frame with any NaN becomes NaN in all components, and `fit` leaves
    the frame out. The components are called ``pc0``, ``pc1``, ...; symbolic channels pass through,
    after the components. Cost of `fit`: O(:math:`n R^2 + R^3`) for :math:`R` channels and :math:`n`
    frames; of `transform`: O(:math:`n R q`) for :math:`q` components.

    Parameters
    ----------
    n_components : int, default=None
        Most components to keep; None means all. There are at most as many as rows, and components
        in which the training frames differ by no more than rounding are left out.
    deltas : bool, default=False
        Rotate the channels together with their slopes (see `Delta`): twice as many rows.

    Attributes
    ----------
    mean_ : ndarray of shape (n_rows,)
        Mean of the training frames.
    components_ : ndarray of shape (n_components, n_rows)
        The principal axes.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of the training frames along each axis.

    Examples
    --------
    >>> from mvdfq.frames import Rotate
    >>> X = Rotate().fit_transform([[[0.0, 1.0, 2.0], [0.0, 2.0, 1.0]]])
    >>> X[0].round(3)
    array([[-1.414,  0.707,  0.707],
           [ 0.   , -0.707,  0.707]])
    """

    mean_: np.ndarray
    components_: np.ndarray
    explained_variance_: np.ndarray

    def __init__(self, n_components: int | None = None, *, deltas: bool = False) -> None:
        self.n_components = n_components
        self.deltas = deltas

    def _fit(self, X: Sequences, y: Any) -> None:
        self._learn(X, self._frames(X))

    def _learn(self, X: Sequences, frames: Any) -> None:
        most = len(frames) if self.n_components is None else self.n_components
        check_scalar(most, "n_components", Integral, min_val=1)
        learned = principal_axes(frames, *card_for(X), most=most)
        self.mean_, self.components_, self.explained_variance_ = learned

    def _fit_transform(self, X: Sequences, y: Any) -> Sequences:
        """Learn the axes and rotate; the frames are made once."""
        frames = self._frames(X)
        self._learn(X, frames)
        return self._rotated(X, frames)

    def _transform(self, X: Sequences) -> Sequences:
        return self._rotated(X, self._frames(X))

    def _rotated(self, X: Sequences, frames: Any) -> Sequences:
        n_components, symbolic = len(self.components_), X.symbolic_mask
        device, card = card_for(X)
        rotate, where = (card.project, (device,)) if device else (project, ())
        rotated = rotate(frames, self.mean_, self.components_, *where)
        names = [name for name, flag in zip(channel_names(X), symbolic, strict=True) if flag]
        data = np.concatenate([rotated, X.data[symbolic]]) if names else rotated
        flags = [False] * n_components + [True] * len(names)
        return with_rows(X, data, [*(f"pc{q}" for q in range(n_components)), *names], flags)

    def channel_shares(self) -> np.ndarray:
        """Return the squared weights of each component; a slope counts for its channel."""
        numeric = np.flatnonzero(~self._symbolic_mask)
        shares = np.zeros((len(self.components_), self.n_channels_in_))
        # components of unit length: the squares of their weights sum to 1
        for block in np.split(self.components_**2, 1 + self.deltas, axis=1):
            shares[:, numeric] += block
        return np.concatenate([shares, np.eye(self.n_channels_in_)[self._symbolic_mask]])

    def _check_learned(self) -> None:
        require_axes(self, (1 + bool(self.deltas)) * (self.n_channels_in_ - sum(self.symbolic_in_)))
        require_array(self, "explained_variance_", (len(self.components_),))

    def _frames(self, X: Sequences) -> Any:
        """Return the rows to rotate: numeric channels, then their slopes if `deltas` is True."""
        device, card = card_for(X)
        if device:
            parts = [X.held, card.gradient(X.held, X.offsets, device)]
            return card.joined(parts, device) if self.deltas else X.held
        numeric = X.data[~X.symbolic_mask] if X.symbolic_mask.any() else X.data
        return with_slopes(numeric, numeric, X.offsets) if self.deltas else numeric


def centred(X: Sequences, *, scale: bool) -> np.ndarray:
    """Return `X` with each numeric channel of each sequence centred and, if `scale`, divided."""
    real = ~X.symbolic_mask
    means, deviations = moments(X.data[real], X.offsets)
    data = X.data.copy()
    data[real] -= np.repeat(means, X.lengths, axis=1)
    if scale:
        check_spread(deviations)
        data[real] /= np.repeat(np.where(deviations == 0, 1.0, deviations), X.lengths, axis=1)
    return data


def project(data: np.ndarray, mean: np.ndarray, components: np.ndarray) -> np.ndarray:
    """Return the components of all frames, (n_components, n_frames)."""
    rotated = np.empty((len(components), data.shape[1]))
    row_loops.project(data, mean, components, rotated)
    return rotated


def principal_axes(
    data: Any, device: str = "", card: Any = None, most: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean, principal axes (rows) and variances of the frames without NaN.

    Constant rows of `data` have no part in any axis. Axes along which the frames differ by no more
    than rounding are left out, but for the first; so are axes after the `most` first.
    """
    if device:
        data = card.whole_frames(data, device)
    elif np.isnan(data.sum(axis=1)).any():
        data = data[:, ~np.isnan(data).any(axis=0)]
    if 0 in data.shape:
        wanted = "one frame without missing values in its numeric channels"
        raise ValueError(f"X must hold at least {wanted}.")
    if device:
        mean, (low, high), products = card.spread_of_frames(data, device)
    else:
        mean, low, high = data.mean(axis=1, dtype=float), data.min(axis=1), data.max(axis=1)
    varies = ~is_constant(low, high)
    if not varies.any():
        return mean, np.eye(1, len(data)), np.zeros(1)
    used = np.ix_(varies, varies)
    covariance = products[used] if device else _products(data[varies], mean[varies])
    check_spread(covariance)
    variances, axes = _largest(covariance / data.shape[1], most)
    # eigenvalues come in ascending order; rounding may leave one just below 0
    variances, axes = np.maximum(variances[::-1], 0), axes.T[::-1]
    # the largest entry of an axis is positive; among nearly equal entries, the first
    sizes = np.abs(axes)
    decisive = np.argmax(sizes >= (1 - 1e-6) * sizes.max(axis=1, keepdims=True), axis=1)
    whole = np.zeros((len(axes), len(data)))
    whole[:, varies] = axes * np.sign(axes[np.arange(len(axes)), decisive])[:, np.newaxis]
    kept = variances > SMALL * variances[0]
    # a small variance may be a true signal beside a much larger one: look at the products
    if not kept.all():
        data = card.to_host(data) if device else data
        kept[~kept] = [not _is_rounding(data, mean, axis) for axis in whole[~kept]]
    return mean, whole[kept], variances[kept]


def _largest(covariance: np.ndarray, most: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the `most` largest eigenvalues, ascending, and their eigenvectors (columns)."""
    n = len(covariance)
    if most is None or most >= n:
        return np.linalg.eigh(covariance)
    # a third of the time for 128 of 2690
    return eigh(covariance, subset_by_index=[n - most, n - 1])


def _products(data: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Return the sums of products of centred rows."""
    products = np.zeros((len(data), len(data)))
    with np.errstate(over="ignore", invalid="ignore"):  # refused later
        for centred in _centred(data, mean):
            products += centred @ centred.T
    return products


def _centred(data: np.ndarray, mean: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, data.shape[1], BLOCK):
        yield data[:, start : start + BLOCK] - mean[:, np.newaxis]


def _is_rounding(data: np.ndarray, mean: np.ndarray, axis: np.ndarray) -> bool:
    """Tell whether the products with an axis cancel but for rounding."""
    largest = np.zeros(2)
    for centred in _centred(data, mean):
        sizes = [np.abs(axis @ centred).max(), (np.abs(axis) @ np.abs(centred)).max()]
        largest = np.maximum(largest, sizes)
    return bool(largest[0] <= SAME * largest[1])

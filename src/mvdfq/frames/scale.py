"""Shift and scale channels: by the statistics of the training frames, or of each sequence."""

from typing import Any

import numpy as np

from mvdfq._utils.checks import check_spread
from mvdfq.frames._compiled import moments, shift_and_scale
from mvdfq.frames.base import SequenceTransformer, renamed
from mvdfq.frames.learned import require, require_array
from mvdfq.sequences import Sequences

__all__ = ["Centre", "Standardize", "centred"]


class Standardize(SequenceTransformer):
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
        """Learn mean and standard deviation of each channel."""
        means, deviations = moments(X.data, X.offsets[[0, -1]])
        check_spread(deviations[~X.symbolic_mask], "X")
        self.mean_ = np.where(X.symbolic_mask, 0.0, means[:, 0])
        constant = deviations[:, 0] == 0
        scale = np.where(constant, np.inf, deviations[:, 0])
        self.scale_ = np.where(X.symbolic_mask, 1.0, scale)

    def _transform(self, X: Sequences) -> Sequences:
        """Shift and scale the channels."""
        scaled = np.empty_like(X.data)
        shift_and_scale(X.data, self.mean_, self.scale_, scaled)
        return X.with_data(scaled)

    def reach(self) -> int:
        """Return 0: a frame is scaled without its neighbours."""
        return 0

    def channel_shares(self) -> np.ndarray:
        """Return the identity: every row is one channel."""
        return np.eye(self.n_channels_in_)

    def check_learned(self) -> None:
        """Raise an error unless there is one mean and one positive scale per channel."""
        super().check_learned()
        require_array(self, "mean_", (self.n_channels_in_,))
        require_array(self, "scale_", (self.n_channels_in_,))
        require(np.isfinite(self.mean_).all(), f"mean_ must be finite, got {self.mean_}")
        require((self.scale_ > 0).all(), f"scale_ must be positive, got {self.scale_}")


class Centre(SequenceTransformer):
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
        """Centre each sequence."""
        return renamed(X.with_data(centred(X, scale=self.scale)), "centred")

    def reach(self) -> None:
        """Return None: the mean depends on the whole sequence."""

    def channel_shares(self) -> np.ndarray:
        """Return the identity: every row is one channel."""
        return np.eye(self.n_channels_in_)


def centred(X: Sequences, *, scale: bool) -> np.ndarray:
    """Return `X` with each numeric channel of each sequence centred and, if `scale`, divided."""
    real = ~X.symbolic_mask
    means, deviations = moments(X.data[real], X.offsets)
    data = X.data.copy()
    data[real] -= np.repeat(means, X.lengths, axis=1)
    if scale:
        check_spread(deviations, "X")
        data[real] /= np.repeat(np.where(deviations == 0, 1.0, deviations), X.lengths, axis=1)
    return data

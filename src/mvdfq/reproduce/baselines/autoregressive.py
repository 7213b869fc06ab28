"""Multivariate autoregression: how a frame depends on the frames before it."""

import numpy as np

from mvdfq._utils.checks import check_positive, check_whole
from mvdfq.frames import Standardize
from mvdfq.reproduce.baselines.base import VectorClassifier
from mvdfq.sequences import Sequences

__all__ = ["MAR", "describe_autoregression"]


class MAR(VectorClassifier):
    r"""Describe a sequence by the autoregression that fits it.

    .. math:: x_t = \mu + \sum_{l=1}^{p} A_l x_{t-l} + e_t

    The vector holds :math:`\mu`, the :math:`A_l` and the upper triangle of the covariance of
    :math:`e_t`: 611 numbers for 13 channels and :math:`p = 3`. Ridge regression on standardized
    channels finds the coefficients, also for short sequences. Frames whose past holds a NaN are
    left out.

    Parameters
    ----------
    order : int, default=3
        Number of frames before a frame that are used, :math:`p`.

    ridge : float, default=0.1
        Penalty on the squares of the :math:`A_l`, for every frame.

    Attributes
    ----------
    scaler_ : Standardize
        The learned scaling.

    Examples
    --------
    >>> import mvdfq
    >>> from mvdfq.reproduce.baselines import MAR
    >>> X, y = mvdfq.make_autoregressive(80, 3, (80, 120), random_state=0)
    >>> MAR(order=2).fit(X[:60], y[:60]).score(X[60:], y[60:]) > 0.9
    True
    """

    def __init__(self, order: int = 3, *, ridge: float = 0.1) -> None:
        self.order = order
        self.ridge = ridge

    def _check(self, X: Sequences) -> None:
        check_whole(self.order, "order")
        check_positive(self.ridge, "ridge")

    def _shortest(self) -> tuple[int, str]:
        # The covariance needs two frames with a whole past: one frame equals its own mean.
        return self.order + 2, "leave it out or take a smaller order"

    def _fit_vectors(self, X: Sequences) -> np.ndarray:
        self.scaler_ = Standardize().fit(X)
        return self._vectors(X)

    def _vectors(self, X: Sequences) -> np.ndarray:
        return super()._vectors(self.scaler_.transform(X))

    def _describe(self, x: np.ndarray) -> np.ndarray:
        return describe_autoregression(x, self.order, self.ridge)


def describe_autoregression(x: np.ndarray, order: int, ridge: float) -> np.ndarray:
    """Return mean, matrices by rows, and upper triangle; NaN if no frame has a whole past."""
    n_channels = len(x)
    past, now = _equations(x, order)
    upper = np.triu_indices(n_channels)
    if not now.size:
        return np.full(len(past) * n_channels + len(upper[0]), np.nan)
    penalty = ridge * now.shape[1] * np.eye(len(past))
    penalty[0, 0] = 0.0  # the mean is not penalized
    coefficients = np.linalg.solve(past @ past.T + penalty, past @ now.T)
    errors = now - coefficients.T @ past
    covariance = errors @ errors.T / now.shape[1]
    matrices = coefficients[1:].reshape(order, n_channels, n_channels).transpose(0, 2, 1)
    return np.concatenate([coefficients[0], matrices.ravel(), covariance[upper]])


def _equations(x: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Return, for every frame without NaN, a one above the frames before; and the frame."""
    n_frames = x.shape[1]
    before = [x[:, order - lag : n_frames - lag] for lag in range(1, order + 1)]
    past = np.concatenate([np.ones((1, n_frames - order)), *before])
    now = x[:, order:]
    whole = ~np.isnan(past).any(axis=0) & ~np.isnan(now).any(axis=0)
    return past[:, whole], now[:, whole]

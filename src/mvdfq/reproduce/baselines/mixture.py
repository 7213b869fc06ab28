"""Mixtures of Gaussians: one mixture per class, on single frames."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.utils import check_random_state

from mvdfq._utils.checks import check_whole
from mvdfq.frames import Standardize
from mvdfq.reproduce.baselines.base import SEED, Baseline, whole_frames
from mvdfq.sequences import Sequences

__all__ = ["GMM", "fit_mixtures", "summed_likelihoods"]

# Least variance in any direction, in units of the spread of the channels: small, but enough
# if a channel is a function of other channels.
LEAST_VARIANCE = 1e-3


class GMM(Baseline):
    r"""Model the frames of every class by a mixture of Gaussians.

    .. math:: f_c(x) = \sum_t \log \sum_m w_{cm} N(x_t; \mu_{cm}, \Sigma_{cm})

    The order of frames does not matter. Channels are standardized first; frames with NaN are
    left out.

    Parameters
    ----------
    n_components : int, default=8
        Gaussians of each class; fewer if the class has fewer frames.

    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Shape of the Gaussians.

    max_frames : int, default=20000
        A class is learned from at most this many frames, drawn at random.

    Attributes
    ----------
    scaler_ : Standardize
        The learned scaling.

    mixtures_ : list of GaussianMixture
        One mixture for each class.

    Examples
    --------
    >>> import mvdfq
    >>> from mvdfq.reproduce.baselines import GMM
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> X_test, y_test = mvdfq.load_japanese_vowels(split="test")
    >>> GMM(n_components=1).fit(X, y).score(X_test, y_test) > 0.9
    True
    """

    def __init__(
        self, n_components: int = 8, *, covariance_type: str = "full", max_frames: int = 20_000
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.max_frames = max_frames

    def _check(self, X: Sequences) -> None:
        check_whole(self.n_components, "n_components")
        check_whole(self.max_frames, "max_frames")

    def _learn(self, X: Sequences, y: np.ndarray, groups: np.ndarray | None) -> None:
        self.scaler_ = Standardize().fit(X)
        frames, owners = whole_frames(self.scaler_.transform(X))
        random = check_random_state(SEED)
        places = [np.flatnonzero(y[owners] == c) for c in range(y.max() + 1)]
        parts = [frames[_sampled(mine, self.max_frames, random)] for mine in places]
        self.mixtures_ = fit_mixtures(parts, self.n_components, self.covariance_type, random)

    def _scores(self, X: Sequences) -> np.ndarray:
        frames, owners = whole_frames(self.scaler_.transform(X))
        return summed_likelihoods(self.mixtures_, frames, owners, len(X))


def fit_mixtures(
    parts: list[np.ndarray], n_components: int, covariance_type: str, random: Any
) -> list[GaussianMixture]:
    """Fit a mixture to the frames of each class."""
    mixtures = []
    for part in parts:
        mixture = GaussianMixture(
            min(n_components, len(part)),
            covariance_type=covariance_type,
            reg_covar=LEAST_VARIANCE,
            random_state=random,
        )
        with warnings.catch_warnings():
            # A mixture that still changes a little after a hundred rounds does as well.
            warnings.simplefilter("ignore", ConvergenceWarning)
            mixtures.append(mixture.fit(part.astype(float)))
    return mixtures


def summed_likelihoods(
    mixtures: list[GaussianMixture], frames: np.ndarray, owners: np.ndarray, n_sequences: int
) -> np.ndarray:
    """Return the log-likelihood of each sequence for each class: the sum over its frames."""
    logs = [mixture.score_samples(frames.astype(float)) for mixture in mixtures]
    sums = [np.bincount(owners, weights=row, minlength=n_sequences) for row in logs]
    return np.stack(sums, axis=1)


def _sampled(places: np.ndarray, most: int, random: Any) -> np.ndarray:
    if len(places) <= most:
        return places
    return np.sort(random.choice(places, most, replace=False))

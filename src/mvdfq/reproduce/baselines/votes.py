"""Baselines that model many frames, bases or segments of every sequence, and add their votes."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.fft import dct
from sklearn.decomposition import NMF
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state

from mvdfq.frames import Delta, Standardize
from mvdfq.reproduce.baselines.base import SEED, Baseline, averaged, block_starts
from mvdfq.sequences import Sequences
from mvdfq.sequences.statistics import mean_and_variance

# Least variance in any direction, in units of the spread of the channels: small, but enough
# if a channel is a function of other channels.
LEAST_VARIANCE = 1e-3
# A sequence is averaged to this many frames, and a base is described by this many coefficients.
N_FRAMES = 200
N_COEFFICIENTS = 20
# Least share of a band, in units of an equal share. Factors hold many zeros, and without this
# floor their logarithms would outweigh all other values.
FLOOR = 0.1


@dataclass(eq=False, repr=False)
class GMM(Baseline):
    r"""Model the frames of every class by a mixture of Gaussians.

    .. math:: f_c(x) = \sum_t \log \sum_m w_{cm} N(x_t; \mu_{cm}, \Sigma_{cm})

    The order of frames does not matter. Channels are standardized first.
    """

    # Gaussians of each class; fewer if the class has fewer frames.
    n_components: int = 8
    # Shape of the Gaussians: full, tied, diag or spherical.
    covariance_type: str = "full"
    # A class is learned from at most this many frames, drawn at random.
    max_frames: int = 20_000

    def _learn(self, X: Sequences, y: np.ndarray, groups: np.ndarray | None) -> None:
        self.scaler_ = Standardize().fit(X)
        random, codes = check_random_state(SEED), np.repeat(y, X.lengths)
        frames, parts = self.scaler_.transform(X).data.T, []
        for c in range(y.max() + 1):
            places = np.flatnonzero(codes == c)
            if len(places) > self.max_frames:
                places = np.sort(random.choice(places, self.max_frames, replace=False))
            parts.append(frames[places])
        self.mixtures_ = fit_mixtures(parts, self.n_components, self.covariance_type, random)

    def _scores(self, X: Sequences) -> np.ndarray:
        frames, owners = self.scaler_.transform(X).data.T, np.repeat(np.arange(len(X)), X.lengths)
        return summed_likelihoods(self.mixtures_, frames, owners, len(X))


def fit_mixtures(
    parts: list[np.ndarray], n_components: int, covariance_type: str, random: Any
) -> list[GaussianMixture]:
    """Fit a mixture to the frames of each class."""
    same: Any = {"covariance_type": covariance_type, "reg_covar": LEAST_VARIANCE}
    sizes = [min(n_components, len(part)) for part in parts]
    mixtures = [GaussianMixture(size, **same, random_state=random) for size in sizes]
    # A mixture that still changes a little after a hundred rounds does as well.
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        pairs = zip(mixtures, parts, strict=True)
        return [mixture.fit(part.astype(float)) for mixture, part in pairs]


def summed_likelihoods(
    mixtures: list[GaussianMixture], frames: np.ndarray, owners: np.ndarray, n_sequences: int
) -> np.ndarray:
    """Return the log-likelihood of each sequence for each class: the sum over its frames."""
    logs = [mixture.score_samples(frames.astype(float)) for mixture in mixtures]
    sums = [np.bincount(owners, weights=row, minlength=n_sequences) for row in logs]
    return np.stack(sums, axis=1)


@dataclass(eq=False, repr=False)
class NMFBases(Baseline):
    r"""Model the spectral bases of the sequences of every class.

    A sequence of non-negative channels :math:`S` is factored into

    .. math:: S \approx W H, \qquad W, H \ge 0,

    and the columns of :math:`W` are its bases. Each base is scaled to sum 1. The first 20
    coefficients of the cosine transform of its logarithm are modelled by one mixture of Gaussians
    for each class [1]_; the log-likelihoods of the bases of a sequence add up. The original
    factors whole spectrograms; here a sequence is first averaged to 200 frames, to save time.

    References
    ----------
    .. [1] A. Holzapfel and Y. Stylianou, "Musical genre classification using nonnegative matrix
       factorization-based features", IEEE Transactions on Audio, Speech, and Language
       Processing 16(2), 2008.
    """

    # Bases of each sequence; fewer if the sequence has fewer frames or channels.
    n_bases: int = 9
    # Gaussians of each class, with axes along the coefficients.
    n_components: int = 3

    def _learn(self, X: Sequences, y: np.ndarray, groups: np.ndarray | None) -> None:
        bases, owners = self._describe(X)
        parts = [bases[y[owners] == c] for c in range(y.max() + 1)]
        self.mixtures_ = fit_mixtures(parts, self.n_components, "diag", check_random_state(SEED))

    def _scores(self, X: Sequences) -> np.ndarray:
        return summed_likelihoods(self.mixtures_, *self._describe(X), len(X))

    def _describe(self, X: Sequences) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients of all bases, one base per line, and the sequence of each."""
        parts = []
        for x in X:
            bases = spectral_bases(averaged(x.astype(float), N_FRAMES), self.n_bases)
            shares = bases / np.maximum(bases.sum(axis=1, keepdims=True), np.finfo(float).tiny)
            logs = np.log(np.maximum(shares, FLOOR / x.shape[0]))
            parts.append(dct(logs, norm="ortho", axis=1)[:, :N_COEFFICIENTS])
        return _joined(parts)


def spectral_bases(x: np.ndarray, n_bases: int) -> np.ndarray:
    """Return the bases of one sequence, one base per line."""
    n_bases = min(n_bases, *x.shape)
    model = NMF(n_bases, init="nndsvda", tol=1e-3, max_iter=100, random_state=SEED)
    # Bases that still change a little describe a sequence as well.
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        return model.fit(x.T).components_


@dataclass(eq=False, repr=False)
class BoostedAggregates(Baseline):
    r"""Boost small trees on the means and variances of segments.

    A sequence is cut into segments of about `segment` frames. Mean and variance of every channel
    and of its slope describe a segment, and AdaBoost classifies the segment. The sequence gets
    the class with the largest sum over its segments,

    .. math:: f_c(x) = \sum_s \log p(c \mid s).

    Bergstra et al. [1]_ proposed the method, with other frame features.

    References
    ----------
    .. [1] J. Bergstra, N. Casagrande, D. Erhan, D. Eck and B. Kegl, "Aggregate features and
       AdaBoost for music classification", Machine Learning 65, 473-484, 2006.
    """

    # Frames of a segment; a shorter sequence is one segment.
    segment: int = 200
    n_estimators: int = 100
    # A tree without error on the training segments ends the boosting, so few segments need a
    # smaller depth.
    max_depth: int = 8

    def _learn(self, X: Sequences, y: np.ndarray, groups: np.ndarray | None) -> None:
        segments, owners = self._segments(X)
        tree = DecisionTreeClassifier(max_depth=self.max_depth)
        booster = AdaBoostClassifier(tree, n_estimators=self.n_estimators, random_state=SEED)
        self.booster_ = booster.fit(segments, y[owners])

    def _scores(self, X: Sequences) -> np.ndarray:
        segments, owners = self._segments(X)
        logs = self.booster_.predict_log_proba(segments)
        scores = np.zeros((len(X), logs.shape[1]))
        np.add.at(scores, owners, logs)
        return scores

    def _segments(self, X: Sequences) -> tuple[np.ndarray, np.ndarray]:
        """Return means and variances, one segment per line, and the sequence of each segment."""
        parts = []
        for x in Delta().fit_transform(X):
            starts = block_starts(x.shape[1], max(x.shape[1] // self.segment, 1))
            cut = np.split(x.astype(float), starts[1:], axis=1)
            parts.append(np.array([mean_and_variance(part) for part in cut]))
        return _joined(parts)


def _joined(parts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the parts of all sequences, one after the other, and the sequence of each line."""
    return np.concatenate(parts), np.repeat(np.arange(len(parts)), list(map(len, parts)))

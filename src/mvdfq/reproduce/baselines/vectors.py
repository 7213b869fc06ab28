"""Baselines that describe every sequence by one vector, or compare sequences by alignment."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from mvdfq.frames import Standardize
from mvdfq.reproduce.baselines import base
from mvdfq.reproduce.baselines.base import SEED, Baseline, VectorClassifier
from mvdfq.sequences import Sequences
from mvdfq.sequences.statistics import mean_and_variance
from mvdfq.symbols import CodebookQuantizer

# Rounds of folding in: the likelihood has one maximum, and 50 rounds come near it.
ROUNDS = 50


class MeanVariance(VectorClassifier):
    r"""Describe a sequence by the mean and the variance of every channel.

    .. math:: v = (\mu_1, \ldots, \mu_R, \sigma_1^2, \ldots, \sigma_R^2)

    13 channels give 26 numbers.
    """

    def _describe(self, x: np.ndarray) -> np.ndarray:
        return mean_and_variance(x)


@dataclass(eq=False, repr=False)
class MAR(VectorClassifier):
    r"""Describe a sequence by the autoregression that fits it.

    .. math:: x_t = \mu + \sum_{l=1}^{p} A_l x_{t-l} + e_t

    The vector holds :math:`\mu`, the :math:`A_l` and the upper triangle of the covariance of
    :math:`e_t`: 611 numbers for 13 channels and :math:`p = 3`. Ridge regression on standardized
    channels finds the coefficients, also for short sequences.
    """

    # Number of frames before a frame that are used, p.
    order: int = 3
    # Penalty on the squares of the matrices, for every frame.
    ridge: float = 0.1

    def _shortest(self) -> int:
        # The covariance needs two frames with a whole past: one frame equals its own mean.
        return self.order + 2

    def _fit_vectors(self, X: Sequences) -> np.ndarray:
        self.scaler_ = Standardize().fit(X)
        return self._vectors(X)

    def _vectors(self, X: Sequences) -> np.ndarray:
        return super()._vectors(self.scaler_.transform(X))

    def _describe(self, x: np.ndarray) -> np.ndarray:
        return describe_autoregression(x, self.order, self.ridge)


def describe_autoregression(x: np.ndarray, order: int, ridge: float) -> np.ndarray:
    """Return mean, matrices by rows, and upper triangle of the covariance."""
    n_channels, n_frames = x.shape
    before = [x[:, order - lag : n_frames - lag] for lag in range(1, order + 1)]
    # a one above the frames before each frame
    past, now = np.concatenate([np.ones((1, n_frames - order)), *before]), x[:, order:]
    penalty = ridge * now.shape[1] * np.eye(len(past))
    penalty[0, 0] = 0.0  # the mean is not penalized
    coefficients = np.linalg.solve(past @ past.T + penalty, past @ now.T)
    errors = now - coefficients.T @ past
    covariance = errors @ errors.T / now.shape[1]
    matrices = coefficients[1:].reshape(order, n_channels, n_channels).transpose(0, 2, 1)
    upper = covariance[np.triu_indices(n_channels)]
    return np.concatenate([coefficients[0], matrices.ravel(), upper])


@dataclass(eq=False, repr=False)
class DWCH(VectorClassifier):
    r"""Describe a waveform by the histograms of its Daubechies wavelet coefficients.

    The wavelet ``db8`` splits the waveform into `level` sub-bands of detail and one sub-band of the
    rest. The coefficients :math:`a` of each sub-band give four numbers [1]_: the first three
    moments of their histogram and their energy,

    .. math:: \mu, \quad \sigma^2, \quad E\big[((a - \mu) / \sigma)^3\big], \quad E\,|a| .

    Needs PyWavelets.

    References
    ----------
    .. [1] T. Li, M. Ogihara and Q. Li, "A comparative study on content-based music genre
       classification", SIGIR, 2003.
    """

    # How often the waveform is halved; a waveform needs 15 * 2**level samples.
    level: int = 7

    needs = "pywt"

    def _shortest(self) -> int:
        # In shorter waveforms every coefficient depends on the edges: the filter has length 16.
        return 15 * 2**self.level

    def _describe(self, x: np.ndarray) -> np.ndarray:
        import pywt

        bands = pywt.wavedec(x[0], "db8", level=self.level)
        return np.concatenate([moments_and_energy(band) for band in bands])


def moments_and_energy(band: np.ndarray) -> np.ndarray:
    """Return mean, variance, skewness and mean magnitude; the skewness of a constant is 0."""
    mean, deviation = band.mean(), band.std()
    skewness = np.mean(((band - mean) / deviation) ** 3) if deviation > 0 else 0.0
    return np.array([mean, deviation**2, skewness, np.abs(band).mean()])


@dataclass(eq=False, repr=False)
class PLSA(VectorClassifier):
    r"""Describe a sequence by the shares that a few topics have in its codewords.

    The counts of codewords :math:`w` in sequence :math:`i` are modelled by

    .. math:: p(w \mid i) = \sum_z p(w \mid z)\, p(z \mid i)

    and :math:`p(z \mid i)` is the vector. Topics of the largest likelihood are a factorization of
    the counts into non-negative matrices with the least Kullback-Leibler divergence.
    """

    n_topics: int = 50
    n_codewords: int = 1024

    def _fit_vectors(self, X: Sequences) -> np.ndarray:
        self.quantizer_ = CodebookQuantizer(self.n_codewords, random_state=SEED).fit(X)
        loss = {"solver": "mu", "beta_loss": "kullback-leibler"}
        topics = NMF(self.n_topics, init="random", random_state=SEED, **loss)
        # More than the 200 rounds of NMF change the topics little.
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            components = topics.fit(codeword_counts(self.quantizer_.transform(X))).components_
        self.topics_ = components / components.sum(axis=1, keepdims=True)
        # Training and test sequences are described in the same way: with fixed topics.
        return self._vectors(X)

    def _vectors(self, X: Sequences) -> np.ndarray:
        return fold_in(codeword_counts(self.quantizer_.transform(X)), self.topics_)


def fold_in(counts: np.ndarray, topics: np.ndarray) -> np.ndarray:
    """Return the shares of given topics, by expectation maximization from equal shares.

    `NMF.transform` stops for all sequences at once, so the shares of a sequence would depend on
    the other sequences.
    """
    topics = np.maximum(topics, np.finfo(float).eps)  # every codeword may occur in every topic
    shares = np.full((len(counts), len(topics)), 1 / len(topics))
    for _ in range(ROUNDS):
        shares *= (counts / (shares @ topics)) @ topics.T
        shares /= shares.sum(axis=1, keepdims=True)
    return shares


def codeword_counts(symbols: Any) -> np.ndarray:
    """Return how often each codeword occurs in each sequence."""
    size = int(symbols.n_symbols[0])
    return np.array([np.bincount(codes[0], minlength=size) for codes in symbols], dtype=float)


@dataclass(eq=False, repr=False)
class _Aligned(Baseline):
    """Base of both: sequences are standardized and shortened before they are compared."""

    # Frames after averaging; the time of a comparison grows with their square.
    n_frames: int = 60

    needs = "tslearn"

    def _shortened(self, X: Sequences) -> list[np.ndarray]:
        """Return the sequences as tslearn needs them: time first."""
        return [base.averaged(x.astype(float), self.n_frames).T for x in self.scaler_.transform(X)]


@dataclass(eq=False, repr=False)
class GAK(_Aligned):
    r"""Train machines on the global alignment kernel.

    .. math:: k(x, y) = \sum_\pi \prod_{(s, t) \in \pi} \kappa(x_s, y_t)

    over all alignments :math:`\pi`, divided by the norms of both sequences so that
    :math:`k(x, x) = 1`. :math:`\kappa` is the half Gaussian kernel of Cuturi [1]_, which makes
    :math:`k` positive definite; its width is the median distance of training frames, times the root
    of the largest number of frames. `VectorClassifier` describes the machines. Needs tslearn.

    References
    ----------
    .. [1] M. Cuturi, "Fast global alignment kernels", ICML 2011.
    """

    def _learn(self, X: Sequences, y: np.ndarray, groups: np.ndarray | None) -> None:
        from tslearn.metrics import cdist_gak, sigma_gak

        trainer, self.scaler_ = base.trainer_of(y, groups), Standardize().fit(X)
        self.train_ = self._shortened(X)
        # 0 if all frames are equal
        self.sigma_ = float(sigma_gak(self.train_, random_state=SEED)) or 1.0
        values = cdist_gak(self.train_, sigma=self.sigma_)  # divided by the norms
        self.trained_ = trainer(lambda learn: values)
        self.C_, self.problems_ = self.trained_.C, trainer.problems

    def _scores(self, X: Sequences) -> np.ndarray:
        from tslearn.metrics import cdist_gak

        values = cdist_gak(self._shortened(X), self.train_, sigma=self.sigma_)
        return base.scores_of(self.problems_, self.trained_, values)


class DTW(_Aligned):
    r"""Take the class of the training sequence at the least warped distance.

    .. math:: d(x, y) = \min_\pi \Big( \sum_{(s, t) \in \pi} \lVert x_s - y_t \rVert^2 \Big)^{1/2}

    over all alignments :math:`\pi`. The kernel :math:`\exp(-d)` is not positive definite, so a
    machine on this kernel has several solutions; the nearest neighbour needs no kernel. Needs
    tslearn.
    """

    def _learn(self, X: Sequences, y: np.ndarray, groups: np.ndarray | None) -> None:
        self.scaler_ = Standardize().fit(X)
        self.train_, self.train_y_ = self._shortened(X), y

    def _scores(self, X: Sequences) -> np.ndarray:
        from tslearn.metrics import cdist_dtw

        distances = cdist_dtw(self._shortened(X), self.train_)
        nearest = [distances[:, self.train_y_ == c].min(axis=1) for c in np.unique(self.train_y_)]
        return -np.stack(nearest, axis=1)

"""Alignment: sequences compared along the paths that warp one sequence into the other."""

from dataclasses import dataclass

import numpy as np

from mvdfq.frames import Standardize
from mvdfq.reproduce.baselines.base import SEED, Baseline, averaged, scores_of, trainer_of
from mvdfq.sequences import Sequences


@dataclass(eq=False, repr=False)
class _Aligned(Baseline):
    """Base of both: sequences are standardized and shortened before they are compared.

    A comparison takes time in proportion to the square of `n_frames`, the number of frames after
    averaging. Shorter sequences stay as they are.
    """

    n_frames: int = 60

    needs = "tslearn"

    def _shortened(self, X: Sequences) -> list[np.ndarray]:
        """Return the sequences as tslearn needs them: time first."""
        scaled = self.scaler_.transform(X)
        return [averaged(x.astype(float), self.n_frames).T for x in scaled]


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

        trainer = trainer_of(y, groups)
        self.scaler_ = Standardize().fit(X)
        self.train_ = self._shortened(X)
        # 0 if all frames are equal
        self.sigma_ = float(sigma_gak(self.train_, random_state=SEED)) or 1.0
        # tslearn divides by the norms already
        values = cdist_gak(self.train_, sigma=self.sigma_)
        self.trained_ = trainer(lambda learn: values)
        self.C_, self.problems_ = self.trained_.C, trainer.problems

    def _scores(self, X: Sequences) -> np.ndarray:
        from tslearn.metrics import cdist_gak

        values = cdist_gak(self._shortened(X), self.train_, sigma=self.sigma_)
        return scores_of(self.problems_, self.trained_, values)


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

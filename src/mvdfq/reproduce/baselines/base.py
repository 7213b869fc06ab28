"""What all baselines share: how they read sequences, and how vectors become classes."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from mvdfq.sequences.check import check_sequences, refuse
from mvdfq.sequences.containers import Sequences
from mvdfq.terms.svm import Problems
from mvdfq.terms.validation import Trained, Trainer, check_targets

# Seed of everything that a baseline draws, except the inner folds.
SEED = 0
# Seed of the inner folds: SequenceClassifier draws the same number from SEED.
FOLDS_SEED = 209652396
# Widths to choose from, in units of one over the number of features: standardized vectors lie
# about twice that number apart (squared). The widest, with a large C, is nearly linear.
WIDTHS = (0.1, 0.3, 1.0)


@dataclass(eq=False, repr=False)
class Baseline(ClassifierMixin, BaseEstimator):
    """Base of the classifiers, which take no missing values; a subclass has `_learn`, `_scores`."""

    #: An optional package that the method needs.
    needs = ""

    def fit(self, X: Any, y: Any, groups: Any = None) -> Any:
        """Learn the classes; inner validation keeps the sequences of a group together."""
        # If this fit fails, the classifier must not answer with the results of the last fit.
        self.__dict__.pop("classes_", None)
        X = self._read(X)
        y, _, groups = check_targets(len(X), y, None, groups)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"y must hold at least two classes, got {len(classes)} class.")
        self.n_channels_in_ = X.n_rows
        self._learn(X, codes, groups)
        self.classes_ = classes
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the score of every class; of two classes, the second score minus the first."""
        check_is_fitted(self, "classes_")
        scores = self._scores(self._read(X, self.n_channels_in_))
        return scores if scores.shape[1] > 2 else scores[:, 1] - scores[:, 0]

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the largest score for each sequence."""
        decision = self.decision_function(X)
        return self.classes_[Problems(len(self.classes_), "ovo").predicted(decision)]

    def _learn(self, X: Sequences, y: np.ndarray, groups: np.ndarray | None) -> None:
        """Learn from checked sequences and classes 0, 1, ...."""
        raise NotImplementedError

    def _scores(self, X: Sequences) -> np.ndarray:
        """Return the scores of the classes, (n_sequences, n_classes)."""
        raise NotImplementedError

    def _shortest(self) -> int:
        """Return how many frames a sequence needs."""
        return 1

    def _read(self, X: Any, n_channels: int | None = None) -> Sequences:
        """Check the sequences; sequences that this method cannot use are refused here."""
        X, name = check_sequences(X, n_channels=n_channels), type(self).__name__
        for j in np.flatnonzero(X.symbolic_mask):
            raise ValueError(f"{name} needs numbers, but channel {j} holds symbols.")
        hint = f"{name} needs every value, fill it in first"
        refuse(np.isnan(X.data), X, "is missing (NaN)", hint)
        for i in np.flatnonzero(X.lengths < self._shortest()):
            problem = f"Sequence {i} has {X.lengths[i]} frames, {name} needs at least"
            raise ValueError(f"{problem} {self._shortest()}; leave it out.")
        return X


class VectorClassifier(Baseline):
    r"""Describe every sequence by one vector, and train machines on the vectors.

    Vectors are standardized over the training part. The machines are support vector machines, one
    for each pair of classes, with the kernel

    .. math:: k(v, w) = \exp(-\gamma \lVert v - w \rVert^2)

    Five inner folds choose :math:`\gamma` and the penalty `C`. Subclasses implement `_describe`,
    or `_vectors` if sequences cannot be described one by one. `validation_score_` is the accuracy
    in the inner folds; NaN if a class has a single member.
    """

    def _describe(self, x: np.ndarray) -> Any:
        """Return the vector of one sequence."""
        raise NotImplementedError

    def _learn(self, X: Sequences, y: np.ndarray, groups: np.ndarray | None) -> None:
        vectors, trainer = self._fit_vectors(X), trainer_of(y, groups)
        gammas = [width / vectors.shape[1] for width in WIDTHS]
        trained = [trainer(partial(radial, vectors, gamma=gamma)) for gamma in gammas]
        # Of equal scores, and without inner folds (NaN), the widest kernel is taken.
        best = int(np.argmax([np.nan_to_num(each.score) for each in trained]))
        self.trained_, self.gamma_, self.problems_ = trained[best], gammas[best], trainer.problems
        self.C_, self.validation_score_ = self.trained_.C, self.trained_.score
        self.scaler_of_vectors_ = StandardScaler().fit(vectors)
        self.train_ = self.scaler_of_vectors_.transform(vectors)

    def _scores(self, X: Sequences) -> np.ndarray:
        vectors = self.scaler_of_vectors_.transform(self._vectors(X))
        values = rbf_kernel(vectors, self.train_, gamma=self.gamma_)
        return scores_of(self.problems_, self.trained_, values)

    def _fit_vectors(self, X: Sequences) -> np.ndarray:
        """Return the vectors of the training sequences; subclasses may learn from them here."""
        return self._vectors(X)

    def _vectors(self, X: Sequences) -> np.ndarray:
        return np.array([self._describe(x.astype(float)) for x in X], dtype=float)


def trainer_of(y: np.ndarray, groups: np.ndarray | None) -> Trainer:
    """Return the training of one machine for each pair of classes; all weights are equal."""
    problems = Problems(int(y.max()) + 1, "ovo")
    return Trainer(problems, y, np.ones(len(y)), groups, random_state=FOLDS_SEED)


def radial(vectors: np.ndarray, learn: np.ndarray | None, gamma: float) -> np.ndarray:
    """Return the kernel values of all vectors, standardized over some of them; None: over all."""
    scaler = StandardScaler().fit(vectors if learn is None else vectors[learn])
    return rbf_kernel(scaler.transform(vectors), gamma=gamma)


def scores_of(problems: Problems, trained: Trained, values: np.ndarray) -> np.ndarray:
    """Return the scores of the classes, one column per class also for two classes."""
    decision = problems.decision(trained.margins.of(values))
    return np.stack([-decision, decision], axis=1) if decision.ndim == 1 else decision


def block_starts(n_frames: int, n_blocks: int) -> np.ndarray:
    """Return where blocks of nearly equal length begin: 0, 2, 5, 7 for 10 frames, 4 blocks."""
    return np.arange(n_blocks) * n_frames // n_blocks


def averaged(x: np.ndarray, n_blocks: int) -> np.ndarray:
    """Return the mean frame of each block; a shorter sequence stays as it is."""
    if x.shape[1] <= n_blocks:
        return x
    starts = block_starts(x.shape[1], n_blocks)
    return np.add.reduceat(x, starts, axis=1) / np.diff(starts, append=x.shape[1])

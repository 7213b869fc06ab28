"""Support vector machines on vectors and on kernel values, chosen by inner validation."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

from mvdfq.machines.svm import Problems
from mvdfq.machines.validation import CANDIDATES, Trained, Trainer

__all__ = ["RadialMachine", "fit_kernel", "fit_radial", "per_class"]

# Widths to choose from, in units of one over the number of features: standardized vectors lie
# about twice that number apart (squared). The widest, with a large C, is nearly linear.
WIDTHS = (0.1, 0.3, 1.0)


@dataclass(frozen=True)
class RadialMachine:
    """Machines on standardized vectors: `train` are those learned from, `score` is theirs."""

    scaler: StandardScaler
    train: np.ndarray
    gamma: float
    problems: Problems
    trained: Trained

    @property
    def C(self) -> float:
        """The penalty chosen."""
        return self.trained.C

    @property
    def score(self) -> float:
        """Accuracy in the inner folds; NaN where nothing could be held out."""
        return _score(self.trained)

    def scores(self, vectors: np.ndarray) -> np.ndarray:
        """Return what speaks for each class, (n_sequences, n_classes)."""
        values = rbf_kernel(self.scaler.transform(vectors), self.train, gamma=self.gamma)
        return per_class(self.problems, self.trained.margins.of(values))


def fit_radial(vectors: np.ndarray, trainer: Trainer) -> RadialMachine:
    """Choose width and penalty, and train on everything."""
    gammas = [width / vectors.shape[1] for width in WIDTHS]
    trained = [fit_kernel(_radial(vectors, gamma), trainer) for gamma in gammas]
    # The first of the best is the widest; without inner folds (NaN) it is a fair guess.
    best = int(np.argmax([np.nan_to_num(_score(result)) for result in trained]))
    scaler = StandardScaler().fit(vectors)
    return RadialMachine(
        scaler, scaler.transform(vectors), gammas[best], trainer.problems, trained[best]
    )


def fit_kernel(matrix: Callable[[np.ndarray], np.ndarray], trainer: Trainer) -> Trained:
    """Choose the penalty, and train; `matrix` gives kernel values for the training indices."""
    return trainer(matrix, CANDIDATES, lambda done, total: None)


def per_class(problems: Problems, margins: np.ndarray) -> np.ndarray:
    """Return a column for each class, of two classes as well."""
    decision = problems.decision(margins)
    return np.stack([-decision, decision], axis=1) if decision.ndim == 1 else decision


def _radial(vectors: np.ndarray, gamma: float) -> Callable[[np.ndarray], np.ndarray]:
    """Kernel values of all vectors, in the units of those to learn from."""

    def matrix(learn: np.ndarray) -> np.ndarray:
        scaled = StandardScaler().fit(vectors[learn]).transform(vectors)
        return rbf_kernel(scaled, gamma=gamma)

    return matrix


def _score(trained: Trained) -> float:
    inner = trained.scores[trained.best]
    return float(inner.mean()) if inner.size else np.nan

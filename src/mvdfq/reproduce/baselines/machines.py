"""Support vector machines on vectors and on kernel values, chosen by inner validation."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

from mvdfq.terms.svm import Problems
from mvdfq.terms.validation import Trained, Trainer

__all__ = ["RadialMachine", "fit_radial", "per_class"]

# Widths to choose from, in units of one over the number of features: standardized vectors lie
# about twice that number apart (squared). The widest, with a large C, is nearly linear.
WIDTHS = (0.1, 0.3, 1.0)


@dataclass(frozen=True)
class RadialMachine:
    """Machines on standardized vectors; `train` are the vectors of the training part."""

    scaler: StandardScaler
    train: np.ndarray
    gamma: float
    problems: Problems
    trained: Trained

    def scores(self, vectors: np.ndarray) -> np.ndarray:
        """Return the scores of the classes, (n_sequences, n_classes)."""
        values = rbf_kernel(self.scaler.transform(vectors), self.train, gamma=self.gamma)
        return per_class(self.problems, self.trained.margins.of(values))


def fit_radial(vectors: np.ndarray, trainer: Trainer) -> RadialMachine:
    """Choose width and penalty by inner validation, and train on all vectors."""
    gammas = [width / vectors.shape[1] for width in WIDTHS]
    trained = [trainer(_radial(vectors, gamma)) for gamma in gammas]
    # Of equal scores, and without inner folds (NaN), the widest kernel is taken.
    best = int(np.argmax([np.nan_to_num(result.score) for result in trained]))
    scaler = StandardScaler().fit(vectors)
    return RadialMachine(
        scaler, scaler.transform(vectors), gammas[best], trainer.problems, trained[best]
    )


def per_class(problems: Problems, margins: np.ndarray) -> np.ndarray:
    """Return one column per class, also for two classes."""
    decision = problems.decision(margins)
    return np.stack([-decision, decision], axis=1) if decision.ndim == 1 else decision


def _radial(vectors: np.ndarray, gamma: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function: kernel values of all vectors, standardized over some of them."""

    def matrix(learn: np.ndarray) -> np.ndarray:
        scaled = StandardScaler().fit(vectors[learn]).transform(vectors)
        return rbf_kernel(scaled, gamma=gamma)

    return matrix

"""What every result must beat: the largest class, and a machine that does not see time."""

from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mvdfq.pages.run import Run
from mvdfq.sequences import Sequences
from mvdfq.sequences.statistics import mean_and_variance

__all__ = ["baselines"]

PENALTIES = [1.0, 10.0, 100.0]


def baselines(run: Run) -> list[dict[str, Any]]:
    """Return name, what it knows, and accuracy of every baseline, in the folds of the run.

    The accuracy counts the predictions of all test parts together, as the accuracy of the run.
    A report about a fitted classifier has no training labels, so it has no baseline but the
    largest class of the judged sequences.
    """
    hits = np.bincount(run.truth)
    if not run.recorder.trains[0].size:
        share = float(hits.max() / hits.sum())
        return [{"name": "largest class", "about": "always predicts this class", "accuracy": share}]
    vectors, what = describe(run.X)
    largest: list[bool] = []
    summary: list[bool] = []
    for fold, train in zip(run.evaluation.folds, run.recorder.trains, strict=True):
        names, counts = np.unique(run.y[train], return_counts=True)
        largest += (fold.truth == names[counts.argmax()]).tolist()
        machine = _machine(run.y[train]).fit(vectors[train], run.y[train])
        summary += (fold.truth == machine.predict(vectors[fold.test])).tolist()
    return [
        {
            "name": "largest class",
            "about": "always predicts this class",
            "accuracy": float(np.mean(largest)),
        },
        {
            "name": what,
            "about": "an SVM that does not see time",
            "accuracy": float(np.mean(summary)),
        },
    ]


def describe(X: Sequences) -> tuple[np.ndarray, str]:
    """Return one vector per sequence, and its name: shares of letters, or mean and variance."""
    if not X.symbolic_mask.all():
        return np.array([mean_and_variance(x.astype(float)) for x in X]), "mean and variance"
    letters = [np.unique(row[~np.isnan(row)]) for row in X.data]
    return np.array([_composition(x, letters) for x in X]), "composition"


def _composition(x: np.ndarray, letters: list[np.ndarray]) -> np.ndarray:
    """Return the share of every letter of every row."""
    counts = [(row[:, None] == mine).sum(axis=0) for row, mine in zip(x, letters, strict=True)]
    return np.concatenate(counts) / max(x.shape[1], 1)


def _machine(y: np.ndarray) -> Any:
    """Return a machine on standardized vectors; inner folds choose `C` where classes allow."""
    steps = SimpleImputer(keep_empty_features=True), StandardScaler()
    smallest = int(np.unique(y, return_counts=True)[1].min())
    if smallest < 2:
        return make_pipeline(*steps, SVC(C=10.0))
    search = GridSearchCV(SVC(), {"C": PENALTIES}, cv=min(3, smallest))
    return make_pipeline(*steps, search)

"""The verdict in one line, and which class was taken for which."""

from typing import Any

import numpy as np

from mvdfq.pages.baselines import baselines
from mvdfq.pages.run import Run

__all__ = ["confusions", "verdict"]


def verdict(run: Run) -> dict[str, Any]:
    """Return accuracy with its interval, folds and groups, the baselines, and the protocol."""
    plain = run.evaluation.to_dict()
    elsewhere = "classes", "confusion"
    found = {key: value for key, value in plain.items() if key not in elsewhere}
    return {**found, "n_folds": len(plain["folds"]), "baselines": baselines(run)}


def confusions(run: Run) -> dict[str, Any]:
    """Return the confusion matrix of the judged sequences, and recall with interval per class."""
    k = len(run.labels)
    matrix = np.zeros((k, k), dtype=int)
    np.add.at(matrix, (run.truth, run.predicted), 1)
    return {"matrix": matrix.tolist(), "classes": [_class(run, matrix, c) for c in range(k)]}


def _class(run: Run, matrix: np.ndarray, c: int) -> dict[str, Any]:
    n, right, predicted = int(matrix[c].sum()), int(matrix[c, c]), int(matrix[:, c].sum())
    recall, precision = right / n if n else None, right / predicted if predicted else None
    return {
        "n": n,
        "recall": recall,
        "recall_95": run.interval_of(run.truth == c) if n else None,
        "precision": precision,
        "f1": 2 * right / (n + predicted) if n + predicted else None,
    }

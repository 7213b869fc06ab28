"""The verdict in one line, and which class was taken for which."""

from typing import Any

import numpy as np
from scipy.stats import binomtest

from mvdfq.pages.baselines import baselines
from mvdfq.pages.run import Run

__all__ = ["confusions", "interval", "verdict"]


def verdict(run: Run) -> dict[str, Any]:
    """Return accuracy with its interval, the baselines, and the protocol."""
    result = run.evaluation
    n, right = len(run.truth), int(np.sum(run.truth == run.predicted))
    mean_f1, harmonic_f1 = result.f1
    return {
        "accuracy": result.accuracy,
        "interval_95": list(result.interval),
        "error": 1 - result.accuracy,
        "n": n,
        "right": right,
        "std": result.spread,
        "f1_mean_of_classes": mean_f1,
        "f1_of_mean_precision_and_recall": harmonic_f1,
        "protocol": result.protocol,
        "n_folds": len(result.folds),
        "seeds": sorted({fold.seed for fold in result.folds}),
        "folds": [
            {"name": f.name, "seed": f.seed, "n": len(f.truth), "accuracy": f.accuracy}
            for f in result.folds
        ],
        "baselines": baselines(run),
    }


def confusions(run: Run) -> dict[str, Any]:
    """Return the confusion matrix of the judged sequences, and recall with interval per class."""
    k = len(run.labels)
    matrix = np.zeros((k, k), dtype=int)
    np.add.at(matrix, (run.truth, run.predicted), 1)
    return {"matrix": matrix.tolist(), "classes": [_class(matrix, c) for c in range(k)]}


def _class(matrix: np.ndarray, c: int) -> dict[str, Any]:
    n, right, predicted = int(matrix[c].sum()), int(matrix[c, c]), int(matrix[:, c].sum())
    recall, precision = right / n if n else None, right / predicted if predicted else None
    return {
        "n": n,
        "recall": recall,
        "recall_95": interval(right, n) if n else None,
        "precision": precision,
        "f1": 2 * right / (n + predicted) if n + predicted else None,
    }


def interval(hits: int, n: int) -> list[float]:
    """Return Wilson's 95 % confidence interval of a share."""
    bounds = binomtest(hits, n).proportion_ci(method="wilson")
    return [float(bounds.low), float(bounds.high)]

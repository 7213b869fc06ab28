"""How far the probabilities can be trusted."""

from typing import Any

import numpy as np

from mvdfq.pages.run import Run

__all__ = ["calibration", "trust"]

BINS = 10
LISTED = 10


def trust(run: Run) -> dict[str, Any]:
    """Return calibration, the least sure, the most confidently wrong, and abstention."""
    sure, right = run.confidence, run.truth == run.predicted
    order = np.argsort(sure, kind="stable")
    wrong = order[~right[order]][::-1]
    bins = calibration(run)
    gaps = [b["n"] * abs(b["confidence"] - b["accuracy"]) for b in bins]
    kept = order[len(order) // 10 :]
    return {
        "bins": bins,
        "calibration_error": float(sum(gaps) / len(sure)),
        "least_sure": order[:LISTED].tolist(),
        "confidently_wrong": wrong[:LISTED].tolist(),
        "without_doubtful_tenth": {"accuracy": float(right[kept].mean()), "n": len(kept)},
        "coverage": coverage(right[order]),
    }


def calibration(run: Run) -> list[dict[str, Any]]:
    """Return mean confidence and accuracy in `BINS` bins of equal width; no empty bins."""
    sure, right = run.confidence, run.truth == run.predicted
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    return [
        {
            "low": b / BINS,
            "high": (b + 1) / BINS,
            "n": int(mine.sum()),
            "confidence": float(sure[mine].mean()),
            "accuracy": float(right[mine].mean()),
            "accuracy_95": run.interval_of(mine),
        }
        for b in range(BINS)
        if (mine := place == b).any()
    ]


def coverage(right: np.ndarray) -> list[dict[str, Any]]:
    """Return the accuracy if the doubtful sequences are left out, in steps of a tenth.

    `right` is in the order of confidence, least sure first.
    """
    n = len(right)
    return [
        {"left_out": tenth / 10, "accuracy": float(right[n * tenth // 10 :].mean())}
        for tenth in range(10)
        if n * tenth // 10 < n
    ]

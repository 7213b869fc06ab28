"""Data health: what may be wrong with the sequences before a classifier sees them."""

from typing import Any

import numpy as np

from mvdfq.io.dataset import Dataset
from mvdfq.io.inspection import differ, equal_sequences, idle_shares
from mvdfq.pages.run import Run
from mvdfq.sequences.statistics import bounds_of, constant_channels

# Kernel value of near duplicates: no pair of different utterances of the bundled vowels reaches it.
NEAR = 0.99
LISTED = 50


def health(run: Run) -> dict[str, Any]:
    """Return lengths, gaps, constant channels, class balance, duplicates and mixed groups."""
    X = run.X
    read = Dataset(X, run.y, [str(i) for i in range(len(X))])
    idle, low, high = idle_shares(read), int(X.lengths.min()), int(X.lengths.max())
    edges = np.linspace(low, high + 1, min(20, high - low + 1) + 1)
    mixed = None if run.groups is None else len({
        group for fold, train in zip(run.folds, run.recorder.trains, strict=False)
        for group in np.intersect1d(run.groups[fold.test], run.groups[train]).tolist()
    })  # fmt: skip
    return {
        "n_sequences": len(X),
        "n_channels": X.n_rows,
        "sampling_rate": X.sampling_rate,
        "lengths": {
            "shortest": low,
            "median": float(np.median(X.lengths)),
            "longest": high,
            "edges": edges.tolist(),
            "counts": np.histogram(X.lengths, edges)[0].tolist(),
        },
        "missing": np.isnan(X.data).mean(axis=1).tolist() if X.data.size else [0.0] * X.n_rows,
        "sequences_with_gaps": int(sum(np.isnan(x).any() for x in X)),
        "constant_channels": constant_channels(bounds_of(X)).tolist(),
        "classes": [int(np.sum(run.y == label)) for label in run.labels],
        "idle": [idle.get(str(label), 0.0) for label in run.labels],
        "idle_differs": differ(idle),
        "exact_duplicates": _exact(run, equal_sequences(read)),
        "near_duplicates": _near(run),
        "groups_on_both_sides": mixed,
    }


def _exact(run: Run, sets: list[list[int]]) -> dict[str, Any]:
    """Return sets of equal sequences, and how many sets are on both sides of a fold."""
    folds = list(zip(run.folds, run.recorder.trains, strict=False))
    across = [
        one
        for one in sets
        if any(np.isin(one, f.test).any() and np.isin(one, train).any() for f, train in folds)
    ]
    return {
        "n": len(sets),
        "n_across": len(across),
        "n_labels_differ": sum(len({str(run.y[i]) for i in one}) > 1 for one in sets),
        "sets": [[run.names[i] for i in one] for one in (across or sets)[:LISTED]],
    }


def _near(run: Run) -> dict[str, Any] | None:
    """Return pairs across the split whose kernel value is at least `NEAR`; None if not computed."""
    K = run.similarities
    if K is None:
        return None
    met = run.sides[run.fold_of] if run.knows_training else True
    left, right = np.nonzero((K >= NEAR) & met)
    order = np.argsort(-K[left, right], kind="stable")[:LISTED]
    pairs = [
        {
            "sequence": int(left[o]),
            "training": run.training_name(int(right[o])),
            "similarity": float(min(K[left[o], right[o]], 1.0)),
        }
        for o in order
    ]
    return {"threshold": NEAR, "n": len(left), "n_sequences": len(set(left.tolist())),
            "pairs": pairs}  # fmt: skip

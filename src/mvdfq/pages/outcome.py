"""How good the answers are (verdict, baselines, confusions, trust), and the health of the data."""

from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mvdfq.evaluation.measures import honesty_of
from mvdfq.io.dataset import Dataset
from mvdfq.io.inspection import differ, equal_sequences, frame_shares, idle_frames
from mvdfq.pages.run import Run
from mvdfq.sequences import Sequences
from mvdfq.sequences.statistics import bounds_of, constant_channels, mean_and_variance
from mvdfq.terms.typical import in_set

# Penalties that the inner folds of a baseline choose from.
PENALTIES = [1.0, 10.0, 100.0]
BINS = 10
LISTED, MOST_DUPLICATES = 10, 50
# The share of sets of classes that must hold the true class.
COVERAGE = 0.9
# Kernel value of near duplicates: no pair of different utterances of the bundled vowels reaches it.
NEAR = 0.99


def verdict(run: Run) -> dict[str, Any]:
    """Return accuracy with its interval, folds and groups, the baselines, and the protocol."""
    plain = run.evaluation.to_dict()
    measures = {key: value for key, value in plain.items() if key not in ("classes", "confusion")}
    return {**measures, "n_folds": len(plain["folds"]), "baselines": _baselines(run)}


def _baselines(run: Run) -> list[dict[str, Any]]:
    """Return name, what it knows, and accuracy of every baseline, in the folds of the run."""
    alone = {"name": "largest class", "about": "always predicts this class"}
    if not run.knows_training:
        hits = run.truth == np.bincount(run.truth).argmax()
        return [{**alone, "accuracy": float(np.mean(hits))}]
    vectors, kind = describe(run.X)
    largest: list[bool] = []
    summary: list[bool] = []
    for fold, train in zip(run.evaluation.folds, run.recorder.trains, strict=True):
        names, counts = np.unique(run.y[train], return_counts=True)
        largest += (fold.truth == names[counts.argmax()]).tolist()
        # inner folds choose C where classes allow
        machine: Any = SVC(C=10.0)
        if (smallest := int(counts.min())) > 1:
            machine = GridSearchCV(SVC(), {"C": PENALTIES}, cv=min(3, smallest))
        machine = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), machine)
        machine.fit(vectors[train], run.y[train])
        summary += (fold.truth == machine.predict(vectors[fold.test])).tolist()
    vector = {"name": kind, "about": "an SVM that does not see time"}
    pairs = (alone, largest), (vector, summary)
    return [{**about, "accuracy": float(np.mean(hits))} for about, hits in pairs]


def describe(X: Sequences) -> tuple[np.ndarray, str]:
    """Return one vector per sequence, and its name: shares of letters, or mean and variance."""
    if not X.symbolic_mask.all():
        return np.array([mean_and_variance(x.astype(float)) for x in X]), "mean and variance"
    letters = [np.unique(row[~np.isnan(row)]) for row in X.data]
    parts = (zip(x, letters, strict=True) for x in X)
    counts = [[(row[:, None] == known).sum(axis=0) for row, known in part] for part in parts]
    sizes = np.maximum(X.lengths, 1)[:, None]
    return np.array([np.concatenate(row) for row in counts]) / sizes, "composition"


def confusions(run: Run) -> dict[str, Any]:
    """Return the confusion matrix of the judged sequences, and recall with interval per class."""
    matrix = confusion_matrix(run.truth, run.predicted, labels=range(len(run.labels)))
    sizes = zip(matrix.sum(axis=1), matrix.sum(axis=0), matrix.diagonal(), strict=True)
    classes = []
    for c, (n, predicted, right) in enumerate(sizes):
        interval = run.interval_of(run.truth == c) if n else None
        row = {"n": n, "recall": right / n if n else None, "recall_95": interval}
        row["precision"] = right / predicted if predicted else None
        row["f1"] = 2 * right / (n + predicted) if n + predicted else None
        classes.append(row)
    return {"matrix": matrix.tolist(), "classes": classes}


def trust(run: Run) -> dict[str, Any]:
    """Return calibration, the least sure, the most confidently wrong, and abstention."""
    sure, right = run.confidence, run.truth == run.predicted
    order = np.argsort(sure, kind="stable")
    wrong = order[~right[order]][::-1]
    # the accuracy if the doubtful sequences are left out, in steps of a tenth
    n, ordered = len(order), right[order]
    starts = [n * tenth // 10 for tenth in range(10)]
    coverage = [{"left_out": k / 10, "accuracy": float(ordered[start:].mean())}
                for k, start in enumerate(starts)]  # fmt: skip
    return {
        "bins": _calibration(run),
        "calibration_error": honesty_of(run.probabilities, run.truth)["calibration_error"],
        "least_sure": order[:LISTED].tolist(),
        "confidently_wrong": wrong[:LISTED].tolist(),
        "without_doubtful_tenth": {"accuracy": coverage[1]["accuracy"], "n": n - starts[1]},
        "coverage": coverage,
        "sets": None if run.p_values is None else _sets(run, run.p_values),
    }


def _sets(run: Run, p: np.ndarray) -> dict[str, Any]:
    """Return how often sets of classes at 90 % hold the true class, and how large they are."""
    inside = in_set(p, COVERAGE)
    hits, sizes = inside[np.arange(len(p)), run.truth], inside.sum(axis=1)
    by_class = [hits[run.truth == c] for c in range(len(run.labels))]
    held = [float(right.mean()) if right.size else None for right in by_class]
    shares = {"empty": float((sizes == 0).mean()), "several": float((sizes > 1).mean())}
    means = {"coverage": float(hits.mean()), "by_class": held, "mean_size": float(sizes.mean())}
    return {"asked": COVERAGE, **means, **shares}


def _calibration(run: Run) -> list[dict[str, Any]]:
    """Return mean confidence and accuracy in `BINS` bins of equal width; no empty bins."""
    sure, right = run.confidence, run.truth == run.predicted
    place, bins = np.minimum((sure * BINS).astype(int), BINS - 1), []
    for b in np.unique(place).tolist():
        inside = place == b
        means = {"confidence": float(sure[inside].mean()), "accuracy": float(right[inside].mean())}
        bounds = {"low": b / BINS, "high": (b + 1) / BINS, "n": int(inside.sum())}
        bins.append({**bounds, **means, "accuracy_95": run.interval_of(inside)})
    return bins


def health(run: Run) -> dict[str, Any]:
    """Return lengths, gaps, constant channels, class balance, duplicates and mixed groups."""
    X = run.X
    read = Dataset(X, run.y, [str(i) for i in range(len(X))])
    idle = frame_shares(read, idle_frames(read.X))
    low, high = int(X.lengths.min()), int(X.lengths.max())
    edges = np.linspace(low, high + 1, min(20, high - low + 1) + 1)
    mixed = None if run.groups is None else len({
        group for fold, train in zip(run.folds, run.recorder.trains, strict=False)
        for group in np.intersect1d(run.groups[fold.test], run.groups[train]).tolist()
    })  # fmt: skip
    lengths = {"shortest": low, "median": float(np.median(X.lengths)), "longest": high}
    counts = np.histogram(X.lengths, edges)[0].tolist()
    sizes = {"n_sequences": len(X), "n_channels": X.n_rows, "sampling_rate": X.sampling_rate}
    return sizes | {
        "lengths": {**lengths, "edges": edges.tolist(), "counts": counts},
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

    def is_across(copies: list[int]) -> bool:
        sides = ((np.isin(copies, f.test), np.isin(copies, train)) for f, train in folds)
        return any(tested.any() and learned.any() for tested, learned in sides)

    across = [copies for copies in sets if is_across(copies)]
    differ = sum(len({str(run.y[i]) for i in copies}) > 1 for copies in sets)
    shown = [[run.names[i] for i in copies] for copies in (across or sets)[:MOST_DUPLICATES]]
    return {"n": len(sets), "n_across": len(across), "n_labels_differ": differ, "sets": shown}


def _near(run: Run) -> dict[str, Any] | None:
    """Return pairs across the split whose kernel value is at least `NEAR`; None if not computed."""
    K = run.similarities
    if K is None:
        return None
    met = run.sides[run.fold_of] if run.knows_training else True
    left, right = np.nonzero((K >= NEAR) & met)
    order = np.argsort(-K[left, right], kind="stable")[:MOST_DUPLICATES]
    pairs = []
    for a, b in zip(left[order].tolist(), right[order].tolist(), strict=True):
        names = {"sequence": a, "training": run.training_name(b)}
        pairs.append({**names, "similarity": float(min(K[a, b], 1.0))})
    sizes = {"n": len(left), "n_sequences": len(set(left.tolist()))}
    return {"threshold": NEAR, **sizes, "pairs": pairs}

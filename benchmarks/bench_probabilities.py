"""Are the probabilities of few training cases honest? With and without shrinking the temperature.

    MVDFQ_DATA=... python benchmarks/bench_probabilities.py
    python benchmarks/bench_probabilities.py show

Cuts sets of the UEA archive to 15, 30 and 60 training cases of 2 to 5 classes, eight times each,
with the labels as they are and with shuffled labels, which nobody can learn. Writes one line per
case to results/probabilities.csv: the log loss of the test labels by the shares of the classes in
training, by `predict_proba` of the preset ``fast`` without shrinking, and by `predict_proba` as it
is. ``show`` prints the means, and the largest loss beyond the loss of the shares.
"""

import csv
import sys
import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np
from archives import load_uea, uea_names

import mvdfq
from mvdfq.evaluation.measures import honesty_of
from mvdfq.terms import svm

RESULTS = Path(__file__).parent / "results" / "probabilities.csv"
LOSSES = ["shares", "not shrunk", "shrunk"]
FIELDS = ["set", "cases", "labels", "seed", "classes", *LOSSES]
SIZES, LABELS, SEEDS, MOST_TESTED = (15, 30, 60), ("true", "shuffled"), 8, 100


def drawn(y, n_cases, seed):
    """Return indices of training and test cases of 2 to 5 classes; few test cases mean neither."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.unique(y))[: 2 + seed % 4]
    members = [rng.permutation(np.flatnonzero(y == label)) for label in labels]
    sizes = [len(part) for part in np.array_split(np.arange(n_cases), len(labels))]
    train = np.concatenate([places[:size] for places, size in zip(members, sizes, strict=True)])
    test = np.concatenate([places[size:] for places, size in zip(members, sizes, strict=True)])
    few = len(train) < n_cases or len(test) < n_cases // 2
    return (train[:0], test[:0]) if few else (train, rng.permutation(test)[:MOST_TESTED])


def losses(X, y, X_test, y_test):
    """Return the three losses of one case; both temperatures come from one fit."""
    believed = []

    def full(*given):
        believed.append(trust(*given))
        return 1.0

    trust = svm._trust
    with patch.object(svm, "_trust", full):
        model = mvdfq.SequenceClassifier("fast").fit(X, y)
    codes = np.searchsorted(model.classes_, y_test)
    shares = np.tile(model.class_shares_, (len(y_test), 1))
    answers = [shares, model.predict_proba(X_test)]
    model.temperature_ *= believed[0] if believed else 1.0  # no inner folds, no temperature
    answers.append(model.predict_proba(X_test))
    return [honesty_of(probabilities, codes)["log_loss"] for probabilities in answers]


def measure(X, y, n_cases, labels, seed):
    """Return the cells of one case, or None if the set is too small."""
    train, test = drawn(y, n_cases, seed)
    if not train.size:
        return None
    y_train, y_test = y[train], y[test]
    if labels == "shuffled":  # both: labels in training may agree with the truth by chance
        rng = np.random.default_rng(100 + seed)
        y_train, y_test = rng.permutation(y_train), rng.permutation(y_test)
    all_losses = losses([X[i] for i in train], y_train, [X[i] for i in test], y_test)
    return [len(np.unique(y_train)), *(f"{loss:.4f}" for loss in all_losses)]


def lines():
    """Yield the lines of all cases."""
    for name in uea_names():
        X_train, y_train, X_test, y_test, _ = load_uea(name)
        X, y = [*X_train, *X_test], np.concatenate([y_train, y_test])
        for case in [(n, labels, s) for n in SIZES for labels in LABELS for s in range(SEEDS)]:
            cells = measure(X, y, *case)
            if cells is not None:
                yield dict(zip(FIELDS, [name, *case, *cells], strict=True))


def run():
    """Measure all cases and write the results file."""
    warnings.simplefilter("ignore")
    with open(RESULTS, "w", newline="") as file:
        table = csv.DictWriter(file, FIELDS)
        table.writeheader()
        for line in lines():
            table.writerow(line)
            file.flush()


def summary():
    """Return the mean losses, the largest losses beyond the shares and the number of cases."""
    with open(RESULTS, newline="") as file:
        rows = list(csv.DictReader(file))
    by_case = {}
    for labels in LABELS:
        for n in SIZES:
            chosen = [row for row in rows if (row["labels"], row["cases"]) == (labels, str(n))]
            values = np.array([[float(row[loss]) for loss in LOSSES] for row in chosen])
            by_case[labels, n] = values.mean(axis=0), (values[:, 1:] - values[:, :1]).max(axis=0)
    return by_case


def show():
    """Print the summary."""
    names = [*LOSSES, "worst: not", "shrunk"]
    print(f"{'labels':>9} {'cases':>5}", *(f"{name:>11}" for name in names))
    for (labels, n), (means, worst) in summary().items():
        cells = [f"{value:11.3f}" for value in [*means, *worst]]
        print(f"{labels:>9} {n:5}", *cells)


if __name__ == "__main__":
    if sys.argv[1:] != ["show"]:
        run()
    show()

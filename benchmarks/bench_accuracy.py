"""Accuracy beside peers: the official split and resamples of sets of the UEA archive.

    MVDFQ_DATA=... python benchmarks/bench_accuracy.py run numbers accurate --resamples 10
    MVDFQ_DATA=... python benchmarks/bench_accuracy.py run minirocket multirocket --resamples 10
    python benchmarks/bench_accuracy.py show

Each run adds its lines to results/accuracy.csv and passes over lines that are there, so peers can
run in an environment of their own (aeon wants an older numba), and a run that was broken off
goes on. A resample redraws training and test part, stratified, of the official sizes. All methods
get the same parts, and this script chooses nothing.
"""

import argparse
import csv
from itertools import combinations
from pathlib import Path
from time import perf_counter

import numpy as np
from archives import load_uea, uea_names
from scipy.stats import rankdata, wilcoxon

RESULTS = Path(__file__).parent / "results" / "accuracy.csv"
FIELDS = ["set", "split", "method", "accuracy", "fit_s", "predict_s"]
# 15 training cases say nothing.
LEFT_OUT = {"AtrialFibrillation"}
# Thousands of training cases: the official split alone.
LARGE = {"SpokenArabicDigits"}


def ours(preset):
    """Return a classifier of mvdfq that takes lists of (channels, time) arrays."""
    import mvdfq

    return mvdfq.SequenceClassifier(preset, n_jobs=1)


def aeons(name):
    """Return a classifier of aeon that takes an array; shorter sequences are padded with zeros."""
    from aeon.classification.convolution_based import (
        MiniRocketClassifier,
        MultiRocketClassifier,
        MultiRocketHydraClassifier,
    )

    classes = {
        "minirocket": MiniRocketClassifier,
        "multirocket": MultiRocketClassifier,
        "multirocket-hydra": MultiRocketHydraClassifier,
    }
    return Padded(classes[name](random_state=0, n_jobs=1))


class Padded:
    """A classifier of equal lengths, made to take sequences of unequal length."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y):
        """Pad to the longest training sequence and fit."""
        self.length = max(x.shape[1] for x in X)
        self.model.fit(self._array(X), y)
        return self

    def predict(self, X):
        """Pad or cut to the length of training and predict."""
        return self.model.predict(self._array(X))

    def _array(self, X):
        out = np.zeros((len(X), len(X[0]), self.length), np.float32)
        for row, x in zip(out, X, strict=True):
            row[:, : x.shape[1]] = x[:, : self.length]
        return out


def parts(name, split):
    """Return training and test part: the official parts, or a stratified redraw of their sizes."""
    X_train, y_train, X_test, y_test, _ = load_uea(name)
    if split == "official":
        return X_train, y_train, X_test, y_test
    X, y = [*X_train, *X_test], np.concatenate([y_train, y_test])
    rng = np.random.default_rng(int(split))
    chosen = np.zeros(len(y), bool)
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        chosen[members[: np.count_nonzero(y_train == label)]] = True
    train, test = np.flatnonzero(chosen), np.flatnonzero(~chosen)
    return [X[i] for i in train], y[train], [X[i] for i in test], y[test]


def measure(name, split, method):
    """Fit and predict once; return a line of results."""
    X_train, y_train, X_test, y_test = parts(name, split)
    model = ours(method) if method in ("numbers", "accurate") else aeons(method)
    begin = perf_counter()
    model.fit(X_train, y_train)
    middle = perf_counter()
    accuracy = float(np.mean(model.predict(X_test) == y_test))
    times = middle - begin, perf_counter() - middle
    return dict(zip(FIELDS, [name, split, method, f"{accuracy:.4f}", *(f"{t:.2f}" for t in times)],
                    strict=True))  # fmt: skip


def stored():
    """Return the lines of the results file."""
    if not RESULTS.exists():
        return []
    with open(RESULTS, newline="") as file:
        return list(csv.DictReader(file))


def run(methods, n_resamples, sets):
    """Measure what is missing, line by line."""
    known = {(row["set"], row["split"], row["method"]) for row in stored()}
    for name in sets or [name for name in uea_names() if name not in LEFT_OUT]:
        resamples = [] if name in LARGE else [str(i) for i in range(n_resamples)]
        for split in ["official", *resamples]:
            for method in methods:
                if (name, split, method) not in known:
                    add(measure(name, split, method))


def add(row):
    """Append a line to the results file and show it."""
    print(*row.values(), flush=True)
    is_new = not RESULTS.exists()
    with open(RESULTS, "a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if is_new:
            writer.writeheader()
        writer.writerow(row)


def show(without=()):
    """Print means over resamples, ranks, pairs of methods and times."""
    rows = [row for row in stored() if row["split"] != "official" and row["set"] not in without]
    methods = sorted({row["method"] for row in rows})
    cells = {(row["set"], row["split"], row["method"]): float(row["accuracy"]) for row in rows}
    common = sorted({key[:2] for key in cells if all((*key[:2], m) in cells for m in methods)})
    sets = sorted({name for name, _ in common})
    means = np.array([[np.mean([cells[n, s, m] for n, s in common if n == name]) for m in methods]
                      for name in sets])  # fmt: skip
    print(f"{len(common)} resamples of {len(sets)} sets", *(f"without {name}" for name in without))
    for name, line in [*zip(sets, means, strict=True), ("mean", means.mean(axis=0))]:
        print(f"{name:28}", *(f"{m} {value:.4f}" for m, value in zip(methods, line, strict=True)))
    ranks = rankdata(-means, axis=1).mean(axis=0)
    print(f"{'mean rank':28}", *(f"{m} {r:.2f}" for m, r in zip(methods, ranks, strict=True)))
    compare(methods, np.array([[cells[(*key, m)] for m in methods] for key in common]))


def compare(methods, values):
    """Print wins, draws, losses and Wilcoxon's test, corrected by Holm, of all pairs of methods."""
    pairs = list(combinations(range(len(methods)), 2))
    chances = [wilcoxon(values[:, i], values[:, j]).pvalue for i, j in pairs]
    largest = 0.0
    for place, k in enumerate(np.argsort(chances)):
        i, j = pairs[k]
        largest = max(largest, min(1.0, chances[k] * (len(pairs) - place)))
        difference = values[:, i] - values[:, j]
        counts = [np.count_nonzero(sign(difference, 0)) for sign in (np.greater, np.equal, np.less)]
        print(f"{methods[i]} : {methods[j]}  {counts[0]}/{counts[1]}/{counts[2]}  p {largest:.3g}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["run", "show"])
    parser.add_argument("methods", nargs="*")
    parser.add_argument("--resamples", type=int, default=10)
    parser.add_argument("--sets", nargs="*")
    given = parser.parse_args()
    if given.what == "run":
        run(given.methods, given.resamples, given.sets)
    else:
        show()
        show(without=("Handwriting",))

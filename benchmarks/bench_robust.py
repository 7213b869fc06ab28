"""Is the default safe at the edges? Beside plain words alone, on ten resamples of hard cases.

    MVDFQ_DATA=... python benchmarks/bench_robust.py [CASE ...]

Very short and very long sequences, very few training cases, two classes and many classes. Prints a
line per case and writes results/robust.csv: mean accuracy of each method, and the mean and the
standard error of the difference between the default and plain words alone, the former default.
Resamples are stratified and of the official sizes; at most 600 test sequences are predicted.
"""

import csv
import sys
import warnings
from pathlib import Path

import numpy as np
from accuracy_methods import method
from archives import load_uea

RESULTS = Path(__file__).parent / "results" / "robust.csv"
METHODS = ("plain words alone", "default", "fast")
RESAMPLES, MOST_TESTED = 10, 600


def whole(name):
    """Return all sequences of a set, their labels, and the labels of the training part."""
    X_train, y_train, X_test, y_test, _ = load_uea(name)
    return [*X_train, *X_test], np.concatenate([y_train, y_test]), y_train


def cut(name, frames):
    """Return a set whose sequences have these frames alone."""
    X, y, y_train = whole(name)
    return [x[:, frames] for x in X], y, y_train


def longer(name, times):
    """Return a set whose sequences have every frame several times."""
    X, y, y_train = whole(name)
    return [np.repeat(x, times, axis=1) for x in X], y, y_train


def few(name, per_class):
    """Return a set of which a few sequences of each class are for training."""
    X, y, y_train = whole(name)
    kept = [np.flatnonzero(y_train == label)[:per_class] for label in np.unique(y_train)]
    return X, y, y_train[np.concatenate(kept)]


def two_classes(name):
    """Return the sequences of the first two classes of a set."""
    X, y, y_train = whole(name)
    labels = np.unique(y)[:2]
    kept = np.flatnonzero(np.isin(y, labels))
    return [X[i] for i in kept], y[kept], y_train[np.isin(y_train, labels)]


def joined(*names):
    """Return several sets as one, with two channels and the classes of all."""
    X, y, y_train = [], [], []
    for name in names:
        data = whole(name)
        X += [x[:2] for x in data[0]]
        y.append(np.char.add(f"{name} ", data[1].astype(str)))
        y_train.append(np.char.add(f"{name} ", data[2].astype(str)))
    return X, np.concatenate(y), np.concatenate(y_train)


CASES = {
    "15 training cases": lambda: whole("AtrialFibrillation"),
    "3 frames": lambda: cut("JapaneseVowels", slice(3)),
    "6 frames": lambda: cut("JapaneseVowels", slice(6)),
    "12 frames": lambda: cut("NATOPS", slice(20, 32)),
    "1575 frames": lambda: longer("UWaveGestureLibrary", 5),
    "two training cases per class": lambda: few("NATOPS", 2),
    "two classes": lambda: two_classes("JapaneseVowels"),
    "66 classes": lambda: joined("Libras", "ArticularyWordRecognition", "Handwriting"),
}


def drawn(y, y_train, seed):
    """Return a stratified redraw of the training part, and test sequences."""
    rng = np.random.default_rng(100 + seed)
    chosen = np.zeros(len(y), bool)
    for label in np.unique(y_train):
        members = rng.permutation(np.flatnonzero(y == label))
        chosen[members[: np.count_nonzero(y_train == label)]] = True
    return np.flatnonzero(chosen), rng.permutation(np.flatnonzero(~chosen))[:MOST_TESTED]


def accuracies(X, y, y_train, seed):
    """Return the accuracy of every method on one resample."""
    train, test = drawn(y, y_train, seed)
    models = [method(name).fit([X[i] for i in train], y[train]) for name in METHODS]
    return [np.mean(model.predict([X[i] for i in test]) == y[test]) for model in models]


def measure(name):
    """Return the line of a case."""
    X, y, y_train = CASES[name]()
    scores = np.array([accuracies(X, y, y_train, seed) for seed in range(RESAMPLES)])
    gain = scores[:, 1] - scores[:, 0]
    error = gain.std(ddof=1) / np.sqrt(RESAMPLES)
    line = {"case": name} | dict(zip(METHODS, scores.mean(axis=0).round(4).tolist(), strict=True))
    line |= {"difference": round(float(gain.mean()), 4), "standard error": round(float(error), 4)}
    return line | {"within two errors": "yes" if gain.mean() >= -2 * error else "no"}


def main():
    """Measure the cases that are named, or all."""
    warnings.simplefilter("ignore")
    lines = {}
    if RESULTS.exists():
        with open(RESULTS, newline="") as file:
            lines = {line["case"]: line for line in csv.DictReader(file)}
    for name in sys.argv[1:] or CASES:
        lines[name] = measure(name)
        print(*lines[name].items(), flush=True)
        with open(RESULTS, "w", newline="") as file:
            table = csv.DictWriter(file, lines[name].keys())
            table.writeheader()
            table.writerows(lines[case] for case in CASES if case in lines)


if __name__ == "__main__":
    main()

"""Are sets of classes honest, and are unknown sequences caught? On sets of the UEA archive.

    MVDFQ_DATA=... python benchmarks/bench_unknown.py [SET ...]
    python benchmarks/bench_unknown.py show

Trains the default on all classes of a set, in the official split: the share of test sequences
whose `predict_set` at 90 % holds the true class, the lowest share of a class with at least ten
test sequences, and the mean size of the sets. Then leaves out one class at a time, three times:
test sequences of this class, noise with the mean and deviation of every channel, and sequences of
another data set, scaled alike, are unknown. Tells how many are caught by the smallest probability
and by the typicality if 5 % of the known test sequences are taken for unknown, and how many are at
most 5 % typical. Writes one line per set to results/unknown.csv; ``show`` prints means.
"""

import csv
import sys
import warnings
from pathlib import Path

import numpy as np
from archives import load_uea, uea_names
from sklearn.metrics import roc_auc_score

import mvdfq

RESULTS = Path(__file__).parent / "results" / "unknown.csv"
KINDS = ("left-out class", "noise", "other data")
SCORES = ("probability", "typicality")
FIELDS = [
    "set", "train", "classes", "accuracy", "coverage", "lowest class", "set size", "empty",
    "false alarms",
    *(f"{what} {kind} by {score}" for kind in KINDS for what in ("auc", "caught")
      for score in SCORES),
    *(f"at 5 % {kind}" for kind in KINDS),
]  # fmt: skip
N_LEFT_OUT, N_STRANGE, MOST_TESTED, FEW = 3, 40, 300, 10


def moments(X):
    """Return mean and deviation of every channel."""
    frames = np.concatenate(X, axis=1)
    return np.nanmean(frames, axis=1, keepdims=True), np.nanstd(frames, axis=1, keepdims=True)


def noise(X, rng):
    """Return white noise of the lengths, means and deviations of the sequences."""
    mean, spread = moments(X)
    lengths = [X[i % len(X)].shape[1] for i in range(N_STRANGE)]
    return [mean + spread * rng.standard_normal((len(mean), n)) for n in lengths]


def other_data(X, others, rng):
    """Return sequences of another set with the channels, means and deviations of the sequences."""
    mean, spread = moments(X)
    chosen = [others[i] for i in rng.permutation(len(others))[:N_STRANGE]]
    parts = [x[np.arange(len(mean)) % len(x)] for x in chosen]
    scaled = [(x - x.mean(1, keepdims=True)) / np.maximum(x.std(1, keepdims=True), 1e-9)
              for x in parts]  # fmt: skip
    return [mean + spread * x for x in scaled]


def sets(clf, X, y):
    """Return accuracy, coverage in all, in the worst class, size of the sets, share of empty."""
    found = clf.predict_set(X, coverage=0.9)
    hits = np.array([label in one for label, one in zip(y.tolist(), found, strict=True)])
    sizes = np.array([len(one) for one in found])
    lowest = min((hits[y == c].mean() for c in np.unique(y) if (y == c).sum() >= FEW), default=1)
    return [clf.score(X, y), hits.mean(), lowest, sizes.mean(), (sizes == 0).mean()]


def caught(known, unknown):
    """Return the area under the ROC curve, and the share below 5 % of the known sequences."""
    truth = np.repeat([0, 1], [len(known), len(unknown)])
    limit = np.sort(known)[int(0.05 * len(known))]
    return roc_auc_score(truth, -np.append(known, unknown)), float((unknown < limit).mean())


def left_out(X, y, X_test, y_test, label, others, rng):
    """Return the false alarms, and what is caught of three kinds of unknown sequences."""
    train = [x for x, one in zip(X, y, strict=True) if one != label]
    clf = mvdfq.SequenceClassifier().fit(train, y[y != label])
    known = [x for x, one in zip(X_test, y_test, strict=True) if one != label]
    gone = [x for x, one in zip(X_test, y_test, strict=True) if one == label]

    def judged(Z):
        return clf.predict_proba(Z).max(axis=1), clf.typicality(Z)

    right = judged(known)
    alarms, areas, shares = float((right[1] <= 0.05).mean()), [], []
    for Z in (gone, noise(train, rng), other_data(train, others, rng)):
        pairs = [caught(a, b) for a, b in zip(right, judged(Z), strict=True)]
        areas += [*(area for area, _ in pairs), *(share for _, share in pairs)]
        shares.append(float((judged(Z)[1] <= 0.05).mean()))
    return [alarms, *areas, *shares]


def measure(name):
    """Return the cells of one set."""
    X, y, X_test, y_test, _ = load_uea(name)
    rng = np.random.default_rng(0)
    tested = rng.permutation(len(y_test))[:MOST_TESTED]
    X_test, y_test = [X_test[i] for i in tested], y_test[tested]
    others = load_uea("Libras" if name != "Libras" else "UWaveGestureLibrary")[2]
    whole = sets(mvdfq.SequenceClassifier().fit(X, y), X_test, y_test)
    labels = rng.permutation(np.unique(y))[:N_LEFT_OUT] if len(np.unique(y)) > 2 else []
    found = [left_out(X, y, X_test, y_test, label, others, rng) for label in labels]
    mean = np.mean(found, axis=0) if found else np.full(len(FIELDS) - 8, np.nan)
    return [name, len(y), len(np.unique(y)), *(f"{one:.3f}" for one in [*whole, *mean])]


def main(names):
    """Measure sets; lines of other sets stay."""
    lines = {}
    if RESULTS.exists():
        lines = {row["set"]: list(row.values()) for row in csv.DictReader(RESULTS.open())}
    for name in names:
        with warnings.catch_warnings(action="ignore"):
            lines[name] = measure(name)
        print(*lines[name], flush=True)
        with RESULTS.open("w", newline="") as file:
            csv.writer(file).writerows([FIELDS, *(lines[key] for key in sorted(lines))])


def show():
    """Print the sets, and the mean of every column."""
    rows = list(csv.DictReader(RESULTS.open()))
    for row in rows:
        print(f"{row['set']:27} accuracy {row['accuracy']}, coverage {row['coverage']} "
              f"(lowest class {row['lowest class']}), set size {row['set size']}")  # fmt: skip
    for field in FIELDS[3:]:
        values = [float(row[field]) for row in rows]
        print(f"{field:40} {np.nanmean(values):.3f}")


if __name__ == "__main__":
    if sys.argv[1:] == ["show"]:
        show()
    else:
        main(sys.argv[1:] or [one for one in uea_names() if one != "SpokenArabicDigits"])

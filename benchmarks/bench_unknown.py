"""Are sets of classes honest, and are unknown sequences caught? On sets of the UEA archive.

    MVDFQ_DATA=... python benchmarks/bench_unknown.py [SET ...]
    python benchmarks/bench_unknown.py show

Trains the default on all classes of a set, in the official split: the share of test sequences
whose `predict_set` at 90 % holds the true class, the lowest share of a class with at least ten
test sequences, and the mean size of the sets (results/unknown_sets.csv). Then leaves out one class
at a time, three times: test sequences of this class, noise with the mean and deviation of every
channel, and sequences of another data set, scaled alike, are unknown. Tells the area under the ROC
curve and the share caught with 5 % false alarms, by several scores (results/unknown.csv): the
largest probability, the p values of the decision value and of the distance, their product, the
typicality, and the typicality with ranks inside every class. ``show`` prints tables and means.
"""

import csv
import sys
import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np
from archives import load_uea, uea_names
from sklearn.metrics import roc_auc_score, roc_curve

import mvdfq
from mvdfq.terms import typical
from mvdfq.terms.typical import Spread, of_classes, ranks

RESULTS = Path(__file__).parent / "results"
KINDS = ("left-out class", "noise", "other data")
SCORES = ("probability", "decision", "distance", "product", "inside class", "typicality")
ABOUT = ["set", "train", "classes", "accuracy", "coverage", "lowest class", "set size", "empty",
         "false alarms"]  # fmt: skip
FIELDS = ["set", "unknown", "score", "auc", "caught"]
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
    sets = clf.predict_set(X, coverage=0.9)
    hits = np.array([label in labels for label, labels in zip(y.tolist(), sets, strict=True)])
    sizes = np.array([len(labels) for labels in sets])
    lowest = min(
        (hits[y == c].mean() for c in np.unique(y) if (y == c).sum() >= FEW), default=np.nan
    )
    return [clf.score(X, y), hits.mean(), lowest, sizes.mean(), (sizes == 0).mean()]


def caught(known, unknown):
    """Return the area under the ROC curve, and the share caught with 5 % false alarms."""
    truth, scores = np.repeat([0, 1], [len(known), len(unknown)]), -np.append(known, unknown)
    alarms, hits, _ = roc_curve(truth, scores)
    return roc_auc_score(truth, scores), float(np.interp(0.05, alarms, hits))


def judged(clf, Z):
    """Return every score of sequences, small for the strange."""
    decision, p = clf.decision_function(Z), clf.p_values(Z)
    near = clf.sum_.nearness(clf._read(Z), clf.train_y_)
    known, chosen = clf.calibration_, clf.problems_.predicted(decision)
    of_chosen = np.arange(len(Z)), chosen
    far = Spread(known.sizes, known.strays).relative(near.distances())
    pair = [ranks(old, new[of_chosen].astype(np.float32)) for old, new in
            zip(known.scores.T, (-of_classes(decision), far), strict=True)]  # fmt: skip
    with patch.object(typical, "ENOUGH", 0):
        inside = known.p_values(decision, near)[of_chosen]
    chances = clf.predict_proba(Z).max(axis=1)
    return dict(zip(SCORES, [chances, *pair, pair[0] * pair[1], inside, p[of_chosen]], strict=True))


def left_out(X, y, X_test, y_test, label, others, rng):
    """Return the false alarms at 5 %, and what is caught of three kinds of unknown sequences."""
    train = [x for x, other in zip(X, y, strict=True) if other != label]
    clf = mvdfq.SequenceClassifier().fit(train, y[y != label])
    known = [x for x, other in zip(X_test, y_test, strict=True) if other != label]
    gone = [x for x, other in zip(X_test, y_test, strict=True) if other == label]
    right, caught_of = judged(clf, known), {}
    strange = gone, noise(train, rng), other_data(train, others, rng)
    for kind, Z in zip(KINDS, strange, strict=True):
        wrong = judged(clf, Z)
        caught_of |= {(kind, score): caught(right[score], wrong[score]) for score in SCORES}
    return float((right["typicality"] <= 0.05).mean()), caught_of


def measure(name):
    """Return the line of one set, and the lines of its unknown sequences."""
    X, y, X_test, y_test, _ = load_uea(name)
    rng = np.random.default_rng(0)
    tested = rng.permutation(len(y_test))[:MOST_TESTED]
    X_test, y_test = [X_test[i] for i in tested], y_test[tested]
    others = load_uea("Libras" if name != "Libras" else "UWaveGestureLibrary")[2]
    whole = sets(mvdfq.SequenceClassifier().fit(X, y), X_test, y_test)
    labels = rng.permutation(np.unique(y))[:N_LEFT_OUT] if len(np.unique(y)) > 2 else []
    done = [left_out(X, y, X_test, y_test, label, others, rng) for label in labels]
    alarms = np.mean([share for share, _ in done]) if done else np.nan
    about = [name, len(y), len(np.unique(y)), *(f"{figure:.3f}" for figure in [*whole, alarms])]
    lines = [
        [name, *key, *(f"{value:.3f}" for value in np.mean([c[key] for _, c in done], axis=0))]
        for key in (done[0][1] if done else [])
    ]
    return about, lines


def main(names):
    """Measure sets; write after every set what is known."""
    about, lines = [ABOUT], [FIELDS]
    for name in names:
        with warnings.catch_warnings(action="ignore"):
            line, more = measure(name)
        about, lines = [*about, line], [*lines, *more]
        print(*line, flush=True)
        for file_name, rows in (("unknown_sets.csv", about), ("unknown.csv", lines)):
            with (RESULTS / file_name).open("w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(rows)


def show():
    """Print the sets, and the mean of every score over the sets."""
    for row in csv.DictReader((RESULTS / "unknown_sets.csv").open()):
        print(" | ".join(row.values()))
    rows = list(csv.DictReader((RESULTS / "unknown.csv").open()))
    for score in SCORES:
        by_kind = [[row for row in rows if (row["score"], row["unknown"]) == (score, kind)]
                for kind in KINDS]  # fmt: skip
        cells = [f"{np.mean([float(row[what]) for row in part]):.2f}"
                 for what in ("auc", "caught") for part in by_kind]  # fmt: skip
        print(f"| {score} | {' | '.join(cells)} |")


if __name__ == "__main__":
    if sys.argv[1:] == ["show"]:
        show()
    else:
        main(sys.argv[1:] or [one for one in uea_names() if one != "SpokenArabicDigits"])

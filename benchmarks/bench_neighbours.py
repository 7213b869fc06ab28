"""How near are sketches to the exact kernel, and how long does `neighbours` take?

    MVDFQ_DATA=... python benchmarks/bench_neighbours.py [SET ...]

Trains the default on the training part of a set. For at most 200 test sequences: the share of the
ten training sequences that are nearest by the exact kernel of the whole sum which are also among
the ten nearest by sketches, the share whose nearest neighbour has the same class by both, the
largest and the root mean square error of a similarity, and the median processor time of
``clf.neighbours(x, 3)`` after the first call, also by a loaded model. The set "made" holds 160
recordings of 498 frames and 20 channels, the sets "made 1000" and "made 10000" short ones. Writes
results/neighbours.csv.
"""

import csv
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from archives import load_uea

import mvdfq
from mvdfq.terms.standard import WIDTH

RESULTS = Path(__file__).parent / "results"
SETS = ["JapaneseVowels", "BasicMotions", "UWaveGestureLibrary", "NATOPS", "made", "made 1000"]
FIELDS = ["set", "train", "width", "first ten", "same class", "exact class", "sketch class",
          "rms error", "largest error", "ms", "ms loaded", "kB in file"]  # fmt: skip
MOST_TESTED, TIMED = 200, 20


def load(name):
    """Return training sequences with their classes, and test sequences with theirs."""
    if name.startswith("made"):
        n = int(name.removeprefix("made") or 160)
        shape = (20, 498) if n == 160 else (3, 40)
        X, y = mvdfq.make_autoregressive(n + 40, *shape, n_classes=4, random_state=0)
        return X[:n], y[:n], X[n:], y[n:]
    return load_uea(name)[:4]


def exact(total, left, right, train):
    """Return the cosines by the exact kernel, given sequences as the terms read them."""
    K, own, other = 0, 0, 0
    for term, *read in zip(total.terms, left, right, train, strict=True):
        pieces = zip(*(term.features(one) for one in read), term.factors(), strict=True)
        for a, b, known, factor in pieces:
            dense = [one.toarray() if hasattr(one, "toarray") else one for one in (a, b, known)]
            used = np.flatnonzero(factor)
            a, b, known = (one[:, used].astype(float) * factor[used] for one in dense)
            mean = known.mean(axis=0)
            a, b = a - mean, b - mean
            K = K + term.share * (a @ b.T)
            own = own + term.share * (a**2).sum(axis=1)
            other = other + term.share * (b**2).sum(axis=1)
    return K / np.sqrt(own[:, None] * other)


def milliseconds(clf, X):
    """Return the median processor time of three neighbours of one sequence, after a first call."""
    clf.neighbours(X[0], 3)
    times = []
    for x in (X * TIMED)[:TIMED]:
        start = time.process_time()
        clf.neighbours(x, 3)
        times.append(1000 * (time.process_time() - start))
    return float(np.median(times))


def measured(name):
    """Return a row of results."""
    X, y, X_test, y_test = load(name)
    X, X_test, y, y_test = list(X), list(X_test), np.asarray(y), np.asarray(y_test)
    clf = mvdfq.SequenceClassifier().fit(X, y)
    chosen = np.linspace(0, len(X_test) - 1, min(len(X_test), MOST_TESTED)).astype(int)
    some, y_some, total = [X_test[i] for i in chosen], y_test[chosen], clf.sum_
    read, train = (total.read(clf.varying(one)) for one in (some, X))
    K, approximate = exact(total, read, train, train), total.likeness(total.points(read))
    ten = [np.argsort(-values, axis=1, kind="stable")[:, :10] for values in (K, approximate)]
    shared = [len(np.intersect1d(a, b)) / len(a) for a, b in zip(*ten, strict=True)]
    labels = [y[places[:, 0]] for places in ten]
    with tempfile.TemporaryDirectory() as folder:
        clf.save(path := Path(folder) / "model.mvdfq")
        loaded = mvdfq.load(path)
    return [
        name, len(X), WIDTH, np.mean(shared), np.mean(labels[0] == labels[1]),
        *(np.mean(nearest == y_some) for nearest in labels),
        np.sqrt(np.mean((K - approximate) ** 2)),
        np.abs(K - approximate).max(), milliseconds(clf, X_test), milliseconds(loaded, X_test),
        total.sketches.nbytes / 1000,
    ]  # fmt: skip


def main(names):
    """Measure the sets and write the table."""
    warnings.simplefilter("ignore")
    with open(RESULTS / "neighbours.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(FIELDS)
        for name in names:
            row = [f"{one:.3f}" if isinstance(one, float) else one for one in measured(name)]
            writer.writerow(row)
            file.flush()
            print(*row)


if __name__ == "__main__":
    main(sys.argv[1:] or SETS)

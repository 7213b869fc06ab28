"""Accuracy and time beside peers: UEA sets, music, proteins and letters.

    MVDFQ_DATA=... python benchmarks/bench_accuracy.py run default fast
    MVDFQ_DATA=... python benchmarks/bench_accuracy.py run minirocket muse --sets uea gtzan
    MVDFQ_DATA=... python benchmarks/bench_accuracy.py run default --sets artist20 letters
    MVDFQ_DATA=... python benchmarks/bench_accuracy.py ablate
    python benchmarks/bench_accuracy.py show

Methods are ``default`` (mvdfq without an option), presets of mvdfq, the same with all words alike
(``"fast, words alike"``), and the peers that accuracy_methods.py lists. Sets are names of sets,
``uea`` (nine sets: the official split and ten resamples, the largest set the official split alone),
``gtzan`` (three protocols), ``artist20`` and ``letters`` (default only; 54 protein families
besides).

Each run adds its lines to results/accuracy.csv and passes over lines that are there, so peers can
run in an environment of their own (aeon wants an older numba), and a run that was broken off
goes on. A resample redraws training and test part, stratified, of the official sizes. All methods
get the same parts, and this script chooses nothing. Set OMP_NUM_THREADS=1 and NUMBA_NUM_THREADS=1,
so that the times of all methods are times of one core; the time of the process on the core
(``_cpu_s``) does not depend on what else runs. Log loss and calibration error are those of the
probabilities of the test cases, where a method has probabilities.
"""

import argparse
import csv
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from accuracy_methods import VARIANTS, method
from accuracy_show import show
from accuracy_tasks import LETTERS, letters, tasks

from mvdfq.evaluation.measures import honesty_of

RESULTS = Path(__file__).parent / "results" / "accuracy.csv"
KEYS = ["set", "split", "method"]
FIELDS = [*KEYS, "metric", "value", "fit_s", "predict_s", "fit_cpu_s", "predict_cpu_s"]
FIELDS += ["log_loss", "calibration_error"]


def few(X, y, most=5):
    """Return a few cases of each class."""
    kept = np.concatenate([np.flatnonzero(y == label)[:most] for label in np.unique(y)])
    return [X[i] for i in kept], y[kept]


def warm_up(task, methods):
    """Fit every method on a few cases, so that compilation is not measured."""
    X, y, _, _ = task.parts(task.splits[0])
    small, classes = few(X, y)
    for name in methods:
        method(name).fit(small, classes).predict(small)


def clocks():
    """Return the wall time and the time of this process on the cores."""
    return np.array([perf_counter(), process_time()])


def measure(task, split, name):
    """Fit and predict once; return a line of results."""
    X_train, y_train, X_test, y_test = task.parts(split)
    model = method(name)
    begin = clocks()
    model.fit(X_train, y_train)
    middle = clocks()
    accuracy = np.mean(model.predict(X_test) == y_test)
    seconds = np.ravel([middle - begin, clocks() - middle], order="F")
    cells = [task.name, split, name, "accuracy", f"{accuracy:.4f}", *(f"{s:.3f}" for s in seconds)]
    cells += [f"{score:.4f}" for score in probability_scores(model, X_test, y_test)]
    return dict(zip(FIELDS, cells, strict=False))


def probability_scores(model, X, y):
    """Return log loss and calibration error; nothing if the method has no probabilities."""
    if not hasattr(model, "predict_proba"):
        return []
    codes, probabilities = np.searchsorted(model.classes_, y), model.predict_proba(X)
    return list(honesty_of(probabilities, codes).values())


def stored():
    """Return the lines of the results file."""
    if not RESULTS.exists():
        return []
    with open(RESULTS, newline="") as file:
        return list(csv.DictReader(file))


def run(methods, names, n_resamples):
    """Measure what is missing, line by line."""
    known = {tuple(row[key] for key in KEYS) for row in stored()}
    for task in tasks([name for name in names if name != LETTERS], n_resamples):
        every = [(split, name) for split in task.splits for name in methods]
        missing = [pair for pair in every if (task.name, *pair) not in known]
        warm_up(task, {name for _, name in missing})
        for split, name in missing:
            add(measure(task, split, name))
    if LETTERS in names and "default" in methods and ("EP300", "official", "default") not in known:
        for line in letters():
            add(line)


def add(row):
    """Append a line to the results file and show it."""
    print(*row.values(), flush=True)
    is_new = not RESULTS.exists()
    with open(RESULTS, "a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if is_new:
            writer.writeheader()
        writer.writerow(row)


def main():
    """Run methods, run the default with one part left out, or show what is stored."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=["show", "run", "ablate"], default="show")
    parser.add_argument("methods", nargs="*", help="default, a preset, or a peer")
    parser.add_argument("--sets", nargs="*", default=["uea"])
    parser.add_argument("--resamples", type=int, default=10)
    given = parser.parse_args()
    if given.what == "show":
        show(stored(), RESULTS.parent, given.methods)
    else:
        chosen = given.methods or (["default", *VARIANTS] if given.what == "ablate" else [])
        run(chosen, given.sets, given.resamples)


if __name__ == "__main__":
    main()

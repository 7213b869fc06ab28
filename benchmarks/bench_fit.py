"""Where the time of `fit` goes, beside MiniRocket, on sets of many shapes.

    MVDFQ_DATA=... python benchmarks/bench_fit.py run default fast
    MVDFQ_DATA=... python benchmarks/bench_fit.py run minirocket
    python benchmarks/bench_fit.py show

The short shapes are cut from SpokenArabicDigits, the long one is GTZAN. Peers can run in an
environment of their own (aeon wants an older numba): each run replaces its own lines of
results/fit.csv. Set OMP_NUM_THREADS=1 and NUMBA_NUM_THREADS=1, so that all methods have one core.
All times are times of the process on the core, so that other work counts little. `fit` holds more
than its stages: what the inner folds say of channels, weights of words, sketches.
"""

import argparse
import csv
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from time import process_time

import numpy as np
from accuracy_methods import PEERS, method
from archives import load_gtzan, load_uea

RESULTS = Path(__file__).parent / "results" / "fit.csv"
# Sequences, channels, longest length and classes.
SHAPES = {
    "500 x 13 x 93": (500, 13, 93, 10),
    "2459 x 6 x 36": (2459, 6, 36, 14),
    "6599 x 13 x 93": (6599, 13, 93, 10),
    "6599 x 2 x 8": (6599, 2, 8, 10),
}
LONG = "640 x 13 x 2400"
STAGES = ("symbols", "kernel", "machines")
FIELDS = ["shape", "method", "accuracy", "fit_s", *(f"{stage}_s" for stage in STAGES), "predict_s"]
# Test sequences of the short shapes.
N_TEST = 1000


def cut(shape, X, y, most):
    """Return sequences of a shape; some classes are halved by a mean to make more classes."""
    _, n_channels, length, n_classes = shape
    chosen = np.random.default_rng(0).permutation(len(y))[:most]
    X = [np.ascontiguousarray(X[i][:n_channels, :length]) for i in chosen]
    y = np.unique(y[chosen], return_inverse=True)[1]
    level = np.array([x[0].mean() for x in X])
    halved = (y < n_classes - 10) & (level > np.median(level))
    return X, np.where(halved, y + 10, y)


def parts_of(name):
    """Return training and test part of a shape."""
    if name == LONG:
        return load_gtzan()[:4]
    X, y, X_test, y_test, _ = load_uea("SpokenArabicDigits")
    shape = SHAPES[name]
    return *cut(shape, X, y, shape[0]), *cut(shape, X_test, y_test, N_TEST)


def timed(function, seconds, name):
    """Return a function that adds its seconds to ``seconds[name]``."""

    @wraps(function)
    def measured(*args, **options):
        start = process_time()
        try:
            return function(*args, **options)
        finally:
            seconds[name] = seconds.get(name, 0) + process_time() - start

    return measured


def timed_stages(seconds):
    """Make `fit` of mvdfq note the seconds of its stages."""
    from mvdfq.classifier import estimator
    from mvdfq.terms import words
    from mvdfq.terms.filters import FilterTerm

    class Timed(estimator.Progress):
        @contextmanager
        def stage(self, name):
            start, symbols = process_time(), seconds.get("symbols", 0)
            with super().stage(name) as report:
                yield report
            # terms learn bins and encode the sequences while they make the kernel matrix
            encoded = seconds.get("symbols", 0) - symbols
            seconds[name] = process_time() - start - encoded

    estimator.Progress = Timed
    words.fit_encoders = timed(words.fit_encoders, seconds, "symbols")
    FilterTerm._fit_encoders = timed(FilterTerm._fit_encoders, seconds, "symbols")


def measure(shape, name, seconds):
    """Fit and predict once; return a line of results."""
    X_train, y_train, X_test, y_test = parts_of(shape)
    few = np.concatenate([np.flatnonzero(y_train == label)[:5] for label in np.unique(y_train)])
    method(name).fit([X_train[i] for i in few], y_train[few]).predict(X_test[:2])  # compile
    seconds.clear()
    model, start = method(name), process_time()
    model.fit(X_train, y_train)
    middle = process_time()
    accuracy = np.mean(model.predict(X_test) == y_test)
    end = process_time()
    stages = [f"{seconds[stage]:.2f}" if stage in seconds else "" for stage in STAGES]
    times = [f"{middle - start:.2f}", *stages, f"{end - middle:.2f}"]
    return dict(zip(FIELDS, [shape, name, f"{accuracy:.4f}", *times], strict=True))


def stored():
    """Return the lines of the results file."""
    if not RESULTS.exists():
        return []
    with open(RESULTS, newline="") as file:
        return list(csv.DictReader(file))


def run(names):
    """Measure methods on all shapes and store the lines."""
    seconds = {}
    if any(name not in PEERS for name in names):
        timed_stages(seconds)
    for name in names:
        lines = []
        for shape in [*SHAPES, LONG]:
            lines.append(measure(shape, name, seconds))
            print(*lines[-1].values(), sep="\t", flush=True)
        kept = [line for line in stored() if line["method"] != name]
        with open(RESULTS, "w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows([*kept, *lines])


def show():
    """Print the table, and the ratios to MiniRocket of fit and prediction together."""
    lines = stored()
    print(*FIELDS, sep="\t")
    for line in lines:
        print(*line.values(), sep="\t")
    total = {(line["shape"], line["method"]): float(line["fit_s"]) + float(line["predict_s"])
             for line in lines}  # fmt: skip
    for name in sorted({line["method"] for line in lines} - {"minirocket"}):
        known = [s for s in SHAPES if (s, name) in total and (s, "minirocket") in total]
        ratios = [total[s, name] / total[s, "minirocket"] for s in known]
        if ratios:
            mean = np.exp(np.mean(np.log(ratios)))
            print(f"{name}: {mean:.2f} x MiniRocket, geometric mean over the short shapes")


def main():
    """Run methods or show what is stored."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=["show", "run"], default="show")
    parser.add_argument("methods", nargs="*", help="default, a preset, or a peer")
    given = parser.parse_args()
    show() if given.what == "show" else run(given.methods)


if __name__ == "__main__":
    main()

"""How long does the prediction of one clip take, on one core?

``python benchmarks/bench_predict.py`` prints a table and writes it to results/predict.csv. The clip
has 13 x 2400 values, and the models learned from 1000 such clips (GTZAN in the folder MVDFQ_DATA,
else a stand-in of the same shape). Times are times of the process on the core, so that other work
on the machine counts little. For kernels with a word table, the last columns say how long the
comparison with all training clips takes, which the table replaces.
"""

import csv
import time
from pathlib import Path

import numpy as np
from data import music

import mvdfq

MODELS = {
    "default": {},
    "fast": {"preset": "fast"},
    "music": {"preset": "music"},
    "8 quantile bins, SSSK, one-vs-rest": {
        "symbols": mvdfq.DirectQuantizer(8), "kernel": "sssk", "pyramid": 1,
    },
    "mvdfqm-spectrum (one-vs-one)": {"preset": "mvdfqm-spectrum", "C": 10},
    "mvdfqm-sssk (one-vs-one)": {"preset": "mvdfqm-sssk", "C": 10},
}  # fmt: skip


def times(function, repeat):
    """Return the times of several runs, in milliseconds, after one run to warm up."""
    function()
    times = []
    for _ in range(repeat):
        start = time.process_time()
        function()
        times.append(1e3 * (time.process_time() - start))
    return np.array(times)


def one_thread(clf):
    """Let a fitted classifier predict with one thread."""
    for term in clf.terms_:
        term.n_jobs = None
        for bank in getattr(term, "banks", []):
            bank.n_jobs = None


def measure(name, options, X, y, source):
    """Fit a model, and return its line of the table."""
    start = time.process_time()
    clf = mvdfq.SequenceClassifier(n_jobs=2, **options).fit(X, y)
    fit = time.process_time() - start
    one_thread(clf)
    predict, clip = times(lambda: clf.predict(X[:1]), 50), X[:1]
    line = dict(
        model=name, data=source, train=len(X), fit_cpu_s=round(fit, 1),
        best_ms=round(predict.min(), 2), median_ms=round(float(np.median(predict)), 2),
        kernel_row_ms="", ratio="",
    )  # fmt: skip
    kernel = getattr(clf.terms_[0], "reader", None)
    if isinstance(kernel, mvdfq.SequenceKernel) and clf.terms_[0].table is not None:
        symbols = clf.terms_[0].read(clip)
        row = times(lambda: kernel.set_params(n_jobs=None).values(symbols), 2).min()
        line |= dict(kernel_row_ms=round(row, 1), ratio=round(row / predict.min(), 1))
    return line


def main():
    """Measure every model."""
    X, source = music(1000, 2400)
    y = np.repeat(np.arange(10), 100)
    rows = []
    for name, options in MODELS.items():
        rows.append(measure(name, options, X, y, source))
        print(*rows[-1].values(), flush=True)
    with open(Path(__file__).parent / "results" / "predict.csv", "w", newline="") as file:
        table = csv.DictWriter(file, rows[0].keys())
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()

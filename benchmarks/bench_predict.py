"""How fast is prediction by table, beside computing the kernel with all training sequences?

``python benchmarks/bench_predict.py`` prints a table and writes it to results/predict.csv. One
thread; the sequence is a clip of 13 x 2400 values, learned from 1000 of them (GTZAN in the folder
MVDFQ_DATA, else a stand-in of the same shape).
"""

import csv
import time
from pathlib import Path

import numpy as np
from data import music

import mvdfq

MODELS = {
    "default": {},
    "8 quantile bins, SSSK, one-vs-rest": {
        "symbols": mvdfq.DirectQuantizer(8), "kernel": "sssk", "pyramid": 1,
    },
    "mvdfqm-spectrum (one-vs-one)": {"preset": "mvdfqm-spectrum", "C": 10},
    "mvdfqm-sssk (one-vs-one)": {"preset": "mvdfqm-sssk", "C": 10},
}  # fmt: skip


def best(function, repeat):
    """Best wall time of several runs."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(name, options, X, y, source):
    """One line of the table."""
    clf = mvdfq.SequenceClassifier(n_jobs=2, **options)
    fit = best(lambda: clf.fit(X, y), 1)
    clf.kernel_.n_jobs = clf.machine_.n_jobs = None  # one thread from here
    table = best(lambda: clf.machine_.table, 1)
    clip = X[:1]
    symbols = clf.encode(clip)
    predict = best(lambda: clf.predict(clip), 30)
    encode = best(lambda: clf.encode(clip), 30)
    kernel = best(lambda: clf.kernel_.values(symbols), 2)
    nbytes = clf.machine_.table.nbytes if clf.machine_.table is not None else 0
    return dict(
        model=name, data=source, train=len(X), fit_s=round(fit, 1), table_s=round(table, 1),
        table_MB=round(nbytes / 1e6, 1), predict_ms=round(1e3 * predict, 2),
        of_which_encode_ms=round(1e3 * encode, 2), kernel_row_ms=round(1e3 * kernel, 1),
        ratio=round((kernel + encode) / predict, 1),
        reached="yes" if predict < 0.01 and kernel >= 50 * (predict - encode) else "no",
    )  # fmt: skip


def main():
    """Measure every model."""
    X, source = music(1000, 2400)
    y = np.repeat(np.arange(10), 100)
    rows = []
    for name, options in MODELS.items():
        rows.append(measure(name, options, X, y, source))
        print(*rows[-1].items(), sep="\n  ", flush=True)
    with open(Path(__file__).parent / "results" / "predict.csv", "w", newline="") as file:
        table = csv.DictWriter(file, rows[0].keys())
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()

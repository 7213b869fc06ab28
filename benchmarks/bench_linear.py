"""Many short sequences: the linear path beside HashingVectorizer and SGDClassifier.

``python benchmarks/bench_linear.py`` writes results/linear.csv: time, processor time and
anonymous memory of a fit on 200 000 sequences (20 frames, 3 channels, 10 classes), the accuracy on
new sequences, and the time of the features alone. The peer, from scikit-learn, hashes the same
words, which are written as text first; 12 000 sequences are compared.
``bench_linear.py features digits`` measures only these sections; sections are features, digits and
fit. The machine may be shared: processor time tells what the work takes.
"""

import csv
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from archives import load_uea
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

import mvdfq
from mvdfq.terms.base import Work

RESULTS = Path(__file__).parent / "results" / "linear.csv"
FIELDS = ["section", "method", "sequences", "wall_s", "cpu_s", "anonymous_GB", "accuracy", "note"]
N, N_TEST, N_PEER = 200_000, 5000, 12_000
N_JOBS, MEMORY = 2, "2800 MB"


def made(n, seed):
    """Sums of three sines per channel and class, shifted in time, with noise."""
    shape = (10, 3, 3)
    fixed, random = np.random.default_rng(99), np.random.default_rng(seed)
    rates, phases = fixed.uniform(0.05, 0.35, shape), fixed.uniform(0, 2 * np.pi, shape)
    sizes, t = fixed.normal(size=shape), np.arange(20)
    y = random.integers(0, 10, n)
    X = np.empty((n, 3, 20), np.float32)
    for a in range(0, n, 10_000):
        labels = y[a : a + 10_000]
        moved = t + random.uniform(-3, 3, (len(labels), 1, 1, 1))
        angles = 2 * np.pi * rates[labels][..., None] * moved + phases[labels][..., None]
        waves = (sizes[labels][..., None] * np.sin(angles)).sum(axis=2)
        X[a : a + 10_000] = waves + 1.5 * random.normal(size=waves.shape)
    return X, y


class Watch:
    """Wall time, processor time and the most anonymous memory of a block of code."""

    def __enter__(self):
        self.peak, self.done = 0.0, threading.Event()
        self.thread = threading.Thread(target=self._look, daemon=True)
        self.thread.start()
        self.start = time.perf_counter(), time.process_time()
        return self

    def _look(self):
        while not self.done.wait(0.5):
            text = Path("/proc/self/smaps_rollup").read_text()
            kilobytes = next(line for line in text.splitlines() if line.startswith("Anonymous:"))
            self.peak = max(self.peak, int(kilobytes.split()[1]) / 1e6)

    def __exit__(self, *rest):
        self.wall = time.perf_counter() - self.start[0]
        self.cpu = time.process_time() - self.start[1]
        self.done.set()
        self.thread.join()

    def row(self, section, method, n, accuracy="", scale=1, note=""):
        """One line of the table."""
        times = round(scale * self.wall, 1), round(scale * self.cpu, 1)
        values = section, method, n, *times, round(self.peak, 2), accuracy, note
        return dict(zip(FIELDS, values, strict=True))


def as_text(codes, layouts, cells):
    """Write the words of one sequence as tokens: row, layout, cell, symbols."""
    tokens = []
    for r, row in enumerate(codes.tolist()):
        for g, layout in enumerate(layouts):
            n = len(row) - layout[-1]
            for t in range(n):
                word = "".join(str(row[t + offset]) for offset in layout)
                tokens.append(f"{r}.{g}.0.{word}")
                if cells:
                    tokens.append(f"{r}.{g}.{1 + 2 * t // n}.{word}")
    return tokens


def features():
    """The same words counted here and by HashingVectorizer, and a linear machine on each."""
    X, y = made(N_PEER, 0)
    X_test, y_test = made(N_TEST, 1)
    X, X_test = mvdfq.check_sequences(X), mvdfq.check_sequences(X_test)
    term = mvdfq.preset_terms("numbers")[0]
    words = term.source(X, y, Work())
    symbols = words.read(X)
    words.block(symbols[:50])
    with Watch() as words_watch:
        for a in range(0, len(symbols), 2000):
            words.block(symbols[a : a + 2000])
    yield words_watch.row("features", "mvdfq", N_PEER)
    layouts = [layout.offsets for group in term.kernel.groups(2) for layout in group.layouts]
    hashing = HashingVectorizer(
        analyzer=lambda codes: as_text(codes, layouts, True), alternate_sign=False, norm="l2"
    )
    with Watch() as theirs:
        F = hashing.transform(list(symbols))
    note = f"{theirs.cpu / words_watch.cpu:.1f} x the processor time of mvdfq"
    yield theirs.row("features", "HashingVectorizer", N_PEER, note=note)
    with Watch() as learned:
        sgd = SGDClassifier(alpha=1e-6, random_state=0).fit(F.sqrt(), y)
    right = sgd.score(hashing.transform(list(words.read(X_test))).sqrt(), y_test)
    yield learned.row("fit", "SGDClassifier on hashed words", N_PEER, round(right, 4))
    with Watch() as ours:
        few = mvdfq.SequenceClassifier(n_jobs=N_JOBS).fit(X, y)
    yield ours.row("fit", "mvdfq, features and fit", N_PEER, round(few.score(X_test, y_test), 4))


def digits():
    """What the linear path costs in accuracy: SpokenArabicDigits by matrix and by passes."""
    from mvdfq.classifier import parts

    X, y, X_test, y_test, _ = load_uea("SpokenArabicDigits")
    for method, many in [("kernel matrix", 10_000), ("passes", 100)]:
        parts.MANY = many
        with Watch() as watch:
            clf = mvdfq.SequenceClassifier(n_jobs=N_JOBS).fit(X, y)
        right = round(clf.score(X_test, y_test), 4)
        yield watch.row("SpokenArabicDigits", method, len(y), right)
    parts.MANY = 10_000


def fit():
    """Train on 200 000 sequences."""
    X, y = made(N, 0)
    with Watch() as watch:
        clf = mvdfq.SequenceClassifier(n_jobs=N_JOBS, memory_limit=MEMORY, verbose=True).fit(X, y)
    right = round(clf.score(*made(N_TEST, 1)), 4)
    note = f"accuracy on held-out sequences {clf.validation_score_:.4f}"
    yield watch.row("fit", "mvdfq, features and fit", N, right, note=note)


def main():
    """Measure the sections that were named, or all; keep the lines of the others."""
    warnings.simplefilter("ignore")
    sections = {"features": features, "digits": digits, "fit": fit}
    for name in sys.argv[1:] or sections:
        for row in sections[name]():
            print(row, flush=True)
            old = list(csv.DictReader(RESULTS.open())) if RESULTS.exists() else []
            key = [row["section"], row["method"], str(row["sequences"])]
            names = "section", "method", "sequences"
            kept = [other for other in old if [other[name] for name in names] != key]
            with RESULTS.open("w", newline="") as file:
                writer = csv.DictWriter(file, FIELDS)
                writer.writeheader()
                writer.writerows(sorted([*kept, row], key=lambda other: str(other["section"])))


if __name__ == "__main__":
    main()

"""Is a rare class found? The boundary between two classes of unlike size, moved and not moved.

    MVDFQ_DATA=... python benchmarks/bench_rare.py
    python benchmarks/bench_rare.py show

Three of the classes of each UEA set against the rest, the five tasks of proteins and text of which
one class is small, and made proteins: two copies of a motif of twelve residues among 133, 5 or 20
of them beside 500 without the motif. Every task with and without ``class_weight="balanced"``.
Writes one line per task to results/rare.csv; ``show`` prints means.
"""

import csv
import sys
import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np
from archives import load_uea, uea_names
from bench_letters import load
from sklearn.metrics import accuracy_score, balanced_accuracy_score

import mvdfq
from mvdfq.evaluation.measures import honesty_of
from mvdfq.terms.validation import Trainer

RESULTS = Path(__file__).parent / "results" / "rare.csv"
SCORES = ["accuracy", "balanced accuracy", "log loss", "calibration error"]
FIELDS = ["kind", "task", "class weight", "boundary", *SCORES]
# How far a boundary is moved: the penalty is chosen before, and stays the same.
BOUNDARIES = {"as trained": lambda *given: 0.0, "moved": Trainer._shift}
STRINGS = ("1.1", "2.34", "2.19", "MedLine", "AImed")
RESIDUES = np.array([*"ACDEFGHIKLMNPQRSTVWY"])


def proteins(n_rare, n_others, rng):
    """Return made proteins, the rare class first, and their classes."""
    rows = rng.choice(RESIDUES, (n_rare + n_others, 133))
    for row in rows[:n_rare]:
        for first in rng.integers(0, 100, 2):
            row[first : first + 12] = [*"WCHKWMYWCHHK"]
    return ["".join(row) for row in rows], np.repeat([1, 0], [n_rare, n_others])


def tasks():
    """Yield kind, name, training and test part."""
    for n_rare in (5, 20):
        rng = np.random.default_rng(0)
        yield "made", f"{n_rare} of 500", *proteins(n_rare, 500, rng), *proteins(50, 500, rng)
    for name in STRINGS:
        yield "strings", name, *load(name, "train"), *load(name, "test")
    for name in uea_names():
        X, y, X_test, y_test, _ = load_uea(name)
        classes = np.unique(y)
        for label in classes[:3] if len(classes) > 3 else ():
            parts = X, (y == label).astype(int), X_test, (y_test == label).astype(int)
            yield "series", f"{name}, {label}", *parts


def scores(X, y, X_test, y_test, class_weight):
    """Return the scores of one fit."""
    model = mvdfq.SequenceClassifier(class_weight=class_weight).fit(X, y)
    predicted, honesty = model.predict(X_test), honesty_of(model.predict_proba(X_test), y_test)
    right = accuracy_score(y_test, predicted), balanced_accuracy_score(y_test, predicted)
    return [f"{score:.4f}" for score in (*right, *honesty.values())]


def lines():
    """Yield the lines of all tasks."""
    for kind, name, *parts in tasks():
        for weight in (None, "balanced"):
            for boundary in BOUNDARIES:
                with patch.object(Trainer, "_shift", BOUNDARIES[boundary]):
                    cells = [kind, name, weight or "none", boundary, *scores(*parts, weight)]
                print(*cells, flush=True)
                yield dict(zip(FIELDS, cells, strict=True))


def run():
    """Measure all tasks and write the results file."""
    warnings.simplefilter("ignore")
    with open(RESULTS, "w", newline="") as file:
        table = csv.DictWriter(file, FIELDS)
        table.writeheader()
        table.writerows(lines())


def show():
    """Print the means of each kind."""
    with open(RESULTS, newline="") as file:
        rows = list(csv.DictReader(file))
    by_case = {}
    for row in rows:
        by_case.setdefault((row["kind"], row["class weight"], row["boundary"]), []).append(row)
    for about, alike in by_case.items():
        means = np.mean([[float(row[score]) for score in SCORES] for row in alike], axis=0)
        print(f"{', '.join(about):32} {len(alike):3}", *(f"{mean:.3f}" for mean in means))


if __name__ == "__main__":
    if sys.argv[1:] != ["show"]:
        run()
    show()

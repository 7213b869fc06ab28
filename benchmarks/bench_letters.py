"""How good and how fast is the default for strings? DNA, short protein tasks, 54 families.

``python benchmarks/bench_letters.py`` compares kernels for DNA by five inner folds of the training
parts, then measures the default once on the official test parts, and prints and writes both
(results/letters.csv). No choice looks at a test part. Needs the folder MVDFQ_DATA; takes about ten
minutes on one core. ``choose`` or ``test`` as an argument does one half only.
"""

import csv
import sys
import time
import warnings
from itertools import chain
from pathlib import Path

import numpy as np
from archives import FOLDER, load_proteins
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC
from sklearn.utils import compute_sample_weight

import mvdfq
from mvdfq.classifier.lazy import fitted_kernel
from mvdfq.classifier.presets import PRESETS, nucleic
from mvdfq.evaluation import roc50
from mvdfq.io import read
from mvdfq.terms.svm import Problems
from mvdfq.terms.validation import Trainer, inner_folds

RESULTS = Path(__file__).parent / "results"
DNA, PROTEINS = ("EP300", "SIN3A"), ("1.1", "2.34")

# Kernels for DNA and levels of the pyramid; None is the kernel of the default.
CANDIDATES = {
    "default": (None, 1),
    "default, pyramid 2": (None, 2),
    "triples, pyramid 3": (PRESETS["letters"]().terms[0].kernel, 3),
    "Spatial(3,2,3)": (mvdfq.Spatial(3, 2, 3), 1),
    "Spatial(3,2,5)": (mvdfq.Spatial(3, 2, 5), 1),
    "Gapped(8,6)": (mvdfq.Gapped(8, 6), 1),
}


def load(name, part, strands="one"):
    """Sequences and classes of the training or test part of a set."""
    data = read(FOLDER / "letters" / f"{name}.{part}.fasta.gz", label=1, strands=strands)
    return data.X, (data.y == "1").astype(int)


def measured(clf, X, y, X_test, y_test):
    """AUC, the penalty taken, and seconds to fit and to rank."""
    start = time.perf_counter()
    clf.fit(X, y)
    middle = time.perf_counter()
    auc = roc_auc_score(y_test, clf.decision_function(X_test))
    seconds = middle - start, time.perf_counter() - middle
    return auc, clf.C_, *(round(s, 1) for s in seconds)


def row(part, name, strands, candidate, metric, values):
    """One line of the table; in inner folds, the time to fit is that of the kernel matrix."""
    value, C, fit, predict = values
    return dict(part=part, set=name, strands=strands, candidate=candidate, metric=metric,
                value=round(value, 4), C=C, fit_s=fit, predict_s=predict)  # fmt: skip


def choice():
    """Yield a line for every set, strand, candidate and C: mean AUC of five inner folds."""
    for name in DNA:
        for strands in ("one", "both"):
            X, y = load(name, "train", strands)
            for candidate, (kernel, pyramid) in CANDIDATES.items():
                start = time.perf_counter()
                reader = mvdfq.SequenceKernel(
                    kernel or nucleic().kernel, manifold=True, pyramid=pyramid, n_jobs=1
                )
                K = reader.fit_transform(X)
                seconds = round(time.perf_counter() - start, 1)
                for C in (1.0, 10.0):
                    values = inner_auc(K, y, C), C, seconds, ""
                    yield row("inner folds", name, strands, candidate, "AUC", values)


def inner_auc(K, y, C):
    """Mean AUC of five folds."""
    aucs = []
    for learn, check in inner_folds(y, None, 5, 0):
        machine = SVC(kernel="precomputed", C=C).fit(K[np.ix_(learn, learn)], y[learn])
        aucs.append(roc_auc_score(y[check], machine.decision_function(K[np.ix_(check, learn)])))
    return np.mean(aucs)


def default():
    """Return the classifier as it is without an option, on one core."""
    return mvdfq.SequenceClassifier(n_jobs=1)


def test():
    """Yield a line for every set: the default on the official test parts."""
    for name in DNA + PROTEINS:
        for strands in ("one", "both") if name in DNA else ("one",):
            parts = *load(name, "train", strands), *load(name, "test", strands)
            values = measured(default(), *parts)
            yield row("test part", name, strands, "default", "AUC", values)
    yield from families()


def families():
    """Yield the mean ROC50 of 54 families, without and with balanced classes."""
    X, _, splits = load_proteins()
    start = time.perf_counter()
    kernel = fitted_kernel(default(), X)
    K = kernel.compare(kernel.train_, None)[0]
    seconds = round(time.perf_counter() - start, 1)
    for weight in (None, "balanced"):
        values = np.mean([family(K, split, weight) for split in splits.values()], axis=0)
        candidate = "default" if weight is None else "default, balanced"
        cells = (*values, seconds, "")
        yield row("test part", "54 families", "one", candidate, "ROC50", cells)


def family(K, split, class_weight):
    """ROC50 of one family by the machines of the default, and the penalty taken."""
    learn = np.array(split["pos-train"] + split["neg-train"])
    check = np.array(split["pos-test"] + split["neg-test"])
    y = (np.arange(len(learn)) < len(split["pos-train"])).astype(int)
    problems, values = Problems(2, "ovr"), K[np.ix_(learn, learn)]
    trainer = Trainer(problems, y, compute_sample_weight(class_weight, y))
    trained = trainer(lambda _: values, PRESETS["letters"]().C, lambda *_: None)
    decision = problems.decision(trained.margins.of(K[np.ix_(check, learn)]))
    return roc50(np.arange(len(check)) < len(split["pos-test"]), decision), trained.C


def main():
    """Choose, then test."""
    warnings.simplefilter("ignore")
    default().fit(["ACGTACGT", "GGTTACCA"] * 4, [0, 1] * 4)  # compile before clocks run
    only, done = sys.argv[1:], []
    for line in chain(() if "test" in only else choice(), () if "choose" in only else test()):
        print(*line.values(), sep="\t", flush=True)
        done.append(line)
    with open(RESULTS / "letters.csv", "w", newline="") as file:
        table = csv.DictWriter(file, done[0].keys())
        table.writeheader()
        table.writerows(done)


if __name__ == "__main__":
    main()

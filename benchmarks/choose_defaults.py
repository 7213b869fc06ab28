"""Which parts should SequenceClassifier have by default?

``python benchmarks/choose_defaults.py`` compares candidates by inner cross-validation on the
training parts of a dozen sets (results/defaults.csv), then measures what was chosen on the official
test parts, beside aeon's MiniRocketClassifier in the same run where aeon is installed
(results/defaults_test.csv). No choice looks at a test part. Needs the folder MVDFQ_DATA; takes
about an hour on two cores. ``choose`` or ``test`` as an argument does one half only.
"""

import csv
import sys
import time
import warnings
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
from archives import load_gtzan, load_proteins, load_uea, uea_names
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import mvdfq
from mvdfq.classifier.presets import PRESETS
from mvdfq.evaluation import roc50

RESULTS = Path(__file__).parent / "results"
N_JOBS = 2
# Inner validation looks at no more sequences than this, so that the largest set stays affordable.
MOST = 500
SEEDS = (0, 1, 2)


def words(steps, singles=0.01):
    """Triples at several dilations, and short words of little weight."""
    layouts = [(0,), (0, 1), *((0, step, 2 * step) for step in steps)]
    return mvdfq.Words(layouts, weights=[singles] * 2 + [1] * len(steps))


def views(chosen, max_sets=20, n_bins=6):
    """Rows of the default, or some of them."""
    joint, direct = mvdfq.JointQuantizer(2, n_bins=3, max_sets=max_sets), mvdfq.DirectQuantizer
    slope = mvdfq.Delta(keep=False)
    every = {
        "a": make_pipeline(mvdfq.Smooth(9), mvdfq.Rotate(deltas=True), joint),
        "b": make_pipeline(mvdfq.Smooth(5), slope, joint),
        "c": make_pipeline(mvdfq.Delta(), mvdfq.Standardize(), mvdfq.Rotate(), direct(n_bins)),
        "d": make_pipeline(mvdfq.Smooth(9), slope, mvdfq.Rotate(), direct(n_bins)),
        "raw": direct(n_bins),
        "delta": make_pipeline(slope, direct(n_bins)),
        "pca": make_pipeline(mvdfq.Rotate(deltas=True), direct(n_bins)),
    }
    return mvdfq.Rows([(name, every[name]) for name in chosen])


CANDIDATES = {
    "default": {},
    "plain rows: raw, delta, PCA of both": {"symbols": views(["raw", "delta", "pca"])},
    "views a b c": {"symbols": views("abc")},
    "views c d, no pairs": {"symbols": views("cd")},
    "40 pairs": {"symbols": views("abcd", max_sets=40)},
    "4 bins": {"symbols": views("abcd", n_bins=4)},
    "8 bins": {"symbols": views("abcd", n_bins=8)},
    "dilations 1 2 4 8 16": {"kernel": words((1, 2, 4, 8, 16))},
    "dilation 1": {"kernel": words((1,))},
    "short words of full weight": {"kernel": words((1, 4, 16), singles=1)},
    "no manifold": {"manifold": False},
    "pyramid 1": {"pyramid": 1},
    "pyramid 3": {"pyramid": 3},
    "C 1": {"C": 1},
    "C 10": {"C": 10},
    "C auto": {"C": "auto"},
    "one-vs-one": {"multi_class": "ovo"},
    "Hellinger RBF, gamma 1": {"gamma": 1.0},
    "learned row weights": {"weights": "rows"},
}
# Strings: the kernel, and the levels of the pyramid.
STRINGS = {
    "default": {},
    "pyramid 1": {"pyramid": 1},
    "pyramid 2": {"pyramid": 2},
    "Spatial(3,1,3)": {"kernel": mvdfq.Spatial(3, 1, 3)},
    "Spectrum(3)": {"kernel": mvdfq.Spectrum(3)},
    "Mismatch(5,1), no manifold": {"kernel": mvdfq.Mismatch(5, 1), "manifold": False},
    "no manifold": {"manifold": False},
}


def some(X, y, groups):
    """At most MOST training sequences, classes in proportion."""
    if len(y) <= MOST:
        return X, y, groups
    chosen, _ = next(StratifiedShuffleSplit(1, train_size=MOST, random_state=0).split(y, y))
    return [X[i] for i in chosen], y[chosen], None if groups is None else groups[chosen]


def validate(X, y, groups, options):
    """Mean and spread of the accuracy in the inner folds of several seeds."""
    scores = []
    for seed in SEEDS if len(y) < 300 else SEEDS[:1]:
        clf = mvdfq.SequenceClassifier(n_jobs=N_JOBS, random_state=seed, **options)
        clf.fit(X, y, groups=groups)
        scores += clf.validation_scores_[np.argmax(clf.validation_scores_.mean(axis=1))].tolist()
    return np.mean(scores), np.std(scores)


def inner_validation(sets):
    """Yield a row for every set and candidate."""
    for name, (X, y, _, _, groups) in sets.items():
        X, y, groups = some(X, y, groups)
        for candidate, options in CANDIDATES.items():
            start = time.perf_counter()
            mean, spread = validate(X, y, groups, options)
            yield dict(set=name, n=len(y), candidate=candidate, metric="accuracy",
                       mean=round(mean, 4), std=round(spread, 4),
                       seconds=round(time.perf_counter() - start, 1))  # fmt: skip


def string_gram(X, options):
    """Gram matrix of strings, by the default with some parts replaced."""
    (settings,) = PRESETS["letters"]().terms
    kernel = mvdfq.SequenceKernel(
        options.get("kernel", settings.kernel),
        manifold=options.get("manifold", settings.manifold),
        pyramid=options.get("pyramid", 1 if "kernel" in options else settings.pyramid),
        n_jobs=N_JOBS,
    )
    return kernel.fit_transform(X)


def family_folds(split, families):
    """Cut the training part of a family: positives by their SCOP families, negatives at random."""
    random = np.random.default_rng(1)
    positive, negative = np.array(split["pos-train"]), random.permutation(split["neg-train"])
    shuffled = random.permutation(np.unique(families[positive]))
    for part, others in zip(np.array_split(shuffled, 3), np.array_split(negative, 3), strict=True):
        held_out = np.isin(families[positive], part)
        if 0 < held_out.sum() < len(positive):
            check = np.concatenate([positive[held_out], others])
            learn = np.concatenate([positive[~held_out], np.setdiff1d(negative, others)])
            yield learn, np.isin(learn, positive), check, np.isin(check, positive)


def rank(K, learn, y, check):
    """Decision values of a balanced machine."""
    machine = SVC(kernel="precomputed", C=100, class_weight="balanced")
    return machine.fit(K[np.ix_(learn, learn)], y).decision_function(K[np.ix_(check, learn)])


def protein_validation():
    """Yield a row for every candidate: ROC50 in folds that hold whole families out."""
    X, families, splits = load_proteins()
    useful = [f for f, s in sorted(splits.items()) if len(set(families[s["pos-train"]])) > 1]
    chosen = np.random.default_rng(0).choice(useful, 8, replace=False)
    for candidate, options in STRINGS.items():
        start = time.perf_counter()
        K = string_gram(X, options)
        values = [
            roc50(truth, rank(K, learn, y, check))
            for family in chosen
            for learn, y, check, truth in family_folds(splits[family], families)
        ]
        yield dict(set="proteins", n=len(X), candidate=candidate, metric="ROC50",
                   mean=round(np.mean(values), 4), std=round(np.std(values), 4),
                   seconds=round(time.perf_counter() - start, 1))  # fmt: skip
        if candidate == "default":
            yield protein_test(K, splits)


def protein_test(K, splits):
    """Mean ROC50 of all families on their official test parts."""
    values = []
    for split in splits.values():
        learn = np.array(split["pos-train"] + split["neg-train"])
        check = np.array(split["pos-test"] + split["neg-test"])
        y = np.arange(len(learn)) < len(split["pos-train"])
        truth = np.arange(len(check)) < len(split["pos-test"])
        values.append(roc50(truth, rank(K, learn, y, check)))
    mean, spread = round(np.mean(values), 4), round(np.std(values), 4)
    return dict(set="proteins, 54 test parts", n=len(K), candidate="default", metric="ROC50",
                mean=mean, std=spread, seconds="")  # fmt: skip


def official_test(sets):
    """Yield a row for every set: accuracy and seconds of ours and of MiniRocket."""
    for name, (X, y, X_test, y_test, groups) in sets.items():
        clf = mvdfq.SequenceClassifier(n_jobs=N_JOBS)
        row = {"set": name, "train": len(y), "test": len(y_test)}
        row |= measured("ours", partial(clf.fit, X, y, groups=groups), clf, X_test, y_test)
        row |= minirocket(X, y, X_test, y_test)
        yield row


def measured(who, fit, clf, X_test, y_test):
    """Accuracy on the test part, and how long fitting and predicting took."""
    start = time.perf_counter()
    fit()
    middle = time.perf_counter()
    accuracy = np.mean(clf.predict(X_test) == y_test)
    end = time.perf_counter()
    return {who: round(float(accuracy), 4), f"{who} fit s": round(middle - start, 1),
            f"{who} predict s": round(end - middle, 1)}  # fmt: skip


def minirocket(X, y, X_test, y_test):
    """The same for MiniRocket; shorter sequences are filled up with their last value."""
    try:
        from aeon.classification.convolution_based import MiniRocketClassifier
    except ImportError:
        return {"MiniRocket": "", "MiniRocket fit s": "", "MiniRocket predict s": ""}
    longest = max(9, *(x.shape[1] for x in [*X, *X_test]))
    padded = [
        np.stack([np.pad(x, ((0, 0), (0, longest - x.shape[1])), mode="edge") for x in part])
        for part in (X, X_test)
    ]
    clf = MiniRocketClassifier(random_state=0, n_jobs=N_JOBS)
    return measured("MiniRocket", lambda: clf.fit(padded[0], y), clf, padded[1], y_test)


def write(name, rows):
    """Print rows as they come and write them all to a file."""
    done = []
    for row in rows:
        print(*row.values(), sep="\t", flush=True)
        done.append(row)
        with open(RESULTS / name, "w", newline="") as file:
            table = csv.DictWriter(file, done[0].keys())
            table.writeheader()
            table.writerows(done)


def main():
    """Choose, then test."""
    warnings.simplefilter("ignore")
    sets = {name: load_uea(name) for name in uea_names()} | {"GTZAN": load_gtzan()}
    only = sys.argv[1:]
    if "test" not in only:
        write("defaults.csv", chain(inner_validation(sets), protein_validation()))
    if "choose" not in only:
        write("defaults_test.csv", official_test(sets))


if __name__ == "__main__":
    main()

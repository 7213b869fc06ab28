"""How good and how fast is the default for strings? DNA, proteins, text, 54 families.

``python benchmarks/bench_letters.py`` compares kernels and penalties by inner folds of the training
parts, then measures the default once on the official test parts, and prints and writes all of it
(results/letters.csv). No choice looks at a test part. The test parts of the proteins hold six to
nine positives, so all groups of positives of both parts are held out in turn as well.
``made``, ``kernels``, ``penalties``, ``text``, ``test`` or ``groups`` as arguments do these parts
alone, and names of sets these sets alone; other lines of the file stay as they are.
Needs the folder MVDFQ_DATA; takes about twenty minutes on one core. Times are processor seconds.
"""

import csv
import gzip
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from archives import FOLDER, load_proteins
from sklearn.metrics import recall_score, roc_auc_score
from sklearn.svm import SVC
from sklearn.utils import compute_sample_weight

import mvdfq
from mvdfq.classifier.presets import PENALTIES, nucleic, strings, text
from mvdfq.classifier.similarity import fitted_kernel
from mvdfq.evaluation import roc50
from mvdfq.io import read_fasta
from mvdfq.terms.relatives import relatives
from mvdfq.terms.svm import Problems
from mvdfq.terms.validation import Trainer, inner_folds

RESULTS = Path(__file__).parent / "results"
DNA, PROTEINS, TEXT = ("EP300", "SIN3A", "TP53"), ("1.1", "2.34", "2.19"), ("AImed", "MedLine")
FAMILIES = "54 families"
# Made strings: letters, number of strings, length.
MADE = {
    "2500 random proteins": ("ACDEFGHIKLMNPQRSTVWY", 2500, 133),
    "6000 random proteins": ("ACDEFGHIKLMNPQRSTVWY", 6000, 133),
    "10000 random windows": ("ACGT", 10_000, 200),
}
SETS = (*DNA, *PROTEINS, *TEXT, *MADE, FAMILIES)

# Kernels for DNA and levels of the pyramid.
FOR_DNA = {
    "default": (nucleic().kernel, 1),
    "default, pyramid 2": (nucleic().kernel, 2),
    "triples, pyramid 3": (strings().kernel, 3),
    "Spatial(3,2,3)": (mvdfq.Spatial(3, 2, 3), 1),
    "Spatial(3,2,5)": (mvdfq.Spatial(3, 2, 5), 1),
    "Gapped(8,6)": (mvdfq.Gapped(8, 6), 1),
}


def runs(first, last):
    """Words of `first` to `last` letters without gaps."""
    return mvdfq.Words([tuple(range(n)) for n in range(first, last + 1)])


# Kernels for text, levels of the pyramid, and whether lower case is read as upper case.
FOR_TEXT = {
    "default": (text().kernel, 1, True),
    "case kept": (text().kernel, 1, False),
    "pyramid 2": (text().kernel, 2, True),
    "1 to 5 letters": (runs(1, 5), 1, True),
    "1 to 8 letters": (runs(1, 8), 1, True),
    "3 to 8 letters": (runs(3, 8), 1, True),
    "triples, pyramid 3": (strings().kernel, 3, False),
}


def load(name, part, strands="one"):
    """Sequences and classes of the training or test part of a set."""
    path = FOLDER / "letters" / f"{name}.{part}.fasta.gz"
    if name in TEXT:
        return sentences(path)
    data = read_fasta(path, label=1, strands=strands)
    return data.X, (data.y == "1").astype(int)


def sentences(path):
    """Sentences and classes; readers of FASTA leave out the spaces of a sequence."""
    X, y = [], []
    with gzip.open(path, "rt") as file:
        for line in file.read().splitlines():
            if line.startswith(">"):
                y.append(int(line.split()[1]))
                X.append("")
            else:
                X[-1] += line
    return X, np.array(y)


def row(part, name, strands, candidate, metric, value, C, fit="", predict=""):
    """One line of the table; in inner folds, the time to fit is that of the kernel matrix."""
    return dict(part=part, set=name, strands=strands, candidate=candidate, metric=metric,
                value=round(value, 4), C=C, fit_s=fit, predict_s=predict)  # fmt: skip


def seconds_since(start):
    """Processor seconds, which other programs on the machine change least."""
    return round(time.process_time() - start, 1)


def kernels(sets):
    """Yield a line for every set of DNA, strand, kernel and C: mean AUC of five inner folds."""
    for name in [name for name in DNA[:2] if name in sets]:
        for strands in ("one", "both"):
            X, y = load(name, "train", strands)
            for candidate, (kernel, pyramid) in FOR_DNA.items():
                start = time.process_time()
                K = matrix(X, kernel, pyramid)
                seconds = seconds_since(start)
                for C in (1.0, 10.0):
                    value = inner_scores(K, y, None, C)[0]
                    yield row("inner folds", name, strands, candidate, "AUC", value, C, seconds)


def penalties(sets):
    """Yield AUC and mean recall of inner folds with and without relatives, for three penalties."""
    for name in [name for name in (*DNA, *PROTEINS, *TEXT) if name in sets]:
        X, y = load(name, "train")
        kernel = fitted_kernel(default(), X)
        K = kernel.compare(kernel.train_, None)[0]
        for folds, groups in (("plain", None), ("relatives together", relatives(K, y, 5))):
            for C in (0.1, 1.0, 10.0):
                scores = inner_scores(K, y, groups, C)
                for metric, value in zip(("AUC", "mean recall"), scores, strict=True):
                    yield row("penalties", name, "one", folds, metric, value, C)


def texts(sets):
    """Yield the AUC of kernels for text; the same folds keep similar sentences together."""
    for name in [name for name in TEXT if name in sets]:
        X, y = load(name, "train")
        groups = relatives(matrix(X, runs(3, 8), 1), y, 5)
        for candidate, (kernel, pyramid, folds_case) in FOR_TEXT.items():
            start = time.process_time()
            K = matrix([x.upper() for x in X] if folds_case else X, kernel, pyramid)
            seconds = seconds_since(start)
            for C in (1.0, 10.0):
                value = inner_scores(K, y, groups, C)[0]
                yield row("text", name, "one", candidate, "AUC", value, C, seconds)


def matrix(X, kernel, pyramid):
    """Kernel values of all pairs, square roots of counts."""
    reader = mvdfq.SequenceKernel(kernel, manifold=True, pyramid=pyramid, n_jobs=1)
    return reader.fit_transform(X)


def inner_scores(K, y, groups, C):
    """Mean AUC and mean recall of five folds."""
    scores = []
    for learn, check in inner_folds(y, groups, 5, 0):
        machine = SVC(kernel="precomputed", C=C).fit(K[np.ix_(learn, learn)], y[learn])
        decision = machine.decision_function(K[np.ix_(check, learn)])
        recall = recall_score(y[check], decision > 0, average="macro")
        scores.append((roc_auc_score(y[check], decision), recall))
    return np.mean(scores, axis=0)


def default():
    """Return the classifier as it is without an option, on one core."""
    return mvdfq.SequenceClassifier(n_jobs=1)


def test(sets):
    """Yield lines for every set: the default on the official test parts."""
    for name in [name for name in (*DNA, *PROTEINS, *TEXT) if name in sets]:
        for strands in ("one", "both") if name in DNA else ("one",):
            X, y = load(name, "train", strands)
            X_test, y_test = load(name, "test", strands)
            start = time.process_time()
            clf = default().fit(X, y)
            fit, start = seconds_since(start), time.process_time()
            decision = clf.decision_function(X_test)
            cells = clf.C_, fit, seconds_since(start)
            about = "test part", name, strands, "default"
            yield row(*about, "AUC", roc_auc_score(y_test, decision), *cells)
            yield row(*about, "accuracy", np.mean((decision > 0) == y_test), *cells)
            yield row(*about, "inner accuracy", clf.validation_score_, *cells)
    if FAMILIES in sets:
        yield from families()


def families():
    """Yield the mean ROC50 of 54 families, without and with balanced classes."""
    X, _, splits = load_proteins()
    start = time.process_time()
    kernel = fitted_kernel(default(), X)
    K = kernel.compare(kernel.train_, None)[0]
    seconds = seconds_since(start)
    for weight in (None, "balanced"):
        values = np.mean([family(K, split, weight) for split in splits.values()], axis=0)
        candidate = "default" if weight is None else "default, balanced"
        yield row("test part", FAMILIES, "one", candidate, "ROC50", *values, seconds)


def family(K, split, class_weight):
    """ROC50 of one family by the machines of the default, and the penalty taken."""
    learn = np.array(split["pos-train"] + split["neg-train"])
    check = np.array(split["pos-test"] + split["neg-test"])
    y = (np.arange(len(learn)) < len(split["pos-train"])).astype(int)
    problems, values = Problems(2, "ovr"), K[np.ix_(learn, learn)]
    groups = relatives(values, y, 5)
    trainer = Trainer(problems, y, compute_sample_weight(class_weight, y), groups)
    trained = trainer(lambda _: values, PENALTIES, lambda *_: None)
    decision = problems.decision(trained.margins.of(K[np.ix_(check, learn)]))
    return roc50(np.arange(len(check)) < len(split["pos-test"]), decision), trained.C


def groups(sets):
    """Yield the mean AUC of groups of positives, its standard error and the number of groups."""
    for name in [name for name in PROTEINS if name in sets]:
        (X, y), (X_test, y_test) = load(name, "train"), load(name, "test")
        y = np.append(y, y_test)
        kernel = fitted_kernel(default(), [*X, *X_test])
        K = kernel.compare(kernel.train_, None)[0]
        for C in PENALTIES:
            values = held_out(K, y, C)
            error = np.std(values, ddof=1) / np.sqrt(len(values))
            about = "groups held out", name, "one", "default"
            yield row(*about, "AUC", np.mean(values), C)
            yield row(*about, "standard error", error, C)
            yield row(*about, "groups", len(values), C)


def held_out(K, y, C):
    """AUC of every group of positives against a fifth of the negatives; relatives together."""
    group = relatives(K, y, 1)
    fifth = np.random.default_rng(0).integers(5, size=len(y))[group]
    values = []
    for i, one in enumerate(np.unique(group[y == 1])):
        held = (group == one) | (y == 0) & (fifth == i % 5)
        machine = SVC(kernel="precomputed", C=C).fit(K[np.ix_(~held, ~held)], y[~held])
        decision = machine.decision_function(K[np.ix_(held, ~held)])
        values.append(roc_auc_score(y[held], decision))
    return values


def made(sets):
    """Yield the processor seconds of fits on made strings whose classes cannot be told apart."""
    random = np.random.default_rng(0)
    for name, (letters, n, length) in MADE.items():
        if name in sets:
            codes = random.integers(len(letters), size=(n, length))
            X, y = ["".join(x) for x in np.array(list(letters))[codes]], random.integers(2, size=n)
            default().fit(X[:300], y[:300])  # compile the loops for many strings
            start = time.process_time()
            clf = default().fit(X, y)
            seconds = seconds_since(start)
            about = "made strings", name, "one", "default", "inner accuracy"
            yield row(*about, clf.validation_score_, clf.C_, seconds)


PARTS = {"made strings": made, "inner folds": kernels, "penalties": penalties, "text": texts,
         "test part": test, "groups held out": groups}  # fmt: skip


def main():
    """Do the parts that are asked for, and keep the lines of the others."""
    warnings.simplefilter("ignore")
    default().fit(["ACGTACGT", "GGTTACCA"] * 4, [0, 1] * 4)  # compile before clocks run
    asked = [p for p, make in PARTS.items() if {make.__name__, p.split()[0]} & {*sys.argv[1:]}]
    sets = [name for name in sys.argv[1:] if name in SETS]
    with open(RESULTS / "letters.csv", newline="") as file:
        known = list(csv.DictReader(file))
    for part in asked or PARTS:
        lines = []
        for line in PARTS[part](sets or SETS):
            print(*line.values(), sep="\t", flush=True)
            lines.append(line)
        done = {line["set"] for line in lines}
        others = [old for old in known if old["part"] != part or old["set"] not in done]
        known = others + lines
        with open(RESULTS / "letters.csv", "w", newline="") as file:
            table = csv.DictWriter(file, lines[0].keys())
            table.writeheader()
            table.writerows(known)


if __name__ == "__main__":
    main()

"""Kernel values of judged sequences with training sequences, computed once for all panels."""

from typing import Any

import numpy as np

from mvdfq.gram.kernel import SequenceKernel
from mvdfq.machines.standard import WordMachine
from mvdfq.pages.run import Run

__all__ = ["kernel_values", "nearest", "similarities"]

# Largest number of kernel values that are computed: 200 MB.
MOST_PAIRS = 25_000_000


def kernel_values(clf: Any, left: Any, right: Any = None) -> np.ndarray:
    """Return the values of the (first) kernel of a classifier between encoded sequences."""
    reader = clf.kernel_
    if isinstance(clf.machine_, WordMachine):
        return clf.machine_.compare(left, left if right is None else right)
    if isinstance(reader, SequenceKernel):
        return reader.compare(left, right)[0]
    features = reader.values(left)
    other = features if right is None else reader.values(right)
    return (features @ other.T).toarray()


def similarities(run: Run) -> np.ndarray | None:
    """Return the kernel values of judged and training sequences of the reference.

    The array is (n_judged, n_training); None if there are too many pairs, or if the classifier
    keeps no training sequences.
    """
    if "similarities" not in run.made:
        clf = run.reference
        n_pairs = len(run.tested) * len(clf.train_index_)
        train = clf.machine_.train_symbols
        known = train is not None and n_pairs <= MOST_PAIRS
        run.made["similarities"] = (
            kernel_values(clf, clf.encode(run.X[run.tested]), train) if known else None
        )
    return run.made["similarities"]


def nearest(run: Run, place: int, n: int) -> list[tuple[int, float]]:
    """Return the `n` training sequences most like a judged sequence, with kernel values.

    Sequences are numbered as the classifier of the fold of the sequence learned them.
    """
    f, known = int(run.fold_of[place]), similarities(run)
    if known is None:
        near = run.model(f).neighbours(run.X[[int(run.tested[place])]], n)
        return [(one.index, one.similarity) for one in near]
    row = known[place]
    if run.places is None:
        order = np.argsort(-row, kind="stable")[:n]
        return [(int(j), float(min(row[j], 1.0))) for j in order]
    train = run.recorder.trains[f]
    mine = row[np.searchsorted(run.places, train)]
    order = np.argsort(-mine, kind="stable")[:n]
    return [(int(j), float(min(mine[j], 1.0))) for j in order]

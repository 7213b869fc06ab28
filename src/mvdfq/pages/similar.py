"""Kernel values of judged sequences with each other and with training sequences."""

import numpy as np

from mvdfq.classifier.similarity import kernel_sum
from mvdfq.pages.run import Run

__all__ = ["nearest", "similarities", "values_at"]

# Largest number of kernel values that are computed: 200 MB.
MOST_PAIRS = 25_000_000


def similarities(run: Run) -> np.ndarray | None:
    """Return the kernel values of judged and training sequences of the reference.

    The array is (n_judged, n_training); None if there are too many pairs, or if the classifier
    keeps no training sequences. Training sequences that are known only as symbols are compared
    by the term that keeps them.
    """
    if run.places is not None:
        values = _with_all(run)
        return None if values is None else values[:, run.places]
    if "with training" not in run.made:
        clf = run.reference
        n_pairs = len(run.tested) * len(clf.train_index_)
        keeper = clf.sum_.keeper if n_pairs <= MOST_PAIRS else None
        run.made["with training"] = (
            None if keeper is None else keeper.compare(keeper.read(run.X[run.tested]), keeper.train)
        )
    return run.made["with training"]


def values_at(run: Run, marks: np.ndarray) -> np.ndarray:
    """Return the kernel values of all judged sequences with the judged sequences at `marks`."""
    values = None if run.places is None else _with_all(run)
    if values is not None:
        return values[:, run.tested[marks]]
    return kernel_sum(run.reference.sum_, run.X[run.tested], np.arange(len(run.tested)), marks)


def _with_all(run: Run) -> np.ndarray | None:
    """Return the kernel values of judged sequences with all sequences; None if too many pairs."""
    if len(run.tested) * len(run.X) > MOST_PAIRS:
        return None
    if "with all" not in run.made:
        run.made["with all"] = kernel_sum(run.reference.sum_, run.X, run.tested)
    return run.made["with all"]


def nearest(run: Run, place: int, n: int) -> list[tuple[int, float]]:
    """Return the `n` training sequences most like a judged sequence, with kernel values.

    Sequences are numbered as the classifier of the fold of the sequence learned them.
    """
    f, known = int(run.fold_of[place]), similarities(run)
    if known is None:
        near = run.model(f).neighbours(run.X[[int(run.tested[place])]], n)
        return [(one.index, one.similarity) for one in near]
    row = known[place]
    if run.places is not None:
        row = row[np.searchsorted(run.places, run.recorder.trains[f])]
    else:  # a fitted classifier may be asked about its training sequences
        model = run.model(f)
        equal = model.training_places(run.X[[int(run.tested[place])]])[0]
        row = np.where(np.isin(model.train_index_, equal), -np.inf, row)
    order = np.argsort(-row, kind="stable")[:n]
    return [(int(j), float(min(row[j], 1.0))) for j in order]

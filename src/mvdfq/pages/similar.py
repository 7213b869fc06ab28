"""Kernel values of judged sequences with each other and with training sequences; their map."""

from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA

from mvdfq.classifier.similarity import compared_terms, kernel_sum
from mvdfq.pages.run import Run

# Largest number of kernel values that are computed: 200 MB.
MOST_PAIRS = 25_000_000
# The matrix of 2000 sequences takes 32 MB; its two eigenvectors take about a second.
LANDMARKS = 2000
# Cells along one side of the drawn kernel matrix.
CELLS = 90


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
            None
            if keeper is None
            else keeper.compare(keeper.read(clf.varying(run.X[run.tested])), keeper.train)
        )
    return run.made["with training"]


def values_at(run: Run, marks: np.ndarray) -> np.ndarray:
    """Return the kernel values of all judged sequences with the judged sequences at `marks`."""
    values = None if run.places is None else _with_all(run)
    if values is not None:
        return values[:, run.tested[marks]]
    return kernel_sum(run.reference, run.X[run.tested], np.arange(len(run.tested)), marks)


def _with_all(run: Run) -> np.ndarray | None:
    """Return the kernel values of judged sequences with all sequences; None if too many pairs."""
    if len(run.tested) * len(run.X) > MOST_PAIRS:
        return None
    if "with all" not in run.made:
        run.made["with all"] = kernel_sum(run.reference, run.X, run.tested)
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


def atlas(run: Run) -> dict[str, Any]:
    """Return positions of all judged sequences, and the kernel matrix in few cells."""
    marks = _landmarks(run.truth)
    rows = values_at(run, marks)
    K = rows[marks]
    places, explained = kernel_pca(K, rows)
    order = marks[np.argsort(run.truth[marks], kind="stable")]
    inside = np.searchsorted(marks, order)
    return {
        "method": "kernel PCA",
        "parts": [term.name for term in compared_terms(run.reference.sum_)],
        "explained": explained,
        "x": places[:, 0].tolist(),
        "y": places[:, 1].tolist(),
        "kernel": _cells(K[np.ix_(inside, inside)], run.truth[order]),
    }


def _landmarks(truth: np.ndarray) -> np.ndarray:
    """Return at most `LANDMARKS` places, spread evenly over the classes."""
    order = np.argsort(truth, kind="stable")
    chosen = np.linspace(0, len(order) - 1, min(len(order), LANDMARKS)).astype(int)
    return np.sort(order[chosen])


def kernel_pca(K: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, list[float]]:
    r"""Return two coordinates per row, and the share of the variance that each axis explains.

    `K` is the matrix of the landmarks, `rows` holds kernel values with the landmarks. Kernel PCA
    takes the eigenvectors of the two largest eigenvalues of the centred matrix :math:`H K H`. In a
    collection above `LANDMARKS`, the axes come from the landmarks, and all other sequences are
    projected onto the axes (Nystroem's way).
    """
    found = KernelPCA(2, kernel="precomputed", eigen_solver="dense").fit(K)
    axes = np.flatnonzero(found.eigenvalues_ > 1e-12)
    places, explained = np.zeros((len(rows), 2)), np.zeros(2)
    places[:, axes] = found.transform(rows)[:, axes]
    trace = np.trace(K) - len(K) * K.mean()  # of the centred matrix
    explained[axes] = found.eigenvalues_[axes] / max(trace, 1e-300)
    return places, explained.tolist()


def _cells(K: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
    """Average the ordered matrix in `CELLS` x `CELLS` blocks; say where each class begins."""
    n = min(CELLS, len(K))
    edges = np.arange(n) * len(K) // n
    sums = np.add.reduceat(np.add.reduceat(K, edges, axis=0), edges, axis=1)
    sizes = np.diff(np.append(edges, len(K)))
    classes, firsts = np.unique(truth, return_index=True)
    blocks = np.add.reduceat(np.add.reduceat(K, firsts, axis=0), firsts, axis=1)
    members = np.diff(np.append(firsts, len(K)))
    return {
        "values": (sums / np.outer(sizes, sizes)).tolist(),
        "classes": classes.tolist(),
        "starts": (firsts / len(K)).tolist(),
        "means": (blocks / np.outer(members, members)).tolist(),
    }

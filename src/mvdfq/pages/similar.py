"""Kernel values of judged sequences with each other and with training sequences; their map."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from mvdfq.classifier.similarity import Neighbour, neighbours_of, points_of
from mvdfq.pages.run import Run

# The matrix of 2000 sequences takes 32 MB; its two eigenvectors take about a second.
LANDMARKS = 2000
# Components that discriminants are made of: one for so many sequences, and at most so many; a
# little shrinkage keeps the discriminants of nearly equal components apart.
PER_AXIS, MOST_AXES, SHRINKAGE = 10, 30, 0.01
# Cells along one side of the drawn kernel matrix.
CELLS = 90


def nearest(run: Run, f: int, places: list[int], n: int) -> Iterator[list[dict[str, Any]]]:
    """Yield the `n` training sequences of a fold most like each of its judged sequences."""
    clf, X = run.model(f), run.X[run.tested[places]]
    for near in neighbours_of(clf, run.points(f, places), clf.training_places(X), n):
        yield [_neighbour(run, f, neighbour) for neighbour in near]


def _neighbour(run: Run, f: int, near: Neighbour) -> dict[str, Any]:
    """Return a training sequence that is most like a judged sequence."""
    is_here = run.knows_training
    index = int(run.recorder.trains[f][near.index]) if is_here else near.index
    return {
        "name": run.training_name(index),
        "sequence": run.judged_place.get(index) if is_here else None,
        "class": run.labels.index(run.y[index] if is_here else near.label),
        "similarity": near.similarity,
    }


def atlas(run: Run) -> dict[str, Any]:
    """Return positions of all judged sequences, and the kernel matrix in few cells."""
    clf, known = run.model(0), run.similarities if run.knows_training else None
    # landmarks: at most so many places, spread evenly over the classes
    order = np.argsort(run.truth, kind="stable")
    marks = np.sort(order[np.linspace(0, len(order) - 1, min(len(order), LANDMARKS)).astype(int)])
    if known is not None:
        rows = known[:, run.tested[marks]]
    else:
        points = points_of(clf, run.X[run.tested])
        rows = clf.sum_.likeness(points, points[marks])
    K = rows[marks]
    places = discriminants(K, rows, run.truth[marks])
    order = marks[np.argsort(run.truth[marks], kind="stable")]
    inside = np.searchsorted(marks, order)
    return {
        "method": "linear discriminants of the kernel",
        "parts": [term.name for term in clf.terms_],
        "told_apart": [told_apart(axis, run.truth) for axis in places.T],
        "x": places[:, 0].tolist(),
        "y": places[:, 1].tolist(),
        "kernel": _cells(K[np.ix_(inside, inside)], run.truth[order]),
    }


def discriminants(K: np.ndarray, rows: np.ndarray, truth: np.ndarray) -> np.ndarray:
    r"""Return two coordinates per row that tell the classes apart.

    `K` is the matrix of the landmarks, `truth` their classes, `rows` holds kernel values with the
    landmarks. Kernel PCA takes eigenvectors of the centred matrix :math:`H K H`, at most one for
    `PER_AXIS` landmarks, so that the axes cannot fit every single sequence; linear discriminants
    of these components follow. Two classes have one discriminant: the other axis is the first
    component.
    """
    n = int(np.clip(len(K) // PER_AXIS, 2, MOST_AXES))
    pca = KernelPCA(n, kernel="precomputed", eigen_solver="dense").fit(K)
    used = np.flatnonzero(pca.eigenvalues_ > 1e-12)
    components, axes = pca.transform(rows)[:, used], np.zeros((len(rows), 0))
    if len(np.unique(truth)) > 1 and used.size and len(truth) > len(np.unique(truth)):
        lda = LinearDiscriminantAnalysis(solver="eigen", shrinkage=SHRINKAGE)
        axes = lda.fit(pca.transform(K)[:, used], truth).transform(components)
    return np.hstack([axes, components, np.zeros((len(rows), 2))])[:, :2]


def told_apart(places: np.ndarray, truth: np.ndarray) -> float:
    """Return the share of the variance of coordinates that lies between the means of classes."""
    means = np.bincount(truth, places) / np.maximum(np.bincount(truth), 1)
    within = float(np.sum((places - means[truth]) ** 2))
    total = float(np.sum((places - places.mean()) ** 2))
    return 1 - within / total if total > 0 else 0.0


def _cells(K: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
    """Average the ordered matrix in `CELLS` x `CELLS` blocks; say where each class begins."""

    def means(starts: np.ndarray) -> list[list[float]]:
        sums = np.add.reduceat(np.add.reduceat(K, starts, axis=0), starts, axis=1)
        sizes = np.diff(starts, append=len(K))
        return (sums / np.outer(sizes, sizes)).tolist()

    n = min(CELLS, len(K))
    classes, firsts = np.unique(truth, return_index=True)
    return {
        "values": means(np.arange(n) * len(K) // n),
        "classes": classes.tolist(),
        "starts": (firsts / len(K)).tolist(),
        "means": means(firsts),
    }

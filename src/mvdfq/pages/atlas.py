r"""The collection at a glance: a map by kernel PCA, and the kernel matrix ordered by class.

Kernel PCA centres the kernel matrix, :math:`H K H`, and takes the eigenvectors of the two largest
eigenvalues. A collection above `LANDMARKS` is drawn by Nystroem's way: the axes come from the
landmarks, all other sequences are projected onto the axes.
"""

from typing import Any

import numpy as np
from scipy.linalg import eigh

from mvdfq.classifier.similarity import compared_terms
from mvdfq.pages.run import Run
from mvdfq.pages.similar import values_at

__all__ = ["atlas", "kernel_pca"]

# The matrix of 2000 sequences takes 32 MB; its two eigenvectors take about a second.
LANDMARKS = 2000
# Cells along one side of the drawn kernel matrix.
CELLS = 90


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
    """Return two coordinates per row, and the share of the variance that each axis explains.

    `K` is the matrix of the landmarks, `rows` holds kernel values with the landmarks.
    """
    mean, total = K.mean(axis=0), K.mean()
    centred = K - mean - mean[:, None] + total
    n = len(K)
    values, vectors = eigh(centred, subset_by_index=[max(n - 2, 0), n - 1])
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    vectors *= np.where(vectors.sum(axis=0) < 0, -1, 1)  # the sign of an axis is free: choose it
    shifted = rows - rows.mean(axis=1)[:, None] - mean + total
    places = np.zeros((len(rows), 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = shifted @ vectors / np.sqrt(values)
    places[:, : found.shape[1]] = np.where(values > 1e-12, found, 0)
    trace = max(float(np.trace(centred)), 1e-300)
    explained = [*(values / trace).tolist(), 0.0][:2]
    return places, explained


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

"""The kernel of a classifier between any sequences: the whole sum, not only its first part."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mvdfq._utils.threads import one_blas_thread
from mvdfq.classifier.questions import FIRST
from mvdfq.gram.kernel import SequenceKernel
from mvdfq.gram.sums import inverse_root
from mvdfq.machines.word_machine import WordMachine
from mvdfq.sequences import Sequences

__all__ = ["first_kernel", "kernel_parts", "kernel_sum"]


def kernel_sum(
    clf: Any, X: Sequences, rows: np.ndarray, columns: np.ndarray | None = None
) -> np.ndarray:
    r"""Return the kernel values of the sequences ``X[rows]`` with ``X[columns]``, or with all.

    .. math:: K(x, y) = \sum_v w_v K_v(x, y) \, \Big/ \sqrt{\sum_v w_v K_v(x, x)
              \sum_v w_v K_v(y, y)}

    with the weights `view_shares_` of the classifier. The time of the filters is about that of
    `predict`, the time of the products is ``len(rows) * len(columns)`` per word.
    """
    columns = np.arange(len(X)) if columns is None else columns
    X = clf._as_sequences(X)
    read = clf.encode(X)
    is_word_machine = isinstance(clf.machine_, WordMachine)
    first = clf.view_shares_[0]
    K, own = np.zeros((len(rows), len(columns))), np.zeros(len(X))
    if kernel_parts(clf) == [FIRST] or not is_word_machine:
        is_square = np.array_equal(rows, columns)
        K = first_kernel(clf, read[rows], None if is_square else read[columns])
        if kernel_parts(clf) == [FIRST]:
            return K
        K *= first
        own += first  # the first kernel is normalized
    pieces = _pieces(clf, X, read if is_word_machine else None)
    with one_blas_thread():  # the last bits depend on the number of threads
        for share, z in pieces:
            K += share * (z[rows] @ z[columns].T)
            own += share * np.einsum("ij,ij->i", z, z)
    scale = inverse_root(own)
    K *= scale[rows][:, None]
    K *= scale[columns]
    return K


def _pieces(clf: Any, X: Sequences, read: Any) -> Iterator[tuple[float, np.ndarray]]:
    """Yield the features of the parts of the sum, piece by piece, each with its weight.

    `read` are the symbols of the first part; None if the first part is not standardized words.
    """
    first, *shares = clf.view_shares_.tolist()
    if read is not None:
        first /= clf.machine_.n_words
        yield from ((first, z) for z in clf.machine_.features(read))
    for view, share in zip(clf.views_, shares, strict=True):
        yield from ((share, z) for z in view.features(X))


def kernel_parts(clf: Any) -> list[str]:
    """Return the names of the parts that `kernel_sum` adds up.

    A model file does not hold the mean and the deviation of the words of views: the kernel of a
    classifier from a file is the first part alone.
    """
    if any(not view.machine.scales for view in clf.views_):
        return [FIRST]
    return list(dict.fromkeys([FIRST, *(view.name for view in clf.views_)]))


def first_kernel(clf: Any, left: Any, right: Any = None) -> np.ndarray:
    """Return the values of the first kernel of a classifier between encoded sequences."""
    reader = clf.kernel_
    if isinstance(clf.machine_, WordMachine):
        return clf.machine_.compare(left, left if right is None else right)
    if isinstance(reader, SequenceKernel):
        return reader.compare(left, right)[0]
    features = reader.values(left)
    other = features if right is None else reader.values(right)
    return (features @ other.T).toarray()

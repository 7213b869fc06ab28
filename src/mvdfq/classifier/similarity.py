"""Which sequences are alike: neighbours in training, and the kernel of the whole sum."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mvdfq._utils.threads import one_blas_thread
from mvdfq.gram.plan import inverse_root
from mvdfq.sequences import Sequences
from mvdfq.terms.total import FittedSum


@dataclass(frozen=True)
class Neighbour:
    """A training sequence that is like a given sequence: index, kernel value and label.

    Parameters
    ----------
    index : int
        Index of the training sequence among the sequences given to `fit`.

    similarity : float
        The kernel value of the two sequences.

    label : object
        Class of the training sequence.

    name : str, default=None
        Name of the training sequence, if the classifier knows how its data were read.

    Examples
    --------
    >>> import mvdfq
    >>> clf = mvdfq.SequenceClassifier(kernel=mvdfq.Spectrum(2)).fit(
    ...     ["ABAB", "BABA", "CCCC", "CCC"], ["wave", "wave", "flat", "flat"]
    ... )
    >>> clf.neighbours("CCCCC", n=1)[0].label
    'flat'
    """

    index: int
    similarity: float
    label: Any
    name: str | None = None


def nearest(
    total: FittedSum, read: list[Any], others: np.ndarray, n: int
) -> list[tuple[int, float]]:
    """Return the places and kernel values of the training sequences most like one sequence.

    The term that keeps training sequences compares them; `others` are the places to search.
    """
    term = total.keeper
    if term is None:
        raise ValueError("The terms of this classifier keep no training sequences to compare with.")
    own = read[total.terms.index(term)]
    similar = np.minimum(term.compare(own, term.train)[0], 1)  # not 1 + rounding error
    order = others[np.argsort(-similar[others], kind="stable")[:n]].tolist()
    return [(i, float(similar[i])) for i in order]


def kernel_sum(
    clf: Any, X: Sequences, rows: np.ndarray, columns: np.ndarray | None = None
) -> np.ndarray:
    r"""Return the kernel values of the sequences ``X[rows]`` with ``X[columns]``, or with all.

    .. math:: K(x, y) = \sum_v s_v K_v(x, y) \, \Big/ \sqrt{\sum_v s_v K_v(x, x)
              \sum_v s_v K_v(y, y)}

    with the shares of the terms. The filters take about the time of `predict`, and the time of
    the products is ``len(rows) * len(columns)`` per word.
    """
    columns, X = np.arange(len(X)) if columns is None else columns, clf.varying(X)
    terms = compared_terms(clf.sum_)
    if len(terms) == 1 and not terms[0].has_dense_features:
        left = terms[0].read(X[rows])
        return terms[0].compare(left, left if rows is columns else terms[0].read(X[columns]))
    K, own = np.zeros((len(rows), len(columns))), np.zeros(len(X))
    with one_blas_thread():  # the last bits depend on the number of threads
        for term in terms:
            _add(term, term.read(X), rows, columns, K, own)
    scale = inverse_root(own)
    K *= scale[rows][:, None]
    K *= scale[columns]
    return K


def _add(
    term: Any, read: Any, rows: np.ndarray, columns: np.ndarray, K: np.ndarray, own: np.ndarray
) -> None:
    """Add the kernel values of a term to `K`, and those of sequences with themselves to `own`."""
    if not term.has_dense_features:
        K += term.share * term.compare(read[rows], read[columns])
        own += term.share  # plain kernels are normalized
        return
    for z in term.features(read):
        K += term.share * (z[rows] @ z[columns].T)
        own += term.share * np.einsum("ij,ij->i", z, z)


def compared_terms(total: FittedSum) -> list[Any]:
    """Return the terms that `kernel_sum` adds up.

    A model file does not hold the mean and the deviation of all words. If a term does not know
    them, the term that keeps training sequences is compared alone.
    """
    if all(term.can_compare for term in total.terms) or total.keeper is None:
        return [term for term in total.terms if term.can_compare]
    return [total.keeper]

"""Which sequences are alike: neighbours in training, and the kernel of the whole sum."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mvdfq.sequences import Sequences
from mvdfq.terms.fitted import Points


@dataclass(frozen=True)
class Neighbour:
    """A training sequence that is like a given sequence: index, similarity and label.

    Parameters
    ----------
    index : int
        Index of the training sequence among the sequences given to `fit`.

    similarity : float
        The kernel value of the two sequences, scaled so that equal sequences have the value 1;
        of standardized words and filters with an error of about 0.02.

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


def kernel_sum(
    clf: Any, X: Sequences, rows: np.ndarray, columns: np.ndarray | None = None
) -> np.ndarray:
    """Return the similarities of the sequences ``X[rows]`` with ``X[columns]``, or with all.

    They are those of `FittedSum.likeness`. Cost: about the time of `predict`, and
    ``len(rows) * len(columns)`` products of sketches.
    """
    points = points_of(clf, X)
    return clf.sum_.likeness(points[rows], points if columns is None else points[columns])


def points_of(clf: Any, X: Sequences) -> Points:
    """Return sequences as `FittedSum.likeness` compares them."""
    return clf.sum_.points(clf.sum_.read(clf.varying(X)))


def all_points(clf: Any, X: Sequences, known: np.ndarray) -> Points:
    """Return `points_of`, given the places in `X` of the training sequences that are kept."""
    train = clf.sum_._train
    if train.read or len(np.unique(known)) < len(known):  # a plain term reads all sequences
        return points_of(clf, X)
    sketch = np.empty((len(X), train.sketch.shape[1]), np.float32)
    sketch[known] = train.sketch
    new = np.setdiff1d(np.arange(len(X)), known)
    if new.size:
        sketch[new] = points_of(clf, X[new]).sketch
    return Points(sketch, [])

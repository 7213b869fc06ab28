"""A training sequence that is like a given sequence."""

from dataclasses import dataclass
from typing import Any

__all__ = ["Neighbour"]


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

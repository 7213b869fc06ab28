"""Which sequences are alike: neighbours in training, the kernel of the sum, and of one term."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq._utils.checks import parse_memory
from mvdfq.classifier.choices import one_term_for
from mvdfq.classifier.learning import ranges_for
from mvdfq.frames.base import encode, fit_encoders
from mvdfq.gram.checkpoint import spooled
from mvdfq.gram.kernel import SequenceKernel
from mvdfq.sequences import Sequences, check_sequences
from mvdfq.sequences.statistics import without_constants
from mvdfq.terms.base import Work
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


def points_of(clf: Any, X: Sequences) -> Points:
    """Return sequences as `FittedSum.likeness` compares them."""
    return clf.sum_.points(clf.sum_.read(clf.varying(X)))


def neighbours_of(clf: Any, points: Points, same: list[list[int]], n: int) -> list[list[Neighbour]]:
    """Return the `n` training sequences most like each sequence, without those in `same`."""
    similar = clf.sum_.likeness(points)
    labels = clf.classes_.tolist()  # Python's text and numbers print without their type
    names, found = dict(enumerate(clf.source_.get("names") or [])), []
    for values, equal in zip(similar, same, strict=True):
        others = np.flatnonzero(~np.isin(clf.train_index_, equal))
        order = others[np.argsort(-values[others], kind="stable")[:n]]
        places, alike = clf.train_index_[order].tolist(), values[order].tolist()
        each = zip(places, alike, clf.train_y_[order].tolist(), strict=True)
        found.append([Neighbour(i, value, labels[c], names.get(i)) for i, value, c in each])
    return found


def all_points(clf: Any, X: Sequences, known: np.ndarray, judged: Any, points: Any) -> Points:
    """Return `points_of`, given the places of training sequences, and of `points` or None."""
    train = clf.sum_._train
    if train.read or len(np.unique(known)) < len(known):  # a plain term reads all sequences
        return points_of(clf, X)
    sketch = np.empty((len(X), train.sketch.shape[1]), np.float32)
    sketch[known] = train.sketch
    if points is not None:
        sketch[judged], known = points.sketch, np.append(known, judged)
    new = np.setdiff1d(np.arange(len(X)), known)
    if new.size:
        sketch[new] = points_of(clf, X[new]).sketch
    return Points(sketch, [])


# The numbers that the parts are fitted on take at most this share of the memory limit: fitting a
# quantizer makes copies of the numbers.
SHARE = 8


def lazily_fitted_kernel(
    clf: Any, blocks: Callable[[], Iterable[Any]], folder: Path
) -> tuple[SequenceKernel, int, int]:
    """Return the kernel of blocks, the number of sequences, and how many of them taught bins."""
    sample, n = sampled(blocks(), parse_memory(clf.memory_limit) // SHARE)
    n_learned = len(sample)
    kernel, ranges, encoders, symbols = _fitted_parts(clf, sample)
    if n_learned < n:
        del sample, symbols  # their memory is needed for the blocks
        read = (without_constants(check_sequences(X), ranges) for X in blocks())
        symbols = spooled((encode(encoders, X) for X in read), folder)
    return kernel.fit(symbols), n, n_learned


def fitted_kernel(clf: Any, X: Any) -> SequenceKernel:
    """Return the fitted kernel of one plain term of a classifier: no labels are needed."""
    kernel, *_, symbols = _fitted_parts(clf, check_sequences(X))
    return kernel.fit(symbols)


def _fitted_parts(clf: Any, X: Sequences) -> tuple[SequenceKernel, np.ndarray, list[Any], Any]:
    """Return the kernel, the ranges of the channels, fitted encoders and the symbols of X."""
    term = one_term_for(clf, X)
    ranges = ranges_for([term], X)
    varying = without_constants(X, ranges)
    encoders, symbols = fit_encoders([term.frames, term.symbols], varying, np.zeros(len(X)))
    return term.kernel_of(symbols, Work(clf.memory_limit, clf.n_jobs)), ranges, encoders, symbols


def sampled(blocks: Iterable[Any], most_bytes: int) -> tuple[Sequences, int]:
    """Return every first, second, fourth ... sequence, whichever fit; and the number of all."""
    kept: list[Sequences] = []
    step, n = 1, 0
    for X in map(check_sequences, blocks):
        kept.append(X[-n % step :: step])  # those whose number is a multiple of `step`
        n += len(X)
        while sum(X.data.nbytes for X in kept) > most_bytes and sum(map(len, kept)) > 1:
            step *= 2
            kept = [reduce(Sequences.joined, kept)[::2]]
    if not n:
        raise ValueError("X holds no sequences; pass at least one sequence.")
    return reduce(Sequences.joined, kept), n

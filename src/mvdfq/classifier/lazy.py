"""Kernels of collections that are read in blocks: the parts are fitted on as much as fits."""

from collections.abc import Callable, Iterable
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mvdfq._utils.memory import parse_memory
from mvdfq.classifier.choices import one_term_for
from mvdfq.classifier.learning import ranges_for
from mvdfq.frames.base import encode, fit_encoders
from mvdfq.gram.kernel import SequenceKernel
from mvdfq.sequences import Sequences, check_sequences
from mvdfq.sequences.statistics import without_constants
from mvdfq.symbols.spool import spooled
from mvdfq.terms.base import Work

__all__ = ["LazyKernel", "fitted_kernel", "lazily_fitted_kernel"]

# The numbers that the parts are fitted on take at most this share of the memory limit: fitting a
# quantizer makes copies of the numbers.
SHARE = 8


class LazyKernel(NamedTuple):
    """A fitted kernel, the number of sequences, and of the sequences that taught bins."""

    kernel: SequenceKernel
    n_sequences: int
    n_learned: int


def lazily_fitted_kernel(clf: Any, blocks: Callable[[], Iterable[Any]], folder: Path) -> LazyKernel:
    """Fit the kernel of a classifier to blocks of sequences; `blocks` starts to read them.

    If all numbers fit into an eighth of the memory limit, the result is that of `fitted_kernel`.
    Otherwise frames and symbols are fitted on every second, fourth ... sequence, whichever fit;
    then the blocks are read again and encoded, and the codes go to a file in `folder`.
    """
    sample, n = sampled(blocks(), parse_memory(clf.memory_limit) // SHARE)
    term = one_term_for(clf, sample)
    ranges = ranges_for([term], sample)
    sample = without_constants(sample, ranges)
    encoders, symbols = fit_encoders([term.frames, term.symbols], sample, np.zeros(len(sample)))
    kernel, n_learned = term.kernel_of(symbols, Work(clf.memory_limit, clf.n_jobs)), len(sample)
    if n_learned < n:
        del sample, symbols
        read = (without_constants(check_sequences(X), ranges) for X in blocks())
        symbols = spooled((encode(encoders, X) for X in read), folder)
    return LazyKernel(kernel.fit(symbols), n, n_learned)


def fitted_kernel(clf: Any, X: Any) -> SequenceKernel:
    """Return the fitted kernel of one plain term of a classifier: no labels are needed."""
    X = check_sequences(X)
    term = one_term_for(clf, X)
    X = without_constants(X, ranges_for([term], X))
    _, symbols = fit_encoders([term.frames, term.symbols], X, np.zeros(len(X)))
    return term.kernel_of(symbols, Work(clf.memory_limit, clf.n_jobs)).fit(symbols)


def sampled(blocks: Iterable[Any], most_bytes: int) -> tuple[Sequences, int]:
    """Return every `step`-th sequence, with the smallest power of two that fits; and how many.

    The number of all sequences is the second result.
    """
    kept: list[Sequences] = []
    step, n = 1, 0
    for X in map(check_sequences, blocks):
        numbers = np.arange(n, n + len(X))
        n += len(X)
        kept.append(_every(X, numbers, step))
        while sum(X.data.nbytes for X in kept) > most_bytes and sum(map(len, kept)) > 1:
            step *= 2
            kept = [_every(X, np.arange(len(X)), 2) for X in [reduce(Sequences.joined, kept)]]
    if not n:
        raise ValueError("X holds no sequences; pass at least one sequence.")
    return reduce(Sequences.joined, kept), n


def _every(X: Sequences, numbers: np.ndarray, step: int) -> Sequences:
    return X if step == 1 else X.take(np.flatnonzero(numbers % step == 0))

r"""Views of the same sequences beside the first kernel: the mean of several kernels.

.. math:: K = \frac{1}{n} \sum_v K_v / s_v

where the scale :math:`s_v` is the variance of the features of part `v` over the training sequences
(the centred trace of its kernel matrix). So all `n` parts count alike, however many words they
have. Views of one name are one part.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from mvdfq._engines.choice import side_by_side
from mvdfq._engines.filter_words import N_WORDS
from mvdfq._utils.memory import parse_memory
from mvdfq._utils.short import Short
from mvdfq.frames.filters import TAPS
from mvdfq.frames.steps import shares_of
from mvdfq.gram.features import SequenceFeatures
from mvdfq.kernels import Kernel
from mvdfq.machines.blocks import WordColumns
from mvdfq.machines.filter_words import FilterMachine, filter_encoder, filter_shares
from mvdfq.machines.sources import FilterSource, WordSource
from mvdfq.machines.standard import (
    StandardGram,
    countable,
    pieces_of,
    reader_of_words,
)
from mvdfq.machines.svm import Margins
from mvdfq.machines.word_machine import WordMachine
from mvdfq.sequences import Sequences
from mvdfq.symbols import Symbols

__all__ = [
    "FilterView", "FittedFilters", "FittedWords", "NoViews", "ViewSum", "WordView", "filter_views",
]  # fmt: skip

# Thresholds are learned from sequences with this many frames together, but from at least
# `SEQUENCES` sequences: the thresholds of more sequences hardly differ.
FRAMES, SEQUENCES = 2**13, 50
# Columns of filters at most: fewer thresholds per filter than on kernel matrices. On
# SpokenArabicDigits, 2 instead of 7 thresholds cost 0.1 points of accuracy.
FILTER_COLUMNS = 2**13


@dataclass(repr=False)
class FittedWords(Short):
    """Standardized words of some rows of the symbols of an encoder."""

    name: str
    rows: np.ndarray
    machine: WordMachine
    encoder: Any

    has_own_rows = True  # beside the rows of the first kernel

    @property
    def n_columns(self) -> int:
        """Number of columns of the margins."""
        return self.machine.margins.intercepts.size

    def read(self, X: Sequences) -> Any:
        """Return the symbols of new sequences as the machine reads them."""
        return self.machine.reader.read_new(self.encoder.transform(X).rows(self.rows))

    def margins(self, X: Sequences) -> np.ndarray:
        """Return the margins of new sequences."""
        return self.machine.of(self.read(X))

    def features(self, X: Sequences) -> Iterator[np.ndarray]:
        """Return the standardized words of sequences, a few rows at a time."""
        return self.machine.features(self.read(X))

    def channel_shares(self, n_channels: int) -> np.ndarray:
        """Return the share of each channel in each row, (n_rows, n_channels)."""
        return shares_of([self.encoder], n_channels)[self.rows]

    def norms(self, n_channels: int) -> np.ndarray:
        """Return the share of each row in the squared norms of the machines."""
        return self.machine.norms


@dataclass(repr=False)
class FittedFilters(Short):
    """Standardized words of the responses of filters."""

    name: str
    machine: FilterMachine

    has_own_rows = False  # all filters together have one row per channel

    def read(self, X: Sequences) -> Symbols:
        """Return the symbols of new sequences, which `margins` computes on the fly."""
        return self.machine.encoder.transform(X)

    def margins(self, X: Sequences) -> np.ndarray:
        """Return the margins of new sequences."""
        return self.machine.of(X)

    def features(self, X: Sequences) -> Iterator[np.ndarray]:
        """Return the standardized words of sequences."""
        return self.machine.features(X)

    @property
    def n_columns(self) -> int:
        """Number of columns of the margins."""
        return self.machine.intercepts.size

    def norms(self, n_channels: int) -> np.ndarray:
        """Return the share of each channel in the squared norms of the machines."""
        return self.machine.norms @ shares_of([self.machine.encoder], n_channels)


@dataclass(frozen=True)
class WordView:
    """Standardized words of the symbols of an encoder."""

    name: str
    kernel: Kernel
    encoder: Any

    def fit(self, X: Sequences, memory: int, n_jobs: int | None) -> "Fit | None":
        """Count the words of the rows that have few enough words; None if there are none."""
        found = self.fit_reader(X)
        if found is None:
            return None
        encoder, rows, symbols, reader = found
        pieces = pieces_of(symbols, reader.plan_)
        gram = StandardGram(pieces, len(X), 0.0, memory, n_jobs)

        def finish(coefficients: np.ndarray) -> FittedWords:
            machine = WordMachine.from_gram(gram, reader, coefficients)
            return FittedWords(self.name, rows, machine, encoder)

        return Fit(self, gram, finish)

    def source(self, X: Sequences, n_alike: int) -> WordSource | None:
        """Return the source of explicit features; None if every row has too many words."""
        found = self.fit_reader(X)
        if found is None:
            return None
        encoder, rows, _, reader = found
        return WordSource(reader, WordColumns.of(reader.plan_), rows, encoder)

    def fit_reader(self, X: Sequences) -> tuple[Any, np.ndarray, Symbols, SequenceFeatures] | None:
        """Return the fitted encoder, the rows in use, their symbols and their reader, or None."""
        encoder = clone(self.encoder)
        symbols = encoder.fit_transform(X)
        rows = np.flatnonzero(countable(self.kernel, symbols))
        if not rows.size:
            return None
        if rows.size < symbols.n_rows:
            symbols = symbols.rows(rows)
        return encoder, rows, symbols, reader_of_words(symbols, self.kernel, 1)


@dataclass(frozen=True)
class FilterView:
    """Standardized words of the responses of 84 filters of one dilation."""

    name: str
    encoder: Pipeline

    def fit(self, X: Sequences, memory: int, n_jobs: int | None) -> "Fit | None":
        """Learn thresholds from some of the sequences and count the words of all of them."""
        if X.symbolic_mask.all():
            return None
        encoder = self.fit_encoder(X)
        rows = np.arange(encoder[-1].thresholds_.size)
        piece = rows, partial(filter_shares, encoder, X, n_jobs)
        gram = StandardGram([piece], len(X), 0.0, memory, n_jobs)

        def finish(coefficients: np.ndarray) -> FittedFilters:
            machine = FilterMachine.from_gram(gram, encoder, coefficients)
            return FittedFilters(self.name, machine)

        return Fit(self, gram, finish)

    def source(self, X: Sequences, n_alike: int) -> FilterSource | None:
        """Return the source of explicit features; None without channels of numbers.

        `n_alike` banks of filters share the columns: each has so few thresholds that all fit.
        """
        if X.symbolic_mask.all():
            return None
        encoder = clone(self.encoder)
        quantizer = encoder[-1]
        most = FILTER_COLUMNS // (n_alike * len(TAPS) * N_WORDS)
        quantizer.n_thresholds = int(np.clip(most, 1, quantizer.n_thresholds))
        return FilterSource(replace(self, encoder=encoder).fit_encoder(X))

    def fit_encoder(self, X: Sequences) -> Pipeline:
        """Learn thresholds from some of the sequences."""
        n = max(SEQUENCES, FRAMES * len(X) // max(X.data.shape[1], 1))
        chosen = np.linspace(0, len(X) - 1, min(len(X), n)).astype(int)
        return clone(self.encoder).fit(X[chosen])


@dataclass(frozen=True)
class Fit:
    """A view with its kernel matrix, and a function that makes a fitted view of coefficients."""

    view: WordView | FilterView
    gram: StandardGram
    finish: Callable[[np.ndarray], FittedWords | FittedFilters]


def filter_views(dilations: list[int], n_thresholds: int = 7) -> list[FilterView]:
    """Return one view per dilation: single symbols and triples of filter responses.

    The symbols of a triple are as far apart as the taps of the filter.
    """
    encoders = [filter_encoder(d, n_thresholds, i) for i, d in enumerate(dilations)]
    return [FilterView("filters", encoder) for encoder in encoders]


@dataclass(frozen=True)
class NoViews:
    """The first kernel alone: its matrix as a function of the sequences to learn from."""

    matrix: Callable[[np.ndarray], Any]

    def divided(self, margins: Margins) -> tuple[Margins, list[Any], np.ndarray]:
        """Return the margins as they are, no views, and the share of the first kernel."""
        return margins, [], np.ones(1)


class ViewSum:
    """The first kernel and the views, fitted: one kernel matrix, and how to divide its machine."""

    def __init__(self, K: np.ndarray, views: list[Any], X: Any, classifier: Any) -> None:
        memory = parse_memory(classifier.memory_limit) // max(len(views), 1)
        fits = side_by_side(lambda view: view.fit(X, memory, classifier.n_jobs), views)
        self.fits = [fit for fit in fits if fit is not None]
        spread = float(np.trace(K) / len(K) - K.mean())
        n_parts = 1 + len({fit.view.name for fit in self.fits})
        # all sequences may be alike to the first kernel: then its matrix tells nothing
        self.first_share = 1 / n_parts / (spread if spread > 0 else 1)
        self.shares = [1 / n_parts / self._variance(fit.view.name) for fit in self.fits]
        self.values = self.first_share * K
        for share, fit in zip(self.shares, self.fits, strict=True):
            self.values += share * fit.gram.values
            fit.gram.values = np.empty((0, 0))  # large, and part of the sum now

    def _variance(self, name: str) -> int:
        """Return the variance of all views of a name: each of their words has variance 1."""
        return max(sum(fit.gram.n_words for fit in self.fits if fit.view.name == name), 1)

    def matrix(self, learn: np.ndarray) -> np.ndarray:
        """Return the kernel matrix, which does not depend on the sequences to learn from."""
        return self.values

    def divided(self, margins: Margins) -> tuple[Margins, list[Any], np.ndarray]:
        """Return the margins of the first kernel, with the intercepts, the views and all shares."""
        first = Margins(self.first_share * margins.coefficients, margins.intercepts)
        pairs = zip(self.shares, self.fits, strict=True)
        views = [fit.finish(share * margins.coefficients) for share, fit in pairs]
        return first, views, np.array([self.first_share, *self.shares])

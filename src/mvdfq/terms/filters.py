"""Standardized words of filter responses as a term."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from mvdfq._engines.choice import side_by_side
from mvdfq._engines.filter_words import N_WORDS
from mvdfq._utils.checks import check_several, check_whole, parse_memory
from mvdfq.frames.base import shares_of
from mvdfq.frames.filters import TAPS, auto_dilations
from mvdfq.sequences import Sequences
from mvdfq.terms.base import Fitting, Found, Source, Term, Work
from mvdfq.terms.feature_blocks import Block, ShareBlock, SideBySide
from mvdfq.terms.filter_bank import FilterBank, FittedFilters, filter_encoder, filter_shares
from mvdfq.terms.standard import Learned, StandardGram, weighed_sum
from mvdfq.terms.svm import FoldMachine

# Thresholds are learned from sequences with this many frames together, but from at least
# `SEQUENCES` sequences: the thresholds of more sequences hardly differ.
FRAMES, SEQUENCES = 2**13, 50
# Explicit features have at most this many columns of filters: fewer thresholds per filter than on
# kernel matrices. On SpokenArabicDigits, 2 instead of 7 thresholds cost 0.1 points of accuracy.
COLUMNS = 2**13
# Fewer dilations than this make too few filters for all sets of channels.
FEW_BANKS = 5


@dataclass(eq=False, repr=False)
class FilterTerm(Term):
    """Standardized words of filter responses: how often short shapes occur.

    The responses of 84 fixed filters per dilation (`Filters`) are cut at some thresholds, and the
    words are single symbols and triples of symbols one dilation apart. Words are standardized as
    in `WordTerm`. Channels of symbols have no responses. Cost: O(n) in the number of frames for
    each filter and threshold.

    Parameters
    ----------
    dilations : "auto", "few" or sequence of int, default="auto"
        Distances between the taps of a filter, in frames. ``"auto"`` takes the dilations of
        `Filters`, each twice if there are few dilations and more than two channels: the second
        time the filters read other channels. ``"few"`` takes every fourth dilation.

    n_thresholds : int, default=7
        Number of thresholds per response, at most 7.

    name : str, default="filters"
        Name of the term in explanations.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> clf = mvdfq.SequenceClassifier(terms=[mvdfq.FilterTerm("few")]).fit(X, y)
    >>> clf.score(*mvdfq.load_japanese_vowels(split="test")) > 0.9
    True
    """

    dilations: str | Sequence[int] = "auto"
    _: KW_ONLY
    n_thresholds: int = 7
    name: str = "filters"

    def check(self) -> None:
        """Raise an error for parameters that do not exist."""
        check_whole(self.n_thresholds, "n_thresholds", at_most=7)
        if not isinstance(self.dilations, str):
            check_several(self.dilations, "dilations")
        elif self.dilations not in ("auto", "few"):
            raise ValueError(
                f"dilations must be 'auto', 'few' or whole numbers, got {self.dilations!r}."
            )

    def fit(self, X: Any, y: np.ndarray, work: Work) -> "FilterFitting | None":
        """Learn thresholds from some sequences, and compute the kernel matrix of all."""
        encoders = self._fit_encoders(X, self.n_thresholds)
        if not encoders:
            return None
        # all banks keep their features for `finish` if they fit
        memory = parse_memory(work.memory_limit) // len(encoders)

        def gram(encoder: Pipeline) -> StandardGram:
            rows = np.arange(encoder[-1].thresholds_.size)
            piece = rows, partial(filter_shares, encoder, X, work.n_jobs)
            weight = work.sample_weight
            return StandardGram([piece], y, 0.0, memory, work.n_jobs, weight)

        return FilterFitting(self.name, encoders, list(side_by_side(gram, encoders)))

    def source(self, X: Any, y: np.ndarray, work: Work) -> "FilterSource | None":
        """Return what counts the words of blocks; so few thresholds that all columns fit."""
        n_banks = len(self._dilations(X)) if isinstance(X, Sequences) else 1
        # a linear model has a weight for every column and class: many columns cost memory in each
        # step
        most = COLUMNS // (n_banks * len(TAPS) * N_WORDS)
        encoders = self._fit_encoders(X, int(np.clip(most, 1, self.n_thresholds)))
        return FilterSource(self.name, 0.0, encoders) if encoders else None

    def _fit_encoders(self, X: Any, n_thresholds: int) -> list[Pipeline]:
        """Learn thresholds from some of the sequences; no encoders without channels of numbers."""
        if not isinstance(X, Sequences) or X.symbolic_mask.all():
            return []
        n = max(SEQUENCES, FRAMES * len(X) // max(X.data.shape[1], 1))
        # spread over the collection, since files are often sorted by class
        chosen = X[np.linspace(0, len(X) - 1, min(len(X), n)).astype(int)]
        pairs = enumerate(self._dilations(X))
        return [clone(filter_encoder(d, n_thresholds, i)).fit(chosen) for i, d in pairs]

    def _dilations(self, X: Sequences) -> list[int]:
        if not isinstance(self.dilations, str):
            return list(self.dilations)
        found = auto_dilations(X)
        if self.dilations == "few":
            return found[::4]
        return found * 2 if len(found) < FEW_BANKS and X.n_rows > 2 else found


@dataclass
class FilterFitting(Fitting):
    """Filters of several dilations with their kernel matrices."""

    name: str
    encoders: list[Pipeline]
    grams: list[StandardGram]

    @property
    def size(self) -> float:
        """The variance of all features together: each word has variance 1."""
        return max(sum(gram.n_words for gram in self.grams), 1)

    def matrix(self, learn: np.ndarray) -> np.ndarray:
        """Return the kernel matrix, which does not depend on `learn`."""
        return np.sum([gram.values for gram in self.grams], axis=0)

    @property
    def weighed(self) -> tuple[np.ndarray, float] | None:
        """The kernel matrix in which words count by what they tell, and its size."""
        return weighed_sum(self.grams)

    def release(self) -> None:
        """Give up the kernel matrices, which are part of the sum now."""
        for gram in self.grams:
            gram.release()

    def held_out(self, folds: list[FoldMachine], n_channels: int) -> np.ndarray:
        """Return what each channel adds to the margins of held-out sequences."""
        pairs = zip(self.grams, self.encoders, strict=True)
        found = [gram.held_out(folds, shares_of([one], n_channels)) for gram, one in pairs]
        return np.sum(found, axis=0)

    def finish(self, coefficients: np.ndarray, share: float, keep: bool) -> FittedFilters:
        """Return the term with the weights of words; filters keep no training sequences."""
        banks, intercepts = [], np.zeros(coefficients.shape[1])
        for encoder, gram in zip(self.encoders, self.grams, strict=True):
            # a bank is a single piece
            (learned,) = gram.learned(coefficients)
            weights = _placed(learned, learned.weights, np.float32)
            means = _placed(learned, learned.means.clip(0, 1), np.float16)
            spreads = _placed(learned, learned.spreads[:, None], np.float16)[:, :, 0]
            intercepts += learned.intercepts
            parts = weights, means, spreads
            banks.append(FilterBank(encoder, *parts, gram.n_jobs, gram.scales[0]))
        return FittedFilters.of(self.name, banks, intercepts, share)


@dataclass(frozen=True)
class FilterSource(Source):
    """Counts the words of filter responses of blocks of sequences."""

    name: str
    min_share: float
    encoders: list[Pipeline]

    @property
    def n_columns(self) -> int:
        """Number of columns of the features."""
        return sum(encoder[-1].thresholds_.size for encoder in self.encoders) * N_WORDS

    def read(self, X: Any) -> Any:
        """Return the sequences as they are."""
        return X

    def block(self, read: Any) -> Block:
        """Count the words of some sequences."""
        return SideBySide([self._bank(encoder, read) for encoder in self.encoders])

    def _bank(self, encoder: Pipeline, X: Any) -> Block:
        dilation = int(encoder[1].dilations_[0])
        # singles, and triples one dilation apart, of a sequence without missing values
        totals = X.lengths + np.maximum(X.lengths - 2 * dilation, 0)
        return ShareBlock.of(filter_shares(encoder, X), totals)

    def finish(self, found: Found, keep: Any) -> FittedFilters:
        """Return the term with the weights of words; filters keep no training sequences."""
        sizes = [encoder[-1].thresholds_.size for encoder in self.encoders]
        ends = np.cumsum(np.array(sizes) * N_WORDS)[:-1]
        parts = (np.split(one, ends) for one in (found.weights, found.means, found.spreads))
        banks = [
            FilterBank(
                encoder,
                weights.reshape(n_rows, N_WORDS, -1).astype(np.float32),
                means.clip(0, 1).reshape(n_rows, N_WORDS, -1).astype(np.float16),
                spreads.reshape(n_rows, N_WORDS).astype(np.float16),
                found.n_jobs,
            )
            for encoder, n_rows, weights, means, spreads in zip(
                self.encoders, sizes, *parts, strict=True
            )
        ]
        return FittedFilters.of(self.name, banks, -found.mean @ found.weights, found.share)


def _placed(learned: Learned, numbers: np.ndarray, dtype: Any) -> np.ndarray:
    """Return numbers of the kept words in an array of all words, with 0 elsewhere."""
    out = np.zeros((len(learned.rows), learned.n_words, numbers.shape[1]), dtype)
    out.reshape(-1, numbers.shape[1])[learned.kept] = numbers
    return out

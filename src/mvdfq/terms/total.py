r"""The sum of terms in training: a loop over the terms; `FittedSum` is the sum that answers.

.. math:: K = \frac{1}{n} \sum_v K_v / s_v, \qquad f_c(x) = \sum_v f_{vc}(x) + b_c

where the size :math:`s_v` is the variance of the features of term `v` over the training sequences
(the centred trace of its kernel matrix). So all `n` terms count alike, however many words they
have. A machine on the sum of kernel matrices is divided: its coefficients times the share
:math:`1 / (n s_v)` are the coefficients of term `v`. Machines that are fitted by passes over
explicit features are divided in the same way: the features of all terms stand side by side, and
what a machine learned of the columns of a term belongs to the term.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mvdfq._engines.choice import side_by_side
from mvdfq._utils.checks import parse_memory
from mvdfq._utils.threads import Report
from mvdfq.frames.base import UnknownShares
from mvdfq.gram.plan import spread_of_sums
from mvdfq.terms.base import Fitting, Source, Term, Work
from mvdfq.terms.feature_blocks import Block, Labelled, SideBySide
from mvdfq.terms.fitted import FittedSum, FittedTerm, in_bytes, width_of
from mvdfq.terms.standard import Learned, Scale, means_of_classes
from mvdfq.terms.svm import FoldMachine, Margins
from mvdfq.terms.typical import inverse


class Total:
    """Terms with their kernel matrices, their sum, and how to divide a machine on the sum."""

    def __init__(self, terms: Sequence[Term], X: Any, y: np.ndarray, work: Work) -> None:
        self.n_sequences = len(y)
        # all terms keep features until the machines are known: each may use its part of the memory
        limit = max(parse_memory(work.memory_limit) // len(terms), 1)
        term_work = replace(work, memory_limit=limit) if len(terms) > 1 else work
        self.fits = _that_read(side_by_side(lambda term: term.fit(X, y, term_work), terms))
        sizes = [fit.size for fit in self.fits]
        # a plain term that stands alone keeps its kernel matrix as it is
        alone = len(sizes) == 1 and not self.fits[0].is_standard
        self.shares = [1.0] if alone else [1 / len(sizes) / size for size in sizes]
        # of the machine that answers: its words count by what they tell of the classes
        self.last_shares = self.shares.copy()
        self.values: Any = None
        self.weighed: Any = None  # the same for the machine that answers, if it differs
        for v, fit in enumerate(self.fits):
            self._add(v, fit)
            fit.release()

    def _add(self, v: int, fit: Fitting) -> None:
        """Add the kernel matrices of a term to the sums; without a copy if the share is 1."""
        values = fit.values if self.shares[v] == 1 else self.shares[v] * fit.values
        weighed = fit.weighed
        if weighed is not None:
            self.last_shares[v] = 1 / len(self.fits) / weighed[1]
        if weighed is not None or self.weighed is not None:
            before = self.values if self.weighed is None else self.weighed
            last = values if weighed is None else self.last_shares[v] * weighed[0]
            self.weighed = last if before is None else before + last
        self.values = values if self.values is None else self.values + values

    def matrix(self, learn: np.ndarray | None) -> Any:
        """Return the matrix for machines that learn from some sequences: kernel or features.

        None is for the machine that answers, which learns from all sequences.
        """
        return self.weighed if learn is None and self.weighed is not None else self.values

    def held_out(self, folds: list[FoldMachine], n_channels: int) -> np.ndarray | None:
        """Return what channels and terms add to margins of sequences that inner folds hold out.

        The result is (n_judged, n_columns, n_channels + n_terms), in the order of the folds; None
        if a term does not know the shares of the channels.
        """
        try:
            pairs = zip(self.shares, self.fits, strict=True)
            held_out = [(share, fit.held_out(folds, n_channels)) for share, fit in pairs]
        except UnknownShares:
            return None
        if any(parts is None for _, parts in held_out):
            return None
        by_channel = [share * parts for share, parts in held_out]
        by_term = [parts.sum(axis=2)[:, :, None] for parts in by_channel]
        return np.concatenate([sum(by_channel), *by_term], axis=2)

    def finish(self, margins: Margins) -> FittedSum:
        """Divide a machine on the sum among the terms, and sketch the training sequences."""
        parts = zip(self.shares, self.last_shares, self.fits, strict=True)

        def finished(part: tuple[float, float, Fitting]) -> tuple[FittedTerm, Any]:
            share, last, fit = part
            term = fit.finish(last * margins.coefficients, share)
            return term, fit.sketch(term.name)

        done = list(side_by_side(finished, parts))
        terms, made = [term for term, _ in done], [(term.share, sketch) for term, sketch in done]
        sketches = [np.sqrt(share) * sketch for share, sketch in made if sketch is not None]
        sketch = np.sum(sketches, axis=0) if sketches else np.zeros((self.n_sequences, 0))
        return FittedSum(terms, margins.intercepts, *in_bytes(sketch))


class LinearTotal:
    """Terms as sources of explicit features, side by side, and how to divide a machine on them.

    `X` are training sequences, all or some; the encoders of terms learn from them.
    """

    def __init__(self, terms: Sequence[Term], X: Any, y: np.ndarray, work: Work) -> None:
        self.sources = _that_read(term.source(X, y, work) for term in terms)
        # sources, the means and factors of their columns in use, and their shares in the sum
        self.measured: list[tuple[Source, Scale, float]] = []
        self.means = np.empty((0, 0))
        self.class_sizes = np.empty(0)

    def __getstate__(self) -> dict[str, Any]:
        # large, and workers of a cluster only make blocks
        return {**self.__dict__, "measured": [], "means": np.empty((0, 0))}

    def block(self, read: list[Any]) -> Block:
        """Return the features of some sequences, as each source reads them."""
        pairs = zip(self.sources, read, strict=True)
        return SideBySide([source.block(symbols) for source, symbols in pairs])

    @property
    def columns(self) -> Scale:
        """The means and factors of all columns."""
        parts = ((scale.mean, scale.factor) for _, scale, _ in self.measured)
        return Scale(*map(np.concatenate, zip(*parts, strict=True)))

    def measure(self, blocks: Any, report: Report) -> None:
        """Measure all columns in one pass over the blocks; leave out columns that do not count."""
        # one pass over the sequences for all terms: reading them again costs more than the sums
        n, *sums = blocks.sum(_column_sums, report=report)
        sizes = [sum(len(kept) for *_, kept in source.pieces) for source in self.sources]
        ends = np.cumsum(sizes)[:-1]
        parts = zip(*(np.split(values, ends) for values in sums), strict=True)
        pairs = list(zip(self.sources, parts, strict=True))
        n_terms, alone = len(pairs), len(pairs) == 1 and pairs[0][0].min_share is None
        self.measured = []
        for source, sums_of in pairs:
            mean, variance = spread_of_sums(float(n[0]), *sums_of[1:])
            factor = np.ones(len(mean))
            if source.min_share is not None:
                factor = Scale.of_sums(float(n[0]), source.min_share, *sums_of).factor
            # the variance of standardized columns is their number, the variance of plain columns
            # is measured; a plain term that stands alone keeps its size, as kernel matrices do
            share = 1.0 if alone else 1 / n_terms / (float(factor**2 @ variance) or 1.0)
            source, kept = source.only(factor > 0)
            scale = Scale(mean[kept], (factor * np.sqrt(share))[kept])
            self.measured.append((source, scale, share))
        self.sources = [source for source, _, _ in self.measured]

    def measure_classes(self, blocks: Any, n_classes: int) -> None:
        """Measure the mean of every column over each class, in one pass over the blocks."""
        if means_of_classes(len(self.columns.mean), n_classes):
            total, self.class_sizes = blocks.sum(_class_sums, n_classes)
            self.means = total / self.class_sizes
        else:
            self.means = self.columns.mean[:, None]

    def finish(self, margins: Margins, train: list[Any] | None = None) -> FittedSum:
        """Divide a machine among the terms; sketch training sequences as sources read them."""
        ends = np.cumsum([len(scale.mean) for _, scale, _ in self.measured])[:-1]
        terms: list[FittedTerm] = []
        intercepts = margins.intercepts.astype(float)
        by_term = np.split(margins.coefficients.astype(float), ends)
        kept = [None] * len(self.measured) if train is None else train
        parts = zip(self.measured, by_term, np.split(self.means, ends), kept, strict=True)
        for (source, scale, share), coefficients, means, read in parts:
            weights = scale.factor[:, None] * coefficients
            # words that are left out have the factor 0
            spreads = np.sqrt(share) * inverse(scale.factor)
            pieces = source.pieces
            cuts = np.cumsum([len(columns) for *_, columns in pieces])[:-1]
            numbers = (np.split(values, cuts) for values in (weights, scale.mean, means, spreads))
            each = zip(pieces, *numbers, strict=True)
            learned = (Learned(*piece, *of_piece) for piece, *of_piece in each)
            terms.append(source.finish(learned, share, read))
            if source.min_share is not None:  # the means are in the intercepts of the term
                intercepts = intercepts + scale.mean @ weights
        total = FittedSum(terms, intercepts, *in_bytes(np.empty((0, width_of(terms)))))
        if train is None:
            return total
        return FittedSum(terms, intercepts, *in_bytes(total.points(train).sketch))


def _that_read(found: Iterable[Any]) -> list[Any]:
    """Leave out terms that find nothing to read: filters need numbers, and X may hold strings."""
    parts = [part for part in found if part is not None]
    if not parts:
        raise ValueError("X holds nothing that the terms can read: filters need numbers.")
    return parts


def _column_sums(block: Labelled) -> tuple[np.ndarray, ...]:
    """Return the weight of the sequences and the sums of all columns."""
    return np.array([block.often.sum()]), *block.features.sums(block.often)


def _class_sums(block: Labelled, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums of all columns over each class, and the weight of its sequences."""
    often = np.zeros((len(block.y), n_classes), np.float32)
    often[np.arange(len(block.y)), block.y] = block.often
    return block.features.gathered(often).astype(float), often.sum(axis=0, dtype=float)

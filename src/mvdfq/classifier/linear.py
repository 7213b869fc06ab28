r"""The sum of kernels as explicit features, for machines that are fitted by passes over blocks.

The features of every part of the sum stand side by side, each with its factor: a machine on them
is a machine on the sum of the kernel matrices. What a machine learned of the columns of a part is
the machine of this part.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from mvdfq._utils.threads import Report
from mvdfq.classifier.presets import Settings
from mvdfq.classifier.views import FilterView, FittedFilters, FittedWords, WordView
from mvdfq.gram.features import SequenceFeatures
from mvdfq.machines.blocks import Labelled, WordColumns
from mvdfq.machines.filter_words import FilterMachine
from mvdfq.machines.machine import LinearMachine, Machine
from mvdfq.machines.passes import Columns
from mvdfq.machines.sources import FeatureSource, FilterSource, Source, WordSource
from mvdfq.machines.standard import Learned, Scale
from mvdfq.machines.svm import Margins
from mvdfq.machines.word_machine import WordMachine
from mvdfq.sequences import Sequences

__all__ = ["LinearSum"]


@dataclass(frozen=True)
class Part:
    """A part of the sum: the source of its features, and its view (None: the first kernel)."""

    source: Source
    view: WordView | FilterView | None
    min_share: float | None

    @property
    def name(self) -> str:
        """The name of the part; parts of one name count as one part."""
        return "" if self.view is None else self.view.name


class Measured(NamedTuple):
    """A part with the means and factors of the columns in use, and its share in the sum."""

    part: Part
    mean: np.ndarray
    factor: np.ndarray
    share: float


class LinearSum:
    """The first kernel and its views as sources of features, and how to divide a machine.

    `X` are training sequences, all or some; the encoders of views learn from them.
    """

    def __init__(self, reader: SequenceFeatures, settings: Settings, X: Any) -> None:
        standard = settings.min_share is not None and not reader.normalize
        first: Source = FeatureSource(reader)
        if standard:
            first = WordSource(reader, WordColumns.of(reader.plan_), np.arange(reader.n_rows_in_))
        self.parts = [Part(first, None, settings.min_share if standard else None)]
        views = settings.views(X) if settings.views and isinstance(X, Sequences) else []
        names = [view.name for view in views]
        found = [(view, view.source(X, names.count(view.name))) for view in views]
        self.parts += [Part(source, view, 0.0) for view, source in found if source is not None]
        self.measured: list[Measured] = []

    @property
    def sources(self) -> list[Source]:
        """The sources of all features, side by side."""
        return [part.source for part in self.parts]

    @property
    def columns(self) -> Columns:
        """The means and factors of all columns."""
        means, factors = zip(*((one.mean, one.factor) for one in self.measured), strict=True)
        return Columns(np.concatenate(means), np.concatenate(factors))

    def measure(self, blocks: Any, report: Report) -> None:
        """Measure all columns in one pass over the blocks; leave out columns that do not count."""
        (n,), *sums = blocks.sum(column_sums_of, report=report)
        pairs = [(part, sums[3 * j : 3 * j + 3]) for j, part in enumerate(self.parts)]
        scales = [_scale(part, n, *three) for part, three in pairs]
        sizes = [float(scale.factor**2 @ _variance(n, *three))
                 for scale, (_, three) in zip(scales, pairs, strict=True)]  # fmt: skip
        names = [part.name for part in self.parts]
        total = {name: sum(v for v, own in zip(sizes, names, strict=True) if own == name) or 1.0
                 for name in names}  # fmt: skip
        if len(total) == 1 and self.parts[0].min_share is None:
            total[""] = 1.0  # the first kernel alone keeps its size, as kernel matrices do
        shares = [1 / len(total) / total[name] for name in names]
        self.measured = [_kept(*one) for one in zip(self.parts, scales, shares, strict=True)]
        self.parts = [one.part for one in self.measured]

    def divided(
        self, margins: Margins, kept: Any, memory_limit: Any, n_jobs: int | None
    ) -> tuple[Machine, list[Any], np.ndarray]:
        """Return the machine of the first kernel, with the intercepts, the views and all shares.

        `kept` are the symbols of the training sequences that the machine keeps.
        """
        ends = np.cumsum([len(one.mean) for one in self.measured])[:-1]
        learned = np.split(margins.coefficients.astype(float), ends)
        (first, weights), *others = zip(self.measured, learned, strict=True)
        views = [_finished(one, found, n_jobs) for one, found in others]
        moved = [one.mean @ (one.factor[:, None] * found) for one, found in others]
        intercepts = margins.intercepts + np.sum(moved, axis=0) if moved else margins.intercepts
        shares = np.array([one.share for one in self.measured])
        if isinstance(first.part.source, FeatureSource):
            reader = first.part.source.reader
            mine = Margins(first.factor[:, None] * weights, intercepts)
            train = reader.values(reader.read_new(kept))
            return LinearMachine(reader, mine, memory_limit, n_jobs, train=train), views, shares
        # the first kernel matrix is divided by the number of its words, as in `parts.py`
        n_words = 1 / (len({one.part.name for one in self.measured}) * first.share)
        shares[0] *= n_words
        return _first_words(first, weights, intercepts, n_words, kept, n_jobs), views, shares


def _first_words(
    first: Measured,
    learned: np.ndarray,
    intercepts: np.ndarray,
    n_words: float,
    kept: Any,
    n_jobs: int | None,
) -> WordMachine:
    """Return the machine of the first kernel, which has the intercepts of all parts."""
    words = _word_machine(first, learned, n_jobs)
    own = first.mean @ (first.factor[:, None] * learned)
    return replace(
        words,
        margins=replace(words.margins, intercepts=words.margins.intercepts + own + intercepts),
        norms=words.norms * n_words,
        train=kept,
        min_share=first.part.min_share or 0.0,
    )


def _variance(n: int, held: np.ndarray, total: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Return the variance of every column over `n` sequences."""
    return np.maximum(squares / n - (total / n) ** 2, 0)


def _scale(part: Part, n: int, *sums: np.ndarray) -> Scale:
    """Return the means and factors of the columns of a part: 1 if they are not standardized."""
    if part.min_share is None:
        return Scale(sums[1] / n, np.ones(len(sums[1])))
    return Scale.of_sums(n, part.min_share, *sums)


def _kept(part: Part, scale: Scale, share: float) -> Measured:
    """Return a part without the columns of words that are left out."""
    factor = scale.factor * np.sqrt(share)
    if not isinstance(part.source, WordSource):
        return Measured(part, scale.mean, factor, share)
    source = replace(part.source, columns=part.source.columns.only(scale.factor > 0))
    kept = scale.kept
    return Measured(replace(part, source=source), scale.mean[kept], factor[kept], share)


def _finished(one: Measured, learned: np.ndarray, n_jobs: int | None) -> Any:
    """Return the fitted view of what a machine learned of its columns."""
    source, view = one.part.source, one.part.view
    assert view is not None
    if not isinstance(source, FilterSource):
        assert isinstance(source, WordSource)
        return FittedWords(view.name, source.rows, _word_machine(one, learned, n_jobs),
                           source.encoder)  # fmt: skip
    n_rows = source.encoder[-1].thresholds_.size
    weights = one.factor[:, None] * learned
    machine = FilterMachine(
        source.encoder,
        weights.reshape(n_rows, -1, weights.shape[1]).astype(np.float32),
        -one.mean @ weights,
        one.share * (learned**2).reshape(n_rows, -1).sum(axis=1),
        n_jobs,
    )
    return FittedFilters(view.name, machine)


def _word_machine(one: Measured, learned: np.ndarray, n_jobs: int | None) -> WordMachine:
    """Return the machine with the learned weights of words, row by row."""
    source = one.part.source
    assert isinstance(source, WordSource)
    weights = one.factor[:, None] * learned
    pieces = []
    start = 0
    for r, (kept, size) in enumerate(zip(source.columns.kept, source.columns.sizes, strict=True)):
        mine = slice(start, start + len(kept))
        norm = one.share * (learned[mine] ** 2).sum()
        intercepts = -one.mean[mine] @ weights[mine]
        pieces.append(Learned(np.array([r]), size, kept, weights[mine], intercepts, norm))
        start = mine.stop
    return WordMachine.of_learned(source.reader, pieces, learned.shape[1], n_jobs)


def column_sums_of(block: Labelled) -> tuple[np.ndarray, ...]:
    """Return the number of sequences and the sums of all columns of all sources."""
    sums = [one for features in block.features for one in features.sums()]
    return np.array([len(block.y)]), *sums

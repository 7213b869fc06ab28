r"""The sum of kernels as explicit features, for machines that are fitted by passes over blocks.

The features of every part of the sum stand side by side, each with its factor: a machine on them
is a machine on the sum of the kernel matrices. What a machine learned of the columns of a part is
the machine of this part.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from mvdfq._engines.choice import current_engine
from mvdfq._engines.filter_words import N_WORDS
from mvdfq._engines.spread import LocalBlocks
from mvdfq._utils.memory import parse_memory
from mvdfq._utils.threads import Report
from mvdfq.classifier.presets import Settings
from mvdfq.classifier.views import FilterView, FittedFilters, FittedWords, WordView
from mvdfq.frames.filters import TAPS
from mvdfq.gram.features import SequenceFeatures
from mvdfq.machines.blocks import Labelled, WordColumns
from mvdfq.machines.filter_words import FilterMachine
from mvdfq.machines.machine import LinearMachine, Machine
from mvdfq.machines.passes import Columns, PassSolver
from mvdfq.machines.sources import FeatureSource, FilterSource, Source, WordSource
from mvdfq.machines.standard import Learned, Scale, WordMachine
from mvdfq.machines.svm import Margins
from mvdfq.machines.validation import Trained, Trainer, inner_folds
from mvdfq.sequences import Ragged, Sequences

__all__ = [
    "SAMPLE", "Collection", "LinearSum", "Samples", "fit_by_passes", "held_out", "spread_blocks",
    "stratified",
]  # fmt: skip

# Columns of filters at most: fewer thresholds per filter than on kernel matrices. On
# SpokenArabicDigits, 2 instead of 7 thresholds cost 0.1 points of accuracy.
FILTER_COLUMNS = 2**13
# The penalty C of a hinge is C / 10 of a squared hinge: with these penalties both have the same
# accuracy on SpokenArabicDigits within 0.1 points. A larger penalty takes many more passes.
PENALTY = 0.1
# Sequences that the first machines learn from, which choose C and where the others begin.
SAMPLE = 4000
# Sequences that are held out, which measure accuracy and the scale of probabilities.
HELD_OUT = 2000
# Machines on every sixth block come before machines on all blocks, and take most of the steps: a
# pass over every sixth block takes a sixth of the time.
STRIDE, MOST_STRIDED, MOST_LAST = 6, 60, 20
# Blocks of sequences with about this many frames in all rows, and at most this many sequences.
BLOCK_FRAMES, BLOCK_SEQUENCES = 2**20, 2**11


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
        n_banks = sum(isinstance(view, FilterView) for view in views)
        found = [(view, _view_source(view, X, n_banks)) for view in views]
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


def _view_source(view: WordView | FilterView, X: Sequences, n_banks: int) -> Source | None:
    """Return the source of the features of a view; None if a view finds nothing to read."""
    if isinstance(view, FilterView):
        if X.symbolic_mask.all():
            return None
        return FilterSource(_fewer_thresholds(view, n_banks).fit_encoder(X))
    found = view.fit_reader(X)
    if found is None:
        return None
    encoder, rows, reader = found
    return WordSource(reader, WordColumns.of(reader.plan_), rows, encoder)


def _fewer_thresholds(view: FilterView, n_banks: int) -> FilterView:
    """Return the view with so few thresholds that the columns of all filters fit."""
    encoder = clone(view.encoder)
    most = FILTER_COLUMNS // (n_banks * len(TAPS) * N_WORDS)
    quantizer = encoder[-1]
    quantizer.n_thresholds = int(np.clip(most, 1, quantizer.n_thresholds))
    return replace(view, encoder=encoder)


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
        table = np.zeros((1, size, learned.shape[1]))
        table[0, kept] = weights[mine]
        norm = one.share * (learned[mine] ** 2).sum()
        pieces.append(Learned(np.array([r]), table, -one.mean[mine] @ weights[mine], norm))
        start = mine.stop
    return WordMachine.of_learned(source.reader, pieces, learned.shape[1], n_jobs)


def column_sums_of(block: Labelled) -> tuple[np.ndarray, ...]:
    """Return the number of sequences and the sums of all columns of all sources."""
    sums = [one for features in block.features for one in features.sums()]
    return np.array([len(block.y)]), *sums


@dataclass(frozen=True)
class Collection:
    """Sequences in memory with their symbols, as a matrix of features that is made block by block.

    Indexing gives some of the sequences; ``collection @ weights`` gives their margins.
    """

    total: LinearSum
    X: Ragged
    symbols: Ragged

    def __len__(self) -> int:
        return len(self.symbols)

    def __getitem__(self, rows: np.ndarray) -> "Collection":
        return Collection(self.total, self.X[rows], self.symbols[rows])

    def __matmul__(self, coefficients: np.ndarray) -> np.ndarray:
        scaled = (self.total.columns.factor[:, None] * coefficients).astype(np.float32)
        none = np.zeros(len(self))
        blocks = (make() for make in self.makers(none, none, none))
        return np.concatenate([_products(block, scaled) for block in blocks])

    def makers(
        self, y: np.ndarray, weight: np.ndarray, held: np.ndarray
    ) -> list[Callable[[], Labelled]]:
        """Return functions that make the features of one block each."""
        n = len(self)
        frames = self.symbols.n_rows * max(int(self.symbols.offsets[-1]) // max(n, 1), 1)
        size = int(np.clip(BLOCK_FRAMES // frames, 1, BLOCK_SEQUENCES))
        cuts = [slice(a, a + size) for a in range(0, n, size)]
        labels = [(y[c], weight[c], held[c]) for c in cuts]
        return [
            partial(labelled, self.total.sources, self.X[c], self.symbols[c], *mine)
            for c, mine in zip(cuts, labels, strict=True)
        ]


def labelled(sources: Sequence[Source], X: Any, symbols: Any, *labels: np.ndarray) -> Labelled:
    """Make the features of a block; `labels` are codes, weights and what is held out."""
    return Labelled([source.block(X, symbols) for source in sources], *labels)


def _products(block: Labelled, weights: np.ndarray) -> np.ndarray:
    sizes = [part.n_columns for part in block.features]
    pieces = np.split(weights, np.cumsum(sizes)[:-1])
    return np.sum([f.times(w) for f, w in zip(block.features, pieces, strict=True)], axis=0)


def stratified(y: np.ndarray, n: int, random: np.random.Generator) -> np.ndarray:
    """Return the indices of about `n` sequences: of every class its share, and at least ten."""
    chosen = []
    for mine in (np.flatnonzero(y == c) for c in np.unique(y)):
        size = max(round(n * len(mine) / len(y)), min(10, len(mine)))
        chosen.append(random.permutation(mine)[:size])
    return np.sort(np.concatenate(chosen))


def held_out(trainer: Trainer, random: np.random.Generator) -> np.ndarray:
    """Return the indices of the sequences to hold out: at most a fifth, whole groups if any.

    Every class keeps sequences to learn from.
    """
    n = min(HELD_OUT, len(trainer.y) // 5)
    if trainer.groups is not None:
        folds = inner_folds(trainer.y, trainer.groups, max(len(trainer.y) // max(n, 1), 2),
                            trainer.random_state)  # fmt: skip
        return folds[0][1] if folds else np.empty(0, int)
    chosen = stratified(trainer.y, n, random)
    several = np.bincount(trainer.y) > np.bincount(trainer.y[chosen])
    return chosen[several[trainer.y[chosen]]]


@contextmanager
def spread_blocks(
    classifier: Any, makers: Sequence[Callable[[], Any]], keep: bool = True
) -> Iterator[Any]:
    """Give the blocks where the current engine computes: in this process or on a cluster."""
    engine = current_engine()
    if engine.name == "dask":
        from mvdfq._engines.cluster import DaskBlocks, client_of  # Dask is optional

        with client_of(engine) as client:
            yield DaskBlocks(client, makers)
        return
    memory = parse_memory(classifier.memory_limit) if keep else 0
    yield LocalBlocks(makers, memory, classifier.n_jobs)


class Samples(NamedTuple):
    """Some of the sequences in memory: to begin with, and to check the machines on."""

    begin: Collection
    begin_trainer: Trainer
    check: Collection
    check_trainer: Trainer


def fit_by_passes(
    solver: PassSolver, samples: Samples, candidates: Sequence[float], report: Report
) -> Trained:
    """Choose C on the first sample, go on with all blocks, check, and learn the rest, too."""
    begin = replace(samples.begin_trainer, fit=partial(_fit_sample, solver.memory))
    first = begin.chosen(samples.begin, candidates)
    C = PENALTY * first.C
    reports = [_share_of(report, 0, 0.2), _share_of(report, 0.2, 0.8)]
    margins = first.margins
    is_large = len(solver.blocks) > 2 * STRIDE
    if is_large:
        mine = replace(solver, report=reports[0], stride=STRIDE, most=MOST_STRIDED)
        margins = mine(C, margins, everything=False)
    mine = replace(solver, report=reports[1], most=MOST_LAST if is_large else None)
    margins = mine(C, margins, everything=False)
    if not len(samples.check):
        return replace(first, margins=margins)
    checked = samples.check_trainer.checked(margins.of(samples.check))
    if not is_large:  # else the sequences that are held out are too few to matter
        margins = solver(C, margins)
    scores = first.scores.copy() if len(candidates) > 1 else np.empty((1, 1))
    scores[first.best] = checked.score
    return replace(first, margins=margins, temperature=checked.temperature, scores=scores)


def _share_of(report: Report, start: float, share: float) -> Report:
    """Return a report that fills one part of a bar."""
    return lambda done, total: report(round(1000 * (start + share * done / total)), 1000)


def _fit_sample(
    memory: int,
    values: Collection,
    y: np.ndarray,
    problems: Any,
    C: float,
    *,
    sample_weight: np.ndarray,
    random_state: int,
    n_jobs: int | None,
) -> Margins:
    """Solve every problem on sequences in memory; takes the arguments of `fit_margins`."""
    makers = values.makers(y, sample_weight, np.zeros(len(y), bool))
    blocks = LocalBlocks(makers, memory, n_jobs)
    return PassSolver(blocks, values.total.columns, problems, memory)(PENALTY * C)

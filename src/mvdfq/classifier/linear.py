r"""The sum of kernels as explicit features, for machines that are fitted by passes over blocks.

.. math:: K(x, z) = \sum_v \langle D_v \, \phi(x), D_v \, \phi(z) \rangle
                  = \langle D \phi(x), D \phi(z) \rangle, \qquad D^2 = \sum_v D_v^2

Parts of the sum that read the same words share the columns of these words: their squared factors
are added, and the weights that a machine learned are divided among the parts in proportion to the
squared factors. This is what a machine on the sum of the kernel matrices learns, too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from mvdfq._engines.spread import LocalBlocks
from mvdfq._utils.memory import parse_memory
from mvdfq._utils.threads import Report
from mvdfq.classifier.presets import Settings
from mvdfq.classifier.views import FilterView, FittedFilters, FittedWords, WordView
from mvdfq.gram.features import SequenceFeatures
from mvdfq.machines.blocks import Labelled, WordColumns
from mvdfq.machines.filter_words import FilterMachine
from mvdfq.machines.machine import LinearMachine, Machine
from mvdfq.machines.passes import Columns, PassSolver
from mvdfq.machines.sources import FeatureSource, FilterSource, Source, WordSource
from mvdfq.machines.standard import Learned, Scale, WordMachine
from mvdfq.machines.svm import Margins
from mvdfq.machines.validation import Trained, Trainer, inner_folds
from mvdfq.machines.word_table import DENSE_WORDS
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
# Machines on every sixth block come before machines on all blocks: passes over all blocks are then
# half as many.
STRIDE = 6
# Blocks of sequences with about this many frames in all rows, and at most this many sequences.
BLOCK_FRAMES, BLOCK_SEQUENCES = 2**20, 2**11


@dataclass(frozen=True)
class Part:
    """A part of the sum: the source it reads, its view (None: the first kernel), its weight."""

    source: int
    view: WordView | FilterView | None
    weight: float


class LinearSum:
    """The first kernel and its views as sources of features, and how to divide a machine.

    `X` and `symbols` are training sequences, all or some; encoders of views learn from them.
    """

    def __init__(self, reader: Any, settings: Settings, X: Any, symbols: Any) -> None:
        self.sources: list[Source] = [_first_source(reader, symbols)]
        self.parts = [Part(0, None, settings.weight)]
        views = settings.views(X) if settings.views and isinstance(X, Sequences) else []
        n_banks = sum(isinstance(view, FilterView) for view in views)
        for view in views:
            self._add(view, X, symbols, n_banks)

    def _add(self, view: WordView | FilterView, X: Any, symbols: Any, n_banks: int) -> None:
        """Add a view, on the words of the first kernel if the view reads the same words."""
        if isinstance(view, FilterView):
            if X.symbolic_mask.all():
                return
            source: Source = FilterSource(_fewer_thresholds(view, n_banks).fit_encoder(X))
        else:
            first = self.sources[0]
            if isinstance(first, WordSource) and _same_words(view, first.reader):
                self.parts.append(Part(0, view, view.weight))
                return
            found = view.fit_reader(X, symbols)
            if found is None:
                return
            encoder, rows, reader = found
            source = WordSource(reader, WordColumns.of(reader.plan_), rows, encoder)
        self.parts.append(Part(len(self.sources), view, view.weight))
        self.sources.append(source)

    def measure(self, blocks: Any, report: Report) -> None:
        """Measure all columns in one pass over the blocks; learn the factors of the columns."""
        n, *sums = blocks.sum(column_sums_of, report=report)
        per_source = [tuple(sums[3 * j : 3 * j + 3]) for j in range(len(self.sources))]
        means = [total / n[0] for _, total, _ in per_source]
        squares = [self._square(part, n[0], per_source[part.source]) for part in self.parts]
        totals = {_name(part): part.weight for part in self.parts}
        spread: dict[str, float] = {}
        for part, (_, size) in zip(self.parts, squares, strict=True):
            spread[_name(part)] = spread.get(_name(part), 0.0) + size
        self.shares = np.array(
            [p.weight / sum(totals.values()) / (spread[_name(p)] or 1) for p in self.parts]
        )
        self.squares = [s * found for s, (found, _) in zip(self.shares, squares, strict=True)]
        self.whole = [
            sum(s for s, p in zip(self.squares, self.parts, strict=True) if p.source == j)
            for j in range(len(self.sources))
        ]
        factor = np.sqrt(np.concatenate([np.atleast_1d(whole) for whole in self.whole]))
        self.means, self.columns = means, Columns(np.concatenate(means), factor)

    def _square(self, part: Part, n: int, sums: Any) -> tuple[np.ndarray, float]:
        """Return the squared factors of the columns of a part, and its variance."""
        if part.view is not None:
            min_share = getattr(part.view, "min_share", 0.0)
            scale = Scale.of_sums(n, min_share, *sums)
            return scale.factor**2, float(scale.kept.size)
        _, total, squares = sums
        variance = np.maximum(squares / n - (total / n) ** 2, 0)
        source = self.sources[0]
        found = np.ones(len(total))
        if isinstance(source, WordSource):
            kept = source.columns
            found = np.concatenate(kept.weights) * np.concatenate(kept.grams)
            found = found / source.reader.row_mean()
        # the first kernel alone keeps its own size, as kernel matrices do
        return found, float(found @ variance) if len(self.parts) > 1 else 1.0

    def divided(
        self, margins: Margins, memory_limit: Any, n_jobs: int | None
    ) -> tuple[Machine, list[Any], np.ndarray]:
        """Return the machine of the first kernel, with the intercepts, the views and all shares."""
        ends = np.cumsum([len(mean) for mean in self.means])[:-1]
        scaled = self.columns.factor[:, None] * margins.coefficients
        learned = np.split(scaled, ends)
        intercepts, views = margins.intercepts.astype(float), []
        divide = partial(self._divided, learned, n_jobs)
        for share, square, part in list(zip(self.shares, self.squares, self.parts, strict=True))[1:]:
            view, weights = divide(share, square, part)
            intercepts += self.means[part.source] @ weights
            views.append(view)
        machine = self._first(learned[0], intercepts, memory_limit, n_jobs)
        return machine, views, self.shares

    def _weights(self, learned: list[np.ndarray], square: np.ndarray, part: Part) -> np.ndarray:
        """Return the part of the weights of a source that belongs to one part of the sum."""
        whole = self.whole[part.source]
        share = np.divide(square, whole, out=np.zeros_like(whole), where=whole > 0)
        return share[:, None] * learned[part.source]

    def _divided(
        self,
        learned: list[np.ndarray],
        n_jobs: int | None,
        share: float,
        square: np.ndarray,
        part: Part,
    ) -> tuple[FittedWords | FittedFilters, np.ndarray]:
        assert part.view is not None
        weights = self._weights(learned, square, part)
        source, mean = self.sources[part.source], self.means[part.source]
        norms = _norms(weights, square, share)
        if isinstance(source, FilterSource):
            n_rows = source.encoder[-1].thresholds_.size
            machine = FilterMachine(
                source.encoder,
                weights.reshape(n_rows, -1, weights.shape[1]).astype(np.float32),
                -mean @ weights,
                norms.reshape(n_rows, -1).sum(axis=1),
                n_jobs,
            )
            return FittedFilters(part.view.name, machine), weights
        assert isinstance(source, WordSource)
        words = _word_machine(source, weights, mean, norms, n_jobs)
        return FittedWords(part.view.name, source.rows, words, source.encoder), weights

    def _first(
        self, learned: np.ndarray, intercepts: np.ndarray, memory_limit: Any, n_jobs: int | None
    ) -> Machine:
        source, part = self.sources[0], self.parts[0]
        weights = self._weights([learned], self.squares[0], part)
        if isinstance(source, FeatureSource):
            return LinearMachine(source.reader, Margins(weights, intercepts), memory_limit, n_jobs)
        norms = _norms(weights, self.squares[0], self.shares[0])
        machine = _word_machine(source, weights, np.zeros(len(weights)), norms, n_jobs)
        return replace(machine, margins=replace(machine.margins, intercepts=intercepts))


def _name(part: Part) -> str:
    """Return the name of a part: parts of one name share one weight."""
    return "" if part.view is None else part.view.name


def _norms(weights: np.ndarray, square: np.ndarray, share: float) -> np.ndarray:
    """Return the squared norm of the machines by column, as machines on kernel matrices have it."""
    squares = (weights**2).sum(axis=1)
    return share * np.divide(squares, square, out=np.zeros_like(squares), where=square > 0)


def _first_source(reader: SequenceFeatures, symbols: Any) -> Source:
    plan = reader.plan_
    if reader.n_features is None and plan.root and plan.counts_groups and not reader.normalize:
        columns = WordColumns.of(plan)
        return WordSource(reader, columns, np.arange(symbols.n_rows))
    return FeatureSource(reader)


def _same_words(view: WordView, reader: SequenceFeatures) -> bool:
    """Tell whether a view reads the words that the first kernel reads, in the same cells."""
    plan = reader.plan_
    if view.encoder is not None or view.pyramid != plan.n_levels:
        return False
    if (plan.n_symbols.astype(float) ** max(g.length for g in plan.groups(0)) > DENSE_WORDS).any():
        return False
    mine, its = view.kernel.groups(2), plan.kernel.groups(2)
    return [[one.offsets for one in g.layouts] for g in mine] == [
        [one.offsets for one in g.layouts] for g in its
    ]


def _fewer_thresholds(view: FilterView, n_banks: int) -> FilterView:
    """Return the view with so few thresholds that the columns of all filters fit."""
    encoder = clone(view.encoder)
    rows = FILTER_COLUMNS // (n_banks * 84 * 10)
    quantizer = encoder[-1]
    quantizer.n_thresholds = int(np.clip(rows, 1, quantizer.n_thresholds))
    return replace(view, encoder=encoder)


def _word_machine(
    source: WordSource,
    weights: np.ndarray,
    mean: np.ndarray,
    norms: np.ndarray,
    n_jobs: int | None,
) -> WordMachine:
    """Return the machine with these weights of root shares, row by row."""
    ends = np.cumsum([len(one) for one in source.columns.weights])[:-1]
    arrays = [np.split(array, ends) for array in (weights, mean, norms)]

    def rows() -> Any:
        for r, (w, m, n) in enumerate(zip(*arrays, strict=True)):
            # counts of the word table have the weights of their layouts
            table = w / np.sqrt(source.columns.weights[r])[:, None]
            yield Learned(np.array([r]), table[None], -m @ w, n.sum())

    return WordMachine.of_learned(source.reader, rows(), weights.shape[1], n_jobs)


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


def labelled(
    sources: Sequence[Source], X: Any, symbols: Any, *labels: np.ndarray
) -> Labelled:
    """Make the features of a block of sequences; `labels` are codes, weights and who is held out."""
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


def spread_blocks(classifier: Any, makers: Sequence[Callable[[], Labelled]]) -> Any:
    """Return the blocks where the engine of the classifier computes."""
    return LocalBlocks(makers, parse_memory(classifier.memory_limit), classifier.n_jobs)


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
    for stride in (STRIDE, 1) if len(solver.blocks) > 2 * STRIDE else (1,):
        mine = replace(solver, report=reports[stride == 1], stride=stride)
        margins = mine(C, margins, everything=False)
    if not len(samples.check):
        return replace(first, margins=margins)
    checked = samples.check_trainer.checked(margins.of(samples.check))
    if len(solver.blocks) <= 2 * STRIDE:  # else too few to matter
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

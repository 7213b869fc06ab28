"""Fit a classifier by passes over blocks of features: samples, folds and steps.

A sample chooses `C` and where the machines begin, sequences that are held out check the machines.
Blocks may be in memory, or are read when they are needed. Then every sequence has a random key that
depends on the seed, its block and its place alone. The sample is the sequences with the smallest
keys: samples of blocks are joined in any order, by a tree, and the result is the same. The very
smallest keys are held out.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mvdfq._engines.choice import current_engine
from mvdfq._engines.spread import DaskBlocks, LocalBlocks, client_of, kept_on, run_on_cluster
from mvdfq._utils.checks import parse_memory
from mvdfq._utils.threads import Report
from mvdfq.classifier.saving.record import TrainingRecord, digest, fingerprints, record_of
from mvdfq.sequences import Ragged, Sequences, check_sequences
from mvdfq.sequences.statistics import without_constants
from mvdfq.terms.feature_blocks import Labelled
from mvdfq.terms.pass_solver import PassSolver
from mvdfq.terms.svm import Margins
from mvdfq.terms.total import LinearTotal
from mvdfq.terms.validation import Trained, Trainer, check_targets, inner_folds

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
# Symbols that are kept beside the numbers take at most this share of the memory limit.
KEPT_SHARE = 4
# Sequences that one task of a cluster predicts.
PREDICTED = 512

Numbered = tuple[int, Sequences, np.ndarray]


@dataclass(frozen=True)
class Collection:
    """Sequences in memory, as a matrix of features that is made block by block."""

    total: LinearTotal
    X: Ragged
    # As each source reads X; None: these symbols take much memory, and are made for every block.
    read: list[Ragged | None]
    trainer: Any = None  # holds the labels

    @classmethod
    def of(cls, total: LinearTotal, X: Any, trainer: Trainer, memory: int) -> "Collection":
        """Read sequences by every source whose symbols fit into the memory."""
        room, read = memory // KEPT_SHARE, []
        for source in total.sources:
            # no sequence at all tells the number of rows and the type of the symbols
            nothing = source.read(X[:0])
            fits = nothing.n_rows * X.data.shape[1] * nothing.data.itemsize <= room
            read.append(source.read(X) if fits else None)
            room -= 0 if read[-1] is None or read[-1] is X else read[-1].data.nbytes
        return cls(total, X, read, trainer)

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: Any) -> "Collection":
        read = [None if symbols is None else symbols[rows] for symbols in self.read]
        return Collection(self.total, self.X[rows], read, self.trainer and self.trainer.of(rows))

    def __matmul__(self, coefficients: np.ndarray) -> np.ndarray:
        scaled = (self.total.columns.factor[:, None] * coefficients).astype(np.float32)
        none = np.zeros(len(self))
        blocks = (make() for make in self.makers(none, none, none, none))
        return np.concatenate([block.features.times(scaled) for block in blocks])

    def all_read(self) -> list[Any]:
        """Return the sequences as each source reads them."""
        pairs = zip(self.total.sources, self.read, strict=True)
        return [source.read(self.X) if symbols is None else symbols for source, symbols in pairs]

    def labelled(self, *labels: np.ndarray) -> Labelled:
        """Make the features; `labels` are codes, weights, sample weights and what is held out."""
        return Labelled(self.total.block(self.all_read()), *labels)

    def makers(self, *labels: np.ndarray) -> list[Callable[[], Labelled]]:
        """Return functions that make the features of one block each."""
        n = len(self)
        read = [symbols for symbols in self.read if symbols is not None] or [self.X]
        widest = max(symbols.n_rows for symbols in read)
        frames = widest * max(int(self.X.offsets[-1]) // max(n, 1), 1)
        size = int(np.clip(BLOCK_FRAMES // frames, 1, BLOCK_SEQUENCES))
        cuts = [slice(a, a + size) for a in range(0, n, size)]
        return [partial(self[cut].labelled, *(values[cut] for values in labels)) for cut in cuts]


def stratified(y: np.ndarray, n: int, random: np.random.Generator) -> np.ndarray:
    """Return the indices of about `n` sequences: of every class its share, and at least ten."""
    chosen = []
    for members in (np.flatnonzero(y == c) for c in np.unique(y)):
        size = max(round(n * len(members) / len(y)), min(10, len(members)))
        chosen.append(random.permutation(members)[:size])
    return np.sort(np.concatenate(chosen))


def held_out(trainer: Trainer, random: np.random.Generator) -> np.ndarray:
    """Return the indices of the sequences to hold out: at most a fifth, whole groups if any."""
    n = min(HELD_OUT, len(trainer.y) // 5)
    if trainer.groups is not None:
        folds = inner_folds(trainer.y, trainer.groups, max(len(trainer.y) // max(n, 1), 2),
                            trainer.random_state)  # fmt: skip
        return folds[0][1] if folds else np.empty(0, int)
    chosen = stratified(trainer.y, n, random)
    # every class keeps sequences to learn from
    several = np.bincount(trainer.y) > np.bincount(trainer.y[chosen])
    return chosen[several[trainer.y[chosen]]]


@contextmanager
def spread_blocks(
    classifier: Any, makers: Sequence[Callable[[], Any]], keep: bool = True
) -> Iterator[Any]:
    """Give the blocks where the current engine computes: in this process or on a cluster."""
    engine = current_engine()
    if engine.name == "dask":
        with client_of(engine) as client:
            yield DaskBlocks(client, makers)
        return
    memory = parse_memory(classifier.memory_limit) if keep else 0
    yield LocalBlocks(makers, memory, classifier.n_jobs)


def fit_by_passes(
    solver: PassSolver, begin: Collection, check: Collection, candidates: Any, report: Report
) -> Trained:
    """Choose C on the first sample, go on with all blocks, check, and learn the rest, too."""
    trainer = replace(begin.trainer, fit=partial(_fit_sample, solver.memory), calibrates=False)
    first = trainer.chosen(begin, candidates)
    C = _penalty(first.C, trainer.squared)
    reports = [share_of(report, 0, 0.2), share_of(report, 0.2, 0.8)]
    # the machines of the sample are near the end already, so all blocks take few passes
    margins = first.margins
    is_large = len(solver.blocks) > 2 * STRIDE
    if is_large:
        solve = replace(solver, report=reports[0], stride=STRIDE, most=MOST_STRIDED)
        margins = solve(C, margins, everything=False)
    solve = replace(solver, report=reports[1], most=MOST_LAST if is_large else None)
    margins = solve(C, margins, everything=False)
    if not len(check):
        return replace(first, margins=margins)
    before = margins
    score, temperature, decision = check.trainer.checked(margins.of(check))
    if not is_large:  # else the sequences that are held out are too few to matter
        margins = solver(C, margins)
    scores = first.scores.copy() if len(candidates) > 1 else np.empty((1, 1))
    scores[first.best] = score
    about: dict[str, Any] = {"temperature": temperature, "decision": decision, "checked": before}
    return replace(first, margins=margins, scores=scores, **about)


def share_of(report: Report, start: float, share: float) -> Report:
    """Return a report that fills one part of a bar."""
    return lambda done, total: report(round(1000 * (start + share * done / total)), 1000)


def _fit_sample(
    memory: int, values: Collection, y: np.ndarray, problems: Any, C: float, **options: Any
) -> Margins:
    """Solve every problem on sequences in memory; takes the arguments of `fit_margins`."""
    weight = options["sample_weight"]
    makers = values.makers(y, weight, weight, np.zeros(len(y), bool))
    blocks = LocalBlocks(makers, memory, options["n_jobs"])
    C = _penalty(C, options["squared"])
    return PassSolver(blocks, values.total.columns, problems, memory)(C)


def _penalty(C: float, squared: bool) -> float:
    """Return the penalty for passes, whose loss is the squared hinge, given the trainer's."""
    return C if squared else PENALTY * C


def block_makers(blocks: Sequence[Any]) -> Sequence[Callable[[], Numbered]]:
    """Return functions that read one block each: its number, its sequences and its labels."""
    makers = [partial(_read_block, i, block) for i, block in enumerate(blocks)]
    if not makers:
        raise ValueError("blocks must hold at least one block, got none.")
    return makers


def _read_block(i: int, block: Any) -> Numbered:
    block = block() if callable(block) else block
    pair = (block.X, block.y) if hasattr(block, "X") else block
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        hint = "if X and y are the only block, pass [(X, y)]"
        raise ValueError(f"Block {i} must be a pair of sequences and labels; {hint}.")
    X, y = pair
    if y is None:
        raise ValueError(f"Block {i} has no labels; name the labels when you read the block.")
    X = check_sequences(X)
    y, _, _ = check_targets(len(X), y, None, None)
    return i, X, y


def _keys(seed: int, i: int, n: int) -> np.ndarray:
    # the same in every pass and on every worker, whatever the order of the blocks
    return np.random.default_rng([seed, i]).random(n)


@dataclass(frozen=True)
class Drawn:
    """What is known of all blocks, and the sequences with the smallest keys."""

    X: Sequences
    y: np.ndarray
    keys: np.ndarray
    places: np.ndarray
    lengths: np.ndarray
    classes: np.ndarray
    counts: np.ndarray
    sizes: tuple[int, ...]
    digests: tuple[str, ...]
    fingerprints: np.ndarray

    @property
    def index(self) -> np.ndarray:
        """Number of every sequence of the sample among the sequences of all blocks."""
        return np.cumsum([0, *self.sizes])[self.places[:, 0]] + self.places[:, 1]

    @property
    def limit(self) -> float:
        """Sequences with a smaller key are held out: at most a fifth of all sequences."""
        return float(np.sort(self.keys)[min(HELD_OUT, len(self.lengths) // 5)])

    @property
    def held(self) -> np.ndarray:
        """Tell which sequences of the sample are held out."""
        return self.keys < self.limit

    def record(self) -> TrainingRecord:
        """Return what a model file says about the training sequences."""
        name = hashlib.sha256("".join(self.digests).encode()).hexdigest()
        return record_of(self.lengths, self.X.sampling_rate, self.classes, self.counts, name)


def draw(blocks: Any, seed: int, report: Report) -> Drawn:
    """Draw a sample of all blocks."""
    drawn = blocks.sum(_drawn, seed, add=_joined, report=report)
    return _chosen(drawn, np.argsort(drawn.keys))  # the sample does not depend on the tree


def _drawn(block: Numbered, seed: int) -> Drawn:
    i, X, y = block
    classes, counts = np.unique(y, return_counts=True)
    keys = _keys(seed, i, len(y))
    places = np.stack([np.full(len(y), i), np.arange(len(y))], axis=1)
    drawn = Drawn(
        X, y, keys, places, X.lengths, classes=classes, counts=counts, sizes=(len(y),),
        digests=(digest(X, y),), fingerprints=fingerprints(X),
    )  # fmt: skip
    return _chosen(drawn, np.argsort(keys)[: SAMPLE + HELD_OUT])


def _chosen(drawn: Drawn, places: np.ndarray) -> Drawn:
    names = "X", "y", "keys", "places"
    return replace(drawn, **{name: getattr(drawn, name)[places] for name in names})


def _joined(a: Drawn, b: Drawn) -> Drawn:
    """Join the samples of some blocks and keep the smallest keys."""
    if a.X.n_rows != b.X.n_rows or a.X.symbolic != b.X.symbolic:
        got = f"{a.X.n_rows} and {b.X.n_rows} channels"
        raise ValueError(f"All blocks must have the same channels, got {got}.")
    classes, places = np.unique(np.concatenate([a.classes, b.classes]), return_inverse=True)
    names = "y", "keys", "places", "lengths", "fingerprints"
    parts: Any = {name: np.concatenate([getattr(a, name), getattr(b, name)]) for name in names}
    parts |= {"X": a.X.joined(b.X), "sizes": a.sizes + b.sizes, "digests": a.digests + b.digests}
    counts = np.bincount(places, np.concatenate([a.counts, b.counts])).astype(int)
    joined = Drawn(**parts, classes=classes, counts=counts)
    return _chosen(joined, np.argsort(joined.keys)[: SAMPLE + HELD_OUT])


def block_features(
    total: LinearTotal, about: tuple[Any, ...], read: Callable[[], Numbered]
) -> Labelled:
    """Read a block and make its features; a key below the limit holds a sequence out."""
    ranges, classes, weight, seed, limit = about
    i, X, y = read()
    codes, held = np.searchsorted(classes, y), _keys(seed, i, len(y)) < limit
    whole = Collection(total, without_constants(X, ranges), [None] * len(total.sources))
    return whole.labelled(codes, weight[codes], np.ones(len(y)), held)


def cluster_decisions(engine: Any, classifier: Any, X: Any) -> np.ndarray:
    """Return the decision values of sequences, computed block by block on a cluster."""
    if not isinstance(X, Ragged):
        X = check_sequences(X)
    plain = copy(classifier)
    plain.engine = None  # a worker computes by itself
    with client_of(engine) as client:
        model = kept_on(client, plain)
        cuts = range(0, max(len(X), 1), PREDICTED)
        decide = type(classifier).decision_function
        jobs = ((a, model, X[a : a + PREDICTED]) for a in cuts)
        return np.concatenate([d for _, d in run_on_cluster(client, decide, jobs)])

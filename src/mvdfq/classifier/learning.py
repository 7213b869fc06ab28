"""How a classifier learns: from a kernel matrix, or by passes over blocks of features."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mvdfq._engines.choice import meanwhile
from mvdfq._utils.checks import parse_memory
from mvdfq._utils.progress import Progress
from mvdfq.classifier import passes
from mvdfq.classifier.choices import chosen_for
from mvdfq.classifier.passes import Collection, share_of, spread_blocks
from mvdfq.classifier.presets import Preset
from mvdfq.classifier.saving.record import TrainingRecord, digest, fingerprints, record_of
from mvdfq.explain.importance import Judged, all_shares, judge, lost
from mvdfq.frames.base import UnknownShares
from mvdfq.sequences import Sequences
from mvdfq.sequences.statistics import ranges_of, without_constants
from mvdfq.terms.base import Term, Work
from mvdfq.terms.fitted import FittedSum
from mvdfq.terms.pass_solver import PassSolver
from mvdfq.terms.relatives import relatives
from mvdfq.terms.svm import Problems
from mvdfq.terms.total import LinearTotal, Total
from mvdfq.terms.typical import Calibration, Spread, spread_sizes
from mvdfq.terms.validation import (
    Trained,
    Trainer,
    check_class_weight,
    check_targets,
    weights_of_classes,
)

# With more sequences than this, explicit features are cheaper than a matrix of all pairs.
MANY = 10_000
# Importance is measured on about this many sequences of the inner folds, and on fewer if they have
# more sums of channels and classes than this.
JUDGED, MOST_SUMS = 2000, 2**24
# Sequences that were held out, and their frames, are read once more to measure importance.
CHECKED, CHECKED_FRAMES = 300, 2**15
# A kernel matrix of this many bytes is small, whatever the memory limit.
SMALL_MATRIX = 2**26


@dataclass(frozen=True)
class Training:
    """Checked sequences to learn from, and how to train on them."""

    X: Any
    ranges: np.ndarray  # the smallest and the largest value of each channel
    chosen: Preset
    trainer: Trainer
    classes: np.ndarray
    used: np.ndarray  # the indices of X among all sequences that `fit` was given
    often: np.ndarray  # sample weights, without the weights of the classes
    shares: np.ndarray  # of the classes in the weight of all
    record: Callable[[], TrainingRecord]
    fingerprints: Callable[[], np.ndarray]


@dataclass(frozen=True)
class Learned:
    """What `learn` found: the sum of terms, what inner folds said, and the sequences it keeps."""

    sum: FittedSum
    trained: Trained
    kept: np.ndarray
    lost: np.ndarray


def check_training(clf: Any, X: Any, y: Any, sample_weight: Any, groups: Any) -> Training:
    """Check the arguments of `fit`."""
    chosen = chosen_for(clf, X)
    check_class_weight(clf.class_weight)
    y, often, groups = check_targets(len(X), y, sample_weight, groups)
    used, n_given = np.flatnonzero(often > 0), len(y)
    # before anything is learned: a sequence of weight 0 must not move a single bin
    if len(used) < len(y):
        X, y, often = X[used], y[used], often[used]
        groups = None if groups is None else groups[used]
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    problems = _problems(classes, chosen)
    weight = often * weights_of_classes(clf.class_weight, classes, counts)[codes]
    seed = check_random_state(clf.random_state).randint(2**31)

    def record() -> TrainingRecord:
        return record_of(X.lengths, X.sampling_rate, classes, counts, digest(X, y))

    def known() -> np.ndarray:
        prints = np.zeros(n_given, np.uint64)
        prints[used] = fingerprints(X)
        return prints

    trainer = Trainer(
        problems, codes, weight, groups, clf.cv, seed, clf.n_jobs,
        squared=chosen.squares_loss and len(classes) == 2,
        memory=parse_memory(clf.memory_limit),
    )  # fmt: skip
    shares = np.bincount(codes, weight) / weight.sum()
    ranges = ranges_for(chosen.terms, X)
    return Training(
        without_constants(X, ranges), ranges, chosen, trainer, classes=classes, used=used,
        often=often, shares=shares, record=meanwhile(record), fingerprints=meanwhile(known),
    )  # fmt: skip


def ranges_for(terms: Sequence[Term], X: Any) -> np.ndarray:
    """Return the ranges of the channels; NaN for symbols, and if a kernel reads values."""
    if not isinstance(X, Sequences) or any(term.reads_values for term in terms):
        return np.full((2, X.n_rows), np.nan)
    return ranges_of(X)


def _problems(classes: np.ndarray, chosen: Preset) -> Problems:
    if len(classes) < 2:
        raise ValueError(f"y must hold at least two classes, got {len(classes)} class.")
    return Problems(len(classes), chosen.multi_class)


def learn(clf: Any, training: Training, progress: Progress) -> Learned:
    """Learn from checked sequences, by a kernel matrix or by passes over explicit features."""
    if _goes_by_passes(clf, training):
        return _learn_by_passes(clf, training, progress)
    trainer = training.trainer
    with progress.stage("kernel") as report:
        work = _work(clf, training, linear=clf.solver == "linear", report=report)
        total = Total(training.chosen.terms, training.X, trainer.y, work)
    if training.chosen.keeps_relatives and trainer.groups is None:
        values = total.values
        if isinstance(values, np.ndarray):  # sparse features do not know all pairs
            trainer = replace(trainer, groups=relatives(values, trainer.y, trainer.n_folds))
    with progress.stage("machines") as report:
        trained = trainer(total.matrix, training.chosen.C, report)
    # a card finishes the terms while the host judges the channels
    finished = meanwhile(partial(total.finish, trained.margins))
    losses, fitted = _lost(total, trained, trainer, training.X.n_rows), finished()
    if not fitted.knows_means(trainer.problems.n_classes):
        trained = replace(trained, calibration=None)
    return Learned(fitted, trained, np.arange(len(trainer.y)), losses)


def _lost(total: Total, trained: Trained, trainer: Trainer, n_channels: int) -> np.ndarray:
    """Return what the inner folds would lose without each channel, and without each term."""
    n, n_columns = sum(len(fold.check) for fold in trained.folds), len(trained.margins.intercepts)
    step = 1 + max(n // JUDGED, n * n_columns * n_channels // MOST_SUMS)
    folds = [fold._replace(check=fold.check[::step]) for fold in trained.folds]
    parts = total.held_out(folds, n_channels) if folds else None
    if parts is None:
        return np.empty((0, 2, 3))
    places = np.concatenate([fold.check for fold in folds])
    intercepts = np.repeat([fold.intercepts for fold in folds], [len(f.check) for f in folds], 0)
    # the terms add up to the margins, the channels do so once more
    margins = intercepts + parts[:, :, n_channels:].sum(axis=2)
    decide, groups = trainer.problems.decision, trainer.groups
    judged = Judged(margins, parts, trainer.y[places], decide, trained.temperature)
    return lost([judged], None if groups is None else groups[places])


def _work(clf: Any, training: Training, **options: Any) -> Work:
    # equal weights are no weights: a common factor must not change a single bit
    often = None if (training.often == training.often[0]).all() else training.often
    return Work(clf.memory_limit, clf.n_jobs, often, clf.random_state, **options)


def _goes_by_passes(clf: Any, training: Training) -> bool:
    """Tell whether there are too many sequences for a matrix of all pairs, if features will do."""
    terms = training.chosen.terms
    if clf.solver == "kernel" or not all(term.has_features for term in terms):
        return False
    n, limit = len(training.X), max(parse_memory(clf.memory_limit), SMALL_MATRIX)
    # one plain term has all its features in one sparse matrix
    is_plain = len(terms) == 1 and not terms[0].is_standard
    return n > MANY or 8 * n**2 > limit or (clf.solver == "linear" and not is_plain)


def _learn_by_passes(clf: Any, training: Training, progress: Progress) -> Learned:
    trainer = training.trainer
    random = np.random.default_rng(trainer.random_state)
    held = passes.held_out(trainer, random)
    is_held = np.isin(np.arange(len(trainer.y)), held)
    others = np.flatnonzero(~is_held)
    begin = others[passes.stratified(trainer.y[others], passes.SAMPLE, random)]
    labels = trainer.y, trainer.sample_weight, training.often, is_held
    with progress.stage("kernel") as report:
        whole = _measured(clf, training, lambda whole: whole.makers(*labels), report)
    return _train(clf, training.chosen.C, whole, whole.makers(*labels), (begin, held), progress)


def _measured(clf: Any, training: Training, makers: Callable, report: Any) -> Collection:
    """Return the sequences in memory; the words of the blocks of all sequences are measured."""
    trainer = training.trainer
    total = LinearTotal(training.chosen.terms, training.X, trainer.y, _work(clf, training))
    whole = Collection.of(total, training.X, trainer, parse_memory(clf.memory_limit))
    with spread_blocks(clf, makers(whole), keep=False) as blocks:
        total.measure(blocks, report)
    return whole


def _train(
    clf: Any, C: Any, whole: Collection, makers: list, samples: Any, progress: Progress
) -> Learned:
    """Train machines on all blocks; `samples` are the places to begin with, and to check."""
    total, problems = whole.total, whole.trainer.problems
    begin, check = (whole[places] for places in samples)
    with progress.stage("machines") as report, spread_blocks(clf, makers) as blocks:
        solver = PassSolver(blocks, total.columns, problems, parse_memory(clf.memory_limit))
        trained = passes.fit_by_passes(solver, begin, check, C, report)
        total.measure_classes(blocks, problems.n_classes)
    # neighbours are searched among the sequences of the sample
    fitted = total.finish(trained.margins, begin.all_read())
    losses = _lost_of_check(check, trained)
    trained = replace(trained, calibration=_calibrated(fitted, begin, check, trained))
    return Learned(fitted, trained, samples[0], losses)


def _calibrated(
    fitted: FittedSum, begin: Collection, check: Collection, trained: Trained
) -> Calibration | None:
    """Return what held-out sequences say about p values, left out of the class means; or None."""
    y, n_classes = check.trainer.y, check.trainer.problems.n_classes
    if trained.decision is None or not fitted.knows_means(n_classes):
        return None
    near = fitted.nearness(check.all_read(), begin.trainer.y)
    n = np.maximum(begin.total.class_sizes, 2)
    distances = near.distances() * (n / (n - 1)) ** 2
    sizes = spread_sizes(distances[np.arange(len(y)), y], y, n_classes)
    relative = Spread(sizes, 1 / (n - 1)).relative(distances)
    return Calibration.of(trained.decision, relative, y, Spread(sizes, 1 / n))


def _lost_of_check(check: Collection, trained: Trained) -> np.ndarray:
    """Return what some of the sequences that were held out would lose without each part."""
    X, trainer, unknown = check.X, check.trainer, np.empty((0, 2, 3))
    if trained.checked is None:
        return unknown
    total = check.total.finish(trained.checked)
    n = min(len(X), CHECKED, CHECKED_FRAMES * len(X) // max(len(X.data[0]), 1))
    try:
        shares = all_shares(total.terms, [str(c) for c in range(X.n_rows)])
    except UnknownShares:
        return unknown
    if not n or not all(term.class_means for term in total.terms):
        return unknown
    places = np.arange(n) * len(X) // n
    counts = np.bincount(trainer.y, trainer.sample_weight, trainer.problems.n_classes)
    about = total, trainer.problems, counts / counts.sum(), trained.temperature
    groups = None if trainer.groups is None else trainer.groups[places]
    return lost([judge(*about, total.read(X[places]), trainer.y[places], shares)], groups)


def learn_from_blocks(
    clf: Any, blocks: Sequence[Any], progress: Progress
) -> tuple[Training, Learned]:
    """Learn from sequences in blocks, which need not fit into memory together."""
    seed = check_random_state(clf.random_state).randint(2**31)
    readers = passes.block_makers(blocks)
    with progress.stage("kernel") as report:
        with spread_blocks(clf, readers, keep=False) as spread:
            drawn = passes.draw(spread, seed, share_of(report, 0, 0.5))
        training, weight = _check_drawn(clf, drawn, seed)
        about = training.ranges, training.classes, weight, seed, drawn.limit

        def makers(whole: Collection) -> list[Callable]:
            return [partial(passes.block_features, whole.total, about, read) for read in readers]

        whole = _measured(clf, training, makers, share_of(report, 0.5, 0.5))
    samples = np.flatnonzero(~drawn.held), np.flatnonzero(drawn.held)
    return training, _train(clf, training.chosen.C, whole, makers(whole), samples, progress)


def _check_drawn(clf: Any, drawn: passes.Drawn, seed: int) -> tuple[Training, np.ndarray]:
    """Check what was found in all blocks; return the sample, and the weights of the classes."""
    chosen = chosen_for(clf, drawn.X)
    problems = _problems(drawn.classes, chosen)
    if clf.solver == "kernel" or not all(term.has_features for term in chosen.terms):
        raise ValueError("fit_blocks trains a linear model; pass gamma=None and solver='auto'.")
    codes = np.searchsorted(drawn.classes, drawn.y)
    # the weight of a sequence of each class, given the numbers of sequences
    weight = weights_of_classes(clf.class_weight, drawn.classes, drawn.counts)
    total = drawn.counts * weight
    trainer = Trainer(problems, codes, weight[codes], None, clf.cv, seed, clf.n_jobs)
    ranges, often = ranges_for(chosen.terms, drawn.X), np.ones(len(codes))
    training = Training(
        without_constants(drawn.X, ranges), ranges, chosen, trainer, classes=drawn.classes,
        used=drawn.index, often=often, shares=total / total.sum(), record=drawn.record,
        fingerprints=lambda: drawn.fingerprints,
    )  # fmt: skip
    return training, weight

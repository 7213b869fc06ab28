"""Fit a classifier by passes over blocks of features: samples, folds and steps.

A sample chooses `C` and where the machines begin, sequences that are held out check the machines.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from mvdfq._engines.choice import current_engine
from mvdfq._engines.spread import DaskBlocks, LocalBlocks, client_of
from mvdfq._utils.checks import parse_memory
from mvdfq._utils.threads import Report
from mvdfq.sequences import Ragged
from mvdfq.terms.feature_blocks import Labelled
from mvdfq.terms.pass_solver import PassSolver
from mvdfq.terms.svm import Margins
from mvdfq.terms.total import LinearTotal
from mvdfq.terms.validation import Trained, Trainer, inner_folds

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


@dataclass(frozen=True)
class Collection:
    """Sequences in memory, as a matrix of features that is made block by block.

    `read` holds the sequences as each source reads them; None for a source whose symbols would
    take too much memory: they are made again for every block. Indexing gives some of the
    sequences; ``collection @ weights`` gives their margins.
    """

    total: LinearTotal
    X: Ragged
    read: list[Ragged | None]

    @classmethod
    def of(cls, total: LinearTotal, X: Any, memory: int) -> "Collection":
        """Read sequences by every source whose symbols fit into the memory."""
        room, read = memory // KEPT_SHARE, []
        for source in total.sources:
            # no sequence at all tells the number of rows and the type of the symbols
            one = source.read(X[:0])
            fits = one.n_rows * X.data.shape[1] * one.data.itemsize <= room
            read.append(source.read(X) if fits else None)
            room -= 0 if read[-1] is None or read[-1] is X else read[-1].data.nbytes
        return cls(total, X, read)

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: Any) -> "Collection":
        return Collection(
            self.total, self.X[rows], [None if one is None else one[rows] for one in self.read]
        )

    def __matmul__(self, coefficients: np.ndarray) -> np.ndarray:
        scaled = (self.total.columns.factor[:, None] * coefficients).astype(np.float32)
        none = np.zeros(len(self))
        blocks = (make() for make in self.makers(none, none, none, none))
        return np.concatenate([block.features.times(scaled) for block in blocks])

    def all_read(self) -> list[Any]:
        """Return the sequences as each source reads them."""
        pairs = zip(self.total.sources, self.read, strict=True)
        return [source.read(self.X) if one is None else one for source, one in pairs]

    def labelled(self, *labels: np.ndarray) -> Labelled:
        """Make the features; `labels` are codes, weights, sample weights and what is held out."""
        return Labelled(self.total.block(self.all_read()), *labels)

    def makers(self, *labels: np.ndarray) -> list[Callable[[], Labelled]]:
        """Return functions that make the features of one block each."""
        n = len(self)
        widest = max((one.n_rows for one in self.read if one is not None), default=self.X.n_rows)
        frames = widest * max(int(self.X.offsets[-1]) // max(n, 1), 1)
        size = int(np.clip(BLOCK_FRAMES // frames, 1, BLOCK_SEQUENCES))
        cuts = [slice(a, a + size) for a in range(0, n, size)]
        return [partial(self[cut].labelled, *(one[cut] for one in labels)) for cut in cuts]


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
    begin = replace(
        samples.begin_trainer, fit=partial(_fit_sample, solver.memory), calibrates=False
    )
    first = begin.chosen(samples.begin, candidates)
    C = PENALTY * first.C
    reports = [share_of(report, 0, 0.2), share_of(report, 0.2, 0.8)]
    # the machines of the sample are near the end already, so all blocks take few passes
    margins = first.margins
    is_large = len(solver.blocks) > 2 * STRIDE
    if is_large:
        mine = replace(solver, report=reports[0], stride=STRIDE, most=MOST_STRIDED)
        margins = mine(C, margins, everything=False)
    mine = replace(solver, report=reports[1], most=MOST_LAST if is_large else None)
    margins = mine(C, margins, everything=False)
    if not len(samples.check):
        return replace(first, margins=margins)
    before = margins
    score, temperature, decision = samples.check_trainer.checked(margins.of(samples.check))
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
    makers = values.makers(y, sample_weight, sample_weight, np.zeros(len(y), bool))
    blocks = LocalBlocks(makers, memory, n_jobs)
    return PassSolver(blocks, values.total.columns, problems, memory)(PENALTY * C)

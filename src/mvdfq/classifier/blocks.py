"""Sequences in blocks that are read when they are needed, and a sample of all of them.

Every sequence has a random key that depends on the seed, its block and its place alone. The sample
is the sequences with the smallest keys: samples of blocks are joined in any order, by a tree, and
the result is the same. The very smallest keys are held out.
"""

import hashlib
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mvdfq._engines.spread import client_of, kept_on, run_on_cluster
from mvdfq._utils.threads import Report
from mvdfq.classifier.passes import HELD_OUT, SAMPLE, Collection
from mvdfq.classifier.saving.record import TrainingRecord, digest, fingerprints, record_of
from mvdfq.sequences import Ragged, Sequences, check_sequences
from mvdfq.sequences.statistics import without_constants
from mvdfq.terms.feature_blocks import Labelled
from mvdfq.terms.total import LinearTotal
from mvdfq.terms.validation import check_targets

# Sequences that one task of a cluster predicts.
PREDICTED = 512

Numbered = tuple[int, Sequences, np.ndarray]


def block_makers(blocks: Sequence[Any]) -> Sequence[Callable[[], Numbered]]:
    """Return functions that read one block each: its number, its sequences and its labels."""
    makers = [partial(_read_block, i, block) for i, block in enumerate(blocks)]
    if not makers:
        raise ValueError("blocks must hold at least one block, got none.")
    return makers


def _read_block(i: int, block: Any) -> Numbered:
    block = block() if callable(block) else block
    X, y = (block.X, block.y) if hasattr(block, "X") else block
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
        n = min(HELD_OUT, len(self.lengths) // 5)
        return float(np.sort(self.keys)[n])

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
    order = np.argsort(drawn.keys)  # so that the sample does not depend on the tree
    return _chosen(drawn, order)


def _drawn(block: Numbered, seed: int) -> Drawn:
    i, X, y = block
    classes, counts = np.unique(y, return_counts=True)
    keys = _keys(seed, i, len(y))
    places = np.stack([np.full(len(y), i), np.arange(len(y))], axis=1)
    whole = Drawn(
        X=X,
        y=y,
        keys=keys,
        places=places,
        lengths=X.lengths,
        classes=classes,
        counts=counts,
        sizes=(len(y),),
        digests=(digest(X, y),),
        fingerprints=fingerprints(X),
    )
    return _chosen(whole, np.argsort(keys)[: SAMPLE + HELD_OUT])


def _chosen(drawn: Drawn, which: np.ndarray) -> Drawn:
    names = "X", "y", "keys", "places"
    return replace(drawn, **{name: getattr(drawn, name)[which] for name in names})


def _joined(a: Drawn, b: Drawn) -> Drawn:
    """Join the samples of some blocks and keep the smallest keys."""
    if a.X.n_rows != b.X.n_rows or a.X.symbolic != b.X.symbolic:
        raise ValueError(
            f"All blocks must have the same channels, got {a.X.n_rows} and {b.X.n_rows} channels."
        )
    classes, places = np.unique(np.concatenate([a.classes, b.classes]), return_inverse=True)
    names = "y", "keys", "places", "lengths", "fingerprints"
    both = Drawn(
        X=a.X.joined(b.X),
        classes=classes,
        counts=np.bincount(places, np.concatenate([a.counts, b.counts])).astype(int),
        sizes=a.sizes + b.sizes,
        digests=a.digests + b.digests,
        **{name: np.concatenate([getattr(a, name), getattr(b, name)]) for name in names},
    )
    return _chosen(both, np.argsort(both.keys)[: SAMPLE + HELD_OUT])


@dataclass(frozen=True)
class Reading:
    """How blocks become features: ranges, codes and weights of classes, what is held out."""

    ranges: np.ndarray
    classes: np.ndarray
    weight: np.ndarray
    seed: int
    limit: float

    def makers(
        self, readers: Sequence[Callable[[], Numbered]], total: LinearTotal
    ) -> list[Callable[[], Labelled]]:
        """Return functions that read a block and make its features."""
        return [partial(self._features, total, read) for read in readers]

    def _features(self, total: LinearTotal, read: Callable[[], Numbered]) -> Labelled:
        i, X, y = read()
        X = without_constants(X, self.ranges)
        codes = np.searchsorted(self.classes, y)
        held = _keys(self.seed, i, len(y)) < self.limit
        whole = Collection(total, X, [None] * len(total.sources))
        return whole.labelled(codes, self.weight[codes], np.ones(len(y)), held)


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

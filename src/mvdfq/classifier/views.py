r"""Views of the same sequences beside the first kernel: sums of kernels, each part with its weight.

.. math:: K = \sum_v w_v \, K_v / s_v \, \Big/ \sum_v w_v

where the scale :math:`s_v` is the variance of the features of part `v` over the training sequences
(the centred trace of its kernel matrix). So parts count by their weights alone, however many
words they have.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from mvdfq._utils.memory import parse_memory
from mvdfq._utils.short import Short
from mvdfq._utils.threads import n_threads, run_in_order
from mvdfq.explain.explanation import Explanation
from mvdfq.explain.views import LEVELS, add_evidence, add_filters, with_levels, with_rows
from mvdfq.frames import Filters, Standardize
from mvdfq.frames.filters import auto_dilations
from mvdfq.gram.features import SequenceFeatures
from mvdfq.kernels import Kernel, Words
from mvdfq.machines.standard import Piece, StandardGram, WordMachine, root_shares
from mvdfq.machines.svm import Margins
from mvdfq.machines.word_table import DENSE_WORDS
from mvdfq.sequences import Ragged, Sequences
from mvdfq.symbols import Symbols, ThresholdQuantizer
from mvdfq.symbols.naming import numbered

__all__ = ["FittedView", "NoViews", "View", "ViewSum", "explain_views", "filter_views"]

# Sequences that the bins of a view are learned from: thresholds of more sequences hardly differ.
SAMPLE = 200
# Frames that are encoded at once: a filter view has hundreds of rows.
BLOCK_FRAMES = 2**14


@dataclass(frozen=True)
class View:
    """Standardized words of the symbols of a classifier (no encoder), or of an encoder of its own.

    Views of one name share one weight. `min_share` is the share of the training sequences that
    must hold a word.
    """

    name: str
    kernel: Kernel
    encoder: Any = None
    pyramid: int = 1
    weight: float = 1.0
    min_share: float = 0.0


@dataclass(repr=False)
class FittedView(Short):
    """A fitted view: its encoder and its machine.

    Without an encoder the view reads `rows` of the symbols of the classifier.
    """

    name: str
    encoder: Any
    rows: np.ndarray
    machine: WordMachine

    def read(self, X: Any, symbols: Any) -> Any:
        """Return the symbols of new sequences as the machine reads them."""
        mine = symbols.rows(self.rows) if self.encoder is None else self.encoder.transform(X)
        return self.machine.reader.read_new(mine)

    def margins(self, X: Any, symbols: Any) -> np.ndarray:
        """Return the margins of new sequences, encoded a few at a time."""
        if self.encoder is None:
            return self.machine.of(self.read(X, symbols))

        def one(block: slice) -> np.ndarray:
            return self.machine.of(self.read(X[block], None), n_jobs=1)

        done = run_in_order(one, _blocks(X), n_threads(self.machine.n_jobs))
        return np.concatenate([margins for _, margins in done])


def filter_views(X: Sequences, weight: float, n_thresholds: int = 7) -> list[View]:
    """Return one view per dilation: single symbols and triples of filter responses.

    The symbols of a triple are as far apart as the taps of the filter.
    """
    views: list[View] = []
    if X.symbolic_mask.all():
        return views
    for i, d in enumerate(auto_dilations(X)):
        filters = Filters(d, keep_symbolic=False, random_state=i)
        encoder = make_pipeline(Standardize(), filters, ThresholdQuantizer(n_thresholds))
        views.append(View("filters", Words([(0,), (0, d, 2 * d)]), encoder, weight=weight))
    return views


@dataclass(frozen=True)
class NoViews:
    """The first kernel alone: its matrix as a function of the sequences to learn from."""

    matrix: Callable[[np.ndarray], Any]

    def divided(self, margins: Margins) -> tuple[Margins, list[FittedView], np.ndarray]:
        """Return the margins as they are, no views, and the share of the first kernel."""
        return margins, [], np.ones(1)


class ViewSum:
    """The first kernel and the views, fitted: one kernel matrix, and how to divide its machine."""

    def __init__(
        self, K: np.ndarray, weight: float, views: list[View], X: Any, symbols: Any, classifier: Any
    ) -> None:
        self.rows = _countable(symbols, views)
        self.views = [v for v in views if v.encoder is not None or self.rows.size]
        mine = symbols.rows(self.rows)
        memory = parse_memory(classifier.memory_limit) // max(len(self.views), 1)
        fitted = [_fitted(v, X, mine, memory, classifier.n_jobs) for v in self.views]
        self.encoders, self.grams = [e for e, _ in fitted], [gram for _, gram in fitted]
        spread = float(np.trace(K) / len(K) - K.mean())
        weights = {view.name: view.weight for view in self.views}
        total = weight + sum(weights.values())
        # all sequences may be alike to the first kernel: then its matrix tells nothing
        self.first_share = weight / total / (spread if spread > 0 else 1)
        self.shares = [self._share(view) / total for view in self.views]
        self.values = self.first_share * K
        for share, gram in zip(self.shares, self.grams, strict=True):
            self.values += share * gram.values
            gram.values = np.empty((0, 0))  # large, and part of the sum now

    def _share(self, view: View) -> float:
        """Return the weight of a view over the variance of all views of its name."""
        mine = [gram.n_words for v, gram in zip(self.views, self.grams, strict=True)
                if v.name == view.name]  # fmt: skip
        return view.weight / max(sum(mine), 1)

    def matrix(self, learn: np.ndarray) -> np.ndarray:
        """Return the kernel matrix, which does not depend on the sequences to learn from."""
        return self.values

    def divided(self, margins: Margins) -> tuple[Margins, list[FittedView], np.ndarray]:
        """Return the margins of the first kernel, with the intercepts, the views and all shares."""
        first = Margins(self.first_share * margins.coefficients, margins.intercepts)
        rows = zip(self.views, self.encoders, self.grams, self.shares, strict=True)
        views = [
            FittedView(view.name, encoder, self.rows, gram.machine(share * margins.coefficients))
            for view, encoder, gram, share in rows
        ]
        return first, views, np.array([self.first_share, *self.shares])


def explain_views(plain: Explanation, clf: Any, X: Sequences, symbols: Symbols) -> Explanation:
    """Return an explanation by the first kernel with the evidence of all views added.

    `symbols` are those of the first kernel, before rows are left out.
    """
    n, evidence = clf.n_channels_in_, plain.evidence
    offsets, filters = list(plain.offsets), [v for v in clf.views_ if v.encoder is not None]
    for view in clf.views_:
        if view.encoder is None:
            places = _places(view.rows, clf.kernel_.rows_)
            evidence = add_evidence(evidence, view.machine, view.read(X, symbols), places)
    if filters:
        evidence = with_rows(evidence, n)
    for view in filters:
        evidence = add_filters(evidence, view.machine, view.read(X, None), view.encoder, n)
        groups = view.machine.reader.plan_.groups(0)
        offsets += [[one.offsets for one in group.layouts] for group in groups]
    if not filters:
        return replace(plain, evidence=evidence)
    channels = plain.channels
    return replace(
        plain,
        evidence=evidence,
        symbols=with_levels(plain.symbols, X),
        row_names=[*plain.row_names, *(f"filters on {name}" for name in channels)],
        offsets=offsets,
        names=[*plain.names, *([numbered(LEVELS)] * n)],
        find_shares=lambda: np.concatenate([plain.find_shares(), np.eye(n)]),
    )


def _places(rows: np.ndarray, in_use: np.ndarray) -> np.ndarray:
    """Return the place of every row among the rows in use, -1 for a row that is left out."""
    places = np.searchsorted(in_use, rows)
    found = np.append(in_use, -1)[places] == rows
    return np.where(found, places, -1)


def _countable(symbols: Symbols, views: list[View]) -> np.ndarray:
    """Return the rows whose words can be counted in a dense array: not those of many categories."""
    longest = max((g.length for v in views if v.encoder is None for g in v.kernel.groups(2)),
                  default=1)  # fmt: skip
    return np.flatnonzero(symbols.n_symbols.astype(float) ** longest <= DENSE_WORDS)


def _fitted(
    view: View, X: Any, symbols: Any, memory: int, n_jobs: int | None
) -> tuple[Any, StandardGram]:
    """Fit the encoder on some of the sequences and count the words of all of them."""
    encoder = None
    if view.encoder is not None:
        chosen = np.linspace(0, len(X) - 1, min(len(X), SAMPLE)).astype(int)
        encoder = clone(view.encoder).fit(X[chosen])
        symbols = encoder.transform(X[:0])
    reader = SequenceFeatures(
        clone(view.kernel),
        manifold=True,
        normalize=False,
        pyramid=view.pyramid,
        constant_rows="keep",
    ).fit_reader(symbols)
    pieces = _pieces(reader, encoder, X, symbols, n_jobs)
    return encoder, StandardGram(reader, pieces, len(X), view.min_share, memory, n_jobs)


def _pieces(reader: Any, encoder: Any, X: Any, symbols: Any, n_jobs: int | None) -> list[Piece]:
    """Return the pieces of a view: its rows one by one, or all rows of sequences encoded anew."""
    plan = reader.plan_
    if encoder is None:
        single = [np.array([r]) for r in range(len(plan.n_symbols))]
        return [(rows, partial(root_shares, symbols, plan, rows)) for rows in single]
    rows = np.arange(len(plan.n_symbols))

    def encoded(block: slice) -> np.ndarray:
        return root_shares(encoder.transform(X[block]), plan, rows)

    def make() -> np.ndarray:
        done = run_in_order(encoded, _blocks(X), n_threads(n_jobs))
        return np.concatenate([shares for _, shares in done])

    return [(rows, make)]


def _blocks(X: Ragged) -> list[slice]:
    """Cut a collection into blocks of about `BLOCK_FRAMES` frames, at least one sequence each."""
    blocks = X.offsets[:-1] // BLOCK_FRAMES
    cuts = [0, *(np.flatnonzero(np.diff(blocks)) + 1).tolist(), len(X)]
    return [slice(a, b) for a, b in pairwise(cuts)]

r"""A term of the sum: it turns sequences into features, and learns a weight for every feature.

.. math:: K(x, z) = \sum_v s_v K_v(x, z), \qquad f_c(x) = \sum_v \sum_u w_{vcu} \phi_{vu}(x) + b_c

A `Term` holds parameters alone. Its `fit` gives a `Fitting`, which knows the kernel matrix
:math:`K_v` of the training sequences. Once the coefficients of the sum are known, `finish` makes a
`FittedTerm`, which keeps the weights :math:`w_{vcu}` of words. `total.py` adds up the terms, of
whatever kind they are.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone

from mvdfq._utils.memory import parse_memory
from mvdfq._utils.short import Short
from mvdfq.frames.base import shares_of, steps_of
from mvdfq.terms.baseline import View
from mvdfq.terms.evidence_words import Evidence
from mvdfq.terms.feature_blocks import Block
from mvdfq.terms.svm import FoldMachine

__all__ = [
    "FittedTerm",
    "Fitting",
    "Found",
    "Source",
    "Term",
    "TermRows",
    "Work",
    "encode",
    "fit_encoders",
]  # fmt: skip


@dataclass(frozen=True)
class Work:
    """How a fit may compute, and the weights of the training sequences (None: all alike)."""

    memory_limit: int | str | None = None
    n_jobs: int | None = None
    sample_weight: np.ndarray | None = None
    random_state: int | None = 0
    linear: bool = False
    report: Callable[[int, int], None] = lambda done, total: None

    @property
    def memory(self) -> int:
        """The memory limit in bytes."""
        return parse_memory(self.memory_limit)


class Term(BaseEstimator):
    """The base class of terms: parameters, as of any estimator of scikit-learn.

    A subclass has a parameter `name`, which explanations and model files show.
    """

    name: str
    # Whether the term can be learned from explicit features, block by block.
    has_features = True
    # Whether all words have the same spread.
    is_standard = True
    # Whether the kernel compares the values themselves, without symbols.
    reads_values = False

    def check(self) -> None:
        """Raise an error for parameters that do not exist or cannot be combined."""

    def fit(self, X: Any, y: np.ndarray, work: Work) -> "Fitting | None":
        """Compute the kernel matrix of training sequences; None if X has nothing for the term."""
        raise NotImplementedError

    def source(self, X: Any, y: np.ndarray, work: Work) -> "Source | None":
        """Return what makes explicit features of blocks of sequences, learned from `X`."""
        raise NotImplementedError


class Fitting:
    """A term with its kernel matrix, before the coefficients of training sequences are known."""

    # Whether all words have the same spread: then the kernel matrix is always divided by `size`.
    is_standard = True
    # Whether the matrix depends on the labels of the sequences that are learned from.
    reads_labels = False

    @property
    def size(self) -> float:
        """The variance of all features together, by which the sum divides the kernel matrix."""
        raise NotImplementedError

    def matrix(self, learn: np.ndarray) -> Any:
        """Return the kernel matrix, or sparse features, for machines that learn from `learn`."""
        raise NotImplementedError

    def release(self) -> None:
        """Give up a large kernel matrix, which is part of the sum now."""

    def held_out(self, folds: list[FoldMachine], n_channels: int) -> np.ndarray | None:
        """Return what each channel adds to the margins of sequences that inner folds hold out.

        The result is (n_judged, n_columns, n_channels), as of `StandardGram`; None if words are
        not standardized.
        """
        return None

    def finish(self, coefficients: np.ndarray, share: float, keep: bool) -> "FittedTerm":
        """Return the term that answers, given its coefficients (n_sequences, n_columns).

        `share` is the factor of the kernel matrix in the sum, which the coefficients hold
        already; `keep` says whether to keep the training sequences, to find similar ones.
        """
        raise NotImplementedError


class Source:
    """Makes explicit features of blocks of sequences.

    `min_share` is the share of the training sequences in which a word must occur, if words are
    standardized; None if the features are taken as they are.
    """

    min_share: float | None

    @property
    def n_columns(self) -> int:
        """Number of columns of the features."""
        raise NotImplementedError

    def read(self, X: Any) -> Any:
        """Return sequences as `block` reads them."""
        raise NotImplementedError

    def block(self, read: Any) -> Block:
        """Return the features of some sequences."""
        raise NotImplementedError

    def only(self, used: np.ndarray) -> "tuple[Source, np.ndarray]":
        """Leave columns out; return the source and the numbers of the columns that it makes."""
        return self, np.arange(len(used))

    def finish(self, found: "Found", keep: Any) -> "FittedTerm":
        """Return the term that answers, given what was learned of its columns.

        `keep` are the training sequences to keep, as `read` gives them, or None.
        """
        raise NotImplementedError


class Found(NamedTuple):
    """What was learned of the columns of a source.

    `learned` are the coefficients of columns that are centred and divided by their deviation and
    the root of the size of the term; `weights` are those of the columns as they are. `means` are
    the means of the columns over each class, `mean` those over all sequences.
    """

    mean: np.ndarray
    means: np.ndarray
    learned: np.ndarray
    weights: np.ndarray
    share: float
    n_jobs: int | None


@dataclass(frozen=True)
class TermRows:
    """What an explanation says about the rows that a term reads in one sequence.

    `symbols` are the rows as symbols, `offsets` those of each layout of each group, `names` the
    names of the symbols of each row; `find_shares` returns the share of each channel in each row.
    `curves` (n_channels, n_frames) are the channels with mean 0 and deviation 1 in training, NaN
    for channels of symbols; None if the term does not know the means.
    """

    symbols: Any
    row_names: list[str]
    offsets: list[list[tuple[int, ...]]]
    names: list[Any]
    find_shares: Callable[[], np.ndarray]
    curves: np.ndarray | None = None


@dataclass(repr=False, kw_only=True)
class FittedTerm(Short):
    """A term that answers: what a model file holds.

    The margins of a sequence are `sums`, which words of the sequence add up to, plus
    `intercepts`, which belong to the words that every sequence has on average.
    """

    name: str
    encoders: list[Any]
    intercepts: np.ndarray
    share: float = 1.0
    n_jobs: int | None = None
    _made: dict[str, Any] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": {}}  # large, and quick to make again

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return ``make()``, which is computed once and kept under `name`."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    def once_for(self, view: View, make: Callable[[View], Any]) -> Any:
        """Return ``make(view)``, which is kept for views of all problems and for one contrast."""
        if view.weights is None:
            return self.once(f"view {view.key!r}", lambda: make(view))
        key, value = self._made.get("contrast", (None, None))
        if key != view.key:
            value = make(view)
            self._made["contrast"] = view.key, value
        return value

    @property
    def symbolic_in(self) -> tuple[bool, ...] | None:
        """Which channels hold symbols, () for none; None if the term reads symbols alone."""
        steps = steps_of(*self.encoders)
        return getattr(steps[0], "symbolic_in_", ()) if steps else None

    @property
    def n_channels_in(self) -> int:
        """Number of channels that a term without encoders reads."""
        raise NotImplementedError

    def read(self, X: Any) -> Any:
        """Return sequences as the other methods read them."""
        raise NotImplementedError

    def sums(self, read: Any) -> np.ndarray:
        """Return the sums of the weights of words, (n_sequences, n_columns)."""
        raise NotImplementedError

    def evidence(self, read: Any, view: View) -> list[Evidence]:
        """Return the evidence in each sequence; it adds up to `sums` less the `shift`.

        `view` is a view of all problems.
        """
        raise NotImplementedError

    def contrast(self, read: Any, found: Evidence, view: View) -> Evidence:
        """Return the evidence in one sequence as another view sees it, given that of all problems.

        Plain words are compared with nothing, so their evidence is added up as the view says.
        """
        assert view.weights is not None
        return found.weighed(view.weights)

    @property
    def class_means(self) -> list[np.ndarray]:
        """The means of words over the classes, (..., n_classes) each; none of plain words."""
        return []

    def shift(self, view: View) -> np.ndarray:
        """Return what the baseline adds to `sums`, (n_columns,): nothing to plain words."""
        return np.zeros(view.base.shape[1])

    def rows(self, read: Any, i: int, channels: list[str]) -> TermRows:
        """Return what an explanation says about the rows of sequence `i`."""
        raise NotImplementedError

    def channel_shares(self, n_channels: int) -> np.ndarray:
        """Return the share of each channel in each row, (n_rows, n_channels)."""
        return shares_of(self.encoders, n_channels)

    # Whether `features` makes dense features; else `compare` gives kernel values.
    has_dense_features = True

    @property
    def can_compare(self) -> bool:
        """Whether all is known that comparing needs: also the mean and the deviation of words."""
        return True

    def features(self, read: Any) -> Iterator[np.ndarray]:
        """Yield dense features whose products, times `share`, add up to the kernel."""
        raise NotImplementedError

    def compare(self, left: Any, right: Any) -> np.ndarray:
        """Return the kernel values of sequences as `read` gives them, or of `train`."""
        raise NotImplementedError

    def prepare_saving(self) -> None:
        """Get ready for a model file."""

    @property
    def train(self) -> Any:
        """The training sequences as `read` gives them; None if they are not kept."""
        return None


def fit_encoders(parts: list[Any], X: Any, y: np.ndarray) -> tuple[list[Any], Any]:
    """Fit transformers one after the other; return the transformers and the encoded sequences.

    None and "passthrough" stand for a part that is left out.
    """
    fitted: list[Any] = []
    for step in parts:
        if step is None or (isinstance(step, str) and step == "passthrough"):
            continue
        if not hasattr(step, "fit") or not hasattr(step, "transform"):
            raise TypeError(
                f"{step!r} is not a transformer; pass a name or an object such as mvdfq.Delta() or "
                f"mvdfq.DirectQuantizer()."
            )
        fitted.append(clone(step))
        X = fitted[-1].fit_transform(X, y)
    return fitted, X


def encode(encoders: list[Any], X: Any) -> Any:
    """Return new sequences as fitted transformers make them."""
    for step in encoders:
        X = step.transform(X)
    return X

r"""A term of the sum: it turns sequences into features, and learns a weight for every feature.

.. math:: K(x, z) = \sum_v s_v K_v(x, z), \qquad f_c(x) = \sum_v \sum_u w_{vcu} \phi_{vu}(x) + b_c

A `Term` holds parameters. Its `fit` gives a `Fitting` with the kernel matrix :math:`K_v`. Once the
coefficients of the sum are known, `finish` makes a `FittedTerm` with the weights :math:`w_{vcu}`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from mvdfq.frames.base import encode
from mvdfq.terms.feature_blocks import Block
from mvdfq.terms.fitted import FittedTerm
from mvdfq.terms.standard import Learned
from mvdfq.terms.svm import FoldMachine


@dataclass(frozen=True)
class Work:
    """How a fit may compute, and the weights of the training sequences (None: all alike)."""

    memory_limit: int | str | None = None
    n_jobs: int | None = None
    sample_weight: np.ndarray | None = None
    random_state: int | None = 0
    linear: bool = False
    report: Callable[[int, int], None] = lambda done, total: None


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


class Fitting(Protocol):
    """A term with its kernel matrix, before the coefficients of training sequences are known.

    `values` is the kernel matrix, or sparse features; the sum divides it by `size`, the variance
    of all features together. `weighed` is the matrix in which words count by what they tell of the
    classes, and its size, for the machine that answers alone: a fold must not check words that
    were weighed with its labels. None if all words count alike.
    """

    # Whether all words have the same spread: then `size` always divides the matrix.
    is_standard: bool = True
    values: Any
    size: float
    weighed: tuple[np.ndarray, float] | None = None

    def release(self) -> None:
        """Give up large kernel matrices, which are part of the sum now."""
        return None

    def held_out(self, folds: list[FoldMachine], n_channels: int) -> np.ndarray | None:
        """Return what each channel adds to the margins of sequences that inner folds hold out.

        The result is (n_judged, n_columns, n_channels); None if words are not standardized.
        """
        return None

    def finish(self, coefficients: np.ndarray, share: float) -> FittedTerm:
        """Return the term that answers, given its coefficients (n_sequences, n_columns).

        The coefficients hold the factor of the kernel matrix in the sum already; `share` is this
        factor if all words count alike, by which sequences are compared.
        """
        raise NotImplementedError

    def sketch(self, name: str) -> np.ndarray | None:
        """Return the sketches of the training sequences, without the share, see `projection`.

        None if the fitted term keeps the training sequences, and compares exactly.
        """
        return None


@dataclass(frozen=True)
class Source:
    """Makes explicit features of blocks of sequences.

    `min_share` is the share of the training sequences in which a word must occur, if words are
    standardized; None if the features are taken as they are. ``make(learned, share)`` returns the
    fitted term, given what was learned of every piece, as for `StandardFitting`.
    """

    min_share: float | None
    encoders: list[Any]
    make: Callable[..., FittedTerm]

    @property
    def pieces(self) -> list[tuple[np.ndarray, int, np.ndarray]]:
        """The rows of each piece, the words of a row, and the columns of the piece in use."""
        raise NotImplementedError

    def read(self, X: Any) -> Any:
        """Return sequences as `block` reads them: encoded."""
        return encode(self.encoders, X)

    def block(self, read: Any) -> Block:
        """Return the features of some sequences: the columns in use of all pieces."""
        raise NotImplementedError

    def only(self, used: np.ndarray) -> "tuple[Source, np.ndarray]":
        """Leave columns out; return the source and the numbers of the columns that it makes."""
        return self, np.arange(len(used))

    def finish(self, learned: Iterable[Learned], share: float, train: Any) -> FittedTerm:
        """Return the term that answers, given what was learned of every piece.

        `train` are training sequences as `read` gives them, to compare; None if nobody compares.
        """
        return self.make(learned, share)

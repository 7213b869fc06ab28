r"""Evidence and its words, compared with an average sequence of other classes.

A standardized word of root share :math:`\phi_u` and weight :math:`w_u` has the evidence

.. math:: w_u (\phi_u - \mu_u) = a_u (\phi_u^2 - \mu_u^2), \qquad a_u = w_u / (\phi_u + \mu_u),

where :math:`\mu_u` is the mean of the word over the sequences of the baseline. The share
:math:`\phi_u^2` has a place, since it counts occurrences: each of them has the evidence
:math:`a_u / N`, where `N` counts all words of the row. What belongs to :math:`\mu_u^2` has no
place, and is divided equally among all words of the same layout and cell of the pyramid. The
evidence of a word is the integral of the gradient from the share of the baseline to the share of
the sequence.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mvdfq._utils.short import Short


class WordBlock(NamedTuple):
    """The words of a sequence that one group of layouts reads, ordered by row and symbols.

    Word ``w`` has the symbols ``codes[w]`` in row ``rows[w]``; its occurrences are ``indptr[w]``
    to ``indptr[w + 1]`` of `starts` (frames where windows start), `layouts` and `shares` (the
    evidence, (n_occurrences, n_columns)).
    """

    group: int
    rows: np.ndarray
    codes: np.ndarray
    indptr: np.ndarray
    starts: np.ndarray
    layouts: np.ndarray
    shares: np.ndarray

    def totals(self, column: int) -> np.ndarray:
        """Return the evidence of each word, over all its occurrences."""
        return np.add.reduceat(self.shares[:, column], self.indptr[:-1])


@dataclass(frozen=True, repr=False)
class Evidence(Short):
    """The evidence of a term in one sequence, for each column of the margins.

    `by_frame` is (n_columns, n_rows, n_frames), `by_layout` is (n_columns, n_rows, n_groups). Sums
    over rows and frames, and over rows and layouts, are equal. A sequence may hold ten thousand
    words, so `find_words` lists them, in blocks, when they are first asked for.
    ``find_top(column, n)`` lists at least the `n` words with the most evidence in a column.
    """

    by_frame: np.ndarray
    by_layout: np.ndarray
    find_words: Callable[[], list[WordBlock]]
    find_top: Callable[[int, int], list[WordBlock]] | None = None

    @cached_property
    def words(self) -> list[WordBlock]:
        """The words of the sequence."""
        return self.find_words()

    def top(self, column: int, n: int) -> list[WordBlock]:
        """Return words, among them the `n` words with the most evidence in a column."""
        return self.words if self.find_top is None else self.find_top(column, n)

    def weighed(self, weights: np.ndarray) -> "Evidence":
        """Return the sums of columns by weights (n_columns, n)."""
        return Evidence(
            np.tensordot(weights.T, self.by_frame, axes=1),
            np.tensordot(weights.T, self.by_layout, axes=1),
            lambda: [block._replace(shares=block.shares @ weights) for block in self.words],
        )

    def nothing(self) -> "Evidence":
        """Return evidence of 0 for everything."""
        return self.weighed(np.zeros((len(self.by_frame),) * 2))


@dataclass(frozen=True, eq=False)
class View:
    """What the columns of evidence speak for, and what a sequence is compared with.

    `base` (n_classes, n_columns) holds the share of every class in the baseline of a column;
    `weights` (n_problems, n_columns) says how a column adds up margins: None means that the
    columns are the margins.
    """

    base: np.ndarray
    weights: np.ndarray | None = None

    def only(self, column: int) -> "View":
        """Return the view of one column of a view of all problems."""
        return View(self.base[:, [column]], np.eye(self.base.shape[1])[:, [column]])

    @property
    def key(self) -> bytes:
        """What tells views apart."""
        return self.base.tobytes() + (b"" if self.weights is None else self.weights.tobytes())

    def means(self, means: np.ndarray) -> np.ndarray:
        """Return the means of the baselines, (..., n_columns), given means by class."""
        if means.shape[-1] == 1:
            return np.repeat(_in_single(means), self.base.shape[1], axis=-1)
        mixed = _mixed(means, self.base)
        return np.maximum(mixed, 0, out=mixed)

    def weigh(self, values: np.ndarray) -> np.ndarray:
        """Return the weights of words, (..., n_columns), given their weights by problem."""
        return values if self.weights is None else _mixed(values, self.weights)


def _mixed(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return ``values @ weights``, in single precision at least; most weights may be 0."""
    used = np.flatnonzero(weights.any(axis=1))
    flat = values.reshape(-1, values.shape[-1])  # products of stacks of small matrices are slow
    flat = _in_single(flat if len(used) == len(weights) else flat[:, used])
    return (flat @ weights[used].astype(flat.dtype)).reshape(*values.shape[:-1], -1)


def _in_single(values: np.ndarray) -> np.ndarray:
    """Return values, none of them infinite or NaN, in single precision at least.

    Numpy converts halves below 6e-5 one by one. Here the sign, the exponent and the digits of a
    half move to their places, and a factor corrects the exponent: the same numbers, much faster.
    """
    if values.dtype != np.float16:
        return values.astype(np.result_type(values, np.float32), copy=False)
    bits = (values.view(np.int16).astype(np.int32) << 13) & -0x70002000
    return bits.view(np.float32) * np.float32(2.0**112)


@dataclass(frozen=True)
class Baselines:
    """What the problems of a classifier are compared with.

    `pairs` are the pairs of `Problems`; `shares` are the shares of the classes in training.
    """

    pairs: list[tuple[int, int]]
    shares: np.ndarray

    def views(self, predicted: np.ndarray) -> list[tuple[View, np.ndarray]]:
        """Return views of all problems, and the places of the sequences that each is for.

        One class is compared with the mean of the other classes, a pair of classes with the
        midpoint of their means. If there are two classes in all, the predicted class is compared
        with the other class.
        """
        if len(self.shares) == 2:
            views = [View(np.eye(2)[:, [1 - c]]) for c in range(2)]
            return [(view, np.flatnonzero(predicted == c)) for c, view in enumerate(views)]
        base = np.zeros((len(self.shares), len(self.pairs)))
        for column, (first, second) in zip(base.T, self.pairs, strict=True):
            if second < 0:
                column[:] = self.shares
                column[first] = 0
                column /= column.sum()
            else:
                column[[first, second]] = 0.5
        return [(View(base), np.arange(len(predicted)))]

    @property
    def average(self) -> View:
        """All problems, compared with the average training sequence."""
        return View(np.repeat(self.shares[:, None], len(self.pairs), axis=1))

    def between(self, first: int, second: int) -> View:
        """Return one class against another, compared with the midpoint of the means of both."""
        base, weights = np.zeros((len(self.shares), 1)), np.zeros((len(self.pairs), 1))
        base[[first, second]] = 0.5
        for weight, pair in zip(weights, self.pairs, strict=True):
            if pair[1] < 0:
                weight[:] = (pair[0] == first) - (pair[0] == second)
            elif {*pair} == {first, second}:
                weight[:] = 1 if pair[0] == first else -1
        return View(base, weights)

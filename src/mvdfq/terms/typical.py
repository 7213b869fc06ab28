r"""How typical of a class a sequence is: p values from sequences that were held out.

Two scores say how strange a sequence `x` is for a class `c`: the negative decision value
:math:`-f_c(x)`, and the distance to the mean of the class in the space of all words,

.. math:: d_c(x) = \lVert x - m_c \rVert^2 / v_c - 1 / n_c, \qquad
          \lVert x - m_c \rVert^2 = K(x, x) - 2 K(x, m_c) + K(m_c, m_c),

in units of the mean squared distance :math:`v_c` of the members of the class. The mean of
:math:`n_c` members strays from the mean of all sequences of the class, which adds :math:`1 / n_c`;
machines of inner folds learn from fewer members. The p value of a score is the share of held-out
sequences of the same class that are at least as strange. The smaller of the two p values is a
score again, whose p value is the typicality. So a sequence of class `c` has a p value of at most
:math:`\alpha` with probability :math:`\alpha`, whatever the distribution, if new sequences are
drawn as the training sequences were (conformal prediction).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mvdfq._utils.short import Short

# A class with fewer held-out sequences is compared with those of all such classes together: nine
# sequences of a class cannot tell a p value of 5 %.
ENOUGH = 50
# p values are ratios of whole numbers: 1 - 0.9 is a little less than 0.1.
ROUNDING = 1e-9


class Nearness(NamedTuple):
    """Products of sequences with themselves, with the means of the classes, and of the means."""

    own: np.ndarray
    cross: np.ndarray
    means: np.ndarray

    def times(self, share: float) -> "Nearness":
        """Return all products times a share."""
        return Nearness(*(share * products for products in self))

    def distances(self) -> np.ndarray:
        """Return the squared distances to the means of the classes, (n_sequences, n_classes)."""
        # |x - m|**2 = <x, x> - 2 <x, m> + <m, m>
        squares = self.own[:, None] - 2 * self.cross + np.diag(self.means)
        return np.maximum(squares, 0)  # rounding may leave a distance just below 0


def added(parts: Iterable[Any]) -> Any:
    """Return the sums in spaces side by side of what a tuple holds: products, or also sketches."""
    return reduce(lambda a, b: tuple(x + y for x, y in zip(a, b, strict=True)), parts)


def inverse(values: np.ndarray) -> np.ndarray:
    """Return 1 / values, and 0 for 0."""
    return np.divide(1, values, out=np.zeros(values.shape), where=values > 0)


def squared(values: Any) -> Any:
    """Return the squares of an array or of a sparse matrix, whose own `power` sorts it first."""
    if not sp.issparse(values):
        return values**2
    return sp.csr_array((values.data**2, values.indices, values.indptr), shape=values.shape)


def nearness_of(means: np.ndarray, spreads: np.ndarray, shares: Any) -> Nearness:
    """Return the products of sequences, given their root shares, dense or sparse.

    `means` (n_words, n_classes) are the means over the classes, `spreads` the deviations of words.
    """
    means, factor = means.astype(np.float64), inverse(spreads.astype(np.float64) ** 2)
    weighted = means * factor[:, None]
    return Nearness(squared(shares) @ factor, shares @ weighted, means.T @ weighted)


def nearness_in(values: Any, members: np.ndarray) -> Nearness:
    """Return the products of training sequences, given kernel values or sparse features.

    `members` (n_sequences, n_classes) holds the share of each sequence in the mean of a class.
    """
    if sp.issparse(values):
        own, cross = squared(values).sum(axis=1), values @ (values.T @ members)
    else:
        own, cross = values.diagonal(), values @ members
    return Nearness(np.asarray(own).ravel(), cross, members.T @ cross)


class Spread(NamedTuple):
    """The mean squared distance in each class, and how far the mean of its members strays."""

    sizes: np.ndarray
    strays: np.ndarray

    def relative(self, distances: np.ndarray) -> np.ndarray:
        """Return distances in units of the spread of each class, (n_sequences, n_classes)."""
        return distances / self.sizes - self.strays


def spread_sizes(own: np.ndarray, y: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the mean squared distance in each class, given the distance of each sequence.

    Every class has one more member of the mean distance of all classes, so that a class of one
    member has a spread, too. The mean of a class is nearer to its members than to others: the
    squared distances of `n` members are divided by ``n - 1``.
    """
    n, total = np.bincount(y, minlength=n_classes), np.bincount(y, own, n_classes)
    mean = total.sum() / max(int(np.maximum(n - 1, 0).sum()), 1)
    return (total + (mean or 1.0)) / np.maximum(n, 1)


def of_classes(decision: np.ndarray) -> np.ndarray:
    """Return decision values as one column per class; two classes have one value."""
    return np.stack([-decision, decision], axis=1) if decision.ndim == 1 else decision


@dataclass(frozen=True, repr=False)
class Calibration(Short):
    """What held-out sequences score for their own classes, and the spreads of all classes.

    `scores` (n_held_out, 2) holds the negative decision values and the relative distances, `y` the
    codes of the classes, `sizes` and `strays` as in `Spread`.
    """

    scores: np.ndarray
    y: np.ndarray
    sizes: np.ndarray
    strays: np.ndarray

    @classmethod
    def of(
        cls, decision: np.ndarray, distances: np.ndarray, y: np.ndarray, spread: Spread
    ) -> "Calibration":
        """Return the scores of sequences for their classes; `distances` are relative."""
        own_class = np.arange(len(y)), y
        scores = np.stack([-of_classes(decision)[own_class], distances[own_class]], axis=1)
        return cls(scores.astype(np.float32), y, *spread)

    def p_values(self, decision: np.ndarray, nearness: Nearness) -> np.ndarray:
        """Return the p value of each class for each sequence, (n_sequences, n_classes)."""
        distances = Spread(self.sizes, self.strays).relative(nearness.distances())
        new = np.stack([-of_classes(decision), distances]).astype(np.float32)
        p_values = np.empty(new.shape[1:])
        n = np.bincount(self.y, minlength=len(self.sizes))
        large, small = np.flatnonzero(n >= ENOUGH), np.flatnonzero(n < ENOUGH)
        # small classes are judged together
        for classes in [*large[:, None], small] if small.size else large[:, None]:
            old = self.scores[np.isin(self.y, classes)].T
            least = np.minimum(*(ranks(a, a) for a in old))
            smaller = np.minimum(*(ranks(a, b[:, classes]) for a, b in zip(old, new, strict=True)))
            p_values[:, classes] = ranks(-least, -smaller)
        return p_values


def ranks(held: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return the share of held-out scores that are at least as large, each score with them."""
    return (1 + len(held) - np.searchsorted(np.sort(held), scores)) / (len(held) + 1)


def in_set(p: np.ndarray, coverage: float) -> np.ndarray:
    """Tell which classes are in the sets, given their p values; shape (n_sequences, n_classes)."""
    return p > 1 - coverage + ROUNDING

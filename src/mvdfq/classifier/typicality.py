"""Answers "none of these" and "not sure": p values of classes, from sequences held out."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mvdfq._engines.choice import engine_of

__all__ = ["TypicalityMixin", "in_set"]

# p values are ratios of whole numbers: 1 - 0.9 is a little less than 0.1.
ROUNDING = 1e-9


def in_set(p: np.ndarray, coverage: float) -> np.ndarray:
    """Tell which classes are in the sets, given their p values; shape (n_sequences, n_classes)."""
    return p > 1 - coverage + ROUNDING


class TypicalityMixin:
    """The methods of a classifier that doubt."""

    def typicality(self: Any, X: Any) -> np.ndarray:
        r"""Return how typical each sequence is of the class that it is put into, as a p value.

        A sequence is strange for a class if its decision value is small, or if the sequence is
        far from the mean of the class in the space of all words. The typicality is the share of
        sequences of the class, held out of the inner folds, that are at least as strange,

        .. math:: p_c(x) = \frac{1 + \#\{i : s_i \ge s_c(x)\}}{1 + n} ,

        where `i` runs over the `n` held-out sequences of the class. A class with fewer than 50
        held-out sequences is compared with those of all such classes. A sequence of a class that
        was in training has a p value of at most 5 % in about 5 % of cases. A sequence of another
        kind often has a smaller p value, but not always: the typicality cannot tell a sequence
        whose words are like those of a known class. Cost: about twice that of `predict`.

        Parameters
        ----------
        X : list of array-like of shape (n_channels, n_timepoints)
            Sequences with the channels seen in `fit`, drawn as the training sequences were.

        Returns
        -------
        p : ndarray of shape (n_sequences,)
            The p values, from 0 to 1; 0 for a sequence without any known word.

        Examples
        --------
        >>> import mvdfq, numpy as np
        >>> X, y = mvdfq.load_japanese_vowels(split="train")
        >>> clf = mvdfq.SequenceClassifier("fast").fit(X, y)
        >>> noise = np.random.default_rng(0).normal(size=(12, 20))
        >>> clf.typicality([noise])[0] < 0.05 < clf.typicality(X[:1])[0]
        np.True_
        """
        p, predicted = self._p_values(X)
        return p[np.arange(len(p)), predicted]

    def predict_set(self: Any, X: Any, coverage: float = 0.9) -> list[list[Any]]:
        """Return for each sequence the classes that it may be of, as many as it takes.

        The set of a sequence holds the classes whose p value is above ``1 - coverage``, see
        `typicality`. So the set holds the true class in a share `coverage` of cases, if new
        sequences are drawn as the training sequences were. An empty set says "none of these", a
        set of several classes says "not sure".

        Parameters
        ----------
        X : list of array-like of shape (n_channels, n_timepoints)
            Sequences with the channels seen in `fit`.

        coverage : float, default=0.9
            Share of sequences whose set must hold the true class, between 0 and 1.

        Returns
        -------
        sets : list of list
            For each sequence the labels, the most typical first.

        Examples
        --------
        >>> import mvdfq
        >>> X, y = mvdfq.load_japanese_vowels(split="train")
        >>> clf = mvdfq.SequenceClassifier("fast").fit(X, y)
        >>> clf.predict_set(X[:1], coverage=0.95)
        [['1']]
        """
        if not 0 < coverage < 1:
            raise ValueError(f"coverage must be a number between 0 and 1, got {coverage!r}.")
        p, labels = self.p_values(X), self.classes_.tolist()
        orders = np.argsort(-p, axis=1, kind="stable").tolist()
        return [
            [labels[c] for c in order if mine[c]]
            for order, mine in zip(orders, in_set(p, coverage), strict=True)
        ]

    @property
    def has_p_values(self: Any) -> bool:
        """Whether `fit` held out sequences, which p values are made of."""
        return self.calibration_ is not None

    def p_values(self: Any, X: Any) -> np.ndarray:
        """Return the p value of each class: how typical of the class a sequence is.

        Parameters
        ----------
        X : list of array-like of shape (n_channels, n_timepoints)
            Sequences with the channels seen in `fit`.

        Returns
        -------
        p : ndarray of shape (n_sequences, n_classes)
            See `typicality`, which is the p value of the predicted class.
        """
        return self._p_values(X)[0]

    def _p_values(self: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the p values, (n_sequences, n_classes), and the predicted classes."""
        check_is_fitted(self)
        with engine_of(self):
            decision, _, p = self._judge(self._read(X), True)
        return p, self.problems_.predicted(decision)

    def _judge(
        self: Any, read: list[Any], doubts: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return decision values, which sequences hold no known word, and p values if asked."""
        decision, _, sums = self._decide(read)
        lost = ~np.any([one.any(axis=1) for one in sums.values()], axis=0)
        if not doubts:
            return decision, lost, None
        if self.calibration_ is None:
            raise ValueError(
                "p values need sequences that were held out and the means of the classes, but fit "
                "could not hold out any sequence, or the terms do not keep the means (more than a "
                "thousand classes, or several terms of plain words); train with at least two "
                "sequences per class, of two groups if groups are given."
            )
        near = self.sum_.nearness(read, self.train_y_, len(self.classes_))
        p = self.calibration_.p_values(decision, near)
        p[lost] = 0
        return decision, lost, p

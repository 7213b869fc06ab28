"""The predictions of all folds, and the metrics that judge the predictions."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.metrics import (
    average_precision_score,
    confusion_matrix,
    precision_recall_fscore_support,
    recall_score,
    roc_auc_score,
)

from mvdfq._utils.short import Short, table

__all__ = ["Evaluation", "Fold", "roc50"]


@dataclass(frozen=True, repr=False)
class Fold(Short):
    """The predictions for the test part of one fold, and the true labels.

    `scores` are the decision values, for ROC curves; None unless there are two classes.
    """

    name: str
    seed: int
    test: np.ndarray
    truth: np.ndarray
    predicted: np.ndarray
    scores: np.ndarray | None = None

    @property
    def accuracy(self) -> float:
        """Share of the test part that was classified correctly."""
        return float(np.mean(self.truth == self.predicted))

    @property
    def has_ranking(self) -> bool:
        """Whether the test part has decision values and members of two classes."""
        return self.scores is not None and len(np.unique(self.truth)) == 2


def roc50(truth: Any, scores: Any, n: int = 50) -> float:
    r"""Area under the ROC curve up to the fiftieth false positive, as a share of the largest area.

    .. math:: \frac{1}{n P} \sum_{i=1}^{n} t_i

    where :math:`t_i` is the number of the :math:`P` positives that rank above the i-th negative.

    Parameters
    ----------
    truth : array-like of bool
        Which members are positive.

    scores : array-like of float
        A higher score means more positive. Equal scores count as the average over all orders of
        the members with this score.

    n : int, default=50
        Number of false positives; all negatives if there are fewer negatives.

    Returns
    -------
    area : float
        1 if all positives rank above all negatives.

    Examples
    --------
    >>> from mvdfq.evaluation import roc50
    >>> roc50([True, False, True], [3, 2, 1])
    0.5
    """
    truth, scores = np.asarray(truth, dtype=bool), np.asarray(scores)
    if truth.all() or not truth.any():
        raise ValueError(
            f"truth must hold positives and negatives, got {int(truth.sum())} positives and "
            f"{int((~truth).sum())} negatives."
        )
    levels, level = np.unique(-scores, return_inverse=True)
    positives, negatives = (np.bincount(level[p], minlength=len(levels)) for p in (truth, ~truth))
    above = np.cumsum(positives) - positives
    block = np.repeat(np.arange(len(levels)), negatives)[:n]
    place = np.arange(len(block)) - (np.cumsum(negatives) - negatives)[block] + 1
    # If b negatives and a positives have the same score, a j / (b + 1) of these positives rank
    # above the j-th of these negatives, on average over all orders.
    found = above[block] + positives[block] * place / (negatives[block] + 1)
    return float(found.mean() / truth.sum())


@dataclass(frozen=True, repr=False)
class Evaluation(Short):
    """The folds of an evaluation, and the metrics of all folds together.

    Parameters
    ----------
    protocol : str
        The protocol that cut the folds.

    labels : list
        The classes.

    folds : list of Fold
        The predictions of each fold.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> clf = mvdfq.SequenceClassifier("mvdfqm-sssk", C=10)
    >>> result = mvdfq.evaluate(clf, X, y, protocol="3-fold")
    >>> result.accuracy > 0.8, len(result.folds)
    (True, 3)
    """

    protocol: str
    labels: list[Any]
    folds: list[Fold] = field(default_factory=list)

    @property
    def truth(self) -> np.ndarray:
        """True labels of all test parts, one test part after the other."""
        return np.concatenate([fold.truth for fold in self.folds])

    @property
    def predicted(self) -> np.ndarray:
        """Predictions for all test parts, one test part after the other."""
        return np.concatenate([fold.predicted for fold in self.folds])

    @property
    def accuracy(self) -> float:
        """Mean accuracy over the folds."""
        return float(np.mean([fold.accuracy for fold in self.folds]))

    @property
    def spread(self) -> float:
        """Standard deviation of the accuracy over the folds."""
        return float(np.std([fold.accuracy for fold in self.folds]))

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % confidence interval of the accuracy, over the test parts of one seed.

        Other seeds classify the same sequences again, so they do not make the interval smaller.
        """
        first = [fold for fold in self.folds if fold.seed == self.folds[0].seed]
        n = sum(len(fold.truth) for fold in first)
        hits = sum(int(np.sum(fold.truth == fold.predicted)) for fold in first)
        bounds = binomtest(hits, n).proportion_ci(method="wilson")
        return float(bounds.low), float(bounds.high)

    @property
    def confusion(self) -> np.ndarray:
        """How often a class (row) was predicted as a class (column), over all folds and seeds."""
        return confusion_matrix(self.truth, self.predicted, labels=self.labels)

    @property
    def per_class(self) -> list[dict[str, Any]]:
        """Precision, recall, F1 and number of members of each class."""
        numbers = precision_recall_fscore_support(
            self.truth, self.predicted, labels=self.labels, zero_division=0
        )
        return [
            dict(label=label, precision=float(p), recall=float(r), f1=float(f), n=int(n))
            for label, p, r, f, n in zip(self.labels, *numbers, strict=True)
        ]

    @property
    def f1(self) -> tuple[float, float]:
        """F1 in both definitions: mean F1 of the classes; F1 of mean precision and mean recall.

        The author of the paper reported the second F1 in 2008.
        """
        said = set(self.predicted.tolist())
        table = [row for row in self.per_class if row["n"] or row["label"] in said]
        precision, recall = (
            np.mean([row[key] for row in table]) for key in ("precision", "recall")
        )
        harmonic = 2 * precision * recall / max(precision + recall, 1e-300)
        return float(np.mean([row["f1"] for row in table])), float(harmonic)

    @property
    def balanced_accuracy(self) -> float:
        """Mean recall of the classes that have members in the test parts, over all folds."""
        present = np.unique(self.truth).tolist()
        recalls = recall_score(
            self.truth, self.predicted, labels=present, average=None, zero_division=0
        )
        return float(np.mean(recalls))

    @property
    def ranking(self) -> tuple[float, float] | None:
        """Mean ROC50 and ROC area over the folds; None unless every fold ranks two classes."""
        areas = self._mean_over_folds(roc50), self._mean_over_folds(roc_auc_score)
        return None if areas[0] is None or areas[1] is None else (areas[0], areas[1])

    def _mean_over_folds(self, area: Callable[[np.ndarray, Any], float]) -> float | None:
        """Return the mean of a measure of rankings; decision values of folds are not comparable."""
        if len(self.labels) != 2 or not all(fold.has_ranking for fold in self.folds):
            return None
        pairs = [(fold.truth == self.labels[1], fold.scores) for fold in self.folds]
        return float(np.mean([area(truth, scores) for truth, scores in pairs]))

    @property
    def two_classes(self) -> dict[str, Any]:
        """Measures of two classes, the second of which is positive; empty for other numbers.

        Sensitivity and specificity are the recalls of the positive and of the other class, None
        for a class without members. ROC50, ROC area and average precision are means over the
        folds, None unless every test part has members of both classes.
        """
        if len(self.labels) != 2:
            return {}
        negative, positive = (row["recall"] if row["n"] else None for row in self.per_class)
        return {
            "positive_class": str(self.labels[1]),
            "sensitivity": positive,
            "specificity": negative,
            "roc_auc": self._mean_over_folds(roc_auc_score),
            "average_precision": self._mean_over_folds(average_precision_score),
            "roc50": self._mean_over_folds(roc50),
        }

    def _repr_html_(self) -> str:
        """Return accuracy, classes and confusions, for notebooks."""
        low, high = self.interval
        title = (
            f"accuracy {self.accuracy:.2%} (95 % interval {low:.2%} to {high:.2%}), "
            f"{self.protocol}, {len(self.folds)} folds"
        )
        names = [str(label) for label in self.labels]
        classes = [tuple(row.values()) for row in self.per_class]
        lines = [(name, *row) for name, row in zip(names, self.confusion.tolist(), strict=True)]
        first = table(["class", "precision", "recall", "F1", "n"], classes, title)
        return first + table(["true \\ said", *names], lines, "confusions")

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain numbers and text, ready for JSON.

        Returns
        -------
        result : dict
            Metrics, folds, the table of classes and the confusion matrix; for two classes also
            `two_classes`.
        """
        mean_f1, harmonic_f1 = self.f1
        return {
            "protocol": self.protocol,
            "accuracy": self.accuracy,
            "error": 1 - self.accuracy,
            "std": self.spread,
            "balanced_accuracy": self.balanced_accuracy,
            "interval_95": list(self.interval),
            "f1_mean_of_classes": mean_f1,
            "f1_of_mean_precision_and_recall": harmonic_f1,
            "seeds": sorted({fold.seed for fold in self.folds}),
            "folds": [
                dict(name=f.name, seed=f.seed, n=len(f.truth), accuracy=f.accuracy)
                for f in self.folds
            ],
            "classes": [{**row, "label": str(row["label"])} for row in self.per_class],
            "confusion": self.confusion.tolist(),
            **self.two_classes,
        }

"""Evaluation of a classifier: protocols cut the data into folds, metrics judge the predictions.

A classifier learns from the training part of each fold alone. No data set is named here.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.metrics import (
    average_precision_score,
    confusion_matrix,
    precision_recall_fscore_support,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import LeaveOneGroupOut, StratifiedKFold

from mvdfq._utils.markup import table
from mvdfq._utils.short import Short
from mvdfq._utils.threads import Report

__all__ = ["Evaluation", "Fold", "evaluate", "evaluate_fitted", "folds_of", "roc50"]


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


def folds_of(
    protocol: str, y: np.ndarray, *, groups: Any = None, split: Any = None, seed: int = 0
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield the folds of a protocol: name, training indices, test indices.

    Parameters
    ----------
    protocol : str
        ``"5-fold"`` (any number): stratified cross-validation. ``"group"``: one fold per group,
        with this group as the test part. ``"group-per-class"``: the test part of each fold is one
        group of every class, such as one album of every artist. ``"split"``: the training part
        and the test part that `split` names.

    y : ndarray of shape (n_sequences,)
        Labels.

    groups : array-like of shape (n_sequences,), default=None
        The group of each sequence.

    split : array-like of shape (n_sequences,), default=None
        ``"train"`` or ``"test"`` for each sequence.

    seed : int, default=0
        Seed of the shuffling; only k-fold protocols shuffle.

    Yields
    ------
    fold : tuple of str, ndarray and ndarray
        Name, indices of the training part, indices of the test part.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 0, 1, 1])
    >>> [(name, test.tolist()) for name, _, test in folds_of("group", y, groups=[7, 8, 7, 8])]
    [('7', [0, 2]), ('8', [1, 3])]
    """
    if match := re.fullmatch(r"(\d+)-fold", protocol):
        yield from _k_fold(int(match[1]), y, seed)
    elif protocol in ("group", "group-per-class"):
        groups = _needed(groups, protocol, "groups")
        cut = _group_fold if protocol == "group" else _group_per_class
        yield from cut(y, groups)
    elif protocol == "split":
        split = _needed(split, protocol, "a split into train and test")
        train, test = np.flatnonzero(split == "train"), np.flatnonzero(split == "test")
        if not train.size or not test.size:
            found = sorted(set(split.tolist()))
            raise ValueError(f"split must name 'train' and 'test' sequences, got {found}.")
        yield "test", train, test
    else:
        raise ValueError(
            f"protocol={protocol!r} is not known; pass '5-fold' (any number), 'group', "
            f"'group-per-class' or 'split'."
        )


def _needed(values: Any, protocol: str, what: str) -> np.ndarray:
    if values is None:
        raise ValueError(f"protocol={protocol!r} needs {what}, but the data have none.")
    return np.asarray(values)


def _k_fold(k: int, y: np.ndarray, seed: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    labels, sizes = np.unique(y, return_counts=True)
    if k < 2:
        raise ValueError(f"protocol='{k}-fold' must have at least two folds, such as '5-fold'.")
    if sizes.min() < k:
        least = f"class {labels[sizes.argmin()]!s} has {sizes.min()}"
        advice = f"use '{sizes.min()}-fold'" if sizes.min() > 1 else "add members or remove it"
        raise ValueError(
            f"protocol='{k}-fold' needs {k} members of every class, but {least}; {advice}."
        )
    cutter = StratifiedKFold(k, shuffle=True, random_state=seed)
    for i, (train, test) in enumerate(cutter.split(y, y), start=1):
        yield f"fold {i}", train, test


def _group_fold(y: np.ndarray, groups: np.ndarray) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    if len(np.unique(groups)) < 2:
        raise ValueError("protocol='group' needs at least two groups, got one group.")
    for train, test in LeaveOneGroupOut().split(y, y, groups):
        yield str(groups[test[0]]), train, test


def _group_per_class(
    y: np.ndarray, groups: np.ndarray
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """The i-th test part is the i-th group of every class, in the order of the group names."""
    place = np.empty(len(y), dtype=int)
    n_folds = len(y)
    for label in np.unique(y):
        mine = y == label
        names, place[mine] = np.unique(groups[mine], return_inverse=True)
        n_folds = min(n_folds, len(names))
    if n_folds < 2:
        raise ValueError("protocol='group-per-class' needs at least two groups in every class.")
    for fold in range(n_folds):
        test = place % n_folds == fold
        yield f"fold {fold + 1}", np.flatnonzero(~test), np.flatnonzero(test)


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


def evaluate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    protocol: str = "5-fold",
    groups: Any = None,
    split: Any = None,
    seeds: Sequence[int] = (0,),
    progress: Report | None = None,
    visit: Callable[[Any, Any, Fold, np.ndarray], None] | None = None,
) -> Evaluation:
    """Train and test a classifier on the folds of a protocol.

    Parameters
    ----------
    estimator : classifier
        The classifier is cloned for every fold. If its ``fit`` takes ``groups``, the groups are
        passed on, for the inner validation.

    X : Sequences, list or array
        The sequences.

    y : array-like of shape (n_sequences,)
        The labels of the sequences.

    protocol : str, default="5-fold"
        How to cut the sequences into folds: ``"5-fold"`` (any number), ``"group"``,
        ``"group-per-class"`` or ``"split"``, see `folds_of`.

    groups : array-like of shape (n_sequences,), default=None
        The group of each sequence (a speaker, an album).

    split : array-like of shape (n_sequences,), default=None
        ``"train"`` or ``"test"`` for each sequence.

    seeds : sequence of int, default=(0,)
        k-fold protocols are repeated with each seed; other protocols use no seed.

    progress : callable, default=None
        Called with the number of finished folds and the number of all folds.

    visit : callable, default=None
        Called after every fold with the fitted classifier, the test part of `X`, the fold, and
        the indices of the training part.

    Returns
    -------
    evaluation : Evaluation
        The folds and their metrics.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.make_autoregressive(30, 2, 40, random_state=0)
    >>> round(mvdfq.evaluate(mvdfq.SequenceClassifier(), X, y, protocol="3-fold").accuracy, 1) > 0.5
    True
    """
    y = np.asarray(y)
    seeds = seeds if re.fullmatch(r"\d+-fold", protocol) else seeds[:1]
    cuts = [
        (name, seed, train, test)
        for seed in seeds
        for name, train, test in folds_of(protocol, y, groups=groups, split=split, seed=seed)
    ]
    result = Evaluation(protocol, np.unique(y).tolist())
    for name, seed, train, test in cuts:
        inner = None if groups is None else np.asarray(groups)[train]
        clf = clone(estimator)
        clf.fit(_take(X, train), y[train], **_inner_groups(estimator, inner))
        part = _take(X, test)
        result.folds.append(_fold(clf, part, y, name, seed, test))
        if visit is not None:
            visit(clf, part, result.folds[-1], train)
        if progress is not None:
            progress(len(result.folds), len(cuts))
    return result


def evaluate_fitted(clf: Any, X: Any, y: Any) -> Evaluation:
    """Test a fitted classifier on sequences with labels.

    Parameters
    ----------
    clf : classifier
        The fitted classifier.

    X : Sequences, list or array
        The sequences.

    y : array-like of shape (n_sequences,)
        The labels. Text and whole numbers are compared as text. A label that the classifier does
        not know counts as an error.

    Returns
    -------
    evaluation : Evaluation
        One fold, and its metrics.

    Examples
    --------
    >>> import mvdfq
    >>> from mvdfq.evaluation import evaluate_fitted
    >>> X, y = mvdfq.make_autoregressive(30, 2, 40, random_state=0)
    >>> clf = mvdfq.SequenceClassifier().fit(X[:20], y[:20])
    >>> evaluate_fitted(clf, X[20:], y[20:]).accuracy > 0.5
    True
    """
    y, classes = np.asarray(y), clf.classes_
    predicted, as_text = clf.predict(X), y.dtype.kind != classes.dtype.kind
    if as_text:
        y, classes, predicted = y.astype(str), classes.astype(str), predicted.astype(str)
    # text may be in another order than numbers: the second class has the decision values
    scores = clf.decision_function(X) if len(classes) == 2 else None
    new = sorted(set(y.tolist()) - set(classes.tolist()))
    fold = Fold("test", 0, np.arange(len(y)), y, predicted, scores)
    return Evaluation("saved model", [*classes.tolist(), *new], [fold])


def _fold(clf: Any, part: Any, y: np.ndarray, name: str, seed: int, test: np.ndarray) -> Fold:
    """Test a fitted classifier on the test part of one fold."""
    scores = clf.decision_function(part) if len(clf.classes_) == 2 else None
    return Fold(name, seed, test, y[test], clf.predict(part), scores)


def _inner_groups(estimator: Any, groups: np.ndarray | None) -> dict[str, Any]:
    """Return the argument `groups` of `fit`, if `fit` takes groups and there are two or more."""
    if useful_groups(groups) is None:
        return {}
    return {"groups": groups} if "groups" in signature(estimator.fit).parameters else {}


def useful_groups(groups: np.ndarray | None) -> np.ndarray | None:
    """Return the groups if there are at least two of them, None otherwise."""
    return None if groups is None or len(np.unique(groups)) < 2 else groups


def _take(X: Any, indices: np.ndarray) -> Any:
    return [X[i] for i in indices] if isinstance(X, list | tuple) else X[indices]

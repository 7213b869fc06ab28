"""Train and test a classifier on the folds of a protocol.

The classifier learns from the training part of each fold alone.
"""

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone

from mvdfq._utils.threads import Report
from mvdfq.evaluation.cuts import check_cuts
from mvdfq.evaluation.protocols import can_be_apart, folds_of, shuffles, usual_protocol
from mvdfq.evaluation.results import Evaluation, Fold
from mvdfq.terms.validation import check_groups

__all__ = ["evaluate", "evaluate_fitted", "useful_groups"]


def evaluate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    protocol: str | None = None,
    groups: Any = None,
    split: Any = None,
    seeds: Sequence[int] = (0,),
    names: Sequence[str] = (),
    positive: Any = None,
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

    protocol : str, default=None
        How to cut the sequences into folds: ``"5-fold"`` (any number), ``"group"``,
        ``"leave-group-out"``, ``"group-per-class"`` or ``"split"``, see `folds_of`. None means
        ``"split"`` if `split` is given, ``"group"`` if `groups` are given, else ``"5-fold"``;
        `Evaluation.remarks` says so if groups are held apart.

    groups : array-like of shape (n_sequences,), default=None
        The group of each sequence (a speaker, an album). A warning says how many groups are both
        in the training part and in the test part of a fold.

    split : array-like of shape (n_sequences,), default=None
        ``"train"`` or ``"test"`` for each sequence.

    seeds : sequence of int, default=(0,)
        Protocols that shuffle are repeated with each seed; other protocols use no seed.

    names : sequence of str, default=()
        The name of each sequence, such as `Dataset.names`, for `Evaluation.per_sequence`.

    positive : object, default=None
        The positive of two classes; None means the second class in alphabetical order.

    progress : callable, default=None
        Called with the number of finished folds and the number of all folds, first with 0.

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
    >>> X, y = mvdfq.make_autoregressive(30, 2, 40, random_state=1)
    >>> round(mvdfq.evaluate(mvdfq.SequenceClassifier(), X, y, protocol="3-fold").accuracy, 1) > 0.5
    True
    """
    y = np.asarray(y)
    groups = check_groups(groups, len(y))
    remarks: tuple[str, ...] = ()
    if protocol is None:
        protocol, remarks = usual_protocol(y, groups, split)
    cuts = [
        (name, seed, train, test)
        for seed in (seeds if shuffles(protocol, groups) else seeds[:1])
        for name, train, test in folds_of(protocol, y, groups=groups, split=split, seed=seed)
    ]
    check_cuts(cuts, y, groups, protocol)
    labels = np.unique(y).tolist()
    if positive is not None and (len(labels) != 2 or str(positive) not in map(str, labels)):
        raise ValueError(f"positive must be one of two classes, got {positive!r} of {labels[:20]}.")
    result = Evaluation(protocol, labels, [], groups, remarks, names, positive)
    if progress is not None:
        progress(0, len(cuts))
    for name, seed, train, test in cuts:
        inner = None if groups is None else groups[train]
        clf = clone(estimator)
        clf.fit(_take(X, train), y[train], **_inner_groups(estimator, inner, y[train]))
        part = _take(X, test)
        result.folds.append(_fold(clf, part, y, name, seed, test))
        if visit is not None:
            visit(clf, part, result.folds[-1], train)
        if progress is not None:
            progress(len(result.folds), len(cuts))
    return result


def evaluate_fitted(clf: Any, X: Any, y: Any, groups: Any = None) -> Evaluation:
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

    groups : array-like of shape (n_sequences,), default=None
        The group of each sequence, for the interval and the accuracy of each group.

    Returns
    -------
    evaluation : Evaluation
        One fold, and its metrics.

    Examples
    --------
    >>> import mvdfq
    >>> from mvdfq.evaluation import evaluate_fitted
    >>> X, y = mvdfq.make_autoregressive(30, 2, 40, random_state=1)
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
    labels = [*classes.tolist(), *new]
    return Evaluation("saved model", labels, [fold], check_groups(groups, len(y)))


def _fold(clf: Any, part: Any, y: np.ndarray, name: str, seed: int, test: np.ndarray) -> Fold:
    """Test a fitted classifier on the test part of one fold."""
    scores = clf.decision_function(part) if len(clf.classes_) == 2 else None
    return Fold(name, seed, test, y[test], clf.predict(part), scores)


def _inner_groups(estimator: Any, groups: np.ndarray | None, y: np.ndarray) -> dict[str, Any]:
    """Return the argument `groups` of `fit`, if `fit` takes groups and they can be held apart."""
    if useful_groups(groups, y) is None:
        return {}
    return {"groups": groups} if "groups" in signature(estimator.fit).parameters else {}


def useful_groups(groups: np.ndarray | None, y: np.ndarray) -> np.ndarray | None:
    """Return the groups if inner folds can hold them apart, None otherwise."""
    groups = check_groups(groups, len(y))
    return groups if groups is not None and can_be_apart(y, groups) else None


def _take(X: Any, indices: np.ndarray) -> Any:
    return [X[i] for i in indices] if isinstance(X, list | tuple) else X[indices]

"""Train and test a classifier on the folds of a protocol.

The classifier learns from the training part of each fold alone.
"""

from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, column_or_1d

from mvdfq._utils.checks import check_entries
from mvdfq._utils.errors import ParameterError, Sentence, warn
from mvdfq._utils.short import counted
from mvdfq._utils.threads import Report
from mvdfq.evaluation.protocols import can_be_apart, folds_of, shuffles, usual_protocol
from mvdfq.evaluation.results import Evaluation, Fold, codes_of
from mvdfq.terms.validation import check_groups, check_targets

# Name, seed, training indices and test indices of a fold.
Cut = tuple[str, int, np.ndarray, np.ndarray]


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
        ``"5-fold"`` (any number): stratified cross-validation. ``"group"``: at most ten folds of
        whole groups, stratified; up to ten groups are one fold each. ``"leave-group-out"``: one
        fold per group, with this group as the test part. ``"group-per-class"``: the test part of
        each fold is one group of every class, such as one album of every artist. ``"split"``: the
        training part and the test part that `split` names. None means ``"split"`` if `split` is
        given, ``"group"`` if `groups` are given, else ``"5-fold"``; `Evaluation.remarks` says so
        if groups are held apart.
    groups : array-like of shape (n_sequences,), default=None
        The group of each sequence (a speaker, an album). A warning says how many groups are both
        in the training part and in the test part of a fold.
    split : array-like of shape (n_sequences,), default=None
        ``"train"`` or ``"test"`` for each sequence.
    seeds : sequence of int, default=(0,)
        Protocols that shuffle (k-fold, and ``"group"`` with more than ten groups) are repeated
        with each seed; other protocols use no seed.
    names : sequence of str, default=()
        The name of each sequence, such as `Dataset.names`, for `Evaluation.per_sequence`.
    positive : object, default=None
        The positive of two classes; None means the second class in alphabetical order.
    progress : callable, default=None
        Called with the number of finished folds and the number of all folds, first with 0.
    visit : callable, default=None
        Called after every fold with the fitted classifier, the test part of `X`, the fold, and
        the indices of the training part. Its method ``answers(clf, X, labels)``, if any, predicts.

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
    y, _, groups = check_targets(len(X), y, None, groups)
    check_entries(len(X), split=split, names=names if len(names) else None)
    if not isinstance(seeds, Iterable):
        raise ParameterError("seeds", f"must be several seeds such as (0, 1, 2), got {seeds!r}")
    remarks: tuple[str, ...] = ()
    if protocol is None:
        protocol, remarks = usual_protocol(y, groups, split)
    cuts = [
        (name, seed, train, test)
        for seed in (seeds if shuffles(protocol, groups) else seeds[:1])
        for name, train, test in folds_of(protocol, y, groups=groups, split=split, seed=seed)
    ]
    _check_cuts(cuts, y, groups, protocol)
    labels = np.unique(y).tolist()
    if positive is not None and (len(labels) != 2 or str(positive) not in map(str, labels)):
        problem = f"must be one of two classes, got {positive!r} of {labels[:20]}"
        raise ParameterError("positive", problem)
    result = Evaluation(protocol, labels, [], groups, remarks, tuple(names), positive)
    takes_groups = "groups" in signature(estimator.fit).parameters
    if progress is not None:
        progress(0, len(cuts))
    for name, seed, train, test in cuts:
        # inner folds hold the same groups apart as the outer folds, or C would be chosen on leaks
        inner = useful_groups(None if groups is None else groups[train], y[train])
        options = {} if inner is None or not takes_groups else {"groups": inner}
        clf = clone(estimator).fit(_safe_indexing(X, train), y[train], **options)
        part = _safe_indexing(X, test)
        judge = getattr(visit, "answers", answers)  # a recorder notes more in the same reading
        result.folds.append(Fold(name, seed, test, y[test], *judge(clf, part, labels)))
        if visit is not None:
            visit(clf, part, result.folds[-1], train)
        if progress is not None:
            progress(len(result.folds), len(cuts))
    return result


def answers(clf: Any, X: Any, labels: list[Any]) -> tuple[np.ndarray, Any, Any]:
    """Return the predictions and, if known, decision values and the probabilities of `labels`."""
    best = getattr(clf, "best_estimator_", clf)
    if hasattr(best, "problems_"):  # a classifier of ours: it reads the sequences once
        scores = best.decision_function(X)
        known = best.probabilities(scores) if hasattr(best, "probabilities") else None
        chances = aligned(known, best.classes_, labels)
        return best.classes_[best.problems_.predicted(scores)], scores, chances
    can_rank = len(clf.classes_) == 2 and hasattr(clf, "decision_function")
    scores = clf.decision_function(X) if can_rank else None
    known = clf.predict_proba(X) if hasattr(clf, "predict_proba") else None
    return clf.predict(X), scores, aligned(known, clf.classes_, labels)


def aligned(values: Any, classes: np.ndarray, labels: list[Any]) -> Any:
    """Return a column for every label, 0 for a label that is not a class; None stays None."""
    if values is None:
        return None
    full = np.zeros((len(values), len(labels)))
    full[:, codes_of(classes, labels)] = values
    return full


def evaluate_fitted(clf: Any, X: Any, y: Any, groups: Any = None) -> Evaluation:
    """Test a fitted classifier on sequences with labels; the result has one fold.

    Text and whole numbers are compared as text. A label that the classifier does not know counts as
    an error. `groups` serve the interval and the accuracy of each group.

    Examples
    --------
    >>> import mvdfq
    >>> from mvdfq.evaluation import evaluate_fitted
    >>> X, y = mvdfq.make_autoregressive(30, 2, 40, random_state=1)
    >>> clf = mvdfq.SequenceClassifier().fit(X[:20], y[:20])
    >>> evaluate_fitted(clf, X[20:], y[20:]).accuracy > 0.5
    True
    """
    y, classes = column_or_1d(y, warn=True), clf.classes_
    predicted, scores, chances = answers(clf, X, classes.tolist())
    check_entries(len(predicted), y=y)
    # a CSV file gives the class 1 as a number, a folder as text
    if (y.dtype.kind in "OU") != (classes.dtype.kind in "OU"):
        y, classes, predicted = y.astype(str), classes.astype(str), predicted.astype(str)
    new = sorted(set(y.tolist()) - set(classes.tolist()))
    labels = [*classes.tolist(), *new]
    known = aligned(chances, classes, labels)
    fold = Fold("test", 0, np.arange(len(y)), y, predicted, scores, known)
    return Evaluation("saved model", labels, [fold], check_groups(groups, len(y)))


def _check_cuts(
    cuts: Sequence[Cut], y: np.ndarray, groups: np.ndarray | None, protocol: str
) -> None:
    """Refuse folds that cannot be learned; warn of classes that are new, and of mixed groups."""
    lacking, n_wrong, mixed = [], 0, set[Any]()
    for name, _, train, test in cuts:
        learned = np.unique(y[train])
        # data of one class are refused by fit itself
        if len(learned) < 2 <= len(np.unique(y)):
            problem = f" leaves class {learned[0]!s} alone in the training part of {name}, but a "
            hint = "classifier needs two classes; pass another protocol, such as '5-fold'."
            raise ValueError(Sentence({"protocol": protocol}, problem, hint))
        new = ~np.isin(y[test], learned)
        lacking += [name] if new.any() else []
        n_wrong += int(new.sum())
        if groups is not None:
            mixed |= set(np.intersect1d(groups[train], groups[test]).tolist())
    if lacking:
        where = f"The training part of {counted(len(lacking), 'fold')} (the first is {lacking[0]})"
        lost = f"{counted(n_wrong, 'prediction')} cannot be right"
        warn(f"{where} lacks a class of the test part: {lost}.")
    n_groups = 0 if groups is None else len(np.unique(groups))
    if mixed and n_groups > 1:
        text = f"{len(mixed)} of {n_groups} groups are both in the training part and in the test "
        text += "part of a fold: the accuracy may be lower for new groups"
        if can_be_apart(y, groups):
            text = Sentence(text, "; ", {"protocol": "group"}, " holds groups apart")
        warn(Sentence(text, "."))


def useful_groups(groups: np.ndarray | None, y: np.ndarray) -> np.ndarray | None:
    """Return the groups if inner folds can hold them apart, None otherwise."""
    groups = check_groups(groups, len(y))
    return groups if groups is not None and can_be_apart(y, groups) else None

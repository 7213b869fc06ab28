"""Protocols: how the sequences are cut into a training part and a test part."""

import warnings
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
from sklearn.model_selection import LeaveOneGroupOut, StratifiedGroupKFold, StratifiedKFold

from mvdfq._utils.checks import parse_folds
from mvdfq._utils.errors import Sentence
from mvdfq.terms.validation import check_groups

# The folds of a protocol: name, training indices, test indices.
Folds = Iterator[tuple[str, np.ndarray, np.ndarray]]
Parts = list[tuple[np.ndarray, np.ndarray]]
# Folds of whole groups: more groups share folds, so that many groups do not take many trainings.
MOST_FOLDS = 10


def folds_of(
    protocol: str, y: np.ndarray, *, groups: Any = None, split: Any = None, seed: int = 0
) -> Folds:
    """Yield the folds of a protocol, see `mvdfq.evaluate`: name, training indices, test indices.

    >>> y = np.array([0, 0, 1, 1])
    >>> [(name, test.tolist()) for name, _, test in folds_of("group", y, groups=[7, 8, 7, 8])]
    [('7', [0, 2]), ('8', [1, 3])]
    """
    parts: Any = []  # folds without names
    if (k := parse_folds(protocol)) is not None:
        parts = _k_fold(k, y, seed)
    elif protocol in ("group", "leave-group-out"):
        groups = _needed(groups, protocol, "groups")
        n_groups = len(np.unique(groups))
        if n_groups < 2:
            _refuse(protocol, "needs at least two groups, got one group")
        if protocol == "group" and n_groups > MOST_FOLDS:
            parts = _groups_together(y, groups, seed)
        else:
            for train, test in LeaveOneGroupOut().split(y, y, groups):
                yield str(groups[test[0]]), train, test
    elif protocol == "group-per-class":
        parts = _group_per_class(y, _needed(groups, protocol, "groups"))
    elif protocol == "split":
        split = _needed(split, protocol, "a split into train and test")
        train, test = np.flatnonzero(split == "train"), np.flatnonzero(split == "test")
        if not train.size or not test.size:
            names = sorted(set(split.tolist()))
            raise ValueError(f"split must name 'train' and 'test' sequences, got {names}.")
        yield "test", train, test
    else:
        known = "'5-fold' (any number), 'group', 'leave-group-out', 'group-per-class' or 'split'"
        _refuse(protocol, f"is not known; pass {known}")
    for i, (train, test) in enumerate(parts, start=1):
        yield f"fold {i}", train, test


def _refuse(protocol: str, problem: str) -> NoReturn:
    raise ValueError(Sentence({"protocol": protocol}, f" {problem}."))


def _needed(values: Any, protocol: str, what: str) -> np.ndarray:
    if values is None:
        _refuse(protocol, f"needs {what}, but the data have none")
    return np.asarray(values)


def _k_fold(k: int, y: np.ndarray, seed: int) -> Parts:
    labels, sizes = np.unique(y, return_counts=True)
    if k < 2:
        _refuse(f"{k}-fold", "must have at least two folds, such as '5-fold'")
    if sizes.min() < k:
        least = f"class {labels[sizes.argmin()]!s} has {sizes.min()}"
        advice = f"use '{sizes.min()}-fold'" if sizes.min() > 1 else "add members or remove it"
        _refuse(f"{k}-fold", f"needs {k} members of every class, but {least}; {advice}")
    return [*StratifiedKFold(k, shuffle=True, random_state=seed).split(y, y)]


def _groups_together(y: np.ndarray, groups: np.ndarray, seed: int) -> Parts:
    """Cut folds of whole groups in which the classes have like shares, as far as groups allow."""
    k = max(min(MOST_FOLDS, int(np.unique(y, return_counts=True)[1].max())), 2)
    cutter = StratifiedGroupKFold(k, shuffle=True, random_state=seed)
    with warnings.catch_warnings():  # a class with fewer members than folds is no fault here
        warnings.filterwarnings("ignore", message="The least populated class")
        return [(train, test) for train, test in cutter.split(y, y, groups) if len(test)]


def _group_per_class(y: np.ndarray, groups: np.ndarray) -> Parts:
    """The i-th test part is the i-th group of every class, in the order of the group names."""
    # numbers of groups within their class; the smallest class says how many folds there are
    place = np.empty(len(y), dtype=int)
    n_folds = len(y)
    for label in np.unique(y):
        members = y == label
        names, place[members] = np.unique(groups[members], return_inverse=True)
        n_folds = min(n_folds, len(names))
    if n_folds < 2:
        _refuse("group-per-class", "needs at least two groups in every class")
    parts = [place % n_folds == fold for fold in range(n_folds)]
    return [(np.flatnonzero(~test), np.flatnonzero(test)) for test in parts]


def shuffles(protocol: str, groups: np.ndarray | None) -> bool:
    """Tell whether the folds of a protocol depend on the seed."""
    many = groups is not None and len(np.unique(groups)) > MOST_FOLDS
    return parse_folds(protocol) is not None or (protocol == "group" and many)


def usual_protocol(
    y: np.ndarray, groups: np.ndarray | None = None, split: Any = None
) -> tuple[str, tuple[str, ...]]:
    """Return the protocol for data whose user names none, and a remark if groups decided.

    Known groups are held apart. If fewer than two classes have two groups, a classifier that has
    not seen the group of a sequence has not seen its class either: then groups cannot be held
    apart.
    """
    if split is not None:
        return "split", ()
    groups = check_groups(groups, len(y))
    n_groups = 0 if groups is None else len(np.unique(groups))
    if n_groups < 2:
        return "5-fold", ()
    if not can_be_apart(y, groups):
        remark = "Groups cannot be held apart: fewer than two classes have sequences of two groups."
        return "5-fold", (remark,)
    remark = f"{n_groups} groups are held apart: no group is both in the training and the test part"
    return "group", (Sentence(remark, " of a fold; ", {"protocol": "5-fold"}, " mixes groups."),)


def can_be_apart(y: np.ndarray, groups: Any) -> bool:
    """Tell whether at least two classes have sequences of two groups."""
    return sum(len(np.unique(groups[y == label])) > 1 for label in np.unique(y)) > 1

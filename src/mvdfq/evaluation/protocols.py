"""Protocols: how the sequences are cut into a training part and a test part."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import LeaveOneGroupOut, StratifiedKFold

__all__ = ["folds_of"]


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

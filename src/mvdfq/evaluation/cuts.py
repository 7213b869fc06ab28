"""What the folds of a protocol lack: classes in training parts, groups on one side alone."""

import warnings
from collections.abc import Sequence

import numpy as np

from mvdfq._utils.short import counted
from mvdfq.evaluation.protocols import can_be_apart

# Name, seed, training indices and test indices of a fold.
Cut = tuple[str, int, np.ndarray, np.ndarray]


def check_cuts(
    cuts: Sequence[Cut], y: np.ndarray, groups: np.ndarray | None, protocol: str
) -> None:
    """Refuse folds that cannot be learned; warn of classes that are new, and of mixed groups."""
    _check_classes(cuts, y, protocol)
    n_groups = 0 if groups is None else len(np.unique(groups))
    if groups is None or n_groups < 2:
        return
    pairs = (np.intersect1d(groups[train], groups[test]) for _, _, train, test in cuts)
    mixed = {group for both in pairs for group in both.tolist()}
    if mixed:
        advice = "; protocol='group' holds groups apart" if can_be_apart(y, groups) else ""
        warnings.warn(
            f"{len(mixed)} of {n_groups} groups are both in the training "
            f"part and in the test part of a fold: the accuracy may be lower for new groups"
            f"{advice}.",
            stacklevel=3,
        )


def _check_classes(cuts: Sequence[Cut], y: np.ndarray, protocol: str) -> None:
    lacking, n_wrong = [], 0
    for name, _, train, test in cuts:
        learned = np.unique(y[train])
        if len(learned) < 2 <= len(np.unique(y)):
            raise ValueError(
                f"protocol={protocol!r} leaves class {learned[0]!s} alone in the training part of "
                f"{name}, but a classifier needs two classes; pass another protocol, such as "
                f"'5-fold'."
            )
        new = ~np.isin(y[test], learned)
        lacking += [name] if new.any() else []
        n_wrong += int(new.sum())
    if lacking:
        warnings.warn(
            f"The training part of {counted(len(lacking), 'fold')} (the first is {lacking[0]}) "
            f"lacks a class of the test part: {counted(n_wrong, 'prediction')} cannot be right.",
            stacklevel=4,
        )

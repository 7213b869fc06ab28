"""Which sequences are shown in detail: those that tell most."""

import numpy as np

from mvdfq.pages.run import Run

__all__ = ["chosen", "typical"]


def chosen(run: Run, n: int | None) -> np.ndarray:
    """Return the places of at most `n` judged sequences, those that tell most first.

    First one typical sequence of each class, which get at most a third of the places; then wrong
    sequences, the most confidently wrong first; then the least sure. None means all sequences.
    """
    right = run.truth == run.predicted
    doubt = np.argsort(run.confidence, kind="stable")
    total = len(right) if n is None else min(n, len(right))
    first = [place for places in typical(run, 1) for place in places][: max(total // 3, 1)]
    wrong = doubt[~right[doubt]][::-1]
    order = dict.fromkeys([*first, *wrong.tolist(), *doubt.tolist()])
    return np.array(list(order)[:total], dtype=np.int64)


def typical(run: Run, n: int) -> list[list[int]]:
    """Return for each class the `n` judged members that are recognised most surely."""
    found = []
    for c in range(len(run.labels)):
        members = np.flatnonzero((run.truth == c) & (run.predicted == c))
        order = members[np.argsort(-run.confidence[members], kind="stable")]
        found.append(order[:n].tolist())
    return found

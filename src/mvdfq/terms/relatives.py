"""Groups of similar training sequences, found by the kernel itself, for the inner folds."""

import numpy as np

# Two sequences are relatives if their kernel value is this many deviations above the median of all
# pairs. The deviation is 1.4826 times the median distance to the median, which is the standard
# deviation of a normal distribution and does not see the relatives themselves.
FAR = 10.0
NORMAL = 1.4826
# About this many sequences, from all parts of the collection, say how similar pairs are.
SAMPLE = 1000


def relatives(values: np.ndarray, y: np.ndarray, n_folds: int) -> np.ndarray | None:
    """Return the group of each sequence, given kernel values; None if no two are relatives.

    Relatives of relatives are in the same group (single linkage), the most similar pairs first. A
    group holds at most ``1 / n_folds`` of the members of each of its classes, so that every fold
    can learn every class even if a class is one family.
    """
    step = -(-len(values) // SAMPLE)
    part = values[::step, ::step]
    pairs = part[np.triu_indices(len(part), 1)]
    if not pairs.size:
        return None
    middle = float(np.median(pairs))
    deviation = NORMAL * float(np.median(np.abs(pairs - middle)))
    if deviation == 0:  # all sequences are alike
        return None
    similarity, first, second = _spanning_tree(values)
    linked = np.flatnonzero(similarity > middle + FAR * deviation)
    if not linked.size:
        return None
    group = np.arange(len(y))
    size, most = np.ones(len(y), int), np.maximum(np.bincount(y)[y] // n_folds, 1)
    for edge in linked[np.argsort(-similarity[linked], kind="stable")].tolist():
        a, b = _root(group, first[edge]), _root(group, second[edge])
        limit = min(most[a], most[b])
        if size[a] + size[b] <= limit:
            group[b], size[a], most[a] = a, size[a] + size[b], limit
    roots = [_root(group, i) for i in range(len(y))]
    # by the first member: which of several copies is the root depends on rounding
    _, first, members = np.unique(roots, return_index=True, return_inverse=True)
    return first[members]


def _spanning_tree(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return similarity and both ends of every edge of the maximum spanning tree (Prim).

    The tree has all links of single linkage, and needs no list of all similar pairs.
    """
    n = len(values)
    nearest, inside = values[0].copy(), np.zeros(n, int)  # the most similar sequence in the tree
    nearest[0] = -np.inf
    edges = np.empty((n - 1, 2), int)
    similarity = np.empty(n - 1)
    for edge in range(n - 1):
        new = int(nearest.argmax())
        similarity[edge], edges[edge] = nearest[new], (inside[new], new)
        better = (values[new] > nearest) & (nearest > -np.inf)
        nearest[better], inside[better] = values[new][better], new
        nearest[new] = -np.inf  # in the tree
    return similarity, edges[:, 0], edges[:, 1]


def _root(group: np.ndarray, i: int) -> int:
    """Return the sequence that stands for the group of `i`; shortens the way for the next time."""
    while group[i] != i:
        group[i] = group[group[i]]
        i = group[i]
    return int(i)

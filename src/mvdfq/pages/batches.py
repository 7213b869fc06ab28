"""Explanations of many sequences, a few at a time: together they are fast, all need much memory."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from mvdfq.explain.explanation import Explanation
from mvdfq.sequences import Sequences

__all__ = ["blocks", "explanations"]

# 4096 frames of 100 rows and 10 classes take about 200 MB while they are explained.
BLOCK_FRAMES = 2**12


def blocks(X: Sequences) -> Iterator[tuple[int, int]]:
    """Yield the first and the last place, exclusive, of a few sequences at a time."""
    block = X.offsets[:-1] // BLOCK_FRAMES
    return pairwise([0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), len(X)])


def explanations(clf: Any, X: Sequences) -> Iterator[Explanation]:
    """Yield the explanation of each sequence; ValueError if the kernel does not count words."""
    for a, b in blocks(X):
        yield from clf.explain_all(X[a:b])

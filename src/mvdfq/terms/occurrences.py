"""Shares of words: what every occurrence of a word adds to the margins."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from mvdfq.gram.features import SequenceFeatures
from mvdfq.gram.plan import Plan, inverse_root
from mvdfq.kernels import Group
from mvdfq.kernels.base import Row
from mvdfq.kernels.counting import Occurrences
from mvdfq.kernels.keys import rank_words
from mvdfq.symbols.base import Symbols


class Norms:
    """Squared norms of every row and sequence, with the weights of groups and without them."""

    def __init__(self, plan: Plan, symbols: Symbols) -> None:
        self.own = np.zeros((len(plan.row_weights), len(symbols)))
        self.total = np.zeros_like(self.own)

    def add(self, r: int, group: Group, squares: np.ndarray) -> None:
        """Add what one group of layouts counts in row `r`: one sum of squares per sequence."""
        self.total[r] += squares
        self.own[r] += group.weight * squares

    def scales(self, term: Any, symbols: Symbols) -> np.ndarray:
        """Return the factor of each row and sequence: by the norms of the row and the sequence."""
        reader, plan = term.reader, term.reader.plan_
        own, scale = self.own, np.ones_like(self.own)
        if plan.normalises_rows:
            scale = plan.row_scale(own, self.total)
        if not reader.normalize:
            return scale / reader.row_mean()
        if isinstance(reader, SequenceFeatures) and term.table is None:
            return scale * inverse_root(reader.norms(symbols))  # words may share columns
        return scale * inverse_root((plan.row_weights[:, None] * own * scale**2).sum(axis=0))


class Read(NamedTuple):
    """All occurrences, and the distinct words of each sequence, in the order of the sequences.

    Occurrence ``e`` is an occurrence of word ``ranks[e]``; `words` and `owners` are the codes and
    the sequence of each word.
    """

    all: Occurrences
    ranks: np.ndarray
    words: np.ndarray
    owners: np.ndarray

    @classmethod
    def of(cls, found: Occurrences) -> "Read":
        """Number the words of each sequence."""
        # ranks are in the order of the sequences, since the sequence is the first digit
        ranks, first = rank_words(np.column_stack([found.sequence, found.words]))
        return cls(found, ranks.astype(np.int64), found.words[first], found.sequence[first])


def shares_of(
    read: Read, row: Row, group: Group, plan: Plan, weights_of: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the evidence of every occurrence, before norms, and sums of squared counts.

    There is one sum of squared counts per sequence.
    """
    starts, sequence, layout, _ = read.all
    windows = np.array([one.window[-1] for one in group.layouts])
    # possible starts of a word, which the pyramid cuts into equal parts
    n_words = np.maximum(np.diff(row.offsets)[sequence] - windows[layout], 1)
    places = starts - row.offsets[sequence]
    shares: Any = None
    squares = np.zeros(row.n_sequences)
    amount = group.layout_weights[layout]
    for c, (level, cell) in enumerate(plan.cells):
        inside = np.flatnonzero(places * 2**level // n_words == cell)
        ids, weights = weights_of(c, read.words, read.owners)
        shares = np.zeros((len(starts), weights.shape[1])) if shares is None else shares
        word, counted = read.ranks[inside], amount[inside]
        at = ids[word]
        # several words may share a column, and then they share its count
        owners = np.zeros(int(ids.max(initial=-1)) + 1, np.int64)
        owners[ids] = read.owners
        count = np.bincount(at, counted, minlength=len(owners))
        embedded = np.sqrt(count) if plan.root else count
        squares += np.bincount(owners, embedded**2, minlength=row.n_sequences)
        # the weight of a word times its embedded count, divided among its occurrences
        shares[inside] += (counted * embedded[at] / count[at])[:, None] * weights[word]
    return shares, squares


def spread(read: Occurrences, group: Group, shares: np.ndarray, frames: np.ndarray) -> None:
    """Divide the evidence of every occurrence among the frames that the occurrence reads."""
    for j, layout in enumerate(group.layouts):
        mine = read.layout == j
        places = layout.offsets or layout.window  # a word of wildcards only has no offsets
        each = shares[mine].T / len(places)
        for offset in places:
            # a layout reads a frame once at most at each offset: no index occurs twice
            frames[:, read.starts[mine] + offset] += each


def by_word(
    read: Read, offsets: np.ndarray, shares: np.ndarray, n_rows: int = 1
) -> Iterator[tuple[int, tuple[np.ndarray, ...]]]:
    """Yield the words of every sequence: owners, codes, indptr, starts, layouts and evidence.

    `n_rows` is the number of owners per sequence: rows that are stacked.
    """
    # stable: the occurrences of a word stay in the order of time
    order = np.argsort(read.ranks, kind="stable")
    ends = np.append(0, np.cumsum(np.bincount(read.ranks, minlength=len(read.words))))
    starts = (read.all.starts - offsets[read.all.sequence])[order]
    layouts, shares = read.all.layout[order], shares[order]
    cuts = np.searchsorted(read.owners, np.arange(0, len(offsets), n_rows))
    for i, (a, b) in enumerate(pairwise(cuts.tolist())):
        if a < b:
            mine = slice(ends[a], ends[b])
            indptr = ends[a : b + 1] - ends[a]
            yield i, (read.owners[a:b], read.words[a:b], indptr,
                      starts[mine], layouts[mine], shares[mine])  # fmt: skip

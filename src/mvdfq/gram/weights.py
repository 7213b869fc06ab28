r"""Weights of words, measured on the training sequences.

With :math:`\phi_u(x)` the embedded count of the word `u` (the count, or the root of its share of
the row), `n` the number of training sequences and :math:`n_u` the number of sequences with `u`,

.. math:: s_u = 1 / \sigma_u \ (\text{std}), \qquad
          s_u = \ln \frac{1 + n}{1 + n_u} + 1 \ (\text{idf}),

where :math:`\sigma_u` is the standard deviation of :math:`\phi_u` over the training sequences.
Words that occur in too few training sequences have no weight: their deviation is small by chance.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby
from typing import Any

import numpy as np

from mvdfq._utils.checks import parse_memory
from mvdfq._utils.threads import n_threads, run_in_order
from mvdfq.gram.plan import Plan, WordFactors, inverse_root, plan_tiles, spread_of_sums
from mvdfq.gram.tiles import gram
from mvdfq.gram.vocabulary import WordCounts
from mvdfq.kernels.counting import Columns
from mvdfq.kernels.keys import rank_words, word_codes
from mvdfq.sequences import Ragged

# A deviation below this share of the mean is rounding: the word is constant.
SMALLEST = 1e-6


@dataclass(frozen=True)
class Moments:
    """How the values of `words` spread over `n` sequences.

    `held` counts the sequences with a word, `total` sums up its values, and `squares` their
    squares.
    """

    n: int
    words: np.ndarray
    held: np.ndarray
    total: np.ndarray
    squares: np.ndarray

    def joined(self, other: "Moments") -> "Moments":
        """Return the moments over the sequences of both."""
        words = np.concatenate([self.words, other.words])
        ranks, first = rank_words(words)
        pairs = [(getattr(self, k), getattr(other, k)) for k in ("held", "total", "squares")]
        sums = [np.bincount(ranks.astype(np.int64), np.concatenate(pair)) for pair in pairs]
        return Moments(self.n + other.n, words[first], *sums)


class Spread:
    """Collects the moments of the words of one task; tasks add counts as they do to `Products`.

    `scale` holds one number per sequence that multiplies the square roots of the counts; None
    means the counts themselves. `base` is the base of the words' keys.
    """

    def __init__(self, n: int, scale: np.ndarray | None, base: int, length: int) -> None:
        self.n, self.scale = n, scale
        self.base, self.length = base, length
        self.parts = [(np.empty((0, length), np.uint8), *np.empty((3, 0)))]

    def add_columns(self, columns: Columns, bound: float = 0) -> None:
        """Add words with their counts as columns."""
        value = columns.count.astype(float)
        if self.scale is not None:
            value = np.sqrt(value) * self.scale[columns.sequence]
        # every column has an entry, so `reduceat` meets no empty column
        sums = (np.add.reduceat(power, columns.indptr[:-1]) for power in (value, value**2))
        self._add(columns.words, np.diff(columns.indptr), *sums)

    def add_dense(self, counts: np.ndarray, bound: float = 0) -> None:
        """Add all words with their counts as a dense (n_sequences, n_words) matrix."""
        held = np.count_nonzero(counts, axis=0)
        # possible words that do not occur have no moments
        seen = np.flatnonzero(held)
        value = counts[:, seen].astype(float)
        if self.scale is not None:
            value = np.sqrt(value) * self.scale[:, None]
        sums = value.sum(axis=0), np.einsum("ij,ij->j", value, value)
        self._add(seen.astype(np.uint64), held[seen], *sums)

    def _add(self, words: np.ndarray, *measured: np.ndarray) -> None:
        self.parts.append((word_codes(words, self.base, self.length), *measured))

    def moments(self) -> Moments:
        """Return the moments of all words that were added, in ascending order of the words."""
        return Moments(self.n, *map(np.concatenate, zip(*self.parts, strict=True)))


def _inverse_deviations(moments: Moments) -> np.ndarray:
    mean, variance = spread_of_sums(moments.n, moments.total, moments.squares)
    deviation = np.sqrt(variance)
    return np.divide(1, deviation, out=np.zeros_like(mean), where=deviation > SMALLEST * mean)


def _inverse_frequencies(moments: Moments) -> np.ndarray:
    return np.log((1 + moments.n) / (1 + moments.held)) + 1


# The kinds of weight: how moments become factors, and the usual floor `min_share`. The floor of
# "std" is the floor of the standardized words that were measured on the UEA sets; "idf" has none,
# as in scikit-learn.
WORD_WEIGHTS: dict[str, tuple[Callable[[Moments], np.ndarray], float]] = {
    "std": (_inverse_deviations, 0.1),
    "idf": (_inverse_frequencies, 0.0),
}


def weigh_words(train: Ragged, reader: Any, counted: list[WordCounts] | None = None) -> Plan:
    """Return the plan of a kernel or of features with the weights of the words of `train`.

    The words are counted within the memory limit, unless they were all `counted` before.
    """
    plan, (kind, floor) = reader.plan_, WORD_WEIGHTS[reader.word_weights]
    floor = floor if reader.min_share is None else reader.min_share
    found = _measured(train, reader) if counted is None else _of_counts(counted, len(train), plan)
    word_factors = {}
    for place, moments in found:
        factors = kind(moments)
        kept = (moments.held > floor * moments.n) & (factors > 0)
        word_factors[place] = WordFactors(moments.words[kept], factors[kept])
    if not any(weighed.values.size for weighed in word_factors.values()):
        warnings.warn(
            "No word has a weight, so all kernel values are 0: no word occurs in more than "
            "min_share of the training sequences, or all words are constant; pass a smaller "
            "min_share or word_weights=None.",
            stacklevel=5,
        )
    return replace(plan, word_factors=word_factors)


def _of_counts(counted: list[WordCounts], n: int, plan: Plan) -> Iterator[tuple[Any, Moments]]:
    """Yield row and number of every task with the moments of its words."""
    total = np.zeros((len(plan.row_weights), n))
    for part in counted:
        total[part.row] += np.bincount(part.columns.sequence, part.columns.count, n)
    scale = inverse_root(total)
    for part in counted:
        shares = scale[part.row] if plan.root else None
        spread = Spread(n, shares, part.n_symbols, part.words.shape[1])
        spread.add_columns(replace(part.columns, words=part.words))
        yield (part.row, part.task), spread.moments()


def _measured(train: Ragged, reader: Any) -> Iterator[tuple[Any, Moments]]:
    """Yield row and number of every task with the moments of its words, counted in threads."""
    plan, budget = reader.plan_, parse_memory(reader.memory_limit)
    tiles, task_bytes = plan_tiles(train, train[:0], plan, budget)
    workers = max(1, min(n_threads(reader.n_jobs), budget // task_bytes))
    scale = None
    if plan.root:
        # 1 / the root of the sum of all counts, for every row of every sequence: comparing the
        # sequences with no sequence counts all words and makes no products
        ones = np.ones(len(plan.row_weights))
        sums = replace(plan, row_norm="none", row_weights=ones, listed=False)
        limits = {"n_jobs": reader.n_jobs, "memory_limit": reader.memory_limit}
        scale = gram(train, train[:0], sums, **limits).scale

    def measure(job: tuple[int, int, Any, slice]) -> Moments:
        r, _, task, sequences = job
        row = plan.row([train[sequences]], r)
        shares = None if scale is None else scale[r, sequences]
        spread = Spread(row.n_sequences, shares, row.base, task.length)
        task.add_to(spread, row)
        return spread.moments()

    rows = range(len(plan.row_weights))
    tasks = [(r, t, task) for r in rows for t, (_, task) in enumerate(plan.tasks(r))]
    jobs = [(*task, sequences) for task in tasks for sequences, _ in tiles]
    running = run_in_order(measure, jobs, workers)
    with closing(running):  # Ctrl-C must end the threads, even if a traceback keeps the generator
        for place, parts in groupby(running, key=lambda pair: pair[0][:2]):
            yield place, reduce(Moments.joined, (moments for _, moments in parts))

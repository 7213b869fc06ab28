r"""Weights of words, measured on the training sequences.

With :math:`\phi_u(x)` the embedded count of the word `u` (the count, or the root of its share of
the row), `n` the number of training sequences and :math:`n_u` the number of sequences with `u`,

.. math:: s_u = 1 / \sigma_u \ (\text{std}), \qquad
          s_u = \ln \frac{1 + n}{1 + n_u} + 1 \ (\text{idf}),

where :math:`\sigma_u` is the standard deviation of :math:`\phi_u` over the training sequences.
Words that occur in too few training sequences have no weight: their deviation is small by chance.
"""

import warnings
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import groupby
from typing import Any, NamedTuple

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


@dataclass(frozen=True)
class WordWeights:
    """A kind of weight: how moments become factors, and the usual floor `min_share`."""

    factors: Callable[[Moments], np.ndarray]
    min_share: float

    def of(self, moments: Moments, min_share: float | None) -> WordFactors:
        """Return the factors of the words that occur in more than `min_share` of the sequences."""
        floor = self.min_share if min_share is None else min_share
        factors = self.factors(moments)
        kept = (moments.held > floor * moments.n) & (factors > 0)
        return WordFactors(moments.words[kept], factors[kept])


def _inverse_deviations(moments: Moments) -> np.ndarray:
    mean, variance = spread_of_sums(moments.n, moments.total, moments.squares)
    deviation = np.sqrt(variance)
    return np.divide(1, deviation, out=np.zeros_like(mean), where=deviation > SMALLEST * mean)


def _inverse_frequencies(moments: Moments) -> np.ndarray:
    return np.log((1 + moments.n) / (1 + moments.held)) + 1


# The kinds of weight by their names. The floor of "std" is the floor of the standardized words that
# were measured on the UEA sets; "idf" has none, as in scikit-learn.
WORD_WEIGHTS = {
    "std": WordWeights(_inverse_deviations, 0.1),
    "idf": WordWeights(_inverse_frequencies, 0.0),
}


def weigh_counted(
    counted: list[WordCounts], n: int, plan: Plan, kind: WordWeights, min_share: float | None
) -> Plan:
    """Return the plan with the weights of words that were counted in all `n` sequences."""
    total = np.zeros((len(plan.row_weights), n))
    for part in counted:
        total[part.row] += np.bincount(part.columns.sequence, part.columns.count, n)
    scale = inverse_root(total)
    factors = {}
    for part in counted:
        shares = scale[part.row] if plan.root else None
        spread = Spread(n, shares, part.n_symbols, part.words.shape[1])
        spread.add_columns(replace(part.columns, words=part.words))
        factors[part.row, part.task] = kind.of(spread.moments(), min_share)
    return _weighed(plan, factors)


def weigh_words(
    train: Ragged,
    plan: Plan,
    kind: WordWeights,
    min_share: float | None,
    n_jobs: int | None,
    memory_limit: int | str | None,
) -> Plan:
    """Return the plan with the weights of the words of `train`, counted within the memory limit."""
    budget = parse_memory(memory_limit)
    tiles, task_bytes = plan_tiles(train, train[:0], plan, budget)
    workers = max(1, min(n_threads(n_jobs), budget // task_bytes))
    scale = _share_scale(train, plan, n_jobs, memory_limit) if plan.root else None
    jobs = [
        Job(r, t, task, rows)
        for r in range(len(plan.row_weights))
        for t, (_, task) in enumerate(plan.tasks(r))
        for rows, _ in tiles
    ]
    running = run_in_order(partial(_measured, train, plan, scale), jobs, workers)
    with closing(running):  # Ctrl-C must end the threads, even if a traceback keeps the generator
        factors = {
            place: kind.of(reduce(Moments.joined, (moments for _, moments in parts)), min_share)
            for place, parts in groupby(running, key=lambda pair: (pair[0].row, pair[0].number))
        }
    return _weighed(plan, factors)


def _weighed(plan: Plan, factors: dict[tuple[int, int], WordFactors]) -> Plan:
    """Return the plan with factors; warn if no word has a factor."""
    if not any(weighed.values.size for weighed in factors.values()):
        warnings.warn(
            "No word has a weight, so all kernel values are 0: no word occurs in more than "
            "min_share of the training sequences, or all words are constant; pass a smaller "
            "min_share or word_weights=None.",
            stacklevel=5,
        )
    return replace(plan, word_factors=factors)


class Job(NamedTuple):
    """One piece of the work: a task, with its number, on one row of some sequences."""

    row: int
    number: int
    task: Any
    sequences: slice


def _measured(train: Ragged, plan: Plan, scale: np.ndarray | None, job: Job) -> Moments:
    """Count and measure; runs in a thread."""
    row = plan.row([train[job.sequences]], job.row)
    shares = None if scale is None else scale[job.row, job.sequences]
    spread = Spread(row.n_sequences, shares, row.base, job.task.length)
    job.task.add_to(spread, row)
    return spread.moments()


def _share_scale(
    train: Ragged, plan: Plan, n_jobs: int | None, memory_limit: int | str | None
) -> np.ndarray:
    """Return 1 / the root of the sum of all counts, for every row of every sequence.

    Comparing the sequences with no sequence counts all words and makes no products.
    """
    n_rows = len(plan.row_weights)
    sums = replace(plan, row_norm="none", row_weights=np.ones(n_rows), listed=False)
    return gram(train, train[:0], sums, n_jobs=n_jobs, memory_limit=memory_limit).scale

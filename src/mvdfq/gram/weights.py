"""Weights of words, measured on the training sequences: `word_weights` of `SequenceKernel`.

Words that occur in too few training sequences have no weight: their deviation is small by chance.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mvdfq._engines.choice import engine_of
from mvdfq.gram.plan import Plan, WordFactors, inverse_root, spread_of_sums
from mvdfq.gram.vocabulary import WordCounts, count_words, portions
from mvdfq.kernels.keys import rank_words
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


def _inverse_deviations(moments: Moments) -> np.ndarray:
    mean, variance = spread_of_sums(moments.n, moments.total, moments.squares)
    deviation = np.sqrt(variance)
    return np.divide(1, deviation, out=np.zeros_like(mean), where=deviation > SMALLEST * mean)


# The kinds of weight: how moments become factors, and the usual floor `min_share`. The floor of
# "std" is the floor of the standardized words that were measured on the UEA sets; "idf" has none,
# as in scikit-learn.
WORD_WEIGHTS: dict[str, tuple[Callable[[Moments], np.ndarray], float]] = {
    "std": (_inverse_deviations, 0.1),
    "idf": (lambda moments: np.log((1 + moments.n) / (1 + moments.held)) + 1, 0.0),
}


def weigh_words(train: Ragged, reader: Any, counted: list[WordCounts] | None = None) -> Plan:
    """Return the plan of a kernel or of features with the weights of the words of `train`.

    The words are counted within the memory limit, unless they were all `counted` before.
    """
    plan, (kind, floor) = reader.plan_, WORD_WEIGHTS[reader.word_weights]
    floor = floor if reader.min_share is None else reader.min_share
    found: dict[tuple[int, int], Moments] = {}
    with engine_of(reader):
        cuts = [slice(0, len(train))]
        if counted is None:
            cuts = portions(train, plan, reader.memory_limit, reader.n_jobs, is_kept=False)
        for cut in cuts:
            part = count_words(train[cut], plan, reader.n_jobs) if counted is None else counted
            for place, moments in _measured(part, cut.stop - cut.start, plan):
                found[place] = found[place].joined(moments) if place in found else moments
    word_factors = {}
    for place, moments in found.items():
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


def _measured(counted: list[WordCounts], n: int, plan: Plan) -> Iterator[tuple[Any, Moments]]:
    """Yield row and number of every task with the moments of its words."""
    total = np.zeros((len(plan.row_weights), n))
    for part in counted:
        total[part.row] += np.bincount(part.columns.sequence, part.columns.count, n)
    scale = inverse_root(total)
    for part in counted:
        columns, value = part.columns, part.columns.count.astype(float)
        if plan.root:
            value = np.sqrt(value) * scale[part.row][columns.sequence]
        # every column has an entry, so `reduceat` meets no empty column
        sums = (np.add.reduceat(power, columns.indptr[:-1]) for power in (value, value**2))
        yield (part.row, part.task), Moments(n, columns.words, np.diff(columns.indptr), *sums)

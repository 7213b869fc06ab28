"""Standardized words, see `WordTerm`: kernel matrices, means and deviations, weights of words.

A sequence of sample weight 2 counts as two sequences. Words that occur in few training sequences
are left out: their deviation is small by chance. Features are made one piece of rows after another
and added to the kernel matrix; after training, the weights of words are all that is kept.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from itertools import pairwise
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import scipy.sparse as sp

from mvdfq._engines import shares as loops
from mvdfq._engines.choice import current_engine, on_host, side_by_side
from mvdfq._utils.checks import parse_memory
from mvdfq._utils.short import Short
from mvdfq._utils.threads import run_in_order
from mvdfq.frames.base import shares_of
from mvdfq.gram.plan import mix, spread_of_sums
from mvdfq.kernels import Group
from mvdfq.kernels.base import Row
from mvdfq.terms.svm import FoldMachine
from mvdfq.terms.typical import inverse

# Columns with a deviation below this are constant but for rounding: shares are at most 1.
SMALLEST = 1e-6
# If an alphabet has at most this many words, words are numbered by their keys. Prediction then
# visits all words for every sequence: a few thousand visits take as long as a few hundred lookups.
DENSE_WORDS = 2**12
# What a word weighs that tells nothing of the classes by itself: it may do so beside others.
LEAST_TOLD = 1e-3
# With more sequences, all words count alike: products are most of the time of a large fit then, and
# a second kernel matrix takes as many products as the first.
MOST_WEIGHED = 1000
# Means that a term keeps at most, words times classes: 64 MB. With so many classes, the mean of
# all other classes is nearly the mean of all classes, which is kept then.
MOST_MEANS = 2**25
# Numbers of a sketch, a byte each in a model file; a power of two.
WIDTH = 2**11
# The step of SplitMix64, see `mix`.
STEP = 0x9E3779B97F4A7C15


def projection(name: str, columns: np.ndarray, factor: Any = 1.0) -> sp.csr_array:
    r"""Return the matrix (n_columns, WIDTH) that adds columns, times factors, to a sketch.

    Sketches are short vectors whose products are about the kernel values of two sequences,

    .. math:: s_j(x) = \sqrt{s_v} \sum_{u : h(u) = j} \varepsilon_u \, \phi_u(x) / \sigma_u - c_j,
              \qquad \mathrm{E} \langle s(x), s(z) \rangle = K(x, z)

    Every word `u` of a term with the share :math:`s_v` is added to one place :math:`h(u)` with a
    sign :math:`\varepsilon_u`: bits of a hash of the `name` of the term and the number of the
    word among the columns of the term, so no matrix is stored. The sketch of a mean sequence
    :math:`c` is taken off. The standard deviation of a cosine is at most
    :math:`\sqrt{1 / 2048}`, about 0.02, and 0 for equal sequences. Reference: M. Charikar, K. Chen,
    M. Farach-Colton, "Finding frequent items in data streams", 2002.
    """
    bits = columns.astype(np.uint64) + np.uint64(crc32(name.encode()) << 32)
    bits = mix(bits * np.uint64(STEP))  # the product wraps around
    places = (bits % np.uint64(WIDTH)).astype(np.int32)
    signs = 1 - 2 * (bits >> np.uint64(63)).astype(np.float32)
    ends = np.arange(len(columns) + 1, dtype=np.int32)
    entries = (signs * np.asarray(factor, np.float32), places, ends)
    return sp.csr_array(entries, shape=(len(columns), WIDTH))


class Learned(NamedTuple):
    """What a machine learned of the words of one piece, without the words that are left out.

    A row has `n_words` words; word `kept[i]` of all rows of the piece has the weights
    ``weights[i]`` of its root share, the mean ``mean[i]``, the means ``means[i]`` over the classes
    and the deviation ``spreads[i]``. Weights for words that are left out would take gigabytes.
    """

    rows: np.ndarray
    n_words: int
    kept: np.ndarray
    weights: np.ndarray
    mean: np.ndarray
    means: np.ndarray
    spreads: np.ndarray


def gathered(
    name: str, pieces: Iterable[Learned], place: Callable[[Learned], None]
) -> dict[str, np.ndarray]:
    """Place what was learned of pieces that follow each other; return intercepts and centre.

    Centring moves every sequence by the intercepts. The centre is the sketch of a mean sequence.
    """
    intercepts: Any = 0.0
    centre, first = np.zeros(WIDTH), 0
    for learned in pieces:
        place(learned)
        intercepts = intercepts + -learned.mean @ learned.weights
        # by the deviations that a model file holds
        factor = inverse(learned.spreads.astype(np.float16).astype(float))
        centre += (learned.mean * factor) @ projection(name, first + learned.kept)
        first += learned.n_words * len(learned.rows)
    return {"intercepts": intercepts, "centre": centre.astype(np.float32)}


class Piece(NamedTuple):
    """Rows of one alphabet, what makes the root shares of their words, and their encoders."""

    rows: np.ndarray
    make: Callable[[], Any]
    encoders: list[Any]


class StandardFitting:
    """A `Fitting` of standardized words: their kernel matrices, and what a machine on them learns.

    In `values`, all words count alike. In `weighed`, for the machine that answers, every word
    counts by what it tells of the classes, see `told_by`; None with many sequences. Features that
    do not fit into the memory limit of `work` are made a second time for the machine.
    ``make(learned, share)`` returns the fitted term, given what was learned of every piece.
    `workers` threads measure the pieces.
    """

    is_standard = True

    def __init__(
        self,
        pieces: Sequence[Piece],
        y: np.ndarray,
        min_share: float,
        work: Any,
        make: Callable[[Iterator[Learned], float], Any],
        workers: int = 1,
    ) -> None:
        self.pieces, self.y, self.make, self.weight = pieces, y, make, work.sample_weight
        values = _zeros((len(y), len(y)))
        weighed = _zeros((len(y), len(y))) if len(y) <= MOST_WEIGHED else None
        self.scales: list[Scale] = []
        self.told: list[np.ndarray] = []
        self._kept: list[Any] = []
        room = parse_memory(work.memory_limit)  # kept features save a second count in `finish`
        often = np.ones(len(y)) if self.weight is None else self.weight
        measure = partial(_measured, min_share, None if weighed is None else y, often)
        if current_engine().name == "gpu":
            measured = side_by_side(measure, pieces)
        else:
            measured = (measures for _, measures in run_in_order(measure, pieces, workers))
        for scale, z, product, told, more in measured:
            values += product
            if weighed is not None:
                weighed += more
            self.scales.append(scale)
            self.told.append(told)
            room -= z.nbytes
            self._kept.append(z if room > 0 else None)
        # the variance of all features together: each word has variance 1. All words may be left
        # out, and the sum divides by the size
        self.size: float = max(sum(scale.kept.size for scale in self.scales), 1)
        size = float(sum(told.sum() for told in self.told)) or 1.0
        self.values: Any = on_host(values)
        self.weighed = None if weighed is None else (on_host(weighed), size)

    def release(self) -> None:
        """Give up the kernel matrices, which are part of the sum now."""
        self.values = self.weighed = None

    def _features(self) -> Iterator[tuple[Piece, "Scale", Any]]:
        """Yield every piece with its scale and its features."""
        for piece, scale, z in zip(self.pieces, self.scales, self._kept, strict=True):
            yield piece, scale, scale.features(piece.make()) if z is None else z

    def finish(self, coefficients: np.ndarray, share: float) -> Any:
        """Return the term with the weights of words, given the coefficients of the sequences."""
        return self.make(self._learned(coefficients), share)

    def _learned(self, coefficients: np.ndarray) -> Iterator[Learned]:
        n_words: Counter[int] = Counter()
        for piece, scale in zip(self.pieces, self.scales, strict=True):
            n_words[id(piece.encoders)] += scale.kept.size
        by_class = means_of_classes(max(n_words.values()), len(np.unique(self.y)))
        # single precision: the features have no more digits, and doubles would copy them all
        parts = [coefficients, class_members(self.y, self.weight, by_class)]
        both_parts = np.hstack(parts).astype(np.float32)

        def learned(job: Any) -> Learned:
            (piece, scale, z), told = job
            mean, factor = (numbers[scale.kept] for numbers in (scale.mean, scale.factor))
            # of root shares as they are counted: prediction need not standardize
            factors = [told * factor, 1 / factor]
            if _is_on_host(z):
                # one product gives the weights of the words, and their means over the classes
                products = np.hsplit(z.T @ both_parts, [coefficients.shape[1]])
                weights, means = (p * f[:, None] for p, f in zip(products, factors, strict=True))
                means += mean[:, None]
            else:
                weights, means = on_gpu().learned(z, parts, factors, mean)
            size = scale.mean.size // len(piece.rows)
            return Learned(piece.rows, size, scale.kept, weights, mean, means, factors[1])

        return side_by_side(learned, zip(self._features(), self.told, strict=True))

    def sketch(self, name: str) -> np.ndarray:
        """Return the sketches of the training sequences."""
        sketch, first = _zeros((len(self.y), WIDTH)), 0
        for _, scale, z in self._features():
            matrix = projection(name, first + scale.kept)
            sketch += z @ matrix if _is_on_host(z) else on_gpu().projected(z, matrix)
            first += scale.mean.size
        return on_host(sketch).astype(np.float32)

    def held_out(self, folds: list[FoldMachine], n_channels: int) -> np.ndarray:
        """Return what channels add to margins of sequences that their machine did not learn from.

        The result is (n_judged, n_columns, n_channels), in the order of the folds.
        """
        shape = folds[0].coefficients.shape[1], n_channels
        out = [_zeros((len(fold.check), *shape)) for fold in folds]
        # single precision: the features have no more digits
        coefficients = np.hstack([fold.coefficients for fold in folds]).astype(np.float32)
        encoders: Any = None
        for piece, scale, z in self._features():
            if piece.encoders is not encoders:
                encoders, all_shares = piece.encoders, shares_of(piece.encoders, n_channels)
            shares, size = all_shares[piece.rows], scale.mean.size // len(piece.rows)
            if not _is_on_host(z):
                sums_of = on_gpu().held_out(z, scale.kept // size, folds, coefficients, shares)
                for added, sums in zip(out, sums_of, strict=True):
                    added += sums
                continue
            # the words of a row stand side by side, and so do rows of the same channels
            starts = np.append(0, np.flatnonzero(np.any(np.diff(shares, axis=0), axis=1)) + 1)
            cuts = np.searchsorted(scale.kept, np.append(starts, len(shares)) * size)
            learned = np.split(z.T @ coefficients, len(folds), axis=1)
            for fold, weights, added in zip(folds, learned, out, strict=True):
                added += _sums_of_rows(z[fold.check], weights, cuts) @ shares[starts]
        return np.concatenate([*map(on_host, out)])


def _sums_of_rows(z: np.ndarray, weights: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Return sums of words times weights, (n_sequences, n_columns, n_rows).

    Row `r` has the words from ``cuts[r]`` to ``cuts[r + 1]``.
    """
    n_columns, n_rows = weights.shape[1], len(cuts) - 1
    if n_rows <= n_columns:
        return np.stack([z[:, a:b] @ weights[a:b] for a, b in pairwise(cuts.tolist())], axis=2)
    # filters: many rows of few words
    sums, has_words = np.zeros((len(z), n_columns, n_rows)), np.diff(cuts) > 0
    for c, column in enumerate(weights.T):
        sums[:, c, has_words] = np.add.reduceat(z * column, cuts[:-1][has_words], axis=1)
    return sums


@dataclass(frozen=True, repr=False)
class Scale(Short):
    """Mean of every column and 1 / its deviation, 0 for a column that is left out."""

    mean: np.ndarray
    factor: np.ndarray

    @classmethod
    def of(cls, shares: Any, min_share: float, weight: np.ndarray) -> "Scale":
        """Measure root shares, (n_sequences, n_columns), dense or sparse."""
        return cls.of_sums(float(weight.sum()), min_share, *column_sums(shares, weight))

    @classmethod
    def of_sums(
        cls, n: float, min_share: float, held: np.ndarray, total: np.ndarray, squares: np.ndarray
    ) -> "Scale":
        """Return the scale of sequences of total weight `n`, given the sums of `column_sums`."""
        mean, variance = spread_of_sums(n, total, squares)
        spread = np.sqrt(variance)
        kept = (held > min_share * n) & (spread > SMALLEST)
        return cls(mean, np.divide(1, spread, out=np.zeros_like(spread), where=kept))

    @cached_property
    def kept(self) -> np.ndarray:
        """The columns that are not left out."""
        return np.flatnonzero(self.factor)

    def features(self, shares: Any) -> Any:
        """Return the standardized columns that are not left out."""
        if not _is_on_host(shares):
            return on_gpu().features(shares, self.kept, self.mean, self.factor)
        mean, factor = (part[self.kept].astype(np.float32) for part in (self.mean, self.factor))
        z = np.empty((shares.shape[0], self.kept.size), np.float32)
        places = self.kept
        if sp.issparse(shares):
            places = np.full(self.mean.size, -1)
            places[self.kept] = np.arange(self.kept.size)
        loops.standardize(*lists_of(shares), places, mean, factor, z)
        return z


def lists_of(shares: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where the list of each sequence begins, columns and values, as compiled loops read.

    The lists of an array name no columns: they hold all columns.
    """
    if sp.issparse(shares):
        columns = shares.indices.astype(np.int32, copy=False)
        return shares.indptr.astype(np.int64), columns, shares.data
    n, size = shares.shape
    return np.arange(n + 1) * size, np.empty(0, np.int32), shares.ravel()


def column_sums(shares: Any, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, for every column, the number of entries, their sum and the sum of their squares.

    Every entry counts as often as the weight of its sequence says.
    """
    if not _is_on_host(shares):
        return on_gpu().column_sums(shares, weight)
    held, total, squares = (np.zeros(shares.shape[1]) for _ in range(3))
    loops.add_entries(*lists_of(shares), weight, held, total, squares)
    return held, total, squares


def _measured(
    min_share: float, y: np.ndarray | None, weight: np.ndarray, piece: Piece
) -> tuple[Scale, Any, np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the scale, features and products of a piece, what words tell of `y`, products by it.

    Without `y`, words tell 1, and the last products are None. Runs in a thread.
    """
    shares = piece.make()
    scale = Scale.of(shares, min_share, weight)
    z = scale.features(shares)
    if y is None:
        return scale, z, _product(z), np.ones(scale.kept.size), None
    told = told_by(z, y, weight)
    return scale, z, _product(z), told, _product(z, np.sqrt(told))


def told_by(z: Any, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    r"""Return how much every standardized word tells of the classes, (n_words,).

    .. math:: w_u = \max\Big(0, \frac{\eta_u^2 - e}{1 - e}\Big) + 0.001, \qquad
              \eta_u^2 = \frac{1}{n} \sum_c n_c \, \bar z_{uc}^2, \qquad e = \frac{k - 1}{n - 1}

    :math:`\bar z_{uc}` is the mean of the word over the :math:`n_c` of `n` sequences of class `c`,
    so :math:`\eta_u^2` is the share of the variance of the word between the `k` classes, of which
    chance alone explains the share `e`. A sequence counts as often as its weight says.
    """
    members = class_members(y, weight, by_class=True)
    sizes = (members > 0).T @ weight
    n, k = float(sizes.sum()), np.count_nonzero(sizes)
    if n <= k:  # chance explains everything
        return np.ones(z.shape[1])
    if _is_on_host(z):
        # single precision, as the features: a product with doubles would copy them all
        between = (z.T @ members.astype(np.float32)).astype(float) ** 2 @ (sizes / n)
    else:
        between = on_gpu().between(z, members, sizes / n)
    by_chance = (k - 1) / (n - 1)
    return np.maximum(between - by_chance, 0) / (1 - by_chance) + LEAST_TOLD


def _product(z: Any, factor: np.ndarray | None = None) -> np.ndarray:
    """Return the products of sequences, of columns times their factors."""
    if not _is_on_host(z):
        return on_gpu().product(z, factor)
    z = z if factor is None else z * factor.astype(np.float32)
    return z @ z.T


def _zeros(shape: tuple[int, ...]) -> Any:
    """Return doubles to add up what pieces have: on a card, a tensor, since each copy waits."""
    engine = current_engine()
    return on_gpu().zeros(shape, engine.device) if engine.name == "gpu" else np.zeros(shape)


def _is_on_host(values: Any) -> bool:
    return isinstance(values, np.ndarray) or sp.issparse(values)


def on_gpu() -> Any:
    """Return the module for graphics cards; torch is optional, and slow to import."""
    return import_module("mvdfq.terms.on_gpu")


def means_of_classes(n_words: int, n_classes: int) -> bool:
    """Tell whether a term keeps the mean of every class, or only the mean of all sequences."""
    return n_words * n_classes <= MOST_MEANS


def class_members(y: np.ndarray, weight: np.ndarray | None, by_class: bool) -> np.ndarray:
    """Return the share of every sequence in the mean of its class, (n_sequences, n_classes).

    If not `by_class`, there is one column: the share in the mean of all sequences.
    """
    classes, codes = np.unique(y, return_inverse=True)
    if not by_class:
        classes, codes = classes[:1], np.zeros_like(codes)
    members = np.zeros((len(y), len(classes)))
    members[np.arange(len(y)), codes] = 1 if weight is None else weight
    return members * inverse(members.sum(axis=0))


def count_at_keys(
    rows: Sequence[Row], groups: Sequence[Group], n_levels: int, roots: bool = False
) -> Any:
    """Return the counts of all words in rows of one alphabet, (n_sequences, n_columns).

    The columns are the words of all rows, groups and cells of the pyramid: row by row, group by
    group, word by word, cell by cell. A sparse matrix. With `roots`, the counts of a row are
    replaced by the roots of their shares of the row; an array, if there are more places for words
    in the sequences than words, and layouts have no weights. Cost: O(n) in the number of symbols,
    times the number of layouts.
    """
    row, bases = rows[0], np.array([row.base for row in rows])
    sizes = [row.base**group.length * (2**n_levels - 1) for group in groups]
    codes = np.stack([row.data for row in rows])
    present = np.zeros((len(rows), 0), bool)
    if any(row.present.size for row in rows):
        everywhere = np.ones(codes.shape[1], bool)
        present = np.stack([row.present if row.present.size else everywhere for row in rows])
    starts = np.arange(len(rows)) * sum(sizes) + np.cumsum([0, *sizes])[:-1, None]
    read = codes, row.offsets, present, groups, bases, starts, n_levels
    n_places = codes.shape[1] * sum(len(group.layouts) for group in groups) * n_levels
    if roots and n_places > row.n_sequences * sum(sizes):
        return loops.root_shares_of_all(*read)
    counts, columns, indptr = loops.listed_counts(*read, roots=roots)
    indptr = indptr[:: len(rows)]
    if indptr[-1] < 2**31:  # or the columns are copied to the type of the places
        indptr = indptr.astype(np.int32)
    return sp.csr_array((counts, columns, indptr), shape=(row.n_sequences, len(rows) * sum(sizes)))

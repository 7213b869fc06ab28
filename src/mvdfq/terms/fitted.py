"""Fitted terms and their sum: what a model file holds, and what answers for new sequences.

`FittedTerm` is the base class; `ReadingTerm` is the base class of the terms that read rows of
symbols: margins and evidence by a word table, if there is one. `FittedSum` adds up the terms.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from mvdfq._engines.shares import weighed
from mvdfq._utils.short import Short
from mvdfq._utils.threads import one_blas_thread
from mvdfq.frames.base import encode, shares_of, steps_of
from mvdfq.gram.features import SequenceFeatures
from mvdfq.gram.kernel import SequenceKernel
from mvdfq.gram.plan import inverse_root
from mvdfq.symbols.base import names_of
from mvdfq.terms.baseline import Evidence, View
from mvdfq.terms.evidence import find_evidence
from mvdfq.terms.standard import WIDTH, projection
from mvdfq.terms.typical import Nearness, added, inverse, nearness_of
from mvdfq.terms.word_table import WordTable

# Explanations show the rows of a term of this name without the name of the term.
FIRST_NAME = "words"


@dataclass(frozen=True)
class TermRows:
    """What an explanation says about the rows that a term reads in one sequence.

    `symbols` are the rows as symbols, `offsets` the offsets of each layout of each group, `names`
    the names of the symbols of each row; `find_shares` returns the share of each channel in each
    row. `curves` (n_channels, n_frames) are the channels with mean 0 and deviation 1 in training,
    NaN for channels of symbols; None if the term does not know the means.
    """

    symbols: Any
    row_names: list[str]
    offsets: list[list[tuple[int, ...]]]
    names: list[Any]
    find_shares: Callable[[], np.ndarray]
    curves: np.ndarray | None = None


@dataclass(repr=False, kw_only=True)
class FittedTerm(Short):
    """A term that answers: what a model file holds.

    The margins of a sequence are `sums`, which words of the sequence add up to, plus
    `intercepts`, which belong to the words that every sequence has on average. `centre` is the
    sketch of a mean sequence; None if words are not centred.
    """

    name: str
    encoders: list[Any]
    intercepts: np.ndarray
    share: float = 1.0
    n_jobs: int | None = None
    centre: np.ndarray | None = None
    _made: dict[str, Any] = field(default_factory=dict, repr=False)
    # Whether `rows` says the channels with mean 0 and deviation 1.
    says_curves = False

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": {}}  # large, and quick to make again

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return ``make()``, which is computed once and kept under `name`."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    def once_for(self, view: View, make: Callable[[View], Any]) -> Any:
        """Return ``make(view)``, which is kept for views of all problems and for one contrast."""
        if view.weights is None:
            return self.once(f"view {view.key!r}", lambda: make(view))
        if self._made.get("contrast", (None,))[0] != view.key:
            self._made["contrast"] = view.key, make(view)
        return self._made["contrast"][1]

    @property
    def symbolic_in(self) -> tuple[bool, ...] | None:
        """Which channels hold symbols, () for none; None if the term reads symbols alone."""
        steps = steps_of(*self.encoders)
        return getattr(steps[0], "symbolic_in_", ()) if steps else None

    @property
    def n_channels_in(self) -> int:
        """Number of channels that a term without encoders reads."""
        raise NotImplementedError

    def read(self, X: Any) -> Any:
        """Return sequences as the other methods read them."""
        raise NotImplementedError

    def sums(self, read: Any) -> np.ndarray:
        """Return the sums of the weights of words, (n_sequences, n_columns)."""
        raise NotImplementedError

    def evidence(self, read: Any, view: View) -> list[Evidence]:
        """Return the evidence in each sequence, of all problems: `sums` less the `shift`."""
        raise NotImplementedError

    def contrast(self, read: Any, find: Callable[[], Evidence], view: View) -> Evidence:
        """Return the evidence in one sequence as another view sees it; `find` is for all problems.

        Plain words are compared with nothing, so their evidence is added up as the view says.
        """
        assert view.weights is not None
        return find().weighed(view.weights)

    @property
    def class_means(self) -> list[np.ndarray]:
        """The means of words over the classes, (..., n_classes) each; none of plain words.

        With very many classes, (..., 1): the means over all sequences.
        """
        return []

    def shift(self, view: View) -> np.ndarray:
        """Return what the baseline adds to `sums`, (n_columns,): nothing to plain words."""
        return np.zeros(view.base.shape[1])

    def rows(self, read: Any, i: int, channels: list[str]) -> TermRows:
        """Return what an explanation says about the rows of sequence `i`."""
        raise NotImplementedError

    def channel_shares(self, n_channels: int) -> np.ndarray:
        """Return the share of each channel in each row, (n_rows, n_channels)."""
        return shares_of(self.encoders, n_channels)

    def features(self, read: Any) -> Iterator[Any]:
        """Yield the features of sequences, piece by piece, neither centred nor scaled.

        A term that keeps its training sequences has none: it is compared by its kernel.
        """
        return iter(())

    def factors(self) -> list[np.ndarray]:
        """Return the factor of each column of each piece: 1 / its deviation."""
        return []

    def sketch(self, read: Any) -> np.ndarray:
        """Return the sketches of sequences, (n_sequences, WIDTH), see `projection`."""
        pieces = zip(self.features(read), self._projections, strict=True)
        return self._centred(sum(_projected(piece, matrix) for piece, matrix in pieces))

    @property
    def _projections(self) -> list[Any]:
        def make() -> list[Any]:
            factors = self.factors()
            pairs = zip(pairwise(np.cumsum([0, *map(len, factors)]).tolist()), factors, strict=True)
            return [projection(self.name, np.arange(*end), factor) for end, factor in pairs]

        return self.once("projections", make)

    def _centred(self, sketch: Any) -> np.ndarray:
        return np.sqrt(self.share) * (sketch - (0 if self.centre is None else self.centre))

    def nearness(self, read: Any, y: np.ndarray) -> Nearness:
        """Return the products of sequences with themselves and with the means of the classes.

        `y` are the classes of the training sequences.
        """
        raise NotImplementedError

    def judge(self, read: Any, y: np.ndarray) -> tuple[np.ndarray, Nearness, Any]:
        """Return `sums`, `nearness` and, of a term that is compared by sketches, `sketch`."""
        return self.sums(read), self.nearness(read, y), None

    def prepare_saving(self) -> None:
        """Get ready for a model file."""

    @property
    def train(self) -> Any:
        """The training sequences as `read` gives them; None if only their sketches are kept."""
        return None

    def compare(self, left: Any, right: Any) -> np.ndarray:
        """Return the kernel values of sequences as `read` gives them, if `train` is kept."""
        raise NotImplementedError


def _projected(features: Any, matrix: sp.csr_array) -> np.ndarray:
    """Return ``features @ matrix`` of a `projection`, dense; features are dense or sparse."""
    if not sp.issparse(features):
        return (features @ matrix).astype(float)
    # a projection has one entry per line: much faster than a product of sparse matrices
    n = features.shape[0]
    first = np.repeat(np.arange(n) * WIDTH, np.diff(features.indptr))
    places = first + matrix.indices[features.indices]
    values = features.data * matrix.data[features.indices]
    return np.bincount(places, values, n * WIDTH).reshape(n, WIDTH)


class StandardTerm(FittedTerm):
    """A term of standardized words, in pieces: it is compared with baselines and class means."""

    def columns(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the means over the classes and the deviations of the columns of each piece."""
        raise NotImplementedError

    def factors(self) -> list[np.ndarray]:
        """Return 1 / the deviation of each word."""
        return [inverse(spreads.astype(float)) for _, spreads in self.columns()]

    def contrast(self, read: Any, find: Callable[[], Evidence], view: View) -> Evidence:
        """Return the evidence in one sequence, compared with another baseline."""
        return self.evidence(read, view)[0]

    def weights(self) -> Iterator[np.ndarray]:
        """Yield the weights of the words of each piece, (n_words, n_columns)."""
        raise NotImplementedError

    def nearness(self, read: Any, y: np.ndarray) -> Nearness:
        """Return the products of sequences with themselves and with the means of the classes."""
        pieces = zip(self.columns(), self.features(read), strict=True)
        return Nearness(*added(nearness_of(*columns, shares) for columns, shares in pieces))

    def judge(self, read: Any, y: np.ndarray) -> tuple[np.ndarray, Nearness, Any]:
        """Return `sums`, `nearness` and `sketch`; the words are counted once."""
        known = zip(self.columns(), self.weights(), self._projections, strict=True)
        pieces = zip(known, self.features(read), strict=True)
        sums, sketch, *near = added(
            (weighed(x, weights), _projected(x, matrix), *nearness_of(*columns, x))
            for (columns, weights, matrix), x in pieces
        )
        return sums, Nearness(*near), self._centred(sketch)


@dataclass(repr=False, kw_only=True)
class ReadingTerm(FittedTerm):
    """A term whose `reader` reads the symbols that the encoders make.

    The word table is made when it is first needed, if it fits into the memory limit.
    """

    reader: SequenceKernel | SequenceFeatures

    @property
    def table(self) -> WordTable | None:
        """The word table; None if the table does not fit or the kernel is not a sum over words."""
        return self.once("table", self._build)

    def _build(self) -> WordTable | None:
        raise NotImplementedError

    @property
    def n_channels_in(self) -> int:
        """Number of rows that the reader reads."""
        return self.reader.n_rows_in_

    def read(self, X: Any) -> Any:
        """Encode sequences; return the rows in use."""
        return self.reader.read_new(encode(self.encoders, X))

    def evidence(self, read: Any, view: View) -> list[Evidence]:
        """Return the evidence in each sequence; the evidence adds up to `sums` in every view."""
        return find_evidence(self, read)

    def channel_shares(self, n_channels: int) -> np.ndarray:
        """Return the share of each channel in each row in use."""
        reads_symbols = self.reader.kernel_.reads_symbols
        shares = super().channel_shares(n_channels) if reads_symbols else np.eye(n_channels)
        return shares[self.reader.rows_]

    def rows(self, read: Any, i: int, channels: list[str]) -> TermRows:
        """Return what an explanation says about the rows of sequence `i`."""
        reader = self.reader
        last = (steps_of(*self.encoders) or [reader.letters_])[-1]
        names = self.once("names", lambda: names_of(last, reader.n_symbols_.tolist()))
        row_names = list(reader.row_names_)
        # names that a quantizer made up say less than the names of channels, if there are as many
        is_unnamed = row_names == [f"row {r}" for r in range(len(row_names))]
        row_names = channels if is_unnamed and len(channels) == len(row_names) else row_names
        before = "" if self.name == FIRST_NAME else f"{self.name}: "
        return TermRows(
            read[i : i + 1],
            [before + row_names[r] for r in reader.rows_],
            [[layout.offsets for layout in group.layouts] for group in reader.plan_.groups(0)],
            [names[r] for r in reader.rows_],
            lambda: self.once("shares", lambda: self.channel_shares(len(channels))),
        )


@dataclass(frozen=True)
class Points:
    """Sequences to compare: their sketches, and how the terms without sketches read them."""

    sketch: np.ndarray
    read: list[Any]

    def __getitem__(self, rows: Any) -> "Points":
        return Points(self.sketch[rows], [symbols[rows] for symbols in self.read])


@dataclass(repr=False)
class FittedSum(Short):
    """Fitted terms and the intercepts of their sum: what a classifier knows.

    `sketches` (n_sequences, WIDTH) times `scales` (n_sequences,) are the sketches of training
    sequences, see `in_bytes`; their width is 0 if all terms keep the training sequences.
    """

    terms: list[FittedTerm]
    intercepts: np.ndarray
    sketches: np.ndarray
    scales: np.ndarray

    @property
    def constant(self) -> np.ndarray:
        """The margins of a sequence whose words add up to 0 in every term."""
        return sum((term.intercepts for term in self.terms), start=self.intercepts)

    def read(self, X: Any) -> list[Any]:
        """Return sequences as each term reads them."""
        return [term.read(X) for term in self.terms]

    def sums(self, read: list[Any]) -> dict[str, np.ndarray]:
        """Return what the words of each term add to the margins, by the name of the term."""
        return {t.name: t.sums(symbols) for t, symbols in zip(self.terms, read, strict=True)}

    def knows_means(self, n_classes: int) -> bool:
        """Tell whether all terms know the means of all classes, for `nearness`."""
        return all(
            term.train is not None or {means.shape[-1] for means in term.class_means} == {n_classes}
            for term in self.terms
        )

    def nearness(self, read: list[Any], y: np.ndarray) -> Nearness:
        """Return the products of sequences with the means of the classes `y`, over all terms."""
        pairs = zip(self.terms, read, strict=True)
        with one_blas_thread():  # the last bits depend on the number of threads
            each = (term.nearness(symbols, y).times(term.share) for term, symbols in pairs)
            return Nearness(*added(each))

    def judge(self, read: list[Any], y: np.ndarray) -> tuple[Any, Nearness, Points | None]:
        """Return `sums`, `nearness` and, if no term keeps the training sequences, `points`."""
        with one_blas_thread():
            done = [term.judge(symbols, y) for term, symbols in zip(self.terms, read, strict=True)]
        sums, near, sketches = zip(*done, strict=True)
        each = (own.times(term.share) for term, own in zip(self.terms, near, strict=True))
        is_known = all(sketch is not None for sketch in sketches)
        points = Points(sum(sketches).astype(np.float32), []) if is_known else None
        by_term = {t.name: values for t, values in zip(self.terms, sums, strict=True)}
        return by_term, Nearness(*added(each)), points

    @cached_property
    def _train(self) -> Points:  # a name that model files leave out
        """The training sequences that are kept."""
        kept = [term.train for term in self.terms if term.train is not None]
        return Points(self.sketches * self.scales[:, None], kept)

    def points(self, read: list[Any]) -> Points:
        """Return sequences as `likeness` compares them."""
        sketch, kept = np.zeros((len(read[0]), self.sketches.shape[1])), []
        for term, symbols in zip(self.terms, read, strict=True):
            if term.train is not None:
                kept.append(symbols)
            elif sketch.size:  # a term of a user need not have sketches
                sketch += term.sketch(symbols)
        return Points(sketch.astype(np.float32), kept)

    def likeness(self, left: Points, right: Points | None = None) -> np.ndarray:
        r"""Return how alike sequences are, (n_left, n_right); None means training sequences.

        .. math:: K(x, z) \big/ \sqrt{K(x, x) \, K(z, z)}, \qquad K = \sum_v s_v K_v

        The kernel values of terms that keep training sequences are exact, the values of all other
        terms are products of sketches.
        """
        right = self._train if right is None else right
        kernels = [term for term in self.terms if term.train is not None]
        with one_blas_thread():  # the last bits depend on the number of threads
            K = (left.sketch @ right.sketch.T).astype(float)
        for term, a, b in zip(kernels, left.read, right.read, strict=True):
            K += term.share * term.compare(a, b)
        # plain kernels are normalized
        constant = sum(term.share for term in kernels)
        squares = [np.einsum("ij,ij->i", side.sketch, side.sketch) for side in (left, right)]
        K *= inverse_root(constant + squares[0])[:, None]
        K *= inverse_root(constant + squares[1])
        return np.minimum(K, 1, out=K)  # not 1 + rounding error


def width_of(terms: Sequence[FittedTerm]) -> int:
    """Return the width of sketches: 0 if all terms keep the training sequences."""
    return 0 if all(term.train is not None for term in terms) else WIDTH


def in_bytes(sketches: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return sketches as whole numbers from -127 to 127, and the scale of each sequence."""
    scales = np.abs(sketches).max(axis=1, initial=0).astype(np.float32) / 127
    codes = sketches * inverse(scales.astype(np.float64))[:, None]
    return np.rint(codes).clip(-127, 127).astype(np.int8), scales

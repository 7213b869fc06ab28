"""Standardized words as a term: one weight per word and class."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import Any, cast

import numpy as np
from sklearn.base import clone

from mvdfq._utils.checks import parse_memory
from mvdfq.frames.base import encode, fit_encoders, shares_of
from mvdfq.gram.base import warn_wordless
from mvdfq.gram.features import SequenceFeatures
from mvdfq.gram.plan import inverse_root
from mvdfq.kernels import Kernel, Words
from mvdfq.symbols.base import Symbols
from mvdfq.terms.base import Fitting, Found, Source, Term, Work
from mvdfq.terms.baseline import View
from mvdfq.terms.compared_evidence import ComparedWords, compared_evidence
from mvdfq.terms.evidence_words import Evidence
from mvdfq.terms.feature_blocks import Block, WordColumns
from mvdfq.terms.fitted import FIRST_NAME, ReadingTerm
from mvdfq.terms.plain import PlainTerm
from mvdfq.terms.standard import (
    Learned,
    Scale,
    StandardGram,
    countable,
    on_host,
    pieces_of,
    reader_of_words,
    weighed_sum,
)
from mvdfq.terms.svm import FoldMachine
from mvdfq.terms.typical import Centres, Nearness, added
from mvdfq.terms.word_table import WordTable, dense_table

# Words shorter than the longest words have this weight if words are counted plainly: they only
# matter in sequences that are too short for the longest words.
LITTLE = 0.01


@dataclass(eq=False, repr=False)
class WordTerm(Term):
    r"""Words that are standardized: every word has the same spread over the training sequences.

    .. math:: K_v(x, z) = \sum_u z_u(x) z_u(z), \qquad
              z_u(x) = \big(\sqrt{c_u(x) / \textstyle\sum_{u'} c_{u'}(x)} - \mu_u\big) / \sigma_u

    where :math:`c_u` counts the word `u` in one row. Cost: O(n) in the number of symbols, times
    the number of layouts; and ``n_sequences**2`` per word for the kernel matrix. If a row has so
    many possible words that they do not fit a table (a channel of many categories), all words of
    the term are counted plainly, as by `PlainTerm`.

    Parameters
    ----------
    symbols : quantizer
        Quantizer that turns numbers into symbols, or a pipeline that ends in a quantizer.

    kernel : Words
        The layouts of the words; all words count alike, whatever the weights of the layouts.

    frames : transformer, default=None
        Transformer of the numbers, applied before `symbols`.

    pyramid : int, default=1
        Number of levels of the temporal pyramid.

    min_share : float, default=0.0
        Words are left out unless they occur in more than this share of the training sequences.

    name : str, default="words"
        Name of the term in explanations.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> singles = mvdfq.WordTerm(mvdfq.DirectQuantizer(6), mvdfq.Words([(0,)]))
    >>> clf = mvdfq.SequenceClassifier(terms=[singles]).fit(X, y)
    >>> clf.score(*mvdfq.load_japanese_vowels(split="test")) > 0.9
    True
    """

    symbols: Any
    kernel: Kernel
    _: KW_ONLY
    frames: Any = None
    pyramid: int = 1
    min_share: float = 0.0
    name: str = FIRST_NAME

    def check(self) -> None:
        """Raise an error for parameters that do not exist or cannot be combined."""
        if not isinstance(self.kernel, Words):
            raise TypeError(
                f"kernel of the term {self.name!r} must be mvdfq.Words, which lists layouts, got "
                f"{self.kernel!r}; mvdfq.PlainTerm takes any kernel."
            )
        if not isinstance(self.min_share, float | int) or not 0 <= self.min_share < 1:
            raise ValueError(f"min_share must be a number from 0 to 1, got {self.min_share!r}.")

    def plain(self) -> PlainTerm:
        """Return the same words, counted plainly."""
        layouts = self.kernel.layouts
        longest = max(map(len, layouts))
        weights = [1 if len(layout) == longest else LITTLE for layout in layouts]
        return PlainTerm(
            clone(self.symbols, safe=False),
            Words(layouts, weights=weights),
            frames=clone(self.frames, safe=False),
            manifold=True,
            pyramid=self.pyramid,
            name=self.name,
        )

    def fit(self, X: Any, y: np.ndarray, work: Work) -> Fitting:
        """Count the words of training sequences, and compute their kernel matrix."""
        encoders, symbols = fit_encoders([self.frames, self.symbols], X, y)
        if not self._has_few_words(symbols):
            return self.plain().fitting(encoders, symbols, y, work)
        # a sequence without words teaches only that it has none: the user should know
        warn_wordless(symbols.n_present)
        reader = reader_of_words(symbols, self._kernel(), self.pyramid)
        gram = StandardGram(
            pieces_of(symbols, reader.plan_),
            y,
            self.min_share,
            parse_memory(work.memory_limit),
            work.n_jobs,
            work.sample_weight,
        )
        return WordFitting(self.name, encoders, reader, gram, symbols, self.min_share)

    def source(self, X: Any, y: np.ndarray, work: Work) -> Source:
        """Return what counts the words of blocks of sequences."""
        encoders, symbols = fit_encoders([self.frames, self.symbols], X, y)
        if not self._has_few_words(symbols):
            return self.plain().source_of(encoders, symbols, work)
        reader = reader_of_words(symbols, self._kernel(), self.pyramid)
        columns = WordColumns.of(reader.plan_)
        return WordSource(self.name, self.min_share, encoders, reader, columns)

    def _has_few_words(self, symbols: Any) -> bool:
        return isinstance(symbols, Symbols) and bool(countable(self.kernel, symbols).all())

    def _kernel(self) -> Kernel:
        # standardizing takes weights of layouts out again, so they would only cost time
        return clone(self.kernel).set_params(weights=None)


@dataclass
class WordFitting(Fitting):
    """Standardized words of training sequences, with their kernel matrix."""

    name: str
    encoders: list[Any]
    reader: SequenceFeatures
    gram: StandardGram
    symbols: Symbols
    min_share: float

    @property
    def size(self) -> float:
        """The variance of all features together: each word has variance 1."""
        # at least 1: all words may be left out, and the sum divides by the size
        return max(self.gram.n_words, 1)

    def matrix(self, learn: np.ndarray) -> np.ndarray:
        """Return the kernel matrix, which does not depend on `learn`."""
        return self.gram.values

    @property
    def weighed(self) -> tuple[np.ndarray, float] | None:
        """The kernel matrix in which words count by what they tell, and its size."""
        return weighed_sum([self.gram])

    def release(self) -> None:
        """Give up the kernel matrices, which are part of the sum now."""
        self.gram.release()

    def held_out(self, folds: list[FoldMachine], n_channels: int) -> np.ndarray:
        """Return what each channel adds to the margins of held-out sequences."""
        return self.gram.held_out(folds, shares_of(self.encoders, n_channels))

    def finish(self, coefficients: np.ndarray, share: float, keep: bool) -> "FittedWords":
        """Return the term with the weights of words."""
        pieces, n_columns = self.gram.learned(coefficients), coefficients.shape[1]
        values, means, spreads, intercepts = _placed(self.reader, pieces, n_columns)
        return FittedWords(
            name=self.name,
            encoders=self.encoders,
            intercepts=intercepts,
            share=share,
            n_jobs=self.gram.n_jobs,
            reader=self.reader,
            values=values,
            means=means,
            spreads=spreads,
            kept=self.symbols if keep else None,
            min_share=self.min_share,
            _scales=self.gram.scales,
        )


@dataclass(frozen=True)
class WordSource(Source):
    """Counts the words of blocks of sequences."""

    name: str
    min_share: float
    encoders: list[Any]
    reader: SequenceFeatures
    columns: WordColumns

    @property
    def n_columns(self) -> int:
        """Number of columns of the features."""
        return sum(map(len, self.columns.kept))

    def read(self, X: Any) -> Symbols:
        """Encode sequences."""
        return cast(Symbols, self.reader.read_new(encode(self.encoders, X)))

    def block(self, read: Symbols) -> Block:
        """Count the words of some sequences."""
        return self.columns.block(read)

    def only(self, used: np.ndarray) -> tuple["WordSource", np.ndarray]:
        """Leave words out."""
        return replace(self, columns=self.columns.only(used)), np.flatnonzero(used)

    def finish(self, found: Found, keep: Symbols | None) -> "FittedWords":
        """Return the term with the weights of words."""
        pieces, start = [], 0
        for r, (kept, size) in enumerate(zip(self.columns.kept, self.columns.sizes, strict=True)):
            mine = slice(start, start + len(kept))
            # what a sequence without any word gets from centring
            lost = -found.mean[mine] @ found.weights[mine]
            about = found.weights[mine], found.means[mine], found.spreads[mine]
            pieces.append(Learned(np.array([r]), size, kept, *about, lost))
            start = mine.stop
        n_columns = found.weights.shape[1]
        values, means, spreads, intercepts = _placed(self.reader, pieces, n_columns)
        return FittedWords(
            name=self.name,
            encoders=self.encoders,
            intercepts=intercepts,
            share=found.share,
            n_jobs=found.n_jobs,
            reader=self.reader,
            values=values,
            means=means,
            spreads=spreads,
            kept=keep,
            min_share=self.min_share,
        )


@dataclass(repr=False, kw_only=True)
class FittedWords(ReadingTerm):
    """Standardized words with their weights.

    `values` holds one array of shape (n_slots, n_cells, n_columns) for each group of layouts, as
    `GroupTable` does; `means` holds the means of the words over each class in the same order, or
    over all training sequences if there are very many classes; `spreads` (n_slots, n_cells, 1)
    their deviations, 0 for a word that is left out. `kept` are training sequences, to
    find similar ones; None if another term keeps them. `scales` are the means and deviations of
    the words: model files do not hold the scales, `kept` gives them again.
    """

    reader: SequenceFeatures
    values: list[np.ndarray]
    means: list[np.ndarray]
    spreads: list[np.ndarray]
    kept: Symbols | None = None
    min_share: float = 0.0
    _scales: list[Scale] = field(default_factory=list, repr=False)

    def sums(self, read: Any) -> np.ndarray:
        """Return the sums of the weights of words; words with unseen symbols do not count."""
        assert self.table is not None
        return self.table.margins(read, self.n_jobs)[0]

    def evidence(self, read: Any, view: View) -> list[Evidence]:
        """Return the evidence in each sequence; words with unseen symbols do not count."""
        return compared_evidence(self._compared(view), read.without_unseen())

    def contrast(self, read: Any, find: Callable[[], Evidence], view: View) -> Evidence:
        """Return the evidence in one sequence, compared with another baseline."""
        return self.evidence(read, view)[0]

    @property
    def class_means(self) -> list[np.ndarray]:
        """The means of words over the classes, one array per group of layouts."""
        return self.means

    def shift(self, view: View) -> np.ndarray:
        """Return what the words of the baseline add to the margins."""
        return self._compared(view).shift

    def _compared(self, view: View) -> ComparedWords:
        assert self.table is not None
        return self.once_for(view, partial(ComparedWords.of, self.table, self.means))

    @property
    def train(self) -> Any:
        """The training sequences that are kept."""
        return self.kept

    @property
    def can_compare(self) -> bool:
        """Whether the means and deviations of words are known."""
        return bool(self._scales) or self.kept is not None

    def features(self, read: Symbols) -> Iterator[np.ndarray]:
        """Yield the standardized words of sequences, a few rows at a time."""
        pieces = pieces_of(read.without_unseen(), self.reader.plan_)
        for (_, make), scale in zip(pieces, self.scales, strict=True):
            yield on_host(scale.features(make()))

    @property
    def scales(self) -> list[Scale]:
        """The scales of all pieces, measured again if they come from a file."""
        if not self._scales:
            assert self.kept is not None
            # weights of sequences are not kept: for comparing, all kept sequences count alike
            pieces, ones = pieces_of(self.kept, self.reader.plan_), np.ones(len(self.kept))
            self._scales = [Scale.of(make(), self.min_share, ones) for _, make in pieces]
        return self._scales

    def compare(self, left: Symbols, right: Symbols) -> np.ndarray:
        """Return the cosines of the features of left and right sequences."""
        products = np.zeros((len(left), len(right)))
        own, other = np.zeros(len(left)), np.zeros(len(right))
        for a, b in zip(self.features(left), self.features(right), strict=True):
            products += a @ b.T
            own += np.einsum("ij,ij->i", a, a)
            other += np.einsum("ij,ij->i", b, b)
        return products * inverse_root(own)[:, None] * inverse_root(other)

    def nearness(self, read: Symbols, y: np.ndarray, n_classes: int) -> Nearness | None:
        """Return the products of sequences with themselves and with the means of the classes."""
        if self.means[0].shape[-1] != n_classes:
            return None
        pieces = pieces_of(read.without_unseen(), self.reader.plan_)
        near = (Centres(*self._columns(rows)).nearness(on_host(make())) for rows, make in pieces)
        return added(near)

    def _columns(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the means and spreads of the words of rows, in the order of `root_shares`."""
        plan = self.reader.plan_
        firsts = plan.first_slots(np.arange(len(plan.n_symbols)))
        means, spreads = (
            [slots[f[r] : f[r + 1]].reshape(-1, slots.shape[2])
             for r in rows.tolist() for f, slots in zip(firsts, numbers, strict=True)]
            for numbers in (self.means, self.spreads)
        )  # fmt: skip
        return np.concatenate(means), np.concatenate(spreads)[:, 0]

    def _build(self) -> WordTable:
        plan = self.reader.plan_
        return dense_table(
            plan, np.arange(len(plan.n_symbols)), self.values, self.reader.row_mean()
        )


def _placed(
    reader: SequenceFeatures, pieces: Iterable[Learned], n_columns: int
) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray], np.ndarray]:
    """Return weights, means and spreads of words, and the intercepts of all pieces together."""
    plan = reader.plan_
    firsts = plan.first_slots(np.arange(len(plan.n_symbols)))
    values = [np.zeros((f[-1], len(plan.cells), n_columns), np.float32) for f in firsts]
    spreads = [np.zeros((*slots.shape[:2], 1), np.float16) for slots in values]
    means: list[np.ndarray] = []
    intercepts = np.zeros(n_columns)
    for learned in pieces:
        if not means:
            shapes = [(*slots.shape[:2], learned.means.shape[1]) for slots in values]
            means = [np.zeros(shape, np.float16) for shape in shapes]
        intercepts += learned.intercepts
        # tables divide by the mean of rows, as kernels do
        _place(learned, learned.weights * reader.row_mean(), firsts, values)
        _place(learned, learned.means.clip(0, 1), firsts, means)
        _place(learned, learned.spreads[:, None], firsts, spreads)
    return values, means, spreads, intercepts


def _place(
    learned: Learned, numbers: np.ndarray, firsts: list[np.ndarray], out: list[np.ndarray]
) -> None:
    """Copy the numbers of some rows, in the order of `root_shares`, to the slots of their words."""
    start = 0
    for r in learned.rows.tolist():
        for first, slots in zip(firsts, out, strict=True):
            mine = slots[first[r] : first[r + 1]].reshape(-1, slots.shape[2])
            # `kept` is sorted, so the words of this row and group are a slice of it
            a, b = np.searchsorted(learned.kept, [start, start + len(mine)])
            mine[learned.kept[a:b] - start] = numbers[a:b]
            start += len(mine)

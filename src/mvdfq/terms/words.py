"""Standardized words as a term: one weight per word and class."""

from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, cast

import numpy as np
from sklearn.base import clone

from mvdfq._engines.choice import current_engine, on_host
from mvdfq._utils.threads import n_threads
from mvdfq.frames.base import fit_encoders
from mvdfq.gram.base import warn_wordless
from mvdfq.gram.features import SequenceFeatures
from mvdfq.gram.plan import Plan, inverse_root
from mvdfq.kernels import Kernel, Words
from mvdfq.symbols.base import Symbols
from mvdfq.terms.base import Fitting, Source, Term, Work
from mvdfq.terms.baseline import Evidence, View
from mvdfq.terms.dense_evidence import SeenWords, dense_evidence
from mvdfq.terms.feature_blocks import MatrixBlock, SideBySide
from mvdfq.terms.fitted import FIRST_NAME, ReadingTerm, StandardTerm
from mvdfq.terms.plain import PlainTerm
from mvdfq.terms.standard import (
    DENSE_WORDS,
    Learned,
    Piece,
    StandardFitting,
    count_at_keys,
    gathered,
    on_gpu,
)
from mvdfq.terms.word_table import WordTable, dense_table

# Rows of one piece at most, and columns that are enough.
ROWS, COLUMNS = 8, 2**13
# Words shorter than the longest words have this weight if words are counted plainly: they only
# matter in sequences that are too short for the longest words.
LITTLE = 0.01


@dataclass(eq=False, repr=False)
class WordTerm(Term):
    r"""Words that are standardized: every word has the same spread over the training sequences.

    .. math:: K_v(x, z) = \sum_u z_u(x) z_u(z), \qquad
              z_u(x) = \big(\sqrt{c_u(x) / \sum_{u'} c_{u'}(x)} - \mu_u\big) / \sigma_u

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
            problem = f"kernel of the term {self.name!r} must be mvdfq.Words, which lists layouts"
            raise TypeError(f"{problem}, got {self.kernel!r}; mvdfq.PlainTerm takes any kernel.")
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
            return self.plain().fitting(encoders, symbols, work)
        # a sequence without words teaches only that it has none: the user should know
        warn_wordless(symbols.n_present)
        reader, make = self._made_by(encoders, symbols, work)
        plan = reader.plan_
        n_words = sum(len(group.layouts) for group in plan.groups(0)) * plan.n_levels
        on_card = current_engine().name == "gpu"  # which has the memory, and waits for small work
        n_places = 1 if on_card else n_words * symbols.lengths.mean()
        pieces = [
            Piece(rows, partial(root_shares, symbols, plan, rows), encoders)
            for rows in rows_of_pieces(plan, n_places)
        ]
        return StandardFitting(pieces, y, self.min_share, work, make, n_threads(work.n_jobs))

    def source(self, X: Any, y: np.ndarray, work: Work) -> Source:
        """Return what counts the words of blocks of sequences."""
        encoders, symbols = fit_encoders([self.frames, self.symbols], X, y)
        if not self._has_few_words(symbols):
            return self.plain().source_of(encoders, symbols, work)
        reader, make = self._made_by(encoders, symbols, work)
        plan = reader.plan_
        firsts = plan.first_slots(np.arange(len(plan.n_symbols)))
        sizes = np.sum([np.diff(first) for first in firsts], axis=0) * len(plan.cells)
        kept = [np.arange(size) for size in sizes]
        return WordSource(self.min_share, encoders, make, reader, sizes, kept)

    def _has_few_words(self, symbols: Any) -> bool:
        """Tell whether the words of all rows fit dense arrays; words of many categories do not."""
        longest = max(group.length for group in self.kernel.groups(2))
        return isinstance(symbols, Symbols) and bool(
            (symbols.n_symbols.astype(float) ** longest <= DENSE_WORDS).all()
        )

    def _made_by(self, encoders: list[Any], symbols: Symbols, work: Work) -> tuple[Any, Any]:
        """Return the reader of the words, and what makes the fitted term."""
        # standardizing takes weights of layouts out again, so they would only cost time
        kernel = clone(self.kernel).set_params(weights=None)
        options: Any = {"normalize": False, "pyramid": self.pyramid, "constant_rows": "keep"}
        reader = SequenceFeatures(kernel, manifold=True, **options)
        # only the plan: a table has a slot for every possible word, so no word is listed
        reader._fit_plan(symbols, listed=True)
        about: Any = {"name": self.name, "encoders": encoders, "n_jobs": work.n_jobs}
        return reader, partial(FittedWords.of, reader=reader, **about)


@dataclass(frozen=True)
class WordSource(Source):
    """Counts the words of blocks of sequences.

    `sizes` are the numbers of columns of all rows, in the order of `root_shares`, and `kept` the
    columns in use. Words that are left out still count in the shares.
    """

    reader: SequenceFeatures
    sizes: np.ndarray
    kept: list[np.ndarray]

    @property
    def pieces(self) -> list[tuple[np.ndarray, int, np.ndarray]]:
        """One piece per row."""
        parts = zip(self.sizes.tolist(), self.kept, strict=True)
        return [(np.array([r]), *part) for r, part in enumerate(parts)]

    def read(self, X: Any) -> Symbols:
        """Encode sequences; return the rows in use."""
        return cast(Symbols, self.reader.read_new(super().read(X)))

    def block(self, read: Symbols) -> SideBySide:
        """Count the words of all rows of some sequences."""
        plan, rows = self.reader.plan_, []
        for r, (kept, size) in enumerate(zip(self.kept, self.sizes, strict=True)):
            matrix = count_at_keys([plan.kernel.row([read], r)], plan.groups(r), plan.n_levels)
            # before words are left out: they count in the shares
            scale = inverse_root(np.asarray(matrix.sum(axis=1), dtype=float))
            matrix = matrix if len(kept) == size else matrix[:, kept]
            rows.append(MatrixBlock.of_counts(matrix, scale.astype(np.float32)))
        return SideBySide(rows)

    def only(self, used: np.ndarray) -> tuple["WordSource", np.ndarray]:
        """Leave words out."""
        parts = np.split(used, np.cumsum(self.sizes)[:-1])
        return replace(self, kept=[*map(np.flatnonzero, parts)]), np.flatnonzero(used)


@dataclass(repr=False, kw_only=True)
class FittedWords(StandardTerm, ReadingTerm):
    """Standardized words with their weights.

    `values` holds one array of shape (n_slots, n_cells, n_columns) for each group of layouts, as
    `GroupTable` does; `means` holds the means of the words over each class in the same order, or
    over all training sequences if there are very many classes; `spreads` (n_slots, n_cells, 1)
    their deviations, 0 for a word that is left out.
    """

    reader: SequenceFeatures
    values: list[np.ndarray]
    means: list[np.ndarray]
    spreads: list[np.ndarray]

    @classmethod
    def of(cls, pieces: Iterable[Learned], share: float, **about: Any) -> "FittedWords":
        """Return the term `about` the words, given what was learned of pieces one after another."""
        reader, plan = about["reader"], about["reader"].plan_
        firsts = plan.first_slots(np.arange(len(plan.n_symbols)))
        shapes = [(f[-1], len(plan.cells)) for f in firsts]
        values: list[np.ndarray] = []
        means: list[np.ndarray] = []
        spreads = [np.zeros((*shape, 1), np.float16) for shape in shapes]

        def place(learned: Learned) -> None:
            if not values:
                values[:] = [np.zeros((*s, learned.weights.shape[1]), np.float32) for s in shapes]
                means[:] = [np.zeros((*s, learned.means.shape[1]), np.float16) for s in shapes]
            # tables divide by the mean of rows, as kernels do
            _place(learned, learned.weights * reader.row_mean(), firsts, values)
            _place(learned, learned.means.clip(0, 1), firsts, means)
            _place(learned, learned.spreads[:, None], firsts, spreads)

        made: Any = gathered(about["name"], pieces, place)
        return cls(values=values, means=means, spreads=spreads, share=share, **about, **made)

    def sums(self, read: Any) -> np.ndarray:
        """Return the sums of the weights of words; words with unseen symbols do not count."""
        if current_engine().name == "gpu":
            known, plan, card = read.without_unseen(), self.reader.plan_, on_gpu()
            pairs = zip(rows_of_pieces(plan), self._by_piece(self.values), strict=True)
            sums = [card.weighed(root_shares(known, plan, rows), values) for rows, values in pairs]
            return np.sum(sums, axis=0) / self.reader.row_mean()
        assert self.table is not None
        return self.table.margins(read, self.n_jobs)

    def evidence(self, read: Any, view: View) -> list[Evidence]:
        """Return the evidence in each sequence; words with unseen symbols do not count."""
        return dense_evidence(self._compared(view), read.without_unseen())

    @property
    def class_means(self) -> list[np.ndarray]:
        """The means of words over the classes, one array per group of layouts."""
        return self.means

    def shift(self, view: View) -> np.ndarray:
        """Return what the words of the baseline add to the margins."""
        return self._compared(view).shift

    def _compared(self, view: View) -> SeenWords:
        assert self.table is not None
        return self.once_for(view, partial(SeenWords.compared, self.table, self.means))

    def features(self, read: Symbols) -> Iterator[Any]:
        """Yield the root shares of words, a few rows at a time."""
        known, plan = read.without_unseen(), self.reader.plan_
        return (on_host(root_shares(known, plan, rows)) for rows in rows_of_pieces(plan))

    def columns(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the means and deviations of words, in the order of `features`."""
        pairs = zip(self._by_piece(self.means), self._by_piece(self.spreads), strict=True)
        return ((means, spreads[:, 0]) for means, spreads in pairs)

    def weights(self) -> Iterator[np.ndarray]:
        """Yield the weights of words, in the order of `features`."""
        return (values / self.reader.row_mean() for values in self._by_piece(self.values))

    def _by_piece(self, numbers: list[np.ndarray]) -> Iterator[np.ndarray]:
        """Yield the numbers of words, (n_words, n_columns), in the order of `features`."""
        plan = self.reader.plan_
        firsts = plan.first_slots(np.arange(len(plan.n_symbols)))
        for rows in rows_of_pieces(plan):
            pairs = list(zip(firsts, numbers, strict=True))
            parts = [slots[f[r] : f[r + 1]] for r in rows.tolist() for f, slots in pairs]
            yield np.concatenate([part.reshape(-1, part.shape[2]) for part in parts])

    def _build(self) -> WordTable:
        plan = self.reader.plan_
        return dense_table(
            plan, np.arange(len(plan.n_symbols)), self.values, self.reader.row_mean()
        )


def _place(
    learned: Learned, numbers: np.ndarray, firsts: list[np.ndarray], out: list[np.ndarray]
) -> None:
    """Copy the numbers of some rows, in the order of `root_shares`, to the slots of their words."""
    start = 0
    for r in learned.rows.tolist():
        for first, slots in zip(firsts, out, strict=True):
            words = slots[first[r] : first[r + 1]].reshape(-1, slots.shape[2])
            # `kept` is sorted, so the words of this row and group are a slice of it
            a, b = np.searchsorted(learned.kept, [start, start + len(words)])
            words[learned.kept[a:b] - start] = numbers[a:b]
            start += len(words)


def root_shares(symbols: Symbols, plan: Plan, rows: np.ndarray) -> Any:
    """Return the roots of the shares of all words of rows of one alphabet, see `count_at_keys`.

    A sparse matrix, or an array if sequences are long; on a graphics card, a dense tensor.
    """
    engine = current_engine()
    if engine.name == "gpu":
        return on_gpu().root_shares(symbols, plan, rows, engine.device)
    read = [plan.kernel.row([symbols], r) for r in rows.tolist()]
    return count_at_keys(read, plan.groups(int(rows[0])), plan.n_levels, roots=True)


def rows_of_pieces(plan: Plan, n_places: float = 1) -> list[np.ndarray]:
    """Return a few rows for each piece: they stand side by side and have one alphabet.

    Many rows would leave the cache or take much memory, and a product of matrices with few columns
    is slower than its size. A row of a sequence has about `n_places` places for words.
    """
    # where the size of the alphabet changes
    cuts = np.flatnonzero(np.diff(plan.n_symbols, prepend=-1, append=-1))
    pieces = []
    for start, stop in pairwise(cuts.tolist()):
        size = sum(plan.n_symbols[start] ** group.length for group in plan.groups(start))
        step = int(np.clip(COLUMNS // max(min(size * len(plan.cells), n_places), 1), 1, ROWS))
        pieces += [np.arange(a, min(a + step, stop)) for a in range(start, stop, step)]
    return pieces

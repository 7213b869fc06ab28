"""Words counted plainly as a term: every method of the paper, strings, any kernel."""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from mvdfq.frames.base import fit_encoders
from mvdfq.gram.features import SequenceFeatures
from mvdfq.gram.kernel import SequenceKernel
from mvdfq.gram.sums import Gram
from mvdfq.gram.vocabulary import Buckets, all_words
from mvdfq.kernels import Kernel
from mvdfq.symbols.base import Symbols
from mvdfq.terms.base import Fitting, Source, Term, Work
from mvdfq.terms.feature_blocks import Block, MatrixBlock
from mvdfq.terms.fitted import FIRST_NAME, FittedTerm
from mvdfq.terms.plain_answers import FittedFeatures, FittedKernel, FittedPlain
from mvdfq.terms.standard import Learned

# If there can be more words than this, explicit features hash words to this many columns.
MANY_WORDS = 2**20


@dataclass(eq=False, repr=False)
class PlainTerm(Term):
    """Words that are counted plainly, by any kernel: `SequenceKernel` as a term of a sum.

    A plain term that stands alone keeps its kernel matrix as it is. In a sum of several terms,
    the kernel matrix is divided by the variance of its features.

    Parameters
    ----------
    symbols : quantizer
        Quantizer that turns numbers into symbols; None if the sequences are symbols.
    kernel : Kernel
        Kernel on rows of symbols: `Spectrum`, `Spatial`, ...
    frames : transformer, default=None
        Transformer of the numbers, applied before `symbols`.
    manifold : bool, default=False
        Whether to take square roots of the counts, see `SequenceKernel`.
    pyramid : int, default=1
        Number of levels of the temporal pyramid.
    gamma : float, default=None
        Parameter of a Hellinger RBF on top of the kernel; None uses no RBF.
    row_weights : sequence of float, default=None
        Weights of the rows of symbols; fewer weights than rows belong to blocks of rows of the
        same size. None gives every row the weight 1.
    n_features : int, default=None
        Number of columns that explicit features hash words to. None keeps one column per word if
        there can be at most 2**20 words, and hashes to 2**20 columns otherwise.
    name : str, default="words"
        Name of the term in explanations.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> triples = mvdfq.PlainTerm(mvdfq.DirectQuantizer(6), mvdfq.Spatial(t=3, k=1, d=3))
    >>> clf = mvdfq.SequenceClassifier(terms=[triples], C=10).fit(X, y)
    >>> clf.score(*mvdfq.load_japanese_vowels(split="test")) > 0.9
    True
    """

    symbols: Any
    kernel: Kernel
    _: KW_ONLY
    frames: Any = None
    manifold: bool = False
    pyramid: int = 1
    gamma: float | None = None
    row_weights: Sequence[float] | None = None
    n_features: int | None = None
    name: str = FIRST_NAME

    is_standard = False

    @property
    def reads_values(self) -> bool:  # type: ignore[override]
        """Whether the kernel compares the values themselves, without symbols."""
        return self.symbols is None

    @property
    def has_features(self) -> bool:  # type: ignore[override]
        """Whether the term can be learned from explicit features, block by block."""
        return self.kernel.has_features and self.gamma is None

    def check(self) -> None:
        """Raise an error for parameters that do not exist or cannot be combined."""
        if not isinstance(self.kernel, Kernel):
            raise TypeError(f"kernel must be a name or a kernel, got {self.kernel!r}.")
        if not isinstance(self.manifold, bool | np.bool_):
            raise ValueError(f"manifold must be True or False, got {self.manifold!r}.")

    def plain(self) -> "PlainTerm":
        """Return a copy of the term."""
        return clone(self)

    def fit(self, X: Any, y: np.ndarray, work: Work) -> Fitting:
        """Count the words of training sequences, and compute their kernel matrix."""
        return self.fitting(*fit_encoders([self.frames, self.symbols], X, y), work)

    def fitting(self, encoders: list[Any], symbols: Any, work: Work) -> Fitting:
        """Compute the kernel matrix, or explicit features, of encoded sequences."""
        about = self.name, encoders
        if work.linear:
            reader: Any = self._features(symbols, work)
            return PlainFitting(*about, reader, reader.fit_transform(symbols))
        # None: the sequences with themselves, which needs half of the products
        reader = self.kernel_of(symbols, work).set_params(gamma=self.gamma)
        values, result = reader.fit(symbols).compare(reader.train_, None, work.report)
        return PlainFitting(*about, reader, values, result)

    def source(self, X: Any, y: np.ndarray, work: Work) -> Source:
        """Return what counts the words of blocks of sequences."""
        return self.source_of(*fit_encoders([self.frames, self.symbols], X, y), work)

    def source_of(self, encoders: list[Any], symbols: Any, work: Work) -> Source:
        """Return the source of features whose columns are known before any sequence is read."""
        reader = self._features(symbols, work).fit_reader(symbols)
        # columns of a block must mean the same words in every block: all possible words, hashed
        # words, or the words of the sample if they cannot be listed without sequences
        if reader.n_features is None and not reader.plan_.counts_groups:
            reader.fit(symbols)
        else:
            n = reader.n_features
            reader.columns_ = all_words(reader.plan_) if n is None else Buckets(n)
            reader.n_features_out_ = reader.columns_.size
        make = partial(FittedFeatures.of, name=self.name, encoders=encoders, reader=reader)
        return PlainSource(None, encoders, make, reader)

    def kernel_of(self, symbols: Any, work: Work) -> SequenceKernel:
        """Return the kernel, not fitted, without the RBF on top of it."""
        return SequenceKernel(clone(self.kernel), **self._options(symbols, work))

    def _features(self, symbols: Any, work: Work) -> SequenceFeatures:
        n = self.n_features
        if n is None:
            # a bound on the number of words in all groups and cells: the whole, two halves, ...
            alphabets = symbols.n_symbols.tolist() if isinstance(symbols, Symbols) else []
            groups = [(size, group) for size in alphabets for group in self.kernel.groups(size)]
            most = (2**self.pyramid - 1) * sum(size**group.length for size, group in groups)
            n = None if alphabets and most <= MANY_WORDS else MANY_WORDS
        return SequenceFeatures(clone(self.kernel), n_features=n, **self._options(symbols, work))

    def _options(self, symbols: Any, work: Work) -> dict[str, Any]:
        weights, n_rows = self.row_weights, symbols.n_rows
        if weights is not None:
            given = np.ravel(weights)
            if not given.size or n_rows % given.size:
                wanted = f"a number of weights that divides {n_rows}, the number of rows"
                raise ValueError(f"row_weights must hold {wanted}, got {given.size}.")
            # one weight for each block of rows, such as the rows of one view
            weights = np.repeat(given, n_rows // given.size).tolist()
        return {
            "row_weights": weights,
            "manifold": self.manifold,
            "pyramid": self.pyramid,
            "constant_rows": "ignore",
            "memory_limit": work.memory_limit,
            "n_jobs": work.n_jobs,
        }


@dataclass
class PlainFitting(Fitting):
    """Words of training sequences: `values` is the kernel matrix, or sparse features.

    `result` are the norms of kernel values.
    """

    name: str
    encoders: list[Any]
    reader: Any
    values: Any
    result: Gram | None = None

    is_standard = False

    def __post_init__(self) -> None:
        self.size = 1.0  # sparse features stand alone; all sequences may be alike to the kernel
        if not sp.issparse(self.values):
            # the trace of the centred matrix, without centring it
            spread = float(np.trace(self.values) / len(self.values) - self.values.mean())
            self.size = spread if spread > 0 else 1.0

    def finish(self, coefficients: np.ndarray, share: float) -> FittedPlain:
        """Return the term, with its training sequences or their features."""
        about: Any = {"name": self.name, "encoders": self.encoders, "reader": self.reader}
        if self.result is None:
            return FittedFeatures.of(coefficients, share, kept=self.values, **about)
        about |= {"norms": self.result.left, "scale": self.result.scale}
        return FittedKernel.of(coefficients, share, **about)


@dataclass(frozen=True)
class PlainSource(Source):
    """Counts the words of blocks of sequences, for kernels and alphabets of any kind."""

    reader: SequenceFeatures

    @property
    def pieces(self) -> list[tuple[np.ndarray, int, np.ndarray]]:
        """One piece of all columns."""
        n = self.reader.n_features_out_
        return [(np.arange(1), n, np.arange(n))]

    def read(self, X: Any) -> Any:
        """Encode sequences; return the rows in use."""
        return self.reader.read_new(super().read(X))

    def block(self, read: Any) -> Block:
        """Count the words of some sequences."""
        return MatrixBlock(self.reader.values(read).astype(np.float32))

    def finish(self, learned: Iterable[Learned], share: float, train: Any) -> FittedTerm:
        """Return the term, with the features of the training sequences."""
        (words,) = learned
        kept = None if train is None else self.reader.values(train)
        return self.make(words.weights, share, kept=kept)

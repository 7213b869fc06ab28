"""SequenceFeatures: sequences in, a sparse matrix of counted words out."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from mvdfq._engines.choice import engine_of
from mvdfq.gram import vocabulary as words
from mvdfq.gram.base import SequenceMap, warn_wordless
from mvdfq.gram.plan import inverse_root
from mvdfq.gram.vocabulary import Buckets, Vocabulary, WordCounts
from mvdfq.sequences import Ragged


@dataclass(eq=False, repr=False, kw_only=True)
class SequenceFeatures(SequenceMap):
    r"""Count words into a sparse matrix whose inner products are the kernel.

    .. math:: \psi_{rgu}(x) = \sqrt{w_r w_g} \, \phi_{rgu}(x), \qquad
              K(x, y) = \langle \psi(x), \psi(y) \rangle

    A linear model on these features is the kernel model, at a cost linear in the number of
    sequences. Columns are the words of the training sequences; words first seen later have no
    column, but they count in the normalization. With ``normalize=False``,
    `StandardScaler(with_mean=False)` and `Normalizer`, or `TfidfTransformer`, weigh the words.

    Parameters
    ----------
    kernel : Kernel, default=None
        The kernel whose words are counted; None means ``Spectrum()``. Kernels without explicit
        words (`MismatchPairs`, `Subsequence` without `max_span`) raise an error.
    manifold, normalize, row_norm : see `SequenceKernel`
        Square roots of shares; whether sequences, or rows, are brought to unit length.
    row_weights, group_weights, pyramid, n_symbols, constant_rows : see `SequenceKernel`
        Weights of rows and of groups of layouts, levels of the pyramid, alphabets, constant rows.
    memory_limit : int or str, default=None
        Limit for the computation, without its input and its result: bytes, or text such as
        ``"500 MB"``. The default is 2 GiB. A collection that needs more is counted in portions,
        twice in `fit_transform` unless words are hashed. If the result does not fit into the
        memory of the machine, an error says so first.
    n_jobs, engine : see `SequenceKernel`
        Number of threads, and where to compute.
    n_features : int, default=None
        Hash words to this many columns, so that no vocabulary is kept; words in the same column
        add their counts. None gives every word its own column.

    Attributes
    ----------
    n_features_out_ : int
        Number of columns.

    Examples
    --------
    >>> from mvdfq import SequenceFeatures, Spectrum
    >>> features = SequenceFeatures(Spectrum(k=1), normalize=False)
    >>> features.fit_transform(["ABA", "BB"]).toarray()
    array([[2., 1.],
           [0., 2.]])
    >>> features.get_feature_names_out()
    array(['row 0, +0: A', 'row 0, +0: B'], dtype=object)
    """

    n_features: int | None = None

    def values(self, collection: Any, counted: list[WordCounts] | None = None) -> sp.csr_array:
        """Count the words of a collection that `read_new` returned."""
        features, own = self._counted(collection, counted)
        warn_wordless(own)
        return features

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return what each column counts: row, offsets, part of the pyramid and symbols.

        A name is such as ``"row 0, +0+1+2: 3 3 4"``; `input_features` is ignored.
        """
        check_is_fitted(self)
        letters = None if self.letters_ is None else self.letters_.alphabets_
        alphabets = None if letters is None else [letters[r] for r in self.rows_]
        return self.columns_.names(self.plan_, [self.row_names_[r] for r in self.rows_], alphabets)

    def fit_reader(self, symbols: Any) -> "SequenceFeatures":
        """Freeze alphabets and plan, for `read_new`; no word is listed, no sequence is needed."""
        self._fit_plan(symbols, listed=True)
        return self

    def _fit(self, X: Any) -> tuple[Ragged, list[WordCounts] | None]:
        """Find out which words have a column; return the counts if they fit into memory at once."""
        collection = self._fit_plan(X, listed=True)
        if not self.kernel_.has_features:
            hint = "SequenceKernel computes its values"
            raise ValueError(f"{self.kernel_!r} has no explicit features; {hint}.")
        if self.n_features is not None:
            self.columns_: Vocabulary | Buckets = Buckets(self.n_features)
            counted = None
        else:
            cuts = words.portions(collection, self.plan_, self.memory_limit, self.n_jobs)
            # too much for one pass: list the words first; they are counted again for the result
            counted = self._words(collection) if len(cuts) == 1 else None
            parts = (self._words(collection[cut]) for cut in cuts) if counted is None else [counted]
            self.columns_ = words.vocabulary_of(parts)
        self.n_features_out_ = self.columns_.size
        return collection, counted

    def _counted(
        self, collection: Ragged, counted: list[WordCounts] | None = None
    ) -> tuple[sp.csr_array, np.ndarray]:
        """Return the features of a collection and their squared lengths.

        The words are counted in portions, unless they were `counted` before.
        """
        if counted is not None:
            return self._assembled(len(collection), counted)
        cuts = words.portions(collection, self.plan_, self.memory_limit, self.n_jobs)
        parts = ((cut.stop - cut.start, self._words(collection[cut])) for cut in cuts)
        return words.stacked(self._assembled(*part) for part in parts)

    def norms(self, collection: Any) -> np.ndarray:
        """Return the squared lengths of the features of a collection, before normalization."""
        return self._counted(collection)[1]

    def _words(self, collection: Ragged) -> list[WordCounts]:
        with engine_of(self):
            return words.count_words(collection, self.plan_, self.n_jobs)

    def _assembled(self, n: int, counted: list[WordCounts]) -> tuple[sp.csr_array, np.ndarray]:
        """Put the counts into columns; embed, weight and normalize the counts."""
        features, own = words.assemble(counted, self.columns_, n, self.plan_)
        scale = inverse_root(own) if self.normalize else self.row_mean() ** -0.5
        # one number for all sequences, or one number per sequence
        scale = np.broadcast_to(scale, own.shape)
        features.data *= np.repeat(scale, np.diff(features.indptr))
        features.eliminate_zeros()  # of rows with the weight 0
        return features, own

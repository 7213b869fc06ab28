"""SequenceKernel: sequences in, a Gram matrix out."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mvdfq._engines.choice import engine_of
from mvdfq.gram.base import SequenceMap, warn_wordless
from mvdfq.gram.plan import inverse_root
from mvdfq.gram.sums import Gram
from mvdfq.gram.tiles import Report, gram
from mvdfq.sequences import Ragged


@dataclass(eq=False, repr=False, kw_only=True)
class SequenceKernel(SequenceMap):
    r"""Compare every sequence with the sequences of `fit`: a Gram matrix as a transformer.

    .. math:: K(x, y) = \sum_r w_r \sum_g w_g \sum_u \phi_{rgu}(x) \, \phi_{rgu}(y)

    where :math:`\phi_{rgu}(x)` counts the word `u` in row `r` as read by group `g` of the
    kernel's layouts; the weights of rows and groups are 1 by default. Put `SequenceKernel`
    before ``SVC(kernel="precomputed")`` in a pipeline: `fit_transform` returns K(train, train),
    `transform` returns K(new, train). The time of counting is linear in the length of the
    sequences, the number of rows and the number of layouts.

    Parameters
    ----------
    kernel : Kernel, default=None
        The kernel: `Spectrum`, `Spatial`, `Mismatch`, ...; None means ``Spectrum()``.
    manifold : bool, default=False
        Manifold embedding: counts of a row are divided by their sum and replaced by their
        square roots, :math:`\phi = \sqrt{c / \sum c}`; rows are averaged. The roots are in
        single precision: values are exact to 1e-6, and an eigenvalue may be as little below 0.
    normalize : bool, default=True
        Divide by :math:`\sqrt{K(x, x) K(y, y)}`. A sequence without any word has kernel
        values 0.
    row_norm : {"none", "cosine"}, default="none"
        ``"cosine"`` scales every row to unit length and averages, so that rows with few
        symbols do not dominate. With the manifold embedding, rows already have unit length,
        unless groups are weighted.
    row_weights : sequence of float, default=None
        One non-negative weight per row, for its Gram matrix.
    group_weights : sequence of float, default=None
        One non-negative weight per group of layouts, for its Gram matrix.
    pyramid : int, default=1
        Number of levels of the temporal pyramid: words are also counted in the halves, quarters,
        ... of each sequence. The frames at which a word of a layout can begin are cut into equal
        parts, and the word belongs to the part in which the word begins.
    n_symbols : int or sequence of int, default=None
        Size of the alphabet if X holds plain integers; None means one more than the largest symbol
        of the training sequences. `Mismatch` depends on this size.
    constant_rows : {"drop", "keep", "ignore"}, default="drop"
        What happens to rows that hold at most one symbol in all training sequences: "drop" leaves
        such rows out with a warning, "ignore" without a warning. If all rows are constant, all
        rows stay.
    memory_limit : int or str, default=None
        Limit for the computation, without its input and its result: bytes, or text such as
        ``"500 MB"``. The default is 2 GiB.
    n_jobs : int, default=None
        Number of threads; -1 means all processors. Results stay the same.
    engine : {"cpu", "gpu", "auto", "dask"} or str, default=None
        Where to compute, as in `mvdfq.use_engine`; None means the engine of `use_engine`, else
        the processor.
    gamma : float, default=None
        Return the Hellinger RBF :math:`\exp(-\gamma (2 - 2 K))` of the normalized kernel.

    Attributes
    ----------
    n_symbols_ : ndarray of shape (n_rows,)
        Alphabet size of each row, frozen at fit.
    rows_ : ndarray
        The rows in use.
    train_ : Symbols
        The training sequences; new sequences are compared with them.

    References
    ----------
    .. [1] P. P. Kuksa, "Efficient multivariate kernels for sequence classification",
       arXiv:1409.8211, 2014.

    Examples
    --------
    >>> from mvdfq import SequenceKernel, Spectrum
    >>> kernel = SequenceKernel(Spectrum(k=2), manifold=True).fit(["ABAB", "ABBA"])
    >>> kernel.transform(["ABA"]).round(3)
    array([[0.986, 0.816]])
    """

    gamma: float | None = None

    train_: Ragged = field(init=False)

    def _fit(self, X: Any) -> tuple[Ragged]:
        self.train_ = self._fit_plan(X, listed=False)
        return (self.train_,)

    def values(self, collection: Any) -> np.ndarray:
        """Compare a collection that `read_new` returned with `train_`."""
        return self.compare(collection, None if collection is self.train_ else self.train_)[0]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return ``"sequence 0"``, ``"sequence 1"``, ...: one column per sequence of `fit`."""
        check_is_fitted(self)
        return np.array([f"sequence {i}" for i in range(len(self.train_))], dtype=object)

    def diagonal(self, X: Any) -> np.ndarray:
        """Return ``K(x, x)`` of every sequence, before normalization, 0 without words."""
        left = self.read_new(X)
        return self._gram(left, left[:0]).left / self.row_mean()

    def _gram(self, left: Ragged, right: Ragged | None, progress: Any = None) -> Gram:
        plan, n_jobs, limit = self.plan_, self.n_jobs, self.memory_limit
        with engine_of(self):
            return gram(left, right, plan, n_jobs=n_jobs, memory_limit=limit, progress=progress)

    def compare(
        self, left: Ragged, right: Ragged | None, progress: Report | None = None
    ) -> tuple[np.ndarray, Gram]:
        """Compare collections of the rows in use, such as `train_`; None compares `left` itself.

        Returns the kernel values, and the norms of the sequences and of their rows.
        """
        result = self._gram(left, right, progress)
        warn_wordless(result.left)
        return self.finished(result, is_square=right is None), result

    def finished(self, result: Gram, is_square: bool) -> np.ndarray:
        """Turn sums of products into kernel values, in place, as the parameters say.

        `is_square` says whether rows and columns are the same sequences.
        """
        K = result.values
        if not self.normalize:
            K /= self.row_mean()
            return K
        left, right = inverse_root(result.left), inverse_root(result.right)
        for first in range(0, len(K), 256):  # some rows at a time, to save memory
            rows = slice(first, first + 256)
            # one product of both scales keeps a symmetric matrix symmetric to the last bit
            K[rows] *= np.outer(left[rows], right)
        if is_square:
            np.fill_diagonal(K, result.left > 0)  # exactly 1, without rounding errors
        # 2 - 2 K is the squared distance of two normalized sequences
        return K if self.gamma is None else np.exp(-float(self.gamma) * (2 - 2 * K))

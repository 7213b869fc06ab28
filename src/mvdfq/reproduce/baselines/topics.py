"""Topics behind codewords: probabilistic latent semantic analysis of counts."""

import warnings
from typing import Any

import numpy as np
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from mvdfq._utils.checks import check_whole
from mvdfq.reproduce.baselines.base import VectorClassifier
from mvdfq.sequences import Sequences
from mvdfq.symbols import CodebookQuantizer

__all__ = ["PLSA", "codeword_counts", "fold_in"]

# Rounds of folding in; the likelihood has one maximum, and this comes near enough.
ROUNDS = 50


class PLSA(VectorClassifier):
    r"""Describe a sequence by the shares that a few topics have in its codewords.

    Frames become codewords; the counts :math:`n_{iw}` of codeword :math:`w` in sequence
    :math:`i` are modelled by

    .. math:: p(w \mid i) = \sum_z p(w \mid z)\, p(z \mid i)

    and :math:`p(z \mid i)` is the vector. Its likelihood is largest where the divergence of
    Kullback and Leibler between counts and a product of two non-negative matrices is least,
    and that is how it is found. Frames with NaN do not count. Costs O(N D T) a round for N
    sequences, D codewords and T topics, besides the codebook.

    Parameters
    ----------
    n_topics : int, default=50
        Number of topics.

    n_codewords : int, default=1024
        Size of the codebook; see `mvdfq.CodebookQuantizer`.

    max_iter : int, default=200
        Most rounds of the factorization.

    cv : int, default=5
        Folds of the inner validation; fewer if a class is smaller.

    random_state : int, default=0
        Seed of the codebook, the topics and the folds.

    Attributes
    ----------
    quantizer_ : CodebookQuantizer
        The codebook.

    topics_ : NMF
        The topics; its ``components_`` are :math:`p(w \mid z)` up to a factor.

    Examples
    --------
    >>> import mvdfq
    >>> from mvdfq.reproduce.baselines import PLSA
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> X_test, y_test = mvdfq.load_japanese_vowels(split="test")
    >>> clf = PLSA(n_topics=20, n_codewords=128).fit(X, y)
    >>> clf.score(X_test, y_test) > 0.8
    True
    """

    def __init__(
        self,
        n_topics: int = 50,
        *,
        n_codewords: int = 1024,
        max_iter: int = 200,
        cv: int = 5,
        random_state: int | None = 0,
    ) -> None:
        super().__init__(cv=cv, random_state=random_state)
        self.n_topics = n_topics
        self.n_codewords = n_codewords
        self.max_iter = max_iter

    def _check(self, X: Sequences) -> None:
        for name in ("n_topics", "n_codewords", "max_iter"):
            check_whole(getattr(self, name), name)

    def _fit_vectors(self, X: Sequences) -> np.ndarray:
        self.quantizer_ = CodebookQuantizer(self.n_codewords, random_state=self.random_state)
        counts = codeword_counts(self.quantizer_.fit_transform(X))
        self.topics_ = NMF(
            self.n_topics,
            init="random",
            solver="mu",
            beta_loss="kullback-leibler",
            max_iter=self.max_iter,
            random_state=self.random_state,
        )
        with warnings.catch_warnings():
            # More rounds change the topics little; their number is the user's to set.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.topics_.fit(counts)
        # Learned from as they are predicted: with the topics held fixed.
        return self._shares(counts)

    def _vectors(self, X: Sequences) -> np.ndarray:
        return self._shares(codeword_counts(self.quantizer_.transform(X)))

    def _shares(self, counts: np.ndarray) -> np.ndarray:
        topics = self.topics_.components_
        return fold_in(counts, topics / topics.sum(axis=1, keepdims=True))


def fold_in(counts: np.ndarray, topics: np.ndarray) -> np.ndarray:
    """Find the shares of given topics by expectation maximization, from equal ones.

    The factorization could do it too, but stops for all sequences at once: what is said of one
    would depend on the others.

    Examples
    --------
    >>> topics = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    >>> fold_in(np.array([[1.0, 1.0, 6.0]]), topics)
    array([[0.25, 0.75]])
    """
    topics = np.maximum(topics, np.finfo(float).eps)  # every codeword may occur in every topic
    shares = np.full((len(counts), len(topics)), 1 / len(topics))
    for _ in range(ROUNDS):
        shares *= (counts / (shares @ topics)) @ topics.T
        shares /= shares.sum(axis=1, keepdims=True)
    return shares


def codeword_counts(symbols: Any) -> np.ndarray:
    """How often each codeword occurs in each sequence; none may be without any.

    Examples
    --------
    >>> quantizer = CodebookQuantizer(2).fit([[0.0, 9.0]])
    >>> codeword_counts(quantizer.transform([[0.0, 0.0, 9.0], [9.0]])).sum(axis=1)
    array([3., 1.])
    """
    size = int(symbols.n_symbols[0])
    # A missing frame has a code beyond all codewords.
    rows = [np.bincount(codes[0][codes[0] < size], minlength=size) for codes in symbols]
    counts = np.array(rows, dtype=float)
    for i in np.flatnonzero(counts.sum(axis=1) == 0):
        raise ValueError(f"Sequence {i} has no frame without missing values; leave it out.")
    return counts

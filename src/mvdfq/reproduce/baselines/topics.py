"""Topics: a sequence as a bag of codewords, which a few topics explain."""

import warnings
from typing import Any

import numpy as np
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from mvdfq._utils.checks import check_whole
from mvdfq.reproduce.baselines.base import SEED, VectorClassifier
from mvdfq.sequences import Sequences
from mvdfq.symbols import CodebookQuantizer

__all__ = ["PLSA", "codeword_counts", "fold_in"]

# Rounds of folding in: the likelihood has one maximum, and 50 rounds come near it.
ROUNDS = 50


class PLSA(VectorClassifier):
    r"""Describe a sequence by the shares that a few topics have in its codewords.

    The counts of codewords :math:`w` in sequence :math:`i` are modelled by

    .. math:: p(w \mid i) = \sum_z p(w \mid z)\, p(z \mid i)

    and :math:`p(z \mid i)` is the vector. Topics of the largest likelihood are a factorization of
    the counts into non-negative matrices with the least Kullback-Leibler divergence. Frames with
    NaN do not count.

    Parameters
    ----------
    n_topics : int, default=50
        Number of topics.

    n_codewords : int, default=1024
        Size of the codebook, see `mvdfq.CodebookQuantizer`.

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

    def __init__(self, n_topics: int = 50, *, n_codewords: int = 1024) -> None:
        self.n_topics = n_topics
        self.n_codewords = n_codewords

    def _check(self, X: Sequences) -> None:
        for name in ("n_topics", "n_codewords"):
            check_whole(getattr(self, name), name)

    def _fit_vectors(self, X: Sequences) -> np.ndarray:
        self.quantizer_ = CodebookQuantizer(self.n_codewords, random_state=SEED)
        counts = codeword_counts(self.quantizer_.fit_transform(X))
        self.topics_ = NMF(
            self.n_topics,
            init="random",
            solver="mu",
            beta_loss="kullback-leibler",
            random_state=SEED,
        )
        with warnings.catch_warnings():
            # More than the 200 rounds of NMF change the topics little.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.topics_.fit(counts)
        # Training and test sequences are described in the same way: with fixed topics.
        return self._shares(counts)

    def _vectors(self, X: Sequences) -> np.ndarray:
        return self._shares(codeword_counts(self.quantizer_.transform(X)))

    def _shares(self, counts: np.ndarray) -> np.ndarray:
        topics = self.topics_.components_
        return fold_in(counts, topics / topics.sum(axis=1, keepdims=True))


def fold_in(counts: np.ndarray, topics: np.ndarray) -> np.ndarray:
    """Return the shares of given topics, by expectation maximization from equal shares.

    `NMF.transform` stops for all sequences at once, so the shares of a sequence would depend on
    the other sequences.
    """
    topics = np.maximum(topics, np.finfo(float).eps)  # every codeword may occur in every topic
    shares = np.full((len(counts), len(topics)), 1 / len(topics))
    for _ in range(ROUNDS):
        shares *= (counts / (shares @ topics)) @ topics.T
        shares /= shares.sum(axis=1, keepdims=True)
    return shares


def codeword_counts(symbols: Any) -> np.ndarray:
    """Return how often each codeword occurs in each sequence."""
    size = int(symbols.n_symbols[0])
    # The code of a missing frame is larger than the codes of all codewords.
    rows = [np.bincount(codes[0][codes[0] < size], minlength=size) for codes in symbols]
    counts = np.array(rows, dtype=float)
    for i in np.flatnonzero(counts.sum(axis=1) == 0):
        raise ValueError(f"Sequence {i} has no frame without missing values; leave it out.")
    return counts

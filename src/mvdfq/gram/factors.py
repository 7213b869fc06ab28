"""Factors of words: the number that multiplies the column of each word."""

from dataclasses import dataclass

import numpy as np

from mvdfq.kernels.keys import find_sorted, find_words, word_keys

__all__ = ["WordFactors"]


@dataclass(frozen=True)
class WordFactors:
    """The words of one task that count, and their factors.

    `words` is a matrix of codes in ascending order, `values` holds one positive factor per word.
    All other words have the factor 0.
    """

    words: np.ndarray
    values: np.ndarray

    def of(self, words: np.ndarray, base: int) -> np.ndarray:
        """Return the factor of each word of an ascending list of keys in `base`, or of codes."""
        if words.ndim == 1:
            places = find_sorted(words, word_keys(self.words, base))
        else:
            places = find_words(words, self.words)
        factors = np.zeros(len(words))
        factors[places[places >= 0]] = self.values[places >= 0]
        return factors

    def of_all(self, n_words: int, base: int) -> np.ndarray:
        """Return the factors of all words with a key below `n_words`, in the order of the keys."""
        factors = np.zeros(n_words)
        factors[word_keys(self.words, base).astype(np.int64)] = self.values
        return factors

"""Words as numbers (keys), and back."""

import numpy as np

from mvdfq._engines.cpu import bits
from mvdfq.symbols.base import code_dtype

# Keys, and everything that is packed together with a key, are 64 bits wide.
KEY_BITS = 64


def word_codes(words: np.ndarray, base: int, length: int) -> np.ndarray:
    """Write words as a matrix of codes, one row for each word.

    >>> word_codes(np.array([34, 10], dtype=np.uint64), base=10, length=2)
    array([[3, 4],
           [1, 0]], dtype=uint8)
    """
    if words.ndim == 2:
        return words
    codes = np.empty((len(words), length), dtype=code_dtype(base))
    for place in reversed(range(length)):
        words, codes[:, place] = np.divmod(words, np.uint64(base))
    return codes


def word_keys(words: np.ndarray, base: int) -> np.ndarray:
    """Read rows of codes as numbers in base `base`; `word_codes` is the way back.

    >>> word_keys(np.array([[3, 4], [1, 0]]), base=10)
    array([34, 10], dtype=uint64)
    """
    keys = np.zeros(len(words), dtype=np.uint64)
    for digit in words.T:
        keys = keys * np.uint64(base) + digit.astype(np.uint64)
    return keys


def find_words(vocabulary: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Return the index of each word in a sorted vocabulary, -1 for an unknown word.

    >>> find_words(np.array([[0, 1], [2, 0]]), np.array([[2, 0], [1, 1]]))
    array([ 1, -1])
    """
    keys = pack_words(np.concatenate([vocabulary, words]))
    return find_sorted(keys[: len(vocabulary)], keys[len(vocabulary) :])


def find_sorted(known: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the index of each wanted key among ascending keys, -1 for an unknown key.

    >>> find_sorted(np.array([1, 20], np.uint64), np.array([20, 11], np.uint64))
    array([ 1, -1])
    """
    places = np.searchsorted(known, wanted)
    hit = np.append(known, np.uint64(0))[places] == wanted
    return np.where(hit & (places < len(known)), places, -1)


def rank_words(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rank of each word among the distinct words, and where each rank occurs first.

    >>> rank_words(np.array([[5, 7], [1, 9], [5, 7]]))
    (array([1, 0, 1], dtype=uint64), array([1, 0]))
    """
    _, first, ranks = np.unique(pack_words(words), return_index=True, return_inverse=True)
    return ranks.astype(np.uint64), first


def pack_words(words: np.ndarray) -> np.ndarray:
    """Turn the rows of a matrix of codes into numbers with the same order.

    Equal rows become equal numbers. Where 64 bits are full, the prefix is replaced by its rank.

    >>> pack_words(np.array([[5, 7], [1, 9]]))
    array([57, 19], dtype=uint64)
    """
    prefix, n_prefixes = np.zeros(len(words), dtype=np.uint64), 1
    for digit in words.T:
        base = int(digit.max(initial=0)) + 1
        if bits(n_prefixes * base) > KEY_BITS:
            distinct, ranks = np.unique(prefix, return_inverse=True)
            prefix, n_prefixes = ranks.astype(np.uint64), len(distinct)
        prefix = prefix * np.uint64(base) + digit.astype(np.uint64)
        n_prefixes *= base
    return prefix

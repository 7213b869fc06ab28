"""Products of counted words with weights, and back: compiled loops without checks.

A row of symbols of some sequences is a sparse matrix of counts: sequence ``s`` holds the words
``columns[indptr[s]:indptr[s + 1]]`` with the counts at the same places. The value of a word is the
root of its count, times the scale of the sequence.
"""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def weigh_counts(indptr, columns, counts, scale, weights, out):
    """Add the weights of the words of every sequence, times their values, to `out`.

    `weights` is (n_words, n_columns), `out` (n_sequences, n_columns), both float32.
    """
    for s in range(indptr.size - 1):
        for e in range(indptr[s], indptr[s + 1]):
            value = np.float32(np.sqrt(np.float32(counts[e])) * scale[s])
            word = np.int64(columns[e])
            for c in range(out.shape[1]):
                out[s, c] += value * weights[word, c]


@njit(nogil=True, cache=True)
def gather_counts(indptr, columns, counts, scale, slopes, out):
    """Add to every word its values times the slopes of the sequences: the transposed product.

    `slopes` is (n_sequences, n_columns), `out` (n_words, n_columns), both float32.
    """
    for s in range(indptr.size - 1):
        for e in range(indptr[s], indptr[s + 1]):
            value = np.float32(np.sqrt(np.float32(counts[e])) * scale[s])
            word = np.int64(columns[e])
            for c in range(out.shape[1]):
                out[word, c] += value * slopes[s, c]


@njit(nogil=True, cache=True)
def sum_counts(indptr, columns, counts, scale, weight, held, total, squares):
    """Add to every word its number of sequences, the sum of its values and of their squares.

    Sequence ``s`` counts ``weight[s]`` times.
    """
    for s in range(indptr.size - 1):
        for e in range(indptr[s], indptr[s + 1]):
            value = np.sqrt(np.float32(counts[e])) * scale[s]
            word = np.int64(columns[e])
            held[word] += weight[s]
            total[word] += weight[s] * value
            squares[word] += weight[s] * (value * value)

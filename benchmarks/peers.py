"""What a user could write instead: the same Gram matrices by numpy, scipy and scikit-learn.

Each takes rows of codes of shape (n_rows, n_sequences, n_frames) and returns the sum over rows.
"""

from itertools import combinations

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer


def word_keys(codes, offsets, base, width):
    """Read the symbols at `offsets` of every window of `width` frames as one number."""
    n = codes.shape[1] - width + 1
    keys = np.zeros((len(codes), n), dtype=np.int64)
    for o in offsets:
        keys = keys * base + codes[:, o : o + n]
    return keys


def scipy_product(keys, root):
    """Counts as a sparse matrix, multiplied by itself."""
    words, columns = np.unique(keys, return_inverse=True)
    rows = np.repeat(np.arange(len(keys)), keys.shape[1])
    ones = np.ones(keys.size)
    shape = len(keys), len(words)
    counts = sp.coo_array((ones, (rows, columns.ravel())), shape=shape).tocsr()
    if root:
        counts.data = np.sqrt(counts.data / keys.shape[1])
    return (counts @ counts.T).toarray()


def scipy_gram(rows, layouts, base, root=False):
    """Sum of `scipy_product` over rows and layouts."""
    return sum(
        scipy_product(word_keys(row, offsets, base, offsets[-1] + 1), root)
        for row in rows
        for offsets in layouts
    )


def bincount_gram(rows, layouts, base, root=False):
    """Counts as a dense table, multiplied by itself: for small alphabets."""
    total = 0
    for row in rows:
        for offsets in layouts:
            keys = word_keys(row, offsets, base, offsets[-1] + 1)
            n_words = base ** len(offsets)
            flat = keys + n_words * np.arange(len(keys))[:, None]
            table = np.bincount(flat.ravel(), minlength=n_words * len(keys))
            table = table.reshape(len(keys), n_words).astype(np.float32)
            table = np.sqrt(table / keys.shape[1]) if root else table
            total = total + table @ table.T
    return total


def vectorizer_gram(rows, k, root=False):
    """Rows as text of one-letter symbols, counted by scikit-learn."""
    total = 0
    for row in rows:
        texts = ["".join(map(chr, 200 + codes)) for codes in row.astype(int)]
        counts = CountVectorizer(analyzer="char", ngram_range=(k, k), lowercase=False)
        counts = counts.fit_transform(texts).astype(float)
        if root:
            counts.data = np.sqrt(counts.data / (row.shape[1] - k + 1))
        total = total + (counts @ counts.T).toarray()
    return total


def scipy_mismatch(codes, k, weights, base, share=1.0):
    """Weighted matches of gapped words, as in Kuksa et al. 2008; or a share of its rounds."""
    rounds = [(w, kept) for j, w in enumerate(weights) for kept in combinations(range(k), k - j)]
    rounds = rounds[:: round(1 / share)]
    return sum(w * scipy_product(word_keys(codes, kept, base, k), False) for w, kept in rounds)

"""The bridge between fast and naive: the same sequences and settings, given to both.

In tests a sequence is a list of rows, a row a list of symbols, None where one is missing.
"""

from functools import partial

import numpy as np

from mvdfq import SequenceFeatures, SequenceKernel, Symbols
from naive import kernels as naive


def random_sequences(rng, lengths, n_symbols, missing=0.0):
    """One sequence of each length; a row for each alphabet size in `n_symbols`."""
    return [
        [
            [None if rng.random() < missing else int(rng.integers(s)) for _ in range(length)]
            for s in n_symbols
        ]
        for length in lengths
    ]


def as_symbols(X, n_symbols):
    """The sequences as the fast kernels read them, in the smallest dtype."""
    sizes = np.broadcast_to(n_symbols, len(X[0])).astype(np.int64)
    largest = max([v for x in X for row in x for v in row if v is not None], default=0)
    dtype = np.min_scalar_type(int(max(largest + 1, sizes.max())))
    missing = np.iinfo(dtype).max
    arrays = [np.array([[missing if v is None else v for v in row] for row in x]) for x in X]
    data = np.concatenate(arrays, axis=1).astype(dtype)
    offsets = np.cumsum([0] + [x.shape[1] for x in arrays])
    return Symbols(data, offsets, n_symbols=sizes)


def fast_gram(kernel, A, B, n_symbols, **options):
    """K(A, B) of a `SequenceKernel` fitted to `B`."""
    fitted = SequenceKernel(kernel, **options).fit(as_symbols(B, n_symbols))
    return fitted.transform(as_symbols(A, n_symbols))


def fast_features(kernel, A, B, n_symbols, **options):
    """Features of `A` by a `SequenceFeatures` fitted to `B`."""
    fitted = SequenceFeatures(kernel, **options).fit(as_symbols(B, n_symbols))
    return fitted.transform(as_symbols(A, n_symbols))


def naive_gram(kernel, A, B, n_symbols, constant_rows="drop", row_weights=None, **options):
    """The same by the slow twin of `kernel`."""
    rows = naive.varying_rows(B) if constant_rows == "drop" else list(range(len(B[0])))
    if row_weights is not None:
        options["row_weights"] = [row_weights[r] for r in rows]
    A, B = ([[x[r] for r in rows] for x in X] for X in (A, B))
    if type(kernel).__name__ == "MismatchPairs":
        compare = partial(naive.mismatch_pairs, **kernel.get_params())
        return np.array(naive.gram_of_rows(A, B, compare, **options))
    sizes = np.broadcast_to(n_symbols, max(rows) + 1)[rows].tolist()
    kernels = [twin(kernel, s) for s in sizes]
    return np.array(naive.gram(A, B, kernels, vocabularies=vocabularies(kernel, B), **options))


def naive_counts(kernel, A, B, n_symbols, pyramid=1):
    """Counts of every feature of every row, (row, feature) -> count, sequence by sequence."""
    kernels = [twin(kernel, s) for s in np.broadcast_to(n_symbols, len(B[0])).tolist()]
    words = vocabularies(kernel, B)

    def counts(x):
        for r, row in enumerate(x):
            found = naive.features(row, kernels[r], pyramid)
            found = found if words is None else naive.restrict(found, words[r])
            yield from (((r, key), n) for key, n in found.items())

    return [dict(counts(x)) for x in A]


def twin(kernel, n_symbols):
    """The slow generator of occurrences for a kernel of mvdfq."""
    params = kernel.get_params()
    if params.pop("neighbourhood", None):
        params["n_symbols"] = n_symbols
    return partial(getattr(naive, type(kernel).__name__.lower()), **params)


def vocabularies(kernel, train):
    """The words that count, for each row; None if all do."""
    params = kernel.get_params()
    if params.get("neighbourhood") != "observed":
        return None
    return [
        naive.observed(rows, params["k"], params["dilation"]) for rows in zip(*train, strict=True)
    ]


def n_groups(kernel):
    """How many groups of layouts a kernel has, counted on a row long enough for all."""
    return 1 + max(group for group, *_ in twin(kernel, 2)([0, 1] * 12))

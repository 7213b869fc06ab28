"""Turn distinct values into consecutive codes, and codes into `Symbols`."""

from collections.abc import Sequence

import numpy as np

from mvdfq.sequences import Ragged
from mvdfq.symbols.base import Symbols, code_dtype

__all__ = ["MISSING", "as_symbols", "encode_values", "to_symbols"]

# Code of a missing value in arrays of signed codes.
MISSING = -1


def encode_values(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the code of every value: its index in the sorted array `known`.

    NaN becomes `MISSING`. Unknown values get codes from ``len(known)`` upwards, in sorted order;
    equal values get equal codes within one call. Cost: O(n log n).
    """
    codes = np.searchsorted(known, values)
    is_known = np.take(known, codes, mode="clip") == values if known.size else np.zeros(1, bool)
    fresh = ~is_known & ~np.isnan(values)
    codes[np.isnan(values)] = MISSING
    if fresh.any():
        _, places = np.unique(values[fresh], return_inverse=True)
        codes[fresh] = known.size + places
    return codes


def to_symbols(
    X: Ragged, rows: Sequence[np.ndarray], n_symbols: np.ndarray, names: tuple[str, ...] | None
) -> Symbols:
    """Return rows of signed codes, with `MISSING`, as `Symbols` in the smallest dtype."""
    largest = max((int(row.max()) for row in rows if row.size), default=-1)
    dtype = code_dtype(max(largest + 1, int(n_symbols.max())))
    data = np.empty((len(rows), X.data.shape[1]), dtype)
    for row, codes in zip(data, rows, strict=True):
        row[:] = codes.astype(dtype)
        row[codes == MISSING] = np.iinfo(dtype).max
    return as_symbols(X, data, n_symbols, names)


def as_symbols(
    X: Ragged, data: np.ndarray, n_symbols: np.ndarray, names: tuple[str, ...] | None
) -> Symbols:
    """Return codes in their final dtype as `Symbols` with the offsets and rate of `X`."""
    return Symbols(data, X.offsets, names, X.sampling_rate, n_symbols=n_symbols.copy())

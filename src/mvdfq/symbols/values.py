"""Give distinct values consecutive codes, and codes the form kernels read."""

from collections.abc import Sequence

import numpy as np

from mvdfq.sequences import Ragged
from mvdfq.symbols.base import Symbols, code_dtype

__all__ = ["MISSING", "as_symbols", "encode_values", "to_symbols"]

# Code of a missing value while codes are still signed.
MISSING = -1


def encode_values(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Code every value by its place among the sorted `known` ones.

    NaN becomes `MISSING`. Values that are not known get fresh codes from ``len(known)``
    upwards, in sorted order: equal values equal codes, within this call. Costs O(n log n).
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
    """Rows of signed codes, `MISSING` among them, as `Symbols` in the smallest dtype."""
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
    """Codes in their final dtype as `Symbols`, with the offsets and sampling rate of `X`."""
    return Symbols(data, X.offsets, names, X.sampling_rate, n_symbols=n_symbols.copy())

"""Kernel matrices of single rows, kept: the matrix of a method is the sum over its rows."""

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mvdfq._utils.memory import parse_memory
from mvdfq.gram.sums import inverse_root
from mvdfq.reproduce.cells import StringMethod
from mvdfq.reproduce.shelf import Shelf
from mvdfq.symbols.base import Symbols

__all__ = ["RowGrams"]


@dataclass
class RowGrams:
    """Compares all clips, and computes the matrix of equal rows of symbols once.

    Folds often have equal rows: uniform bins depend only on the smallest and the largest value of
    the training part, and four of five folds hold the clip with the largest value. The matrices of
    rows take `memory_limit` bytes at most; the upper half of each matrix is kept.
    """

    n_jobs: int | None = None
    memory_limit: Any = None
    _kept: dict[int, Shelf] = field(default_factory=dict, repr=False)

    def gram(self, method: StringMethod, symbols: Symbols, train: np.ndarray) -> np.ndarray:
        """Return the kernel values of all pairs of clips; rows constant in `train` are left out."""
        kernel = method.sequence_kernel(self.n_jobs, self.memory_limit).fit(symbols[train])
        n = len(symbols)
        upper = np.triu_indices(n)
        total = np.zeros(len(upper[0]))
        for r in kernel.rows_:
            total += self._row(method, symbols.rows(slice(r, r + 1)), upper)
        K = np.zeros((n, n))
        K[upper] = total
        K += np.triu(K, 1).T
        scale = inverse_root(K.diagonal().copy())
        K *= np.outer(scale, scale)
        np.fill_diagonal(K, scale > 0)  # exactly 1, without rounding errors
        return K

    def _row(self, method: StringMethod, row: Symbols, upper: tuple[np.ndarray, ...]) -> np.ndarray:
        """Return the upper half of the matrix of one row, not normalized."""
        n = len(row)
        if n not in self._kept:
            size = 8 * len(upper[0])
            self._kept[n] = Shelf(max(parse_memory(self.memory_limit) // size, 1))
        codes = hashlib.sha256(row.codes.tobytes())
        codes.update(row.offsets.tobytes())
        key = method.counted, int(row.n_symbols[0]), codes.hexdigest()
        return self._kept[n].once(key, lambda: self._compute(method, row)[upper])

    def _compute(self, method: StringMethod, row: Symbols) -> np.ndarray:
        kernel = method.sequence_kernel(self.n_jobs, self.memory_limit)
        kernel.set_params(normalize=False, constant_rows="keep")
        return kernel.fit_transform(row)

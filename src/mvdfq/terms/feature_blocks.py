"""Features of a block of sequences, as a solver reads them: products, and sums of columns.

Words of small alphabets are kept as counts: five bytes per word of a sequence instead of eight
for a sparse matrix of single precision. The values are the root shares of `standard.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mvdfq._utils.short import Short
from mvdfq.gram.plan import inverse_root
from mvdfq.terms.standard import column_sums


@dataclass(frozen=True, repr=False)
class MatrixBlock(Short):
    """Features as a matrix of single precision: sparse, or dense.

    With `scale`, 1 / the root of the total of each sequence, `values` are counts, most of them a
    byte each, and the features are the roots of their shares.
    """

    values: Any
    scale: np.ndarray | None = None

    @classmethod
    def of_counts(cls, counts: sp.csr_array, scale: np.ndarray) -> "MatrixBlock":
        """Return counts in the smallest type that holds them exactly."""
        small = counts.data.max(initial=0) < 256
        return cls(_with(counts, counts.data.astype(np.uint8)) if small else counts, scale)

    @classmethod
    def of_shares(cls, shares: np.ndarray, totals: np.ndarray) -> "MatrixBlock":
        """Return root shares as counts out of `totals`; else return the shares as they are."""
        if totals.max(initial=0) < 256:
            # a share is a count divided by the total, so the count comes back exactly
            counts = np.rint(shares**2 * totals[:, None].astype(np.float32)).astype(np.uint8)
            block = cls(counts, inverse_root(totals.astype(float)).astype(np.float32))
            if np.allclose(block._scaled(block._matrix), shares, atol=1e-5):  # nothing is missing
                return block
        return cls(shares)

    @property
    def _matrix(self) -> Any:
        """The features, before they are scaled."""
        if self.scale is None:
            return self.values
        if sp.issparse(self.values):
            return _with(self.values, np.sqrt(self.values.data, dtype=np.float32))
        return np.sqrt(self.values, dtype=np.float32)

    def _scaled(self, values: Any) -> Any:
        if self.scale is None:
            return values
        if sp.issparse(values):
            return _with(values, values.data * np.repeat(self.scale, np.diff(values.indptr)))
        return values * self.scale[:, None]

    @property
    def nbytes(self) -> int:
        """Memory of the block."""
        if sp.issparse(self.values):
            return self.values.data.nbytes + self.values.indices.nbytes + self.values.indptr.nbytes
        return self.values.nbytes

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.values.shape[1]

    def times(self, weights: np.ndarray) -> np.ndarray:
        """Return the product with weights (n_columns, n), in single precision."""
        return self._scaled(self._matrix @ weights)

    def gathered(self, slopes: np.ndarray) -> np.ndarray:
        """Return the transposed product with slopes (n_sequences, n)."""
        return self._matrix.T @ self._scaled(slopes)

    def sums(self, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the sums of `column_sums`: entries, values and squares of every column."""
        return column_sums(self._scaled(self._matrix), weight)


def _with(matrix: sp.csr_array, data: np.ndarray) -> sp.csr_array:
    """Return a matrix with other entries at the same places."""
    return sp.csr_array((data, matrix.indices, matrix.indptr), matrix.shape)


@dataclass(frozen=True, repr=False)
class SideBySide(Short):
    """Blocks of features of the same sequences, side by side: their columns follow each other."""

    blocks: Sequence["Block"]

    @property
    def nbytes(self) -> int:
        """Memory of the block."""
        return sum(block.nbytes for block in self.blocks)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return sum(block.n_columns for block in self.blocks)

    def times(self, weights: np.ndarray) -> np.ndarray:
        """Return the product with weights (n_columns, n), in single precision."""
        ends = np.cumsum([block.n_columns for block in self.blocks])[:-1]
        pairs = zip(self.blocks, np.split(weights, ends), strict=True)
        return sum(block.times(part) for block, part in pairs)  # type: ignore[return-value]

    def gathered(self, slopes: np.ndarray) -> np.ndarray:
        """Return the transposed product with slopes (n_sequences, n)."""
        return np.concatenate([block.gathered(slopes) for block in self.blocks])

    def sums(self, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the sums of `column_sums`: entries, values and squares of every column."""
        parts = zip(*(block.sums(weight) for block in self.blocks), strict=True)
        return tuple(map(np.concatenate, parts))  # type: ignore[return-value]


Block = MatrixBlock | SideBySide


@dataclass(frozen=True, repr=False)
class Labelled(Short):
    """Features of some sequences, with the codes and weights of their labels.

    `weight` are the sample weights times the weights of the classes, `often` the sample weights
    alone. `held` tells which sequences are held out, to check machines.
    """

    features: Block
    y: np.ndarray
    weight: np.ndarray
    often: np.ndarray
    held: np.ndarray

    @property
    def nbytes(self) -> int:
        """Memory of the block."""
        return self.features.nbytes

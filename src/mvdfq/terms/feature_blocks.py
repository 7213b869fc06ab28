"""Features of a block of sequences, as a solver reads them: products, and sums of columns.

Words of small alphabets are kept as counts: three bytes per word of a sequence instead of eight
for a sparse matrix of single precision. The values are the root shares of `standard.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mvdfq._engines.shares import add_entries, multiply_counts
from mvdfq._utils.short import Short
from mvdfq.gram.plan import inverse_root
from mvdfq.terms.standard import column_sums


@dataclass(frozen=True, repr=False)
class CountedRow(Short):
    """Root shares of the words of one row: counts as a sparse matrix, and a scale per sequence.

    `arrays` are those of the compiled loops: the first entry of each sequence, the columns and the
    counts of entries, and the scales.
    """

    arrays: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    n_columns: int

    @classmethod
    def of(cls, matrix: sp.csr_array, scale: np.ndarray) -> "CountedRow":
        """Return counts in the smallest types that hold them exactly."""
        counts, n_words = matrix.data, matrix.shape[1]
        # weights of layouts may make counts that are not whole numbers
        if counts.size and counts.max() < 256 and (counts == np.floor(counts)).all():
            counts = counts.astype(np.uint8)
        columns = matrix.indices.astype(np.uint16 if n_words <= 2**16 else np.int32)
        return cls((matrix.indptr.astype(np.int64), columns, counts, scale), n_words)

    @property
    def nbytes(self) -> int:
        """Memory of the block."""
        return sum(array.nbytes for array in self.arrays)

    def times(self, weights: np.ndarray) -> np.ndarray:
        """Return the product with weights (n_columns, n), in single precision."""
        out = np.zeros((len(self.arrays[3]), weights.shape[1]), np.float32)
        multiply_counts(*self.arrays, False, weights, out)
        return out

    def gathered(self, slopes: np.ndarray) -> np.ndarray:
        """Return the transposed product with slopes (n_sequences, n)."""
        out = np.zeros((self.n_columns, slopes.shape[1]), np.float32)
        multiply_counts(*self.arrays, True, slopes, out)
        return out

    def sums(self, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the sums of `column_sums`: entries, values and squares of every column."""
        held, total, squares = (np.zeros(self.n_columns) for _ in range(3))
        add_entries(*self.arrays, weight, held, total, squares)
        return held, total, squares


@dataclass(frozen=True, repr=False)
class MatrixBlock(Short):
    """Features as a matrix of single precision: sparse, or dense.

    With `scale`, 1 / the root of the total of each sequence, `values` are counts, a byte each, and
    the features are the roots of their shares.
    """

    values: Any
    scale: np.ndarray | None = None

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
        return np.take(np.sqrt(np.arange(256, dtype=np.float32)), self.values)

    def _scaled(self, values: np.ndarray) -> np.ndarray:
        return values if self.scale is None else values * self.scale[:, None]

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
        return sum(block.times(mine) for block, mine in pairs)  # type: ignore[return-value]

    def gathered(self, slopes: np.ndarray) -> np.ndarray:
        """Return the transposed product with slopes (n_sequences, n)."""
        return np.concatenate([block.gathered(slopes) for block in self.blocks])

    def sums(self, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the sums of `column_sums`: entries, values and squares of every column."""
        parts = zip(*(block.sums(weight) for block in self.blocks), strict=True)
        return tuple(map(np.concatenate, parts))  # type: ignore[return-value]


Block = CountedRow | MatrixBlock | SideBySide


@dataclass(frozen=True, repr=False)
class Labelled(Short):
    """Features of some sequences, with the codes and weights of their labels.

    `weight` are the sample weights times the weights of the classes, `often` the sample weights
    alone. `held` tells which sequences are held out: they check machines that did not learn from
    them.
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

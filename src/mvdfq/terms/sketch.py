r"""Sketches: short vectors whose products are about the kernel values of two sequences.

.. math:: s_j(x) = \sqrt{s_v} \sum_{u : h(u) = j} \varepsilon_u \, \phi_u(x) / \sigma_u - c_j,
          \qquad \mathrm{E} \langle s(x), s(z) \rangle = K(x, z)

Every word `u` of a term with the share :math:`s_v` is added to one place :math:`h(u)` with a sign
:math:`\varepsilon_u`; both are bits of a hash of the word and the name of the term, so no matrix is
stored. The sketch of a mean sequence :math:`c` is taken off standardized words. The standard
deviation of a cosine is at most :math:`\sqrt{1 / 2048}`, about 0.02, and 0 for equal sequences.
Reference: M. Charikar, K. Chen, M. Farach-Colton, "Finding frequent items in data streams", 2002.
"""

from typing import Any
from zlib import crc32

import numpy as np
import scipy.sparse as sp

from mvdfq.terms.typical import inverse

# Numbers of a sketch, a byte each in a model file; a power of two.
WIDTH = 2**11
# Constants of SplitMix64 (G. Steele, D. Lea, C. Flood, 2014).
STEP, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def projection(name: str, columns: np.ndarray, factor: Any = 1.0) -> sp.csr_array:
    """Return the matrix (n_columns, WIDTH) that adds columns, times factors, to a sketch.

    `name` is the name of the term, `columns` are the numbers of the columns among all its columns.
    """
    bits = columns.astype(np.uint64) + np.uint64(crc32(name.encode()) << 32)
    bits *= np.uint64(STEP)  # wraps around, as all products here
    for shift, multiplier in [(30, FIRST), (27, SECOND), (31, 1)]:
        bits ^= bits >> np.uint64(shift)
        bits *= np.uint64(multiplier)
    places = (bits % np.uint64(WIDTH)).astype(np.int32)
    signs = 1 - 2 * (bits >> np.uint64(63)).astype(np.float32)
    ends = np.arange(len(columns) + 1, dtype=np.int32)
    entries = (signs * np.asarray(factor, np.float32), places, ends)
    return sp.csr_array(entries, shape=(len(columns), WIDTH))


def projected(features: Any, matrix: sp.csr_array) -> np.ndarray:
    """Return ``features @ matrix`` of a `projection`, dense; features are dense or sparse."""
    if not sp.issparse(features):
        return features @ matrix
    # a projection has one entry per line: much faster than a product of sparse matrices
    n = features.shape[0]
    first = np.repeat(np.arange(n) * WIDTH, np.diff(features.indptr))
    places = first + matrix.indices[features.indices]
    values = features.data * matrix.data[features.indices]
    return np.bincount(places, values, n * WIDTH).reshape(n, WIDTH)


def in_bytes(sketches: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return sketches as whole numbers from -127 to 127, and the scale of each sequence."""
    scales = np.abs(sketches).max(axis=1, initial=0).astype(np.float32) / 127
    codes = sketches * inverse(scales.astype(np.float64))[:, None]
    return np.rint(codes).clip(-127, 127).astype(np.int8), scales

"""Kernels of proteins: words of symbols, and words that are similar if residues are similar."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from mvdfq._utils.threads import n_threads, run_in_order
from mvdfq.gram.sums import inverse_root
from mvdfq.io.scales import AMINO_ACIDS, matrix_values, property_rows, substitution_rows
from mvdfq.reproduce.cells import StringMethod
from mvdfq.reproduce.scop import ProteinSet

__all__ = ["MeanMethod", "RbfMethod", "protein_gram", "rbf_gram"]

# Longer words have too many counts: 20**k per protein.
LONGEST = 3


@dataclass(frozen=True)
class RbfMethod:
    """Words of `k` residues with `m` mismatches, compared by an RBF of their descriptors.

    `width` is the width of the RBF in units of the mean distance between two amino acids.
    """

    k: int = 3
    m: int = 0
    width: float = 0.5
    descriptors: str = "BLOSUM62"

    def __str__(self) -> str:
        return f"RBF(k={self.k}, m={self.m}, width={self.width}) of {self.descriptors}"

    @property
    def label(self) -> str:
        """The settings, for people."""
        return str(self)


@dataclass(frozen=True)
class MeanMethod:
    """The mean of several kernels, each normalized."""

    methods: tuple[StringMethod, ...]

    def __str__(self) -> str:
        return f"mean of ({') and ('.join(map(str, self.methods))})"

    @property
    def label(self) -> str:
        """The settings, for people."""
        return f"mean of ({') and ('.join(method.label for method in self.methods)})"


def protein_gram(
    method: Any, data: ProteinSet, n_jobs: int | None = None, memory_limit: Any = None
) -> np.ndarray:
    """Return the normalized kernel values of all pairs of proteins.

    Nothing is learned from the proteins: bins and bits are learned from the twenty amino acids,
    and every whole score of a profile is a symbol. Only the range of slopes is learned from
    all proteins, because a single amino acid does not have a slope.
    """
    if isinstance(method, MeanMethod):
        parts = [protein_gram(part, data, n_jobs, memory_limit) for part in method.methods]
        return np.mean(parts, axis=0)
    if isinstance(method, RbfMethod):
        points = descriptors(method.descriptors)
        return rbf_gram(data.strings, points, method.k, method.m, method.width, n_jobs)
    return method.sequence_kernel(n_jobs, memory_limit).fit_transform(_symbols(method, data))


def _symbols(method: StringMethod, data: ProteinSet) -> Any:
    X = data.view(method.view)
    if method.symbols is None:
        return X
    if method.view == "log-odds":
        X = X.with_data(np.round(X.data))
    elif method.frames is None:
        known = [AMINO_ACIDS]
        learned = known if method.view == "letters" else substitution_rows(known)
        return method.quantizer().fit(learned).transform(X)
    return method.quantizer().fit_transform(X)


def descriptors(name: str) -> np.ndarray:
    """Return a point for each amino acid: its BLOSUM62 row or its standardized properties."""
    if name == "BLOSUM62":
        return matrix_values(name)
    values = property_rows([AMINO_ACIDS])[0].T.astype(float)
    return (values - values.mean(axis=0)) / values.std(axis=0)


def rbf_gram(
    strings: list[str],
    points: np.ndarray,
    k: int = 3,
    m: int = 0,
    width: float = 0.5,
    n_jobs: int | None = None,
) -> np.ndarray:
    r"""Compare proteins by words whose residues are alike [1]_.

    .. math:: K(x, y) = \sum_{u, v} c_u(x) \, c_v(y) \prod_{i=1}^{k}
              \exp\left(-\frac{|p(u_i) - p(v_i)|^2}{2 \sigma^2}\right)

    where :math:`c_u` counts the words within `m` mismatches of :math:`u`, :math:`p` is the point of
    a residue, and :math:`\sigma` is `width` times the mean distance between two amino acids. The
    RBF is a product over positions. So counts are multiplied by the root of one 20 x 20 matrix
    along every position, and a matrix of size :math:`20^k \times 20^k` is not needed. Words with
    any other letter are not counted. Values are normalized; a protein without words has value 0.

    .. [1] N. C. Toussaint, C. Widmer, O. Kohlbacher, G. Raetsch, "Exploiting physico-chemical
       properties in string kernels", BMC Bioinformatics 11(S8), 2010.
    """
    if not 1 <= k <= LONGEST:
        raise ValueError(f"k must be 1 to {LONGEST}, got {k}: longer words have too many counts.")
    counts = _near(_word_counts(strings, k), m)
    root = _root(points, width)

    def products(column: np.ndarray) -> np.ndarray:
        features = np.tensordot(counts, column, axes=(1, 0))
        for axis in range(1, k):
            features = np.moveaxis(np.tensordot(features, root, axes=(axis, 0)), -1, axis)
        features = features.reshape(len(strings), -1)
        return features @ features.T

    K = np.zeros((len(strings), len(strings)))
    for _, part in run_in_order(products, root.T, n_threads(n_jobs)):  # slices of the first place
        K += part
    scale = inverse_root(K.diagonal())
    return K * np.outer(scale, scale)


def _word_counts(strings: list[str], k: int) -> np.ndarray:
    """Return the counts of all words, (n, 20, ..., 20)."""
    places = np.full(128, -1)
    places[[ord(letter) for letter in AMINO_ACIDS]] = np.arange(20)
    counts = np.zeros((len(strings), 20**k), dtype=np.float32)
    for row, string in zip(counts, strings, strict=True):
        codes = places[np.frombuffer(string.encode("ascii"), dtype=np.uint8)]
        windows = [codes[i : len(codes) - k + 1 + i] for i in range(k)] if len(codes) >= k else []
        if windows:
            words = np.ravel_multi_index(tuple(np.maximum(w, 0) for w in windows), (20,) * k)
            row += np.bincount(words[np.min(windows, axis=0) >= 0], minlength=20**k)
    return counts.reshape(len(strings), *(20,) * k)


def _near(counts: np.ndarray, m: int) -> np.ndarray:
    """Return, for each word, the counts of all words within `m` mismatches."""
    k, total = counts.ndim - 1, np.zeros_like(counts)
    for n_changed in range(min(m, k) + 1):
        for axes in combinations(range(1, k + 1), n_changed):
            part = counts
            for axis in axes:  # any other residue at this position
                part = part.sum(axis=axis, keepdims=True) - part
            total += part
    return total


def _root(points: np.ndarray, width: float) -> np.ndarray:
    """Return a matrix whose product with its transpose is the RBF of the points."""
    squares = ((points[:, np.newaxis] - points) ** 2).sum(axis=2)
    sigma = width * np.sqrt(squares[np.triu_indices(len(points), 1)]).mean()
    values, vectors = np.linalg.eigh(np.exp(-squares / (2 * sigma**2)))
    return vectors * np.sqrt(np.maximum(values, 0))

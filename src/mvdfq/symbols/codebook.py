"""Vector quantization: each frame becomes the nearest codeword of a learned codebook."""

from dataclasses import KW_ONLY, dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state, check_scalar

from mvdfq.frames.base import SequenceTransformer
from mvdfq.frames.learned import check_array, require
from mvdfq.frames.linear import Standardize
from mvdfq.sequences import Sequences
from mvdfq.symbols.base import MISSING, Symbols, numbered, to_symbols

# Distances computed at a time: 64 MB of float32.
MAX_DISTANCES = 2**24


@dataclass(eq=False, repr=False)
class CodebookQuantizer(SequenceTransformer):
    r"""Replace every frame by its nearest codeword (vector quantization, VQ).

    .. math:: q(x) = \arg\min_j \lVert x - c_j \rVert^2

    with codewords :math:`c_j` found by k-means on training frames; a tie goes to the lowest
    index. A frame with any NaN is missing. Several codebook sizes give one row per codebook, such
    as ``codebook 2048``.
    Cost of encoding: O(n :math:`R D`) for :math:`R` channels and :math:`D` codewords.

    Parameters
    ----------
    n_codewords : int or sequence of int, default=2048
        Size of the codebook, or sizes of several codebooks. A codebook is never larger than the
        number of distinct training frames.

    standardize : bool, default=True
        Give all channels the same spread first; otherwise the channel of largest spread dominates.

    max_frames : int, default=200000
        Largest number of frames to learn from, drawn at random.

    random_state : int, RandomState or None, default=0
        Seed of the draw and of k-means.

    Attributes
    ----------
    codebooks_ : list of ndarray of shape (n_codewords, n_channels)
        The codewords, in standardized units.

    scaler_ : Standardize or None
        The learned scaling; None if `standardize` is False.

    References
    ----------
    .. [1] A. Gersho and R. M. Gray, "Vector Quantization and Signal Compression", 1992.

    Examples
    --------
    >>> from mvdfq.symbols import CodebookQuantizer
    >>> X = [[[0.0, 0.1, 9.0, 9.1], [0.0, 0.1, 9.0, 9.1]]]
    >>> codes = CodebookQuantizer(n_codewords=2).fit_transform(X)[0][0]
    >>> bool(codes[0] == codes[1] != codes[2] == codes[3])
    True
    """

    n_codewords: Any = 2048
    _: KW_ONLY
    standardize: bool = True
    max_frames: int = 200_000
    random_state: Any = 0

    codebooks_: list[np.ndarray] = field(init=False)
    scaler_: Standardize | None = field(init=False)

    def _fit(self, X: Sequences, y: Any) -> None:
        """Learn the codebooks."""
        sizes = np.ravel(self.n_codewords).tolist()
        if not sizes or not all(isinstance(size, int) and size >= 1 for size in sizes):
            raise ValueError(f"n_codewords must be positive integers, got {self.n_codewords!r}.")
        check_scalar(self.max_frames, "max_frames", Integral, min_val=1)
        self._refuse_symbols(X)
        self.scaler_ = Standardize().fit(X) if self.standardize else None
        random = check_random_state(self.random_state)
        frames = self._sample(self._scaled(X), random)
        n_distinct = len(np.unique(frames, axis=0))
        self.codebooks_ = [_kmeans(frames, min(size, n_distinct), random) for size in sizes]

    def _transform(self, X: Sequences) -> Symbols:
        """Find the nearest codeword of every frame."""
        data = self._scaled(X)
        rows = [_nearest(data, codebook) for codebook in self.codebooks_]
        sizes = np.array([len(codebook) for codebook in self.codebooks_], dtype=np.int64)
        return to_symbols(X, rows, sizes, tuple(f"codebook {size}" for size in sizes))

    def reach(self) -> None:
        """Return None, although a frame is encoded without its neighbours.

        Distances come from a matrix product, which may round a frame differently among other
        frames. A frame halfway between two codewords could then get another symbol in a stream.
        """

    def channel_shares(self) -> np.ndarray:
        """Return each channel's part of the variance between the codewords of a codebook."""
        variances = np.array([codebook.var(axis=0) for codebook in self.codebooks_])
        totals = variances.sum(axis=1, keepdims=True)
        equal = np.full_like(variances, 1 / self.n_channels_in_)  # for a codebook of one codeword
        return np.divide(variances, totals, out=equal, where=totals > 0)

    def symbol_names(self) -> list[list[str]]:
        """Return the numbers of the codewords, for every codebook."""
        return [numbered(len(codebook)) for codebook in self.codebooks_]

    def check_learned(self) -> None:
        """Raise an error unless codewords and scaling belong to the channels."""
        super().check_learned()
        n, codebooks = self.n_channels_in_, self.codebooks_
        require(codebooks, "codebooks_ must hold at least one codebook, got an empty list")
        for i, codebook in enumerate(codebooks):
            check_array(codebook, f"codebooks_[{i}]", (None, n))
            require(len(codebook), f"codebooks_[{i}] must hold at least one codeword, got none")
            require(np.isfinite(codebook).all(), f"codebooks_[{i}] must hold finite numbers")
        scaler = self.scaler_
        require(
            scaler is None or getattr(scaler, "n_channels_in_", 0) == n,
            f"scaler_ must be None or a fitted Standardize of {n} channels, got another",
        )

    def _scaled(self, X: Any) -> np.ndarray:
        return X.data if self.scaler_ is None else self.scaler_.transform(X).data

    def _sample(self, data: np.ndarray, random: np.random.RandomState) -> np.ndarray:
        """Return at most `max_frames` frames without NaN, (n_frames, n_channels), as float64."""
        whole = np.flatnonzero(~np.isnan(data).any(axis=0))
        if not whole.size:
            raise ValueError("X must hold at least one frame without missing values.")
        if whole.size > self.max_frames:
            whole = np.sort(random.choice(whole, self.max_frames, replace=False))
        return np.ascontiguousarray(data[:, whole].T, dtype=float)


def _kmeans(frames: np.ndarray, size: int, random: np.random.RandomState) -> np.ndarray:
    """Return the centres of `size` clusters, found in batches if there are many frames."""
    from sklearn.cluster import KMeans, MiniBatchKMeans  # slow to import

    # A few frames per codeword in every batch, so that all codewords can move.
    batch = max(1024, 4 * size)
    if len(frames) <= batch:
        return KMeans(size, n_init=1, random_state=random).fit(frames).cluster_centers_
    model = MiniBatchKMeans(size, batch_size=batch, n_init=1, random_state=random)
    return model.fit(frames).cluster_centers_


def _nearest(data: np.ndarray, codebook: np.ndarray) -> np.ndarray:
    """Return the index of the nearest codeword of every frame, `MISSING` for frames with NaN."""
    codes = np.empty(data.shape[1], dtype=np.int64)
    words = codebook.astype(data.dtype)
    half_norms = (codebook**2).sum(axis=1).astype(data.dtype) / 2
    block = max(MAX_DISTANCES // len(words), 1)
    for start in range(0, data.shape[1], block):
        # Half the squared distance minus a term that is the same for all codewords.
        distances = half_norms - data[:, start : start + block].T @ words.T
        codes[start : start + block] = distances.argmin(axis=1)
    codes[np.isnan(data).any(axis=0)] = MISSING
    return codes

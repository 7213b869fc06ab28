"""Whole frames as symbols: the nearest codeword of a codebook, or a few bits."""

from dataclasses import KW_ONLY, dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state, check_scalar

from mvdfq._engines.row_loops import find_nearest
from mvdfq._utils.threads import one_blas_thread
from mvdfq.frames.base import SequenceTransformer
from mvdfq.frames.learned import check_array, require, require_array, require_axes
from mvdfq.frames.linear import Standardize, principal_axes, project
from mvdfq.sequences import Sequences
from mvdfq.symbols.base import MISSING, Symbols, numbered, to_symbols

# Frames whose distances are computed at a time: with 2048 codewords, 1 MB that stays in the cache.
BLOCK = 128
# Frames per codeword that k-means learns from, but at least `LEAST` frames.
FRAMES, LEAST = 25, 2**14
# Codebooks of more codewords start from random frames and take few rounds. Measured with 2048
# codewords on new clips of GTZAN: k-means++ or 20 rounds leave the same distances, within 0.1 %.
FEW, ROUNDS, MOST_ROUNDS = 256, 5, 100


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
        Largest number of frames to learn from, drawn at random: 25 frames per codeword of the
        largest codebook, and at least 16384 frames, are enough.
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
        sizes = np.ravel(self.n_codewords).tolist()
        if not sizes or not all(isinstance(size, int) and size >= 1 for size in sizes):
            raise ValueError(f"n_codewords must be positive integers, got {self.n_codewords!r}.")
        check_scalar(self.max_frames, "max_frames", Integral, min_val=1)
        self._refuse_symbols(X)
        self.scaler_ = Standardize().fit(X) if self.standardize else None
        random = check_random_state(self.random_state)
        data = self._scaled(X)
        whole = np.flatnonzero(~np.isnan(data).any(axis=0))
        if not whole.size:
            raise ValueError("X must hold at least one frame without missing values.")
        most = min(max(LEAST, FRAMES * max(sizes)), self.max_frames)
        if whole.size > most:
            whole = np.sort(random.choice(whole, most, replace=False))
        frames = data[:, whole]
        with one_blas_thread():  # the last bits of products depend on the number of threads
            self.codebooks_ = [_kmeans(frames, size, random) for size in sizes]

    def _transform(self, X: Sequences) -> Symbols:
        data = self._scaled(X)
        with one_blas_thread():  # products of blocks are small: more threads wait for each other
            rows = [_nearest(data, codebook) for codebook in self.codebooks_]
        sizes = np.array([len(codebook) for codebook in self.codebooks_], dtype=np.int64)
        return to_symbols(X, rows, sizes, tuple(f"codebook {size}" for size in sizes))

    def channel_shares(self) -> np.ndarray:
        """Return each channel's part of the variance between the codewords of a codebook."""
        variances = np.array([codebook.var(axis=0) for codebook in self.codebooks_])
        totals = variances.sum(axis=1, keepdims=True)
        equal = np.full_like(variances, 1 / self.n_channels_in_)  # for a codebook of one codeword
        return np.divide(variances, totals, out=equal, where=totals > 0)

    def symbol_names(self) -> list[list[str]]:
        """Return the numbers of the codewords, for every codebook."""
        return [numbered(len(codebook)) for codebook in self.codebooks_]

    def _check_learned(self) -> None:
        n, codebooks = self.n_channels_in_, self.codebooks_
        require(codebooks, "codebooks_ must hold at least one codebook, got an empty list")
        for i, codebook in enumerate(codebooks):
            check_array(codebook, f"codebooks_[{i}]", (None, n), low=-np.inf)
            require(len(codebook), f"codebooks_[{i}] must hold at least one codeword, got none")
        fits = self.scaler_ is None or getattr(self.scaler_, "n_channels_in_", 0) == n
        require(fits, f"scaler_ must be None or a fitted Standardize of {n} channels, got another")

    def _scaled(self, X: Any) -> np.ndarray:
        return X.data if self.scaler_ is None else self.scaler_.transform(X).data


def _kmeans(frames: np.ndarray, size: int, random: np.random.RandomState) -> np.ndarray:
    """Return the centres of `size` clusters, or of as many as there are distinct frames."""
    from sklearn.cluster import kmeans_plusplus  # slow to import

    rows = np.ascontiguousarray(frames.T + 0.0)  # 0.0 for -0.0: equal frames have equal bytes
    _, distinct = np.unique(rows.view(np.dtype((np.void, rows[0].nbytes))), return_index=True)
    size = min(size, distinct.size)
    centres, rounds = rows[random.choice(distinct, size, replace=False)], ROUNDS
    if size <= FEW:
        centres, rounds = kmeans_plusplus(rows, size, random_state=random)[0], MOST_ROUNDS
    codes = np.full(len(rows), MISSING)
    for _ in range(rounds):
        before, codes = codes, _nearest(frames, centres)
        if np.array_equal(before, codes):
            break
        order, counts = np.argsort(codes, kind="stable"), np.bincount(codes, minlength=size)
        # a cluster that has lost all its frames keeps its centre
        sums = np.add.reduceat(rows[order], (np.cumsum(counts) - counts)[counts > 0], axis=0)
        centres[counts > 0] = sums / counts[counts > 0, np.newaxis]
    return centres


def _nearest(data: np.ndarray, codebook: np.ndarray) -> np.ndarray:
    """Return the index of the nearest codeword of every frame, `MISSING` for frames with NaN.

    One product in single precision gives all distances of a block, and nearly equal distances are
    computed again: so a frame has the same code among other frames.
    """
    centre = codebook.mean(axis=0)
    words, largest = codebook - centre, np.fmax.reduce(np.abs(data), axis=None, initial=0.0)
    norms = np.sqrt((words**2).sum(axis=1))
    # beyond this, squares could overflow in single precision
    dtype: Any = np.float32 if max(largest, np.abs(codebook).max()) < 1e15 else np.float64
    factors = np.hstack([-words, norms[:, None] ** 2 / 2]).astype(dtype)
    memory = np.empty(BLOCK, dtype), *np.empty((2, BLOCK), np.int32)
    # sums of n products of rounded numbers are wrong by at most n + 2 roundings of their sizes,
    # and differences from the centre by one rounding in double precision
    rounding, lost = 2 * (len(data) + 4) * np.finfo(dtype).eps, len(data) * 2.0**-50 * largest
    codes = np.empty(data.shape[1], dtype=np.int64)
    for start in range(0, data.shape[1], BLOCK):
        x = data[:, start : start + BLOCK]
        centred = x - centre[:, np.newaxis]
        sizes = np.sqrt(np.einsum("ct,ct->t", centred, centred)) + norms.max()
        near = ((rounding * norms.max() + lost) * sizes).astype(dtype)
        rows = np.concatenate([centred, np.ones((1, x.shape[1]))]).astype(dtype)
        # frames are columns: the other way round, the product takes half as long again
        find_nearest(factors @ rows, near, x, codebook, memory, codes[start : start + BLOCK])
    codes[np.isnan(data).any(axis=0)] = MISSING
    return codes


# Rounding must not move a value from the end of a stripe, exactly half a wave, to another stripe.
HALF = 0.5 - 2.0**-36


class HashingQuantizer(SequenceTransformer):
    r"""Turn every frame into bits; near frames have the same bits (spectral hashing).

    .. math:: b(x) = [\cos(v \pi (x_i - a_i) / r_i) > 0]

    where :math:`x_i` is a principal component of the frame, :math:`a_i` and :math:`r_i` are
    the start and the length of its range in training, and the pairs :math:`(i, v)` have the
    lowest frequencies :math:`v / r_i` [1]_. Each bit cuts one component into :math:`v + 1`
    stripes. Values outside the training range count as the nearest end of the range. A frame with
    any NaN is missing. Every bit is a row with two symbols, as in [2]_; the bit ``pc0 mode 3`` has
    three half waves. Cost:
    O(n :math:`R \min(R, E)` + n :math:`E`) for :math:`R` channels and :math:`E` bits.

    Parameters
    ----------
    n_bits : int, default=32
        Number of bits :math:`E`.

    Attributes
    ----------
    mean_ : ndarray of shape (n_channels,)
        Mean of the training frames.
    components_ : ndarray of shape (min(n_bits, n_channels), n_channels)
        Principal axes.
    low_, ranges_ : ndarray of shape (min(n_bits, n_channels),)
        Smallest value and length of the range of each component.
    modes_ : list of (int, int)
        Component and number of half waves of each bit.

    References
    ----------
    .. [1] Y. Weiss, A. Torralba and R. Fergus, "Spectral hashing", NIPS 2008.
    .. [2] P. P. Kuksa, I. Khan and V. Pavlovic, "Generalized similarity kernels for efficient
       sequence classification", SIAM Data Mining 2012.

    Examples
    --------
    >>> from mvdfq.symbols import HashingQuantizer
    >>> hashing = HashingQuantizer(n_bits=4).fit([[[0.0, 4.0, 0.0, 4.0], [0.0, 0.0, 2.0, 2.0]]])
    >>> hashing.modes_
    [(0, 1), (0, 2), (1, 1), (0, 3)]
    >>> hashing.transform([[[1.5], [0.2]]])[0].ravel()
    array([1, 0, 1, 0], dtype=uint8)
    """

    mean_: np.ndarray
    components_: np.ndarray
    low_: np.ndarray
    ranges_: np.ndarray
    modes_: list[tuple[int, int]]

    def __init__(self, n_bits: int = 32) -> None:
        self.n_bits = n_bits

    def _fit(self, X: Sequences, y: Any) -> None:
        check_scalar(self.n_bits, "n_bits", Integral, min_val=1)
        self._refuse_symbols(X)
        self.mean_, axes, _ = principal_axes(X.data)
        self.components_ = axes[: self.n_bits]
        projected = project(X.data, self.mean_, self.components_)
        self.low_ = np.nanmin(projected, axis=1)
        self.ranges_ = np.nanmax(projected, axis=1) - self.low_
        if not self.ranges_.any():
            raise ValueError("X must hold at least two different frames, got only equal frames.")
        self.modes_ = lowest_modes(self.ranges_, self.n_bits)

    def _transform(self, X: Sequences) -> Symbols:
        projected = project(X.data, self.mean_, self.components_)
        rows = []
        for i, v in self.modes_:
            waves = v * np.clip((projected[i] - self.low_[i]) / self.ranges_[i], 0, 1)
            # the sign of the cosine, without computing it: True near an even half wave
            bits = np.abs(waves - 2 * np.round(waves / 2)) < HALF
            rows.append(np.where(np.isnan(waves), MISSING, bits).astype(np.int8))
        names = tuple(f"pc{i} mode {v}" for i, v in self.modes_)
        return to_symbols(X, rows, np.full(len(rows), 2, dtype=np.int64), names)

    def channel_shares(self) -> np.ndarray:
        """Return the squared loadings of the component that each bit cuts."""
        # components of unit length: the squares of their loadings sum to 1
        return self.components_[[i for i, _ in self.modes_]] ** 2

    def symbol_names(self) -> list[list[str]]:
        """Return ``0`` and ``1`` for every bit."""
        return [["0", "1"] for _ in self.modes_]

    def _check_learned(self) -> None:
        require_axes(self, self.n_channels_in_)
        n = len(self.components_)
        for name in ("low_", "ranges_"):
            require_array(self, name, (n,), low=-np.inf)
        require(self.modes_, "modes_ must hold at least one bit, got an empty list")
        wanted = f"modes_ must hold pairs of one of {n} components and a number of half waves"
        for i, v in self.modes_:
            require(0 <= i < n and v > 0, f"{wanted}, got {(i, v)!r}")
            require(self.ranges_[i] > 0, f"ranges_ must be positive for component {i}")


def lowest_modes(ranges: np.ndarray, n_bits: int) -> list[tuple[int, int]]:
    """Return the `n_bits` pairs of component and mode of lowest frequency; ties: the lower pair."""
    shares = np.asarray(ranges) / np.max(ranges)
    candidates = [
        (v / share, i, v)
        for i, share in enumerate(shares.tolist())
        for v in range(1, int(np.ceil((n_bits + 1) * share)))
    ]
    return [(i, v) for _, i, v in sorted(candidates)[:n_bits]]

"""Similarity hashing: each frame becomes a few bits, one row per bit."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_scalar

from mvdfq.frames.base import SequenceTransformer
from mvdfq.frames.learned import require, require_array, require_axes
from mvdfq.frames.linear import principal_axes, project
from mvdfq.sequences import Sequences
from mvdfq.symbols.base import MISSING, Symbols, to_symbols

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
    """Return the `n_bits` pairs of component and mode of lowest frequency; ties: the lower pair.

    Component i offers modes ``1 .. ceil((n_bits + 1) r_i / max r) - 1``; a component of range 0
    does not offer modes.
    """
    shares = np.asarray(ranges) / np.max(ranges)
    candidates = [
        (v / share, i, v)
        for i, share in enumerate(shares.tolist())
        for v in range(1, int(np.ceil((n_bits + 1) * share)))
    ]
    return [(i, v) for _, i, v in sorted(candidates)[:n_bits]]

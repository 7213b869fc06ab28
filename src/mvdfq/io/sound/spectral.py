"""The parts of MFCC: frames (the same however samples come in), windows, bands, cosines."""

import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import log
from typing import Any

import numpy as np
import scipy.fft

# Frames that are transformed at a time. Of the numbers from 32 to 512, this number was the fastest,
# or at most 4 % slower than the fastest, in three settings.
FRAMES = 256


def frames_of(blocks: Iterable[np.ndarray], hop: int, span: int) -> Iterator[np.ndarray]:
    """Yield views of `FRAMES` frames at a time; the last view may have fewer."""
    step = FRAMES * hop
    needed = step - hop + max(span, hop)
    rest = np.empty(0, dtype=np.float32)
    for block in blocks:
        rest = np.concatenate([rest, block])
        while len(rest) >= needed:
            yield np.lib.stride_tricks.sliding_window_view(rest[:needed], span)[::hop][:FRAMES]
            rest = rest[step:]
    if len(rest) >= span:
        yield np.lib.stride_tricks.sliding_window_view(rest, span)[::hop]


def fill(rows: np.ndarray, parts: Iterable[np.ndarray]) -> None:
    """Lay parts of shape (n_frames, n_rows) side by side, without a second copy of all parts."""
    start = 0
    for part in parts:
        rows[:, start : start + len(part)] = part.T
        start += len(part)


@lru_cache(maxsize=16)
def window_values(window: Any, width: int) -> np.ndarray:
    """Return a window of SciPy, in double precision."""
    from scipy.signal import get_window  # slow to import

    return get_window(window, width, fftbins=True)


@lru_cache(maxsize=16)
def mel_triangles(sr: int, n_fft: int, n_mels: int, htk: bool, norm: Any, dtype: Any) -> np.ndarray:
    """Triangles of shape (n_bins, n_mels) whose corners are equally far apart in mel."""
    corners = _corners(sr / 2, n_mels + 2, htk)
    bins = np.fft.rfftfreq(n_fft, 1 / sr)[:, None]
    rising = (bins - corners[:-2]) / np.diff(corners)[:-1]
    falling = (corners[2:] - bins) / np.diff(corners)[1:]
    weights = np.maximum(0, np.minimum(rising, falling))
    if not weights.any(axis=0).all():
        problem = f"{(~weights.any(axis=0)).sum()} of {n_mels} mel bands are narrower than a bin"
        warnings.warn(f"{problem} and stay empty; lower n_mels or raise n_fft.", stacklevel=2)
    if norm == "slaney":
        weights *= 2 / (corners[2:] - corners[:-2])
    return weights.astype(dtype)


# Slaney's scale: linear to 1000 Hz (15 mel), 27 steps for every factor of 6.4 above.
_LINEAR, _BREAK, _STEP = 200 / 3, 1000.0, log(6.4) / 27


def _corners(top: float, n: int, htk: bool) -> np.ndarray:
    """Return frequencies from 0 to `top` that are equally far apart in mel."""
    if htk:
        highest = float(2595 * np.log10(1 + top / 700))
        return 700 * (10 ** (np.linspace(0, highest, n) / 2595) - 1)
    above = _BREAK / _LINEAR + float(np.log(max(top, _BREAK) / _BREAK)) / _STEP
    mel = np.linspace(0, top / _LINEAR if top < _BREAK else above, n)
    steep = _BREAK * np.exp(_STEP * (mel - _BREAK / _LINEAR))
    return np.where(mel < _BREAK / _LINEAR, mel * _LINEAR, steep)


@lru_cache(maxsize=16)
def dct_matrix(n_mels: int, n_mfcc: int, dtype: Any) -> np.ndarray:
    """Return the cosine transform as a matrix, which is faster than a transform of 40 values."""
    return scipy.fft.dct(np.eye(n_mels), norm="ortho", axis=1)[:, :n_mfcc].astype(dtype)

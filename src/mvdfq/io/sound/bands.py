"""Log-spectrum bands of a signal in memory."""

from typing import Any, Literal

import numpy as np

from mvdfq.io.sound.recipes import N_BANDS, AudioRecipe
from mvdfq.io.sound.spectral import band_means, check_bands

__all__ = ["log_bands"]


def log_bands(
    y: Any,
    *,
    n_bands: int = N_BANDS,
    n_fft: int = 1024,
    hop_length: int = 276,
    win_length: int | None = 551,
    window: Any = "hamming",
    center: bool | Literal["snip"] = "snip",
    log: str = "ln",
    amin: float = 1e-8,
    top_db: float | None = None,
) -> np.ndarray:
    """Logarithm of the energy in bands of equal width: FFT64, with its 64 bands.

    Bins 1 to ``n_fft / 2`` of the spectrum are averaged in `n_bands` groups. The defaults
    are the values of the recipe ``"gtzan"``: groups of 8 of the 512 bins.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The signal, floating-point.

    n_bands : int, default=64
        Number of bands; it must divide ``n_fft / 2``.

    n_fft, hop_length, win_length, window, center : see `AudioRecipe`
        Frames.

    log, amin, top_db : see `AudioRecipe`
        Logarithm.

    Returns
    -------
    bands : ndarray of shape (n_bands, n_frames)
        One row for each band, from low to high.

    Examples
    --------
    >>> import numpy as np
    >>> from mvdfq.io import log_bands
    >>> tone = np.sin(2 * np.pi * 440 * np.arange(22050) / 22050)
    >>> bands = log_bands(tone)
    >>> bands.shape, int(bands.mean(axis=1).argmax())  # the bands are 172 Hz wide
    ((64, 78), 2)
    """
    check_bands(n_fft, n_bands)
    frames = dict(n_fft=n_fft, hop_length=hop_length, win_length=win_length, window=window)
    recipe = AudioRecipe(**frames, center=center, log=log, amin=amin, top_db=top_db)
    spectra = recipe.spectra([_signal(y)])
    parts = recipe.cut([recipe.logarithm(band_means(power, n_bands)) for power in spectra])
    return np.ascontiguousarray(np.concatenate([*parts]).T)


def _signal(y: Any) -> np.ndarray:
    y = np.asarray(y)
    if y.ndim != 1 or y.dtype.kind != "f" or not y.size:
        raise ValueError(
            f"y must be a 1-D array of floating-point samples, got shape {y.shape} and dtype "
            f"{y.dtype}; integer samples are divided by their full scale first."
        )
    if not np.isfinite(y).all():
        raise ValueError(f"Sample {np.flatnonzero(~np.isfinite(y))[0]} of y is not finite.")
    return y.astype(np.float64 if y.dtype.itemsize > 4 else np.float32, copy=False)

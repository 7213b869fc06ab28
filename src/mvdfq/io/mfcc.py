"""Rows of numbers of a signal in memory: MFCC and log-spectrum bands.

Parameters have librosa's names, defaults and meaning where both have them.
"""

from typing import Any, Literal

import numpy as np

from mvdfq.io.recipes import N_BANDS, AudioRecipe
from mvdfq.io.spectral import band_means, check_bands

__all__ = ["log_bands", "mfcc"]


def mfcc(
    y: Any,
    *,
    sr: int = 22050,
    n_mfcc: int = 13,
    n_fft: int = 2048,
    hop_length: int = 512,
    win_length: int | None = None,
    window: Any = "hann",
    center: bool | Literal["snip"] = True,
    power: float = 2.0,
    n_mels: int = 128,
    fmin: float = 0.0,
    fmax: float | None = None,
    htk: bool = False,
    mel_norm: str | None = "slaney",
    log: str = "db",
    amin: float = 1e-10,
    top_db: float | None = 80.0,
    dct_type: int = 2,
    norm: str | None = "ortho",
    lifter: float = 0,
) -> np.ndarray:
    """Mel-frequency cepstral coefficients of a signal.

    The cosine transform of the logarithm of the energy in mel bands, frame by frame. Equal to
    `librosa.feature.mfcc` within the precision of the signal, float32 or float64.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The signal, floating-point.

    sr : int, default=22050
        Samples per second.

    n_mfcc : int, default=13
        Number of coefficients (librosa has 20 unless told).

    n_fft : int, default=2048
        Length of the Fourier transform.

    hop_length : int, default=512
        Samples from a frame to the next.

    win_length : int, default=None
        Samples under the window, `n_fft` if None.

    window : str or tuple, default="hann"
        A window of `scipy.signal.get_window`.

    center : bool or "snip", default=True
        True: frame t is centred on sample ``t * hop_length``, with zeros beyond the ends. False:
        it begins there and takes `n_fft` samples. ``"snip"``: it begins there and takes
        `win_length` samples, so that short windows reach the end (not in librosa).

    power : float, default=2.0
        Exponent of the magnitude: 2 is energy, 1 amplitude.

    n_mels : int, default=128
        Number of mel bands.

    fmin : float, default=0.0
        Where the bands begin, in Hz.

    fmax : float, default=None
        Where they end; half the sampling rate if None.

    htk : bool, default=False
        The mel scale of HTK in place of Slaney's.

    mel_norm : {"slaney", None}, default="slaney"
        Triangles of equal area, or (None) of height 1.

    log : {"db", "ln"}, default="db"
        Decibel, or (not in librosa) the natural logarithm.

    amin : float, default=1e-10
        Energy below it is raised to it; with ``log="ln"`` it is added to all energy.

    top_db : float, default=80.0
        With ``log="db"``, raise what is further below the loudest value of the signal.

    dct_type : {1, 2, 3}, default=2
        Type of the cosine transform.

    norm : {"ortho", None}, default="ortho"
        Its normalisation.

    lifter : float, default=0
        Weigh coefficient n by ``1 + lifter / 2 * sin(pi * (n + 1) / lifter)``; 0 does not.

    Returns
    -------
    coefficients : ndarray of shape (n_mfcc, n_frames)
        One row for each coefficient.

    Examples
    --------
    >>> import numpy as np
    >>> from mvdfq.io.mfcc import mfcc
    >>> tone = np.sin(2 * np.pi * 440 * np.arange(22050) / 22050)
    >>> mfcc(tone, sr=22050).shape
    (13, 44)
    """
    options = {name: value for name, value in locals().items() if name != "y"}
    return AudioRecipe(**options).features([_signal(y)])


def log_bands(
    y: Any,
    *,
    n_bands: int = N_BANDS,
    n_fft: int = 1024,
    hop_length: int = 276,
    win_length: int | None = 551,
    window: Any = "hamming",
    center: bool | Literal["snip"] = "snip",
    power: float = 2.0,
    log: str = "ln",
    amin: float = 1e-8,
    top_db: float | None = None,
) -> np.ndarray:
    """Logarithm of the energy in bands of equal width: FFT64, with its 64 bands.

    Bins 1 to ``n_fft / 2`` of the spectrum are averaged in `n_bands` groups. Defaults are those
    of the recipe ``"gtzan"``, where 512 bins are averaged by eights.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The signal, floating-point.

    n_bands : int, default=64
        Number of bands; it must divide ``n_fft / 2``.

    n_fft, hop_length, win_length, window, center, power : see `mfcc`
        Frames.

    log, amin, top_db : see `mfcc`
        Logarithm.

    Returns
    -------
    bands : ndarray of shape (n_bands, n_frames)
        One row for each band, from low to high.

    Examples
    --------
    >>> import numpy as np
    >>> from mvdfq.io.mfcc import log_bands
    >>> tone = np.sin(2 * np.pi * 440 * np.arange(22050) / 22050)
    >>> bands = log_bands(tone)
    >>> bands.shape, int(bands.mean(axis=1).argmax())  # the bands are 172 Hz wide
    ((64, 78), 2)
    """
    check_bands(n_fft, n_bands)
    frames = dict(n_fft=n_fft, hop_length=hop_length, win_length=win_length, window=window)
    recipe = AudioRecipe(**frames, center=center, power=power, log=log, amin=amin, top_db=top_db)
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

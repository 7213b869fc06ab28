"""Sound as rows of numbers: MFCC and log-spectrum bands, of a whole signal or of its blocks.

Parameters have librosa's names, defaults and meaning where both have them. All energy is
computed a few hundred frames at a time, cut at the same places however the samples come in: a
file that is read block by block gives the same bits as the whole signal in memory.
"""

import hashlib
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain
from math import log
from typing import Any, Literal

import numpy as np
import scipy.fft

__all__ = ["AUDIO_RECIPES", "AudioRecipe", "audio_recipe", "log_bands", "mfcc"]

# Frames transformed at a time; of 32 to 512 the fastest or within 4 % of it in three settings.
FRAMES = 256
# Part of the key of a cache: to be raised when the same recipe gives other numbers.
VERSION = 1
N_BANDS = 64
CHOICES = {
    "center": (True, False, "snip"),
    "mel_norm": ("slaney", None),
    "log": ("db", "ln"),
    "dct_type": (1, 2, 3),
    "norm": ("ortho", None),
}


@dataclass(frozen=True)
class AudioRecipe:
    """How sound becomes a sequence: sampling rate, frames, MFCC and what is added to them.

    Parameters
    ----------
    sr : int, default=22050
        Samples per second; sound of another rate is resampled to this one.

    n_mfcc : int, default=13
        Number of coefficients.

    delta : bool, default=False
        Add the slope of every coefficient (`numpy.gradient` along time).

    fft64 : bool, default=False
        Add 64 log-spectrum bands, see `log_bands`: 13 + 64 = 77 rows.

    n_fft, hop_length, win_length, window, center, power : see `mfcc`
        Frames.

    n_mels, fmin, fmax, htk, mel_norm : see `mfcc`
        Mel bands.

    log, amin, top_db : see `mfcc`
        Logarithm.

    dct_type, norm, lifter : see `mfcc`
        Cosine transform.

    max_duration : float, default=14400
        Longest recording that is read, in seconds (four hours).

    Examples
    --------
    >>> from dataclasses import replace
    >>> from mvdfq.io.mfcc import AUDIO_RECIPES
    >>> recipe = replace(AUDIO_RECIPES["gtzan"], fft64=True)
    >>> recipe.n_rows, round(recipe.frame_rate, 1), recipe.channel_names[13]
    (77, 79.9, 'band 0')
    """

    sr: int = 22050
    n_mfcc: int = 13
    delta: bool = False
    fft64: bool = False
    n_fft: int = 2048
    hop_length: int = 512
    win_length: int | None = None
    window: Any = "hann"
    center: bool | Literal["snip"] = True
    power: float = 2.0
    n_mels: int = 128
    fmin: float = 0.0
    fmax: float | None = None
    htk: bool = False
    mel_norm: str | None = "slaney"
    log: str = "db"
    amin: float = 1e-10
    top_db: float | None = 80.0
    dct_type: int = 2
    norm: str | None = "ortho"
    lifter: float = 0
    max_duration: float = 14400

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by name."""
        if isinstance(self.window, list):  # a tuple that was written to a file and read again
            object.__setattr__(self, "window", tuple(self.window))
        for name in ("sr", "n_fft", "hop_length", "n_mels", "power", "amin", "max_duration"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)!r}.")
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be one of {choices}, got {getattr(self, name)!r}.")
        if not 1 <= self.n_mfcc <= self.n_mels:
            raise ValueError(f"n_mfcc must be from 1 to n_mels={self.n_mels}, got {self.n_mfcc}.")
        if not 1 <= self.window_samples <= self.n_fft:
            raise ValueError(f"win_length must be from 1 to n_fft={self.n_fft}.")
        if not 0 <= self.fmin < self.highest <= self.sr / 2:
            raise ValueError(f"fmin={self.fmin} < fmax={self.fmax} <= sr / 2 is needed.")
        if self.lifter < 0:
            raise ValueError(f"lifter must not be negative, got {self.lifter}.")
        if self.fft64:
            _check_bands(self.n_fft, N_BANDS)

    @property
    def window_samples(self) -> int:
        """Samples under the window."""
        return self.n_fft if self.win_length is None else self.win_length

    @property
    def highest(self) -> float:
        """Where the mel bands end, in Hz."""
        return self.sr / 2 if self.fmax is None else self.fmax

    @property
    def frame_samples(self) -> int:
        """Samples that a frame takes of the signal."""
        return self.window_samples if self.center == "snip" else self.n_fft

    @property
    def frame_rate(self) -> float:
        """Frames per second."""
        return self.sr / self.hop_length

    @property
    def n_rows(self) -> int:
        """Number of rows of a sequence."""
        return len(self.channel_names)

    @cached_property
    def channel_names(self) -> tuple[str, ...]:
        """Names of the rows."""
        names = [f"mfcc {i}" for i in range(self.n_mfcc)]
        names += [f"delta {name}" for name in names] if self.delta else []
        return (*names, *(f"band {i}" for i in range(N_BANDS if self.fft64 else 0)))

    @cached_property
    def key(self) -> str:
        """The whole recipe as a short string; features with the same key are the same."""
        text = repr((VERSION, astuple(self)))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def features(self, blocks: Iterable[np.ndarray]) -> np.ndarray:
        """Return the rows of a signal that comes in `blocks`, at `sr` samples per second."""
        mel, bands = [], []
        for power in self.spectra(blocks):
            logs = self.logarithm(power @ self._mel_weights(power.dtype))
            # Where loudness is cut relative to the loudest frame, that has to be seen first.
            mel.append(logs if self._cuts else self._cepstra(logs))
            if self.fft64:
                bands.append(self.logarithm(_means(power, N_BANDS)))
        rows = np.empty((self.n_rows, sum(map(len, mel))), dtype=mel[0].dtype)
        cepstra = map(self._cepstra, self.cut(mel)) if self._cuts else mel
        _fill(rows[: self.n_mfcc], cepstra)
        if self.delta and rows.shape[1] > 1:
            rows[self.n_mfcc : 2 * self.n_mfcc] = np.gradient(rows[: self.n_mfcc], axis=1)
        elif self.delta:
            rows[self.n_mfcc : 2 * self.n_mfcc] = 0
        _fill(rows[-N_BANDS:], self.cut(bands))
        return rows

    def spectra(self, blocks: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        """Yield the power of the frames of a signal, of shape (n_frames, n_bins)."""
        width, span, n_parts = self.window_samples, self.frame_samples, 0
        window = _window(self.window, width)  # in double precision, cast to that of the signal
        first = (span - width) // 2  # the window stands in the middle of its frame
        for frames in _frames(self._padded(blocks), self.hop_length, span):
            # Where in the n_fft samples the window stands shifts the phase alone, so that the
            # zeros may all follow it.
            part = frames[:, first : first + width]
            values = scipy.fft.rfft(part * window.astype(part.dtype), self.n_fft, axis=1)
            power = values.real**2
            power += values.imag**2
            yield power if self.power == 2 else power ** (self.power / 2)
            n_parts += 1
        if not n_parts:
            raise ValueError(f"The signal is shorter than a frame ({span} samples).")

    def logarithm(self, energy: np.ndarray) -> np.ndarray:
        """Return the logarithm that the recipe asks for."""
        if self.log == "ln":
            return np.log(energy + energy.dtype.type(self.amin))
        return 10 * np.log10(np.maximum(energy, energy.dtype.type(self.amin)))

    def cut(self, parts: list[np.ndarray]) -> Iterable[np.ndarray]:
        """Raise what is more than `top_db` below the loudest of all parts, if so asked."""
        if not (self._cuts and parts):
            return parts
        lowest = max(part.max() for part in parts) - parts[0].dtype.type(self.top_db)
        return (np.maximum(part, lowest) for part in parts)

    @property
    def _cuts(self) -> bool:
        return self.log == "db" and self.top_db is not None

    def _padded(self, blocks: Iterable[np.ndarray]) -> Iterable[np.ndarray]:
        if self.center is not True:
            return blocks
        edge = np.zeros(self.n_fft // 2, dtype=np.float32)
        return chain([edge], blocks, [edge])

    def _mel_weights(self, dtype: np.dtype) -> np.ndarray:
        bands = self.n_mels, self.fmin, self.highest, self.htk, self.mel_norm
        return _mel(self.sr, self.n_fft, *bands, dtype)

    def _cepstra(self, logs: np.ndarray) -> np.ndarray:
        how = self.dct_type, self.norm, self.lifter
        return logs @ _dct(self.n_mels, self.n_mfcc, *how, logs.dtype)


# What is written in the README of the GTZAN features: 25 ms windows every 12.5 ms.
_GTZAN = AudioRecipe(
    sr=22050, n_fft=1024, win_length=551, hop_length=276, window="hamming", center="snip",
    n_mels=40, htk=True, mel_norm=None, log="ln", amin=1e-8, top_db=None,
)  # fmt: skip

#: Recipes by name. ``"gtzan"`` is that of the GTZAN features of the paper's experiments,
#: ``"librosa"`` has librosa's defaults with 13 coefficients.
#: ``"default"`` is for speech and music of any rate: 25 ms windows every 10 ms at 16 kHz. One rate
#: for all, since rows of recordings of several rates must mean the same; 16 kHz, since up to 8 kHz
#: speech has all it needs and music nearly all. ``"telephone"`` is the same at 8 kHz: where all
#: recordings have that rate, no band is spent on what they do not hold.
AUDIO_RECIPES = {
    "default": replace(_GTZAN, sr=16000, n_fft=512, win_length=400, hop_length=160),
    "gtzan": _GTZAN,
    "librosa": AudioRecipe(),
    "telephone": replace(_GTZAN, sr=8000, n_fft=256, win_length=200, hop_length=80),
}


def audio_recipe(recipe: AudioRecipe | str | None) -> AudioRecipe:
    """Return the recipe of that name, the default for None, or the recipe itself.

    Parameters
    ----------
    recipe : AudioRecipe, str or None
        A recipe, or a name in `AUDIO_RECIPES`.

    Returns
    -------
    recipe : AudioRecipe
        The recipe.

    Examples
    --------
    >>> from mvdfq.io.mfcc import audio_recipe
    >>> audio_recipe(None).sr, audio_recipe("gtzan").sr
    (16000, 22050)
    """
    if isinstance(recipe, AudioRecipe):
        return recipe
    name = "default" if recipe is None else recipe
    if not isinstance(name, str) or name not in AUDIO_RECIPES:
        names = [*AUDIO_RECIPES]
        raise ValueError(f"recipe must be an AudioRecipe or one of {names}, got {name!r}.")
    return AUDIO_RECIPES[name]


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
    _check_bands(n_fft, n_bands)
    frames = dict(n_fft=n_fft, hop_length=hop_length, win_length=win_length, window=window)
    recipe = AudioRecipe(**frames, center=center, power=power, log=log, amin=amin, top_db=top_db)
    spectra = recipe.spectra([_signal(y)])
    parts = recipe.cut([recipe.logarithm(_means(power, n_bands)) for power in spectra])
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


def _frames(blocks: Iterable[np.ndarray], hop: int, span: int) -> Iterator[np.ndarray]:
    """Yield views of `FRAMES` frames at a time, the last of them fewer."""
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


def _fill(rows: np.ndarray, parts: Iterable[np.ndarray]) -> None:
    """Lay parts of shape (n_frames, n_rows) side by side, without a second copy of them all."""
    start = 0
    for part in parts:
        rows[:, start : start + len(part)] = part.T
        start += len(part)


def _check_bands(n_fft: int, n_bands: int) -> None:
    if n_fft % 2 or n_fft // 2 % n_bands:
        raise ValueError(f"{n_bands} bands must divide the {n_fft // 2} bins of n_fft={n_fft}.")


def _means(power: np.ndarray, n_bands: int) -> np.ndarray:
    """Average bins 1 to the last in groups; bin 0, the mean of the signal, is left out."""
    return power[:, 1:].reshape(len(power), n_bands, -1).mean(axis=2)


@lru_cache(maxsize=16)
def _window(window: Any, width: int) -> np.ndarray:
    from scipy.signal import get_window  # slow to import

    return get_window(window, width, fftbins=True)


@lru_cache(maxsize=16)
def _mel(
    sr: int, n_fft: int, n_mels: int, fmin: float, fmax: float, htk: bool, norm: Any, dtype: Any
) -> np.ndarray:
    """Triangles of shape (n_bins, n_mels) whose corners are equally far apart in mel."""
    ends = _to_mel(np.array([fmin, fmax]), htk)
    corners = _to_hz(np.linspace(*ends, n_mels + 2), htk)
    bins = np.fft.rfftfreq(n_fft, 1 / sr)[:, None]
    rising = (bins - corners[:-2]) / np.diff(corners)[:-1]
    falling = (corners[2:] - bins) / np.diff(corners)[1:]
    weights = np.maximum(0, np.minimum(rising, falling))
    if not weights.any(axis=0).all():
        warnings.warn(
            f"{(~weights.any(axis=0)).sum()} of {n_mels} mel bands are narrower than a bin and "
            f"stay empty; lower n_mels or raise n_fft.",
            stacklevel=2,
        )
    if norm == "slaney":
        weights *= 2 / (corners[2:] - corners[:-2])
    return weights.astype(dtype)


# Slaney's scale: linear to 1000 Hz (15 mel), 27 steps for every factor of 6.4 above.
_LINEAR, _BREAK, _STEP = 200 / 3, 1000.0, log(6.4) / 27


def _to_mel(hz: np.ndarray, htk: bool) -> np.ndarray:
    if htk:
        return 2595 * np.log10(1 + hz / 700)
    above = _BREAK / _LINEAR + np.log(np.maximum(hz, _BREAK) / _BREAK) / _STEP
    return np.where(hz < _BREAK, hz / _LINEAR, above)


def _to_hz(mel: np.ndarray, htk: bool) -> np.ndarray:
    if htk:
        return 700 * (10 ** (mel / 2595) - 1)
    above = _BREAK * np.exp(_STEP * (mel - _BREAK / _LINEAR))
    return np.where(mel < _BREAK / _LINEAR, mel * _LINEAR, above)


@lru_cache(maxsize=16)
def _dct(
    n_mels: int, n_mfcc: int, kind: int, norm: str | None, lifter: float, dtype: Any
) -> np.ndarray:
    """The cosine transform as a matrix, with its lifter: faster than a transform of 40 values."""
    matrix = scipy.fft.dct(np.eye(n_mels), type=kind, norm=norm, axis=1)[:, :n_mfcc]
    if lifter:
        matrix *= 1 + lifter / 2 * np.sin(np.pi * np.arange(1, n_mfcc + 1) / lifter)
    return matrix.astype(dtype)

"""Recipes: the settings that turn sound into rows of numbers, with librosa's names and defaults."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal

import numpy as np
import scipy.fft

from mvdfq.io.sound import spectral

N_BANDS = 64
ADDITIONS = ("delta", "fft64")
CHOICES = {
    "center": (True, False, "snip"),
    "mel_norm": ("slaney", None),
    "log": ("db", "ln"),
    "silence": ("missing", "keep"),
}


@dataclass(frozen=True)
class AudioRecipe:
    """How sound becomes a sequence: sampling rate, frames, MFCC and additional rows.

    Parameters
    ----------
    sr : int, default=22050
        Samples per second; sound of another rate is resampled to this one.
    n_mfcc : int, default=13
        Number of coefficients.
    delta, fft64 : bool, default=False
        Add the slope of every coefficient (`numpy.gradient` along time), and 64 log-spectrum
        bands (means of bins 1 to ``n_fft / 2`` in groups): 13 + 64 = 77 rows.
    n_fft, hop_length : int, default=2048 and 512
        Length of the Fourier transform, and samples from one frame to the next.
    win_length : int, default=None
        Samples under the window; `n_fft` if None.
    window : str or tuple, default="hann"
        A window of `scipy.signal.get_window`.
    center : bool or "snip", default=True
        True: frame t is centred on sample ``t * hop_length``, with zeros beyond the ends. False:
        frame t begins there and takes `n_fft` samples. ``"snip"``: frame t begins there and takes
        `win_length` samples, so that short windows reach the end (not in librosa).
    n_mels : int, default=128
        Number of mel bands, from 0 Hz to half the sampling rate.
    htk : bool, default=False
        The mel scale of HTK instead of Slaney's.
    mel_norm : {"slaney", None}, default="slaney"
        Triangles of equal area, or (None) of height 1.
    log : {"db", "ln"}, default="db"
        Decibel, or (not in librosa) the natural logarithm.
    amin : float, default=1e-10
        Energy below `amin` is raised to `amin`; with ``log="ln"``, `amin` is added to all energy.
    top_db : float, default=80.0
        With ``log="db"``, values more than `top_db` below the loudest value are raised.
    silence : {"missing", "keep"}, default="keep"
        ``"missing"``: the rows of a frame whose samples are all exactly zero (digital silence) are
        missing values (not in librosa), so that padding tells nothing. ``"keep"``: the rows
        are the logarithm of `amin`.
    max_duration : float, default=14400
        Longest recording that is read, in seconds (four hours).

    Examples
    --------
    >>> from dataclasses import replace
    >>> from mvdfq.io import AUDIO_RECIPES
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
    n_mels: int = 128
    htk: bool = False
    mel_norm: str | None = "slaney"
    log: str = "db"
    amin: float = 1e-10
    top_db: float | None = 80.0
    silence: str = "keep"
    max_duration: float = 14400

    def __post_init__(self) -> None:
        """Check all parameters; an error names the parameter."""
        if isinstance(self.window, list):  # a tuple that was written to a file and read again
            object.__setattr__(self, "window", tuple(self.window))
        for name in ("sr", "n_fft", "hop_length", "n_mels", "amin", "max_duration"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)!r}.")
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be one of {choices}, got {getattr(self, name)!r}.")
        if not 1 <= self.n_mfcc <= self.n_mels:
            raise ValueError(f"n_mfcc must be from 1 to n_mels={self.n_mels}, got {self.n_mfcc}.")
        if not 1 <= self.window_samples <= self.n_fft:
            raise ValueError(f"win_length must be from 1 to n_fft={self.n_fft}.")
        if self.fft64 and self.n_fft % (2 * N_BANDS):
            raise ValueError(f"n_fft must be a multiple of {2 * N_BANDS} with fft64=True.")

    @property
    def window_samples(self) -> int:
        """Samples under the window."""
        return self.n_fft if self.win_length is None else self.win_length

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
        return hashlib.sha256(repr(astuple(self)).encode()).hexdigest()[:16]

    def features(self, blocks: Iterable[np.ndarray]) -> np.ndarray:
        """Return the rows of a signal that comes in `blocks`, at `sr` samples per second."""
        mel, bands, silent = [], [], []
        bank = self.sr, self.n_fft, self.n_mels, self.htk, self.mel_norm
        for power in self.spectra(blocks):
            silent.append(~power.any(axis=1))
            logs = self.logarithm(power @ spectral.mel_triangles(*bank, power.dtype))
            # If loudness is cut relative to the loudest frame, all frames must be read first.
            mel.append(logs if self._cuts else self._cepstra(logs))
            if self.fft64:
                # bin 0, the mean of the signal, is left out
                groups = power[:, 1:].reshape(len(power), N_BANDS, -1)
                bands.append(self.logarithm(groups.mean(axis=2)))
        rows = np.empty((self.n_rows, sum(map(len, mel))), dtype=mel[0].dtype)
        cepstra = map(self._cepstra, self.cut(mel)) if self._cuts else mel
        spectral.fill(rows[: self.n_mfcc], cepstra)
        is_missing = np.concatenate(silent) & (self.silence == "missing")
        rows[: self.n_mfcc, is_missing] = np.nan  # before slopes, which reach into the silence
        if self.delta and rows.shape[1] > 1:
            rows[self.n_mfcc : 2 * self.n_mfcc] = np.gradient(rows[: self.n_mfcc], axis=1)
        elif self.delta:
            rows[self.n_mfcc : 2 * self.n_mfcc] = 0
        spectral.fill(rows[-N_BANDS:], self.cut(bands))
        rows[:, is_missing] = np.nan
        return rows

    def spectra(self, blocks: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        """Yield the power of the frames of a signal, of shape (n_frames, n_bins)."""
        width, span, n_parts = self.window_samples, self.frame_samples, 0
        # in double precision; cast below to the precision of the signal
        window = spectral.window_values(self.window, width)
        first = (span - width) // 2  # the window stands in the middle of its frame
        edge = [np.zeros(self.n_fft // 2, dtype=np.float32)] if self.center is True else []
        for frames in spectral.frames_of(chain(edge, blocks, edge), self.hop_length, span):
            # The place of the window within the n_fft samples changes the phase alone, so all
            # zeros may follow the window.
            part = frames[:, first : first + width]
            values = scipy.fft.rfft(part * window.astype(part.dtype), self.n_fft, axis=1)
            power = values.real**2
            power += values.imag**2
            yield power
            n_parts += 1
        if not n_parts:
            raise ValueError(f"The signal is shorter than a frame ({span} samples).")

    def logarithm(self, energy: np.ndarray) -> np.ndarray:
        """Return the logarithm that the recipe asks for."""
        if self.log == "ln":
            return np.log(energy + energy.dtype.type(self.amin))
        return 10 * np.log10(np.maximum(energy, energy.dtype.type(self.amin)))

    def cut(self, parts: list[np.ndarray]) -> Iterable[np.ndarray]:
        """Raise values more than `top_db` below the loudest value, if the recipe says so."""
        if not (self._cuts and parts):
            return parts
        lowest = max(part.max() for part in parts) - parts[0].dtype.type(self.top_db)
        return (np.maximum(part, lowest) for part in parts)

    @property
    def _cuts(self) -> bool:
        return self.log == "db" and self.top_db is not None

    def _cepstra(self, logs: np.ndarray) -> np.ndarray:
        return logs @ spectral.dct_matrix(self.n_mels, self.n_mfcc, logs.dtype)


# What is written in the README of the GTZAN features: 25 ms windows every 12.5 ms.
_GTZAN = AudioRecipe(
    sr=22050, n_fft=1024, win_length=551, hop_length=276, window="hamming", center="snip",
    n_mels=40, htk=True, mel_norm=None, log="ln", amin=1e-8, top_db=None,
)  # fmt: skip
_SPEECH = replace(_GTZAN, sr=16000, n_fft=512, win_length=400, hop_length=160, silence="missing")

#: Recipes by name. ``"gtzan"`` gives the GTZAN features of the paper's experiments,
#: ``"librosa"`` has librosa's defaults with 13 coefficients.
#: ``"default"`` is for speech and music of any rate: 25 ms windows every 10 ms at 16 kHz. All
#: recordings are brought to this rate, so that a row means the same in every recording. The
#: frequencies up to 8 kHz hold all of speech and most of music. ``"telephone"`` is the same at
#: 8 kHz: if all recordings have this rate, no band lies above their highest frequency. Both read
#: digital silence as missing values; the other two give the numbers of other programs.
AUDIO_RECIPES = {
    "default": _SPEECH,
    "gtzan": _GTZAN,
    "librosa": AudioRecipe(),
    "telephone": replace(_SPEECH, sr=8000, n_fft=256, win_length=200, hop_length=80),
}


def audio_recipe(recipe: AudioRecipe | str | None, silence: str | None = None) -> AudioRecipe:
    """Return the recipe itself, the default for None, or a recipe by name, such as gtzan+delta."""
    if silence is not None:
        return replace(audio_recipe(recipe), silence=silence)
    if isinstance(recipe, AudioRecipe):
        return recipe
    name, *added = ["default"] if recipe is None else str(recipe).split("+")
    if name not in AUDIO_RECIPES or not set(added) <= set(ADDITIONS):
        wanted = f"one of {[*AUDIO_RECIPES]}, with +delta or +fft64 after it for more rows"
        raise ValueError(f"recipe must be an AudioRecipe or {wanted}, got {recipe!r}.")
    rows: dict[str, Any] = dict.fromkeys(added, True)
    return replace(AUDIO_RECIPES[name], **rows)

"""The samples of a sound file, block by block: decoded, mixed to one channel, checked, resampled.

Of all memory, only the features grow with the length of the file.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from math import gcd
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from mvdfq._utils.short import counted
from mvdfq.io.dataset import ReadError
from mvdfq.io.sound.audio_files import FORMATS, MEND
from mvdfq.io.sound.hushed import hushed
from mvdfq.io.sound.recipes import AudioRecipe

__all__ = ["Header", "decoded_features", "header_of", "resampled"]

# Samples decoded at a time, over all channels: 1 MB.
BLOCK = 2**18
# Rates that are resampled; the filter between two rates grows with the larger rate.
RATES = 1000, 384_000
# A stream of unknown length announces 2**63 - 1 frames: it is measured while it is read.
UNKNOWN = 2**62
# Half a step of 16 bits. A recording that is never louder is silent; a codec may leave traces.
SILENCE = 2.0**-16


# Zeros that last for this many seconds are digital silence; sound passes through single zeros.
QUIET = 0.01
# The first bytes of formats whose decoders are silent; all else may be MP3.
SILENT = b"RIFF", b"RIFX", b"RF64", b"fLaC", b"OggS", b".snd", b"FORM"


class Header(NamedTuple):
    """What the header of a sound file says; if the file is decoded, what its samples are."""

    seconds: float
    kind: str
    # Of the samples and their rate: the same in every container that loses nothing.
    digest: bytes = b""
    # Share of exact zeros, in runs of at least `QUIET` seconds.
    silence: float = 0.0


def decoded_features(stream: BinaryIO, name: str, recipe: AudioRecipe) -> np.ndarray:
    """Return the features of an open file; errors call the file `name`."""
    with _sound(stream, name, recipe) as sound:
        blocks = _checked(_mono(sound), sound.samplerate, name, recipe)
        return recipe.features(resampled(blocks, sound.samplerate, recipe.sr))


def header_of(stream: BinaryIO, name: str, recipe: AudioRecipe, deep: bool = False) -> Header:
    """Return the header of an open file; errors are the same as in `decoded_features`.

    Only with `deep` are the samples decoded and checked too.
    """
    with _sound(stream, name, recipe) as sound:
        kind = f"{sound.format} {sound.samplerate} Hz, {counted(sound.channels, 'channel')}"
        if not deep:
            if sound.frames < UNKNOWN:
                _check_length(sound.frames, sound.samplerate, name, recipe)
            return Header(sound.frames / sound.samplerate, kind)
        digest, n, silent = hashlib.sha256(f"{sound.samplerate}".encode()), 0, 0
        size = max(1, int(QUIET * sound.samplerate))
        for block in _checked(_mono(sound), sound.samplerate, name, recipe):
            digest.update(block.tobytes())
            # The rest of a block, less than a hundredth of a second, is not looked at.
            pieces = block[: len(block) // size * size].reshape(-1, size)
            n, silent = n + len(block), silent + size * int((~pieces.any(axis=1)).sum())
        return Header(n / sound.samplerate, kind, digest.digest(), silent / n)


@contextmanager
def _sound(stream: BinaryIO, name: str, recipe: AudioRecipe) -> Iterator[Any]:
    """Open sound, check its header, and turn errors of the decoder into a ReadError."""
    import soundfile  # here: all else works without libsndfile

    _check_whole(stream, name)
    is_silent = stream.read(4) in SILENT
    stream.seek(0)
    try:
        with nullcontext() if is_silent else hushed(), soundfile.SoundFile(stream) as sound:
            _check_header(sound, name, recipe)
            yield sound
    except soundfile.LibsndfileError as error:
        reason = error.error_string.removeprefix("Error : ").rstrip(".")
        if "does not exist" in reason:  # no frame of MP3 was found
            reason = "no sound is found in the file"
        raise ReadError(name, f"is damaged or not sound ({reason})", f"{FORMATS}; {MEND}") from None


def _check_whole(stream: BinaryIO, name: str) -> None:
    """Refuse a WAV that ends early: the decoder would take the rest for the whole."""
    start = stream.read(8)
    announced = 8 + int.from_bytes(start[4:], "little")
    held = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    # Programs that cannot go back to the header write a very large size, and some miss the last
    # byte of padding.
    if start[:4] == b"RIFF" and held + 8 < announced < 2**31 - 2**16:
        problem = f"is damaged: it ends after {held} of {announced} bytes"
        raise ReadError(name, problem, MEND)


def _check_header(sound: Any, name: str, recipe: AudioRecipe) -> None:
    if not RATES[0] <= sound.samplerate <= RATES[1]:
        problem = f"{sound.samplerate} samples per second"
        raise ReadError(name, problem, f"from {RATES[0]} to {RATES[1]} are read")
    if sound.frames < UNKNOWN and sound.frames > recipe.max_duration * sound.samplerate:
        raise _too_long(name, recipe)


def _too_long(name: str, recipe: AudioRecipe) -> ReadError:
    problem = f"lasts more than {recipe.max_duration:g} seconds"
    return ReadError(name, problem, "cut the recording, or raise max_duration of the recipe")


def _mono(sound: Any) -> Iterator[np.ndarray]:
    """Yield the mean of all channels, block by block."""
    size = max(1, BLOCK // sound.channels)
    # equivalent to block.mean(axis=1), which took a third of the time of reading a stereo file
    shares = np.full(sound.channels, 1 / sound.channels, dtype=np.float32)
    while len(block := sound.read(size, dtype="float32", always_2d=True)):
        yield block[:, 0] if sound.channels == 1 else block @ shares


def _checked(
    blocks: Iterable[np.ndarray], rate: int, name: str, recipe: AudioRecipe
) -> Iterator[np.ndarray]:
    """Pass the samples on; refuse samples that are not finite, and a short or silent recording."""
    n, peak = 0, 0.0
    for block in blocks:
        # The largest magnitude is NaN if any sample is: one pass finds both.
        loudest = float(np.abs(block).max())
        if not np.isfinite(loudest):
            place = n + int(np.flatnonzero(~np.isfinite(block))[0])
            raise ReadError(name, f"sample {place} is not a finite number", MEND)
        n, peak = n + len(block), max(peak, loudest)
        if n > recipe.max_duration * rate:
            raise _too_long(name, recipe)
        yield block
    _check_length(n, rate, name, recipe)
    if peak <= SILENCE:
        raise ReadError(name, f"is silent for all of its {n / rate:.3g} s", MEND)


def _check_length(n: int, rate: int, name: str, recipe: AudioRecipe) -> None:
    shortest = recipe.window_samples if recipe.center is True else recipe.frame_samples
    if n * recipe.sr < shortest * rate:
        problem = f"is too short: {n / rate:.3g} s, a window takes {shortest / recipe.sr:.3g} s"
        raise ReadError(name, problem, MEND)


def resampled(blocks: Iterable[np.ndarray], rate: int, wanted: int) -> Iterator[np.ndarray]:
    """Yield a signal at another sampling rate, block by block.

    The result has the same samples as `scipy.signal.resample_poly` of the whole signal: each
    piece is resampled together with the neighbouring samples that the filter reaches, and the
    neighbours are cut off again. Pieces begin at multiples of `down` samples, where input and
    output samples have the same time.
    """
    up, down = wanted // gcd(rate, wanted), rate // gcd(rate, wanted)
    if up == down:
        yield from blocks
        return
    reach = -(-10 * max(up, down) // (up * down)) + 1  # of the filter, in units of `down` samples
    units = max(1, BLOCK // (4 * max(up, down)))
    rest = np.zeros(reach * down, dtype=np.float32)
    needed = (units + 2 * reach) * down
    for block in blocks:
        rest = np.concatenate([rest, block])
        while len(rest) >= needed:
            yield _resample(rest[:needed], up, down)[reach * up : (reach + units) * up]
            rest = rest[units * down :]
    left = len(rest) - reach * down
    last = _resample(np.concatenate([rest, np.zeros(reach * down, dtype=np.float32)]), up, down)
    yield last[reach * up : reach * up - (-left * up // down)]


def _resample(samples: np.ndarray, up: int, down: int) -> np.ndarray:
    from scipy.signal import resample_poly  # slow to import

    return resample_poly(samples, up, down, window=_low_pass(up, down))


@lru_cache(maxsize=8)
def _low_pass(up: int, down: int) -> np.ndarray:
    """Return the filter that `resample_poly` would design again in every call."""
    from scipy.signal import firwin

    largest = max(up, down)
    return firwin(20 * largest + 1, 1 / largest, window=("kaiser", 5.0)).astype(np.float32)

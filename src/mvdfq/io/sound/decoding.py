"""Sound files: recognised by their first bytes, and decoded block by block to one channel."""

import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import lru_cache, partial
from io import BufferedReader, FileIO
from math import gcd
from pathlib import Path
from threading import RLock
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from mvdfq._utils.errors import Sentence
from mvdfq._utils.short import counted
from mvdfq.io.sound.recipes import AudioRecipe
from mvdfq.io.source import KNOWN, Glimpse, ReadError, unchanged

# Files of a folder that are looked at to find out what the folder holds.
FEW = 20
MEND = Sentence("repair or remove the file, or leave it out with ", {"skip_bad": True})
READABLE = "WAV, FLAC, OGG, Opus, MP3 and AU are read, AAC and m4a with ffmpeg"
# Bytes of samples that ffmpeg may write for one file: six hours of stereo sound.
MOST_DECODED = 2**32 - 2**20
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
# How WAV, AIFF, FLAC, OGG, AU and MP3 with a description begin.
SOUND = re.compile(rb"(RIFF|RIFX|RF64)....WAVE|FORM....AIF[FC]|fLaC|OggS|\.snd|ID3", re.DOTALL)
# The first bytes of formats whose decoders are silent; all else may be MP3.
SILENT = b"RIFF", b"RIFX", b"RF64", b"fLaC", b"OggS", b".snd", b"FORM"
# How libmpg123, which libsndfile reads MP3 with, begins its lines.
NOISE = re.compile(rb"(?<![A-Za-z])(?:Note: |Warning: |\[src/libmpg123)[^\n]*+\n")
LOCK = RLock()
STDERR = 2


def is_sound(glimpse: Glimpse) -> bool:
    """Does the file begin like WAV, FLAC, OGG, MP3, AU or AIFF?"""
    start = glimpse.start
    if SOUND.match(start) or aac_kind(start):
        return True
    # A frame of MPEG layer III: eleven ones, layer 01, and neither of the values that are reserved
    # for version, bit rate and sampling rate. FF FE, which opens UTF-16 text, has another layer.
    if len(start) < 4 or start[0] != 0xFF or start[1] & 0xE6 != 0xE2:
        return False
    return start[1] & 0x18 != 0x08 and start[2] & 0xF0 != 0xF0 and start[2] & 0x0C != 0x0C


def aac_kind(start: bytes) -> str | None:
    """Return what ffmpeg calls a file of AAC that begins so: mov for m4a, aac for bare frames."""
    if start[4:8] == b"ftyp":
        return "mov"
    # Twelve ones, layer 00 and a sampling rate that exists.
    is_bare = start[:1] == b"\xff" and start[1:2] in (b"\xf1", b"\xf9")
    return "aac" if is_bare and len(start) > 3 and start[2] >> 2 & 15 < 13 else None


@contextmanager
def _without_aac(stream: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """Yield the stream, or the samples of AAC as WAV, which ffmpeg decodes to a temporary file."""
    kind = aac_kind(stream.read(16))
    stream.seek(0)
    if kind is None:
        yield stream
        return
    program = shutil.which("ffmpeg")
    if program is None:
        hint = "install ffmpeg, or convert the file where ffmpeg is: ffmpeg -i a.m4a a.wav"
        raise ReadError(name, "is AAC, which is read by ffmpeg, and ffmpeg is not found", hint)
    path = os.path.abspath(os.fsdecode(stream.raw.name))  # type: ignore[attr-defined]
    # The kind is given, and only files are opened: a playlist in disguise leads nowhere.
    command = [program, "-nostdin", "-v", "error", "-protocol_whitelist", "file,pipe", "-f", kind,
               "-i", f"file:{path}", "-vn", "-fs", f"{MOST_DECODED}",
               "-f", "wav", "pipe:1"]  # fmt: skip
    with tempfile.TemporaryFile() as samples:
        done = subprocess.run(command, stdout=samples, stderr=subprocess.PIPE, check=False)
        if done.returncode or samples.tell() > MOST_DECODED - BLOCK:
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["too long"]
            raise ReadError(name, f"ffmpeg cannot decode the file ({last[0]})"[:300], MEND)
        samples.seek(0)
        yield samples


def meant_as_sound(path: Path) -> bool:
    """Does the file begin like sound, or does its name say so? Pictures and notes are not sound."""
    return _ends_as_sound(path.name) or is_sound(Glimpse(path))


def _ends_as_sound(name: str) -> bool:
    return name.rpartition(".")[2].lower() in KNOWN["sound"]


def holds_sound(glimpse: Glimpse) -> bool:
    """Is the file, or one of the first files of the folder, sound, or are all called sound?"""
    if is_sound(glimpse):
        return True
    sample: list[Path] = []
    for place, folders, files in os.walk(glimpse.path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        seen = sorted(name for name in files if not name.startswith("."))
        seen.sort(key=_ends_as_sound, reverse=True)  # covers and notes come last
        sample += [Path(place, name) for name in seen[:3]]
        if len(sample) >= FEW:
            break
    called = bool(sample) and all(_ends_as_sound(path.name) for path in sample)
    return called or any(is_sound(Glimpse(path)) for path in sample)


class _Nameless(BufferedReader):
    """A file without a name: for an extension ``.raw`` soundfile would ignore the content."""

    name = ""


@contextmanager
def opened(file: str | Path) -> Iterator[BinaryIO]:
    """Open a regular file: a pipe would be waited for, and a folder has no bytes."""
    try:
        status = os.stat(file)
        is_regular = stat.S_ISREG(status.st_mode)
        stream = _Nameless(FileIO(file)) if is_regular and status.st_size else None
    except (OSError, ValueError) as error:
        raise unreadable(file, error) from None
    if stream is None:
        problem = "is empty (0 bytes)" if is_regular else "is not a regular file"
        raise ReadError(shown(file), problem, MEND)
    with stream, unchanged(stream, shown(file)):
        yield stream


def unreadable(file: str | Path, error: Exception) -> ReadError:
    """Return the error for a path that the operating system does not open."""
    reason = getattr(error, "strerror", None) or str(error)
    return ReadError(shown(file), f"cannot be opened ({reason})", f"check the path, or {MEND}")


def shown(path: Any) -> str:
    """Return a path as text that can be printed, whatever bytes the path holds."""
    return os.fspath(path).encode("utf-8", "backslashreplace").decode()


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
        blocks = _samples(sound, name, recipe)
        return recipe.features(resampled(blocks, sound.samplerate, recipe.sr))


def header_of(file: Path, recipe: AudioRecipe, deep: bool = False) -> Header:
    """Return the header of a file; with `deep` the samples are decoded and checked too."""
    name = shown(file)
    with opened(file) as stream, _sound(stream, name, recipe) as sound:
        kind = f"{sound.format} {sound.samplerate} Hz, {counted(sound.channels, 'channel')}"
        if not deep:
            if sound.frames < UNKNOWN:
                _check_length(sound.frames, sound.samplerate, name, recipe)
            return Header(sound.frames / sound.samplerate, kind)
        digest, n, silent = hashlib.sha256(f"{sound.samplerate}".encode()), 0, 0
        size = max(1, int(QUIET * sound.samplerate))
        for block in _samples(sound, name, recipe):
            digest.update(block.tobytes())
            # The rest of a block, less than a hundredth of a second, is not looked at.
            pieces = block[: len(block) // size * size].reshape(-1, size)
            n, silent = n + len(block), silent + size * int((~pieces.any(axis=1)).sum())
        return Header(n / sound.samplerate, kind, digest.digest(), silent / n)


@contextmanager
def _sound(stream: BinaryIO, name: str, recipe: AudioRecipe) -> Iterator[Any]:
    """Open sound, check its header, and turn errors of the decoder into a ReadError."""
    import soundfile  # here: all else works without libsndfile

    try:
        with _without_aac(stream, name) as plain:
            start = plain.read(8)
            announced, held = 8 + int.from_bytes(start[4:], "little"), plain.seek(0, os.SEEK_END)
            plain.seek(0)
            # Programs that cannot go back to the header write a very large size, and some miss the
            # last byte of padding. The decoder would take the rest of a WAV for the whole.
            if start[:4] == b"RIFF" and held + 8 < announced < 2**31 - 2**16:
                problem = f"is damaged: it ends after {held} of {announced} bytes"
                raise ReadError(name, problem, MEND)
            quiet = nullcontext() if start[:4] in SILENT else hushed()
            with quiet, soundfile.SoundFile(plain) as sound:
                if not RATES[0] <= sound.samplerate <= RATES[1]:
                    problem = f"{sound.samplerate} samples per second"
                    raise ReadError(name, problem, f"from {RATES[0]} to {RATES[1]} are read")
                if sound.frames < UNKNOWN:
                    _check_duration(sound.frames / sound.samplerate, name, recipe)
                yield sound
    except soundfile.LibsndfileError as error:
        reason = error.error_string.removeprefix("Error : ").rstrip(".")
        if "does not exist" in reason:  # no frame of MP3 was found
            reason = "no sound is found in the file"
        problem = f"is damaged or not sound ({reason})"
        raise ReadError(name, problem, f"{READABLE}; {MEND}") from None


def _check_duration(seconds: float, name: str, recipe: AudioRecipe) -> None:
    if seconds > recipe.max_duration:
        problem = f"lasts more than {recipe.max_duration:g} seconds"
        raise ReadError(name, problem, "cut the recording, or raise max_duration of the recipe")


def _samples(sound: Any, name: str, recipe: AudioRecipe) -> Iterator[np.ndarray]:
    """Yield the mean of all channels; refuse bad samples, and a short or silent recording."""
    n, peak, rate = 0, 0.0, sound.samplerate
    size = max(1, BLOCK // sound.channels)
    # equivalent to block.mean(axis=1), which took a third of the time of reading a stereo file
    shares = np.full(sound.channels, 1 / sound.channels, dtype=np.float32)
    while len(block := sound.read(size, dtype="float32", always_2d=True)):
        block = block[:, 0] if sound.channels == 1 else block @ shares
        # The largest magnitude is NaN if any sample is: one pass finds both.
        loudest = float(np.abs(block).max())
        if not np.isfinite(loudest):
            place = n + int(np.flatnonzero(~np.isfinite(block))[0])
            raise ReadError(name, f"sample {place} is not a finite number", MEND)
        n, peak = n + len(block), max(peak, loudest)
        _check_duration(n / rate, name, recipe)
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
    """Yield a signal at another rate, block by block, as `resample_poly` does of the whole."""
    up, down = wanted // gcd(rate, wanted), rate // gcd(rate, wanted)
    if up == down:
        yield from blocks
        return
    reach = -(-10 * max(up, down) // (up * down)) + 1  # of the filter, in units of `down` samples
    units = max(1, BLOCK // (4 * max(up, down)))
    rest = np.zeros(reach * down, dtype=np.float32)
    needed, resample = (units + 2 * reach) * down, _resampler(up, down)
    for block in blocks:
        rest = np.concatenate([rest, block])
        while len(rest) >= needed:
            yield resample(rest[:needed])[reach * up : (reach + units) * up]
            rest = rest[units * down :]
    left = len(rest) - reach * down
    last = resample(np.concatenate([rest, np.zeros(reach * down, dtype=np.float32)]))
    yield last[reach * up : reach * up - (-left * up // down)]


@lru_cache(maxsize=8)
def _resampler(up: int, down: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return `resample_poly` with its filter, which it would design again in every call."""
    from scipy.signal import firwin, resample_poly  # slow to import

    largest = max(up, down)
    window = firwin(20 * largest + 1, 1 / largest, window=("kaiser", 5.0)).astype(np.float32)
    return partial(resample_poly, up=up, down=down, window=window)


@contextmanager
def hushed() -> Iterator[None]:
    """Hold back what is written to the error stream, and pass on all but the decoder's remarks."""
    # The decoder writes past Python; what other threads write appears when the block ends.
    with LOCK, tempfile.TemporaryFile() as held:
        try:
            screen = os.dup(STDERR)
        except OSError:  # the process has no error stream
            yield
            return
        try:
            _flush()
            os.dup2(held.fileno(), STDERR)
            yield
        finally:
            _flush()
            os.dup2(screen, STDERR)
            os.close(screen)
            held.seek(0)
            if rest := NOISE.sub(b"", held.read()):
                os.write(STDERR, rest)


def _flush() -> None:
    if sys.stderr is not None and not sys.stderr.closed:
        sys.stderr.flush()

"""The sets of music, read from folders of recordings as their publishers distribute them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from mvdfq.io.audio import headers, read_audio
from mvdfq.io.audio_files import unreadable
from mvdfq.io.base import ReadError
from mvdfq.io.listing import list_audio
from mvdfq.io.tables import rows_of
from mvdfq.io.text import Source
from mvdfq.reproduce.sets import MusicSet, joined
from mvdfq.sequences import Sequences

__all__ = ["album_folder", "genre_folder", "ismir_folder"]

# Only the middle of a whole song is read, as long as a clip of GTZAN: 77 channels of whole songs
# would not fit the memory of most computers.
SECONDS = 30
FILES_AT_A_TIME = 64
# The 1458 sequences of the paper are these parts of ISMIR2004.
PARTS = ("training", "development")
# class, artist, album, track, number, file
COLUMNS = 6


def _views(files: list[Path]) -> dict[str, Callable[[], Any]]:
    """Return the views of sound files; a view is read when it is needed."""
    return {
        "mfcc": lambda: _features(files, "gtzan"),
        "mfcc+fft64": lambda: _features(files, "gtzan+fft64"),
        "fft64": lambda: _bands(files),
        "audio": lambda: joined([_waveform(file) for file in files]),
    }


def _features(files: list[Path], recipe: str) -> Sequences:
    """Return the frames in the middle of every file."""
    clips: list[np.ndarray] = []
    for first in range(0, len(files), FILES_AT_A_TIME):
        part = read_audio(files[first : first + FILES_AT_A_TIME], recipe, n_jobs=-1)
        n_frames = int(SECONDS * part.X.sampling_rate)
        clips += [_middle(part.X[i], n_frames).copy() for i in range(len(part))]
    return joined(clips)


def _bands(files: list[Path]) -> Sequences:
    """Return the 64 spectral bands minus their least value: no value is negative."""
    both = _features(files, "gtzan+fft64")
    bands = both.data[-64:]
    return Sequences(bands - bands.min(), both.offsets)


def _middle(x: np.ndarray, n: int) -> np.ndarray:
    start = max((x.shape[1] - n) // 2, 0)
    return x[:, start : start + n]


def _waveform(file: Path) -> np.ndarray:
    """Return the samples in the middle of a file, all channels mixed to one."""
    try:
        with soundfile.SoundFile(file) as sound:
            n = SECONDS * sound.samplerate
            sound.seek(max((sound.frames - n) // 2, 0))
            return sound.read(n, dtype="float32", always_2d=True).mean(axis=1)[None]
    except (OSError, RuntimeError) as error:
        raise unreadable(file, error) from None


def genre_folder(name: str, folder: Path) -> MusicSet:
    """Read a folder with a sub-folder of recordings for each genre."""
    listing = list_audio(folder)
    if not listing.labels:
        raise ReadError(folder, "holds no sound files", "expected a sub-folder for each genre")
    _check_headers(listing.files)
    return MusicSet(name, _views(listing.files), np.array(listing.labels))


def _check_headers(files: list[Path]) -> None:
    """Raise the first error that headers show, before files are decoded for minutes."""
    for found in headers(files, "gtzan", deep=False):
        if isinstance(found, ReadError):
            raise found


def album_folder(name: str, folder: Path) -> MusicSet:
    """Read a folder ``artist/album/recording``; every album is a group."""
    listing = list_audio(folder, group_pattern=r"^([^/]+/[^/]+)/")
    if not listing.groups:
        raise ReadError(folder, "holds no albums", "expected recordings in artist/album")
    _check_headers(listing.files)
    groups = np.array(listing.groups)
    return MusicSet(name, _views(listing.files), np.array(listing.labels), groups)


def ismir_folder(name: str, folder: Path) -> MusicSet:
    """Read ISMIR2004: ``audio/PART`` and ``metadata/PART/tracklist.csv`` for two parts.

    A line of a track list is: class, artist, album, track, number, file. The 1458 sequences of
    the paper are the training and the development part, 729 each.
    """
    files, labels = [], []
    for part in PARTS:
        for file, label in _tracks(folder, part):
            files.append(file)
            labels.append(label)
    return MusicSet(name, _views(files), np.array(labels))


def _tracks(folder: Path, part: str) -> list[tuple[Path, str]]:
    """Return the files of a part and their classes."""
    path = folder / "metadata" / part / "tracklist.csv"
    tracks = []
    for number, fields in rows_of(Source(path)):
        if len(fields) < COLUMNS:
            hint = "class, artist, album, track, number, file"
            raise ReadError(path, f"line {number}: {len(fields)} fields, expected 6", hint)
        if number == 1 and fields[0].lower() == "class":
            continue
        track = folder / "audio" / part / fields[COLUMNS - 1]
        if not track.is_file():
            raise ReadError(path, f"line {number}: there is no file {track}")
        tracks.append((track, fields[0].replace("-", "_").lower()))
    return tracks

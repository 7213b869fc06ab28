"""The data sets below the folder that the user names, as features or as their publishers do."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from scipy.io import loadmat

from mvdfq.io.labelling import Elsewhere
from mvdfq.io.sound.audio import headers, list_audio, read as read_audio
from mvdfq.io.sound.decoding import meant_as_sound, unreadable
from mvdfq.io.source import ReadError, Source
from mvdfq.io.tables.arrays import read_archive
from mvdfq.io.tables.csv_tables import rows_of
from mvdfq.reproduce.scop import ProteinSet, load_scop
from mvdfq.reproduce.sets import MusicSet, joined
from mvdfq.sequences import Sequences, offsets_of
from mvdfq.symbols.base import Symbols, check_symbols

FOLDERS = ("gtzan", "artist20", "ismir2004", "proteins")
GENRES = "blues classical country disco hiphop jazz metal pop reggae rock".split()
# Only the middle of a whole song is read, as long as a clip of GTZAN: 77 channels of whole songs
# would not fit the memory of most computers.
SECONDS = 30
FILES_AT_A_TIME = 64
# The 1458 sequences of the paper are these parts of ISMIR2004, 729 each.
PARTS = ("training", "development")
COLUMNS = "class, artist, album, track, number, file"
# The note of every figure on the spectral bands that are kept as features.
LEVELS = "FFT64: 32 levels, cut at percentiles of all clips, read as numbers"


class NotThere(ReadError):
    """A folder that does not exist."""


def existing(folder: Path, hint: str = "--data names the folder that holds it") -> Path:
    """Return the folder; raise `NotThere` if it does not exist."""
    if not folder.is_dir():
        raise NotThere(folder, "is not there", hint)
    return folder


def _found(
    folder: Path, name: str, fits: Callable[[Path], bool], expected: str, needs_name: bool = False
) -> Path:
    """Return the folder of a set: `name` in `folder`, `folder` itself, or one level deeper."""
    named, folder = folder / name, folder.resolve()
    is_named = named.is_dir() or folder.name == name
    top = named if named.is_dir() else folder
    if is_named or not needs_name:  # a layout that other sets have, too, needs the name
        place = next(filter(fits, [top, *_inside(top)]), None)
        if place is not None:
            return place
    if is_named:
        raise ReadError(top, "has another layout", expected)
    raise NotThere(named, "is not there", f"--data names the folder that holds it; {expected}")


def _inside(folder: Path) -> list[Path]:
    """Return the folders in a folder, without hidden folders."""
    return sorted(path for path in folder.iterdir() if path.is_dir() and path.name[0] != ".")


def _holds_sound(folder: Path) -> bool:
    return any(path.is_file() and meant_as_sound(path) for path in folder.iterdir())


def load_gtzan(folder: Path) -> MusicSet:
    """Read GTZAN: the features ``gtzan/mfcc.npz``, or a folder of recordings for every genre."""

    def fits(place: Path) -> bool:
        genres = [path for path in _inside(place) if path.name.lower() in GENRES]
        is_known = place.name == "gtzan" and (place / "mfcc.npz").exists()
        return is_known or sum(map(_holds_sound, genres)) > 1

    expected = "expected gtzan/blues/*.au to gtzan/rock/*.au, or gtzan/genres/blues/*.au"
    place = _found(folder, "gtzan", fits, expected)
    is_known = (place / "mfcc.npz").exists()
    return _gtzan_features(place) if is_known else _recordings("GTZAN", place)


def _gtzan_features(folder: Path) -> MusicSet:
    """Read ``mfcc.npz``, and 64 spectral bands and the author's codewords if they are there."""
    path, bands = folder / "mfcc.npz", folder / "fft64_32levels.npz"
    codewords = folder.parent / "sssk_reference" / "example_seq.mat"
    labels, artists, split = _arrays(path, "labels", "artists", "fault_filtered_split")

    def mfcc() -> Sequences:
        return _ragged(*_arrays(path, "values", "lengths"))

    def fft64() -> Sequences:
        return _ragged(*_arrays(bands, "codes", "lengths"))

    def both() -> Sequences:
        first, second = mfcc(), fft64()
        names = [f"mfcc {i}" for i in range(first.n_rows)]
        names += [f"band {i}" for i in range(second.n_rows)]
        return Sequences(np.concatenate([first.data, second.data]), first.offsets, tuple(names))

    def author() -> Symbols:  # in the order of the genres, as codewords out of 1024
        clips = loadmat(codewords)["seq"].ravel()
        return check_symbols([np.atleast_2d(clip.ravel().astype(np.int64)) for clip in clips], 1024)

    views: dict[str, Callable[[], Any]] = {"mfcc": mfcc}
    views |= {"mfcc+fft64": both, "fft64": fft64} if bands.exists() else {}
    views |= {"author": author} if codewords.exists() else {}
    notes = dict.fromkeys(["fft64", "mfcc+fft64"], LEVELS)
    return MusicSet("GTZAN", views, labels, artists, split, notes=notes)


def load_artist20(folder: Path) -> MusicSet:
    """Read artist20: the features ``artist20/mfcc_middle2min.npz``, or recordings in albums."""

    def fits(place: Path) -> bool:
        albums = (album for artist in _inside(place) for album in _inside(artist))
        is_known = place.name == "artist20" and (place / "mfcc_middle2min.npz").exists()
        return is_known or any(map(_holds_sound, albums))

    expected = "expected artist20/ARTIST/ALBUM/*.mp3"
    place = _found(folder, "artist20", fits, expected, needs_name=True)
    path = place / "mfcc_middle2min.npz"
    if not path.exists():
        return _recordings("artist20", place, r"^([^/]+/[^/]+)/")

    def mfcc() -> Sequences:
        levels, low, high, lengths = _arrays(path, "levels", "lo", "hi", "lengths")
        return _ragged(low + (levels.astype(np.float32) + 0.5) * ((high - low) / 256), lengths)

    labels, groups = _arrays(path, "labels", "groups")
    return MusicSet("artist20", {"mfcc": mfcc}, labels, groups)


def _arrays(path: Path, *names: str) -> list[np.ndarray]:
    stored = read_archive(Source(path), names)
    return [stored[name] for name in names]


def _ragged(frames: np.ndarray, lengths: np.ndarray) -> Sequences:
    """Return clips that are stored one after the other, one frame per line."""
    return Sequences(np.ascontiguousarray(frames.T, dtype=np.float32), offsets_of(lengths))


def load_ismir(folder: Path) -> MusicSet:
    """Read ISMIR2004: ``audio/PART`` and ``metadata/PART/tracklist.csv`` for two parts."""

    def fits(place: Path) -> bool:
        return (place / "metadata" / "training" / "tracklist.csv").exists()

    expected = "expected ismir2004/audio/PART and ismir2004/metadata/PART/tracklist.csv"
    place = _found(folder, "ismir2004", fits, expected)
    tracks = [track for part in PARTS for track in _tracks(place, part)]
    labels = np.array([label for _, label in tracks])
    return MusicSet("ISMIR2004", _views([file for file, _ in tracks]), labels)


def _tracks(folder: Path, part: str) -> list[tuple[Path, str]]:
    """Return the files of a part and their classes."""
    path = folder / "metadata" / part / "tracklist.csv"
    tracks = []
    for number, fields in rows_of(Source(path)):
        if len(fields) < 6:
            raise ReadError(path, f"line {number}: {len(fields)} fields, expected 6", COLUMNS)
        if number == 1 and fields[0].lower() == "class":
            continue
        track = folder / "audio" / part / fields[5]
        if not track.is_file():
            raise ReadError(path, f"line {number}: there is no file {track}")
        tracks.append((track, fields[0].replace("-", "_").lower()))
    return tracks


def load_proteins(folder: Path) -> ProteinSet:
    """Read the proteins of remote homology, see `load_scop`."""
    is_it = folder.resolve().name == "proteins" and not (folder / "proteins").is_dir()
    return load_scop(folder if is_it else existing(folder / "proteins"))


def _recordings(name: str, folder: Path, group_pattern: str | None = None) -> MusicSet:
    """Read a folder with a sub-folder of recordings for each class; a pattern tells the groups."""
    listing = list_audio(folder)
    if listing.y is None:
        raise ReadError(folder, "holds no sound files", "expected a sub-folder for each class")
    listing = Elsewhere(group_pattern=group_pattern).applied(listing, Source(folder, skip_bad=True))
    # the first error that headers show, before files are decoded for minutes
    for header in headers(listing.X, "gtzan", deep=False):
        if isinstance(header, ReadError):
            raise header
    return MusicSet(name, _views(list(listing.X)), np.asarray(listing.y), listing.groups)


def _views(files: list[Path]) -> dict[str, Callable[[], Any]]:
    """Return the views of sound files; a view is read when it is needed."""

    def bands() -> Sequences:  # minus their least value: no value is negative
        features = _features(files, "gtzan+fft64")
        return Sequences(features.data[-64:] - features.data[-64:].min(), features.offsets)

    return {
        "mfcc": lambda: _features(files, "gtzan"),
        "mfcc+fft64": lambda: _features(files, "gtzan+fft64"),
        "fft64": bands,
        "audio": lambda: joined([_waveform(file) for file in files]),
    }


def _features(files: list[Path], recipe: str) -> Sequences:
    """Return the frames in the middle of every file."""
    clips: list[np.ndarray] = []
    for first in range(0, len(files), FILES_AT_A_TIME):
        some = files[first : first + FILES_AT_A_TIME]
        part = read_audio(Source(some[0], files=some), recipe, n_jobs=-1)
        n = int(SECONDS * part.X.sampling_rate)
        for x in part.X:
            start = max((x.shape[1] - n) // 2, 0)
            clips.append(x[:, start : start + n].copy())
    return joined(clips)


def _waveform(file: Path) -> np.ndarray:
    """Return the samples in the middle of a file, all channels mixed to one."""
    try:
        with soundfile.SoundFile(file) as sound:
            n = SECONDS * sound.samplerate
            sound.seek(max((sound.frames - n) // 2, 0))
            return sound.read(n, dtype="float32", always_2d=True).mean(axis=1)[None]
    except (OSError, RuntimeError) as error:
        raise unreadable(file, error) from None


LOADERS: dict[str, Callable[[Path], Any]] = {
    "gtzan": load_gtzan,
    "artist20": load_artist20,
    "ismir": load_ismir,
    "proteins": load_proteins,
}

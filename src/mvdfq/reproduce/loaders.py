"""The data sets below the folder that the user names."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mvdfq.io.audio_files import meant_as_sound
from mvdfq.io.base import ReadError
from mvdfq.reproduce import audio_sets, sets
from mvdfq.reproduce.scop import ProteinSet, load_scop

__all__ = ["FOLDERS", "LOADERS", "SETS", "NotThere", "existing"]

FOLDERS = ("gtzan", "artist20", "ismir2004", "proteins")
GENRES = "blues classical country disco hiphop jazz metal pop reggae rock".split()
# Names of the sets in the paper's table of data sets.
SETS = {
    "GTZAN genre (10)": "gtzan",
    "ISMIR2004 genre (6)": "ismir",
    "artist20 (20)": "artist20",
    "SCOP remote homology (54 tasks)": "proteins",
}


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
    """Return the folder of a set: `name` in `folder`, `folder` itself, or one level deeper.

    The layout is checked before any file is read. A layout that other sets have, too, needs the
    name.
    """
    own, folder = folder / name, folder.resolve()
    is_named = own.is_dir() or folder.name == name
    top = own if own.is_dir() else folder
    if is_named or not needs_name:
        place = next(filter(fits, [top, *_inside(top)]), None)
        if place is not None:
            return place
    if is_named:
        raise ReadError(top, "has another layout", expected)
    raise NotThere(own, "is not there", f"--data names the folder that holds it; {expected}")


def _inside(folder: Path) -> list[Path]:
    """Return the folders in a folder, without hidden folders."""
    return sorted(path for path in folder.iterdir() if path.is_dir() and path.name[0] != ".")


def _holds_sound(folder: Path) -> bool:
    return any(path.is_file() and meant_as_sound(path) for path in folder.iterdir())


def _is_gtzan(folder: Path) -> bool:
    genres = [path for path in _inside(folder) if path.name.lower() in GENRES]
    return _has_features(folder, "gtzan", "mfcc.npz") or sum(map(_holds_sound, genres)) > 1


def _has_features(folder: Path, name: str, file: str) -> bool:
    return folder.name == name and (folder / file).exists()


def _gtzan(folder: Path) -> sets.MusicSet:
    expected = "expected gtzan/blues/*.au to gtzan/rock/*.au, or gtzan/genres/blues/*.au"
    place = _found(folder, "gtzan", _is_gtzan, expected)
    if (place / "mfcc.npz").exists():
        return sets.load_gtzan(place.parent)
    return audio_sets.genre_folder("GTZAN", place)


def _is_artist20(folder: Path) -> bool:
    albums = (album for artist in _inside(folder) for album in _inside(artist))
    known = _has_features(folder, "artist20", "mfcc_middle2min.npz")
    return known or any(map(_holds_sound, albums))


def _artist20(folder: Path) -> sets.MusicSet:
    expected = "expected artist20/ARTIST/ALBUM/*.mp3"
    place = _found(folder, "artist20", _is_artist20, expected, needs_name=True)
    if (place / "mfcc_middle2min.npz").exists():
        return sets.load_artist20(place.parent)
    return audio_sets.album_folder("artist20", place)


def _is_ismir(folder: Path) -> bool:
    return (folder / "metadata" / "training" / "tracklist.csv").exists()


def _ismir(folder: Path) -> sets.MusicSet:
    expected = "expected ismir2004/audio/PART and ismir2004/metadata/PART/tracklist.csv"
    return audio_sets.ismir_folder("ISMIR2004", _found(folder, "ismir2004", _is_ismir, expected))


def _proteins(folder: Path) -> ProteinSet:
    is_it = folder.resolve().name == "proteins" and not (folder / "proteins").is_dir()
    return load_scop(folder if is_it else existing(folder / "proteins"))


LOADERS: dict[str, Callable[[Path], Any]] = {
    "gtzan": _gtzan,
    "artist20": _artist20,
    "ismir": _ismir,
    "proteins": _proteins,
}

"""The data sets below the folder that the user names."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mvdfq.io.base import ReadError
from mvdfq.reproduce import audio_sets, sets
from mvdfq.reproduce.scop import ProteinSet, load_scop

__all__ = ["FOLDERS", "LOADERS", "SETS", "NotThere", "existing"]

FOLDERS = ("gtzan", "artist20", "ismir2004", "proteins")
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


def _gtzan(folder: Path) -> sets.MusicSet:
    if (folder / "gtzan" / "mfcc.npz").exists():
        return sets.load_gtzan(folder)
    return audio_sets.genre_folder("GTZAN", existing(folder / "gtzan"))


def _artist20(folder: Path) -> sets.MusicSet:
    if (folder / "artist20" / "mfcc_middle2min.npz").exists():
        return sets.load_artist20(folder)
    return audio_sets.album_folder("artist20", existing(folder / "artist20"))


def _ismir(folder: Path) -> sets.MusicSet:
    return audio_sets.ismir_folder("ISMIR2004", existing(folder / "ismir2004"))


def _proteins(folder: Path) -> ProteinSet:
    return load_scop(existing(folder / "proteins"))


LOADERS: dict[str, Callable[[Path], Any]] = {
    "gtzan": _gtzan,
    "artist20": _artist20,
    "ismir": _ismir,
    "proteins": _proteins,
}

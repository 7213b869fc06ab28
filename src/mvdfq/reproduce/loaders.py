"""Which set lies where below the folder that the user names."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mvdfq.io.base import ReadError
from mvdfq.reproduce import audio_sets, sets
from mvdfq.reproduce.scop import ProteinSet, load_scop

__all__ = ["LOADERS", "SETS"]

# Names of the sets in the paper's table of them.
SETS = {
    "GTZAN genre (10)": "gtzan",
    "ISMIR2004 genre (6)": "ismir",
    "artist20 (20)": "artist20",
    "SCOP remote homology (54 tasks)": "proteins",
}


def _gtzan(folder: Path) -> sets.MusicSet:
    if (folder / "gtzan" / "mfcc.npz").exists():
        return sets.load_gtzan(folder)
    return audio_sets.genre_folder("GTZAN", _there(folder / "gtzan"))


def _artist20(folder: Path) -> sets.MusicSet:
    if (folder / "artist20" / "mfcc_middle2min.npz").exists():
        return sets.load_artist20(folder)
    return audio_sets.album_folder("artist20", _there(folder / "artist20"))


def _ismir(folder: Path) -> sets.MusicSet:
    return audio_sets.ismir_folder("ISMIR2004", _there(folder / "ismir2004"))


def _proteins(folder: Path) -> ProteinSet:
    return load_scop(_there(folder / "proteins"))


def _there(folder: Path) -> Path:
    if not folder.is_dir():
        raise ReadError(folder, "is not there", "--data names the folder that holds it")
    return folder


LOADERS: dict[str, Callable[[Path], Any]] = {
    "gtzan": _gtzan,
    "artist20": _artist20,
    "ismir": _ismir,
    "proteins": _proteins,
}

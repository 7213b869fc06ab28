"""Sound files before they are decoded: recognise a file by its first bytes, and open it."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any, BinaryIO

from mvdfq.io.dataset import ReadError
from mvdfq.io.formats import Glimpse
from mvdfq.io.steady import unchanged

__all__ = [
    "FORMATS",
    "MEND",
    "holds_sound",
    "is_sound",
    "meant_as_sound",
    "opened",
    "shown",
    "unreadable",
]

# Files of a folder that are looked at to find out what the folder holds.
FEW = 20
LEAVE_OUT = "leave it out with skip_bad=True"
MEND = f"repair or remove the file, or {LEAVE_OUT}"
# Endings of the names of sound files, also of formats that are not read: a file with such an ending
# is an error, and is not passed over.
ENDINGS = frozenset(
    "wav wave bwf w64 rf64 flac ogg oga opus mp3 mp2 au snd aif aiff aifc caf m4a m4b aac ac3 wma "
    "ape wv mpc amr ra spx".split()
)
FORMATS = "WAV, FLAC, OGG, Opus, MP3 and AU are read"


def is_sound(glimpse: Glimpse) -> bool:
    """Does the file begin like WAV, FLAC, OGG, MP3, AU or AIFF?"""
    start = glimpse.start
    if start[:4] in (b"RIFF", b"RIFX", b"RF64"):
        return start[8:12] == b"WAVE"
    if start[:4] == b"FORM":
        return start[8:12] in (b"AIFF", b"AIFC")
    if start[:4] in (b"fLaC", b"OggS", b".snd") or start[:3] == b"ID3":
        return True
    # A frame of MPEG layer III: eleven ones, layer 01, and neither of the values that are reserved
    # for version, bit rate and sampling rate. FF FE, which opens UTF-16 text, has another layer.
    if len(start) < 4 or start[0] != 0xFF or start[1] & 0xE6 != 0xE2:
        return False
    return start[1] & 0x18 != 0x08 and start[2] & 0xF0 != 0xF0 and start[2] & 0x0C != 0x0C


def meant_as_sound(path: Path) -> bool:
    """Does the file begin like sound, or does its name say so? Pictures and notes are not sound."""
    return _ends_as_sound(path.name) or is_sound(Glimpse(path))


def _ends_as_sound(name: str) -> bool:
    return name.rpartition(".")[2].lower() in ENDINGS


def holds_sound(glimpse: Glimpse) -> bool:
    """Is the file, or one of the first files of the folder, sound, or are all called sound?"""
    if is_sound(glimpse):
        return True
    files = _some_files(glimpse.path)
    if any(is_sound(Glimpse(path)) for path in files):
        return True
    return bool(files) and all(_ends_as_sound(path.name) for path in files)


def _some_files(folder: Path) -> list[Path]:
    """A few files of a folder and of its sub-folders, without hidden files; sound by name first."""
    found: list[Path] = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        seen = sorted(name for name in files if not name.startswith("."))
        seen.sort(key=_ends_as_sound, reverse=True)  # covers and notes come last
        found += [Path(place, name) for name in seen[:3]]
        if len(found) >= FEW:
            break
    return found


class _Nameless(BufferedReader):
    """A file without a name: for an extension ``.raw`` soundfile would ignore the content."""

    name = ""


@contextmanager
def opened(file: str | Path) -> Iterator[BinaryIO]:
    """Open a regular file: a pipe would be waited for, and a folder has no bytes."""
    try:
        status = os.stat(file)
        if not stat.S_ISREG(status.st_mode):
            raise ReadError(shown(file), "is not a regular file", MEND)
        if not status.st_size:
            raise ReadError(shown(file), "is empty (0 bytes)", MEND)
        stream = _Nameless(FileIO(file))
    except (OSError, ValueError) as error:
        if isinstance(error, ReadError):
            raise
        raise unreadable(file, error) from None
    with stream, unchanged(stream, shown(file)):
        yield stream


def unreadable(file: str | Path, error: Exception) -> ReadError:
    """Return the error for a path that the operating system does not open."""
    if isinstance(error, FileNotFoundError):
        link = os.path.islink(file)
        problem = "is a link to a file that does not exist" if link else "there is no such file"
        return ReadError(shown(file), problem, MEND if link else "check the path")
    if isinstance(error, PermissionError):
        hint = f"make the file readable, or {LEAVE_OUT}"
        return ReadError(shown(file), "permission denied", hint)
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return ReadError(shown(file), f"cannot be opened ({reason})", MEND)


def shown(path: Any) -> str:
    """Return a path as text that can be printed, whatever bytes the path holds."""
    return os.fspath(path).encode("utf-8", "backslashreplace").decode()

"""A sound file before it is decoded: how it begins, how it is opened, and why it is not."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any, BinaryIO

from mvdfq.io.base import ReadError

__all__ = ["FORMATS", "MEND", "looks_like_audio", "opened", "shown", "unreadable"]

# Files of a folder that are looked at to tell what it holds.
LOOKS = 20
MEND = "mend or remove it, or skip bad files"
FORMATS = "WAV, FLAC, OGG, Opus, MP3 and AU are read"


def looks_like_audio(path: str | Path) -> bool:
    """Tell from its first bytes whether a file is sound; of a folder, from a few of its files.

    Parameters
    ----------
    path : str or Path
        A file or a folder.

    Returns
    -------
    is_audio : bool
        Whether it begins like WAV, FLAC, OGG, MP3, AU or AIFF; False if it cannot be opened.

    Examples
    --------
    >>> from mvdfq.io.audio import looks_like_audio
    >>> looks_like_audio(__file__)
    False
    """
    if os.path.isdir(path):
        return any(looks_like_audio(file) for file in _first_files(path))
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        with open(path, "rb") as file:
            return _is_magic(file.read(12))
    except (OSError, ValueError):
        return False


def _first_files(folder: str | Path) -> Iterator[str]:
    seen = 0
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(name for name in files if not name.startswith(".")):
            seen += 1
            if seen > LOOKS:
                return
            yield os.path.join(here, name)


def _is_magic(start: bytes) -> bool:
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


class _Nameless(BufferedReader):
    """A file without a name: soundfile would believe the extension ``.raw`` more than the bytes."""

    name = ""


@contextmanager
def opened(file: str | Path) -> Iterator[BinaryIO]:
    """Open a file that is one: a pipe would be waited for, a folder has no bytes."""
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
    with stream:
        yield stream


def unreadable(file: str | Path, error: Exception) -> ReadError:
    """What the system says of a path that it does not open."""
    if isinstance(error, FileNotFoundError):
        link = os.path.islink(file)
        problem = "is a link to a file that is not there" if link else "there is no such file"
        return ReadError(shown(file), problem, MEND if link else "check the path")
    if isinstance(error, PermissionError):
        return ReadError(shown(file), "permission denied", "make it readable, or skip bad files")
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return ReadError(shown(file), f"cannot be opened ({reason})", MEND)


def shown(path: Any) -> str:
    """A path as text that can be printed, whatever its bytes."""
    return os.fspath(path).encode("utf-8", "backslashreplace").decode()

"""Files that appear only when they are complete."""

import hashlib
import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from mvdfq._utils.locks import hold, remove_unheld

__all__ = ["replace_file", "replacing"]

# Only POSIX moves a file that is open, and so under a lock.
IS_POSIX = os.name == "posix"


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file beside `path` that replaces `path` when the block ends without an error.

    A reader sees the old file or a whole new file, never a part, even if several programs write
    the same path at once, and also after a crash of the machine. What a killed program left
    unfinished of this path is removed first.
    """
    unfinished = path.with_name(f"{_beginning(path)}{uuid.uuid4().hex}.unfinished")
    try:
        _remove_leftovers(path)
        try:
            with _held(unfinished) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                if IS_POSIX:
                    os.replace(unfinished, path)
            if not IS_POSIX:
                os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        if error.errno and error.filename is None:  # a write does not name its file
            error.filename = os.fspath(path)
        raise


def replace_file(path: Path, content: bytes | str) -> None:
    """Write `content` to `path` completely or not at all; text is written as UTF-8."""
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def _beginning(path: Path) -> str:
    """Return how unfinished files of `path` begin; the name itself may fill 255 bytes."""
    return f".{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]}."


def _held(unfinished: Path) -> BinaryIO:
    """Create an unfinished file and hold a lock on it."""
    while True:
        file = open(unfinished, "xb")
        hold(file.fileno())
        if unfinished.exists():
            return file
        file.close()  # another writer came before the lock and removed the file as a leftover


def _remove_leftovers(path: Path) -> None:
    """Remove unfinished files of `path` that no living program holds."""
    name = re.compile(re.escape(_beginning(path)) + r"[0-9a-f]{32}\.unfinished")
    with suppress(OSError):  # a folder that may be written to, but not listed
        for found in filter(name.fullmatch, os.listdir(path.parent)):
            remove_unheld(path.with_name(found))

"""Files that another program writes to while they are read: a part of such a file is not data."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from mvdfq.io.dataset import ReadError

__all__ = ["State", "changed", "state_of", "unchanged"]

State = tuple[int, int]


def state_of(file: str | Path | int) -> State:
    """Return the size and the time of the last change, of a path or of an open file."""
    status = os.stat(file)
    return status.st_size, status.st_mtime_ns


@contextmanager
def unchanged(file: IO[bytes], path: str | Path) -> Iterator[None]:
    """Raise an error if the content of an open file changes while the block runs.

    A file that is removed or replaced as a whole meanwhile does not change: the open file still
    holds the old content.
    """
    before = state_of(file.fileno())
    try:
        yield
    except Exception:
        if state_of(file.fileno()) != before:  # the true cause of the error
            raise changed(path) from None
        raise
    if state_of(file.fileno()) != before:
        raise changed(path)


def changed(path: str | Path) -> ReadError:
    """Return the error for a file that changed while it was read."""
    hint = "wait until no program writes to the file, or read a copy"
    return ReadError(path, "the file changed while it was read", hint)

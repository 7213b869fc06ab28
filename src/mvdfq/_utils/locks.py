"""A lock on a path: only one process at a time works on an output."""

import errno
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(number: int) -> None:
        msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(number: int) -> None:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)


__all__ = ["locked"]

# What the operating system says if another process holds the lock.
HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock on `path`; raise an error if another run holds it.

    The lock is a hidden file beside `path` that the operating system unlocks when the process
    ends, also after ``kill -9``. The file is removed at the end.
    """
    file = path.with_name(f".{path.name}.lock")
    number = _opened(file, path)
    try:
        yield
    finally:
        file.unlink(missing_ok=True)  # before unlocking: nobody else has the lock
        os.close(number)


def _opened(file: Path, path: Path) -> int:
    """Open and lock the file; try again if its last owner has removed the file meanwhile."""
    while True:
        number = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(number)
        except OSError as error:
            if error.errno in HELD:
                os.close(number)
                raise BlockingIOError(
                    f"{path} is being written by another run; wait for its end, stop it, or name "
                    f"another output."
                ) from None
            warnings.warn(
                f"{file.parent} cannot lock files ({error.strerror}); do not start a second run "
                f"that writes {path.name}.",
                stacklevel=5,
            )
        try:
            if os.path.samestat(os.fstat(number), os.stat(file)):
                return number
        except FileNotFoundError:
            pass
        os.close(number)

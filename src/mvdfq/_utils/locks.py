"""A lock on a path: only one process at a time works on an output."""

import errno
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(number: int) -> None:
        msvcrt.locking(number, msvcrt.LK_NBLCK, 1)

    def hold(number: int) -> None:
        """Do nothing: Windows does not remove a file that is open."""

    def remove_unheld(path: Path) -> None:
        """Do nothing: between closing and moving a file, nothing tells that it is in use."""
else:
    import fcntl

    def _lock(number: int) -> None:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def hold(number: int) -> None:
        """Lock an open file until it is closed, where the file system can lock files."""
        with suppress(OSError):
            fcntl.flock(number, fcntl.LOCK_EX)

    def remove_unheld(path: Path) -> None:
        """Remove a file unless a living process holds it or the file system cannot tell."""
        with suppress(OSError):
            number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            try:
                _lock(number)
                path.unlink()  # under the lock: a process that is about to hold the file waits
            finally:
                os.close(number)


__all__ = ["hold", "locked", "remove_unheld"]

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

"""Files that appear only when they are complete, locks, the cache folder, and guarded arrays."""

import errno
import hashlib
import math
import os
import re
import sys
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO

from platformdirs import user_cache_path

if TYPE_CHECKING:
    import numpy as np

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


# Longest header of an array in bytes: numpy does not read longer headers.
LARGEST_HEADER = 10_000
# Only POSIX moves a file that is open, and so under a lock.
IS_POSIX = os.name == "posix"
# What the operating system says if another process holds the lock.
HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file beside `path` that replaces `path` when the block ends without an error.

    A reader sees the old file or a whole new file, never a part, even if several programs write
    the same path at once, and also after a crash of the machine. What a killed program left
    unfinished of this path is removed first.
    """
    # the name itself may fill 255 bytes
    beginning = f".{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]}."
    unfinished = path.with_name(f"{beginning}{uuid.uuid4().hex}.unfinished")
    leftover = re.compile(re.escape(beginning) + r"[0-9a-f]{32}\.unfinished")
    try:
        with suppress(OSError):  # a folder that may be written to, but not listed
            for name in filter(leftover.fullmatch, os.listdir(path.parent)):
                remove_unheld(path.with_name(name))
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
        if error.errno and str(error.filename) in ("None", str(unfinished)):  # nobody knows these
            error.filename = os.fspath(path)
        raise


def replace_file(path: Path, content: bytes | str) -> None:
    """Write `content` to `path` completely or not at all; text is written as UTF-8."""
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def _held(unfinished: Path) -> BinaryIO:
    """Create an unfinished file and hold a lock on it."""
    while True:
        file = open(unfinished, "xb")
        hold(file.fileno())
        if unfinished.exists():
            return file
        file.close()  # another writer came before the lock and removed the file as a leftover


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock, which ends with the process, on `path`; refuse what another run holds."""
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
                problem = f"{path} is being written by another run"
                hint = "wait for its end, stop it, or name another output"
                raise BlockingIOError(f"{problem}; {hint}.") from None
            problem = f"{file.parent} cannot lock files ({error.strerror})"
            hint = f"do not start a second run that writes {path.name}"
            warnings.warn(f"{problem}; {hint}.", stacklevel=5)
        try:
            if os.path.samestat(os.fstat(number), os.stat(file)):
                return number
        except FileNotFoundError:
            pass
        os.close(number)


def cache_folder(*parts: str) -> Path:
    """Return a folder inside the cache folder of mvdfq; the folder is not created.

    The variable MVDFQ_CACHE names the cache folder. Without it the folder is, on Linux,
    ``$XDG_CACHE_HOME/mvdfq``, or ``~/.cache/mvdfq`` if that variable is not set; on macOS and
    Windows it is the folder that the operating system provides for caches.

    >>> cache_folder("reproduce").name
    'reproduce'
    """
    chosen = os.environ.get("MVDFQ_CACHE")
    base = Path(chosen) if chosen else user_cache_path("mvdfq", appauthor=False)
    return base.joinpath(*parts)


def guarded_array(
    file: IO[bytes], check: Callable[[tuple[int, ...], "np.dtype"], None]
) -> "np.ndarray":
    """Read an array (.npy) that is not trusted, after `check` has seen what its header claims."""
    import numpy as np  # help at the shell needs files, but no arrays

    form = np.lib.format
    readers = {(1, 0): form.read_array_header_1_0, (2, 0): form.read_array_header_2_0}
    version = form.read_magic(file)
    if version not in readers:  # version 3 allows other names of fields; we read no fields
        raise ValueError(f"version {version} of the .npy format")
    shape, fortran, dtype = readers[version](file, max_header_size=LARGEST_HEADER)
    check(shape, dtype)
    if dtype.hasobject:
        raise ValueError("an array of pickled Python objects")
    buffer = bytearray(file.read(math.prod(shape) * dtype.itemsize))
    return np.ndarray(shape, dtype, buffer, order="F" if fortran else "C")

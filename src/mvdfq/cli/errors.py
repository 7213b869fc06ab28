"""Errors as users see them: one sentence, a hint, a fixed exit code; keywords become options.

Warnings of libraries become remarks of the program, and Ctrl-C ends a command.
"""

import errno
import re
import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from mvdfq._utils.errors import HintedError
from mvdfq.cli import INTERRUPTED
from mvdfq.cli.output import note

USAGE = 2
CANNOT_READ_DATA = 3
CANNOT_READ_MODEL = 4
NO_SENSE = 5
CANNOT_WRITE = 6

# Errors of the system while something is written.
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO}
# Errors of the system about a name, whether or not there is a file of that name.
BAD_NAME = {errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR}
# Seconds until a Ctrl-C that had to wait is tried again.
PAUSE = 0.02


class Described(NamedTuple):
    """What the program prints about an error, and its exit code.

    `pointer` is the text of an option and the place in this text that the error is about.
    """

    message: str
    hint: str
    code: int
    pointer: tuple[str, int] | None = None


class Refused(HintedError):
    """A request that the command itself refuses."""

    def __init__(
        self,
        message: str,
        hint: str = "",
        code: int = NO_SENSE,
        pointer: tuple[str, int] | None = None,
    ) -> None:
        super().__init__(message, hint)
        self.code, self.pointer = code, pointer


def check_name(output: Path) -> None:
    """Refuse an output whose name the system does not take, before the work."""
    try:
        output.exists()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Refused(f"{output}: {reason}", "name another output", CANNOT_WRITE) from None


def described(error: BaseException) -> Described | None:
    """Return what to print about an error; None if the error is a fault of the program."""
    if isinstance(error, KeyboardInterrupt):
        return Described("interrupted.", "", INTERRUPTED)
    # By name: the import of a class that was not raised would take two seconds.
    kinds = {kind.__name__ for kind in type(error).__mro__}
    # A hint is printed on its own line; a message without a hint is printed as it is.
    message = as_flags(getattr(error, "message", None) or str(error) or type(error).__name__)
    hint = as_flags(getattr(error, "hint", ""))
    if isinstance(error, Refused):
        return Described(message, hint, error.code, error.pointer)
    if "SpecError" in kinds:
        return _of_spec(error)
    if "ReadError" in kinds:
        return Described(message, hint, CANNOT_READ_DATA)
    if "ModelFileError" in kinds:
        return Described(message, hint or "mvdfq train writes model files", CANNOT_READ_MODEL)
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        where = error.filename or "standard output"
        reason = (error.strerror or str(error)).lower()
        hint = "free some space, or write to another place"
        return Described(f"cannot write {where}: {reason}", hint, CANNOT_WRITE)
    if isinstance(error, OSError) and (
        error.errno in BAD_NAME
        or isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError)
    ):
        reason = (error.strerror or str(error)).lower()
        return Described(f"{error.filename}: {reason}", "check the path", CANNOT_READ_DATA)
    if isinstance(error, ValueError | TypeError | ImportError | MemoryError | OSError):
        return Described(message, hint, NO_SENSE)
    return None


def _of_spec(error: Any) -> Described:
    """Return what to print about the text of an option that describes no part."""
    more = f"--{error.kind} help lists all names and parameters"
    hint = f"{error.hint} ({more})" if error.hint else more
    return Described(f"--{error.message}", hint, USAGE, (error.text, error.column))


# The parameters of mvdfq.io.read and mvdfq.evaluate that have an option.
FLAGS = {
    "format": "--as",
    **{name: f"--{name}" for name in ("label", "id", "time", "group", "channels", "resample")},
    "protocol": "--protocol",
    **{name: f"--{name}" for name in ("drop", "silence", "labels", "strands", "recipe", "cache")},
    **{name: f"--{name}" for name in ("categories", "missing")},
    "label_pattern": "--label-pattern",
    "group_pattern": "--group-pattern",
    "profile_values": "--profile-values",
    "skip_bad": "--skip-bad",
}
NAMES = "|".join(FLAGS)
GIVEN = re.compile(rf"(?<![\w.('\"])({NAMES})=('[^']*'|[^\s,;]+)")
ALONE = re.compile(rf"^({NAMES}) has no meaning(.*); remove \1\.$")


def as_flags(text: str) -> str:
    """Return a message with the options of the program instead of the keywords of the library.

    >>> as_flags("label=0 is the first column, label=None means no labels")
    '--label 0 is the first column, --label none means no labels'
    """
    text = ALONE.sub(lambda match: f"{FLAGS[match[1]]} has no meaning{match[2]}; remove it.", text)
    text = GIVEN.sub(lambda match: f"{FLAGS[match[1]]} {_value(match[2])}", text)
    return text.replace("--skip-bad True", "--skip-bad")  # the only option without a value


def _value(text: str) -> str:
    text = text.strip("'")
    if re.search(r"[()\[\]^]", text):  # the shell would take these for its own
        return f"'{text}'"
    return "none" if text == "None" else text


@contextmanager
def one_line_warnings() -> Iterator[None]:
    """Print every warning as one line, without the path and the source line of the warning."""
    shown: set[str] = set()

    def show(message: Any, *_: Any, **__: Any) -> None:
        text = as_flags(" ".join(str(message).split()))
        if text not in shown:
            shown.add(text)
            note(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


@contextmanager
def watched_interrupts() -> Iterator[list[int]]:
    """Yield a list that grows with every Ctrl-C, which raises KeyboardInterrupt in the block.

    Python loses an exception that is raised in ``__del__``, and llvmlite may keep its lock if one
    is raised while it takes or leaves the lock: worker threads would then wait for ever. There
    the interrupt waits for a moment.
    """
    interrupts: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        interrupts.append(number)
        if _must_wait(frame):
            signal.setitimer(signal.ITIMER_REAL, PAUSE)  # calls `remember` again
        else:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    numbers = [signal.SIGINT, *([signal.SIGALRM] if hasattr(signal, "setitimer") else [])]
    before = [signal.signal(number, remember) for number in numbers]
    try:
        yield interrupts
    finally:
        if len(numbers) > 1:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _must_wait(frame: FrameType | None) -> bool:
    """Tell whether a call under way would lose an exception or keep a lock."""
    while frame is not None and hasattr(signal, "setitimer"):
        code = frame.f_code
        if code.co_name == "__del__" or "llvmlite" in code.co_filename:
            return True
        frame = frame.f_back
    return False

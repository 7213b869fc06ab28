"""Errors as users see them: one sentence, a hint, a fixed exit code; keywords become options.

Warnings of libraries become remarks of the program, and Ctrl-C ends a command.
"""

import errno
import os
import shlex
import signal
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from mvdfq._utils.errors import HintedError, ParameterError, as_keyword, written
from mvdfq.cli import INTERRUPTED
from mvdfq.cli.output import in_words, note

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


class Refused(HintedError):
    """An error as the program prints it: a sentence, a hint, and the exit code."""

    def __init__(
        self,
        message: str,
        hint: str = "",
        code: int = NO_SENSE,
        pointer: tuple[str, int] | None = None,  # the text of an option, and the place of the error
    ) -> None:
        super().__init__(message, hint)
        self.code, self.pointer = code, pointer


def reason_of(error: BaseException) -> str:
    """Return what the system says about an error, in small letters."""
    return (getattr(error, "strerror", None) or str(error)).lower()


def check_name(output: Path) -> None:
    """Refuse an output whose name the system does not take, before the work."""
    try:
        output.exists()
    except OSError as error:
        message = f"{output}: {reason_of(error)}"
        raise Refused(message, "name another output", CANNOT_WRITE) from None


def check_output(path: Path | None, data: Path | None = None, endings: Sequence[str] = ()) -> None:
    """Raise an error for an output that cannot or must not be written, before the work."""
    if path is None:
        return
    check_name(path)
    problem, hint = "", "name another output"
    if endings and path.suffix not in endings:
        raise Refused(f"{path} must end in {in_words(endings)}.", hint, USAGE)
    if not path.absolute().parent.is_dir():
        problem = f"{path.parent} is not a folder."
        hint = "create the folder, or name another output"
    elif path.exists() and not path.is_file():
        problem = f"{path} exists and is not an ordinary file."
    elif path.exists() and data is not None and data.exists() and path.samefile(data):
        problem = f"{path} holds the data, which must not be replaced."
    elif not os.access(path.parent, os.W_OK):
        problem = f"{path.parent} cannot be written to."
    if problem:
        raise Refused(problem, hint, CANNOT_WRITE)


def described(error: BaseException) -> Refused | None:
    """Return what to print about an error; None if the error is a fault of the program."""
    if isinstance(error, KeyboardInterrupt):
        return Refused("interrupted.", "", INTERRUPTED)
    # By name: the import of a class that was not raised would take two seconds.
    kinds = {kind.__name__ for kind in type(error).__mro__}
    # A hint is printed on its own line; a message without a hint is printed as it is.
    message = in_options(getattr(error, "message", None) or str(error) or type(error).__name__)
    hint = in_options(getattr(error, "hint", ""))
    if isinstance(error, Refused):
        return Refused(message, hint, error.code, error.pointer)
    if isinstance(error, ParameterError):
        message = f"{FLAGS.get(error.name, error.name)} {error.problem}."
    if "SpecError" in kinds:  # the text of an option does not describe a part
        spec: Any = error
        general = f"--{spec.kind} help lists all names and parameters"
        hint = f"{spec.hint} ({general})" if spec.hint else general
        return Refused(f"--{spec.message}", hint, USAGE, (spec.text, spec.column))
    if "ReadError" in kinds:
        return Refused(message, hint, CANNOT_READ_DATA)
    if "ModelFileError" in kinds:
        return Refused(message, hint or "mvdfq train writes model files", CANNOT_READ_MODEL)
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        where = error.filename or "standard output"
        hint = "free some space, or write to another place"
        return Refused(f"cannot write {where}: {reason_of(error)}", hint, CANNOT_WRITE)
    of_path = FileNotFoundError | PermissionError | IsADirectoryError
    if isinstance(error, OSError) and (error.errno in BAD_NAME or isinstance(error, of_path)):
        return Refused(f"{error.filename}: {reason_of(error)}", "check the path", CANNOT_READ_DATA)
    if isinstance(error, ValueError | TypeError | ImportError | MemoryError | OSError):
        return Refused(message, hint)
    return None


# The parameters of the library that have an option.
NAMED = (
    "label id time group channels resample protocol drop silence labels strands recipe cache "
    "categories missing label_pattern group_pattern profile_values skip_bad pyramid engine "
    "n_jobs memory_limit window windows step preset class_weight positive unknown"
).split()
FLAGS = {"format": "--as", "C": "-C"} | {name: f"--{name.replace('_', '-')}" for name in NAMED}


def in_options(text: str) -> str:
    """Return a sentence of the library with options of the program in place of parameters.

    >>> from mvdfq._utils.errors import Sentence
    >>> in_options(Sentence({"label": "none"}, " or ", {"skip_bad": True}))
    '--label none or --skip-bad'
    """
    return written(getattr(text, "pieces", [text]), _as_option)


def _as_option(name: str, value: Any) -> str:
    if name not in FLAGS:
        return as_keyword(name, value)
    if value is True:  # the option takes no value
        return FLAGS[name]
    value = ",".join(value) if isinstance(value, list) else value
    return f"{FLAGS[name]} {f'{value:g}' if isinstance(value, float) else shlex.quote(str(value))}"


@contextmanager
def one_line_warnings() -> Iterator[None]:
    """Print every warning as one line, without the path and the source line of the warning."""
    shown: set[str] = set()

    def show(message: Any, *_: Any, **__: Any) -> None:
        text = " ".join(in_options(str(message)).split())
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
        while frame is not None and hasattr(signal, "setitimer"):
            code, frame = frame.f_code, frame.f_back
            if code.co_name == "__del__" or "llvmlite" in code.co_filename:
                signal.setitimer(signal.ITIMER_REAL, PAUSE)  # calls `remember` again
                return
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

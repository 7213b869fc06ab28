"""Errors as users see them: one sentence, a hint, a fixed exit code."""

from typing import NamedTuple

__all__ = [
    "CANNOT_READ_MODEL",
    "CANNOT_WRITE",
    "USAGE",
    "Described",
    "Refused",
    "described",
    "sentence_and_hint",
]

USAGE = 2
CANNOT_READ_DATA = 3
CANNOT_READ_MODEL = 4
NO_SENSE = 5
CANNOT_WRITE = 6
INTERRUPTED = 130


class Described(NamedTuple):
    """What to say of an error, and what the program ends with."""

    message: str
    hint: str
    code: int


class Refused(Exception):
    """Something that the command itself refuses."""

    def __init__(self, message: str, hint: str = "", code: int = NO_SENSE) -> None:
        super().__init__(message)
        self.described = Described(message, hint, code)


def described(error: BaseException) -> Described | None:
    """Return what to say of an error; None if it is a fault of the program."""
    from mvdfq.classifier.saving.file import ModelFileError
    from mvdfq.io import ReadError

    if isinstance(error, KeyboardInterrupt):
        return Described("interrupted.", "", INTERRUPTED)
    if isinstance(error, Refused):
        return error.described
    if isinstance(error, ReadError):
        return Described(f"{error.path}: {error.problem}", error.hint, CANNOT_READ_DATA)
    if isinstance(error, ModelFileError):
        hint = "mvdfq train writes model files"
        return Described(str(error), hint, CANNOT_READ_MODEL)
    if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
        reason = (error.strerror or str(error)).lower()
        return Described(f"{error.filename}: {reason}", "check the path", CANNOT_READ_DATA)
    if isinstance(error, ValueError | TypeError | ImportError | MemoryError | OSError):
        return Described(*sentence_and_hint(error), NO_SENSE)
    return None


def sentence_and_hint(error: BaseException) -> tuple[str, str]:
    """Return what the library says of an error; a hint follows after a semicolon."""
    sentence, _, hint = str(error).partition("; ")
    return sentence or type(error).__name__, hint

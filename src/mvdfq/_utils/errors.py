"""Errors in two parts: one sentence that says what is wrong, and a hint that says what to do."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# How the warnings begin that are left out; None: all warnings are given.
_QUIET: ContextVar[str | None] = ContextVar("quiet", default=None)


def as_keyword(name: str, value: Any) -> str:
    """Return a parameter as Python users write it; capitals stand for what they choose."""
    if isinstance(value, str) and not value.isupper():
        value = repr(value)
    return f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"


class Sentence(str):
    """A text that names parameters; it keeps them apart, so that they can be written as options.

    A piece is text, a sentence, or a dictionary of one parameter. f-strings keep the text alone.

    >>> text = Sentence({"id": "NAME"}, " or ", {"label": "none"})
    >>> text, written(text.pieces, lambda name, value: f"--{name} {value}")
    ("id=NAME or label='none'", '--id NAME or --label none')
    """

    pieces: list[Any]

    def __new__(cls, *pieces: str | dict[str, Any]) -> "Sentence":
        parts = [part for piece in pieces for part in getattr(piece, "pieces", [piece])]
        sentence = super().__new__(cls, written(parts, as_keyword))
        sentence.pieces = parts
        return sentence

    def __str__(self) -> str:
        return self  # so that str(error) is the sentence of the error


class Usual(Sentence):
    """A remark on what is always done with such data: no reason for a warning."""


def written(pieces: list[Any], write: Callable[[str, Any], str]) -> str:
    """Return pieces as one text; `write` writes a parameter and its value."""
    return "".join(p if isinstance(p, str) else write(*next(iter(p.items()))) for p in pieces)


def warn(text: str) -> None:
    """Warn at the line of the user: the first line outside of this package and scikit-learn."""
    if (start := _QUIET.get()) is not None and text.startswith(start):
        return
    frame: Any = sys._getframe()
    level = 0
    while frame and frame.f_globals.get("__name__", "").startswith(("mvdfq.", "sklearn.")):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level + 1)


@contextmanager
def quiet(start: str = "") -> Iterator[None]:
    """Leave out the warnings of `warn` that begin so.

    `warnings.catch_warnings` would change, and restore too late, the filters of other threads.
    """
    token = _QUIET.set(start)
    try:
        yield
    finally:
        _QUIET.reset(token)


class HintedError(Exception):
    """An error with a hint; the command line prints the two on separate lines.

    >>> print(HintedError("a.ts: the file is empty", "name another file"))
    a.ts: the file is empty; name another file
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message, self.hint = message, hint

    def __str__(self) -> str:
        return Sentence(self.message, "; ", self.hint) if self.hint else self.message


class ParameterError(HintedError, ValueError):
    """A parameter that cannot be used: its name, what is wrong with it, and what to do.

    Python calls the parameter ``n_jobs``; the command line calls it ``--n-jobs``.

    >>> print(ParameterError("n_jobs", "must not be 0", "pass -1 for all processors"))
    n_jobs must not be 0; pass -1 for all processors.
    """

    def __init__(self, name: str, problem: str, hint: str = "") -> None:
        super().__init__(f"{name} {problem}", hint)
        self.name, self.problem = name, problem
        self.args = (name, problem, hint)  # an error travels between processes as its arguments

    def __str__(self) -> str:
        return f"{super().__str__()}."

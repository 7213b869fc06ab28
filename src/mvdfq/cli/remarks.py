"""Warnings of libraries as remarks of the program: one line each, once."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mvdfq.cli.flags import as_flags
from mvdfq.cli.output import note

__all__ = ["one_line_warnings"]


@contextmanager
def one_line_warnings() -> Iterator[None]:
    """Print every warning as one line, without the path and the source line of the warning."""
    said: set[str] = set()

    def show(message: Any, *_: Any, **__: Any) -> None:
        text = as_flags(" ".join(str(message).split()))
        if text not in said:
            said.add(text)
            note(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield

"""Warnings of libraries as remarks of the program, and Ctrl-C within a command."""

import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from mvdfq.cli.errors import as_flags
from mvdfq.cli.output import note

# Seconds until a Ctrl-C that had to wait is tried again.
PAUSE = 0.02


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

"""The command line: ``mvdfq --help`` lists the commands, one file each."""

import atexit
import os
import signal
import sys
import threading
from typing import Any

__all__ = ["INTERRUPTED", "main"]

INTERRUPTED = 130
INTERRUPT_MESSAGE = "error: interrupted.\n"


def main() -> None:
    """Run the program; Ctrl-C while it starts or ends is said as Ctrl-C within a command is."""
    _open_closed_streams()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, _end_at_once)
        # The last thing at exit: all is done, and Python is about to forget the handler.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    try:
        from mvdfq.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write(INTERRUPT_MESSAGE)
        sys.exit(INTERRUPTED)


def _end_at_once(number: int, frame: Any) -> None:
    """End without a traceback: outside of commands there is nothing to lose or to tidy up."""
    os.write(2, INTERRUPT_MESSAGE.encode())
    os._exit(INTERRUPTED)


def _open_closed_streams() -> None:
    """Let a closed standard stream (``>&-``) lead nowhere, not into the next file that opens."""
    for number, (name, mode) in enumerate([("stdin", "r"), ("stdout", "w"), ("stderr", "w")]):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8"))

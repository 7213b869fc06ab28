"""The command line: ``mvdfq --help`` lists the commands, one file each."""

import os
import signal
import sys
import threading
from typing import Any

__all__ = ["INTERRUPTED", "main"]

INTERRUPTED = 130
SAID = "error: interrupted.\n"


def main() -> None:
    """Run the program; Ctrl-C while it starts or ends is said as Ctrl-C within a command is."""
    try:
        from mvdfq.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write(SAID)
        sys.exit(INTERRUPTED)
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, _end_at_once)


def _end_at_once(number: int, frame: Any) -> None:
    """End while Python waits for threads and tidies up, where Ctrl-C would show a traceback."""
    os.write(2, SAID.encode())
    os._exit(INTERRUPTED)

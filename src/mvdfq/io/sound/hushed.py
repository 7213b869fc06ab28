"""What a decoder writes to the error stream by itself does not reach the screen."""

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

__all__ = ["hushed"]

# How libmpg123, which libsndfile reads MP3 with, begins its lines.
NOISE = re.compile(rb"(?<![A-Za-z])(?:Note: |Warning: |\[src/libmpg123)[^\n]*+\n")
LOCK = RLock()
STDERR = 2


@contextmanager
def hushed() -> Iterator[None]:
    """Hold back what is written to the error stream, and pass on all but the decoder's remarks.

    The decoder writes to the stream of the process, past Python. What other threads write in the
    meantime appears when the block ends. One thread at a time is in the block.
    """
    with LOCK, tempfile.TemporaryFile() as held:
        try:
            screen = os.dup(STDERR)
        except OSError:  # the process has no error stream
            yield
            return
        try:
            _flush()
            os.dup2(held.fileno(), STDERR)
            yield
        finally:
            _flush()
            os.dup2(screen, STDERR)
            os.close(screen)
            held.seek(0)
            rest = NOISE.sub(b"", held.read())
            if rest:
                os.write(STDERR, rest)


def _flush() -> None:
    if sys.stderr is not None and not sys.stderr.closed:
        sys.stderr.flush()

"""Files that appear only when they are complete."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["replace_file", "replacing"]


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file beside `path` that replaces `path` when the block ends without an error.

    A reader sees the old file or a whole new file, never a part, even if several programs write
    the same path at once, and also after a crash of the machine.
    """
    unfinished = path.with_name(f".{uuid.uuid4().hex}.unfinished")
    try:
        with open(unfinished, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except OSError as error:
        if error.errno and error.filename is None:  # a write does not name its file
            error.filename = os.fspath(path)
        raise
    finally:
        unfinished.unlink(missing_ok=True)


def replace_file(path: Path, content: bytes) -> None:
    """Write `content` to `path` completely or not at all."""
    with replacing(path) as file:
        file.write(content)

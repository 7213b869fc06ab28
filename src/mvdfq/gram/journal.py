"""The journal of an unfinished kernel matrix: which tiles are written, with checksums.

A journal is a text file. Each line is a checksum and a JSON object: first a header that says what
is computed, then one line per finished tile. A line that was cut off or damaged is ignored.
"""

import json
import os
import zlib
from pathlib import Path
from typing import Any

__all__ = ["Journal"]

FORMAT = "mvdfq gram journal 1"


class Journal:
    """Lines of finished tiles, kept in a file that survives the end of the process.

    `key` names the computation: a journal of another computation is not continued.
    """

    def __init__(self, path: Path, key: str) -> None:
        self.path, self.key = path, key
        header = _line({"format": FORMAT, "key": key})
        found = path.read_bytes() if path.exists() else b""
        if header.startswith(found):  # a new journal, or the process ended while it was created
            path.write_bytes(header)
        elif not found.startswith(header):
            raise FileExistsError(
                f"{path} exists, but it is not the journal of this matrix, or it is damaged; move "
                f"or remove the file."
            )
        lines = found[len(header) :].split(b"\n")
        self.records = [record for line in lines if (record := _record(line)) is not None]
        self.file = path.open("ab")
        if found and not found.endswith(b"\n"):  # the last line was cut off
            self.file.write(b"\n")

    def add(self, record: dict[str, Any]) -> None:
        """Append a line, and wait until it is on the disk."""
        self.file.write(_line(record))
        self.file.flush()
        os.fsync(self.file.fileno())

    def close(self) -> None:
        """Close the file; the journal can be continued."""
        self.file.close()


def is_journal(path: Path, key: str) -> bool:
    """Tell whether a file is the journal of the computation `key`."""
    header = _line({"format": FORMAT, "key": key})
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(header)) == header


def _line(record: dict[str, Any]) -> bytes:
    text = json.dumps(record, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _record(line: bytes) -> dict[str, Any] | None:
    """Read a line; None if the line is not whole."""
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % zlib.crc32(text):
        return None
    return json.loads(text)

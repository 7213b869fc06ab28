"""A file format as one record, and the beginning of a file, by which a format is recognised."""

import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from mvdfq.io.dataset import Dataset
from mvdfq.io.source import decoded, open_plain

__all__ = ["Format", "Glimpse"]

# This much of a text is looked at; comments at the top of archive files take some of it.
LOOK = 1 << 18


@dataclass(frozen=True)
class Glimpse:
    """The beginning of a file; empty for a folder and for a file that cannot be opened."""

    path: Path
    # What the user said about the file, such as the names of columns.
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def start(self) -> bytes:
        """The first bytes."""
        return self._read(16)

    @cached_property
    def lines(self) -> list[str]:
        """The first lines of text, decompressed; a line that may be cut off is left out."""
        head = self._read(LOOK, plain=True)
        text = decoded(head)
        if "\0" in text:
            return []
        lines = text.splitlines()
        return lines if len(head) < LOOK or len(lines) < 2 else lines[:-1]

    @cached_property
    def said(self) -> list[str]:
        """The first lines, stripped, without blank lines and comments (``#`` or ``%``)."""
        lines = map(str.strip, self.lines)
        return [line for line in lines if line and line[0] not in "#%"]

    @cached_property
    def members(self) -> frozenset[str]:
        """The names of the files in a zip archive."""
        if not self.start.startswith(b"PK\x03\x04"):
            return frozenset()
        try:
            with zipfile.ZipFile(self.path) as archive:
                return frozenset(archive.namelist())
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            return frozenset()

    def _read(self, size: int, plain: bool = False) -> bytes:
        try:
            if not stat.S_ISREG(os.stat(self.path).st_mode):  # a pipe would be waited for
                return b""
            with open(self.path, "rb") as file:
                return (open_plain(file) if plain else file).read(size)
        except (OSError, ValueError, EOFError, zlib.error):
            return b""


@dataclass(frozen=True)
class Format:
    """All that the package knows about a file format, declared in the file that reads it.

    Parameters
    ----------
    name : str
        The name that users write: ``format="ts"`` or ``--as ts``.

    sniff : callable
        Says whether a `Glimpse` shows this format.

    read : callable
        Reads a `Source` with the options below as keywords; returns a `Dataset`.

    options : tuple of str, default=()
        The options of `read` and `read_series` that this format understands.

    extensions : tuple of str, default=()
        Endings of file names. The ending decides only if no format recognises the content.

    is_series : bool, default=False
        Whether `read_series` reads the format, also divided into ``X_TRAIN`` and ``X_TEST``.

    takes_many : bool, default=False
        Whether the reader takes several files in one call, as `Source.files`.
    """

    name: str
    sniff: Callable[[Glimpse], bool]
    read: Callable[..., Dataset]
    options: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    is_series: bool = False
    takes_many: bool = False

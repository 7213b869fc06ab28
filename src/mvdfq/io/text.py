"""Text files of series: their lines, numbers and times."""

import gzip
import re
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NoReturn

import numpy as np

from mvdfq.io.base import ReadError
from mvdfq.sequences import Sequences, check_sequences

__all__ = ["MISSING", "Source", "as_sequences", "moments", "numbers", "open_plain"]

# What stands for a missing value, in lower case.
MISSING = frozenset(["", "?", "na", "nan", "null"])

# Progress of long files is told after so many bytes.
STEP = 1 << 20


@dataclass
class Source:
    """A file to read, how to read it, and what was left out on the way."""

    path: Path
    skip_bad: bool = False
    progress: Callable[[int, int], None] | None = None
    max_bytes: int = 2**32
    skipped: list[ReadError] = field(default_factory=list)

    @property
    def stem(self) -> str:
        """The name of the file without its endings."""
        return re.sub(r"\.\w+(\.gz)?$", "", self.path.name)

    def fail(self, problem: str, hint: str = "") -> NoReturn:
        """Say that the file cannot be read."""
        raise ReadError(self.path, problem, hint)

    def skip(self, error: ReadError) -> None:
        """Leave out one series, if that was asked for; else raise."""
        if not self.skip_bad:
            raise error
        self.skipped.append(error)

    def tell(self, done: int, total: int) -> None:
        """Report progress to whoever wants to hear of it."""
        if self.progress is not None:
            self.progress(done, total)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines with their numbers, from 1, stripped of what ends them."""
        size, untold = self.path.stat().st_size, 0
        with open(self.path, "rb") as raw:
            for number, line in enumerate(self._raw_lines(raw), 1):
                untold += len(line)
                if untold >= STEP:
                    untold = 0
                    self.tell(raw.tell(), size)
                yield number, self._decoded(number, line)
        self.tell(size, size)

    def _raw_lines(self, raw: IO[bytes]) -> Iterator[bytes]:
        """Yield lines as bytes, never more than `max_bytes` of them: gzip can hide a great deal."""
        left, stream = self.max_bytes, open_plain(raw)
        try:
            while line := stream.readline(left + 1):
                if (left := left - len(line)) < 0:
                    self.fail(f"more than {self.max_bytes} bytes of text", "max_bytes allows more")
                yield line
        except (EOFError, OSError, zlib.error) as error:
            self.fail(f"the compressed text is damaged or cut short ({error})")

    def _decoded(self, number: int, line: bytes) -> str:
        if number == 1:
            if line.startswith((b"\xff\xfe", b"\xfe\xff")):
                self.fail("line 1: the text is UTF-16", "save it as UTF-8")
            line = line.removeprefix(b"\xef\xbb\xbf")
        if b"\0" in line:
            self.fail(f"line {number}: binary data, not text")
        try:
            return line.decode().rstrip("\r\n")
        except UnicodeDecodeError:
            if line.lstrip()[:1] in (b"#", b"%"):  # names of authors in comments of the archives
                return "#"
            self.fail(f"line {number}: the text is not UTF-8", "save it as UTF-8")


def open_plain(raw: IO[bytes]) -> IO[bytes]:
    """Return the stream, decompressed if its content is gzip."""
    magic = raw.read(2)
    raw.seek(0)
    return gzip.GzipFile(fileobj=raw) if magic == b"\x1f\x8b" else raw  # type: ignore[return-value]


def numbers(text: str) -> np.ndarray:
    """Read numbers between commas, ``?`` and NaN as missing; ValueError names a bad one."""
    if "?" in text:
        text = text.replace("?", "nan")
    try:
        values = np.fromstring(text, sep=",")
    except (ValueError, DeprecationWarning):  # older NumPy warns, and returns what came before
        values = np.empty(0)
    if values.size != text.count(",") + 1 or np.isinf(values).any():
        return np.array([_number(cell, i) for i, cell in enumerate(text.split(","))])
    return values


def _number(cell: str, i: int) -> float:
    """One number; what only the slow way reads, such as an empty cell, is refused here."""
    try:
        value = float(cell)
    except ValueError:
        raise ValueError(f"value {i + 1} is {cell.strip()[:40]!r}, not a number") from None
    if np.isinf(value):
        raise ValueError(f"value {i + 1} is infinite")
    return value


def moments(times: Sequence[str]) -> np.ndarray:
    """Times as numbers: as they are, or ISO dates in nanoseconds since 1970."""
    try:
        return np.array(times, dtype=float)
    except ValueError:
        pass
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy has no time zones, and reads them right
        dates = np.array([time.strip() for time in times], dtype="datetime64[ns]")
    if np.isnat(dates).any():
        raise ValueError("a time is missing")
    return dates.astype(np.int64)


def as_sequences(parts: Sequence[np.ndarray], names: Sequence[str] | None = None) -> Sequences:
    """Check sequences of which the file says that time comes last."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return check_sequences(parts, channel_names=names)

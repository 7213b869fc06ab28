"""Text files: lines, numbers and times."""

import gzip
import io
import re
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NoReturn

import numpy as np

from mvdfq.io.dataset import ReadError
from mvdfq.io.steady import unchanged
from mvdfq.sequences import Sequences, check_sequences

__all__ = [
    "COUNT",
    "MISSING",
    "Source",
    "as_sequences",
    "channel_values",
    "compiled",
    "decoded",
    "encoding_of",
    "numbers",
    "open_plain",
    "read_float",
    "read_lines",
]

# What stands for a missing value, in lower case.
MISSING = frozenset(["", "?", "na", "n/a", "#n/a", "nan", "null"])

# A whole number that is not negative; str.isdigit would take "²" for a number, which int refuses.
COUNT = re.compile("[0-9]{1,18}")

# Longest line in characters. The longest human chromosome has 249 million letters.
LONGEST_LINE = 2**28
# Longest line of a gzip file, which can hold a thousand characters per byte. A line of this length
# takes 130 MB until it is refused: once in pieces, once whole.
LONGEST_PACKED_LINE = 2**26

# Progress is reported after this many characters.
STEP = 1 << 20


@dataclass
class Source:
    """A file to read, how to read the file, and the errors of series that were left out."""

    path: Path
    skip_bad: bool = False
    progress: Callable[[int, int], None] | None = None
    max_bytes: int = 2**32
    # All files, where the user named several and the reader takes them together.
    files: Sequence[Path] = ()
    skipped: list[ReadError] = field(default_factory=list)
    # What the reader decided by itself; each remark once, in order.
    remarks: dict[str, None] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        """The name of the file without its endings."""
        return re.sub(r"\.\w+(\.gz)?$", "", self.path.name)

    def fail(self, problem: str, hint: str = "") -> NoReturn:
        """Raise: the file cannot be read."""
        raise ReadError(self.path, problem, hint)

    def skip(self, problem: str, hint: str = "") -> None:
        """Leave out one series if the user asked for that; otherwise raise."""
        self.leave_out(ReadError(self.path, problem, hint))

    def leave_out(self, error: ReadError) -> None:
        """Note why one series is left out if the user asked for that; otherwise raise."""
        if not self.skip_bad:
            raise error
        self.skipped.append(error)

    def remark(self, text: str) -> None:
        """Note what the reader decided by itself, once."""
        self.remarks[text] = None

    def tell(self, done: int, total: int) -> None:
        """Report progress, if the user passed a function for progress."""
        if self.progress is not None:
            self.progress(done, total)

    def lines(self, lenient: bool = False) -> Iterator[tuple[int, str]]:
        r"""Yield the lines, numbered from 1, without line ends; gzip is recognised by content.

        Text that is neither UTF-8 nor UTF-16 is read as Windows-1252, which spreadsheet programs
        write. With `lenient`, a foreign byte appears as ``\xe9`` instead: headers of old protein
        files hold such bytes.
        """
        try:
            size, untold = self.path.stat().st_size, 0
            with (
                open(self.path, "rb") as raw,
                _as_text(raw) as text,  # closes `raw`
                unchanged(raw, self.path),
            ):
                for number, line in enumerate(self._limited(text), 1):
                    untold += len(line)
                    if untold >= STEP:
                        untold = 0
                        self.tell(raw.tell(), size)
                    yield number, self._decoded(number, line, lenient)
        except OSError as error:
            self.fail(error.strerror or f"the compressed text is damaged ({error})")
        except (EOFError, zlib.error) as error:
            self.fail(f"the compressed text is damaged or cut short ({error})")
        self.tell(size, size)

    def said(self, comments: str = "#%") -> Iterator[tuple[int, str]]:
        """Yield the lines, numbered and stripped, without blank lines and comments."""
        stripped = ((number, line.strip()) for number, line in self.lines())
        return ((number, line) for number, line in stripped if line and line[0] not in comments)

    def _limited(self, text: io.TextIOWrapper) -> Iterator[str]:
        """Yield at most `max_bytes` characters: a small gzip file may hold any amount of text."""
        left, number = self.max_bytes, 0
        longest, hint = LONGEST_LINE, "break the line"
        if isinstance(getattr(text.buffer, "raw", None), gzip.GzipFile):
            longest, hint = LONGEST_PACKED_LINE, "break the line, or unpack the file"
        while line := text.readline(min(left, longest) + 1):
            number += 1
            if (left := left - len(line)) < 0:
                self.fail(f"more than {self.max_bytes} bytes of text", "max_bytes allows more")
            if len(line) > longest:
                self.fail(f"line {number}: more than {longest} characters", hint)
            yield line

    def _decoded(self, number: int, line: str, lenient: bool) -> str:
        if "\0" in line:
            self.fail(f"line {number}: binary data, not text")
        line = line.rstrip("\n")
        if line.isascii():
            return line
        content = line.encode("utf-8", "surrogateescape")
        try:
            return content.decode("utf-8", "backslashreplace" if lenient else "strict")
        except UnicodeDecodeError:
            if line.lstrip()[:1] in ("#", "%"):  # names of authors in comments of the archives
                return "#"
            self.remark(f"{self.path}: the text is not UTF-8 and is read as Windows-1252")
            return content.decode("cp1252", "replace")


def read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a text file as `Source.lines` does; accept foreign bytes."""
    return Source(Path(path)).lines(lenient=True)


def _as_text(raw: IO[bytes]) -> io.TextIOWrapper:
    plain = io.BufferedReader(open_plain(raw))  # type: ignore[type-var]
    encoding = encoding_of(plain.peek(2))
    # Bytes that are not UTF-8 become surrogates, so that each line can be decoded by itself.
    errors = "replace" if encoding == "utf-16" else "surrogateescape"
    return io.TextIOWrapper(plain, encoding, errors=errors)


def decoded(content: bytes) -> str:
    """Return the text of the beginning of a file, which may be cut off within a letter."""
    encoding = encoding_of(content)
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        is_cut = encoding == "utf-16" or error.start > len(content) - 4
        return content.decode(encoding if is_cut else "cp1252", "replace")


def encoding_of(start: bytes) -> str:
    """Return the encoding that the first bytes of a text tell: UTF-16 has a mark, UTF-8 may."""
    return "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"


def open_plain(raw: IO[bytes]) -> IO[bytes]:
    """Return the stream, decompressed if its content is gzip."""
    magic = raw.read(2)
    raw.seek(0)
    return gzip.GzipFile(fileobj=raw) if magic == b"\x1f\x8b" else raw  # type: ignore[return-value]


def numbers(text: str) -> np.ndarray:
    """Read numbers between commas; ``?`` and NaN are missing; a ValueError names a bad number."""
    if "?" in text:
        text = text.replace("?", "nan")
    try:
        values = np.fromstring(text, sep=",")
    except (ValueError, DeprecationWarning):  # older NumPy warns, and returns what came before
        values = np.empty(0)
    if values.size != text.count(",") + 1 or np.isinf(values).any():
        return np.array([_number(cell, i) for i, cell in enumerate(text.split(","))])
    return values


def read_float(cell: str) -> float:
    """Return a number as Python reads it, but not ``1_0``, which Python takes for 10."""
    if "_" in cell:
        raise ValueError(f"{cell[:40]!r} is not a number")
    return float(cell)


def _number(cell: str, i: int) -> float:
    """One number, read slowly: an empty cell, which NumPy passes over, is refused here."""
    try:
        value = read_float(cell)
    except ValueError:
        raise ValueError(f"value {i + 1} is {cell.strip()[:40]!r}, not a number") from None
    if np.isinf(value):
        raise ValueError(f"value {i + 1} is infinite")
    return value


def channel_values(channels: Sequence[str]) -> np.ndarray:
    """Read the numbers of all channels of a series; a ValueError names the bad channel."""
    try:
        values = numbers(",".join(channels))
    except ValueError:
        for j, channel in enumerate(channels):
            try:
                numbers(channel)
            except ValueError as error:
                raise ValueError(f"channel {j + 1}: {error}") from None
        raise
    lengths = {channel.count(",") for channel in channels}
    if len(lengths) > 1:
        shown = [channel.count(",") + 1 for channel in channels][:20]
        raise ValueError(f"channels of different lengths: {shown}")
    return values.reshape(len(channels), -1)


def compiled(pattern: str, name: str) -> re.Pattern[str]:
    """Compile the expression that the user gave as the parameter `name`."""
    try:
        return re.compile(pattern)
    except (re.error, OverflowError) as error:
        raise ValueError(f"{name}={pattern!r} is not a regular expression: {error}.") from None


def as_sequences(parts: Sequence[np.ndarray], names: Sequence[str] | None = None) -> Sequences:
    """Check sequences; the file format says that time is the last axis, so do not warn of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return check_sequences(parts, channel_names=names)

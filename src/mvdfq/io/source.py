"""A file to read: its text, its beginning, and the error that names the place of a problem."""

import gzip
import io
import os
import re
import stat
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any, NoReturn

from mvdfq._utils.errors import HintedError, Sentence

try:
    import bz2
    import lzma
except ImportError:  # Python may be built without these libraries
    bz2 = lzma = None  # type: ignore[assignment]

# Words that files and users write: names of columns, units, endings.
KNOWN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
State = tuple[int, int]
# Longest line in characters. The longest human chromosome has 249 million letters.
LONGEST_LINE = 2**28
# What unpacks text that begins so, and how the names of such files end.
PACKED: dict[bytes, Any] = {b"\x1f\x8b": gzip, b"BZh": bz2, b"\xfd7zXZ\0": lzma}
PACKED_END = r"(\.(?:gz|bz2|xz))?"
DAMAGED = (EOFError, zlib.error, getattr(lzma, "LZMAError", zlib.error))
# Longest line of a packed file, which can hold a thousand characters per byte. A line of this
# length takes 130 MB until it is refused: once in pieces, once whole.
LONGEST_PACKED_LINE = 2**26
# Progress is reported after this many characters.
STEP = 1 << 20
# This much of a text is looked at; comments at the top of archive files take some of it.
LOOK = 1 << 18


class ReadError(HintedError, ValueError):
    """A file cannot be read; the error names the file, the place in the file and the remedy.

    Parameters
    ----------
    path : str or Path
        The file or folder.
    problem : str
        What is wrong, and where: ``"line 12: 3 values, expected 4"``.
    hint : str, default=""
        What the user can do about it.

    Examples
    --------
    >>> from mvdfq.io import ReadError
    >>> print(ReadError("a.ts", "line 3: no label", "labels follow the last colon"))
    a.ts: line 3: no label; labels follow the last colon
    """

    def __init__(self, path: str | Path, problem: str, hint: str = "") -> None:
        super().__init__(Sentence(f"{path}: ", problem), hint)
        self.path, self.problem = str(path), problem
        # An error travels between processes as its class and these arguments.
        self.args = (self.path, problem, hint)


def check_inside(path: Path, folder: str | Path) -> None:
    """Raise an error if a file or folder that was found in `folder` is a link that leads out."""
    # realpath, unlike Path.resolve, takes links in circles
    real, inside = os.path.realpath(path), os.path.realpath(folder)
    if path.is_symlink() and not Path(real).is_relative_to(inside):
        hint = "copy into the folder what the link leads to, or name the files themselves"
        raise ReadError(path, "is a link that leads out of the folder", hint)


def files_in(folder: Path, ending: re.Pattern[str] = re.compile("")) -> list[Path]:
    """Return the files below a folder whose names end so, without hidden files; or the file."""
    files = [] if folder.is_dir() else [folder]
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        is_wanted = ending.search(name) and not re.search(r"(^|/)\.", name)
        # a pipe would be waited for; a link that leads nowhere is kept, and refused
        if is_wanted and (path.is_file() or not path.exists()):
            check_inside(path, folder)
            files.append(path)
    return files


def state_of(file: str | Path | int) -> State:
    """Return the size and the time of the last change, of a path or of an open file."""
    status = os.stat(file)
    return status.st_size, status.st_mtime_ns


@contextmanager
def unchanged(file: IO[bytes], path: str | Path) -> Iterator[None]:
    """Raise an error if the content of an open file changes while the block runs."""
    # a file that is removed or replaced as a whole does not change: the open file is the old file
    before = state_of(file.fileno())
    try:
        yield
    except Exception:
        if state_of(file.fileno()) != before:  # the true cause of the error
            raise changed(path) from None
        raise
    if state_of(file.fileno()) != before:
        raise changed(path)


def changed(path: str | Path) -> ReadError:
    """Return the error for a file that changed while it was read."""
    hint = "wait until no program writes to the file, or read a copy"
    return ReadError(path, "the file changed while it was read", hint)


@dataclass
class Source:
    """A file to read, how to read the file, and the errors of series that were left out."""

    path: Path
    skip_bad: bool = False
    progress: Callable[[int, int], None] | None = None
    max_bytes: int = 2**32
    # All files, where the user named several and the reader takes them together.
    files: Sequence[Path] = ()
    # Which of how many files of the data set this one is.
    part: tuple[int, int] = (0, 1)
    skipped: list[ReadError] = field(default_factory=list)
    # What the reader decided by itself; each remark once, in order.
    remarks: dict[str, None] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        """The name of the file without its endings."""
        return re.sub(rf"\.\w+{PACKED_END}$", "", self.path.name)

    def fail(self, problem: str, hint: str = "") -> NoReturn:
        """Raise: the file cannot be read."""
        raise ReadError(self.path, problem, hint)

    @contextmanager
    def guard(self, damaged: str = "") -> Iterator[None]:
        """Name the file in what a wrong value leads to, or in whatever `damaged` data lead to."""
        try:
            yield
        except ReadError:
            raise
        except Exception as error:  # zipfile, zlib and NumPy's reader of headers raise many types
            if damaged:
                what = f"{type(error).__name__}: {error}"
                self.fail(f"{damaged} is damaged or cut short ({what})"[:300])
            if not isinstance(error, ValueError | OverflowError):
                raise
            self.fail(str(error))  # a sentence keeps its parameters

    def skip(self, problem: str, hint: str = "", path: str | Path = "") -> None:
        """Leave out one series, or one file, if the user asked for that; otherwise raise."""
        self.leave_out(ReadError(path or self.path, problem, hint))

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
            i, n = self.part
            self.progress(i * total + done, n * total)

    def lines(self, lenient: bool = False) -> Iterator[tuple[int, str]]:
        r"""Yield the lines, numbered from 1, without line ends; unpack what is packed.

        Text that is neither UTF-8 nor UTF-16 is Windows-1252, as spreadsheet programs write it;
        with `lenient`, as for old protein files, a foreign byte appears as ``\xe9`` instead.
        """
        try:
            size, untold = self.path.stat().st_size, 0
            with open(self.path, "rb") as raw, unchanged(raw, self.path):
                plain = io.BufferedReader(open_plain(raw))  # type: ignore[type-var]
                encoding = encoding_of(plain.peek(2))
                # Other bytes become surrogates, so that each line can be decoded by itself.
                errors = "replace" if encoding == "utf-16" else "surrogateescape"
                text = io.TextIOWrapper(plain, encoding, errors=errors)
                for number, line in enumerate(self._limited(text), 1):
                    untold += len(line)
                    if untold >= STEP:
                        untold = 0
                        self.tell(raw.tell(), size)
                    yield number, self._decoded(number, line, lenient)
        except OSError as error:
            self.fail(error.strerror or f"the compressed text is damaged ({error})")
        except DAMAGED as error:
            self.fail(f"the compressed text is damaged or cut short ({error})")
        self.tell(size, size)

    def content(self, comments: str = "#%") -> Iterator[tuple[int, str]]:
        """Yield the lines, numbered and stripped, without blank lines and comments."""
        stripped = ((number, line.strip()) for number, line in self.lines())
        return ((number, line) for number, line in stripped if line and line[0] not in comments)

    def _limited(self, text: io.TextIOWrapper) -> Iterator[str]:
        """Yield at most `max_bytes` characters: a small packed file may hold any amount of text."""
        left, number = self.max_bytes, 0
        longest, hint = LONGEST_LINE, "break the line"
        if not isinstance(getattr(text.buffer, "raw", None), io.BufferedReader):
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
            hint = "text may be packed with gzip, bzip2 or xz; unpack what is packed in another way"
            self.fail(f"line {number}: binary data, not text", hint)
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


def encoding_of(start: bytes) -> str:
    """Return the encoding that the first bytes of a text tell: UTF-16 has a mark, UTF-8 may."""
    return "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"


def open_plain(raw: IO[bytes]) -> IO[bytes]:
    """Return the stream, decompressed if its content is packed."""
    start = raw.read(8)
    raw.seek(0)
    packer = next((packer for mark, packer in PACKED.items() if start.startswith(mark)), None)
    return packer.open(raw) if packer else raw


def compiled(pattern: str, name: str) -> re.Pattern[str]:
    """Compile the expression that the user gave as the parameter `name`."""
    try:
        return re.compile(pattern)
    except (re.error, OverflowError) as error:
        problem = f" is not a regular expression: {error}."
        raise ValueError(Sentence({name: pattern}, problem)) from None


@dataclass(frozen=True, eq=False)
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
        encoding = encoding_of(head)
        try:
            text = head.decode(encoding)
        except UnicodeDecodeError as error:  # the text may be cut off within a letter
            is_cut = encoding == "utf-16" or error.start > len(head) - 4
            text = head.decode(encoding if is_cut else "cp1252", "replace")
        if "\0" in text:
            return []
        lines = text.splitlines()
        return lines if len(head) < LOOK or len(lines) < 2 else lines[:-1]

    @cached_property
    def content(self) -> list[str]:
        """The first lines, stripped, without blank lines and comments (``#`` or ``%``)."""
        return [line for line in map(str.strip, self.lines) if line and line[0] not in "#%"]

    @cached_property
    def members(self) -> frozenset[str]:
        """The names of the files in a zip archive."""
        if self.start.startswith(b"PK\x03\x04"):
            with suppress(zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
                with zipfile.ZipFile(self.path) as archive:
                    return frozenset(archive.namelist())
        return frozenset()

    def _read(self, size: int, plain: bool = False) -> bytes:
        with suppress(OSError, ValueError, *DAMAGED):
            if stat.S_ISREG(os.stat(self.path).st_mode):  # a pipe would be waited for
                with open(self.path, "rb") as file:
                    return (open_plain(file) if plain else file).read(size)
        return b""

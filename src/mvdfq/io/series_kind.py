"""The format of a file of series, told by how it begins."""

import csv
import re
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from mvdfq.io.folder import csv_files
from mvdfq.io.tables import Columns, table_kind
from mvdfq.io.text import open_plain

__all__ = ["series_kind"]

# So much of a text is looked at; the comments on top of archive files take some of it.
LOOK = 1 << 18

TS_KEY = re.compile(
    r"@(problemname|timestamps|missing|univariate|dimensions?|equallength|serieslength"
    r"|classlabel|targetlabel|data)\b",
    re.IGNORECASE,
)


def series_kind(path: Path, columns: Columns) -> str | None:
    """The format of one file, or of a folder of tables."""
    if path.is_dir():
        files = csv_files(path)
        return "csv-folder" if files and _holds_rows(files[0]) else None
    with open(path, "rb") as file:
        head = file.read(6)
    if head.startswith(b"PK\x03\x04"):
        return "npz" if _holds_arrays(path) else None
    known = {b"\x93NUMPY": "npy", b"PAR1": "parquet"}
    for magic, kind in known.items():
        if head.startswith(magic):
            return kind
    return _text_kind(_first_lines(path), columns)


def _holds_arrays(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith(".npy") for name in archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        # Cut short: the list of members is at the end. The reader says so.
        return path.suffix.lower() == ".npz"


def _first_lines(path: Path) -> list[str]:
    """Lines at the beginning, the last of them whole as far as can be known."""
    with open(path, "rb") as file:
        try:
            head = open_plain(file).read(LOOK)
        except (EOFError, OSError, zlib.error):
            return []
    if b"\0" in head:
        return []
    lines = head.decode("utf-8-sig", errors="replace").splitlines()
    return lines if len(head) < LOOK or len(lines) < 2 else lines[:-1]


def _text_kind(lines: Sequence[str], columns: Columns) -> str | None:
    said = [line.strip() for line in lines if line.strip() and line.strip()[0] not in "#%"]
    if not said:
        return None
    if re.match(r"@(relation|attribute)\b", said[0], re.IGNORECASE):
        return "arff"
    if TS_KEY.match(said[0]):
        return "ts"
    try:
        return table_kind(said[:100], columns)
    except csv.Error:
        return None


def _holds_rows(path: Path) -> bool:
    """Has the file a table's rows: a line with a number in it, and no other format's words?"""
    lines = [line for line in _first_lines(path) if line.strip()]
    return len(lines) > 0 and any(re.search(r"\d", line) for line in lines)

"""Tables of text: the CSV reader of the package, and cells as numbers."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain, islice
from typing import Any

import numpy as np

from mvdfq.io.text import MISSING, Source

__all__ = [
    "COLUMNS",
    "DECIMAL_COMMA",
    "LOOK",
    "TABLES",
    "Columns",
    "first_rows",
    "floats",
    "is_given",
    "is_number",
    "is_value",
    "named_rows",
    "rows_of",
]

# How the names of tables end.
TABLES = ("csv", "tsv", "txt")

# Rows that are looked at to find the delimiter, the header and the label.
LOOK = 100

# Quantifiers are possessive (a second + after each), so that no cell takes more than linear time.
DECIMAL_COMMA = re.compile(r"[-+]?\d*+,\d++")
NUMBER = re.compile(r"[-+]?\d[\d.eE+-]*+(?:,\d++)?")


@dataclass(frozen=True)
class Columns:
    """The names of the columns of a table, and the states of columns that hold words."""

    label: str | int | None = "label"
    id: str = "id"
    time: str = "time"
    group: str = "group"
    categories: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "Columns":
        """Return the columns that are named in the options of a reader."""
        return cls(**{key: value for key, value in options.items() if key in COLUMNS})

    def find(self, source: Source, header: Sequence[str]) -> dict[str, int]:
        """Return the places of id, time, label and group; refuse a header without named columns."""
        _check_names(source, header)
        keys = {"id": self.id, "time": self.time, "label": self.label, "group": self.group}
        found = {key: header.index(str(name)) for key, name in keys.items() if name in header}
        if isinstance(self.label, str) and self.label != "label" and "label" not in found:
            source.fail(f"line 1: no column {self.label!r}", f"there are {list(header)[:20]}")
        for name in set(self.categories) - set(header):
            source.fail(f"line 1: no column {name!r}, but categories names this column")
        return found


COLUMNS = tuple(column.name for column in fields(Columns))


def _check_names(source: Source, header: Sequence[str]) -> None:
    for j, name in enumerate(header):
        if name in header[:j]:
            source.fail(f"line 1: two columns {name!r}", "names of columns must differ")


def rows_of(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table of numbers that are not blank, with their line numbers."""
    lines = (line for _, line in source.lines())
    first = list(islice(lines, LOOK))
    return _rows(source, chain(first, lines), _delimiter(first))


def named_rows(
    source: Source, required: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table of words as dictionaries, with their line numbers.

    The first line holds the names of the columns, in any order and any case. Its delimiter (tab,
    semicolon or comma) is the delimiter of the table. Missing cells at the end of a row are
    empty. A row with too many cells is skipped, or raises an error.
    """
    lines = (line for _, line in source.lines())
    first = list(islice(lines, LOOK))
    names = next((line for line in first if line.strip()), "")
    delimiter = next((mark for mark in "\t;" if mark in names), ",")
    rows = _rows(source, chain(first, lines), delimiter)
    known = {name.lower(): name for name in (*required, *optional)}
    header = [known.get(name.lower(), name) for name in next(rows, (1, []))[1]]
    for name in required:
        if name not in header:
            hint = f"the columns are {','.join(required)}{''.join(f'[,{o}]' for o in optional)}"
            source.fail(f"line 1: there is no column {name!r}", hint)
    for number, cells in rows:
        if len(cells) > len(header):
            source.skip(f"line {number}: {len(cells)} cells, the header has {len(header)}")
        else:
            cells += [""] * (len(header) - len(cells))
            yield number, dict(zip(header, cells, strict=True))


def first_rows(lines: Sequence[str]) -> list[list[str]]:
    """Return the rows of the first lines of a file, or an empty list if they are not a table."""
    try:
        return [row for _, row in _parsed(lines[:LOOK], _delimiter(lines[:LOOK]))]
    except csv.Error:
        return []


def _rows(source: Source, lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    try:
        yield from _parsed(lines, delimiter)
    except csv.Error as error:
        source.fail(str(error))


def _parsed(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield rows that are not blank, as stripped cells: the only call of the csv module."""
    # A cell in quotes may go on in the next line, and holds the newline then.
    whole = (f"{line}\n" for line in lines)
    # strict: a quote in the wrong place is an error, not a cell that swallows the file.
    reader = csv.reader(whole, delimiter=delimiter, strict=True, skipinitialspace=True)
    try:
        for row in reader:
            cells = list(map(str.strip, row))
            if any(cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise csv.Error(f"line {reader.line_num}: {error}") from None


def _delimiter(lines: Sequence[str]) -> str:
    """Of tab, semicolon and comma, the mark that separates the most numbers."""
    scores = {
        mark: sum(bool(NUMBER.fullmatch(c.strip())) for line in lines for c in line.split(mark))
        for mark in "\t;,"
    }
    return max(scores, key=lambda mark: (scores[mark], sum(line.count(mark) for line in lines)))


def is_given(word: str) -> bool:
    """Is the word something else than a sign of a missing value?"""
    return word.lower() not in MISSING


def is_number(cell: str) -> bool:
    """Is the cell a finite number, as Python reads it?"""
    try:
        return bool(np.isfinite(float(cell)))
    except ValueError:
        return False


def is_value(cell: str) -> bool:
    """Is the cell meant as a number? A missing value and a decimal comma count."""
    return not is_given(cell) or is_number(cell) or bool(DECIMAL_COMMA.fullmatch(cell))


def floats(cells: Sequence[str]) -> np.ndarray:
    """Cells as numbers; a ValueError names the first cell that is not a number."""
    try:
        values = np.array(list(map(float, cells)))
    except ValueError:
        values = np.array([_float(cell) if is_given(cell) else np.nan for cell in cells])
    if np.isinf(values).any():
        raise ValueError(f"value {np.isinf(values).argmax() + 1} is infinite")
    return values


def _float(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        comma = "; write numbers with a decimal point" if DECIMAL_COMMA.fullmatch(cell) else ""
        raise ValueError(f"{cell[:40]!r} is not a number{comma}") from None

"""Tables of text: the CSV reader of the package, and cells as numbers."""

import csv
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np

from mvdfq.io.source import Glimpse, Source

# What stands for a missing value, in lower case.
MISSING = frozenset(["", "?", "na", "n/a", "#n/a", "nan", "null"])
# A whole number that is not negative; str.isdigit would take "²" for a number, which int refuses.
COUNT = re.compile("[0-9]{1,18}")
# The table that says what the files of a folder are.
METADATA = "metadata.csv"
# How the names of tables end.
TABLES = ("csv", "tsv", "txt")
CHUNK = 20_000  # rows turned into numbers at a time
# What separates cells. The order decides between marks that separate the same numbers.
MARKS = "\t;|, "
# The first line of some spreadsheet programs.
SEPARATOR = re.compile(r"sep=(.)", re.IGNORECASE)
# Rows that are looked at to find the delimiter, the header and the label.
LOOK = 100
# Quantifiers are possessive (a second + after each), so that no cell takes more than linear time.
DECIMAL_COMMA = re.compile(r"[-+]?(?:\d{1,3}(?:\.\d{3})++|\d*+),\d++(?:[eE][-+]?\d++)?")
# The comma in 1,234 may separate thousands; in 0,234 and 1234,567 it does not.
THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")
# 1%, 20 °C, $3, 1 234, 1'234 and 1,234,567: meant as numbers, but not numbers
ALMOST = re.compile(
    r"[$\u20ac\u00a3]?+\s*+[-+]?+\d[\d.,'\u2019\s_]*+[%\u2030\u00b0$\u20ac\u00a3]?+[CFK]?+"
)
# Seconds per unit.
UNITS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("ms", "msec", "millis", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("us", "\u00b5s", "\u03bcs", "usec", "micros", "microseconds"), 1e-6),
    **dict.fromkeys(("ns", "nsec", "nanos", "nanoseconds"), 1e-9),
    **dict.fromkeys(("min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
}
# A unit in brackets, as a row of units below the header has it.
UNIT = re.compile(r"[\[(][^\])]{1,20}[\])]")
NUMBER = re.compile(r"[-+]?\d[\d.eE+-]*+(?:,\d++)?")


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


@dataclass
class Commas:
    """What the commas in the cells of a table separate: decimals or thousands."""

    # By column, a cell whose comma may separate thousands.
    doubtful: dict[str, str] = field(default_factory=dict)
    has_decimals: bool = False
    point: str | None = None

    def see(self, column: str, cells: Iterable[str]) -> None:
        """Look at cells of a column of numbers."""
        for cell in cells:
            if "," not in cell:
                self.point = self.point or (cell if "." in cell else None)
            elif THOUSANDS.fullmatch(cell):
                self.doubtful.setdefault(column, cell)
            else:
                self.has_decimals = True

    def tell(self, source: Source) -> None:
        """Say how doubtful commas were read; refuse them in a table with decimal points."""
        if not self.doubtful or self.has_decimals:
            return
        column, cell = next(iter(self.doubtful.items()))
        if self.point is not None:
            hint = "write thousands without a mark, and all decimals the same way"
            source.fail(f"column {column!r}: {cell!r} in a table with {self.point!r}", hint)
        value = cell.replace(",", ".")
        source.remark(
            f"column {column!r}: {cell} is read as {value}; if the comma separates thousands, "
            f"write {cell.replace(',', '')}"
        )


# What is done with a row that lacks cells: it is given with its line number.
Torn = Callable[[int, Sequence[str]], None]


@dataclass
class Table:
    """The names of the columns, the first rows, and all rows with their line numbers."""

    header: list[str]
    is_named: bool
    sample: list[list[str]]
    rows: Iterator[tuple[int, list[str]]]
    # Columns that were the index of a data frame.
    index: Collection[str] = ()
    row: str = "line"

    def batches(
        self, torn: Torn, special: Collection[int] = ()
    ) -> Iterator[tuple[Sequence[int], list[Any]]]:
        """Yield line numbers and columns of text, chunk by chunk, so that one chunk is held."""
        while chunk := list(islice(self.rows, CHUNK)):
            whole = [row for row in chunk if len(row[1]) == len(self.header)]
            for line, cells in chunk if len(whole) < len(chunk) else ():
                if len(cells) != len(self.header):
                    torn(line, cells)
            if whole:
                lines, rows = zip(*whole, strict=True)
                yield lines, list(zip(*rows, strict=True))


def table_of(source: Source) -> Table:
    """Open a table whose rows have the same columns; columns without names are "0", "1", ..."""
    return table_from(source, rows_of(source))


def table_from(source: Source, rows: Iterator[tuple[int, list[str]]]) -> Table:
    """Return the table of rows of text, whose first row may hold names."""
    first = list(islice(rows, LOOK))
    if not first:
        source.fail("the file is empty")
    header, is_named = named_columns([row for _, row in first])
    body = first[1:] if is_named else first
    if is_named and is_unit_row([row for _, row in body]):
        line, units = body.pop(0)
        header = _with_units(header, units)
        source.remark(f"line {line} holds units: {', '.join(units)[:100]}")
    return Table(header, is_named, [row for _, row in body], chain(body, rows))


def _with_units(header: Sequence[str], units: Sequence[str]) -> list[str]:
    """Return the names of columns; the name of a time gets its unit: ``clock [ms]``."""
    words = [word.strip("[]() ") for word in units]
    pairs = zip(header, words, strict=False)
    return [f"{name} [{word}]" if word.lower() in UNITS else name for name, word in pairs]


def is_unit_row(rows: Sequence[Sequence[str]]) -> bool:
    """Does the first row below the header hold words where all rows below it hold numbers?"""
    if len(rows) < 2:
        return False
    below = [row for row in rows[1:] if len(row) == len(rows[0])]
    columns = [[cell for cell in column if is_given(cell)] for column in zip(*below, strict=True)]
    told = [
        word
        for word, cells in zip(rows[0], columns, strict=False)
        if cells and all(map(is_value, cells))
    ]
    in_brackets = any(UNIT.fullmatch(word) for word in told)
    words = [word for word in told if is_given(word) and not is_value(word)]
    nothing = all(word in words or word in ("", "-") for word in told)
    return nothing and (len(words) > 1 or (bool(words) and in_brackets))


def named_columns(rows: Sequence[Sequence[str]]) -> tuple[list[str], bool]:
    """Return the names in the first row, or numbers if the first row holds values too."""
    first, below = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    # A word above numbers is a name. A column of words does not tell.
    columns = [[cell for cell in column if is_given(cell)] for column in zip(*below, strict=True)]
    told = [
        name
        for name, cells in zip(first, columns, strict=False)
        if 2 * sum(map(is_value, cells)) > len(cells)
    ] or first
    if counts_up(first[1:] if not first[0] else first) or not all(map(is_value, told)):
        return list(first), True
    return list(map(str, range(len(first)))), False


def counts_up(cells: Sequence[str]) -> bool:
    """Are the cells 0, 1, 2, ..., the names that data frames give to columns?"""
    if len(cells) < 3 or not all(map(COUNT.fullmatch, cells)):
        return False
    return all(int(b) - int(a) == 1 for a, b in pairwise(cells))


def rows_of(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table of numbers that are not blank, with their line numbers."""
    lines = (line for _, line in source.lines())
    first, delimiter = _without_notes(list(islice(lines, LOOK)))
    return _rows(source, chain(first, lines), delimiter)


def _without_notes(lines: Sequence[str]) -> tuple[list[str], str]:
    """Return the first lines with the comments above the table made blank, and the delimiter."""
    lines, mark = list(lines), ""
    for i, line in enumerate(map(str.strip, lines)):
        told = SEPARATOR.fullmatch(line)
        if line and line[0] not in "#%" and not told:
            break
        lines[i], mark = "", told[1] if told else mark
    return lines, mark or _delimiter(lines)


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
    if "group" in optional and "group" not in header:
        _find_group(source, header)
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


def _find_group(source: Source, header: list[str]) -> None:
    """Call a column `group` whose name says so, such as speaker or subject_id."""
    from mvdfq.io.tables.column_roles import known_places  # which imports this module

    place = next(known_places("group", header), None)
    if place is not None:
        source.remark(f"group: column {header[place]!r} of {source.path.name}")
        header[place] = "group"


def first_rows(glimpse: Glimpse) -> list[list[str]]:
    """Return the first rows of a file or a table, or an empty list if they are not a table."""
    if glimpse.rows is not None:
        return glimpse.rows
    try:
        rows = [row for _, row in _parsed(*_without_notes(glimpse.said[:LOOK]))]
    except csv.Error:
        return []
    return [_with_units(*rows[:2]), *rows[2:]] if is_unit_row(rows[1:]) else rows


def _rows(source: Source, lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    try:
        yield from _parsed(lines, delimiter)
    except csv.Error as error:
        source.fail(str(error))


def _parsed(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield rows that are not blank, as stripped cells: the only call of the csv module."""
    # A cell in quotes may go on in the next line, and holds the newline then.
    whole = (f"{line.strip() if delimiter == ' ' else line}\n" for line in lines)
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
    """Of the marks in the first line, the mark that separates the most numbers; else the comma.

    Of two marks that separate the same numbers, the rarer mark is taken: "1,5;2,5" has two cells.
    """
    lines = [line for line in lines if line.strip()]
    marks = [mark for mark in MARKS if lines and mark in lines[0].strip()]
    scores = {
        mark: sum(bool(NUMBER.fullmatch(c.strip())) for line in lines for c in line.split(mark))
        for mark in marks
    }
    # One column of numbers with decimal commas: the name above it holds no comma.
    return max(scores, key=lambda mark: scores[mark]) if scores else ";"


def is_given(word: str) -> bool:
    """Is the word something else than a sign of a missing value?"""
    return word.lower() not in MISSING


def is_number(cell: str) -> bool:
    """Is the cell a finite number, as `read_float` reads it?"""
    try:
        return bool(np.isfinite(read_float(cell)))
    except ValueError:
        return False


def is_value(cell: str) -> bool:
    """Is the cell meant as a number? A missing value and a decimal comma count."""
    return not is_given(cell) or is_number(cell) or bool(DECIMAL_COMMA.fullmatch(cell))


def floats(cells: Sequence[str]) -> np.ndarray:
    """Cells as numbers; a ValueError names the first cell that is not a number."""
    try:
        values = np.array(list(map(read_float, cells)))
    except ValueError:
        values = np.array([_float(cell) if is_given(cell) else np.nan for cell in cells])
        _refuse_both_marks(cells)
    if np.isinf(values).any():
        raise ValueError(f"value {np.isinf(values).argmax() + 1} is infinite")
    return values


def _float(cell: str) -> float:
    if DECIMAL_COMMA.fullmatch(cell):
        return float(cell.replace(".", "").replace(",", "."))
    try:
        return read_float(cell)
    except ValueError:
        raise ValueError(
            f"{cell[:40]!r} is not a number (an empty cell, ?, NA, N/A, NaN and null are missing)"
        ) from None


def _refuse_both_marks(cells: Sequence[str]) -> None:
    """Refuse 1,234 beside 1.5: the comma may separate thousands."""
    comma = next(filter(DECIMAL_COMMA.fullmatch, cells), None)
    point = next((cell for cell in cells if "," not in cell and "." in cell), None)
    if comma is not None and point is not None:
        raise ValueError(f"{comma[:40]!r} beside {point[:40]!r}: write all decimals the same way")

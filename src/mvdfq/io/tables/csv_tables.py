"""Tables of text: the CSV reader of the package, and cells as numbers."""

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np

from mvdfq._utils.errors import Sentence
from mvdfq.io.source import KNOWN, Glimpse, ReadError, Source

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
UNITS = {name: seconds for seconds, *names in KNOWN["units"] for name in names}
# A unit in brackets, as a row of units below the header has it.
UNIT = re.compile(r"[\[(][^\])]{1,20}[\])]")
# 1%, 20 °C, $3, 1 234, 1'234, 1,234,567 and 9.81 m/s: meant as numbers, but not numbers; 5 kg may
# be a state
ALMOST = re.compile(
    r"[$\u20ac\u00a3]?+\s*+[-+]?+\d[\d.,'\u2019\s_]*+[%\u2030\u00b0$\u20ac\u00a3]?+[CFK]?+"
    r"|[-+]?+\d++[.,]\d++\s++[^\W\d_][\w/]{0,5}+|[-+]?+inf(?:inity)?+", re.IGNORECASE
)  # fmt: skip
NUMBER = re.compile(r"[-+]?\d[\d.eE+-]*+(?:,\d++)?")


def numbers(text: str) -> np.ndarray:
    """Read numbers between commas; ``?`` and NaN are missing; a ValueError names a bad number."""
    if "?" in text:
        text = text.replace("?", "nan")
    try:
        values = np.fromstring(text, sep=",")
    except (ValueError, DeprecationWarning):  # older NumPy warns, and returns what came before
        values = np.empty(0)
    if values.size == text.count(",") + 1 and not np.isinf(values).any():
        return values
    slow = []  # an empty cell, which NumPy passes over, is refused here
    for i, cell in enumerate(text.split(","), 1):
        try:
            slow.append(read_float(cell))
        except ValueError:
            raise ValueError(f"value {i} is {cell.strip()[:40]!r}, not a number") from None
        if np.isinf(slow[-1]):
            raise ValueError(f"value {i} is infinite")
    return np.array(slow)


def read_float(cell: str) -> float:
    """Return a number as Python reads it, but not ``1_0``, which Python takes for 10."""
    if "_" in cell:
        raise ValueError(f"{cell[:40]!r} is not a number")
    return float(cell)


def channel_values(channels: Sequence[str]) -> np.ndarray:
    """Read the numbers of all channels of a series; a ValueError names the bad channel."""
    rows = []
    for j, channel in enumerate(channels, 1):
        try:
            rows.append(numbers(channel))
        except ValueError as error:
            raise ValueError(f"channel {j}: {error}") from None
    lengths = list(map(len, rows))
    if len(set(lengths)) > 1:
        raise ValueError(f"channels of different lengths: {lengths[:20]}")
    return np.stack(rows)


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
        remark = f"column {column!r}: {cell} is read as {cell.replace(',', '.')}"
        hint = f"if the comma separates thousands, write {cell.replace(',', '')}"
        source.remark(f"{remark}; {hint}")


Names = Sequence[str]
# A row and its line number.
Row = tuple[int, list[str]]
# Line numbers, columns of cells, and numbered rows that lack cells.
Batch = tuple[Sequence[int], list[Any], Sequence[Row]]


@dataclass
class Table:
    """The names of the columns, the first rows, and all rows with their line numbers."""

    header: list[str]
    is_named: bool
    sample: list[list[str]]
    rows: Iterator[Row]
    # Columns that were the index of a data frame, and what they are.
    index: Collection[str] = ()
    known: Mapping[str, str] = field(default_factory=dict)
    row: str = "line"

    def batches(self, special: Collection[int] = ()) -> Iterator[Batch]:
        """Yield line numbers and columns of text, chunk by chunk, and rows that lack cells."""
        width = len(self.header)
        while chunk := list(islice(self.rows, CHUNK)):
            whole = [row for row in chunk if len(row[1]) == width]
            torn = [row for row in chunk if len(row[1]) != width]
            cells = list(zip(*(row for _, row in whole), strict=True))
            yield [line for line, _ in whole], cells, torn


def table_of(source: Source, rows: Iterator[Row] | None = None, wide: Sequence[Any] = ()) -> Table:
    """Open a file, or rows of text, as a table; names of `wide` tables stand in headers only."""
    rows = rows_of(source) if rows is None else rows
    first = list(islice(rows, LOOK))
    if not first:
        source.fail("the file is empty")
    cells = [row for _, row in first]
    is_named = has_header(cells, wide) if wide else has_names(cells)
    header = cells[0] if is_named else [str(i) for i in range(len(cells[0]))]
    n_above = int(is_named)
    if is_named and is_unit_row(cells[1:]):
        line, units = first[1]
        n_above = 2
        pairs = zip(header, (word.strip("[]() ") for word in units), strict=False)
        # the name of a time gets the unit, unless the name has a unit: clock [ms]
        header = [f"{name} [{unit}]" if unit.lower() in UNITS and not UNIT.search(name) else name
                  for name, unit in pairs]  # fmt: skip
        source.remark(f"line {line} holds units: {', '.join(units)[:100]}")
    return Table(header, is_named, cells[n_above:], chain(first[n_above:], rows))


def glimpsed(glimpse: Glimpse) -> Table | None:
    """Return the table at the beginning of a file; None if the text is not a table of numbers."""
    source = Source(glimpse.path)
    try:
        table = table_of(source, _rows(source, *_without_notes(glimpse.content[:LOOK])))
    except ReadError:
        return None
    return None if "file_name" in table.header else table


def _below(rows: Sequence[Names]) -> list[tuple[str, list[str]]]:
    """Return the cells of the first row, each with what is given in the rows below it."""
    below = [row for row in rows[1:] if len(row) == len(rows[0])]
    columns = [[cell for cell in column if is_given(cell)] for column in zip(*below, strict=True)]
    return list(zip(rows[0], columns, strict=False))


def is_unit_row(rows: Sequence[Names]) -> bool:
    """Does the first row below the header hold words where all rows below it hold numbers?"""
    if len(rows) < 2:
        return False
    units = [word for word, cells in _below(rows) if cells and all(map(is_value, cells))]
    words = [word for word in units if is_given(word) and not is_value(word)]
    if not words or not all(word in words or word in ("", "-") for word in units):
        return False
    return len(words) > 1 or any(UNIT.fullmatch(word) for word in units)


def has_names(rows: Sequence[Names]) -> bool:
    """Does the first row hold names? A word above numbers is a name; words above words are not."""
    first = rows[0]
    # the index that data frames write has no name, and says nothing of the other names
    below = [(name, cells) for name, cells in _below(rows) if name]
    titles = [name for name, cells in below if 2 * sum(map(is_value, cells)) > len(cells)]
    numbered = counts_up(first[1:] if not first[0] else first)
    return numbered or not all(map(is_value, titles or first))


def has_header(rows: Sequence[Names], names: Sequence[Any] = ("label",)) -> bool:
    """Does the first row hold names? At the ends of a wide row a word may be a label."""
    row = rows[0]
    inner = row[1:-1] if len(row) > 2 else row
    if any(name in row for name in names) or counts_up(inner):
        return True
    if any(len(other) == len(row) for other in rows[1:]):
        return has_names(rows)
    return not all(map(is_value, inner))


def counts_up(cells: Sequence[str]) -> bool:
    """Are the cells 0, 1, 2, ..., the names that data frames give to columns?"""
    if len(cells) < 3 or not all(map(COUNT.fullmatch, cells)):
        return False
    return all(int(b) - int(a) == 1 for a, b in pairwise(cells))


def rows_of(source: Source, marks: str = MARKS) -> Iterator[Row]:
    """Yield the rows of a table that are not blank, with their line numbers."""
    lines = (line for _, line in source.lines())
    first, delimiter = _without_notes(list(islice(lines, LOOK)), marks)
    return _rows(source, chain(first, lines), delimiter)


def _without_notes(lines: Sequence[str], marks: str = MARKS) -> tuple[list[str], str]:
    """Return the first lines with the comments above the table made blank, and the delimiter."""
    lines, delimiter = list(lines), ""
    for i, line in enumerate(map(str.strip, lines)):
        match = SEPARATOR.fullmatch(line)
        if line and line[0] not in "#%" and not match:
            break
        lines[i], delimiter = "", match[1] if match else delimiter
    filled = [line for line in lines if line.strip()]
    # The mark that separates most numbers, of equals the rarer: 1,5;2,5 has two cells.
    scores = {
        mark: sum(bool(NUMBER.fullmatch(c.strip())) for line in filled for c in line.split(mark))
        for mark in marks
        if filled and mark in filled[0].strip()
    }
    # One column of numbers with decimal commas: the name above it holds no comma.
    return lines, delimiter or max(scores, key=scores.__getitem__, default=";")


def _rows(source: Source, lines: Iterable[str], delimiter: str) -> Iterator[Row]:
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
        source.fail(f"line {reader.line_num}: {error}")


def is_given(word: str) -> bool:
    """Is the word something else than a sign of a missing value?"""
    return word.lower() not in MISSING


def blanked(cells: Any, missing: Collection[Any]) -> Any:
    """Return cells with nothing in place of what the user calls missing, such as -999."""
    if not (words := {*map(str, missing)}):
        return cells
    lost = {float(word) for word in words if is_number(word)}
    if isinstance(cells, np.ndarray):
        return np.where(np.isin(cells, list(lost)), np.nan, cells)
    known = {cell: cell in words or (is_number(str(cell)) and float(cell) in lost)
             for cell in set(cells)}  # fmt: skip
    return ["" if known[cell] else cell for cell in cells]


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
        values = np.array(list(map(_float, cells)))
        comma = next(filter(DECIMAL_COMMA.fullmatch, cells), None)
        point = next((cell for cell in cells if "," not in cell and "." in cell), None)
        if comma is not None and point is not None:  # the comma may separate thousands
            problem = f"{comma[:40]!r} beside {point[:40]!r}: write all decimals the same way"
            raise ValueError(problem) from None
    if np.isinf(values).any():
        place = f"value {np.isinf(values).argmax() + 1}" if len(cells) > 1 else "the value"
        raise ValueError(f"{place} is infinite")
    return values


def _float(cell: str) -> float:
    if not is_given(cell):
        return np.nan
    if DECIMAL_COMMA.fullmatch(cell):
        return float(cell.replace(".", "").replace(",", "."))
    try:
        return read_float(cell)
    except ValueError:
        missing = " (an empty cell, ?, NA, N/A, NaN and null are missing; "
        hint: list[Any] = [missing, {"missing": cell[:40]}, " makes it missing, too)"]
        hint = ["; write numbers without signs and marks"] if ALMOST.fullmatch(cell) else hint
        raise ValueError(Sentence(f"{cell[:40]!r} is not a number", *hint)) from None

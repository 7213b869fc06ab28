"""Tables of text: cells and numbers; and wide ones, a row a series."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np

from mvdfq.io.base import Dataset, ReadError
from mvdfq.io.text import MISSING, Source, as_sequences

__all__ = [
    "DECIMAL_COMMA",
    "Columns",
    "floats",
    "is_given",
    "is_number",
    "is_value",
    "read_wide",
    "rows_of",
    "table_kind",
]

# Rows looked at to tell delimiter, header and label.
LOOK = 100

DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+")


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are called, and the states of those that hold words."""

    label: str | int | None = "label"
    id: str = "id"
    time: str = "time"
    group: str = "group"
    categories: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def find(self, source: Source, header: Sequence[str]) -> dict[str, int]:
        """Where the columns that are no channels stand; refuse a header without those asked for."""
        for j, name in enumerate(header):
            if name in header[:j]:
                source.fail(f"line 1: two columns {name!r}", "names of columns must differ")
        keys = {"id": self.id, "time": self.time, "label": self.label, "group": self.group}
        found = {key: header.index(str(name)) for key, name in keys.items() if name in header}
        if isinstance(self.label, str) and self.label != "label" and "label" not in found:
            source.fail(f"line 1: no column {self.label!r}", f"there are {list(header)[:20]}")
        for name in set(self.categories) - set(header):
            source.fail(f"line 1: no column {name!r}, for which there are categories")
        return found


def rows_of(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, as stripped cells, with their line numbers."""
    lines = (line for _, line in source.lines())
    first = list(islice(lines, LOOK))
    # strict: a quote in the wrong place is an error, not a cell that swallows the file.
    reader = csv.reader(chain(first, lines), delimiter=delimiter_of(first), strict=True)
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            source.fail(f"line {reader.line_num}: {error}")
        if row is None:
            return
        cells = list(map(str.strip, row))
        if any(cells):
            yield reader.line_num, cells


def delimiter_of(lines: Sequence[str]) -> str:
    """Of tab, semicolon and comma, the one that parts the most numbers."""
    pattern = re.compile(r"[-+]?\d[\d.eE+-]*(,\d+)?")
    scores = {
        mark: sum(bool(pattern.fullmatch(c.strip())) for line in lines for c in line.split(mark))
        for mark in "\t;,"
    }
    return max(scores, key=lambda mark: (scores[mark], sum(line.count(mark) for line in lines)))


def is_number(cell: str) -> bool:
    """Is this a number, as Python reads it?"""
    try:
        return bool(np.isfinite(float(cell)))
    except ValueError:
        return False


def is_value(cell: str) -> bool:
    """Is this meant as a number, be it missing or with a decimal comma?"""
    return not is_given(cell) or is_number(cell) or bool(DECIMAL_COMMA.fullmatch(cell))


def floats(cells: Sequence[str]) -> np.ndarray:
    """Cells as numbers; ValueError names the first that is none."""
    try:
        values = np.array(list(map(float, cells)))
    except ValueError:
        values = np.array([np.nan if c.lower() in MISSING else _float(c) for c in cells])
    if np.isinf(values).any():
        raise ValueError(f"value {np.isinf(values).argmax() + 1} is infinite")
    return values


def _float(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        comma = "; write numbers with a decimal point" if DECIMAL_COMMA.fullmatch(cell) else ""
        raise ValueError(f"{cell[:40]!r} is not a number{comma}") from None


def table_kind(lines: Sequence[str], columns: Columns) -> str | None:
    """Tell a long from a wide table, and both from other text."""
    rows = [row for row in csv.reader(lines, delimiter=delimiter_of(lines)) if any(row)]
    rows = [[cell.strip() for cell in row] for row in rows]
    if not rows or "file_name" in rows[0]:
        return None
    if columns.id in rows[0] and columns.time in rows[0]:
        return "long-csv"
    special = [columns.label, columns.id, columns.group]
    apart = {i for i, name in enumerate(rows[0]) if name in special}
    body = rows[1:] if apart or has_header(rows[0]) else rows
    # A broken cell here and there is for the reader to name.
    inner = [cell for row in body for i, cell in enumerate(row) if i not in (apart or _ends(row))]
    return "wide-csv" if sum(map(is_number, inner)) > sum(not is_value(c) for c in inner) else None


def _ends(row: Sequence[str]) -> tuple[int, int]:
    """The columns where a label stands if no header says so."""
    return 0, len(row) - 1


def has_header(row: Sequence[str]) -> bool:
    """Does the first row hold names? At its ends a word may be a label."""
    inner = row[1:-1] if len(row) > 2 else row
    return "label" in row or _counts_up(inner) or not all(map(is_value, inner))


def _counts_up(cells: Sequence[str]) -> bool:
    """Tell names such as data frames give columns, 0, 1, 2, ..., from values."""
    if len(cells) < 3 or not all(cell.isdigit() for cell in cells):
        return False
    return all(int(b) - int(a) == 1 for a, b in pairwise(cells))


def read_wide(source: Source, columns: Columns) -> Dataset:
    """Read a table with a row a series; see `mvdfq.io.series.read_series`."""
    rows = rows_of(source)
    first = list(islice(rows, LOOK))
    if not first:
        source.fail("the file is empty")
    header = first.pop(0)[1] if columns.label in first[0][1] or has_header(first[0][1]) else []
    places = columns.find(source, header)
    places["label"] = _label_place(source, columns, places, [row for _, row in first])
    gathered: dict[str, tuple] = {}
    case = 0
    for case, (number, row) in enumerate(chain(first, rows), 1):
        try:
            one = _wide_row(row, header, places, f"{source.stem}:{case}")
            if one[2] in gathered:
                raise ValueError(f"id {one[2]!r} a second time")
            gathered[one[2]] = one
        except ValueError as error:
            source.skip(ReadError(source.path, f"line {number}: {error}"))
    if not gathered:
        source.fail("no series that can be read" if case else "a header, but no series")
    parts, labels, names, groups = zip(*gathered.values(), strict=True)
    return Dataset(
        as_sequences(parts),
        None if places["label"] is None else np.array(labels),
        list(names),
        np.array(groups) if "group" in places else None,
        skipped=tuple(source.skipped),
    )


def _label_place(
    source: Source, columns: Columns, places: Mapping[str, int], rows: list[list[str]]
) -> Any:
    """Where the label stands: as said, or at the one end of the rows where it alone can be."""
    if columns.label is None or isinstance(columns.label, int) or "label" in places:
        return places.get("label", columns.label)
    if isinstance(columns.label, str) and columns.label != "label":
        source.fail(f"line 1: no column {columns.label!r}", "the table has no header")
    ends = {end: [row[end] for row in rows] for end in (0, -1) if end not in places.values()}
    text = [end for end, cells in ends.items() if not all(map(is_value, cells))]
    whole = [end for end, cells in ends.items() if _are_classes(cells)]
    for candidates in (text, whole):
        if len(candidates) == 1:
            return candidates[0]
    hint = "label=0 says the first, label=-1 the last, label=None that there is none"
    source.fail("it is not clear which column holds the label", hint)


def _are_classes(cells: Sequence[str]) -> bool:
    """Are these whole numbers that recur, as numbers of classes do?"""
    if not all(re.fullmatch(r"[-+]?\d+(\.0*)?", cell) for cell in cells):
        return False
    return 2 * len(set(cells)) <= len(cells)


def _wide_row(
    row: list[str], header: Sequence[str], places: Mapping[str, Any], name: str
) -> tuple[np.ndarray, str | None, str, str]:
    """The values, label, name and group of one row."""
    if header and len(row) != len(header):
        raise ValueError(f"{len(row)} cells, the header has {len(header)}")
    special = {key: place for key, place in places.items() if place is not None}
    if any(not -len(row) <= place < len(row) for place in special.values()):
        raise ValueError(f"{len(row)} cells, too few for the label")
    words = {key: row[place] for key, place in special.items()}
    apart = {range(len(row))[place] for place in special.values()}
    cells = [cell for i, cell in enumerate(row) if i not in apart]
    while cells and not cells[-1]:
        cells.pop()
    if not cells:
        raise ValueError("no values")
    if words.get("label", "-").lower() in MISSING:
        raise ValueError("the label is missing")
    return floats(cells)[None], words.get("label"), words.get("id", name), words.get("group", "")


def is_given(word: str) -> bool:
    """Is this no sign of a missing value?"""
    return word.lower() not in MISSING

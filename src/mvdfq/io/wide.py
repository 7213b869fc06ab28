"""Wide tables: one series per row."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain, islice, pairwise
from typing import Any

from mvdfq.io.base import Dataset
from mvdfq.io.cases import Case, gather
from mvdfq.io.formats import Format, Glimpse
from mvdfq.io.tables import (
    COLUMNS,
    LOOK,
    TABLES,
    Columns,
    first_rows,
    floats,
    is_given,
    is_number,
    is_value,
    rows_of,
)
from mvdfq.io.text import Source

__all__ = ["FORMAT"]

WHOLE = re.compile(r"[-+]?\d++(\.0*+)?")


def _is_wide(glimpse: Glimpse) -> bool:
    """Do numbers outweigh words, apart from the columns that may hold a label?"""
    columns, rows = Columns.of(glimpse.options), first_rows(glimpse.said)
    if not rows or "file_name" in rows[0]:
        return False
    special = [columns.label, columns.id, columns.group]
    apart = {i for i, name in enumerate(rows[0]) if name in special}
    body = rows[1:] if apart or has_header(rows[0]) else rows
    # A broken cell here and there is left to the reader, which names the cell.
    inner = [cell for row in body for i, cell in enumerate(row) if i not in (apart or _ends(row))]
    return sum(map(is_number, inner)) > sum(not is_value(cell) for cell in inner)


def _ends(row: Sequence[str]) -> tuple[int, int]:
    """Return the places where a label may stand if the table has no header."""
    return 0, len(row) - 1


def has_header(row: Sequence[str]) -> bool:
    """Does the first row hold names? At the ends of a row a word may be a label."""
    inner = row[1:-1] if len(row) > 2 else row
    return "label" in row or _counts_up(inner) or not all(map(is_value, inner))


def _counts_up(cells: Sequence[str]) -> bool:
    """Are the cells 0, 1, 2, ..., the names that data frames give to columns?"""
    if len(cells) < 3 or not all(cell.isdigit() for cell in cells):
        return False
    return all(int(b) - int(a) == 1 for a, b in pairwise(cells))


def read_wide(source: Source, **options: Any) -> Dataset:
    """Read a table with one series per row; `read_series` says which options there are."""
    columns, rows = Columns(**options), rows_of(source)
    first = list(islice(rows, LOOK))
    if not first:
        source.fail("the file is empty")
    header = first.pop(0)[1] if columns.label in first[0][1] or has_header(first[0][1]) else []
    places = columns.find(source, header)
    places["label"] = _label_place(source, columns, places, [row for _, row in first])
    return gather(source, chain(first, rows), partial(_wide_row, header=header, places=places))


def _label_place(
    source: Source, columns: Columns, places: Mapping[str, int], rows: list[list[str]]
) -> Any:
    """Return the place of the label: the user's choice, or the only end of rows that allows it."""
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
    hint = "label=0 is the first column, label=-1 the last, label=None means no labels"
    source.fail("it is not clear which column holds the label", hint)


def _are_classes(cells: Sequence[str]) -> bool:
    """Are the cells whole numbers that recur, as numbers of classes do?"""
    if not all(WHOLE.fullmatch(cell) for cell in cells):
        return False
    return 2 * len(set(cells)) <= len(cells)


def _wide_row(row: list[str], header: Sequence[str], places: Mapping[str, Any]) -> Case:
    """Read the values, the label, the name and the group of one row."""
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
    if not is_given(words.get("label", "-")):
        raise ValueError("the label is missing")
    return Case(floats(cells)[None], words.get("label"), words.get("id"), words.get("group"))


FORMAT = Format("wide-csv", _is_wide, read_wide, options=COLUMNS, extensions=TABLES, is_series=True)

"""Wide tables: one series per row."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any

from mvdfq.io.cases import Case, gather
from mvdfq.io.dataset import Dataset
from mvdfq.io.formats import Format, Glimpse
from mvdfq.io.source import Source
from mvdfq.io.tables.column_roles import Columns, counts_rows, is_bare_series, is_index, looked_at
from mvdfq.io.tables.csv_tables import (
    LOOK,
    TABLES,
    Commas,
    counts_up,
    first_rows,
    floats,
    is_given,
    is_number,
    is_value,
    named_columns,
    rows_of,
)

__all__ = ["FORMAT"]


def _is_wide(glimpse: Glimpse) -> bool:
    """Do numbers outweigh words, apart from the columns that may hold a label?"""
    columns, rows = Columns.of(glimpse.options), first_rows(glimpse.said)
    looked = looked_at(glimpse)
    # Times say that a row is a time point, and not a series.
    if not rows or "file_name" in rows[0]:
        return False
    if looked and (looked[0].is_clock or is_bare_series(*looked)):
        return False
    special = [columns.label, columns.id, columns.group]
    apart = {i for i, name in enumerate(rows[0]) if name in special}
    apart |= {*looked[0].places.values()} if looked else set()
    body = rows[1:] if apart or has_header(rows) else rows
    # A broken cell here and there is left to the reader, which names the cell.
    inner = [cell for row in body for i, cell in enumerate(row) if i not in (apart or _ends(row))]
    inner = list(filter(is_given, inner))
    return sum(map(is_value, inner)) > sum(not is_value(cell) for cell in inner)


def _ends(row: Sequence[str]) -> tuple[int, int]:
    """Return the places where a label may stand if the table has no header."""
    return 0, len(row) - 1


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Does the first row hold names? At the ends of a row a word may be a label."""
    row = rows[0]
    inner = row[1:-1] if len(row) > 2 else row
    if "label" in row or counts_up(inner):
        return True
    if any(len(other) == len(row) for other in rows[1:]):
        return named_columns(rows)[1]
    return not all(map(is_value, inner))


def read_wide(source: Source, **options: Any) -> Dataset:
    """Read a table with one series per row; `read_series` says which options there are."""
    columns, rows = Columns(**options), rows_of(source)
    first = list(islice(rows, LOOK))
    if not first:
        source.fail("the file is empty")
    body = [row for _, row in first]
    header = body.pop(0) if columns.label in body[0] or has_header(body) else []
    first = first[len(first) - len(body) :]
    places = _places(source, columns, header, body)
    places["label"] = _label_place(source, columns, places, body)
    apart = (f"{key} {_shown(place, header)}" for key, place in places.items() if place is not None)
    source.remark(f"columns: {'; '.join([*apart, 'all others are values'])}")
    commas = Commas()
    read_row = partial(_wide_row, header=header, places=places, commas=commas)
    data = gather(source, chain(first, rows), read_row)
    commas.tell(source)
    return replace(data, remarks=tuple(source.remarks))


def _places(
    source: Source, columns: Columns, header: Sequence[str], rows: Sequence[Sequence[str]]
) -> dict[str, Any]:
    """Return the places of id, label and group; without a header the user gives numbers."""
    if header:
        places = dict(replace(columns, time=None).find(source, header, []).places)
        if is_index(header[0], 0) or counts_rows(0, header, [row[0] for row in rows]):
            places.setdefault("id", 0)
        return places
    named = {"id": columns.id, "group": columns.group}
    return {key: place for key, place in named.items() if isinstance(place, int)}


def _shown(place: int, header: Sequence[str]) -> str:
    return repr(header[place]) if header else {0: "first", -1: "last"}.get(place, f"{place}")


def _label_place(
    source: Source, columns: Columns, places: Mapping[str, int], rows: list[list[str]]
) -> Any:
    """Return the place of the label: the user's choice, or the only end of rows that allows it."""
    if columns.label is None or isinstance(columns.label, int) or "label" in places:
        return places.get("label", columns.label)
    if columns.label != "label":
        hint = "the table has no header; label=0 is the first column, label=-1 the last"
        source.fail(f"line 1: no column {columns.label!r}", hint)
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
    if not all(is_number(cell) and float(cell).is_integer() for cell in cells):
        return False
    return 2 * len(set(cells)) <= len(cells)


def _wide_row(
    row: list[str], header: Sequence[str], places: Mapping[str, Any], commas: Commas
) -> Case:
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
    commas.see("values", cells)
    try:
        values = floats(cells)[None]
    except ValueError as error:
        hint = "; label=NAME, group=NAME and id=NAME name columns of words" if header else ""
        raise ValueError(f"{error}{hint}") from None
    return Case(values, _label(words.get("label")), words.get("id"), words.get("group"))


def _label(word: str | None) -> str | None:
    """Return a label; 1.000e+00, as programs write the number of a class, is 1."""
    is_scientific = word is not None and "e+" in word.lower() and is_number(word)
    return f"{float(word):g}" if is_scientific and word else word


FORMAT = Format(
    "wide-csv",
    _is_wide,
    read_wide,
    options=("label", "id", "group"),
    extensions=TABLES,
    is_series=True,
)

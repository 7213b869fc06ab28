"""One series per row: wide tables, and Weka's .arff, where a relational attribute is a series."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from mvdfq._utils.errors import Sentence, Usual
from mvdfq._utils.short import counted, some
from mvdfq.io.dataset import Case, Dataset, gather, read_header
from mvdfq.io.source import Source
from mvdfq.io.tables.column_roles import Columns, counts_rows, is_index
from mvdfq.io.tables.csv_tables import (
    Commas,
    Names,
    channel_values,
    floats,
    is_given,
    is_number,
    is_value,
    table_of,
)

ENDS = Sentence({"label": 0}, " is the first column, ", {"label": -1}, " the last")
# Quantifiers are possessive (a second + after each). Otherwise the expression would try every way
# to split a line of spaces, in a time that grows with the cube of the length.
QUOTED = r"""'[^'\\]*+(?:\\.[^'\\]*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+\""""
CELL = re.compile(rf"\s*+({QUOTED}|[^,'\"]*+)\s*+(,|$)")
ATTRIBUTE = re.compile(rf"@attribute\s++({QUOTED}|[^\s{{]++)\s*+(.*)", re.IGNORECASE)
ESCAPE = re.compile(r"\\(.)")
KEY = re.compile(r"@(relation|attribute)\b", re.IGNORECASE)


def read_wide(source: Source, table: Any = None, **options: Any) -> Dataset:
    """Read the rows of a table, or of a file of text, each a series."""
    columns = Columns(**options)
    table = table_of(source, wide=(columns.label, "label")) if table is None else table
    header, sample = table.header if table.is_named else [], table.sample
    # Without a header the user gives numbers of columns.
    named: dict[str, Any] = {"id": columns.id, "group": columns.group}
    roles = {key: place for key, place in named.items() if isinstance(place, int)}
    if header:
        roles = dict(replace(columns, time=None).find(source, header, []).places)
        if is_index(header[0], 0) or counts_rows(0, header, [row[0] for row in sample]):
            roles.setdefault("id", 0)
    roles["label"] = _label_place(source, columns, roles, sample)
    places = {key: place for key, place in roles.items() if place is not None}
    ends = {0: "first", -1: "last"}
    shown = {key: repr(header[i]) if header else ends.get(i, i) for key, i in places.items()}
    apart = [f"{key} {column}" for key, column in shown.items()]
    source.remark(Usual(f"columns: {'; '.join([*apart, 'all others are values'])}"))
    commas, missing = Commas(), {*columns.missing, *map(str, columns.missing)}
    missing |= {float(word) for word in missing if is_number(str(word))}
    read_row = partial(_wide_row, header=header, places=places, commas=commas, missing=missing)
    data = gather(source, table.rows, read_row)
    commas.tell(source)
    return replace(data, remarks=tuple(source.remarks))


def _label_place(
    source: Source, columns: Columns, places: Mapping[str, int], rows: list[list[str]]
) -> Any:
    """Return the place of the label: the user's choice, or the only end of rows that allows it."""
    if columns.label is None or isinstance(columns.label, int) or "label" in places:
        return places.get("label", columns.label)
    if columns.label != "label":
        hint = Sentence("the table has no header; ", ENDS)
        source.fail(f"line 1: no column {columns.label!r}", hint)
    ends = {end: [row[end] for row in rows] for end in (0, -1) if end not in places.values()}
    text = [end for end, cells in ends.items() if not all(map(is_value, cells))]
    # Whole numbers that recur, as numbers of classes do.
    whole = [
        end
        for end, cells in ends.items()
        if all(is_number(cell) and float(cell).is_integer() for cell in cells)
        and 2 * len(set(cells)) <= len(cells)
    ]
    for candidates in (text, whole):
        if len(candidates) == 1:
            return candidates[0]
    hint = Sentence(ENDS, ", ", {"label": "none"}, " means no labels")
    source.fail("it is not clear which column holds the label", hint)


def _wide_row(
    row: list[Any], header: Names, places: Mapping[str, int], commas: Commas, missing: set[Any]
) -> Case:
    """Read the values, the label, the name and the group of one row, of text or of numbers."""
    if header and len(row) != len(header):
        raise ValueError(f"{counted(len(row), 'cell')}, the header has {len(header)}")
    if any(not -len(row) <= place < len(row) for place in places.values()):
        raise ValueError(f"{counted(len(row), 'cell')}, too few for the label")
    words = {key: str(row[place]) for key, place in places.items()}
    apart = {range(len(row))[place] for place in places.values()}
    cells = ["" if cell in missing else cell for i, cell in enumerate(row) if i not in apart]
    while cells and cells[-1] == "":
        cells.pop()
    if all(cell != cell or cell == "" for cell in cells):
        raise ValueError("no values")
    if not is_given(words.get("label", "-")):
        raise ValueError("the label is missing")
    is_text = any(isinstance(cell, str) and cell for cell in cells)
    if is_text:
        cells = list(map(str, cells))
        commas.see("values", cells)
    try:
        empty = (np.nan if cell == "" else cell for cell in cells)
        values = floats(cells) if is_text else np.array([*empty], dtype=float)
    except ValueError as error:
        wishes = {"label": "NAME"}, ", ", {"group": "NAME"}, " and ", {"id": "NAME"}
        hint = Sentence("; ", *wishes, " name columns of words") if header else ""
        raise ValueError(Sentence(str(error), hint)) from None
    label = words.get("label")
    if label is not None and "e+" in label.lower() and is_number(label):
        label = f"{float(label):g}"  # 1.000e+00, as programs write the number of a class, is 1
    return Case(values[None], label, words.get("id"), words.get("group"))


@dataclass
class _Header:
    """The attributes in the order of their columns, without those of a relational attribute."""

    names: list[str] = field(default_factory=list)
    nominal: list[int] = field(default_factory=list)
    is_inside: bool = False

    def note(self, line: str) -> bool:
        """Store one line of the header; return whether data follow."""
        word, match = line.lower().split(maxsplit=1)[0], ATTRIBUTE.fullmatch(line)
        if match and not self.is_inside:
            self.nominal += [len(self.names)] if match[2].startswith("{") else []
            self.names.append(_unquoted(match[1]))
            self.is_inside = match[2].strip().lower() == "relational"
        elif word == "@end":
            self.is_inside = False
        elif not match and word not in ("@data", "@relation") and word[0] != "#":
            raise ValueError(f"{line[:40]!r} is not an attribute, and @data has not come yet")
        return word == "@data"

    def label_place(self, source: Source, label: str | int | None) -> int | None:
        """Return the column of labels: the user's choice, or the only nominal attribute."""
        if isinstance(label, int) and -len(self.names) <= label < len(self.names):
            return range(len(self.names))[label]
        if label in self.names:
            return self.names.index(str(label))
        if label == "label" and len(self.nominal) == 1:
            return self.nominal[0]
        if label is not None and (label != "label" or self.nominal):
            hint = Sentence({"label": "NAME"}, f" names one of {some(self.names)}")
            source.fail(f"no attribute {label!r}", hint)
        return None


def read_arff(source: Source, label: str | int | None = "label") -> Dataset:
    """Read an .arff file: besides the label, one relational attribute or numeric attributes."""
    lines, header = source.content(comments="%"), _Header()
    read_header(source, lines, header.note)
    place = header.label_place(source, label)
    return gather(source, lines, partial(_arff_case, header.names, place))


def _arff_case(names: list[str], place: int | None, line: str) -> Case:
    """Read the values, the label and the name of one line; an attribute `id` holds names."""
    cells = _cells(line)
    if len(cells) != len(names):
        raise ValueError(f"{counted(len(cells), 'value')}, expected {len(names)}")
    label = None if place is None else cells[place]
    if label is not None and not is_given(label):
        raise ValueError("the label is missing")
    values = [cell for i, cell in enumerate(cells) if i != place and names[i] != "id"]
    id = cells[names.index("id")] if "id" in names else None
    # the rows of a relational value are channels
    return Case(channel_values(",".join(values).strip("\n").split("\n")), label, id)


def _cells(line: str) -> list[str]:
    """Split at commas that are not in quotes."""
    if "'" not in line and '"' not in line:
        return [cell.strip() for cell in line.split(",")]
    cells, start, end = [], 0, ","
    while end:
        match = CELL.match(line, start)
        if not match:
            raise ValueError(f"a quote is not closed, or text follows it: {line[start:][:40]!r}")
        cells.append(_unquoted(match[1].strip()))
        start, end = match.end(), match[2]
    return cells


def _unquoted(text: str) -> str:
    r"""Return the text without quotes and escapes; ``\n`` becomes a newline."""
    if len(text) < 2 or text[0] not in "'\"" or text[-1] != text[0]:
        return text
    text = text[1:-1]
    return ESCAPE.sub(lambda match: "\n" if match[1] == "n" else match[1], text)

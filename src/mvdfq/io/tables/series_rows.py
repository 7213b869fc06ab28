"""One sequence per row: wide tables, tables of letters, and Weka's .arff."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mvdfq._utils.errors import Sentence, Usual
from mvdfq._utils.short import counted, some
from mvdfq.io.dataset import Case, Dataset, Strings, gather, read_header
from mvdfq.io.letters.residues import both_strands, clean
from mvdfq.io.source import Source
from mvdfq.io.tables.column_roles import Columns, counts_rows, how_to_name, is_index, named_place
from mvdfq.io.tables.csv_tables import (
    Commas,
    Names,
    blanked,
    channel_values,
    floats,
    is_given,
    is_number,
    is_value,
    table_of,
)
from mvdfq.io.tables.layouts import FEW, letters_place
from mvdfq.io.tables.wide_names import WORDS, channels_of, sizes_of

ENDS = Sentence({"label": 0}, " is the first column, ", {"label": -1}, " the last")
# Quantifiers are possessive (a second + after each). Otherwise the expression would try every way
# to split a line of spaces, in a time that grows with the cube of the length.
QUOTED = r"""'[^'\\]*+(?:\\.[^'\\]*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+\""""
CELL = re.compile(rf"\s*+({QUOTED}|[^,'\"]*+)\s*+(,|$)")
ATTRIBUTE = re.compile(rf"@attribute\s++({QUOTED}|[^\s{{]++)\s*+(.*)", re.IGNORECASE)
ESCAPE = re.compile(r"\\(.)")
KEY = re.compile(r"@(relation|attribute)\b", re.IGNORECASE)
# What is known about a sequence, in the order of the fields of a `Case`.
ABOUT = ("label", "id", "group")


def read_wide(source: Source, table: Any = None, **options: Any) -> Dataset:
    """Read the rows of a table, or of a file of text, each a series."""
    columns = Columns(**options)
    table = table_of(source, wide=(columns.label, "label")) if table is None else table
    header = table.header if table.is_named else []
    # Without a header the user gives numbers of columns.
    named = {"id": columns.id, "group": columns.group}
    roles: dict[str, Any] = {key: i for key, i in named.items() if isinstance(i, int)}
    if header:
        roles = dict(replace(columns, time=None).find(source, header, []).places)
        if is_index(header[0], 0) or counts_rows(0, header, [row[0] for row in table.sample]):
            roles.setdefault("id", 0)
    apart = {named_place(source, "drop", name, header) for name in columns.drop}
    taken = {*apart, *roles.values()}
    roles["label"] = roles.get("label", columns.label)
    if columns.label is not None and not isinstance(roles["label"], int):
        roles["label"] = _label_place(source, columns, taken, header, table.sample)
    places = {key: place for key, place in roles.items() if place is not None}
    ends = {0: "first", -1: "last"}
    shown = {key: repr(header[i]) if header else ends.get(i, i) for key, i in places.items()}
    words = [f"{key} {column}" for key, column in shown.items()]
    rows = _Rows(header, places, columns.missing)
    if header:
        order, channels = channels_of(source, header, rows.values(len(header), apart))
        rows = replace(rows, order=order, channels=channels)
    source.remark(Usual(f"columns: {'; '.join([*words, rows.in_words()])}"))
    data = gather(source, table.rows, rows.case)
    rows.commas.tell(source)
    X = replace(data.X, channel_names=tuple(rows.channels[1:] and rows.channels) or None)
    return replace(data, X=X, remarks=tuple(source.remarks))


def _label_place(
    source: Source, columns: Columns, taken: Collection[int], header: Names, rows: Any
) -> int | None:
    """Return the only end of rows that can be the label; None if names tell that none is."""
    if columns.label != "label":
        hint = Sentence("the table has no header; ", ENDS)
        source.fail(f"line 1: no column {columns.label!r}", hint)
    taken = {*taken, *(place - len(header) for place in taken)}
    ends = {end: [row[end] for row in rows] for end in (0, -1) if end not in taken}
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
    values = [name for i, name in enumerate(header) if i not in taken]
    if len(values) > FEW and not text and not whole and min(sizes_of(values)) > 1:
        return None
    hint = Sentence(ENDS, ", ", {"label": "none"}, " means no labels")
    source.fail("it is not clear which column holds the label", hint)


def read_letters(
    source: Source, table: Any = None, strands: str = "one", **options: Any
) -> Dataset:
    """Read the rows of a table, or of a file of text, each a string of letters."""
    columns = replace(Columns(**options), time=None)
    table = table_of(source) if table is None else table
    header, is_both = table.header, strands == "both"
    place = letters_place(table, columns, columns.find(source, header, table.sample))
    if place is None:
        hint = how_to_name("channels", header)
        source.fail("it is not clear which column holds letters", hint)
    places = replace(columns, channels=[place]).find(source, header).places
    shown = [f"{key} {header[i]!r}" for key, i in (*places.items(), ("letters", place))]
    source.remark(Usual(f"columns: {'; '.join(shown)}"))

    def read_row(row: list[Any]) -> Case:
        known = _known(row, header, places)
        if not is_given(row[place]):
            raise ValueError("the letters are missing")
        letters = clean(row[place], "dna" if is_both else "protein", "upper")
        return Case(letters, *map(known.get, ABOUT))

    return gather(source, table.rows, read_row, both_strands if is_both else Strings)


def _known(row: list[Any], header: Names, places: Mapping[str, int]) -> dict[str, str]:
    """Return label, name and group of a row that is whole and has a label."""
    if header and len(row) != len(header):
        raise ValueError(f"{counted(len(row), 'cell')}, the header has {len(header)}")
    if any(not -len(row) <= place < len(row) for place in places.values()):
        raise ValueError(f"{counted(len(row), 'cell')}, too few for the label")
    words = {key: str(row[place]) for key, place in places.items()}
    if not is_given(words.get("label", "-")):
        raise ValueError("the label is missing")
    return words


@dataclass
class _Rows:
    """The columns of a wide table, and what stands for a missing value."""

    header: Names
    places: Mapping[str, int]
    missing: Collection[Any]
    commas: Commas = field(default_factory=Commas)
    # The places of the values, moment by moment; without a header all that are left.
    order: Sequence[int] = ()
    channels: Sequence[str] = ("",)

    def in_words(self) -> str:
        """Return what the values are."""
        if not self.header:
            return "all others are values"
        n_frames = len(self.order) // len(self.channels)
        size = f"{counted(len(self.channels), 'channel')} of {counted(n_frames, 'frame')}"
        return f"{size}: {some(self.channels)}" if self.channels[1:] else size

    def values(self, n_cells: int, apart: Collection[int] = ()) -> list[int]:
        """Return the places that hold neither a label nor a name."""
        taken = {range(n_cells)[place] for place in self.places.values()}.union(apart)
        return [i for i in range(n_cells) if i not in taken]

    def case(self, row: list[Any]) -> Case:
        """Read the values, the label, the name and the group of one row, of text or of numbers."""
        known, n = _known(row, self.header, self.places), len(self.channels)
        cells = [row[i] for i in (self.order or self.values(len(row)))]
        cells = blanked(cells, self.missing)
        while cells and all(cell == "" for cell in cells[-n:]):
            del cells[-n:]
        if all(cell != cell or cell == "" for cell in cells):
            raise ValueError("no values")
        label = known.get("label", "-")
        if "e+" in label.lower() and is_number(label):
            known["label"] = f"{float(label):g}"  # 1.000e+00 is the number of a class
        values = self._numbers(cells).reshape(-1, n).T
        return Case(values, *map(known.get, ABOUT))

    def _numbers(self, cells: list[Any]) -> np.ndarray:
        """Return the numbers in cells of text or of numbers."""
        is_text = any(isinstance(cell, str) and cell for cell in cells)
        if is_text:
            cells = list(map(str, cells))
            self.commas.see("values", cells)
        try:
            empty = (np.nan if cell == "" else cell for cell in cells)
            return floats(cells) if is_text else np.array([*empty], dtype=float)
        except ValueError as error:
            hint = Sentence("; ", WORDS) if self.header else ""
            raise ValueError(Sentence(str(error), hint)) from None


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
        if label == "label" and "label" not in self.names and len(self.nominal) < 2:
            return next(iter(self.nominal), None)
        return None if label is None else named_place(source, "label", label, self.names)


def read_arff(source: Source, label: str | int | None = "label") -> Dataset:
    """Read an .arff file: the label, and one relational attribute or numbers; `id` holds names."""
    lines, header = source.content(comments="%"), _Header()
    read_header(source, lines, header.note)
    places = {"id": header.names.index("id")} if "id" in header.names else {}
    if (place := header.label_place(source, label)) is not None:
        places["label"] = place

    def read_line(line: str) -> Case:
        cells = _cells(line)
        known = _known(cells, header.names, places)
        values = [cell for i, cell in enumerate(cells) if i not in places.values()]
        # the rows of a relational value are channels
        rows = ",".join(values).strip("\n").split("\n")
        return Case(channel_values(rows), *map(known.get, ABOUT))

    return gather(source, lines, read_line)


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

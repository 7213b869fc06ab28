"""One series per row: wide tables, and Weka's .arff, where a relational attribute is a series."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from mvdfq.io.dataset import Case, Dataset, gather, read_header
from mvdfq.io.source import Source
from mvdfq.io.tables.column_roles import Columns, counts_rows, is_index
from mvdfq.io.tables.csv_tables import (
    MISSING,
    Commas,
    Names,
    channel_values,
    floats,
    is_given,
    is_number,
    is_value,
    numbers,
    table_of,
)

# Quantifiers are possessive (a second + after each). Otherwise the expression would try every way
# to split a line of spaces, in a time that grows with the cube of the length.
QUOTED = r"""'[^'\\]*+(?:\\.[^'\\]*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+\""""
CELL = re.compile(rf"\s*+({QUOTED}|[^,'\"]*+)\s*+(,|$)")
ATTRIBUTE = re.compile(rf"@attribute\s++({QUOTED}|[^\s{{]++)\s*+(.*)", re.IGNORECASE)
ESCAPE = re.compile(r"\\(.)")
KEY = re.compile(r"@(relation|attribute)\b", re.IGNORECASE)
NUMERIC = ("numeric", "real", "integer")


def read_wide(source: Source, table: Any = None, **options: Any) -> Dataset:
    """Read the rows of a table, or of a file of text, each a series."""
    columns = Columns(**options)
    table = table_of(source, wide=(columns.label, "label")) if table is None else table
    header, sample = table.header if table.is_named else [], table.sample
    # Without a header the user gives numbers of columns.
    named: dict[str, Any] = {"id": columns.id, "group": columns.group}
    found = {key: place for key, place in named.items() if isinstance(place, int)}
    if header:
        found = dict(replace(columns, time=None).find(source, header, []).places)
        if is_index(header[0], 0) or counts_rows(0, header, [row[0] for row in sample]):
            found.setdefault("id", 0)
    found["label"] = _label_place(source, columns, found, sample)
    places = {key: place for key, place in found.items() if place is not None}
    ends = {0: "first", -1: "last"}
    apart = (
        f"{key} {repr(header[place]) if header else ends.get(place, place)}"
        for key, place in places.items()
    )
    source.remark(f"columns: {'; '.join([*apart, 'all others are values'])}")
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
        hint = "the table has no header; label=0 is the first column, label=-1 the last"
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
    hint = "label=0 is the first column, label=-1 the last, label=None means no labels"
    source.fail("it is not clear which column holds the label", hint)


def _wide_row(
    row: list[Any], header: Names, places: Mapping[str, int], commas: Commas, missing: set[Any]
) -> Case:
    """Read the values, the label, the name and the group of one row, of text or of numbers."""
    if header and len(row) != len(header):
        raise ValueError(f"{len(row)} cells, the header has {len(header)}")
    if any(not -len(row) <= place < len(row) for place in places.values()):
        raise ValueError(f"{len(row)} cells, too few for the label")
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
        hint = "; label=NAME, group=NAME and id=NAME name columns of words" if header else ""
        raise ValueError(f"{error}{hint}") from None
    label = words.get("label")
    if label is not None and "e+" in label.lower() and is_number(label):
        label = f"{float(label):g}"  # 1.000e+00, as programs write the number of a class, is 1
    return Case(values[None], label, words.get("id"), words.get("group"))


@dataclass
class _Schema:
    """The attributes in the order of their columns; reads the lines below them."""

    names: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    values: dict[int, list[str]] = field(default_factory=dict)
    # The relational attribute that is being declared, and the length of its rows.
    inside: str = ""
    length: int = 0
    label: int | None = None
    id: int | None = None
    # Columns that hold values, and channels of the first series, which all others must have.
    numeric: list[int] = field(default_factory=list)
    n_channels: int | None = None

    def note(self, line: str) -> bool:
        """Store one line of the header; return whether data follow."""
        word = line.lower().split(maxsplit=1)[0]
        if word == "@data" and not self.inside:
            return True
        if word[0] == "#" or word == "@relation":
            return False
        if word == "@end" and self.inside:
            self.inside = ""
            return False
        if not (match := ATTRIBUTE.fullmatch(line)):
            raise ValueError(f"{line[:40]!r} is not an attribute, and @data has not come yet")
        name, kind = _unquoted(match[1]), match[2].strip()
        if not self.inside:
            self._add(name, kind)
        elif kind.lower() in NUMERIC:
            self.length += 1
        else:
            told = f"attribute {name!r} within {self.inside!r} is {kind[:40]!r}, not numeric"
            raise ValueError(told)
        return False

    def _add(self, name: str, kind: str) -> None:
        """Add a column; the attributes of a relational column follow."""
        if kind.startswith("{") and kind.endswith("}"):
            self.values[len(self.names)] = _cells(kind[1:-1])
            kind = "nominal"
        kind = "numeric" if kind.lower() in NUMERIC else kind.lower()
        if kind not in ("numeric", "nominal", "relational", "string"):
            raise ValueError(f"attribute {name!r} is of type {kind[:40]!r}, which cannot be read")
        if kind == "relational" and kind in self.kinds:
            raise ValueError(f"a second relational attribute, {name!r}; only one is read")
        self.names.append(name)
        self.kinds.append(kind)
        self.inside = name if kind == "relational" else ""

    def choose(self, source: Source, label: str | int | None, id: str) -> None:
        """Decide which attributes are the label, the name and the values of a series."""
        names = self.names
        self.id = names.index(id) if id in names else None
        if isinstance(label, int) and -len(names) <= label < len(names):
            self.label = range(len(names))[label]
        elif label in names:
            self.label = names.index(str(label))
        elif label == "label" and len(self.values) == 1:
            self.label = next(iter(self.values))
        elif label is not None and (label != "label" or self.values):
            nominal = [names[i] for i in self.values]
            source.fail(f"no attribute {label!r}", f"pass label=..., one of {nominal or names}")
        self.numeric = [i for i in range(len(names)) if i not in (self.label, self.id)]
        kinds = {self.kinds[i] for i in self.numeric}
        if kinds not in ({"relational"}, {"numeric"}):
            hint = "besides label and id, use one relational attribute, or only numeric attributes"
            source.fail(f"the series consists of attributes of the types {sorted(kinds)}", hint)

    def case(self, line: str) -> Case:
        """Read the values, the label and the name of one line."""
        if line[0] == "{":
            raise ValueError("a sparse line, which cannot be read; write all values")
        cells = _cells(line)
        if len(cells) != len(self.names):
            raise ValueError(f"{len(cells)} values, expected {len(self.names)}")
        word = None if self.label is None else cells[self.label]
        if word is not None:
            if word.lower() in MISSING:
                raise ValueError(f"the label is missing: {word!r}")
            known = self.values.get(self.label or 0, [word])
            if word not in known:
                told = f"label {word[:40]!r} is not among the declared labels {known[:20]}"
                raise ValueError(told)
        id = None if self.id is None else cells[self.id] or None
        if self.kinds[self.numeric[0]] != "relational":
            return Case(numbers(",".join(cells[i] for i in self.numeric))[np.newaxis], word, id)
        # the rows of a relational value are channels
        values = channel_values(cells[self.numeric[0]].strip("\n").split("\n"))
        n_channels, length = values.shape
        if length != self.length:
            raise ValueError(f"{length} values per channel, the header says {self.length}")
        self.n_channels = self.n_channels or n_channels
        if n_channels != self.n_channels:
            raise ValueError(f"{n_channels} channels, expected {self.n_channels}")
        return Case(values, word, id)


def read_arff(source: Source, label: str | int | None = "label", id: str = "id") -> Dataset:
    """Read an .arff file."""
    lines, schema = source.said(comments="%"), _Schema()
    read_header(source, lines, schema.note)
    schema.choose(source, label, id)
    return gather(source, lines, schema.case)


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

"""One series per row: wide tables, and Weka's .arff, where a relational attribute is a series."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np

from mvdfq.io.dataset import Case, Dataset, Format, gather
from mvdfq.io.source import Glimpse, Source
from mvdfq.io.tables.column_roles import Columns, counts_rows, is_bare_series, is_index, looked_at
from mvdfq.io.tables.csv_tables import (
    LOOK,
    MISSING,
    TABLES,
    Commas,
    channel_values,
    counts_up,
    first_rows,
    floats,
    is_given,
    is_number,
    is_value,
    named_columns,
    numbers,
    rows_of,
)

# Quantifiers are possessive (a second + after each). Otherwise the expression would try every way
# to split a line of spaces, in a time that grows with the cube of the length.
QUOTED = r"""'[^'\\]*+(?:\\.[^'\\]*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+\""""
CELL = re.compile(rf"\s*+({QUOTED}|[^,'\"]*+)\s*+(,|$)")
ATTRIBUTE = re.compile(rf"@attribute\s++({QUOTED}|[^\s{{]++)\s*+(.*)", re.IGNORECASE)
ESCAPE = re.compile(r"\\(.)")
KEY = re.compile(r"@(relation|attribute)\b", re.IGNORECASE)
NUMERIC = ("numeric", "real", "integer")


def is_wide(glimpse: Glimpse) -> bool:
    """Do numbers outweigh words, apart from the columns that may hold a label?"""
    columns, rows = Columns.of(glimpse.options), first_rows(glimpse)
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
    inner = [
        cell for row in body for i, cell in enumerate(row) if i not in (apart or (0, len(row) - 1))
    ]
    inner = list(filter(is_given, inner))
    return sum(map(is_value, inner)) > sum(not is_value(cell) for cell in inner)


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
    """Read a table with one series per row."""
    columns, rows = Columns(**options), rows_of(source)
    first = list(islice(rows, LOOK))
    if not first:
        source.fail("the file is empty")
    body = [row for _, row in first]
    header = body.pop(0) if columns.label in body[0] or has_header(body) else []
    first = first[len(first) - len(body) :]
    return wide_dataset(source, columns, header, body, chain(first, rows))


def wide_dataset(
    source: Source,
    columns: Columns,
    header: Sequence[str],
    sample: list[list[str]],
    rows: Iterable[tuple[int, list[Any]]],
) -> Dataset:
    """Read the rows of a table, each a series; `sample` holds the first rows."""
    places = wide_places(source, columns, header, sample)
    commas, missing = Commas(), {*columns.missing, *map(str, columns.missing)}
    missing |= {float(word) for word in missing if is_number(str(word))}
    read_row = partial(_wide_row, header=header, places=places, commas=commas, missing=missing)
    data = gather(source, rows, read_row)
    commas.tell(source)
    return replace(data, remarks=tuple(source.remarks))


def wide_places(
    source: Source, columns: Columns, header: Sequence[str], sample: list[list[str]]
) -> dict[str, int]:
    """Return the places of label, id and group in a row, and say which columns they are."""
    found = _places(source, columns, header, sample)
    found["label"] = _label_place(source, columns, found, sample)
    places = {key: place for key, place in found.items() if place is not None}
    apart = (f"{key} {_shown(place, header)}" for key, place in places.items())
    source.remark(f"columns: {'; '.join([*apart, 'all others are values'])}")
    return places


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
    row: list[Any],
    header: Sequence[str],
    places: Mapping[str, int],
    commas: Commas,
    missing: Collection[Any],
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
        values = floats(cells) if is_text else _numbers(cells)
    except ValueError as error:
        hint = "; label=NAME, group=NAME and id=NAME name columns of words" if header else ""
        raise ValueError(f"{error}{hint}") from None
    label, name = _plain_label(words.get("label")), words.get("id")
    return Case(values[None], label, name, words.get("group"))


def _numbers(cells: Sequence[Any]) -> np.ndarray:
    """Return the cells of a data frame as numbers; an empty cell is missing."""
    return np.array([np.nan if cell == "" else cell for cell in cells], dtype=float)


def _plain_label(word: str | None) -> str | None:
    """Return a label; 1.000e+00, as programs write the number of a class, is 1."""
    is_scientific = word is not None and "e+" in word.lower() and is_number(word)
    return f"{float(word):g}" if is_scientific and word else word


WIDE = Format(
    "wide-csv", is_wide, read_wide, options=("label", "id", "group", "missing"), extensions=TABLES
)


def _is_arff(glimpse: Glimpse) -> bool:
    return bool(glimpse.said and KEY.match(glimpse.said[0]))


@dataclass
class _Schema:
    """The attributes in the order of their columns; `length` is the length of relational rows."""

    names: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    values: dict[int, list[str]] = field(default_factory=dict)
    length: int = 0
    label: int | None = None
    id: int | None = None
    # Channels of the first series, which all others must have.
    n_channels: int | None = None

    @property
    def numeric(self) -> list[int]:
        special = (self.label, self.id)
        return [i for i in range(len(self.names)) if i not in special]


def read_arff(source: Source, label: str | int | None = "label", id: str = "id") -> Dataset:
    """Read an .arff file."""
    lines = source.said(comments="%")
    schema = _read_schema(source, lines)
    _choose_columns(source, schema, label, id)
    return gather(source, lines, partial(_read_row, schema=schema))


def _read_schema(source: Source, lines: Iterator[tuple[int, str]]) -> _Schema:
    schema, inside, number = _Schema(), "", 0
    for number, line in lines:
        word = line.lower().split(maxsplit=1)[0]
        if word[0] == "#" or word == "@relation":
            continue
        if word == "@data" and not inside:
            return schema
        try:
            inside = _note(schema, line, word, inside)
        except ValueError as error:
            source.fail(f"line {number}: {error}")
    source.fail(f"line {number}: the file ends before @data" if number else "the file is empty")


def _note(schema: _Schema, line: str, word: str, inside: str) -> str:
    """Store one line of the header; return the relational attribute that contains the line."""
    if word == "@end" and inside:
        return ""
    match = ATTRIBUTE.fullmatch(line)
    if not match:
        raise ValueError(f"{line[:40]!r} is not an attribute, and @data has not come yet")
    name, kind = _unquoted(match[1]), match[2].strip()
    if inside:
        if kind.lower() not in NUMERIC:
            raise ValueError(f"attribute {name!r} within {inside!r} is {kind[:40]!r}, not numeric")
        schema.length += 1
        return inside
    return _add(schema, name, kind)


def _add(schema: _Schema, name: str, kind: str) -> str:
    """Add a column; return its name if the column is relational: its attributes follow."""
    if kind.startswith("{") and kind.endswith("}"):
        schema.values[len(schema.names)] = _cells(kind[1:-1])
        kind = "nominal"
    kind = "numeric" if kind.lower() in NUMERIC else kind.lower()
    if kind not in ("numeric", "nominal", "relational", "string"):
        raise ValueError(f"attribute {name!r} is of type {kind[:40]!r}, which cannot be read")
    if kind == "relational" and kind in schema.kinds:
        raise ValueError(f"a second relational attribute, {name!r}; only one is read")
    schema.names.append(name)
    schema.kinds.append(kind)
    return name if kind == "relational" else ""


def _choose_columns(source: Source, schema: _Schema, label: str | int | None, id: str) -> None:
    """Decide which attributes are the label, the name and the values of a series."""
    names = schema.names
    schema.id = names.index(id) if id in names else None
    if isinstance(label, int) and -len(names) <= label < len(names):
        schema.label = range(len(names))[label]
    elif label in names:
        schema.label = names.index(str(label))
    elif label == "label" and len(schema.values) == 1:
        schema.label = next(iter(schema.values))
    elif label is not None and (label != "label" or schema.values):
        nominal = [names[i] for i in schema.values]
        source.fail(f"no attribute {label!r}", f"pass label=..., one of {nominal or names}")
    kinds = {schema.kinds[i] for i in schema.numeric}
    if kinds not in ({"relational"}, {"numeric"}):
        hint = "besides label and id, use one relational attribute, or only numeric attributes"
        source.fail(f"the series consists of attributes of the types {sorted(kinds)}", hint)


def _read_row(line: str, schema: _Schema) -> Case:
    """Read the values, the label and the name of one line."""
    if line[0] == "{":
        raise ValueError("a sparse line, which cannot be read; write all values")
    cells = _cells(line)
    if len(cells) != len(schema.names):
        raise ValueError(f"{len(cells)} values, expected {len(schema.names)}")
    word = None if schema.label is None else _declared_label(cells[schema.label], schema)
    columns = schema.numeric
    if schema.kinds[columns[0]] == "relational":
        values = _relation(cells[columns[0]], schema)
    else:
        values = numbers(",".join(cells[i] for i in columns))[np.newaxis]
    name = None if schema.id is None else cells[schema.id]
    return Case(values, word, name or None)


def _declared_label(word: str, schema: _Schema) -> str:
    if word.lower() in MISSING:
        raise ValueError(f"the label is missing: {word!r}")
    allowed = schema.values.get(schema.label or 0, [word])
    if word not in allowed:
        raise ValueError(f"label {word[:40]!r} is not among the declared labels {allowed[:20]}")
    return word


def _relation(cell: str, schema: _Schema) -> np.ndarray:
    """Return the rows of a relational value, which are channels."""
    values = channel_values(cell.strip("\n").split("\n"))
    n_channels, length = values.shape
    if length != schema.length:
        raise ValueError(f"{length} values per channel, the header says {schema.length}")
    schema.n_channels = schema.n_channels or n_channels
    if n_channels != schema.n_channels:
        raise ValueError(f"{n_channels} channels, expected {schema.n_channels}")
    return values


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
    if "\\" not in text:
        return text
    return ESCAPE.sub(lambda match: "\n" if match[1] == "n" else match[1], text)


ARFF = Format("arff", _is_arff, read_arff, options=("label", "id"), extensions=("arff",))

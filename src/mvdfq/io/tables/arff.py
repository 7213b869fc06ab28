"""Weka's .arff: a relational attribute as in the UEA archive, or one series per row."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from mvdfq.io.cases import Case, gather
from mvdfq.io.dataset import Dataset
from mvdfq.io.formats import Format, Glimpse
from mvdfq.io.source import MISSING, Source, channel_values, numbers

__all__ = ["FORMAT"]

# Quantifiers are possessive (a second + after each). Otherwise the expression would try every way
# to split a line of spaces, in a time that grows with the cube of the length.
QUOTED = r"""'[^'\\]*+(?:\\.[^'\\]*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+\""""
CELL = re.compile(rf"\s*+({QUOTED}|[^,'\"]*+)\s*+(,|$)")
ATTRIBUTE = re.compile(rf"@attribute\s++({QUOTED}|[^\s{{]++)\s*+(.*)", re.IGNORECASE)
ESCAPE = re.compile(r"\\(.)")
KEY = re.compile(r"@(relation|attribute)\b", re.IGNORECASE)
NUMERIC = ("numeric", "real", "integer")


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
    """Read an .arff file; `read_series` explains `label` and `id`."""
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
    word = None if schema.label is None else _label(cells[schema.label], schema)
    columns = schema.numeric
    if schema.kinds[columns[0]] == "relational":
        values = _relation(cells[columns[0]], schema)
    else:
        values = numbers(",".join(cells[i] for i in columns))[np.newaxis]
    name = None if schema.id is None else cells[schema.id]
    return Case(values, word, name or None)


def _label(word: str, schema: _Schema) -> str:
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


FORMAT = Format(
    "arff", _is_arff, read_arff, options=("label", "id"), extensions=("arff",), is_series=True
)

"""Labels and groups from elsewhere: from a table that names the sequences, and from their names."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq._utils.errors import Sentence
from mvdfq._utils.short import counted, some
from mvdfq.io.dataset import Dataset
from mvdfq.io.source import KNOWN, PACKED_END, ReadError, Source, compiled
from mvdfq.io.tables.column_roles import NAMES, Columns, how_to_name, known_places
from mvdfq.io.tables.csv_tables import MARKS, is_value, rows_of

Found = list[str | None]
Rows = list[list[str]]
# Folders of persons, and not of classes.
PERSON = re.compile(rf"(?:{'|'.join(KNOWN['persons'])})[-_ ]?\d+", re.IGNORECASE)
# What separates the columns of a table of labels; a label may hold spaces.
SEPARATOR = re.compile(r"[,;\t|]")
# The endings of a name of a file: .wav, .csv.gz
ENDING = re.compile(rf"(\.[A-Za-z]\w{{0,7}}){PACKED_END}$")


def how_to_label(format: str) -> Sentence:
    """Return how data of a format get labels."""
    return Sentence(*KNOWN["labels"].get(format, KNOWN["labels"]["other"]))


@dataclass(frozen=True)
class Elsewhere:
    """Where labels and groups come from, if they do not come from the data themselves."""

    labels: Any = None
    label: str | int | None = None
    group: str | int | None = None
    label_pattern: str | None = None
    group_pattern: str | None = None

    @property
    def gives_labels(self) -> bool:
        """Do labels come from elsewhere?"""
        return self.labels is not None or self.label_pattern is not None

    def applied(self, data: Dataset, source: Source) -> Dataset:
        """Return the data with these labels and groups; leave out sequences without them."""
        source = replace(source, remarks={}, skipped=[])
        columns: dict[str, Found | None] = {"y": None, "groups": None}
        if self.labels is not None:
            columns["y"], columns["groups"] = self._from_table(data.names, source)
        patterns = {"y": ("label", self.label_pattern), "groups": ("group", self.group_pattern)}
        for key, (what, pattern) in patterns.items():
            if pattern is not None:
                columns[key] = _from_names(data.names, pattern, what)
        # a sequence without a label is left out once, whatever else it lacks
        keys = ("groups", "y")
        lost = {i: key for key in keys for i, v in enumerate(columns[key] or ()) if v is None}
        for i, key in sorted(lost.items()):
            what, pattern = patterns[key]
            place: Any = data.names[i]
            problem = f"{what}_pattern {pattern!r} finds no {what} in this name"
            hint = "change the expression, so that it matches every name"
            if pattern is None:
                held = f"the table holds names such as {self._table[1][0][0]!r}"
                problem = f"{place!r} has no {what} in the table of labels; {held}"
                place, hint = source.path, "add a row for this name to the table"
            source.leave_out(ReadError(place, problem, hint))
        if not (kept := [i for i in range(len(data)) if i not in lost]):
            source.fail("no sequence has a label or a group", str(source.skipped[0]))
        known = ((key, values) for key, values in columns.items() if values)
        new: Any = {key: np.array([values[i] for i in kept]) for key, values in known}
        remarks = tuple(dict.fromkeys([*data.remarks, *source.remarks]))
        skipped = tuple(dict.fromkeys([*data.skipped, *source.skipped]))
        whole = data if len(kept) == len(data) else data.take(kept)
        return replace(whole, remarks=remarks, skipped=skipped, **new)

    @cached_property
    def _table(self) -> tuple[list[str], Rows]:
        """The header, empty if there is none, and the rows of the table of labels."""
        if isinstance(self.labels, Mapping):
            return ["id", "label"], [[str(key), str(label)] for key, label in self.labels.items()]
        source = Source(Path(self.labels))
        # a label may hold spaces, which separate columns only if no other mark does
        _, first = next(source.content(), (0, ""))
        marks = MARKS.replace(" ", "") if SEPARATOR.search(first) else MARKS
        columns = [*zip_longest(*(row for _, row in rows_of(source, marks)), fillvalue="")]
        rows = [list(row) for row in zip(*columns, strict=True)]
        kinds = ("file_name", "id", "label")
        named = any([*known_places(kind, rows[0])] for kind in kinds if rows)
        for name, *below in columns:
            named |= bool(below) and not is_value(name) and all(map(is_value, below))
        return (rows[0], rows[1:]) if named else ([], rows)

    def has_column(self, name: str | int | None) -> bool:
        """Does the table of labels have this column?"""
        if name is None or self.labels is None:
            return False
        return isinstance(name, int) or name in self._table[0]

    def _from_table(self, names: Sequence[str], source: Source) -> tuple[Found, Found | None]:
        """Look up the names in the column that holds most of them; lines in order need no names."""
        labels, (header, rows) = self.labels, self._table
        where = Source(Path("labels" if isinstance(labels, Mapping) else labels))
        if not rows:
            where.fail("the table holds no labels", "write one row per sequence")
        matches = [_rows_of_names(rows, i, names) for i in range(len(rows[0]))]
        key = int(np.argmin([column.count(None) for column in matches]))
        if not any(matches[key]):
            is_table = isinstance(labels, Mapping)
            if is_table or any(SEPARATOR.search(line) for _, line in where.content()):
                problem = f"no column holds names such as {names[0]!r}"
                where.fail(problem, f"a row of the table is {some(rows[-1])}")
            # one label per line, which may hold spaces, in the order of the sequences
            lines = [" ".join(row).strip() for row in ([header, *rows] if header else rows)]
            if len(lines) == len(names) + 1 and lines[0].lower() in NAMES["label"]:
                lines = lines[1:]
            if len(lines) != len(names):
                sizes = counted(len(lines), "label"), counted(len(names), "sequence")
                where.fail(" for ".join(sizes), "one label per line")
            forms = {form for name in names for form in _forms(_base(name))}
            for line in lines:
                starts = (line[: space.start()] for space in re.finditer(" ", line))
                if name := next((start for start in starts if start in forms), None):
                    problem = f"the line {line!r} holds the name {name!r} and a label"
                    where.fail(problem, "write a comma or a tab between name and label")
            source.remark("labels: one per line, in the order of the sequences")
            return [*lines], None
        places = self._places(where, key)
        if not isinstance(labels, Mapping):
            roles = {"name": key, **places}.items()
            shown = [f"{kind} {repr(header[i]) if header else f'column {i}'}" for kind, i in roles]
            source.remark("labels: " + "; ".join(shown))
        columns = {
            kind: [None if row is None else row[place] or None for row in matches[key]]
            for kind, place in places.items()
        }
        return columns["label"], columns.get("group")

    def _places(self, where: Source, key: int) -> dict[str, int]:
        """Return the columns of labels and groups: named, known by name, or the only other one."""
        header, rows = self._table
        shown = header or list(map(str, range(len(rows[0]))))
        wishes: dict[str, Any] = {"label": self.label, "group": self.group}
        wishes = {kind: kind if wish is None else wish for kind, wish in wishes.items()}
        # by the same rules as the columns of data
        places = {**Columns(**wishes, id=key, time=None, channels=()).find(where, shown, []).places}
        del places["id"]
        unused = [i for i in range(len(shown)) if i != key and i not in places.values()]
        if "label" not in places:
            if len(unused) != 1:
                hint = how_to_name("label", header or [str(i) for i in unused])
                where.fail("it is not clear which column holds the labels", hint)
            places = {"label": unused[0], **places}
        seen: dict[str, list[str]] = {}
        for row in rows:
            cells = [row[place] for place in places.values()]
            if seen.setdefault(row[key], cells) != cells:
                where.fail(f"{row[key]!r} has two labels or groups")
        return places


def _from_names(names: Sequence[str], pattern: str, kind: str) -> Found:
    """Return the part in parentheses of each last part of a path, or else of the whole name."""
    expression, parts = compiled(pattern, f"{kind}_pattern"), []
    if not expression.groups:
        raise ValueError(f"{kind}_pattern '{pattern}' has no group; put the {kind} in parentheses.")
    part = kind if kind in expression.groupindex else 1
    for name in names:
        match = None if "/" in pattern else expression.search(name.rpartition("/")[2])
        match = match or expression.search(name)
        parts.append((match[part] if match else None) or None)
    return parts


def _forms(name: str) -> list[str]:
    """Return the forms in which a table may name a sequence: whole, without ending, parts."""
    return [name, ENDING.sub("", name), *name.split("|")]


def _base(name: str) -> str:
    """Return the name of a file without its folders."""
    return name.replace("\\", "/").rpartition("/")[2]


def _rows_of_names(rows: Rows, column: int, names: Sequence[str]) -> list[list[str] | None]:
    """Return the row of each name or None; folders may be missing, but a/1 is not b/1."""
    exact = {row[column]: row for row in rows if row[column]}
    whole = _unique([(form, row) for name, row in exact.items() for form in _forms(name)]) | exact
    bare = _unique([(form, row) for name, row in exact.items() for form in _forms(_base(name))])
    often = Counter(map(_base, names))
    matches = []
    for name in names:
        short = _forms(_base(name)) if often[_base(name)] == 1 else []
        tries = ((whole, _forms(name)), (bare, _forms(name)), (whole, short))
        held = (table[form] for table, forms in tries for form in forms if form in table)
        matches.append(next(held, None))
    return matches


def _unique(pairs: Sequence[tuple[str, list[str]]]) -> dict[str, list[str]]:
    """Return rows by the form of a name; a form that several rows have leads nowhere."""
    rows: dict[str, list[str]] = {}
    for form, row in pairs:
        rows[form] = row if rows.get(form, row) == row else []
    return {form: row for form, row in rows.items() if row}


def person_remarks(names: Sequence[str]) -> list[str]:
    """Say if folders look like persons: their names do, and their files have the same names."""
    parts = [name.split("/") for name in names if name.count("/") == 1]
    folders = {folder for folder, _ in parts}
    often = Counter(file for _, file in parts)
    repeated = [file for file, n in often.items() if n > 1]
    is_few = len(folders) < 2 or 2 * len(repeated) < len(often)
    if is_few or not all(map(PERSON.fullmatch, folders)):
        return []
    reason = f"such as {sorted(folders)[0]!r}, and {repeated[0]!r} is in several of them"
    reason = f"the folders look like persons, {reason}: are the folders classes? "
    labels = {"label_pattern": "/([^/.]+)"}, " reads the labels in the names of files, "
    return [Sentence(reason, *labels, {"group_pattern": "^(.+)/"}, " the persons")]

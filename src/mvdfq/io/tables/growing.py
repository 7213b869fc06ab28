"""A long table that grows by chunks, and a look at all values of its channels.

A channel may be something else: a time, a label, the name of a subject.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq._utils.short import counted
from mvdfq.io.dataset import Dataset
from mvdfq.io.source import ReadError, Source
from mvdfq.io.tables.column_roles import Columns, Roles, has_unit_of_time, some
from mvdfq.io.tables.csv_tables import (
    ALMOST,
    DECIMAL_COMMA,
    LOOK,
    Commas,
    floats,
    is_given,
    is_number,
)
from mvdfq.io.tables.times import at_one_rate, moments, unit_of
from mvdfq.sequences import Sequences
from mvdfq.sequences.converters import from_long_table

# Codes of words with several letters begin here: above the codes of all single letters, and
# still exact as floats.
WORDS = 1 << 48
# Steps that must rise before a column is called a time: noise does so in one of 1024 columns.
MIN_STEPS = 10
# The steps of a clock are that much alike.
EVEN = 0.01
# A larger share of rows that repeat a time is no accident of a logger: the clock is coarse, or the
# rows belong to several sequences.
FEW_TWICE = 0.1
MANY_TWICE = (
    "the same time twice",
    "many rows repeat a time: if the clock is coarse, time=None keeps the order of the rows; if "
    "the rows belong to several sequences, id=NAME names the column that tells them apart",
)
EARLIER = ("an earlier time", "sort the rows by time; time=None keeps the order of the rows")
KEPT = "channels=NAMES reads such a column all the same"


@dataclass
class Growing:
    """A long table that grows by chunks; it keeps numbers and codes, and forgets the text."""

    source: Source
    columns: Columns
    # Of the first file, if there are several.
    roles: Roles | None = None
    # Words of each kind and their codes, in order of appearance.
    words: dict[str, dict[str, int]] = field(default_factory=dict)
    chunks: dict[str, list[np.ndarray]] = field(default_factory=dict)
    is_text: dict[str, bool] = field(default_factory=dict)
    # By the code of a sequence: its file, if the file holds only this sequence, and its error.
    paths: dict[int, Path] = field(default_factory=dict)
    bad: dict[int, ReadError] = field(default_factory=dict)
    # By the code of a sequence: seconds per unit of its times, None if not known.
    units: dict[int, float | None] = field(default_factory=dict)
    is_named: bool = True
    commas: Commas = field(default_factory=Commas)
    # What a place in the file is called: Parquet has no lines.
    row: str = "line"
    # Runs of rows so far, and label and group of the last row.
    n_runs: int = 0
    last: tuple[str, ...] = ()

    @property
    def channels(self) -> list[str]:
        """The names of the channels."""
        return [] if self.roles is None else self.roles.names

    def spoil(self, who: Any, problem: str, hint: str = "") -> None:
        """Note what is wrong with the sequence of this code, once; or raise."""
        error = ReadError(self.paths.get(int(who), self.source.path), problem, hint)
        if not self.source.skip_bad:
            raise error
        self.bad.setdefault(int(who), error)

    def code(self, kind: str, cells: Iterable[str]) -> np.ndarray:
        """Return codes of words; each kind of word (labels, ids) is numbered from 0."""
        known = self.words.setdefault(kind, {})
        return np.array([known.setdefault(cell, len(known)) for cell in cells], dtype=np.int64)

    def add(self, lines: Sequence[int], cells: Mapping[str, Sequence[Any]], roles: Roles) -> None:
        """Add rows, given as columns: id, time, label and group, and channels by ``:name``.

        Without a column of times, rows come in the order of the file.
        """
        if "id" not in cells:
            cells = {"id": self._runs(cells), **cells}
        ids = self.code("id", cells["id"])
        unit, clock = None, "time"
        if "time" in cells:
            clock = roles.header[roles.places["time"]]
            unit = roles.unit or unit_of(clock, cells["time"][:LOOK])
        for who in np.unique(ids).tolist():
            self.units.setdefault(who, unit)
        cells = {"time": list(map(str, lines)), **cells}
        self._keep("id", ids)
        self._keep("line", np.array(lines))
        for kind in ("label", "group"):
            if kind in cells:
                self._keep(kind, self.code(kind, cells[kind]))
        where = list(zip(lines, ids.tolist(), strict=True))
        self._keep("time", self._each(moments, cells["time"], clock, where))
        for name in self.channels:
            column: Any = self._given(cells[f":{name}"])
            reader: Any = floats
            if self._holds_text(name, column):
                reader = partial(self._states, name)
            elif not isinstance(column, np.ndarray):
                self.commas.see(name, column)
            self._keep(f":{name}", self._each(reader, column, name, where))

    def _runs(self, cells: Mapping[str, Sequence[Any]]) -> list[str]:
        """Return a name for each row: a run of rows with one label and group is a sequence."""
        found = []
        for key in zip(*(cells[kind] for kind in ("group", "label") if kind in cells), strict=True):
            self.n_runs += key != self.last
            self.last = key
            found.append(" ".join([*key, str(self.n_runs)]))
        return found

    def _given(self, cells: Any) -> Any:
        """Return cells with nothing in place of what the user calls missing."""
        words = {str(word) for word in self.columns.missing}
        if not words:
            return cells
        lost = {float(word) for word in words if is_number(word)}
        if isinstance(cells, np.ndarray):
            return np.where(np.isin(cells, list(lost)), np.nan, cells)
        known = {cell: cell in words or (is_number(cell) and float(cell) in lost)
                 for cell in set(cells)}  # fmt: skip
        return ["" if known[cell] else cell for cell in cells]

    def _keep(self, key: str, values: np.ndarray) -> None:
        self.chunks.setdefault(key, []).append(values)

    def _each(self, read: Any, cells: Any, name: str, where: Sequence[tuple]) -> np.ndarray:
        """Read a column; if that fails, read cell by cell, to name the bad cell."""
        if isinstance(cells, np.ndarray) and read is floats and not np.isinf(cells).any():
            return cells
        if isinstance(cells, np.ndarray) and read is floats:
            cells = list(map(str, cells.tolist()))
        try:
            return read(cells)
        except (ValueError, OverflowError) as error:
            problem = f"column {name!r}: {error}"
        values, n_bad = np.full(len(cells), np.nan), 0
        for i, (cell, (line, who)) in enumerate(zip(cells, where, strict=True)):
            try:
                values[i] = read([cell])[0]
            except (ValueError, OverflowError) as error:
                text = str(error).removeprefix("value 1 is ")
                self.spoil(who, f"{self.row} {line}: column {name!r}: {text}")
                n_bad += 1
        # 1,234 beside 2.5: each cell can be read, but what the column means is unknown
        if not n_bad:
            raise ReadError(self.source.path, problem)
        return values

    def _holds_text(self, name: str, cells: Any) -> bool:
        """Is this a channel of words? The first value that is not missing decides."""
        if name in self.columns.categories:
            self.is_text[name] = True
        if name not in self.is_text and not isinstance(cells, np.ndarray):
            first = next(filter(is_given, cells), None)
            if first is not None and not DECIMAL_COMMA.fullmatch(first):
                self.is_text[name] = not is_number(first) and "inf" not in first.lower()
        return self.is_text.get(name, False)

    def _states(self, name: str, cells: Any) -> np.ndarray:
        """Return codes of states: by `categories`, or codes that are the same in every file."""
        if isinstance(cells, np.ndarray):  # 3.0 in a data frame is the state 3
            cells = ["" if value != value else f"{value:.17g}" for value in cells.tolist()]
        categories = self.columns.categories
        listed = categories.get(name) if isinstance(categories, Mapping) else None
        if listed is not None:
            codes = {str(state): float(code) for code, state in enumerate(listed)}
            return np.array([codes.get(cell, np.nan) for cell in cells])
        for cell in set(cells) if name not in categories else ():
            if is_number(cell) and is_given(cell):
                raise ValueError(
                    f"the number {cell!r} among words; categories={{{name!r}: [...]}} allows it"
                )
            if ALMOST.fullmatch(cell):
                raise ValueError(
                    f"{cell!r} is not a number; write numbers without signs and marks, or "
                    f"categories={{{name!r}: [...]}} reads words"
                )
        known = {cell: _stable_code(cell) if is_given(cell) else np.nan for cell in set(cells)}
        return np.array([known[cell] for cell in cells])

    def dataset(self) -> Dataset:
        """Return the sequences in order of appearance, without sequences that cannot be read."""
        # Rows of a sequence may lie apart.
        order = np.argsort(np.concatenate(self.chunks["id"]), kind="stable")
        table = {key: np.concatenate(chunks)[order] for key, chunks in self.chunks.items()}
        self.commas.tell(self.source)
        table = self._each_time_once(table)
        self._check_rows(table)
        if self.bad:
            kept = ~np.isin(table["id"], list(self.bad))
            table = {key: values[kept] for key, values in table.items()}
        if not table["id"].size:
            self.source.fail("no series that can be read", str(next(iter(self.bad.values()), "")))
        ids, starts = np.unique(table["id"], return_index=True)
        self._judge(table, starts)
        X = at_one_rate(
            self.source,
            self._sequences(table),
            self._seconds(table["time"], ids, starts),
            self.columns.resample,
        )
        known = list(self.words["id"])
        y, groups = (
            np.array(list(self.words[key]))[table[key][starts]] if key in table else None
            for key in ("label", "group")
        )
        skipped = (*self.source.skipped, *(self.bad[who] for who in sorted(self.bad)))
        remarks = tuple(self.source.remarks)
        return Dataset(X, y, [known[i] for i in ids], groups, skipped=skipped, remarks=remarks)

    def _judge(self, table: dict[str, np.ndarray], starts: np.ndarray) -> None:
        """Look for channels that are something else, and say what was taken as what."""
        assert self.roles is not None  # there are rows
        by_name = {name: table[f":{name}"] for name in self.channels}
        words = frozenset(name for name, is_text in self.is_text.items() if is_text)
        y = table["label"][starts] if "label" in table else None
        before, remarks = self.roles, self.source.remarks
        self.source.remarks = {}
        self.roles = judged(self.source, self.columns, before, Values(by_name, starts, words), y)
        # What was taken as what is said first.
        said = f"columns: {self.roles.words()}"
        if words:
            self.source.remark(f"{some(sorted(words))} holds words, which are read as categories")
        self.source.remarks = {**remarks, said: None, **self.source.remarks}
        if "time" in self.roles.places and "time" not in before.places:
            self._take_time(table, self.roles)

    def _take_time(self, table: dict[str, np.ndarray], roles: Roles) -> None:
        """Take a column of numbers as the times; uneven numbers, such as a way, tell no rate."""
        clock = roles.header[roles.places["time"]]
        table["time"] = table[f":{clock}"]
        if roles.is_clock:
            unit = unit_of(clock, [f"{time:.17g}" for time in table["time"][:LOOK].tolist()])
            self.units = dict.fromkeys(self.units, unit)

    def _sequences(self, table: Mapping[str, np.ndarray]) -> Sequences:
        # A user may call a channel "id" or "time": the colon keeps the names apart.
        keys = ["id", "time", *(f":{name}" for name in self.channels)]
        X = from_long_table({key: table[key] for key in keys})[0]
        flags = tuple(self.is_text.get(name, False) for name in self.channels)
        names = tuple(self.channels) if self.is_named else None
        return replace(X, channel_names=names, symbolic=flags if any(flags) else ())

    def _seconds(
        self, times: np.ndarray, ids: np.ndarray, starts: np.ndarray
    ) -> list[np.ndarray | None]:
        """Return the times of each sequence in seconds; None if the unit is not known."""
        pairs = zip(np.split(times, starts[1:]), map(self.units.get, ids.tolist()), strict=True)
        # Less the first time: a float holds the nanoseconds of a day, but not those since 1970.
        return [
            None if unit is None else (part - part[0]).astype(float) * unit for part, unit in pairs
        ]

    def _each_time_once(self, table: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Leave out rows that repeat the time of the row before, if they are few."""
        ids, times = table["id"], table["time"]
        twice = np.flatnonzero((ids[1:] == ids[:-1]) & (times[1:] == times[:-1])) + 1
        if not twice.size or twice.size > FEW_TWICE * len(ids):
            return table
        self.source.remark(
            f"{counted(twice.size, 'row')} with the time of the row before: only the first row of "
            f"each time is kept; the first is {self.row} {table['line'][twice[0]]}"
        )
        return {key: np.delete(values, twice) for key, values in table.items()}

    def _check_rows(self, table: Mapping[str, np.ndarray]) -> None:
        """Check that within a sequence times increase, and label and group do not change."""
        names = list(self.words["id"])
        ids, lines, times = table["id"], table["line"], table["time"]

        def spoil(i: Any, problem: str, hint: str = "") -> None:
            where = f"{self.row} {lines[i]}: {problem}, in sequence {names[ids[i]]!r}"
            self.spoil(ids[i], where, hint)

        same = ids[1:] == ids[:-1]
        for i in np.flatnonzero(same & ~(np.diff(times) > 0)):
            twice = times[i] == times[i + 1]
            spoil(i + 1, *(MANY_TWICE if twice else EARLIER))
        for kind in ("label", "group"):
            codes = table.get(kind, ids)
            for i in np.flatnonzero(same & (codes[1:] != codes[:-1])):
                spoil(i + 1, f"another {kind} than before")
        missing = [code for word, code in self.words.get("label", {}).items() if not is_given(word)]
        absent = np.flatnonzero(np.isin(table.get("label", np.empty(0)), missing))
        for i in absent[np.argsort(lines[absent])]:
            spoil(i, "the label is missing")


def _stable_code(word: str) -> float:
    """Return a code that does not depend on the other words of a file."""
    if len(word) == 1:
        return float(ord(word))
    digest = hashlib.blake2b(word.encode(), digest_size=6).digest()
    return float(WORDS + int.from_bytes(digest, "big"))


@dataclass(frozen=True)
class Values:
    """The values of the channels by name, sequence after sequence, and where sequences begin."""

    by_name: Mapping[str, np.ndarray]
    starts: np.ndarray
    # Channels of words, whose codes have no order.
    words: frozenset[str]

    def still(self, name: str) -> np.ndarray | None:
        """Return the value of each sequence if no value changes within a sequence, else None."""
        values = self.by_name[name]
        low, high = (extreme.reduceat(values, self.starts) for extreme in (np.fmin, np.fmax))
        # A sequence of one row cannot change.
        is_still = len(values) > len(low) and np.array_equal(low, high, equal_nan=True)
        return low if is_still and np.unique(low).size > 1 else None

    def repeats(self, name: str) -> bool:
        """Does a sequence hold more than one value?"""
        counts = np.add.reduceat(~np.isnan(self.by_name[name]), self.starts, dtype=int)
        return bool(counts.max() > 1)

    def rises(self, name: str) -> bool:
        """Does every value exceed the value before it in the same sequence?"""
        steps = self._steps(name)
        return name not in self.words and len(steps) >= MIN_STEPS and bool((steps > 0).all())

    def is_even(self, name: str) -> bool:
        """Are the steps alike, as the steps of a clock are?"""
        low, high = np.quantile(self._steps(name), [0.1, 0.9])
        return bool(high - low <= EVEN * high)

    def _steps(self, name: str) -> np.ndarray:
        return np.delete(np.diff(self.by_name[name]), self.starts[1:] - 1)


def judged(
    source: Source, columns: Columns, roles: Roles, values: Values, y: np.ndarray | None
) -> Roles:
    """Return the roles after a look at all values of the channels; remark what is doubtful.

    A column that never changes within a sequence and tells the class is left out. A column that
    rises in every sequence is the time if no other column is. Channels that the user names stay
    channels.
    """
    found = {name: values.still(name) for name in roles.names}
    still = {name: value for name, value in found.items() if value is not None}
    if columns.channels is None:
        telling = [name for name, value in still.items() if y is not None and _tells(value, y)]
        roles = _without_telling(source, roles, telling)
        roles = _with_clock(source, columns, roles, values)
    _remark_still(source, [one for one in still if one in roles.names and values.repeats(one)])
    return roles


def _tells(values: np.ndarray, y: np.ndarray) -> bool:
    """Does the value of a sequence tell its class, also for a new sequence?

    Every value belongs to one class, and values recur or the classes lie side by side.
    """
    values = np.unique(values, return_inverse=True)[1]
    n_values, n_classes, n = values.max() + 1, np.unique(y).size, len(y)
    pairs = np.unique(np.stack([values, y]), axis=1)
    if n_classes < 2 or pairs.shape[1] > n_values:
        return False
    runs = 1 + np.count_nonzero(np.diff(pairs[1]))
    return bool(2 * n_values <= n or (runs == n_classes and n >= 3 * n_classes))


def _without_telling(source: Source, roles: Roles, telling: list[str]) -> Roles:
    if not telling:
        return roles
    what = f"{some(telling)} never changes within a sequence and tells the class"
    if len(telling) == len(roles.channels):
        source.fail(f"no other channel than {what}", KEPT)
    source.remark(f"left out: {what}; {KEPT}")
    return roles.without(telling)


def _with_clock(source: Source, columns: Columns, roles: Roles, values: Values) -> Roles:
    """Take a column that rises in every sequence as the time; ask if there is a time already."""
    rising = sorted(filter(values.rises, roles.names), key=lambda name: not values.is_even(name))
    clocks = [name for name in rising if has_unit_of_time(name)] or rising[:1]
    # One recording alone may hold a channel that rises; times stand in the first column.
    alone = len(values.starts) == 1 and clocks[:1] != roles.names[:1]
    may = columns.time == "time" and "time" not in roles.places and not alone
    if may and clocks and len(roles.channels) > len(clocks):
        place = roles.header.index(clocks[0])
        source.remark(
            f"time {clocks[0]!r}: it rises in every sequence and no column is called a time; {KEPT}"
        )
        rising = [name for name in rising if name not in clocks]
        is_clock = values.is_even(clocks[0])
        places = {**roles.places, "time": place}
        roles = replace(roles.without(clocks), places=places, is_clock=is_clock)
    if rising:
        source.remark(
            f"{some(rising)} rises in every sequence: is it a time? time=NAME or drop=NAME"
        )
    return roles


def _remark_still(source: Source, still: list[str]) -> None:
    """Say which channels do not change within any sequence: they may tell the subject or class."""
    if still:
        source.remark(
            f"{some(still)} never changes within a sequence; group=NAME, label=NAME or "
            f"drop=NAME keep such a column out of the channels"
        )

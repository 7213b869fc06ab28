"""A long table that grows by chunks; a look at all values finds channels that are none."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq._utils.errors import Sentence, Usual
from mvdfq._utils.short import counted, some
from mvdfq.io.dataset import Dataset, check_kept
from mvdfq.io.source import ReadError, Source
from mvdfq.io.tables.column_roles import Columns, Roles, has_unit_of_time
from mvdfq.io.tables.csv_tables import (
    ALMOST,
    LOOK,
    Commas,
    blanked,
    floats,
    is_given,
    is_number,
    is_value,
)
from mvdfq.io.tables.times import (
    AS_ROWS,
    SECONDS_PER_DAY,
    are_doubtful,
    at_one_rate,
    moments,
    unit_of,
)
from mvdfq.sequences.converters import channels_first

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
    Sentence("many rows repeat a time: if the clock is coarse, ", AS_ROWS,
             "; if the rows belong to several sequences, ", {"id": "NAME"},
             " names the column that tells them apart"),
)  # fmt: skip
EARLIER = ("an earlier time", Sentence("sort the rows by time; ", AS_ROWS))
KEPT = Sentence({"channels": "NAMES"}, " reads such a column all the same")


@dataclass
class Growing:
    """A long table that grows by chunks; it keeps numbers and codes, and forgets the text."""

    source: Source
    columns: Columns
    # Of the first file, if there are several.
    roles: Roles = field(default_factory=lambda: Roles((), {}, ()))
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
        return self.roles.names

    def spoil(self, sequence: Any, problem: str, hint: str = "") -> None:
        """Note what is wrong with the sequence of this code, once; or raise."""
        error = ReadError(self.paths.get(int(sequence), self.source.path), problem, hint)
        if not self.source.skip_bad:
            raise error
        self.bad.setdefault(int(sequence), error)

    def code(self, kind: str, cells: Iterable[str]) -> np.ndarray:
        """Return codes of words; each kind of word (labels, ids) is numbered from 0."""
        known = self.words.setdefault(kind, {})
        return np.array([known.setdefault(cell, len(known)) for cell in cells], dtype=np.int64)

    def add(self, lines: Sequence[int], cells: Mapping[str, Sequence[Any]], roles: Roles) -> None:
        """Add rows, given as columns: id, time, label and group, and channels by ``:name``."""
        ids = self.code("id", cells["id"] if "id" in cells else self._runs(cells))
        unit, clock = None, "time"
        if "time" in cells:
            clock = roles.header[roles.places["time"]]
            unit = roles.unit or unit_of(clock, cells["time"][:LOOK])
            if unit == SECONDS_PER_DAY:
                told = f"{clock!r}: numbers such as {cells['time'][0]} are days, as Excel writes "
                self.source.remark(Sentence(told, "dates; ", {"time": "NAME:s"}, " reads seconds"))
            if "/" in str(cells["time"][0]) and are_doubtful(cells["time"]):
                told = "is read as February 1, since no date tells which number is the month"
                self.source.remark(f"{clock!r}: 2/1/2024 {told}")
        for sequence in np.unique(ids).tolist():
            self.units.setdefault(sequence, unit)
        # for errors: the line and the sequence of every cell
        cell_places = list(zip(lines, ids.tolist(), strict=True))
        times = cells["time"] if "time" in cells else list(map(str, lines))
        kept = {kind: self.code(kind, cells[kind]) for kind in {"label", "group"} & cells.keys()}
        kept |= {"id": ids, "line": np.array(lines)}
        kept["time"] = self._each(moments, times, clock, cell_places)
        for name in self.channels:
            column: Any = blanked(cells[f":{name}"], self.columns.missing)
            reader: Any = floats
            if self._holds_text(name, column):
                reader = partial(self._states, name)
            elif not isinstance(column, np.ndarray):
                self.commas.see(name, column)
            kept[f":{name}"] = self._each(reader, column, name, cell_places)
        for key, values in kept.items():
            self.chunks.setdefault(key, []).append(values)

    def _runs(self, cells: Mapping[str, Sequence[Any]]) -> Iterator[str]:
        """Yield a name for each row: a run of rows with one label and group is a sequence."""
        for key in zip(*(cells[kind] for kind in ("group", "label") if kind in cells), strict=True):
            self.n_runs += key != self.last
            self.last = key
            yield " ".join([*key, str(self.n_runs)])

    def _each(self, read: Any, cells: Any, name: str, cell_places: Sequence[tuple]) -> np.ndarray:
        """Read a column; if that fails, read cell by cell, to name the bad cell."""
        if isinstance(cells, np.ndarray) and read is floats:
            if not np.isinf(cells).any():
                return cells
            cells = list(map(str, cells.tolist()))
        try:
            return read(cells)
        except (ValueError, OverflowError) as error:
            problem = Sentence(f"column {name!r}: ", str(error))
        values, n_bad = np.full(len(cells), np.nan), 0
        for i, (cell, (line, sequence)) in enumerate(zip(cells, cell_places, strict=True)):
            try:
                values[i] = read([cell])[0]
            except (ValueError, OverflowError) as error:
                self.spoil(sequence, Sentence(f"{self.row} {line}: column {name!r}: ", str(error)))
                n_bad += 1
        # 1,234 beside 2.5: each cell can be read, but what the column means is unknown
        if not n_bad:
            raise ReadError(self.source.path, problem)
        return values

    def _holds_text(self, name: str, cells: Any) -> bool:
        """Is this a channel of words? Most of the first values that are not missing decide."""
        if name in self.columns.categories:
            self.is_text[name] = True
        if name not in self.is_text and not isinstance(cells, np.ndarray):
            first = list(islice(filter(is_given, cells), LOOK))
            words = [cell for cell in first if not (is_value(cell) or ALMOST.fullmatch(cell))]
            if first:
                self.is_text[name] = 2 * len(words) > len(first)
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
        listing = {"categories": [name]}
        for cell in set(cells) if name not in categories else ():
            if is_number(cell) and is_given(cell):
                problem = f"the number {cell!r} among words; "
                raise ValueError(Sentence(problem, listing, " allows it"))
        known: dict[str, float] = {}
        for word in filter(is_given, set(cells)):
            code = ord(word[0])
            if len(word) > 1:  # a digest does not depend on the other words of a file
                digest = hashlib.blake2b(word.encode(), digest_size=6).digest()
                code = WORDS + int.from_bytes(digest, "big")
            known[word] = float(code)
        return np.array([known.get(cell, np.nan) for cell in cells])

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
            check_kept(self.source.path, 0, [*self.bad.values()])
        ids, starts = np.unique(table["id"], return_index=True)
        self._judge(table, starts)
        rows = np.array([table[f":{name}"] for name in self.channels])
        X = channels_first(np.split(rows, starts[1:], axis=1))
        flags = tuple(self.is_text.get(name, False) for name in self.channels)
        names = tuple(self.channels) if self.is_named else None
        X = replace(X, channel_names=names, symbolic=flags if any(flags) else ())
        # Less the first time: a float holds the nanoseconds of a day, but not those since 1970.
        units = map(self.units.get, ids.tolist())
        seconds = [
            None if unit is None else (part - part[0]).astype(float) * unit
            for part, unit in zip(np.split(table["time"], starts[1:]), units, strict=True)
        ]
        X = at_one_rate(self.source, X, seconds, self.columns.resample)
        known = list(self.words["id"])
        y, groups = (
            np.array(list(self.words[key]))[table[key][starts]] if key in table else None
            for key in ("label", "group")
        )
        skipped = (*self.source.skipped, *(self.bad[sequence] for sequence in sorted(self.bad)))
        remarks = tuple(self.source.remarks)
        return Dataset(X, y, [known[i] for i in ids], groups, skipped=skipped, remarks=remarks)

    def _each_time_once(self, table: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Leave out rows that repeat the time of the row before, if they are few."""
        ids, times = table["id"], table["time"]
        twice = np.flatnonzero((ids[1:] == ids[:-1]) & (times[1:] == times[:-1])) + 1
        if not twice.size or twice.size > FEW_TWICE * len(ids):
            return table
        remark = f"{counted(twice.size, 'row')} with the time of the row before: only the first row"
        first = f"the first is {self.row} {table['line'][twice[0]]}"
        self.source.remark(f"{remark} of each time is kept; {first}")
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
            spoil(i + 1, *(MANY_TWICE if times[i] == times[i + 1] else EARLIER))
        for kind in ("label", "group"):
            codes = table.get(kind, ids)
            for i in np.flatnonzero(same & (codes[1:] != codes[:-1])):
                spoil(i + 1, f"another {kind} than before")
        missing = [code for word, code in self.words.get("label", {}).items() if not is_given(word)]
        absent = np.flatnonzero(np.isin(table.get("label", np.empty(0)), missing))
        for i in absent[np.argsort(lines[absent])]:
            spoil(i, "the label is missing")

    def _judge(self, table: dict[str, np.ndarray], starts: np.ndarray) -> None:
        """Look for channels that tell the class or the time, and say what was taken as what."""
        words = sorted(name for name, is_text in self.is_text.items() if is_text)
        remarks: list[str] = []
        still: dict[str, np.ndarray] = {}
        for name in self.channels:
            values = table[f":{name}"]
            low, high = (extreme.reduceat(values, starts) for extreme in (np.fmin, np.fmax))
            is_still = len(values) > len(low) and np.array_equal(low, high, equal_nan=True)
            if is_still and np.unique(low).size > 1:  # a sequence of one row cannot change
                still[name] = low
        if self.columns.channels is None:
            y = table["label"][starts] if "label" in table else None
            telling = [name for name, value in still.items() if y is not None and _tells(value, y)]
            telling_text = f"{some(telling)} never changes within a sequence and tells the class"
            if telling and len(telling) == len(self.channels):
                self.source.fail(f"no other channel than {telling_text}", KEPT)
            remarks += [Sentence(f"left out: {telling_text}; ", KEPT)] if telling else []
            self.roles = self.roles.without(telling)
            remarks += self._find_clock(table, starts, words)
        held = {name: ~np.isnan(table[f":{name}"]) for name in still if name in self.channels}
        n_held = {name: np.add.reduceat(held[name], starts, dtype=int).max() for name in held}
        if repeated := [name for name, n in n_held.items() if n > 1]:
            wishes = {"group": "NAME"}, ", ", {"label": "NAME"}, " or ", {"drop": "NAME"}
            why = f"{some(repeated)} never changes within a sequence; "
            remarks += [Sentence(why, *wishes, " keep such a column out of the channels")]
        remarks += [Usual(f"{some(words)} holds words, which are read as categories")] * bool(words)
        for remark in (Usual(f"columns: {self.roles.words()}"), *remarks):
            self.source.remark(remark)

    def _find_clock(self, table: Any, starts: np.ndarray, words: Sequence[str]) -> list[str]:
        """Take a column that rises in every sequence as the time, or ask; return what to say."""
        roles, is_even = self.roles, {}  # the steps of a clock are alike
        remarks: list[str] = []
        for name in (name for name in self.channels if name not in words):
            steps = np.delete(np.diff(table[f":{name}"]), starts[1:] - 1)
            if len(steps) >= MIN_STEPS and (steps > 0).all():
                low, high = np.quantile(steps, [0.1, 0.9])
                is_even[name] = bool(high - low <= EVEN * high)
        rising = sorted(is_even, key=lambda name: not is_even[name])
        clocks = [name for name in rising if has_unit_of_time(name)] or rising[:1]
        # One recording alone may hold a channel that rises; times stand in the first column.
        alone = len(starts) == 1 and clocks[:1] != roles.names[:1]
        may = self.columns.time == "time" and "time" not in roles.places and not alone
        if may and clocks and len(roles.channels) > len(clocks):
            clock = clocks[0]
            why = "it rises in every sequence and no column is called a time"
            remarks += [Sentence(f"time {clock!r}: {why}; ", KEPT)]
            rising = [name for name in rising if name not in clocks]
            places = {**roles.places, "time": roles.header.index(clock)}
            self.roles = replace(roles.without(clocks), places=places, is_clock=is_even[clock])
            table["time"] = table[f":{clock}"]
            if is_even[clock]:  # uneven numbers, such as a way, tell no rate
                unit = unit_of(clock, [f"{time:.17g}" for time in table["time"][:LOOK].tolist()])
                self.units = dict.fromkeys(self.units, unit)
        ask = f"{some(rising)} rises in every sequence: is it a time? "
        asked = Sentence(ask, {"time": "NAME"}, " or ", {"drop": "NAME"})
        return remarks + [asked] * bool(rising)


def _tells(values: np.ndarray, y: np.ndarray) -> bool:
    """Does every value belong to one class, and recur or lie beside others of its class?"""
    values = np.unique(values, return_inverse=True)[1]
    n_values, n_classes, n = values.max() + 1, np.unique(y).size, len(y)
    pairs = np.unique(np.stack([values, y]), axis=1)
    if n_classes < 2 or pairs.shape[1] > n_values:
        return False
    runs = 1 + np.count_nonzero(np.diff(pairs[1]))
    return bool(2 * n_values <= n or (runs == n_classes and n >= 3 * n_classes))

"""Which column of a table holds what: named by the user, or recognised by name and content."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from mvdfq._utils.errors import Sentence
from mvdfq._utils.short import some
from mvdfq.io.source import KNOWN, Source
from mvdfq.io.tables.csv_tables import Names, is_given, is_value
from mvdfq.io.tables.times import DATE, epoch_unit, moments, split_unit

NAMES = KNOWN["columns"]
# "subject_id" means "subject"; "sensor_time" and "date_utc" are times.
SUFFIX = re.compile(r"(?<=.)(ids?|no|nr|number|name)")
TIME_PART = re.compile(r"timestamp.*|.*timestamp|time.*|.*time|date.*|.*date")
SURE = ("time", "timestamp", "datetime")
# A column that counts rows says only in which order the rows come. Data frames write such a column
# first, without a name.
COUNTERS = ("", "index", "idx", "frame", "step", "row", "sample", "unnamed:0")
# The index of a data frame, as pandas calls it in files: in Parquet, and in CSV that was read and
# written again. An index tells the order of rows in some other table, and is never a channel.
INDEX = re.compile(r"__index_level_\d++__|Unnamed: \d++")
# "X[s]" and "X[s].1", as pandas writes the second of two columns of one name
IN_UNITS_OF_TIME = re.compile(r"[^\[(]*+[\[(][^\])]*+[\])](?:\.\d++)?")


@dataclass(frozen=True)
class Roles:
    """The places of id, time, label and group in a row, and the places of the channels."""

    header: Names
    places: Mapping[str, int]
    channels: Sequence[int]
    # Seconds per step of a time that is a number; None if the user did not name a unit.
    unit: float | None = None
    # Whether the times are more than numbers of rows.
    is_clock: bool = False

    @property
    def has_runs(self) -> bool:
        """Whether runs of rows with one label and group are sequences: nothing else tells them."""
        return "id" not in self.places and "label" in self.places and self.is_clock

    @property
    def melted(self) -> list[int]:
        """The columns of names and of values, if each row holds one value of one channel."""
        pair = [next(known_places(kind, self.header), -1) for kind in ("variable", "value")]
        return pair if {*pair} == {*self.channels} else []

    @property
    def names(self) -> list[str]:
        """The names of the channels."""
        return [self.header[i] for i in self.channels]

    def without(self, names: Collection[str]) -> "Roles":
        """Return the roles without some channels."""
        return replace(self, channels=[i for i in self.channels if self.header[i] not in names])

    def words(self) -> str:
        """Return what was taken as what, in words."""
        parts = [f"{key} {self.header[place]!r}" for key, place in self.places.items()]
        parts += [] if "time" in self.places else ["time: the order of the rows"]
        parts += ["a sequence: a run of rows with one label"] if self.has_runs else []
        taken = {*self.places.values(), *self.channels}
        unused = [name for i, name in enumerate(self.header) if i not in taken and (name or not i)]
        parts += [f"channels {some(self.names)}"] + ([f"left out {some(unused)}"] if unused else [])
        return "; ".join(parts)


@dataclass(frozen=True)
class Columns:
    """The columns as the user names them, by name or number; None: not there, or not read."""

    label: str | int | None = "label"
    id: str | int | None = "id"
    time: str | int | None = "time"
    group: str | int | None = "group"
    channels: Sequence[str | int] | None = None
    drop: Sequence[str | int] = ()
    # Columns of states, with or without a list of the states.
    categories: Mapping[str, Sequence[Any]] | Sequence[str] = ()
    # Cells that stand for a missing value, such as -999.
    missing: Sequence[Any] = ()
    # Rows per second that all sequences are brought to.
    resample: float | None = None

    def find(self, source: Source, header: Names, sample: Any = (), index: Any = ()) -> Roles:
        """Return the role of each column; `sample` holds the first rows.

        A second column of times, an empty column without a name and columns of an `index` are left
        out; an index may be an id or a time.
        """
        for name in (name for j, name in enumerate(header) if name and name in header[:j]):
            source.fail(f"line 1: two columns {name!r}", "names of columns must differ")
        dropped = {named_place(source, "drop", name, header) for name in self.drop}
        for name in (name for name in self.categories if name not in header):
            source.fail(f"line 1: no column {name!r}, but categories names this column")
        cells = [list(column) for column in zip(*sample, strict=False)]
        cells += [[] for _ in range(len(header) - len(cells))]
        chosen = None
        if self.channels is not None:
            chosen = [named_place(source, "channels", name, header) for name in self.channels]
        places = self._places(source, header, {*(chosen or ()), *dropped})
        # times rise within a sequence, not from one sequence to the next
        ids = cells[places["id"]] if "id" in places else None
        taken = {*places.values(), *(chosen or ()), *dropped}
        free = [i for i in range(len(header)) if i not in taken]
        times = list(_time_places(header, cells, free, ids))
        if self.time == "time" and times:
            places["time"] = times[0]
        if chosen is None:
            apart = {*times, *(i for i, name in enumerate(header) if is_index(name, i, index))}
            free = [i for i in free if i not in apart and (header[i] or any(cells[i]))]
        time = places.get("time")
        is_clock = time is not None and not counts_rows(time, header, cells[time], ids)
        return Roles(header, places, chosen or free, self._unit(header), is_clock)

    def _places(self, source: Source, header: Names, apart: Collection[int]) -> dict[str, int]:
        """Return the columns that the user names, and columns with a known name, except times."""
        named = {}
        for key in NAMES:
            if (wish := getattr(self, key)) not in (None, key):
                if key == "time" and self._unit(header) is not None:
                    wish = str(wish).rpartition(":")[0]
                named[key] = named_place(source, key, wish, header)
        for key in ("id", "label", "group"):
            taken = {*named.values(), *apart}
            known = (i for i in known_places(key, header) if i not in taken)
            if getattr(self, key) == key and (place := next(known, None)) is not None:
                named[key] = place
        return {key: named[key] for key in ("id", "label", "group", "time") if key in named}

    def _unit(self, header: Names) -> float | None:
        """Return the unit in ``time="clock:ms"``, in seconds."""
        if not isinstance(self.time, str) or ":" not in self.time or self.time in header:
            return None
        return split_unit(f"x ({self.time.rpartition(':')[2]})")[1]


COLUMNS = tuple(column.name for column in fields(Columns))


def named_place(source: Source, key: str, wish: str | int, header: Names) -> int:
    """Return the place of a column that the user names; a number counts from 0, or from the end."""
    if isinstance(wish, int) and -len(header) <= wish < len(header):
        return range(len(header))[wish]
    folded = [name.casefold() for name in header]
    for names in (header, folded, [split_unit(name)[0] for name in folded]):
        name = str(wish) if names is header else str(wish).casefold()
        if names.count(name) == 1:
            return names.index(name)
    source.fail(f"no column {wish!r}", how_to_name(key, header))


def how_to_name(key: str, header: Names) -> str:
    """Return a hint for a column that is not there."""
    hint = Sentence({key: "NAME"}, f" names one of {some(header)}")
    if key != "id":
        return hint
    return Sentence(hint, "; if the file holds one sequence, pass ", {"format": "csv-folder"})


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name.lower())


def known_places(key: str, header: Names) -> Iterator[int]:
    """Yield columns with a known name, the best first; ``label`` comes before ``label_id``."""
    plain, names = [_plain(name) for name in header], (NAMES | KNOWN["files"])[key]
    for name in names:
        yield from (i for i, text in enumerate(plain) if text == name)
    for name in names:
        for i, text in enumerate(plain):
            if text.startswith(name) and SUFFIX.fullmatch(text, len(name)):
                yield i


def is_index(name: str, place: int, index: Collection[str] = ()) -> bool:
    """Is this the index of a data frame, by the metadata of the file or by its name?"""
    return name in index or bool(INDEX.fullmatch(name)) or (not place and not name)


def _time_places(header: Names, cells: Sequence[Names], free: list[int], ids: Any) -> Iterator[int]:
    """Yield columns of times: those that rise, those surely meant, those that count rows."""
    plain = [_plain(split_unit(name)[0]) for name in header]
    named = [i for name in NAMES["time"] for i in free if plain[i] == name]
    named += [i for i in free if TIME_PART.fullmatch(plain[i]) and i not in named]
    named += [i for i in free if i not in named and has_unit_of_time(header[i])
              and rises(cells[i], ids, strictly=True)]  # fmt: skip
    sure = [i for i in named if plain[i] in SURE]
    for i in (i for i in free if i not in sure and cells[i]):
        are_dates = all(map(DATE.fullmatch, cells[i])) and not any(map(is_value, cells[i]))
        sure += [i] if are_dates or (epoch_unit(cells[i]) and rises(cells[i], ids)) else []
    rising = [i for i in dict.fromkeys([*named, *sure]) if rises(cells[i], ids)]
    yield from rising
    yield from (i for i in sure if i not in rising)
    yield from (i for i in free if counts_rows(i, header, cells[i], ids))


def has_unit_of_time(name: str) -> bool:
    """Is there a unit of time in brackets, as in ``X[s]``?"""
    return bool(IN_UNITS_OF_TIME.fullmatch(name)) and split_unit(name)[1] is not None


def counts_rows(i: int, header: Names, cells: Sequence[str], ids: Any = None) -> bool:
    """Does column `i` number the rows, of the table or of each sequence?"""
    name = _plain(header[i])
    if name not in COUNTERS or (i and not name):
        return False
    return any(rises(cells, each, by_one=True) for each in (ids, None))


def rises(cells: Names, ids: Any, by_one: bool = False, strictly: bool = False) -> bool:
    """Are the cells times that never go back within a sequence, or that count the rows?"""
    if not cells or not all(map(is_given, cells)):
        return False
    try:
        values = moments(cells).tolist()
    except (ValueError, OverflowError):
        return False
    last: dict[str, float] = {}
    for value, sequence in zip(values, ids or [""] * len(cells), strict=True):
        step = value - last.get(sequence, value - 1)
        if step < 0 or (by_one and step != 1) or (strictly and not step):
            return False
        last[sequence] = value
    return True

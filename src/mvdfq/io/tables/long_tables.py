"""Any table, of text or in memory -> a data set: a time point, a series or a cell per row."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq._utils.errors import Sentence
from mvdfq._utils.short import counted, some
from mvdfq.io.dataset import Case, Dataset, check_kept, gather
from mvdfq.io.source import PACKED_END, ReadError, Source, files_in
from mvdfq.io.tables.column_roles import Columns, Roles, how_to_name, known_places
from mvdfq.io.tables.csv_tables import CHUNK, LOOK, METADATA, Batch, table_of
from mvdfq.io.tables.growing import Growing
from mvdfq.io.tables.layouts import layout_of
from mvdfq.io.tables.series_rows import ABOUT, read_letters, read_wide
from mvdfq.sequences.containers import is_table
from mvdfq.sequences.converters import TableColumns, columns_of, is_missing

ENDING = re.compile(rf"\.(csv|tsv){PACKED_END}$", re.IGNORECASE)
NO_ROWS = "a header, but no rows"
# The name of a series, its file, what opens the file as a table, and its label, if known.
Series = tuple[str, Path, Callable[[Source], Any], Mapping[str, str]]
# What errors call a table that is not a file.
TABLE = Path("table")
# Cells that are looked at to find out what the columns are.
CELLS = 5000


@dataclass
class Frame:
    """A table of arrays like a `Table` of text; `parts` yields columns of some rows at a time."""

    header: list[str]
    parts: Callable[[], Iterator[Sequence[np.ndarray]]]
    index: Collection[str] = ()
    known: Mapping[str, str] = field(default_factory=dict)
    is_named: bool = True
    row: str = "row"

    @classmethod
    def of(cls, table: TableColumns) -> "Frame":
        """Return the frame of columns in memory."""
        arrays = list(table.arrays.values())
        starts = range(0, len(arrays[0]) if arrays else 0, CHUNK)

        def parts() -> Iterator[list[np.ndarray]]:
            return ([values[start : start + CHUNK] for values in arrays] for start in starts)

        return cls(list(table.arrays), parts, table.index, table.known)

    @cached_property
    def sample(self) -> list[list[str]]:
        """The first rows as text, fewer of a table with many columns."""
        n_rows = max(20, min(LOOK, CELLS // max(1, len(self.header))))
        first = [values[:n_rows] for values in next(self.parts(), [])]
        return [list(row) for row in zip(*map(_as_text, first), strict=True)]

    @property
    def rows(self) -> Iterator[tuple[int, list[Any]]]:
        """All rows with their numbers, as numbers and text."""
        plain = (
            zip(*(v.tolist() if v.dtype.kind in "biuf" else _as_text(v) for v in part), strict=True)
            for part in self.parts()
        )
        return ((i, list(row)) for i, row in enumerate(chain.from_iterable(plain), 1))

    def batches(self, special: Collection[int] = ()) -> Iterator[Batch]:
        """Yield row numbers and columns: numbers as arrays, `special` columns and words as text."""
        done = 0
        for part in self.parts():
            cells: list[Any] = []
            for i, values in enumerate(part):
                is_text = i in special or values.dtype.kind not in "biufm"
                cells += [_as_text(values) if is_text else _seconds(values).astype(float)]
            yield range(done + 1, done + 1 + len(part[0])), cells, ()
            done += len(part[0])


def _seconds(values: np.ndarray) -> np.ndarray:
    """Return spans of time in seconds, and other values as they are."""
    return values / np.timedelta64(1, "s") if values.dtype.kind == "m" else values


def _as_text(values: np.ndarray) -> list[str]:
    """Return values as a file would hold them; a missing value is empty text."""
    values = _seconds(values)
    plain = (np.datetime_as_string(values) if values.dtype.kind == "M" else values).tolist()
    for value in plain if values.dtype.kind in "OS" else ():
        if isinstance(value, dict | list | bytes | np.ndarray):
            problem = f"a cell holds {type(value).__name__}: {value!r:.40}"
            raise ValueError(f"{problem}; numbers, text and times are read")
    lost = is_missing(values).tolist()
    return ["" if no else str(value) for no, value in zip(lost, plain, strict=True)]


def table_dataset(source: Source, table: Any, options: Mapping[str, Any]) -> Dataset:
    """Read a table: one time point per row, one series per row, or one series in all."""
    options = {**table.known, **options}
    columns = Columns(**options)
    layout = layout_of(table, columns) if table.sample else "one"
    if layout == "letters":
        return read_letters(source, table, **options)
    if columns.id not in ("id", None) or layout == "long":
        return read_long(source, table, **options)
    if layout == "wide":
        return read_wide(source, table, **options)
    if layout != "one":
        hint = f" names one of {some(table.header)}; mvdfq.io.read([table]) reads one series"
        source.fail("no column of ids", Sentence({"id": "NAME"}, hint))
    return series_dataset(source, columns, [(source.stem, source.path, lambda _: table, {})])


def read_memory(
    X: Any, options: Mapping[str, Any] | None = None, source: Source | None = None
) -> Dataset:
    """Read a table, or tables of one series each; without options a label needs its name."""
    source = Source(TABLE) if source is None else source
    if isinstance(X, list | tuple):
        is_records = all(isinstance(item, Mapping) for item in X)
        cells = chain.from_iterable(item.values() for item in X if is_records)
        is_one = is_records and not any(map(_is_series, cells))
        X = by_column(X) if is_one else {f"{TABLE} {i}": table for i, table in enumerate(X)}
    # a Dataset of xarray is a mapping, too
    is_many = isinstance(X, Mapping) and not hasattr(X, "to_dataframe") and bool(X)
    with source.guard():
        if is_many and all(map(is_table, X.values())):
            frames: list[Any] = [
                (str(name), Path(name), lambda _, table=table: Frame.of(_flat(table)), {})
                for name, table in X.items()
            ]
            return series_dataset(source, Columns(**options or {}), frames)
        table = columns_of(X)
        if options is None and not list(known_places("label", list(table.arrays))):
            options = {"label": None}
        return columns_dataset(source, table, options or {})


def columns_dataset(source: Source, table: TableColumns, options: Mapping[str, Any]) -> Dataset:
    """Read columns; a cell may hold a value, or a series of values."""
    lengths = {name: len(values) for name, values in table.arrays.items()}
    if len(set(lengths.values())) > 1:
        source.fail(f"columns of different lengths: {lengths}"[:300])
    if not any(lengths.values()):
        source.fail("no rows")
    if nested := _nested(table):
        return _nested_dataset(source, table, nested, Columns(**options))
    return table_dataset(source, Frame.of(table), options)


def _nested(table: TableColumns) -> list[str]:
    """Return the columns whose every cell holds several values, as in nested frames of sktime."""
    objects = ((k, values) for k, values in table.arrays.items() if values.dtype.kind == "O")
    return [name for name, values in objects if len(values) and all(map(_is_series, values))]


def _flat(table: Any) -> TableColumns:
    """Return the columns of a table of one series, whose cells hold one value each."""
    columns = columns_of(table)
    if nested := _nested(columns):
        problem = f"a cell of column {nested[0]!r} holds a series"
        raise ReadError(TABLE, problem, "pass such a table alone, not in a list of tables")
    return columns


def _is_series(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes | Mapping)


def _nested_dataset(
    source: Source, table: TableColumns, nested: Sequence[str], columns: Columns
) -> Dataset:
    """Read a table whose rows are sequences and whose cells are the channels of a sequence."""
    arrays = table.arrays
    header = [name for name in arrays if name not in nested]
    places = replace(columns, time=None, channels=None).find(source, header, []).places
    about = {key: _as_text(arrays[header[place]]) for key, place in places.items()}
    taken = {*places.values(), *(i for i, name in enumerate(header) if name in table.index)}
    if unused := [name for i, name in enumerate(header) if i not in taken]:
        told = f"columns without series are left out: {some(unused)}; "
        source.remark(Sentence(told, {"label": "NAME"}, " reads one of them as labels"))
    chosen = [str(name) for name in columns.channels or nested if str(name) in nested]

    def read_row(i: int) -> Case:
        try:
            rows = [np.asarray(arrays[name][i], dtype=float) for name in chosen]
        except (ValueError, TypeError) as error:
            raise ValueError(f"{error}; cells hold lists of numbers") from None
        if len({row.shape for row in rows}) > 1:
            raise ValueError("channels of different lengths")
        values = rows[0] if len(rows) == 1 and rows[0].ndim == 2 else np.array(rows)
        known = {key: words[i] for key, words in about.items()}
        return Case(values, *map(known.get, ABOUT))

    numbered = ((i + 1, i) for i in range(len(arrays[nested[0]])))
    data = gather(source, numbered, read_row, row_name="row")
    names = tuple(chosen) if data.X.n_rows == len(chosen) else None
    return replace(data, X=replace(data.X, channel_names=names))


def by_column(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of records by name; None where a record lacks a name."""
    names = dict.fromkeys(name for record in records for name in record.keys())
    return {name: [record.get(name) for record in records] for name in names}


def read_long(source: Source, table: Any = None, **options: Any) -> Dataset:
    """Read the rows of a table, or of a file of text, each a time point of a sequence."""
    columns, table = Columns(**options), table_of(source) if table is None else table
    roles = columns.find(source, table.header, table.sample, table.index)
    if "id" not in roles.places and not roles.has_runs:
        source.fail("line 1: no column of ids", how_to_name("id", roles.header))
    _check_channels(source, roles, columns)
    if "" in roles.names:
        source.fail(f"line 1: column {roles.header.index('') + 1} has no name")
    growing = Growing(source, columns, roles, is_named=table.is_named)
    _add_rows(growing, source, table, roles, {})
    return growing.dataset()


def _check_channels(source: Source, roles: Roles, columns: Columns) -> None:
    """Refuse a table without channels, and a column that names the channel of another column."""
    if not roles.channels:
        source.fail("line 1: no column besides id, time, label and group")
    if (pair := roles.melted) and columns.channels is None:
        variable, value = (roles.header[i] for i in pair)
        problem = f"line 1: {variable!r} names the channel of each value in {value!r}"
        about = [roles.header[i] for i in roles.places.values()]
        pivot = f"table.pivot(index={about}, columns={variable!r}, values={value!r})"
        source.fail(problem, f"write one column per channel; in pandas: {pivot}.reset_index()")


def _add_rows(
    growing: Growing, file: Source, table: Any, roles: Roles, facts: Mapping[str, str]
) -> None:
    """Add the rows of a table; `facts` are the same in all rows: the name and label of a file."""
    growing.row, n_rows = table.row, 0
    place = roles.places.get("id", roles.places.get("label", 0))  # a run of rows has a label
    for lines, cells, torn in table.batches(roles.places.values()):
        for line, row in torn:  # its sequence is spoilt
            above = f"the {'header' if table.is_named else 'first line'} has {len(table.header)}"
            problem = f"line {line}: {counted(len(row), 'cell')}, {above}"
            if "id" in facts:
                file.fail(problem, "begin lines that are not part of the table with '#'")
            if not (name := row[place] if place < len(row) else ""):
                file.fail(f"line {line}: no id or label")
            growing.spoil(growing.code("id", [name])[0], problem)
        if not lines:
            continue
        # id, time, label and group, and channels by ":name"
        keyed = {key: cells[place] for key, place in roles.places.items()}
        keyed |= {f":{roles.header[i]}": cells[i] for i in roles.channels}
        keyed |= {key: [word] * len(lines) for key, word in facts.items()}
        names_of_rows = list(keyed["id" if "id" in keyed else "label"])
        if "" in names_of_rows:
            file.fail(f"{table.row} {lines[names_of_rows.index('')]}: no id or label")
        growing.add(lines, keyed, roles)
        n_rows += len(lines)
    if not n_rows:
        file.fail(NO_ROWS)


def csv_files(folder: Path) -> list[Path]:
    """Return the tables in a folder and its sub-folders, without hidden files and metadata.csv."""
    return [path for path in files_in(folder, ENDING) if path.name != METADATA]


def read_csv_folder(source: Source, elsewhere: bool = False, **options: Any) -> Dataset:
    """Read one series per file of a folder; sub-folders are labels, unless those are elsewhere."""
    columns, root = Columns(**options), source.path
    # files in a folder are named from the folder
    named = [(path.as_posix(), path) for path in source.files or [root]]
    if root.is_dir():
        named = [(path.relative_to(root).as_posix(), path) for path in csv_files(root)]
    if not named:
        source.fail("no .csv file in the folder")
    depths = {name.count("/") for name, _ in named}
    # A label that the user names stands in the files; one file has no sub-folder.
    by_folder = not elsewhere and columns.label == "label" and root.is_dir() and depths != {0}
    if by_folder and depths != {1}:
        ways = {"labels": "TABLE"}, " or ", {"label_pattern": "/([^/.]+)"}
        hint = Sentence("make one folder per class, or pass ", *ways)
        source.fail("files must all lie in the folder, or all in sub-folders of the folder", hint)
    facts = [{"label": path.parent.name} if by_folder else {} for _, path in named]
    tables = [(*about, table_of, known) for about, known in zip(named, facts, strict=True)]
    return series_dataset(source, columns, tables)


def series_dataset(source: Source, columns: Columns, tables: Sequence[Series]) -> Dataset:
    """Read tables of one series each."""
    growing = Growing(source, columns)
    for i, (name, path, opened, facts) in enumerate(tables):
        sequence = growing.code("id", [name])[0]
        growing.paths[int(sequence)] = path
        file = Source(path, max_bytes=source.max_bytes, remarks=source.remarks)
        try:
            table = opened(file)
            roles = _roles(growing, file, table, facts)
            _add_rows(growing, file, table, roles, {"id": name, **facts})
        except ReadError as error:
            growing.spoil(sequence, error.problem, error.hint)
        source.tell(i + 1, len(tables))
    if not growing.chunks:
        check_kept(source.path, 0, [*growing.bad.values()])
    return growing.dataset()


def _roles(growing: Growing, file: Source, table: Any, facts: Mapping[str, str]) -> Roles:
    """Return the role of each column; compare the channels with the channels of the first file."""
    # a label that the folder tells must not stand in the file as well
    known: Any = {key: key for key in facts}
    roles = replace(growing.columns, **known).find(file, table.header, table.sample, table.index)
    roles = replace(roles, places={k: i for k, i in roles.places.items() if k != "id"})
    if "label" in facts and "label" in roles.places:
        hint = f"labels come from sub-folders or {METADATA}; a long table is one file"
        name = table.header[roles.places["label"]]
        file.fail(f"line 1: a column {name!r} within one series", hint)
    _check_channels(file, roles, growing.columns)
    if not growing.channels:  # of the first file
        growing.roles, growing.is_named = roles, table.is_named
    channels = growing.channels
    if set(roles.names) != set(channels) or table.is_named != growing.is_named:
        hint = Sentence({"channels": "NAMES"}, " names the columns that all files have")
        file.fail(f"line 1: channels {roles.names[:20]}, other files have {channels[:20]}", hint)
    return roles

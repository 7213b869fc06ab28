"""Tables that are not text: data frames, dictionaries, lists of data frames -> a data set.

The columns are found as in files: what is an id, a time, a label, a group, a channel.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq.io.dataset import Case, Dataset, dataset_of
from mvdfq.io.source import Source
from mvdfq.io.tables.column_roles import Columns, known_places, layout_of, some
from mvdfq.io.tables.csv_tables import CHUNK, LOOK, Batch
from mvdfq.io.tables.long_tables import long_dataset, series_dataset
from mvdfq.io.tables.series_rows import wide_dataset
from mvdfq.sequences.containers import is_table
from mvdfq.sequences.converters import channels_first
from mvdfq.sequences.tables import TableColumns, columns_of, is_missing

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
        size = len(arrays[0]) if arrays else 0

        def parts() -> Iterator[list[np.ndarray]]:
            for start in range(0, size, CHUNK):
                yield [values[start : start + CHUNK] for values in arrays]

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
            cells = [
                _as_text(values)
                if i in special or values.dtype.kind not in "biufm"
                else _seconds(values).astype(float)
                for i, values in enumerate(part)
            ]
            rows = range(done + 1, done + 1 + len(part[0]))
            yield rows, cells, ()
            done += len(rows)


def _seconds(values: np.ndarray) -> np.ndarray:
    """Return spans of time in seconds, and other values as they are."""
    return values / np.timedelta64(1, "s") if values.dtype.kind == "m" else values


def _as_text(values: np.ndarray) -> list[str]:
    """Return values as a file would hold them; a missing value is empty text."""
    values = _seconds(values)
    plain = (np.datetime_as_string(values) if values.dtype.kind == "M" else values).tolist()
    for value in plain if values.dtype.kind in "OS" else ():
        if isinstance(value, dict | list | bytes | np.ndarray):
            kind = type(value).__name__
            hint = "numbers, text and times are read"
            raise ValueError(f"a cell holds {kind}: {value!r:.40}; {hint}")
    lost = is_missing(values).tolist()
    return ["" if no else str(value) for no, value in zip(lost, plain, strict=True)]


def table_dataset(source: Source, table: Any, options: Mapping[str, Any]) -> Dataset:
    """Read a table: one time point per row, one series per row, or one series in all."""
    columns = Columns.of({**table.known, **options})
    layout = layout_of(table, columns) if table.sample else "one"
    if columns.id not in ("id", None) or layout == "long":
        return long_dataset(source, columns, table)
    if layout == "wide":
        return wide_dataset(source, columns, table)
    if layout != "one":
        hint = f"id=NAME names one of {some(table.header)}; mvdfq.io.read([table]) reads one series"
        source.fail("no column of ids", hint)
    return series_dataset(source, columns, [(source.stem, source.path, lambda _: table, {})], "row")


def read_memory(
    X: Any, options: Mapping[str, Any] | None = None, source: Source | None = None
) -> Dataset:
    """Read a table in memory, or several tables: one series each, named by keys or by numbers.

    Without options, only a column called a label is a label.
    """
    source = Source(TABLE) if source is None else source
    X = as_columns(X)
    if isinstance(X, list | tuple):
        X = {f"{TABLE} {i}": table for i, table in enumerate(X)}
    # a Dataset of xarray is a mapping, too
    is_many = isinstance(X, Mapping) and not hasattr(X, "to_dataframe") and bool(X)
    with source.guard():
        if is_many and all(map(is_table, X.values())):
            frames: list[Any] = [
                (str(name), Path(name), lambda _, table=table: Frame.of(columns_of(table)), {})
                for name, table in X.items()
            ]
            return series_dataset(source, Columns.of(options or {}), frames, "row")
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
    objects = {name: values for name, values in table.arrays.items() if values.dtype.kind == "O"}
    # Every cell holds several values, as in the nested frames of sktime.
    nested = [name for name, values in objects.items() if all(map(_is_series, values))]
    if nested:
        return _nested_dataset(source, table, nested, Columns.of(options))
    return table_dataset(source, Frame.of(table), options)


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
    chosen = [str(name) for name in columns.channels or nested if str(name) in nested]
    cases = []
    for i in range(len(arrays[nested[0]])):
        try:
            rows = [np.asarray(arrays[name][i], dtype=float) for name in chosen]
        except (ValueError, TypeError) as error:
            source.fail(f"row {i + 1}: {error}", "cells hold lists of numbers")
        if len({row.shape for row in rows}) > 1:
            source.fail(f"row {i + 1}: channels of different lengths")
        values = rows[0] if len(rows) == 1 and rows[0].ndim == 2 else np.array(rows)
        told = {key: words[i] for key, words in about.items()}
        name = told.pop("id", f"{source.stem}:{i + 1}")
        cases.append(Case(values, told.get("label"), name, told.get("group")))
    data = dataset_of(source, cases, channels_first)
    if data.X.n_rows != len(chosen):
        return data
    return replace(data, X=replace(data.X, channel_names=tuple(chosen)))


def as_columns(X: Any) -> Any:
    """Return a list of records as a dictionary of columns, and anything else unchanged."""
    is_list = isinstance(X, list | tuple) and all(isinstance(one, Mapping) for one in X)
    if not is_list or any(map(_is_series, chain.from_iterable(one.values() for one in X))):
        return X
    return by_column(X)


def by_column(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of records by name; None where a record lacks a name."""
    names = dict.fromkeys(name for record in records for name in record.keys())
    return {name: [record.get(name) for record in records] for name in names}

"""Tables in memory as columns of arrays: pandas, polars, pyarrow, xarray and dictionaries."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mvdfq.sequences.containers import unmasked

# What dimensions of xarray are called, in lower case.
CHANNEL = re.compile(r"channels?|variables?|features?|sensors?|leads?|ch|axis|band|coef.*")
TIME = re.compile(r"t|.*time.*|.*date.*|frames?|steps?|samples?|seconds?")


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table, which of them were its index, and what the index tells of them."""

    arrays: dict[str, np.ndarray]
    index: frozenset[str] = frozenset()
    # An index of two levels, which differ on every line, is the id and the time.
    known: Mapping[str, str] = field(default_factory=dict)


def columns_of(table: Any) -> TableColumns:
    """Return columns as arrays; missing: NaN among numbers, NaT among times, None among words."""
    if hasattr(table, "to_dataframe"):
        table = _of_xarray(table)
    if isinstance(table, Mapping):
        return TableColumns({str(name): as_column(table[name], str(name)) for name in table})
    index, known = frozenset[str](), dict[str, str]()
    if hasattr(table, "reset_index") and hasattr(table, "index"):
        table, index, known = _without_index(table)
    import narwhals

    try:
        frame = narwhals.from_native(table.collect() if hasattr(table, "collect") else table,
                                     eager_only=True)  # fmt: skip
    except TypeError:
        raise TypeError(
            f"table must be a data frame or a mapping of column name to values, got "
            f"{type(table).__name__}; pandas.DataFrame(table) makes a data frame of a list of "
            f"dicts or of a structured array."
        ) from None
    arrays = {}
    for series in frame.iter_columns():
        # a name of several levels is joined with spaces
        levels = series.name if isinstance(series.name, tuple) else (series.name,)
        if series.dtype == narwhals.Boolean:
            series = series.cast(narwhals.Float64)
        # The codes of pyarrow's dictionaries have no code for a missing value.
        is_coded = series.dtype in (narwhals.Categorical, narwhals.Enum)
        values = np.array(series.to_list(), dtype=object) if is_coded else series.to_numpy()
        arrays[" ".join(map(str, levels))] = values
    return TableColumns(arrays, index, known)


def _without_index(table: Any) -> tuple[Any, frozenset[str], dict[str, str]]:
    """Return a pandas frame whose index has become columns, their names, and what they are."""
    index, taken = table.index, {str(name) for name in table.columns}
    if type(index).__name__ == "RangeIndex" and index.name is None:
        return table, frozenset(), {}
    usual = ["id", "time"] if index.nlevels == 2 else [""] * index.nlevels
    names = []
    for i, name in enumerate(index.names):
        # as pandas calls a level without a name in files
        free = usual[i] if usual[i] and usual[i] not in taken else f"__index_level_{i}__"
        names.append(str(name) if name is not None and str(name) not in taken else free)
    known = {}
    if index.nlevels > 1 and index.is_unique:
        known = {"id": names[0], "time": names[-1]}
    plain = table.reset_index(names=names)
    if index.nlevels > 2 and known:
        levels = zip(*(plain[name] for name in names[:-1]), strict=True)
        plain.insert(0, "sequence", ["/".join(map(str, level)) for level in levels])
        known["id"] = "sequence"
    return plain, frozenset(names), known


def _of_xarray(data: Any) -> Any:
    """Return a pandas frame whose index has the sequences first and the time last."""
    if not hasattr(data, "data_vars"):
        channel = next((one for one in data.dims if CHANNEL.fullmatch(str(one).lower())), None)
        if channel is None and data.ndim > 2:
            problem = f"The dimensions of the array are {list(map(str, data.dims))}"
            hint = "call the dimension of channels 'channel': X.rename(OLD='channel')"
            raise ValueError(f"{problem}; {hint}.")
        has_name = {} if channel is not None else {"name": data.name or "value"}
        data = data.to_dataset(**has_name, dim=channel)
    dims = list(map(str, data.sizes))
    time = next((one for one in dims if TIME.fullmatch(one.lower()) and "time" in one.lower()), "")
    time = time or next((one for one in dims[::-1] if TIME.fullmatch(one.lower())), dims[-1])
    return data.to_dataframe(dim_order=[*(one for one in dims if one != time), time])


def as_column(values: Any, name: str) -> np.ndarray:
    """Return one column as an array; masked values become NaN, or None among words and dates."""
    if isinstance(values, np.ma.MaskedArray):
        if not np.ma.is_masked(values):  # keep the dtype: ids stay whole numbers
            values = np.ma.getdata(values)
        elif values.dtype.kind in "biuf":
            values = unmasked(values)
        else:
            values = np.array(values.tolist(), dtype=object)
    elif isinstance(values, list | tuple):
        # words beside other things, or sequences in place of values: not "1" and "nan" as words
        kinds = {type(value) for value in values}
        is_mixed = (str in kinds and len(kinds) > 1) or any(
            hasattr(kind, "__len__") for kind in kinds - {str}
        )
        values = np.fromiter(values, object, len(values)) if is_mixed else values
    column = np.asarray(values)
    if column.ndim != 1:
        raise ValueError(f"Column {name!r} must be one-dimensional, got shape {column.shape}.")
    return column


def is_missing(column: np.ndarray) -> np.ndarray:
    """Return where a column is NaN, NaT, None or pandas.NA."""
    if column.dtype.kind != "O":
        return column != column
    same = [None if value is None else value == value for value in column]
    return np.array([not (isinstance(s, bool | np.bool_) and s) for s in same], dtype=bool)

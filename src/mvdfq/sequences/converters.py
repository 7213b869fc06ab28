"""Converters of other data: arrays with time first, and tables of pandas, polars, pyarrow, xarray.

Nothing is guessed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from mvdfq._utils.errors import quiet
from mvdfq.sequences.check import as_array, check_collection, check_sampling_rate, check_sequences
from mvdfq.sequences.containers import Sequences, unmasked


def from_time_first(X: Any, **options: Any) -> Sequences:
    """Read sequences given as ``(n_timepoints, n_channels)``, as tslearn and Keras use them.

    Parameters
    ----------
    X : list of 2-D array-like, or 3-D array of shape (n_sequences, n_timepoints, n_channels)
        Sequences with time first; padding with NaN at the end is cut off. Data frames must have
        the same columns, whose names become the names of the channels.
    **options : dict
        Passed on to `check_sequences`.

    Returns
    -------
    sequences : Sequences
        The same values, channels first.

    Examples
    --------
    >>> import numpy as np
    >>> from mvdfq import from_time_first
    >>> from_time_first(np.zeros((4, 100, 3))).n_rows
    3
    """
    check_collection(X)
    frames = [as_array(x, i) for i, x in enumerate(X)]
    for i, x in enumerate(frames):
        if x.ndim != 2:
            wanted = "shape (n_timepoints, n_channels)"
            raise ValueError(f"Sequence {i} must have {wanted}, got shape {x.shape}.")
    if frames and all(hasattr(x, "columns") for x in X):
        first, *others = (list(x.columns) for x in X)
        for i, other in enumerate(others, start=1):
            if other != first:
                problem = f"Sequence {i} has the columns {other}, sequence 0 has {first}"
                hint = "all data frames must have the same columns in the same order"
                raise ValueError(f"{problem}; {hint}.")
        options = {"channel_names": list(map(str, first))} | options
    return channels_first([x.T for x in frames], **options)


def from_long_table(
    table: Any,
    *,
    id: str = "id",
    time: str = "time",
    channels: Sequence[str] | None = None,
    label: str | None = None,
    group: str | None = None,
    categories: Mapping[str, Sequence[Any]] | Sequence[str] | None = None,
    sampling_rate: float | None = None,
) -> tuple[Any, ...]:
    """Read a table with one line per sequence and time: ``id, time, channels..., label``.

    Parameters
    ----------
    table : data frame or mapping of column name to array
        The columns, of equal length; the lines may have any order. Masked values are missing.
        Data frames are pandas, polars, pyarrow or xarray; an index of two levels is the id and
        the time.
    id : str, default="id"
        Column that says which sequence a line belongs to.
    time : str, default="time"
        Column that orders the lines of a sequence: numbers or dates without missing values; dates
        may be text such as ``"2024-05-31"`` or ``"09:30"``.
    channels : sequence of str, default=None
        Columns that become channels; by default all columns but `id`, `time`, `label` and `group`.
    label : str, default=None
        Column with the class of the sequence, the same on all lines of a sequence.
    group : str, default=None
        Column with the group of the sequence (a subject, a device), the same on all lines of a
        sequence. If given, a fourth value is returned.
    categories : mapping of str to sequence, or sequence of str, default=None
        For a column of states or words: the values of the column, in the order of their codes.
        The channel becomes a channel of symbols; a value that is not listed is missing. Names of
        columns alone take all values of these columns, sorted.
    sampling_rate : float, default=None
        Frames per unit of `time`; frames per second if `time` is a datetime64 or timedelta64. If
        given, each line is put at its place on the regular grid, and the empty places of the
        grid are missing values.

    Returns
    -------
    sequences : Sequences
        One sequence per id, sorted by id.
    ids : ndarray of shape (n_sequences,)
        The ids.
    labels : ndarray of shape (n_sequences,) or None
        The class of each sequence, if `label` was given.
    groups : ndarray of shape (n_sequences,)
        The group of each sequence; returned only if `group` was given.

    Examples
    --------
    >>> from mvdfq import from_long_table
    >>> table = {"id": [7, 7, 3], "time": [1, 0, 0], "x": [0.5, 0.1, 0.9], "y": [1, 2, 3]}
    >>> X, ids, _ = from_long_table(table)
    >>> ids, X.channel_names, X[1].tolist()
    (array([3, 7]), ('x', 'y'), [[0.1, 0.5], [2.0, 1.0]])
    """
    check_sampling_rate(sampling_rate)
    given = columns_of(table)
    id, time = (
        given.known.get(key, name) if name == key and name not in given.arrays else name
        for key, name in (("id", id), ("time", time))
    )
    keys = [id, time, *(name for name in (label, group) if name is not None)]
    names = [c for c in given.arrays if c not in keys] if channels is None else list(channels)
    columns = _columns(given.arrays, [*keys, *names])
    symbolic = _check_categories(categories or {}, names, columns)
    for name in (id, time):
        for line in np.flatnonzero(is_missing(columns[name])):
            problem = f"Column {name!r} has no value on line {line} (the first line is 0)"
            raise ValueError(f"{problem}; every line needs an id and a time.")
    for text in columns[time].tolist() if columns[time].dtype.kind in "OU" else ():
        if isinstance(text, str) and not re.match(r"\d{4}-\d\d|\d\d:\d\d", text):
            problem = f"Column {time!r} must hold numbers or dates, got the text {text!r}"
            raise ValueError(f"{problem}; texts are sorted by letters, '10' before '9'.")
    # by id, then by time: lines of a sequence may lie apart
    order = np.lexsort((columns[time], columns[id]))
    ids, starts = np.unique(columns[id][order], return_index=True)
    rows = [_numbers(columns[c][order], c, symbolic.get(c)) for c in names]
    parts = np.split(np.array(rows, dtype=float), starts[1:], axis=1)
    if sampling_rate is not None:
        times = np.split(_seconds(columns[time][order], time), starts[1:])
        parts = list(map(partial(_on_grid, sampling_rate), parts, times, ids.tolist()))
    X = channels_first(parts, channel_names=names, sampling_rate=sampling_rate)
    X = replace(X, symbolic=tuple(c in symbolic for c in names))
    labels, groups = [
        None if name is None else _constants(columns[name][order], starts, ids, name, what)
        for name, what in ((label, "label"), (group, "group"))
    ]
    return (X, ids, labels) if group is None else (X, ids, labels, groups)


def channels_first(X: Sequence[np.ndarray], **options: Any) -> Sequences:
    """Check sequences without the warning that time may come first."""
    with quiet():
        return check_sequences(X, **options)


def _columns(arrays: Mapping[str, np.ndarray], wanted: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the wanted columns; refuse columns of unequal length."""
    for name in wanted:
        if name not in arrays:
            hint = f"the columns of the table are {sorted(arrays)}"
            raise ValueError(f"The table has no column {name!r}; {hint}.")
    lengths = {name: len(arrays[name]) for name in wanted}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"The columns of the table differ in length: {lengths}.")
    if not any(lengths.values()):
        raise ValueError("The table holds no lines; pass at least one line.")
    return {name: arrays[name] for name in wanted}


def _check_categories(
    categories: Any, names: Sequence[str], columns: Mapping[str, np.ndarray]
) -> Mapping[str, Sequence[Any]]:
    """Return the categories; refuse a table without channels and categories of other columns."""
    if not names:
        raise ValueError("The table has no channels: no column besides id, time and label.")
    for name in categories:
        if name not in names:
            raise ValueError(f"categories names {name!r}; the channels are {list(names)}.")
    if isinstance(categories, Mapping):
        return categories
    given = {name: {*columns[name][~is_missing(columns[name])].tolist()} for name in categories}
    # numbers before words, which cannot be compared with them
    return {name: sorted(given[name], key=lambda x: (isinstance(x, str), x)) for name in given}


def _seconds(column: np.ndarray, name: str) -> np.ndarray:
    """Return times as floats: numbers unchanged, dates in seconds since the first date."""
    if column.dtype.kind in "mM":
        return (column - column.min()) / np.timedelta64(1, "s")
    try:
        if column.dtype.kind != "U" and np.isfinite(times := column.astype(float)).all():
            return times
    except (TypeError, ValueError):
        pass
    wanted = "finite numbers or datetime64 to be put on the grid of sampling_rate"
    raise ValueError(f"Column {name!r} must hold {wanted}, got dtype {column.dtype}.")


def _numbers(column: np.ndarray, name: str, values: Sequence[Any] | None) -> np.ndarray:
    """Return a column as floats; listed categories become codes, other values NaN."""
    if values is not None:
        codes = {value: float(code) for code, value in enumerate(values)}
        return np.array([codes.get(value, np.nan) for value in column.tolist()])
    try:
        return column.astype(float)
    except (TypeError, ValueError):
        problem = f"Column {name!r} must hold numbers, got dtype {column.dtype}"
        hint = f"if the column holds states or words, pass categories=[{name!r}]; if it holds"
        hint = f"{hint} labels, label={name!r}; mvdfq.io.read(table) finds such columns"
        raise ValueError(f"{problem}; {hint}.") from None


def _on_grid(rate: float, part: np.ndarray, times: np.ndarray, name: Any) -> np.ndarray:
    """Put frames at their places on the regular grid of `rate`; NaN in the gaps."""
    places = np.rint((times - times[0]) * rate).astype(np.int64)
    if np.any(np.diff(places) == 0):
        problem = f"Sequence {name!r} has two lines in one step of 1/sampling_rate={1 / rate:g}"
        raise ValueError(f"{problem}; pass a higher sampling_rate.")
    if places[-1] >= 1000 * len(places):
        problem = f"less than a thousandth of its time grid at sampling_rate={rate:g}"
        hint = "give sampling_rate in frames per unit of the time column"
        raise ValueError(f"Sequence {name!r} fills {problem}; {hint}.")
    out = np.full((len(part), places[-1] + 1), np.nan)
    out[:, places] = part
    return out


def _constants(
    column: np.ndarray, starts: np.ndarray, ids: np.ndarray, name: str, what: str
) -> np.ndarray:
    """Return the label or group of each sequence, which must not change within a sequence."""
    for part, who in zip(np.split(column, starts[1:]), ids.tolist(), strict=True):
        hint = f"a {what} must be the same on all lines of a sequence"
        if is_missing(part).any():
            problem = f"has a line without a {what}; column {name!r} has missing values"
            raise ValueError(f"Sequence {who!r} {problem}, but {hint}.")
        if np.any(part != part[0]):
            raise ValueError(f"Sequence {who!r} has several values in column {name!r}; {hint}.")
    return column[starts]


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
        wanted = "a data frame or a mapping of column name to values"
        hint = "makes a data frame of a list of dicts or of a structured array"
        problem = f"table must be {wanted}, got {type(table).__name__}"
        raise TypeError(f"{problem}; pandas.DataFrame(table) {hint}.") from None
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
        channel = next((d for d in data.dims if CHANNEL.fullmatch(str(d).lower())), None)
        if channel is None and data.ndim > 2:
            problem = f"The dimensions of the array are {list(map(str, data.dims))}"
            hint = "call the dimension of channels 'channel': X.rename(OLD='channel')"
            raise ValueError(f"{problem}; {hint}.")
        has_name = {} if channel is not None else {"name": data.name or "value"}
        data = data.to_dataset(**has_name, dim=channel)
    dims = list(map(str, data.sizes))
    time = next((d for d in dims if TIME.fullmatch(d.lower()) and "time" in d.lower()), "")
    time = time or next((d for d in dims[::-1] if TIME.fullmatch(d.lower())), dims[-1])
    return data.to_dataframe(dim_order=[*(d for d in dims if d != time), time])


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

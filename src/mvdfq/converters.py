"""Named ways in for data of other shapes: time first, long tables. Never by guessing."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mvdfq.sequences import Sequences, check_sequences

__all__ = ["from_long_table", "from_time_first"]


def from_time_first(X: Any, **options: Any) -> Sequences:
    """Read sequences given as ``(n_timepoints, n_channels)``, as tslearn and Keras have them.

    Parameters
    ----------
    X : list of 2-D array-like, or 3-D array of shape (n_sequences, n_timepoints, n_channels)
        Sequences with time first; NaN padding at the end is cut off.

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
    frames = [np.asarray(x) for x in X]
    for i, x in enumerate(frames):
        if x.ndim != 2:
            raise ValueError(
                f"Sequence {i} must be 2-D (n_timepoints, n_channels), got shape {x.shape}."
            )
    with warnings.catch_warnings():  # the caller has just said which axis is time
        warnings.simplefilter("ignore", UserWarning)
        return check_sequences([x.T for x in frames], **options)


def from_long_table(
    table: Any,
    *,
    id: str = "id",
    time: str = "time",
    channels: Sequence[str] | None = None,
    label: str | None = None,
    categories: Mapping[str, Sequence[Any]] | None = None,
    sampling_rate: float | None = None,
) -> tuple[Sequences, np.ndarray, np.ndarray | None]:
    """Read a table with one line per sequence and time: ``id, time, channels..., label``.

    Parameters
    ----------
    table : DataFrame or mapping of column name to array
        The columns, of equal length, in any order of lines.

    id : str, default="id"
        Column that says which sequence a line belongs to.

    time : str, default="time"
        Column to sort by within a sequence.

    channels : sequence of str, default=None
        Columns that become channels; all others than `id`, `time` and `label` by default.

    label : str, default=None
        Column with the class of the sequence, the same on all its lines.

    categories : mapping of str to sequence, default=None
        For a column of states or words: its values, in the order of their codes. The channel
        becomes symbolic; a value not listed is missing.

    sampling_rate : float, default=None
        Frames per unit of `time`. When given, each line is put at its place on the regular
        grid and the gaps between are missing values.

    Returns
    -------
    sequences : Sequences
        One sequence per id, in sorted order of the ids.

    ids : ndarray of shape (n_sequences,)
        The ids.

    labels : ndarray of shape (n_sequences,) or None
        The class of each sequence, if `label` was given.

    Examples
    --------
    >>> from mvdfq import from_long_table
    >>> table = {"id": [7, 7, 3], "time": [1, 0, 0], "x": [0.5, 0.1, 0.9], "y": [1, 2, 3]}
    >>> X, ids, _ = from_long_table(table)
    >>> ids, X.channel_names, X[1].tolist()
    (array([3, 7]), ('x', 'y'), [[0.1, 0.5], [2.0, 1.0]])
    """
    columns = {str(name): np.asarray(table[name]) for name in table}
    _require_columns(columns, [id, time, *(channels or []), *([label] if label else [])])
    if not len(columns[id]):
        raise ValueError("The table holds no lines.")
    names = list(channels or [c for c in columns if c not in (id, time, label)])
    order = np.lexsort((columns[time], columns[id]))
    ids, starts = np.unique(columns[id][order], return_index=True)
    rows = [_numbers(columns[c][order], c, (categories or {}).get(c)) for c in names]
    parts = np.split(np.array(rows, dtype=float), starts[1:], axis=1)
    if sampling_rate is not None:
        times = np.split(columns[time][order].astype(float), starts[1:])
        parts = [
            _on_grid(part, when, who, sampling_rate)
            for part, when, who in zip(parts, times, ids.tolist(), strict=True)
        ]
    with warnings.catch_warnings():  # a table says by its columns which axis is which
        warnings.simplefilter("ignore", UserWarning)
        X = check_sequences(parts, channel_names=names, sampling_rate=sampling_rate)
    X = replace(X, symbolic=tuple(c in (categories or {}) for c in names))
    return X, ids, _labels(columns[label][order], starts, ids, label) if label else None


def _require_columns(columns: Mapping[str, np.ndarray], wanted: Sequence[str]) -> None:
    for name in wanted:
        if name not in columns:
            raise ValueError(f"The table has no column {name!r}; it has {sorted(columns)}.")


def _numbers(column: np.ndarray, name: str, values: Sequence[Any] | None) -> np.ndarray:
    """A column as floats; listed categories become their codes, others NaN."""
    if values is not None:
        codes = {value: float(code) for code, value in enumerate(values)}
        return np.array([codes.get(value, np.nan) for value in column.tolist()])
    try:
        return column.astype(float)
    except (TypeError, ValueError):
        raise ValueError(
            f"Column {name!r} does not hold numbers; if it holds states or words, list them: "
            f"categories={{{name!r}: [...]}}."
        ) from None


def _on_grid(part: np.ndarray, times: np.ndarray, who: Any, rate: float) -> np.ndarray:
    """Put frames at their places on the regular grid of `rate`; NaN in the gaps."""
    places = np.rint((times - times[0]) * rate).astype(np.int64)
    if np.any(np.diff(places) == 0):
        raise ValueError(
            f"Sequence {who!r} has two lines in one step of 1/sampling_rate={1 / rate:g}; "
            f"a higher sampling_rate tells them apart."
        )
    if places[-1] >= 1000 * len(places):
        raise ValueError(
            f"Sequence {who!r} fills less than a thousandth of its time grid at "
            f"sampling_rate={rate:g}; is the rate in the unit of the time column?"
        )
    out = np.full((len(part), places[-1] + 1), np.nan)
    out[:, places] = part
    return out


def _labels(column: np.ndarray, starts: np.ndarray, ids: np.ndarray, name: str) -> np.ndarray:
    """The label of each sequence; refuse one that changes within a sequence."""
    for part, who in zip(np.split(column, starts[1:]), ids.tolist(), strict=True):
        if np.any(part != part[0]):
            raise ValueError(f"Sequence {who!r} has several values in column {name!r}.")
    return column[starts]

"""Read what a user passes as a collection of sequences, or say what is wrong and where."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from scipy.sparse import issparse

from mvdfq._utils.checks import check_choice, is_number
from mvdfq._utils.errors import ParameterError, Usual, warn
from mvdfq._utils.short import counted
from mvdfq.sequences.containers import Ragged, Sequences, is_table, offsets_of, unmasked

SAME_LENGTH = "all rows of a sequence must have the same length."
TIME_FIRST = "if time comes first in your arrays, read them with mvdfq.from_time_first."
TABLE = "a table, whose time runs down", "table.to_numpy().T"
# The ending of a file name.
FILE = re.compile(r"\.[A-Za-z]\w{1,6}$")


def check_sequences(
    X: Any,
    *,
    n_channels: int | None = None,
    missing: str = "break",
    channel_names: Sequence[str] | None = None,
    sampling_rate: float | None = None,
) -> Sequences:
    """Read `X` as a collection of sequences, or raise an error that says what is wrong and where.

    Parameters
    ----------
    X : list of array-like, 3-D array, 2-D array, list of str, table or Sequences
        One sequence is ``(n_channels, n_timepoints)``; lengths may differ. A 2-D array and a list
        of 1-D arrays hold univariate sequences. A string is a row of symbols. A sequence may be
        a list of rows, and some of these rows may be strings. None and masked values are
        missing, like NaN. A table (pandas, polars, pyarrow, xarray, a dictionary of columns) and
        a list of data frames with time down are read as by `mvdfq.io.read`; Biopython's Seq and
        SeqRecord are strings.
    n_channels : int, default=None
        Refuse sequences with another number of channels.
    missing : {"break", "raise"}, default="break"
        ``"break"``: words that contain a NaN are not counted. ``"raise"``: a NaN inside a
        sequence is refused. In both cases, frames at the end that are NaN in every channel are
        padding: they are cut off and are not part of the sequence.
    channel_names : sequence of str, default=None
        Names of the channels, all different.
    sampling_rate : float, default=None
        Frames per second, positive.

    Returns
    -------
    sequences : Sequences
        The same values, flat, in double precision: the same values of another type, such as int16
        or float32, give the same symbols.

    Examples
    --------
    >>> import numpy as np
    >>> from mvdfq import check_sequences
    >>> check_sequences([[1.0, 2.0, np.nan], [3.0, 4.0]]).lengths
    array([2, 2])
    >>> check_sequences(["ABBA", "BA"]).symbolic
    (True,)
    """
    check_choice(missing, "missing", ("break", "raise"))
    if isinstance(X, Ragged) and not isinstance(X, Sequences):
        problem = f"X must be sequences of numbers, got {type(X).__name__}"
        raise TypeError(f"{problem}; this step comes before the quantizer.")
    given = X
    if is_table(X) or (isinstance(X, list | tuple) and X and all(map(is_table, X))):
        X = _read_tables(X)
    if not isinstance(X, Sequences):
        sequences = _flatten(gather(X, n_channels))
    else:
        is_double = hasattr(X.held, "is_cuda") or X.data.dtype == float
        sequences = X if is_double else X.with_data(X.data.astype(float))
    _check_channel_count(sequences, n_channels, given)
    if missing == "raise":
        refuse(np.isnan(sequences.data), sequences, "is missing (NaN)", 'pass missing="break"')
    if channel_names is None and sampling_rate is None:
        return sequences
    return replace(
        sequences,
        channel_names=_check_names(channel_names) or sequences.channel_names,
        sampling_rate=check_sampling_rate(sampling_rate) or sequences.sampling_rate,
    )


# One sequence: a 2-D array of numbers, and one flag per row: is the row letters?
Part = tuple[np.ndarray, tuple[bool, ...]]


def _read_tables(X: Any) -> Sequences:
    """Read a table, or a list of tables, with the reader of files; warn of what it remarks."""
    # The room of files stands after this room, and is entered only where a table comes.
    data = import_module("mvdfq.io.tables.long_tables").read_memory(X)
    for remark in data.remarks:
        if not isinstance(remark, Usual):
            warn(f"X is a table: {remark}.")
    return check_sequences(data.X)


def gather(X: Any, n_channels: int | None = None) -> list[Part]:
    """Read `X` as a list of sequences."""
    if not isinstance(X, Iterable) and hasattr(X, "__array__"):
        X = np.asanyarray(X)
    check_collection(X)
    if isinstance(X, np.ndarray) and X.dtype.kind not in "OUST" and X.ndim not in (2, 3):
        wanted = "a list of (n_channels, n_timepoints) arrays, a 3-D array or a 2-D array"
        problem = f"X must be {wanted} of univariate sequences, got an array of shape {X.shape}"
        raise ValueError(f"{problem}; if X is one sequence, pass [X]. Reshape your data otherwise.")
    if isinstance(X, np.ndarray) and X.ndim == 2 and (n_channels or 1) > 1:
        problem = "got a 2-D array, which holds univariate sequences"
        hint = "if X is one sequence of shape (n_channels, n_timepoints), pass [X]"
        raise ValueError(f"X must have {n_channels} channels, {problem}; {hint}.")
    parts = [one_sequence(x, i) for i, x in enumerate(X)]
    if not parts:
        raise ValueError("X holds no sequences; pass at least one sequence.")
    _check_same_channels(parts)
    if len(parts) > 1 and all(isinstance(x, str) and FILE.search(x) for x in X):
        warn(f"X seems to hold names of files: {next(iter(X))!r}; mvdfq.io.read reads files.")
    # only a suspicion: short sequences of many channels exist
    if n_channels is None and all(0 < x.shape[1] < len(x) for x, _ in parts):
        warn(f"Every sequence has more channels than time points; {TIME_FIRST}")
    return parts


def check_collection(X: Any) -> None:
    """Refuse what is not a collection, and collections that can be read only once."""
    wanted, kind = "X must be a list of sequences", type(X).__name__
    if isinstance(X, str | bytes):
        raise TypeError(f"{wanted}, got one string; pass [X].")
    if issparse(X):  # asked first: one kind of sparse matrix is a mapping
        reason = "which is not supported; pass X.toarray(). A zero is a value too."
        raise TypeError(f"X must be dense, got sparse input, {reason}")
    if is_table(X):
        raise TypeError(f"{wanted}, got a table; mvdfq.io.read(X).X reads it.")
    if isinstance(X, Iterator):
        reason = "pass list(X), because an iterator can be read only once."
        raise TypeError(f"{wanted}, got {kind}; {reason}")
    if isinstance(X, set | frozenset):
        raise TypeError(f"{wanted}, got {kind}, which has no order; pass a list.")
    if not isinstance(X, Iterable):
        raise TypeError(f"{wanted}, got {kind}.")


def one_sequence(x: Any, i: int) -> Part:
    """Return one sequence as a 2-D array of numbers, and which of its rows were letters."""
    if type(x).__module__.startswith("Bio."):  # a Seq, or the Seq of a SeqRecord
        x = str(getattr(x, "seq", x))
    x = x.as_py() if hasattr(x, "as_py") else x  # pyarrow
    if isinstance(x, bytes) or is_table(x):
        kind, hint = ("bytes", "x.decode()") if isinstance(x, bytes) else TABLE
        raise ValueError(f"Sequence {i} must be an array or a string, got {kind}; pass {hint}.")
    if isinstance(x, str):
        return _letters(x)[np.newaxis], (True,)
    if isinstance(x, list | tuple) and any(isinstance(row, str) for row in x):
        return _rows_with_letters(x, i)
    x = as_array(x, i)
    if x.ndim == 0:
        problem = f"Sequence {i} must be an array, got a single value ({x.item()!r})"
        raise ValueError(f"{problem}; if X is one univariate sequence, pass [X].")
    if x.ndim > 2:
        wanted = "shape (n_channels, n_timepoints) or be 1-D"
        raise ValueError(f"Sequence {i} must have {wanted}, got shape {x.shape}.")
    return np.atleast_2d(real(x, i)), (False,) * (len(x) if x.ndim == 2 else 1)


def as_array(x: Any, i: int) -> np.ndarray:
    """Return sequence `i` as an array; masked values, also of single rows, become NaN."""
    if isinstance(x, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in x):
        x = [unmasked(row) for row in x]
    try:
        return np.asarray(unmasked(x))
    except ValueError:
        raise ValueError(f"Sequence {i} has rows of different lengths; {SAME_LENGTH}") from None


def real(x: np.ndarray, i: int) -> np.ndarray:
    """Return the values as real numbers; None is a missing value, other objects are refused."""
    if x.dtype.kind in "biuf":
        return x
    if x.dtype.kind == "O":
        # pandas.NA is a missing value, but not a number
        is_na = np.reshape([type(value).__name__ == "NAType" for value in x.ravel()], x.shape)
        with suppress(TypeError, ValueError):
            return np.where(is_na, np.nan, x).astype(float)
    hint = "mvdfq.from_long_table(categories=...) reads states and words as symbols."
    if x.dtype.kind == "c":  # the words that the estimator checks of scikit-learn ask for
        hint = "Complex data not supported, pass the real and the imaginary part as two channels."
    raise ValueError(f"Sequence {i} must hold real numbers, got dtype {x.dtype}; {hint}")


def _letters(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)


def _rows_with_letters(x: Sequence[Any], i: int) -> Part:
    """Read a sequence that is a list of rows; some rows are strings, not letters or words."""
    lengths = {len(row) if isinstance(row, str) else None for row in x}
    if lengths == {1} and len(x) > 1:
        problem = f"Sequence {i} must be one string, got a list of {len(x)} single letters"
        raise ValueError(f'{problem}; pass "".join(letters).')
    if len(lengths) > 1 and None not in lengths:
        problem = f"Sequence {i} is a list of strings of different lengths"
        hint = "mvdfq.from_long_table(categories=...) reads sequences of words"
        raise ValueError(f"{problem}; rows of letters must have the same length. {hint}.")
    rows = [_letters(row) if isinstance(row, str) else real(as_array(row, i), i) for row in x]
    if any(row.shape != (rows[0].size,) for row in rows):
        shapes = f"with the shapes {[row.shape for row in rows]}; {SAME_LENGTH}"
        raise ValueError(f"Sequence {i} has rows of different lengths, {shapes}")
    return np.array(rows, dtype=float), tuple(isinstance(row, str) for row in x)


def _check_same_channels(parts: list[Part]) -> None:
    first, flags = parts[0]
    if not len(first):
        raise ValueError(f"Sequence 0 must have at least one channel, got shape {first.shape}.")
    for i, (x, other) in enumerate(parts):
        if len(x) != len(first):
            widths = {x.shape[1] for x, _ in parts}
            hint = f" All sequences have {widths.pop()} columns: {TIME_FIRST}"
            wanted = f"all sequences must have the same channels.{'' if widths else hint}"
            problem = f"Sequence {i} has {counted(len(x), 'channel')}, sequence 0 has {len(first)}"
            raise ValueError(f"{problem}; {wanted}")
        if other != flags:
            problem = f"Sequence {i} has letters in other channels than sequence 0"
            raise ValueError(f"{problem}; all sequences must have letters in the same channels.")


def _flatten(parts: list[Part]) -> Sequences:
    """Cut off frames at the end that are missing in every channel; join the rest side by side."""
    arrays, flags = [], parts[0][1]
    for i, (x, _) in enumerate(parts):
        if x.dtype.kind == "f" and x.size and np.isnan(x[:, -1]).all():
            present = np.flatnonzero(~np.isnan(x).all(axis=0))
            x = x[:, : present[-1] + 1 if present.size else 0]
        if x.dtype.kind in "iu" and x.size and max(int(x.max()), -int(x.min())) > 2**53:
            problem = "holds whole numbers beyond 2**53, which floats cannot tell apart"
            hint = "subtract a constant, such as the first value, from the sequence"
            raise ValueError(f"Sequence {i} {problem}; {hint}.")
        arrays.append(x)
    offsets = offsets_of([x.shape[1] for x in arrays])
    # rows without gaps, also of transposed arrays: compiled loops run along rows
    data = np.empty((len(arrays[0]), offsets[-1]))
    np.concatenate(arrays, axis=1, out=data, casting="unsafe")
    sequences = Sequences(data, offsets, symbolic=flags if any(flags) else ())
    refuse(np.isinf(sequences.data), sequences, "is infinite", "NaN marks a missing value")
    return sequences


def refuse(bad: np.ndarray, sequences: Sequences, what: str, hint: str) -> None:
    """Raise an error that names the sequence, channel and time of the first bad value."""
    if not bad.any():
        return
    frame = int(np.flatnonzero(bad.any(axis=0))[0])
    channel = int(np.flatnonzero(bad[:, frame])[0])
    i = int(np.searchsorted(sequences.offsets, frame, side="right")) - 1
    where = f"Sequence {i}, channel {channel}: the value at time {frame - sequences.offsets[i]}"
    raise ValueError(f"{where} {what}; {hint}.")


def _check_channel_count(sequences: Sequences, n_channels: int | None, X: Any) -> None:
    if n_channels is not None and sequences.n_rows != n_channels:
        hint = "; X holds letters." if (is_text := sequences.symbolic_mask.all()) else "."
        if is_table(X):
            hint = "; if the table is one sequence with time down, pass [X]."
        elif not isinstance(X, Ragged) and any(isinstance(x, str) and FILE.search(x) for x in X):
            hint = "; if X holds names of files, mvdfq.predict_files(model, X) reads the files."
        elif not is_text and {*sequences.lengths.tolist()} == {n_channels}:
            hint = f"; {TIME_FIRST}"
        got = counted(sequences.n_rows, "channel")
        raise ValueError(f"X has {got}, {n_channels} are expected{hint}")


def _check_names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    names = tuple(map(str, names))
    for name in (name for name, n in Counter(names).items() if n > 1):
        raise ValueError(f"channel_names must all differ, got {name!r} twice.")
    return names


def check_sampling_rate(rate: Any, name: str = "sampling_rate") -> Any:
    """Return the sampling rate; refuse a rate that is neither None nor a positive number."""
    if rate is not None and not (is_number(rate) and 0 < rate < np.inf):
        raise ParameterError(name, f"must be a positive number, got {rate!r}")
    return rate

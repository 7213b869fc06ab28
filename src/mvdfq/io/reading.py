"""Any file or folder -> a data set."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq.io.dataset import Dataset, ReadError, check_kept
from mvdfq.io.formats import Format
from mvdfq.io.parts import joined_parts, parts_of
from mvdfq.io.recognition import RECORDS, file_endings, find_format, named_format
from mvdfq.io.sound.listing import group_expression, group_in
from mvdfq.io.source import Source
from mvdfq.io.tables.column_roles import some

__all__ = ["read", "read_series"]

Report = Callable[[int, int], None]

# Floats hold every whole number below this number.
EXACT = 2**53


def read(
    path: str | Path | Sequence[str | Path],
    format: str | None = None,
    *,
    recipe: Any = None,
    silence: str | None = None,
    label: Any = None,
    id: str | int | None = None,
    time: str | int | None = None,
    group: str | int | None = None,
    channels: Sequence[str | int] | None = None,
    drop: Sequence[str | int] | None = None,
    resample: float | None = None,
    labels: str | Path | None = None,
    strands: str = "one",
    group_pattern: str | None = None,
    skip_bad: bool = False,
    n_jobs: int | None = None,
    cache: str | Path | None = None,
    progress: Report | None = None,
) -> Dataset:
    r"""Read sequences from a file, a folder or several files.

    Parameters
    ----------
    path : str, Path or list of these
        The file or folder to read. Several files must have the same format.

    format : str, default=None
        One of `FORMATS`; by default the format is recognised by content.

    recipe : AudioRecipe or str, default=None
        How sound becomes numbers, or a name in `AUDIO_RECIPES`.

    silence : {"missing", "keep"}, default=None
        Whether frames of digital silence are missing values; by default as the recipe says.

    label : str or int, default=None
        Which column, attribute or part of a FASTA header holds the label: a name, or a number
        that counts from 0; ``"none"`` if a table has no labels.

    id, time, group : str or int, default=None
        Columns of a table, by name or number, as in `read_series`; ``"none"`` if a table does not
        have the column. By default columns are recognised by name and content, and
        `Dataset.remarks` says how.

    channels : sequence of str or int, default=None
        Columns of a table that are channels; by default all columns without another role.

    drop : sequence of str or int, default=None
        Columns of a table that are left out.

    resample : float, default=None
        Rows per second that all sequences of a table are brought to, as in `read_series`.

    labels : str or Path, default=None
        A table ``id,label[,group]`` for FASTA files and profiles.

    strands : {"one", "both"}, default="one"
        ``"both"`` reads FASTA as DNA, each sequence with its reverse complement, as
        `both_strands` does; predict with the same option.

    group_pattern : str, default=None
        Regular expression that finds the group in the name of a sequence.

    skip_bad : bool, default=False
        Leave out sequences that cannot be read and list them in `Dataset.skipped`. If fewer than
        half of the sequences can be read, that is an error.

    n_jobs : int, default=None
        Number of processes for sound files.

    cache : str or Path, default=None
        Folder that keeps the features of sound files.

    progress : callable, default=None
        Called with the amount that is done and the whole amount.

    Returns
    -------
    dataset : Dataset
        The sequences, and the labels, groups and splits that the files hold.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mvdfq.io import read
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.fasta"
    >>> _ = path.write_text(">d1 a\nMVLS\n>d2 b\nPAD\n")
    >>> read(path, label=1).y.tolist()
    ['a', 'b']
    """
    several = not isinstance(path, str | os.PathLike)
    paths = [Path(one) for one in path] if several else [Path(path)]  # type: ignore[union-attr, arg-type]
    if not paths:
        raise ValueError("path must name at least one file, got an empty list.")
    columns = {"id": id, "time": time, "group": group, "channels": channels, "drop": drop}
    columns = _given(columns | {"label": label, "resample": resample})
    record = named_format(format, RECORDS) if format else find_format(paths[0], RECORDS, columns)
    options = {"recipe": recipe, "silence": silence, "labels": labels, "cache": cache}
    options["strands"] = None if strands == "one" else strands
    options = _given(options) | columns
    _refuse_unused(record, list(options))
    options |= _given({"group_pattern": group_pattern, "n_jobs": n_jobs})
    if record.takes_many and several and not any(map(Path.is_dir, paths)):
        return _read_file(record, Source(paths[0], skip_bad, progress, files=paths), options)
    parts = [_read_path(one, record, skip_bad, progress, options) for one in paths]
    data = reduce(Dataset.joined, parts)
    return data if "group_pattern" in record.options else _with_groups(data, group_pattern)


def read_series(
    path: str | Path,
    format: str | None = None,
    *,
    label: str | int | None = "label",
    id: str | int = "id",
    time: str | int | None = "time",
    group: str | int | None = "group",
    channels: Sequence[str | int] | None = None,
    drop: Sequence[str | int] | None = None,
    resample: float | None = None,
    categories: Mapping[str, Sequence[Any]] | None = None,
    time_first: bool = False,
    skip_bad: bool = False,
    progress: Report | None = None,
    max_bytes: int = 2**32,
) -> Dataset:
    r"""Read sequences from a file or folder, whatever the format.

    ====================  ======================================================================
    ``"ts"``              sktime and aeon: unequal lengths, ``?`` and NaN, evenly spaced times
    ``"arff"``            Weka: a relational attribute (rows are channels), or one row of numbers
    ``"npz"``, ``"npy"``  `write_npz`; arrays ``X`` and ``y``, or ``X_train``, ``y_train`` ...;
                          frames end to end with ``lengths``; nothing is unpickled
    ``"wide-csv"``        one series per row; label first, last or named; blanks after its end
    ``"long-csv"``        one time point per row: ``id, time, channels..., label, group``
    ``"parquet"``         as ``"long-csv"``; needs pyarrow
    ``"csv-folder"``      one series per file, one time point per row, channels by header;
                          labels from sub-folders or from ``metadata.csv`` with the columns
                          ``file_name``, ``label`` and ``group``
    ====================  ======================================================================

    Text may be compressed with gzip. Two files ``X_TRAIN`` and ``X_TEST`` are one data set: give
    their folder as the path, or ``X`` without an ending.

    Parameters
    ----------
    path : str or Path
        The file or folder.

    format : str, default=None
        One of the names above; by default the format is recognised by content.

    label : str, int or None, default="label"
        The column or attribute that holds labels: its name or, in a table, its number (0 is the
        first column, -1 the last). None: labels are not read. If no column is called ``"label"``
        or ``"class"``, the only end of a wide table that can hold labels is taken; a long table
        then has no labels.

    id : str or int, default="id"
        The column that names the sequence of each row; by default it is recognised by its name.

    time : str, int or None, default="time"
        The column of times: numbers, dates or clock times, which must increase within a sequence.
        By default it is recognised by its name or content: a column that rises in every sequence
        is the time if no column is called so. Other columns of times are left out.
        None: rows come in the order of the file. ``"clock:ms"`` says that the column ``clock``
        holds milliseconds. Times give the sampling rate; rows count as evenly spaced.

    group : str, int or None, default="group"
        The column of groups, if there is one; by default it is recognised by its name.

    channels : sequence of str or int, default=None
        The columns that are channels; by default all columns without another role. Columns that
        are not listed are left out. Also left out, with a remark, are columns that a data frame
        has as its index, and columns that never change within a sequence and tell the class.

    drop : sequence of str or int, default=None
        Columns that are left out.

    resample : float, default=None
        Rows per second. All sequences are brought to this rate by straight lines between rows; a
        lower rate takes means. Gaps in time and missing values stay missing.

    categories : mapping of str to sequence, default=None
        Column -> states, in the order of their codes, for long tables and folders. A column of
        text is symbolic without `categories` too: the code of a letter is its Unicode number,
        and a word has the same code in all files.

    time_first : bool, default=False
        Whether arrays with three axes are (n_sequences, n_timepoints, n_channels).

    skip_bad : bool, default=False
        Leave out series that cannot be read and list them in `Dataset.skipped`; by default the
        first bad series raises an error.

    progress : callable, default=None
        Called with the amount that is done and the whole amount.

    max_bytes : int, default=2**32
        The largest amount of decompressed text, or of arrays, that is read.

    Returns
    -------
    dataset : Dataset
        The sequences in the order of the file, labels and names. A name is an id, or the name
        of the file with the number of the series. Labels are text, except labels in arrays,
        which are not changed, and targets of a regression in a .ts file.

    Raises
    ------
    ReadError
        If the file cannot be read; the error names the place and what to do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mvdfq.io import read_series
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.csv"
    >>> _ = path.write_text("id,time,x,y,label\na,0,1,5,up\na,1,2,6,up\nb,0,3,7,down\n")
    >>> data = read_series(path)
    >>> data.X.lengths, data.X.channel_names, data.y
    (array([2, 1]), ('x', 'y'), array(['up', 'down'], dtype='<U4'))
    """
    options: dict[str, Any] = {"label": label, "id": id, "time": time, "group": group}
    options |= {"channels": channels, "drop": drop or (), "resample": resample}
    options |= {"categories": categories or {}, "time_first": time_first}
    record = None
    if format is not None:
        record = named_format(format, [one for one in RECORDS if one.is_series])
    return _read_path(Path(path), record, skip_bad, progress, options, max_bytes)


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that the user gave; "none" says that there is no such column."""
    given = {key: value for key, value in options.items() if value is not None}
    return {key: None if str(value).lower() == "none" else value for key, value in given.items()}


def _refuse_unused(record: Format, given: Sequence[str]) -> None:
    """Refuse options that the format does not understand, rather than ignore them."""
    for name in given:
        if name not in record.options:
            raise ValueError(f"{name} has no meaning for the format {record.name}; remove {name}.")


def _with_groups(data: Dataset, pattern: str | None) -> Dataset:
    """Find groups in the names of sequences."""
    expression = group_expression(pattern)
    if expression is None:
        return data
    groups = [group_in(name, expression) for name in data.names]
    for name, group in zip(data.names, groups, strict=True):
        if group is None:
            problem = f"group_pattern {pattern!r} finds no group in this name"
            raise ReadError(name, problem, "change the expression, so that it matches every name")
    return replace(data, groups=np.array(groups))


def _read_path(
    path: Path,
    record: Format | None,
    skip_bad: bool,
    progress: Report | None,
    options: Mapping[str, Any],
    max_bytes: int = 2**32,
) -> Dataset:
    """Read a file or folder, or the training and the test file that the path stands for.

    Without a record the path must hold series; the two files may have different formats.
    """
    paths = [path]
    # A folder of tables is one data set, even if two of its tables look like a pair.
    if record is None or (record.is_series and record.extensions):
        paths = parts_of(path, file_endings(RECORDS, record))
    parts = []
    for i, part in enumerate(paths):
        found = record or find_format(part, [one for one in RECORDS if one.is_series], options)
        source = Source(part, skip_bad, _share(progress, i, len(paths)), max_bytes)
        parts.append(_read_file(found, source, options))
    return parts[0] if len(parts) == 1 else joined_parts(path, parts, ["train", "test"])


def _share(progress: Report | None, i: int, n: int) -> Report | None:
    """Return a function that reports the progress of file `i` of `n` as progress of all files."""
    if progress is None:
        return None
    return lambda done, total: progress(i * total + done, n * total)


def _read_file(record: Format, source: Source, options: Mapping[str, Any]) -> Dataset:
    """Read a file with the options that the format understands."""
    understood = {key: value for key, value in options.items() if key in record.options}
    try:
        data = record.read(source, **understood)
    except OSError as error:
        source.fail(error.strerror or str(error))
    check_kept(source.path, len(data), data.skipped)
    return _with_large_numbers_told(data)


def _with_large_numbers_told(data: Dataset) -> Dataset:
    """Say which channels hold whole numbers that are too large to be exact as floats."""
    X = data.X
    if isinstance(X, list) or not X.data.size:
        return data
    highest, lowest = np.fmax.reduce(X.data, axis=1), np.fmin.reduce(X.data, axis=1)
    large = np.flatnonzero(np.fmax(highest, -lowest) >= EXACT)
    if not large.size:
        return data
    names = X.channel_names or tuple(map(str, range(X.n_rows)))
    text = (
        f"{some([names[j] for j in large])} holds numbers of 2**53 = {EXACT} or more, whose last "
        f"digits are rounded"
    )
    return replace(data, remarks=(*data.remarks, text))

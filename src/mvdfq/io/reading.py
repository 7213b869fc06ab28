"""Any file or folder -> a data set."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq.io.base import Dataset, ReadError
from mvdfq.io.formats import Format
from mvdfq.io.listing import group_expression, group_in
from mvdfq.io.parts import joined_parts, parts_of
from mvdfq.io.records import RECORDS, file_endings, find_format, named_format
from mvdfq.io.text import Source

__all__ = ["Report", "read", "read_path"]

Report = Callable[[int, int], None]


def read(
    path: str | Path | Sequence[str | Path],
    format: str | None = None,
    *,
    recipe: Any = None,
    label: Any = None,
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
        What to read. Several files must be of one format.

    format : str, default=None
        One of `FORMATS`; by default it is recognised by content.

    recipe : AudioRecipe or str, default=None
        How sound becomes numbers.

    label : str or int, default=None
        Which column, attribute or part of a FASTA header holds the label; ``"none"`` where a
        table has none.

    labels : str or Path, default=None
        A table ``id,label[,group]`` for FASTA files and profiles.

    strands : {"one", "both"}, default="one"
        ``"both"`` reads FASTA as DNA, each sequence with its reverse complement, as
        `both_strands` does; predict with the same option.

    group_pattern : str, default=None
        Regular expression that finds the group in the name of a sequence.

    skip_bad : bool, default=False
        Leave out what cannot be read and list it in `Dataset.skipped`.

    n_jobs : int, default=None
        Number of processes for sound files.

    cache : str or Path, default=None
        Folder for features of sound files.

    progress : callable, default=None
        Called with how much is done and how much there is.

    Returns
    -------
    dataset : Dataset
        The sequences and what the files say of them.

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
    record = named_format(format, RECORDS) if format else find_format(paths[0], RECORDS, {})
    given = {"recipe": recipe, "label": label, "labels": labels, "cache": cache}
    given["strands"] = None if strands == "one" else strands
    _refuse_unused(record, given)
    given |= {"group_pattern": group_pattern, "n_jobs": n_jobs}
    options = {key: value for key, value in given.items() if value is not None}
    if record.is_series and str(label).lower() == "none":
        options["label"] = None
    if record.takes_many and several:
        return _read_file(record, Source(paths[0], skip_bad, progress, files=paths), options)
    parts = [read_path(one, record, skip_bad, progress, options) for one in paths]
    data = reduce(Dataset.joined, parts)
    return data if "group_pattern" in record.options else _with_groups(data, group_pattern)


def _refuse_unused(record: Format, given: Mapping[str, Any]) -> None:
    """Refuse options that the format does not understand, rather than ignore them."""
    for name, value in given.items():
        if value is not None and name not in record.options:
            raise ValueError(f"{name} has no meaning for the format {record.name}; leave it out.")


def _with_groups(data: Dataset, pattern: str | None) -> Dataset:
    """Find groups in the names of sequences."""
    expression = group_expression(pattern)
    if expression is None:
        return data
    groups = [group_in(name, expression) for name in data.names]
    for name, group in zip(data.names, groups, strict=True):
        if group is None:
            problem = f"group_pattern {pattern!r} finds no group in this name"
            raise ReadError(name, problem, "the expression must match every name")
    return replace(data, groups=np.array(groups))


def read_path(
    path: Path,
    record: Format | None,
    skip_bad: bool,
    progress: Report | None,
    options: Mapping[str, Any],
    max_bytes: int = 2**32,
) -> Dataset:
    """Read a file or folder, or the training and the test file that the path stands for.

    Without a record the path must hold series; each of two files may have its own format.
    """
    paths = [path]
    # A folder of tables is one whole, also if two of its tables look like a pair.
    if record is None or (record.is_series and record.extensions):
        paths = parts_of(path, file_endings(RECORDS, record))
    parts = []
    for i, part in enumerate(paths):
        found = record or find_format(part, [one for one in RECORDS if one.is_series], options)
        source = Source(part, skip_bad, _share(progress, i, len(paths)), max_bytes)
        parts.append(_read_file(found, source, options))
    return parts[0] if len(parts) == 1 else joined_parts(path, parts, ["train", "test"])


def _share(progress: Report | None, i: int, n: int) -> Report | None:
    """The progress of file `i` of `n`, as progress of the whole."""
    if progress is None:
        return None
    return lambda done, total: progress(i * total + done, n * total)


def _read_file(record: Format, source: Source, options: Mapping[str, Any]) -> Dataset:
    """Read with those of the options that the format understands."""
    understood = {key: value for key, value in options.items() if key in record.options}
    try:
        return record.read(source, **understood)
    except OSError as error:
        source.fail(error.strerror or str(error))

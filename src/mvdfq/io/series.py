"""Series from files of many formats, recognised by what is in them, not by how they are called."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mvdfq.io.arff import read_arff
from mvdfq.io.base import Dataset, ReadError
from mvdfq.io.folder import read_csv_folder
from mvdfq.io.long import read_long, read_parquet
from mvdfq.io.npz import joined, read_npy, read_npz, write_npz
from mvdfq.io.series_kind import series_kind
from mvdfq.io.tables import Columns, read_wide
from mvdfq.io.text import Source
from mvdfq.io.ts import read_ts, write_ts

__all__ = ["looks_like_series", "read_series", "write_npz", "write_ts"]

FORMATS = ("ts", "arff", "npz", "npy", "wide-csv", "long-csv", "parquet", "csv-folder")

# Of a data set stored in several formats, as the UEA archive does, the first one is read.
ENDINGS = ("ts", "arff", "npz", "npy", "parquet", "csv", "tsv", "txt")
PART = re.compile(rf"(.+)_(train|test)\.({'|'.join(ENDINGS)})(\.gz)?", re.IGNORECASE)


def read_series(
    path: str | Path,
    format: str | None = None,
    *,
    label: str | int | None = "label",
    id: str = "id",
    time: str = "time",
    group: str = "group",
    categories: Mapping[str, Sequence[Any]] | None = None,
    time_first: bool = False,
    skip_bad: bool = False,
    progress: Callable[[int, int], None] | None = None,
    max_bytes: int = 2**32,
) -> Dataset:
    r"""Read sequences from a file or folder, whatever the format.

    ====================  ======================================================================
    ``"ts"``              sktime and aeon: unequal lengths, ``?`` and NaN, evenly spaced times
    ``"arff"``            Weka: a relational attribute (rows are channels), or numbers in a row
    ``"npz"``, ``"npy"``  `write_npz`; arrays ``X`` and ``y``, or ``X_train``, ``y_train`` ...;
                          frames end to end with ``lengths``; nothing is unpickled
    ``"wide-csv"``        a row a series, its label first, last or named; blanks after its end
    ``"long-csv"``        a row a time point: ``id, time, channels..., label, group``
    ``"parquet"``         the same; needs pyarrow
    ``"csv-folder"``      a file a series, rows are time points, the header names channels;
                          labels from sub-folders or from ``metadata.csv`` with the columns
                          ``file_name``, ``label`` and ``group``
    ====================  ======================================================================

    Text may be compressed with gzip. Two files ``X_TRAIN`` and ``X_TEST`` are one data set: name
    their folder, or ``X`` without an ending.

    Parameters
    ----------
    path : str or Path
        The file or folder.

    format : str, default=None
        One of the names above; by default it is recognised by content.

    label : str, int or None, default="label"
        The column or attribute that holds labels. In a wide table also its number, -1 being
        the last. None: labels are not read. If the default names no column, it is the one that
        can be nothing else; in long tables, there are no labels then.

    id : str, default="id"
        The column that says which sequence a row belongs to.

    time : str, default="time"
        The column of times, numbers or ISO dates, which must increase within a sequence. They
        give the order only: frames count as evenly spaced.

    group : str, default="group"
        The column of groups, if there is one.

    categories : mapping of str to sequence, default=None
        For a column of states, in long tables and folders: its values, in the order of their
        codes. Columns of text are symbolic also without; a letter has its Unicode number then,
        a word a code of its own that is the same in all files.

    time_first : bool, default=False
        Arrays of three axes are (n_sequences, n_timepoints, n_channels).

    skip_bad : bool, default=False
        Leave out series that cannot be read, and list them in `Dataset.skipped`; by default
        the first one raises.

    progress : callable, default=None
        Called with how much is done and how much there is.

    max_bytes : int, default=2**32
        Refuse more text than this, once decompressed, or larger arrays.

    Returns
    -------
    dataset : Dataset
        The sequences in the order of the file, their labels, and names: ids, or the name of the
        file and the number of the series in it. Labels are text, except in arrays, where they
        are as stored, and where a .ts file holds targets of a regression.

    Raises
    ------
    ReadError
        If the file cannot be read: it says where and what would do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mvdfq.io.series import read_series
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.csv"
    >>> _ = path.write_text("id,time,x,y,label\na,0,1,5,up\na,1,2,6,up\nb,0,3,7,down\n")
    >>> data = read_series(path)
    >>> data.X.lengths, data.X.channel_names, data.y
    (array([2, 1]), ('x', 'y'), array(['up', 'down'], dtype='<U4'))
    """
    if format not in (None, *FORMATS):
        raise ValueError(f"format must be one of {FORMATS}, got {format!r}.")
    columns = Columns(label, id, time, group, categories or {})
    paths = _files(Path(path), format)
    parts = []
    for i, part in enumerate(paths):
        source = Source(part, skip_bad, _share(progress, i, len(paths)), max_bytes)
        parts.append(_read(source, format, columns, time_first))
    if len(parts) == 1:
        return parts[0]
    return joined(Path(path), parts, ["train", "test"])


def _share(
    progress: Callable[[int, int], None] | None, i: int, n: int
) -> Callable[[int, int], None] | None:
    """Progress of file `i` of `n` as that of the whole."""
    if progress is None:
        return None
    return lambda done, total: progress(i * total + done, n * total)


def _read(source: Source, format: str | None, columns: Columns, time_first: bool) -> Dataset:
    """Read one file, or a folder of tables."""
    try:
        if source.path.is_file() and not source.path.stat().st_size:
            source.fail("the file is empty")
        # The ending counts only where the content says nothing: the reader will know why.
        by_name = source.path.suffix.lower().removeprefix(".")
        found = format or series_kind(source.path, columns)
        found = found or (by_name if by_name in FORMATS else None)
        if found is None and source.path.is_file():
            next(source.lines(), None)  # says so if it is UTF-16, damaged or no text at all
        if found is None:
            source.fail("not recognised as series", f"format=... may be one of {FORMATS}")
        if (found == "csv-folder") != source.path.is_dir():
            source.fail(f"{'a' if source.path.is_dir() else 'not a'} folder")
        return _READERS[found](source, columns, time_first)
    except OSError as error:
        source.fail(error.strerror or str(error))


_READERS: dict[str, Callable[[Source, Columns, bool], Dataset]] = {
    "ts": lambda source, columns, _: read_ts(source),
    "arff": lambda source, columns, _: read_arff(source, columns.label, columns.id),
    "npz": lambda source, columns, time_first: read_npz(source, time_first),
    "npy": lambda source, columns, time_first: read_npy(source, time_first),
    "wide-csv": lambda source, columns, _: read_wide(source, columns),
    "long-csv": lambda source, columns, _: read_long(source, columns),
    "parquet": lambda source, columns, _: read_parquet(source, columns),
    "csv-folder": lambda source, columns, _: read_csv_folder(source, columns),
}


def _files(path: Path, format: str | None) -> list[Path]:
    """The file, or the training and the test file, that a path stands for."""
    if path.is_file() or (path.is_dir() and format == "csv-folder"):
        return [path]
    folder, wanted = (path, None) if path.is_dir() else (path.parent, path.name)
    pairs = _pairs(folder)
    stems = {stem for stem, _ in pairs}
    if wanted is None and len(stems) > 1:
        wanted = path.resolve().name  # a data set and its variants, in the folder of its name
    if wanted is None and pairs:
        wanted = next(iter(stems))
    # A format that was asked for comes first.
    for ending in sorted(ENDINGS, key=lambda ending: not (format or "").endswith(ending)):
        if wanted is not None and (wanted, ending) in pairs:
            return pairs[wanted, ending]
    if path.is_dir() and len(stems) > 1:
        raise ReadError(path, f"several data sets: {sorted(stems)[:20]}", "name one of them")
    if not path.is_dir():
        raise ReadError(path, "no such file or folder")
    return [path]


def _pairs(folder: Path) -> dict[tuple[str, str], list[Path]]:
    """Training and test file of each data set and format in a folder."""
    if not folder.is_dir():
        return {}
    found: dict[tuple[str, str], dict[str, Path]] = {}
    for path in sorted(folder.iterdir()):
        if match := PART.fullmatch(path.name):
            found.setdefault((match[1], match[3].lower()), {})[match[2].lower()] = path
    pairs = {key: parts for key, parts in found.items() if len(parts) == 2}
    return {key: [parts["train"], parts["test"]] for key, parts in pairs.items()}


def looks_like_series(path: str | Path, *, id: str = "id", time: str = "time") -> str | None:
    r"""Tell the format of a file or folder of series by its content, or that it is none.

    Reads the beginning only; what comes after may still be broken.

    Parameters
    ----------
    path : str or Path
        The file or folder, or the common beginning of a training and a test file.

    id : str, default="id"
        The column of ids by which, with `time`, a long table is known.

    time : str, default="time"
        The column of times.

    Returns
    -------
    format : str or None
        ``"ts"``, ``"arff"``, ``"npz"``, ``"npy"``, ``"wide-csv"``, ``"long-csv"``, ``"parquet"``
        or ``"csv-folder"``; None if it is none of them or cannot be opened.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mvdfq.io.series import looks_like_series
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "numbers.txt"
    >>> _ = path.write_text("a;0.5;0.25;0.5\nb;0.25;0.125;\n")
    >>> looks_like_series(path)
    'wide-csv'
    """
    try:
        return series_kind(_files(Path(path), None)[0], Columns(id=id, time=time))
    except (ReadError, OSError):
        return None

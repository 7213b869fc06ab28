"""All formats, the one place that recognises the format of a file, and the reading of a file.

To add a format, write its reader with a record `Format` and add one line to `RECORDS`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq._utils.threads import Report
from mvdfq.io.dataset import Dataset, Format, check_kept, joined_parts
from mvdfq.io.letters import fasta, profiles
from mvdfq.io.sound import audio
from mvdfq.io.source import Glimpse, ReadError, Source, check_inside
from mvdfq.io.tables import arrays, binary, foreign, long_tables, series_rows, ts
from mvdfq.io.tables.column_roles import looked_at, some
from mvdfq.io.tables.csv_tables import first_rows, is_value

PART = re.compile(r"(.+)_(train|test)\.(\w++)(\.gz)?", re.IGNORECASE)
# In the order in which they are tried: profiles in an .npz file are also arrays, and a long table
# is also a wide table.
RECORDS: list[Format] = [
    audio.FORMAT,
    fasta.FORMAT,
    profiles.FORMAT,
    ts.FORMAT,
    series_rows.ARFF,
    arrays.NPZ,
    arrays.NPY,
    foreign.MAT,
    binary.PARQUET,
    binary.FEATHER,
    binary.EXCEL,
    binary.JSON,
    long_tables.LONG_CSV,
    series_rows.WIDE,
    long_tables.CSV_FOLDER,
]
FORMATS = tuple(record.name for record in RECORDS)
# Floats hold every whole number below this number.
EXACT = 2**53


def recognise(path: str | Path, **columns: Any) -> str:
    r"""Return the format of a file or folder, one of `FORMATS`, by its content.

    The ending of the name decides only if the content shows no format.

    Parameters
    ----------
    path : str or Path
        The file or folder, or the common name of a training and a test file.

    **columns : dict
        What the user says about the columns of a table, see `read`.

    Returns
    -------
    format : str
        ``"audio"``, ``"fasta"``, ``"ts"``, ...

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mvdfq.io import recognise
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "no.ending"
    >>> _ = path.write_text(">d1 globin\nMVLSPAD\n")
    >>> recognise(path)
    'fasta'
    """
    return find_format(Path(path), RECORDS, columns).name


def named_format(name: str, records: Sequence[Format]) -> Format:
    """Return the format of that name."""
    for record in records:
        if record.name == name:
            return record
    names = ", ".join(record.name for record in records)
    raise ValueError(f"format must be one of {names}; got {name!r}.")


def find_format(path: Path, records: Sequence[Format], options: Mapping[str, Any]) -> Format:
    """Return the format of a file or folder, one of `records`."""
    whole = Glimpse(path, options)
    for record in records:
        if not record.is_series and record.sniff(whole):
            return record
    part = Glimpse(parts_of(path, file_endings(records))[0], options)
    for record in records:
        if record.is_series and record.sniff(part):
            return record
    ending = part.path.name.lower().removesuffix(".gz").rpartition(".")[2]
    by_name = [record for record in records if ending in record.extensions]
    if len(by_name) == 1 and part.path.is_file():
        return by_name[0]  # its reader will say what is wrong
    raise _not_recognised(part.path, records)


def file_endings(records: Sequence[Format], first: Format | None = None) -> list[str]:
    """Return the endings of files of series, with the endings of the format `first` first."""
    series = [record for record in records if record.is_series]
    endings = [ending for record in series for ending in record.extensions]
    return [*(first.extensions if first else ()), *dict.fromkeys(endings)]


def _not_recognised(path: Path, records: Sequence[Format]) -> ReadError:
    if path.is_file():
        if not path.stat().st_size:
            return ReadError(path, "the file is empty")
        if error := foreign.conversion(str(path)):
            return error
        try:
            next(Source(path).lines(), None)
        except ReadError as error:  # text that is UTF-16 or damaged, or not text at all
            return error
    names = ", ".join(record.name for record in records)
    hint = f"name the format, one of {names}"
    file = next(iter(long_tables.csv_files(path)), path) if path.is_dir() else path
    glimpse = Glimpse(file)
    rows = first_rows(glimpse) if re.search(r"[,;\t|]", "".join(glimpse.said[:1])) else []
    if len(rows) == 1 and len(rows[0]) > 1 and not any(map(is_value, rows[0])):
        return ReadError(file, long_tables.NO_ROWS, f"the columns are {some(rows[0])}")
    looked = looked_at(Glimpse(path)) if path.is_file() else None
    if looked is not None and len(looked[0].header) > 1:
        columns = some(looked[0].header)
        hint = f"id=NAME names the column that tells sequences apart, one of {columns}; "
        hint += "if each row is a series, format='wide-csv' reads the table"
    return ReadError(path, "the format is not recognised", hint)


def parts_of(path: Path, endings: Sequence[str]) -> list[Path]:
    """The file or folder itself, or the training and the test file that the path stands for.

    A path stands for two files if it is their folder, or their common name without ``_TRAIN``.
    Of a data set that is stored in several formats, the first of `endings` is taken.
    """
    try:
        if path.is_file():
            return [path]
    except OSError as error:  # a name that is too long
        raise ReadError(path, error.strerror or str(error), "check the path") from None
    pairs = _pairs(path if path.is_dir() else path.parent)
    stems = {stem for stem, _ in pairs}
    name = path.name
    if path.is_dir():  # a data set and its variants lie in the folder of its name
        name = next(iter(stems)) if len(stems) == 1 else path.resolve().name
    for ending in endings:
        if (name, ending) in pairs:
            return pairs[name, ending]
    if path.is_dir() and len(stems) > 1:
        raise ReadError(path, f"several data sets: {sorted(stems)[:20]}", "name one of them")
    if not path.is_dir():
        raise ReadError(path, "no such file or folder", "check the path")
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
    for part in (part for parts in pairs.values() for part in parts.values()):
        check_inside(part, folder)
    return {key: [parts["train"], parts["test"]] for key, parts in pairs.items()}


def read_path(
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
        parts.append(read_file(found, source, options))
    return parts[0] if len(parts) == 1 else joined_parts(path, parts, ["train", "test"])


def _share(progress: Report | None, i: int, n: int) -> Report | None:
    """Return a function that reports the progress of file `i` of `n` as progress of all files."""
    if progress is None:
        return None
    return lambda done, total: progress(i * total + done, n * total)


def read_file(record: Format, source: Source, options: Mapping[str, Any]) -> Dataset:
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

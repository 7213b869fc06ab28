"""All formats, and the one place that recognises the format of a file.

To add a format, write its reader with a record `FORMAT` and add one line to `RECORDS`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mvdfq.io.dataset import ReadError
from mvdfq.io.formats import Format, Glimpse
from mvdfq.io.letters import profiles, proteins
from mvdfq.io.parts import parts_of
from mvdfq.io.sound import audio
from mvdfq.io.source import Source
from mvdfq.io.tables import arff, folder, long_tables, npz, parquet, ts, wide
from mvdfq.io.tables.column_roles import looked_at, some

__all__ = ["FORMATS", "RECORDS", "file_endings", "find_format", "named_format", "recognise"]

# In the order in which they are tried: profiles in an .npz file are also arrays, and a long table
# is also a wide table.
RECORDS: list[Format] = [
    audio.FORMAT,
    proteins.FORMAT,
    profiles.FORMAT,
    ts.FORMAT,
    arff.FORMAT,
    npz.NPZ,
    npz.NPY,
    parquet.FORMAT,
    long_tables.FORMAT,
    wide.FORMAT,
    folder.FORMAT,
]
FORMATS = tuple(record.name for record in RECORDS)


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
        try:
            next(Source(path).lines(), None)
        except ReadError as error:  # text that is UTF-16 or damaged, or not text at all
            return error
    names = ", ".join(record.name for record in records)
    hint = f"name the format, one of {names}"
    looked = looked_at(Glimpse(path)) if path.is_file() else None
    if looked is not None and len(looked[0].header) > 1:
        columns = some(looked[0].header)
        hint = f"id=NAME names the column that tells sequences apart, one of {columns}; "
        hint += "if each row is a series, format='wide-csv' reads the table"
    return ReadError(path, "the format is not recognised", hint)

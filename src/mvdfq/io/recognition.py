"""All formats, a row of `RECORDS` each; how a format is recognised, and how files are read."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq._utils.errors import ParameterError, Sentence
from mvdfq._utils.short import some
from mvdfq.io.dataset import Dataset, check_kept, joined_parts
from mvdfq.io.letters import fasta, profiles
from mvdfq.io.letters.profiles import is_profile
from mvdfq.io.sound import audio
from mvdfq.io.sound.decoding import holds_sound
from mvdfq.io.source import KNOWN, PACKED_END, Glimpse, ReadError, Source, check_inside
from mvdfq.io.tables import arrays, binary, long_tables, series_rows, ts
from mvdfq.io.tables.column_roles import COLUMNS
from mvdfq.io.tables.csv_tables import TABLES, glimpsed, is_value
from mvdfq.io.tables.layouts import has_layout

PART = re.compile(rf"(.+)_(train|test)\.(\w++){PACKED_END}", re.IGNORECASE)
# Files of a folder that are looked at to find out what the folder holds.
FILES = 20


@dataclass(frozen=True)
class Format:
    """All that the package knows about a file format."""

    # The name that users write: ``format="ts"`` or ``--as ts``.
    name: str
    # The first bytes, the end of the name of a file in an archive, an expression for the first
    # line, or a function of a `Glimpse`.
    sniff: bytes | str | re.Pattern[str] | Callable[[Glimpse], bool]
    # Reads a `Source`; the options of `mvdfq.io.read` that it understands are its keywords.
    read: Callable[..., Dataset]
    options: tuple[str, ...] = ()
    # Endings of file names. The ending decides only if no format recognises the content.
    extensions: tuple[str, ...] = ()
    # Whether a data set may be divided into ``X_TRAIN`` and ``X_TEST``.
    is_series: bool = True
    # Whether the reader takes several files in one call, as `Source.files`.
    takes_many: bool = False

    def shows(self, look: Glimpse) -> bool:
        """Does the beginning of a file show this format?"""
        if isinstance(self.sniff, bytes):
            return look.start.startswith(self.sniff)
        if isinstance(self.sniff, str):
            return any(name.endswith(self.sniff) for name in look.members)
        if isinstance(self.sniff, re.Pattern):
            return bool(look.content and self.sniff.match(look.content[0]))
        return self.sniff(look)


def is_csv_folder(glimpse: Glimpse) -> bool:
    """Is this one series, or a folder with a table whose first lines hold a number?"""
    if not glimpse.path.is_dir():
        return has_layout("one", glimpse)
    return any(re.search(r"\d", line) for file in long_tables.csv_files(glimpse.path)[:FILES]
               for line in Glimpse(file).lines)  # fmt: skip


SOUND = ("wav", "flac", "ogg", "opus", "mp3", "au", "m4a", "aac")
RECIPE = ("recipe", "silence", "cache", "n_jobs", "elsewhere")
LETTERS = ("fasta", "fa", "faa", "fna", "fastq", "fq", "gb", "gbk", "sto", "aln")
PROFILES = ("pssm", "hmm", "hhm")
HEADER = ("label", "group", "strands")
ARRAYS = ("time_first", "label", "group")
TEXTS = ("label", "id", "group", "channels", "strands")
WIDE = ("label", "id", "group", "drop", "missing")
FOLDER = (*(name for name in COLUMNS if name != "id"), "elsewhere")
# In the order in which they are tried: a long table is also a wide table.
RECORDS: list[Format] = [
    Format("audio", holds_sound, audio.read, RECIPE, SOUND, False, True),
    Format("fasta", fasta.is_fasta, fasta.read, HEADER, LETTERS, False, True),
    Format("profiles", is_profile, profiles.read, ("profile_values",), PROFILES, False),
    Format("ts", ts.KEY, ts.read_ts, (), ("ts",)),
    Format("arff", series_rows.KEY, series_rows.read_arff, ("label",), ("arff",)),
    Format("npz", ".npy", arrays.read_npz, ARRAYS, ("npz",)),
    Format("npy", b"\x93NUMPY", arrays.read_npy, ARRAYS[:1], ("npy",)),
    Format("mat", b"MATLAB 5.0", binary.read_mat, ARRAYS, ("mat",)),
    Format("parquet", b"PAR1", binary.read_arrow, COLUMNS, ("parquet",)),
    Format("feather", b"ARROW1", binary.read_arrow, COLUMNS, ("feather",)),
    Format("xlsx", "xl/workbook.xml", binary.read_excel, COLUMNS, ("xlsx",)),
    Format("json", binary.is_json, binary.read_json, COLUMNS, ("json", "jsonl", "ndjson")),
    Format("letters-csv", partial(has_layout, "letters"), series_rows.read_letters, TEXTS, TABLES),
    Format("long-csv", partial(has_layout, "long"), long_tables.read_long, COLUMNS, TABLES),
    Format("wide-csv", partial(has_layout, "wide"), series_rows.read_wide, WIDE, TABLES),
    Format("csv-folder", is_csv_folder, long_tables.read_csv_folder, FOLDER, (), True, True),
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
    return find_format(Path(path), columns).name


def find_format(
    path: Path, options: Mapping[str, Any], name: str | None = None, is_part: bool = False
) -> Format:
    """Return the format of that name, or the format of a file, a folder or a part of a data set."""
    named = {record.name: record for record in RECORDS}
    if name:
        if name not in named:
            raise ParameterError("format", f"must be one of {', '.join(named)}, got {name!r}")
        return named[name]
    whole = Glimpse(path, options)
    for record in () if is_part else RECORDS:
        if not record.is_series and record.shows(whole):
            return record
    part = Glimpse(parts_of(path)[0], options)
    for record in RECORDS:
        if record.is_series and record.shows(part):
            return record
    ending = re.sub(f"{PACKED_END}$", "", part.path.name.lower()).rpartition(".")[2]
    by_name = [record for record in RECORDS if ending in record.extensions]
    if len(by_name) == 1 and part.path.is_file():
        return by_name[0]  # its reader will say what is wrong
    raise _not_recognised(part.path, ", ".join(named))


def _not_recognised(path: Path, names: str) -> ReadError:
    if path.is_file():
        if not path.stat().st_size:
            return ReadError(path, "the file is empty")
        ending = path.name.lower().rpartition(".")[2]
        if ending in KNOWN["convert"]:
            hint = f"convert: {KNOWN['convert'][ending]}"
            return ReadError(path, f".{ending} files are not read", hint)
        try:
            next(Source(path).lines(), None)
        except ReadError as error:  # text that is UTF-16 or damaged, or not text at all
            return error
    hint = f"name the format, one of {names}"
    file = next(iter(long_tables.csv_files(path)), path) if path.is_dir() else path
    glimpse = Glimpse(file)
    table = glimpsed(glimpse)
    if table is not None and len(table.header) > 1:
        columns = some(table.header)
        is_text = re.search(r"[,;\t|]", glimpse.content[0]) and not any(map(is_value, table.header))
        if is_text and not table.sample:
            return ReadError(file, long_tables.NO_ROWS, f"the columns are {columns}")
        if table.sample and path.is_file():
            ids = f" names the column that tells sequences apart, one of {columns}; "
            wide = "if each row is a series, ", {"format": "wide-csv"}, " reads the table; "
            moments = "if rows are moments of series without ids, add a column of times; "
            letters = {"channels": "NAME"}, " names a column of DNA or proteins"
            hint = Sentence({"id": "NAME"}, ids, *wide, moments, *letters)
    return ReadError(path, "the format is not recognised", hint)


def parts_of(path: Path, record: Format | None = None) -> list[Path]:
    """Return the path itself, or the training and the test file that the path stands for."""
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
    for known in (record, *(known for known in RECORDS if known.is_series)):
        for ending in known.extensions if known else ():
            if (name, ending) in pairs:
                return pairs[name, ending]
    if not path.is_dir():
        raise ReadError(path, "no such file or folder", "check the path")
    if len(stems) > 1:
        raise ReadError(path, f"several data sets: {sorted(stems)[:20]}", "name one of them")
    return [path]


def _pairs(folder: Path) -> dict[tuple[str, str], list[Path]]:
    """Training and test file of each data set and format in a folder."""
    if not folder.is_dir():
        return {}
    files: dict[tuple[str, str], dict[str, Path]] = {}
    for path in sorted(folder.iterdir()):
        if match := PART.fullmatch(path.name):
            files.setdefault((match[1], match[3].lower()), {})[match[2].lower()] = path
    pairs = {key: [parts["train"], parts["test"]] for key, parts in files.items() if len(parts) > 1}
    for part in (part for parts in pairs.values() for part in parts):
        check_inside(part, folder)
    return pairs


def read_paths(
    source: Source, paths: list[Path], record: Format, is_named: bool, options: Mapping[str, Any]
) -> Dataset:
    """Read files or folders; each may stand for a training and a test file."""
    if record.takes_many and len(paths) > 1 and not any(map(Path.is_dir, paths)):
        return read_file(record, replace(source, files=paths), options)
    # A folder of tables is one data set, even if two of its tables look like a pair.
    may_be_two = record.is_series and bool(record.extensions)
    datasets: list[Dataset] = []
    kind = record
    for path in paths:
        files = parts_of(path, record if is_named else None) if may_be_two else [path]
        parts: list[Dataset] = []
        for i, file in enumerate(files):
            # The training and the test file of a data set may have different formats.
            if may_be_two and not is_named and (datasets or parts):
                kind = find_format(file, options, is_part=True)
            alone = replace(source, path=file, part=(i, len(files)), skipped=[], remarks={})
            parts.append(read_file(kind, alone, options))
        datasets.append(joined_parts(path, parts, ["train", "test"]))
    return reduce(Dataset.joined, datasets)


def read_file(record: Format, source: Source, options: Mapping[str, Any]) -> Dataset:
    """Read a file with the options that the format understands; tell of numbers too large."""
    understood = {key: value for key, value in options.items() if key in record.options}
    try:
        data = record.read(source, **understood)
    except OSError as error:
        source.fail(error.strerror or str(error))
    check_kept(source.path, len(data), data.skipped)
    X, large = data.X, []
    if not isinstance(X, list) and X.data.size:
        sizes = np.fmax(np.fmax.reduce(X.data, axis=1), -np.fmin.reduce(X.data, axis=1))
        names = X.channel_names or tuple(map(str, range(X.n_rows)))
        large = [name for name, size in zip(names, sizes, strict=True) if size >= EXACT]
    if not large:
        return data
    text = f"{some(large)} holds numbers of 2**53 = {EXACT} or more, whose last digits are rounded"
    return replace(data, remarks=(*data.remarks, text))

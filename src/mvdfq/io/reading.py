"""Any file or folder -> a data set; a folder also a block of files or a file at a time."""

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq._utils.threads import Report
from mvdfq.io.dataset import Dataset
from mvdfq.io.labelling import Elsewhere, person_remarks
from mvdfq.io.letters.fasta import from_biopython, read_fasta
from mvdfq.io.recognition import find_format, read_paths, recognise
from mvdfq.io.sound.audio import list_audio
from mvdfq.io.sound.recipes import audio_recipe
from mvdfq.io.source import ReadError, Source, State, changed, check_inside, state_of
from mvdfq.io.tables.column_roles import COLUMNS
from mvdfq.io.tables.csv_tables import METADATA
from mvdfq.io.tables.long_tables import TABLE, csv_files, read_memory
from mvdfq.sequences import check_sequences
from mvdfq.sequences.containers import is_table

# Largest number of files and of their bytes in a block.
MOST_FILES, MOST_BYTES = 512, 2**28


def read(
    path: Any,
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
    categories: Mapping[str, Sequence[Any]] | Sequence[str] | None = None,
    missing: Any = None,
    labels: str | Path | Mapping[str, str] | None = None,
    strands: str = "one",
    profile_values: str | None = None,
    label_pattern: str | None = None,
    group_pattern: str | None = None,
    time_first: bool = False,
    skip_bad: bool = False,
    n_jobs: int | None = None,
    cache: str | Path | None = None,
    progress: Report | None = None,
    max_bytes: int = 2**32,
) -> Dataset:
    r"""Read sequences from a file, a folder, several files, or a table in memory.

    Text may be compressed with gzip. Two files ``X_TRAIN`` and ``X_TEST`` are one data set: give
    their folder as the path, or ``X`` without an ending. Nothing is unpickled.

    Parameters
    ----------
    path : str, Path, table or list of these
        The file or folder to read. Several files must have the same format; several FASTA files
        are one class each. Or a table: pandas, polars, pyarrow, xarray, a dictionary of columns;
        a list or dictionary of data frames, one series each with time down; a frame whose cells
        hold series; a list of Biopython's Seq or SeqRecord.
    format : str, default=None
        One of `FORMATS`; by default the format is recognised by content.
    recipe : AudioRecipe or str, default=None
        How sound becomes numbers, or a name in `AUDIO_RECIPES`; None means ``"default"``.
    silence : {"missing", "keep"}, default=None
        Whether frames of digital silence, whose samples are all exactly zero, are missing values;
        by default as the recipe says.
    label : str or int, default=None
        Which column, attribute or part of a FASTA header holds the label: a name, or a number
        that counts from 0; ``"none"`` if a table has no labels. If no column is called a label,
        the only end of a wide table that can hold labels is taken; a long table has no labels.
    id, time, group : str or int, default=None
        Columns of a table, by name or number; ``"none"`` if a table does not have the column. By
        default columns are recognised by name and content, and `Dataset.remarks` says how. Times
        are numbers, dates or clock times, which increase within a sequence and give the sampling
        rate; ``"clock:ms"`` says that the column ``clock`` holds milliseconds.
    channels : sequence of str or int, default=None
        Columns of a table that are channels; by default all columns without another role, except
        the index of a data frame and columns that never change within a sequence and tell the
        class.
    drop : sequence of str or int, default=None
        Columns of a table that are left out.
    resample : float, default=None
        Rows per second that all sequences of a table are brought to, by straight lines between
        rows; a lower rate takes means. Gaps in time and missing values stay missing.
    categories : mapping of str to sequence, or sequence of str, default=None
        Columns of a table that hold states, with or without a list of the states in the order of
        their codes. Columns of words are states in any case; a word has the same code in all
        files.
    missing : number, str or sequence of these, default=None
        Values that stand for a missing value, such as -999.
    labels : str, Path or mapping, default=None
        A table of labels, or a mapping of name to label. The column that holds the names of the
        sequences is found by comparison, with or without endings; `label` and `group` name the
        other columns if their names do not say what they are. A table of one column holds the
        labels in the order of the sequences.
    strands : {"one", "both"}, default="one"
        ``"both"`` reads FASTA as DNA, each sequence with its reverse complement, as
        `both_strands` does; predict with the same option.
    profile_values : {"log-odds", "probabilities"}, default=None
        The numbers of profiles, as in `read_profiles`.
    label_pattern, group_pattern : str, default=None
        Regular expression whose first part in parentheses finds the label or the group in the
        name of a sequence; with a slash, in the path within the folder.
    time_first : bool, default=False
        Whether arrays with three axes are (n_sequences, n_timepoints, n_channels).
    skip_bad : bool, default=False
        Leave out sequences that cannot be read and list them in `Dataset.skipped`. If fewer than
        half of the sequences can be read, that is an error.
    n_jobs : int, default=None
        Number of processes for sound files; None means one, -1 means one per processor.
    cache : str or Path, default=None
        Folder that keeps the features of sound files.
    progress : callable, default=None
        Called with the amount that is done and the whole amount, such as numbers of files.
    max_bytes : int, default=2**32
        The largest amount of decompressed text, or of arrays, that is read.

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
    asked = dict(locals())
    columns = _given({key: asked[key] for key in COLUMNS})
    if missing is not None and not _is_list(missing):
        columns["missing"] = [missing]
    source = Source(TABLE, skip_bad, progress, max_bytes)
    record = None
    if is_path(path):
        paths = [Path(one) for one in path] if _is_list(path) else [Path(path)]
        source.path = paths[0]
        record = find_format(paths[0], columns, format)
        table = source.path / METADATA  # a folder of sound reads its own
        if record.name == "csv-folder" and table.is_file() and not _is_list(path):
            if labels is label_pattern is None and columns.get("label", "") is not None:
                check_inside(table, source.path)
                labels = table
    told = [key for key in ("label", "group") if Elsewhere(labels).has_column(columns.get(key))]
    own = {key: columns.pop(key) for key in told}
    elsewhere = Elsewhere(labels, **own, label_pattern=label_pattern, group_pattern=group_pattern)
    if record is None:
        return elsewhere.applied(_from_memory(path, columns, strands, source), source)
    options = {key: asked[key] for key in ("recipe", "silence", "cache", "profile_values")}
    options["time_first"] = time_first or None
    options["strands"] = None if strands == "one" else strands
    options = _given(options) | columns
    lost = None if "missing" in record.options else options.pop("missing", None)
    for name in options:  # rather than ignore what the user asks for
        if name not in record.options:
            raise ValueError(f"{name} has no meaning for the format {record.name}; remove {name}.")
    options |= _given({"n_jobs": n_jobs, "elsewhere": elsewhere.gives_labels or None})
    with warnings.catch_warnings():
        if elsewhere.gives_labels:  # say nothing of classes that will not be the classes
            warnings.filterwarnings("ignore", "Class .* has only one file")
        data = read_paths(source, paths, record, bool(format), options)
    if lost:
        data = _with_missing(data, lost)
    if data.y is not None and not elsewhere.gives_labels and record.name in ("audio", "csv-folder"):
        data = replace(data, remarks=(*data.remarks, *person_remarks(data.names)))
    data = elsewhere.applied(data, source)
    stored = asdict(audio_recipe(recipe, silence)) if record.name == "audio" else None
    said: dict[str, Any] = {"format": record.name, "recipe": stored, "strands": strands}
    said |= {"profile_values": profile_values, "names": data.names}
    said["columns"] = _given({"label": label}) | columns
    return replace(data, source=said)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def is_path(path: Any) -> bool:
    """Is this a path, or a list of paths, and not a table?"""
    if _is_list(path) and not path:
        raise ValueError("path must name at least one file, got an empty list.")
    return all(isinstance(one, str | os.PathLike) for one in (path if _is_list(path) else [path]))


def _from_memory(X: Any, columns: dict[str, Any], strands: str, source: Source) -> Dataset:
    """Read a table, tables, or Biopython's sequences."""
    if _is_list(X) and all(type(one).__module__.startswith("Bio.") for one in X):
        for name in columns.keys() - {"label", "group"}:
            raise ValueError(f"{name} has no meaning for letters; remove {name}.")
        records: Any = from_biopython(X)
        return read_fasta(records, skip_bad=source.skip_bad, strands=strands, **columns)
    if not all(map(is_table, X if _is_list(X) else [X])):
        problem = f"path must be a path, a table or a list of these, got {type(X).__name__}"
        raise TypeError(f"{problem}; mvdfq.check_sequences reads arrays.")
    return read_memory(X, columns, source)


def _with_missing(data: Dataset, missing: Sequence[Any]) -> Dataset:
    """Return the data with NaN in place of these numbers."""
    if isinstance(data.X, list):
        raise ValueError("missing has no meaning for letters; remove missing.")
    lost = np.isin(data.X.data, [float(value) for value in missing])
    X = check_sequences(list(data.X.with_data(np.where(lost, np.nan, data.X.data))))
    return replace(data, X=replace(data.X, data=X.data, offsets=X.offsets))


def read_series(path: Any, format: str | None = None, **options: Any) -> Dataset:
    r"""Read series of numbers: `read`, where None says that there is no such column.

    Parameters
    ----------
    path : str, Path, table or list of these
        What to read, as in `read`.
    format : str, default=None
        One of `FORMATS`; by default the format is recognised by content.
    **options : dict
        Options of `read`.

    Returns
    -------
    dataset : Dataset
        The sequences in the order of the file, labels and names.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mvdfq.io import read_series
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.csv"
    >>> _ = path.write_text("id,time,x,y,label\na,0,1,5,up\na,1,2,6,up\nb,0,3,7,down\n")
    >>> read_series(path).y, read_series(path, label=None).y
    (array(['up', 'down'], dtype='<U4'), None)
    """
    absent = {key: "none" for key in ("label", "time", "group") if options.get(key, key) is None}
    return read(path, format, **options | absent)


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that the user gave; "none" says that there is no such column."""
    given = {key: value for key, value in options.items() if value is not None}
    return {key: None if str(value).lower() == "none" else value for key, value in given.items()}


class FolderBlocks:
    r"""Read the sound files or tables of a folder block by block, as often as needed.

    Iterating yields one `Dataset` per block of files. Names are the same as with `read`; labels and
    groups are not read.

    Parameters
    ----------
    path : str or Path
        A folder of sound files, or of tables with one series per file.
    format : {"audio", "csv-folder"}, default=None
        By default the format is recognised by content.
    progress : callable, default=None
        Called with the number of files done and the number of all files.
    **options : dict
        Options of `read`: `recipe`, `cache`, `n_jobs`, `skip_bad`, or columns of tables.

    Attributes
    ----------
    files : list of Path
        All files, in the order in which they are read.
    n_bytes : int
        Size of all files.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mvdfq.io import FolderBlocks
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("a", "b"):
    ...     _ = (folder / f"{name}.csv").write_text("time,x\n0,1.5\n1,2.5\n")
    >>> [block.names for block in FolderBlocks(folder)]
    [['a.csv', 'b.csv']]
    """

    def __init__(
        self,
        path: str | Path,
        format: str | None = None,
        *,
        progress: Callable[[int, int], None] | None = None,
        **options: Any,
    ) -> None:
        self.path, self.progress, self.options = Path(path), progress, options
        self.format = format or recognise(path)
        if self.format not in ("audio", "csv-folder") or not self.path.is_dir():
            problem = "is not a folder of sound files or tables"
            raise ReadError(path, problem, "mvdfq.io.read reads other data")
        if self.format == "audio":
            found = list_audio(self.path)
            if found.skipped and not options.get("skip_bad"):
                raise found.skipped[0]
        self.files = list(found.X) if self.format == "audio" else csv_files(self.path)
        self._states: dict[Path, State] = {}

    @cached_property
    def n_bytes(self) -> int:
        """Size of all files."""
        return sum(file.stat().st_size for file in self.files)

    def __iter__(self) -> Iterator[Dataset]:
        blocks: list[list[Path]] = []
        size = MOST_BYTES
        for file in self.files:
            size += (more := file.stat().st_size)
            if not blocks or len(blocks[-1]) == MOST_FILES or size > MOST_BYTES:
                blocks.append([])
                size = more
            blocks[-1].append(file)
        done = 0
        for files in blocks:
            block = read(files, self.format, **self.options)
            if any(block.X.symbolic) and len(blocks) > 1:
                # every call of `read` numbers words anew
                problem = "columns of text cannot be read in blocks of files"
                raise ReadError(self.path, problem, "read the whole folder, with a larger limit")
            for file in files:  # as it was when it was read before?
                if self._states.setdefault(file, state := state_of(file)) != state:
                    raise changed(file)
            done += len(files)
            if self.progress is not None:
                self.progress(done, len(self.files))
            names = [Path(name).relative_to(self.path).as_posix() for name in block.names]
            yield replace(block, names=names)


def list_parts(
    folder: str | Path, pattern: str = "*", **options: Any
) -> list[Callable[[], Dataset]]:
    r"""List the files of a folder as functions that read one file each.

    Every file is a data set of its own, with labels: Parquet, ``.npz``, ``.ts``, ... On a cluster
    the folder must be one that all workers see under the same path.

    Parameters
    ----------
    folder : str or Path
        The folder.
    pattern : str, default="*"
        Which files to read, such as ``"*.parquet"``.
    **options : dict
        Options of `read`, such as `label`.

    Returns
    -------
    parts : list of callable
        One function without arguments per file, in the order of the names;
        `SequenceClassifier.fit_blocks` takes the list.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mvdfq.io import list_parts
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("a", "b"):
    ...     _ = (folder / f"{name}.csv").write_text("id,time,x,label\n0,0,1.5,u\n0,1,2.5,u\n")
    >>> [part().y.tolist() for part in list_parts(folder, "*.csv")]
    [['u'], ['u']]
    """
    files = sorted(file for file in Path(folder).glob(pattern) if file.is_file())
    for file in files:
        check_inside(file, folder)
    if not files:
        raise ReadError(folder, f"no file matches {pattern!r}", "name another folder or pattern")
    return [partial(read, file, **options) for file in files]

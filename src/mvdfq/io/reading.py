"""Any file or folder -> a data set; a folder also part by part."""

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from mvdfq._utils.errors import ParameterError
from mvdfq._utils.threads import Report
from mvdfq.io.dataset import Dataset
from mvdfq.io.labelling import Elsewhere, person_remarks
from mvdfq.io.letters.fasta import from_biopython, read_fasta
from mvdfq.io.recognition import find_format, read_paths, recognise
from mvdfq.io.sound.audio import list_audio
from mvdfq.io.sound.recipes import audio_recipe
from mvdfq.io.source import ReadError, Source, State, changed, check_inside, state_of
from mvdfq.io.tables.column_roles import COLUMNS
from mvdfq.io.tables.csv_tables import METADATA, blanked, is_number
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

    Text may be packed with gzip, bzip2 or xz. Two files ``X_TRAIN`` and ``X_TEST`` are one data
    set: give their folder as the path, or ``X`` without an ending. Nothing is unpickled.

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
        In .npz and .mat files, `label` and `group` name arrays.
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
        The numbers of profiles, 20 channels in alphabetic order of the amino acids. Log-odds, the
        default, are the scores of a PSSM, or emissions as bits over the background frequencies of
        Robinson and Robinson. `mvdfq.Profile` takes probabilities: the emissions, or the background
        times the exponential of 0.3176 times the score, divided by their sum.
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
        paths = [Path(item) for item in path] if _is_list(path) else [Path(path)]
        source.path = paths[0]
        record = find_format(paths[0], columns, format)
        table = source.path / METADATA  # a folder of sound reads its own
        if record.name == "csv-folder" and table.is_file() and not _is_list(path):
            if labels is label_pattern is None and columns.get("label", "") is not None:
                check_inside(table, source.path)
                labels = table
    kinds = [key for key in ("label", "group") if Elsewhere(labels).has_column(columns.get(key))]
    wish = {key: columns.pop(key) for key in kinds}
    elsewhere = Elsewhere(labels, **wish, label_pattern=label_pattern, group_pattern=group_pattern)
    if record is None:
        return elsewhere.applied(_from_memory(path, columns, strands, source), source)
    options = {key: asked[key] for key in ("recipe", "silence", "cache", "profile_values")}
    usual = {"time_first": time_first or None, "strands": None if strands == "one" else strands}
    options = _given(options | usual) | columns
    lost = None if "missing" in record.options else options.pop("missing", None)
    for name in options:  # rather than ignore what the user asks for
        if name not in record.options:
            raise ParameterError(name, f"has no meaning for the format {record.name}; remove it")
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
    source_facts: dict[str, Any] = {"format": record.name, "recipe": stored, "strands": strands}
    source_facts |= {"profile_values": profile_values, "names": data.names}
    source_facts["columns"] = _given({"label": label}) | columns
    return replace(data, source=source_facts)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def is_path(path: Any) -> bool:
    """Is this a path, or a list of paths, and not a table?"""
    if _is_list(path) and not path:
        raise ValueError("path must name at least one file, got an empty list.")
    return all(isinstance(item, str | os.PathLike) for item in (path if _is_list(path) else [path]))


def _from_memory(X: Any, columns: dict[str, Any], strands: str, source: Source) -> Dataset:
    """Read a table, tables, or Biopython's sequences."""
    if _is_list(X) and all(type(item).__module__.startswith("Bio.") for item in X):
        for name in columns.keys() - {"label", "group"}:
            raise ParameterError(name, "has no meaning for letters; remove it")
        records: Any = from_biopython(X)
        return read_fasta(records, skip_bad=source.skip_bad, strands=strands, **columns)
    if not all(map(is_table, X if _is_list(X) else [X])):
        problem = f"path must be a path, a table or a list of these, got {type(X).__name__}"
        raise TypeError(f"{problem}; mvdfq.check_sequences reads arrays.")
    return read_memory(X, columns, source)


def _with_missing(data: Dataset, missing: Sequence[Any]) -> Dataset:
    """Return the data with NaN in place of these numbers."""
    if isinstance(data.X, list):
        raise ParameterError("missing", "has no meaning for letters; remove it")
    if words := [value for value in map(str, missing) if not is_number(value)]:
        raise ParameterError("missing", f"must hold numbers, since the data do, got {words[0]!r}")
    X = check_sequences(list(data.X.with_data(blanked(data.X.data, missing))))
    return replace(data, X=replace(data.X, data=X.data, offsets=X.offsets))


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that the user gave; "none" says that there is no such column."""
    given = {key: value for key, value in options.items() if value is not None}
    return {key: None if str(value).lower() == "none" else value for key, value in given.items()}


def list_parts(
    folder: str | Path, pattern: str | None = None, format: str | None = None, **options: Any
) -> list[Callable[[], Dataset]]:
    r"""List a folder that does not fit into memory as functions that read a part each.

    A file that changes after it was listed is refused. On a cluster the folder must be one that
    all workers see under the same path.

    Parameters
    ----------
    folder : str or Path
        The folder.
    pattern : str, default=None
        Which files to read, such as ``"*.parquet"``: every file is a part, and a data set of its
        own, with labels. None is for sound files and for tables with one series per file: many
        files are a part, with the names that `read` gives, but without labels.
    format : str, default=None
        One of `FORMATS`; by default the format is recognised by content.
    **options : dict
        Options of `read`, such as `label`.

    Returns
    -------
    parts : list of callable
        Functions without arguments, in the order of the names of files;
        `SequenceClassifier.fit_blocks` takes a list of parts with labels.

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
    root = Path(folder)
    if pattern is None:
        format = format or recognise(root)
        parts = _blocks(_one_series_each(root, format, bool(options.get("skip_bad"))))
    else:
        parts = [[file] for file in sorted(root.glob(pattern)) if file.is_file()]
    if not parts:
        raise ReadError(root, f"no file matches {pattern!r}", "name another folder or pattern")
    for file in chain.from_iterable(parts):
        check_inside(file, root)
    states = ({file: state_of(file) for file in files} for files in parts)
    return [partial(_read_part, root, pattern is None, each, format, options) for each in states]


def _one_series_each(root: Path, format: str, skip_bad: bool) -> list[Path]:
    """Return the files of a folder that hold one series each."""
    if format == "csv-folder" and root.is_dir():
        return csv_files(root)
    if format != "audio" or not root.is_dir():
        problem = "is not a folder of sound files or tables"
        raise ReadError(root, problem, "pattern='*.npz' names files with many series")
    listing = list_audio(root)
    if listing.skipped and not skip_bad:
        raise listing.skipped[0]
    return list(listing.X)


def _blocks(files: Sequence[Path]) -> list[list[Path]]:
    """Return blocks of files that are read together."""
    blocks: list[list[Path]] = []
    size = MOST_BYTES
    for file in files:
        size += (added := file.stat().st_size)
        if not blocks or len(blocks[-1]) == MOST_FILES or size > MOST_BYTES:
            blocks.append([])
            size = added
        blocks[-1].append(file)
    return blocks


def _read_part(
    root: Path, is_block: bool, states: Mapping[Path, State], format: str | None, options: Mapping
) -> Dataset:
    """Read the files of one part, as they were when they were listed."""
    files = list(states)
    part = read(files if is_block else files[0], format, **options)
    for file, state in states.items():
        if state_of(file) != state:
            raise changed(file)
    if not is_block:
        return part
    return replace(part, names=[Path(n).relative_to(root).as_posix() for n in part.names])

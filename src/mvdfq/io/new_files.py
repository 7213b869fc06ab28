"""New files for a fitted classifier, read as its training data were read."""

from pathlib import Path
from typing import Any

from mvdfq.classifier.saving.file import load
from mvdfq.io.dataset import Dataset, numbered
from mvdfq.io.reading import is_path, read
from mvdfq.io.recognition import recognise
from mvdfq.io.sound.recipes import AudioRecipe
from mvdfq.io.source import Glimpse, ReadError, Source
from mvdfq.io.tables.csv_tables import glimpsed

# Tables of text, which look alike: one row is a series, a time point, or a row of one series.
TEXT = ("long-csv", "wide-csv", "letters-csv", "csv-folder")
# Tables whose rows are sequences, and options that list columns.
ROWS, LISTS = ("wide-csv", "letters-csv"), ("channels", "drop")
# Tables of time points, whose columns are channels.
TIMES = ("long-csv", "csv-folder", "parquet", "feather", "xlsx", "json")
# What was said of the columns in training, and holds for new tables of the same format.
KEPT = ("id", "time", "resample", "categories", "missing")


def predict_files(model: Any, path: Any, **options: Any) -> dict[str, Any]:
    r"""Predict the classes of files with a model that `mvdfq train` wrote.

    Parameters
    ----------
    model : str, Path or SequenceClassifier
        The model file, or a fitted classifier that knows how its data were read, see `read_for`.
    path : str, Path or list of these
        Files or a folder.
    **options : dict
        Options of `mvdfq.io.read`, such as `skip_bad`.

    Returns
    -------
    labels : dict of str to label
        The predicted class by the name of the sequence; names that several files hold get numbers.

    Examples
    --------
    >>> import pathlib, tempfile, mvdfq
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.fasta"
    >>> _ = path.write_text(">a\nABABABAB\n>b\nCCCCCCC\n")
    >>> clf = mvdfq.SequenceClassifier(kernel=mvdfq.Spectrum(2))
    >>> clf = clf.fit(["ABAB", "BABA", "CCCC", "CCC"], ["wave", "wave", "flat", "flat"])
    >>> mvdfq.predict_files(clf, path)
    {'a': 'wave', 'b': 'flat'}
    """
    clf = load(model) if isinstance(model, str | Path) else model
    if not hasattr(clf, "classes_"):
        problem = f"model must be a path or a fitted classifier, got {type(model).__name__}"
        raise TypeError(f"{problem}; mvdfq train writes model files.")
    data = read_for(clf, path, **options)
    names = numbered(Source(Path("files")), data.names)
    return dict(zip(names, clf.predict(data.X).tolist(), strict=True))


def read_for(clf: Any, path: Any, **options: Any) -> Dataset:
    r"""Read new files as the training data of a classifier were read.

    Parameters
    ----------
    clf : SequenceClassifier
        A classifier with `source_`, which `mvdfq train` stores: format, recipe and columns. In
        Python, ``clf.source_ = data.source`` stores it.
    path : str, Path or list of these
        Files or a folder.
    **options : dict
        Options of `mvdfq.io.read`; they come before what was said in training.

    Returns
    -------
    dataset : Dataset
        The new sequences.

    Examples
    --------
    >>> import pathlib, tempfile, mvdfq
    >>> from mvdfq.io import read_for
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.fasta"
    >>> _ = path.write_text(">a\nABAB\n>b\nCCC\n")
    >>> clf = mvdfq.SequenceClassifier(kernel=mvdfq.Spectrum(2))
    >>> read_for(clf.fit(["ABAB", "BABA", "CCCC"], ["wave", "wave", "flat"]), path).names
    ['a', 'b']
    """
    if not is_path(path):
        raise TypeError(f"path must be a path or a list of paths, got {type(path).__name__}.")
    first = Path(path[0] if isinstance(path, list | tuple) else path)
    given = {key: value for key, value in options.items() if value is not None}
    return read(path, **as_trained(clf, first, given))


def as_trained(clf: Any, path: Path, given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `read` for new data: what the user says now, then what was said."""
    source = getattr(clf, "source_", {})
    stored = source.get("columns") or {}
    options = {key: stored[key] for key in KEPT if key in stored} | given
    usual = None if "id" in given else source.get("format")
    kind = given.get("format") or _kind(path, usual, options)
    same = kind == source.get("format")
    is_text = same and kind in (*TEXT, "parquet") and path.is_file()
    table = glimpsed(Glimpse(path)) if is_text else None
    header = () if table is None else table.header
    kept: tuple[str, ...] = ()
    if kind in TIMES:  # only channels and rate mean the same in another format
        kept = KEPT if same else ("resample",)
    elif kind in ROWS:  # columns that the new table has, too
        kept = ("missing", *(key for key in ("id", "group") if stored.get(key) in header))
        lists = {key: [*filter(header.__contains__, stored.get(key, ()))] for key in LISTS}
        given = {key: names for key, names in lists.items() if names} | given
    options = {key: stored[key] for key in kept if key in stored} | given
    if kind in TIMES and clf.channel_names_in_ is not None:
        options.setdefault("channels", list(clf.channel_names_in_))
    elif kind in TIMES and "drop" in stored:  # without a header, columns have numbers
        options.setdefault("drop", stored["drop"])
    if kind == "csv-folder":
        options.pop("id", None)
    if same and kind in (*TEXT, "parquet") and "label" not in given and "labels" not in given:
        label = stored.get("label")  # if the new table has this column, too
        options["label"] = label if label in header else None
    if kind == "audio" and source.get("recipe"):
        options.setdefault("recipe", AudioRecipe(**source["recipe"]))
    for key, kinds in (("strands", ("fasta", "letters-csv")), ("profile_values", ("profiles",))):
        if kind in kinds and source.get(key):
            options.setdefault(key, source[key])
    return {**options, "format": kind}


def _kind(path: Path, stored: str | None, options: dict[str, Any]) -> str:
    """Return the format of new data; a table of text has the format of the training table."""
    try:
        kind = recognise(path, **options)
    except ReadError as error:  # else the reader of the training data says what is wrong
        if stored is None or not path.is_file() or "convert" in error.hint:
            raise
        return str(stored)
    return str(stored) if stored in TEXT and kind in TEXT and path.is_file() else kind

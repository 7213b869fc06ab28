"""New data for a model: tables are read as the tables of the training data were."""

from pathlib import Path
from typing import Any

from mvdfq.cli.columns import given_columns
from mvdfq.cli.output import note

__all__ = ["reading_as_trained", "remark_other_rate", "warn_of_training_data"]

# Tables of text, which look alike: one row is a series, a time point, or a row of one series.
TEXT = ("long-csv", "wide-csv", "csv-folder")
# Tables of time points, whose columns are channels.
TIMES = ("long-csv", "csv-folder", "parquet")


def reading_as_trained(
    clf: Any, path: Path, format: str | None, label: str | None
) -> tuple[str, str | None, dict[str, Any]]:
    """Return the format, the label and the columns that new data are read with.

    What the user says now comes first, then what the user said in training.
    """
    source, given = getattr(clf, "source_", {}), given_columns()
    stored = source.get("columns") or {}
    columns = {key: stored[key] for key in ("id", "time", "resample") if key in stored} | given
    stored_kind = None if "id" in given else source.get("format")
    kind = format or _kind(path, stored_kind, columns)
    if kind in TIMES and clf.channel_names_in_ is not None:
        columns.setdefault("channels", list(clf.channel_names_in_))
    elif "drop" in stored:  # without a header, columns have numbers
        columns.setdefault("drop", stored["drop"])
    if kind not in TIMES:
        columns = given
    elif kind != source.get("format"):  # only channels and rate mean the same in another format
        columns = {key: columns[key] for key in ("channels", "resample") if key in columns} | given
    if kind == "csv-folder":
        columns.pop("id", None)
    if label is None and kind == source.get("format") and kind in (*TEXT, "parquet"):
        label = _label_in(path, stored.get("label"))
    return kind, label, columns


def _kind(path: Path, stored: str | None, columns: dict[str, Any]) -> str:
    """Return the format of new data; a table of text has the format of the training table."""
    from mvdfq.io import ReadError, recognise

    try:
        found = recognise(path, **columns)
    except ReadError:
        if stored not in TEXT or not path.is_file():
            raise
        return stored
    return stored if stored in TEXT and found in TEXT and path.is_file() else found


def _label_in(path: Path, label: str | None) -> str | None:
    """Return the label of the training table if the new table has this column, too."""
    from mvdfq.io.source import Glimpse
    from mvdfq.io.tables.column_roles import looked_at

    looked = looked_at(Glimpse(path)) if path.is_file() else None
    return label if looked is not None and label in looked[0].header else None


def remark_other_rate(clf: Any, X: Any, quiet: bool) -> None:
    """Say if new data have another sampling rate than the training data."""
    trained = (getattr(clf, "training_", None) or {}).get("sampling_rate")
    found = getattr(X, "sampling_rate", None)
    if trained and found and not 0.9 < found / trained < 1.1:
        note(
            f"the training data have {trained:g} rows per second, these data {found:g}; "
            f"--resample {trained:g} brings them to the rate of the training data",
            quiet,
        )


def warn_of_training_data(clf: Any, X: Any, consequence: str, quiet: bool = False) -> None:
    """Say how many of these sequences the model has learned from."""
    n = sum(bool(places) for places in clf.training_places(X))
    if n:
        which = "this sequence" if n == len(X) == 1 else f"{n} of these {len(X)} sequences"
        note(f"warning: the model was trained on {which}; {consequence}.", quiet)

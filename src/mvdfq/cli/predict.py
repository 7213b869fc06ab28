"""``mvdfq predict``: model file and new data -> labels; data are read as in training."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from mvdfq.cli import options as o
from mvdfq.cli.errors import CANNOT_READ_MODEL, Refused
from mvdfq.cli.output import Format, note, show_rows, working
from mvdfq.cli.shared import Without

__all__ = [
    "NEVER", "UNKNOWN", "USUAL_P", "ModelPath", "NewData", "Unknown", "load", "new_data", "predict",
    "warn_of_training_data",
]  # fmt: skip

# What a model remembers is no option where new data are read.
NEVER = "recipe", "labels", "group_pattern", "strands"
NewData = Annotated[o.DataOptions, Without(*NEVER)]
ModelPath = Annotated[Path, typer.Argument(help="A file that mvdfq train wrote.")]
Unknown = Annotated[
    float | None,
    typer.Option(
        "--unknown",
        help="Show the typicality, and print unknown where it is at most P: a p value, the share "
        "of sequences of the class that are at least as strange. Without P: 0.05.",
        metavar="[P]",
        min=0,
        max=1,
    ),
]
# Tables of text, which look alike: one row is a series, a time point, or a row of one series.
TEXT = ("long-csv", "wide-csv", "csv-folder")
# What is printed for a sequence that is like no class, and the p value that says so.
UNKNOWN, USUAL_P = "unknown", "0.05"
# Tables of time points, whose columns are channels.
TIMES = ("long-csv", "csv-folder", "parquet")


def predict(
    model: ModelPath,
    data: Annotated[list[Path], typer.Argument(help="Files or a folder, as in training.")],
    reading: NewData,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Show the probabilities of all classes.")
    ] = False,
    unknown: Unknown = None,
    format: o.Output = Format.human,
) -> None:
    """Predict the classes of new sequences.

    Example: mvdfq predict genres.mvdfq new/*.wav --format json
    """
    clf = load(model)
    quiet, read = reading.quiet, new_data(clf, data, reading)
    warn_of_training_data(clf, read.X, "new sequences are recognised less often", quiet)
    with working("predicting", quiet):
        decision = clf.decision_function(read.X)
        typical = None if unknown is None else clf.typicality(read.X)
    chances, values = clf.probabilities(decision), _of_predicted(decision)
    labels = clf.classes_[chances.argmax(axis=1)]
    truth = _known_labels(read, clf, quiet)
    rows = []
    for i, (name, chosen) in enumerate(zip(read.names, labels.tolist(), strict=True)):
        row = {"name": name, "label": chosen, "probability": round(float(chances[i].max()), 4)}
        if typical is not None and unknown is not None:
            row["typicality"] = round(float(typical[i]), 4)
            row["label"] = UNKNOWN if typical[i] <= unknown else chosen
        if format is not Format.human:
            row["decision_value"] = round(values[i], 6)
        if truth is not None:
            row["true"] = truth[i]
        if probabilities:
            row |= _all_chances(clf, chances[i], format)
        rows.append(row)
    show_rows(rows, format)
    if truth is not None:
        known = {str(label) for label in clf.classes_.tolist()}
        if unknown is not None:  # a class that the model does not know is rightly unknown
            truth = [one if str(one) in known else UNKNOWN for one in truth]
        _say_accuracy(truth, [row["label"] for row in rows], quiet)


def _of_predicted(decision: Any) -> list[float]:
    """Return the decision value of the predicted class of each sequence."""
    return (abs(decision) if decision.ndim == 1 else decision.max(axis=1)).tolist()


def _all_chances(clf: Any, chances: Any, format: Format) -> dict[str, Any]:
    """Return the probabilities of all classes: one column per class, in JSON one object."""
    every = {str(k): round(float(p), 4) for k, p in zip(clf.classes_, chances, strict=True)}
    if format is Format.json:
        return {"probabilities": every}
    return {f"p({one})": p for one, p in every.items()}


def _known_labels(read: Any, clf: Any, quiet: bool) -> list[Any] | None:
    """Return the labels of the data, if at least one of them is a class of the model."""
    if read.y is None:
        return None
    labels = read.y.tolist()
    if {*map(str, labels)} & {str(label) for label in clf.classes_.tolist()}:
        return labels
    note(f"The labels of the data, such as {labels[0]!s}, are not classes of the model.", quiet)
    return None


def _say_accuracy(truth: list[Any], predicted: list[Any], quiet: bool) -> None:
    """Print how many predictions agree with the labels of the data."""
    from sklearn.metrics import recall_score

    truth, predicted = [str(one) for one in truth], [str(one) for one in predicted]
    hits = sum(a == b for a, b in zip(truth, predicted, strict=True))
    recalls = recall_score(
        truth, predicted, labels=sorted({*truth}), average="macro", zero_division=0
    )
    note(
        f"accuracy {hits / len(truth):.2%} ({hits} of {len(truth)} agree with the labels of the "
        f"data), balanced accuracy {recalls:.2%}",
        quiet,
    )


def load(model: Path) -> Any:
    """Read a model file."""
    from mvdfq.classifier.saving.file import load as load_model

    try:
        return load_model(model)
    except OSError as error:
        problem = f"{model}: {(error.strerror or str(error)).lower()}"
        hint = "mvdfq train writes model files"
        raise Refused(problem, hint, CANNOT_READ_MODEL) from None


def new_data(clf: Any, paths: list[Path], reading: o.DataOptions) -> Any:
    """Read new sequences as the training sequences of the model were read."""
    from mvdfq.io import AudioRecipe

    source = getattr(clf, "source_", {})
    reading = _as_trained(clf, paths[0], reading)
    if reading.as_ == "audio" and source.get("recipe"):
        recipe: Any = AudioRecipe(**source["recipe"])
        reading = replace(reading, recipe=recipe)
    if reading.as_ == "fasta":
        reading = replace(reading, strands=source.get("strands", "one"))
    read = reading.read(paths[0] if len(paths) == 1 else paths)
    _remark_other_rate(clf, read.X, reading.quiet)
    return read


def _as_trained(clf: Any, path: Path, reading: o.DataOptions) -> o.DataOptions:
    """Return format, label and columns that new data are read with.

    What the user says now comes first, then what the user said in training.
    """
    source, given = getattr(clf, "source_", {}), reading.columns
    stored = source.get("columns") or {}
    columns = {key: stored[key] for key in ("id", "time", "resample") if key in stored} | given
    stored_kind = None if "id" in given else source.get("format")
    kind = reading.as_ or _kind(path, stored_kind, columns)
    if kind in TIMES and clf.channel_names_in_ is not None:
        columns.setdefault("channels", list(clf.channel_names_in_))
    elif "drop" in stored:  # without a header, columns have numbers
        columns.setdefault("drop", stored["drop"])
    if kind not in TIMES:
        columns = given
    elif kind != source.get("format"):  # only channels and rate mean the same in another format
        columns = {key: columns[key] for key in ("channels", "resample") if key in columns} | given
    if kind == "csv-folder":
        columns["id"] = None
    label = reading.label
    if label is None and kind == source.get("format") and kind in (*TEXT, "parquet"):
        label = _label_in(path, stored.get("label"))
    return replace(reading, as_=kind, label=label, **columns)


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


def _remark_other_rate(clf: Any, X: Any, quiet: bool) -> None:
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

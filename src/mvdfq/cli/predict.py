"""``mvdfq predict``: model file and new data -> labels; data are read as in training."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from mvdfq.cli import options as o
from mvdfq.cli.errors import CANNOT_READ_MODEL, Refused, reason_of
from mvdfq.cli.output import Format, note, show_rows, working

# What a model remembers is no option where new data are read.
NEVER = "recipe", "strands", "profile_values"
# What is printed for a sequence that is like no class, and the p value that says so.
UNKNOWN, USUAL_P = "unknown", "0.05"


def predict(
    model: Path,
    data: list[Path],
    reading: Annotated[o.DataOptions, NEVER],
    probabilities: bool = False,
    unknown: float | None = None,
    format: Format = Format.human,
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
    chances = clf.probabilities(decision)
    # the decision value of the predicted class
    values = (abs(decision) if decision.ndim == 1 else decision.max(axis=1)).tolist()
    labels = clf.classes_[chances.argmax(axis=1)]
    known = {str(label) for label in clf.classes_.tolist()}
    truth = None if read.y is None else read.y.tolist()
    if truth is not None and not {*map(str, truth)} & known:
        note(f"The labels of the data, such as {truth[0]!s}, are not classes of the model.", quiet)
        truth = None
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
        if probabilities:  # of all classes: one column per class, in JSON one object
            pairs = zip(clf.classes_, chances[i], strict=True)
            every = {str(k): round(float(p), 4) for k, p in pairs}
            columns = {f"p({one})": p for one, p in every.items()}
            row |= {"probabilities": every} if format is Format.json else columns
        rows.append(row)
    show_rows(rows, format)
    if truth is not None:
        if unknown is not None:  # a class that the model does not know is rightly unknown
            truth = [one if str(one) in known else UNKNOWN for one in truth]
        _say_accuracy(truth, [row["label"] for row in rows], quiet)


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
        hint = "mvdfq train writes model files"
        raise Refused(f"{model}: {reason_of(error)}", hint, CANNOT_READ_MODEL) from None


def new_data(clf: Any, paths: list[Path], reading: o.DataOptions) -> Any:
    """Read new sequences as the training sequences of the model were read."""
    from mvdfq.io.new_files import as_trained

    given = {"format": reading.as_, "label": reading.label, "labels": reading.labels}
    given = {key: value for key, value in given.items() if value is not None} | reading.columns
    options = as_trained(clf, paths[0], given)
    reading = replace(reading, as_=options.pop("format"), **options)
    read = reading.read(o.one_or_all(paths))
    trained = (getattr(clf, "training_", None) or {}).get("sampling_rate")
    found = getattr(read.X, "sampling_rate", None)
    if trained and found and not 0.9 < found / trained < 1.1:
        note(
            f"the training data have {trained:g} rows per second, these data {found:g}; "
            f"--resample {trained:g} brings them to the rate of the training data",
            reading.quiet,
        )
    return read


def warn_of_training_data(clf: Any, X: Any, consequence: str, quiet: bool = False) -> None:
    """Say how many of these sequences the model has learned from."""
    n = sum(bool(places) for places in clf.training_places(X))
    if n:
        which = "this sequence" if n == len(X) == 1 else f"{n} of these {len(X)} sequences"
        note(f"warning: the model was trained on {which}; {consequence}.", quiet)

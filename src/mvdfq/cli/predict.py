"""``mvdfq predict``: model and new data -> labels; ``mvdfq scan``: long recordings -> events."""

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

from mvdfq._utils.files import replace_file
from mvdfq.cli import options as o
from mvdfq.cli.errors import CANNOT_READ_MODEL, USAGE, Refused, check_output, reason_of
from mvdfq.cli.output import Format, note, printable, progress_bar, show_json, show_rows, working

# What is printed for a sequence that is like no class, and the p value that says so.
UNKNOWN, USUAL_P = "unknown", "0.05"
# What files of a format hold; files of other formats hold letters or numbers.
KINDS = {"audio": "sound", "fasta": "letters", "profiles": "profiles"}
# How events are shown.
Found = StrEnum("Found", ["human", "json", "csv", "audacity"])


def predict(
    model: Path,
    data: list[Path],
    reading: o.DataOptions,
    probabilities: bool = False,
    unknown: float | None = None,
    format: Format = Format.human,
) -> None:
    """Predict the classes of new sequences.

    Example: mvdfq predict genres.mvdfq new/*.wav --format json
    """
    from mvdfq.classifier.recordings import warn_coarse

    clf = load(model)
    quiet, read = reading.quiet, new_data(clf, data, reading)
    warn_of_training_data(clf, read.X, "new sequences are recognised less often", quiet)
    with working("predicting", quiet):
        decision = clf.decision_function(read.X)
        typical = None if unknown is None else clf.typicality(read.X)
    warn_coarse(clf, unknown)
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
            by_class = {str(k): round(float(p), 4) for k, p in pairs}
            columns = {f"p({label})": p for label, p in by_class.items()}
            row |= {"probabilities": by_class} if format is Format.json else columns
        rows.append(row)
    show_rows(rows, format)
    if truth is not None:
        if unknown is not None:  # a class that the model does not know is rightly unknown
            truth = [label if str(label) in known else UNKNOWN for label in truth]
        _say_accuracy(truth, [row["label"] for row in rows], quiet)


def _say_accuracy(truth: list[Any], predicted: list[Any], quiet: bool) -> None:
    """Print how many predictions agree with the labels of the data."""
    import numpy as np

    from mvdfq.evaluation import Evaluation, Fold

    labels, answers = (np.array(list(map(str, values))) for values in (truth, predicted))
    fold = Fold("test", 0, np.arange(len(truth)), labels, answers)
    result = Evaluation("test", np.unique(fold.truth).tolist(), [fold])
    agree = f"{result.right.sum()} of {len(truth)} agree with the labels of the data"
    balanced = f"balanced accuracy {result.balanced_accuracy:.2%}"
    note(f"accuracy {result.accuracy:.2%} ({agree}), {balanced}", quiet)


def scan(
    model: Path,
    data: list[Path],
    reading: o.DataOptions,
    window: str | None = None,
    step: str | None = None,
    unknown: float | None = None,
    picture: Path | None = None,
    format: Found = Found.human,
) -> None:
    """Find events in long recordings: classify every window, join neighbours of one class.

    Example: mvdfq scan sounds.mvdfq garden.wav --window 5s --step 1s --unknown
    """
    check_output(picture, data[0], (".svg", ".html"))
    if picture is not None and len(data) > 1:
        raise Refused("--picture shows one recording.", "name one recording", USAGE)
    if format is Found.audacity and len(data) > 1:
        hint = "call mvdfq scan once per recording"
        raise Refused("--format audacity writes the labels of one recording.", hint, USAGE)
    clf = load(model)
    scans = []  # the name and the scan of each recording; one file at a time is in memory
    with progress_bar("scanning", reading.quiet) as progress:
        for i, path in enumerate(data, start=1):
            read = new_data(clf, [path], reading)
            for k, name in enumerate(read.names):
                scanned = clf.scan(read.X[k : k + 1], window=window, step=step, unknown=unknown)
                scans.append((name, scanned))
            progress(i, len(data))
    if picture is not None:
        from mvdfq.pages.timeline import timeline_page, timeline_svg

        name, first = scans[0]
        drawn = timeline_svg(first)
        is_page = picture.suffix == ".html"
        text = timeline_page(drawn, name, data[0], picture) if is_page else drawn
        replace_file(picture, text.encode())
        note(f"picture: {picture}", reading.quiet)
    _show_events(scans, format)


def _show_events(scans: list[tuple[str, Any]], format: Found) -> None:
    """Print the events; JSON holds the windows, too."""
    if format is Found.json:
        show_json([_plain(name, scan) for name, scan in scans])
    elif format is Found.audacity:
        for event in scans[0][1].events:
            label = printable(str(event.label)).replace("\t", " ")
            typer.echo(f"{event.start:.6f}\t{event.end:.6f}\t{label}")
    else:
        show_rows([row for name, scan in scans for row in _rows(name, scan)], Format(format.value))


def _rows(name: str, scan: Any) -> list[dict[str, Any]]:
    """Return one row per event, with times in seconds."""
    return [
        {"name": name, "start": round(event.start, 3), "end": round(event.end, 3),
         "label": event.label, "probability": round(event.probability, 4),
         "windows": event.n_windows}
        for event in scan.events
    ]  # fmt: skip


def _plain(name: str, scan: Any) -> dict[str, Any]:
    """Return a scan as JSON holds it: settings, events and windows."""
    windows = []
    for i, label in enumerate(scan.labels):
        row = {"start": round(float(scan.starts[i]), 3), "label": label}
        row["probability"] = round(float(scan.probabilities[i].max()), 4)
        if scan.typicality is not None:
            row["typicality"] = round(float(scan.typicality[i]), 4)
        windows.append(row)
    settings = {"name": name, "length": scan.length, "window": scan.window, "step": scan.step}
    return settings | {"events": _rows(name, scan), "windows": windows}


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
    return _read_alike(clf, paths, reading)


def _read_alike(clf: Any, paths: list[Path], reading: o.DataOptions) -> Any:
    """Read new sequences; if they do not fit the model and are of another kind, say so."""
    import numpy as np

    from mvdfq.gram.base import are_letters
    from mvdfq.io import ReadError

    format = getattr(clf, "source_", {}).get("format")
    wanted = KINDS.get(str(format)) or ("letters" if np.isnan(clf.ranges_in_).all() else "numbers")
    # tables may hold letters or numbers: only their content tells
    kind = KINDS.get(str(reading.as_))
    try:
        read = reading.read(o.one_or_all(paths))
    except ReadError:
        kind = kind or "numbers"
        if kind == wanted or format is None:
            raise
    else:
        kind = kind or ("letters" if are_letters(read.X) else "numbers")
        has_channels = getattr(read.X, "n_rows", 1) == clf.n_channels_in_
        if kind == wanted or ("letters" not in (kind, wanted) and has_channels):
            return read
    message = f"the model was trained on {wanted}, but {o.shown_paths(paths)} holds {kind}."
    raise Refused(message, "mvdfq inspect MODEL shows what the model expects")


def warn_of_training_data(clf: Any, X: Any, consequence: str, quiet: bool = False) -> None:
    """Say how many of these sequences the model has learned from."""
    n = sum(bool(places) for places in clf.training_places(X))
    if n:
        sequences = "this sequence" if n == len(X) == 1 else f"{n} of these {len(X)} sequences"
        note(f"warning: the model was trained on {sequences}; {consequence}.", quiet)

"""``mvdfq predict``: model file and new data -> labels."""

from pathlib import Path
from typing import Annotated, Any

import typer

from mvdfq.cli import options as o
from mvdfq.cli.as_trained import reading_as_trained, remark_other_rate, warn_of_training_data
from mvdfq.cli.errors import CANNOT_READ_MODEL, Refused
from mvdfq.cli.output import Format, note, show_rows, working

__all__ = ["load", "new_data", "predict"]

ModelPath = Annotated[Path, typer.Argument(help="A file that mvdfq train wrote.")]


def predict(
    model: ModelPath,
    data: Annotated[list[Path], typer.Argument(help="Files or a folder, as in training.")],
    as_: o.DataFormat = None,
    label: o.Label = None,
    skip_bad: o.SkipBad = False,
    cache: o.Cache = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Show the probabilities of all classes.")
    ] = False,
    format: o.Output = Format.human,
    quiet: o.Quiet = False,
    n_jobs: o.Jobs = -1,
) -> None:
    """Predict the classes of new sequences.

    Example: mvdfq predict genres.mvdfq new/*.wav --format json
    """
    clf = load(model)
    read = new_data(clf, data, as_, label, skip_bad, cache, n_jobs, quiet)
    warn_of_training_data(clf, read.X, "new sequences are recognised less often", quiet)
    with working("predicting", quiet):
        chances = clf.predict_proba(read.X)
    labels = clf.classes_[chances.argmax(axis=1)]
    truth = _known_labels(read, clf, quiet)
    rows = []
    for i, (name, chosen) in enumerate(zip(read.names, labels.tolist(), strict=True)):
        row = {"name": name, "label": chosen, "probability": round(float(chances[i].max()), 4)}
        if truth is not None:
            row["true"] = truth[i]
        if probabilities:
            row |= _all_chances(clf, chances[i], format)
        rows.append(row)
    show_rows(rows, format)
    if truth is not None:
        _say_accuracy(truth, [row["label"] for row in rows], quiet)


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


def new_data(
    clf: Any,
    paths: list[Path],
    format: str | None,
    label: str | None,
    skip_bad: bool,
    cache: Path | None,
    n_jobs: int,
    quiet: bool,
    labels: Path | None = None,
) -> Any:
    """Read new sequences as the training sequences of the model were read."""
    from mvdfq.io import AudioRecipe

    source = getattr(clf, "source_", {})
    kind, label, columns = reading_as_trained(clf, paths[0], format, label)
    is_sound = kind == "audio" and source.get("recipe")
    recipe = AudioRecipe(**source["recipe"]) if is_sound else None
    strands = source.get("strands", "one") if kind == "fasta" else "one"
    options = o.DataOptions(
        kind, recipe, label, labels, None, skip_bad, cache, n_jobs, quiet, strands, columns
    )
    read = options.read(paths[0] if len(paths) == 1 else paths)
    remark_other_rate(clf, read.X, quiet)
    return read

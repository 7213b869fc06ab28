"""``mvdfq predict``: model file and new data -> labels."""

from pathlib import Path
from typing import Annotated, Any

import typer

from mvdfq.cli import options as o
from mvdfq.cli.errors import CANNOT_READ_MODEL, Refused
from mvdfq.cli.output import Format, show_rows

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
    chances = clf.predict_proba(read.X)
    labels = clf.classes_[chances.argmax(axis=1)]
    rows = []
    for i, (name, chosen) in enumerate(zip(read.names, labels.tolist(), strict=True)):
        row = {"name": name, "label": chosen, "probability": round(float(chances[i].max()), 4)}
        if probabilities:
            every = zip(clf.classes_.tolist(), chances[i], strict=True)
            row |= {f"p({one})": round(float(p), 4) for one, p in every}
        rows.append(row)
    show_rows(rows, format)


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
) -> Any:
    """Read new sequences as the training sequences of the model were read."""
    from mvdfq.io import recognise
    from mvdfq.io.recipes import stored_recipe

    source = getattr(clf, "source_", {})
    kind = format or recognise(paths[0])
    is_sound = kind == "audio" and source.get("recipe")
    recipe = stored_recipe(source["recipe"]) if is_sound else None
    strands = source.get("strands", "one") if kind == "fasta" else "one"
    options = o.DataOptions(
        kind, recipe, label, None, None, skip_bad, cache, n_jobs, quiet, strands
    )
    return options.read(paths[0] if len(paths) == 1 else paths)

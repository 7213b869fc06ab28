"""``mvdfq train``: data -> model file."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from mvdfq.cli import options as o, parts as p
from mvdfq.cli.errors import CANNOT_WRITE, Refused, check_name
from mvdfq.cli.inner import inner_facts
from mvdfq.cli.output import Format, note, show_facts

__all__ = ["labelled", "source_of", "train"]


def train(
    data: o.DataPath,
    output: Annotated[Path, typer.Option("-o", "--output", help="The model file to write.")],
    preset: p.PresetName = None,
    frames: p.FramesName = None,
    symbols: p.SymbolsName = None,
    kernel: p.KernelName = None,
    c: p.Penalty = None,
    balanced: p.Balanced = False,
    as_: o.DataFormat = None,
    recipe: o.Recipe = None,
    label: o.Label = None,
    labels: o.Labels = None,
    group_pattern: o.GroupPattern = None,
    skip_bad: o.SkipBad = False,
    strands: o.Strands = "one",
    cache: o.Cache = None,
    format: o.Output = Format.human,
    quiet: o.Quiet = False,
    seed: o.Seed = 0,
    n_jobs: o.Jobs = -1,
    memory_limit: o.Memory = None,
) -> None:
    """Train a classifier on a data set and write a model file.

    Example: mvdfq train recordings/ -o digits.mvdfq
    """
    from mvdfq.evaluation import useful_groups
    from mvdfq.io import recognise

    check_output(output, data)
    parts = p.Parts(preset, frames, symbols, kernel, c, balanced)
    parts.check()
    kind = as_ or recognise(data, **o.given_columns())
    options = o.DataOptions(
        kind, recipe, label, labels, group_pattern, skip_bad, cache, n_jobs, quiet, strands
    )
    read = labelled(options.read(data), data)
    if read.split is not None:
        note("Training on the training part that the data name.", quiet)
        read = read.take((read.split == "train").nonzero()[0])
    clf = parts.classifier(seed, n_jobs, memory_limit, verbose=not quiet)
    groups = useful_groups(read.groups, read.y)
    if read.groups is not None:
        _tell_groups(groups, quiet)
    clf.fit(read.X, read.y, groups=groups)
    clf.source_ = source_of(kind, recipe) | {"names": read.names, "strands": strands}
    clf.source_["columns"] = o.given_columns() | {"label": label}
    clf.verbose = False  # how this run showed progress is not part of the model
    clf.save(output)
    _show(clf, read, output, format, quiet)


def _tell_groups(groups: Any, quiet: bool) -> None:
    """Say whether the inner folds hold known groups apart."""
    if groups is None:
        text = "The inner folds mix groups: fewer than two classes have sequences of two groups."
    else:
        text = f"The inner folds hold {len(set(groups.tolist()))} groups apart."
    note(text, quiet)


def _show(clf: Any, read: Any, output: Path, format: Format, quiet: bool) -> None:
    """Show what was learned and written."""
    facts = {
        "model": str(output),
        "sequences": len(read),
        "classes": len(clf.classes_),
        "skipped": len(read.skipped),
        "C": clf.C_,
        **inner_facts(clf, format),
        "bytes": output.stat().st_size,
    }
    show_facts(facts, format)
    if format is Format.human:
        note("The inner accuracy comes from cross-validation on these data; mvdfq evaluate "
             "measures the accuracy by a protocol.", quiet)  # fmt: skip


def check_output(path: Path, data: Path) -> None:
    """Raise an error for an output that cannot or must not be written, before the work."""
    check_name(path)
    problem, hint = "", "name another output"
    if not path.parent.is_dir():
        problem, hint = (
            f"{path.parent} is not a folder.",
            "create the folder, or name another output",
        )
    elif path.exists() and not path.is_file():
        problem = f"{path} exists and is not an ordinary file."
    elif path.exists() and data.exists() and path.samefile(data):
        problem = f"{path} holds the data, which must not be replaced."
    elif not os.access(path.parent, os.W_OK):
        problem = f"{path.parent} cannot be written to."
    if problem:
        raise Refused(problem, hint, CANNOT_WRITE)


def labelled(data: Any, path: Any) -> Any:
    """Return the data, or raise an error if the data have no labels."""
    if data.y is None:
        raise Refused(
            f"{path} has no labels.",
            "make one folder per class, or name a column with --label or a CSV file with --labels",
        )
    return data


def source_of(kind: str, recipe: str | None) -> dict[str, Any]:
    """Return the format and the audio recipe, which a model file remembers."""
    from mvdfq.io.sound.recipes import audio_recipe

    silence = o.given_columns().get("silence")
    stored = asdict(audio_recipe(recipe, silence)) if kind == "audio" else None
    return {"format": kind, "recipe": stored}

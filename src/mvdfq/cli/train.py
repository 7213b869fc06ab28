"""``mvdfq train``: data -> model file."""

import os
from dataclasses import replace
from pathlib import Path

from mvdfq._utils.short import counted
from mvdfq.cli import options as o
from mvdfq.cli.errors import CANNOT_WRITE, Refused, check_name
from mvdfq.cli.inspect import inner_facts
from mvdfq.cli.output import Format, note, show_facts


def train(
    data: list[Path],
    output: Path,
    parts: o.Parts,
    reading: o.DataOptions,
    format: Format = Format.human,
) -> None:
    """Train a classifier on a data set and write a model file.

    Example: mvdfq train recordings/ -o digits.mvdfq
    """
    from mvdfq.evaluation import useful_groups

    for path in data:
        check_output(output, path)
    _tell_replaced(output, reading.quiet)
    clf = parts.classifier(verbose=not reading.quiet)
    reading = parts.reading(replace(reading, as_=reading.kind(data)))
    read = reading.labelled(o.one_or_all(data))
    if read.split is not None:
        note("Training on the training part that the data name.", reading.quiet)
        read = read.take((read.split == "train").nonzero()[0])
    groups = useful_groups(read.groups, read.y)
    if groups is not None:
        n_groups = len(set(groups.tolist()))
        note(f"The inner folds hold {n_groups} groups apart.", reading.quiet)
    elif read.groups is not None:
        note("The inner folds mix groups: fewer than two classes have sequences of two groups.",
             reading.quiet)  # fmt: skip
    clf.fit(read.X, read.y, groups=groups)
    clf.source_ = read.source | {"names": read.names}
    clf.verbose = False  # how this run showed progress is not part of the model
    clf.save(output)
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
             "measures the accuracy by a protocol.", reading.quiet)  # fmt: skip


def check_output(path: Path, data: Path) -> None:
    """Raise an error for an output that cannot or must not be written, before the work."""
    check_name(path)
    problem, hint = "", "name another output"
    if not path.parent.is_dir():
        problem = f"{path.parent} is not a folder."
        hint = "create the folder, or name another output"
    elif path.exists() and not path.is_file():
        problem = f"{path} exists and is not an ordinary file."
    elif path.exists() and data.exists() and path.samefile(data):
        problem = f"{path} holds the data, which must not be replaced."
    elif not os.access(path.parent, os.W_OK):
        problem = f"{path.parent} cannot be written to."
    if problem:
        raise Refused(problem, hint, CANNOT_WRITE)


def _tell_replaced(path: Path, quiet: bool) -> None:
    """Say which model the new model will replace; refuse to replace a file that is no model."""
    from mvdfq.classifier.saving.file import ModelFileError, load
    from mvdfq.cli.inspect import is_model

    if not path.exists() or not path.stat().st_size:
        return
    if not is_model(path):
        message = f"{path} exists and is not a model file, so it is not replaced."
        raise Refused(message, "name another output, or remove the file first", CANNOT_WRITE)
    try:
        old = load(path)
        sizes = counted(len(old.classes_), "class"), counted(len(old.train_y_), "sequence")
        what = f"a model of {sizes[0]}, trained on {sizes[1]}"
    except ModelFileError:
        what = "a model file that cannot be read"
    note(f"{path} exists and will be replaced: {what}.", quiet)

"""``mvdfq evaluate``: the error of a classifier on a data set, by a protocol."""

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from mvdfq._utils.short import counted
from mvdfq.cli import options as o
from mvdfq.cli.errors import USAGE, Refused, as_flags
from mvdfq.cli.model_options import Parts
from mvdfq.cli.output import (
    Format,
    note,
    progress_bar,
    show_json,
    show_rows,
    working,
)
from mvdfq.cli.page import PageOptions
from mvdfq.cli.predict import load, new_data, warn_of_training_data
from mvdfq.cli.scores import show_scores
from mvdfq.cli.values import PROTOCOLS, completed

__all__ = ["evaluate"]

TEST = "What is tested"
# Seconds of work left that are worth an estimate.
LONG = 60.0


def evaluate(
    data: o.DataPaths,
    *,
    protocol: Annotated[
        str,
        typer.Option(
            help="5-fold (or another number), group (at most ten folds of whole groups), "
            "leave-group-out (one training per group), group-per-class, split or homology.",
            autocompletion=completed(("5-fold", "10-fold", *PROTOCOLS)),
        ),
    ] = "",
    seeds: Annotated[int, typer.Option(help="Number of repetitions with other folds.", min=1)] = 1,
    positive: Annotated[
        str | None,
        typer.Option(help="The positive of two classes; default: the second by the alphabet."),
    ] = None,
    splits: Annotated[
        Path | None,
        typer.Option(help="Table with the columns family, role, id, for --protocol homology."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            help="Test this model file on DATA, instead of training.", rich_help_panel=TEST
        ),
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option(help="Train on DATA and test on this file or folder.", rich_help_panel=TEST),
    ] = None,
    parts: Parts,
    reading: o.DataOptions,
    format: o.Output = Format.human,
    page: PageOptions,
) -> None:
    """Train and test by a protocol; show error, F1, intervals, classes and confusions.

    Default: the split that the data name, else group if groups are known, else 5-fold.
    --model tests a saved model, --test trains on DATA and tests on other data.
    Example: mvdfq evaluate recordings/ --protocol group --group-pattern '_(.+)_'
    """
    if model is not None:
        given = {
            "--positive": positive,
            "--protocol": protocol,
            "--seeds": seeds > 1,
            "--splits": splits,
            "--test": test,
        }
        given |= {"--report": page.report, "--recipe": reading.recipe}
        given |= {"--group-pattern": reading.group_pattern, **parts.given()}
        _refuse_with_model(given)
        show_scores(*_tested(model, data, reading), format)
        return
    where = o.one_or_all(data)
    reading = parts.reading(reading, data)
    parts.check()
    _check_protocol(protocol, splits, seeds, test)
    if page.report is not None and protocol == "homology":
        raise Refused("--report does not work with --protocol homology.", "leave out one", USAGE)
    page.check()
    clf = parts.classifier(verbose=False)
    if protocol == "homology":
        _homology(clf, reading.read(where), splits, format, reading.quiet)
        return
    read = reading.labelled(where)
    if test is not None:
        read = _with_test_part(read, reading.labelled(test), o.shown_paths(where))
    _check_groups(protocol, read.groups)
    rules = {
        "protocol": protocol or None,
        "groups": read.groups,
        "split": read.split,
        "seeds": range(parts.seed, parts.seed + seeds),
        "names": read.names,
        "positive": positive,
    }
    settings = {"data": o.shown_paths(where), **({} if test is None else {"test": str(test)})}
    _measured(clf, read, data[0], rules, settings, page, format, reading.quiet)


def _measured(
    clf: Any,
    read: Any,
    data: Path,
    rules: dict[str, Any],
    settings: dict[str, Any],
    wanted: PageOptions,
    format: Format,
    quiet: bool,
) -> None:
    """Train and test by the rules of a protocol; show the results and write the page."""
    from mvdfq.evaluation import evaluate as measure, usual_protocol

    recorder = wanted.recorder()
    if rules["protocol"] is None:
        for remark in usual_protocol(read.y, read.groups, read.split)[1]:
            note(as_flags(remark), quiet)
    with progress_bar("evaluating", quiet) as progress:
        told = _telling(progress, wanted.n_removed(read.X))
        result = measure(clf, read.X, read.y, progress=told, visit=recorder, **rules)
    classifier = " ".join(repr(clf).split())
    show_scores(result, settings | {"skipped": len(read.skipped), "classifier": classifier}, format)
    if format is Format.human:
        note(f"classifier: {classifier}", quiet)
    with working("page", quiet or wanted.report is None):
        written = wanted.write(clf, read, data, result, recorder, rules)
    if written is not None:
        note(f"report: {written}", quiet)


def _telling(progress: Any, n_removed: int) -> Any:
    """Return a report of folds that says how many trainings there are, and how long they take."""
    from mvdfq._utils.progress import duration

    if progress is None:
        return None
    began = time.monotonic()

    def report(done: int, total: int) -> None:
        spent, n_trainings = time.monotonic() - began, total * (1 + n_removed)
        if not done:
            more = f", {n_removed * total} of them for --remove-channels" if n_removed else ""
            note(f"{counted(n_trainings, 'training')}{more}")
        elif done == 1 and (left := spent * (n_trainings - 1)) > LONG:
            note(f"The first training took {duration(spent)}: about {duration(left)} left.")
        progress(done, total)

    return report


def _refuse_with_model(given: dict[str, Any]) -> None:
    """Raise an error for options that do not apply to a trained model."""
    wrong = [name for name, value in given.items() if value]
    if wrong:
        raise Refused(
            f"--model tests a model that is trained already; {wrong[0]} does not work with it.",
            f"leave out {wrong[0]} or --model",
            USAGE,
        )


def _tested(model: Path, data: list[Path], reading: o.DataOptions) -> tuple[Any, dict[str, Any]]:
    """Test a model file on data; return the result and the settings."""
    from mvdfq.evaluation import evaluate_fitted

    clf, quiet = load(model), reading.quiet
    read = new_data(clf, data, reading)
    if read.y is None:
        raise Refused(f"{o.shown_paths(data)} has no labels.", "--label or --labels names them")
    if read.split is not None and "test" in read.split:
        note("Testing on the test part that the data name.", quiet)
        read = read.take((read.split == "test").nonzero()[0])
    warn_of_training_data(clf, read.X, "the figures are too good")
    unknown = sorted({*map(str, read.y.tolist())} - {*map(str, clf.classes_.tolist())})
    if unknown:
        note(f"The model does not know the classes {', '.join(unknown)}: these count as errors.")
    with working("predicting", quiet):
        result = evaluate_fitted(clf, read.X, read.y, read.groups)
        result = replace(result, names=read.names)
    return result, {"data": o.shown_paths(data), "model": str(model), "skipped": len(read.skipped)}


def _with_test_part(train: Any, test: Any, path: str) -> Any:
    """Return one data set of a training part and a test part."""
    import numpy as np

    if train.split is not None or test.split is not None:
        raise Refused(
            f"{path} or the data of --test name a training and a test part themselves.",
            "leave out --test, or name files that hold one part each",
        )
    parts = np.repeat(["train", "test"], [len(train), len(test)])
    return replace(train.joined(test), split=parts)


def _check_protocol(protocol: str, splits: Path | None, seeds: int, test: Path | None) -> None:
    """Raise an error for options that do not go together, before data are read."""
    is_k_fold = re.fullmatch(r"\d+-fold", protocol) is not None
    if protocol and not is_k_fold and protocol not in PROTOCOLS:
        hint = f"use 5-fold (or another number), {', '.join(PROTOCOLS)}"
        raise Refused(f"protocol={protocol!r} is not known.", hint, USAGE)
    if protocol == "homology" and splits is None:
        hint = "name a CSV file with the columns family, role and id"
        raise Refused("--protocol homology needs --splits.", hint, USAGE)
    if test is not None and protocol not in ("", "split"):
        message = f"--test does not work with --protocol {protocol}."
        raise Refused(message, "leave out --test or --protocol", USAGE)
    if seeds > 1 and protocol not in ("", "group") and not is_k_fold:
        message = f"--seeds does not work with --protocol {protocol}."
        raise Refused(message, "leave out --seeds", USAGE)


def _check_groups(protocol: str, groups: Any) -> None:
    if "group" in protocol and groups is None:
        hint = (
            "--group names the column of a table that holds the groups; --group-pattern '_(.+)_' "
            "finds the group in the name of a file, here between two underscores"
        )
        raise Refused(f"--protocol {protocol} needs groups, but the data have none.", hint)


def _homology(clf: Any, read: Any, splits: Any, format: Format, quiet: bool) -> None:
    """Evaluate each family against the rest on the parts that `splits` names; show ROC50."""
    from mvdfq.evaluation import evaluate as measure
    from mvdfq.io.letters.labels import homology_tasks, read_splits

    tasks = homology_tasks(read.names, read_splits(splits))
    rows: list[dict[str, Any]] = []
    with progress_bar("families", quiet) as progress:
        for task in tasks:
            part = task.dataset(read)
            result = measure(clf, part.X, part.y, protocol="split", split=part.split)
            areas = {key: result.two_classes[key] or 0.0 for key in ("roc50", "roc_auc")}
            rows.append({"family": task.family, **areas})
            if progress is not None:
                progress(len(rows), len(tasks))
    mean = {key: sum(float(row[key]) for row in rows) / len(rows) for key in ("roc50", "roc_auc")}
    if format is Format.json:
        show_json({"protocol": "homology", "mean": mean, "families": rows})
    else:
        show_rows([*rows, {"family": "mean", **mean}], format)

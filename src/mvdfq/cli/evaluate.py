"""``mvdfq evaluate``: the error of a classifier on a data set, by a protocol."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from mvdfq._utils.short import counted
from mvdfq.cli import options as o
from mvdfq.cli.errors import USAGE, Refused
from mvdfq.cli.model_options import Parts
from mvdfq.cli.output import (
    Format,
    note,
    progress_bar,
    show_confusion,
    show_facts,
    show_json,
    show_rows,
    table,
    working,
)
from mvdfq.cli.page import PageOptions
from mvdfq.cli.predict import load, new_data
from mvdfq.cli.train import labelled
from mvdfq.cli.values import PROTOCOLS, completed

__all__ = ["evaluate"]

TEST = "What is tested"
# Measures of two classes: name in the table, key in the result.
TWO_CLASSES = {
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "ROC area (AUC)": "roc_auc",
    "average precision": "average_precision",
    "ROC50": "roc50",
}


def evaluate(
    data: o.DataPath,
    *,
    protocol: Annotated[
        str,
        typer.Option(
            help="5-fold (or another number), group, group-per-class, split or homology.",
            autocompletion=completed(("5-fold", "10-fold", *PROTOCOLS)),
        ),
    ] = "",
    seeds: Annotated[int, typer.Option(help="Number of repetitions of K-fold.", min=1)] = 1,
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

    Default: the split that the data name, or 5-fold cross-validation if the data name no split.
    --model tests a saved model, --test trains on DATA and tests on other data.
    Example: mvdfq evaluate recordings/ --protocol group --group-pattern '_(.+)_'
    """
    if model is not None:
        given = {"--protocol": protocol, "--seeds": seeds > 1, "--splits": splits, "--test": test}
        given |= {"--report": page.report, "--recipe": reading.recipe}
        given |= {"--group-pattern": reading.group_pattern, **parts.given()}
        _refuse_with_model(given)
        _show(*_tested(model, data, reading), format)
        return
    parts.check()
    _check_protocol(protocol, splits, seeds, test)
    if page.report is not None and protocol == "homology":
        raise Refused("--report does not work with --protocol homology.", "leave out one", USAGE)
    page.check()
    clf, read = parts.classifier(verbose=False), reading.read(data)
    if protocol == "homology":
        _homology(clf, read, splits, format, reading.quiet)
        return
    read = labelled(read, data)
    if test is not None:
        read = _with_test_part(read, labelled(reading.read(test), test), data)
    _check_groups(protocol, read.groups)
    rules = {
        "protocol": protocol or ("split" if read.split is not None else "5-fold"),
        "groups": read.groups,
        "split": read.split,
        "seeds": range(parts.seed, parts.seed + seeds),
    }
    settings = {"data": str(data), **({} if test is None else {"test": str(test)})}
    _measured(clf, read, data, rules, settings, page, format, reading.quiet)


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
    from mvdfq.evaluation import evaluate as measure

    recorder = wanted.recorder()
    with progress_bar("evaluating", quiet) as progress:
        result = measure(clf, read.X, read.y, progress=progress, visit=recorder, **rules)
    classifier = " ".join(repr(clf).split())
    _show(result, settings | {"skipped": len(read.skipped), "classifier": classifier}, format)
    if format is Format.human:
        note(f"classifier: {classifier}", quiet)
    with working("page", quiet or wanted.report is None):
        written = wanted.write(clf, read, data, result, recorder, rules)
    if written is not None:
        note(f"report: {written}", quiet)


def _refuse_with_model(given: dict[str, Any]) -> None:
    """Raise an error for options that do not apply to a trained model."""
    wrong = [name for name, value in given.items() if value]
    if wrong:
        raise Refused(
            f"--model tests a model that is trained already; {wrong[0]} does not work with it.",
            f"leave out {wrong[0]} or --model",
            USAGE,
        )


def _tested(model: Path, data: Path, reading: o.DataOptions) -> tuple[Any, dict[str, Any]]:
    """Test a model file on data; return the result and the settings."""
    from mvdfq.evaluation import evaluate_fitted

    clf, quiet = load(model), reading.quiet
    read = labelled(new_data(clf, [data], reading), data)
    if read.split is not None and "test" in read.split:
        note("Testing on the test part that the data name.", quiet)
        read = read.take((read.split == "test").nonzero()[0])
    _warn_of_training_data(clf, read)
    unknown = sorted({*map(str, read.y.tolist())} - {*map(str, clf.classes_.tolist())})
    if unknown:
        note(f"The model does not know the classes {', '.join(unknown)}: these count as errors.")
    with working("predicting", quiet):
        result = evaluate_fitted(clf, read.X, read.y)
    return result, {"data": str(data), "model": str(model), "skipped": len(read.skipped)}


def _warn_of_training_data(clf: Any, read: Any) -> None:
    """Say if the model has learned from these very data."""
    from mvdfq.classifier.saving.record import training_record
    from mvdfq.sequences import check_sequences

    digest = (getattr(clf, "training_", None) or {}).get("digest")
    if digest and digest == training_record(check_sequences(read.X), read.y)["digest"]:
        note("warning: the model was trained on these data; the figures are too good.")


def _with_test_part(train: Any, test: Any, path: Path) -> Any:
    """Return one data set of a training part and a test part."""
    import numpy as np

    if train.split is not None or test.split is not None:
        raise Refused(
            f"{path} or the data of --test name a training and a test part themselves.",
            "leave out --test, or name files that hold one part each",
        )
    parts = np.repeat(["train", "test"], [len(train), len(test)])
    return replace(train.joined(test), split=parts)


def _show(result: Any, settings: dict[str, Any], format: Format) -> None:
    plain = result.to_dict()
    if format is Format.json:
        show_json(settings | plain)
        return
    if format is Format.csv:
        show_rows(plain["folds"], format)
        return
    show_facts(_measures(plain, settings), format)
    table(plain["classes"], "\nclasses")
    show_confusion([row["label"] for row in plain["classes"]], plain["confusion"])


def _measures(plain: dict[str, Any], settings: dict[str, Any]) -> dict[str, str]:
    """Return the measures of an evaluation as text, by name."""
    low, high = plain["interval_95"]
    n_test = sum(fold["n"] for fold in plain["folds"])
    facts = {
        "protocol": f"{plain['protocol']}, {counted(len(plain['folds']), 'fold')}, "
        f"{counted(n_test, 'prediction')}, {_seeds(plain['seeds'])}",
        "error": f"{plain['error']:.2%} (std over folds {plain['std']:.2%})",
        "accuracy": f"{plain['accuracy']:.2%} (95 % interval {low:.2%} to {high:.2%})",
        "balanced accuracy": f"{plain['balanced_accuracy']:.2%}",
        "F1": f"{plain['f1_mean_of_classes']:.4f}, mean of classes; "
        f"{plain['f1_of_mean_precision_and_recall']:.4f}, of mean precision and recall",
    }
    if "model" in settings:
        facts["protocol"] = f"model {settings['model']}, {counted(n_test, 'test sequence')}"
        facts["error"] = f"{plain['error']:.2%}"
    if "positive_class" in plain:
        facts["positive class"] = plain["positive_class"]
        for name, key in TWO_CLASSES.items():
            value = plain[key]
            facts[name] = "unknown: a test part lacks a class" if value is None else f"{value:.4f}"
    return facts


def _seeds(seeds: list[int]) -> str:
    return f"seed{'' if len(seeds) == 1 else 's'} {', '.join(map(str, seeds))}"


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
    if seeds > 1 and protocol and not is_k_fold:
        message = f"--seeds does not work with --protocol {protocol}."
        raise Refused(message, "leave out --seeds", USAGE)


def _check_groups(protocol: str, groups: Any) -> None:
    if protocol in ("group", "group-per-class") and groups is None:
        hint = (
            "--group names the column of a table that holds the groups; --group-pattern '_(.+)_' "
            "finds the group in the name of a file, here between two underscores"
        )
        raise Refused(f"--protocol {protocol} needs groups, but the data have none.", hint)


def _homology(clf: Any, read: Any, splits: Any, format: Format, quiet: bool) -> None:
    """Evaluate each family against the rest on the parts that `splits` names; show ROC50."""
    from mvdfq.evaluation import evaluate as measure
    from mvdfq.io.homology import homology_tasks, read_splits

    tasks = homology_tasks(read.names, read_splits(splits))
    rows: list[dict[str, Any]] = []
    with progress_bar("families", quiet) as progress:
        for task in tasks:
            part = task.dataset(read)
            result = measure(clf, part.X, part.y, protocol="split", split=part.split)
            areas = result.ranking or (0.0, 0.0)  # two classes always have a ranking
            rows.append({"family": task.family, "roc50": areas[0], "roc_auc": areas[1]})
            if progress is not None:
                progress(len(rows), len(tasks))
    mean = {key: sum(float(row[key]) for row in rows) / len(rows) for key in ("roc50", "roc_auc")}
    if format is Format.json:
        show_json({"protocol": "homology", "mean": mean, "families": rows})
    else:
        show_rows([*rows, {"family": "mean", **mean}], format)

"""``mvdfq evaluate``: the error of a classifier on a data set, by a protocol."""

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from mvdfq.cli import options as o, page
from mvdfq.cli.errors import USAGE, Refused
from mvdfq.cli.output import Format, note, progress_bar, show_facts, show_json, show_rows, table
from mvdfq.cli.train import labelled

__all__ = ["evaluate"]

PROTOCOLS = ("group", "group-per-class", "split", "homology")
# A wider confusion matrix does not fit into a terminal.
MOST_CLASSES = 20


def evaluate(
    data: o.DataPath,
    protocol: Annotated[
        str,
        typer.Option(help="5-fold (or another number), group, group-per-class, split or homology."),
    ] = "",
    seeds: Annotated[int, typer.Option(help="Number of repetitions of K-fold.", min=1)] = 1,
    splits: Annotated[
        Path | None,
        typer.Option(help="Table with the columns family, role, id, for --protocol homology."),
    ] = None,
    preset: o.PresetName = None,
    frames: o.FramesName = None,
    symbols: o.SymbolsName = None,
    kernel: o.KernelName = None,
    c: o.Penalty = None,
    balanced: o.Balanced = False,
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
    report: page.ReportPath = None,
    details: page.Details = "60",
    no_audio: page.NoAudio = False,
    remove_channels: page.RemoveChannels = False,
) -> None:
    """Train and test by a protocol; show error, F1, intervals, classes and confusions.

    Default: the split that the data name, or 5-fold cross-validation if the data name no split.
    Example: mvdfq evaluate recordings/ --protocol group --group-pattern '_(.+)_'
    """
    options = o.DataOptions(
        as_, recipe, label, labels, group_pattern, skip_bad, cache, n_jobs, quiet, strands
    )
    parts = o.Parts(preset, frames, symbols, kernel, c, balanced)
    parts.check()
    _check_protocol(protocol, splits, seeds)
    if report is not None and protocol == "homology":
        raise Refused("--report does not work with --protocol homology.", "leave out one", USAGE)
    wanted = page.PageOptions(report, details, no_audio, remove_channels)
    clf = parts.classifier(seed, n_jobs, memory_limit, verbose=False)
    read = options.read(data)
    if protocol == "homology":
        _homology(clf, read, splits, format, quiet)
        return
    from mvdfq.evaluation import evaluate as measure

    read = labelled(read, data)
    protocol = protocol or ("split" if read.split is not None else "5-fold")
    recorder = wanted.recorder()
    rules = {
        "protocol": protocol,
        "groups": read.groups,
        "split": read.split,
        "seeds": range(seed, seed + seeds),
    }
    with progress_bar("evaluating", quiet) as progress:
        result = measure(clf, read.X, read.y, progress=progress, visit=recorder, **rules)
    settings = {
        "data": str(data),
        "skipped": len(read.skipped),
        "classifier": " ".join(repr(clf).split()),
    }
    _show(result, settings, format, quiet)
    written = wanted.write(clf, read, data, result, recorder, rules)
    if written is not None:
        note(f"report: {written}", quiet)


def _show(result: Any, settings: dict[str, Any], format: Format, quiet: bool) -> None:
    plain = result.to_dict()
    if format is Format.json:
        show_json(settings | plain)
        return
    if format is Format.csv:
        show_rows(plain["folds"], format)
        return
    low, high = plain["interval_95"]
    facts = {
        "protocol": f"{plain['protocol']}, {len(plain['folds'])} folds, seeds {plain['seeds']}",
        "error": f"{plain['error']:.2%} (std over folds {plain['std']:.2%})",
        "accuracy": f"{plain['accuracy']:.2%} (95 % interval {low:.2%} to {high:.2%})",
        "F1": f"{plain['f1_mean_of_classes']:.4f}, mean of classes; "
        f"{plain['f1_of_mean_precision_and_recall']:.4f}, of mean precision and recall",
    }
    if "roc50" in plain:
        facts["ROC50, ROC"] = f"{plain['roc50']:.4f}, {plain['roc']:.4f}"
    show_facts(facts, format)
    table(plain["classes"], "\nclasses")
    names = [row["label"] for row in plain["classes"]]
    if len(names) > MOST_CLASSES:
        note(f"--format json shows the confusions of {len(names)} classes.", quiet)
    else:
        rows = [
            {"true \\ said": name, **dict(zip(names, line, strict=True))}
            for name, line in zip(names, plain["confusion"], strict=True)
        ]
        table(rows, "\nconfusions, all folds")
    note(f"classifier: {settings['classifier']}", quiet)


def _check_protocol(protocol: str, splits: Path | None, seeds: int) -> None:
    """Raise an error for options that do not go together, before data are read."""
    is_k_fold = re.fullmatch(r"\d+-fold", protocol) is not None
    if protocol and not is_k_fold and protocol not in PROTOCOLS:
        hint = f"use 5-fold (or another number), {', '.join(PROTOCOLS)}"
        raise Refused(f"protocol={protocol!r} is not known.", hint, USAGE)
    if protocol == "homology" and splits is None:
        hint = "name a CSV file with the columns family, role and id"
        raise Refused("--protocol homology needs --splits.", hint, USAGE)
    if seeds > 1 and protocol and not is_k_fold:
        message = f"--seeds does not work with --protocol {protocol}."
        raise Refused(message, "leave out --seeds", USAGE)


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
            rows.append({"family": task.family, "ROC50": areas[0], "ROC": areas[1]})
            if progress is not None:
                progress(len(rows), len(tasks))
    mean = {key: sum(float(row[key]) for row in rows) / len(rows) for key in ("ROC50", "ROC")}
    if format is Format.json:
        show_json({"protocol": "homology", "mean": mean, "families": rows})
    else:
        show_rows([*rows, {"family": "mean", **mean}], format)

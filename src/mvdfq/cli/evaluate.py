"""``mvdfq evaluate``: the error of a classifier on a data set, by a protocol."""

import time
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from mvdfq._utils.short import counted
from mvdfq.cli import options as o, output
from mvdfq.cli.errors import CANNOT_WRITE, USAGE, Refused, check_name, check_output, in_options
from mvdfq.cli.output import Format, note, progress_bar, show_facts, show_json, show_rows, working
from mvdfq.cli.predict import load, new_data, warn_of_training_data
from mvdfq.cli.shared import tables

PROTOCOLS = ("group", "leave-group-out", "group-per-class", "split", "homology")
NO_GROUPS = (
    "--group names the column of a table that holds the groups; --group-pattern '_(.+)_' finds the "
    "group in the name of a file, here between two underscores"
)
# Seconds of work left that are worth an estimate.
LONG = 60.0
# A terminal shows no more groups than these.
MOST_GROUPS = 20
# Measures that rank all predictions: whether they are means over folds must be said.
POOLED = {"roc_auc": "ROC area (AUC)", "average_precision": "average precision", "roc50": "ROC50"}


@dataclass(frozen=True)
class Testing:
    """The options that say what is tested, and how the data are cut into folds."""

    protocol: str = ""
    seeds: int = 1
    positive: str | None = None
    splits: Path | None = None
    model: Path | None = None
    test: Path | None = None

    def check(self) -> None:
        """Raise an error for options that do not go together, before data are read."""
        from mvdfq._utils.checks import parse_folds

        protocol = self.protocol
        is_k_fold = parse_folds(protocol) is not None
        if protocol and not is_k_fold and protocol not in PROTOCOLS:
            hint = f"use 5-fold (or another number), {', '.join(PROTOCOLS)}"
            raise Refused(f"--protocol {protocol} is not known.", hint, USAGE)
        if protocol == "homology" and self.splits is None:
            hint = "name a CSV file with the columns family, role and id"
            raise Refused("--protocol homology needs --splits.", hint, USAGE)
        if self.test is not None and protocol not in ("", "split"):
            message = f"--test does not work with --protocol {protocol}."
            raise Refused(message, "leave out --test or --protocol", USAGE)
        if self.seeds > 1 and protocol not in ("", "group") and not is_k_fold:
            message = f"--seeds does not work with --protocol {protocol}."
            raise Refused(message, "leave out --seeds", USAGE)


@dataclass(frozen=True)
class PageOptions:
    """What the command line says about the page; checked before data are read."""

    report: Path | None = None
    details: str = "60"
    no_audio: bool = False
    remove_channels: bool = False

    def check(self) -> None:
        """Raise an error for a page that cannot or must not be written."""
        path, details = self.report, self.details
        if path is None:
            for name in _given(self):
                hint = "name a page: --report page.html"
                raise Refused(f"{_option(name)} needs --report.", hint, USAGE)
            return
        check_output(path, endings=(".html", ".htm"))
        check_name(path.with_suffix(".json"))  # the longest of the names beside the page
        from mvdfq.pages.html import foreign_files

        for foreign in foreign_files(path)[:1]:  # .json or .csv of the user
            message = f"--report {path} would replace {foreign}, which is not part of a report."
            hint = f"name another page, for example {path.with_stem(path.stem + '-report')}"
            raise Refused(message, hint, CANNOT_WRITE)
        if details != "all" and (not details.isdecimal() or int(details) < 1):
            message = f"--details must be a whole number above 0 or all, got {details}."
            raise Refused(message, "for example --details 60", USAGE)

    def n_removed(self, X: Any) -> int:
        """Return how many evaluations without one channel are wanted."""
        n_channels = 1 if isinstance(X, list) else X.n_rows
        return n_channels if self.report and self.remove_channels and n_channels > 1 else 0

    def write(
        self, clf: Any, read: Any, data: Path, result: Any, recorder: Any, rules: Any, quiet: bool
    ) -> None:
        """Write the page of an evaluation, if one is wanted."""
        if self.report is None:
            return
        from mvdfq.pages.contents import sound_files
        from mvdfq.pages.report import finish
        from mvdfq.pages.run import Run

        run = Run(clf, read.X, read.y, read.names or None, read.groups, result, recorder)
        about = {"title": data.absolute().name, "command": output.command_line()}
        audio = None if self.no_audio else sound_files(data, run.names)
        wanted = rules if self.remove_channels else None
        details = "all" if self.details == "all" else int(self.details)
        with progress_bar("page", quiet) as progress:
            finish(run, about, details, wanted, audio, self.report, progress)
        note(f"report: {self.report}", quiet)


def evaluate(
    data: list[Path],
    testing: Testing,
    parts: o.Parts,
    reading: o.DataOptions,
    page: PageOptions,
    format: Format = Format.human,
) -> None:
    """Train and test by a protocol; show error, F1, intervals, classes and confusions.

    Default: the split that the data name, else group if groups are known, else 5-fold.
    --model tests a saved model, --test trains on DATA and tests on other data.
    Example: mvdfq evaluate recordings/ --protocol group --group-pattern '_(.+)_'
    """
    if testing.model is not None:
        _refuse_with_model(testing, parts, reading, page)
        show_scores(*_scores_of_model(testing.model, data, reading), format)
        return
    from mvdfq.evaluation import evaluate as measure, usual_protocol
    from mvdfq.pages.run import Recorder

    where = o.one_or_all(data)
    reading = parts.reading(reading, data)
    clf = parts.classifier(verbose=False)
    # all options before the data, which may take minutes to read
    testing.check()
    is_homology = testing.protocol == "homology"
    if page.report is not None and is_homology:
        raise Refused("--report does not work with --protocol homology.", "leave out one", USAGE)
    page.check()
    if is_homology:
        _homology(clf, reading.read(where), testing.splits, format, reading.quiet)
        return
    read, settings = reading.labelled(where), {"data": o.shown_paths(where)}
    if testing.test is not None:
        settings["test"] = str(testing.test)
        read = _with_test_part(read, reading.labelled(testing.test), settings["data"])
    if "group" in testing.protocol and read.groups is None:
        message = f"--protocol {testing.protocol} needs groups, but the data have none."
        raise Refused(message, NO_GROUPS)
    rules: dict[str, Any] = {"protocol": testing.protocol or None, "positive": testing.positive}
    rules |= {"groups": read.groups, "split": read.split, "names": read.names}
    rules["seeds"] = range(parts.seed, parts.seed + testing.seeds)
    if not testing.protocol:
        for remark in usual_protocol(read.y, read.groups, read.split)[1]:
            note(in_options(remark), reading.quiet)
    # the page shows the classifiers of the folds, which are gone after the evaluation
    recorder = Recorder() if page.report is not None else None
    with progress_bar("evaluating", reading.quiet) as progress:
        report = _telling(progress, page.n_removed(read.X))
        result = measure(clf, read.X, read.y, progress=report, visit=recorder, **rules)
    classifier = " ".join(repr(clf).split())
    show_scores(result, settings | {"skipped": len(read.skipped), "classifier": classifier}, format)
    note(f"classifier: {classifier}", reading.quiet or format is not Format.human)
    page.write(clf, read, data[0], result, recorder, rules, reading.quiet)


def _with_test_part(read: Any, test: Any, shown: str) -> Any:
    """Return training data and test data as one data set of two parts."""
    import numpy as np

    if read.split is not None or test.split is not None:
        problem = f"{shown} or the data of --test name a training and a test part themselves."
        raise Refused(problem, "leave out --test, or name files that hold one part each")
    return replace(read.joined(test), split=np.repeat(["train", "test"], [len(read), len(test)]))


def _telling(progress: Any, n_removed: int) -> Any:
    """Return a report of folds that says how many trainings there are, and how long they take."""
    from mvdfq._utils.progress import duration

    if progress is output.silent:
        return progress
    began = time.monotonic()

    def report(done: int, total: int) -> None:
        spent, n_trainings = time.monotonic() - began, total * (1 + n_removed)
        if not done:
            removed = f", {n_removed * total} of them for --remove-channels" if n_removed else ""
            note(f"{counted(n_trainings, 'training')}{removed}")
        elif done == 1 and (left := spent * (n_trainings - 1)) > LONG:
            note(f"The first training took {duration(spent)}: about {duration(left)} left.")
        progress(done, total)

    return report


def _refuse_with_model(*records: Any) -> None:
    """Raise an error for options that do not apply to a trained model."""
    given = {name for record in records for name in _given(record)}
    for wrong in (_option(name) for name in tables()["evaluate"]["training"] if name in given):
        problem = f"--model tests a model that is trained already; {wrong} does not work with it."
        raise Refused(problem, f"leave out {wrong} or --model", USAGE)


def _given(record: Any) -> list[str]:
    """Return the fields of a record of options that differ from their defaults."""
    return [each.name for each in fields(record) if getattr(record, each.name) != each.default]


def _option(name: str) -> str:
    return "-C" if name == "C" else f"--{name.replace('_', '-')}"


def _scores_of_model(
    model: Path, data: list[Path], reading: o.DataOptions
) -> tuple[Any, dict[str, Any]]:
    """Test a model file on data; return the result and the settings."""
    from mvdfq.evaluation import evaluate_fitted

    clf = load(model)
    read = new_data(clf, data, reading)
    if read.y is None:
        raise Refused(f"{o.shown_paths(data)} has no labels.", "--label or --labels names them")
    if read.split is not None and "test" in read.split:
        note("Testing on the test part that the data name.", reading.quiet)
        read = read.take(read.split == "test")
    warn_of_training_data(clf, read.X, "the figures are too good")
    unknown = sorted({*map(str, read.y.tolist())} - {*map(str, clf.classes_.tolist())})
    if unknown:
        note(f"The model does not know the classes {', '.join(unknown)}: these count as errors.")
    with working("predicting", reading.quiet):
        result = evaluate_fitted(clf, read.X, read.y, read.groups)
        result = replace(result, names=read.names)
    return result, {"data": o.shown_paths(data), "model": str(model), "skipped": len(read.skipped)}


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
            progress(len(rows), len(tasks))
    mean = {key: sum(float(row[key]) for row in rows) / len(rows) for key in ("roc50", "roc_auc")}
    if format is Format.json:
        show_json({"protocol": "homology", "mean": mean, "families": rows})
    else:
        show_rows([*rows, {"family": "mean", **mean}], format)


def show_scores(result: Any, settings: dict[str, Any], format: Format) -> None:
    """Print the scores of an evaluation in the given format."""
    plain = result.to_dict()
    if format is Format.json:
        show_json(settings | plain)
        return
    if format is Format.csv:
        show_rows(result.per_sequence, format)
        return
    show_facts(_measures(plain, settings), format)
    output.table(plain["classes"], "\nclasses")
    groups, title = plain["groups"], "\ngroups"
    if output.screen_width() is not None and len(groups) > MOST_GROUPS:
        title = f"\nthe {MOST_GROUPS} of {len(groups)} groups with the lowest accuracy"
        title += "; --format json has all groups"
        groups = sorted(groups, key=lambda row: float(row["accuracy"]))[:MOST_GROUPS]
    if groups:
        output.table(groups, title)
    output.show_confusion([row["label"] for row in plain["classes"]], plain["confusion"])


def _measures(plain: dict[str, Any], settings: dict[str, Any]) -> dict[str, str]:
    """Return the measures of an evaluation as text, by name."""
    low, high = plain["interval_95"]
    seeds = f"seed{'s' * (len(plain['seeds']) > 1)} {', '.join(map(str, plain['seeds']))}"
    facts = {
        "protocol": f"{plain['protocol']}, {counted(len(plain['folds']), 'fold')}, "
        f"{counted(plain['n'], 'prediction')}, {seeds}",
        "accuracy": f"{plain['accuracy']:.2%} ({plain['right']} of {plain['n']} right)",
        "95 % interval": f"{low:.2%} to {high:.2%}, {plain['interval_name']}",
        "error": f"{plain['error']:.2%}",
        "mean over folds": f"{plain['mean_over_folds']:.2%} (std {plain['std_over_folds']:.2%})",
        "balanced accuracy": f"{plain['balanced_accuracy']:.2%}",
        "F1": f"{plain['f1_mean_of_classes']:.4f}, mean of classes; "
        f"{plain['f1_of_mean_precision_and_recall']:.4f}, of mean precision and recall",
    }
    if plain["log_loss"] is not None:
        facts["log loss"] = f"{plain['log_loss']:.4f}"
        facts["calibration error"] = f"{plain['calibration_error']:.2%}, expected, over 10 bins"
    if "model" in settings:
        facts["protocol"] = f"model {settings['model']}, {counted(plain['n'], 'test sequence')}"
    if len(plain["folds"]) == 1:
        del facts["mean over folds"]
    if "positive_class" in plain:
        facts["positive class"] = plain["positive_class"]
        for key in ("sensitivity", "specificity", *POOLED):
            is_pooled = key in POOLED and len(plain["folds"]) > 1
            how = ", pooled over the test parts" if is_pooled else ""
            known = None if plain[key] is None else f"{plain[key]:.4f}{how}"
            facts[POOLED.get(key, key)] = known or "unknown: the test parts lack a class"
    return facts

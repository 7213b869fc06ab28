"""`mvdfq.report`: evaluate or judge, gather numbers, write the page; a page of one sequence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from mvdfq._utils.files import replace_file
from mvdfq.classifier.estimator import SequenceClassifier
from mvdfq.classifier.search import SequenceClassifierCV
from mvdfq.evaluation import Evaluation, Fold, evaluate
from mvdfq.pages.contents import clips_of, contents, judged_sequences, names_of, tidy
from mvdfq.pages.details import details
from mvdfq.pages.html import foreign_files, page, write_csv, write_json
from mvdfq.pages.matters import of_model, removal
from mvdfq.pages.run import Recorder, Run
from mvdfq.sequences import check_sequences
from mvdfq.terms.validation import check_groups

DETAILS = 60


@dataclass(frozen=True, repr=False)
class Report:
    """A report that was made: its numbers, and the page if one was written.

    Parameters
    ----------
    data : dict
        All numbers of the page, ready for JSON; the guide describes the keys.
    clips : dict
        Sounds of the page, by the place of the sequence in ``data["sequences"]``.
    path : Path, default=None
        The page; None until `write` was called.

    Examples
    --------
    >>> from mvdfq import Report
    >>> Report({"verdict": {"accuracy": 0.5}}, {})
    Report(accuracy=0.5, path=None)
    """

    data: dict[str, Any]
    clips: dict[str, Any]
    path: Path | None = None

    def write(self, path: str | Path) -> "Report":
        """Write the page, and its numbers beside it as .json and .csv; return the report.

        `path` ends in ``.html``; a report of this name is replaced. A ``.json`` or ``.csv`` file of
        this name that is not part of a report is an error.
        """
        path = Path(path)
        if path.suffix not in (".html", ".htm"):
            raise ValueError(f"path must end in .html, got {str(path)!r}; name another file.")
        if foreign := foreign_files(path):
            raise FileExistsError(
                f"path={str(path)!r} would replace {foreign[0]}, which is not part of a report; "
                f"name another page, such as {path.stem}-report.html."
            )
        replace_file(path, page(self.data, self.clips))
        write_json(self.data, path.with_suffix(".json"))
        write_csv(self.data, path.with_suffix(".csv"))
        return Report(self.data, self.clips, path)

    def __repr__(self) -> str:
        path = None if self.path is None else str(self.path)
        return f"Report(accuracy={self.data['verdict']['accuracy']}, path={path})"


def report(
    clf: Any,
    X: Any,
    y: Any,
    names: Sequence[str] | None = None,
    path: str | Path | None = "report.html",
    *,
    protocol: str | None = None,
    groups: Any = None,
    split: Any = None,
    seeds: Sequence[int] = (0,),
    details: int | str = DETAILS,
    remove_channels: bool = False,
    audio: Sequence[Any] | None = None,
    title: str = "",
    command: str = "",
) -> Report:
    """Write one HTML page about a classifier and its sequences.

    The page shows accuracy beside baselines, confusions, a map of the sequences, single sequences
    with the exact evidence of every channel and moment, what matters, what each class looks like,
    whether the probabilities can be trusted, and the health of the data. The page is one file and
    needs no network. The same numbers are written beside the page as ``.json`` and ``.csv``.

    Parameters
    ----------
    clf : SequenceClassifier or SequenceClassifierCV
        A classifier that is not fitted is evaluated by a protocol. A fitted classifier judges `X`
        as it is: pass sequences that the classifier did not learn from.
    X : list of array-like of shape (n_channels, n_timepoints)
        The sequences, or any other input of `mvdfq.check_sequences`.
    y : array-like of shape (n_sequences,)
        The labels of the sequences.
    names : sequence of str, default=None
        Names of the sequences; None means their indices.
    path : str, Path or None, default="report.html"
        The page; None writes no file.
    protocol : str, default=None
        How to cut the sequences into folds, as in `mvdfq.evaluate`. None means no folds for a
        fitted classifier, and the choice of `mvdfq.evaluate` otherwise.
    groups, split : array-like of shape (n_sequences,), default=None
        As in `mvdfq.evaluate`.
    seeds : sequence of int, default=(0,)
        Protocols that shuffle are repeated with each seed; the page shows sequences of the first.
    details : int or "all", default=60
        Number of sequences that are shown with curves and evidence: typical, wrong and least
        sure sequences first.
    remove_channels : bool, default=False
        Whether to evaluate again without each channel; this takes one evaluation per channel.
    audio : sequence of path, default=None
        The sound file of each sequence; short clips are put into the page.
    title : str, default=""
        Title of the page.
    command : str, default=""
        The command that made the report, to be shown on the page.

    Returns
    -------
    report : Report
        The numbers and the path of the page.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.make_autoregressive(30, 2, 40, random_state=0)
    >>> clf = mvdfq.SequenceClassifier("mvdfq-sssk", C=10)
    >>> made = mvdfq.report(clf, X, y, path=None, protocol="3-fold", details=3)
    >>> made.data["verdict"]["n"], len(made.data["details"])
    (30, 3)
    """
    if not isinstance(clf, SequenceClassifier | SequenceClassifierCV):
        raise TypeError(f"clf must be a SequenceClassifier, got {type(clf).__name__}.")
    if details != "all" and (not isinstance(details, int) or details < 1):
        raise ValueError(f"details must be a whole number above 0 or 'all', got {details!r}.")
    X, y = check_sequences(X), column_or_1d(y)
    rules = {"groups": groups, "split": split, "seeds": seeds, "protocol": protocol}
    is_fitted = hasattr(clf, "sum_") or hasattr(clf, "best_estimator_")
    if protocol is None and is_fitted:
        if remove_channels:
            raise ValueError("remove_channels=True needs a protocol; pass protocol='5-fold'.")
        run = fitted_run(clf, X, y, names, groups=groups)
    else:
        recorder = Recorder()
        result = evaluate(clf, X, y, visit=recorder, **rules)
        run = Run(clf, X, y, names, groups, result, recorder)
    about = {"title": title, "command": command}
    return finish(run, about, details, remove_channels and rules, audio, path)


def finish(
    run: Run,
    about: dict[str, Any],
    details: int | str = DETAILS,
    rules: Any = None,
    audio: Sequence[Any] | None = None,
    path: str | Path | None = None,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Report:
    """Gather the numbers of a run and write the page; `rules` ask for removal of channels."""
    data = contents(run, about, None if details == "all" else int(details), report)
    data["matters"]["removal"] = tidy(removal(run, rules)) if rules else None
    made = Report(data, {} if audio is None else clips_of(run, data, audio))
    return made if path is None else made.write(path)


def fitted_run(
    clf: Any,
    X: Any,
    y: Any,
    names: Sequence[str] | None = None,
    train: tuple[Any, Any] | None = None,
    groups: Any = None,
) -> Run:
    """Return the run of a fitted classifier that judges `X`: one fold, nothing is fitted.

    If `train` is given, `names` and `groups` begin with those of the training sequences.
    """
    X, y = check_sequences(X), column_or_1d(y)
    if (y.dtype.kind in "OU") != (clf.classes_.dtype.kind in "OU"):
        raise ValueError(f"y must hold labels like {clf.classes_[:3].tolist()}, got {y[:1]}.")
    n = 0 if train is None else len(train[0])
    if train is not None:
        X, y = check_sequences(train[0]).joined(X), np.concatenate([np.asarray(train[1]), y])
    test = np.arange(n, len(X))
    # the sequences may have classes that the classifier does not know
    labels = np.unique(np.concatenate([clf.classes_, y])).tolist()
    recorder, protocol = Recorder(), "split" if n else "fitted classifier"
    fold = Fold("test", 0, test, y[test], *recorder.answers(clf, X[test], labels))
    recorder(clf, X[test], fold, np.arange(n))
    result = Evaluation(protocol, labels, [fold], check_groups(groups, len(X)))
    return Run(clf, X, y, names, groups, result, recorder)


def explanation_page(
    clf: Any,
    X: Any,
    place: int,
    name: str,
    command: str = "",
    audio: list[Path | None] | None = None,
    asked: tuple[Any, Any] = (None, None),
) -> str:
    """Return the page about sequence `which` of `X`; `asked` are classes, see `details`."""
    x = check_sequences(X)[[place]]
    run = fitted_run(clf, x, clf.predict(x), [name])
    data = {
        **names_of(run, {"title": name, "command": command}),
        "sequences": judged_sequences(run) | {"truth": [None]},
        "details": details(run, 1, asked),
        "matters": of_model(clf),
    }
    data = tidy(data)
    return page(data, {} if audio is None else clips_of(run, data, audio))

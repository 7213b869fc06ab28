"""``mvdfq demo``: the classifier on the data set that ships with the package."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from mvdfq.cli import options as o
from mvdfq.cli.explain import reason_row
from mvdfq.cli.output import Format, note, show_json, table
from mvdfq.cli.page import command_line

__all__ = ["demo"]

# The default, and some methods of the paper by their names.
PRESETS = [None, "mvdfq-sssk", "mvdfqm-sssk", "hashingm-sssk", "vqm-spectrum-alt"]


def demo(
    format: o.Output = Format.human,
    quiet: o.Quiet = False,
    report: Annotated[Path, typer.Option(help="Page to write, a file that ends in .html.")] = Path(
        "mvdfq-demo.html"
    ),
) -> None:
    """Train and evaluate on the bundled recordings, and explain one prediction.

    Example: mvdfq demo
    """
    from mvdfq.datasets import load_japanese_vowels

    train = load_japanese_vowels(split="train")
    test = load_japanese_vowels(split="test")
    note(
        f"Japanese Vowels: {len(train[0])} utterances to learn from, {len(test[0])} to recognise, "
        f"9 speakers, 12 channels. The first run is slower, because it compiles code.",
        quiet,
    )
    fitted, rows = {}, []
    for preset in PRESETS:
        fitted[preset], row = _evaluated(preset, train, test)
        rows.append(row)
    why = _why(fitted[None], test[0][0])
    written = _report(fitted[None], train, test, report)
    if format is Format.json:
        show_json({"classifiers": rows, "why": why, "report": str(written)})
        return
    table(rows, "Who is speaking? Trained on the official training part, tested on the test part.")
    table(
        why["reasons"], f"\nWhy utterance 0 is by speaker {why['predicted']} (truly {test[1][0]})"
    )
    table(why["channels"], "\nChannels that matter most")
    note(f"The same as a page, to open in a browser: {written}", quiet)
    note("To use your own data: mvdfq train --help", quiet)


def _evaluated(preset: str | None, train: Any, test: Any) -> tuple[Any, dict[str, Any]]:
    """Fit and test one classifier; return the classifier and its results."""
    import numpy as np

    from mvdfq.classifier.estimator import SequenceClassifier

    start = time.perf_counter()
    clf = SequenceClassifier(preset).fit(*train)
    middle = time.perf_counter()
    error = 100 * float(np.mean(clf.predict(test[0]) != test[1]))
    end = time.perf_counter()
    row = {"classifier": preset or "the default", "error %": round(error, 1),
           "fit s": round(middle - start, 2), "predict s": round(end - middle, 2)}  # fmt: skip
    return clf, row


def _report(clf: Any, train: Any, test: Any, path: Path) -> Path:
    """Write the page about the default classifier on the test part."""
    from mvdfq.pages.api import finish, fitted_run

    names = [f"training utterance {i}" for i in range(len(train[0]))]
    names += [f"utterance {i}" for i in range(len(test[0]))]
    run = fitted_run(clf, test[0], test[1], names, train)
    about = {"title": "Japanese vowels: nine speakers", "command": command_line()}
    finish(run, about, path=path)
    return path.absolute()


def _why(clf: Any, x: Any) -> dict[str, Any]:
    explanation = clf.explain(x)
    ranked = sorted(enumerate(clf.feature_importance_.tolist()), key=lambda pair: -pair[1])[:3]
    return {
        "predicted": explanation.predicted,
        "reasons": [reason_row(reason) for reason in explanation.top(5)],
        "channels": [{"channel": c, "share %": round(100 * share, 1)} for c, share in ranked],
    }

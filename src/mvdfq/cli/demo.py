"""``mvdfq demo``: the classifier on the data set that ships with the package."""

import time
from pathlib import Path
from typing import Any

from mvdfq.cli.output import Format, command_line, note, show_json, show_text, table

# The default, and some methods of the paper by their names.
PRESETS = [None, "mvdfq-sssk", "mvdfqm-sssk", "hashingm-sssk", "vqm-spectrum-alt"]


def demo(
    format: Format = Format.human, quiet: bool = False, report: Path = Path("mvdfq-demo.html")
) -> None:
    """Train and evaluate on the bundled recordings, and explain one prediction.

    Example: mvdfq demo
    """
    from mvdfq.cli.reasons import Reasons
    from mvdfq.datasets import load_japanese_vowels

    start = time.perf_counter()
    train = load_japanese_vowels(split="train")
    test = load_japanese_vowels(split="test")
    sizes = f"{len(train[0])} utterances to learn from, {len(test[0])} to recognise"
    slow = "The first run is slower, because it compiles code."
    note(f"Japanese Vowels: {sizes}, 9 speakers, 12 channels. {slow}", quiet)
    fitted, rows = {}, []
    for preset in PRESETS:
        fitted[preset], row = _evaluated(preset, train, test)
        rows.append(row)
    clf = fitted[None]
    reasons = Reasons(clf, clf.explain(test[0][0]), "utterance 1", 5)
    rises = zip(reasons.explanation.channels, clf.feature_importance_.tolist(), strict=True)
    most = sorted(rises, key=lambda pair: -pair[1])[:3]
    channels = [{"channel": name, "log_loss_rise": round(rise, 4)} for name, rise in most]
    written = _report(clf, train, test, report)
    if format is Format.json:
        why = {**reasons.facts(), "channels": channels}
        show_json({"classifiers": rows, "why": why, "report": str(written)})
        return
    _show(rows, reasons, channels, test[1])
    note(f"The same as a page, to open in a browser: {written}", quiet)
    note(f"The demonstration took {time.perf_counter() - start:.0f} s.", quiet)


def _show(rows: list[Any], reasons: Any, channels: list[Any], truth: Any) -> None:
    """Show the results to a person; `truth` are the speakers of the test part."""
    table(rows, "Who is speaking? Trained on the official training part, tested on the test part.")
    show_text(f"\nWhy is utterance 1 by speaker {reasons.explanation.predicted}? It is truly by "
              f"speaker {truth[0]}.")  # fmt: skip
    reasons.show()
    table(channels, "\nchannels that matter most for all speakers")
    show_text("\n" + Path(__file__).with_name("demo.txt").read_text(encoding="utf-8").rstrip())


def _evaluated(preset: str | None, train: Any, test: Any) -> tuple[Any, dict[str, Any]]:
    """Fit and test one classifier; return the classifier and its results."""
    from mvdfq.classifier.estimator import SequenceClassifier

    start = time.perf_counter()
    clf = SequenceClassifier(preset).fit(*train)
    middle = time.perf_counter()
    errors = int((clf.predict(test[0]) != test[1]).sum())
    end = time.perf_counter()
    row: dict[str, Any] = {"classifier": preset or "the default", "errors": errors}
    row["error_percent"] = round(100 * errors / len(test[1]), 1)
    spent = {"fit_seconds": round(middle - start, 2), "predict_seconds": round(end - middle, 2)}
    return clf, row | spent


def _report(clf: Any, train: Any, test: Any, path: Path) -> Path:
    """Write the page about the default classifier on the test part."""
    from mvdfq.pages.report import finish, fitted_run

    names = [f"training utterance {i}" for i in range(len(train[0]))]
    names += [f"utterance {i}" for i in range(len(test[0]))]
    run = fitted_run(clf, test[0], test[1], names, train)
    finish(run, {"title": "Japanese vowels: nine speakers", "command": command_line()}, path=path)
    return path.absolute()

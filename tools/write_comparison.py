"""Write the figures of two pages from benchmarks/results: no figure is typed by hand.

This script writes everything between ``<!-- NAME -->`` and ``<!-- end -->``. A test asserts that
the pages are what the script would write now::

    python tools/write_comparison.py
"""

import csv
import re
from collections import defaultdict
from math import log
from pathlib import Path
from statistics import mean

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "docs" / "comparison.md", ROOT / "docs" / "guide" / "default.md"]
RESULTS = ROOT / "benchmarks" / "results"
# Names of the methods of accuracy.csv, and the packages that they come from.
METHODS = {
    "default": "mvdfq, default",
    "fast": 'mvdfq, `preset="fast"`',
    "music": 'mvdfq, `preset="music"`',
    "multirocket": "MultiRocket (aeon)",
    "multirocket-hydra": "MultiRocket-Hydra (aeon)",
    "minirocket": "MiniRocket (aeon)",
    "signatures": "signatures (pysiglib), linear SVM",
}
# Methods without probabilities. Ridge classifiers are sure of every answer: with probabilities of 0
# and 1, the calibration error is the share of errors, and log loss takes 1e-15 for 0.
SURE, NONE = ("multirocket", "multirocket-hydra", "minirocket"), ("signatures", "mar")
COST = -log(1e-15)
PROBABILITIES = {"log_loss": "log loss", "calibration_error": "calibration error"}
# Names of the variants of the default in accuracy.csv, and in the table of what each part adds.
VARIANTS = {
    "default": "default",
    "default, words alike": "all words alike",
    "default without words, words alike": "all words alike, without words",
    "default without filters, words alike": "all words alike, without filters",
    "default with plain words, words alike": "plain words instead of standardized words",
    "plain words alone": "plain words alone",
}
# Metrics of the table of strings, and the methods whose published figures stand beside ours.
RANKINGS = ("AUC", "ROC50")
PUBLISHED = ("FastSK", "gkmSVM", "GaKCo")
# Columns of accuracy.csv, and of published.csv.
PUBLISHED_AS = {"value": "accuracy", "log_loss": "log_loss"}


def main():
    """Write the pages anew."""
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")


def filled(page):
    """Return the page with the figures of the results files."""
    tables = (accuracy, sets, letters, music, mfcc, gram, predict, ablation, robust, published,
              official, probabilities)  # fmt: skip
    makers = {maker.__name__: maker for maker in tables}
    return re.sub(
        r"(<!-- (\w+) -->\n).*?(<!-- end -->)",
        lambda match: match[1] + table(makers[match[2]]()) + match[3],
        page,
        flags=re.DOTALL,
    )


def read(name):
    """Return the rows of a results file."""
    with open(RESULTS / f"{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(rows):
    """Return rows with the same keys as a table in Markdown."""
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])]
    lines += ["| " + " | ".join(map(str, row.values())) + " |" for row in rows]
    return "\n".join(lines) + "\n\n"


def resamples(methods):
    """Return the accuracies of the resamples by method and set, of methods run on all sets."""
    scores = defaultdict(lambda: defaultdict(list))
    for row in read("accuracy"):
        if row["split"].isdecimal() and row["metric"] == "accuracy" and row["method"] in methods:
            scores[row["method"]][row["set"]].append(float(row["value"]))
    most = max(map(len, scores.values()))
    complete = {method: sets for method, sets in scores.items() if len(sets) == most}
    return dict(sorted(complete.items(), key=lambda pair: -_mean(pair[1])))


def _mean(sets):
    return mean(mean(values) for values in sets.values())


def accuracy():
    """Return mean accuracy and times of the methods, over the same sets."""
    by_method = resamples(METHODS)
    sets = {*next(iter(by_method.values()))}
    timed = [row for row in read("accuracy") if row["split"] == "official" and row["set"] in sets]

    resampled = [r for r in read("accuracy") if r["set"] in sets and r["split"].isdecimal()]

    def seconds(method, part):
        return f"{sum(float(row[part]) for row in timed if row['method'] == method):.1f}"

    return [
        {
            "method": METHODS[method],
            "mean accuracy": f"{_mean(by_method[method]):.4f}",
            **of_probabilities([row for row in resampled if row["method"] == method]),
            "fit, CPU s": seconds(method, "fit_cpu_s"),
            "predict, CPU s": seconds(method, "predict_cpu_s"),
        }
        for method in by_method
    ]


def of_probabilities(rows):
    """Return mean log loss and calibration error of one method, or why there are none."""
    errors = {"log_loss": COST, "calibration_error": 1.0}
    shown, why = {}, "none" if rows[0]["method"] in NONE else "not measured"
    for column, name in PROBABILITIES.items():
        values = [row[column] for row in rows if row[column]]
        if rows[0]["method"] in SURE:
            values = [errors[column] * (1 - float(row["value"])) for row in rows]
        shown[name] = f"{mean(map(float, values)):.3f}" if len(values) == len(rows) else why
    return shown


def sets():
    """Return the mean accuracy of every method on every set; the best is bold."""
    by_method = resamples(METHODS)
    rows = []
    for name in sorted(next(iter(by_method.values()))):
        values = {METHODS[method]: mean(by_set[name]) for method, by_set in by_method.items()}
        rows.append({"set": name} | in_bold(values))
    return rows


def published():
    """Return our mean accuracy beside published means on the same sets; the best is bold."""
    ours = resamples(METHODS)["default"]
    values = defaultdict(dict)
    for row in of_protocol("mean of 30 resamples"):
        values[row["set"]].setdefault(METHODS["default"], mean(ours[row["set"]]))
        values[row["set"]][row["method"]] = float(row["accuracy"])
    names = list(next(iter(values.values())))
    sets_of = [*values.values()]
    values["mean"] = {name: mean(figures[name] for figures in sets_of) for name in names}
    return [{"set": set_name} | in_bold(figures) for set_name, figures in values.items()]


def of_protocol(name):
    """Return the published figures of one protocol."""
    return [row for row in read("published") if row["protocol"] == name]


def on_official_split(column):
    """Return our figures and published figures of the official split, by set and method."""
    ours = {row["set"]: row[column] for row in read("accuracy")
            if row["method"] == "default" and row["split"] == "official"}  # fmt: skip
    values = defaultdict(dict)
    for row in of_protocol("official split"):
        if row[PUBLISHED_AS[column]]:
            values[row["set"]].setdefault(METHODS["default"], float(ours[row["set"]]))
            values[row["set"]][row["method"]] = float(row[PUBLISHED_AS[column]])
    return values


def official():
    """Return our accuracy beside published ones on the official split, with means and ranks."""
    values = on_official_split("value")
    names = list(next(iter(values.values())))
    rows = [{"set": set_name} | in_bold(figures) for set_name, figures in values.items()]
    ranks = {name: mean(rank(figures, name) for figures in values.values()) for name in names}
    means = {name: mean(figures[name] for figures in values.values()) for name in names}
    rows.append({"set": "mean"} | in_bold(means))
    return [*rows, {"set": "mean rank"} | in_bold(ranks, min, ".1f")]


def rank(by_name, name):
    """Return the place of a method on one set, 1 for the best; equal methods share their places."""
    better = sum(value > by_name[name] for value in by_name.values())
    return better + (1 + sum(value == by_name[name] for value in by_name.values())) / 2


def probabilities():
    """Return our log loss beside published ones, on the sets where all methods have one."""
    values = on_official_split("log_loss")
    most = max(map(len, values.values()))
    full = {set_name: figures for set_name, figures in values.items() if len(figures) == most}
    rows = [{"set": set_name} | in_bold(figures, min) for set_name, figures in full.items()]
    means = {
        name: mean(figures[name] for figures in full.values()) for name in rows[0] if name != "set"
    }
    return [*rows, {"set": "mean"} | in_bold(means, min)]


def in_bold(values, best=max, form=".3f"):
    """Return numbers as text, with the best in bold."""
    shown = {name: f"{value:{form}}" for name, value in values.items()}
    bold = f"{best(values.values()):{form}}"
    return {name: f"**{text}**" if text == bold else text for name, text in shown.items()}


def letters():
    """Return the test figures of the default on strings, beside figures that others published."""
    published = {(row["set"], row["method"]): row["auc"] for row in read("letters_published")}
    rows = read("letters")
    shown = [r for r in rows if r["part"] == "test part" and r["metric"] in RANKINGS]
    held_out = defaultdict(dict)
    for row in rows:
        if row["part"] == "groups held out":
            held_out[row["set"], row["C"]][row["metric"]] = float(row["value"])
    return [
        {
            "set": row["set"] + (", both strands" if row["strands"] == "both" else ""),
            "classifier": row["candidate"],
            "metric": row["metric"],
            "test": f"{float(row['value']):.3f}",
            **{name: _three(published.get((row["set"], name), "")) for name in PUBLISHED},
            "groups held out": _with_error(held_out.get((row["set"], row["C"]))),
            "fit, CPU s": f"{float(row['fit_s']):.0f}",
        }
        for row in shown
    ]


def _three(figure):
    """Return a figure with three decimals, if there is one."""
    return f"{float(figure):.3f}" if figure else ""


def _with_error(figures):
    """Return a mean AUC and its standard error, if there is one."""
    return f"{figures['AUC']:.3f} ± {figures['standard error']:.3f}" if figures else ""


def mfcc():
    """Return our time and librosa's."""
    return [
        {"features": row["work"], "mvdfq, s": row["ours_s"], "librosa, s": row["theirs_s"],
         "ratio": row["ratio"]}
        for row in read("mfcc") if row["peer"].startswith("librosa")
    ]  # fmt: skip


def gram():
    """Return our time and that of other programs for the same kernel matrix."""
    return [
        {"kernel": row["work"], "mvdfq, s": row["ours"], "other program": row["peer"],
         "its time, s": row["theirs"], "ratio": row["ratio"]}
        for row in read("gram") if row["unit"] == "s" and row["data"].startswith("GTZAN")
        and row["peer"].startswith(("numpy", "CountVectorizer"))
    ]  # fmt: skip


def predict():
    """Return the times of one prediction."""
    return [
        {"model": row["model"], "training sequences": row["train"],
         "one prediction, ms": row["best_ms"], "median, ms": row["median_ms"],
         "by kernel values, ms": row["kernel_row_ms"]}
        for row in read("predict")
    ]  # fmt: skip


def music():
    """Return the mean error of methods on music, over the folds that were run."""
    folds = defaultdict(list)
    for row in read("accuracy"):
        if row["set"].startswith(("GTZAN", "artist20")) and "alike" not in row["method"]:
            folds[row["set"], row["method"]].append(row)
    return [
        {"set": name, "method": METHODS.get(method, method),
         "error, %": f"{100 * mean(1 - float(row['value']) for row in rows):.1f}",
         **of_probabilities(rows), "folds": len(rows)}
        for (name, method), rows in sorted(folds.items())
    ]  # fmt: skip


def ablation():
    """Return the mean accuracy of the default with one part left out, in all and on three sets."""
    by_method = resamples(VARIANTS)
    known = [(VARIANTS[method], by_method[method]) for method in VARIANTS if method in by_method]
    return [
        {"": name, f"mean of {len(by_set)} sets": f"{_mean(by_set):.4f}"}
        | {each: f"{mean(by_set[each]):.3f}"
           for each in ("Handwriting", "NATOPS", "FingerMovements")}
        for name, by_set in known
    ]  # fmt: skip


def robust():
    """Return the accuracies at the edges."""
    return read("robust")


if __name__ == "__main__":
    main()

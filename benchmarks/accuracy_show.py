"""What `bench_accuracy.py show` prints: means, ranks, pairs, times, ablation, published figures."""

import csv
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from accuracy_methods import ALIKE, VARIANTS
from accuracy_plot import draw_ranks
from accuracy_stats import compare, geometric_mean, mean_ranks
from accuracy_tasks import MUSIC, OFFICIAL
from archives import FOLDER

REFERENCE = "minirocket"
# Columns that score probabilities.
SCORES = ["log_loss", "calibration_error"]


@dataclass(frozen=True)
class Table:
    """Values of methods (columns) on sets (lines), and the values of every split behind them."""

    sets: list[str]
    methods: list[str]
    values: np.ndarray
    by_split: np.ndarray
    set_of_split: np.ndarray


def show(rows, folder, methods=()):
    """Print everything; write the plots of ranks to `folder`."""
    uea = [row for row in rows if row["metric"] == "accuracy" and row["set"] not in MUSIC]
    resamples = [row for row in uea if row["split"].isdigit()]
    chosen = list(methods) or complete(resamples)
    show_table("Mean of resamples", table(resamples, chosen))
    show_pairs(table(resamples, chosen), folder / "accuracy_ranks.svg")
    show_differences(table(resamples, chosen))
    without = [row for row in resamples if row["set"] != "Handwriting"]
    show_table("The same without Handwriting", table(without, chosen))
    show_pairs(table(without, chosen), folder / "accuracy_ranks_without_handwriting.svg")
    show_table("Official split", table([r for r in uea if r["split"] == OFFICIAL], chosen))
    show_probabilities(uea)
    show_times(uea, chosen)
    show_ablation(resamples)
    show_others([row for row in rows if row not in uea])
    show_published(uea, FOLDER / "uea" / "published.csv")


def complete(rows):
    """Return the methods that have every split, variants of the default apart; name the others."""
    splits = defaultdict(set)
    for row in rows:
        splits[row["method"]].add((row["set"], row["split"]))
    every = set().union(*splits.values())
    candidates = sorted(name for name in splits.keys() - set(VARIANTS) if ALIKE not in name)
    for name in candidates:
        if splits[name] != every:
            print(f"left out: {name}, {len(splits[name])} of {len(every)} resamples")
    return [name for name in candidates if splits[name] == every]


def table(rows, methods):
    """Return the means over the splits that all methods have."""
    cells = {(row["set"], row["split"], row["method"]): float(row["value"]) for row in rows}
    common = sorted({key[:2] for key in cells if all((*key[:2], m) in cells for m in methods)})
    sets = sorted({name for name, _ in common})
    by_split = np.array([[cells[(*key, m)] for m in methods] for key in common])
    set_of_split = np.array([name for name, _ in common])
    values = np.array([by_split[set_of_split == name].mean(axis=0) for name in sets])
    return Table(sets, list(methods), values, by_split, set_of_split)


def show_table(title, results):
    """Print one line per method, best mean rank first."""
    print(f"\n{title}: {len(results.by_split)} splits of {len(results.sets)} sets")
    if not results.sets:
        return
    print(f"{'':30}", *(f"{name[:8]:>8}" for name in results.sets), "    mean  rank  rank by split")
    ranks, means = mean_ranks(results.values), results.values.mean(axis=0)
    fine = mean_ranks(results.by_split)
    for i in np.argsort(ranks, kind="stable"):
        cells = [f"{value:8.4f}" for value in [*results.values[:, i], means[i]]]
        print(f"{results.methods[i]:30}", *cells, f"{ranks[i]:5.2f}", f"{fine[i]:5.2f}")


def show_pairs(results, path):
    """Print wins/draws/losses and p-values of all pairs, by sets and by splits; draw the ranks."""
    if len(results.methods) < 2 or not results.sets:
        return
    by_sets, by_splits = compare(results.values), compare(results.by_split)
    print("Pairs: wins/draws/losses and Wilcoxon's p after Holm, over sets; over resamples, which")
    print("overlap, so that their p-values are too small")
    for pair, fine in zip(by_sets, by_splits, strict=True):
        names = f"{results.methods[pair.first]} : {results.methods[pair.second]}"
        cells = [f"{'{}/{}/{}'.format(*p.counts):>8}  p {p.p:<8.3g}" for p in (pair, fine)]
        print(f"{names:40}", *cells)
    draw_ranks(path, results.methods, mean_ranks(results.values), by_sets)


def show_differences(results, method="default"):
    """Print how far a method is above each of the others on every set, in points."""
    if method not in results.methods:
        return
    print(f"Points of {method} above each method; * beyond two standard errors over resamples")
    for i, name in enumerate(results.methods):
        if name != method:
            ours = results.by_split[:, results.methods.index(method)]
            above = 100 * (ours - results.by_split[:, i])
            by_set = [above[results.set_of_split == set_name] for set_name in results.sets]
            mean = np.mean([differences.mean() for differences in by_set])
            print(f"{name:30}", *map(marked, by_set), f"{mean:+7.2f}")


def marked(differences):
    """Return the mean as text, with a star if it is beyond two standard errors."""
    mean, n = differences.mean(), len(differences)
    error = differences.std(ddof=1) / np.sqrt(n) if n > 1 else np.inf
    return f"{mean:+7.2f}{'*' if abs(mean) > 2 * error else ' '}"


def show_probabilities(rows):
    """Print the mean log loss and calibration error of every method that has probabilities."""
    print("\nProbabilities: log loss and calibration error, means over sets")
    for method in sorted({row["method"] for row in rows if row["log_loss"]}):
        for kind, is_official in (("resamples", False), ("official", True)):
            chosen = [row for row in rows if row["method"] == method and row["log_loss"]
                    and (row["split"] == OFFICIAL) == is_official]  # fmt: skip
            if chosen:
                losses = [np.mean(list(means(chosen, score).values())) for score in SCORES]
                numbers = f"{losses[0]:.4f} {losses[1]:.4f}"
                print(f"{method:30} {kind:10} {numbers}  {len(chosen)} splits")


def means(rows, column):
    """Return set -> the mean of a column over the splits."""
    by_set = defaultdict(list)
    for row in rows:
        by_set[row["set"]].append(float(row[column]))
    return {name: np.mean(values) for name, values in by_set.items()}


def show_times(rows, methods):
    """Print fit and predict time over that of the reference: geometric means over sets."""
    print(f"\nTime to fit and predict over that of {REFERENCE}, geometric mean over sets")
    for name in [name for name in methods if name != REFERENCE]:
        for kind, clock in (("_s", "wall"), ("_cpu_s", "process")):
            ratios = time_ratios(rows, name, kind)
            if ratios:
                low, high = min(ratios, key=ratios.get), max(ratios, key=ratios.get)
                mean = geometric_mean(list(ratios.values()))
                print(f"{name:30} {clock:8} {mean:8.2f}  over {len(ratios)} sets, from "
                      f"{ratios[low]:.2f} ({low}) to {ratios[high]:.2f} ({high})")  # fmt: skip


def time_ratios(rows, name, kind):
    """Return set -> time of a method over the time of the reference, on the splits of both."""
    times = defaultdict(dict)
    for row in rows:
        if row["method"] in (name, REFERENCE) and row[f"fit{kind}"]:
            total = float(row[f"fit{kind}"]) + float(row[f"predict{kind}"])
            times[row["set"], row["split"]][row["method"]] = total
    sums = defaultdict(lambda: np.zeros(2))
    for (set_name, _), seconds in times.items():
        if {name, REFERENCE} <= seconds.keys():
            sums[set_name] += seconds[name], seconds[REFERENCE]
    return {set_name: seconds / reference for set_name, (seconds, reference) in sums.items()}


def show_ablation(rows):
    """Print the default beside its variants: one part removed at a time."""
    known = {row["method"] for row in rows}
    every = ["default", *VARIANTS]
    variants = [name for variant in every for name in (variant, variant + ALIKE) if name in known]
    if variants[:1] != ["default"] or len(variants) == 1:
        return
    results = table(rows, variants)
    show_table("Ablation", results)
    show_differences(results)


def show_others(rows):
    """Print the mean over the splits of every other task."""
    print("\nOther tasks: mean over splits")
    cells = defaultdict(list)
    for row in rows:
        cells[row["set"], row["metric"], row["method"]].append(float(row["value"]))
    for (name, metric, method), values in sorted(cells.items()):
        print(f"{name:28} {metric:9} {method:20} {np.mean(values):.4f}  {len(values)} splits")


def show_published(rows, path, method="default"):
    """Print published means beside our means over the same sets, by the nearest protocol."""
    print(f"\nPublished figures beside {method}: means over the sets of both, and the protocols")
    if not path.exists():
        print("(uea/published.csv is not in the folder MVDFQ_DATA)")
        return
    for (name, protocol, source), theirs in sorted(published(path).items()):
        ours = our_means(rows, method, is_official="official" in protocol)
        sets = sorted(theirs.keys() & ours.keys())
        if len(sets) > 5:
            means = [np.mean([values[s] for s in sets]) for values in (theirs, ours)]
            print(f"{name:26} {means[0]:.4f}  {method} {means[1]:.4f}  "
                  f"{len(sets)} sets, {protocol}; {source.split(' (')[0]}")  # fmt: skip


def published(path):
    """Return (classifier, protocol, source) -> set -> accuracy."""
    accuracies = defaultdict(dict)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["accuracy"]:
                key = row["classifier"], row["protocol"], row["source"]
                accuracies[key][row["dataset"]] = float(row["accuracy"])
    return accuracies


def our_means(rows, method, is_official):
    """Return set -> accuracy on the official split, or the mean of resamples."""
    chosen = (row for row in rows if row["method"] == method)
    return means([row for row in chosen if (row["split"] == OFFICIAL) == is_official], "value")

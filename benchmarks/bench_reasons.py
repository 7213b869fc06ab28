"""Do explanations point at what was planted? Evidence beside occlusion and Shapley values.

Planted events are scored on new sequences that are classified correctly, all methods on the same
ones: *cell* is the area under the ROC curve of all (channel, frame) against the event, *precision*
the average precision; *moment*: the stretch of the length of the event with the largest sum
overlaps the event; *channel*: the channel with the largest sum is that of the event; *ends*: the
share of the first and last frame in all absolute values, divided by their fair share; *deletion*
and *insertion*: the mean height of the decision value, from 1 to 0, while the strongest cells are
taken from a sequence of another class, or put into it. Splices of real sequences of two classes
are scored by the area under the ROC curve. Writes benchmarks/results/reasons.csv.

Run: MVDFQ_DATA=folder python benchmarks/bench_reasons.py [methods ...]
`pip install shap` adds the method shap.
"""

import csv
import importlib.util
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from reasons_maps import METHODS, donor_of
from reasons_problems import PLANTED, SPLICED, planted, real, spliced
from sklearn.metrics import average_precision_score, roc_auc_score

import mvdfq

RESULTS = Path(__file__).parent / "results" / "reasons.csv"
# New sequences of a problem, and splices of a set, that are scored: occlusion takes a second each.
SCORED = 12
# Shares of the cells that are taken away or put in.
SHARES = np.array([0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1])


def main() -> None:
    """Score all methods on all problems; print and store the means of each."""
    warnings.simplefilter("ignore")
    chosen = sys.argv[1:] or list(METHODS)
    if importlib.util.find_spec("shap") is None:
        chosen = [name for name in chosen if name != "shap"]
    rows = [row for problem in PLANTED for row in on_planted(problem, chosen)]
    solved = {problem.name for problem in PLANTED if problem.solved}
    rows += over([row for row in rows if row["problem"] in solved], "mean of planted, present")
    if "MVDFQ_DATA" in os.environ:
        real_rows = [row for name in SPLICED for row in on_real(name, chosen)]
        rows += real_rows + over(real_rows, "mean of spliced")
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(k for row in rows for k in row)))
        writer.writeheader()
        writer.writerows(rows)


def on_planted(problem, chosen):
    """Yield one row of means per method."""
    X, y, new, wanted, masks = planted(problem, seed=len(problem.name))
    clf = mvdfq.SequenceClassifier(n_jobs=1).fit(X, y)
    said = clf.predict(new)
    right = np.flatnonzero((said == wanted) & masks.any(axis=(1, 2)))
    right = right[np.linspace(0, len(right) - 1, min(SCORED, len(right))).astype(int)]
    for name in chosen:
        rng, scores = np.random.default_rng(0), []
        METHODS[name](clf, asker(clf, [wanted[right[0]]]), new[right[0]], X, rng, [0])  # compiles
        for i in right:
            ask, donors = asker(clf, [wanted[i]]), X[y != wanted[i]]
            start = time.perf_counter()
            relevance = METHODS[name](clf, ask, new[i], donors, rng, [wanted[i]])
            seconds = time.perf_counter() - start
            curves = deletion(ask, new[i], relevance, donor_of(new[i], donors, rng))
            about = {"accuracy": np.mean(said == wanted), "seconds": seconds}
            scores.append({**score(relevance, masks[i]), **curves, **about})
        yield shown(problem.name, name, scores)


def on_real(name, chosen):
    """Yield one row of means per method: splices of test sequences of two classes."""
    X, y, new, wanted = real(name)
    clf = mvdfq.SequenceClassifier(n_jobs=1).fit(X, y)
    made = list(spliced(new, wanted, np.random.default_rng(0), 2 * SCORED))
    for method in chosen:
        if method == "shap":  # hundreds of parts of channels need thousands of answers
            continue
        rng, scores = np.random.default_rng(0), []
        for x, a, b, mask, way in made:
            donors = [donor for donor, label in zip(X, y, strict=True) if label == b]
            start = time.perf_counter()
            relevance = METHODS[method](clf, asker(clf, [a, b]), x, donors, rng, [a, b])
            seconds = time.perf_counter() - start
            by_time, by_channel = relevance.sum(axis=0), relevance.sum(axis=1)
            marginal = {"time": by_time, "channel": by_channel, "cell": relevance}[way]
            truth = {"time": mask[0], "channel": mask[:, 0], "cell": mask}[way]
            auc = roc_auc_score(truth.ravel(), marginal.ravel())
            scores.append({f"spliced {way}": auc, "seconds": seconds})
        yield shown(name, method, scores)


def asker(clf, classes):
    """Return a function that gives the decision value of a class, or its lead over another."""
    places = [int(np.flatnonzero(clf.classes_ == c)[0]) for c in classes]

    def ask(sequences):
        decisions = clf.decision_function(sequences)
        if decisions.ndim == 1:
            decisions = np.stack([-decisions, decisions], axis=1) / len(classes)
        return decisions[:, places[0]] - (decisions[:, places[1]] if len(places) == 2 else 0)

    return ask


def score(relevance, mask):
    """Compare a map with the cells of an event."""
    width = int(mask.any(axis=0).sum())
    sums = np.convolve(relevance.sum(axis=0), np.ones(width), "valid")
    start, size = int(np.abs(sums).argmax()), np.abs(relevance).sum(axis=0)
    return {
        "cell": roc_auc_score(mask.ravel(), relevance.ravel()),
        "precision": average_precision_score(mask.ravel(), relevance.ravel()),
        "moment": float(mask[:, start : start + width].any()),
        "channel": float(mask[relevance.sum(axis=1).argmax()].any()),
        "ends": (size[0] + size[-1]) / max(size.sum(), 1e-12) / (2 / len(size)),
    }


def deletion(ask, x, relevance, donor):
    """Return the mean heights of the curves of deletion and insertion."""
    rank = np.argsort(np.argsort(-relevance.ravel(), kind="stable")).reshape(relevance.shape)
    first = [rank < share * relevance.size for share in SHARES]
    tried = [np.where(a, donor, x) for a in first] + [np.where(a, x, donor) for a in first]
    answers = ask(tried)
    low, high = answers[len(SHARES)], answers[0]
    heights = ((answers - low) / (high - low)).reshape(2, -1)
    deleted, inserted = np.trapezoid(heights, SHARES, axis=1)
    return {"deletion": deleted, "insertion": inserted}


def shown(problem, method, scores):
    """Return the means of scores as a row, and print it."""
    names = dict.fromkeys(name for of_problem in scores for name in of_problem)
    means = {n: np.mean([of_problem[n] for of_problem in scores if n in of_problem]) for n in names}
    row = {"problem": problem, "method": method, "n": len(scores)}
    row |= {name: round(float(value), 4) for name, value in means.items()}
    print(" ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    return row


def over(rows, name):
    """Return one row of means over problems for each method."""
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        of_method = [row for row in rows if row["method"] == method]
        numbers = [{k: v for k, v in row.items() if not isinstance(v, str)} for row in of_method]
        lines.append(
            shown(name, method, [{k: v for k, v in r.items() if k != "n"} for r in numbers])
        )
    return lines


if __name__ == "__main__":
    main()

"""Figures of a collection: confusions, map, importance, error against the number of bins."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mvdfq.explain.figures.canvas import AGAINST, COLOURS, FOR, MARKS, new_figure


def confusion(evaluation: Any) -> Any:
    """Draw the confusion matrix of an evaluation.

    Parameters
    ----------
    evaluation : Evaluation
        The result of `mvdfq.evaluate`.

    Returns
    -------
    figure : matplotlib.figure.Figure
        Lines are true classes, columns are predictions.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.make_autoregressive(20, 2, 30, random_state=0)
    >>> clf = mvdfq.SequenceClassifier("mvdfq-sssk", C=1)
    >>> result = mvdfq.evaluate(clf, X, y, protocol="2-fold")
    >>> figure = mvdfq.figures.confusion(result)
    """
    matrix, names = evaluation.confusion, [str(label) for label in evaluation.labels]
    size = 2.2 + 0.38 * len(names)
    figure, axes = new_figure(size, size)
    shares = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    for a, b in zip(*np.nonzero(matrix), strict=True):
        ink = "white" if shares[a, b] > 0.6 else "black"
        axes.text(b, a, str(matrix[a, b]), ha="center", va="center", color=ink, fontsize="small")
    places = range(len(names))
    axes.set_xticks(places, names, rotation=90 if max(map(len, names)) > 3 else 0)
    axes.set_yticks(places, names)
    axes.set_xlabel("predicted")
    axes.set_ylabel("true")
    return figure


def map_of(report: Any) -> Any:
    """Draw the map of a report: near means alike, a ring marks a wrong sequence.

    Parameters
    ----------
    report : Report or dict
        The result of `mvdfq.report`, or its data.

    Returns
    -------
    figure : matplotlib.figure.Figure
        One mark per sequence, by class.

    Examples
    --------
    >>> from mvdfq import figures
    >>> columns = {"x": [0, 1], "y": [1, 0], "truth": [0, 1], "predicted": [0, 0]}
    >>> figure = figures.map_of({"sequences": columns, "classes": ["a", "b"],
    ...                          "map": {"told_apart": [0.9, 0.6]}})
    """
    data = report if isinstance(report, Mapping) else report.data
    columns = {key: np.array(data["sequences"][key]) for key in ("x", "y", "truth", "predicted")}
    figure, axes = new_figure(7, 5)
    for c, name in enumerate(data["classes"]):
        mine = columns["truth"] == c
        style = {"color": COLOURS[c % len(COLOURS)], "marker": MARKS[c % len(MARKS)]}
        axes.scatter(columns["x"][mine], columns["y"][mine], s=16, label=_text(name), **style)
    wrong = columns["truth"] != columns["predicted"]
    axes.scatter(
        columns["x"][wrong], columns["y"][wrong], s=70, facecolors="none", edgecolors="black"
    )
    first, second = data["map"]["told_apart"]
    axes.set_xlabel(f"axis 1 ({first:.0%} of it is between classes)")
    axes.set_ylabel(f"axis 2 ({second:.0%} of it is between classes)")
    axes.legend(fontsize="x-small", ncols=1 + len(data["classes"]) // 12)
    return figure


def importance(clf: Any, most: int = 30) -> Any:
    """Draw what would be lost without each channel, with its 95 % interval.

    Parameters
    ----------
    clf : SequenceClassifier
        A fitted classifier.

    most : int, default=30
        Number of channels to draw, the most important first.

    Returns
    -------
    figure : matplotlib.figure.Figure
        One bar per channel.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.make_autoregressive(20, 2, 30, random_state=0)
    >>> figure = mvdfq.figures.importance(mvdfq.SequenceClassifier("mvdfq-sssk", C=1).fit(X, y))
    """
    found = clf.importance()
    order = np.argsort(-found.log_loss[:, 0], kind="stable")[:most][::-1]
    rise, low, high = found.log_loss[order].T
    figure, axes = new_figure(5, 1 + 0.22 * len(order))
    style = {"color": FOR, "ecolor": "gray", "xerr": [rise - low, high - rise]}
    axes.barh(range(len(order)), rise, **style)
    axes.set_yticks(range(len(order)), [found.names[c] for c in order], parse_math=False)
    axes.set_xlabel("rise of the log loss without the channel")
    return figure


def error_by_bins(n_bins: Any, errors: Any, spread: Any = None) -> Any:
    """Draw the error against the number of bins.

    Parameters
    ----------
    n_bins : sequence of int
        Numbers of bins.

    errors : sequence of float
        Share of wrong sequences for each number of bins.

    spread : sequence of float, default=None
        Standard deviation of each error.

    Returns
    -------
    figure : matplotlib.figure.Figure
        A line with one mark per number of bins.

    Examples
    --------
    >>> from mvdfq import figures
    >>> figure = figures.error_by_bins([4, 8, 16], [0.2, 0.1, 0.15])
    """
    figure, axes = new_figure(5, 3.4)
    axes.errorbar(n_bins, 100 * np.asarray(errors), yerr=None if spread is None else
                  100 * np.asarray(spread), marker="o", color=AGAINST, capsize=3)  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(n_bins), [str(n) for n in n_bins])
    axes.set_xlabel("bins")
    axes.set_ylabel("error in %")
    axes.set_ylim(bottom=0)
    return figure


def _text(name: Any) -> str:
    """Return a name that matplotlib neither hides (a leading _) nor reads as a formula ($)."""
    text = str(name).replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text

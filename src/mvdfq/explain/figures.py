"""Pictures for papers, by matplotlib, which is imported only when a picture is drawn.

Every function returns a `matplotlib.figure.Figure`; ``figure.savefig("name.pdf")`` writes the file.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mvdfq.sequences import check_sequences

# Okabe and Ito's colours, safe for all kinds of colour vision, as on the page of a report.
COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#5a5f6b"]
MARKS = ["o", "s", "^", "D"]
FOR, AGAINST = "#0072b2", "#d55e00"
# More channels or rows cannot be told apart: the strongest are drawn. More letters would overlap.
MOST_CHANNELS, MOST_ROWS, MOST_LETTERS = 20, 30, 300


def _new_figure(width: float, height: float, **options: Any) -> tuple[Any, Any]:
    """Return a figure without a window, and its axes; options go to `subplots`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(**options)


def _times(n_frames: int, sampling_rate: float | None) -> tuple[np.ndarray, str]:
    """Return the edges of frames on the time axis, and the label of the axis."""
    rate, unit = (1.0, "frame") if sampling_rate is None else (sampling_rate, "time in seconds")
    return np.arange(n_frames + 1) / rate, unit


def confusion(evaluation: Any) -> Any:
    """Draw the confusion matrix of an evaluation: lines are true classes, columns predictions.

    `evaluation` is the result of `mvdfq.evaluate`.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.make_autoregressive(20, 2, 30, random_state=0)
    >>> clf = mvdfq.SequenceClassifier("mvdfq-sssk", C=1)
    >>> result = mvdfq.evaluate(clf, X, y, protocol="2-fold")
    >>> figure = mvdfq.figures.confusion(result)
    """
    from sklearn.metrics import ConfusionMatrixDisplay

    names = [_text(label) for label in evaluation.labels]
    size = 2.2 + 0.38 * len(names)
    figure, axes = _new_figure(size, size)
    turned = "vertical" if max(map(len, names)) > 3 else "horizontal"
    drawn = ConfusionMatrixDisplay(evaluation.confusion, display_labels=names)
    drawn.plot(ax=axes, cmap="Blues", colorbar=False, xticks_rotation=turned)
    axes.set(xlabel="predicted", ylabel="true")
    return figure


def map_of(report: Any) -> Any:
    """Draw the map of a report: near means alike, a ring marks a wrong sequence.

    `report` is the result of `mvdfq.report`, or its data.

    Examples
    --------
    >>> from mvdfq import figures
    >>> columns = {"x": [0, 1], "y": [1, 0], "truth": [0, 1], "predicted": [0, 0]}
    >>> figure = figures.map_of({"sequences": columns, "classes": ["a", "b"],
    ...                          "map": {"told_apart": [0.9, 0.6]}})
    """
    data = report if isinstance(report, Mapping) else report.data
    columns = {key: np.array(data["sequences"][key]) for key in ("x", "y", "truth", "predicted")}
    figure, axes = _new_figure(7, 5)
    for c, name in enumerate(data["classes"]):
        members = columns["truth"] == c
        style = {"color": COLOURS[c % len(COLOURS)], "marker": MARKS[c % len(MARKS)]}
        axes.scatter(columns["x"][members], columns["y"][members], s=16, label=_text(name), **style)
    wrong = columns["truth"] != columns["predicted"]
    ring = {"s": 70, "facecolors": "none", "edgecolors": "black"}
    axes.scatter(columns["x"][wrong], columns["y"][wrong], **ring)
    first, second = data["map"]["told_apart"]
    axes.set_xlabel(f"axis 1 ({first:.0%} of it is between classes)")
    axes.set_ylabel(f"axis 2 ({second:.0%} of it is between classes)")
    axes.legend(fontsize="x-small", ncols=1 + len(data["classes"]) // 12)
    return figure


def importance(clf: Any, most: int = 30) -> Any:
    """Draw what would be lost without each channel, with its 95 % interval.

    Draws the `most` important channels of a fitted classifier.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.make_autoregressive(20, 2, 30, random_state=0)
    >>> figure = mvdfq.figures.importance(mvdfq.SequenceClassifier("mvdfq-sssk", C=1).fit(X, y))
    """
    result = clf.importance()
    order = np.argsort(-result.log_loss[:, 0], kind="stable")[:most][::-1]
    rise, low, high = result.log_loss[order].T
    figure, axes = _new_figure(5, 1 + 0.22 * len(order))
    axes.barh(range(len(order)), rise, xerr=[rise - low, high - rise], color=FOR, ecolor="gray")
    axes.set_yticks(range(len(order)), [result.names[c] for c in order], parse_math=False)
    axes.set_xlabel("rise of the log loss without the channel")
    return figure


def _text(name: Any) -> str:
    """Return a name that matplotlib neither hides (a leading _) nor reads as a formula ($)."""
    text = str(name).replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text


def codebook(quantizer: Any, x: Any, channels: Any = (0, 1)) -> Any:
    """Draw the frames of a sequence among the codewords (left), and the codeword of each frame.

    `quantizer` is fitted and has one codebook; `channels` are the two channels that are drawn.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> quantizer = mvdfq.CodebookQuantizer(8).fit(X[:20])
    >>> figure = mvdfq.figures.codebook(quantizer, X[0])
    """
    X = check_sequences(x if hasattr(x, "offsets") else [x])
    codes, words = np.asarray(quantizer.transform(X)[0][0]), quantizer.codebooks_[0]
    X = X if quantizer.scaler_ is None else quantizer.scaler_.transform(X)
    a, b = channels
    figure, (left, right) = _new_figure(9, 3.6, ncols=2)
    left.scatter(words[:, a], words[:, b], marker="x", color="black", label="codewords")
    left.plot(X.data[a], X.data[b], color=COLOURS[0], linewidth=0.7)
    left.scatter(X.data[a], X.data[b], s=12, color=COLOURS[0], label="frames")
    left.set(xlabel=f"channel {a}", ylabel=f"channel {b}")
    left.legend(fontsize="x-small")
    _steps(right, codes[None], X.sampling_rate, "codeword")
    return figure


def direct(quantizer: Any, x: Any, most: int = 12) -> Any:
    """Draw the channels of a sequence (left), and the bin of each value, channel by channel.

    `quantizer` is fitted; the first `most` channels are drawn.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> figure = mvdfq.figures.direct(mvdfq.DirectQuantizer(8).fit(X[:20]), X[0])
    """
    X = check_sequences(x if hasattr(x, "offsets") else [x])
    codes = np.asarray(quantizer.transform(X)[0])[:most]
    figure, (left, right) = _new_figure(9, 1.5 + 0.3 * len(codes), ncols=2)
    _steps(left, X.data[:most], X.sampling_rate, "value", "viridis")
    _steps(right, codes, X.sampling_rate, "bin", "viridis")
    left.set_ylabel("channel")
    return figure


def _steps(axes: Any, rows: np.ndarray, rate: float | None, what: str, colours: str = "") -> None:
    """Draw one row as steps, several rows as an image."""
    edges, unit = _times(rows.shape[1], rate)
    if len(rows) == 1 and not colours:
        axes.stairs(rows[0], edges, color=COLOURS[0], baseline=None)
        axes.set_ylabel(what)
    else:
        mesh = axes.pcolormesh(edges, np.arange(len(rows) + 1), rows, cmap=colours, rasterized=True)
        axes.figure.colorbar(mesh, ax=axes, label=what)
    axes.set_xlabel(unit)


def evidence(explanation: Any, x: Any, label: Any = None) -> Any:
    """Draw each channel of a sequence over its exact evidence, and the sum of all channels below.

    `explanation` explains `x`; `label` is the class, or in one-vs-one the pair; None means the
    predicted class.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.make_autoregressive(20, 2, 30, random_state=0)
    >>> clf = mvdfq.SequenceClassifier("mvdfq-sssk", C=1).fit(X, y)
    >>> figure = mvdfq.figures.evidence(clf.explain(X[0]), X[0])
    """
    column, sign = explanation.column(label)
    shares = sign * explanation.by_channel_frame[column]
    values = check_sequences(x if hasattr(x, "offsets") else [x]).data
    shown = np.sort(np.argsort(-np.abs(shares).sum(axis=1), kind="stable")[:MOST_CHANNELS])
    rows = {"nrows": len(shown) + 1, "sharex": True, "squeeze": False}
    figure, axes = _new_figure(9, 1.4 + 0.6 * len(shown), **rows)
    edges, unit = _times(shares.shape[1], explanation.symbols.sampling_rate)
    largest = float(np.abs(shares).max(initial=0)) or 1.0
    for axis, c in zip(axes[:, 0], shown.tolist(), strict=False):
        _band(axis, edges, values[c], shares[c] / largest)
        axis.set_ylabel(explanation.channels[c], rotation=0, ha="right", parse_math=False)
    below = axes[-1, 0]
    _draw_sums(below, edges, shares.sum(axis=0))
    below.set_xlabel(unit)
    below.set_ylabel("all", rotation=0, ha="right")
    figure.suptitle(f"evidence for {explanation.title(label)}", parse_math=False)
    return figure


def _band(axes: Any, edges: np.ndarray, row: np.ndarray, shares: np.ndarray) -> None:
    """Draw one channel over its evidence, which is between -1 and 1."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("evidence", [AGAINST, "white", FOR])
    known = row[~np.isnan(row)]
    low, high = (known.min(), known.max()) if known.size else (0.0, 1.0)
    bounds = [low, high if high > low else low + 1]
    image = np.sign(shares) * np.abs(shares) ** 0.65  # weak evidence stays visible
    axes.pcolormesh(edges, bounds, image[None], cmap=colours, vmin=-1, vmax=1, rasterized=True)
    axes.plot((edges[:-1] + edges[1:]) / 2, row, color="black", linewidth=0.9)
    axes.set_yticks([])


def symbols(explanation: Any, label: Any = None) -> Any:
    """Draw the rows of symbols and, below, the evidence for and against a class over time."""
    column, sign = explanation.column(label)
    rows = np.sort(np.argsort(-np.abs(explanation.by_row[column]), kind="stable")[:MOST_ROWS])
    heights = [2 + 0.22 * len(rows), 2]
    grid = {"nrows": 2, "sharex": True, "height_ratios": heights}
    figure, (above, below) = _new_figure(10, sum(heights), **grid)
    edges, unit = _times(explanation.by_time.shape[1], explanation.symbols.sampling_rate)
    _draw_rows(above, explanation, rows, edges)
    _draw_sums(below, edges, sign * explanation.by_time[column])
    below.axhline(0, color="black", linewidth=0.5)
    below.set_xlabel(unit)
    below.legend(loc="upper right", fontsize="x-small")
    figure.suptitle(f"Predicted: {explanation.predicted}", parse_math=False)
    title = f"evidence for {explanation.title(label)}"
    below.set_title(title, fontsize="medium", parse_math=False)  # names are not formulas
    return figure


def _draw_rows(axes: Any, explanation: Any, rows: np.ndarray, edges: np.ndarray) -> None:
    symbols = explanation.symbols.rows(rows)
    codes = symbols.codes.astype(float)
    codes[symbols.codes == symbols.missing] = np.nan
    levels = codes / np.maximum(symbols.n_symbols[:, None] - 1, 1)
    bounds = np.arange(len(rows) + 1) - 0.5
    mesh = axes.pcolormesh(edges, bounds, levels, cmap="viridis", vmin=0, vmax=1, rasterized=True)
    names = [explanation.row_names[r] for r in rows]
    axes.set_yticks(range(len(rows)), names, fontsize="x-small", parse_math=False)
    axes.invert_yaxis()
    if len(rows) < len(explanation.row_names):
        text = f"the {len(rows)} rows of {len(explanation.row_names)} that count most"
        axes.set_title(text, fontsize="medium")
    axes.figure.colorbar(mesh, ax=axes, label="symbol, lowest to highest", pad=0.01)


def _draw_sums(axes: Any, edges: np.ndarray, evidence: np.ndarray) -> None:
    axes.stairs(np.maximum(evidence, 0), edges, fill=True, color=FOR, label="for")
    axes.stairs(np.minimum(evidence, 0), edges, fill=True, color=AGAINST, label="against")


def mutations(result: Any) -> Any:
    """Draw the effect of every single substitution of a string; blue speaks for the class.

    `result` is what `SequenceClassifier.mutate` returns.

    Examples
    --------
    >>> import mvdfq
    >>> X = ["ACGTTGCAACGT", "ACGTTTTAACGT", "TTGCAACGGATT", "TTTTAACGGATT"] * 2
    >>> clf = mvdfq.SequenceClassifier().fit(X, ["a", "b"] * 4)
    >>> figure = mvdfq.figures.mutations(clf.mutate("ACGTTGCAACGT"))
    """
    letters, effects = result.matrix()
    changed = np.flatnonzero(~np.isnan(effects).all(axis=0))
    if not changed.size:
        raise ValueError("A heat map shows single substitutions, got none among the changes.")
    first, last = int(changed[0]), int(changed[-1]) + 1
    width = float(np.clip(1.5 + 0.12 * (last - first), 5, 40))
    figure, axes = _new_figure(width, 1.4 + 0.22 * len(letters))
    # the same limit to both sides, so that white means no effect
    largest = float(np.nanmax(np.abs(effects))) or 1.0
    drawn = axes.imshow(
        effects[:, first:last], cmap="RdBu", vmin=-largest, vmax=largest, aspect="auto",
        interpolation="nearest", extent=(first + 0.5, last + 0.5, len(letters) - 0.5, -0.5),
    )  # fmt: skip
    axes.set_yticks(range(len(letters)), letters)
    axes.set(xlabel="position, counted from 1", ylabel="becomes")
    if last - first <= MOST_LETTERS:
        places, shown = range(first + 1, last + 1), list(result.text[first:last])
        axes.secondary_xaxis("top").set_xticks(places, shown, fontsize="x-small")
    figure.colorbar(drawn, label="change of the decision value")
    figure.suptitle(f"what substitutions add for {result.label}", parse_math=False)
    return figure

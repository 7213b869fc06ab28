"""Figures of one sequence: channels or symbols with evidence, and the effects of changes."""

from typing import Any

import numpy as np

from mvdfq.explain.figures.canvas import AGAINST, FOR, new_figure, time_axis
from mvdfq.sequences import check_sequences

# More channels than this cannot be told apart in a picture: the strongest are drawn.
MOST_CHANNELS = 20
# More rows than this cannot be told apart in a picture.
MOST_ROWS = 30
# Letters of a longer string would overlap.
MOST_LETTERS = 300


def evidence(explanation: Any, x: Any, label: Any = None) -> Any:
    """Draw the channels of a sequence over the exact evidence of each channel and moment.

    Parameters
    ----------
    explanation : Explanation
        The result of `SequenceClassifier.explain` for `x`.

    x : array-like of shape (n_channels, n_timepoints)
        The sequence.

    label : object, default=None
        The class, or in one-vs-one the pair; None means the predicted class.

    Returns
    -------
    figure : matplotlib.figure.Figure
        One band per channel, and the sum of all channels below.

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
    figure, axes = new_figure(
        9, 1.4 + 0.6 * len(shown), nrows=len(shown) + 1, sharex=True, squeeze=False
    )
    per_unit, unit = time_axis(explanation.symbols.sampling_rate)
    edges = np.arange(shares.shape[1] + 1) / per_unit
    largest = float(np.abs(shares).max()) or 1.0
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
    order = np.argsort(-np.abs(explanation.by_row[column]), kind="stable")
    rows = np.sort(order[:MOST_ROWS])
    height = 2 + 0.22 * len(rows)
    figure, (above, below) = new_figure(
        10, height + 2, nrows=2, sharex=True, height_ratios=[height, 2]
    )
    per_unit, unit = time_axis(explanation.symbols.sampling_rate)
    edges = np.arange(explanation.by_time.shape[1] + 1) / per_unit
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


def mutations(found: Any) -> Any:
    """Draw the effect of every single substitution of a string as a heat map.

    Parameters
    ----------
    found : Mutations
        The result of `SequenceClassifier.mutate`.

    Returns
    -------
    figure : matplotlib.figure.Figure
        One line per letter that is put in, one column per position. Blue speaks for the class.

    Examples
    --------
    >>> import mvdfq
    >>> X = ["ACGTTGCAACGT", "ACGTTTTAACGT", "TTGCAACGGATT", "TTTTAACGGATT"] * 2
    >>> clf = mvdfq.SequenceClassifier().fit(X, ["a", "b"] * 4)
    >>> figure = mvdfq.figures.mutations(clf.mutate("ACGTTGCAACGT"))
    """
    letters, effects = found.matrix()
    changed = np.flatnonzero(~np.isnan(effects).all(axis=0))
    if not changed.size:
        raise ValueError("A heat map shows single substitutions, got other changes alone.")
    first, last = int(changed[0]), int(changed[-1]) + 1
    width = float(np.clip(1.5 + 0.12 * (last - first), 5, 40))
    figure, axes = new_figure(width, 1.4 + 0.22 * len(letters))
    largest = float(np.nanmax(np.abs(effects))) or 1.0
    drawn = axes.imshow(
        effects[:, first:last], cmap="RdBu", vmin=-largest, vmax=largest, aspect="auto",
        interpolation="nearest", extent=(first + 0.5, last + 0.5, len(letters) - 0.5, -0.5),
    )  # fmt: skip
    axes.set_yticks(range(len(letters)), letters)
    axes.set_xlabel("position, counted from 1")
    axes.set_ylabel("becomes")
    if last - first <= MOST_LETTERS:
        axes.secondary_xaxis("top").set_xticks(
            range(first + 1, last + 1), list(found.text[first:last]), fontsize="x-small"
        )
    figure.colorbar(drawn, label="change of the decision value")
    figure.suptitle(f"what substitutions add for {found.label}", parse_math=False)
    return figure

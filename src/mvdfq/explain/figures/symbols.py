"""Figure of an explanation: rows of symbols above the evidence in time."""

from typing import Any

import numpy as np

from mvdfq.explain.figures.canvas import AGAINST, FOR, new_figure

# More rows than this cannot be told apart in a picture.
MOST_ROWS = 30


def plot_explanation(explanation: Any, label: Any = None) -> Any:
    """Draw the rows of symbols and, below, the evidence for and against a class over time."""
    column, sign = explanation.column(label)
    rows = _rows_that_count(explanation.by_row[column])
    height = 2 + 0.22 * len(rows)
    figure, (above, below) = new_figure(
        10, height + 2, nrows=2, sharex=True, height_ratios=[height, 2]
    )
    _draw_rows(above, explanation, rows, figure)
    _draw_evidence(below, explanation, sign * explanation.by_time[column])
    figure.suptitle(f"Predicted: {explanation.predicted}", parse_math=False)
    title = f"evidence for {explanation.title(label)}"
    below.set_title(title, fontsize="medium", parse_math=False)  # names are not formulas
    return figure


def _times(explanation: Any) -> tuple[np.ndarray, str]:
    n_frames, rate = explanation.by_time.shape[1], explanation.symbols.sampling_rate
    if rate is None:
        return np.arange(n_frames + 1) - 0.5, "frame"
    return np.arange(n_frames + 1) / rate, "time in seconds"


def _rows_that_count(evidence: np.ndarray) -> np.ndarray:
    """Return all rows, or the `MOST_ROWS` rows with the most evidence, in the given order."""
    return np.sort(np.argsort(-np.abs(evidence), kind="stable")[:MOST_ROWS])


def _draw_rows(axes: Any, explanation: Any, rows: np.ndarray, figure: Any) -> None:
    symbols = explanation.symbols.rows(rows)
    codes = symbols.codes.astype(float)
    codes[symbols.codes == symbols.missing] = np.nan
    levels = codes / np.maximum(symbols.n_symbols[:, None] - 1, 1)
    edges, _ = _times(explanation)
    bounds = np.arange(len(rows) + 1) - 0.5
    mesh = axes.pcolormesh(edges, bounds, levels, cmap="viridis", vmin=0, vmax=1, rasterized=True)
    names = [explanation.row_names[r] for r in rows]
    axes.set_yticks(range(len(rows)), names, fontsize="x-small", parse_math=False)
    axes.invert_yaxis()
    if len(rows) < len(explanation.row_names):
        text = f"the {len(rows)} rows of {len(explanation.row_names)} that count most"
        axes.set_title(text, fontsize="medium")
    figure.colorbar(mesh, ax=axes, label="symbol, lowest to highest", pad=0.01)


def _draw_evidence(axes: Any, explanation: Any, evidence: np.ndarray) -> None:
    edges, label = _times(explanation)
    axes.stairs(np.maximum(evidence, 0), edges, fill=True, color=FOR, label="for")
    axes.stairs(np.minimum(evidence, 0), edges, fill=True, color=AGAINST, label="against")
    axes.axhline(0, color="black", linewidth=0.5)
    axes.set_xlabel(label)
    axes.legend(loc="upper right", fontsize="x-small")

"""The two figures of the paper for any sequence: one codeword per frame, or one bin per value."""

from typing import Any

import numpy as np

from mvdfq.explain.figures.canvas import COLOURS, new_figure, time_axis
from mvdfq.sequences import check_sequences


def codebook(quantizer: Any, x: Any, channels: Any = (0, 1)) -> Any:
    """Draw the frames of a sequence among the codewords, and the codeword of each frame.

    Parameters
    ----------
    quantizer : CodebookQuantizer
        A fitted quantizer with one codebook.

    x : array-like of shape (n_channels, n_timepoints)
        The sequence.

    channels : pair of int, default=(0, 1)
        The two channels that are drawn.

    Returns
    -------
    figure : matplotlib.figure.Figure
        Left, two channels against each other; right, the codeword of each frame.

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
    figure, (left, right) = new_figure(9, 3.6, ncols=2)
    left.scatter(words[:, a], words[:, b], marker="x", color="black", label="codewords")
    left.plot(X.data[a], X.data[b], color=COLOURS[0], linewidth=0.7)
    left.scatter(X.data[a], X.data[b], s=12, color=COLOURS[0], label="frames")
    left.set_xlabel(f"channel {a}")
    left.set_ylabel(f"channel {b}")
    left.legend(fontsize="x-small")
    _steps(right, codes[None], X.sampling_rate, "codeword")
    return figure


def direct(quantizer: Any, x: Any, most: int = 12) -> Any:
    """Draw the channels of a sequence, and the bin of each value, channel by channel.

    Parameters
    ----------
    quantizer : DirectQuantizer
        A fitted quantizer.

    x : array-like of shape (n_channels, n_timepoints)
        The sequence.

    most : int, default=12
        Number of channels that are drawn.

    Returns
    -------
    figure : matplotlib.figure.Figure
        Left, the values; right, the bins.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> figure = mvdfq.figures.direct(mvdfq.DirectQuantizer(8).fit(X[:20]), X[0])
    """
    X = check_sequences(x if hasattr(x, "offsets") else [x])
    codes = np.asarray(quantizer.transform(X)[0])[:most]
    figure, (left, right) = new_figure(9, 1.5 + 0.3 * len(codes), ncols=2)
    _steps(left, X.data[:most], X.sampling_rate, "value", "viridis")
    _steps(right, codes, X.sampling_rate, "bin", "viridis")
    left.set_ylabel("channel")
    return figure


def _steps(axes: Any, rows: np.ndarray, rate: float | None, what: str, colours: str = "") -> None:
    """Draw one row as steps, several rows as an image."""
    per_unit, unit = time_axis(rate)
    edges = np.arange(rows.shape[1] + 1) / per_unit
    if len(rows) == 1 and not colours:
        axes.stairs(rows[0], edges, color=COLOURS[0], baseline=None)
        axes.set_ylabel(what)
    else:
        mesh = axes.pcolormesh(edges, np.arange(len(rows) + 1), rows, cmap=colours, rasterized=True)
        axes.figure.colorbar(mesh, ax=axes, label=what)
    axes.set_xlabel(unit)

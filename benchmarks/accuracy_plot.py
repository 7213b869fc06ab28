"""Critical-difference plots: methods by mean rank, lines join methods that do not differ."""

import numpy as np
from accuracy_stats import cliques


def draw_ranks(path, methods, ranks, pairs):
    """Write the plot as SVG; say so where matplotlib is not installed."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        print(f"no {path.name}: matplotlib is not installed")
        return
    half = (len(methods) + 1) // 2
    figure = Figure(figsize=(6.4, 0.9 + 0.22 * half + 0.1 * len(methods)))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    draw_axis(axes, len(methods))
    depth = draw_cliques(axes, ranks, cliques(ranks, pairs))
    draw_names(axes, methods, ranks, depth)
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": path.stem}):
        figure.savefig(path, metadata={"Date": None})


def draw_axis(axes, n):
    """Draw the axis of ranks from 1 to n; space on both sides is for the names."""
    margin = 0.52 * (n - 1)
    axes.set_xlim(1 - margin, n + margin)
    axes.axis("off")
    axes.plot([1, n], [0, 0], color="black", linewidth=1)
    for rank in range(1, n + 1):
        axes.plot([rank, rank], [0, 0.15], color="black", linewidth=1)
        axes.text(rank, 0.25, str(rank), ha="center", va="bottom", fontsize=8)


def draw_cliques(axes, ranks, runs):
    """Draw one line per run of methods that do not differ; return the depth below the axis."""
    depth = 0.3
    for run in runs:
        ends = min(ranks[run]) - 0.05, max(ranks[run]) + 0.05
        axes.plot(ends, [-depth, -depth], color="tab:red", linewidth=3)
        depth += 0.3
    return depth


def draw_names(axes, methods, ranks, depth):
    """Write the better half of the methods on the left, the others on the right."""
    order, n = np.argsort(ranks, kind="stable"), len(methods)
    half, margin = (n + 1) // 2, 0.04 * (n - 1)
    for place, i in enumerate(order):
        is_left = place < half
        y = -depth - 0.45 * (place if is_left else n - 1 - place)
        end = 1 - margin if is_left else n + margin
        axes.plot([ranks[i], ranks[i], end], [0, y, y], color="grey", linewidth=0.8)
        text = f" {methods[i]} {ranks[i]:.2f} "
        axes.text(end, y, text, ha="right" if is_left else "left", va="center", fontsize=8)
    axes.set_ylim(-depth - 0.45 * half, 0.9)

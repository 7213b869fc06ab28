"""A new figure, its colours, and the names of moments."""

from typing import Any

# Okabe and Ito's colours, safe for all kinds of colour vision, as on the page of a report.
COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#5a5f6b"]
MARKS = ["o", "s", "^", "D"]
FOR, AGAINST = "#0072b2", "#d55e00"


def new_figure(width: float, height: float, **options: Any) -> tuple[Any, Any]:
    """Return a figure without a window, and its axes; options go to `subplots`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(**options)


def time_axis(sampling_rate: float | None) -> tuple[float, str]:
    """Return the frames per unit of the time axis, and the label of the axis."""
    return (1.0, "frame") if sampling_rate is None else (sampling_rate, "time in seconds")

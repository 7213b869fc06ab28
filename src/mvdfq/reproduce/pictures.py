"""Pictures for a page: the published figure as a line, our figure as a dot with its spread."""

import math
from collections.abc import Sequence
from html import escape

from mvdfq.reproduce.arrange import label, number, published, with_spread
from mvdfq.reproduce.result import Row

__all__ = ["Scale", "picture"]

# Sizes in the units of the picture: room for names, width of the scale, margins, height of a row.
NAMES, WIDTH, MARGIN, LINE = 250, 320, 12, 15


class Scale:
    """From zero to a round number beyond all figures of some rows."""

    def __init__(self, rows: Sequence[Row]) -> None:
        ends = [(row.value or 0) + (row.std or 0) for row in rows]
        top = max([*ends, *(row.published or 0 for row in rows)], default=0) or 1.0
        self.step = _round_step(top / 3)
        self.top = self.step * math.ceil(top / self.step)

    def x(self, value: float) -> float:
        """Return the position of a figure."""
        return round(NAMES + MARGIN + (WIDTH - 2 * MARGIN) * max(value, 0) / self.top, 1)

    @property
    def ticks(self) -> list[float]:
        """Round numbers along the scale."""
        return [self.step * i for i in range(round(self.top / self.step) + 1)]


def picture(rows: Sequence[Row]) -> str:
    """Return measured rows with the same metric as one SVG picture; all text is escaped."""
    scale, height = Scale(rows), LINE * (len(rows) + 1) + 4
    grid = "".join(_line("grid", scale.x(tick), LINE, height) for tick in scale.ticks)
    axis = "".join(
        f'<text class="tick" x="{scale.x(tick)}" y="11">{number(tick).removesuffix(".0")}</text>'
        for tick in scale.ticks
    )
    marks = "".join(_row(row, scale, LINE * (n + 1)) for n, row in enumerate(rows))
    box = f'viewBox="0 0 {NAMES + WIDTH} {height}" role="img"'
    return f"<svg {box}><title>paper and ours</title>{grid}{axis}{marks}</svg>"


def _row(row: Row, scale: Scale, top: float) -> str:
    """Return the name of a row, the published figure, our figure and its spread."""
    y, value, spread = top + 8, row.value or 0.0, row.std or 0.0
    words = f"{label(row)}: paper {published(row) or 'none'}, ours {with_spread(row)}"
    name = ", ".join(part for part in (label(row), row.setting, row.scheme) if part)
    line = "" if row.published is None else _line("line", scale.x(row.published), top + 1, top + 15)
    left, right = scale.x(value - spread), scale.x(value + spread)
    return (
        f'<g><title>{escape(words)}</title><text x="0" y="{y + 4}">{escape(name)}</text>{line}'
        f'<line class="ours" x1="{left}" y1="{y}" x2="{right}" y2="{y}"/>'
        f'<circle class="ours" cx="{scale.x(value)}" cy="{y}" r="3.2"/></g>'
    )


def _line(kind: str, x: float, top: float, bottom: float) -> str:
    return f'<line class="{kind}" x1="{x}" y1="{top}" x2="{x}" y2="{bottom}"/>'


def _round_step(rough: float) -> float:
    """Return 1, 2 or 5 times a power of ten that is not below `rough`."""
    power = 10 ** math.floor(math.log10(rough))
    return next(power * step for step in (1, 2, 5, 10) if power * step >= rough)

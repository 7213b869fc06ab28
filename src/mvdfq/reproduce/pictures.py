"""Small pictures for a page: the published figure as a line, ours as dots with their spread."""

import math
from collections.abc import Sequence

from mvdfq.reproduce.arrange import number
from mvdfq.reproduce.result import Row

__all__ = ["Scale"]

WIDTH, MARGIN, LINE = 220, 12, 9


class Scale:
    """From zero to a round number beyond all figures of some lines."""

    def __init__(self, rows: Sequence[Row]) -> None:
        ends = [(row.value or 0) + (row.std or 0) for row in rows]
        top = max([*ends, *(row.published or 0 for row in rows)], default=0) or 1.0
        self.step = _round_step(top / 3)
        self.top = self.step * math.ceil(top / self.step)

    def x(self, value: float) -> float:
        """Return where a figure lies."""
        return round(MARGIN + (WIDTH - 2 * MARGIN) * max(value, 0) / self.top, 1)

    @property
    def ticks(self) -> list[float]:
        """Round numbers along the scale."""
        return [self.step * i for i in range(round(self.top / self.step) + 1)]

    def axis(self) -> str:
        """Return the numbers of the scale, to stand above the pictures."""
        labels = "".join(
            f'<text x="{self.x(tick)}" y="11">{number(tick).removesuffix(".0")}</text>'
            for tick in self.ticks
        )
        return f'<svg class="axis" viewBox="0 0 {WIDTH} 14" aria-hidden="true">{labels}</svg>'

    def picture(self, rows: Sequence[tuple[int, Row]], words: str) -> str:
        """Return the picture of one place: lines with the number of their reading.

        Parameters
        ----------
        rows : sequence of (int, Row)
            Ours, one below the other; the numbers choose colours.

        words : str
            The same in words, escaped already, for those who do not see it.
        """
        height = LINE * len(rows) + 5
        grid = "".join(_line("grid", self.x(tick), 0, height) for tick in self.ticks)
        marks = "".join(self._ours(i, row, LINE * n + 7) for n, (i, row) in enumerate(rows))
        published = rows[0][1].published
        paper = "" if published is None else _line("paper", self.x(published), 1, height - 1)
        box = f'viewBox="0 0 {WIDTH} {height}" role="img"'
        return f"<svg {box}><title>{words}</title>{grid}{paper}{marks}</svg>"

    def _ours(self, reading: int, row: Row, y: float) -> str:
        if row.value is None:
            return ""
        spread = row.std or 0
        left, right = self.x(row.value - spread), self.x(row.value + spread)
        whisker = f'<line class="r{reading}" x1="{left}" y1="{y}" x2="{right}" y2="{y}"/>'
        return f'{whisker}<circle class="r{reading}" cx="{self.x(row.value)}" cy="{y}" r="3.2"/>'


def _line(kind: str, x: float, top: float, bottom: float) -> str:
    return f'<line class="{kind}" x1="{x}" y1="{top}" x2="{x}" y2="{bottom}"/>'


def _round_step(rough: float) -> float:
    """Return 1, 2 or 5 times a power of ten, at least so large."""
    power = 10 ** math.floor(math.log10(rough))
    return next(power * step for step in (1, 2, 5, 10) if power * step >= rough)

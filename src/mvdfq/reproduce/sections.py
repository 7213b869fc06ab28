"""Results as an HTML page in the look of the report, made of the same blocks as in a terminal.

A picture shows the published figure as a line, and our figure as a dot with its spread.
"""

import math
from collections.abc import Sequence
from html import escape
from importlib.resources import files

from mvdfq._utils.version import __version__
from mvdfq.pages.html import document
from mvdfq.reproduce.arrange import fact_words, label, published, verdict, with_spread
from mvdfq.reproduce.result import Result, Row
from mvdfq.reproduce.show import Block, blocks

# Sizes in the units of the picture: room for names, width of the scale, margins, height of a row.
NAMES, WIDTH, MARGIN, LINE = 250, 320, 12, 15


def page(result: Result) -> str:
    """Return a whole page of a result as HTML that needs no other file; all text is escaped."""
    shown = blocks(result)
    links = {"verdict": "Verdict"}
    for k, block in enumerate(shown):  # the menu lists what follows the figures, each kind once
        if block.kind and block.kind.capitalize() not in links.values():
            links[f"block-{k}"] = block.kind.capitalize()
    return document(
        "Figures of the paper, and ours",
        _section(result, shown),
        links="".join(f'<a href="#{to}">{escape(words)}</a>' for to, words in links.items()),
        foot=f"mvdfq {escape(__version__)}. The figures of this page are in the .json and .csv "
        "files beside it.",
        style=files("mvdfq.reproduce").joinpath("section.css").read_text(encoding="utf-8"),
    )


def _section(result: Result, shown: list[Block]) -> str:
    """Return a result: its verdict in one line, its facts, and its blocks."""
    big, words = verdict(result)
    line = f'<span class="big num">{escape(big)}</span>\n' if big else ""
    facts = f'<p class="soft">{escape(fact_words(result.facts))}</p>\n' if result.facts else ""
    inside = "\n".join(_block(block, f"block-{k}") for k, block in enumerate(shown))
    return (
        '<section class="hero paper" id="verdict" tabindex="-1">\n'
        f"<h1>{escape(result.title)}</h1>\n"
        f'<div class="score">{line}<p>{escape(words)}</p></div>\n{facts}{inside}\n</section>'
    )


def _block(block: Block, name: str) -> str:
    title = escape(block.heading("; "))
    items = "".join(f"<li>{escape(line)}</li>\n" for line in block.below)
    drawn = picture(block.drawn) if block.drawn else ""
    content = _table(block) + (f"<ul>{items}</ul>\n" if items else "") + drawn
    if block.folded:
        return f'<details id="{name}"><summary>{title}</summary>\n{content}</details>'
    return f"<h3>{title}</h3>\n{content}"


def _table(block: Block) -> str:
    """Return the entries of a block; narrow screens show the heads beside every cell."""
    if not block.rows:
        return ""
    heads = "".join(f"<th>{escape(str(key))}</th>" for key in block.rows[0])
    lines = "".join(
        "<tr>" + "".join(_cell(key, value) for key, value in row.items()) + "</tr>\n"
        for row in block.rows
    )
    return f"<table><thead><tr>{heads}</tr></thead>\n<tbody>{lines}</tbody></table>\n"


def _cell(key: str, value: object) -> str:
    return f'<td data-is="{escape(str(key))}">{escape(str(value))}</td>'


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
        f'<text class="tick" x="{scale.x(tick)}" y="11">{tick:g}</text>' for tick in scale.ticks
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

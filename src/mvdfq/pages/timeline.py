"""The events of a recording as a picture, and as a page that plays the sound."""

import os
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mvdfq.pages.html import asset

WIDTH, ROW, LEFT, TOP = 1000, 26, 150, 24
# Labels longer than this would leave no room for the events.
MOST_LETTERS = 18
# Steps of the axis in seconds.
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200)


def timeline_svg(scan: Any) -> str:
    """Return the events of a `Scan`: one row per class, darker where the class is surer."""
    events = scan.events
    rows = [label for label in [*scan.classes, "unknown"] if any(e.label == label for e in events)]
    height, length = TOP + ROW * len(rows) + 30, scan.length or 1.0
    width = WIDTH - LEFT - 20
    parts = [
        f'<text x="{LEFT - 8}" y="{TOP + ROW * r + 17}" text-anchor="end">{_short(label)}</text>'
        for r, label in enumerate(rows)
    ]
    for e in events:
        x, wide = LEFT + width * e.start / length, max(width * (e.end - e.start) / length, 1)
        about = f"{escape(str(e.label))}, {e.start:.1f} to {e.end:.1f}, {e.probability:.0%}"
        parts.append(
            f'<rect x="{x:.1f}" y="{TOP + ROW * rows.index(e.label) + 3}" width="{wide:.1f}" '
            f'height="{ROW - 6}" fill="#1f5fa8" fill-opacity="{0.2 + 0.8 * e.probability:.2f}" '
            f'data-start="{e.start:.3f}"><title>{about}</title></rect>'
        )
    step = next((tick for tick in TICKS if length / tick <= 12), length / 10)
    for k in range(int(length / step) + 1):
        x, (minutes, seconds) = LEFT + width * k * step / length, divmod(k * step, 60)
        time = f"{int(minutes)}:{int(seconds):02d}" if minutes else f"{seconds:g}"
        line = f'd="M{x:.1f} {TOP}V{height - 24}" stroke="#8888" stroke-width="0.5"'
        text = f'x="{x:.1f}" y="{height - 8}" text-anchor="middle"'
        parts.append(f"<path {line}/><text {text}>{time}</text>")
    places = f'x1="{LEFT}" x2="{LEFT}" y1="{TOP}" y2="{height - 24}"'
    parts.append(f'<line id="now" {places} stroke="#b00"/>')
    size = f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12" fill="#333"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(parts)}</svg>\n'


def timeline_page(drawn: str, name: str, sound: Path, page: Path) -> str:
    """Return a page with the picture and the sound, which stays in its own file."""
    source = quote(Path(os.path.relpath(sound.absolute(), page.absolute().parent)).as_posix())
    script = f"const left = {LEFT}, width = {WIDTH - LEFT - 20};\n{asset('timeline.js')}"
    frame = asset("timeline.html")
    return frame.format(title=escape(name), drawn=drawn, source=source, script=script)


def _short(label: Any) -> str:
    text = str(label)
    return escape(text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…")

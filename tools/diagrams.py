"""Diagrams of the guide as SVG text: boxes, arrows and small tables; used by write_pictures.py.

The background is white, so that a diagram reads the same in the light and the dark theme.
"""

from html import escape
from itertools import accumulate

HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" \
font-family="sans-serif" font-size="13" role="img" aria-label="{about}">
<style>
.b{{fill:#fff;stroke:#57606a;stroke-width:1.3}}text{{fill:#1f2328;text-anchor:middle}}
.t{{font-weight:600}}.n{{font-size:11.5px;fill:#424a53}}.m{{font-family:monospace;font-size:12px}}
.l{{text-anchor:start}}
path{{stroke:#57606a;fill:none;stroke-width:1.3;marker-end:url(#h)}}
</style>
<defs><marker id="h" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" \
orient="auto"><path d="M0,0 L8,4 L0,8 z" style="fill:#57606a;stroke:none;marker-end:none"/>\
</marker></defs>
<rect width="{width}" height="{height}" fill="#fff"/>"""

# One colour per role of a cell; the text in a cell stays readable on each.
VALUE, LABEL, NAME, TIME = "#d3e5f3", "#fdebd0", "#d5f0e3", "#e6e8eb"


class Diagram:
    """The text of one SVG file, written from top to bottom."""

    def __init__(self, width, height, about):
        self.lines = [HEAD.format(width=width, height=height, about=escape(about))]

    def text(self, x, y, words, kind="n"):
        """Write one line of text; `kind` names its classes, see HEAD."""
        self.lines.append(f'<text class="{kind}" x="{x}" y="{y}">{escape(words)}</text>')

    def box(self, x, y, width, height, fill="#fff"):
        """Draw a box."""
        self.lines.append(
            f'<rect class="b" x="{x}" y="{y}" width="{width}" height="{height}" rx="5" '
            f'style="fill:{fill}"/>'
        )

    def titled(self, x, y, width, title, *notes, kind="t"):
        """Draw a box with a title and lines below the title; return the middle of its height."""
        height = 22 + 16 * len(notes) + 6
        self.box(x, y, width, height)
        self.text(x + width / 2, y + 19, title, kind)
        for i, note in enumerate(notes):
            self.text(x + width / 2, y + 37 + 16 * i, note)
        return y + height / 2

    def arrow(self, x, y, to_x, to_y):
        """Draw an arrow that leaves and arrives level."""
        middle = (x + to_x) / 2
        self.lines.append(f'<path d="M{x},{y} C{middle},{y} {middle},{to_y} {to_x},{to_y}"/>')

    def table(self, x, y, widths, fills, rows):
        """Draw cells of text, one fill per column."""
        starts = [x, *(x + end for end in accumulate(widths))]
        for i, row in enumerate(rows):
            for start, width, fill, cell in zip(starts, widths, fills, row, strict=False):
                self.cell(start, y + 18 * i, width, 18, fill)
                self.text(start + width / 2, y + 13 + 18 * i, cell, "m")

    def cell(self, x, y, width, height, fill):
        """Draw a square of a table or an array."""
        self.lines.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}" stroke="#fff"/>'
        )

    def __str__(self):
        return "\n".join([*self.lines, "</svg>\n"])


def files():
    """Return how a table, a folder and a FASTA file become one data set."""
    d = Diagram(860, 366, "Files of four kinds, and where a data set holds what they say")
    d.text(20, 24, "long table: one time point per line", "n l")
    rows = ["1 0.0 2.5 7 walk", "1 0.1 2.7 7 walk", "1 0.2 2.6 8 walk", "2 0.0 0.4 3 rest"]
    fills = [NAME, TIME, VALUE, VALUE, LABEL]
    d.table(20, 32, [36, 46, 46, 36, 56], fills, [row.split() for row in rows])
    d.text(20, 128, "wide table: one series per line, one channel", "n l")
    rows = ["2.5 2.7 2.6 2.9 walk", "0.4 0.3 0.4 0.2 rest"]
    fills = [VALUE] * 4 + [LABEL]
    d.table(20, 136, [41] * 4 + [56], fills, [row.split() for row in rows])
    d.text(20, 196, "folder: one sub-folder per class", "n l")
    d.table(20, 204, [56, 82, 82], [LABEL, NAME, VALUE], [["jazz/", "a.wav", "sound"]])
    d.table(20, 222, [56, 82, 82], [LABEL, NAME, VALUE], [["rock/", "b.flac", "sound"]])
    d.text(20, 264, "FASTA, and a table of labels", "n l")
    d.table(20, 272, [60, 160], [NAME, VALUE], [[">P68871", "MVHLTPEEKSAVT"]])
    d.table(20, 290, [60, 160], [NAME, LABEL], [["P68871", "globin"]])
    d.titled(340, 143, 170, "mvdfq.io.read(path)", "recognises the format", "by content")
    for y in (68, 154, 222, 290):
        d.arrow(246, y, 338, 176)
    d.arrow(510, 176, 588, 176)
    d.box(590, 40, 250, 276)
    d.text(715, 62, "Dataset", "t")
    parts = [
        (VALUE, "X", "sequences (channels, time)"),
        (LABEL, "y", "one label per sequence"),
        (NAME, "names", "id, file or line"),
        (TIME, "X.sampling_rate", "from the times"),
        ("#fff", "groups, split", "if the files name them"),
        ("#fff", "skipped", "files left out, and why"),
        ("#fff", "remarks", "what the reader decided"),
    ]
    for i, (fill, name, note) in enumerate(parts):
        d.cell(604, 74 + 34 * i, 222, 30, fill)
        d.text(612, 87 + 34 * i, name, "m l")
        d.text(612, 100 + 34 * i, note, "n l")
    d.text(430, 350, "Equal colours hold equal things: blue values, orange labels, green names.")
    return str(d)


def sequences():
    """Return two sequences of unequal length, and the one array that holds both."""
    d = Diagram(860, 206, "Two sequences of unequal length lie side by side in one array")
    for x, n, first, name in ((52, 5, 0, "X[0]"), (52, 8, 5, "X[1]")):
        y = 26 if first == 0 else 128
        d.text(x + 11 * n, y - 8, f"{name}: {n} frames", "n")
        _frames(d, x, y, n, first)
    d.text(320, 98, "check_sequences", "m")
    d.arrow(262, 106, 380, 106)
    d.text(599, 52, "X.data: 3 channels, 13 frames", "n")
    _frames(d, 430, 60, 13, 0, width=26)
    for frame in (0, 5, 13):
        x = 430 + 26 * frame
        d.lines.append(f'<line x1="{x}" y1="56" x2="{x}" y2="128" stroke="#1f2328"/>')
        d.text(x, 142, str(frame), "m")
    d.text(599, 168, "X.offsets: where each sequence begins, and where the last ends", "n")
    return str(d)


def _frames(d, x, y, n, first, width=22):
    """Draw `n` frames of three channels; the second sequence, from frame 5, misses two values."""
    for row, name in enumerate("xyz"):
        d.text(x - 14, y + 15 + 22 * row, name, "m")
        for i in range(n):
            missing = row == 1 and first + i in (7, 8)
            fill = "#fff" if missing else VALUE if first + i < 5 else LABEL
            d.cell(x + width * i, y + 22 * row, width, 22, fill)
            if missing:
                d.text(x + width * (i + 0.5), y + 14 + 22 * row, "nan", "n")


def command_line():
    """Return which commands read and write which files."""
    d = Diagram(860, 300, "The commands, the files they read and the files they write")
    data = d.titled(14, 112, 128, "DATA", "folder of sound,", "table, FASTA")
    steps = [
        ("mvdfq inspect", "counts, gaps, duplicates, bad files"),
        ("mvdfq evaluate", "error with its interval, confusions"),
        ("mvdfq train", "learns a classifier"),
        ("mvdfq gram", "computes the kernel matrix"),
    ]
    middles = []
    for i, (name, note) in enumerate(steps):
        middles.append(d.titled(196, 14 + 70 * i, 228, name, note, kind="m"))
        d.arrow(142, data, 194, middles[-1])
    made = [None, "report.html", "genres.mvdfq", "K.npy"]
    for y, name in zip(middles, made, strict=True):
        if name:
            d.box(470, y - 14, 116, 28, LABEL)
            d.text(528, y + 4, name, "m")
            d.arrow(424, y, 468, y)
    for y, name, note in (
        (84, "mvdfq predict", "labels, probabilities"),
        (224, "mvdfq explain", "moments, channels, words"),
    ):
        arrival = d.titled(640, y, 206, name, note, kind="m")
        d.arrow(586, middles[2], 638, arrival)
    d.box(690, 162, 106, 28, VALUE)
    d.text(743, 180, "new recordings", "n")
    d.lines += ['<path d="M743,162 L743,130"/>', '<path d="M743,190 L743,222"/>']
    return str(d)

"""Write the figures of docs/reproduction.md from the results files: no figure is typed in.

Between ``<!-- TABLE -->`` and ``<!-- end -->`` stands what this script wrote. A test asserts that
the page is what it would write now::

    python tools/write_reproduction.py
"""

import re
from pathlib import Path

from mvdfq.reproduce.arrange import READING_WORDS
from mvdfq.reproduce.export import read_json
from mvdfq.reproduce.show import Block, blocks

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reproduction.md"
RESULTS = ROOT / "benchmarks" / "results" / "paper"
# Long and for those who want to know exactly: folded away.
FOLDED = ("as used", "claims", "remarks", "not measured")
GENRE = ("Spectrum", "Mismatch", "SSSK")
ROWS = "MVDFQ (20 BLOSUM rows)"
HASHING, AUTHOR = "Sim. hashing", "VQ, the author's codewords"
# Which column is to be below which.
ORDER = [("MVDFQ", HASHING), (HASHING, "VQ"), (HASHING, AUTHOR), ("MVDFQ", "VQ"), ("MVDFQ", AUTHOR)]


def main():
    """Write the page anew."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def filled(page):
    """Return the page with the figures of the results files."""
    return re.sub(
        r"(<!-- ([\w-]+) -->\n).*?(<!-- end -->)",
        lambda match: match[1] + section(match[2]) + match[3],
        page,
        flags=re.DOTALL,
    )


def section(name):
    """Return what stands below a mark."""
    if name == "targets":
        return markdown(Block("", targets(), []))
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return "Not run.\n\n"
    return "".join(folded(block) for block in blocks(read_json(path)))


def folded(block):
    """Return a block in Markdown, folded if it is long."""
    title, text = block.title.replace("\n", "; "), markdown(block)
    if not any(word in title for word in FOLDED):
        return f"**{title}**\n\n{text}"
    return f"<details><summary>{title}</summary>\n\n{text}</details>\n\n"


def markdown(block):
    """Return the rows and lines of a block in Markdown."""
    lines = []
    if block.rows:
        lines.append("| " + " | ".join(block.rows[0]) + " |")
        lines.append("|" + "---|" * len(block.rows[0]))
        lines += ["| " + " | ".join(map(cell, row.values())) + " |" for row in block.rows]
        lines.append("")
    if block.below:
        lines += [*block.below, ""]
    return "\n".join(lines) + "\n"


def cell(value):
    """Return a value as it may stand between bars."""
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text.replace("|", "\\|").replace("<", "&lt;")


def values(table, protocol="5-fold", metric="error_pct"):
    """Return our figures of a table, by reading, method, kernel, manifold and setting."""
    path = RESULTS / f"{table}.json"
    rows = read_json(path).rows if path.exists() else []
    return {
        (row.reading, row.name, row.kernel, row.manifold, row.setting): row.value
        for row in rows
        if row.metric == metric and row.protocol in (protocol, "") and row.value is not None
    }


def target(what, numbers, holds):
    """Return a line: what was aimed at, what came out, whether it is reached."""
    shown = ", ".join(f"{number:.1f}" for number in numbers)
    return {"target": what, "ours": shown, "reached": "yes" if holds else "no"}


def compared(what, pairs):
    """Return the line of an ordering: in every pair the first is to be below the second."""
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    failed = sum(a >= b for a, b in known)
    ours = f"{len(known) - failed} of {len(known)} comparisons" if known else "not run"
    reached = ("no" if failed else "yes") if known else ""
    return {"target": what, "ours": ours, "reached": reached}


def targets():
    """Return what was aimed at, and what came out."""
    return [*genre_targets(), *other_targets(), *homology_targets()]


def genre_targets():
    """Return the orderings of the genre table in every reading, and its best cell."""
    found = values("genre")
    lines = []
    for reading, words in READING_WORDS.items():

        def at(name, kernel, manifold, reading=reading):
            return found.get((reading, name, kernel, manifold, ""))

        both = [(kernel, root) for kernel in GENRE for root in ("no", "yes")]
        names = ("VQ", HASHING, "MVDFQ")
        orders = {
            f"{a} below {b}": [(at(a, *cell), at(b, *cell)) for cell in both] for a, b in ORDER
        } | {
            "manifold below none": [
                (at(n, k, "yes"), at(n, k, "no")) for n in names for k in GENRE
            ],
            "SSSK lowest of MVDFQ": [
                (at("MVDFQ", "SSSK", root), at("MVDFQ", kernel, root))
                for root in ("no", "yes")
                for kernel in GENRE[:2]
            ],
        }
        lines += [compared(f"genre, {words}: {what}", pairs) for what, pairs in orders.items()]
    best = found.get(("text", "MVDFQ", "SSSK", "yes", ""))
    if best is not None:
        lines.append(target("genre, text: MVDFQM-SSSK at 21.5 or below", [best], best <= 21.5))
    return lines


def other_targets():
    """Return the targets of the other tables."""
    lines = []
    compare = values("genre-compare")
    pair = [
        compare.get(("text", "MVDFQM", "SSSK", "yes", setting))
        for setting in ("MFCC+FFT64", "MFCC")
    ]
    if None not in pair:
        lines.append(target("genre: MFCC+FFT64 below MFCC alone", pair, pair[0] < pair[1]))
    artist = values("artist", "group-per-class")
    for reading, words in READING_WORDS.items():
        ours, vq = (
            artist.get((reading, "MVDFQM", "Spectrum", "yes", "")),
            artist.get((reading, "VQ", "", "no", "")),
        )
        if ours is not None and vq is not None:
            what = f"artist, {words}: MVDFQM-spectrum below VQ by a tenth"
            lines.append(target(what, [ours, vq], ours <= 0.9 * vq))
    return lines


def homology_targets():
    """Return whether many rows rank better than letters, and the best of them."""
    found = values("homology", "remote homology", "mean_ROC50")
    lines = []
    for reading, words in READING_WORDS.items():
        at = {(name, kernel, d): v for (r, name, kernel, _, d), v in found.items() if r == reading}
        pairs = [
            (-value, -at["Univariate", kernel, d])
            for (name, kernel, d), value in at.items()
            if name == ROWS and ("Univariate", kernel, d) in at
        ]
        if pairs:
            lines.append(compared(f"homology, {words}: BLOSUM rows above letters", pairs))
    best = [v for (_, name, kernel, *_), v in found.items() if (name, kernel) == (ROWS, "SSSK")]
    if best:
        lines.append(target("homology: SSSK on BLOSUM rows at least 50", best, max(best) >= 50))
    return lines


if __name__ == "__main__":
    main()

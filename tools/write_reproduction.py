"""Write the figures of two pages from the results files: no figure is typed by hand.

docs/reproduction.md has one short table per table of the paper, docs/reproduction_details.md has
everything. This script writes what stands between ``<!-- TABLE -->`` and ``<!-- end -->``. A test
asserts that the pages are what the script would write now::

    python tools/write_reproduction.py
"""

import re
from pathlib import Path

from mvdfq.reproduce.arrange import (
    METRICS,
    READING_WORDS,
    SCHEME_WORDS,
    STRICTER,
    difference,
    grouped,
    label,
    number,
    ours,
    published,
    runs,
    with_spread,
)
from mvdfq.reproduce.result import compared_values, read_json
from mvdfq.reproduce.show import Block, blocks

ROOT = Path(__file__).parents[1]
SHORT = ROOT / "docs" / "reproduction.md"
PAGE = ROOT / "docs" / "reproduction_details.md"
RESULTS = ROOT / "benchmarks" / "results" / "paper"
GENRE = ("Spectrum", "Mismatch", "SSSK")
ROWS = "MVDFQ (20 BLOSUM rows)"
HASHING, AUTHOR = "Sim. hashing", "VQ, the author's codewords"
# Protocol, reading and scheme of the orderings; tuned cells choose their scheme.
GENRE_RUNS = [
    *(("5-fold", reading, scheme) for reading in ("text", "comment") for scheme in SCHEME_WORDS),
    *((protocol, "tuned", "") for protocol in ("5-fold", *STRICTER)),
]
# The first column should have smaller errors than the second.
ORDER = [("MVDFQ", HASHING), (HASHING, "VQ"), (HASHING, AUTHOR), ("MVDFQ", "VQ"), ("MVDFQ", AUTHOR)]


def main():
    """Write both pages anew."""
    for path, make in ((PAGE, section), (SHORT, summary)):
        path.write_text(filled(path.read_text(encoding="utf-8"), make), encoding="utf-8")


def filled(page, make):
    """Return the page with the figures of the results files; `make` writes one part."""
    return re.sub(
        r"(<!-- ([\w-]+) -->\n).*?(<!-- end -->)",
        lambda match: match[1] + make(match[2]) + match[3],
        page,
        flags=re.DOTALL,
    )


def summary(name):
    """Return one table: the published figures and ours in every reading, in the paper's protocol.

    Where both multi-class schemes were run, one-vs-one is shown.
    """
    rows = [
        row
        for row in read_json(RESULTS / f"{name}.json").rows
        if row.published is not None
        and row.metric not in ("p_value", "F1_pct")
        and row.protocol not in STRICTER
        and (row.scheme != "ovr" or row.reading == "inferred")
    ]
    places = grouped(rows, lambda row: row.place)
    readings = [
        reading for reading in (*READING_WORDS, "") if any(r.reading == reading for r in rows)
    ]
    several = len({row.metric for row in rows}) > 1
    lines = [
        {"method": label(of_place[0]), "setting": of_place[0].setting}
        | ({"figure": METRICS.get(of_place[0].metric, of_place[0].metric)} if several else {})
        | {"paper": published(of_place[0])}
        | {reading or "ours": _in_reading(of_place, reading) for reading in readings}
        for of_place in places.values()
    ]
    used = [key for key in lines[0] if any(line[key] for line in lines)]
    return markdown(Block("", [{key: line[key] for key in used} for line in lines], []))


def _in_reading(rows, reading):
    """Return our figure in one reading; empty if it was not run."""
    known = [row for row in rows if row.reading == reading and row.value is not None]
    return ours(known[0]) if known else ""


def section(name):
    """Return the text below a mark."""
    if name == "targets":
        return markdown(Block("", targets(), []))
    if name == "inferred":
        return markdown(Block("", beside_print(), []))
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return "Not run.\n\n"
    return "".join(folded(block) for block in blocks(read_json(path)))


def folded(block):
    """Return a block in Markdown, folded if it is long."""
    title, text = block.heading("; "), markdown(block)
    if not block.folded:
        return f"**{title}**\n\n{text}"
    return f"<details><summary>{title}</summary>\n\n{text}</details>\n\n"


def markdown(block):
    """Return the entries of a block and the sentences below them in Markdown."""
    lines = []
    if block.rows:
        lines.append("| " + " | ".join(block.rows[0]) + " |")
        lines.append("|" + "---|" * len(block.rows[0]))
        lines += ["| " + " | ".join(map(cell, row.values())) + " |" for row in block.rows]
        lines.append("")
    if block.below:
        lines += [*(f"- {line}" for line in block.below), ""]
    return "\n".join(lines) + "\n"


def cell(value):
    """Return a value as it may stand between bars."""
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text.replace("|", "\\|").replace("<", "&lt;")


def values(table, protocol="5-fold", metric="error_pct", scheme="ovo"):
    """Return our measured rows of a table, by reading, method, kernel, manifold and setting.

    Rows without a scheme (baselines, and cells that choose the scheme) belong to every scheme.
    """
    path = RESULTS / f"{table}.json"
    rows = read_json(path).rows if path.exists() else []
    return {
        (row.reading, row.name, row.kernel, row.manifold, row.setting): row
        for row in rows
        if row.metric == metric
        and row.protocol in (protocol, "")
        and row.value is not None
        and row.scheme in (scheme, "")
    }


def target(what, numbers, holds):
    """Return an entry: the target, our figures, and whether the target is reached."""
    shown = ", ".join(f"{number:.1f}" for number in numbers)
    return {"target": what, "ours": shown, "reached": "yes" if holds else "no"}


def compared(what, pairs, rooted=()):
    """Return the entry of an ordering: in every pair the first should be below the second.

    The pairs with the manifold are also counted alone, if there are other pairs.
    """
    held, with_root = in_order([*pairs, *rooted]), in_order(rooted)
    ours = f"{sum(held)} of {len(held)}" if held else "not run"
    if with_root and len(held) > len(with_root):
        ours += f" ({sum(with_root)} of {len(with_root)} with the manifold)"
    lacking = len(pairs) + len(rooted) - len(held)
    if held and lacking:
        ours += f", {lacking} not run"
    verdict = "no" if not all(held) else "" if lacking or not held else "yes"
    return {"target": what, "ours": ours, "reached": verdict}


def in_order(pairs):
    """Return whether the first is below the second, for pairs of rows that were both run."""
    both_values = [compared_values(a, b) for a, b in pairs if None not in (a, b)]
    return [a < b for a, b in both_values]


def targets():
    """Return all targets."""
    return [*genre_targets(), *inferred_targets(), *other_targets(), *homology_targets()]


def inferred(protocol="5-fold"):
    """Return the measured rows of the genre table in the inferred reading that print has too."""
    rows = values("genre", protocol, scheme="ovr").values()
    return [row for row in rows if row.reading == "inferred" and row.published is not None]


def beside_print():
    """Return the cells of the inferred reading beside print, other schemes and protocols last."""
    others = {f"text, {words}": ("text", "5-fold", s) for s, words in SCHEME_WORDS.items()}
    others |= {f"inferred, {protocol}": ("inferred", protocol, "ovr") for protocol in STRICTER}
    by_run = {what: values("genre", run[1], scheme=run[2]) for what, run in others.items()}
    return [
        {
            "cell": label(row),
            "paper": number(row.published),
            "inferred": with_spread(row),
            "diff.": difference(row),
            "runs": runs(row),
        }
        | {what: value_at(by_run[what], others[what][0], row) for what in others}
        for row in inferred()
    ]


def value_at(rows, reading, row):
    """Return the value in another reading of the cell of a row; empty if it was not run."""
    other = rows.get((reading, row.name, row.kernel, row.manifold, row.setting))
    return "" if other is None else f"{other.value:.1f}"


def inferred_targets():
    """Return how many cells of the inferred reading come near print."""
    rows = inferred()
    gaps = {row.place[:3]: abs(row.value - row.published) for row in rows}
    if not gaps:
        return []
    gaps_of_mvdfq = {place: gap for place, gap in gaps.items() if place[0] == "MVDFQ"}
    start = f"genre, {READING_WORDS['inferred']}, 5-fold"
    lines = []
    best = gaps_of_mvdfq.get(("MVDFQ", "SSSK", "yes"))
    if best is not None:
        what = f"{start}: MVDFQM-SSSK at most 0.5 from print"
        lines.append(target(what, [best], best <= 0.5))
    for what, figure, near, wanted, n in [
        ("five of the six MVDFQ cells at most 2 from print", gaps_of_mvdfq, 2, 5, 6),
        ("ten of the 18 cells at most 3 from print", gaps, 3, 10, 18),
    ]:
        held = sum(gap <= near for gap in figure.values())
        lacking = f", {n - len(figure)} not run" if len(figure) < n else ""
        reached = "yes" if held >= wanted else "no" if held + n - len(figure) < wanted else ""
        lines.append(
            {"target": f"{start}: {what}", "ours": f"{held} of {n}{lacking}", "reached": reached}
        )
    return lines


def genre_orders(at):
    """Yield each ordering with its pairs, those without and those with the manifold."""

    def pairs(these, those, root):
        return [(at.get((*a, root)), at.get((*b, root))) for a, b in zip(these, those, strict=True)]

    for a, b in ORDER:
        columns = [(a, kernel) for kernel in GENRE], [(b, kernel) for kernel in GENRE]
        yield f"{a} below {b}", pairs(*columns, "no"), pairs(*columns, "yes")
    cells = [(name, kernel) for name in ("VQ", HASHING, "MVDFQ") for kernel in GENRE]
    yield "manifold below none", [], [(at.get((*c, "yes")), at.get((*c, "no"))) for c in cells]
    others = [("MVDFQ", "SSSK")] * 2, [("MVDFQ", kernel) for kernel in GENRE[:2]]
    yield "SSSK lowest of MVDFQ", pairs(*others, "no"), pairs(*others, "yes")


def genre_targets():
    """Return the orderings of the genre table, and its best cell.

    Plain folds in every reading and scheme; the stricter protocols with tuned settings alone.
    """
    lines = []
    for protocol, reading, scheme in GENRE_RUNS:
        figures = values("genre", protocol, scheme=scheme)
        at = {key[1:4]: row for key, row in figures.items() if key[0] == reading}
        words = ", ".join(
            filter(None, (READING_WORDS[reading], SCHEME_WORDS.get(scheme), protocol))
        )
        lines += [
            compared(f"genre, {words}: {what}", pairs, rooted)
            for what, pairs, rooted in genre_orders(at)
            if at
        ]
    for scheme, words in SCHEME_WORDS.items():
        best = values("genre", scheme=scheme).get(("text", "MVDFQ", "SSSK", "yes", ""))
        if best is not None:
            what = f"genre, settings of the text, {words}: MVDFQM-SSSK at 21.5 or below"
            lines.append(target(what, [best.value], best.value <= 21.5))
    return lines


def other_targets():
    """Return the targets of the other tables."""
    lines = []
    compare = values("genre-compare")
    for reading, words in READING_WORDS.items():
        pair = [
            compare.get((reading, "MVDFQM", "SSSK", "yes", setting))
            for setting in ("MFCC+FFT64", "MFCC")
        ]
        if None not in pair:
            over_both, alone = compared_values(*pair)
            what = f"genre, {words}: MFCC+FFT64 below MFCC alone"
            lines.append(target(what, [over_both, alone], over_both < alone))
    artist = values("artist", "group-per-class")
    for reading, words in READING_WORDS.items():
        ours, vq = (
            artist.get((reading, "MVDFQM", "Spectrum", "yes", "")),
            artist.get((reading, "VQ", "", "no", "")),
        )
        if ours is not None and vq is not None:
            what = f"artist, {words}: MVDFQM-spectrum below VQ by a tenth"
            ours, vq = compared_values(ours, vq)
            lines.append(target(what, [ours, vq], ours <= 0.9 * vq))
    return lines


def homology_targets():
    """Return whether BLOSUM rows rank better than letters, and the target of SSSK."""
    figures = values("homology", "remote homology", "mean_ROC50")
    lines = []
    for reading, words in READING_WORDS.items():
        at = {
            (name, kernel, d): v for (r, name, kernel, _, d), v in figures.items() if r == reading
        }
        pairs = [
            (at["Univariate", kernel, d], row)
            for (name, kernel, d), row in at.items()
            if name == ROWS and ("Univariate", kernel, d) in at
        ]
        if pairs:
            lines.append(compared(f"homology, {words}: BLOSUM rows above letters", pairs))
        best = at.get((ROWS, "SSSK", ""))
        if best is not None:
            what = f"homology, {words}: SSSK on BLOSUM rows at least 50"
            lines.append(target(what, [best.value], best.value >= 50))
    return lines


if __name__ == "__main__":
    main()

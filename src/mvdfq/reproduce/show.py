"""A result as blocks, which terminal, Markdown and HTML page show; and the HTML page itself."""

from collections import Counter
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any, NamedTuple

from mvdfq._utils.version import __version__
from mvdfq.pages.html import document
from mvdfq.reproduce import arrange as words
from mvdfq.reproduce.arrange import grouped, label, missing, published, runs, with_spread
from mvdfq.reproduce.published import SECONDS
from mvdfq.reproduce.result import Result, Row

# Parts of a time, in their order.
TIMED = ("learn", "encode", "count", "gram")
# Methods that are shown of all that inner validation chose.
MOST = 2
ALPHABETS = {"VQ": "VQ", "Sim. hashing": "hashing", "MVDFQ": "MVDFQ"}


class Block(NamedTuple):
    """A title, a second line of the title, entries with the same keys, and sentences below them."""

    title: str
    rows: list[dict[str, Any]]
    below: Sequence[str] = ()
    folded: bool = False  # long, and of interest to few readers
    second: str = ""
    kind: str = ""  # the name in a menu

    def heading(self, between: str) -> str:
        """Return both lines of the title."""
        return between.join(filter(None, (self.title, self.second)))


def blocks(result: Result) -> list[Block]:
    """Return a result as blocks that fit a terminal of 100 columns."""
    shown: list[Block] = []
    for reading, rows in grouped(result.rows, lambda row: row.reading).items():
        shown += _figures(result.table, rows)
        shown.append(_settings(reading, rows))
    lacking = []
    for row, where in missing(result.rows):
        metric = words.METRICS.get(row.metric, row.metric)
        place = {"method": label(row), "setting": row.setting, "metric": metric}
        lacking.append(place | {"paper": published(row), "why": row.note, "where": where})
    shown.append(Block("not measured", _without_empty(lacking), folded=True, kind="not measured"))
    shown += [*_claims(result), Block("remarks", [], result.remarks, True, kind="remarks")]
    return [block for block in shown if block.rows or block.below]


def _figures(table: str, rows: Sequence[Row]) -> list[Block]:
    if table != "genre":  # the paper has this table with kernels down and alphabets across
        groups = grouped(rows, lambda row: (row.reading, row.protocol, row.metric))
        return [_list(_title(*key), same) for key, same in groups.items()]
    # Each scheme, and each alphabet that the paper does not have, gets its own matrix.
    names = {row.name: "" if row.name in ALPHABETS else row.name for row in rows}
    groups = grouped(
        rows, lambda row: (row.reading, row.protocol, row.metric, names[row.name], row.scheme)
    )
    return [_matrix(_title(*key), same) for key, same in groups.items()]


def _title(reading: str, protocol: str, metric: str, name: str = "", scheme: str = "") -> str:
    stricter = "; the paper's figures are of plain folds" if protocol in words.STRICTER else ""
    run = words.READING_WORDS.get(reading, reading), words.SCHEME_WORDS.get(scheme)
    parts = name, *run, protocol, words.METRICS.get(metric, metric)
    return ", ".join(filter(None, parts)) + stricter


def _matrix(title: str, rows: Sequence[Row]) -> Block:
    """Return a block with kernels down and alphabets across, without and with the manifold (M)."""
    table: dict[str, dict[str, Any]] = {}
    usual = Counter(map(runs, rows)).most_common(1)[0][0]
    names = [ALPHABETS.get(name, "error") for name in dict.fromkeys(row.name for row in rows)]
    empty = dict.fromkeys([name + rooted for rooted in ("", "-M") for name in names], "")
    for row in rows:
        rooted = "-M" if words.is_rooted(row) else ""
        paper = "" if row.published is None else f" ({published(row)})"
        other_runs = "" if runs(row) == usual else f" {runs(row)}"
        line = table.setdefault(row.kernel, {"kernel": row.kernel} | empty)
        line[ALPHABETS.get(row.name, "error") + rooted] = with_spread(row) + paper + other_runs
    unless = " unless said" if any(runs(row) != usual for row in rows) else ""
    second = f"ours ± std (paper's), seeds x folds {usual}{unless}"
    return Block(title, [*table.values()], second=second)


def _list(title: str, rows: Sequence[Row]) -> Block:
    lines = [
        {
            "method": label(row),
            "setting": row.setting,
            "scheme": row.scheme,
            "paper": published(row),
            # the line of the paper's source, and its status unless the figure is printed
            "line": f"{row.line or ''}" + f" ({row.status})" * (row.status not in ("", "printed")),
            "ours": with_spread(row),
            "diff.": words.difference(row),
            "F1": "" if row.f1 is None else "/".join(f"{value:.1f}" for value in row.f1),
            "paper's F1": words.number(row.published_f1),
            "runs": runs(row),
            # the parts of the seconds; learning and encoding are not in the total
            **{k: f"{row.seconds.get(k, 0.0):.2f}" for k in TIMED if row.metric == SECONDS},
        }
        for row in rows
    ]
    return Block(title, _without_empty(lines))


def _settings(reading: str, rows: Sequence[Row]) -> Block:
    """Return the settings that were used; protocols with equal settings share an entry."""
    used: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:  # both schemes use the same settings
        used.setdefault((label(row), row.setting, *row.methods()), []).append(row)
    protocols = {row.protocol for row in rows}
    lines = []
    for (name, setting, *methods), same in used.items():
        notes = dict.fromkeys(row.note for row in same)
        cuts = dict.fromkeys(row.protocol for row in same)
        only_in = "" if len(cuts) == len(protocols) else ", ".join(cuts)
        # the most frequent methods; the files hold all of them
        others = [f"{len(methods) - MOST} more"] if len(methods) > MOST else []
        used_there = "; ".join(filter(None, [*methods[:MOST], *others, *notes]))
        lines.append({"method": name, "setting": setting, "where": only_in, "used": used_there})
    title = ", ".join(filter(None, (words.READING_WORDS.get(reading, reading), "as used")))
    return Block(title, _without_empty([line for line in lines if line["used"]]), folded=True)


def _without_empty(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return entries without the keys that are empty in all of them."""
    used = [key for key in (rows[0] if rows else []) if any(row[key] != "" for row in rows)]
    return [{key: row[key] for key in used} for row in rows]


def _claims(result: Result) -> list[Block]:
    """Return a block of claims for each measured protocol, or one block without our figures."""
    protocols = [*dict.fromkeys(each for claim in result.claims for each in claim["ours"] or {})]
    blocks = []
    for protocol in protocols or ["not measured"]:
        ours = [(claim, (claim["ours"] or {}).get(protocol, {})) for claim in result.claims]
        readings = [*dict.fromkeys(reading for _, figures in ours for reading in figures)]
        lines = [
            {"line": claim["line"], "claim": claim["says"], "stated": claim["stated"]}
            | {"its figures": f"{claim['published']:.1f}"}
            | {"as stated": "yes" if claim["agrees"] else "no"}
            | {name or "ours": f"{means[name]:.1f}" if name in means else "-" for name in readings}
            | {"in": claim["measure"]}
            for claim, means in ours
        ]
        title = ", ".join(filter(None, ("claims, from the paper's figures and ours", protocol)))
        blocks.append(Block(title, lines, folded=True, kind="claims"))
    return blocks


def page(result: Result) -> str:
    """Return a whole page of a result as HTML that needs no other file; all text is escaped."""
    shown = blocks(result)
    links = {"verdict": "Verdict"}
    for k, block in enumerate(shown):  # the menu lists what follows the figures, each kind once
        if block.kind and block.kind.capitalize() not in links.values():
            links[f"block-{k}"] = block.kind.capitalize()
    big, sentence = words.verdict(result)
    line = f'<span class="big num">{escape(big)}</span>\n' if big else ""
    facts = escape(words.fact_words(result.facts))
    facts = f'<p class="soft">{facts}</p>\n' if facts else ""
    inside = "\n".join(_block(block, f"block-{k}") for k, block in enumerate(shown))
    section = (
        '<section class="hero paper" id="verdict" tabindex="-1">\n'
        f"<h1>{escape(result.title)}</h1>\n"
        f'<div class="score">{line}<p>{escape(sentence)}</p></div>\n{facts}{inside}\n</section>'
    )
    return document(
        "Figures of the paper, and ours",
        section,
        links="".join(f'<a href="#{to}">{escape(title)}</a>' for to, title in links.items()),
        foot=f"mvdfq {escape(__version__)}. The figures of this page are in the .json and .csv "
        "files beside it.",
        style=files("mvdfq.reproduce").joinpath("section.css").read_text(encoding="utf-8"),
    )


def _block(block: Block, name: str) -> str:
    """Return a block; narrow screens show the heads of its table beside every cell."""
    title, content = escape(block.heading("; ")), ""
    if block.rows:
        heads = "".join(f"<th>{escape(str(key))}</th>" for key in block.rows[0])
        cell = '<td data-is="{}">{}</td>'
        lines = [
            "".join(cell.format(escape(str(key)), escape(str(v))) for key, v in row.items())
            for row in block.rows
        ]
        body = "".join(f"<tr>{line}</tr>\n" for line in lines)
        content = f"<table><thead><tr>{heads}</tr></thead>\n<tbody>{body}</tbody></table>\n"
    if block.below:
        items = "".join(f"<li>{escape(line)}</li>\n" for line in block.below)
        content += f"<ul>{items}</ul>\n"
    if block.folded:
        return f'<details id="{name}"><summary>{title}</summary>\n{content}</details>'
    return f"<h3>{title}</h3>\n{content}"

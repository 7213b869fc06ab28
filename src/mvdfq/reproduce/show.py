"""A result as blocks: terminal, Markdown and HTML page all show these blocks."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from mvdfq.reproduce import arrange as words
from mvdfq.reproduce.arrange import grouped, label, missing, published, runs, with_spread
from mvdfq.reproduce.published import SECONDS
from mvdfq.reproduce.result import Result, Row

# Tables that are shown as the paper has them: kernels down, alphabets across.
MATRICES = {"genre"}
# Parts of a time, in their order.
TIMED = ("learn", "encode", "count", "gram")
# Methods that are shown of all that inner validation chose.
MOST = 2
ALPHABETS = {"VQ": "VQ", "Sim. hashing": "hashing", "MVDFQ": "MVDFQ"}


class Block(NamedTuple):
    """A title, a second line of the title, entries with the same keys, and sentences below them.

    `kind` names blocks that a menu lists; such blocks and others that are `folded` are long and of
    interest to few readers. `drawn` are the rows of the result that a page draws as a picture.
    """

    title: str
    rows: list[dict[str, Any]]
    below: Sequence[str] = ()
    folded: bool = False
    drawn: Sequence[Row] = ()
    second: str = ""
    kind: str = ""

    def heading(self, between: str) -> str:
        """Return both lines of the title."""
        return between.join(filter(None, (self.title, self.second)))


def blocks(result: Result) -> list[Block]:
    """Return a result as blocks that fit a terminal of 100 columns.

    Every reading has a block for each protocol, then a block of the settings that were used. The
    places that were not measured, the claims and the remarks come last.
    """
    shown: list[Block] = []
    for reading, rows in grouped(result.rows, lambda row: row.reading).items():
        shown += _figures(result.table, rows)
        shown.append(_settings(reading, rows))
    remarks = Block("remarks", [], result.remarks, True, kind="remarks")
    more = [_missing(missing(result.rows)), *_claims(result), remarks]
    return [block for block in shown + more if block.rows or block.below]


def _figures(table: str, rows: Sequence[Row]) -> list[Block]:
    if table not in MATRICES:
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
    parts = (
        name,
        words.READING_WORDS.get(reading, reading),
        words.SCHEME_WORDS.get(scheme),
        protocol,
        words.METRICS.get(metric, metric),
    )
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
    return Block(title, [*table.values()], drawn=rows, second=second)


def _list(title: str, rows: Sequence[Row]) -> Block:
    lines = [
        {
            "method": label(row),
            "setting": row.setting,
            "scheme": row.scheme,
            "paper": published(row),
            "line": _line(row),
            "ours": with_spread(row),
            "diff.": words.difference(row),
            "F1": words.f1(row),
            "paper's F1": words.number(row.published_f1),
            "runs": runs(row),
            # the parts of the seconds; learning and encoding are not in the total
            **{k: f"{row.seconds.get(k, 0.0):.2f}" for k in TIMED if row.metric == SECONDS},
        }
        for row in rows
    ]
    return Block(title, _without_empty(lines), drawn=rows)


def _line(row: Row) -> str:
    """Return the line of a figure in the paper's source, and its status unless it is printed."""
    if row.line is None:
        return ""
    return str(row.line) if row.status == "printed" else f"{row.line} ({row.status})"


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
        where = "" if len(cuts) == len(protocols) else ", ".join(cuts)
        # the most frequent methods; the files hold all of them
        more = [f"{len(methods) - MOST} more"] if len(methods) > MOST else []
        used_there = "; ".join(filter(None, [*methods[:MOST], *more, *notes]))
        lines.append({"method": name, "setting": setting, "where": where, "used": used_there})
    title = ", ".join(filter(None, (words.READING_WORDS.get(reading, reading), "as used")))
    return Block(title, _without_empty([line for line in lines if line["used"]]), folded=True)


def _without_empty(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return entries without the keys that are empty in all of them."""
    used = [key for key in (rows[0] if rows else []) if any(row[key] != "" for row in rows)]
    return [{key: row[key] for key in used} for row in rows]


def _missing(places: Sequence[tuple[Row, str]]) -> Block:
    lines = [
        {
            "method": label(row),
            "setting": row.setting,
            "metric": words.METRICS.get(row.metric, row.metric),
            "paper": published(row),
            "why": row.note,
            "where": where,
        }
        for row, where in places
    ]
    return Block("not measured", _without_empty(lines), folded=True, kind="not measured")


def _claims(result: Result) -> list[Block]:
    """Return a block of claims for each measured protocol, or one block without our figures."""
    protocols = [*dict.fromkeys(each for claim in result.claims for each in claim["ours"] or {})]
    return [_claims_of(protocol, result) for protocol in protocols or ["not measured"]]


def _claims_of(protocol: str, result: Result) -> Block:
    ours = [(claim, (claim["ours"] or {}).get(protocol, {})) for claim in result.claims]
    readings = [*dict.fromkeys(reading for _, figures in ours for reading in figures)]
    lines = [
        {"line": claim["line"], "claim": claim["says"], "stated": claim["stated"]}
        | {"its figures": f"{claim['published']:.1f}"}
        | {"as stated": "yes" if claim["agrees"] else "no"}
        | {name or "ours": f"{figures[name]:.1f}" if name in figures else "-" for name in readings}
        | {"in": claim["measure"]}
        for claim, figures in ours
    ]
    title = ", ".join(filter(None, ("claims, from the paper's figures and ours", protocol)))
    return Block(title, lines, folded=True, kind="claims")

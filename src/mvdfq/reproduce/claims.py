"""The paper's claims, computed again from its own figures and from ours; remarks on the paper.

`claims.csv` and `remarks.csv` hold the sentences, as `published.csv` holds the figures. A claim
says that a figure improves from `before` to `after`; its `measure` is a key of `MEASURES`. A side
of a claim is a published figure, written ``line:value``; places that repeat the figure follow.
Figures between `low` and `high` agree with the claim. Some percentages of the paper are rounded and
some are cut off, so a claim in whole percent agrees within one percent.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from mvdfq.reproduce.arrange import STRICTER, is_rooted
from mvdfq.reproduce.published import TITLES, Figure, figures, stored
from mvdfq.reproduce.result import Row, compared_values

# The line of the paper's source and the published value.
Place = tuple[int | None, float | None]
MEASURES: dict[str, Callable[[float, float], float]] = {
    "less, %": lambda before, after: 100 * (before - after) / before,
    "more, %": lambda before, after: 100 * (after - before) / before,
    "points less": lambda before, after: before - after,
    "times as fast": lambda before, after: before / max(after, 1e-9),
}


@cache
def all_claims() -> list[dict[str, Any]]:
    """Return the claims of `claims.csv`; a claim without bounds agrees with every figure."""

    def side(text: str) -> list[Place]:
        parts = [part.partition(":") for part in text.split()]
        return [(int(line), float(value)) for line, _, value in parts]

    read: dict[str, Any] = {"line": int, "before": side, "after": side}
    read |= {"low": lambda text: float(text or 0), "high": lambda text: float(text or "inf")}
    return stored("claims.csv", **read)


@cache
def all_remarks() -> list[dict[str, Any]]:
    """Return the remarks of `remarks.csv`, each with a text, tables and lines of the source."""
    return stored("remarks.csv", tables=str.split, lines=str.split)


def remarks(table: str) -> list[str]:
    """Return the remarks on a table, each with the lines of the paper's source that it is about."""
    about = [each for each in all_remarks() if table in each["tables"]]
    return [
        f"{each['text']} (line{'s' * (len(each['lines']) > 1)} {', '.join(each['lines'])})"
        for each in about
    ]


def claims(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the claims about rows of a table, from the published figures and from ours.

    A row belongs to a claim by the published figure beside it: the tables of the paper name the
    same method differently. `ours` is by protocol and reading, None if a side was not measured.
    """
    known = {(row.line, row.published) for row in rows}
    judged = []
    for claim in all_claims():
        before, after = (_by_place()[claim[side][0]] for side in ("before", "after"))
        # a figure of other authors is not computed again
        is_quoted = before.setting == "literature"
        if not ({*claim["after"]} & known and (is_quoted or {*claim["before"]} & known)):
            continue
        published = MEASURES[claim["measure"]](before.value or 0, after.value or 0)
        entry = {key: claim[key] for key in ("line", "says", "stated", "measure")}
        entry |= {"from": _label(before), "to": _label(after), "published": published}
        entry |= {"agrees": claim["low"] < published < claim["high"]}
        judged.append(entry | {"ours": _ours(claim, rows, is_quoted) or None})
    return judged


def _ours(
    claim: dict[str, Any], rows: Sequence[Row], is_quoted: bool
) -> dict[str, dict[str, float]]:
    """Return the claim from our values, by protocol and reading."""
    before, after = _measured(claim["before"], rows), _measured(claim["after"], rows)
    ours: dict[str, dict[str, float]] = {}
    for (name, protocol), row in after.items():
        start = before.get((name, protocol))
        if is_quoted:
            # A method of the literature has one reading and no scheme. If the method was not run,
            # the quoted figure serves, except under a stricter protocol.
            quoted = None if protocol in STRICTER else Row("quoted", value=claim["before"][0][1])
            start = next((same for (_, cut), same in before.items() if cut == protocol), quoted)
        pair = compared_values(start, row) if start is not None else None
        if pair is not None and pair[0]:  # an error of 0 has no percentage
            ours.setdefault(protocol, {})[name] = MEASURES[claim["measure"]](*pair)
    return ours


def _measured(side: list[Place], rows: Sequence[Row]) -> dict[tuple[str, str], Row]:
    """Return our rows of a figure, by reading and protocol; one-vs-rest is named, too."""
    return {
        (f"{row.reading} ovr" if row.scheme == "ovr" else row.reading, row.protocol): row
        for row in rows
        if (row.line, row.published) in side and row.value is not None
    }


@cache
def _by_place() -> dict[Place, Figure]:
    return {(each.line, each.value): each for table in TITLES for each in figures(table)}


def _label(figure: Figure) -> str:
    rooted = "manifold" if is_rooted(figure) else ""
    parts = (figure.name, figure.kernel, rooted, f"{figure.text} in line {figure.line}")
    return ", ".join(part for part in parts if part)

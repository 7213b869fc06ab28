"""What the paper claims in percent, computed again from its own figures and from ours."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from mvdfq.reproduce.arrange import STRICTER, is_rooted
from mvdfq.reproduce.published import TITLES, Figure, figures
from mvdfq.reproduce.result import Row, compared_values

__all__ = ["CLAIMS", "Claim", "Side", "claims"]

LITERATURE = "literature"


class Side(NamedTuple):
    """A figure of the paper, by its line and value; `also` are places that repeat it."""

    line: int
    value: float
    also: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper: that something improves from one figure to another.

    `stated` is what it says; figures from `low` to `high` agree with it. `measure` is a name out
    of `MEASURES`.
    """

    line: int
    says: str
    stated: str
    before: Side
    after: Side
    low: float = 0.0
    high: float = float("inf")
    measure: str = "less, %"


MEASURES: dict[str, Callable[[float, float], float]] = {
    "less, %": lambda before, after: 100 * (before - after) / before,
    "more, %": lambda before, after: 100 * (after - before) / before,
    "points less": lambda before, after: before - after,
    "times as fast": lambda before, after: before / max(after, 1e-9),
}

VQ_SSSK, HASH_SSSK, MVDFQ_SSSK = Side(649, 31.1), Side(649, 25.9), Side(649, 22.6)
VQM_SSSK, HASHM_SSSK = Side(649, 25.0), Side(649, 23.0)
HERE, THERE = (649, 17.3), (794, 17.3)
MVDFQM_SSSK, MVDFQM_BOTH = Side(*HERE, (THERE,)), Side(795, 13.6)
UNIFORM, KMEANS = Side(872, 17.2, (HERE, THERE)), Side(872, 16.9)
ONE_ROW, DRAFT = Side(908, 22.0, ((834, 22.0),)), Side(837, 12.3, (HERE, THERE))
ARTISTS = Side(970, 42.97), Side(973, 25.67)
ISMIR_ROOTED = Side(923, 19.62), Side(925, 16.74)


def _over_vq(what: str, before: Side, after: Side, measure: str = "less, %") -> Claim:
    says = f"Better than univariate: {what}."
    return Claim(102, says, "25-40 %", before, after, 24.5, measure=measure)


def _over_others(what: str, before: Side, after: Side, measure: str = "less, %") -> Claim:
    says = f"Better than others: {what}."
    return Claim(246, says, "25-40 %", before, after, 24.5, measure=measure)


def _rooted(what: str, line: int, before: float, after: float) -> Claim:
    says = f"The manifold helps: {what}."
    return Claim(875, says, "better", Side(line, before), Side(line, after))


def _percent(
    line: int, says: str, stated: float, before: Side, after: Side, measure: str = "less, %"
) -> Claim:
    """Return a claim in whole percent: some are rounded and some are cut off."""
    low, high = stated - 1, stated + 1
    return Claim(line, says, f"{stated:g} %", before, after, low, high, measure)


def _points(line: int, says: str, stated: float, before: Side, after: Side) -> Claim:
    low, high = stated - 0.05, stated + 0.05
    return Claim(line, says, f"{stated:g} points", before, after, low, high, "points less")


def _faster(what: str, before: Side, after: Side) -> Claim:
    says = f"MVDFQ is faster: {what}."
    return Claim(1096, says, "better", before, after, 1.0, measure="times as fast")


CLAIMS = (
    # lines 102, 246, 465 and 1131 say the same; which cells are meant is left to the reader
    _over_vq("genre, spectrum", Side(647, 34.5), Side(647, 28.5)),
    _over_vq("genre, mismatch", Side(648, 32.6), Side(648, 24.7)),
    _over_vq("genre, SSSK", VQ_SSSK, MVDFQ_SSSK),
    _over_vq("genre, spectrum, manifold", Side(647, 26.9), Side(647, 23.0)),
    _over_vq("genre, mismatch, manifold", Side(648, 31.2), Side(648, 20.3)),
    _over_vq("genre, SSSK, manifold", VQM_SSSK, MVDFQM_SSSK),
    _over_vq("ISMIR", Side(923, 24.15), Side(925, 19.89)),
    _over_vq("ISMIR, manifold", *ISMIR_ROOTED),
    _over_vq("artists", *ARTISTS),
    _over_vq("proteins, SSSK", Side(1064, 50.12), Side(1064, 55.54), "more, %"),
    _over_others("genre, AdaBoost", Side(789, 17.5), Side(*THERE)),
    _over_others("genre, AdaBoost, FFT64 added", Side(789, 17.5), MVDFQM_BOTH),
    _over_others("genre, MAR", Side(788, 21.7), Side(*THERE)),
    _over_others("ISMIR, NMF", Side(949, 16.5), Side(950, 16.74)),
    _over_others("ISMIR, NMF, FFT64 added", Side(949, 16.5), Side(951, 16.19)),
    _over_others("artists, GMM", Side(969, 44.0), ARTISTS[1]),
    _over_others("proteins, Mismatch-RBF", Side(1067, 43.6), Side(1064, 55.54), "more, %"),
    _percent(867, "MVDFQ-SSSK against VQ.", 27, VQ_SSSK, MVDFQ_SSSK),
    _percent(867, "MVDFQ-SSSK against hashing.", 13, HASH_SSSK, MVDFQ_SSSK),
    _points(871, "Bins by k-means are a little better: SSSK.", 0.3, UNIFORM, KMEANS),
    _rooted("VQ, spectrum", 647, 34.5, 26.9),
    _rooted("hashing, spectrum", 647, 29.2, 24.7),
    _rooted("MVDFQ, spectrum", 647, 28.5, 23.0),
    _rooted("VQ, mismatch", 648, 32.6, 31.2),
    _rooted("hashing, mismatch", 648, 29.7, 23.4),
    _rooted("MVDFQ, mismatch", 648, 24.7, 20.3),
    _rooted("VQ, SSSK", 649, 31.1, 25.0),
    _rooted("hashing, SSSK", 649, 25.9, 23.0),
    _rooted("MVDFQ, SSSK", 649, 22.6, 17.3),
    _percent(882, "MVDFQM-SSSK against hashing.", 24, HASHM_SSSK, MVDFQM_SSSK),
    _percent(882, "MVDFQM-SSSK against VQ.", 30, VQM_SSSK, MVDFQM_SSSK),
    Claim(896, "MVDFQM beats several codebooks.", "better", Side(786, 29.6), Side(*THERE)),
    _percent(898, "A draft, in a comment: MVDFQM against VQ.", 50, VQM_SSSK, DRAFT),
    _points(902, "64 rows of FFT help (82.7 to 86.4 right).", 3.7, Side(*THERE), MVDFQM_BOTH),
    _points(908, "Many rows beat one symbol a frame (22 to 17.3).", 4.7, ONE_ROW, MVDFQM_SSSK),
    _points(983, "ISMIR: 16.7 against 19.6 by VQ.", 2.9, *ISMIR_ROOTED),
    _percent(1006, "Artists: 25.7 against 42.9 by VQ.", 40, *ARTISTS),
    _percent(1033, "Proteins, spectrum.", 50, Side(1062, 27.91), Side(1062, 43.29), "more, %"),
    _percent(1033, "Proteins, mismatch.", 17, Side(1063, 41.92), Side(1063, 49.17), "more, %"),
    _faster("VQ, 2048 codewords, mismatch", Side(1110, 28.0), Side(1116, 10.4)),
    _faster("hashing, 32 bits", Side(1113, 61.0), Side(1116, 10.4)),
)


def claims(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the claims about lines of a table, computed from the published figures and ours.

    Parameters
    ----------
    rows : sequence of Row
        Lines of a table; each is known by the published figure beside it.

    Returns
    -------
    claims : list of dict
        What is said and where, what is stated, the same from the published figures and whether
        that agrees; `ours` by protocol and reading, None where one of the two was not measured.
        Methods of the literature that were not run stand there with the figure quoted.

    Examples
    --------
    >>> from mvdfq.reproduce.claims import claims
    >>> from mvdfq.reproduce.result import Row
    >>> seen = dict(metric="mean_ROC50", line=1062, protocol="homology", reading="text")
    >>> rows = [Row("Univariate", published=27.91, value=30.0, **seen),
    ...         Row("MVDFQ", published=43.29, value=45.0, **seen)]
    >>> (claim,) = claims(rows)
    >>> claim["stated"], round(claim["published"], 1), claim["agrees"], claim["ours"]
    ('50 %', 55.1, False, {'homology': {'text': 50.0}})
    """
    known = {(row.line, row.published) for row in rows}
    return [_worked_out(claim, rows) for claim in CLAIMS if _bears_on(claim, known)]


def _bears_on(claim: Claim, known: set[tuple[int | None, float | None]]) -> bool:
    """Return whether both figures are known; of the literature the quoted one is enough."""
    is_quoted = _figure(claim.before).setting == LITERATURE
    return bool(_places(claim.after) & known and (is_quoted or _places(claim.before) & known))


def _places(side: Side) -> set[tuple[int | None, float | None]]:
    return {(side.line, side.value), *side.also}


def _worked_out(claim: Claim, rows: Sequence[Row]) -> dict[str, Any]:
    published = MEASURES[claim.measure](claim.before.value, claim.after.value)
    return {
        "line": claim.line,
        "says": claim.says,
        "stated": claim.stated,
        "measure": claim.measure,
        "from": _label(_figure(claim.before)),
        "to": _label(_figure(claim.after)),
        "published": published,
        "agrees": claim.low < published < claim.high,
        "ours": _ours(claim, rows) or None,
    }


def _ours(claim: Claim, rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Return the claim from our values, by protocol and reading."""
    before, after = _measured(claim.before, rows), _measured(claim.after, rows)
    if _figure(claim.before).setting == LITERATURE:
        found = {run: _other_method(claim, before, run[1]) for run in after}
        before = {run: row for run, row in found.items() if row is not None}
    ours: dict[str, dict[str, float]] = {}
    for reading, protocol in after:
        start = before.get((reading, protocol))
        pair = compared_values(start, after[reading, protocol]) if start is not None else None
        if pair is not None and pair[0]:  # of an error of 0 there is no percentage
            ours.setdefault(protocol, {})[reading] = MEASURES[claim.measure](*pair)
    return ours


def _measured(side: Side, rows: Sequence[Row]) -> dict[tuple[str, str], Row]:
    """Return our lines of a figure, by reading and protocol."""
    return {
        (row.reading, row.protocol): row
        for row in rows
        if (row.line, row.published) in _places(side) and row.value is not None
    }


def _other_method(claim: Claim, measured: dict[tuple[str, str], Row], protocol: str) -> Row | None:
    """Return our line of a method of the literature, which has one reading.

    Without one the quoted figure serves, but not where the data are cut more strictly.
    """
    mine = [row for (_, each), row in measured.items() if each == protocol]
    quoted = None if protocol in STRICTER else Row("quoted", value=claim.before.value)
    return mine[0] if mine else quoted


def _figure(side: Side) -> Figure:
    return _by_place()[side.line, side.value]


@cache
def _by_place() -> dict[tuple[int, float | None], Figure]:
    return {(figure.line, figure.value): figure for table in TITLES for figure in figures(table)}


def _label(figure: Figure) -> str:
    rooted = "manifold" if is_rooted(figure) else ""
    parts = (figure.name, figure.kernel, rooted, f"{figure.text} in line {figure.line}")
    return ", ".join(part for part in parts if part)

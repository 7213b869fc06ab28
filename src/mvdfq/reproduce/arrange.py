"""The words for the rows of a result: the same in a terminal, in Markdown and on a page."""

from collections.abc import Callable, Iterable
from statistics import median
from typing import Any

from mvdfq.reproduce.cells import WORDS
from mvdfq.reproduce.published import SECONDS, Figure
from mvdfq.reproduce.result import Result, Row

READING_WORDS, SCHEME_WORDS, METRICS = (WORDS[key] for key in ("readings", "schemes", "metrics"))
# Protocols that the paper does not have: its figures are of plain folds.
STRICTER = ("artist-disjoint", "fault-filtered")
COUNTS = ("n_sequences", "n_classes")
# Percentage points: about the standard deviation of the error over the folds of GTZAN.
NEAR = 2.0


def label(row: Row) -> str:
    """Return the method with its kernel, in the words of the paper."""
    rooted = "manifold" if is_rooted(row) else ""
    name = row.name.casefold()
    parts = [part for part in (row.kernel, rooted) if part and part.casefold() not in name]
    return ", ".join([row.name, *parts])


def is_rooted(row: Row | Figure) -> bool:
    """Return whether the manifold embedding is used; some figures say more than "yes"."""
    return row.manifold.startswith("yes")


def number(value: float | None) -> str:
    """Return a figure with as many digits as the paper gives; None is empty."""
    if value is None:
        return ""
    if value == int(value) and abs(value) >= 100:
        return f"{value:.0f}"
    if 0 < abs(value) < 0.1:
        return f"{value:.2g}"
    return f"{value:.1f}" if round(value, 1) == round(value, 4) else f"{value:.2f}"


def published(row: Row) -> str:
    """Return the figure of the paper."""
    is_count = row.published is not None and row.metric in COUNTS
    return f"{row.published:.0f}" if is_count else number(row.published)


def ours(row: Row) -> str:
    """Return our figure."""
    if row.value is None:
        return "-"
    if row.metric in COUNTS:
        return f"{row.value:.0f}"
    is_fine = 0 < row.value < 0.1 or row.metric == "p_value"
    return f"{row.value:.2g}" if is_fine else f"{row.value:.1f}"


def with_spread(row: Row) -> str:
    """Return our figure; several folds add its standard deviation."""
    has_spread = row.std is not None and row.n_seeds * row.n_folds > 1
    is_percent = row.value is not None and row.metric not in COUNTS
    return f"{ours(row)} ± {row.std:.1f}" if has_spread and is_percent else ours(row)


def difference(row: Row) -> str:
    """Return our figure minus the published figure; for seconds, our share of the published."""
    if row.value is None or row.published is None or row.metric in ("p_value", *COUNTS):
        return ""
    if row.metric == SECONDS:
        return f"x {row.value / row.published:.2g}"
    return f"{round(row.value - row.published, 1) + 0.0:+.1f}"  # no -0.0


def runs(row: Row) -> str:
    """Return the numbers of seeds and folds of our figure, such as "5x5"."""
    return f"{row.n_seeds}x{row.n_folds}" if row.n_seeds * row.n_folds else ""


def fact_words(facts: dict[str, Any]) -> str:
    """Return in words what was used: data, versions, processor."""
    flat = {
        key: " ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value
        for key, value in facts.items()
    }
    return " · ".join(f"{key}: {value}" for key, value in flat.items())


def grouped(
    rows: Iterable[Row], key: Callable[[Row], Any], measured: bool = True
) -> dict[Any, list[Row]]:
    """Return the rows that were measured, or those that were not, by a key, in their order."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        if measured == (row.value is not None):
            groups.setdefault(key(row), []).append(row)
    return groups


def missing(rows: Iterable[Row]) -> list[tuple[Row, str]]:
    """Return every place that was not measured, and in which readings and protocols."""
    rows = [*rows]
    n_protocols = len({row.protocol for row in rows if row.protocol})
    places = []
    for same in grouped(rows, lambda row: (row.place, row.note), measured=False).values():
        lacking: dict[str, list[str]] = {}
        for row in same:
            lacking.setdefault(row.reading, []).extend([row.protocol] if row.protocol else [])
        # "text artist-disjoint; tuned": text lacks one protocol, tuned lacks all
        where = [
            name if len(cuts) == n_protocols else f"{name} {', '.join(cuts)}"
            for name, cuts in lacking.items()
            if cuts
        ]
        places.append((same[0], "; ".join(where)))
    return places


def verdict(result: Result) -> tuple[str, str]:
    """Return the verdict in large letters, and a sentence: how near our figures are.

    Figures in percent are compared in points, in the reading that comes nearest, in the plain folds
    of the paper. Times are compared by their ratio, counts must be equal.
    """
    known = [
        (row, row.value, row.published)
        for row in result.rows
        if row.value is not None and row.published is not None
    ]
    if times := [value / paper for row, value, paper in known if row.metric == SECONDS]:
        words = "is our time as a multiple of the paper's, the median of all rows."
        return f"x {median(times):.2g}", words
    percents = [each for each in known if each[0].metric not in ("p_value", *COUNTS)]
    if not percents:
        counts = [value == paper for row, value, paper in known if row.metric in COUNTS]
        if counts:
            return f"{sum(counts)} of {len(counts)}", "counts are equal to the counts of the paper."
        return "", "None of the figures of this table was computed."
    gains: dict[Any, float] = {}
    for row, value, paper in [e for e in percents if e[0].protocol not in STRICTER] or percents:
        # Points by which our figure is better, rounded as the figures are shown.
        gain = round(value - paper, 1) * (-1 if row.metric == "error_pct" else 1)
        gains[row.place] = min(gains.get(row.place, gain), gain, key=abs)
    near = sum(abs(gain) <= NEAR for gain in gains.values())
    better, worse = (sum(sign * gain > NEAR for gain in gains.values()) for sign in (1, -1))
    return f"{near} of {len(gains)}", (
        f"figures of the paper lie within {NEAR:.0f} points of ours, in the reading of the paper "
        f"that comes nearest. Of the other figures, ours are better {better} times and worse "
        f"{worse} times."
    )

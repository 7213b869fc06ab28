"""The verdict on a table of the paper in one line: how near our figures are."""

from collections.abc import Sequence
from statistics import median

from mvdfq.reproduce.arrange import COUNTS, STRICTER, grouped
from mvdfq.reproduce.published import SECONDS
from mvdfq.reproduce.result import Result, Row

__all__ = ["NEAR", "verdict"]

# Percentage points: about the standard deviation of the error over the folds of GTZAN.
NEAR = 2.0
# Figures of which a lower one is better.
LOWER_IS_BETTER = "error_pct"


def verdict(result: Result) -> tuple[str, str]:
    """Return the verdict in large letters, and a sentence.

    Figures in percent are compared in points. Times are compared by their ratio, counts must be
    equal.
    """
    both = [row for row in result.rows if None not in (row.value, row.published)]
    if times := [row for row in both if row.metric == SECONDS]:
        ratio = median(_ours(row) / _paper(row) for row in times)
        return f"x {ratio:.2g}", "is our time as a multiple of the paper's, the median of all rows."
    if percents := [row for row in both if row.metric not in ("p_value", *COUNTS)]:
        return _points(percents)
    if counts := [row for row in both if row.metric in COUNTS]:
        equal = sum(_ours(row) == _paper(row) for row in counts)
        return f"{equal} of {len(counts)}", "counts are equal to the counts of the paper."
    return "", "None of the figures of this table was computed."


def _points(rows: Sequence[Row]) -> tuple[str, str]:
    """Return how many figures of the paper ours come near, in the reading that comes nearest.

    Stricter protocols do not count: the figures of the paper are of plain folds.
    """
    same = [row for row in rows if row.protocol not in STRICTER] or rows
    gains = [
        min(map(_gain, mine), key=abs) for mine in grouped(same, lambda row: row.place).values()
    ]
    near = sum(abs(gain) <= NEAR for gain in gains)
    better, worse = sum(gain > NEAR for gain in gains), sum(gain < -NEAR for gain in gains)
    return f"{near} of {len(gains)}", (
        f"figures of the paper lie within {NEAR:.0f} points of ours, in the reading of the paper "
        f"that comes nearest. Of the other figures, ours are better {better} times and worse "
        f"{worse} times."
    )


def _gain(row: Row) -> float:
    """Return by how many points our figure is better, rounded as the figures are shown."""
    return round(_ours(row) - _paper(row), 1) * (-1 if row.metric == LOWER_IS_BETTER else 1)


def _ours(row: Row) -> float:
    assert row.value is not None
    return row.value


def _paper(row: Row) -> float:
    assert row.published is not None
    return row.published

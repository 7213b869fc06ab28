"""The result of a table: its rows, each with the published figure and ours."""

from dataclasses import asdict, dataclass, field
from math import fsum
from typing import Any

__all__ = ["NOT_YET", "Result", "Row", "compared_values"]

# The note of a row that could be computed and was not.
NOT_YET = "not run yet"


@dataclass(frozen=True)
class Row:
    """One row of a result: a figure of the paper, our figure, and how ours was computed.

    `scheme` is the multi-class scheme: "ovo" or "ovr"; it is empty for other classifiers and
    where inner validation chooses the scheme. `line` is the line of the paper's source. `value` is
    the mean over the seeds and `std` the standard deviation over all folds; both are None if
    nothing was run, and `note` says why. `by_seed` is the value of every seed. `f1` is F1 by two
    definitions: the mean of the classes' F1, and the harmonic mean of mean precision and mean
    recall.
    """

    name: str
    kernel: str = ""
    manifold: str = ""
    setting: str = ""
    reading: str = ""
    scheme: str = ""
    protocol: str = ""
    metric: str = "error_pct"
    published: float | None = None
    status: str = ""
    line: int | None = None
    value: float | None = None
    std: float | None = None
    f1: tuple[float, float] | None = None
    published_f1: float | None = None
    n_seeds: int = 0
    n_folds: int = 0
    by_seed: dict[str, float] = field(default_factory=dict)
    method: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def place(self) -> tuple[str, ...]:
        """The cell of the table that this row is about, in any reading and protocol."""
        return self.name, self.kernel, self.manifold, self.setting, self.metric


def compared_values(a: Row, b: Row) -> tuple[float, float] | None:
    """Return the values of two rows for a comparison: means over the seeds that both rows have.

    Slow cells have fewer seeds than other cells, and every seed has its own folds.
    """
    if a.value is None or b.value is None:
        return None
    seeds = [seed for seed in a.by_seed if seed in b.by_seed]
    if not seeds:
        return a.value, b.value
    # fsum: the sum of Python 3.12 rounds in another way than the sum of Python 3.11.
    mean_a, mean_b = (fsum(row.by_seed[s] for s in seeds) / len(seeds) for row in (a, b))
    return mean_a, mean_b


@dataclass(frozen=True)
class Result:
    """A computed table: its rows, remarks on the paper, and the paper's claims.

    `remarks` are contradictions in the paper about this table. `claims` are the paper's sentences
    about improvements, computed again from the published figures and from ours. `facts` tell what
    was used: data, versions, threads.
    """

    table: str
    title: str
    rows: list[Row]
    remarks: list[str] = field(default_factory=list)
    claims: list[dict[str, Any]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and text, ready for JSON."""
        return asdict(self)

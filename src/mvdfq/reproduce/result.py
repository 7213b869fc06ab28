"""A table as it came out: our figures beside the published ones."""

from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["Result", "Row", "compared_values"]


@dataclass(frozen=True)
class Row:
    """One line: a figure of the paper, ours, and how ours came about.

    `value` is the mean over the seeds and `std` the standard deviation over all folds; both are
    None where nothing was run, and `note` says why. `by_seed` is the value of every seed. `f1`
    are both readings of it: the mean of the classes' F1, and that of mean precision and mean
    recall.
    """

    name: str
    kernel: str = ""
    manifold: str = ""
    setting: str = ""
    reading: str = ""
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


def compared_values(a: Row, b: Row) -> tuple[float, float] | None:
    """Return two measured values to be compared: means over the seeds that both have.

    Slow cells have fewer seeds than others, and other seeds are other folds.

    Examples
    --------
    >>> from mvdfq.reproduce.result import Row, compared_values
    >>> many = Row("a", value=21.0, by_seed={"0": 20.0, "1": 22.0})
    >>> compared_values(many, Row("b", value=25.0, by_seed={"0": 25.0}))
    (20.0, 25.0)
    """
    if a.value is None or b.value is None:
        return None
    seeds = [seed for seed in a.by_seed if seed in b.by_seed]
    if not seeds:
        return a.value, b.value
    mean_a, mean_b = (sum(row.by_seed[s] for s in seeds) / len(seeds) for row in (a, b))
    return mean_a, mean_b


@dataclass(frozen=True)
class Result:
    """A table: its lines, what the paper says twice, and its claims in percent.

    `remarks` are the contradictions of the paper that bear on it, `claims` its sentences in
    percent with the same figure computed from the published and from our values, `facts` what
    was used: data, versions, threads.
    """

    table: str
    title: str
    rows: list[Row]
    remarks: list[str] = field(default_factory=list)
    claims: list[dict[str, Any]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and text, ready for JSON.

        Returns
        -------
        result : dict
            Title, rows, remarks, claims and facts.
        """
        return asdict(self)

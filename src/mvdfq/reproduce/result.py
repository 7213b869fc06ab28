"""A table as it came out: our figures beside the published ones."""

from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["Result", "Row"]


@dataclass(frozen=True)
class Row:
    """One line: a figure of the paper, ours, and how ours came about.

    `value` is the mean over the seeds and `std` the standard deviation over all folds; both are
    None where nothing was run, and `note` says why. `f1` are both readings of it: the mean of
    the classes' F1, and that of mean precision and mean recall.
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
    method: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    note: str = ""


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

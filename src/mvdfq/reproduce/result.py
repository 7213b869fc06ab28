"""The result of a table: its rows, each with the published figure and ours, as CSV and JSON."""

import csv
import json
from dataclasses import asdict, dataclass, field
from io import StringIO
from math import fsum
from pathlib import Path
from typing import Any

from mvdfq._utils.files import replace_file

# The note of a row that could be computed and was not.
NOT_YET = "not run yet"
# F1 by two definitions.
F1_NAMES = "f1_mean_of_classes", "f1_of_mean_precision_and_recall"


@dataclass(frozen=True)
class Row:
    """One row of a result: a figure of the paper, our figure, and how ours was computed."""

    name: str
    kernel: str = ""
    manifold: str = ""
    setting: str = ""
    reading: str = ""
    scheme: str = ""  # empty for other classifiers, and where inner validation chooses the scheme
    protocol: str = ""
    metric: str = "error_pct"
    published: float | None = None
    status: str = ""
    line: int | None = None  # of the paper's source
    value: float | None = None  # mean over the seeds; None if nothing was run, `note` says why
    std: float | None = None  # standard deviation over all folds
    f1: tuple[float, float] | None = None  # by the definitions of `F1_NAMES`
    published_f1: float | None = None
    n_seeds: int = 0
    n_folds: int = 0
    by_seed: dict[str, float] = field(default_factory=dict)
    method: dict[str, int] = field(default_factory=dict)  # numbers of folds, the largest first
    seconds: dict[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def place(self) -> tuple[str, ...]:
        """The cell of the table that this row is about, in any reading and protocol."""
        return self.name, self.kernel, self.manifold, self.setting, self.metric

    def methods(self, scheme: str = "") -> list[str]:
        """Return the methods that were used, in words; how often, if there are several."""
        ends = f", {scheme}" if scheme else ""
        several = len(self.method) > 1
        return [f"{n} x {label}{ends}" if several else label + ends
                for label, n in self.method.items()]  # fmt: skip


def compared_values(a: Row, b: Row) -> tuple[float, float] | None:
    """Return the values of two rows for a comparison: means over the seeds that both rows have."""
    seeds = [seed for seed in a.by_seed if seed in b.by_seed]
    if a.value is None or b.value is None:
        return None
    if not seeds:
        return a.value, b.value
    # fsum: the sum of Python 3.12 rounds in another way than the sum of Python 3.11.
    mean_a, mean_b = (fsum(row.by_seed[s] for s in seeds) / len(seeds) for row in (a, b))
    return mean_a, mean_b


@dataclass(frozen=True)
class Result:
    """A computed table: rows, contradictions in the paper, its claims, and what was used."""

    table: str
    title: str
    rows: list[Row]
    remarks: list[str] = field(default_factory=list)
    claims: list[dict[str, Any]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and text, ready for JSON; methods also in words."""
        plain = asdict(self)
        for entry, row in zip(plain["rows"], self.rows, strict=True):
            entry["used"], entry["method"] = row.method, "; ".join(row.methods(row.scheme))
        return plain


def csv_rows(result: Result) -> list[dict[str, Any]]:
    """Return the rows of a result with the same plain columns; unknown values are empty."""
    parts = sorted({part for row in result.rows for part in row.seconds})
    rows = []
    for plain in result.to_dict()["rows"]:
        seconds, f1 = plain.pop("seconds"), plain.pop("f1") or (None, None)
        plain["by_seed"] = " ".join(f"{value:.2f}" for value in plain["by_seed"].values())
        del plain["used"]
        plain |= dict(zip(F1_NAMES, f1, strict=True))
        plain |= {f"seconds_{part}": seconds.get(part) for part in parts}
        # None and NaN are not known
        rows.append({k: "" if v is None or v != v else v for k, v in plain.items()})
    return rows


def write_csv(result: Result, path: str | Path) -> None:
    """Write the rows of a result as CSV."""
    rows, file = csv_rows(result), StringIO()
    writer = csv.DictWriter(file, [*rows[0]] if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    replace_file(Path(path), file.getvalue())


def write_json(result: Result, path: str | Path) -> None:
    """Write rows, remarks, claims and facts of a result as JSON."""
    text = json.dumps(result.to_dict(), indent=1, default=str, allow_nan=False)
    replace_file(Path(path), text + "\n")


def read_json(path: str | Path) -> Result:
    """Read a result that `write_json` wrote."""
    plain = json.loads(Path(path).read_text(encoding="utf-8"))
    for row in plain["rows"]:
        row["method"], row["f1"] = row.pop("used"), row["f1"] and tuple(row["f1"])
    return Result(rows=[Row(**row) for row in plain.pop("rows")], **plain)

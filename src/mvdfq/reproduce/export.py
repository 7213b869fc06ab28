"""A result as files for programs: CSV and JSON."""

import csv
import json
import math
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

from mvdfq._utils.files import replace_file
from mvdfq.reproduce.claims import claims
from mvdfq.reproduce.result import Result, Row

__all__ = ["csv_rows", "merged", "read_json", "write_csv", "write_json"]

# F1 by two definitions.
F1_NAMES = "f1_mean_of_classes", "f1_of_mean_precision_and_recall"


def csv_rows(result: Result) -> list[dict[str, Any]]:
    """Return the rows of a result with one plain value per column; unknown values are empty.

    All rows have the same keys, and every part of the seconds has a column.
    """
    parts = sorted({part for row in result.rows for part in row.seconds})
    rows = []
    for plain in result.to_dict()["rows"]:
        seconds, both = plain.pop("seconds"), plain.pop("f1") or (None, None)
        plain["by_seed"] = " ".join(f"{value:.2f}" for value in plain["by_seed"].values())
        plain |= dict(zip(F1_NAMES, both, strict=True))
        plain |= {f"seconds_{part}": seconds.get(part) for part in parts}
        rows.append({key: "" if _unknown(value) else value for key, value in plain.items()})
    return rows


def write_csv(result: Result, path: str | Path) -> None:
    """Write the rows of a result as CSV."""
    rows = csv_rows(result)
    file = StringIO()
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
    rows = [Row(**{**row, "f1": row["f1"] and tuple(row["f1"])}) for row in plain.pop("rows")]
    return Result(rows=rows, **plain)


def merged(old: Result, new: Result) -> Result:
    """Return two results of a table as one: a later run may have computed a part of the cells.

    Of two measured rows the new row is taken, unless the old row has more seeds. A row without a
    value stays only while nothing was measured in its place, reading and protocol. Rows keep the
    order of the old result; further rows follow the rows of their place.
    """
    best = {_key(row): row for row in old.rows if row.value is not None}
    for row in new.rows:
        if row.value is not None and row.n_seeds >= best.get(_key(row), row).n_seeds:
            best[_key(row)] = row
    rows: list[Row] = []
    for spot in dict.fromkeys(_key(row)[:-1] for row in [*old.rows, *new.rows]):
        here = [row for key, row in best.items() if key[:-1] == spot]
        rows += here or [r for r in [*new.rows, *old.rows] if _key(r)[:-1] == spot][:1]
    return replace(new, rows=rows, claims=claims(rows))


def _key(row: Row) -> tuple[str, ...]:
    """Return what tells a row from all other rows of its table; the scheme comes last."""
    return *row.place, row.reading, row.protocol, row.scheme


def _unknown(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))

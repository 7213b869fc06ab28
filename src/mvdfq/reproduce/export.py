"""A result as files for machines: CSV and JSON."""

import csv
import json
import math
from pathlib import Path
from typing import Any

from mvdfq.reproduce.result import Result, Row

__all__ = ["csv_rows", "read_json", "write_csv", "write_json"]

F1_NAMES = "f1_mean_of_classes", "f1_of_mean_precision_and_recall"


def csv_rows(result: Result) -> list[dict[str, Any]]:
    """Return the lines of a result with one plain value a column, empty where there is none.

    Parameters
    ----------
    result : Result
        What came out.

    Returns
    -------
    rows : list of dict
        All with the same keys; the seconds of every part of the work have a column.
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
    """Write the lines of a result as a table.

    Parameters
    ----------
    result : Result
        What came out.

    path : str or Path
        The file.
    """
    rows = csv_rows(result)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*rows[0]] if rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_json(result: Result, path: str | Path) -> None:
    """Write everything: lines, remarks, claims and facts.

    Parameters
    ----------
    result : Result
        What came out.

    path : str or Path
        The file.
    """
    text = json.dumps(result.to_dict(), indent=1, default=str, allow_nan=False)
    Path(path).write_text(text + "\n", encoding="utf-8")


def read_json(path: str | Path) -> Result:
    """Read what `write_json` wrote.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    result : Result
        What came out, as it was.
    """
    plain = json.loads(Path(path).read_text(encoding="utf-8"))
    rows = [Row(**{**row, "f1": row["f1"] and tuple(row["f1"])}) for row in plain.pop("rows")]
    return Result(rows=rows, **plain)


def _unknown(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))

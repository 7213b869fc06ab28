"""The numbers of a report as files for programs: JSON and CSV."""

import csv
import json
from pathlib import Path
from typing import Any

__all__ = ["write_csv", "write_json"]


def write_json(data: dict[str, Any], path: Path) -> None:
    """Write all numbers of a report."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    path.write_text(text + "\n", encoding="utf-8")


def write_csv(data: dict[str, Any], path: Path) -> None:
    """Write one line per judged sequence."""
    columns, classes = data["sequences"], data["classes"]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*columns, "correct"])
        for line in zip(*columns.values(), strict=True):
            row = dict(zip(columns, line, strict=True))
            correct = row["truth"] == row["predicted"]
            row["truth"], row["predicted"] = classes[row["truth"]], classes[row["predicted"]]
            writer.writerow([*row.values(), int(correct)])

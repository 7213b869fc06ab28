"""The numbers of a report as files for programs: JSON and CSV."""

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

from mvdfq._utils.files import replace_file
from mvdfq._utils.markup import csv_cell

__all__ = ["write_csv", "write_json"]


def write_json(data: dict[str, Any], path: Path) -> None:
    """Write all numbers of a report."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    replace_file(path, (text + "\n").encode())


def write_csv(data: dict[str, Any], path: Path) -> None:
    """Write one line per judged sequence."""
    columns, classes = data["sequences"], data["classes"]
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*columns, "correct"])
    for line in zip(*columns.values(), strict=True):
        row = dict(zip(columns, line, strict=True))
        correct = row["truth"] == row["predicted"]
        row["truth"], row["predicted"] = classes[row["truth"]], classes[row["predicted"]]
        writer.writerow([*map(csv_cell, row.values()), int(correct)])
    replace_file(path, file.getvalue().encode("utf-8", "backslashreplace"))

"""The numbers of a report as files for programs: JSON and CSV."""

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

from mvdfq._utils.files import replace_file
from mvdfq._utils.short import csv_cell

__all__ = ["foreign_files", "write_csv", "write_json"]

# How the files of a report begin; other files of these names belong to the user.
OURS = {".json": '{"schema":"mvdfq report', ".csv": "name,truth,predicted,"}


def foreign_files(page: Path) -> list[Path]:
    """Return the files beside a page that writing its numbers would destroy."""
    beside = {page.with_suffix(suffix): start for suffix, start in OURS.items()}
    return [path for path, start in beside.items() if path.exists() and not _begins(path, start)]


def _begins(path: Path, start: str) -> bool:
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        found = file.read(len(start))
    return not found or found == start.encode()


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

"""Tables between two marks of a page, written by scripts."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["write_table"]


def write_table(
    page: Path, name: str, header: Sequence[str], rows: Iterable[Sequence[Any]], above: str = ""
) -> None:
    """Write a table between the marks ``<!-- name -->`` and ``<!-- end of name -->``.

    `above` is a sentence above the table. A row replaces the row of the page with the same first
    cell; other rows of the page stay.
    """
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(start)
    old, _, after = rest.partition(end)
    kept = dict(_cells(line) for line in old.splitlines() if line.startswith("| "))
    kept.pop(header[0], None)
    kept |= {str(row[0]): "| " + " | ".join(map(str, row)) + " |" for row in rows}
    lines = [above, ""] if above else []
    lines += ["| " + " | ".join(header) + " |", "|---" * len(header) + "|", *kept.values()]
    page.write_text(before + start + "\n".join(lines) + f"\n{end}{after}", encoding="utf-8")


def _cells(line: str) -> tuple[str, str]:
    return line.split("|")[1].strip(), line

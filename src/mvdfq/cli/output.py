"""Output of commands: tables for people, JSON or CSV for programs, progress and remarks."""

import csv
import json
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

__all__ = [
    "Format",
    "key_of",
    "note",
    "note_some",
    "printable",
    "progress_bar",
    "show_facts",
    "show_json",
    "show_rows",
    "table",
]


# Longer lists of remarks are cut off; --format json shows everything.
MOST_LINES, MOST_LETTERS = 10, 300


class Format(StrEnum):
    """How results are shown."""

    human = "human"
    json = "json"
    csv = "csv"


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    # escaped: names may hold control characters
    json.dump(value, sys.stdout, indent=1, default=str, allow_nan=False)
    sys.stdout.write("\n")


def show_rows(rows: Sequence[dict[str, Any]], output: Format, title: str = "") -> None:
    """Print rows of results in the given format; the keys of a row are the columns."""
    if output is Format.json:
        show_json(list(rows))
    elif output is Format.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        for line in ([*rows[0]] if rows else [], *(row.values() for row in rows)):
            writer.writerow([printable(v) if isinstance(v, str) else v for v in line])
    else:
        table(rows, title)


def show_facts(facts: dict[str, Any], output: Format) -> None:
    """Print facts, one name and value per line, in the given format."""
    if output is Format.json:
        show_json({key_of(name): _plain(value) for name, value in facts.items()})
    elif output is Format.csv:
        show_rows([{"fact": key_of(name), "value": value} for name, value in facts.items()], output)
    else:
        rows = [{"": name.replace("_", " "), " ": value} for name, value in facts.items()]
        table(rows, header=False)


def key_of(name: str) -> str:
    """Return the name of a fact as programs read it: small letters and underscores.

    Examples
    --------
    >>> key_of("missing values %")
    'missing_values_percent'
    """
    words = name.lower().replace("%", " percent ").replace("-", " ").replace(",", " ").split()
    return "_".join(words)


def _plain(value: Any) -> Any:
    """Return the value, or None for NaN, since JSON does not have NaN."""
    return None if isinstance(value, float) and math.isnan(value) else value


def table(rows: Sequence[dict[str, Any]], title: str = "", header: bool = True) -> None:
    """Print a table for people; markup in text from files is printed as it is."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if title:  # printed here, since rich would wrap a title at the width of the table
        console.print(Text("\n".join(map(printable, title.split("\n"))), style="italic"))
    shown = Table(box=None, pad_edge=False, show_header=header)
    for name in rows[0] if rows else []:
        is_number = all(isinstance(row[name], int | float) or row[name] == "" for row in rows)
        shown.add_column(Text(printable(str(name))), justify="right" if is_number else "left")
    for row in rows:
        shown.add_row(*(Text(_cell(value)) for value in row.values()))
    console.print(shown)


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else printable(str(value))


def printable(text: str) -> str:
    """Return text without characters that move the cursor or change colours."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def note(text: str, quiet: bool = False) -> None:
    """Print a remark on the error stream, so that the standard output holds only results."""
    if not quiet:
        sys.stderr.write(printable(text) + "\n")


def note_some(kind: str, lines: Sequence[Any]) -> None:
    """Print the first lines of a list as remarks of one kind, and how many more there are."""
    for line in map(str, lines[:MOST_LINES]):
        note(f"{kind}: {line[:MOST_LETTERS]}{' ...' if len(line) > MOST_LETTERS else ''}")
    if len(lines) > MOST_LINES:
        note(f"... and {len(lines) - MOST_LINES} more {kind}")


@contextmanager
def progress_bar(title: str, quiet: bool = False) -> Iterator[Any]:
    """Yield a function that takes how much is done and the total; None if nothing is shown."""
    from mvdfq._utils.bar import new_bar, report_to

    bar = None if quiet else new_bar(transient=True)
    if bar is None:
        yield None
        return
    with bar:
        yield report_to(bar, title)

"""Output of commands: tables for people, JSON or CSV for programs, progress and remarks."""

import csv
import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from enum import StrEnum
from itertools import product
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from mvdfq._utils.short import csv_cell

# Longer lists of remarks are cut off; --format json shows everything.
MOST_LINES, MOST_LETTERS = 10, 300
# Lines of a pipe are never wrapped: no table is as wide as this.
ANY_WIDTH = 1_000_000
# Decimals of numbers in a column.
MOST_DIGITS = 4
# People do not read a matrix with more classes; a pipe still gets the whole matrix.
MOST_CLASSES = 40
LARGEST = 10
# How results are shown.
Format = StrEnum("Format", ["human", "json", "csv"])


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    # escaped: names may hold control characters
    json.dump(value, sys.stdout, indent=1, default=str, allow_nan=False)
    sys.stdout.write("\n")


def show_rows(rows: Sequence[dict[str, Any]], output: Format) -> None:
    """Print rows of results in the given format; the keys of a row are the columns."""
    if output is Format.json:
        show_json(list(rows))
    elif output is Format.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        for line in ([*rows[0]] if rows else [], *(row.values() for row in rows)):
            writer.writerow([csv_cell(printable(v) if isinstance(v, str) else v) for v in line])
    else:
        table(rows)


def show_facts(facts: dict[str, Any], output: Format) -> None:
    """Print facts, one name and value per line, in the given format."""
    if output is Format.json:
        nan = {name for name, v in facts.items() if isinstance(v, float) and v != v}
        # JSON does not have NaN
        show_json({key_of(name): None if name in nan else v for name, v in facts.items()})
    elif output is Format.csv:
        show_rows([{"fact": key_of(name), "value": value} for name, value in facts.items()], output)
    else:
        texts = {k: f"{v:.4g}" if isinstance(v, float) else str(v) for k, v in facts.items()}
        rows = [{"": name.replace("_", " "), " ": text} for name, text in texts.items()]
        table(rows, header=False)


def silent(done: int, total: int) -> None:
    """Take progress that is not shown."""


def key_of(name: str) -> str:
    """Return the name of a fact as programs read it: small letters and underscores.

    >>> key_of("missing values %")
    'missing_values_percent'
    """
    words = name.lower().replace("%", " percent ").replace("-", " ").replace(",", " ").split()
    return "_".join(words)


def in_words(values: Sequence[str]) -> str:
    """Return values as text: ``a, b or c``."""
    return " or ".join(filter(None, [", ".join(values[:-1]), *values[-1:]]))


def command_line() -> str:
    """Return the command as it was typed."""
    return shlex.join(["mvdfq", *sys.argv[1:]])


def screen_width() -> int | None:
    """Return the width of the terminal in characters; None if the output goes elsewhere."""
    # the variable, which shells do not pass on by themselves, sets the width
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return shutil.get_terminal_size().columns if has_width else None


def table(
    rows: Sequence[dict[str, Any]], title: str = "", *, header: bool = True, plain: bool = False
) -> None:
    """Print a table for people; `plain` prints the names of columns as they are."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=screen_width() or ANY_WIDTH)
    if title:  # printed here, since rich would wrap a title at the width of the table
        console.print(Text("\n".join(map(printable, title.split("\n"))), style="italic"))
    shown = Table(box=None, pad_edge=False, show_header=header)
    columns = {name: _cells([row[name] for row in rows]) for name in (rows[0] if rows else [])}
    for name, cells in columns.items():
        is_number = all(isinstance(row[name], int | float) or row[name] == "" for row in rows)
        heading = name if plain or not name.isidentifier() else name.replace("_", " ")
        shown.add_column(
            Text(printable(heading)),
            justify="right" if is_number else "left",
            # text is wrapped before a number is
            min_width=max(map(len, cells)) if is_number else None,
            overflow="fold",
        )
    for line in zip(*columns.values(), strict=True):
        shown.add_row(*map(Text, line))
    with console.capture() as drawn:
        console.print(shown)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in drawn.get().splitlines()))


def _cells(values: Sequence[Any]) -> list[str]:
    """Return the cells of a column as text; the decimals of numbers stand below each other."""
    floats = [value for value in values if isinstance(value, float)]
    texts = [f"{value:.4g}" for value in floats]
    if any("e" in text or "n" in text for text in texts):  # very small, very large, NaN
        return [f"{v:.4g}" if isinstance(v, float) else printable(str(v)) for v in values]
    digits = min(max((len(text.partition(".")[2]) for text in texts), default=0), MOST_DIGITS)
    sign = "+" if any(value < 0 for value in floats) else ""
    return [f"{v:{sign}.{digits}f}" if isinstance(v, float) else printable(str(v)) for v in values]


def show_text(text: str) -> None:
    """Print lines of text for people."""
    for line in text.split("\n"):
        sys.stdout.write(printable(line) + "\n")


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
    """Yield a function that takes how much is done and the total; `silent` if nothing is shown."""
    from mvdfq._utils.progress import new_bar, report_to

    bar = None if quiet else new_bar(transient=True)
    with nullcontext() if bar is None else bar:
        yield silent if bar is None else report_to(bar, title)


@contextmanager
def working(title: str, quiet: bool = False) -> Iterator[None]:
    """Show that work goes on whose steps are not known."""
    with progress_bar(title, quiet) as progress:
        yield
        progress(1, 1)


def show_confusion(names: list[str], counts: list[list[int]]) -> None:
    """Print how often a class (row) was predicted as a class (column), or the largest of many."""
    width, letters = screen_width(), (ascii_lowercase + ascii_uppercase)[: len(names)]
    lettered = [f"{a} = {name}" for a, name in zip(letters, names, strict=False)]
    heading = "true \\ predicted"  # differs from all classes
    for rows, columns in [(names, names), (lettered, list(letters))]:
        # a table has two characters between columns
        cells = [[heading, *rows]]
        cells += [[name, *(str(line[c]) for line in counts)] for c, name in enumerate(columns)]
        needed = sum(2 + max(map(len, column)) for column in cells) - 2
        if width is None or (len(names) <= MOST_CLASSES and needed <= width):
            title = "\nconfusions: true class, and how often each class was predicted"
            lines = [
                {heading: row, **dict(zip(columns, line, strict=True))}
                for row, line in zip(rows, counts, strict=True)
            ]
            table(lines, title, plain=True)
            return
    errors = [(counts[i][j], i, j) for i, j in product(range(len(names)), repeat=2) if i != j]
    largest = [
        {"true": names[i], "predicted": names[j], "times": n,
         "share": f"{n / sum(counts[i]):.1%}"}
        for n, i, j in sorted(errors, key=lambda error: (-error[0], error[1:]))[:LARGEST]
        if n
    ]  # fmt: skip
    if largest:
        title = f"\nthe {len(largest)} largest confusions; --format json has the whole table"
        table(largest, title)

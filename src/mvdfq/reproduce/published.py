"""The tables of the paper, and their figures, each with its line of the paper's source."""

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from mvdfq.io.source import Source
from mvdfq.io.tables.csv_tables import named_rows
from mvdfq.reproduce.cells import Cell
from mvdfq.reproduce.result import Row


@dataclass(frozen=True)
class Table:
    """A table of the paper; `tables.toml` says what the fields mean."""

    title: str
    data: str = ""
    protocols: Sequence[str] = ()
    borrows: Sequence[int] = ()
    is_timed: bool = False
    is_run: bool = True


_TEXT = Path(__file__).with_name("tables.toml").read_text(encoding="utf-8")
_ENTRIES = {name: Table(**entry) for name, entry in tomllib.loads(_TEXT).items()}
TITLES = {name: table.title for name, table in _ENTRIES.items()}
TABLES = {name: table for name, table in _ENTRIES.items() if table.is_run}

# Figures that a reader of the paper sees come first; figures hidden in its source come last.
STATUSES = ("printed", "text", "if0", "comment")

SECONDS = "time_s_1000x1000"


@dataclass(frozen=True)
class Figure:
    """A figure of the paper.

    `text` is the figure as printed and `value` is its number, None if `text` is not a number.
    `status` tells where the figure stands in the source: in a table ("printed"), in the running
    text, in a part that is switched off ("if0") or in a comment. `table` is the figure's own table,
    also if another table borrows the figure.
    """

    table: str
    task: str
    method: str
    kernel: str
    manifold: str
    setting: str
    metric: str
    text: str
    value: float | None
    status: str
    line: int

    @property
    def name(self) -> str:
        """The method; the data set if the figure does not belong to a method."""
        return self.method or self.task


def figures(table: str) -> list[Figure]:
    """Return the figures of a table in the order of the paper; borrowed figures come last."""
    if table not in TITLES:
        raise ValueError(f"There is no table {table!r}; one of {', '.join(TITLES)}.")
    lines = _ENTRIES[table].borrows
    own = [figure for figure in _all() if figure.table == table]
    others = [figure for figure in _all() if figure.table != table and figure.line in lines]
    return own + [figure for figure in others if figure.metric != SECONDS]


def find(
    table: str, name: str, kernel="", manifold="", setting="", metric="error_pct"
) -> list[Figure]:
    """Return the figures of a place in a table; an empty argument matches anything.

    The name must be equal, except for a part in brackets that the figure adds: "NMF" finds "NMF
    (best baseline)". Every word of kernel, manifold and setting must be among the words of the
    figure: "Mismatch" finds "Mismatch(5,1)", "no" finds "no (not stated)", "B=6" does not find
    "B=64" and "MFCC" does not find "MFCC+FFT64". Capitals make no difference.

    Printed figures come first, then figures of the text, of switched-off parts and of comments.
    Among equals, the figure with the fewest words in its setting comes first.
    """
    asked = {"kernel": kernel, "manifold": manifold, "setting": setting}
    fitting = [
        figure
        for figure in figures(table)
        if name.casefold() in {figure.name.casefold(), figure.name.partition(" (")[0].casefold()}
        and all(_words(text) <= _words(getattr(figure, key)) for key, text in asked.items())
        and metric in ("", figure.metric)
    ]
    return sorted(fitting, key=rank)


def row_of(table: str, cell: Cell, **known: Any) -> Row:
    """Return the row of a cell, with what is known of our figure, beside the published figure."""
    row = Row(cell.name, cell.kernel, cell.manifold, cell.setting, cell.reading, **known)
    return beside_published(table, row)


def beside_published(table: str, row: Row) -> Row:
    """Return a row with the published figure; a row of errors also gets the published F1."""
    # the first figure wins: a printed figure over the same figure in the text or in a comment
    place = table, row.name, row.kernel, row.manifold, row.setting
    for figure in find(*place, metric=row.metric)[:1]:
        row = replace(row, published=figure.value, status=figure.status, line=figure.line)
    for figure in find(*place, metric="F1_pct")[:1] if row.metric == "error_pct" else []:
        row = replace(row, published_f1=figure.value)
    return row


def rank(figure: Figure) -> tuple[int, int]:
    """Return a key to sort by: the status, then the number of words of the setting."""
    return STATUSES.index(figure.status), len(_words(figure.setting))


def _words(text: str) -> set[str]:
    return set(re.split(r"[\s,;()]+", text.casefold())) - {""}


def stored(name: str, **read: Callable[[str], Any]) -> list[dict[str, Any]]:
    """Return the entries of a CSV file beside this module; `read` converts the texts of columns."""
    source = Source(Path(__file__).with_name(name))
    return [
        {key: read.get(key, str)(text) for key, text in entry.items()}
        for _, entry in named_rows(source, required=())
    ]


@cache
def _all() -> list[Figure]:
    found = []
    for entry in stored("published.csv", line=int):
        text = entry.pop("value")
        is_number = re.fullmatch(r"\d+(\.\d+)?(e-\d+)?", text)  # not a setting, such as a range
        found.append(Figure(**entry, text=text, value=float(text) if is_number else None))
    return found

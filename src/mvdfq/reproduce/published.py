"""The tables of the paper: their figures, each with its line of the source, and their cells.

A line of `settings.csv` is a cell in one reading. Its column `methods` tells the methods as text:
``VIEW: QUANTIZER > KERNEL``, then ``> root`` for the manifold embedding, ``> C=30`` and ``> ovr``.
MFCC is the usual view and not written. Braces list values as in a shell, ``;`` separates further
methods, and inner validation chooses among all of them. ``&`` is the mean of two kernels. A name
alone is a baseline.
docs/reproduction_details.md says why the settings are as they are.
"""

import ast
import csv
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from mvdfq.classifier.registry import parse
from mvdfq.reproduce.cells import Cell, EstimatorMethod, MeanMethod, RbfMethod, StringMethod
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
    comparisons: Sequence[Sequence[str]] = ()
    sets: Mapping[str, str] = field(default_factory=dict)


_TEXT = Path(__file__).with_name("tables.toml").read_text(encoding="utf-8")
_ENTRIES = {name: Table(**entry) for name, entry in tomllib.loads(_TEXT).items()}
TITLES = {name: table.title for name, table in _ENTRIES.items()}
TABLES = {name: table for name, table in _ENTRIES.items() if table.is_run}

# A figure stands in a table, in the running text, in a part that is switched off, or in a comment:
# figures that a reader of the paper sees come first.
STATUSES = ("printed", "text", "if0", "comment")
SECONDS = "time_s_1000x1000"


@dataclass(frozen=True)
class Figure:
    """A figure of the paper."""

    table: str  # its own table, also if another table borrows the figure
    task: str
    method: str
    kernel: str
    manifold: str
    setting: str
    metric: str
    text: str  # as printed
    value: float | None  # None if the text is not a number
    status: str  # where it stands in the source, one of `STATUSES`
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
    figures = [figure for figure in _all() if figure.table == table]
    others = [figure for figure in _all() if figure.table != table and figure.line in lines]
    return figures + [figure for figure in others if figure.metric != SECONDS]


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


def rank(figure: Figure) -> tuple[int, int]:
    """Return a key to sort by: the status, then the number of words of the setting."""
    return STATUSES.index(figure.status), len(_words(figure.setting))


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


def _words(text: str) -> set[str]:
    return set(re.split(r"[\s,;()]+", text.casefold())) - {""}


def stored(name: str, **read: Callable[[str], Any]) -> list[dict[str, Any]]:
    """Return the entries of a CSV file beside this module; `read` converts the texts of columns."""
    with open(Path(__file__).with_name(name), encoding="utf-8", newline="") as file:
        entries = list(csv.DictReader(file))
    return [{key: read.get(key, str)(text) for key, text in entry.items()} for entry in entries]


@cache
def _all() -> list[Figure]:
    figures = []
    for entry in stored("published.csv", line=int):
        text = entry.pop("value")
        is_number = re.fullmatch(r"\d+(\.\d+)?(e-\d+)?", text)  # not a setting, such as a range
        figures.append(Figure(**entry, text=text, value=float(text) if is_number else None))
    return figures


@cache
def cells(table: str) -> list[Cell]:
    """Return the cells of a table, in the order of the paper."""
    entries = [entry for entry in stored("settings.csv") if entry.pop("table") == table]
    return [Cell(**entry | {"methods": tuple(methods(entry["methods"]))}) for entry in entries]


def methods(text: str) -> list[Any]:
    """Return the methods that a text describes, see the top of this file.

    Examples
    --------
    >>> [method.label for method in methods("direct({4,8}) > spectrum(2) > root")]
    ['4 quantile bins, Spectrum(k=2), root', '8 quantile bins, Spectrum(k=2), root']
    """
    texts = [each for part in text.split(";") for each in _expanded(part.strip()) if each]
    return [_method(each) for each in texts]


def _expanded(text: str) -> list[str]:
    """Return all texts that a text with braces stands for; the last braces change fastest."""
    before, brace, rest = text.partition("{")
    if not brace:
        return [text]
    values, _, after = rest.partition("}")
    return [each for value in values.split(",") for each in _expanded(before + value + after)]


def _method(text: str) -> Any:
    """Return the method of a text without braces."""
    if "&" in text:
        return MeanMethod(tuple(_method(part) for part in text.split("&")))
    view, _, parts = text.rpartition(":")
    first, *rest = (part.strip() for part in parts.split(">"))
    view = view.strip() or "mfcc"
    if not rest:  # a call such as ``rbf(k=2)``, or a name alone
        call: Any = ast.parse(first if first.endswith(")") else f"{first}()", mode="eval").body
        name, given = call.func.id, {k.arg: ast.literal_eval(k.value) for k in call.keywords}
        if name == "rbf":
            return RbfMethod(**given)
        # imported by its name: the records of string kernels do not depend on the baselines
        baselines = import_module("mvdfq.reproduce.baselines")
        return EstimatorMethod(getattr(baselines, name)(**given), view)
    kernel, *words = rest
    return StringMethod(
        None if first == "as they are" else _part("symbols", first),
        _part("kernel", kernel),
        "root" in words,
        view,
        next((float(word[2:]) for word in words if word.startswith("C=")), None),
        next((word for word in words if word in ("ovo", "ovr")), ""),
    )


_part = cache(parse)

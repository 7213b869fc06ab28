"""Values as short texts, as small pieces of HTML and as cells of CSV files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from html import escape
from typing import Any

# Longer texts are replaced by what they are texts of.
LONGEST = 60
BAR = "background:#0072b2;height:.8em;display:inline-block"


class Short:
    """A dataclass, declared with ``repr=False``, that shows shapes instead of contents.

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> @dataclass(repr=False)
    ... class Fitted(Short):
    ...     weights: np.ndarray
    ...     scheme: str
    >>> Fitted(np.zeros((100, 3)), "ovr")
    Fitted(weights=<array 100 x 3>, scheme='ovr')
    """

    def __repr__(self) -> str:
        shown = [f for f in fields(self) if f.repr]  # type: ignore[arg-type]
        parts = ", ".join(f"{f.name}={in_short(getattr(self, f.name, None))}" for f in shown)
        return f"{type(self).__name__}({parts})"


def in_short(value: Any) -> str:
    """Return the text of a value, or what the value is if its text is long."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape and not hasattr(value, "in_words"):
        return f"<array {' x '.join(map(str, shape))}>"
    if isinstance(value, list | tuple | set | frozenset | Mapping) and len(value) > 5:
        return f"<{type(value).__name__} of {len(value)}>"
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST else f"<{type(value).__name__}>"


def counted(n: int, what: str) -> str:
    """Return a number and its noun: "1 sequence", "2 sequences", "3 classes".

    >>> counted(1, "class"), counted(3, "class"), counted(2, "channel")
    ('1 class', '3 classes', '2 channels')
    """
    ending = "" if n == 1 else "es" if what.endswith("s") else "s"
    return f"{n} {what}{ending}"


def listed(numbers: Iterable[int], what: str) -> str:
    """Return a noun and the first five numbers: "sequence 3", "sequences 0, 2, 5, 6, 9, ...".

    >>> listed([3], "sequence"), listed(range(9), "sequence")
    ('sequence 3', 'sequences 0, 1, 2, 3, 4, ...')
    """
    shown = list(numbers)
    more = ", ..." if len(shown) > 5 else ""
    return f"{what}{'' if len(shown) == 1 else 's'} {', '.join(map(str, shown[:5]))}{more}"


def some(names: Sequence[str], most: int = 12) -> str:
    """Return names in words, at most a dozen of them."""
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def table(columns: Sequence[Any], rows: Sequence[Sequence[Any]], caption: str = "") -> str:
    """Return a table as HTML, all text escaped; floats have four significant digits.

    >>> table(["a"], [["<b>"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """

    def text(cell: Any) -> str:
        return f"{cell:.4g}" if isinstance(cell, float) else str(cell)

    top = f"<caption>{escape(caption)}</caption>" if caption else ""
    head = "".join(f"<th>{escape(str(name))}</th>" for name in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(text(cell))}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table>{top}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def bars(names: Sequence[Any], values: Sequence[float], caption: str) -> str:
    """Return HTML: a table with one bar and one percentage per name."""
    largest = max([*values, 1e-12])
    rows = "".join(
        f"<tr><td>{escape(str(name))}</td><td><span style='{BAR};width:{160 * value / largest:.0f}"
        f"px'></span></td><td>{value:.1%}</td></tr>"
        for name, value in zip(names, values, strict=True)
    )
    return f"<table><caption>{escape(caption)}</caption><tbody>{rows}</tbody></table>"


def csv_cell(value: Any) -> Any:
    """Return a cell that no spreadsheet program takes for a formula: a quote stands before it.

    >>> csv_cell("=HYPERLINK(1)"), csv_cell("-1.5"), csv_cell(-1.5), csv_cell("a=b")
    ("'=HYPERLINK(1)", '-1.5', -1.5, 'a=b')
    """
    if not isinstance(value, str) or not value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value

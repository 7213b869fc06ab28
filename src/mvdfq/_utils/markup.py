"""Small pieces of HTML for notebooks, and cells of CSV files; all text is escaped."""

from collections.abc import Sequence
from html import escape
from typing import Any

__all__ = ["bars", "csv_cell", "table"]

BAR = "background:#0072b2;height:.8em;display:inline-block"


def table(columns: Sequence[Any], rows: Sequence[Sequence[Any]], caption: str = "") -> str:
    """Return a table; floats have four significant digits.

    Examples
    --------
    >>> table(["a"], [["<b>"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    top = f"<caption>{escape(caption)}</caption>" if caption else ""
    head = "".join(f"<th>{escape(str(name))}</th>" for name in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(_text(cell))}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table>{top}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def bars(names: Sequence[Any], values: Sequence[float], caption: str) -> str:
    """Return a table with one bar and one percentage per name."""
    largest = max([*values, 1e-12])
    rows = "".join(
        f"<tr><td>{escape(str(name))}</td><td><span style='{BAR};width:{160 * value / largest:.0f}"
        f"px'></span></td><td>{value:.1%}</td></tr>"
        for name, value in zip(names, values, strict=True)
    )
    return f"<table><caption>{escape(caption)}</caption><tbody>{rows}</tbody></table>"


def csv_cell(value: Any) -> Any:
    """Return a cell that no spreadsheet program takes for a formula: a quote stands before it.

    Examples
    --------
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


def _text(cell: Any) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)

"""``mvdfq reproduce``: the tables of the paper."""

from importlib.resources import files
from typing import Annotated

import typer

from mvdfq.cli import options as o
from mvdfq.cli.errors import Refused
from mvdfq.cli.output import Format, note, show_rows

__all__ = ["reproduce"]


def reproduce(
    name: Annotated[str, typer.Argument(metavar="TABLE", help="Its name; none lists them.")] = "",
    format: o.Output = Format.human,
    quiet: o.Quiet = False,
) -> None:
    """Show a table of the paper as it was published.

    Our own figures beside the published ones are not part of this version.
    Example: mvdfq reproduce genre
    """
    tables = _published()
    if not name:
        show_rows([{"table": key, "figures": len(rows)} for key, rows in tables.items()], format)
        return
    if name not in tables:
        raise Refused(f"There is no table {name!r}.", f"one of {', '.join(tables)}")
    show_rows(tables[name], format)
    note("Published figures only: runs of our own come with a later version.", quiet)


def _published() -> dict[str, list[dict[str, str]]]:
    """Published figures, by table."""
    import csv

    text = files("mvdfq.cli").joinpath("published.csv").read_text(encoding="utf-8")
    tables: dict[str, list[dict[str, str]]] = {}
    for row in csv.DictReader(text.splitlines()):
        tables.setdefault(row.pop("table"), []).append(row)
    return tables

"""``mvdfq reproduce``: the tables of the paper, with published and computed figures."""

import os
import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from mvdfq._utils.files import replace_file
from mvdfq.cli import options as o
from mvdfq.cli.errors import CANNOT_WRITE, USAGE, Refused
from mvdfq.cli.output import Format, note, printable, progress_bar, show_json, show_rows, table
from mvdfq.cli.values import READINGS, TABLES, completed

RUN = "Running it again"
MORE = "finished folds are stored: the same command continues where it stopped"


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="Name of a table; without a name, all tables are listed.",
            autocompletion=completed(TABLES),
        ),
    ] = "",
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder that holds gtzan, artist20, ismir2004 or proteins, or one of the four.",
            rich_help_panel=RUN,
        ),
    ] = None,
    reading: Annotated[
        list[str] | None,
        typer.Option(
            help="Readings of the paper to run: text, comment, tuned, inferred; default all.",
            autocompletion=completed(READINGS),
            rich_help_panel=RUN,
        ),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option(help="Protocols to run; default all of the table.", rich_help_panel=RUN),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            help="Number of repetitions with other folds; default 5.", min=1, rich_help_panel=RUN
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="A short test run of a few clips; the figures mean nothing.",
            rich_help_panel=RUN,
        ),
    ] = False,
    kept: Annotated[
        bool,
        typer.Option("--kept", help="Only show the stored results.", rich_help_panel=RUN),
    ] = False,
    cache: Annotated[
        Path | None, typer.Option(help="Folder for finished folds.", rich_help_panel=RUN)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for TABLE.csv, .json and .html."),
    ] = None,
    format: o.Output = Format.human,
    quiet: o.Quiet = False,
    n_jobs: o.Jobs = -1,
    memory_limit: o.Memory = None,
) -> None:
    """Show a table of the paper; with --data, compute the table again, side by side.

    Without TABLE, list the tables. Every finished fold is stored, so a run can be interrupted.
    Example: mvdfq reproduce genre --data sets/ -o results/
    """
    options: dict[str, Any] = {
        "readings": reading or None,
        "protocols": protocol or None,
        "seeds": seeds,
        "quick": quick or None,
        "kept": kept or None,
        "cache": cache,
    }
    given = {key: value for key, value in options.items() if value is not None}
    _check(name, data, output, given)
    if not name:
        _list_tables(format)
    elif data is None:
        _show_published(name, format)
        note("Published figures only; --data FOLDER computes the figures again.", quiet)
    elif not _can_be_run(name):
        _show_published(name, format)
        note("Published figures only; this table cannot be computed.", quiet)
    else:
        means = {"n_jobs": n_jobs, "memory_limit": memory_limit}
        result = _run(name, data, given | means, quiet)
        if output is not None:  # first, since a pipe may close before all output is shown
            _write(result, output, quiet)
        _show(result, format)
        if quick:
            note("This was a short test run: the figures mean nothing.", quiet)


def _check(name: str, data: Path | None, output: Path | None, given: dict[str, Any]) -> None:
    """Raise an error for wrong options, before the work."""
    from mvdfq.reproduce.published import TITLES

    if name and name not in TITLES:
        raise Refused(f"TABLE={name!r} is not known.", f"use one of {', '.join(TITLES)}", USAGE)
    is_run = bool(name) and data is not None and _can_be_run(name)
    if (given or output is not None) and not is_run:
        hint = "name a table that can be computed, and --data"
        raise Refused("These options only work when a table is computed.", hint, USAGE)
    if is_run:
        _check_names(name, given)
    if output is not None:
        _check_folder(output)


def _check_names(name: str, given: dict[str, Any]) -> None:
    from mvdfq.reproduce.api import check_request

    try:
        check_request(name, given.get("readings", []), given.get("protocols", []))
    except ValueError as error:
        raise Refused(str(error), "", USAGE) from None


def _check_folder(path: Path) -> None:
    place = path if path.exists() else path.parent
    if not place.is_dir():
        raise Refused(f"{place} is not a folder.", "create it or name another", CANNOT_WRITE)
    if not os.access(place, os.W_OK):
        raise Refused(f"{place} cannot be written to.", "name another output", CANNOT_WRITE)


def _list_tables(format: Format) -> None:
    from mvdfq.reproduce.published import TITLES, figures

    rows = [
        {"table": name, "title": title, "published_figures": len(figures(name))}
        for name, title in TITLES.items()
    ]
    show_rows(rows, format)


def _can_be_run(name: str) -> bool:
    from mvdfq.reproduce.api import TABLES

    return name in TABLES


def _show_published(name: str, format: Format) -> None:
    from mvdfq.reproduce.published import TITLES, figures

    found = figures(name)
    if format is Format.human:
        rows, alike = _without_alike([_figure_row(figure) for figure in found])
        above = ", ".join(f"{key} {value}" for key, value in alike.items() if value)
        table(rows, f"{TITLES[name]}\n{above}".rstrip())
    else:
        show_rows([asdict(figure) for figure in found], format)


def _figure_row(figure: Any) -> dict[str, Any]:
    keys = ("kernel", "manifold", "setting", "metric", "status", "line")
    parts = {key: getattr(figure, key) for key in keys}
    return {"method": figure.name, **parts, "published": figure.text}


def _without_alike(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return rows without the columns that are equal in all rows, and these columns."""
    alike = {key: rows[0][key] for key in rows[0] if len({row[key] for row in rows}) == 1}
    return [{k: v for k, v in row.items() if k not in alike} for row in rows], alike


def _run(name: str, data: Path, options: dict[str, Any], quiet: bool) -> Any:
    from mvdfq.reproduce.api import run

    try:
        with progress_bar("folds", quiet) as progress:
            return run(name, data, progress=progress, **options)
    except KeyboardInterrupt:
        note(MORE, quiet)
        raise


def _show(result: Any, format: Format) -> None:
    if format is Format.json:
        show_json(result.to_dict())
    elif format is Format.csv:
        from mvdfq.reproduce.result import csv_rows

        show_rows(csv_rows(result), format)
    else:
        _show_blocks(result)


def _show_blocks(result: Any) -> None:
    """Print the tables of a result for people, and the remarks below each table."""
    from rich.console import Console

    from mvdfq.reproduce.arrange import fact_words
    from mvdfq.reproduce.show import blocks

    above, width = f"{result.title}\n{fact_words(result.facts)}\n", Console().width
    for block in blocks(result):
        table(block.rows, "\n".join((above, block.heading("\n"))))
        for line in block.below:
            text = printable(f"- {line}")
            typer.echo(textwrap.fill(text, width, subsequent_indent="  "))
        above = ""


def _write(result: Any, folder: Path, quiet: bool) -> None:
    from mvdfq.reproduce.result import write_csv, write_json
    from mvdfq.reproduce.sections import page

    try:
        folder.mkdir(exist_ok=True)
        write_csv(result, folder / f"{result.table}.csv")
        write_json(result, folder / f"{result.table}.json")
        replace_file(folder / f"{result.table}.html", page([result]))
    except OSError as error:
        reason = f"{folder} cannot be written to: {error.strerror or error}."
        raise Refused(reason, f"the figures are not lost; {MORE}", CANNOT_WRITE) from None
    note(f"written: {folder / result.table}.csv, .json and .html", quiet)

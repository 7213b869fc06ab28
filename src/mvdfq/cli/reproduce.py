"""``mvdfq reproduce``: the tables of the paper, with published and computed figures."""

import os
import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from mvdfq._utils.files import replace_file
from mvdfq.cli.errors import CANNOT_WRITE, USAGE, Refused
from mvdfq.cli.output import Format, note, printable, progress_bar, show_json, show_rows, table

MORE = "finished folds are stored: the same command continues where it stopped"


def reproduce(
    name: str = "",
    data: Path | None = None,
    *,
    reading: list[str] | None = None,
    protocol: list[str] | None = None,
    seeds: int | None = None,
    quick: bool = False,
    kept: bool = False,
    cache: Path | None = None,
    output: Path | None = None,
    format: Format = Format.human,
    quiet: bool = False,
    n_jobs: int = -1,
    memory_limit: str | None = None,
) -> None:
    """Show a table of the paper; with --data, compute the table again, side by side.

    Without TABLE, list the tables. Every finished fold is stored, so a run can be interrupted.
    Example: mvdfq reproduce genre --data sets/ -o results/
    """
    from mvdfq.reproduce import api, published

    given: dict[str, Any] = {"readings": reading, "protocols": protocol, "seeds": seeds}
    given |= {"quick": quick, "kept": kept, "cache": cache}
    given = {key: value for key, value in given.items() if value}
    can_be_run = name in published.TABLES
    _check(name, given, data is not None and can_be_run, output)
    if data is None or not can_be_run:
        _show_published(name, format)
        again = "--data FOLDER computes the figures again"
        why = "this table cannot be computed" if data else again
        note(f"Published figures only; {why}.", quiet or not name)
    else:
        try:
            with progress_bar("folds", quiet) as progress:
                means = {"n_jobs": n_jobs, "memory_limit": memory_limit, "progress": progress}
                result = api.run(name, data, **means, **given)
        except KeyboardInterrupt:
            note(MORE, quiet)
            raise
        if output is not None:  # first, since a pipe may close before all output is shown
            _write(result, output, quiet)
        _show(result, format)
        if quick:
            note("This was a short test run: the figures mean nothing.", quiet)


def _check(name: str, given: dict[str, Any], is_run: bool, output: Path | None) -> None:
    """Raise an error for wrong options, before the work."""
    from mvdfq.reproduce.api import check_request
    from mvdfq.reproduce.published import TITLES

    if name and name not in TITLES:
        raise Refused(f"TABLE={name!r} is not known.", f"use one of {', '.join(TITLES)}", USAGE)
    if (given or output is not None) and not is_run:
        hint = "name a table that can be computed, and --data"
        raise Refused("These options only work when a table is computed.", hint, USAGE)
    if is_run:
        try:
            check_request(name, given.get("readings", []), given.get("protocols", []))
        except ValueError as error:
            raise Refused(str(error), "", USAGE) from None
    if output is not None:
        place = output if output.exists() else output.parent
        if not place.is_dir():
            raise Refused(f"{place} is not a folder.", "create it or name another", CANNOT_WRITE)
        if not os.access(place, os.W_OK):
            raise Refused(f"{place} cannot be written to.", "name another output", CANNOT_WRITE)


def _show_published(name: str, format: Format) -> None:
    """Print the figures of the paper, or the names of all tables; equal values stand above."""
    from mvdfq.reproduce.published import TITLES, figures

    if not name:
        rows = [
            {"table": name, "title": title, "published_figures": len(figures(name))}
            for name, title in TITLES.items()
        ]
        show_rows(rows, format)
        return
    printed = figures(name)
    if format is not Format.human:
        show_rows([asdict(figure) for figure in printed], format)
        return
    keys = ("name", "kernel", "manifold", "setting", "metric", "status", "line", "text")
    heads = {"name": "method", "text": "published"}
    alike = {key for key in keys if len({getattr(each, key) for each in printed}) == 1}
    above = (f"{heads.get(key, key)} {getattr(printed[0], key)}" for key in keys if key in alike)
    varying = [key for key in keys if key not in alike]
    rows = [{heads.get(key, key): getattr(each, key) for key in varying} for each in printed]
    table(rows, f"{TITLES[name]}\n{', '.join(above)}".rstrip())


def _show(result: Any, format: Format) -> None:
    """Print a result; for people, tables with the remarks below each table."""
    from rich.console import Console

    from mvdfq.reproduce.arrange import fact_words
    from mvdfq.reproduce.result import csv_rows
    from mvdfq.reproduce.show import blocks

    if format is Format.json:
        show_json(result.to_dict())
        return
    if format is Format.csv:
        show_rows(csv_rows(result), format)
        return
    above, width = f"{result.title}\n{fact_words(result.facts)}\n", Console().width
    for block in blocks(result):
        table(block.rows, "\n".join((above, block.heading("\n"))))
        for line in block.below:
            typer.echo(textwrap.fill(printable(f"- {line}"), width, subsequent_indent="  "))
        above = ""


def _write(result: Any, folder: Path, quiet: bool) -> None:
    from mvdfq.reproduce.result import write_csv, write_json
    from mvdfq.reproduce.show import page

    try:
        folder.mkdir(exist_ok=True)
        write_csv(result, folder / f"{result.table}.csv")
        write_json(result, folder / f"{result.table}.json")
        replace_file(folder / f"{result.table}.html", page(result))
    except OSError as error:
        reason = f"{folder} cannot be written to: {error.strerror or error}."
        raise Refused(reason, f"the figures are not lost; {MORE}", CANNOT_WRITE) from None
    note(f"written: {folder / result.table}.csv, .json and .html", quiet)

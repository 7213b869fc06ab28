"""``mvdfq inspect``: the contents of a data set, before training."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from mvdfq.cli import options as o
from mvdfq.cli.errors import Refused
from mvdfq.cli.flags import as_flags
from mvdfq.cli.model_facts import inspect_model, is_model
from mvdfq.cli.output import Format, note, note_some, progress_bar, show_facts, show_text, table
from mvdfq.cli.shared import Without

__all__ = ["inspect"]

# Limits of the output for people; --format json and csv show everything.
MOST_ROWS = 40


def inspect(
    data: o.DataPath,
    reading: Annotated[o.DataOptions, Without("skip_bad", "strands", "cache", "n_jobs")],
    deep: Annotated[
        bool, typer.Option("--deep", help="Decode sound files, to find all bad files.")
    ] = False,
    format: o.Output = Format.human,
) -> None:
    """Count sequences, lengths, channels, gaps, classes, groups, duplicates and bad files.

    For audio, reads only the headers, and the content of files of equal size; --deep finds every
    file that mvdfq train would refuse. For a model file, shows what the model expects and what it
    was trained on.
    Example: mvdfq inspect recordings/
    """
    if is_model(data):
        inspect_model(data, format)
        return
    from mvdfq.io.base import check_kept
    from mvdfq.io.inspection import facts_of

    kind = reading.kind(data)
    if kind == "audio":
        facts = _facts_of_audio(data, reading, deep)
    else:
        facts = facts_of(replace(reading, as_=kind, skip_bad=True, n_jobs=1).dataset(data))
    facts = {"data": str(data), "format": kind, **facts}
    _show(facts, format, reading.quiet)
    check_kept(data, facts["sequences"], facts["bad"])


def _facts_of_audio(data: Path, reading: o.DataOptions, deep: bool) -> dict[str, Any]:
    """Return the facts of sound files; refuse options that sound files do not have."""
    from mvdfq.io.inspection import facts_of_audio

    given = reading.columns | {"label": reading.label, "labels": reading.labels}
    for name in (name for name, value in given.items() if value is not None):
        raise Refused(f"--{name} has no meaning for the format audio; remove it.")
    with progress_bar("looking", reading.quiet) as progress:
        how: dict[str, Any] = {"recipe": reading.recipe, "deep": deep, "n_jobs": o.processes(data)}
        facts = facts_of_audio(data, reading.group_pattern, progress, **how)
    if not deep:
        facts["remarks"] += ["only the headers of sound files are read; --deep decodes them"]
    return facts


def _show(facts: dict[str, Any], format: Format, quiet: bool) -> None:
    if format is not Format.human:
        show_facts(facts, format)
        return
    shown = _with_units(facts)
    short = {k: v for k, v in shown.items() if not isinstance(v, list | dict) and v != ""}
    show_facts(short, format)
    for key in ("classes", "groups"):
        if facts.get(key):
            rows = [{key: name, "sequences": n} for name, n in facts[key].items()]
            show_text("")
            table(rows[:MOST_ROWS])
            if len(rows) > MOST_ROWS:
                note(f"... and {len(rows) - MOST_ROWS} more {key}; --format json shows all")
    if not facts["classes"]:
        ways = "--label, --labels or one folder per class"
        note(f"the data have no labels; mvdfq train needs {ways}", quiet)
    for remark in facts["remarks"]:
        note(as_flags(remark), quiet)
    for key in ("duplicates", "bad"):
        note_some(key, facts[key])


def _with_units(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts for people: every length has its unit, names are listed as text."""
    unit = facts.get("unit of lengths", "letters" if "letters" in facts else "frames")
    lengths = [key for key in ("shortest", "median length", "longest") if key in facts]
    shown: dict[str, str] = {key: f"{round(facts[key], 3):.12g} {unit}" for key in lengths}
    if "constant channels" in facts:
        shown["constant channels"] = _listed(facts["constant channels"]) or "none"
    return facts | shown | {"unit of lengths": ""}


def _listed(names: list[str]) -> str:
    """Return names as text; a name that could be read as two names stands in quotes."""
    return ", ".join(f'"{one}"' if "," in one or one == "none" else one for one in names)

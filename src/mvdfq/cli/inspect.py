"""``mvdfq inspect``: the contents of a data set, before training."""

from typing import Annotated, Any

import typer

from mvdfq.cli import options as o
from mvdfq.cli.errors import Refused
from mvdfq.cli.flags import as_flags
from mvdfq.cli.model_facts import inspect_model, is_model
from mvdfq.cli.output import Format, note, note_some, progress_bar, show_facts, show_text, table

__all__ = ["inspect"]

# Limits of the output for people; --format json and csv show everything.
MOST_ROWS = 40
# Facts that hold one number per class.
IDLE = ("digital silence %", "frames without change %")


def inspect(
    data: o.DataPath,
    as_: o.DataFormat = None,
    label: o.Label = None,
    labels: o.Labels = None,
    group_pattern: o.GroupPattern = None,
    recipe: o.Recipe = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Decode sound: all bad files, copies, digital silence.")
    ] = False,
    format: o.Output = Format.human,
    quiet: o.Quiet = False,
) -> None:
    """Count sequences, lengths, channels, gaps, classes, groups, duplicates and bad files.

    For audio, reads only the headers, and the content of files of equal size; --deep finds every
    file that mvdfq train would refuse, copies with the same samples in other formats, and the
    share of digital silence in each class. For a model file, shows what the model expects and what
    it was trained on.
    Example: mvdfq inspect recordings/
    """
    if is_model(data):
        inspect_model(data, format)
        return
    from mvdfq.io import recognise
    from mvdfq.io.dataset import check_kept
    from mvdfq.io.inspection import facts_of
    from mvdfq.io.sound.audio import facts_of_audio
    from mvdfq.io.sound.recipes import audio_recipe

    kind = as_ or recognise(data, **o.given_columns())
    if kind == "audio":
        given = o.given_columns() | {"label": label, "labels": labels}
        given.pop("silence", None)
        for name in (name for name, value in given.items() if value is not None):
            raise Refused(f"--{name} has no meaning for the format audio; remove it.")
        with progress_bar("looking", quiet) as progress:
            read_as = audio_recipe(recipe, o.given_columns().get("silence"))
            how: dict[str, Any] = {"recipe": read_as, "deep": deep, "n_jobs": o.processes(data)}
            facts = facts_of_audio(data, group_pattern, progress, **how)
        if not deep:
            facts["remarks"] += ["only the headers of sound files are read; --deep decodes them"]
    else:
        options = o.DataOptions(kind, None, label, labels, group_pattern, True, None, 1, quiet)
        facts = facts_of(options.dataset(data))
    facts = {"data": str(data), "format": kind, **facts}
    _show(facts, format, quiet)
    check_kept(data, facts["sequences"], facts["bad"])


def _show(facts: dict[str, Any], format: Format, quiet: bool) -> None:
    if format is not Format.human:
        show_facts(facts, format)
        return
    shown = _with_units(facts)
    short = {k: v for k, v in shown.items() if not isinstance(v, list | dict) and v != ""}
    show_facts(short, format)
    for key in ("classes", "groups"):
        if facts.get(key):
            rows = [_row(key, name, facts) for name in facts[key]]
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


def _row(key: str, name: str, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a class or a group; a class has a share of silence, if there is any."""
    row = {key: name, "sequences": facts[key][name]}
    shares = {what: facts[what] for what in IDLE if what in facts and key == "classes"}
    return row | {what: share[name] for what, share in shares.items()}


def _with_units(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts for people: every length has its unit."""
    unit = facts.get("unit of lengths", "letters" if "letters" in facts else "frames")
    lengths = [key for key in ("shortest", "median length", "longest") if key in facts]
    return (
        facts
        | {key: f"{round(facts[key], 3):.12g} {unit}" for key in lengths}
        | {"unit of lengths": ""}
    )

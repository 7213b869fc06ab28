"""``mvdfq inspect``: the contents of a data set, before training."""

from typing import Any

from mvdfq.cli import options as o
from mvdfq.cli.columns import with_columns
from mvdfq.cli.flags import as_flags
from mvdfq.cli.output import Format, note, note_some, progress_bar, show_facts, table

__all__ = ["inspect"]

# Limits of the output for people; --format json and csv show everything.
MOST_ROWS = 40


@with_columns
def inspect(
    data: o.DataPath,
    as_: o.DataFormat = None,
    label: o.Label = None,
    labels: o.Labels = None,
    group_pattern: o.GroupPattern = None,
    format: o.Output = Format.human,
    quiet: o.Quiet = False,
    *,
    columns: dict[str, Any],
) -> None:
    """Count sequences, lengths, channels, gaps, classes, groups, duplicates and bad files.

    For audio, reads only the headers, and the content of files of equal size.
    Example: mvdfq inspect recordings/
    """
    from mvdfq.io import recognise
    from mvdfq.io.inspection import facts_of, facts_of_audio

    kind = as_ or recognise(data, **columns)
    if kind == "audio":
        with progress_bar("looking", quiet) as progress:
            facts = facts_of_audio(data, group_pattern, progress)
    else:
        options = o.DataOptions(
            kind, None, label, labels, group_pattern, True, None, 1, quiet, columns=columns
        )
        facts = facts_of(options.dataset(data))
    facts = {"data": str(data), "format": kind, **facts}
    if format is not Format.human:
        show_facts(facts, format)
        return
    short = {k: v for k, v in facts.items() if not isinstance(v, list | dict) and v != ""}
    show_facts(short, format)
    for key in ("classes", "groups"):
        if facts.get(key):
            rows = [{key: name, "sequences": n} for name, n in facts[key].items()]
            table(rows[:MOST_ROWS])
            if len(rows) > MOST_ROWS:
                note(f"... and {len(rows) - MOST_ROWS} more {key}; --format json shows all")
    for remark in facts["remarks"]:
        note(as_flags(remark), quiet)
    for key in ("duplicates", "bad"):
        note_some(key, facts[key])

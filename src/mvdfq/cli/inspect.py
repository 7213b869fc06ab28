"""``mvdfq inspect``: what is in a data set, before anything is learned from it."""

from mvdfq.cli import options as o
from mvdfq.cli.output import Format, note, progress_bar, show_json, table

__all__ = ["inspect"]

MOST_SHOWN = 10


def inspect(
    data: o.DataPath,
    as_: o.DataFormat = None,
    label: o.Label = None,
    labels: o.Labels = None,
    group_pattern: o.GroupPattern = None,
    format: o.Output = Format.human,
    quiet: o.Quiet = False,
) -> None:
    """Count sequences, lengths, channels, gaps, classes, groups, duplicates and bad files.

    Of sound only the headers are read, and the content of files of equal size.
    Example: mvdfq inspect recordings/
    """
    from mvdfq.io import recognise
    from mvdfq.io.inspection import facts_of, facts_of_audio

    kind = as_ or recognise(data)
    if kind == "audio":
        with progress_bar("looking", quiet) as progress:
            facts = facts_of_audio(data, group_pattern, progress)
    else:
        reading = o.Reading(kind, None, label, labels, group_pattern, True, None, 1, True)
        facts = facts_of(reading.read(data))
    facts = {"data": str(data), "format": kind, **facts}
    if format is Format.json:
        show_json(facts)
        return
    shown = {key: value for key, value in facts.items() if not isinstance(value, list | dict)}
    table([{"": key, " ": value} for key, value in shown.items()])
    for key in ("classes", "groups"):
        if facts.get(key):
            rows = [{key: name, "sequences": n} for name, n in facts[key].items()]
            table(rows[:40], "")
    for key in ("duplicates", "bad"):
        for line in facts.get(key, [])[:MOST_SHOWN]:
            note(f"{key}: {line}", quiet)

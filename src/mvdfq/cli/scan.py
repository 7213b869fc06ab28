"""``mvdfq scan``: model file and long recordings -> events with their times."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from mvdfq._utils.files import replace_file
from mvdfq.cli import options as o
from mvdfq.cli.errors import USAGE, Refused
from mvdfq.cli.output import Format, note, printable, progress_bar, show_json, show_rows
from mvdfq.cli.predict import NEVER, load, new_data
from mvdfq.cli.train import check_output

# How events are shown.
Found = StrEnum("Found", ["human", "json", "csv", "audacity"])


def scan(
    model: Path,
    data: list[Path],
    reading: Annotated[o.DataOptions, (*NEVER, "label", "group", "windows", "step")],
    window: str | None = None,
    step: str | None = None,
    unknown: float | None = None,
    picture: Path | None = None,
    format: Found = Found.human,
) -> None:
    """Find events in long recordings: classify every window, join neighbours of one class.

    Example: mvdfq scan sounds.mvdfq garden.wav --window 5s --step 1s --unknown
    """
    if picture is not None:
        if picture.suffix not in (".svg", ".html"):
            raise Refused(f"--picture must end in .svg or .html, got {picture}.", "", USAGE)
        if len(data) > 1:
            raise Refused("--picture shows one recording.", "name one recording", USAGE)
        check_output(picture, data[0])
    if format is Found.audacity and len(data) > 1:
        hint = "call mvdfq scan once per recording"
        raise Refused("--format audacity writes the labels of one recording.", hint, USAGE)
    clf = load(model)
    found = []  # the name and the scan of each recording; one file at a time is in memory
    with progress_bar("scanning", reading.quiet) as progress:
        for i, path in enumerate(data, start=1):
            read = new_data(clf, [path], reading)
            for k, name in enumerate(read.names):
                scanned = clf.scan(read.X[k : k + 1], window=window, step=step, unknown=unknown)
                found.append((name, scanned))
            if progress is not None:
                progress(i, len(data))
    if picture is not None:
        from mvdfq.pages.timeline import timeline_page, timeline_svg

        name, first = found[0]
        drawn = timeline_svg(first)
        is_page = picture.suffix == ".html"
        text = timeline_page(drawn, name, data[0], picture) if is_page else drawn
        replace_file(picture, text.encode())
        note(f"picture: {picture}", reading.quiet)
    _show(found, format)


def _show(found: list[tuple[str, Any]], format: Found) -> None:
    """Print the events; JSON holds the windows, too."""
    if format is Found.json:
        show_json([_plain(name, scan) for name, scan in found])
    elif format is Found.audacity:
        for event in found[0][1].events:
            label = printable(str(event.label)).replace("\t", " ")
            typer.echo(f"{event.start:.6f}\t{event.end:.6f}\t{label}")
    else:
        rows = [row for name, scan in found for row in _rows(name, scan)]
        show_rows(rows, Format(format.value))


def _rows(name: str, scan: Any) -> list[dict[str, Any]]:
    """Return one row per event, with times in seconds."""
    return [
        {"name": name, "start": round(event.start, 3), "end": round(event.end, 3),
         "label": event.label, "probability": round(event.probability, 4),
         "windows": event.n_windows}
        for event in scan.events
    ]  # fmt: skip


def _plain(name: str, scan: Any) -> dict[str, Any]:
    """Return a scan as JSON holds it: settings, events and windows."""
    windows = []
    for i, label in enumerate(scan.labels):
        row = {"start": round(float(scan.starts[i]), 3), "label": label}
        row["probability"] = round(float(scan.probabilities[i].max()), 4)
        if scan.typicality is not None:
            row["typicality"] = round(float(scan.typicality[i]), 4)
        windows.append(row)
    settings = {"name": name, "length": scan.length, "window": scan.window, "step": scan.step}
    return settings | {"events": _rows(name, scan), "windows": windows}

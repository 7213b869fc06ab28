"""``mvdfq explain``: why the classifier puts a sequence into its class, in the words of users."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from mvdfq._utils.files import replace_file, replacing
from mvdfq.cli import options as o
from mvdfq.cli.errors import Refused
from mvdfq.cli.output import Format, command_line, note, show_json, show_rows, show_text, table
from mvdfq.cli.predict import load, new_data, warn_of_training_data
from mvdfq.cli.reasons import Reasons, signed
from mvdfq.cli.shared import in_words
from mvdfq.cli.train import check_output

# Neither files that are left out nor another cache matter for one sequence.
WITHOUT = (
    "skip_bad", "cache", "recipe", "labels", "group_pattern", "strands", "windows", "step",
)  # fmt: skip
NewSequence = Annotated[o.DataOptions, WITHOUT]
PICTURES = (".png", ".svg", ".pdf")


def explain(
    model: Path,
    data: Path,
    reading: NewSequence,
    which: str = "1",
    output: Path | None = None,
    class_: str | None = None,
    against: str | None = None,
    top: int = 5,
    neighbours: int = 3,
    details: bool = False,
    format: Format = Format.human,
) -> None:
    """Show which moments and channels decided the class of one sequence, with exact evidence.

    Example: mvdfq explain genres.mvdfq song.mp3 -o song.png
    """
    check_drawn(output, data, (".html", ".json", *PICTURES))
    clf = load(model)
    asked, other = class_of(clf, class_, "--class"), class_of(clf, against, "--against")
    quiet, read = reading.quiet, new_data(clf, [data], reading)
    place, x = find_sequence(read, which, data)
    one = [x] if isinstance(x, str) else x
    warn_of_training_data(clf, one, "its neighbours are other sequences", quiet)
    explanation = clf.explain(x)
    if other is not None and other == (explanation.predicted if asked is None else asked):
        raise Refused(f"--against {against} is the class in question.", "name another class")
    if output is not None and output.suffix == ".html":
        from mvdfq.pages.clips import sound_files
        from mvdfq.pages.report import explanation_page

        files, name = sound_files(data, [read.names[place]]), read.names[place]
        name = name if files is None else Path(name).name
        page = explanation_page(clf, read.X, place, name, command_line(), files)
        replace_file(output, page)
        note(f"page: {output}", quiet)
    elif output is not None:
        _write(explanation, output, top)
    near, known = [], getattr(clf, "source_", {}).get("names", [])
    for each in clf.neighbours(x, neighbours) if neighbours else []:
        name = known[each.index] if each.index < len(known) else str(each.index)
        near.append({"name": name, "label": each.label, "similarity": round(each.similarity, 4)})
    reasons = Reasons(clf, explanation, read.names[place], top, asked, other)
    if format is Format.json:
        show_json({**explanation.to_dict(top), **reasons.facts(), "neighbours": near})
        return
    if format is Format.csv:
        show_rows(reasons.word_rows() if details else reasons.flat_rows(), format)
        return
    _show(reasons, f"sequence {place + 1} of {len(read)}", near, details, quiet)


def _show(
    reasons: Reasons, where: str, near: list[dict[str, Any]], details: bool, quiet: bool
) -> None:
    """Show the reasons to a person."""
    show_text(f"{reasons.name} ({where})\n{reasons.verdict()}")
    for rows, heading in reasons.tables():
        (table(rows, f"\n{heading}") if rows else show_text(f"\n{heading}"))
    if details:
        table(signed(reasons.word_rows()), "\nwords with the most evidence")
        table(signed(reasons.row_rows()), "\nrows of symbols with the most evidence")
    if near:
        table(near, "\nmost similar training sequences")
    if not details:
        note("--details shows the words that were counted.", quiet)


def check_drawn(output: Path | None, data: Path, endings: tuple[str, ...]) -> None:
    """Raise an error for an output that cannot be written or ends otherwise, before the work."""
    if output is not None:
        check_output(output, data)
        if output.suffix not in endings:
            raise Refused(f"{output} must end in {in_words(endings)}.", "name another file")


def class_of(clf: Any, name: str | None, option: str) -> Any:
    """Return the class of this name; None stays None."""
    found = {str(label): label for label in clf.classes_.tolist()}
    if name is not None and name not in found:
        raise Refused(f"{option} must be a class of the model, got {name}.", ", ".join(found))
    return None if name is None else found[name]


def find_sequence(read: Any, which: str, data: Path) -> tuple[int, Any]:
    """Return the index of a sequence, found by its number from 1 or by its name, and the sequence.

    A string is returned as it is, other sequences as a collection of one.
    """
    names = read.names
    if which.isdecimal() and 1 <= int(which) <= len(names):
        place = int(which) - 1
    elif which in names:
        place = names.index(which)
    else:
        some = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
        raise Refused(
            f"--which must be a number from 1 to {len(names)}, or a name, got {which}.",
            f"{data} holds {len(names)} sequences: {some}",
        )
    return place, read.X[place] if isinstance(read.X, list) else read.X[[place]]


def _write(explanation: Any, path: Path, top: int) -> None:
    if path.suffix == ".json":
        replace_file(path, json.dumps(explanation.to_dict(top), indent=1))
        return
    with replacing(path) as file:
        drawn(explanation.plot).savefig(file, format=path.suffix[1:])


def drawn(draw: Callable[[], Any]) -> Any:
    """Return the figure that a function draws; an error says which package is needed."""
    try:
        return draw()
    except ImportError:
        raise Refused("Pictures need matplotlib.", "pip install 'mvdfq[plot]'") from None

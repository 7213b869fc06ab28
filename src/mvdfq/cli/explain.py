"""``mvdfq explain``: why a sequence is in its class; ``mvdfq mutate``: what other letters do."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mvdfq._utils.files import replace_file, replacing
from mvdfq._utils.short import counted
from mvdfq.cli import options as o, output as screen
from mvdfq.cli.errors import Refused, check_output
from mvdfq.cli.output import Format, note, show_json, show_rows, show_text, table, working
from mvdfq.cli.predict import load, new_data, warn_of_training_data

PICTURES = (".png", ".svg", ".pdf")
# Other names of the columns of a table of variants, in lower case; VCF files have such names.
COLUMNS = {"pos": "position", "reference": "ref", "alternative": "alt"}
COLUMNS |= dict.fromkeys(["sequence", "#chrom", "chrom"], "name")
NOTHING = ("", "-", ".", "*")


def explain(
    model: Path,
    data: Path,
    reading: o.DataOptions,
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
    from mvdfq.cli.reasons import Reasons, signed

    check_output(output, data, (".html", ".json", *PICTURES))
    clf = load(model)
    asked, other = _class_of(clf, class_, "--class"), _class_of(clf, against, "--against")
    quiet, read = reading.quiet, new_data(clf, [data], reading)
    place, x = _find_sequence(read, which, data)
    alone = [x] if isinstance(x, str) else x
    warn_of_training_data(clf, alone, "its neighbours are other sequences", quiet)
    explanation = clf.explain(x)
    if other is not None and other == (explanation.predicted if asked is None else asked):
        raise Refused(f"--against {against} is the class in question.", "name another class")
    reasons = Reasons(clf, explanation, read.names[place], top, asked, other)
    if output is not None and output.suffix == ".html":
        _write_page(clf, read, place, data, output, (asked, other))
        note(f"page: {output}", quiet)
    elif output is not None and output.suffix == ".json":
        replace_file(output, json.dumps({**explanation.to_dict(top), **reasons.facts()}, indent=1))
    elif output is not None:
        _write_picture(lambda: explanation.plot(asked), output)
    near, known = [], getattr(clf, "source_", {}).get("names", [])
    for each in clf.neighbours(x, neighbours) if neighbours else []:
        name = known[each.index] if each.index < len(known) else str(each.index)
        near.append({"name": name, "label": each.label, "similarity": round(each.similarity, 4)})
    if format is Format.json:
        show_json({**explanation.to_dict(top), **reasons.facts(), "neighbours": near})
        return
    if format is Format.csv:
        show_rows(reasons.word_rows() if details else reasons.flat_rows(), format)
        return
    show_text(f"{reasons.name} (sequence {place + 1} of {len(read)})")
    reasons.show()
    if details:
        table(signed(reasons.word_rows()), "\nwords with the most evidence")
        table(signed(reasons.row_rows()), "\nrows of symbols with the most evidence")
    if near:
        table(near, "\nmost similar training sequences")
    note("--details shows the words that were counted.", quiet or details)


def _write_page(clf: Any, read: Any, place: int, data: Path, output: Path, asked: Any) -> None:
    """Write the page about one sequence; the sound file of the sequence is played there."""
    from mvdfq.pages.contents import sound_files
    from mvdfq.pages.report import explanation_page

    name = read.names[place]
    files = sound_files(data, [name])
    name = name if files is None else Path(name).name
    command = screen.command_line()
    replace_file(output, explanation_page(clf, read.X, place, name, command, files, asked))


def mutate(
    model: Path,
    data: Path,
    reading: o.DataOptions,
    which: str = "1",
    variants: Path | None = None,
    region: str | None = None,
    class_: str | None = None,
    output: Path | None = None,
    top: int = 10,
    format: Format = Format.human,
) -> None:
    """Show what every single substitution, or every variant of a file, does to a decision value.

    Example: mvdfq mutate peaks.mvdfq seq.fasta -o seq.svg
    """
    check_output(output, data, (".html", *PICTURES))
    clf = load(model)
    label = _class_of(clf, class_, "--class")
    read = new_data(clf, [data], reading)
    place, x = _find_sequence(read, which, data)
    name = read.names[place]
    changes = None if variants is None else _variants(variants, name, len(read))
    places = _region(region)
    if places is not None and isinstance(x, str) and places[1] > len(x):
        problem = f"--region {region} ends beyond the sequence of {len(x)} letters"
        raise Refused(f"{problem}.", f"for example --region 1-{len(x)}")
    with working("deciding", reading.quiet):
        try:
            result = clf.mutate(x, changes, label=label, region=places)
        except ValueError as error:  # an error about a variant names its file
            where = "" if variants is None else f"{variants}: "
            hint = "check that the variants belong to this sequence" if variants else "see --help"
            raise Refused(f"{where}{error}", hint) from None
    if output is not None:
        from mvdfq.explain.figures import mutations

        _write_picture(lambda: mutations(result), output)
    if format is not Format.human:
        pairs = zip(result.changes, result.effects.tolist(), strict=True)
        show_rows([_row(change, effect, result.label) for change, effect in pairs], format)
        return
    show_text(f"{name}: decision value {result.value:+.3f} for {result.label}")
    strongest = [_row(change, effect, result.label) for change, effect in result.top(top)]
    for row in strongest:
        row |= {key: row[key] or "-" for key in ("ref", "alt")}
        row["effect"] = f"{row['effect']:+.4f}"
    table(strongest, f"\nstrongest of {len(result.changes)} changes; positions count from 1")
    if output is None:
        note("-o seq.svg draws a heat map, --format csv lists all changes.", reading.quiet)


def _row(change: Any, effect: float, label: Any) -> dict[str, Any]:
    word = "for" if effect > 0 else "against"
    speaks = f"{word} {label}" if effect else "for no class"
    row = {"position": change.position + 1, "ref": change.ref, "alt": change.alt}
    return row | {"effect": round(float(effect), 6), "speaks": speaks}


def _region(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    first, dash, last = text.partition("-")
    known = dash and first.isdecimal() and last.isdecimal()
    if not known or not 1 <= int(first) <= int(last):
        raise Refused(f"--region must be two positions, got {text}.", "for example --region 20-80")
    return int(first) - 1, int(last)


def _variants(path: Path, name: str, n_sequences: int) -> list[tuple[int, str, str]]:
    """Read variants; a table with names of sequences gives those of this sequence."""
    with path.open(newline="", encoding="utf-8") as file:
        lines = [(i, line) for i, line in enumerate(file, 1)
                 if line.strip() and not line.startswith("##")]  # fmt: skip
    if not lines:
        raise Refused(f"{path} holds no variants.", "write position, ref and alt in columns")
    sign = "\t" if "\t" in lines[0][1] else ","
    first, *rows = csv.reader((line for _, line in lines), delimiter=sign)
    header = [COLUMNS.get(cell, cell) for cell in (cell.strip().lower() for cell in first)]
    for lacking in (key for key in ("position", "ref", "alt") if key not in header):
        problem = f"{path}, line 1: there is no column {lacking}."
        raise Refused(problem, "the first line names the columns position, ref and alt")
    changes = []
    for (i, _), row in zip(lines[1:], rows, strict=True):
        cells = dict(zip(header, map(str.strip, row), strict=False))
        if n_sequences > 1 and cells.get("name", name) != name:
            continue
        position, ref, alts = (cells.get(key) for key in ("position", "ref", "alt"))
        if ref is None or alts is None or not (position or "").isdecimal():
            problem = f"{path}, line {i}: position, ref and alt must be given, got {row}."
            raise Refused(problem, "positions are whole numbers from 1")
        ref = "" if ref in NOTHING else ref
        for alt in alts.split(","):  # VCF may list several letters
            changes.append((int(position or 0) - 1, ref, "" if alt in NOTHING else alt))
    if not changes:
        raise Refused(f"{path} holds no variant of {name}.", "--which chooses another sequence")
    return changes


def _write_picture(draw: Callable[[], Any], path: Path) -> None:
    """Write the figure that a function draws; an error says which package is needed."""
    try:
        figure = draw()
    except ImportError:
        raise Refused("Pictures need matplotlib.", "pip install 'mvdfq[plot]'") from None
    if path.suffix != ".html":
        with replacing(path) as file:
            figure.savefig(file, format=path.suffix[1:])
        return
    picture = io.StringIO()
    figure.savefig(picture, format="svg")
    svg = picture.getvalue().partition("<svg")
    start = "<!doctype html><meta charset='utf-8'><title>mvdfq mutate</title>"
    replace_file(path, start + svg[1] + svg[2])


def _class_of(clf: Any, name: str | None, option: str) -> Any:
    """Return the class of this name; None stays None."""
    classes = {str(label): label for label in clf.classes_.tolist()}
    if name is not None and name not in classes:
        raise Refused(f"{option} must be a class of the model, got {name}.", ", ".join(classes))
    return None if name is None else classes[name]


def _find_sequence(read: Any, which: str, data: Path) -> tuple[int, Any]:
    """Return the index of a sequence, found by its number from 1 or its name, and the sequence."""
    names = read.names
    if which.isdecimal() and 1 <= int(which) <= len(names):
        place = int(which) - 1
    elif which in names:
        place = names.index(which)
    else:
        names_shown = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
        raise Refused(
            f"--which must be a number from 1 to {len(names)}, or a name, got {which}.",
            f"{data} holds {counted(len(names), 'sequence')}: {names_shown}",
        )
    return place, read.X[place] if isinstance(read.X, list) else read.X[[place]]

"""``mvdfq mutate``: what substitutions, insertions and deletions do to the decision value."""

import csv
import io
from pathlib import Path
from typing import Any

from mvdfq._utils.files import replace_file, replacing
from mvdfq.cli.errors import Refused
from mvdfq.cli.explain import PICTURES, NewSequence, check_drawn, class_of, drawn, find_sequence
from mvdfq.cli.output import Format, note, show_rows, show_text, table, working
from mvdfq.cli.predict import load, new_data

# Names of the columns of a table of variants, in lower case; those of VCF are among them.
COLUMNS = {
    **dict.fromkeys(["name", "sequence", "#chrom", "chrom"], "name"),
    **dict.fromkeys(["position", "pos"], "position"),
    **dict.fromkeys(["ref", "reference"], "ref"),
    **dict.fromkeys(["alt", "alternative"], "alt"),
}
NOTHING = ("", "-", ".", "*")


def mutate(
    model: Path,
    data: Path,
    reading: NewSequence,
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
    check_drawn(output, data, (".html", *PICTURES))
    clf = load(model)
    label = class_of(clf, class_, "--class")
    read = new_data(clf, [data], reading)
    place, x = find_sequence(read, which, data)
    name = read.names[place]
    changes = None if variants is None else _variants(variants, name, len(read))
    places = _region(region)
    with working("deciding", reading.quiet):
        try:
            found = clf.mutate(x, changes, label=label, region=places)
        except ValueError as error:  # an error about a variant names its file
            where = "" if variants is None else f"{variants}: "
            hint = "check that the variants belong to this sequence" if variants else "see --help"
            raise Refused(f"{where}{error}", hint) from None
    if output is not None:
        _write(found, output)
    pairs = zip(found.changes, found.effects.tolist(), strict=True)
    rows = [_row(change, effect, found.label) for change, effect in pairs]
    if format is not Format.human:
        show_rows(rows, format)
        return
    show_text(f"{name}: decision value {found.value:+.3f} for {found.label}")
    strongest = [_row(change, effect, found.label) for change, effect in found.top(top)]
    for row in strongest:
        row |= {key: row[key] or "-" for key in ("ref", "alt")}
        row["effect"] = f"{row['effect']:+.4f}"
    table(strongest, f"\nstrongest of {len(rows)} changes; positions count from 1")
    if output is None:
        note("-o seq.svg draws a heat map, --format csv lists all changes.", reading.quiet)


def _row(change: Any, effect: float, label: Any) -> dict[str, Any]:
    word = "for" if effect > 0 else "against"
    return {
        "position": change.position + 1,
        "ref": change.ref,
        "alt": change.alt,
        "effect": round(float(effect), 6),
        "speaks": f"{word} {label}" if effect else "for no class",
    }


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
    header = [COLUMNS.get(cell.strip().lower(), cell) for cell in first]
    for lacking in (key for key in ("position", "ref", "alt") if key not in header):
        problem = f"{path}, line 1: there is no column {lacking}."
        raise Refused(problem, "the first line names the columns position, ref and alt")
    found = []
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
            found.append((int(position or 0) - 1, ref, "" if alt in NOTHING else alt))
    if not found:
        raise Refused(f"{path} holds no variant of {name}.", "--which chooses another sequence")
    return found


def _write(found: Any, path: Path) -> None:
    def draw() -> Any:
        from mvdfq.explain.figures import mutations

        return mutations(found)

    figure = drawn(draw)
    if path.suffix != ".html":
        with replacing(path) as file:
            figure.savefig(file, format=path.suffix[1:])
        return
    picture = io.StringIO()
    figure.savefig(picture, format="svg")
    svg = picture.getvalue()
    replace_file(path, "<!doctype html><meta charset='utf-8'><title>mvdfq mutate</title>"
                       f"{svg[svg.index('<svg') :]}")  # fmt: skip

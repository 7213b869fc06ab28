"""``mvdfq explain``: why the classifier puts a sequence into its class, in the words of users."""

import json
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer

from mvdfq._utils.files import replace_file, replacing
from mvdfq.cli import options as o
from mvdfq.cli.errors import Refused
from mvdfq.cli.output import Format, note, show_json, show_rows, show_text, table
from mvdfq.cli.page import write_explanation
from mvdfq.cli.predict import ModelPath, load, new_data, warn_of_training_data
from mvdfq.cli.shared import Without
from mvdfq.cli.train import check_output

__all__ = ["Reasons", "explain", "signed", "word_row"]

# Neither files that are left out nor another cache matter for one sequence.
WITHOUT = (
    "skip_bad", "cache", "recipe", "labels", "group_pattern", "strands", "windows", "step",
)  # fmt: skip
NewSequence = Annotated[o.DataOptions, Without(*WITHOUT)]
PICTURES = (".png", ".svg", ".pdf")


class Reasons:
    """The lines and tables that `mvdfq explain` shows about one explanation."""

    def __init__(self, clf: Any, explanation: Any, name: str, top: int) -> None:
        self.clf, self.explanation, self.name, self.top = clf, explanation, name, top
        self.column, self.sign = explanation.column()

    @cached_property
    def chances(self) -> list[tuple[str, float]]:
        """The classes and their probabilities, the most probable first."""
        decision = self.clf.problems_.decision(self.explanation.margins[None])
        chances = self.clf.probabilities(decision)[0]
        order = chances.argsort()[::-1]
        return [(str(self.clf.classes_[i]), float(chances[i])) for i in order]

    @cached_property
    def sums(self) -> dict[str, float]:
        """The decision value and its parts: evidence for, evidence against, constant."""
        over_time = self.sign * self.explanation.by_time[self.column]
        return {
            "decision_value": float(self.sign * self.explanation.margins[self.column]),
            "evidence_for": float(over_time[over_time > 0].sum()),
            "evidence_against": float(over_time[over_time < 0].sum()),
            "evidence_constant": float(self.sign * self.explanation.constant[self.column]),
        }

    def verdict(self) -> str:
        """Return class, probability, runner-up and the sum in two lines."""
        (best, p), (second, q), *_ = self.chances
        said = str(self.explanation.predicted)
        if said != best:  # votes of pairs may disagree with probabilities
            p = dict(self.chances)[said]
            second, q = best, self.chances[0][1]
        return f"class {said}, probability {p:.1%}; next is {second}, {q:.1%}\n{self._sum()}"

    def _sum(self) -> str:
        """Return the decision value as a sum, beginning with what the sequence is compared with."""
        s, title = self.sums, self.explanation.title()
        parts = f"{s['evidence_for']:+.3f} for, {s['evidence_against']:+.3f} against"
        value, constant = f"{s['decision_value']:+.3f}", f"{s['evidence_constant']:+.3f}"
        if not any(term.class_means for term in self.clf.terms_):
            return f"decision value {value} for {title} = {parts}, {constant} constant"
        what = "an average other sequence"
        if len(self.explanation.labels) > 1 and isinstance(self.explanation.labels[0], tuple):
            what = "a sequence halfway between both classes"
        return f"{what} gets {constant} for {title}; this one gets {value}, because of {parts}"

    @cached_property
    def has_letters(self) -> bool:
        """Whether the sequence is a string of letters."""
        return self.explanation.are_letters

    def tables(self) -> list[tuple[list[dict[str, Any]], str]]:
        """Return tables of `rows` that speak for the class and against it, with their headings."""
        title, found = self.explanation.title(), []
        what = "moments" if self.explanation.symbols.sampling_rate else "frames, counted from 0,"
        what, rest = ("letters", "; positions count from 1") if self.has_letters else (what, "")
        for sign, word in ((1, "for"), (-1, "against")):
            rows = [row for row in self.rows() if sign * row["evidence"] > 0]
            if rows:
                found.append((signed(rows), f"{what} that speak {word} {title}{rest}"))
        return found

    def rows(self) -> list[dict[str, Any]]:
        """Return the lines of the main table: moments, or patterns of letters."""
        from mvdfq.explain.moments import find_patterns

        if self.has_letters:
            found = find_patterns(self.explanation, self.top)
            return [self._letters_row(one) for one in found]
        return [
            {"evidence": round(one.evidence, 4), "when": one.when, "channels": one.what}
            for one in self._moments
        ]

    @cached_property
    def _moments(self) -> list[Any]:
        from mvdfq.explain.moments import find_moments

        return find_moments(self.explanation, self.top)

    def _letters_row(self, one: Any) -> dict[str, Any]:
        first, *more = one.positions
        where = self._position(first, len(one))
        where += f" and {len(more)} more" if more else ""
        return {"evidence": round(one.evidence, 4), "letters": one.text, "where": where}

    def _position(self, start: int, length: int) -> str:
        """Return a position counted from 1 on the given strand."""
        n_frames = self.explanation.by_time.shape[1]
        is_joined = getattr(self.clf, "source_", {}).get("strands") == "both"
        strand = n_frames // 2 if is_joined else n_frames
        if start < strand:
            return f"position {start + 1}"
        # the reverse complement follows the strand and a gap, and runs backwards
        end = start - strand - 1 + length
        return f"position {strand - end + 1} of the reverse strand"

    def word_rows(self) -> list[dict[str, Any]]:
        """Return the words with the most evidence, as they were counted."""
        return [word_row(reason) for reason in self.explanation.top(self.top)]

    def row_rows(self) -> list[dict[str, Any]]:
        """Return the rows of symbols with the most evidence."""
        evidence = self.sign * self.explanation.by_row[self.column]
        order = abs(evidence).argsort()[::-1][: self.top]
        return [
            {"evidence": round(float(evidence[r]), 4), "row": self.explanation.row_names[r]}
            for r in order
        ]

    def facts(self) -> dict[str, Any]:
        """Return everything for programs."""
        chances = dict(self.chances)
        return {
            "name": self.name,
            "probability": chances[str(self.explanation.predicted)],
            "probabilities": chances,
            **self.sums,
            "moments": [] if self.has_letters else [_plain(one) for one in self._moments],
            "letters": self.rows() if self.has_letters else [],
        }


def _plain(moment: Any) -> dict[str, Any]:
    first, stop = moment.frames
    return {
        "evidence": moment.evidence,
        "first_frame": first,
        "last_frame": stop - 1,
        "seconds": None if moment.seconds is None else list(moment.seconds),
        "channels": list(moment.channels),
    }


def word_row(reason: Any) -> dict[str, Any]:
    """Return one line of output: a word as text."""
    return {"evidence": round(reason.evidence, 4), "what": reason.text}


def signed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of output for people: the evidence has its sign and four decimals."""
    return [{**row, "evidence": f"{row['evidence']:+.4f}"} for row in rows]


def explain(
    model: ModelPath,
    data: Annotated[Path, typer.Argument(help="A file with the sequence.")],
    reading: NewSequence,
    which: Annotated[
        str,
        typer.Option(help="Number of the sequence in the file, counted from 1, or its name."),
    ] = "1",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="File to write; it ends in .html (a page), .json, .png, .svg or .pdf.",
        ),
    ] = None,
    top: Annotated[int, typer.Option(help="Number of moments or words to show.", min=1)] = 5,
    neighbours: Annotated[int, typer.Option(help="Number of neighbours to show.", min=0)] = 3,
    details: Annotated[
        bool, typer.Option("--details", help="Show words and rows of symbols, too.")
    ] = False,
    format: o.Output = Format.human,
) -> None:
    """Show which moments and channels decided the class of one sequence, with exact evidence.

    Example: mvdfq explain genres.mvdfq song.mp3 -o song.png
    """
    if output is not None:
        check_output(output, data)
        if output.suffix not in (".html", ".json", *PICTURES):
            message = f"{output} must end in .html, .json, .png, .svg or .pdf."
            raise Refused(message, "name another file")
    clf = load(model)
    quiet, read = reading.quiet, new_data(clf, [data], reading)
    place = find_sequence(read.names, which, data)
    x = read.X[place] if isinstance(read.X, list) else read.X[[place]]
    one = [x] if isinstance(x, str) else x
    warn_of_training_data(clf, one, "its neighbours are other sequences", quiet)
    explanation = clf.explain(x)
    if output is not None and output.suffix == ".html":
        write_explanation(clf, read, place, data, output, quiet)
    elif output is not None:
        _write(explanation, output, top)
    near = [_neighbour(one, clf) for one in clf.neighbours(x, neighbours)] if neighbours else []
    reasons = Reasons(clf, explanation, read.names[place], top)
    if format is Format.json:
        show_json({**explanation.to_dict(top), **reasons.facts(), "neighbours": near})
        return
    if format is Format.csv:
        show_rows(reasons.word_rows() if details else reasons.rows(), format)
        return
    _show(reasons, f"sequence {place + 1} of {len(read)}", near, details, quiet)


def _show(
    reasons: Reasons, where: str, near: list[dict[str, Any]], details: bool, quiet: bool
) -> None:
    """Show the reasons to a person."""
    show_text(f"{reasons.name} ({where})\n{reasons.verdict()}")
    for rows, heading in reasons.tables():
        table(rows, f"\n{heading}")
    if details:
        table(signed(reasons.word_rows()), "\nwords with the most evidence")
        table(signed(reasons.row_rows()), "\nrows of symbols with the most evidence")
    if near:
        table(near, "\nmost similar training sequences")
    if not details:
        note("--details shows the words that were counted.", quiet)


def find_sequence(names: list[str], which: str, data: Path) -> int:
    """Return the index of a sequence by its number, counted from 1, or by its name."""
    if which.isdecimal() and 1 <= int(which) <= len(names):
        return int(which) - 1
    if which in names:
        return names.index(which)
    some = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
    raise Refused(
        f"--which must be a number from 1 to {len(names)}, or a name, got {which}.",
        f"{data} holds {len(names)} sequences: {some}",
    )


def _neighbour(one: Any, clf: Any) -> dict[str, Any]:
    """Return one line of output: a training sequence, by its name if the model knows it."""
    names = getattr(clf, "source_", {}).get("names", [])
    name = names[one.index] if one.index < len(names) else str(one.index)
    return {"name": name, "label": one.label, "similarity": round(one.similarity, 4)}


def _write(explanation: Any, path: Path, top: int) -> None:
    if path.suffix == ".json":
        replace_file(path, json.dumps(explanation.to_dict(top), indent=1))
        return
    try:
        figure = explanation.plot()
    except ImportError:
        raise Refused("Pictures need matplotlib.", "pip install 'mvdfq[plot]'") from None
    with replacing(path) as file:
        figure.savefig(file, format=path.suffix[1:])

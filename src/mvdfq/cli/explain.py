"""``mvdfq explain``: why the classifier puts a sequence into its class."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from mvdfq.cli import options as o
from mvdfq.cli.errors import Refused
from mvdfq.cli.output import Format, show_json, show_rows, table
from mvdfq.cli.page import write_explanation
from mvdfq.cli.predict import ModelPath, load, new_data
from mvdfq.cli.train import check_output

__all__ = ["explain", "reason_row"]

PICTURES = (".png", ".svg", ".pdf")


def explain(
    model: ModelPath,
    data: Annotated[Path, typer.Argument(help="A file with the sequence.")],
    which: Annotated[int, typer.Option(help="Index of the sequence in the file, from 0.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="File to write; it ends in .html (a page), .json, .png, .svg or .pdf.",
        ),
    ] = None,
    top: Annotated[int, typer.Option(help="Number of words to show.", min=1)] = 10,
    neighbours: Annotated[int, typer.Option(help="Number of neighbours to show.", min=0)] = 3,
    as_: o.DataFormat = None,
    label: o.Label = None,
    format: o.Output = Format.human,
    quiet: o.Quiet = False,
    n_jobs: o.Jobs = -1,
) -> None:
    """Show the words that decided the class of one sequence, with their exact evidence.

    Example: mvdfq explain genres.mvdfq song.mp3 -o song.png
    """
    if output is not None:
        check_output(output, data)
        if output.suffix not in (".html", ".json", *PICTURES):
            message = f"{output} must end in .html, .json, .png, .svg or .pdf."
            raise Refused(message, "name another file")
    clf = load(model)
    read = new_data(clf, [data], as_, label, False, None, n_jobs, quiet)
    if not 0 <= which < len(read):
        raise Refused(
            f"--which must be from 0 to {len(read) - 1}, got {which}.",
            f"{data} holds {len(read)} sequences",
        )
    x = read.X[which] if isinstance(read.X, list) else read.X[[which]]
    explanation = clf.explain(x)
    if output is not None and output.suffix == ".html":
        write_explanation(clf, read, which, data, output, quiet)
    elif output is not None:
        _write(explanation, output, top)
    near = [_neighbour(one, clf) for one in clf.neighbours(x, neighbours)] if neighbours else []
    if format is Format.json:
        show_json({**explanation.to_dict(top), "neighbours": near})
        return
    rows = [reason_row(reason) for reason in explanation.top(top)]
    title = f"{read.names[which]}: {explanation.predicted}"
    show_rows(rows, format, title)
    if near and format is Format.human:
        table(near, "\nmost similar training sequences")


def _neighbour(one: Any, clf: Any) -> dict[str, Any]:
    """Return one line of output: a training sequence, by its name if the model knows it."""
    names = getattr(clf, "source_", {}).get("names", [])
    name = names[one.index] if one.index < len(names) else str(one.index)
    return {"name": name, "label": one.label, "similarity": round(one.similarity, 4)}


def reason_row(reason: Any) -> dict[str, Any]:
    """Return one line of output: a reason as text."""
    return {"evidence": round(reason.evidence, 4), "what": reason.text}


def _write(explanation: Any, path: Path, top: int) -> None:
    if path.suffix == ".json":
        path.write_text(json.dumps(explanation.to_dict(top), indent=1), encoding="utf-8")
        return
    try:
        figure = explanation.plot()
    except ImportError:
        raise Refused("Pictures need matplotlib.", "pip install 'mvdfq[plot]'") from None
    figure.savefig(path)

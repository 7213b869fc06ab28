"""Lines of a table: what was measured, beside what was published."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq.reproduce.cells import Cell, Method, StringMethod
from mvdfq.reproduce.loaders import LOADERS, SETS, NotThere
from mvdfq.reproduce.measuring import Measured
from mvdfq.reproduce.published import SECONDS, find
from mvdfq.reproduce.result import Row

__all__ = ["beside_published", "datasets_rows", "measured_row", "missing_row", "time_row"]


def measured_row(table: str, measured: Measured, notes: Mapping[str, str]) -> Row:
    """Return the line of a cell that was run; `notes` say what must be known of views."""
    result = measured.evaluation
    row = replace(
        _row(measured.cell),
        protocol=measured.protocol,
        value=float(np.mean(measured.errors)),
        std=measured.spread,
        f1=(100 * result.f1[0], 100 * result.f1[1]),
        by_seed=measured.by_seed,
        n_seeds=len(measured.errors),
        n_folds=len(result.folds) // max(len(measured.errors), 1),
        method=_methods(measured),
        note="; ".join(notes[view] for view in sorted(measured.cell.views) if view in notes),
        seconds={part: measured.seconds(part) for part in ("choice", "encode", "gram", "machines")},
    )
    return beside_published(table, row)


def _methods(measured: Measured) -> str:
    """The methods taken; where they differ between folds, how often each."""
    methods = {str(method): method for method in measured.cell.methods}
    taken: Counter[str] = Counter()
    for (text, scheme), n in measured.methods.items():
        taken[_label(methods[text], scheme)] += n
    if len(taken) == 1:
        return next(iter(taken))
    return "; ".join(f"{n} x {label}" for label, n in taken.most_common())


def _label(method: Method, scheme: str) -> str:
    """Return a method in words, with the scheme that was taken if the record says which."""
    if isinstance(method, StringMethod) and scheme:
        method = replace(method, scheme=scheme)
    return method.label


def missing_row(
    table: str, cell: Cell, why: str, protocol: str = "", metric: str = "error_pct"
) -> Row:
    """Return the line of a cell that was not run, with the reason."""
    row = replace(_row(cell), note=why, protocol=protocol, metric=metric)
    return beside_published(table, row)


def time_row(table: str, cell: Cell, seconds: dict[str, float]) -> Row:
    """Return the line of the seconds of a cell."""
    row = replace(
        _row(cell),
        metric=SECONDS,
        value=seconds["count"] + seconds["gram"],
        seconds=seconds,
        method=cell.methods[0].label,
        note="one thread",
    )
    return beside_published(table, row)


def _row(cell: Cell) -> Row:
    return Row(cell.name, cell.kernel, cell.manifold, cell.setting, cell.reading)


def beside_published(table: str, row: Row) -> Row:
    """Return a line with the published figure; lines of errors with the published F1 too."""
    place = table, row.name, row.kernel, row.manifold, row.setting
    figures = find(*place, metric=row.metric)
    if figures:
        first = figures[0]
        row = replace(row, published=first.value, status=first.status, line=first.line)
    scores = find(*place, metric="F1_pct") if row.metric == "error_pct" else []
    return replace(row, published_f1=scores[0].value) if scores else row


def datasets_rows(folder: Path) -> list[Row]:
    """Return the sizes of the sets that are there, and those of the paper."""
    rows = []
    for task, key in SETS.items():
        try:
            found: Any = LOADERS[key](folder)
        except NotThere:
            found = None
        for metric, size in [("n_sequences", len), ("n_classes", lambda s: len(s.classes))]:
            value = None if found is None else float(size(found))
            row = Row(task, metric=metric, value=value, note="" if found else "not at hand")
            rows.append(beside_published("datasets", row))
    return rows

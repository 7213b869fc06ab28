"""Rows of a result: measured figures beside published figures."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq.reproduce.cells import Cell
from mvdfq.reproduce.folds import Measured
from mvdfq.reproduce.loaders import LOADERS, SETS, NotThere
from mvdfq.reproduce.published import SECONDS, find
from mvdfq.reproduce.result import Row

__all__ = [
    "beside_published",
    "datasets_rows",
    "measured_row",
    "missing_row",
    "row_of",
    "time_row",
]


def measured_row(table: str, measured: Measured, notes: Mapping[str, str]) -> Row:
    """Return the row of a cell that was run; `notes` tell what must be known of a view."""
    result = measured.evaluation
    row = replace(
        row_of(measured.cell),
        scheme=measured.scheme,
        protocol=measured.protocol,
        value=float(np.mean(measured.errors)),
        std=measured.spread,
        f1=(100 * result.f1[0], 100 * result.f1[1]),
        by_seed=measured.by_seed,
        n_seeds=len(measured.errors),
        n_folds=len(result.folds) // max(len(measured.errors), 1),
        method=_counted(measured.methods),
        note="; ".join(notes[view] for view in sorted(measured.cell.views) if view in notes),
        seconds={part: measured.seconds(part) for part in ("choice", "encode", "gram", "machines")},
    )
    return beside_published(table, row)


def _counted(methods: Sequence[str]) -> str:
    """Return the method of all folds; if the folds differ, how often each was taken."""
    taken = Counter(methods)
    if len(taken) == 1:
        return methods[0]
    return "; ".join(f"{n} x {label}" for label, n in taken.most_common())


def missing_row(
    table: str, cell: Cell, why: str, protocol: str = "", metric: str = "error_pct"
) -> Row:
    """Return the row of a cell that was not run, with the reason."""
    row = replace(row_of(cell), note=why, protocol=protocol, metric=metric)
    return beside_published(table, row)


def time_row(table: str, cell: Cell, seconds: dict[str, float]) -> Row:
    """Return the row of the seconds of a cell."""
    row = replace(
        row_of(cell),
        metric=SECONDS,
        value=seconds["count"] + seconds["gram"],
        seconds=seconds,
        method=cell.methods[0].label,
        note="one thread",
    )
    return beside_published(table, row)


def row_of(cell: Cell) -> Row:
    """Return the empty row of a cell."""
    return Row(cell.name, cell.kernel, cell.manifold, cell.setting, cell.reading)


def beside_published(table: str, row: Row) -> Row:
    """Return a row with the published figure; a row of errors also gets the published F1."""
    place = table, row.name, row.kernel, row.manifold, row.setting
    figures = find(*place, metric=row.metric)
    if figures:
        first = figures[0]
        row = replace(row, published=first.value, status=first.status, line=first.line)
    scores = find(*place, metric="F1_pct") if row.metric == "error_pct" else []
    return replace(row, published_f1=scores[0].value) if scores else row


def datasets_rows(folder: Path) -> list[Row]:
    """Return the sizes of the sets that are at hand, beside the sizes in the paper."""
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

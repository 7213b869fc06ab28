"""The table of remote homology: the mean ROC50 of all families, and tests between columns."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from mvdfq._utils.threads import Report
from mvdfq.reproduce.cells import READINGS, Cell
from mvdfq.reproduce.families import PENALTIES, rank_families, record_key
from mvdfq.reproduce.published import TABLES, cells, row_of
from mvdfq.reproduce.result import NOT_YET, Row
from mvdfq.reproduce.scop import PROFILE_VIEWS, ProteinSet
from mvdfq.reproduce.store import Record, Store

TABLE = "homology"
COMPARISONS = TABLES[TABLE].comparisons
_row = partial(row_of, TABLE, protocol="remote homology", metric="mean_ROC50")
# A cell, its row, and the ROC50 of every family; no values if the cell was not run.
Judged = tuple[Cell, Row, np.ndarray]


def homology(
    data: ProteinSet, store: Store, readings: Sequence[str] = READINGS, **means: Any
) -> list[Row]:
    """Compute the table of remote homology detection; `means` are keywords of `ranked`.

    Returns the mean ROC50 in percent with its standard deviation over the families, then the
    two-sided p-values of the signed-rank tests.
    """
    wanted = [cell for cell in cells(TABLE) if cell.reading in readings]
    if data.profiles is None:
        lacking: dict[str, Any] = {"methods": (), "why_not": "not run: no profiles"}
        wanted = [replace(c, **lacking) if c.views & {*PROFILE_VIEWS} else c for c in wanted]
    methods = {str(method): method for cell in wanted for method in cell.methods}
    records = ranked([*methods.values()], data, store, **means)
    judged = [_judged(cell, records, data.classes) for cell in wanted]
    return [row for _, row, _ in judged] + _tests(judged)


def ranked(
    methods: Sequence[Any],
    data: ProteinSet,
    store: Store,
    n_jobs: int | None = None,
    memory_limit: Any = None,
    kept: bool = False,
    progress: Report | None = None,
) -> dict[str, dict[str, Record]]:
    """Return the records by method and family; a record is kept as soon as it is computed."""
    records: dict[str, dict[str, Record]] = {}
    for method in methods:
        keys = {family: record_key(method, family, data) for family in data.classes}
        done = {f: record for f, key in keys.items() if (record := store.get(key)) is not None}
        records[str(method)] = done
        lacking = [task for task in data.tasks if task.family not in done and not kept]
        for task, record in rank_families(method, lacking, data, n_jobs, memory_limit):
            store.put(keys[task.family], record)
            done[task.family] = record
            if progress is not None:
                progress(sum(map(len, records.values())), len(methods) * len(keys))
    return records


def _judged(cell: Cell, records: dict[str, Any], families: list[str]) -> Judged:
    """For each family take the method and C that do best in folds of its own training part.

    The inner folds of all families together would choose more steadily, but the training parts of
    most other families contain the test part of this family.
    """
    labels = cell.labels
    if not labels or any(len(records[method]) < len(families) for method in labels):
        return cell, _row(cell, note=NOT_YET if labels else cell.why_not), np.empty(0)
    # method and penalty are one choice, made for every family by itself
    choices = [(method, i) for method in labels for i in range(len(PENALTIES))]
    taken = [
        (family, *max(choices, key=lambda choice: records[choice[0]][family]["inner"][choice[1]]))
        for family in families
    ]
    values = np.array([records[method][family]["roc50"][i] for family, method, i in taken])
    used = Counter(
        f"{labels[method]}, one machine per family, C={PENALTIES[i]:g}" for _, method, i in taken
    )
    seconds = [records[method][family]["seconds"]["gram"] for family, method, _ in taken]
    known: dict[str, Any] = {"value": 100 * float(values.mean()), "std": 100 * float(values.std())}
    known |= {"n_seeds": 1, "n_folds": len(families), "method": dict(used.most_common())}
    known |= {"seconds": {"gram": float(np.mean(seconds))}, "note": cell.why_not}
    return cell, _row(cell, **known), values


def _tests(judged: list[Judged]) -> list[Row]:
    """Return a test for every pair of columns of `COMPARISONS` with equal reading and setting."""
    places: dict[Any, tuple[Cell, np.ndarray]] = {
        (cell.name, cell.kernel, cell.reading, cell.setting): (cell, values)
        for cell, _, values in judged
        if values.size
    }
    return [
        _row(
            replace(cell, name=name, manifold=""),
            metric="p_value",
            value=signed_rank(values, places[other, *place][1]),
            n_seeds=1,
            n_folds=len(values),
            method={"Wilcoxon signed-rank test, two-sided, equal pairs left out": 1},
        )
        for name, column, other in COMPARISONS
        for (first, *place), (cell, values) in places.items()
        if first == column and (other, *place) in places
    ]


def signed_rank(a: np.ndarray, b: np.ndarray) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test; equal pairs are left out."""
    return 1.0 if np.array_equal(a, b) else float(wilcoxon(a, b, zero_method="wilcox").pvalue)

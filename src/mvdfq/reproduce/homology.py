"""The table of remote homology: the mean ROC50 of all families, and tests between columns."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from mvdfq._utils.threads import Report
from mvdfq.reproduce.cells import READINGS, Cell
from mvdfq.reproduce.families import PENALTIES, FamilyJob, rank_families
from mvdfq.reproduce.published import row_of
from mvdfq.reproduce.result import NOT_YET, Row
from mvdfq.reproduce.scop import PROFILE_VIEWS, ProteinSet
from mvdfq.reproduce.settings import cells
from mvdfq.reproduce.store import Store, complete

TABLE, PROTOCOL = "homology", "remote homology"
# Which column is tested against which column, and the paper's name of the comparison.
COMPARISONS = [
    ("MVDFQ vs univariate", "MVDFQ (20 BLOSUM rows)", "Univariate"),
    ("Sim. hashing vs univariate", "Sim. hashing", "Univariate"),
    ("MVDFQ with letters vs univariate", "MVDFQ (letters beside 20 BLOSUM rows)", "Univariate"),
    ("MVDFQ vs profile", "MVDFQ on profiles (NRDB)", "Profile kernel (NRDB)"),
]


@dataclass(frozen=True)
class FamilyValues:
    """A cell: the ROC50 of every family, and how often inner validation chose each method."""

    cell: Cell
    roc50: dict[str, float]
    methods: dict[str, int]
    seconds: float = 0.0

    @property
    def values(self) -> np.ndarray:
        """ROC50 of the families, in their order."""
        return np.array([*self.roc50.values()])


def homology(
    data: ProteinSet,
    store: Store,
    *,
    readings: Sequence[str] = READINGS,
    n_jobs: int | None = None,
    memory_limit: Any = None,
    kept: bool = False,
    progress: Report | None = None,
) -> list[Row]:
    """Compute the table of remote homology detection; see `mvdfq.reproduce.run` for the parameters.

    Returns the mean ROC50 in percent with its standard deviation over the families, then the
    two-sided p-values of the signed-rank tests.
    """
    wanted = [_at_hand(cell, data) for cell in cells(TABLE) if cell.reading in readings]
    methods = {str(method): method for cell in wanted for method in cell.methods}
    jobs = [FamilyJob(method, task, data) for method in methods.values() for task in data.tasks]
    work = partial(rank_families, n_jobs=n_jobs, memory_limit=memory_limit)
    records = complete(jobs, store, None if kept else work, progress)
    by_method: dict[str, dict[str, Any]] = {name: {} for name in methods}
    for job, record in records.items():
        by_method[str(job.method)][job.task.family] = record
    found = [_collect(cell, by_method, data.classes) for cell in wanted]
    return [_mean_row(each) for each in found] + _tests(found)


def _at_hand(cell: Cell, data: ProteinSet) -> Cell:
    """Return a cell; without its methods if they need profiles, and there are none."""
    if data.profiles is not None or not cell.views & {*PROFILE_VIEWS}:
        return cell
    return replace(cell, methods=(), why_not="not run: no profiles")


def _collect(cell: Cell, records: dict[str, Any], families: list[str]) -> FamilyValues:
    """For each family take the method and C that do best in folds of its own training part.

    The inner folds of all families together would choose more steadily, but the training parts of
    most other families contain the test part of this family.
    """
    if not cell.methods:
        return FamilyValues(cell, {}, {})
    if any(len(records[method]) < len(families) for method in cell.described):
        return FamilyValues(replace(cell, why_not=NOT_YET), {}, {})
    choices = [(method, i) for method in cell.described for i in range(len(PENALTIES))]
    taken = {
        family: max(choices, key=lambda choice: records[choice[0]][family]["inner"][choice[1]])
        for family in families
    }
    values = {f: records[method][f]["roc50"][i] for f, (method, i) in taken.items()}
    labels = {str(method): method.label for method in cell.methods}
    names = [
        f"{labels[method]}, one machine per family, C={PENALTIES[i]:g}"
        for method, i in taken.values()
    ]
    seconds = [records[method][f]["seconds"]["gram"] for f, (method, _) in taken.items()]
    counted = dict(Counter(names).most_common())
    return FamilyValues(cell, values, counted, float(np.mean(seconds)))


def _mean_row(found: FamilyValues) -> Row:
    known: dict[str, Any] = {}
    if found.roc50:
        known = {
            "value": 100 * float(found.values.mean()),
            "std": 100 * float(found.values.std()),
            "n_seeds": 1,
            "n_folds": len(found.roc50),
            "method": found.methods,
            "seconds": {"gram": found.seconds},
        }
    cell = found.cell
    return row_of(TABLE, cell, protocol=PROTOCOL, metric="mean_ROC50", note=cell.why_not, **known)


def _tests(found: list[FamilyValues]) -> list[Row]:
    """Return a test for every pair of columns of `COMPARISONS` with equal reading and setting."""
    places = {(each.cell.name, *_place(each)): each for each in found if each.roc50}
    return [
        _test_row(name, mine, places[other, *_place(mine)])
        for name, column, other in COMPARISONS
        for mine in places.values()
        if mine.cell.name == column and (other, *_place(mine)) in places
    ]


def _place(found: FamilyValues) -> tuple[str, str, str]:
    return found.cell.kernel, found.cell.reading, found.cell.setting


def _test_row(name: str, mine: FamilyValues, theirs: FamilyValues) -> Row:
    return row_of(
        TABLE,
        replace(mine.cell, name=name, manifold=""),
        protocol=PROTOCOL,
        metric="p_value",
        value=signed_rank(mine.values, theirs.values),
        n_seeds=1,
        n_folds=len(mine.roc50),
        method={"Wilcoxon signed-rank test, two-sided, equal pairs left out": 1},
    )


def signed_rank(a: np.ndarray, b: np.ndarray) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test; equal pairs are left out."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if not (a != b).any():
        return 1.0
    return float(wilcoxon(a, b, zero_method="wilcox").pvalue)

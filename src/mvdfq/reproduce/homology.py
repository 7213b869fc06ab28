"""The table of remote homology: what is compared, and the mean ROC50 of all families."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from mvdfq._utils.threads import Report
from mvdfq.reproduce.cells import READINGS, Cell
from mvdfq.reproduce.families import PENALTIES, is_kept, rank_families
from mvdfq.reproduce.homology_cells import (
    BESIDE,
    HASHED,
    PROFILE,
    QUANTIZED,
    QUANTIZED_PROFILE,
    UNIVARIATE,
    cells,
)
from mvdfq.reproduce.result import Row
from mvdfq.reproduce.scop import ProteinSet
from mvdfq.reproduce.store import Store

__all__ = ["FamilyValues", "family_values", "homology", "signed_rank"]


# What is tested against what, under the name that the paper gives the comparison.
COMPARISONS = [
    ("MVDFQ vs univariate", QUANTIZED, UNIVARIATE),
    ("Sim. hashing vs univariate", HASHED, UNIVARIATE),
    ("MVDFQ with letters vs univariate", BESIDE, UNIVARIATE),
    ("MVDFQ vs profile", QUANTIZED_PROFILE, PROFILE),
]


@dataclass(frozen=True)
class FamilyValues:
    """A cell: ROC50 of every family, and the methods that inner validation took."""

    cell: Cell
    roc50: dict[str, float]
    methods: dict[str, int]
    seconds: float = 0.0

    @property
    def values(self) -> np.ndarray:
        """ROC50 of the families, in their order."""
        return np.array([*self.roc50.values()])


def homology(data: ProteinSet, store: Store, **options: Any) -> list[Row]:
    """Compute the table of remote homology detection.

    Parameters
    ----------
    data, store, **options
        As `family_values` takes them.

    Returns
    -------
    rows : list of Row
        Mean ROC50 in percent, `std` its standard deviation over the families; then the
        two-sided p-values of the signed-rank tests.
    """
    found = family_values(data, store, **options)
    return [_mean_row(each) for each in found] + _tests(found)


def family_values(
    data: ProteinSet,
    store: Store,
    *,
    readings: Sequence[str] = READINGS,
    n_jobs: int | None = None,
    memory_limit: Any = None,
    quick: bool = False,
    kept: bool = False,
    progress: Report | None = None,
) -> list[FamilyValues]:
    """Compute the ROC50 of every family in every cell.

    Parameters
    ----------
    data : ProteinSet
        What `load_scop` returns.

    store : Store
        Where results are kept: a run that was broken off goes on where it stopped.

    readings : sequence of str, default=("text", "comment", "tuned")
        The settings of the text, those of the comments, those of inner validation on the
        training part of every family.

    n_jobs, memory_limit : default=None
        As `SequenceKernel` takes them.

    quick : bool, default=False
        Three families and a few proteins: a smoke run, whose figures mean nothing.

    kept : bool, default=False
        Compute nothing: cells that are not complete are left empty.

    progress : callable, default=None
        Called with the families done and those there are to do, of all methods together.

    Returns
    -------
    found : list of FamilyValues
        In the order of the table; `roc50` is empty where nothing was run.
    """
    data = data.small() if quick else data
    wanted = [cell for cell in cells(data.profiles is not None) if cell.reading in readings]
    if kept:
        wanted = [_if_kept(cell, data, store) for cell in wanted]
    methods = {str(method): method for cell in wanted for method in cell.methods}
    records = rank_families(
        [*methods.values()],
        data,
        store,
        n_jobs=n_jobs,
        memory_limit=memory_limit,
        progress=progress,
    )
    return [_collect(cell, records, [task.family for task in data.tasks]) for cell in wanted]


def _if_kept(cell: Cell, data: ProteinSet, store: Store) -> Cell:
    """Return a cell, without its methods unless all they give is there."""
    if all(is_kept(method, data, store) for method in cell.methods):
        return cell
    return replace(cell, methods=(), why_not="not run yet")


def _collect(cell: Cell, records: dict[str, Any], families: list[str]) -> FamilyValues:
    """For each family take the method and C that do best in folds of its own training part.

    The folds of other families would be a steadier judge, but most of them see its test part.
    """
    if not cell.methods:
        return FamilyValues(cell, {}, {})
    choices = [(method, i) for method in cell.described for i in range(len(PENALTIES))]
    taken = {
        family: max(choices, key=lambda choice: records[choice[0]][family]["inner"][choice[1]])
        for family in families
    }
    values = {f: records[method][f]["roc50"][i] for f, (method, i) in taken.items()}
    labels = {str(method): method.label for method in cell.methods}
    names = [f"{labels[method]}, C={PENALTIES[i]:g}" for method, i in taken.values()]
    seconds = [records[method][f]["seconds"]["gram"] for f, (method, _) in taken.items()]
    counted = dict(Counter(names).most_common())
    return FamilyValues(cell, values, counted, float(np.mean(seconds)))


def _mean_row(found: FamilyValues) -> Row:
    cell = found.cell
    row = Row(
        cell.name,
        cell.kernel,
        cell.manifold,
        cell.setting,
        cell.reading,
        protocol="remote homology",
        metric="mean_ROC50",
        note=cell.why_not,
    )
    if not found.roc50:
        return row
    return replace(
        row,
        value=100 * float(found.values.mean()),
        std=100 * float(found.values.std()),
        n_seeds=1,
        n_folds=len(found.roc50),
        method="; ".join(f"{n} x {name}" for name, n in found.methods.items()),
        seconds={"gram": found.seconds},
    )


def _tests(found: list[FamilyValues]) -> list[Row]:
    """Every column against letters alone, in the same reading and setting."""
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
    cell = mine.cell
    return Row(
        name,
        cell.kernel,
        setting=cell.setting,
        reading=cell.reading,
        protocol="remote homology",
        metric="p_value",
        value=signed_rank(mine.values, theirs.values),
        n_seeds=1,
        n_folds=len(mine.roc50),
        method="Wilcoxon signed-rank test, two-sided, equal pairs left out",
    )


def signed_rank(a: np.ndarray, b: np.ndarray) -> float:
    """Two-sided p-value of Wilcoxon's signed-rank test; pairs that are equal are left out.

    Parameters
    ----------
    a, b : ndarray of shape (n_families,)
        Values of the same families.

    Returns
    -------
    p_value : float
        1 where all pairs are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from mvdfq.reproduce.homology import signed_rank
    >>> signed_rank(np.array([2, 4, 6, 8, 10, 12, 7]), np.array([1, 2, 3, 4, 5, 6, 7]))
    0.03125
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if not (a != b).any():
        return 1.0
    return float(wilcoxon(a, b, zero_method="wilcox").pvalue)

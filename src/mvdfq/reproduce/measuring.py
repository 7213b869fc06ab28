"""All folds of all cells of a table, those that were computed before taken from the store."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from mvdfq._utils.threads import Report
from mvdfq.evaluation import Evaluation, Fold
from mvdfq.machines.validation import CANDIDATES
from mvdfq.reproduce.cells import Cell
from mvdfq.reproduce.fold import CHOICE, CHOICE_FOLDS, Workshop
from mvdfq.reproduce.sets import Cut, MusicSet
from mvdfq.reproduce.store import Store

__all__ = ["Measured", "measure"]


# Cells with a kernel matrix that takes longer are not repeated with other seeds.
SLOW = 60.0
# How machines are trained and methods chosen: part of what a result is the result of.
POLICY = f"C of {CANDIDATES} by 5 inner folds; methods on {CHOICE} clips in {CHOICE_FOLDS} folds"


@dataclass(frozen=True)
class Job:
    """One fold of one cell."""

    cell: Cell
    protocol: str
    seed: int
    cut: Cut

    def key(self, data: MusicSet) -> dict[str, Any]:
        """What the result depends on."""
        return {
            "data": [data.digest(view) for view in sorted(self.cell.views)],
            "cut": data.cut_digest(self.cut, self.protocol),
            "protocol": self.protocol,
            "seed": self.seed,
            "fold": self.cut.name,
            "methods": self.cell.described,
            "policy": POLICY,
            "version": version("mvdfq"),
        }

    @property
    def order(self) -> tuple[Any, ...]:
        """What stands first: cells of a fold that share symbols follow each other."""
        return self.seed, self.protocol, self.cut.name, self.cell.methods[0].encoder


@dataclass(frozen=True)
class Measured:
    """A cell under a protocol: what was said in its folds."""

    cell: Cell
    protocol: str
    records: list[dict[str, Any]]
    evaluation: Evaluation

    @property
    def errors(self) -> np.ndarray:
        """Error in percent of every seed: the share of all test parts together."""
        return np.array([*self.by_seed.values()])

    @property
    def spread(self) -> float:
        """Standard deviation over the folds of all seeds, in percent."""
        return 100 * self.evaluation.spread

    @property
    def methods(self) -> Counter[tuple[str, str]]:
        """The methods taken, each with its scheme of machines, and in how many folds."""
        return Counter((record["method"], record.get("scheme", "")) for record in self.records)

    def seconds(self, part: str) -> float:
        """Mean over the folds of how long a part of the work took."""
        found = [record["seconds"].get(part, 0.0) for record in self.records]
        return float(np.mean(found))

    @property
    def by_seed(self) -> dict[str, float]:
        """Error in percent of every seed."""
        seeds: dict[str, list[Fold]] = {}
        for fold in self.evaluation.folds:
            seeds.setdefault(str(fold.seed), []).append(fold)
        return {seed: 100 * _wrong(folds) for seed, folds in seeds.items()}


def _wrong(folds: Iterable[Fold]) -> float:
    return float(np.mean(np.concatenate([fold.truth != fold.predicted for fold in folds])))


def measure(
    cells: Sequence[Cell],
    data: MusicSet,
    protocols: Sequence[str],
    seeds: Sequence[int],
    workshop: Workshop | None,
    store: Store,
    progress: Report | None = None,
) -> list[Measured]:
    """Compute what is missing of some cells, and return all of them.

    Without a workshop nothing is computed, and what is incomplete is left out.

    The first seed of everything comes first. Only the first protocol, the paper's own, is
    repeated with the others, if it shuffles at all, and only cells whose kernel matrix takes less
    than a minute.
    """
    repeated = [protocol for protocol in protocols[:1] if data.shuffles(protocol)]
    plan = [
        _jobs(cells, data, protocols if i == 0 else repeated, seed) for i, seed in enumerate(seeds)
    ]
    total, done = sum(map(len, plan)), list[Job]()
    for i, jobs in enumerate(plan):
        is_new = workshop is not None and i > 0
        slow = [cell for cell in cells if is_new and _is_slow(cell, done, data, store)]
        for job in jobs if workshop is not None else _kept(jobs, data, store):
            if any(job.cell is cell for cell in slow):
                total -= 1
                continue
            if workshop is not None:
                _do(job, data, workshop, store)
            done.append(job)
            if progress is not None:
                progress(len(done), total)
    return [
        measured
        for protocol in protocols
        for cell in cells
        if (measured := _collect(cell, protocol, done, data, store)).records
    ]


def _kept(jobs: list[Job], data: MusicSet, store: Store) -> list[Job]:
    """Return the folds of those cells all of whose folds are there."""
    lacking = [job for job in jobs if store.get(job.key(data)) is None]
    return [
        job
        for job in jobs
        if not any(job.cell is other.cell and job.protocol == other.protocol for other in lacking)
    ]


def _do(job: Job, data: MusicSet, workshop: Workshop, store: Store) -> None:
    """Compute a fold unless it is there."""
    if store.get(job.key(data)) is None:
        record = workshop.run(job.cell.methods, data, job.cut, job.protocol, job.seed)
        store.put(job.key(data), record)


def _jobs(cells: Sequence[Cell], data: MusicSet, protocols: Sequence[str], seed: int) -> list[Job]:
    jobs = [
        Job(cell, protocol, seed, cut)
        for protocol in protocols
        for cut in data.cuts(protocol, seed)
        for cell in cells
    ]
    return sorted(jobs, key=lambda job: job.order)


def _is_slow(cell: Cell, done: list[Job], data: MusicSet, store: Store) -> bool:
    """Whether a kernel matrix of this cell took long in the folds done."""
    mine = [_record(job, data, store) for job in done if job.cell is cell]
    seconds = [record["seconds"].get("gram", 0.0) for record in mine]
    return bool(seconds) and float(np.median(seconds)) > SLOW


def _record(job: Job, data: MusicSet, store: Store) -> dict[str, Any]:
    record = store.get(job.key(data))
    if record is None:
        raise OSError(f"{store.folder}: a record that was just written cannot be read")
    return record


def _collect(cell: Cell, protocol: str, jobs: list[Job], data: MusicSet, store: Store) -> Measured:
    """Put the folds of a cell together."""
    records, folds = [], []
    for job in jobs:
        if job.cell is not cell or job.protocol != protocol:
            continue
        record = _record(job, data, store)
        test, predicted = np.array(record["test"]), np.array(record["predicted"])
        records.append(record)
        folds.append(Fold(job.cut.name, job.seed, test, data.y[test], predicted))
    return Measured(
        cell, protocol, records, Evaluation(protocol, [*range(len(data.classes))], folds)
    )

"""The tables about music: every fold of a cell is a job, and the folds together give a row."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

import joblib
import numpy as np

from mvdfq._utils.checks import parse_folds
from mvdfq._utils.threads import Report
from mvdfq._utils.version import source_digest
from mvdfq.evaluation import Evaluation, Fold
from mvdfq.reproduce.cells import Cell, EstimatorMethod
from mvdfq.reproduce.published import SECONDS, TABLES, row_of
from mvdfq.reproduce.result import NOT_YET, Row
from mvdfq.reproduce.sets import Cut, MusicSet
from mvdfq.reproduce.store import Record, Store
from mvdfq.reproduce.workshop import POLICY, Workshop, timed

# A cell is not repeated with other seeds if its kernel matrix takes longer than these seconds.
SLOW = 60.0
# Parts of the work that are timed.
PARTS = ("choice", "encode", "gram", "machines")


def music(
    table: str,
    wanted: Sequence[Cell],
    data: MusicSet,
    protocols: Sequence[str],
    seeds: Sequence[int],
    worker: Workshop | None,
    store: Store,
    progress: Report | None = None,
) -> list[Row]:
    """Return the rows of a table about music: measured, not run, and of seconds."""
    why_not = {cell: why for cell in wanted if (why := cell.lacks(data))}
    ready = [cell for cell in wanted if cell not in why_not]
    measured = measure(ready, data, protocols, seeds, worker, store, progress)
    done = {(each.cell, each.protocol) for each in measured}
    rows = [each.row(table, data.notes) for each in measured]
    rows += [row_of(table, cell, note=why) for cell, why in why_not.items()]
    lacking = [(cell, cut) for cell in ready for cut in protocols if (cell, cut) not in done]
    rows += [row_of(table, cell, note=NOT_YET, protocol=cut) for cell, cut in lacking]
    for cell in ready if TABLES[table].is_timed else []:  # each has one string method
        known: dict[str, Any] = {"note": NOT_YET}
        if seconds := timed(cell.methods[0], data, store, worker):
            value, label = seconds["count"] + seconds["gram"], cell.methods[0].label
            known = dict(value=value, seconds=seconds, method={label: 1}, note="one thread")
        rows.append(row_of(table, cell, metric=SECONDS, **known))
    return rows


@dataclass(frozen=True, eq=False)
class FoldJob:
    """One fold of one cell."""

    cell: Cell
    protocol: str
    seed: int
    cut: Cut
    data: MusicSet = field(repr=False)

    @cached_property
    def key(self) -> dict[str, Any]:
        """Everything that the predictions of this fold depend on."""
        # the workshop does not import the modules of baselines
        methods = [method for method in self.cell.methods if isinstance(method, EstimatorMethod)]
        baselines = sorted({type(method.estimator).__module__ for method in methods})
        groups = self.data.inner_groups(self.protocol)
        known = None if groups is None else groups.tolist()
        return {
            "data": [self.data.digest(view) for view in sorted(self.cell.views)],
            "cut": joblib.hash((self.cut.train.tolist(), self.cut.test.tolist(), known)),
            "protocol": self.protocol,
            "seed": self.seed,
            "fold": self.cut.name,
            "methods": [*self.cell.labels],
            "policy": POLICY,
            "source": source_digest("mvdfq.reproduce.workshop", *baselines),
        }

    @property
    def order(self) -> tuple[Any, ...]:
        """Jobs that share rows, or the symbols of a fold, follow each other in this order."""
        first = self.cell.methods[0]
        symbols = str(getattr(first, "symbols", ""))
        return first.view, symbols, self.seed, self.protocol, self.cut.name


@dataclass(frozen=True)
class Measured:
    """The folds of a cell under one protocol and one multi-class scheme."""

    cell: Cell
    protocol: str
    scheme: str  # empty for baselines, and where inner validation chooses the scheme of each fold
    records: list[Record]
    evaluation: Evaluation

    @property
    def by_seed(self) -> dict[str, float]:
        """Error in percent of every seed, over all its test parts together."""
        seeds: dict[str, list[np.ndarray]] = {}
        for fold in self.evaluation.folds:
            seeds.setdefault(str(fold.seed), []).append(fold.truth != fold.predicted)
        return {seed: 100 * float(np.mean(np.concatenate(w))) for seed, w in seeds.items()}

    def row(self, table: str, notes: Mapping[str, str]) -> Row:
        """Return the row of the cell; `notes` tell what must be known of a view."""
        by_seed, (first, second) = self.by_seed, self.evaluation.f1
        used: Counter[str] = Counter()
        for record in self.records:  # a fold that chose its scheme names the scheme
            chosen = "" if self.scheme else _scheme(record, "")
            used[", ".join(filter(None, (self.cell.labels[record["method"]], chosen)))] += 1
        return row_of(
            table,
            self.cell,
            scheme=self.scheme,
            protocol=self.protocol,
            value=float(np.mean([*by_seed.values()])),
            std=100 * self.evaluation.spread,
            f1=(100 * first, 100 * second),
            by_seed=by_seed,
            n_seeds=len(by_seed),
            n_folds=len(self.evaluation.folds) // max(len(by_seed), 1),
            method=dict(used.most_common()),
            note="; ".join(notes[view] for view in sorted(self.cell.views) if view in notes),
            seconds={
                part: float(np.mean([record["seconds"].get(part, 0.0) for record in self.records]))
                for part in PARTS
            },
        )


def measure(
    cells: Sequence[Cell],
    data: MusicSet,
    protocols: Sequence[str],
    seeds: Sequence[int],
    workshop: Workshop | None,
    store: Store,
    progress: Report | None = None,
) -> list[Measured]:
    """Compute the folds that are not kept, and return all cells that are complete.

    Without a workshop nothing is computed. The first seed of all cells comes first. Other seeds are
    run for the first protocol alone, if its folds depend on the seed, and not for slow cells.
    """

    def jobs_of(protocols: Sequence[str], seeds: Sequence[int]) -> list[FoldJob]:
        cuts = [(p, seed, cut) for seed in seeds for p in protocols for cut in data.cuts(p, seed)]
        jobs = [FoldJob(cell, *cut, data) for cut in cuts for cell in cells]
        return sorted(jobs, key=lambda job: job.order)

    # Only the first seed shows which cells are slow, so all its folds come before other seeds.
    repeated = [cut for cut in protocols[:1] if parse_folds(cut) or cut == "artist-disjoint"]
    first, others = jobs_of(protocols, seeds[:1]), jobs_of(repeated, seeds[1:])
    records: dict[FoldJob, Record] = {}

    def complete(jobs: Sequence[FoldJob]) -> None:
        for job in jobs:
            record = store.get(job.key)
            if record is None and workshop is not None:
                record = workshop.run(job.cell.methods, data, job.cut, job.protocol, job.seed)
                store.put(job.key, record)  # at once: an interrupted run loses one fold at most
                if progress is not None:
                    progress(len(records) + 1, len(first) + len(others))
            if record is not None:
                records[job] = record

    complete(first)
    if workshop is not None:
        grams: dict[Cell, list[float]] = {}
        for job, record in records.items():
            grams.setdefault(job.cell, []).append(record["seconds"].get("gram", 0.0))
        others = [job for job in others if np.median(grams[job.cell]) <= SLOW]
    complete(others)
    return [
        measured
        for protocol, cell in product(protocols, cells)
        for measured in _collected(cell, protocol, [*first, *others], records)
    ]


def _collected(
    cell: Cell, protocol: str, jobs: Sequence[FoldJob], records: Mapping[FoldJob, Record]
) -> Iterator[Measured]:
    """Yield a cell with the folds of a protocol, by scheme; a seed counts if all folds are kept."""
    of_cell = [job for job in jobs if job.cell is cell and job.protocol == protocol]
    lacking = {job.seed for job in of_cell if job not in records}
    whole = {job: records[job] for job in of_cell if job.seed not in lacking}
    schemes = next(iter(whole.values()))["said"] if whole else []
    # each fold of a tuned cell chooses its scheme, so that the cell is shown once
    for scheme in [""] if whole and cell.reading == "tuned" else schemes:
        folds = []
        for job, record in whole.items():
            test, answer = np.array(record["test"]), record["said"][_scheme(record, scheme)]
            truth, predicted = job.data.y[test], np.array(answer["predicted"])
            folds.append(Fold(job.cut.name, job.seed, test, truth, predicted))
        evaluation = Evaluation(protocol, [*range(len(of_cell[0].data.classes))], folds)
        yield Measured(cell, protocol, scheme, [*whole.values()], evaluation)


def _scheme(record: Record, scheme: str) -> str:
    """Return the given scheme; if it was not run, the scheme that validates best."""
    answers = record["said"]
    return scheme if scheme in answers else max(answers, key=lambda name: answers[name]["score"])

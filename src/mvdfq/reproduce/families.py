"""Remote homology: every family of every method is a job, with one machine for the family."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from mvdfq._utils.sources import source_digest
from mvdfq._utils.threads import n_threads, run_in_order
from mvdfq.evaluation import roc50
from mvdfq.io.homology import HomologyTask
from mvdfq.reproduce.residues import protein_gram
from mvdfq.reproduce.runner import Record
from mvdfq.reproduce.scop import PROFILE_VIEWS, ProteinSet
from mvdfq.terms.svm import Problems, fit_margins

__all__ = ["PENALTIES", "POLICY", "FamilyJob", "inner_folds", "rank_families"]

# Values of C to choose from: a soft margin, and a margin so hard that larger values change nothing.
PENALTIES = (1.0, 100.0)
FOLDS = 3
# Inner validation uses this many negatives of a training part.
CHOICE = 1500
# How C is chosen: every record depends on this.
POLICY = (
    f"balanced classes, C out of {PENALTIES} by {FOLDS} inner folds of whole SCOP families and at "
    f"most {CHOICE} negatives"
)


@dataclass(frozen=True, eq=False)
class FamilyJob:
    """One family, ranked by one method."""

    method: Any
    task: HomologyTask
    data: ProteinSet = field(repr=False)

    @cached_property
    def key(self) -> dict[str, Any]:
        """Everything that the ranking depends on."""
        needs_profiles = getattr(self.method, "view", "") in PROFILE_VIEWS
        return {
            "data": self.data.digest,
            "profiles": self.data.profiles_digest if needs_profiles else "",
            "family": self.task.family,
            "method": str(self.method),
            "policy": POLICY,
            "source": source_digest("mvdfq.reproduce.families"),
        }


def rank_families(
    jobs: Sequence[FamilyJob], n_jobs: int | None = None, memory_limit: Any = None
) -> Iterator[tuple[FamilyJob, Record]]:
    """Rank the test part of families; jobs of one method follow each other and share its matrix.

    A record holds ``roc50`` of the test part and ``inner``, the mean ROC50 in folds of the training
    part: one value for each of `PENALTIES`.
    """
    for method, same in groupby(jobs, key=lambda job: job.method):
        mine = [*same]
        start = time.perf_counter()
        K = protein_gram(method, mine[0].data, n_jobs, memory_limit)
        seconds = {"gram": round(time.perf_counter() - start, 3)}
        rank = lambda job: {**_rank(K, job.task, job.data.codes), "seconds": seconds}  # noqa: B023, E731
        yield from run_in_order(rank, mine, n_threads(n_jobs))


def _rank(K: np.ndarray, task: HomologyTask, codes: np.ndarray) -> dict[str, Any]:
    """Return the ROC50 of the test part and the mean ROC50 of the inner folds, for every C."""
    whole = task.train, task.y_train, task.test, task.y_test
    folds = [*inner_folds(task, codes)]
    return {
        "roc50": [_area(K, *whole, C) for C in PENALTIES],
        "inner": [
            float(np.mean([_area(K, *fold, C) for fold in folds])) if folds else 0.0
            for C in PENALTIES
        ],
    }


def _area(K: np.ndarray, learn, y, check, y_check, C: float) -> float:
    """Return the ROC50 of a machine; both classes have the same total weight."""
    y = y.astype(int)
    margins = fit_margins(
        K[np.ix_(learn, learn)],
        y,
        Problems(2, "ovr"),
        C,
        sample_weight=len(y) / (2 * np.bincount(y))[y],
    )
    return roc50(y_check, margins.of(K[np.ix_(check, learn)])[:, 0])


def inner_folds(
    task: HomologyTask, codes: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Cut a training part as the task itself is cut: whole families of the positives are held out.

    If all positives are of one family, they are cut at random; a single positive is not cut.
    `codes` are the SCOP families of all proteins. A fold is the indices to learn from, whether each
    of them is positive, the indices to check, and whether each of these is positive.
    """
    random = np.random.default_rng(0)
    positive = task.train[task.y_train]
    negative = random.permutation(task.train[~task.y_train])[:CHOICE]
    groups = codes[positive] if len(set(codes[positive])) > 1 else np.arange(len(positive))
    kinds = random.permutation(np.unique(groups))
    n_folds = min(FOLDS, len(kinds), len(negative))
    for f in range(n_folds if n_folds > 1 else 0):
        out = np.isin(groups, kinds[f::n_folds])
        apart = np.arange(len(negative)) % n_folds == f
        yield (
            *_joined(positive[~out], negative[~apart]),
            *_joined(positive[out], negative[apart]),
        )


def _joined(positive: np.ndarray, negative: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    members = np.concatenate([positive, negative])
    return members, np.arange(len(members)) < len(positive)

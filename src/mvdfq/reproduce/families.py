"""One machine a family: it learns from the training part and ranks the test part."""

import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from mvdfq._utils.threads import Report, n_threads, run_in_order
from mvdfq.evaluation import roc50
from mvdfq.io.homology import HomologyTask
from mvdfq.machines.svm import Problems, fit_margins
from mvdfq.reproduce.residues import protein_gram
from mvdfq.reproduce.scop import PROFILE_VIEWS, ProteinSet
from mvdfq.reproduce.store import Store

__all__ = ["PENALTIES", "POLICY", "inner_folds", "is_kept", "rank_families"]

Records = dict[str, dict[str, Any]]

# Penalties to choose from: a soft margin, and one so hard that larger ones change nothing.
PENALTIES = (1.0, 100.0)
FOLDS = 3
# Negatives of a training part that inner validation looks at.
CHOICE = 1500
# How machines are trained: part of what a result depends on.
POLICY = (
    f"balanced classes, C out of {PENALTIES} by {FOLDS} inner folds of whole SCOP families and at "
    f"most {CHOICE} negatives"
)


def rank_families(
    methods: Sequence[Any],
    data: ProteinSet,
    store: Store,
    *,
    n_jobs: int | None = None,
    memory_limit: Any = None,
    progress: Report | None = None,
) -> dict[str, Records]:
    """Compute what is missing of some methods, and return all of it.

    Parameters
    ----------
    methods : sequence of StringMethod or RbfMethod
        The kernels; each is computed once for all proteins, if any family lacks it.

    data : ProteinSet
        Proteins and tasks.

    store : Store
        Where the record of every family and method is kept as soon as it is there.

    n_jobs, memory_limit : default=None
        As `SequenceKernel` takes them.

    progress : callable, default=None
        Called with the families done and those there are to do, of all methods together.

    Returns
    -------
    records : dict of str to dict of str to dict
        Method -> family -> ``roc50`` of the test part, and ``inner``, the mean ROC50 in folds
        of the training part, both for every one of `PENALTIES`.
    """
    missing = [
        (method, task)
        for method in methods
        for task in data.tasks
        if store.get(_key(data, task, method)) is None
    ]
    done = 0
    for method in methods:
        tasks = [task for other, task in missing if other is method]
        for task, record in _ranked(method, tasks, data, n_jobs, memory_limit):
            store.put(_key(data, task, method), record)
            done += 1
            if progress is not None:
                progress(done, len(missing))
    return {
        str(method): {task.family: store.get(_key(data, task, method)) or {} for task in data.tasks}
        for method in methods
    }


def is_kept(method: Any, data: ProteinSet, store: Store) -> bool:
    """Whether all families of a method are there."""
    return all(store.get(_key(data, task, method)) is not None for task in data.tasks)


def _key(data: ProteinSet, task: HomologyTask, method: Any) -> dict[str, Any]:
    """What a result depends on."""
    needs_profiles = getattr(method, "view", "") in PROFILE_VIEWS
    return {
        "data": data.digest,
        "profiles": data.profiles_digest if needs_profiles else "",
        "family": task.family,
        "method": str(method),
        "C": POLICY,
        "version": version("mvdfq"),
    }


def _ranked(
    method: Any, tasks: list[HomologyTask], data: ProteinSet, n_jobs: int | None, memory_limit: Any
) -> Iterator[tuple[HomologyTask, dict[str, Any]]]:
    """Yield the families of one method with their records, as they are done."""
    if not tasks:
        return
    start = time.perf_counter()
    K = protein_gram(method, data, n_jobs, memory_limit)
    seconds = round(time.perf_counter() - start, 3)

    def record(task: HomologyTask) -> dict[str, Any]:
        return {**_rank(K, task, data.codes), "seconds": {"gram": seconds}}

    yield from run_in_order(record, tasks, n_threads(n_jobs))


def _rank(K: np.ndarray, task: HomologyTask, codes: np.ndarray) -> dict[str, Any]:
    """Return ROC50 of the test part, and its mean in folds of the training part, for every C."""
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
    """ROC50 of a machine to which both classes weigh the same."""
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

    Positives of one family alone are cut at random, a single positive not at all. Of the
    negatives 1500 at most are looked at.

    Parameters
    ----------
    task : HomologyTask
        Its test part is not looked at.

    codes : ndarray of shape (n_proteins,)
        SCOP family of every protein.

    Yields
    ------
    fold : tuple of ndarray
        Indices to learn from, which of them are positive, indices to check, which are positive.
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

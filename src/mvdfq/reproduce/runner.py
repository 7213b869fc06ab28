"""The one runner of all tables: it takes kept records from the store and computes the others."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from mvdfq._utils.threads import Report
from mvdfq.reproduce.store import Store

__all__ = ["Job", "Record", "Work", "complete"]

Record = dict[str, Any]


class Job(Protocol):
    """A piece of work whose record is kept: one fold of one cell, one family of one method."""

    @property
    def key(self) -> dict[str, Any]:
        """Everything that the record depends on, as plain numbers and text."""


J = TypeVar("J", bound=Job)
# Computes jobs, and yields each job with its record as soon as the record is there.
Work = Callable[[Sequence[J]], Iterable[tuple[J, Record]]]


def complete(
    jobs: Sequence[J], store: Store, work: Work[J] | None, progress: Report | None = None
) -> dict[J, Record]:
    """Return the records of jobs, and compute the records that the store does not hold.

    Jobs with equal keys are computed once. Every new record is kept at once, so that an interrupted
    run loses one job at most. If `work` is None, nothing is computed and only kept records are
    returned.
    """
    lacking = {store.path(job.key): job for job in jobs if store.get(job.key) is None}
    n_kept = len(jobs) - len(lacking)
    if work is not None:
        for i, (job, record) in enumerate(work([*lacking.values()]), start=1):
            store.put(job.key, record)
            if progress is not None:
                progress(n_kept + i, len(jobs))
    found = {job: store.get(job.key) for job in jobs}
    records = {job: record for job, record in found.items() if record is not None}
    if work is not None and len(records) < len(jobs):
        raise OSError(f"{store.folder}: a record that was just written cannot be read back.")
    return records

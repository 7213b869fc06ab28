"""The seconds that the kernel matrix of all clips takes on one thread, part by part."""

import platform
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from mvdfq._utils.version import source_digest
from mvdfq.reproduce.cells import StringMethod
from mvdfq.reproduce.sets import MusicSet
from mvdfq.reproduce.store import Record, Store, complete

# The least of three times: other programs can only add to it.
REPEATS = 3
# Clips of the first small matrix, which compiles the loops.
WARM_UP = 20


@dataclass(frozen=True, eq=False)
class TimingJob:
    """The seconds of one method on one processor."""

    method: StringMethod
    data: MusicSet

    @cached_property
    def key(self) -> dict[str, Any]:
        """Everything that the seconds depend on."""
        return {
            "data": self.data.digest(self.method.view),
            "timing": str(self.method),
            "repeats": REPEATS,
            "processor": processor(),
            "source": source_digest("mvdfq.reproduce.timing"),
        }


def timed(
    methods: Sequence[StringMethod], data: MusicSet, store: Store, memory_limit: Any, kept: bool
) -> list[Record | None]:
    """Return the seconds of methods on all clips with one thread: learn, encode, count and Gram.

    Counting words is the time of the diagonal; the Gram is the time of the rest of the matrix.
    With `kept` nothing is measured, and a method without a kept record has None.
    """
    jobs = [TimingJob(method, data) for method in methods]

    def work(jobs: Sequence[TimingJob]) -> Iterator[tuple[TimingJob, Record]]:
        for job in jobs:
            with threadpool_limits(1):
                yield job, _seconds(job.method, data, memory_limit)

    records = complete(jobs, store, None if kept else work)
    return [records.get(job) for job in jobs]


def processor() -> str:
    """Return the name of the processor, if the system tells it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or platform.machine()
    names = re.findall(r"^model name\s*: (.*)$", text, flags=re.MULTILINE)
    return names[0].strip() if names else platform.machine()


def _seconds(method: StringMethod, data: MusicSet, memory_limit: Any) -> dict[str, Any]:
    X = data.view(method.view)
    learn, quantizer = _best(lambda: clone(method.symbols).fit(X), repeats=1)
    encode, symbols = _best(lambda: quantizer.transform(X))
    kernel = method.sequence_kernel(1, memory_limit)
    clone(kernel).fit_transform(symbols[np.arange(min(WARM_UP, len(data)))])  # compiles
    kernel.fit(symbols)
    whole, _ = _best(lambda: kernel.compare(kernel.train_, None))
    diagonal, _ = _best(lambda: kernel.diagonal(symbols))
    # If counting is nearly all of the work, the diagonal alone may take a little longer.
    count = min(diagonal, whole)
    return {"learn": learn, "encode": encode, "count": count, "gram": round(whole - count, 3)}


def _best(work: Callable[[], Any], repeats: int = REPEATS) -> tuple[float, Any]:
    """Return the least time of several runs, and the result of the last run."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return round(min(times), 3), result

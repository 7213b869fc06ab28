"""Work shared by threads: in order, a few jobs at a time, same bits for any number of threads.

Worker processes do not outlive the process that started them.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock, Thread
from typing import Any

import joblib
import numpy as np
from threadpoolctl import ThreadpoolController

__all__ = ["Report", "end_with_parent", "n_threads", "one_blas_thread", "run_in_order"]

# A function that is told how much is done, and how much there is to do.
Report = Callable[[int, int], None]
# Seconds between two looks at the parent process.
GAP = 0.5


def run_in_order(
    function: Callable[[Any], Any], jobs: Iterable[Any], workers: int
) -> Generator[tuple[Any, Any], None, None]:
    """Yield each job with its result, in the order of the jobs, computed by threads.

    Only a few jobs are under way at a time, so that results do not pile up in memory. The linear
    algebra library uses one thread: more threads would compete with ours, and the last bits of
    its results depend on the number of its threads. One worker is the calling thread itself: to
    start a thread takes as long as many a prediction.
    """
    if workers == 1:
        with one_blas_thread():
            yield from ((job, function(job)) for job in jobs)
        return
    with one_blas_thread(), ThreadPoolExecutor(workers) as pool:
        waiting: deque[tuple[Any, Any]] = deque()
        try:
            for job in jobs:
                waiting.append((job, pool.submit(function, job)))
                if len(waiting) > workers:
                    job, future = waiting.popleft()
                    yield job, future.result()
            while waiting:
                job, future = waiting.popleft()
                yield job, future.result()
        finally:  # after an error or Ctrl-C: do not start jobs that have not begun
            for _, future in waiting:
                future.cancel()


class _BlasLimit:
    """Limits the linear algebra library to one thread while a caller needs the limit.

    The setting belongs to the whole process. Where calls overlap, the first caller sets the limit
    and the last caller restores the old number: an earlier restore would lift the limit of the
    other callers, and a second save would save the limit itself.
    """

    def __init__(self) -> None:
        self.lock, self.users = Lock(), 0
        self.limiter: Any = None

    def enter(self) -> None:
        """Set the limit, if no other caller has set it."""
        with self.lock:
            if self.users == 0:
                self.limiter = _libraries().limit(limits=1, user_api="blas")
            self.users += 1

    def leave(self) -> None:
        """Restore the old number of threads, if no other caller needs the limit."""
        with self.lock:
            self.users -= 1
            if self.users == 0:
                self.limiter.restore_original_limits()


_BLAS_LIMIT = _BlasLimit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit the linear algebra library to one thread."""
    _BLAS_LIMIT.enter()
    try:
        yield
    finally:
        _BLAS_LIMIT.leave()


@cache
def _libraries() -> ThreadpoolController:
    """Return the loaded libraries that have threads; cached, as the search takes milliseconds."""
    return ThreadpoolController()


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads for `n_jobs`: None means one thread, -1 all processors.

    Examples
    --------
    >>> n_threads(None), n_threads(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise ValueError(
            f"n_jobs must be a number of threads, or -1 for all processors, got {n_jobs!r}."
        )
    return n_jobs if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + n_jobs)


@cache
def end_with_parent(parent: int) -> None:
    """Let this worker end soon after the process `parent`; call it in the worker, once or often.

    A parent that is killed by ``kill -9`` cannot end its workers, and the workers of joblib would
    wait five minutes for work. On Windows the number of the parent never changes: workers wait.
    """
    Thread(target=_watch, args=[parent], daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(GAP)
    os._exit(1)

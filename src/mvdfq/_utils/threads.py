"""Work shared by threads or processes, in order: same bits for any number of them.

Worker processes do not outlive the process that started them.
"""

import os
import signal
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock, Thread
from typing import Any

import joblib
import numpy as np
from threadpoolctl import ThreadpoolController

from mvdfq._utils.errors import ParameterError

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
            for job, future in waiting:
                yield job, future.result()
        finally:  # after an error or Ctrl-C: do not start jobs that have not begun
            for _, future in waiting:
                future.cancel()


# The loaded libraries that have threads; cached, as the search takes milliseconds.
_libraries = cache(ThreadpoolController)


class _BlasLimit:
    """Who needs the limit of the linear algebra library, and what restores the old number."""

    lock, users, limiter = Lock(), 0, None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit the linear algebra library to one thread.

    The setting belongs to the whole process. Where calls overlap, the first caller sets the limit
    and the last caller restores the old number: an earlier restore would lift the limit of the
    other callers, and a second save would save the limit itself.
    """
    limit: Any = _BlasLimit
    with limit.lock:
        if limit.users == 0:
            _let_any_thread_set_it()
            limit.limiter = _libraries().limit(limits=1, user_api="blas")
        limit.users += 1
    try:
        yield
    finally:
        with limit.lock:
            limit.users -= 1
            if limit.users == 0:
                _let_any_thread_set_it()
                limit.limiter.restore_original_limits()
                _let_any_thread_set_it()


def _let_any_thread_set_it() -> None:
    """Since threadpoolctl 3.8 one thread controls OpenBLAS; others do nothing, without an error."""
    for library in _libraries().lib_controllers:
        getattr(library, "clear_controlling_thread", lambda force: None)(force=True)


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads for `n_jobs`: None means one thread, -1 all processors.

    >>> n_threads(None), n_threads(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        wanted = f"must be a number of threads, or -1 for all processors, got {n_jobs!r}"
        raise ParameterError("n_jobs", wanted)
    return n_jobs if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + n_jobs)


def in_processes(
    attempt: Callable[..., Any], jobs: Sequence[tuple[Any, ...]], workers: int
) -> Generator[Any, None, None]:
    """Yield what `attempt` returns for each job, in order, computed by processes."""
    if workers == 1 or len(jobs) < 2:
        yield from (attempt(*job) for job in jobs)
        return
    parallel = joblib.Parallel(n_jobs=min(workers, len(jobs)), return_as="generator")
    tasks = (joblib.delayed(_in_worker)(os.getpid(), attempt, job) for job in jobs)
    results: Any = ()
    try:
        with _without_interrupts():
            results = parallel(tasks)
        # not "yield from", which would close the results outside of "finally"
        for result in results:  # noqa: UP028
            yield result
    finally:
        with warnings.catch_warnings():  # joblib warns of work that nobody needs any more
            warnings.simplefilter("ignore", UserWarning)
            if results:
                results.close()


def _in_worker(parent: int, attempt: Callable[..., Any], job: tuple[Any, ...]) -> Any:
    _end_with_parent(parent)
    return attempt(*job)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back for the moment in which processes are started.

    The processes inherit this setting, so that they never print tracebacks; the process that
    started them ends them. A Ctrl-C that comes in this moment is raised after the moment.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    for tracker in (resource_tracker, loky_tracker):  # a tracker unblocks Ctrl-C when it starts
        tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@cache
def _end_with_parent(parent: int) -> None:
    """Let this worker end soon after the process `parent`; call it in the worker, once or often.

    A parent that is killed by ``kill -9`` cannot end its workers, and the workers of joblib would
    wait five minutes for work. On Windows the number of the parent never changes: workers wait.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(GAP)
        os._exit(1)

    Thread(target=watch, daemon=True).start()

"""Work shared by threads: in order, a few jobs at a time, the same bits for any number."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

import joblib
import numpy as np
from threadpoolctl import ThreadpoolController

__all__ = ["Report", "n_threads", "one_blas_thread", "run_in_order"]

# Told how much is done, and how much there is to do.
Report = Callable[[int, int], None]


def run_in_order(
    function: Callable[[Any], Any], jobs: Iterable[Any], workers: int
) -> Generator[tuple[Any, Any], None, None]:
    """Yield each job with its result, in the order of the jobs, computed by threads.

    Only a few jobs are under way at a time, so that results do not pile up. The linear algebra
    library is held to one thread: ours are enough, and its results must not vary.
    """
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
        finally:  # an error or Ctrl-C: do not start what has not begun
            for _, future in waiting:
                future.cancel()


class _BlasLimit:
    """Holds the linear algebra library to one thread while anybody needs it.

    The setting belongs to the whole process. Calls that overlap must neither restore it under
    each other's feet nor save and restore the limit itself: the first one in limits, the last
    one out restores.
    """

    def __init__(self) -> None:
        self.lock, self.users = Lock(), 0
        self.limiter: Any = None

    def enter(self) -> None:
        """Limit, if nobody has."""
        with self.lock:
            if self.users == 0:
                self.limiter = _libraries().limit(limits=1, user_api="blas")
            self.users += 1

    def leave(self) -> None:
        """Restore, if nobody else needs the limit."""
        with self.lock:
            self.users -= 1
            if self.users == 0:
                self.limiter.restore_original_limits()


_BLAS_LIMIT = _BlasLimit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold the linear algebra library to one thread."""
    _BLAS_LIMIT.enter()
    try:
        yield
    finally:
        _BLAS_LIMIT.leave()


@cache
def _libraries() -> ThreadpoolController:
    """The loaded libraries with threads of their own; looking for them takes milliseconds."""
    return ThreadpoolController()


def n_threads(n_jobs: int | None) -> int:
    """Number of threads that `n_jobs` means: None is one, -1 all processors.

    Examples
    --------
    >>> n_threads(None), n_threads(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise ValueError(f"n_jobs must be a number of threads, -1 for all, got {n_jobs!r}.")
    return n_jobs if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + n_jobs)

"""Threads: results in order, errors passed on, and the library's own threads left as found."""

import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import mvdfq
from mvdfq import SequenceKernel, Spatial
from mvdfq._utils.errors import quiet, warn
from mvdfq._utils.threads import one_blas_thread, run_in_order

pytestmark = pytest.mark.usefixtures("two_blas_threads")


def blas_threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_come_in_the_order_of_the_jobs(workers):
    def late_first(job):
        time.sleep(0.002 * (7 - job))
        return job**2

    assert list(run_in_order(late_first, range(7), workers)) == [(j, j**2) for j in range(7)]


def test_one_worker_is_the_calling_thread():
    results = run_in_order(lambda _: threading.get_ident(), range(3), 1)
    assert {ident for _, ident in results} == {threading.get_ident()}


def test_few_jobs_are_under_way_at_a_time():
    begun = []
    results = run_in_order(begun.append, range(100), 2)
    next(results)
    assert len(begun) <= 4
    results.close()


def test_an_error_stops_the_work():
    begun = []

    def fail(job):
        begun.append(job)
        raise ValueError(f"job {job}")

    with pytest.raises(ValueError, match="job 0"):
        list(run_in_order(fail, range(100), 2))
    assert len(begun) < 10
    assert not [t for t in threading.enumerate() if t.name.startswith("ThreadPoolExecutor")]


def test_the_first_limits_and_the_last_restores():
    before = blas_threads()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_threads() == [1] * len(before)  # the second still needs it
    second.__exit__(None, None, None)
    assert blas_threads() == before


def test_the_limit_holds_whichever_thread_asks():
    before = blas_threads()
    with one_blas_thread():
        pass  # threadpoolctl heeds one thread at a time: here the main thread came first

    def inside():
        with one_blas_thread():
            return blas_threads()

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(inside).result() == [1] * len(before)
        limit = one_blas_thread()
        pool.submit(limit.__enter__).result()
        limit.__exit__(None, None, None)  # the thread that set the limit is still there
        assert blas_threads() == before


def test_calls_side_by_side_leave_the_library_as_it_was():
    before = blas_threads()
    X = [np.random.default_rng(i).integers(4, size=60) for i in range(30)]

    def work(n):
        for _ in range(n):
            SequenceKernel(Spatial(3, 1, 3)).fit_transform(X)

    threads = [threading.Thread(target=work, args=(n,)) for n in (2, 3, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert blas_threads() == before


def test_margins_do_not_depend_on_how_many_threads_share_the_sequences():
    # Row weights that are not powers of two: sums of their products round.
    X, y = mvdfq.make_autoregressive(41, 7, 30, n_classes=3, random_state=0)
    weights = np.random.default_rng(0).random(7)
    parts = {"frames": "passthrough", "symbols": mvdfq.DirectQuantizer(4)}
    clf = mvdfq.SequenceClassifier(kernel=mvdfq.Spectrum(2), **parts, C=1, cv=2).fit(X, y)
    clf.terms_[0].reader.plan_.row_weights[:] = weights
    symbols = clf.terms_[0].read(X)
    table = clf.terms_[0].table
    alone = np.concatenate([table.margins(symbols[i : i + 1], 1) for i in range(len(X))])
    for n_jobs in (1, 2, 3, 5):
        assert table.margins(symbols, n_jobs).tobytes() == alone.tobytes()


def test_warnings_are_left_out_in_one_thread_alone():
    begun, done = threading.Event(), threading.Event()

    def warned():
        begun.wait()
        with pytest.warns(UserWarning, match="seen here"):
            warn("seen here")
        done.set()

    with ThreadPoolExecutor(1) as pool, quiet("seen"):
        other = pool.submit(warned)
        before = warnings.filters[:]
        begun.set()
        assert done.wait(10)
        warn("seen nowhere")  # the tests make errors of warnings
        other.result()
    assert warnings.filters == before
    with pytest.warns(UserWarning, match="other"), quiet("seen"):
        warn("other words")

"""Where the time of a Gram matrix goes, step by step, beside what the machine could do at best.

All times are processor times of one thread, the best of several runs, so that other work on the
machine changes them little.
"""

import time
from contextlib import ExitStack, contextmanager

import numpy as np
import scipy.linalg.blas as blas
from threadpoolctl import threadpool_limits

import mvdfq
from mvdfq._engines import cpu
from mvdfq.gram import sums, tiles
from mvdfq.kernels import counting

# What is timed: the place of a function, its name, and the step that it belongs to.
STEPS = [
    (cpu, "emit", "keys"),
    (cpu, "sort_by_key", "sort"),
    (cpu, "count_runs", "counts"),
    (sums.Products, "finish", "dense products"),
    (cpu, "add_outer_products", "outer products"),
    (tiles, "add_row", "sum of rows"),
]


@contextmanager
def timed(place, name, clock):
    """Add the time of all calls of a function to ``clock``."""
    function = getattr(place, name)

    def call(*arguments, **options):
        start = time.thread_time()
        try:
            return function(*arguments, **options)
        finally:
            clock[0] += time.thread_time() - start

    setattr(place, name, call)
    try:
        yield
    finally:
        setattr(place, name, function)


def best_of(function, repeat=7):
    """Return the least processor time of several calls."""
    times = []
    for _ in range(repeat):
        start = time.thread_time()
        function()
        times.append(time.thread_time() - start)
    return min(times)


def step_times(symbols, kernel, repeat=5):
    """Return the seconds of each step and of the whole, the least of several runs."""
    estimator = mvdfq.SequenceKernel(kernel, manifold=True, normalize=False, n_jobs=1)
    estimator.fit_transform(symbols[:20])
    runs = []
    for _ in range(repeat):
        clocks = {step: [0.0] for _, _, step in STEPS}
        with all_timed(clocks):
            start = time.process_time()
            estimator.fit_transform(symbols)
            whole = time.process_time() - start
        runs.append({step: clock[0] for step, clock in clocks.items()} | {"whole": whole})
    return {step: min(run[step] for run in runs) for step in runs[0]}


@contextmanager
def all_timed(clocks):
    """Time all steps."""
    with ExitStack() as stack:
        for place, name, step in STEPS:
            stack.enter_context(timed(place, name, clocks[step]))
        yield


def work_of(symbols, kernel):
    """Return how much there is to do: entries, digits of the sort, dense words, products."""
    n, total = len(symbols), dict(entries=0, moved=0, flop=0, updates=0)
    for r in range(symbols.n_rows):
        row = kernel.row([symbols], r)
        (group,) = kernel.groups(row.n_symbols)
        task = counting.GroupTask(group)
        entries, shifts, _ = task._entries(row)
        bits = int(entries.max() >> np.uint64(shifts[0])).bit_length()
        n_passes = -(-bits // cpu.DIGIT)
        columns = counting.count_entries(entries, shifts, None, np.ones(1, np.float32))
        degree = np.diff(columns.indptr)
        dense = degree**2 * sums.DENSE_GAIN >= n * n
        total["entries"] += entries.size
        # one reading to count digits; every pass reads and writes all entries
        total["moved"] += entries.nbytes * (1 + 2 * n_passes)
        total["flop"] += int(dense.sum()) * n * (n + 1)
        few = degree[~dense]
        total["updates"] += int((few * (few - 1) // 2).sum())
    return total


def copy_rate(n_bytes=10**7):
    """Bytes per second, read and written, of copying an array as large as the entries of a row."""
    source, target = np.ones(n_bytes // 8), np.empty(n_bytes // 8)
    return 2 * n_bytes / best_of(lambda: np.copyto(target, source), 30)


def gemm_rate(n=1000):
    """Operations per second of a symmetric product in single precision."""
    values, out = np.ones((n, 4096), np.float32, order="F"), np.zeros((n, n), np.float32, order="F")
    with threadpool_limits(1):
        seconds = best_of(lambda: blas.ssyrk(1.0, values, c=out, beta=1.0, overwrite_c=1), 5)
    return 4096 * n * (n + 1) / seconds


def update_rate(n=60, degree=30, n_columns=20_000):
    """Sums per second of the loop over outer products where everything is in the nearest cache."""
    random = np.random.default_rng(0)
    who = np.sort(np.argsort(random.random((n_columns, n)), axis=1)[:, :degree], axis=1)
    who = who.astype(np.uint32).ravel()
    indptr, out = np.arange(n_columns + 1) * degree, np.zeros((n, n))
    columns, value = np.arange(n_columns), np.ones(who.size, np.float32)
    side = indptr[:-1], indptr[1:], who, value
    arguments = side, side, columns, True, out
    cpu.add_outer_products(*arguments)
    return (
        n_columns * degree * (degree - 1) / 2 / best_of(lambda: cpu.add_outer_products(*arguments))
    )


def steps(symbols, kernel):
    """Yield one line per step: its time, its share, and the least time that the machine allows."""
    times, work = step_times(symbols, kernel), work_of(symbols, kernel)
    copied, gemm, updated = copy_rate(), gemm_rate(), update_rate()
    gb, gf = f"{copied / 1e9:.1f} GB/s copied", f"{gemm / 1e9:.0f} GFLOP/s"
    floors = {
        "keys": (work["entries"] * 8 / copied, f"entries written at {gb}"),
        "sort": (work["moved"] / copied, f"{work['moved'] / 1e9:.2f} GB at {gb}"),
        "counts": (work["entries"] * 16 / copied, f"entries read, counts written at {gb}"),
        "dense products": (work["flop"] / gemm, f"{work['flop'] / 1e9:.1f} GFLOP at {gf}"),
        "outer products": (
            work["updates"] / updated,
            f"{work['updates'] / 1e6:.0f} million sums at {updated / 1e9:.2f} per ns in the cache",
        ),
    }
    whole = times.pop("whole")
    times["rest"] = whole - sum(times.values())
    for step, seconds in [*times.items(), ("whole", whole)]:
        floor, of_what = floors.get(step, ("", ""))
        line = dict(step=step, seconds=round(seconds, 4), share=round(seconds / whole, 3))
        near = "" if floor == "" else round(seconds / floor, 2)
        floor = "" if floor == "" else round(floor, 4)
        yield {**line, "floor": floor, "times_floor": near, "floor_of": of_what}

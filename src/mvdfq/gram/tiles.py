"""Counts -> Gram matrix: tiles of sequences, threads, a bound on memory.

The matrix is cut into tiles of sequences, each tile into rows and pieces of the feature space.
The cut depends only on the data and the memory limit, and the pieces are added in one fixed
order, so that the result does not depend on the number of threads. The counts of a block of
sequences are kept while memory allows: a block meets many other blocks.
"""

from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from functools import cache
from itertools import groupby, islice
from threading import Lock
from typing import Any

import numpy as np

from mvdfq._engines.choice import current_engine
from mvdfq._engines.spread import client_of, kept_on, run_on_cluster
from mvdfq._utils.checks import parse_memory
from mvdfq._utils.threads import n_threads, run_in_order
from mvdfq.gram.plan import Plan, Tile, plan_tiles
from mvdfq.gram.sums import Gram, Products, add_row, mirror_upper
from mvdfq.kernels.base import Row
from mvdfq.kernels.counting import Counted, GroupTask
from mvdfq.sequences import Ragged

# Pieces per tile, so that threads can share the work; each piece costs one addition of a whole
# tile.
PIECES = 16
# A piece of the work: some tasks, with their numbers and one weight, on one row of one tile.
Job = tuple[Tile, int, float, tuple[tuple[int, Any], ...]]
Report = Callable[[int, int], None]


def gram(
    left: Ragged,
    right: Ragged | None,
    plan: Plan,
    *,
    n_jobs: int | None = None,
    memory_limit: int | str | None = None,
    progress: Report | None = None,
) -> Gram:
    """Compute the kernel of all left and right sequences; None compares `left` with itself.

    `progress` is called with the number of pieces done and the number of all pieces.
    """
    engine = current_engine()
    if engine.name == "gpu":
        from mvdfq.gram.gram_on_gpu import CannotCount, gpu_gram  # torch is slow to import

        limit = None if memory_limit is None else parse_memory(memory_limit)
        with suppress(CannotCount):  # what only the processor can do
            return Gram(*gpu_gram(left, right, plan, engine.device, limit, progress))
    budget, n_right = parse_memory(memory_limit), len(left if right is None else right)
    tiles, task_bytes = plan_tiles(left, right, plan, budget)
    scale = np.ones((len(plan.row_weights), len(left)))
    out = Gram(np.zeros((len(left), n_right)), np.zeros(len(left)), np.zeros(n_right), scale)
    job = left, right, plan, tiles, out.values.__getitem__, (budget, task_bytes), n_jobs, progress
    for (rows, columns), part in compute_tiles(*job):
        if columns.start == (rows.start if right is None else 0):  # the first tile of its rows
            out.left[rows], out.scale[:, rows] = part.left, part.scale
        if right is not None and rows.start == 0:
            out.right[columns] = part.right
    if right is not None:
        return out
    # the lower triangle tile by tile, without a second matrix
    for rows, columns in tiles:
        if rows == columns:
            mirror_upper(out.values[rows, rows], out.left[rows])
        else:
            out.values[columns, rows] = out.values[rows, columns].T
    return replace(out, right=out.left)


def compute_tiles(
    left: Ragged,
    right: Ragged | None,
    plan: Plan,
    tiles: list[Tile],
    zeros: Callable[[Tile], np.ndarray],
    memory: tuple[int, int],
    n_jobs: int | None = None,
    progress: Report | None = None,
    n_tiles: int = 0,
) -> Iterator[tuple[Tile, Gram]]:
    """Yield every tile with its part of the matrix, in the order of `tiles`.

    `n_tiles` is the number of tiles of the whole matrix, if `tiles` are only those that are left:
    sums run in the same order whether or not a computation was interrupted.

    A cluster or the threads of this machine compute them; callers ask a card themselves. `zeros`
    gives the array of zeros that the values of a tile are added to. A tile of one block
    with itself has only its upper triangle. `memory` is the limit and the need of one task in
    bytes.
    """
    engine, budget, task_bytes = current_engine(), *memory
    progress = progress or (lambda done, total: None)
    if engine.name == "dask":
        with closing(_on_cluster(engine, left, right, plan, tiles, budget)) as parts:
            for tile, part in _reported(parts, len(tiles), progress):
                values = zeros(tile)
                values += part.values
                yield tile, replace(part, values=values)
        return
    # fewer threads rather than more memory than the limit
    workers = max(1, min(n_threads(n_jobs), budget // task_bytes))
    # half of the rest, since results wait for their turn and the needs are estimates
    kept = KeptCounts(max(0, budget - (workers + 1) * task_bytes) // 2)
    pieces = list(_pieces(plan, n_tiles or len(tiles)))
    jobs = ((tile, *piece) for tile in tiles for piece in pieces)
    running = run_in_order(lambda job: _run(job, left, right, plan, kept), jobs, workers)
    with closing(running):  # Ctrl-C must end the threads, even if a traceback keeps the generator
        results = _reported(running, len(tiles) * len(pieces), progress)
        for tile in tiles:
            values = zeros(tile)
            n_left, n_right = values.shape
            scale = np.ones((len(plan.row_weights), n_left))
            out = Gram(values, np.zeros(n_left), np.zeros(n_right), scale)
            # results come in the order of the jobs, so the next ones belong to this tile; rows are
            # normalized one by one, so all pieces of a row come together first
            for r, alike in groupby(islice(results, len(pieces)), key=lambda pair: pair[0][1]):
                add_row(out, plan, r, [(weight, done) for (_, _, weight, _), done in alike])
            yield tile, out


def _on_cluster(
    engine: Any, left: Ragged, right: Ragged | None, plan: Plan, tiles: list[Tile], budget: int
) -> Generator[tuple[Tile, Gram], None, None]:
    """Yield every tile; one task of a cluster computes one tile."""
    sent: dict[tuple[bool, int], Any] = {}
    with client_of(engine) as client:

        def block(is_right: bool, cut: slice) -> Any:
            """Return a block on the cluster; a block that is left and right is sent once."""
            place = is_right and right is not None, cut.start
            if place not in sent:
                sent[place] = kept_on(client, (right if place[0] else left)[cut])  # type: ignore[index]
            return sent[place]

        held = kept_on(client, plan)
        jobs = (
            ((a, b), block(False, a), None if right is None and a == b else block(True, b), held,
             budget)
            for a, b in tiles
        )  # fmt: skip
        yield from run_on_cluster(client, tile_of, jobs)


def tile_of(left: Ragged, right: Ragged | None, plan: Plan, budget: int) -> Gram:
    """Compute the tile of two blocks of sequences; runs on a worker of a cluster."""
    tile = slice(0, len(left)), slice(0, len(left if right is None else right))
    values = np.zeros((tile[0].stop, tile[1].stop))
    memory = budget, budget  # one thread: Dask gives every thread of a worker a task
    ((_, part),) = compute_tiles(left, right, plan, [tile], lambda _: values, memory)
    return part


def _reported(results: Iterator, total: int, progress: Report) -> Any:
    """Pass results on and report the number of results so far."""
    for done, result in enumerate(results, start=1):
        progress(done, total)
        yield result


def _pieces(plan: Plan, n_tiles: int) -> Iterator[tuple[int, float, tuple[tuple[int, Any], ...]]]:
    """Cut the tasks of a tile into pieces of equal row and weight, in a fixed order."""
    # rows and tiles are pieces already; only few of them must be cut further
    per_row = -(-PIECES // (len(plan.row_weights) * n_tiles))
    for r in np.flatnonzero(plan.row_weights).tolist():
        tasks = plan.tasks(r)
        size = -(-len(tasks) // per_row)
        for weight, same in groupby(enumerate(tasks), key=lambda pair: pair[1][0]):
            alike = [(t, task) for t, (_, task) in same]
            for first in range(0, len(alike), size):
                yield r, weight, tuple(alike[first : first + size])


def _run(job: Job, left: Ragged, right: Ragged | None, plan: Plan, kept: "KeptCounts") -> Products:
    """Count and multiply; runs in a thread."""
    (rows, columns), r, _, tasks = job
    # the number of the collection, the collection, and a block of it
    sides = [(0, left, rows)]
    if right is not None:
        sides.append((1, right, columns))
    elif rows != columns:
        sides.append((0, left, columns))
    blocks = range(len(sides))

    @cache
    def row(*which: int) -> Row:
        """Return the row of some blocks, one after the other."""
        return plan.kernel.row([sides[i][1][sides[i][2]] for i in which], r)

    def counted_in(i: int, t: int, task: GroupTask) -> Counted:
        number, collection, cut = sides[i]
        if right is None and cut == slice(0, len(collection)):  # the only tile
            return task.counted(row(i), plan.root)
        return kept.get((number, cut.start, r, t), lambda: task.counted(row(i), plan.root))

    sizes = [cut.stop - cut.start for _, _, cut in sides]
    first_right = sizes[0] if len(sides) > 1 else 0
    products = Products(sizes[0], first_right, sum(sizes), plan.root)
    for t, task in tasks:
        parts = [counted_in(i, t, task) for i in blocks] if isinstance(task, GroupTask) else []
        if parts and parts[0].fits(parts[-1]):
            products.add_counted(parts[0], parts[-1])
        else:  # only a joined row will do
            task.add_to(products, row(*blocks))
    products.finish()
    return products


class KeptCounts:
    """Counts that were used last, up to `capacity` bytes; threads share them.

    The tiles of one row of tiles have one block in common, whose counts are used in every tile.
    So these counts stay, if there is room for the counts of two blocks.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity, self.used = capacity, 0
        self.lock = Lock()
        self.kept: OrderedDict[Any, Counted] = OrderedDict()

    def get(self, place: Any, count: Callable[[], Counted]) -> Counted:
        """Return the counts of a place; count only if the counts of the place are not kept."""
        with self.lock:
            if place in self.kept:
                self.kept.move_to_end(place)
                return self.kept[place]
        counted = count()  # without the lock: other threads count other places
        with self.lock:
            if place not in self.kept:
                self.kept[place] = counted
                self.used += counted.nbytes
            # after adding: the newest counts stay as long as others can go
            while self.used > self.capacity:
                self.used -= self.kept.popitem(last=False)[1].nbytes
        return counted

"""Counts -> Gram matrix: tiles of sequences, threads, a bound on memory.

The matrix is cut into tiles of sequences, each tile into rows and pieces of the feature space.
The cut depends only on the data and the memory limit, and the pieces are added in one fixed
order, so that the result does not depend on the number of threads.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import Any

import numpy as np

from mvdfq._engines.choice import current_engine, use_engine
from mvdfq._utils.memory import parse_memory
from mvdfq._utils.threads import n_threads, run_in_order
from mvdfq.gram.blocks import BlockRows, KeptCounts
from mvdfq.gram.cuts import Tile, plan_tiles
from mvdfq.gram.plan import Plan
from mvdfq.gram.products import Products
from mvdfq.gram.sums import Gram, add_row, mirror_tiles
from mvdfq.sequences import Ragged

__all__ = ["compute_tiles", "gram"]

# Pieces per tile, so that threads can share the work; each piece costs one addition of a whole
# tile.
PIECES = 16


@dataclass(frozen=True)
class Job:
    """One piece of the work: some tasks, with their numbers, on one row of one tile."""

    tile: Tile
    row: int
    weight: float
    tasks: tuple[tuple[int, Any], ...]


def gram(
    left: Ragged,
    right: Ragged | None,
    plan: Plan,
    *,
    n_jobs: int | None = None,
    memory_limit: int | str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Gram:
    """Compute the kernel of all left and right sequences; None compares `left` with itself.

    `progress` is called with the number of pieces done and the number of all pieces.
    """
    engine = current_engine()
    if engine.name == "gpu":
        found = _on_gpu(left, right, plan, engine.device, memory_limit, progress)
        if found is not None:
            return found
        with use_engine("cpu"):
            return _in_tiles(left, right, plan, parse_memory(memory_limit), n_jobs, progress)
    return _in_tiles(left, right, plan, parse_memory(memory_limit), n_jobs, progress)


def _in_tiles(
    left: Ragged, right: Ragged | None, plan: Plan, budget: int, n_jobs: int | None, progress: Any
) -> Gram:
    """Compute the kernel tile by tile."""
    tiles, task_bytes = plan_tiles(left, right, plan, budget)
    n_right = len(left if right is None else right)
    scale = np.ones((len(plan.row_weights), len(left)))
    out = Gram(np.zeros((len(left), n_right)), np.zeros(len(left)), np.zeros(n_right), scale)
    sides = left, right, plan, tiles
    memory = budget, task_bytes
    for tile, part in compute_tiles(*sides, out.values.__getitem__, memory, n_jobs, progress):
        rows, columns = tile
        if columns.start == (rows.start if right is None else 0):  # the first tile of its rows
            out.left[rows], out.scale[:, rows] = part.left, part.scale
        if right is not None and rows.start == 0:
            out.right[columns] = part.right
    if right is None:
        mirror_tiles(out.values, out.left, tiles)
        return Gram(out.values, out.left, out.left, out.scale)
    return out


def _on_gpu(
    left: Ragged, right: Ragged | None, plan: Plan, device: str, limit: Any, progress: Any
) -> Gram | None:
    """Compute on the card, or return None for what only the processor can do."""
    from mvdfq.gram.on_gpu import CannotCount, gpu_gram  # torch is optional, and slow to import

    limit = None if limit is None else parse_memory(limit)
    try:
        return Gram(*gpu_gram(left, right, plan, device, limit, progress))
    except CannotCount:
        return None


def compute_tiles(
    left: Ragged,
    right: Ragged | None,
    plan: Plan,
    tiles: list[Tile],
    zeros: Callable[[Tile], np.ndarray],
    memory: tuple[int, int],
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[tuple[Tile, Gram]]:
    """Yield every tile with its part of the matrix, in the order of `tiles`.

    `zeros` gives the array of zeros that the values of a tile are added to. A tile of one block
    with itself has only its upper triangle. `memory` is the limit and the need of one task in
    bytes.
    """
    engine = current_engine()
    if engine.name != "cpu":
        elsewhere = _on_cluster if engine.name == "dask" else _on_card
        with closing(elsewhere(engine, left, right, plan, tiles, memory[0])) as parts:
            for done, (tile, part) in enumerate(parts, start=1):
                values = zeros(tile)
                values += part.values
                if progress is not None:
                    progress(done, len(tiles))
                yield tile, replace(part, values=values)
        return
    budget, task_bytes = memory
    workers = max(1, min(n_threads(n_jobs), budget // task_bytes))
    # half of the rest, since results wait for their turn and the needs are estimates
    kept = KeptCounts(max(0, budget - (workers + 1) * task_bytes) // 2)
    pieces = list(_pieces(plan))
    jobs = (Job(tile, *piece) for tile in tiles for piece in pieces)
    running = run_in_order(lambda job: _run(job, left, right, plan, kept), jobs, workers)
    with closing(running):  # Ctrl-C must end the threads, even if a traceback keeps the generator
        results = running
        if progress is not None:
            results = _reported(running, len(tiles) * len(pieces), progress)
        for tile in tiles:
            yield tile, _tile_sum(plan, zeros(tile), islice(results, len(pieces)))


def _on_card(
    engine: Any, left: Ragged, right: Ragged | None, plan: Plan, tiles: list[Tile], budget: int
) -> Generator[tuple[Tile, Gram], None, None]:
    """Yield every tile, computed by a graphics card if the card can do so."""
    for rows, columns in tiles:
        is_square = right is None and rows == columns
        other = None if is_square else (left if right is None else right)[columns]
        part = _on_gpu(left[rows], other, plan, engine.device, budget, None)
        if part is None:
            with use_engine("cpu"):
                part = tile_of(left[rows], other, plan, budget)
        yield (rows, columns), part


def _on_cluster(
    engine: Any, left: Ragged, right: Ragged | None, plan: Plan, tiles: list[Tile], budget: int
) -> Generator[tuple[Tile, Gram], None, None]:
    """Yield every tile; one task of a cluster computes one tile."""
    from mvdfq._engines.cluster import client_of, kept_on, run_on_cluster  # Dask is optional

    with client_of(engine) as client:
        rows = {a.start: a for a, _ in tiles}
        blocks = {a: kept_on(client, left[cut]) for a, cut in rows.items()}
        columns = {b.start: b for _, b in tiles if right is not None or b.start not in rows}
        other = left if right is None else right
        others = {b: kept_on(client, other[cut]) for b, cut in columns.items()}
        others = others if right is not None else blocks | others
        held = kept_on(client, plan)
        jobs = (
            (tile, blocks[tile[0].start],
             None if right is None and tile[0] == tile[1] else others[tile[1].start], held, budget)
            for tile in tiles
        )  # fmt: skip
        yield from run_on_cluster(client, tile_of, jobs)


def tile_of(left: Ragged, right: Ragged | None, plan: Plan, budget: int) -> Gram:
    """Compute the tile of two blocks of sequences; runs on a worker of a cluster."""
    tile = slice(0, len(left)), slice(0, len(left if right is None else right))
    values = np.zeros((tile[0].stop, tile[1].stop))
    memory = budget, budget  # one thread: Dask gives every thread of a worker a task
    ((_, part),) = compute_tiles(left, right, plan, [tile], lambda _: values, memory)
    return part


def _tile_sum(plan: Plan, values: np.ndarray, parts: Iterator[tuple[Job, Products]]) -> Gram:
    """Add up the rows of one tile."""
    n_left, n_right = values.shape
    scale = np.ones((len(plan.row_weights), n_left))
    out = Gram(values, np.zeros(n_left), np.zeros(n_right), scale)
    for r, alike in groupby(parts, key=lambda pair: pair[0].row):
        add_row(out, plan, r, [(job.weight, done) for job, done in alike])
    return out


def _reported(results: Iterator, total: int, progress: Callable[[int, int], None]) -> Any:
    """Pass results on and report the number of results so far."""
    for done, result in enumerate(results, start=1):
        progress(done, total)
        yield result


def _pieces(plan: Plan) -> Iterator[tuple[int, float, tuple[tuple[int, Any], ...]]]:
    """Cut the tasks of a tile into pieces of equal row and weight, in a fixed order."""
    n_rows = len(plan.row_weights)
    per_row = -(-PIECES // n_rows)
    for r in np.flatnonzero(plan.row_weights).tolist():
        tasks = plan.tasks(r)
        size = -(-len(tasks) // per_row)
        for weight, same in groupby(enumerate(tasks), key=lambda pair: pair[1][0]):
            alike = [(t, task) for t, (_, task) in same]
            for first in range(0, len(alike), size):
                yield r, weight, tuple(alike[first : first + size])


def _run(job: Job, left: Ragged, right: Ragged | None, plan: Plan, kept: KeptCounts) -> Products:
    """Count and multiply; runs in a thread."""
    rows, columns = job.tile
    sides = [(0, left, rows)]
    if right is not None:
        sides.append((1, right, columns))
    elif rows != columns:
        sides.append((0, left, columns))
    sizes = [cut.stop - cut.start for _, _, cut in sides]
    factors = plan.word_factors
    first_right = sizes[0] if len(sides) > 1 else 0
    products = Products(sizes[0], first_right, sum(sizes), plan.root, factors is not None)
    blocks = BlockRows(plan, job.row, sides, kept)
    for t, task in job.tasks:
        counted = blocks.counted(t, task)
        if factors is not None:
            products.weigh(factors[job.row, t], blocks.base if counted is None else counted.base)
        if counted is None:
            task.add_to(products, blocks.joined)
        else:
            counted.add_to(products)
    return products

"""The Gram matrix and explicit features on a graphics card: batches of rows and tasks, no tiles."""

from collections.abc import Callable, Iterator
from itertools import groupby, product
from typing import Any, NamedTuple

import numpy as np
import torch

from mvdfq._engines.cpu import EXACT_SINGLE
from mvdfq._engines.gpu.counts import KEY_BITS, histogram, n_near, near_runs, run_bits, runs_of
from mvdfq._engines.gpu.device import budget, full_precision, to_device, to_host
from mvdfq._engines.gpu.products import Kind, Sums, add_dense, add_runs
from mvdfq._engines.gpu.reading import Reading, Rows
from mvdfq._utils.threads import Report
from mvdfq.gram.plan import Plan
from mvdfq.kernels.counting import Columns, GroupTask
from mvdfq.kernels.keys import word_codes
from mvdfq.kernels.neighbours import NeighbourTask
from mvdfq.symbols.base import Symbols

# Bytes of the card that one word takes: entries, two copies in the sort, runs, values, columns.
BYTES_PER_WORD = 80
# Words that one sort takes at once; more do not make a card faster.
MOST_AT_ONCE = 2**28
# Most words near one window that are worth an expansion.
MOST_NEAR = 2**9
# Up to this many words a reading has one column per word, in a dense matrix.
FEW_WORDS = 2**12


class CannotCount(Exception):
    """The card cannot do this; the processor can."""


def reading_of(task: Any) -> Reading:
    """Return where a task reads its words, or raise `CannotCount`."""
    if isinstance(task, NeighbourTask) and task.m == 1 and task.vocabulary is None:
        window = tuple(range(0, task.length * task.dilation, task.dilation))
        return Reading((window,), (window,), False, *task.cell, near=True)
    if not isinstance(task, GroupTask):
        raise CannotCount(f"{type(task).__name__} has its own way of counting")
    layouts, weights = task.group.layouts, task.group.layout_weights
    windows = {layout.window for layout in layouts}
    # a card adds 1 for each word and multiplies by one weight afterwards
    if (weights != weights[0]).any() or (task.group.distinct and len(windows) > 1):
        raise CannotCount("layouts of one group differ in weight or window")
    offsets = tuple(layout.offsets for layout in layouts)
    return Reading(offsets, tuple(x.window for x in layouts), task.group.distinct, *task.cell)


class Task(NamedTuple):
    """A task of the plan as a card reads it: its reading and its weights."""

    reading: Reading
    weight: float
    layout_weight: float


def _batches(plan: Plan) -> Iterator[tuple[list[int], list[Task]]]:
    """Yield the rows in use by alphabet: rows of one alphabet have the same tasks."""
    used = np.flatnonzero(plan.row_weights).tolist()
    for _, same in groupby(used, key=lambda r: int(plan.n_symbols[r])):
        rows, tasks = list(same), []
        for weight, task in plan.tasks(rows[0]):
            layout_weight = task.group.layout_weights[0] if isinstance(task, GroupTask) else 1
            tasks.append(Task(reading_of(task), float(weight), float(layout_weight)))
        yield rows, tasks


def device_rows(parts: list[Symbols], device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the codes and offsets of one or two collections on the card, joined."""
    dtype = max(part.dtype for part in parts)
    codes = [to_device(part.astype(dtype).held, device) for part in parts]
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    offsets = to_device(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), device)
    return torch.cat(codes, dim=1) if len(codes) > 1 else codes[0], offsets


def gpu_gram(
    left: Any, right: Any, plan: Plan, device: str, limit: int | None, progress: Report | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return values, left and right norms and scale, as `gram` of `tiles.py` does.

    Raises `CannotCount` for kernels, and for whole numbers, that a card cannot count exactly.
    """
    if not isinstance(left, Symbols):
        raise CannotCount("the kernel reads numbers")
    batches, room = list(_batches(plan)), budget(device, limit)
    other = left if right is None else right
    size = _tile_size(left, other, plan, room)
    starts = product(range(0, max(len(left), 1), size), range(0, max(len(other), 1), size))
    # of a symmetric matrix the upper tiles alone
    pairs = [(a, b) for a, b in starts if right is not None or a <= b]
    tiles = [(slice(a, a + size), slice(b, b + size)) for a, b in pairs]
    # one tile is the result itself: a second matrix would double the memory of the host
    values = np.zeros((len(left), len(other))) if len(tiles) > 1 else np.empty(0)
    own = np.zeros(len(left)), np.zeros(len(other))
    scale = np.ones((len(plan.row_weights), len(left)))
    for done, (rows, columns) in enumerate(tiles, start=1):
        is_square = right is None and rows == columns
        parts = [left[rows]] if is_square else [left[rows], other[columns]]
        with full_precision():
            tile = _Tile(parts, plan, device, room)
            products = tile.filled(batches)
        norms = to_host(tile.own)
        if is_square or columns.start == 0:
            own[0][rows] = norms[: tile.n_left]
            scale[:, rows] = to_host(tile.scale[:, : tile.n_left])
        if is_square or rows.start == 0:
            own[1][columns] = norms[tile.first_right :]
        if progress is not None:
            progress(done, len(tiles))
        if len(tiles) == 1:
            return products, own[0], own[1], scale
        values[rows, columns] = products
        if right is None and not is_square:
            values[columns, rows] = products.T
    return values, own[0], own[1], scale


def _tile_size(left: Any, right: Any, plan: Plan, room: int) -> int:
    """Return the number of sequences of a tile: sums, counts and codes fit into the memory."""
    longest = max(left.lengths.max(initial=0), right.lengths.max(initial=0))
    size = max(len(left), len(right), 1)
    while size > 1:
        frames = sum(min(size * longest, side.data.shape[1]) for side in (left, right))
        # values, sums of the rows, their products and a copy, in doubles
        need = 4 * 8 * size * size + frames * (BYTES_PER_WORD + len(plan.row_weights) + 12)
        if need <= room:
            break
        # halves, rounded up, so that tiles stay alike in size
        size = -(-size // 2)
    return size


class _Tile:
    """The kernel of some left and right sequences, one batch of rows after another."""

    def __init__(self, parts: list[Symbols], plan: Plan, device: str, room: int) -> None:
        self.plan, self.room = plan, room
        codes, offsets = device_rows(parts, device)
        self.missing = int(np.iinfo(max(part.dtype for part in parts)).max)
        self.geometry = Rows.of(codes, offsets)
        self.n_left, self.n = len(parts[0]), len(offsets) - 1
        self.first_right = self.n_left if len(parts) > 1 else 0
        self.longest = max(int(part.lengths.max(initial=0)) for part in parts)
        shape = self.n_left, self.n - self.first_right
        self.values = torch.zeros(shape, dtype=torch.float64, device=codes.device)
        self.own = self.values.new_zeros(self.n)
        self.scale = self.values.new_ones((len(plan.row_weights), self.n))

    def filled(self, batches: list[tuple[list[int], list[Task]]]) -> np.ndarray:
        """Add up all batches and return the values."""
        frames = max(self.geometry.codes.shape[1], 1)
        sums = 40 * self.values.numel()  # three kinds of sums in doubles, products in singles
        fits = min(self.room // 2 // (BYTES_PER_WORD * frames + sums + 1), MOST_AT_ONCE // frames)
        at_once = max(1, fits)  # many rows make few launches
        for rows, tasks in batches:
            for first in range(0, len(rows), at_once):
                self._add_rows(rows[first : first + at_once], tasks)
        if self.first_right == 0:
            # pairs are added once, above the diagonal; the norms are exact on it
            upper = self.values.triu_(1)
            upper += upper.T.clone()
            upper.diagonal().copy_(self.own)
        return to_host(self.values)

    def _add_rows(self, rows: list[int], tasks: list[Task]) -> None:
        """Count rows of one alphabet and add their kernel, normalized and weighted."""
        n_symbols = int(self.plan.n_symbols[rows[0]])
        # kernels of a fixed alphabet read unseen symbols as missing, the others as new symbols
        first_missing = n_symbols if self.plan.kernel.is_closed else self.missing
        read = self.geometry.chosen(rows, n_symbols, first_missing)
        shape = len(rows), self.n_left, self.first_right, self.n
        sums = Sums.zeros(*shape, self.values.device, self.room)
        # one product serves all tasks of the same weight
        for _, alike in groupby(tasks, key=lambda task: (task.weight, task.layout_weight)):
            for way, same in groupby(alike, key=lambda task: self._way(read, task)):
                listed = list(same)
                at_once = self._tasks_at_once(read, listed, way == self._add_few)
                for first in range(0, len(listed), at_once):
                    way(sums, read, listed[first : first + at_once])
        if not self.plan.root and float(sums.largest) >= 2**53:
            raise CannotCount("whole numbers beyond 2**53 need more digits than doubles have")
        self._combine(sums, rows)

    def _way(self, read: Rows, task: Task) -> Callable[..., None]:
        """Return the method that counts the words of a task."""
        if task.reading.near:
            return self._add_near
        return self._add_few if task.reading.n_words(read.base) <= FEW_WORDS else self._add_many

    def _tasks_at_once(self, read: Rows, tasks: list[Task], few: bool) -> int:
        """Return how many tasks to count together, within the memory and exact."""
        frames = max(read.codes.numel(), 1) * max(len(task.reading.layouts) for task in tasks)
        if few:
            n_words = max(task.reading.n_words(read.base) for task in tasks)
            fits = self.room // 2 // (24 * len(read.codes) * max(self.n, 1) * n_words)
        else:
            fits = min(self.room // 2 // BYTES_PER_WORD, MOST_AT_ONCE) // frames
        if not self.plan.root:
            # in single precision, if that is exact for one task at least
            largest = max(self._largest(tasks[0], read.base), 1)
            fits = min(fits, max(1, (EXACT_SINGLE - 1) // largest**2))
        return max(1, fits)

    def _largest(self, task: Task, base: int) -> int:
        """Return a bound on the counts of one sequence."""
        near = n_near(base, task.reading.length) if task.reading.near else 1
        return self.longest * len(task.reading.layouts) * near

    def _kind(self, read: Rows, tasks: list[Task]) -> Kind:
        root, layout_weight = self.plan.root, tasks[0].layout_weight
        largest = max(self._largest(task, read.base) for task in tasks)
        times = layout_weight if root else layout_weight**2
        return Kind(root, tasks[0].weight, times, largest, len(tasks) * largest**2)

    def _add_few(self, sums: Sums, read: Rows, tasks: list[Task]) -> None:
        """Count all words of small alphabets in dense matrices."""
        add_dense(sums, histogram(read, [task.reading for task in tasks]), self._kind(read, tasks))

    def _add_many(self, sums: Sums, read: Rows, tasks: list[Task]) -> None:
        """Count the words that occur, by one sort."""
        readings = [task.reading for task in tasks]
        n_words = len(tasks) * _n_words(read, readings)
        add_runs(sums, runs_of(read, readings), n_words, self._kind(read, tasks))

    def _add_near(self, sums: Sums, read: Rows, tasks: list[Task]) -> None:
        """Count the words near the words that occur, row by row and task by task."""
        if n_near(read.base, tasks[0].reading.length) > MOST_NEAR:
            raise CannotCount("a window is near too many words of this alphabet")
        most = min(self.room // 2 // BYTES_PER_WORD, MOST_AT_ONCE)
        for task in tasks:
            for i in range(len(read.codes)):
                own = read.one(i)
                n_words = _n_words(own, [task.reading])
                for runs in near_runs(own, task.reading, most):
                    add_runs(sums.one(i), runs, n_words, self._kind(own, [task]))

    def _combine(self, sums: Sums, rows: list[int]) -> None:
        """Add the kernel of rows, each scaled as the plan says, to the values."""
        own, weights = sums.own, self.plan.row_weights[rows]
        if self.plan.normalises_rows:
            norms = own if self.plan.row_norm == "cosine" else sums.total
            # a row without words has the scale 0, not infinity
            scale = torch.where(norms > 0, norms.clamp(min=1e-300).rsqrt(), 0.0)
            self.scale[rows] = scale
            sums.values.mul_(scale[:, : self.n_left, None]).mul_(scale[:, None, self.first_right :])
            own = own * scale.square()
        if not (weights == 1).all():
            factors = to_device(weights.astype(float), str(own.device))
            sums.values.mul_(factors[:, None, None])
            own = own * factors[:, None]
        self.values += sums.values.sum(dim=0)
        self.own += own.sum(dim=0)


def _n_words(read: Rows, readings: list[Reading]) -> int:
    """Return how many numbers the words of a reading take, or raise `CannotCount`."""
    if run_bits(read, readings) > KEY_BITS:
        raise CannotCount("words of this length do not fit into 64 bits")
    return max(reading.n_words(read.base) for reading in readings)


def count_tasks(collection: Any, plan: Plan, device: str) -> Iterator[tuple[int, int, Columns]]:
    """Yield row, number and counts of every task; words are rows of codes.

    Raises `CannotCount` before the first result if the card cannot count the words.
    """
    if not isinstance(collection, Symbols):
        raise CannotCount("the kernel reads numbers")
    if not plan.counts_groups:
        raise CannotCount("the kernel has its own way of counting")
    readings = [
        [(reading_of(task), float(task.group.layout_weights[0])) for _, task in plan.tasks(r)]
        for r in range(len(plan.row_weights))
    ]
    codes, offsets = device_rows([collection], device)
    geometry = Rows.of(codes, offsets)
    rows = []
    for r, listed in enumerate(readings):
        n_symbols = int(plan.n_symbols[r])
        missing = n_symbols if plan.kernel.is_closed else collection.missing
        rows.append(geometry.chosen([r], n_symbols, missing))
        # asked of all rows first: no result is out before the card is known to be able
        for reading, _ in listed:
            _n_words(rows[-1], [reading])
    for r, listed in enumerate(readings):
        for t, (reading, weight) in enumerate(listed):
            yield r, t, _columns(rows[r], reading, weight)


def _columns(row: Rows, reading: Any, weight: float) -> Columns:
    """Count the words of one reading in one row."""
    runs = runs_of(row, [reading])
    words, sizes = torch.unique_consecutive(runs.word, return_counts=True)
    counts = to_host(runs.count) * weight
    # as on the processor: whole numbers that single precision holds exactly
    single = counts.max(initial=0) < EXACT_SINGLE and weight % 1 == 0
    counts = counts.astype(np.float32 if single else np.float64)
    pointers = np.concatenate([[0], np.cumsum(to_host(sizes))])
    codes = word_codes(to_host(words).astype(np.uint64), row.base, reading.length)
    return Columns(pointers, to_host(runs.sequence).astype(np.uint32), counts, codes)

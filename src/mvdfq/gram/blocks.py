"""Counts of blocks of sequences, kept while memory allows: a block meets many other blocks."""

from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property, partial, reduce
from threading import Lock
from typing import Any

from mvdfq.gram.plan import Plan
from mvdfq.kernels.counting import Counted, GroupTask, Row
from mvdfq.sequences import Ragged

__all__ = ["BlockRows", "KeptCounts"]

# A block of sequences: the number of its collection, the collection, and its part of it.
Side = tuple[int, Ragged, slice]


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
            while self.used > self.capacity:
                self.used -= self.kept.popitem(last=False)[1].nbytes
        return counted


class BlockRows:
    """Row `r` of the one or two blocks of a tile: counted apart, or joined for other tasks."""

    def __init__(self, plan: Plan, r: int, sides: list[Side], kept: KeptCounts) -> None:
        self.plan, self.r, self.sides, self.kept = plan, r, sides, kept
        self._rows: dict[int, Row] = {}

    def counted(self, t: int, task: Any) -> Counted | None:
        """Return the counts of task number `t` in all blocks; None if only a joined row will do."""
        if not isinstance(task, GroupTask):
            return None
        if len(self.sides) == 1:  # one block with itself: its counts are needed only once
            return task.counted(self.joined)
        blocks = [
            self.kept.get((which, cut.start, self.r, t), partial(self._count, task, i))
            for i, (which, _, cut) in enumerate(self.sides)
        ]
        return reduce(Counted.joined, blocks) if blocks[0].goes_with(blocks[1]) else None

    @cached_property
    def joined(self) -> Row:
        """The row of all blocks, one after the other."""
        return self.plan.row([collection[cut] for _, collection, cut in self.sides], self.r)

    @property
    def base(self) -> int:
        """The base of the keys in the joined row."""
        return self.joined.base

    def _count(self, task: GroupTask, i: int) -> Counted:
        if i not in self._rows:
            _, collection, cut = self.sides[i]
            self._rows[i] = self.plan.row([collection[cut]], self.r)
        return task.counted(self._rows[i])

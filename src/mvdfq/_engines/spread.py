"""Sums over the blocks of a collection, computed by threads of this process.

A block is made by a function without arguments, its maker, and takes much more memory than its
maker: the counted words of some sequences. Blocks are kept while they fit into the memory limit;
the other blocks are made again for every sum. `_engines/cluster.py` does the same on a cluster.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from mvdfq._utils.threads import Report, n_threads, run_in_order

__all__ = ["LocalBlocks", "added"]

Maker = Callable[[], Any]


def added(total: Any, more: Any) -> Any:
    """Return the sum of two results: arrays, or tuples of arrays that are added one by one."""
    return tuple(np.add(a, b) for a, b in zip(total, more, strict=True))


class LocalBlocks:
    """The blocks of a collection in this process; blocks with `nbytes` are kept if they fit."""

    def __init__(self, makers: Sequence[Maker], memory: int, n_jobs: int | None) -> None:
        self.makers, self.n_jobs = makers, n_jobs
        self.room = memory
        self.kept: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self.makers)

    def sum(
        self,
        function: Callable[..., Any],
        *args: Any,
        stride: int = 1,
        add: Callable[[Any, Any], Any] = added,
        report: Report = lambda done, total: None,
    ) -> Any:
        """Return the sum over all blocks of ``function(block, *args)``, a tuple of arrays.

        A `stride` of 3 takes every third block only; `add` adds two results. Results are added in
        the order of the blocks, so the sum does not depend on the number of threads.
        """
        which = range(0, len(self.makers), stride)
        total = None
        for done, result in enumerate(self._results(function, args, which), start=1):
            total = result if total is None else add(total, result)
            report(done, len(which))
        return total

    def _results(self, function: Callable[..., Any], args: tuple, which: range) -> Iterator[Any]:
        """Yield the results of some blocks, in order."""

        def one(i: int) -> tuple[Any, Any]:
            block = self.kept[i] if i in self.kept else self.makers[i]()
            return block, function(block, *args)

        running = run_in_order(one, which, n_threads(self.n_jobs))
        with closing(running):  # Ctrl-C must end the threads, even if a traceback keeps them
            for i, (block, result) in running:
                # the first blocks that fit stay for all passes: changing them would make all blocks
                # again
                if i not in self.kept and self.room >= getattr(block, "nbytes", np.inf):
                    self.kept[i] = block
                    self.room -= block.nbytes
                yield result

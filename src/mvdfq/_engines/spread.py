"""Sums over the blocks of a collection, in threads of this process or on a Dask cluster.

A block is made by a function without arguments, its maker, and takes much more memory than its
maker: the counted words of some sequences. In this process, blocks are kept while they fit into
the memory limit; the other blocks are made again for every sum. On a cluster, Dask schedules,
moves and repeats the work: a block is made on a worker, stays in the memory of the cluster (Dask
writes it to disk if memory runs out) and is made again if its worker dies.
"""

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np

from mvdfq._engines.choice import Engine
from mvdfq._utils.errors import Sentence
from mvdfq._utils.threads import Report, n_threads, run_in_order

Maker = Callable[[], Any]
# Time to wait for the answer of a scheduler.
CONNECT = "5s"
# Results that one task of a tree adds up.
BRANCHES = 8
# Tasks of a row of tiles that wait for a worker, per thread of the cluster.
WAITING = 3


def added(total: Any, more: Any) -> Any:
    """Return the sum of two results: arrays, or tuples of arrays that are added one by one."""
    return tuple(np.add(a, b) for a, b in zip(total, more, strict=True))


def unheard(done: int, total: int) -> None:
    """Report to nobody."""


class LocalBlocks:
    """The blocks of a collection in this process; blocks with `nbytes` are kept if they fit."""

    def __init__(self, makers: Sequence[Maker], memory: int, n_jobs: int | None) -> None:
        self.makers, self.n_jobs, self.room = makers, n_jobs, memory
        self.kept: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self.makers)

    def sum(
        self, function: Any, *args: Any, stride: int = 1, add: Any = added, report: Report = unheard
    ) -> Any:
        """Return the sum over all blocks of ``function(block, *args)``, a tuple of arrays.

        A `stride` of 3 takes every third block only; `add` adds two results. Results are added in
        the order of the blocks, so the sum does not depend on the number of threads.
        """

        def one(i: int) -> tuple[Any, Any]:
            block = self.kept[i] if i in self.kept else self.makers[i]()
            return block, function(block, *args)

        places, total = range(0, len(self.makers), stride), None
        # Ctrl-C must end the threads, even if a traceback keeps them
        with closing(run_in_order(one, places, n_threads(self.n_jobs))) as running:
            for done, (i, (block, result)) in enumerate(running, start=1):
                # the first that fit stay for all passes: changing them would make all again
                if i not in self.kept and self.room >= getattr(block, "nbytes", np.inf):
                    self.kept[i] = block
                    self.room -= block.nbytes
                total = result if total is None else add(total, result)
                report(done, len(places))
        return total


@contextmanager
def client_of(engine: Engine) -> Iterator[Any]:
    """Give the client of an engine; a client that is opened here is closed at the end."""
    try:
        from distributed import Client, get_client
    except ImportError:
        problem = "a cluster needs dask.distributed, which is not installed"
        raise ImportError(f"{problem}: pip install 'mvdfq[cluster]'.") from None
    address = engine.client
    if isinstance(address, str):
        try:
            # the user may have a default client, which must stay the default
            opened = Client(address, set_as_default=False, timeout=CONNECT)
        except (OSError, TimeoutError) as error:
            hint = "start one with `dask scheduler`, or check the address"
            raise ConnectionError(f"No Dask scheduler answers at {address}; {hint}.") from error
        with opened:
            yield opened
    elif address is not None:
        yield address
    else:
        try:
            client = get_client()
        except ValueError:
            problem = " needs a client of Dask, but there is none; create a "
            hint = "dask.distributed.Client, or pass the address of a scheduler such as "
            address = {"engine": "tcp://10.0.0.1:8786"}
            raise RuntimeError(Sentence({"engine": "dask"}, problem, hint, address, ".")) from None
        yield client


def kept_on(client: Any, value: Any) -> Any:
    """Return a future of a value that every task may read.

    The scheduler keeps the value, which outlives every worker; scattered values do not.
    """
    with warnings.catch_warnings():  # the value is sent once, as the warning advises
        warnings.filterwarnings("ignore", "Sending large graph")
        return client.submit(lambda value: value, value, pure=False)


class DaskBlocks:
    """The blocks of a collection in the memory of a cluster, as `LocalBlocks` in this process."""

    def __init__(self, client: Any, makers: Sequence[Maker]) -> None:
        self.client = client
        # one by one: the makers of all blocks together may be large
        self.blocks = [client.submit(maker, pure=False) for maker in makers]

    def __len__(self) -> int:
        return len(self.blocks)

    def sum(
        self, function: Any, *args: Any, stride: int = 1, add: Any = added, report: Report = unheard
    ) -> Any:
        """Return the sum over all blocks of ``function(block, *args)``, added up by a tree."""
        client, chosen = self.client, self.blocks[::stride]
        shared = kept_on(client, args)

        def apply(block: Any, args: Sequence[Any]) -> Any:
            return function(block, *args)

        level = [client.submit(apply, block, shared, pure=False) for block in chosen]
        while len(level) > 1:
            # neighbours first: the order of the sum does not depend on which worker is faster
            groups = [level[i : i + BRANCHES] for i in range(0, len(level), BRANCHES)]
            level = [client.submit(reduce, add, group, pure=False) for group in groups]
        result = level[0].result()
        report(len(chosen), len(chosen))
        return result


def run_on_cluster(
    client: Any, function: Callable[..., Any], jobs: Iterable[tuple[Any, ...]]
) -> Iterator[tuple[Any, Any]]:
    """Yield the name of each job with ``function(*rest)``, in order; a job is (name, *rest).

    Only a few jobs per thread are under way, so that results do not pile up.
    """
    room = WAITING * max(sum(client.nthreads().values()), 1)
    # a job is submitted when its future is asked for
    futures = ((name, client.submit(function, *rest, pure=False)) for name, *rest in jobs)
    waiting = deque(islice(futures, room))
    while waiting:
        waiting.extend(islice(futures, 1))
        done, future = waiting.popleft()
        yield done, future.result()

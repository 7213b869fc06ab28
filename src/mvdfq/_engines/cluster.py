"""Work on a Dask cluster: functions of blocks, sums by a tree, tasks in order.

Dask schedules, moves and repeats the work; this module only says what depends on what. A block is
made on a worker, stays in the memory of the cluster (Dask writes it to disk if memory runs out)
and is made again if its worker dies.
"""

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any

from mvdfq._engines.choice import Engine
from mvdfq._engines.spread import Maker, added
from mvdfq._utils.threads import Report

__all__ = ["DaskBlocks", "client_of", "kept_on", "run_on_cluster"]

# Time to wait for the answer of a scheduler.
CONNECT = "5s"
# Results that one task of a tree adds up.
BRANCHES = 8
# Tasks of a row of tiles that wait for a worker, per thread of the cluster.
WAITING = 3


@contextmanager
def client_of(engine: Engine) -> Iterator[Any]:
    """Give the client of an engine; a client that is opened here is closed at the end."""
    try:
        from distributed import Client, get_client
    except ImportError:
        raise ImportError(
            "a cluster needs dask.distributed, which is not installed: "
            "pip install 'mvdfq[cluster]'."
        ) from None
    if engine.client is not None and not isinstance(engine.client, str):
        yield engine.client
        return
    if engine.client is not None:
        with _connected(Client, engine.client) as client:
            yield client
        return
    try:
        client = get_client()
    except ValueError:
        raise RuntimeError(
            "engine='dask' needs a client of Dask, but there is none; create a "
            "dask.distributed.Client, or pass the address of a scheduler such as "
            "engine='tcp://10.0.0.1:8786'."
        ) from None
    yield client


@contextmanager
def _connected(client: Any, address: str) -> Iterator[Any]:
    """Connect to a scheduler, or say that there is none at this address."""
    try:
        # the user may have a default client, which must stay the default
        opened = client(address, set_as_default=False, timeout=CONNECT)
    except (OSError, TimeoutError) as error:
        raise ConnectionError(
            f"No Dask scheduler answers at {address}; start one with `dask scheduler`, or check "
            f"the address."
        ) from error
    with opened:
        yield opened


def kept_on(client: Any, value: Any) -> Any:
    """Return a future of a value that every task may read.

    The scheduler keeps the value, so that the value outlives every worker; values that are
    scattered do not.
    """
    with warnings.catch_warnings():  # the value is sent once, as the warning advises
        warnings.filterwarnings("ignore", "Sending large graph")
        return client.submit(_same, value, pure=False)


def _same(value: Any) -> Any:
    return value


class DaskBlocks:
    """The blocks of a collection in the memory of a cluster, as `LocalBlocks` in this process."""

    def __init__(self, client: Any, makers: Sequence[Maker]) -> None:
        self.client = client
        # one by one: the makers of all blocks together may be large
        self.blocks = [client.submit(_made, maker, pure=False) for maker in makers]

    def __len__(self) -> int:
        return len(self.blocks)

    def sum(
        self,
        function: Callable[..., Any],
        *args: Any,
        stride: int = 1,
        add: Callable[[Any, Any], Any] = added,
        report: Report = lambda done, total: None,
    ) -> Any:
        """Return the sum over all blocks of ``function(block, *args)``, added up by a tree."""
        client, chosen = self.client, self.blocks[::stride]
        shared = kept_on(client, args)
        level = [client.submit(_applied, function, block, shared, pure=False) for block in chosen]
        while len(level) > 1:
            # neighbours first: the order of the sum does not depend on which worker is faster
            groups = [level[i : i + BRANCHES] for i in range(0, len(level), BRANCHES)]
            level = [client.submit(_total, add, group, pure=False) for group in groups]
        result = level[0].result()
        report(len(chosen), len(chosen))
        return result


def _made(maker: Maker) -> Any:
    return maker()


def _applied(function: Callable[..., Any], block: Any, args: Sequence[Any]) -> Any:
    return function(block, *args)


def _total(add: Callable[[Any, Any], Any], results: Sequence[Any]) -> Any:
    """Add up results in their order."""
    return reduce(add, results)


def run_on_cluster(
    client: Any, function: Callable[..., Any], jobs: Iterable[tuple[Any, ...]]
) -> Iterator[tuple[Any, Any]]:
    """Yield the name of each job with ``function(*rest)``, in order; a job is (name, *rest).

    Only a few jobs per thread are under way, so that results do not pile up.
    """
    room = WAITING * max(sum(client.nthreads().values()), 1)
    waiting: deque[tuple[Any, Any]] = deque()
    for name, *rest in jobs:
        waiting.append((name, client.submit(function, *rest, pure=False)))
        if len(waiting) > room:
            done, future = waiting.popleft()
            yield done, future.result()
    while waiting:
        done, future = waiting.popleft()
        yield done, future.result()

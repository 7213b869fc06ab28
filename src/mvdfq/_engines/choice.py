"""Where the work is done: the processor, a graphics card or a Dask cluster."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import Any

from mvdfq._utils.errors import Sentence
from mvdfq._utils.threads import run_in_order

# Jobs that share a card: more would only wait for the card.
THREADS = 2
# Names of engines; the address of a Dask scheduler is also the name of an engine.
ENGINES = ("cpu", "gpu", "auto", "dask")


@dataclass(frozen=True)
class Engine:
    """An engine: "cpu", "gpu" with the device of torch, or "dask" with a client.

    `client` is a `dask.distributed.Client`, the address of a scheduler, or None for the client
    that Dask itself holds to be the current one. `sent` are the arrays that are on the card during
    one call of an estimator, with their tensors, by identity.
    """

    name: str
    device: str = ""
    client: Any = None
    sent: dict[int, tuple[Any, Any]] = field(default_factory=dict, compare=False, repr=False)


CPU = Engine("cpu")
_CHOSEN: ContextVar[Engine] = ContextVar("mvdfq_engine", default=CPU)


def current_engine() -> Engine:
    """Return the engine of the innermost `use_engine`; without `use_engine`, the processor.

    A thread starts without an engine: code that starts threads asks for the engine before.
    """
    return _CHOSEN.get()


@contextmanager
def use_engine(engine: Any = None, *, device: str = "cuda") -> Iterator[Engine]:
    """Do the work of all estimators inside a ``with`` block on one engine.

    Whatever an engine cannot do is done on the processor. Kernel values differ between engines
    by rounding in single precision; raw counts do not differ.

    Parameters
    ----------
    engine : {"cpu", "gpu", "auto", "dask"}, str, Client or None, default=None
        ``"gpu"`` is a graphics card (the extra ``gpu``), ``"auto"`` takes the card if there is
        one. A `dask.distributed.Client`, or the address of a scheduler such as
        ``"tcp://10.0.0.1:8786"``, is a cluster (the extra ``cluster``); ``"dask"`` is the current
        client of Dask. None leaves the engine as it is.

    device : str, default="cuda"
        Device of torch for ``"gpu"``: ``"cuda"``, ``"cuda:1"``; ``"cpu"`` runs the same code on
        the processor, which is only good for tests.

    Yields
    ------
    engine : Engine
        The engine in use.

    Examples
    --------
    >>> import mvdfq
    >>> with mvdfq.use_engine("auto"):
    ...     mvdfq.SequenceKernel(mvdfq.Spectrum(2)).fit_transform(["ABAB", "ABBA"]).round(2)
    array([[1.  , 0.77],
           [0.77, 1.  ]])
    """
    chosen = current_engine() if engine is None else _engine(engine, device)
    token = _CHOSEN.set(replace(chosen, sent={}))
    try:
        yield _CHOSEN.get()
    finally:
        _CHOSEN.reset(token)


def on_card(module: str) -> tuple[str, Any]:
    """Return the device of torch and a module of `_engines.gpu`; "" and None on other engines.

    Torch is optional and slow to import, so that the module is imported where it is used.
    """
    engine = current_engine()
    if engine.name != "gpu":
        return "", None
    return engine.device, import_module(f"mvdfq._engines.gpu.{module}")


def on_host(values: Any) -> Any:
    """Return a tensor as an array; arrays and sparse matrices stay as they are."""
    if not hasattr(values, "is_cuda"):
        return values
    return import_module("mvdfq._engines.gpu.device").to_host(values)


def side_by_side(
    function: Callable[[Any], Any], jobs: Iterable[Any], workers: int = 1
) -> Iterator[Any]:
    """Yield the results of all jobs, in order, by `workers` threads; on a card, by a few threads.

    The host then prepares one job while the card computes another, with the engine of the caller.
    """
    workers = THREADS if current_engine().name == "gpu" else workers
    if workers == 1:
        yield from map(function, jobs)
        return
    # threads do not inherit context variables, and so not the engine
    pairs = ((copy_context(), job) for job in jobs)
    running = run_in_order(lambda pair: pair[0].run(function, pair[1]), pairs, workers)
    with closing(running):
        yield from (result for _, result in running)


def meanwhile(function: Callable[[], Any]) -> Callable[[], Any]:
    """Start a function in a thread beside a card; what is returned waits for the result.

    On other engines the function runs when somebody asks for the result.
    """
    if current_engine().name != "gpu":
        return function
    pool = ThreadPoolExecutor(1)
    future = pool.submit(copy_context().run, function)
    pool.shutdown(wait=False)
    return future.result


def engine_of(estimator: Any) -> AbstractContextManager[Engine]:
    """Return a context manager that uses the engine of the parameter of an estimator."""
    engine = estimator.engine
    if engine is not None and not isinstance(engine, str):
        wanted = "a name or an address, which can be cloned and saved"
        hint = "pass a client to mvdfq.use_engine(client)"
        raise TypeError(f"engine must be {wanted}, got {type(engine).__name__}; {hint}.")
    return use_engine(engine)


def _engine(engine: Any, device: str) -> Engine:
    # no name of an engine has a scheme, every address of a scheduler has
    if not isinstance(engine, str) or "://" in engine:
        return Engine("dask", client=engine)
    if engine not in ENGINES:
        known = f"one of {ENGINES} or the address of a Dask scheduler such as 'tcp://10.0.0.1:8786'"
        raise ValueError(f"engine must be {known}, got {engine!r}.")
    if engine == "auto":
        return Engine("gpu", device) if card_name(device) else CPU
    if engine != "gpu":
        return Engine(engine)
    card, processor = {"engine": "gpu"}, {"engine": "cpu"}
    if _torch() is None:
        problem = " needs torch, which is not installed: pip install 'mvdfq[gpu]'; or pass "
        raise ImportError(Sentence(card, problem, processor, "."))
    if not card_name(device):
        problem = f" needs a graphics card that torch can use, but torch finds no device {device!r}"
        hint = "; install a build of torch for the card, or pass "
        raise RuntimeError(Sentence(card, problem, hint, processor, "."))
    return Engine("gpu", device)


@cache
def card_name(device: str = "cuda") -> str:
    """Return the name of a device of torch, or "" if torch or the device is missing."""
    torch = _torch()
    if torch is None:
        return ""
    try:
        kind = torch.device(device)
        if kind.type != "cuda":
            return device if kind.type == "cpu" else ""
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        return torch.cuda.get_device_name(kind) if (kind.index or 0) < count else ""
    except RuntimeError:  # torch does not know the name
        return ""


@cache
def _torch() -> Any:
    """Return torch, or None if torch is not installed."""
    try:
        import torch
    except ImportError:
        return None
    return torch

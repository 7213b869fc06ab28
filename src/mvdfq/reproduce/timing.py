"""How long the kernel matrix of all clips takes on one thread, and which part takes it."""

import platform
import re
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from mvdfq.reproduce.cells import StringMethod
from mvdfq.reproduce.fold import Workshop
from mvdfq.reproduce.sets import MusicSet
from mvdfq.reproduce.store import Store

__all__ = ["processor", "timed"]

# The best of several is the time of the work; what else the machine did is not.
REPEATS = 3
WARM_UP = 20


def timed(
    method: StringMethod, data: MusicSet, store: Store, workshop: Workshop | None
) -> dict[str, Any] | None:
    """Return the seconds of a method on all clips, one thread: learn, encode, count and Gram.

    Counting words is what the diagonal costs; the Gram is the rest of the matrix. Without a
    workshop nothing is measured.
    """
    key = {
        "data": data.digest(method.view),
        "timing": str(method),
        "repeats": REPEATS,
        "processor": processor(),
        "version": version("mvdfq"),
    }
    record = store.get(key)
    if record is None and workshop is not None:
        with threadpool_limits(1):
            record = _seconds(method, data, workshop.memory_limit)
        store.put(key, record)
    return record


def processor() -> str:
    """Return the name of the processor, as far as the system tells it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or platform.machine()
    names = re.findall(r"^model name\s*: (.*)$", text, flags=re.MULTILINE)
    return names[0].strip() if names else platform.machine()


def _seconds(method: StringMethod, data: MusicSet, memory_limit: Any) -> dict[str, Any]:
    X = data.view(method.view)
    learn, quantizer = _best(lambda: clone(method.symbols).fit(X), repeats=1)
    encode, symbols = _best(lambda: quantizer.transform(X))
    kernel = method.reader(1, memory_limit)
    clone(kernel).fit_transform(symbols[np.arange(min(WARM_UP, len(data)))])  # compiles
    kernel.fit(symbols)
    whole, _ = _best(lambda: kernel.compare(kernel.train_, None))
    diagonal, _ = _best(lambda: kernel.diagonal(symbols))
    # where counting is nearly all of it the diagonal alone may take a little longer
    count = min(diagonal, whole)
    return {"learn": learn, "encode": encode, "count": count, "gram": round(whole - count, 3)}


def _best(work: Callable[[], Any], repeats: int = REPEATS) -> tuple[float, Any]:
    """Return the least time of several runs, and the result."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return round(min(times), 3), result

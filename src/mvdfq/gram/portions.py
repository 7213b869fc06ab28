"""Collections in portions whose features can be counted within the memory limit."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from mvdfq._utils.checks import available_memory, parse_memory
from mvdfq._utils.threads import n_threads
from mvdfq.gram.plan import Plan
from mvdfq.gram.vocabulary import count_words
from mvdfq.sequences import Ragged

# Bytes per count while features are put together, measured on 18 million counts of Spectrum(6):
# columns, coordinates, their concatenation, and the matrix before and after scaling.
BYTES_PER_COUNT = 100
# Bytes per count while the portions are joined: number and column, and a copy of the numbers.
BYTES_WHILE_JOINED = 20
# Sequences and frames that are counted to find out how many counts there are per frame.
SAMPLE, SAMPLE_FRAMES = 32, 50_000


def portions(
    collection: Ragged, plan: Plan, memory_limit: int | str | None, n_jobs: int | None
) -> list[slice]:
    """Cut a collection so that the features of each portion fit into the memory limit.

    Raises a MemoryError if the features of the whole collection do not fit into the memory of the
    machine.
    """
    budget, n_frames = parse_memory(memory_limit), int(collection.offsets[-1])
    per_task = n_threads(n_jobs) * plan.bytes_per_frame
    bound = plan.words_per_frame
    # the bound needs no sample; most collections fit and are not cut
    if bound is not None and (per_task + BYTES_PER_COUNT * bound) * n_frames <= budget:
        return [slice(0, len(collection))]
    density = _counts_per_frame(collection, plan, n_jobs)
    n_counts, free = density * n_frames, available_memory()
    need = int(n_counts * BYTES_WHILE_JOINED)
    if need > free:  # before memory is spent on a result that cannot fit
        raise MemoryError(
            f"X has about {n_counts:.3g} counts, whose features take about {need / 1e9:.3g} GB, "
            f"but {free / 1e9:.3g} GB of memory are free; transform X in parts, or use a kernel "
            f"with fewer words."
        )
    # a quarter more, since the sample may hold fewer counts than other sequences
    per_frame = per_task + 1.25 * BYTES_PER_COUNT * density
    return _cuts(collection.offsets, budget, per_frame)


def _cuts(offsets: np.ndarray, budget: int, per_frame: float) -> list[slice]:
    """Cut sequences into runs that need at most `budget` bytes each."""
    longest = int(np.diff(offsets).max(initial=0))
    if longest * per_frame > budget:
        raise ValueError(
            f"memory_limit must be at least about {int(longest * per_frame)} bytes, which the "
            f"features of the longest sequence need, got {budget} bytes; pass a larger "
            f"memory_limit."
        )
    cuts, start, n = [], 0, len(offsets) - 1
    while start < n:
        # at least one sequence, however long: `longest` was checked above
        most = offsets[start] + budget / per_frame
        stop = max(start + 1, int(np.searchsorted(offsets, most, side="right")) - 1)
        cuts.append(slice(start, stop))
        start = stop
    return cuts


def _counts_per_frame(collection: Ragged, plan: Plan, n_jobs: int | None) -> float:
    """Count some sequences from all parts of the collection."""
    # spread over the collection: files are often sorted by class or length
    chosen = np.unique(np.linspace(0, len(collection) - 1, SAMPLE).astype(int))
    frames = np.cumsum(collection.lengths[chosen])
    sample = collection.take(chosen[: max(1, int(np.searchsorted(frames, SAMPLE_FRAMES)))])
    counted = count_words(sample, plan, n_jobs)
    return sum(len(part.columns.count) for part in counted) / max(int(sample.offsets[-1]), 1)


def stacked(
    blocks: Iterable[tuple[sp.csr_array, np.ndarray]],
) -> tuple[sp.csr_array, np.ndarray]:
    """Stack sparse matrices, each with its norms, as they come."""
    parts = [(x.data, x.indices, np.diff(x.indptr), own, x.shape[1]) for x, own in blocks]
    lists: list[Any] = [list(part) for part in zip(*parts, strict=True)]
    del parts
    # one kind of array after the other: only the numbers are in memory twice
    data, indices, sizes, norms = (np.concatenate(lists.pop(0)) for _ in range(4))
    # scikit-learn's solvers read 32-bit indices only
    kind = np.int32 if len(data) < 2**31 else np.int64
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    stack = data, indices.astype(kind, copy=False), indptr.astype(kind)
    return sp.csr_array(stack, shape=(len(indptr) - 1, lists[0][0])), norms

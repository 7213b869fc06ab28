"""Collections in portions whose features can be counted within the memory limit."""

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp

from mvdfq._utils.checks import available_memory, parse_memory
from mvdfq._utils.threads import n_threads
from mvdfq.gram.plan import Plan
from mvdfq.gram.vocabulary import Vocabulary, WordCounts, count_words
from mvdfq.kernels.keys import rank_words
from mvdfq.sequences import Ragged

# Bytes per count while features are put together, measured on 18 million counts of Spectrum(6):
# columns, coordinates, their concatenation, and the matrix before and after scaling.
BYTES_PER_COUNT = 100
# Bytes per count while the portions are joined: number and column, and a copy of the numbers.
BYTES_WHILE_JOINED = 20
# How much larger than needed a result becomes when it grows.
GROWTH = 1.1
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
    _refuse_too_many(density * n_frames)
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


def _refuse_too_many(n_counts: float) -> None:
    """Raise an error before memory is spent on a result that cannot fit."""
    need, free = int(n_counts * BYTES_WHILE_JOINED), available_memory()
    if need > free:
        raise MemoryError(
            f"X has about {n_counts:.3g} counts, whose features take about {need / 1e9:.3g} GB, "
            f"but {free / 1e9:.3g} GB of memory are free; transform X in parts, or use a kernel "
            f"with fewer words."
        )


def vocabulary_of(parts: Iterable[list[WordCounts]], plan: Plan) -> Vocabulary:
    """Give every word of any portion a column."""
    words: dict[tuple[int, int], np.ndarray] = {}
    for counted in parts:
        for part in counted:
            # words of two rows or tasks are never the same word
            place, known = (part.row, part.task), part.words
            if place in words:
                known = np.concatenate([words[place], known])
                # one of each word, in ascending order, as `find_words` needs them
                known = known[rank_words(known)[1]]
            words[place] = known
    return Vocabulary.of_words(words, plan)


def stacked(blocks: Iterable[sp.csr_array]) -> sp.csr_array:
    """Stack sparse matrices as they come; the result grows in place.

    A large array grows by new pages, without a copy; so only one block is in memory twice.
    """
    rest = iter(blocks)
    first = next(rest)
    data, indices, sizes = first.data, first.indices, [np.diff(first.indptr)]
    n, n_columns = first.nnz, first.shape[1]
    # the arrays live on in `data` and `indices`, and may grow only if nobody else holds them
    del first
    for block in rest:
        last, n = n, n + block.nnz
        if n > len(data):
            data, indices = (_grown(array, int(n * GROWTH)) for array in (data, indices))
        data[last:n], indices[last:n] = block.data, block.indices
        sizes.append(np.diff(block.indptr))
        del block
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(sizes))])
    data, indices = _grown(data, n), _grown(indices, n)
    # scikit-learn's solvers read 32-bit indices only
    kind = np.int32 if n < 2**31 else np.int64
    shape = len(indptr) - 1, n_columns
    parts = data, indices.astype(kind, copy=False), indptr.astype(kind, copy=False)
    return sp.csr_array(parts, shape=shape)


def _grown(array: np.ndarray, size: int) -> np.ndarray:
    """Return the array with another size; nobody else may hold the array."""
    # a view cannot be resized
    if not array.flags.owndata:
        array = array.copy()
    array.resize(size, refcheck=False)
    return array

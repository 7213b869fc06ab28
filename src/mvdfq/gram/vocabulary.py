"""Counts -> a sparse matrix: every word of every row, group and cell is a column."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mvdfq._engines.choice import current_engine
from mvdfq._utils.checks import available_memory, parse_memory
from mvdfq._utils.short import Short
from mvdfq._utils.threads import n_threads, run_in_order
from mvdfq.gram.plan import Plan, mix
from mvdfq.kernels.counting import Columns
from mvdfq.kernels.keys import find_words, rank_words, word_codes
from mvdfq.sequences import Ragged, blocks_of
from mvdfq.symbols.base import letter_name

# Bytes per count while features are put together, measured on 18 million counts of Spectrum(6):
# columns, coordinates, their concatenation, and the matrix before and after scaling.
BYTES_PER_COUNT = 100
# Bytes per count while the portions are joined: number and column, and a copy of the numbers.
BYTES_WHILE_JOINED = 20
# Sequences and frames that are counted to find out how many counts there are per frame.
SAMPLE, SAMPLE_FRAMES = 32, 50_000


@dataclass(frozen=True, repr=False)
class WordCounts(Short):
    """The counts of one task, as columns whose words are a matrix of codes."""

    row: int
    task: int
    weight: float
    columns: Columns


@dataclass(frozen=True, repr=False)
class Vocabulary(Short):
    """The words that have a column, task by task, and the first column of each task."""

    words: dict[tuple[int, int], np.ndarray]
    first: dict[tuple[int, int], int]
    size: int

    @classmethod
    def of(cls, words: dict[tuple[int, int], np.ndarray]) -> "Vocabulary":
        """Give every word of every task a column."""
        ends = np.cumsum([0, *map(len, words.values())]).tolist()
        return cls(words, dict(zip(words, ends[:-1], strict=True)), ends[-1])

    def columns_of(self, row: int, task: int, words: np.ndarray, n_symbols: int) -> np.ndarray:
        """Return the column of each word, -1 for a word without a column."""
        places = find_words(self.words[row, task], words)
        return np.where(places < 0, -1, places + self.first[row, task])

    def names(self, plan: Plan, rows: list[str], alphabets: list[str] | None) -> np.ndarray:
        """Return a name for every column; `rows` and `alphabets` describe the rows in use."""
        names = np.empty(self.size, dtype=object)
        for (r, t), words in self.words.items():
            task = plan.tasks(r)[t][1]
            level, cell = task.cell
            part = f", part {cell + 1} of {2**level}" if level else ""
            title = f"{rows[r]}, {task.title}{part}: "
            letters = None if alphabets is None else np.array([*map(letter_name, alphabets[r])])
            symbols = words if letters is None else letters[words]
            texts = [title + " ".join(map(str, word)) for word in symbols]
            names[self.first[r, t] : self.first[r, t] + len(texts)] = texts
        return names


@dataclass(frozen=True, repr=False)
class Buckets(Short):
    """A fixed number of columns; a hash function gives each word its column."""

    size: int

    def columns_of(self, row: int, task: int, words: np.ndarray, n_symbols: int) -> np.ndarray:
        """Return the column of each word, -1 for a word with symbols that `fit` did not see.

        Unseen symbols get new numbers in every call, so hashing them would mix up words.
        """
        # row and task go into the hash, so equal words of two rows have two columns
        state = mix(np.full(len(words), 1 + row * 2**32 + task, dtype=np.uint64))
        for digit in words.T:
            state = mix(state + digit.astype(np.uint64))
        unseen = np.any(words >= n_symbols, axis=1)
        return np.where(unseen, -1, (state % np.uint64(self.size)).astype(np.int64))

    def names(self, plan: Plan, rows: list[str], alphabets: list[str] | None) -> np.ndarray:
        """Return numbered names: the words of a bucket are not known."""
        return np.array([f"bucket {i}" for i in range(self.size)], dtype=object)


def all_words(plan: Plan) -> Vocabulary:
    """Give every possible word of a plan a column, whether a sequence holds the word or not."""
    words = {}
    for r, base in enumerate(np.maximum(plan.n_symbols, 1).tolist()):
        for t, (_, task) in enumerate(plan.tasks(r)):
            keys = np.arange(base**task.length, dtype=np.uint64)
            words[r, t] = word_codes(keys, base, task.length)
    return Vocabulary.of(words)


def vocabulary_of(parts: Iterable[list[WordCounts]]) -> Vocabulary:
    """Give every word of any portion a column."""
    words: dict[tuple[int, int], np.ndarray] = {}
    for part in (part for counted in parts for part in counted):
        # words of two rows or tasks are never the same word
        place, known = (part.row, part.task), part.columns.words
        if place in words:
            known = np.concatenate([words[place], known])
            # one of each word, in ascending order, as `find_words` needs them
            known = known[rank_words(known)[1]]
        words[place] = known
    return Vocabulary.of(words)


def count_words(collection: Ragged, plan: Plan, n_jobs: int | None) -> list[WordCounts]:
    """Count the words of every task."""
    engine = current_engine()
    if engine.name == "gpu":
        from mvdfq.gram.gram_on_gpu import CannotCount, count_tasks  # torch is slow to import

        with suppress(CannotCount):  # what only the processor can count
            counted = count_tasks(collection, plan, engine.device)
            return [WordCounts(r, t, plan.tasks(r)[t][0], counts) for r, t, counts in counted]
    n_rows = len(plan.row_weights)
    jobs = [(r, t, *task) for r in range(n_rows) for t, task in enumerate(plan.tasks(r))]
    done = run_in_order(lambda job: _count(collection, plan, *job), jobs, n_threads(n_jobs))
    return [result for _, result in done]


def portions(
    collection: Ragged, plan: Plan, memory_limit: int | str | None, n_jobs: int | None
) -> list[slice]:
    """Cut a collection so that the features of each portion fit into the memory limit.

    Raises a MemoryError if all features together do not fit into the memory of the machine.
    """
    budget, n_frames = parse_memory(memory_limit), int(collection.offsets[-1])
    per_task = n_threads(n_jobs) * plan.bytes_per_frame
    if plan.counts_groups:
        rows = range(len(plan.row_weights))
        most = sum(len(g.layouts) * plan.n_levels for r in rows for g in plan.groups(r))
        # the most words that a frame can have need no sample; most collections fit and are not cut
        if (per_task + BYTES_PER_COUNT * most) * n_frames <= budget:
            return [slice(0, len(collection))]
    # count some sequences from all parts of the collection: files are often sorted by class
    chosen = np.unique(np.linspace(0, len(collection) - 1, SAMPLE).astype(int))
    frames = np.cumsum(collection.lengths[chosen])
    sample = collection.take(chosen[: max(1, int(np.searchsorted(frames, SAMPLE_FRAMES)))])
    counted = sum(len(part.columns.count) for part in count_words(sample, plan, n_jobs))
    density = counted / max(int(sample.offsets[-1]), 1)
    n_counts, free = density * n_frames, available_memory()
    need = int(n_counts * BYTES_WHILE_JOINED)
    if need > free:  # before memory is spent on a result that cannot fit
        takes = f"X has about {n_counts:.3g} counts, whose features take about {need / 1e9:.3g} GB"
        has = f"{free / 1e9:.3g} GB of memory are free"
        hint = "transform X in parts, or use a kernel with fewer words"
        raise MemoryError(f"{takes}, but {has}; {hint}.")
    # a quarter more, since the sample may hold fewer counts than other sequences
    per_frame = per_task + 1.25 * BYTES_PER_COUNT * density
    offsets, longest = collection.offsets, int(collection.lengths.max(initial=0))
    if longest * per_frame > budget:
        least = f"at least about {int(longest * per_frame)} bytes"
        wanted = f"{least}, which the features of the longest sequence need"
        hint = "pass a larger memory_limit"
        raise ValueError(f"memory_limit must be {wanted}, got {budget} bytes; {hint}.")
    return blocks_of(offsets, budget / per_frame)


def stacked(blocks: Iterable[tuple[sp.csr_array, np.ndarray]]) -> tuple[sp.csr_array, np.ndarray]:
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


def assemble(
    counted: list[WordCounts], columns: Vocabulary | Buckets, n_sequences: int, plan: Plan
) -> tuple[sp.csr_array, np.ndarray]:
    """Embed and weight the counts of all tasks; return the matrix and each row's K(x, x)."""
    own, pieces = np.zeros(n_sequences), []
    for r, row_weight in enumerate(plan.row_weights):
        squares, total = np.zeros(n_sequences), np.zeros(n_sequences)
        embedded = []
        for part in (part for part in counted if part.row == r):
            values, norms = _embedded(part, columns, n_sequences, plan)
            total += norms
            embedded.append((np.sqrt(row_weight * part.weight), values))
            squares += part.weight * norms
        scale = plan.row_scale(squares, total) if plan.normalises_rows else np.ones(n_sequences)
        own += row_weight * squares * scale**2
        # roots of the weights: the product of two features then has the weight itself
        pieces += [(w * scale[v.row] * v.data, v.row, v.col) for w, v in embedded]
    data, row, column = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
    features = sp.csr_array((data, (row, column)), shape=(n_sequences, columns.size))
    # words of different tasks in one bucket are added after the square root
    own += features.power(2).sum(axis=1) - np.bincount(row, data**2, minlength=n_sequences)
    return features, own


def _embedded(
    part: WordCounts, where: Vocabulary | Buckets, n_sequences: int, plan: Plan
) -> tuple[sp.coo_array, np.ndarray]:
    """Return the embedded counts of one task in their columns, and their squared norms.

    Words without a column are not in the matrix, but they count in the norms.
    """
    words, n_symbols = part.columns.words, int(plan.n_symbols[part.row])
    columns = where.columns_of(part.row, part.task, words, n_symbols)
    column = np.repeat(columns, np.diff(part.columns.indptr))
    known = column >= 0
    # scikit-learn's solvers read 32-bit indices only
    coordinates = (part.columns.sequence[known].astype(np.int32), column[known].astype(np.int32))
    shape = n_sequences, where.size
    counts = sp.coo_array((part.columns.count[known].astype(float), coordinates), shape=shape)
    counts = counts.tocsr().tocoo()  # adds up words that share a bucket
    # words without a column make a sequence longer, and so less like all others
    lost = part.columns.count[~known].astype(float)
    owners = np.append(counts.row, part.columns.sequence[~known])
    squares = np.append(counts.data, lost) ** (1 if plan.root else 2)
    norms = np.bincount(owners, squares, minlength=n_sequences)
    if plan.root:
        counts.data = np.sqrt(counts.data)
    return counts, norms


def _count(collection: Ragged, plan: Plan, r: int, t: int, weight: float, task) -> WordCounts:
    """Count the words of one task; runs in a thread."""
    row = plan.kernel.row([collection], r)
    # the blocks of columns, one after the other; there may be none
    blocks = list(task.columns(row))
    codes = [word_codes(block.words, row.base, task.length) for block in blocks]
    words = np.concatenate([np.empty((0, task.length), np.uint8), *codes])
    sizes = [np.zeros(1, np.int64), *(np.diff(block.indptr) for block in blocks)]
    sequence = np.concatenate([np.empty(0, np.uint32), *(block.sequence for block in blocks)])
    count = np.concatenate([np.empty(0, np.float32), *(block.count for block in blocks)])
    columns = Columns(np.cumsum(np.concatenate(sizes)), sequence, count, words)
    return WordCounts(r, t, weight, columns)

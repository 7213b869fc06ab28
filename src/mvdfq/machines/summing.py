"""Tables of word weights, made of training sequences or of what a linear machine learned."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mvdfq._engines import lookup
from mvdfq._utils.threads import n_threads, run_in_order
from mvdfq.gram.plan import Plan
from mvdfq.gram.vocabulary import Vocabulary
from mvdfq.kernels import Group
from mvdfq.kernels.counting import Columns, GroupTask, Row, pyramid_cells, word_keys
from mvdfq.machines.word_table import GroupTable, WordTable
from mvdfq.symbols.base import Symbols

__all__ = ["TableTooLarge", "learned_table", "sum_group", "sum_up"]

# Words of an alphabet are numbered by their keys while there are no more of them than this: all of
# them are looked at for every sequence, a few thousand in the time of looking up some hundred.
DENSE_WORDS = 2**12

# The words of one cell of the pyramid, as keys, and their weights (n_words, n_columns).
Weighed = tuple[np.ndarray, np.ndarray]


class TableTooLarge(Exception):
    """The table does not fit into the memory that it may take."""


def sum_up(
    train: Symbols,
    plan: Plan,
    coefficients: np.ndarray,
    scale: np.ndarray,
    mean: float | None,
    memory: int,
    n_jobs: int | None = None,
) -> WordTable:
    """Sum training sequences up to a table, or raise `TableTooLarge`.

    `coefficients`, (n_sequences, n_columns), are those of the kernel values divided by the norms
    of the training sequences; `scale` is (n_rows, n_sequences).
    """
    rows = np.flatnonzero(plan.row_weights)
    n_groups = len(plan.groups(0))

    def one(g: int) -> GroupTable:
        return sum_group(train, plan, g, coefficients, scale, memory // n_groups)

    tables = [table for _, table in run_in_order(one, range(n_groups), n_threads(n_jobs))]
    return WordTable(plan, rows, tables, _group_weights(plan, rows), mean)


def learned_table(
    vocabulary: Vocabulary,
    plan: Plan,
    coefficients: np.ndarray,
    mean: float | None,
    memory: int,
) -> WordTable:
    """Turn the coefficients of explicit features into a table, or raise `TableTooLarge`."""
    rows = np.flatnonzero(plan.row_weights)
    groups = range(len(plan.groups(0)))

    def one(g: int) -> GroupTable:
        parts = (_learned(vocabulary, plan, r, g, coefficients) for r in rows.tolist())
        share = memory // len(groups)
        return _joined(plan, rows, g, parts, coefficients.shape[1], share)

    weights = _group_weights(plan, rows)
    return WordTable(plan, rows, [one(g) for g in groups], weights, mean)


def _group_weights(plan: Plan, rows: np.ndarray) -> np.ndarray:
    """Weights of the groups in each row, (n_rows, n_groups)."""
    return np.array([[group.weight for group in plan.groups(r)] for r in rows.tolist()], float)


def sum_group(
    train: Symbols,
    plan: Plan,
    g: int,
    coefficients: np.ndarray,
    scale: np.ndarray,
    memory: int,
) -> GroupTable:
    """Sum up the words of one group of layouts."""
    rows = np.flatnonzero(plan.row_weights)

    def parts() -> Iterator[Iterable[Weighed]]:
        for r in rows.tolist():
            group = plan.groups(r)[g]
            factor = plan.row_weights[r] * group.weight * scale[r][:, None]
            mine = (factor * coefficients).astype(np.float32)
            yield _summed(plan.row([train], r), group, mine, plan)

    return _joined(plan, rows, g, parts(), coefficients.shape[1], memory)


def _summed(row: Row, group: Group, coefficients: np.ndarray, plan: Plan) -> Iterator[Weighed]:
    """Yield the words of one row and what they weigh, cell by cell of the pyramid."""
    for cell in pyramid_cells(plan.n_levels):
        task = GroupTask(group, cell)
        counts = task.table(row) if row.base**task.length <= DENSE_WORDS else None
        if counts is not None:
            embedded = (np.sqrt(counts) if plan.root else counts).astype(np.float32)
            yield np.arange(counts.shape[1], dtype=np.uint64), embedded.T @ coefficients
            continue
        for columns in task.columns(row):
            # words that do not fit into 64 bits beside their sequence come as rows of codes
            is_key = columns.words.ndim == 1
            words = columns.words if is_key else word_keys(columns.words, row.base)
            yield words, _weigh(columns, coefficients, plan.root)


def _weigh(columns: Columns, coefficients: np.ndarray, root: bool) -> np.ndarray:
    """Add up, for every word, the coefficients of the sequences it occurs in."""
    count = columns.count.astype(np.float32)
    weights = np.zeros((len(columns.words), coefficients.shape[1]), np.float32)
    value = np.sqrt(count) if root else count
    lookup.add_weights(columns.indptr, columns.sequence, value, coefficients, weights)
    return weights


def _learned(
    vocabulary: Vocabulary, plan: Plan, r: int, g: int, coefficients: np.ndarray
) -> Iterator[Weighed]:
    """Yield the words of one row and what was learned of them, cell by cell of the pyramid."""
    n_cells = len(pyramid_cells(plan.n_levels))
    factor = np.sqrt(plan.row_weights[r] * plan.groups(r)[g].weight)
    for task in range(g * n_cells, (g + 1) * n_cells):
        words = vocabulary.words[r, task]
        start = vocabulary.first[r, task]
        keys = word_keys(words, max(int(plan.n_symbols[r]), 1))
        yield keys, factor * coefficients[start : start + len(words)]


def _joined(
    plan: Plan,
    rows: np.ndarray,
    g: int,
    parts: Iterable[Iterable[Weighed]],
    n_columns: int,
    memory: int,
) -> GroupTable:
    """Put the words of all rows into one table; `parts` gives those of each row."""
    group = plan.groups(0)[g]
    bases = np.maximum(plan.n_symbols[rows], 1)
    sizes = [int(base) ** len(group.layouts[0].offsets) for base in bases]
    shape = len(pyramid_cells(plan.n_levels)), n_columns
    slot_bytes = 4 * shape[0] * shape[1] + 8
    dense = max(sizes) <= DENSE_WORDS
    if dense:
        _check_size(sum(sizes) * slot_bytes, memory)
    keys, values = [], []
    for size, weighed in zip(sizes, parts, strict=True):
        places, filled = _row_table(weighed, size if dense else None, shape)
        keys.append(places)
        values.append(filled)
        _check_size(sum(map(len, values)) * slot_bytes, memory)
    first = np.concatenate([[0], np.cumsum([len(one) for one in values])]).astype(np.int64)
    return GroupTable(group, bases, first, np.concatenate(keys), np.concatenate(values))


def _row_table(
    weighed: Iterable[Weighed], size: int | None, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Enter words into a table of `size` slots, or (None) of as many as the first cell has words.

    The first cell of a pyramid is the whole sequence, so it lists all words.
    """
    keys = np.empty(0, np.uint64)
    values: Any = None
    for cell, (words, weights) in enumerate(weighed):
        if cell == 0:
            keys = keys if size is not None else _places(words)
            values = np.zeros((len(keys) if size is None else size, *shape), np.float32)
        slots = words.astype(np.int64)
        if size is None:
            lookup.find_keys(keys, words, slots)
        values[slots, cell] = weights
    return keys, values


def _places(words: np.ndarray) -> np.ndarray:
    """Places for words, a fifth of them empty so that few have to be looked at."""
    keys = np.full(len(words) * 5 // 4 + 1, lookup.EMPTY)
    lookup.insert_keys(keys, words)
    return keys


def _check_size(size: int, memory: int) -> None:
    if size > memory:
        raise TableTooLarge(f"{size} bytes are needed, {memory} allowed")

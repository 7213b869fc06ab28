"""Make word tables: sum up the words of training sequences, or learned coefficients."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mvdfq._engines import lookup
from mvdfq._utils.threads import n_threads, run_in_order
from mvdfq.gram.plan import Plan
from mvdfq.gram.vocabulary import Vocabulary
from mvdfq.kernels import Group
from mvdfq.kernels.base import Row
from mvdfq.kernels.counting import Columns, GroupTask
from mvdfq.kernels.keys import word_keys
from mvdfq.symbols.base import Symbols
from mvdfq.terms.standard import DENSE_WORDS, count_at_keys
from mvdfq.terms.word_table import GroupTable, WordTable

# The words of one cell of the pyramid, as keys, and their weights (n_words, n_columns).
Weighed = tuple[np.ndarray, np.ndarray]


class TableTooLarge(Exception):
    """The word table does not fit into the memory limit."""


def sum_up(
    train: Symbols,
    plan: Plan,
    coefficients: np.ndarray,
    scale: np.ndarray,
    mean: float | None,
    memory: int,
    n_jobs: int | None = None,
) -> WordTable:
    """Return the word table of the training sequences, or raise `TableTooLarge`.

    `coefficients`, (n_sequences, n_columns), are the coefficients of the machines divided by the
    norms of the training sequences; `scale` is (n_rows, n_sequences).
    """
    n_groups = len(plan.groups(0))

    def table_of(g: int) -> GroupTable:
        return sum_group(train, plan, g, coefficients, scale, memory // n_groups)

    tables = [table for _, table in run_in_order(table_of, range(n_groups), n_threads(n_jobs))]
    return WordTable(plan, np.flatnonzero(plan.row_weights), tables, mean)


def learned_table(
    vocabulary: Vocabulary,
    plan: Plan,
    coefficients: np.ndarray,
    mean: float | None,
    memory: int,
) -> WordTable:
    """Turn the coefficients of explicit features into a word table, or raise `TableTooLarge`."""
    rows = np.flatnonzero(plan.row_weights)
    n_groups = len(plan.groups(0))

    def table_of(g: int) -> GroupTable:
        parts = (_learned(vocabulary, plan, r, g, coefficients) for r in rows.tolist())
        return _joined(plan, g, parts, coefficients.shape[1], memory // n_groups)

    return WordTable(plan, rows, [table_of(g) for g in range(n_groups)], mean)


def sum_group(
    train: Symbols,
    plan: Plan,
    g: int,
    coefficients: np.ndarray,
    scale: np.ndarray,
    memory: int,
) -> GroupTable:
    """Sum up the words of one group of layouts."""

    def parts() -> Iterator[Iterable[Weighed]]:
        for r in np.flatnonzero(plan.row_weights).tolist():
            group = plan.groups(r)[g]
            factor = plan.row_weights[r] * group.weight * scale[r][:, None]
            # the weights of row, group and sequence go into the coefficients, so counts stay plain
            weighted = (factor * coefficients).astype(np.float32)
            yield _summed(plan.row([train], r), group, weighted, plan)

    return _joined(plan, g, parts(), coefficients.shape[1], memory)


def _summed(row: Row, group: Group, coefficients: np.ndarray, plan: Plan) -> Iterator[Weighed]:
    """Yield the words of one row and their weights, cell by cell of the pyramid."""
    if row.base**group.length <= DENSE_WORDS:
        # few possible words: count at their keys, without a sort
        counts = count_at_keys(row, [group], plan.n_levels)
        if plan.root:
            np.sqrt(counts.data, out=counts.data)
        weights = (counts.T @ coefficients).reshape(-1, len(plan.cells), coefficients.shape[1])
        keys = np.arange(len(weights), dtype=np.uint64)
        yield from ((keys, weights[:, c]) for c in range(len(plan.cells)))
        return
    for cell in plan.cells:
        for columns in GroupTask(group, cell).columns(row):
            # if word and sequence do not fit into 64 bits together, words come as rows of codes
            is_key = columns.words.ndim == 1
            words = columns.words if is_key else word_keys(columns.words, row.base)
            yield words, _weigh(columns, coefficients, plan.root)


def _weigh(columns: Columns, coefficients: np.ndarray, root: bool) -> np.ndarray:
    """Return, for every word, the sum of the coefficients of the sequences with the word."""
    count = columns.count.astype(np.float32)
    weights = np.zeros((len(columns.words), coefficients.shape[1]), np.float32)
    value = np.sqrt(count) if root else count
    lookup.add_weights(columns.indptr, columns.sequence, value, coefficients, weights)
    return weights


def _learned(
    vocabulary: Vocabulary, plan: Plan, r: int, g: int, coefficients: np.ndarray
) -> Iterator[Weighed]:
    """Yield the words of one row and their learned weights, cell by cell of the pyramid."""
    n_cells = len(plan.cells)
    # features hold the root of the weights, as products of two features hold the weights
    factor = np.sqrt(plan.row_weights[r] * plan.groups(r)[g].weight)
    for task in range(g * n_cells, (g + 1) * n_cells):
        words = vocabulary.words[r, task]
        start = vocabulary.first[r, task]
        keys = word_keys(words, max(int(plan.n_symbols[r]), 1))
        yield keys, factor * coefficients[start : start + len(words)]


def _joined(
    plan: Plan, g: int, parts: Iterable[Iterable[Weighed]], n_columns: int, memory: int
) -> GroupTable:
    """Put the words of all rows into one table; `parts` gives the words of each row in use."""
    group = plan.groups(0)[g]
    bases = np.maximum(plan.n_symbols[np.flatnonzero(plan.row_weights)], 1)
    sizes = [int(base) ** group.length for base in bases]
    shape = len(plan.cells), n_columns
    # single precision for each cell and column, and a key of 64 bits
    slot_bytes = 4 * shape[0] * shape[1] + 8
    dense = max(sizes) <= DENSE_WORDS
    # before the values are made, since their size is known
    if dense:
        _check_size(sum(sizes) * slot_bytes, memory)
    keys, values = [], []
    for size, weighed in zip(sizes, parts, strict=True):
        places, filled = _filled(weighed, size if dense else None, shape)
        keys.append(places)
        values.append(filled)
        # after every row: how many words occur is known only then
        _check_size(sum(map(len, values)) * slot_bytes, memory)
    first = np.concatenate([[0], np.cumsum([len(slots) for slots in values])]).astype(np.int64)
    return GroupTable(group, bases, first, np.concatenate(keys), np.concatenate(values))


def _filled(
    weighed: Iterable[Weighed], size: int | None, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the keys and values of one row: `size` dense slots, or (None) hashed slots.

    The first cell of a pyramid is the whole sequence, so the first cell lists all words.
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
    """Return places for words; a fifth of the places is empty, so that searches stay short."""
    keys = np.full(len(words) * 5 // 4 + 1, lookup.EMPTY)
    lookup.insert_keys(keys, words)
    return keys


def _check_size(size: int, memory: int) -> None:
    if size > memory:
        raise TableTooLarge(f"the word table needs {size} bytes, more than the limit of {memory}")

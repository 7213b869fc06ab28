r"""Training sequences summed up: what every word says for every class.

A kernel machine is :math:`f(x) = \sum_i a_i K(x, x_i) + b`. Where the kernel is a sum over words,
so is the machine: the weights of a word in all training sequences are added up once, and a new
sequence is classified by looking its words up, however many sequences were learned from.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from mvdfq.counting import GroupTask, Row, pyramid_cells, word_keys
from mvdfq.engines import lookup
from mvdfq.features import Vocabulary
from mvdfq.gram import inverse_root, row_scale
from mvdfq.layouts import Group
from mvdfq.recipe import Recipe
from mvdfq.symbols.base import Symbols
from mvdfq.threads import n_threads, run_in_order

__all__ = ["GroupTable", "TableTooLarge", "WordTable", "group_table", "has_table"]

# Words of an alphabet are numbered by their keys while there are no more of them than this.
DENSE_WORDS = 2**16


class TableTooLarge(Exception):
    """The table does not fit into the memory that it may take."""


@dataclass(frozen=True)
class GroupTable:
    """The words that one group of layouts reads, row by row, and their weights.

    `values` is (n_slots, n_cells, n_columns); row `r` owns the slots from ``first[r]`` to
    ``first[r + 1]``, and the places of its words among them are their keys if `keys` is empty.
    """

    group: Group
    bases: np.ndarray
    first: np.ndarray
    keys: np.ndarray
    values: np.ndarray

    def slots(self, r: int, keys: np.ndarray) -> np.ndarray:
        """Return the slot of each word of row `r`, -1 for a word that has none."""
        if not self.keys.size:
            return self.first[r] + keys.astype(np.int64)
        places = np.empty(keys.size, np.int64)
        lookup.find_keys(self.keys[self.first[r] : self.first[r + 1]], keys, places)
        return np.where(places < 0, -1, places + self.first[r])


@dataclass(frozen=True)
class WordTable:
    """Weights of all words; `margins` reads them off for new sequences.

    `weights` is (n_rows, n_groups), those of the groups' Gram matrices; `rows` are the rows in
    use; `mean` is what every margin is divided by, None for the norm of the sequence.
    """

    recipe: Recipe
    rows: np.ndarray
    groups: list[GroupTable]
    weights: np.ndarray
    mean: float | None

    @property
    def nbytes(self) -> int:
        """Memory that the table takes."""
        return sum(group.keys.nbytes + group.values.nbytes for group in self.groups)

    def margins(self, symbols: Symbols, n_jobs: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Weigh every sequence: (n_sequences, n_columns); return its K(x, x) as well."""
        symbols = symbols.rows(self.rows)
        workers = n_threads(n_jobs)
        cuts = np.linspace(0, len(symbols), min(workers, len(symbols)) + 1).astype(int)
        parts = [symbols[a:b] for a, b in pairwise(cuts.tolist())]
        done = [result for _, result in run_in_order(self._margins, parts, workers)]
        margins, norms = zip(*done, strict=True)
        return np.concatenate(margins), np.concatenate(norms)

    def _margins(self, symbols: Symbols) -> tuple[np.ndarray, np.ndarray]:
        shape = len(symbols), len(self.rows)
        margins = np.zeros((*shape, self.groups[0].values.shape[2]))
        own, total = np.zeros(shape), np.zeros(shape)
        present = _present(symbols, self.recipe.is_closed)
        for g, table in enumerate(self.groups):
            lookup.score_words(
                symbols.codes,
                symbols.offsets,
                present,
                _reading(table.group),
                table.bases,
                (table.first, table.keys, table.values),
                self.recipe.n_levels,
                self.recipe.root,
                np.ascontiguousarray(self.weights[:, g]),
                margins,
                own,
                total,
            )
        scale = np.ones(shape)
        if self.recipe.normalises_rows:
            scale = row_scale(self.recipe, own, total)
        norms = (own * scale**2) @ self.recipe.row_weights[self.rows]
        outer = inverse_root(norms) if self.mean is None else 1 / self.mean
        return np.einsum("sr,src->sc", scale, margins) * np.reshape(outer, (-1, 1)), norms

    @classmethod
    def build(
        cls,
        train: Symbols,
        recipe: Recipe,
        coefficients: np.ndarray,
        scale: np.ndarray,
        mean: float | None,
        memory: int,
        n_jobs: int | None = None,
    ) -> "WordTable":
        """Sum the training sequences up, or raise `TableTooLarge`.

        `coefficients`, (n_sequences, n_columns), are those of the kernel values divided by the
        norms of the training sequences; `scale` is (n_rows, n_sequences).
        """
        rows = np.flatnonzero(recipe.row_weights)
        groups = list(zip(*(recipe.groups(r) for r in rows.tolist()), strict=True))

        def one(of_rows: Any) -> GroupTable:
            share = memory // len(groups)
            return group_table(train, recipe, rows, of_rows, coefficients, scale, share)

        tables = [table for _, table in run_in_order(one, groups, n_threads(n_jobs))]
        return cls(recipe, rows, tables, _weights_of(groups), mean)

    @classmethod
    def of_vocabulary(
        cls,
        vocabulary: Vocabulary,
        recipe: Recipe,
        coefficients: np.ndarray,
        mean: float | None,
        memory: int,
    ) -> "WordTable":
        """Turn the coefficients of explicit features into a table, or raise `TableTooLarge`."""
        rows = np.flatnonzero(recipe.row_weights)
        groups = list(zip(*(recipe.groups(r) for r in rows.tolist()), strict=True))
        share = memory // len(groups)
        tables = [
            _learned_table(g, vocabulary, recipe, rows, coefficients, share)
            for g in range(len(groups))
        ]
        return cls(recipe, rows, tables, _weights_of(groups), mean)


def _weights_of(groups: list[tuple[Group, ...]]) -> np.ndarray:
    """Weights of the groups in each row, (n_rows, n_groups)."""
    return np.array([[group.weight for group in of_rows] for of_rows in groups], float).T


def _learned_table(
    g: int,
    vocabulary: Vocabulary,
    recipe: Recipe,
    rows: np.ndarray,
    coefficients: np.ndarray,
    memory: int,
) -> GroupTable:
    """Enter the weights of a linear machine into the table of group `g`."""
    n_cells = len(pyramid_cells(recipe.n_levels))
    keys = {
        (r, c): word_keys(vocabulary.words[r, g * n_cells + c], max(int(recipe.n_symbols[r]), 1))
        for r in rows.tolist()
        for c in range(n_cells)
    }
    listed = (keys[r, 0] for r in rows.tolist())
    table = _empty_table(recipe.groups(0)[g], recipe, rows, listed, coefficients.shape[1], memory)
    for p, r in enumerate(rows.tolist()):
        factor = np.sqrt(recipe.row_weights[r] * recipe.groups(r)[g].weight)
        for c in range(n_cells):
            start = vocabulary.first[r, g * n_cells + c]
            learned = coefficients[start : start + len(keys[r, c])]
            table.values[table.slots(p, keys[r, c]), c] = factor * learned
    return table


def has_table(recipe: Recipe) -> bool:
    """Tell whether a kernel is a sum over words that can be listed in 64 bits each."""
    return recipe.counts_groups and all(
        int(n_symbols) ** len(group.layouts[0].offsets) < 2**64 - 1
        for r, n_symbols in enumerate(recipe.n_symbols)
        for group in recipe.groups(r)
    )


def group_table(
    train: Symbols,
    recipe: Recipe,
    rows: np.ndarray,
    groups: list[Group],
    coefficients: np.ndarray,
    scale: np.ndarray,
    memory: int,
) -> GroupTable:
    """Sum up the words of one group of layouts in the given `rows`; `groups` are theirs."""
    read = [recipe.row([train], int(r)) for r in rows]
    listed = (_words(*pair) for pair in zip(read, groups, strict=True))
    table = _empty_table(groups[0], recipe, rows, listed, coefficients.shape[1], memory)
    for p, (r, row, group) in enumerate(zip(rows, read, groups, strict=True)):
        factor = recipe.row_weights[r] * group.weight * scale[r][:, None]
        _fill(table, p, row, group, (factor * coefficients).astype(np.float32), recipe)
    return table


def _words(row: Row, group: Group) -> np.ndarray:
    """All words of a row, each once."""
    return np.concatenate([columns.words for columns in GroupTask(group).columns(row)])


def _empty_table(
    group: Group,
    recipe: Recipe,
    rows: np.ndarray,
    listed: Iterable[np.ndarray],
    n_columns: int,
    memory: int,
) -> GroupTable:
    """Give words their slots; `listed` are those of each row, read only if they are hashed."""
    bases = np.maximum(recipe.n_symbols[rows], 1)
    sizes = [int(base) ** len(group.layouts[0].offsets) for base in bases]
    shape = len(pyramid_cells(recipe.n_levels)), n_columns
    slot_bytes = 4 * shape[0] * shape[1]
    keys: list[np.ndarray] = [np.empty(0, np.uint64)]
    if max(sizes) > DENSE_WORDS:
        sizes = []
        for words in listed:
            keys.append(_places(words))
            sizes.append(keys[-1].size)
            _check_size(sum(sizes) * (slot_bytes + 8), memory)
    _check_size(sum(sizes) * slot_bytes, memory)
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    values = np.zeros((first[-1], *shape), np.float32)
    return GroupTable(group, bases, first, np.concatenate(keys), values)


def _check_size(size: int, memory: int) -> None:
    if size > memory:
        raise TableTooLarge(f"{size} bytes are needed, {memory} allowed")


def _places(words: np.ndarray) -> np.ndarray:
    """Places for words, at least half of them empty."""
    keys = np.full(1 << int(2 * max(len(words), 1) - 1).bit_length(), lookup.EMPTY)
    lookup.insert_keys(keys, words)
    return keys


def _fill(
    table: GroupTable,
    r: int,
    row: Row,
    group: Group,
    coefficients: np.ndarray,
    recipe: Recipe,
) -> None:
    """Add the words of one row, cell by cell of the pyramid."""
    for c, cell in enumerate(pyramid_cells(recipe.n_levels)):
        task = GroupTask(group, cell)
        counts = task.table(row) if not table.keys.size else None
        if counts is not None and counts.shape[1] == table.first[r + 1] - table.first[r]:
            embedded = np.sqrt(counts) if recipe.root else counts
            values = embedded.astype(np.float32).T @ coefficients
            table.values[table.first[r] : table.first[r + 1], c] = values
            continue
        for columns in task.columns(row):
            count = columns.count.astype(np.float32)
            lookup.add_weights(
                columns.indptr,
                columns.sequence,
                np.sqrt(count) if recipe.root else count,
                table.slots(r, columns.words),
                coefficients,
                table.values[:, c],
            )


def _reading(group: Group) -> tuple[Any, ...]:
    """Return the layouts of a group as compiled code takes them."""
    return (
        np.array([layout.offsets for layout in group.layouts], np.int64),
        np.array([layout.window for layout in group.layouts], np.int64),
        np.array([layout.weight for layout in group.layouts], float),
        group.distinct,
    )


def _present(symbols: Symbols, closed: bool) -> np.ndarray:
    """Which positions hold a symbol; empty if all do."""
    alphabets = symbols.n_symbols[:, None]
    present = symbols.codes < alphabets if closed else symbols.codes != symbols.missing
    return present[:0] if present.all() else present

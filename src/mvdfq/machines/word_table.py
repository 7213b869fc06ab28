r"""Training sequences summed up: what every word says for every class.

A kernel machine is :math:`f(x) = \sum_i a_i K(x, x_i) + b`. Where the kernel is a sum over words,
so is the machine: the weights of a word in all training sequences are added up once, and a new
sequence is classified by looking its words up, however many sequences were learned from.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from mvdfq._engines import lookup
from mvdfq._utils.threads import n_threads, run_in_order
from mvdfq.gram.plan import Plan
from mvdfq.gram.tiles import inverse_root, row_scale
from mvdfq.kernels import Group
from mvdfq.symbols.base import Symbols

__all__ = ["GroupTable", "WordTable", "has_table"]


@dataclass(frozen=True)
class GroupTable:
    """The words that one group of layouts reads, row by row, and their weights.

    `values` is (n_slots, n_cells, n_columns); row `r` owns the slots from ``first[r]`` to
    ``first[r + 1]``. In a dense table, whose `keys` are empty, they are in the order of the keys.
    """

    group: Group
    bases: np.ndarray
    first: np.ndarray
    keys: np.ndarray
    values: np.ndarray

    @cached_property
    def reading(self) -> tuple[Any, ...]:
        """The layouts of the group as compiled code takes them."""
        layouts = self.group.layouts
        return (
            np.array([layout.offsets for layout in layouts], np.int64),
            np.array([layout.window for layout in layouts], np.int64),
            np.array([layout.weight for layout in layouts], float),
            self.group.distinct,
        )

    @property
    def dense(self) -> bool:
        """Whether words are numbered by their keys."""
        return not self.keys.size

    def slots(self, r: int, keys: np.ndarray) -> np.ndarray:
        """Return the slot of each word of row `r`, -1 for a word that has none."""
        if self.dense:
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

    plan: Plan
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
        present = _present(symbols)
        buffer = np.empty(symbols.lengths.max(initial=0), np.uint64)
        for g, table in enumerate(self.groups):
            score = lookup.score_dense if table.dense else lookup.score_hashed
            keys = () if table.dense else (table.keys,)
            score(
                symbols.codes,
                symbols.offsets,
                present,
                (*table.reading, buffer),
                table.bases,
                (table.first, *keys, table.values),
                self.plan.n_levels,
                self.plan.root,
                np.ascontiguousarray(self.weights[:, g]),
                margins,
                own,
                total,
            )
        scale = np.ones(shape)
        if self.plan.normalises_rows:
            scale = row_scale(self.plan, own, total)
        norms = (own * scale**2) @ self.plan.row_weights[self.rows]
        outer = inverse_root(norms) if self.mean is None else 1 / self.mean
        return np.einsum("sr,src->sc", scale, margins) * np.reshape(outer, (-1, 1)), norms


def has_table(plan: Plan) -> bool:
    """Tell whether a kernel is a sum over words that can be listed in 64 bits each."""
    return plan.counts_groups and all(
        int(n_symbols) ** len(group.layouts[0].offsets) < 2**64 - 1
        for r, n_symbols in enumerate(plan.n_symbols)
        for group in plan.groups(r)
    )


def _present(symbols: Symbols) -> np.ndarray:
    """Which positions hold a symbol that the table knows; empty if all do."""
    present = symbols.codes < symbols.n_symbols[:, None]
    return present[:0] if present.all() else present

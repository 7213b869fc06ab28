"""Prediction on a graphics card: the words of new sequences, looked up in a word table."""

from itertools import groupby
from typing import Any

import numpy as np
import torch

from mvdfq._engines.gpu.counts import KEY_BITS, histogram, run_bits, runs_of
from mvdfq._engines.gpu.device import budget, full_precision, sent_once, to_device, to_host
from mvdfq._engines.gpu.reading import Reading, Rows
from mvdfq.gram.gram_on_gpu import CannotCount, device_rows, reading_of
from mvdfq.gram.plan import Plan
from mvdfq.kernels.counting import GroupTask
from mvdfq.symbols.base import Symbols

__all__ = ["scores"]

# Bytes of the card per count or per word and column of the table.
BYTES = 16


def scores(
    plan: Plan, tables: list[Any], weights: np.ndarray, symbols: Symbols, device: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return margins, (n_sequences, n_rows, n_columns), weighted and plain squared norms.

    None if only the processor can count the words.
    """
    try:
        readings = [
            [reading_of(GroupTask(table.group, cell)) for cell in plan.cells] for table in tables
        ]
        with full_precision():
            return _Scores(plan, tables, weights, symbols, device).filled(readings)
    except CannotCount:
        return None


class _Scores:
    """Sums over words of some sequences, one batch of rows of one alphabet after another."""

    def __init__(
        self, plan: Plan, tables: list[Any], weights: np.ndarray, symbols: Symbols, device: str
    ) -> None:
        self.plan, self.tables, self.weights, self.device = plan, tables, weights, device
        codes, offsets = device_rows([symbols], device)
        self.geometry = Rows.of(codes, offsets)
        shape = len(codes), len(symbols)
        n_columns = tables[0].values.shape[2]
        self.margins = torch.zeros((*shape, n_columns), dtype=torch.float64, device=device)
        self.own, self.total = torch.zeros((2, *shape), dtype=torch.float64, device=device)

    def filled(self, readings: list[list[Reading]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Add up the words of all rows and groups."""
        bases = self.tables[0].bases.tolist()
        for base, same in groupby(range(len(bases)), key=lambda r: bases[r]):
            rows = list(same)
            at_once = self._rows_at_once(base)
            for first in range(0, len(rows), at_once):
                mine = rows[first : first + at_once]
                # symbols that the training sequences do not hold count as missing values
                read = self.geometry.chosen(mine, base, base)
                for g, table in enumerate(self.tables):
                    add = self._add_dense if table.dense else self._add_hashed
                    add(read, mine, g, readings[g])
        margins, own, total = (x.transpose(0, 1) for x in (self.margins, self.own, self.total))
        return tuple(to_host(x.contiguous()) for x in (margins, own, total))  # type: ignore

    def _rows_at_once(self, base: int) -> int:
        dense = [table.group.length for table in self.tables if table.dense]
        n_words = sum(base**length for length in dense) * len(self.plan.cells)
        frames, n = self.geometry.codes.shape[1], self.own.shape[1]
        need = BYTES * (n_words * n + 5 * frames) + 1
        return max(1, budget(self.device, None) // 4 // need)

    def _embedded(self, counts: torch.Tensor, g: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return embedded counts and their squares."""
        counts = counts * float(self.tables[g].group.layout_weights[0])
        return (counts.sqrt(), counts) if self.plan.root else (counts, counts.square())

    def _add_norms(self, rows: list[int], g: int, squares: torch.Tensor) -> None:
        weights = to_device(self.weights[g][rows], self.device)
        self.total[rows] += squares
        self.own[rows] += weights[:, None] * squares

    def _add_dense(self, read: Rows, rows: list[int], g: int, readings: list[Reading]) -> None:
        """Add the words of a small alphabet: one matrix product for each row."""
        table = self.tables[g]
        value, squares = self._embedded(histogram(read, readings), g)
        self._add_norms(rows, g, squares.sum(dim=2, dtype=torch.float64))
        values = sent_once(table.values, self.device)
        for i, r in enumerate(rows):
            slots = values[table.first[r] : table.first[r + 1]]
            by_cell = slots.transpose(0, 1).reshape(-1, slots.shape[2])
            self.margins[r] += value[i] @ by_cell

    def _add_hashed(self, read: Rows, rows: list[int], g: int, readings: list[Reading]) -> None:
        """Add the words that occur, found by their keys, one row after another."""
        table = self.tables[g]
        for i, r in enumerate(rows):
            own = read.one(i)
            if run_bits(own, readings) > KEY_BITS:
                raise CannotCount("words of this length do not fit into 64 bits")
            runs, n_words = runs_of(own, readings), readings[0].n_words(own.base)
            value, squares = self._embedded(runs.count.to(torch.float32), g)
            norms = torch.zeros_like(self.own[r]).index_add_(0, runs.sequence, squares.double())
            self._add_norms([r], g, norms[None])
            keys = table.keys[table.first[r] : table.first[r + 1]].view(np.int64)
            # sorted, since a search by halves takes the same steps in every thread of a card
            known, slots = to_device(keys, self.device).sort()
            at = torch.searchsorted(known, runs.word % n_words).clamp_(max=len(known) - 1)
            found = (known[at] == runs.word % n_words).nonzero().squeeze(1)
            values = sent_once(table.values, self.device)[table.first[r] : table.first[r + 1]]
            for part in found.split(2**22):  # weights of all columns take much memory
                weight = values[slots[at[part]], runs.word[part] // n_words]
                terms = (value[part][:, None] * weight).double()
                self.margins[r].index_add_(0, runs.sequence[part], terms)

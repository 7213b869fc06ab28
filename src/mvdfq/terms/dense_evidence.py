"""Evidence by tables of all possible words: no word is listed unless it is asked for."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from mvdfq._engines.evidence import spread_dense
from mvdfq.kernels.counting import GroupTask
from mvdfq.kernels.keys import word_keys
from mvdfq.symbols.base import Symbols
from mvdfq.terms.evidence_words import Evidence, WordBlock, joined
from mvdfq.terms.occurrences import Norms, Read, by_word, shares_of
from mvdfq.terms.word_table import GroupTable, WordTable, present_positions


def is_dense(term: Any, symbols: Symbols) -> bool:
    """Tell whether all words are in dense tables, so that none must be listed."""
    table, plan = term.table, term.reader.plan_
    if table is None or symbols.unseen.any():
        return False
    # the compiled loop reads plain layouts: not words that count once, nor words of wildcards alone
    groups = [group for r in table.rows.tolist() for group in plan.groups(r)]
    plain = all(not g.distinct and all(one.offsets for one in g.layouts) for g in groups)
    return plain and all(group.dense for group in table.groups)


def dense_evidence(term: Any, symbols: Symbols) -> list[Evidence]:
    """Return the evidence in each sequence, by tables of all possible words."""
    by_frame, by_layout, norms = _spread_words(term, symbols)
    scale = norms.scales(term, symbols)
    by_frame *= np.repeat(scale, symbols.lengths, axis=1)[:, :, None]
    by_layout *= scale[:, None, :, None]
    words = ListedWords(term.table, symbols, partial(_shares, term, scale))
    return [
        Evidence(
            by_frame[:, a:b].transpose(2, 0, 1),
            by_layout[:, :, i].transpose(2, 0, 1),
            partial(words.of, i),
        )
        for i, (a, b) in enumerate(pairwise(symbols.offsets.tolist()))
    ]


def _shares(
    term: Any, scale: np.ndarray, g: int, stack: "Stack", read: Read, row: Any, group: Any
) -> np.ndarray:
    """Return the evidence of every occurrence; `scale` is by row and sequence."""
    weights = partial(stack.weights, term.table.groups[g])
    shares, _ = shares_of(read, row, group, term.reader.plan_, weights)
    return shares * scale[stack.rows].T.ravel()[read.all.sequence][:, None]


@dataclass
class ListedWords:
    """The words of several sequences, which are listed together when they are first asked for.

    ``shares(g, stack, read, row, group)`` returns the evidence of every occurrence in the rows of
    a stack that group `g` of layouts reads.
    """

    table: WordTable
    symbols: Symbols
    shares: Callable[..., np.ndarray]

    @cached_property
    def listed(self) -> list[list[WordBlock]]:
        """The words of each sequence."""
        return _dense_words(self.table, self.symbols, self.shares)

    def of(self, i: int) -> list[WordBlock]:
        """Return the words of one sequence."""
        return self.listed[i]


def _spread_words(term: Any, symbols: Symbols) -> tuple[np.ndarray, np.ndarray, Norms]:
    """Return the evidence before norms, by frame and by layout, and the norms.

    Shapes: (n_rows, n_frames, n_columns) and (n_rows, n_groups, n_sequences, n_columns).
    """
    table, plan, n = term.table, term.reader.plan_, len(symbols)
    assert table is not None
    n_columns, n_rows = len(term.intercepts), len(plan.row_weights)
    by_frame = np.zeros((n_rows, symbols.data.shape[1], n_columns))
    by_layout = np.zeros((n_rows, len(table.groups), n, n_columns))
    norms, present = Norms(plan, symbols), present_positions(symbols)
    buffer = np.empty(symbols.lengths.max(initial=0), np.uint64)
    for p, r in enumerate(table.rows.tolist()):
        # size 0 says that nothing is missing, which the loop reads faster
        here = present[r] if present.size else np.empty(0, bool)
        for g, part in enumerate(table.groups):
            squares = np.zeros(n)
            spread_dense(
                symbols.codes[r],
                symbols.offsets,
                here,
                (part.group.arrays, part.group.layout_weights, buffer),
                np.uint64(part.bases[p]),
                part.values[part.first[p] : part.first[p + 1]],
                plan.n_levels,
                plan.root,
                (by_frame[r], by_layout[r, g], squares),
            )
            norms.add(r, plan.groups(r)[g], squares)
    return by_frame, by_layout, norms


def _dense_words(
    table: WordTable, symbols: Symbols, shares: Callable[..., np.ndarray]
) -> list[list[WordBlock]]:
    """Return the words of each sequence.

    Rows of one alphabet are read as if each row were a sequence: the time for one row of one
    sequence is mostly overhead, and there may be hundreds of rows.
    """
    plan, n = table.plan, len(symbols)
    words: list[list[WordBlock]] = [[] for _ in range(n)]
    sizes = plan.n_symbols[table.rows]
    stacks = [Stack.of(symbols, table.rows, np.flatnonzero(sizes == k)) for k in np.unique(sizes)]
    for g in range(len(table.groups)):
        found: list[list[WordBlock]] = [[] for _ in range(n)]
        for stack in stacks:
            row, group = plan.row([stack.symbols], 0), plan.groups(int(stack.rows[0]))[g]
            read = Read.of(GroupTask(group).occurrences(row))
            evidence = shares(g, stack, read, row, group)
            for i, block in by_word(read, row.offsets, evidence, len(stack.rows)):
                owners, *rest = block
                found[i].append(WordBlock(g, stack.rows[owners % len(stack.rows)], *rest))
        for mine, blocks in zip(words, found, strict=True):
            if blocks:
                mine.append(joined(blocks))
    return words


class Stack(NamedTuple):
    """Rows of one alphabet as one row, in which every row of every sequence is a sequence.

    All rows of the first sequence come first. `rows` are the rows, `places` their places in the
    word table.
    """

    symbols: Symbols
    rows: np.ndarray
    places: np.ndarray

    @classmethod
    def of(cls, symbols: Symbols, rows: np.ndarray, places: np.ndarray) -> "Stack":
        """Stack the rows at `places` among `rows`."""
        rows = rows[places]
        pieces = [symbols.data[rows, a:b].ravel() for a, b in pairwise(symbols.offsets.tolist())]
        # the empty piece gives the type if there is no sequence
        data = np.concatenate([*pieces, symbols.data[0, :0]])[None]
        offsets = np.append(0, np.cumsum(np.repeat(symbols.lengths, len(rows))))
        return cls(Symbols(data, offsets, n_symbols=symbols.n_symbols[rows[:1]]), rows, places)

    def weights(
        self, table: GroupTable, cell: int, words: np.ndarray, owners: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return a number of each word of each row, and its weights in one cell."""
        places = self.places[owners % len(self.rows)]
        keys = word_keys(words, int(table.bases[self.places[0]]))
        slots = table.first[places] + keys.astype(np.int64)
        return np.arange(len(words)), table.values[slots, cell].astype(float)

"""The plan of a computation: tasks of a kernel for each row, tiles within memory."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mvdfq._utils.short import Short
from mvdfq.kernels import Group, Kernel
from mvdfq.kernels.counting import GroupTask
from mvdfq.sequences import Ragged

# Bytes per word that a task reads, measured: entries, a copy for the sort, keys, columns, counts
# and their square roots.
BYTES_PER_WORD = 64
# Sequences per tile. Measured on 3000 to 8000 sequences and six kernels: tiles of 2048 take up to
# 1.7 times as long, since they do not fit into the cache; tiles of 512 take up to 1.4 times as
# long, since every block is counted and joined more often.
TILE = 1024
# In the dynamic program every pair of sequences takes long: small tiles keep all threads busy.
TILE_OF_PAIRS = 64
# The rows and the columns of one tile.
Tile = tuple[slice, slice]


@dataclass(frozen=True, repr=False)
class Plan(Short):
    """A kernel with its options, for collections of known alphabets.

    `root` is the manifold embedding: square roots of counts, divided by the total of the row.
    `row_norm` says whether each row is then scaled to unit length. `listed` asks for one column
    per word (explicit features), not only for the Gram matrix.
    """

    kernel: Kernel
    n_symbols: np.ndarray
    row_weights: np.ndarray
    root: bool = False
    row_norm: str = "none"
    group_weights: np.ndarray | None = None
    n_levels: int = 1
    listed: bool = False
    vocabularies: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)
    # Groups by alphabet size, made once: some kernels have hundreds of layouts.
    _groups: dict[int, list[Group]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_groups": {}}  # large, and quick to make again

    @property
    def cells(self) -> list[tuple[int, int]]:
        """The cells of the temporal pyramid, whole, halves, quarters, as (level, segment)."""
        return [(level, cell) for level in range(self.n_levels) for cell in range(2**level)]

    @property
    def normalises_rows(self) -> bool:
        """Whether every row is scaled to one size before rows are averaged."""
        return self.root or self.row_norm == "cosine"

    @property
    def counts_groups(self) -> bool:
        """Whether the kernel is a sum over the words of its groups of layouts."""
        return self.kernel.counts_groups(needs_counts=self.root or self.listed)

    @property
    def bytes_per_frame(self) -> int:
        """Bytes of working memory of the largest task, per frame of a row."""
        if self.counts_groups:
            return BYTES_PER_WORD * max(len(group.layouts) for group in self.groups(0))
        return self.kernel.own_bytes_per_frame(int(self.n_symbols.max()))

    def groups(self, r: int) -> list[Group]:
        """Return the groups of layouts of row `r`, with their weights."""
        n_symbols = int(self.n_symbols[r])
        if n_symbols not in self._groups:
            groups = self.kernel.groups(n_symbols)
            if self.group_weights is not None:
                pairs = zip(groups, self.group_weights.tolist(), strict=True)
                groups = [replace(group, weight=group.weight * w) for group, w in pairs]
            self._groups[n_symbols] = groups
        return self._groups[n_symbols]

    def tasks(self, r: int) -> list[tuple[float, Any]]:
        """Return the tasks of row `r`, each with the weight of its Gram matrix.

        The order must not change: model files number features in this order.
        """
        own = self.kernel.own_tasks(
            int(self.n_symbols[r]),
            self.cells,
            self.root or self.listed,
            self.listed,
            {d: words for (row, d), words in self.vocabularies.items() if row == r},
        )
        if own is not None:
            return [(1, task) for task in own]
        return [(g.weight, GroupTask(g, cell)) for g in self.groups(r) for cell in self.cells]

    def first_slots(self, rows: np.ndarray) -> list[np.ndarray]:
        """Return, for each group of layouts, the first dense slot of each row, and the last end.

        In a dense table every possible word of a row has a slot, in the order of the keys.
        """
        bases = np.maximum(self.n_symbols[rows], 1)
        return [np.concatenate([[0], np.cumsum(bases**g.length)]) for g in self.groups(0)]

    def row_scale(self, own: np.ndarray, total: np.ndarray) -> np.ndarray:
        """Return the factors that scale a row of each sequence to unit length, or counts to sum 1.

        `own` are the squared norms with the weights of groups, `total` the squared norms without
        these weights: for square roots of counts, the sums of the counts.
        """
        return inverse_root(own if self.row_norm == "cosine" else total)


def inverse_root(own: np.ndarray) -> np.ndarray:
    """Return ``1 / sqrt(own)``; 0 for a sequence without words."""
    return np.divide(1, np.sqrt(own), out=np.zeros_like(own), where=own > 0)


def spread_of_sums(
    n: float, total: np.ndarray, squares: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance over sequences of total weight `n`, given sums of values.

    `squares` are the sums of the squared values. In doubles; rounding may leave the variance of a
    constant just below 0, which becomes 0.
    """
    mean = total / n
    return mean, np.maximum(squares / n - mean**2, 0)


def mix(x: np.ndarray) -> np.ndarray:
    """Scramble 64-bit numbers (the finaliser of SplitMix64, G. Steele, D. Lea, C. Flood, 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def plan_tiles(
    left: Ragged, right: Ragged | None, plan: Plan, budget: int
) -> tuple[list[Tile], int]:
    """Return tiles so small that two tasks fit into the budget, and the bytes of one task.

    The tiles depend only on the data and the memory limit.
    """
    per_frame = plan.bytes_per_frame
    other = left if right is None else right
    # the dynamic program over pairs of sequences is the only kernel without memory per frame
    size = TILE if per_frame else TILE_OF_PAIRS
    while True:
        (rows, frames), (columns, other_frames) = _cut(left, size), _cut(other, size)
        # a tile reads two blocks, unless the only block is compared with itself
        if right is not None or len(rows) > 1:
            frames += other_frames
        # a tile, its sum, a product, and counters of bits
        need = per_frame * frames + 4 * 8 * min(size, len(left)) * min(size, len(other))
        if need * 2 <= budget or size == 1:
            break
        # halves, rounded up, so that tiles stay alike in size
        size = -(-size // 2)
    if need > budget:
        wanted = f"at least about {need} bytes, which the longest pair of sequences needs"
        problem = f"memory_limit must be {wanted}, got {budget} bytes"
        raise ValueError(f"{problem}; pass a larger memory_limit.")
    # of a symmetric matrix the upper tiles alone; to and fro, since counts of the last columns are
    # kept when the next rows begin
    tiles = [(a, b) for i, a in enumerate(rows) for b in columns[:: 1 - 2 * (i % 2)]
             if right is not None or a.start <= b.start]  # fmt: skip
    return tiles, max(need, 1)


def _cut(collection: Ragged, size: int) -> tuple[list[slice], int]:
    """Return blocks of `size` sequences, and the frames of the longest block."""
    n, offsets = len(collection), collection.offsets
    cuts = [slice(a, min(a + size, n)) for a in range(0, max(n, 1), size)]
    return cuts, max(int(offsets[c.stop] - offsets[c.start]) for c in cuts)

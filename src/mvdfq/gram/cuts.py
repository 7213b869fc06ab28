"""Cut a kernel matrix into tiles that fit into a memory limit.

The cut depends only on the data and the memory limit.
"""

from mvdfq.gram.plan import Plan
from mvdfq.sequences import Ragged

__all__ = ["Tile", "plan_tiles"]

# Sequences per tile. Measured on 3000 to 8000 sequences and six kernels: tiles of 2048 take up to
# 1.7 times as long, since they do not fit into the cache; tiles of 512 take up to 1.4 times as
# long, since every block is counted and joined more often.
TILE = 1024
# In the dynamic program every pair of sequences takes long: small tiles keep all threads busy.
TILE_OF_PAIRS = 64

# The rows and the columns of one tile.
Tile = tuple[slice, slice]


def plan_tiles(
    left: Ragged, right: Ragged | None, plan: Plan, budget: int
) -> tuple[list[Tile], int]:
    """Return tiles so small that two tasks fit into the budget, and the bytes of one task."""
    per_frame = plan.bytes_per_frame
    other = left if right is None else right
    size = TILE if per_frame else TILE_OF_PAIRS
    while True:
        rows = _cut(left, size)
        columns = rows if right is None else _cut(right, size)
        frames = _most_frames(left, rows)
        if right is not None or len(rows) > 1:
            frames += _most_frames(other, columns)
        need = per_frame * frames + 3 * 8 * min(size, len(left)) * min(size, len(other))
        if need * 2 <= budget or size == 1:
            break
        size = -(-size // 2)
    if need > budget:
        raise ValueError(
            f"memory_limit must be at least about {need} bytes, which the longest pair of "
            f"sequences needs, got {budget} bytes; pass a larger memory_limit."
        )
    tiles = [(a, b) for a in rows for b in columns if right is not None or a.start <= b.start]
    return tiles, max(need, 1)


def _cut(collection: Ragged, size: int) -> list[slice]:
    n = len(collection)
    return [slice(a, min(a + size, n)) for a in range(0, max(n, 1), size)]


def _most_frames(collection: Ragged, cuts: list[slice]) -> int:
    offsets = collection.offsets
    return max((int(offsets[c.stop] - offsets[c.start]) for c in cuts), default=0)

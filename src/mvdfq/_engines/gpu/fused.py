"""The same steps in fewer passes: kernels in Triton, which comes with torch for graphics cards.

Everything here has a twin in plain torch, which runs where Triton is missing. A kernel does not
check its arguments.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch

try:
    import triton
    import triton.language as tl
except ImportError:  # torch for processors comes without Triton
    triton = None

from mvdfq._engines.gpu.reading import Reading, Rows

__all__ = ["can_emit", "emit", "has_triton", "spread"]

NONE = 2**63 - 1
# Entries that one program of a kernel reads.
BLOCK = 1024
SPREAD_BLOCK = 256


@cache
def has_triton(device: torch.device) -> bool:
    """Tell whether kernels can run on a device."""
    return triton is not None and device.type == "cuda"


def can_emit(rows: Rows, readings: Sequence[Reading]) -> bool:
    """Tell whether `emit` knows these readings: whole sequences, all symbols there, one length."""
    plain = all(not reading.level and not reading.distinct for reading in readings)
    alike = len({reading.length for reading in readings}) == 1 and readings[0].length > 0
    return plain and alike and rows.present is None and has_triton(rows.codes.device)


def emit(rows: Rows, readings: Sequence[Reading], n_words: int, shift: int) -> torch.Tensor:
    """Return all words as entries, as `counts.runs_of` makes them."""
    device = rows.codes.device
    listed = [
        (number, layout, window[-1] + 1)
        for number, reading in enumerate(readings)
        for layout, window in zip(reading.layouts, reading.windows, strict=True)
    ]
    numbers, offsets, widths = (
        torch.tensor(part, dtype=torch.int32, device=device) for part in zip(*listed, strict=True)
    )
    n_rows, n_frames = rows.codes.shape
    entries = torch.empty((len(listed), n_rows, n_frames), dtype=torch.int64, device=device)
    grid = (-(-n_frames // BLOCK), n_rows, len(listed))
    sizes = (n_frames, n_rows, len(readings), n_words, rows.base, shift)
    inputs = (rows.codes.contiguous(), rows.sequence, rows.rest, offsets, widths, numbers)
    _emit[grid](*inputs, entries, *sizes, readings[0].length, BLOCK)
    return entries.view(-1)


def spread(
    runs: Any, columns: tuple[torch.Tensor, ...], sizes: tuple[int, int, int, int], root: bool,
    out: tuple[torch.Tensor, ...],
) -> None:  # fmt: skip
    """Write frequent words to dense halves and add the products of rare words, pair by pair.

    `columns` are the column of each run, the end and the rank of each column (-1: a rare word);
    `sizes` the number of sequences, of left sequences, the first right sequence, and the words
    per row; `out` the squares (n_rows, n_sequences), the products, and the dense halves, one
    after the other for each column.
    """
    n = runs.word.numel()
    column, ends, ranks = columns
    n_right = out[1].shape[2]
    grid = (-(-n // SPREAD_BLOCK),)
    arrays = (runs.word, runs.sequence, runs.count, column, ends, ranks)
    _spread[grid](*arrays, *out, n, *sizes, n_right, root, SPREAD_BLOCK)


if triton is not None:

    @triton.jit
    def _emit(
        codes, sequence, rest, offsets, widths, numbers, out, n_frames, n_rows, n_readings,
        n_words, base, shift, length: tl.constexpr, block: tl.constexpr,
    ):  # fmt: skip
        t = tl.program_id(0) * block + tl.arange(0, block)
        r = tl.program_id(1).to(tl.int64)
        layout = tl.program_id(2)
        inside = t < n_frames
        width = tl.load(widths + layout)
        used = inside & (tl.load(rest + t, mask=inside, other=0) >= width)
        key = tl.zeros([block], dtype=tl.int64)
        for i in range(length):
            o = tl.load(offsets + layout * length + i)
            code = tl.load(codes + r * n_frames + t + o, mask=used, other=0)
            key = key * base + code.to(tl.int64)
        number = tl.load(numbers + layout).to(tl.int64)
        word = (r * n_readings + number) * n_words + key
        who = tl.load(sequence + t, mask=inside, other=0).to(tl.int64)
        entry = tl.where(used, (word << shift) | who, 0x7FFFFFFFFFFFFFFF)
        tl.store(out + (layout.to(tl.int64) * n_rows + r) * n_frames + t, entry, mask=inside)

    @triton.jit
    def _spread(
        word, sequence, count, column, ends, ranks, squares, products, dense, n, n_sequences,
        n_left, first_right, words_per_row, n_right, root: tl.constexpr, block: tl.constexpr,
    ):  # fmt: skip
        e = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
        inside = e < n
        row = tl.load(word + e, mask=inside, other=0) // words_per_row
        a = tl.load(sequence + e, mask=inside, other=0)
        times = tl.load(count + e, mask=inside, other=0).to(tl.float32)
        if root:
            value = tl.sqrt_rn(times)
            square = times.to(tl.float64)
        else:
            value = times
            square = times.to(tl.float64) * times.to(tl.float64)
        tl.atomic_add(squares + row * n_sequences + a, square, mask=inside, sem="relaxed")
        mine = tl.load(column + e, mask=inside, other=0)
        rank = tl.load(ranks + mine, mask=inside, other=-1).to(tl.int64)
        frequent = inside & (rank >= 0)
        first = value.to(tl.float16)
        if root:
            place = 2 * rank * n_sequences + a
            rest = (value - first.to(tl.float32)).to(tl.float16)
            tl.store(dense + place + n_sequences, rest, mask=frequent)
        else:
            place = rank * n_sequences + a
        tl.store(dense + place, first, mask=frequent)
        # the products with all later entries of a rare word
        rare = inside & (rank < 0) & (a < n_left)
        later = tl.where(rare, tl.load(ends + mine, mask=inside, other=0) - e - 1, 0)
        most = tl.max(later, axis=0)
        d = 1
        while d <= most:
            pair = rare & (later >= d)
            b = tl.load(sequence + e + d, mask=pair, other=0)
            pair = pair & (b >= first_right)
            other = tl.load(count + e + d, mask=pair, other=0).to(tl.float32)
            if root:
                other = tl.sqrt_rn(other)
            where = (row * n_left + a) * n_right + (b - first_right)
            product = value.to(tl.float64) * other.to(tl.float64)
            tl.atomic_add(products + where, product, mask=pair, sem="relaxed")
            d += 1

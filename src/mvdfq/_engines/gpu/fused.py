"""The same steps in fewer passes: kernels in Triton, which comes with torch for graphics cards.

Everything here has a twin in plain torch, which runs where Triton is missing. A kernel does not
check its arguments.
"""

from collections.abc import Sequence
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
import torch

try:
    import triton
    import triton.language as tl
except ImportError:  # torch for processors comes without Triton
    triton = None

from mvdfq._engines.gpu.reading import Reading, Rows

# Entries that one program of a kernel reads.
BLOCK = 1024
SPREAD_BLOCK = 256
COUNTED = 512


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
    # one small copy to the card: number, width and offsets of every layout
    table = [(number, width, *layout) for number, layout, width in listed]
    layouts = torch.tensor(table, dtype=torch.int32, device=device)
    n_rows, n_frames = rows.codes.shape
    entries = torch.empty((len(listed), n_rows, n_frames), dtype=torch.int64, device=device)
    grid = (-(-n_frames // BLOCK), n_rows, len(listed))
    sizes = (n_frames, n_rows, len(readings), n_words, rows.base, shift)
    inputs = (rows.codes.contiguous(), rows.sequence, rows.rest, layouts)
    _emit[grid](*inputs, entries, *sizes, readings[0].length, BLOCK)
    return entries.view(-1)


def can_count(rows: Rows, readings: Sequence[Reading]) -> bool:
    """Tell whether `count` knows these readings: one layout each, and all symbols there."""
    plain = all(len(reading.layouts) == 1 and reading.length > 0 for reading in readings)
    if not plain or rows.present is not None or not has_triton(rows.codes.device):
        return False
    return "mask" in signature(tl.histogram).parameters  # Triton 3.3 and later


def count(rows: Rows, readings: Sequence[Reading], sizes: list[int]) -> torch.Tensor:
    """Return the counts of all words, as `counts.histogram` does.

    One program counts one row of one sequence.
    """
    n_rows, n_frames = rows.codes.shape
    shape = n_rows, rows.n_sequences, sum(sizes)
    counts = torch.empty(shape, dtype=torch.float32, device=rows.codes.device)
    codes, first = rows.codes.contiguous(), 0
    for reading, size in zip(readings, sizes, strict=True):
        layout, width = reading.layouts[0], reading.windows[0][-1] + 1
        places = torch.tensor(layout, dtype=torch.int32, device=codes.device)
        where = (n_frames, shape[1], shape[2], first, size, rows.base, width)
        cell = (reading.level, reading.cell)
        bins = max(16, 1 << (size - 1).bit_length())
        grid = (shape[1], n_rows)
        _count[grid](codes, rows.offsets, places, counts, *where, *cell, len(layout), bins, COUNTED)
        first += size
    return counts


def levels(data: torch.Tensor, rows: Rows, filters: Any, thresholds: torch.Tensor) -> torch.Tensor:
    """Return how many thresholds every response reaches, (n_filters, n_frames); 255 for NaN.

    `filters` is as in `_engines/filter_words.py`; sums run in the same order as there.
    """
    dilation, taps, members, zero_padded, _ = filters
    kinds = np.column_stack([zero_padded, taps, members]).astype(np.int32)
    table = torch.from_numpy(kinds).to(data.device)
    n_filters, n_thresholds = thresholds.shape
    out = torch.empty((n_filters, data.shape[1]), dtype=torch.uint8, device=data.device)
    grid = (-(-data.shape[1] // BLOCK), n_filters)
    inputs = (data.contiguous(), rows.place, rows.rest, table, thresholds.contiguous(), out)
    sizes = (data.shape[1], dilation, members.shape[1], n_thresholds)
    # products must be rounded before they are added, as on the processor
    _levels[grid](*inputs, *sizes, BLOCK, enable_fp_fusion=False)
    return out


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
        codes, sequence, rest, layouts, out, n_frames, n_rows, n_readings, n_words, base,
        shift, length: tl.constexpr, block: tl.constexpr,
    ):  # fmt: skip
        t = tl.program_id(0) * block + tl.arange(0, block)
        r = tl.program_id(1).to(tl.int64)
        layout = tl.program_id(2)
        mine = layouts + layout * (length + 2)
        inside = t < n_frames
        width = tl.load(mine + 1)
        used = inside & (tl.load(rest + t, mask=inside, other=0) >= width)
        key = tl.zeros([block], dtype=tl.int64)
        for i in range(length):
            o = tl.load(mine + 2 + i)
            code = tl.load(codes + r * n_frames + t + o, mask=used, other=0)
            key = key * base + code.to(tl.int64)
        number = tl.load(mine).to(tl.int64)
        word = (r * n_readings + number) * n_words + key
        who = tl.load(sequence + t, mask=inside, other=0).to(tl.int64)
        entry = tl.where(used, (word << shift) | who, 0x7FFFFFFFFFFFFFFF)
        tl.store(out + (layout.to(tl.int64) * n_rows + r) * n_frames + t, entry, mask=inside)

    @triton.jit
    def _count(
        codes, offsets, places, out, n_frames, n_sequences, n_columns, first, n_words, base, width,
        level, cell, length: tl.constexpr, bins: tl.constexpr, block: tl.constexpr,
    ):  # fmt: skip
        s = tl.program_id(0).to(tl.int64)
        r = tl.program_id(1).to(tl.int64)
        start = tl.load(offsets + s)
        n = tl.maximum(tl.load(offsets + s + 1) - start - width + 1, 0)
        # the words of the cell, rounded up as on the processor
        last_cell = (1 << level) - 1
        t = (cell * n + last_cell) >> level
        stop = ((cell + 1) * n + last_cell) >> level
        counts = tl.zeros([bins], dtype=tl.int32)
        while t < stop:
            here = t + tl.arange(0, block)
            inside = here < stop
            key = tl.zeros([block], dtype=tl.int32)
            for i in range(length):
                at = codes + r * n_frames + start + here + tl.load(places + i)
                key = key * base + tl.load(at, mask=inside, other=0).to(tl.int32)
            counts += tl.histogram(key, bins, mask=inside)
            t += block
        column = tl.arange(0, bins)
        at = out + (r * n_sequences + s) * n_columns + first + column
        tl.store(at, counts.to(tl.float32), mask=column < n_words)

    @triton.jit
    def _levels(
        data, place, rest, table, thresholds, out, n_frames, dilation, most: tl.constexpr,
        n_thresholds: tl.constexpr, block: tl.constexpr,
    ):  # fmt: skip
        t = tl.program_id(0) * block + tl.arange(0, block)
        f = tl.program_id(1)
        inside = t < n_frames
        before = -tl.load(place + t, mask=inside, other=0)
        after = tl.load(rest + t, mask=inside, other=1) - 1
        mine = table + f * (4 + most)
        zeros = tl.load(mine) == 1
        first, second, third = tl.load(mine + 1), tl.load(mine + 2), tl.load(mine + 3)
        nothing = tl.zeros([block], dtype=data.dtype.element_ty)
        response, one, two, three = nothing, nothing, nothing, nothing
        for i in range(most):
            c = tl.load(mine + 4 + i).to(tl.int64)
            used = inside & (c >= 0)
            nine = nothing
            for tap in range(9):
                shift = (tap - 4) * dilation
                near = tl.minimum(tl.maximum(before, shift), after)
                x = tl.load(data + c * n_frames + t + near, mask=used, other=0)
                x = tl.where(zeros & (near != shift), 0, x)
                nine += x
                one += tl.where(first == tap, x, 0)
                two += tl.where(second == tap, x, 0)
                three += tl.where(third == tap, x, 0)
            response -= nine
        taps = ((one + two) + three).to(tl.float64)
        found = (response.to(tl.float64) + 3 * taps).to(data.dtype.element_ty)
        level = tl.zeros([block], dtype=tl.int32)
        for q in range(n_thresholds):
            level += (found >= tl.load(thresholds + f * n_thresholds + q)).to(tl.int32)
        level = tl.where(found == found, level, 255)
        tl.store(out + f.to(tl.int64) * n_frames + t, level.to(tl.uint8), mask=inside)

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

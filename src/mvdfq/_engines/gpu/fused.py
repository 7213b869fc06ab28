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

from mvdfq._engines.filter_words import N_TAPS
from mvdfq._engines.gpu.reading import Reading, Rows

# Entries that one program of a kernel reads.
BLOCK = 1024
SPREAD_BLOCK = 256
COUNTED = 512


@cache
def has_triton(device: torch.device) -> bool:
    """Tell whether kernels can run on a device: a card, and Triton 3.3 or later."""
    is_there = triton is not None and device.type == "cuda"
    return is_there and "mask" in signature(tl.histogram).parameters


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


def exchange(
    entries: torch.Tensor, own: torch.Tensor, begin: int, power: int, skips: bool, out: torch.Tensor
) -> None:
    """Write entries with another symbol in one place, as `_exchange` of `counts.py` does."""
    n_symbols, n = out.shape
    if out.numel():
        grid = -(-n // BLOCK), n_symbols
        _exchange[grid](entries, own, out, n, begin, power, skips, BLOCK)


def can_count(rows: Rows, readings: Sequence[Reading]) -> bool:
    """Tell whether `count` knows these readings: one layout each, and all symbols there."""
    plain = all(len(reading.layouts) == 1 and reading.length > 0 for reading in readings)
    return plain and rows.present is None and has_triton(rows.codes.device)


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
        places = _listed(layout, codes.device)
        where = (n_frames, shape[1], shape[2], first, size, rows.base, width)
        cell = (reading.level, reading.cell)
        bins = max(16, 1 << (size - 1).bit_length())
        grid = (shape[1], n_rows)
        _count[grid](codes, rows.offsets, places, counts, *where, *cell, len(layout), bins, COUNTED)
        first += size
    return counts


@cache
def _listed(numbers: tuple[int, ...], device: torch.device) -> torch.Tensor:
    """Return a few numbers on the card; cached, since even a small copy waits for the card."""
    return torch.tensor(numbers, dtype=torch.int32, device=device)


def respond(
    data: torch.Tensor, rows: Rows, filters: Any, thresholds: torch.Tensor | None
) -> torch.Tensor:
    """Return the responses of filters, or with thresholds how many of them each response reaches.

    The shape is (n_filters, n_frames); the level of NaN is 255. `filters` is as in
    `_engines/filter_words.py`; sums run in the same order as there.
    """
    dilation, taps, members, zero_padded = filters
    (n_channels, n_frames), data = data.shape, data.contiguous()
    sizes = (members >= 0).sum(axis=1)
    kinds = np.column_stack([zero_padded, taps - N_TAPS // 2, sizes, members]).astype(np.int32)
    table = torch.from_numpy(kinds).to(data.device)
    nine = torch.empty((2, n_channels, n_frames), dtype=data.dtype, device=data.device)
    blocks = -(-n_frames // BLOCK)
    row_tables = rows.place, rows.rest
    _nine[blocks, n_channels, 2](data, *row_tables, nine, n_frames, dilation, N_TAPS, BLOCK)
    n_thresholds = 0 if thresholds is None else thresholds.shape[1]
    dtype = torch.uint8 if n_thresholds else data.dtype
    out = torch.empty((len(taps), n_frames), dtype=dtype, device=data.device)
    cuts = nine if thresholds is None else thresholds.contiguous()
    sizes = n_frames, n_channels, dilation, kinds.shape[1], n_thresholds, BLOCK
    # products must be rounded before they are added, as on the processor
    inputs = data, nine, *row_tables, table, cuts, out
    _respond[blocks, len(taps)](*inputs, *sizes, enable_fp_fusion=False)
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
    arrays = (runs.word, runs.entries, runs.count, column, ends, ranks)
    mask = (1 << runs.shift) - 1
    _spread[grid](*arrays, *out, n, mask, *sizes, n_right, root, SPREAD_BLOCK)


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
        sequence_here = tl.load(sequence + t, mask=inside, other=0).to(tl.int64)
        entry = tl.where(used, (word << shift) | sequence_here, 0x7FFFFFFFFFFFFFFF)
        tl.store(out + (layout.to(tl.int64) * n_rows + r) * n_frames + t, entry, mask=inside)

    @triton.jit
    def _exchange(entries, own, out, n, begin, power, skips: tl.constexpr, block: tl.constexpr):
        i = tl.program_id(0) * block + tl.arange(0, block)
        inside = i < n
        before = tl.load(own + i, mask=inside, other=0)
        symbol = begin + tl.program_id(1)
        if skips:
            symbol = symbol + (symbol >= before)
        entry = tl.load(entries + i, mask=inside, other=0) + (symbol - before) * power
        tl.store(out + tl.program_id(1).to(tl.int64) * n + i, entry, mask=inside)

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
                symbol = codes + r * n_frames + start + here + tl.load(places + i)
                key = key * base + tl.load(symbol, mask=inside, other=0).to(tl.int32)
            counts += tl.histogram(key, bins, mask=inside)
            t += block
        column = tl.arange(0, bins)
        target = out + (r * n_sequences + s) * n_columns + first + column
        tl.store(target, counts.to(tl.float32), mask=column < n_words)

    @triton.jit
    def _nine(
        data, place, rest, out, n_frames, dilation, n_taps: tl.constexpr, block: tl.constexpr
    ):  # fmt: skip
        t = tl.program_id(0) * block + tl.arange(0, block)
        c, kind = tl.program_id(1).to(tl.int64), tl.program_id(2)
        inside = t < n_frames
        before = -tl.load(place + t, mask=inside, other=0)
        after = tl.load(rest + t, mask=inside, other=1) - 1
        total = tl.zeros([block], dtype=data.dtype.element_ty)
        for tap in range(n_taps):
            shift = (tap - n_taps // 2) * dilation
            near = tl.minimum(tl.maximum(before, shift), after)
            used = inside & ((kind == 0) | (near == shift))
            total += tl.load(data + c * n_frames + t + near, mask=used, other=0)
        where = (kind * tl.num_programs(1) + c) * n_frames + t
        tl.store(out + where, total, mask=inside)

    @triton.jit
    def _respond(
        data, nine, place, rest, table, thresholds, out, n_frames, n_channels, dilation, width,
        n_thresholds: tl.constexpr, block: tl.constexpr,
    ):  # fmt: skip
        t = tl.program_id(0) * block + tl.arange(0, block)
        f = tl.program_id(1)
        inside = t < n_frames
        before = -tl.load(place + t, mask=inside, other=0)
        after = tl.load(rest + t, mask=inside, other=1) - 1
        mine = table + f * width
        kind = tl.load(mine)
        # three taps, beyond the ends of a sequence the end values or zeros
        first, second = tl.load(mine + 1) * dilation, tl.load(mine + 2) * dilation
        third = tl.load(mine + 3) * dilation
        near1 = tl.minimum(tl.maximum(before, first), after)
        near2 = tl.minimum(tl.maximum(before, second), after)
        near3 = tl.minimum(tl.maximum(before, third), after)
        used1 = inside & ((kind == 0) | (near1 == first))
        used2 = inside & ((kind == 0) | (near2 == second))
        used3 = inside & ((kind == 0) | (near3 == third))
        response = tl.zeros([block], dtype=data.dtype.element_ty)
        first_taps, second_taps, third_taps = response, response, response
        for i in range(tl.load(mine + 4)):
            c = tl.load(mine + 5 + i).to(tl.int64)
            x = data + c * n_frames + t
            first_taps += tl.load(x + near1, mask=used1, other=0)
            second_taps += tl.load(x + near2, mask=used2, other=0)
            third_taps += tl.load(x + near3, mask=used3, other=0)
            response -= tl.load(nine + (kind * n_channels + c) * n_frames + t, mask=inside, other=0)
        taps = (first_taps + second_taps) + third_taps
        # as 3 * taps, but a sum is never fused: the processor rounds the product, too
        summed = response + ((taps + taps) + taps)
        place_out = out + f.to(tl.int64) * n_frames + t
        if n_thresholds == 0:
            tl.store(place_out, summed, mask=inside)
        else:
            level = tl.zeros([block], dtype=tl.int32)
            for q in range(n_thresholds):
                level += (summed >= tl.load(thresholds + f * n_thresholds + q)).to(tl.int32)
            level = tl.where(summed == summed, level, 255)
            tl.store(place_out, level.to(tl.uint8), mask=inside)

    @triton.jit
    def _spread(
        word, entries, count, column, ends, ranks, squares, products, dense, n, mask, n_sequences,
        n_left, first_right, words_per_row, n_right, root: tl.constexpr, block: tl.constexpr,
    ):  # fmt: skip
        e = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
        inside = e < n
        row = tl.load(word + e, mask=inside, other=0) // words_per_row
        a = tl.load(entries + e, mask=inside, other=0) & mask
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
            b = tl.load(entries + e + d, mask=pair, other=0) & mask
            pair = pair & (b >= first_right)
            other = tl.load(count + e + d, mask=pair, other=0).to(tl.float32)
            if root:
                other = tl.sqrt_rn(other)
            where = (row * n_left + a) * n_right + (b - first_right)
            product = value.to(tl.float64) * other.to(tl.float64)
            tl.atomic_add(products + where, product, mask=pair, sem="relaxed")
            d += 1

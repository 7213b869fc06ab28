"""Words of rows of codes: where they are read, and their numbers.

The rows of a collection are one tensor of codes, (n_rows, n_frames), with the sequences one after
another. A *reading* is one group of layouts in one cell of the temporal pyramid.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import torch


class Reading(NamedTuple):
    """Layouts that share their words, their windows, and the cell of the pyramid.

    With `distinct`, a word counts once where several layouts read it in the same window; the
    layouts then have one window. With `near`, a window counts for all words that differ from its
    word in at most one symbol; there is one layout then.
    """

    layouts: tuple[tuple[int, ...], ...]
    windows: tuple[tuple[int, ...], ...]
    distinct: bool = False
    level: int = 0
    cell: int = 0
    near: bool = False

    @property
    def length(self) -> int:
        """Number of symbols in a word."""
        return len(self.layouts[0])

    def n_words(self, base: int) -> int:
        """Return the number of words over an alphabet of `base` symbols."""
        return base**self.length


@dataclass(frozen=True)
class Rows:
    """Codes (n_rows, n_frames), which of them are symbols (None: all), and the sequences.

    `base` is larger than all codes that are symbols. `sequence` and `place` tell for every frame
    the number of its sequence and the distance to the first frame, `rest` the distance to the end.
    """

    codes: torch.Tensor
    present: torch.Tensor | None
    base: int
    sequence: torch.Tensor
    place: torch.Tensor
    rest: torch.Tensor
    offsets: torch.Tensor

    @property
    def n_sequences(self) -> int:
        """Number of sequences."""
        return len(self.offsets) - 1

    @classmethod
    def of(cls, codes: torch.Tensor, offsets: torch.Tensor) -> "Rows":
        """Number the frames of all sequences; `chosen` then says which codes are symbols."""
        device, n = codes.device, codes.shape[1]
        numbers = torch.arange(len(offsets) - 1, device=device, dtype=torch.int32)
        sequence = numbers.repeat_interleave(offsets.diff(), output_size=n)
        frames = torch.arange(n, device=device, dtype=torch.int32)
        starts, ends = (x.to(torch.int32)[sequence] for x in (offsets[:-1], offsets[1:]))
        return cls(codes, None, 1, sequence, frames - starts, ends - frames, offsets)

    def chosen(self, rows: list[int], n_symbols: int, first_missing: int) -> "Rows":
        """Return some rows, all of `n_symbols` symbols; codes from `first_missing` are missing."""
        is_run = rows == list(range(rows[0], rows[0] + len(rows)))
        codes = self.codes[rows[0] : rows[-1] + 1] if is_run else self.codes[rows]
        largest = int(codes.max()) if codes.numel() else -1
        present = None
        if largest >= first_missing:
            present = codes < first_missing
            codes = codes.masked_fill(~present, 0)
            largest = int(codes.max())
        return replace(self, codes=codes, present=present, base=max(n_symbols, largest + 1, 1))

    def one(self, r: int) -> "Rows":
        """Return row `r` alone."""
        present = None if self.present is None else self.present[r : r + 1]
        return replace(self, codes=self.codes[r : r + 1], present=present)


def read_words(rows: Rows, reading: Reading, j: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the words of layout `j` at every frame, and which of them count.

    Words are numbers in base `rows.base`, (n_rows, n), for the first `n` frames; the flags are
    (n,) or (n_rows, n).
    """
    window = reading.windows[j]
    width = (window[-1] if window else 0) + 1
    n = max(rows.codes.shape[1] - width + 1, 0)
    keys = _keys(rows, reading.layouts[j], n)
    counts = rows.rest[:n] >= width
    if reading.level:
        # floor(place * 2**level / n_words) == cell
        n_words = (rows.place[:n] + rows.rest[:n] - width + 1).clamp(min=1).to(torch.int64)
        cells = (rows.place[:n].to(torch.int64) << reading.level) // n_words
        counts = counts & (cells == reading.cell)
    if rows.present is not None:
        for o in window:
            counts = counts & rows.present[:, o : o + n]
    if reading.distinct:
        for layout in reading.layouts[:j]:
            counts = counts & (_keys(rows, layout, n) != keys)
    return keys, counts


def _keys(rows: Rows, layout: tuple[int, ...], n: int) -> torch.Tensor:
    """Read the symbols at the offsets of a layout as digits, for the first `n` frames."""
    small = rows.base ** len(layout) < 2**31
    dtype = torch.int32 if small else torch.int64
    keys = torch.zeros((len(rows.codes), n), dtype=dtype, device=rows.codes.device)
    for o in layout:
        keys.mul_(rows.base).add_(rows.codes[:, o : o + n])
    return keys

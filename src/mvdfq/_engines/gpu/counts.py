"""Words -> counts: lists of runs by one sort, or dense histograms for few words.

Words with one changed symbol: every window is expanded into all words near it. The processor avoids
this expansion, which takes a card a few seconds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from mvdfq._engines.cpu import bits
from mvdfq._engines.gpu import fused
from mvdfq._engines.gpu.reading import Reading, Rows, read_words

# Entries are signed 64-bit numbers; the largest one marks a place without a word.
KEY_BITS = 62
NONE = 2**63 - 1


@dataclass(frozen=True)
class Runs:
    """One entry for each word and sequence that holds the word, in the order of the words.

    The `shift` low bits of an entry are the sequence. `word` numbers words of all rows and
    readings: ``(row * n_readings + reading) * n_words + key``.
    """

    word: torch.Tensor
    entries: torch.Tensor
    count: torch.Tensor
    shift: int

    @cached_property
    def sequence(self) -> torch.Tensor:
        """The sequence of each entry."""
        return self.entries & ((1 << self.shift) - 1)


def run_bits(rows: Rows, readings: Sequence[Reading]) -> int:
    """Return the bits of an entry that holds row, reading, word and sequence."""
    n_words = max(reading.n_words(rows.base) for reading in readings)
    return bits(len(rows.codes) * len(readings) * n_words) + bits(rows.n_sequences)


def runs_of(rows: Rows, readings: Sequence[Reading]) -> Runs:
    """Count the words of several readings in all rows: one sort of all words.

    Callers guarantee ``run_bits <= KEY_BITS``.
    """
    n_words = max(reading.n_words(rows.base) for reading in readings)
    shift = bits(rows.n_sequences)
    if fused.can_emit(rows, readings):
        return runs_of_keys(fused.emit(rows, readings, n_words, shift), shift)
    n_layouts = sum(len(reading.layouts) for reading in readings)
    shape = n_layouts, *rows.codes.shape
    entries = torch.full(shape, NONE, dtype=torch.int64, device=rows.codes.device)
    heads = torch.arange(len(rows.codes), device=rows.codes.device)[:, None] * len(readings)
    filled = iter(entries)
    for number, reading in enumerate(readings):
        for j in range(len(reading.layouts)):
            keys, used = read_words(rows, reading, j)
            words = (heads + number) * n_words + keys
            tagged = words.bitwise_left_shift_(shift).bitwise_or_(rows.sequence[: keys.shape[1]])
            next(filled)[:, : keys.shape[1]] = tagged.masked_fill_(~used, NONE)
    return runs_of_keys(entries.reshape(-1), shift)


def runs_of_keys(entries: torch.Tensor, shift: int) -> Runs:
    """Count equal entries; the `shift` low bits are the sequence."""
    distinct, count = torch.unique(entries, return_counts=True)
    # the mark is the largest number, so places without a word are one run at the end
    if distinct.numel() and int(distinct[-1]) == NONE:
        distinct, count = distinct[:-1], count[:-1]
    return Runs(distinct >> shift, distinct, count, shift)


def histogram(rows: Rows, readings: Sequence[Reading]) -> torch.Tensor:
    """Return the counts of all words, (n_rows, n_sequences, n_columns), as float32.

    The columns are the words of the readings, one reading after another. For few words: nothing
    is sorted.
    """
    sizes = [reading.n_words(rows.base) for reading in readings]
    n_columns, n = sum(sizes), rows.n_sequences
    if fused.can_count(rows, readings):
        return fused.count(rows, readings, sizes)
    # the last place collects the words that do not count
    shape = len(rows.codes), n * n_columns + 1
    counts = torch.zeros(shape, dtype=torch.float32, device=rows.codes.device)
    one = torch.ones((), dtype=torch.float32, device=rows.codes.device)
    first = 0
    for reading, size in zip(readings, sizes, strict=True):
        for j in range(len(reading.layouts)):
            keys, used = read_words(rows, reading, j)
            places = rows.sequence[: keys.shape[1]].to(torch.int64) * n_columns + first + keys
            places.masked_fill_(~used, shape[1] - 1)
            counts.scatter_add_(1, places, one.expand(places.shape))
        first += size
    return counts[:, :-1].reshape(len(rows.codes), n, n_columns)


def n_near(base: int, length: int) -> int:
    """Return the number of words that differ from one word in at most one symbol."""
    return 1 + length * (base - 1)


def near_runs(rows: Rows, reading: Reading, most: int) -> Iterator[Runs]:
    """Count, for the only row, the windows near every word; one piece of the words at a time.

    A piece holds all words that begin with some symbols, so no word is in two pieces. `most` is
    the number of windows and near words to expand at a time.
    """
    keys, used = read_words(rows, reading, 0)
    keys, shift = keys[0].to(torch.int64), bits(rows.n_sequences)
    used = used.expand_as(keys[None])[0]
    keys, sequence = keys[used], rows.sequence[: len(keys)][used]
    entries = (keys << shift).bitwise_or_(sequence)
    # words are spread over first symbols about evenly, so a piece is a share of the alphabet
    step = max(1, most * rows.base // max(len(keys) * n_near(rows.base, reading.length), 1))
    powers = [rows.base**place for place in reversed(range(reading.length))]
    for first in range(0, rows.base, step):
        begins = first, min(first + step, rows.base)
        yield runs_of_keys(_expanded(keys, entries, shift, rows.base, powers, begins), shift)


def _expanded(
    keys: torch.Tensor, entries: torch.Tensor, shift: int, base: int, powers: list[int],
    begins: tuple[int, int],
) -> torch.Tensor:  # fmt: skip
    """Return one entry for each window and word near it that begins with some symbols."""
    own = keys // powers[0]
    kept = (own >= begins[0]) & (own < begins[1])
    # the first symbol takes every value, its own among them: the word itself
    parts = [(entries, own, begins, powers[0])]
    keys, entries = keys[kept], entries[kept]
    # a later symbol takes every value but its own
    parts += [(entries, keys // power % base, (0, base - 1), power) for power in powers[1:]]
    sizes = [len(own) * (end - begin) for _, own, (begin, end), _ in parts]
    neighbours = torch.empty(sum(sizes), dtype=torch.int64, device=keys.device)
    for place, (part, out) in enumerate(zip(parts, neighbours.split(sizes), strict=True)):
        of_part, own, (begin, end), power = part
        _exchange(of_part, own, begin, power << shift, place > 0, out.view(end - begin, len(own)))
    return neighbours


def _exchange(
    entries: torch.Tensor, own: torch.Tensor, begin: int, power: int, skips: bool, out: torch.Tensor
) -> None:
    """Write the entries with another symbol in one place, one row of `out` for each symbol.

    The symbols count from `begin`; if `skips`, the symbol `own` is left out.
    """
    if fused.has_triton(out.device):
        fused.exchange(entries, own, begin, power, skips, out)
        return
    steps = torch.arange(begin, begin + len(out), device=out.device)[:, None] - own
    steps += skips * (steps >= 0)
    torch.add(entries, steps, alpha=power, out=out)

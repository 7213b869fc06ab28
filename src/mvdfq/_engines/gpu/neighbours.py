"""Words with one changed symbol: every window is expanded into all words near it.

The processor avoids this expansion, which takes a card a few seconds.
"""

from collections.abc import Iterator

import torch

from mvdfq._engines.gpu.counts import Runs, bits, runs_of_keys
from mvdfq._engines.gpu.reading import Reading, Rows, read_words

__all__ = ["n_near", "near_runs"]


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
    step = max(1, most * rows.base // max(len(keys) * n_near(rows.base, reading.length), 1))
    for first in range(0, rows.base, step):
        entries = _expanded(keys, sequence, shift, rows.base, reading.length, (first, first + step))
        yield runs_of_keys(entries, shift)


def _expanded(
    keys: torch.Tensor, sequence: torch.Tensor, shift: int, base: int, length: int,
    begins: tuple[int, int],
) -> torch.Tensor:  # fmt: skip
    """Return one entry for each window and word near it that begins with some symbols."""
    begin, end = begins[0], min(begins[1], base)
    symbols = torch.arange(base, device=keys.device)
    power = base ** (length - 1)
    own = keys // power
    # the first symbol changed
    changed = symbols[begin:end, None]
    near = keys + (changed - own) * power
    other = changed != own
    found = [((near << shift) | sequence)[other]]
    # the first symbol kept: the word itself, and every other place changed
    kept = (own >= begin) & (own < end)
    keys, sequence = keys[kept], sequence[kept]
    found.append((keys << shift) | sequence)
    for place in range(1, length):
        power = base ** (length - 1 - place)
        own = keys // power % base
        near = keys + (symbols[:, None] - own) * power
        found.append(((near << shift) | sequence)[symbols[:, None] != own])
    return torch.cat(found)

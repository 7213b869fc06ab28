"""Symbols in a file: a collection whose codes do not fit into memory."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from mvdfq.sequences import offsets_of
from mvdfq.symbols.base import Symbols

__all__ = ["spooled"]


def spooled(blocks: Iterable[Symbols], folder: Path) -> Symbols:
    """Write blocks of symbols one after the other to a file; return all as one collection.

    The codes are a memory map of a file without a name in `folder`, so that the file disappears
    with the process, also after ``kill -9``. Blocks must have the same rows and alphabets.
    """
    lengths: list[np.ndarray] = []
    first: Any = None
    with TemporaryFile(dir=folder) as file:
        for block in blocks:
            first = block[:0] if first is None else first
            _check_block(block, first)
            # frame after frame, since the number of frames of all blocks is not known yet
            np.ascontiguousarray(block.codes.T).tofile(file)
            lengths.append(block.lengths)
        if not lengths:
            raise ValueError("X holds no sequences; pass at least one block of sequences.")
        file.flush()
        offsets = offsets_of(np.concatenate(lengths))
        shape = int(offsets[-1]), first.n_rows
        codes = first.codes.T
        if codes.dtype.itemsize * shape[0] * shape[1]:  # an empty file cannot be mapped
            codes = np.memmap(file, first.codes.dtype, "r", 0, shape)
    return replace(first, data=codes.T, offsets=offsets)


def _check_block(block: Any, first: Symbols) -> None:
    if not isinstance(block, Symbols):
        raise TypeError(
            f"Blocks must be Symbols, got {type(block).__name__}; a fitted quantizer turns a block "
            f"of sequences into Symbols."
        )
    same = block.codes.dtype == first.codes.dtype and block.n_rows == first.n_rows
    if not same or not np.array_equal(block.n_symbols, first.n_symbols):
        raise ValueError(
            f"All blocks must have the rows and alphabets of the first block, "
            f"{first.n_symbols.tolist()}, got {block.n_symbols.tolist()}; use one fitted quantizer."
        )

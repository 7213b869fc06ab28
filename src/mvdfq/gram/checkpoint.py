"""Kernel matrices in stored parts: a new run continues where an interrupted run stopped."""

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from itertools import combinations_with_replacement, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from mvdfq._utils.files import replacing
from mvdfq.gram.kernel import SequenceKernel

__all__ = ["write_gram"]

# Number of blocks of sequences. Every pair of blocks is one stored part. The words of a block are
# counted again for each pair, so there are few blocks.
BLOCKS = 6
# Up to this many sequences the matrix is one part: computing it again takes seconds.
SMALL = 400
# An empty file in each folder of parts: only folders with this file are removed.
MARK = ".mvdfq-gram-parts"
PART = re.compile(rf"\d+-\d+\.npy|\.[0-9a-f]{{32}}\.unfinished|{re.escape(MARK)}")


def write_gram(
    kernel: SequenceKernel, output: Path, progress: Callable[[int, int], None] | None = None
) -> int:
    """Write the kernel matrix of the training sequences; return the number of parts found.

    Parts are in a hidden folder beside the output until the output is complete.
    """
    folder = _folder_for(output, kernel)
    folder.mkdir(exist_ok=True)
    (folder / MARK).touch()
    n, found = len(kernel.train_), 0
    K = np.empty((n, n))
    pairs = list(combinations_with_replacement(enumerate(_blocks(n)), 2))
    for done, ((i, rows), (j, columns)) in enumerate(pairs, start=1):
        part, was_there = _part(kernel, folder / f"{i}-{j}.npy", rows, columns)
        found += was_there
        K[rows, columns], K[columns, rows] = part, part.T
        if progress is not None:
            progress(done, len(pairs))
    with replacing(output) as file:
        np.save(file, K)
    for other in output.parent.iterdir():  # also the parts of interrupted runs
        if _holds_parts_of(output, other):
            shutil.rmtree(other, ignore_errors=True)
    return found


def _holds_parts_of(output: Path, folder: Path) -> bool:
    """Tell whether `write_gram` made this folder: its name, its mark and nothing else inside."""
    start, digest = folder.name[: len(output.name) + 2], folder.name[len(output.name) + 2 :]
    if start != f".{output.name}." or not re.fullmatch(r"[0-9a-f]{16}", digest):
        return False
    if folder.is_symlink() or not (folder / MARK).is_file():
        return False
    return all(PART.fullmatch(file.name) for file in folder.iterdir())


def _folder_for(output: Path, kernel: Any) -> Path:
    """Return the folder of the parts; its name depends on the data and the kernel."""
    train = kernel.train_
    same = clone(kernel).set_params(n_jobs=None, memory_limit=None)  # these change no value
    digest = hashlib.sha256(json.dumps([repr(same), list(train.data.shape)]).encode())
    digest.update(np.ascontiguousarray(train.data).tobytes())
    digest.update(np.ascontiguousarray(train.offsets).tobytes())
    return output.with_name(f".{output.name}.{digest.hexdigest()[:16]}")


def _blocks(n: int) -> list[slice]:
    cuts = np.linspace(0, n, (BLOCKS if n > SMALL else 1) + 1).astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(cuts) if a < b]


def _part(kernel: Any, path: Path, rows: slice, columns: slice) -> tuple[np.ndarray, bool]:
    """Return one part of the matrix, and whether it was read from a valid file."""
    shape = rows.stop - rows.start, columns.stop - columns.start
    try:
        part = np.load(path, allow_pickle=False)
        if part.shape == shape:
            return part, True
    except (OSError, ValueError, EOFError):
        pass
    other = None if rows == columns else kernel.train_[columns]
    part, _ = kernel.compare(kernel.train_[rows], other)
    with replacing(path) as file:
        np.save(file, part)
    return part, False

"""Profiles of many proteins as arrays in one npz file."""

from pathlib import Path

import numpy as np

from mvdfq.io.dataset import Dataset
from mvdfq.io.letters.residues import AMINO_ACIDS
from mvdfq.io.source import Source
from mvdfq.io.tables.arrays import as_offsets, column, read_archive, required
from mvdfq.sequences import Sequences

__all__ = ["read_profile_npz"]


def read_profile_npz(path: str | Path) -> Dataset:
    """Read the profiles of one npz file, with 20 channels of numbers as they are in the file.

    The array ``pssm`` (n_positions, 20) holds all profiles one below the other, and ``start``
    (n + 1) says where each profile begins. Three arrays are optional: ``ids``; ``label``, which
    may number the names of classes in ``folds`` (a name ends at a tab); and ``columns``, the
    letters of the columns, which are in alphabetic order by default. The numbers of the EDD set
    are bits over equal frequencies: ``log_odds_to_probabilities(X, scale=np.log(2),
    background="uniform")``.
    """
    source = Source(Path(path))
    arrays = read_archive(source)
    pssm, start = required(source, arrays, "pssm", "start")
    letters = list(str(arrays.get("columns", AMINO_ACIDS)))
    _check_scores(source, pssm, letters)
    offsets = as_offsets(source, "start", start, len(pssm))
    order = [letters.index(letter) for letter in AMINO_ACIDS]
    X = Sequences(pssm.T[order].astype(np.float32), offsets, tuple(AMINO_ACIDS))
    ids = column(source, arrays, ["ids"], len(X))
    names = [str(name) for name in (range(len(X)) if ids is None else ids)]
    y = column(source, arrays, ["label"], len(X))
    return Dataset(X, y=_classes(source, y, arrays.get("folds")), names=names)


def _check_scores(source: Source, pssm: np.ndarray, letters: list[str]) -> None:
    if pssm.ndim != 2 or pssm.shape[1] != 20 or pssm.dtype.kind not in "fiu":
        source.fail(f"pssm must be (n_positions, 20) numbers, got {pssm.shape}")
    if sorted(letters) != sorted(AMINO_ACIDS):
        source.fail(f"columns must be the 20 amino acids, got {''.join(letters)!r}")
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite
        infinite = np.isinf(pssm.astype(np.float32)).any()
    if infinite:
        source.fail("pssm holds infinite values", "NaN marks a missing value")


def _classes(source: Source, y: np.ndarray | None, folds: np.ndarray | None) -> np.ndarray | None:
    """Return the labels, by their names where the file has names."""
    if y is None or folds is None:
        return y
    if y.dtype.kind not in "iu" or (y.size and not 0 <= y.min() <= y.max() < len(folds)):
        source.fail(f"label must number the {len(folds)} folds from 0")
    return np.array([str(name).partition("\t")[0] for name in folds])[y]

"""Profiles of many proteins as arrays in one npz file."""

from pathlib import Path

import numpy as np

from mvdfq.io.arrays import read_archive
from mvdfq.io.base import Dataset, ReadError
from mvdfq.io.scales import AMINO_ACIDS
from mvdfq.io.text import Source
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
    arrays = read_archive(Source(Path(path)))
    for name in ("pssm", "start"):
        if name not in arrays:
            raise ReadError(path, f"there is no array {name!r}", "pssm and start are needed")
    pssm, start = arrays["pssm"], arrays["start"]
    letters = list(str(arrays.get("columns", AMINO_ACIDS)))
    _check_arrays(path, pssm, start, letters)
    for name in ("ids", "label"):
        if name in arrays and arrays[name].shape != (len(start) - 1,):
            raise ReadError(path, f"{name} must be one for each of {len(start) - 1} profiles")
    order = [letters.index(letter) for letter in AMINO_ACIDS]
    X = Sequences(pssm.T[order].astype(np.float32), start.astype(np.int64), tuple(AMINO_ACIDS))
    names = [str(name) for name in arrays.get("ids", np.arange(len(X)))]
    return Dataset(X, y=_classes(path, arrays), names=names)


def _check_arrays(
    path: str | Path, pssm: np.ndarray, start: np.ndarray, letters: list[str]
) -> None:
    if pssm.ndim != 2 or pssm.shape[1] != 20 or pssm.dtype.kind not in "fiu":
        raise ReadError(path, f"pssm must be (n_positions, 20) numbers, got {pssm.shape}")
    if sorted(letters) != sorted(AMINO_ACIDS):
        raise ReadError(path, f"columns must be the 20 amino acids, got {''.join(letters)!r}")
    ends = start.ndim == 1 and start.size > 1 and start[0] == 0 and start[-1] == len(pssm)
    if start.dtype.kind not in "iu" or not ends or (np.diff(start.astype(np.int64)) < 0).any():
        raise ReadError(path, f"start must ascend from 0 to the {len(pssm)} positions of pssm")
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite
        infinite = np.isinf(pssm.astype(np.float32)).any()
    if infinite:
        raise ReadError(path, "pssm holds infinite values", "NaN marks a missing one")


def _classes(path: str | Path, arrays: dict[str, np.ndarray]) -> np.ndarray | None:
    """Labels, by their names where the file has these."""
    y, folds = arrays.get("label"), arrays.get("folds")
    if y is None or folds is None:
        return y
    if y.dtype.kind not in "iu" or (y.size and not 0 <= y.min() <= y.max() < len(folds)):
        raise ReadError(path, f"label must number the {len(folds)} folds from 0")
    return np.array([str(name).partition("\t")[0] for name in folds])[y]

"""Data sets in two parts, for training and for testing: ``X_TRAIN.ts`` and ``X_TEST.ts``."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path

import numpy as np

from mvdfq.io.dataset import Dataset, ReadError, check_inside

__all__ = ["joined_parts", "parts_of"]

PART = re.compile(r"(.+)_(train|test)\.(\w++)(\.gz)?", re.IGNORECASE)


def parts_of(path: Path, endings: Sequence[str]) -> list[Path]:
    """The file or folder itself, or the training and the test file that the path stands for.

    A path stands for two files if it is their folder, or their common name without ``_TRAIN``.
    Of a data set that is stored in several formats, the first of `endings` is taken.
    """
    try:
        if path.is_file():
            return [path]
    except OSError as error:  # a name that is too long
        raise ReadError(path, error.strerror or str(error), "check the path") from None
    pairs = _pairs(path if path.is_dir() else path.parent)
    stems = {stem for stem, _ in pairs}
    name = path.name
    if path.is_dir():  # a data set and its variants lie in the folder of its name
        name = next(iter(stems)) if len(stems) == 1 else path.resolve().name
    for ending in endings:
        if (name, ending) in pairs:
            return pairs[name, ending]
    if path.is_dir() and len(stems) > 1:
        raise ReadError(path, f"several data sets: {sorted(stems)[:20]}", "name one of them")
    if not path.is_dir():
        raise ReadError(path, "no such file or folder", "check the path")
    return [path]


def _pairs(folder: Path) -> dict[tuple[str, str], list[Path]]:
    """Training and test file of each data set and format in a folder."""
    if not folder.is_dir():
        return {}
    found: dict[tuple[str, str], dict[str, Path]] = {}
    for path in sorted(folder.iterdir()):
        if match := PART.fullmatch(path.name):
            found.setdefault((match[1], match[3].lower()), {})[match[2].lower()] = path
    pairs = {key: parts for key, parts in found.items() if len(parts) == 2}
    for part in (part for parts in pairs.values() for part in parts.values()):
        check_inside(part, folder)
    return {key: [parts["train"], parts["test"]] for key, parts in pairs.items()}


def joined_parts(path: Path, parts: Sequence[Dataset], splits: Sequence[str]) -> Dataset:
    """Join the parts of one data set; `Dataset.split` says which sequence is of which part."""
    for other in parts[1:]:
        _check_alike(path, parts[0], other)
    whole = reduce(Dataset.joined, parts)
    if len(parts) == 1:
        return whole
    return replace(whole, split=np.repeat(np.array(splits), [len(part) for part in parts]))


def _check_alike(path: Path, first: Dataset, other: Dataset) -> None:
    who = "the training and the test part"
    if first.X.n_rows != other.X.n_rows:
        raise ReadError(path, f"{who} have {first.X.n_rows} and {other.X.n_rows} channels")
    for key in ("channel_names", "symbolic"):
        if getattr(first.X, key) != getattr(other.X, key):
            raise ReadError(path, f"{who} differ in {key}")
    one, two = first.X.sampling_rate, other.X.sampling_rate
    # Rates that are measured by the times of rows differ a little.
    if not np.isclose(one or 0.0, two or 0.0, rtol=0.1):
        hint = "resample=RATE brings both parts to one rate"
        raise ReadError(path, f"{who} differ in sampling_rate: {one} and {two}", hint)
    for key in ("y", "groups"):
        if (getattr(first, key) is None) != (getattr(other, key) is None):
            raise ReadError(path, f"only one of {who} has {key}")

"""What a classifier was trained on, in a few plain values that a model file keeps."""

import hashlib
import platform
from functools import cache
from itertools import pairwise
from typing import Any, TypedDict

import numpy as np

from mvdfq._utils.version import version_of

PACKAGES = ("mvdfq", "numpy", "scipy", "scikit-learn", "numba")


class TrainingRecord(TypedDict):
    """What `record_of` returns; `load` refuses a record of another form."""

    n_sequences: int
    shortest: int
    median_length: float
    longest: int
    sampling_rate: float | None
    classes: dict[str, int]
    digest: str
    versions: dict[str, str | None]


class Source(TypedDict, total=False):
    """How the command line read the training data, for reading new data in the same way."""

    format: str | None
    recipe: dict[str, Any] | None
    names: list[str] | None
    strands: str
    profile_values: str | None
    columns: dict[str, Any]


def record_of(
    lengths: np.ndarray, rate: float | None, labels: np.ndarray, counts: np.ndarray, digest: str
) -> TrainingRecord:
    """Return the record of sequences of these lengths and labels, and the versions."""
    low, middle, high = np.percentile(lengths, [0, 50, 100]).tolist()
    return {
        "n_sequences": len(lengths),
        "shortest": int(low),
        "median_length": middle,
        "longest": int(high),
        "sampling_rate": rate,
        "classes": dict(zip(map(str, labels.tolist()), counts.tolist(), strict=True)),
        "digest": digest,
        "versions": {"python": platform.python_version(), **_versions()},
    }


@cache  # looking up five packages takes longer than all the rest of a record
def _versions() -> dict[str, str]:
    return {name: version_of(name) for name in PACKAGES}


def digest(X: Any, y: np.ndarray) -> str:
    """Return SHA-256 of the values, the lengths and the labels, in the order of training."""
    content = hashlib.sha256()
    content.update(repr((X.data.dtype.str, X.data.shape, [str(label) for label in y])).encode())
    content.update(X.offsets.astype("<i8").tobytes())
    for row in X.data:  # one row at a time, so that large data are not copied
        content.update(np.ascontiguousarray(row).data)
    return content.hexdigest()


def fingerprints(X: Any) -> np.ndarray:
    """Return 64 bits of the values of each sequence, never 0; labels do not count."""

    def bits(place: tuple[int, int]) -> int:
        values = np.ascontiguousarray(X.data[:, slice(*place)], dtype=np.float64) + 0.0  # not -0
        content = hashlib.blake2b(values.data, digest_size=8)
        return max(int.from_bytes(content.digest(), "little"), 1)

    return np.fromiter(map(bits, pairwise(X.offsets.tolist())), np.uint64, len(X))

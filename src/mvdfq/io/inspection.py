"""What is in a data set: counts, lengths, gaps, classes, duplicates."""

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq.io.audio import headers
from mvdfq.io.base import Dataset, ReadError
from mvdfq.io.decoding import Header
from mvdfq.io.listing import list_audio

__all__ = ["constant_channels", "equal_sequences", "facts_of", "facts_of_audio"]

Report = Callable[[int, int], None]


def facts_of(data: Dataset) -> dict[str, Any]:
    """Facts of a data set that was read."""
    facts = _inspect_strings(data.X) if isinstance(data.X, list) else _inspect_numbers(data.X)
    facts["split"] = "" if data.split is None else _counts(data.split)
    return facts | {
        "classes": {} if data.y is None else _counts(data.y),
        "groups": {} if data.groups is None else _counts(data.groups),
        "duplicates": [
            " = ".join(data.names[i] for i in alike) for alike in equal_sequences(data.X)
        ],
        "bad": [problem.message for problem in data.skipped],
        "remarks": list(data.remarks),
    }


def _inspect_strings(X: list[str]) -> dict[str, Any]:
    return _lengths([len(x) for x in X]) | {"letters": "".join(sorted(set().union(*X)))}


def _inspect_numbers(X: Any) -> dict[str, Any]:
    missing = np.isnan(X.data)
    names = X.channel_names or [str(c) for c in range(X.n_rows)]
    return _lengths(X.lengths) | {
        "channels": X.n_rows,
        "frames per second": X.sampling_rate or "unknown",
        "missing values %": round(100 * float(missing.mean()), 3) if missing.size else 0.0,
        "sequences with gaps": int(sum(np.isnan(x).any() for x in X)),
        "constant channels": [names[c] for c in constant_channels(X)],
    }


def constant_channels(X: Any) -> list[int]:
    """Return the channels whose values never change; missing values do not count."""
    known = [row[~np.isnan(row)] for row in X.data]
    return [c for c, row in enumerate(known) if not row.size or not np.ptp(row) > 0]


def _lengths(lengths: Any) -> dict[str, Any]:
    lengths = np.asarray(lengths)
    if not lengths.size:
        return {"sequences": 0}
    low, middle, high = np.percentile(lengths, [0, 50, 100])
    return {"sequences": len(lengths), "shortest": float(low), "median length": float(middle),
            "longest": float(high)}  # fmt: skip


def _counts(values: Any) -> dict[str, int]:
    return dict(sorted(Counter(map(str, np.asarray(values).tolist())).items()))


def equal_sequences(X: Any) -> list[list[int]]:
    """Return the places of sequences that are exactly equal, one list per set of sequences."""
    seen = defaultdict(list)
    for i, x in enumerate(X):
        content = x.encode() if isinstance(x, str) else np.ascontiguousarray(x).tobytes()
        seen[hashlib.sha256(content).digest()].append(i)
    return [places for places in seen.values() if len(places) > 1]


def facts_of_audio(
    path: Any,
    group_pattern: str | None = None,
    progress: Report | None = None,
    *,
    recipe: Any = None,
    deep: bool = False,
    n_jobs: int | None = None,
) -> dict[str, Any]:
    """Facts of sound files, from their headers; `deep` decodes the files too."""
    listing = list_audio(path, group_pattern=group_pattern)
    good: dict[int, Header] = {}
    bad = [problem.message for problem in listing.problems]
    for i, found in enumerate(headers(listing.files, recipe, deep, n_jobs)):
        if isinstance(found, ReadError):
            bad.append(found.message)
        else:
            good[i] = found
        if progress is not None:
            progress(i + 1, len(listing.files))
    listing.keep([*good])
    seconds = [header.seconds for header in good.values()]
    kinds = Counter(header.kind for header in good.values())
    return _lengths(np.array(seconds)) | {
        "unit of lengths": "seconds",
        "total hours": round(sum(seconds) / 3600, 3),
        "kinds": "; ".join(f"{n} x {kind}" for kind, n in kinds.most_common()),
        "classes": _counts(listing.labels) if listing.labels else {},
        "groups": _counts(listing.groups) if listing.groups else {},
        "duplicates": _equal_files(listing.files),
        "bad": bad,
        "remarks": listing.remarks,
    }


def _equal_files(files: Any) -> list[str]:
    """Return the names of files with the same content; only files of equal size are read."""
    by_size = defaultdict(list)
    for file in (file for file in files if os.path.isfile(file)):
        by_size[Path(file).stat().st_size].append(file)
    by_content = defaultdict(list)
    for file in (file for alike in by_size.values() if len(alike) > 1 for file in alike):
        with open(file, "rb") as content:
            by_content[hashlib.file_digest(content, "sha256").digest()].append(str(file))
    return [" = ".join(names) for names in by_content.values() if len(names) > 1]

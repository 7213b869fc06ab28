"""What is in a data set: counts, lengths, gaps, silence, classes, duplicates."""

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mvdfq.io.dataset import Dataset, ReadError
from mvdfq.io.sound.audio import headers
from mvdfq.io.sound.decoding import Header
from mvdfq.io.sound.listing import list_audio
from mvdfq.io.sound.recipes import audio_recipe
from mvdfq.io.sound.silence import differ, extremes, idle_frames, shares_of, silence_in_words
from mvdfq.sequences.ranges import constant_channels, ranges_of

__all__ = ["equal_sequences", "facts_of", "facts_of_audio", "idle_shares"]

Report = Callable[[int, int], None]


def facts_of(data: Dataset) -> dict[str, Any]:
    """Facts of a data set that was read."""
    facts, remarks = {}, list(data.remarks)
    if isinstance(data.X, list):
        facts = _inspect_strings(data.X)
    else:
        shares = idle_shares(data)
        facts = _inspect_numbers(data.X) | _idle_facts("frames without change", shares)
        remarks += _idle_remark("frames without any change, such as padding", shares)
    facts["split"] = "" if data.split is None else _counts(data.split)
    return facts | {
        "classes": {} if data.y is None else _counts(data.y),
        "groups": {} if data.groups is None else _counts(data.groups),
        "duplicates": _in_words(equal_sequences(data), data.names, data.y),
        "bad": [problem.message for problem in data.skipped],
        "remarks": remarks,
    }


def idle_shares(data: Dataset) -> dict[str, float]:
    """Return the share of frames without change by class."""
    return shares_of(idle_frames(data.X), data.X, data.y)


def _idle_facts(what: str, shares: Mapping[str, float]) -> dict[str, Any]:
    """Return the shares by class in percent, if there are classes and any share."""
    if "" in shares or not any(shares.values()):
        return {}
    return {f"{what} %": {label: round(100 * share, 2) for label, share in shares.items()}}


def _idle_remark(what: str, shares: Mapping[str, float]) -> list[str]:
    if not differ(shares):
        return []
    return [f"classes differ in {what}: {extremes(shares)}; a classifier may tell classes by it"]


def _inspect_strings(X: list[str]) -> dict[str, Any]:
    return _lengths([len(x) for x in X]) | {"letters": "".join(sorted(set().union(*X)))}


def _inspect_numbers(X: Any) -> dict[str, Any]:
    missing = np.isnan(X.data)
    names = X.channel_names or [str(c) for c in range(X.n_rows)]
    constant = [names[c] for c in constant_channels(ranges_of(X))]
    return _lengths(X.lengths) | {
        "channels": X.n_rows,
        "frames per second": X.sampling_rate or "unknown",
        "missing values %": round(100 * float(missing.mean()), 3) if missing.size else 0.0,
        "sequences with gaps": int(sum(np.isnan(x).any() for x in X)),
        "constant channels": ", ".join(constant) or "none",
    }


def _lengths(lengths: Any) -> dict[str, Any]:
    lengths = np.asarray(lengths)
    if not lengths.size:
        return {"sequences": 0}
    low, middle, high = np.percentile(lengths, [0, 50, 100])
    return {"sequences": len(lengths), "shortest": float(low), "median length": float(middle),
            "longest": float(high)}  # fmt: skip


def _counts(values: Any) -> dict[str, int]:
    return dict(sorted(Counter(map(str, np.asarray(values).tolist())).items()))


def equal_sequences(data: Any) -> list[list[int]]:
    """Return the places of sequences that are exactly equal, one list per set of equal ones."""
    contents = (
        x.encode() if isinstance(x, str) else np.ascontiguousarray(x).tobytes() for x in data.X
    )
    return _equal(hashlib.sha256(content).digest() for content in contents)


def _equal(digests: Iterable[bytes]) -> list[list[int]]:
    """Return the places of equal digests; an empty digest equals no other."""
    places = defaultdict(list)
    for i, digest in enumerate(digests):
        places[digest].append(i)
    return [found for digest, found in places.items() if digest and len(found) > 1]


def _in_words(sets: list[list[int]], names: Sequence[Any], labels: Any) -> list[str]:
    """Return one line per set of equal sequences, with their labels if the labels differ."""
    lines = []
    for places in sets:
        found = sorted({str(labels[i]) for i in places}) if labels is not None else []
        told = f" (different labels: {', '.join(found)})" if len(found) > 1 else ""
        lines.append(" = ".join(str(names[i]) for i in places) + told)
    return lines


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
    for i, header in enumerate(headers(listing.files, recipe, deep, n_jobs)):
        if isinstance(header, ReadError):
            bad.append(header.message)
        else:
            good[i] = header
        if progress is not None:
            progress(i + 1, len(listing.files))
    listing.keep([*good])
    found = [*good.values()]
    seconds = [header.seconds for header in found]
    kinds = Counter(header.kind for header in found)
    shares = _silence_of(found, listing.labels)
    digests = [header.digest for header in found] if deep else _digests(listing.files)
    return _lengths(np.array(seconds)) | {
        "unit of lengths": "seconds",
        "total hours": round(sum(seconds) / 3600, 3),
        "kinds": "; ".join(f"{n} x {kind}" for kind, n in kinds.most_common()),
        "classes": _counts(listing.labels) if listing.labels else {},
        "groups": _counts(listing.groups) if listing.groups else {},
        **_idle_facts("digital silence", shares),
        "duplicates": _in_words(_equal(digests), listing.files, listing.labels or None),
        "bad": bad,
        "remarks": [*listing.remarks, *silence_in_words(shares, audio_recipe(recipe).silence)],
    }


def _silence_of(headers: Sequence[Header], labels: Sequence[str]) -> dict[str, float]:
    """Return the share of digital silence by class; by the empty name if there are no classes."""
    seconds: dict[str, float] = defaultdict(float)
    silent: dict[str, float] = defaultdict(float)
    for header, label in zip(headers, labels or [""] * len(headers), strict=True):
        seconds[label] += header.seconds
        silent[label] += header.seconds * header.silence
    return {label: silent[label] / seconds[label] for label in sorted(seconds)}


def _digests(files: Any) -> list[bytes]:
    """Return digests of the content of files; only files of equal size are read."""
    sizes = [os.path.getsize(file) if os.path.isfile(file) else 0 for file in files]
    often = Counter(sizes)
    return [
        _digest(file) if often[size] > 1 else b"" for file, size in zip(files, sizes, strict=True)
    ]


def _digest(file: Any) -> bytes:
    with open(file, "rb") as content:
        return hashlib.file_digest(content, "sha256").digest()

"""What is in a data set: counts, lengths, gaps, idle frames, classes, duplicates."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mvdfq.io.dataset import Dataset
from mvdfq.sequences import Sequences
from mvdfq.sequences.statistics import bounds_of, constant_channels

# Equal frames in a row that are called idle. Sound that is not exactly silent has no two equal
# frames; sensors that round their values have a few.
RUN = 5
# Shares of classes that are further apart than this differ.
APART = 0.05


def idle_frames(X: Sequences) -> np.ndarray:
    """Return frames without a value, or of many equal frames in a row: padding, silence."""
    if not X.data.size or X.symbolic_mask.any():
        return np.zeros(X.data.shape[1], dtype=bool)
    is_new = np.ones(X.data.shape[1], dtype=bool)
    is_new[1:] = (X.data[:, 1:] != X.data[:, :-1]).any(axis=0)
    is_new[X.offsets[:-1][X.lengths > 0]] = True
    run = np.cumsum(is_new) - 1
    return (np.bincount(run)[run] >= RUN) | np.isnan(X.data).all(axis=0)


def differ(shares: Mapping[str, float]) -> bool:
    """Do the classes differ in their share of idle frames?"""
    return bool(shares) and max(shares.values()) - min(shares.values()) > APART


def extremes(shares: Mapping[str, float]) -> str:
    """Name the classes with the largest and the smallest share."""
    most, least = max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__)
    return f"{shares[most]:.1%} of {most!r}, {shares[least]:.1%} of {least!r}"


def silence_in_words(shares: Mapping[str, float], silence: str) -> list[str]:
    """Say how much of the sound is digital silence, and warn where classes differ."""
    if not any(shares.values()):
        return []
    text = f"digital silence: {max(shares.values()):.1%} of the frames"
    if differ(shares):
        text = f"digital silence in classes: {extremes(shares)}"
    if silence == "missing":
        return [f"{text}; silence='missing' reads these frames as missing values"]
    if differ(shares):
        text += ": a classifier may tell classes by the silence"
    return [f"{text}; silence='missing' would read these frames as missing values"]


def facts_of(data: Dataset) -> dict[str, Any]:
    """Facts of a data set that was read."""
    facts, remarks = {}, list(data.remarks)
    if isinstance(data.X, list):
        letters = "".join(sorted(set().union(*data.X)))
        facts = lengths_of([len(x) for x in data.X]) | {"letters": letters}
    else:
        shares = idle_shares(data)
        X, missing = data.X, np.isnan(data.X.data)
        names = X.channel_names or [str(c) for c in range(X.n_rows)]
        facts = lengths_of(X.lengths) | {
            "channels": X.n_rows,
            "frames per second": X.sampling_rate or "unknown",
            "missing values %": round(100 * float(missing.mean()), 3) if missing.size else 0.0,
            "sequences with gaps": int(sum(np.isnan(x).any() for x in X)),
            "constant channels": [names[c] for c in constant_channels(bounds_of(X))],
        }
        facts |= idle_facts("frames without change", shares)
        if differ(shares):
            told = f"frames without any change, such as padding: {extremes(shares)}"
            remarks += [f"classes differ in {told}; a classifier may tell classes by it"]
    facts["split"] = "" if data.split is None else counts_of(data.split)
    return facts | {
        "classes": {} if data.y is None else counts_of(data.y),
        "groups": {} if data.groups is None else counts_of(data.groups),
        "duplicates": equals_in_words(equal_sequences(data), data.names, data.y),
        "bad": [problem.message for problem in data.skipped],
        "remarks": remarks,
    }


def idle_shares(data: Dataset) -> dict[str, float]:
    """Return the share of idle frames by class; by the empty name if there are no labels."""
    X, idle = data.X, idle_frames(data.X)
    labels = np.full(len(X), "") if data.y is None else np.asarray(data.y).astype(str)
    of_frame = np.repeat(labels, X.lengths)
    classes = np.unique(of_frame).tolist()
    return {label: float(idle[of_frame == label].mean()) for label in classes}


def idle_facts(what: str, shares: Mapping[str, float]) -> dict[str, Any]:
    """Return the shares by class in percent, if there are classes and any share."""
    if "" in shares or not any(shares.values()):
        return {}
    return {f"{what} %": {label: round(100 * share, 2) for label, share in shares.items()}}


def lengths_of(lengths: Any) -> dict[str, Any]:
    """Return the number of sequences, and their shortest, median and longest length."""
    lengths = np.asarray(lengths)
    if not lengths.size:
        return {"sequences": 0}
    low, middle, high = np.percentile(lengths, [0, 50, 100])
    return {"sequences": len(lengths), "shortest": float(low), "median length": float(middle),
            "longest": float(high)}  # fmt: skip


def counts_of(values: Any) -> dict[str, int]:
    """Return how often each value occurs, sorted by value."""
    return dict(sorted(Counter(map(str, np.asarray(values).tolist())).items()))


def equal_sequences(data: Any) -> list[list[int]]:
    """Return the places of sequences that are exactly equal, one list per set of equal ones."""
    contents = (
        x.encode() if isinstance(x, str) else np.ascontiguousarray(x).tobytes() for x in data.X
    )
    return equal_places(hashlib.sha256(content).digest() for content in contents)


def equal_places(digests: Iterable[bytes]) -> list[list[int]]:
    """Return the places of equal digests; an empty digest equals no other."""
    places = defaultdict(list)
    for i, digest in enumerate(digests):
        places[digest].append(i)
    return [found for digest, found in places.items() if digest and len(found) > 1]


def equals_in_words(sets: list[list[int]], names: Sequence[Any], labels: Any) -> list[str]:
    """Return one line per set of equal sequences, with their labels if the labels differ."""
    lines = []
    for places in sets:
        found = sorted({str(labels[i]) for i in places}) if labels is not None else []
        told = f" (different labels: {', '.join(found)})" if len(found) > 1 else ""
        lines.append(" = ".join(str(names[i]) for i in places) + told)
    return lines

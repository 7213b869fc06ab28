"""What is in a data set: counts, lengths, gaps, idle frames, classes, duplicates."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mvdfq._utils.errors import Sentence
from mvdfq.io.dataset import Dataset
from mvdfq.io.letters.residues import ALPHABETS
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
    # a run of equal frames ends with its sequence
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
        text += "" if silence == "missing" else ": a classifier may tell classes by the silence"
    does = "reads" if silence == "missing" else "would read"
    return [Sentence(text, "; ", {"silence": "missing"}, f" {does} these frames as missing values")]


def facts_of(data: Dataset) -> dict[str, Any]:
    """Facts of a data set that was read."""
    remarks = list(data.remarks)
    if isinstance(data.X, list):
        letters = "".join(sorted(set().union(*data.X)))
        facts = lengths_of([len(x) for x in data.X]) | {"letters": letters}
        remarks += letters_remarks(data)
    else:
        shares = frame_shares(data, idle_frames(data.X))
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
            unlike = f"frames without any change, such as padding: {extremes(shares)}"
            remarks += [f"classes differ in {unlike}; a classifier may tell classes by it"]
    facts["split"] = "" if data.split is None else counts_of(data.split)
    return facts | common_facts(data, equal_sequences(data), remarks)


def common_facts(data: Dataset, equal: list[list[int]], remarks: list[str]) -> dict[str, Any]:
    """Return the facts that sound has, too; `equal` holds the places of equal sequences."""
    duplicates = []
    for places in equal:
        labels = sorted({str(data.y[i]) for i in places}) if data.y is not None else []
        different = f" (different labels: {', '.join(labels)})" if len(labels) > 1 else ""
        duplicates.append(" = ".join(str(data.names[i]) for i in places) + different)
    facts: dict[str, Any] = {"classes": counts_of(data.y), "groups": counts_of(data.groups)}
    bad = [problem.message for problem in data.skipped]
    return facts | {"duplicates": duplicates, "bad": bad, "remarks": remarks}


def letters_remarks(data: Dataset) -> list[str]:
    """Offer both strands of DNA; say if classes hold different letters, such as DNA and RNA."""
    strings = data.X if isinstance(data.X, list) else []  # joined strands are no strings
    letters: dict[str, set[str]] = defaultdict(set)
    labels = [""] * len(strings) if data.y is None else data.y
    for text, label in zip(strings, labels, strict=False):
        letters[str(label)].update(text.upper())
    kinds: dict[str, list[str]] = defaultdict(list)
    for label, used in letters.items():
        kinds[_kind_of(used)].append(label)
    kinds.pop("", None)
    if len(kinds) > 1:
        listed = "; ".join(f"{kind} in {', '.join(kinds[kind][:5])}" for kind in kinds)
        return [f"classes differ in their letters: {listed}; a classifier may tell classes by it"]
    if "DNA and RNA" in kinds:
        return ["the letters are DNA and RNA, with T and with U, which are two letters"]
    if "DNA" not in kinds:
        return []
    remark = "the letters are DNA, read on the strand that the file holds; "
    why = "for peaks of ChIP-seq or ATAC-seq, not for promoters or splice sites"
    return [Sentence(remark, {"strands": "both"}, f" reads the other strand, too: {why}")]


def _kind_of(letters: set[str]) -> str:
    """Return what letters are; "" for letters of DNA and RNA that lack a base."""
    if not letters <= set(ALPHABETS["dna"]) | {"U"}:
        return "other letters"
    kinds = {"ACGTU": "DNA and RNA", "ACGT": "DNA", "ACGU": "RNA"}
    return next((kind for bases, kind in kinds.items() if set(bases) <= letters), "")


def frame_shares(data: Dataset, frames: np.ndarray) -> dict[str, float]:
    """Return the share of some frames, one flag per frame, by class."""
    before = np.append(0, frames.cumsum())
    return shares_of(data, np.diff(before[data.X.offsets]), data.X.lengths)


def shares_of(data: Dataset, part: np.ndarray, whole: np.ndarray) -> dict[str, float]:
    """Return the share of a part in the whole by class; by the empty name without labels."""
    labels = np.full(len(data), "") if data.y is None else np.asarray(data.y).astype(str)
    classes, codes = np.unique(labels, return_inverse=True)
    parts, wholes = np.bincount(codes, part).tolist(), np.bincount(codes, whole).tolist()
    rows = zip(classes.tolist(), parts, wholes, strict=True)
    return {label: part / whole for label, part, whole in rows if whole}


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
    sizes = map(float, np.percentile(lengths, [0, 50, 100]))
    names = ("shortest", "median length", "longest")
    return {"sequences": len(lengths), **dict(zip(names, sizes, strict=True))}


def counts_of(values: Any) -> dict[str, int]:
    """Return how often each value occurs, sorted by value; nothing for None."""
    if values is None:
        return {}
    return dict(sorted(Counter(map(str, np.asarray(values).tolist())).items()))


def equal_sequences(data: Any) -> list[list[int]]:
    """Return the places of sequences that are exactly equal, one list per set of equal ones."""
    contents = (x.encode() if isinstance(x, str) else np.asarray(x).tobytes() for x in data.X)
    return equal_places(hashlib.sha256(content).digest() for content in contents)


def equal_places(digests: Iterable[bytes]) -> list[list[int]]:
    """Return the places of equal digests; an empty digest equals no other."""
    places = defaultdict(list)
    for i, digest in enumerate(digests):
        places[digest].append(i)
    return [equal for digest, equal in places.items() if digest and len(equal) > 1]

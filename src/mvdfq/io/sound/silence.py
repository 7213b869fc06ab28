"""Frames without a signal: digital silence and padding, which may give classes away."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mvdfq.sequences import Sequences

__all__ = ["differ", "extremes", "idle_frames", "shares_of", "silence_in_words"]

# Equal frames in a row that are called idle. Sound that is not exactly silent has no two equal
# frames; sensors that round their values have a few.
RUN = 5
# Shares of classes that are further apart than this differ.
APART = 0.05


def idle_frames(X: Sequences) -> np.ndarray:
    """Return which frames hold no value, or are one of many equal frames in a row.

    Padding with zeros and digital silence are such frames, whether the reader keeps them or reads
    them as missing values. Sequences of symbols have none.
    """
    if not X.data.size or X.symbolic_mask.any():
        return np.zeros(X.data.shape[1], dtype=bool)
    is_new = np.ones(X.data.shape[1], dtype=bool)
    is_new[1:] = (X.data[:, 1:] != X.data[:, :-1]).any(axis=0)
    is_new[X.offsets[:-1][X.lengths > 0]] = True
    run = np.cumsum(is_new) - 1
    return (np.bincount(run)[run] >= RUN) | np.isnan(X.data).all(axis=0)


def shares_of(idle: np.ndarray, X: Sequences, y: Any) -> dict[str, float]:
    """Return the share of idle frames by class; by the empty name if there are no labels."""
    labels = np.full(len(X), "") if y is None else np.asarray(y).astype(str)
    of_frame = np.repeat(labels, X.lengths)
    return {
        label: float(idle[of_frame == label].mean())
        for label in np.unique(of_frame).tolist()
    }  # fmt: skip


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

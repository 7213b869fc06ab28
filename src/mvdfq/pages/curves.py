"""Curves and evidence of one sequence in few points."""

from itertools import pairwise

import numpy as np

__all__ = ["bin_edges", "curve", "letters_of", "sums"]


def bin_edges(n_frames: int, most: int) -> np.ndarray:
    """Return the edges of at most `most` bins of nearly equal numbers of frames."""
    n = max(min(n_frames, most), 1)
    return np.arange(n + 1) * n_frames // n


def sums(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return the sum of the last axis in every bin: the sum of all bins stays the same."""
    if not values.shape[-1]:
        return np.zeros((*values.shape[:-1], 1))
    return np.add.reduceat(values, edges[:-1], axis=-1)


def curve(row: np.ndarray, most: int) -> list[float | None]:
    """Return a row in at most `most` points; a longer row as the extremes of its pieces.

    Every piece gives its lowest and its highest value, in the order of time, so that a short peak
    stays visible. None marks a missing value.
    """
    if len(row) <= most:
        return [_plain(value) for value in row.tolist()]
    edges = bin_edges(len(row), most // 2)
    points: list[float | None] = []
    for a, b in pairwise(edges.tolist()):
        piece = row[a:b]
        known = np.flatnonzero(~np.isnan(piece))
        if not known.size:
            points += [None, None]
            continue
        low, high = known[piece[known].argmin()], known[piece[known].argmax()]
        points += [float(piece[i]) for i in sorted((low, high))]
    return points


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def letters_of(row: np.ndarray) -> str | None:
    """Return a row of letters as text; None if the symbols are not letters."""
    codes = np.where(np.isnan(row), ord("?"), row).astype(int)
    text = "".join(map(chr, codes.tolist())) if codes.min(initial=32) >= 32 else ""
    return text if text.isprintable() and text else None

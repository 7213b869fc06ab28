"""Neighbouring frames taken together: blocks, their averages, their means and variances."""

import numpy as np

__all__ = ["averaged", "block_starts", "mean_and_variance"]


def block_starts(n_frames: int, n_blocks: int) -> np.ndarray:
    """Return where blocks of nearly equal length begin: 0, 2, 5, 7 for 10 frames, 4 blocks."""
    return np.arange(n_blocks) * n_frames // n_blocks


def averaged(x: np.ndarray, n_blocks: int) -> np.ndarray:
    """Return the mean frame of each block; a shorter sequence stays as it is."""
    n_frames = x.shape[1]
    if n_frames <= n_blocks:
        return x
    starts = block_starts(n_frames, n_blocks)
    return np.add.reduceat(x, starts, axis=1) / np.diff(starts, append=n_frames)


def mean_and_variance(x: np.ndarray) -> np.ndarray:
    """Return the means of all rows, then their variances; NaN for a row that holds only NaN."""
    known = ~np.isnan(x)
    with np.errstate(invalid="ignore"):  # 0 / 0 gives this NaN
        mean = np.where(known, x, 0.0).sum(axis=1) / known.sum(axis=1)
        squares = np.where(known, (x - mean[:, None]) ** 2, 0.0)
        return np.concatenate([mean, squares.sum(axis=1) / known.sum(axis=1)])

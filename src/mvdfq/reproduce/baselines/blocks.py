"""Neighbouring frames taken together: blocks, their averages, their means and variances."""

import numpy as np

from mvdfq.sequences.summary import mean_and_variance

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

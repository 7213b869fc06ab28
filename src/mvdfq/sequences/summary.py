"""A sequence as one short vector that ignores time."""

import numpy as np

__all__ = ["mean_and_variance"]


def mean_and_variance(x: np.ndarray) -> np.ndarray:
    """Return the means of all rows, then their variances; NaN for a row that holds only NaN."""
    known = ~np.isnan(x)
    with np.errstate(invalid="ignore"):  # 0 / 0 gives this NaN
        mean = np.where(known, x, 0.0).sum(axis=1) / known.sum(axis=1)
        squares = np.where(known, (x - mean[:, None]) ** 2, 0.0)
        return np.concatenate([mean, squares.sum(axis=1) / known.sum(axis=1)])

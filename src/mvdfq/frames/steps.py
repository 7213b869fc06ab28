"""Questions to a chain of transformers: their steps, reach and channel shares.

A part of a classifier is a transformer, a scikit-learn pipeline of parts, None or "passthrough".
Only `steps_of` knows this.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

__all__ = ["UnknownShares", "combined_reach", "reach_of", "shares_of", "steps_of"]


class UnknownShares(AttributeError):
    """A transformer does not say which channels its rows are made of."""


def steps_of(*parts: Any) -> list[Any]:
    """Return the transformers that the parts apply, in the order of use.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from mvdfq import Delta, Smooth
    >>> steps_of(make_pipeline(Smooth(9), "passthrough"), None, Delta())
    [Smooth(window=9), Delta()]
    """
    steps: list[Any] = []
    for part in parts:
        if isinstance(part, Pipeline):
            steps += steps_of(*(step for _, step in part.steps))
        elif part is not None and not isinstance(part, str):
            steps.append(part)
    return steps


def reach_of(*parts: Any) -> int | None:
    """Return how many frames on either side an output frame depends on; None means all frames.

    A transformer without `reach` may read all frames, so its reach is None.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from mvdfq import Centre, Delta, Smooth
    >>> reach_of(make_pipeline(Smooth(9), Delta())), reach_of(Smooth(9), Centre())
    (5, None)
    """
    steps = steps_of(*parts)
    return combined_reach((step.reach() if hasattr(step, "reach") else None for step in steps), sum)


def combined_reach(reaches: Iterable[int | None], how: Any) -> int | None:
    """Return the sum or the maximum of several reaches; None if one of them is None."""
    found = list(reaches)
    return None if None in found else how(found)


def shares_of(parts: Iterable[Any], n_channels: int) -> np.ndarray:
    """Return the share of each of `n_channels` channels in each row that the parts make.

    The shares of a chain of transformers are the product of their matrices.
    """
    shares = np.eye(n_channels)
    for step in steps_of(*parts):
        shares = _shares_of_step(step, len(shares)) @ shares
    return shares


def _shares_of_step(step: Any, n_rows_in: int) -> np.ndarray:
    name = type(step).__name__
    if not hasattr(step, "channel_shares"):
        raise UnknownShares(
            f"{name} does not say which channels its rows are made of, so importance and "
            f"evidence by channel are not known; use row_importance_ and by_row, or give {name} "
            f"a method channel_shares."
        )
    shares = np.asarray(step.channel_shares(), dtype=float)
    sums_to_one = shares.ndim == 2 and np.allclose(shares.sum(axis=1), 1) and (shares >= 0).all()
    if not sums_to_one or shares.shape[1] != n_rows_in:
        raise ValueError(
            f"{name}.channel_shares() must return an array of shape (n_rows, {n_rows_in}) with "
            f"non-negative rows that sum to 1, got shape {shares.shape}."
        )
    return shares

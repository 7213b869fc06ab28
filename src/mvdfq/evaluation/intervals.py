"""Confidence intervals of shares: over sequences, or over groups of sequences."""

from typing import Any

import numpy as np
from scipy.stats import norm, t


def share_interval(right: Any, groups: Any = None, repeats: int = 1) -> tuple[float, float]:
    r"""Return the 95 % confidence interval of the share of right predictions.

    Without groups, Wilson's interval of the share :math:`p` of :math:`n` sequences:

    .. math:: \frac{p + z^2 / 2n \pm z \sqrt{p (1 - p) / n + z^2 / 4n^2}}{1 + z^2 / n}

    Sequences of one group are alike, so with :math:`G` groups the number of groups decides. Group
    :math:`g` has :math:`r_g` right predictions of :math:`n_g`, and the variance of the share is

    .. math:: v = \frac{G}{G - 1} \sum_g (r_g - p\, n_g)^2 \, \Big/ \Big(\sum_g n_g\Big)^2 .

    The interval is Wilson's for as many independent sequences as have this variance,
    :math:`p (1 - p) / v` and at most :math:`n`, with the quantile of the t distribution with
    :math:`G - 1` degrees of freedom in place of :math:`z`. For many groups it is
    :math:`p \pm t \sqrt v`; it stays within 0 and 1 and is never a single point.

    Parameters
    ----------
    right : array-like of bool of shape (n_predictions,)
        Which predictions are right.

    groups : array-like of shape (n_predictions,), default=None
        The group of the sequence of each prediction. One group alone counts as no groups.

    repeats : int, default=1
        How often every sequence was predicted: further predictions of the same sequence do not
        make the interval smaller.

    Returns
    -------
    low, high : float
        The bounds; the share of right predictions lies between them.

    Examples
    --------
    >>> from mvdfq.evaluation.intervals import share_interval
    >>> right = [True] * 8 + [False] * 2
    >>> [round(bound, 3) for bound in share_interval(right)]
    [0.49, 0.943]
    >>> [round(bound, 3) for bound in share_interval(right, [1, 1, 1, 1, 1, 2, 2, 2, 2, 2])]
    [0.015, 0.999]
    """
    right = np.asarray(right, dtype=float)
    p, n, quantile = float(right.mean()), len(right) / repeats, float(norm.ppf(0.975))
    names, codes = np.unique([] if groups is None else groups, return_inverse=True)
    if len(names) > 1:
        surplus = np.bincount(codes, weights=right - p)  # r_g - p n_g of every group
        variance = len(names) / (len(names) - 1) * np.sum(surplus**2) / len(right) ** 2
        n = min(n, p * (1 - p) / variance) if variance > 0 and 0 < p < 1 else n
        quantile = float(t.ppf(0.975, len(names) - 1))
    return _wilson(p, n, quantile)


def _wilson(p: float, n: float, z: float) -> tuple[float, float]:
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    # rounding must not put the share outside of its interval
    return float(max(min(centre - half, p), 0.0)), float(min(max(centre + half, p), 1.0))


def interval_name(n_sequences: int, groups: Any = None) -> str:
    """Return what an interval of `share_interval` rests on, in words.

    Examples
    --------
    >>> interval_name(90), interval_name(90, ["a", "b", "a"])
    ('Wilson interval over 90 sequences', 't interval over 2 groups')
    """
    n_groups = 0 if groups is None else len(np.unique(groups))
    if n_groups > 1:
        return f"t interval over {n_groups} groups"
    return f"Wilson interval over {n_sequences} sequence{'' if n_sequences == 1 else 's'}" + (
        " of one group" if n_groups else ""
    )

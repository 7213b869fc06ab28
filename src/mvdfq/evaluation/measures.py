"""Intervals of shares, scores of probabilities, and how well decision values rank two classes."""

from typing import Any

import numpy as np
from scipy.stats import norm, t
from sklearn.metrics import average_precision_score, roc_auc_score

from mvdfq._utils.short import counted


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

    `right` tells which predictions are right, `groups` the group of the sequence of each
    prediction; one group alone counts as no groups. `repeats` is how often every sequence was
    predicted: further predictions of the same sequence do not make the interval smaller.

    Examples
    --------
    >>> from mvdfq.evaluation.measures import share_interval
    >>> right = [True] * 8 + [False] * 2
    >>> [round(bound, 3) for bound in share_interval(right)]
    [0.49, 0.943]
    >>> [round(bound, 3) for bound in share_interval(right, [1, 1, 1, 1, 1, 2, 2, 2, 2, 2])]
    [0.015, 0.999]
    """
    right = np.asarray(right, dtype=float)
    p, n, z = float(right.mean()), len(right) / repeats, float(norm.ppf(0.975))
    names, codes = np.unique([] if groups is None else groups, return_inverse=True)
    if len(names) > 1:
        # like sequences of a group tell less than as many sequences that are independent
        surplus = np.bincount(codes, weights=right - p)  # r_g - p n_g of every group
        variance = len(names) / (len(names) - 1) * np.sum(surplus**2) / len(right) ** 2
        n = min(n, p * (1 - p) / variance) if variance > 0 and 0 < p < 1 else n
        z = float(t.ppf(0.975, len(names) - 1))
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    # rounding must not put the share outside of its interval
    return float(max(min(centre - half, p), 0.0)), float(min(max(centre + half, p), 1.0))


def interval_name(n_sequences: int, groups: Any = None) -> str:
    """Return what an interval of `share_interval` rests on, in words.

    >>> interval_name(90), interval_name(90, ["a", "b", "a"])
    ('Wilson interval over 90 sequences', 't interval over 2 groups')
    """
    n_groups = 0 if groups is None else len(np.unique(groups))
    if n_groups > 1:
        return f"t interval over {n_groups} groups"
    ending = " of one group" if n_groups else ""
    return f"Wilson interval over {counted(n_sequences, 'sequence')}{ending}"


def honesty_of(probabilities: Any, codes: Any) -> dict[str, float | None]:
    """Return log loss and expected calibration error; None without probabilities.

    The calibration error is the mean over cases of the difference between mean probability and
    accuracy, in ten bins of equal width by the largest probability.

    >>> round(honesty_of(np.array([[0.85, 0.15], [0.81, 0.19]]), [0, 1])["calibration_error"], 6)
    0.33
    """
    if probabilities is None:
        return {"log_loss": None, "calibration_error": None}
    sure, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == codes
    bins = np.minimum((sure * 10).astype(int), 9)
    gaps = np.abs(np.bincount(bins, sure - right)) / len(codes)
    loss = float(log_losses(probabilities, codes).mean())
    return {"log_loss": loss, "calibration_error": float(gaps.sum())}


def log_losses(probabilities: np.ndarray, codes: Any) -> np.ndarray:
    """Return the log loss of every case; a class that training lacks has the probability 0."""
    return -np.log(np.maximum(probabilities[np.arange(len(codes)), codes], 1e-15))


def ranking_of(truth: Any, scores: Any) -> dict[str, float | None]:
    """Return area under the ROC curve, average precision and ROC50; None without both classes.

    >>> ranking_of([True, False], [2.0, 1.0])
    {'roc_auc': 1.0, 'average_precision': 1.0, 'roc50': 1.0}
    """
    measures = {"roc_auc": roc_auc_score, "average_precision": average_precision_score}
    measures["roc50"] = roc50
    if scores is None or len(np.unique(truth)) < 2:
        return dict.fromkeys(measures)
    return {name: float(measure(truth, scores)) for name, measure in measures.items()}


def roc50(truth: Any, scores: Any, n: int = 50) -> float:
    r"""Area under the ROC curve up to the fiftieth false positive, as a share of the largest area.

    .. math:: \frac{1}{n P} \sum_{i=1}^{n} t_i

    where :math:`t_i` is the number of the :math:`P` positives that rank above the i-th negative.
    `truth` tells which members are positive; a higher score means more positive. Equal scores count
    as the average over all orders of the members with this score. All negatives count if there are
    fewer than `n`. The area is 1 if all positives rank above all negatives.

    Examples
    --------
    >>> from mvdfq.evaluation import roc50
    >>> roc50([True, False, True], [3, 2, 1])
    0.5
    """
    truth, scores = np.asarray(truth, dtype=bool), np.asarray(scores)
    if truth.all() or not truth.any():
        got = f"got {int(truth.sum())} positives and {int((~truth).sum())} negatives"
        raise ValueError(f"truth must hold positives and negatives, {got}.")
    levels, level = np.unique(-scores, return_inverse=True)
    positives, negatives = (np.bincount(level[p], minlength=len(levels)) for p in (truth, ~truth))
    above = np.cumsum(positives) - positives
    block = np.repeat(np.arange(len(levels)), negatives)[:n]
    place = np.arange(len(block)) - (np.cumsum(negatives) - negatives)[block] + 1
    # If b negatives and a positives have the same score, a j / (b + 1) of these positives rank
    # above the j-th of these negatives, on average over all orders.
    above_each = above[block] + positives[block] * place / (negatives[block] + 1)
    return float(above_each.mean() / truth.sum())

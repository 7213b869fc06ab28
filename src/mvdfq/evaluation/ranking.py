"""How well decision values rank the members of two classes."""

from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score


def ranking_of(truth: Any, scores: Any) -> dict[str, float | None]:
    """Return area under the ROC curve, average precision and ROC50; None without both classes.

    >>> ranking_of([True, False], [2.0, 1.0])
    {'roc_auc': 1.0, 'average_precision': 1.0, 'roc50': 1.0}
    """
    measures = {
        "roc_auc": roc_auc_score,
        "average_precision": average_precision_score,
        "roc50": roc50,
    }
    if scores is None or len(np.unique(truth)) < 2:
        return dict.fromkeys(measures)
    return {name: float(measure(truth, scores)) for name, measure in measures.items()}


def roc50(truth: Any, scores: Any, n: int = 50) -> float:
    r"""Area under the ROC curve up to the fiftieth false positive, as a share of the largest area.

    .. math:: \frac{1}{n P} \sum_{i=1}^{n} t_i

    where :math:`t_i` is the number of the :math:`P` positives that rank above the i-th negative.

    Parameters
    ----------
    truth : array-like of bool
        Which members are positive.

    scores : array-like of float
        A higher score means more positive. Equal scores count as the average over all orders of
        the members with this score.

    n : int, default=50
        Number of false positives; all negatives if there are fewer negatives.

    Returns
    -------
    area : float
        1 if all positives rank above all negatives.

    Examples
    --------
    >>> from mvdfq.evaluation import roc50
    >>> roc50([True, False, True], [3, 2, 1])
    0.5
    """
    truth, scores = np.asarray(truth, dtype=bool), np.asarray(scores)
    if truth.all() or not truth.any():
        raise ValueError(
            f"truth must hold positives and negatives, got {int(truth.sum())} positives and "
            f"{int((~truth).sum())} negatives."
        )
    levels, level = np.unique(-scores, return_inverse=True)
    positives, negatives = (np.bincount(level[p], minlength=len(levels)) for p in (truth, ~truth))
    above = np.cumsum(positives) - positives
    block = np.repeat(np.arange(len(levels)), negatives)[:n]
    place = np.arange(len(block)) - (np.cumsum(negatives) - negatives)[block] + 1
    # If b negatives and a positives have the same score, a j / (b + 1) of these positives rank
    # above the j-th of these negatives, on average over all orders.
    found = above[block] + positives[block] * place / (negatives[block] + 1)
    return float(found.mean() / truth.sum())

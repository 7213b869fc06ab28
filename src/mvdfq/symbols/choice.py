"""Choose the number of bins by a small cross-validation on part of the training data."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.utils import check_random_state

from mvdfq.sequences.check import check_collection

__all__ = ["choose_n_bins"]


def choose_n_bins(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    candidates: Sequence[int] = (8, 16, 32, 64),
    parameter: str | None = None,
    max_sequences: int = 300,
    random_state: Any = 0,
) -> int:
    """Choose the smallest number of bins within one standard error of the best.

    Every candidate is scored by stratified 3-fold cross-validation on the same sequences: at most
    `max_sequences` sequences of the training set, with classes in proportion. Pass training data
    only. Cost: ``3 * len(candidates)`` fits of the estimator.

    Parameters
    ----------
    estimator : estimator
        A classifier with a parameter for the number of bins, such as a pipeline of
        `DirectQuantizer`, a kernel and an SVM. The estimator is cloned, not changed.

    X : list of array-like of shape (n_channels, n_timepoints)
        Training sequences.

    y : array-like of shape (n_sequences,)
        Classes of the sequences.

    candidates : sequence of int, default=(8, 16, 32, 64)
        Numbers of bins to try, each at least 2.

    parameter : str, default=None
        Name of the parameter, for example ``"directquantizer__n_bins"``. None means the only
        parameter called ``n_bins``, also inside a pipeline.

    max_sequences : int, default=300
        Largest number of sequences to use, drawn at random.

    random_state : int, RandomState or None, default=0
        Seed of the draw and of the folds.

    Returns
    -------
    n_bins : int
        The chosen number of bins.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> from mvdfq.symbols import DirectQuantizer, choose_n_bins
    >>> means = FunctionTransformer(lambda symbols: [x.mean(axis=1) for x in symbols])
    >>> X = [np.full((1, 5), value) for value in range(20)]
    >>> y = np.repeat([0, 1], 10)
    >>> model = make_pipeline(DirectQuantizer(), means, LogisticRegression())
    >>> choose_n_bins(model, X, y, candidates=(2, 8))
    2
    """
    check_collection(X)
    y = np.asarray(y)
    if len(X) != len(y):
        raise ValueError(f"y must have {len(X)} labels, one per sequence, got {len(y)}.")
    if not len(candidates):
        raise ValueError("candidates must hold at least one number of bins, got an empty sequence.")
    if not all(_is_whole(b) and b >= 2 for b in candidates):
        raise ValueError(f"candidates must be whole numbers >= 2, got {candidates!r}.")
    parameter = parameter or _bins_parameter(estimator)
    random = check_random_state(random_state)
    chosen = _in_proportion(y, max_sequences, random)
    X = X[chosen] if hasattr(X, "shape") else [X[i] for i in chosen]
    folds = StratifiedKFold(3, shuffle=True, random_state=random.randint(2**31))
    scores = {
        b: cross_val_score(clone(estimator).set_params(**{parameter: b}), X, y[chosen], cv=folds)
        for b in sorted(candidates)
    }
    best = max(scores.values(), key=np.mean)
    margin = np.std(best, ddof=1) / np.sqrt(best.size)
    return next(b for b, values in scores.items() if values.mean() >= best.mean() - margin)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral)


def _bins_parameter(estimator: Any) -> str:
    """Return the name of the only parameter of the estimator that is called ``n_bins``."""
    if not hasattr(estimator, "get_params"):
        raise TypeError(f"estimator must be a classifier, got {type(estimator).__name__}.")
    names = [name for name in estimator.get_params() if name.split("__")[-1] == "n_bins"]
    if len(names) != 1:
        raise ValueError(
            f"The estimator must have one parameter called n_bins, got {len(names)}: {names}; "
            f"pass parameter='...' with the name of the parameter."
        )
    return names[0]


def _in_proportion(y: np.ndarray, most: int, random: np.random.RandomState) -> np.ndarray:
    """Return the indices of at most `most` random members of `y`, classes in proportion."""
    order = random.permutation(len(y))
    places = np.empty(len(y))
    for label in np.unique(y):
        members = order[y[order] == label]
        places[members] = (np.arange(len(members)) + 0.5) / len(members)
    return np.sort(np.argsort(places, kind="stable")[:most])

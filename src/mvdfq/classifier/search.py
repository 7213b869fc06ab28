"""The choice of kernel, bins and other parameters by inner validation."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import check_is_fitted

from mvdfq._utils.progress import Progress
from mvdfq.classifier.estimator import CallbackSupportMixin, SequenceClassifier, with_callbacks


def _of_best(name: str) -> Callable[[Any, Any], np.ndarray]:
    """Return a method that asks the best candidate, with the documentation of its method."""

    @wraps(getattr(SequenceClassifier, name))
    def method(self: Any, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return getattr(self.best_estimator_, name)(X)

    return method


class SequenceClassifierCV(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Choose the parameters of a `SequenceClassifier` by its inner cross-validation.

    Like scikit-learn's `GridSearchCV`, but every kernel matrix is computed once, not once per fold
    and `C`. Parts that learn without labels are fitted on all sequences that `fit` is given;
    machines are fitted inside each fold. All candidates use the same folds.

    Parameters
    ----------
    estimator : SequenceClassifier, default=None
        The classifier to start from; None means ``SequenceClassifier(C="auto")``.
    param_grid : dict or list of dict, default=None
        Values to try, by parameter, as in `GridSearchCV`: ``{"kernel": ["spectrum", "sssk"],
        "symbols": [DirectQuantizer(4), DirectQuantizer(8)]}``. None tries only the classifier
        itself.

    Attributes
    ----------
    best_estimator_ : SequenceClassifier
        The best candidate, fitted on all sequences.
    best_params_, best_score_ : dict, float
        Its chosen parameters, with `C`, and its accuracy in the inner folds.
    cv_results_ : dict of list
        ``params`` of every candidate, ``mean_test_score`` and ``std_test_score`` over the folds.
    classes_, n_features_in_ : ndarray, int
        As in `SequenceClassifier`.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> start = mvdfq.SequenceClassifier("mvdfqm-spectrum", C="auto")
    >>> grid = {"kernel": [mvdfq.Spectrum(k) for k in (1, 3, 6)]}
    >>> mvdfq.SequenceClassifierCV(start, grid).fit(X, y).best_params_
    {'kernel': Spectrum(k=1), 'C': 1.0}
    """

    def __init__(
        self,
        estimator: SequenceClassifier | None = None,
        param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Fit every candidate once and keep the best; arguments as in `SequenceClassifier.fit`."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)  # if the new search breaks off, the last must not give labels
        start = SequenceClassifier(C="auto") if self.estimator is None else self.estimator
        results: dict[str, list[Any]] = {"params": [], "mean_test_score": [], "std_test_score": []}
        best: Any = None
        candidates = self._candidates()
        with Progress.of(self, len(candidates), verbose=False) as progress:
            for params in candidates:
                candidate = clone(start).set_params(**clone(params, safe=False))
                with progress.fit_of(candidate):
                    candidate.fit(X, y, sample_weight, groups)
                if np.isnan(candidate.validation_score_):
                    wanted = "a class with two members, and two groups if groups are given"
                    hint = "add sequences or leave out groups"
                    raise ValueError(f"The search needs {wanted}, to make inner folds; {hint}.")
                results["params"].append({**params, "C": candidate.C_})
                results["mean_test_score"].append(candidate.validation_score_)
                results["std_test_score"].append(candidate.validation_std_)
                if best is None or candidate.validation_score_ > best.validation_score_:
                    best, best_params = candidate, results["params"][-1]
        self.best_estimator_: SequenceClassifier = best
        self.best_params_, self.best_score_ = best_params, best.validation_score_
        self.cv_results_, self.classes_ = results, best.classes_
        return self

    def _candidates(self) -> list[dict[str, Any]]:
        """Return combinations of parameters; all values of `C` are one candidate, one matrix."""
        grids = self.param_grid or {}
        candidates = []
        for grid in [grids] if isinstance(grids, Mapping) else grids:
            values = dict(grid)
            if isinstance(values.get("C"), Iterable):
                # fit itself compares all penalties on the one matrix
                values["C"] = ["auto"] if "auto" in list(values["C"]) else [values["C"]]
            candidates += list(ParameterGrid(values))
        return candidates

    predict = _of_best("predict")
    decision_function = _of_best("decision_function")
    predict_proba = _of_best("predict_proba")

    @property
    def n_features_in_(self) -> int:
        """Number of columns, if `fit` was given a 2-D array."""
        check_is_fitted(self)
        return self.best_estimator_.n_features_in_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = SequenceClassifier().__sklearn_tags__().input_tags
        return tags

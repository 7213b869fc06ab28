"""What all baselines share: how they read sequences, and the road from vectors to classes."""

from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mvdfq._utils.checks import check_whole
from mvdfq.machines.svm import Problems
from mvdfq.machines.validation import Trainer
from mvdfq.reproduce.baselines.machines import fit_radial
from mvdfq.sequences.containers import Sequences, check_sequences, refuse

__all__ = ["Baseline", "VectorClassifier", "needed", "trainer_of", "whole_frames"]


class Baseline(ClassifierMixin, BaseEstimator):
    """Base of the classifiers; subclasses fill in `_learn` and `_scores`.

    Whatever is learned is learned in `fit`, from the training sequences alone.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.

    n_channels_in_ : int
        Number of channels seen in `fit`.

    Examples
    --------
    >>> from mvdfq.reproduce.baselines import Baseline, GMM
    >>> isinstance(GMM(), Baseline)
    True
    """

    #: Whether a NaN is left out of the computation; if not, it is refused.
    takes_missing = True
    #: A package that need not be there otherwise.
    needs = ""

    def fit(self, X: Any, y: Any, groups: Any = None) -> Any:
        """Learn to tell the classes apart.

        Parameters
        ----------
        X : list of array-like of shape (n_channels, n_timepoints)
            Training sequences, or whatever else `mvdfq.check_sequences` takes.

        y : array-like of shape (n_sequences,)
            Their labels: text or whole numbers.

        groups : array-like of shape (n_sequences,), default=None
            Sequences of one group (a speaker, an album) are kept together by the inner
            validation, where there is any.

        Returns
        -------
        self : Baseline
            The fitted classifier.
        """
        # If this fit is broken off, what is left of the last must not answer.
        self.__dict__.pop("classes_", None)
        X = self._read(X)
        y, groups = _check_targets(X, y, groups)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"At least two classes are needed, y holds {len(classes)} class.")
        self.n_channels_in_ = X.n_rows
        self._learn(X, codes, groups)
        self.classes_ = classes
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return how much speaks for each class.

        Parameters
        ----------
        X : list of array-like of shape (n_channels, n_timepoints)
            Sequences with the channels seen in `fit`.

        Returns
        -------
        decision : ndarray of shape (n_sequences,) or (n_sequences, n_classes)
            The largest wins. Of two classes: what speaks for the second, less what speaks
            for the first.
        """
        check_is_fitted(self, "classes_")
        scores = self._scores(self._read(X, self.n_channels_in_))
        return scores if scores.shape[1] > 2 else scores[:, 1] - scores[:, 0]

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each sequence.

        Parameters
        ----------
        X : list of array-like of shape (n_channels, n_timepoints)
            Sequences with the channels seen in `fit`.

        Returns
        -------
        labels : ndarray of shape (n_sequences,)
            The class that most speaks for.
        """
        decision = self.decision_function(X)
        return self.classes_[Problems(len(self.classes_), "ovo").predicted(decision)]

    def _learn(self, X: Sequences, y: np.ndarray, groups: np.ndarray | None) -> None:
        """Learn from checked sequences and classes 0, 1, ...."""
        raise NotImplementedError

    def _scores(self, X: Sequences) -> np.ndarray:
        """Return what speaks for each class, (n_sequences, n_classes)."""
        raise NotImplementedError

    def _check(self, X: Sequences) -> None:
        """Refuse parameters, and sequences, that make no sense to this method."""

    def _shortest(self) -> tuple[int, str]:
        """How many frames a sequence needs, and what to do about shorter ones."""
        return 1, "leave it out"

    def _read(self, X: Any, n_channels: int | None = None) -> Sequences:
        """Check the sequences; whatever cannot be described is refused here."""
        X = check_sequences(X, n_channels=n_channels)
        name = type(self).__name__
        for j in np.flatnonzero(X.symbolic_mask):
            raise ValueError(
                f"{name} needs numbers, but channel {j} holds symbols; "
                f"mvdfq.SequenceClassifier takes both."
            )
        if not self.takes_missing:
            hint = f"{name} needs every value, fill it in first"
            refuse(np.isnan(X.data), X, "is missing (NaN)", hint)
        self._check(X)
        shortest, way_out = self._shortest()
        for i in np.flatnonzero(X.lengths < shortest):
            raise ValueError(
                f"Sequence {i} has {X.lengths[i]} frames, {name} needs at least {shortest}; "
                f"{way_out}."
            )
        return X

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = self.takes_missing
        return tags


class VectorClassifier(Baseline):
    r"""Describe every sequence by one vector, and train machines on the vectors.

    Vectors are standardized over the training part; the machines are support vector machines,
    one for each pair of classes, with the kernel

    .. math:: k(v, w) = \exp(-\gamma \lVert v - w \rVert^2)

    whose :math:`\gamma` and penalty `C` do best in inner validation. Subclasses give
    `_describe`, or `_vectors` where sequences cannot be described one by one.

    Parameters
    ----------
    cv : int, default=5
        Folds of the inner validation; fewer if a class is smaller.

    random_state : int, default=0
        Seed of the folds.

    Attributes
    ----------
    C_, gamma_ : float
        What was chosen.

    validation_score_ : float
        Accuracy in the inner folds of what was chosen; NaN if a class is too small to be split.

    machine_ : RadialMachine
        The machines.

    Examples
    --------
    >>> import mvdfq
    >>> from mvdfq.reproduce.baselines import VectorClassifier
    >>> class Lengths(VectorClassifier):
    ...     def _describe(self, x):
    ...         return [x.shape[1]]
    >>> X = [[0.0] * n for n in (3, 4, 5, 30, 40, 50)]
    >>> Lengths().fit(X, list("sssttt")).predict([[0.0] * 33])
    array(['t'], dtype='<U1')
    """

    def __init__(self, *, cv: int = 5, random_state: int | None = 0) -> None:
        self.cv = cv
        self.random_state = random_state

    def _describe(self, x: np.ndarray) -> Any:
        """Return the vector of one sequence; NaN in it says that too little is there."""
        raise NotImplementedError

    def _learn(self, X: Sequences, y: np.ndarray, groups: np.ndarray | None) -> None:
        trainer = trainer_of(y, groups, self.cv, self.random_state)
        self.machine_ = fit_radial(self._fit_vectors(X), trainer)
        self.C_, self.gamma_ = self.machine_.C, self.machine_.gamma
        self.validation_score_ = self.machine_.score

    def _scores(self, X: Sequences) -> np.ndarray:
        return self.machine_.scores(self._vectors(X))

    def _fit_vectors(self, X: Sequences) -> np.ndarray:
        """Return the vectors of the training sequences; subclasses may learn from them here."""
        return self._vectors(X)

    def _vectors(self, X: Sequences) -> np.ndarray:
        vectors = np.array([self._describe(x.astype(float)) for x in X], dtype=float)
        for i in np.flatnonzero(~np.isfinite(vectors).all(axis=1)):
            raise ValueError(
                f"Sequence {i} misses too much (NaN) for {type(self).__name__}; "
                f"leave it out or fill it in first."
            )
        return vectors


def trainer_of(
    y: np.ndarray, groups: np.ndarray | None, cv: int, random_state: int | None
) -> Trainer:
    """Return how machines are trained: one for each pair of classes, every sequence alike."""
    check_whole(cv, "cv", at_least=2)
    seed = check_random_state(random_state).randint(2**31)
    problems = Problems(int(y.max()) + 1, "ovo")
    return Trainer(problems, y, np.ones(len(y)), groups, cv, seed)


def whole_frames(X: Sequences) -> tuple[np.ndarray, np.ndarray]:
    """Frames without NaN, one a line, and the sequence of each; none may be without any."""
    whole = ~np.isnan(X.data).any(axis=0)
    owners = np.repeat(np.arange(len(X)), X.lengths)[whole]
    for i in np.flatnonzero(np.bincount(owners, minlength=len(X)) == 0):
        raise ValueError(f"Sequence {i} has no frame without missing values; leave it out.")
    return np.ascontiguousarray(X.data[:, whole].T), owners


def needed(module: str, package: str, method: str) -> Any:
    """Import what only some methods need, or say how to install it."""
    try:
        return import_module(module)
    except ImportError:
        raise ImportError(
            f"{method} needs {package}, which is not installed; pip install {package}."
        ) from None


def _check_targets(X: Sequences, y: Any, groups: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Check labels and groups; return them as arrays."""
    y = column_or_1d(y)
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    groups = None if groups is None else column_or_1d(groups)
    for name, given in [("y", y), ("groups", groups)]:
        if given is not None and len(given) != len(X):
            raise ValueError(f"X holds {len(X)} sequences, {name} {len(given)} entries.")
    return y, groups

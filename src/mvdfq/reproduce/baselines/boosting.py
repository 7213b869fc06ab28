"""Boosted trees on segments: what a few seconds are like, and a vote."""

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from mvdfq._utils.checks import check_whole
from mvdfq.frames import Delta
from mvdfq.reproduce.baselines.base import Baseline
from mvdfq.reproduce.baselines.blocks import block_starts, mean_and_variance
from mvdfq.sequences import Sequences

__all__ = ["BoostedAggregates"]


class BoostedAggregates(Baseline):
    r"""Boost small trees on the means and variances of segments.

    A sequence is cut into segments of about `segment` frames. A segment is described by mean
    and variance of every channel and of its slope, and classified by AdaBoost; the sequence
    gets the class with the largest sum over its segments,

    .. math:: f_c(x) = \sum_s \log p(c \mid s).

    After Bergstra et al. [1]_, with the channels at hand for frame features. Fitting costs
    O(:math:`T R S \log S`) for :math:`T` trees on :math:`S` segments.

    Parameters
    ----------
    segment : int, default=200
        Frames of a segment; a shorter sequence is one segment.

    n_estimators : int, default=100
        Number of trees.

    max_depth : int, default=8
        Questions asked by a tree, one after the other. A tree without error on the training
        segments ends the boosting: where there are few, take fewer.

    learning_rate : float, default=1.0
        How much each tree has to say.

    random_state : int, default=0
        Seed of the trees.

    Attributes
    ----------
    booster_ : AdaBoostClassifier
        The trees.

    References
    ----------
    .. [1] J. Bergstra, N. Casagrande, D. Erhan, D. Eck and B. Kegl, "Aggregate features and
       AdaBoost for music classification", Machine Learning 65, 473-484, 2006.

    Examples
    --------
    >>> import mvdfq
    >>> from mvdfq.reproduce.baselines import BoostedAggregates
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> X_test, y_test = mvdfq.load_japanese_vowels(split="test")
    >>> clf = BoostedAggregates(segment=10, max_depth=3).fit(X, y)
    >>> clf.score(X_test, y_test) > 0.8
    True
    """

    takes_missing = False

    def __init__(
        self,
        segment: int = 200,
        *,
        n_estimators: int = 100,
        max_depth: int = 8,
        learning_rate: float = 1.0,
        random_state: int | None = 0,
    ) -> None:
        self.segment = segment
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.learning_rate = learning_rate
        self.random_state = random_state

    def _check(self, X: Sequences) -> None:
        for name in ("segment", "n_estimators", "max_depth"):
            check_whole(getattr(self, name), name)

    def _learn(self, X: Sequences, y: np.ndarray, groups: np.ndarray | None) -> None:
        segments, owners = self._segments(X)
        tree = DecisionTreeClassifier(max_depth=self.max_depth)
        self.booster_ = AdaBoostClassifier(
            tree,
            n_estimators=self.n_estimators,
            learning_rate=self.learning_rate,
            random_state=self.random_state,
        ).fit(segments, y[owners])

    def _scores(self, X: Sequences) -> np.ndarray:
        segments, owners = self._segments(X)
        logs = self.booster_.predict_log_proba(segments)
        scores = np.zeros((len(X), logs.shape[1]))
        np.add.at(scores, owners, logs)
        return scores

    def _segments(self, X: Sequences) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances, one segment a line, and the sequence of each."""
        parts = [self._describe(x.astype(float)) for x in Delta().fit_transform(X)]
        owners = np.repeat(np.arange(len(X)), [len(part) for part in parts])
        return np.concatenate(parts), owners

    def _describe(self, x: np.ndarray) -> np.ndarray:
        starts = block_starts(x.shape[1], max(x.shape[1] // self.segment, 1))
        return np.array([mean_and_variance(part) for part in np.split(x, starts[1:], axis=1)])

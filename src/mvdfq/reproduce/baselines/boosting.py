"""Boosted trees on segments of a few seconds, and the sum over the segments."""

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from mvdfq._utils.checks import check_whole
from mvdfq.frames import Delta
from mvdfq.reproduce.baselines.base import SEED, Baseline
from mvdfq.reproduce.baselines.blocks import block_starts, mean_and_variance
from mvdfq.sequences import Sequences

__all__ = ["BoostedAggregates"]


class BoostedAggregates(Baseline):
    r"""Boost small trees on the means and variances of segments.

    A sequence is cut into segments of about `segment` frames. Mean and variance of every channel
    and of its slope describe a segment, and AdaBoost classifies the segment. The sequence gets
    the class with the largest sum over its segments,

    .. math:: f_c(x) = \sum_s \log p(c \mid s).

    Bergstra et al. [1]_ proposed the method, with other frame features.

    Parameters
    ----------
    segment : int, default=200
        Frames of a segment; a shorter sequence is one segment.

    n_estimators : int, default=100
        Number of trees.

    max_depth : int, default=8
        Depth of a tree. A tree without error on the training segments ends the boosting, so few
        segments need a smaller depth.

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

    def __init__(self, segment: int = 200, *, n_estimators: int = 100, max_depth: int = 8) -> None:
        self.segment = segment
        self.n_estimators = n_estimators
        self.max_depth = max_depth

    def _check(self, X: Sequences) -> None:
        for name in ("segment", "n_estimators", "max_depth"):
            check_whole(getattr(self, name), name)

    def _learn(self, X: Sequences, y: np.ndarray, groups: np.ndarray | None) -> None:
        segments, owners = self._segments(X)
        tree = DecisionTreeClassifier(max_depth=self.max_depth)
        booster = AdaBoostClassifier(tree, n_estimators=self.n_estimators, random_state=SEED)
        self.booster_ = booster.fit(segments, y[owners])

    def _scores(self, X: Sequences) -> np.ndarray:
        segments, owners = self._segments(X)
        logs = self.booster_.predict_log_proba(segments)
        scores = np.zeros((len(X), logs.shape[1]))
        np.add.at(scores, owners, logs)
        return scores

    def _segments(self, X: Sequences) -> tuple[np.ndarray, np.ndarray]:
        """Return means and variances, one segment per line, and the sequence of each segment."""
        parts = [self._describe(x.astype(float)) for x in Delta().fit_transform(X)]
        owners = np.repeat(np.arange(len(X)), [len(part) for part in parts])
        return np.concatenate(parts), owners

    def _describe(self, x: np.ndarray) -> np.ndarray:
        starts = block_starts(x.shape[1], max(x.shape[1] // self.segment, 1))
        return np.array([mean_and_variance(part) for part in np.split(x, starts[1:], axis=1)])

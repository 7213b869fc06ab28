"""Mean and variance of every channel: the simplest baseline, which ignores time."""

import numpy as np

from mvdfq.reproduce.baselines.base import VectorClassifier
from mvdfq.reproduce.baselines.blocks import mean_and_variance

__all__ = ["MeanVariance"]


class MeanVariance(VectorClassifier):
    r"""Describe a sequence by the mean and the variance of every channel.

    .. math:: v = (\mu_1, \ldots, \mu_R, \sigma_1^2, \ldots, \sigma_R^2)

    13 channels give 26 numbers. Missing values (NaN) do not count.

    Examples
    --------
    >>> import mvdfq
    >>> from mvdfq.reproduce.baselines import MeanVariance
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> X_test, y_test = mvdfq.load_japanese_vowels(split="test")
    >>> MeanVariance().fit(X, y).score(X_test, y_test) > 0.9
    True
    """

    def _describe(self, x: np.ndarray) -> np.ndarray:
        return mean_and_variance(x)

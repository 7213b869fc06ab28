"""Several thresholds per channel, one row of two symbols per threshold."""

from typing import Any

import numpy as np

from mvdfq._engines.row_loops import count_thresholds
from mvdfq._utils.checks import check_whole
from mvdfq.frames.base import SequenceTransformer, channel_names
from mvdfq.frames.learned import require, require_array
from mvdfq.sequences import Sequences
from mvdfq.symbols.base import Symbols, as_symbols
from mvdfq.symbols.bins import cuts

__all__ = ["ThresholdQuantizer"]

# Values per channel to learn thresholds from: more values hardly change the quantiles.
SAMPLE = 2**12


class ThresholdQuantizer(SequenceTransformer):
    r"""Cut every channel at several thresholds; each threshold gives one row of two symbols.

    .. math:: b_{q,t} = [x_t \ge \tau_q]

    with thresholds :math:`\tau_1 \le \dots \le \tau_Q` at equally spaced quantiles of the training
    values, each midway between two values. A word of such a row says when a channel is above or
    below one level, no matter how far: the bins are cumulative, while the bins of `DirectQuantizer`
    are separate. The share of the word ``above`` is the proportion of positive values of
    MiniRocket [1]_. NaN is a missing value in all rows of its channel. Cost: O(n) in the number
    of values for each threshold.

    Parameters
    ----------
    n_thresholds : int, default=3
        Number of thresholds, and so of rows, per channel.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_channels, n_thresholds)
        The thresholds of each channel, rising; NaN if a channel has no values, and minus infinity
        if a channel is constant.

    References
    ----------
    .. [1] A. Dempster, D. F. Schmidt, G. I. Webb, "MiniRocket: a very fast (almost) deterministic
       transform for time series classification", KDD, 2021.

    Examples
    --------
    >>> from mvdfq.symbols import ThresholdQuantizer
    >>> quantizer = ThresholdQuantizer(3).fit([[0.0, 1.0, 2.0, 3.0, 4.0]])
    >>> quantizer.thresholds_
    array([[0.5, 1.5, 2.5]])
    >>> symbols = quantizer.transform([[0.4, 1.4, 9.0]])
    >>> symbols[0]
    array([[0, 1, 1],
           [0, 0, 1],
           [0, 0, 1]], dtype=uint8)
    >>> symbols.channel_names
    ('x0 >= 0.5', 'x0 >= 1.5', 'x0 >= 2.5')
    """

    thresholds_: np.ndarray

    def __init__(self, n_thresholds: int = 3) -> None:
        self.n_thresholds = n_thresholds

    def _fit(self, X: Sequences, y: Any) -> None:
        """Learn the thresholds of every channel from the training sequences."""
        n = check_whole(self.n_thresholds, "n_thresholds")
        self._refuse_symbols(X)
        # frames at equal distances, the same frames in every run
        sample = X.data[:, :: max(1, X.data.shape[1] // SAMPLE)]
        self.thresholds_ = np.stack([_thresholds(row, n) for row in sample])

    def _transform(self, X: Sequences) -> Symbols:
        """Compare every value with every threshold of its channel."""
        n_rows = self.thresholds_.size
        codes = np.empty((n_rows, X.data.shape[1]), np.uint8)
        missing = np.uint8(np.iinfo(np.uint8).max)
        for r, threshold in enumerate(self.thresholds_.ravel()):
            channel = r // self.thresholds_.shape[1]
            count_thresholds(X.data[channel], np.array([threshold]), codes[r], missing)
        return as_symbols(X, codes, np.full(n_rows, 2), self._row_names(X))

    def _row_names(self, X: Sequences) -> tuple[str, ...]:
        pairs = zip(channel_names(X), self.thresholds_, strict=True)
        return tuple(f"{name} >= {threshold:.4g}" for name, row in pairs for threshold in row)

    def reach(self) -> int:
        """Return 0: every value is compared without its neighbours."""
        return 0

    def channel_shares(self) -> np.ndarray:
        """Return rows with one 1: every threshold belongs to one channel."""
        return np.repeat(np.eye(self.n_channels_in_), self.thresholds_.shape[1], axis=0)

    def symbol_names(self) -> list[list[str]]:
        """Return the names of the two symbols, for every row."""
        return [["below", "above"]] * self.thresholds_.size

    def check_learned(self) -> None:
        """Raise an error unless every channel has thresholds."""
        super().check_learned()
        require_array(self, "thresholds_", (self.n_channels_in_, None))
        require(self.thresholds_.shape[1] >= 1, "thresholds_ must hold at least one threshold")


def _thresholds(values: np.ndarray, n: int) -> np.ndarray:
    """Return `n` thresholds of one row; NaN for a row without values."""
    present = values[~np.isnan(values)]
    if not present.size:
        return np.full(n, np.nan)
    found = cuts(present, n + 1)
    return found if found.size else np.full(n, -np.inf)

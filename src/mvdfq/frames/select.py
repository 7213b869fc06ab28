"""Some of the channels, and groups of channels by their names."""

from typing import Any

import numpy as np

from mvdfq.frames.base import SequenceTransformer, channel_index, channel_names, with_rows
from mvdfq.frames.learned import require, require_array
from mvdfq.sequences import Sequences

# With more groups than this, the names are names of sensors, not of kinds of features.
MOST_GROUPS = 8


class Select(SequenceTransformer):
    """Keep some of the channels, with their names, and leave out the others.

    Parameters
    ----------
    channels : int, str or list of int or str
        The channels to keep, by index or name. The result has the channels in this order.

    Attributes
    ----------
    channels_ : ndarray of shape (n_kept,)
        The indices of the channels that are kept.

    Examples
    --------
    >>> from mvdfq.frames import Select
    >>> X = Select([1]).fit_transform([[[0.0, 1.0], [5.0, 6.0]]])
    >>> X[0], X.channel_names
    (array([[5., 6.]]), ('x1',))
    """

    channels_: np.ndarray

    def __init__(self, channels: Any) -> None:
        self.channels = channels

    def _fit(self, X: Sequences, y: Any) -> None:
        alone = not np.iterable(self.channels) or isinstance(self.channels, str)
        given = [self.channels] if alone else list(self.channels)
        indices = [channel_index(channel, channel_names(X), "channels") for channel in given]
        if not indices or len(set(indices)) < len(indices):
            raise ValueError(
                f"channels must name at least one channel, and each channel once, got "
                f"{self.channels!r}."
            )
        self.channels_ = np.array(indices)

    def _transform(self, X: Sequences) -> Sequences:
        kept, names = self.channels_, channel_names(X)
        return with_rows(X, X.data[kept], (names[j] for j in kept), X.symbolic_mask[kept])

    def channel_shares(self) -> np.ndarray:
        """Return one row per channel that is kept, with a 1 for the channel."""
        return np.eye(self.n_channels_in_)[self.channels_]

    def _check_learned(self) -> None:
        indices, n = self.channels_, self.n_channels_in_
        require_array(self, "channels_", (None,), np.int64, low=0, high=n - 1)
        once = 0 < len(np.unique(indices)) == indices.size
        require(once, "channels_ must hold at least one index, and every index once")


def groups_by_name(X: Sequences) -> list[list[int]]:
    """Return the numeric channels in groups: the names of a group differ only in the last number.

    MFCCs and spectral bands, say, are two groups. A slope is in the group of its channel. Channels
    whose names do not end in a number are one group. If the channels have no names, or if there
    are more than `MOST_GROUPS` groups, all channels are one group.

    >>> import mvdfq
    >>> names = ["mfcc 0", "mfcc 1", "delta mfcc 0", "delta mfcc 1", "band 0", "band 1", "energy"]
    >>> groups_by_name(mvdfq.check_sequences([[[0.0] * 9] * 7], channel_names=names))
    [[0, 1, 2, 3], [4, 5], [6]]
    """
    groups: dict[str, list[int]] = {}
    names, numeric = channel_names(X), np.flatnonzero(~X.symbolic_mask).tolist()
    for j in numeric:
        stem = names[j].rstrip("0123456789")
        group = "" if stem == names[j] else stem.removeprefix("delta ")
        groups.setdefault(group, []).append(j)
    return list(groups.values()) if len(groups) <= MOST_GROUPS else [numeric]

"""Views along time: slopes, moving averages, neighbouring frames side by side."""

from dataclasses import replace
from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar

from mvdfq._engines.row_loops import moving_average
from mvdfq.frames import base
from mvdfq.frames.base import PerChannel, SequenceTransformer, card_for, channel_names, with_rows
from mvdfq.frames.learned import require
from mvdfq.sequences import Sequences


class Delta(SequenceTransformer):
    r"""Slope of every channel along time.

    .. math:: \Delta_t = (x_{t+1} - x_{t-1}) / 2

    and one-sided differences at the ends of each sequence, as in `numpy.gradient`. A single
    frame has slope 0; a slope next to a NaN is NaN. Symbolic channels have no slope and pass
    through. The slope of channel ``a`` is called ``delta a``. Cost: O(n) in the number of values.

    Parameters
    ----------
    keep : bool, default=True
        True puts the slopes after the channels; False returns the slopes only.

    Examples
    --------
    >>> from mvdfq.frames import Delta
    >>> Delta().fit_transform([[1.0, 2.0, 5.0]])[0]
    array([[1., 2., 5.],
           [1., 2., 3.]])
    """

    def __init__(self, *, keep: bool = True) -> None:
        self.keep = keep

    def _transform(self, X: Sequences) -> Sequences:
        kept = np.full(X.n_rows, self.keep) | X.symbolic_mask
        real = ~X.symbolic_mask
        device, card = card_for(X)
        if device:
            slopes = card.gradient(X.held, X.offsets, device)
            data = card.joined([X.held, slopes], device) if self.keep else slopes
        else:
            above, numeric = (X.data if rows.all() else X.data[rows] for rows in (kept, real))
            data = with_slopes(above, numeric, X.offsets)
        names = np.array(channel_names(X), dtype=object)
        flags = [*X.symbolic_mask[kept], *[False] * np.count_nonzero(real)]
        return with_rows(X, data, [*names[kept], *("delta " + names[real])], flags)

    def channel_shares(self) -> np.ndarray:
        """Return rows with one 1: kept channels, then the slopes of the numeric channels."""
        identity, symbolic = np.eye(self.n_channels_in_), self._symbolic_mask
        return np.concatenate([identity[symbolic | self.keep], identity[~symbolic]])


class Smooth(PerChannel):
    r"""Moving average of every channel.

    .. math:: z_t = \frac{1}{|W_t|} \sum_{u \in W_t} x_u

    where :math:`W_t` are the frames at most ``window // 2`` away from :math:`t`, in the same
    sequence, that are not NaN. NaN stays NaN; symbolic channels pass through. Channel ``a``
    becomes ``smooth a``. Cost: O(n ``window``).

    Parameters
    ----------
    window : int, default=5
        Number of frames to average; must be odd.

    Examples
    --------
    >>> from mvdfq.frames import Smooth
    >>> Smooth(3).fit_transform([[0.0, 3.0, 6.0, 0.0]])[0]
    array([[1.5, 3. , 3. , 3. ]])
    """

    def __init__(self, window: int = 5) -> None:
        self.window = window

    def _transform(self, X: Sequences) -> Sequences:
        check_scalar(self.window, "window", Integral, min_val=1)
        if self.window % 2 == 0:
            raise ValueError(f"window must be odd, so that it has a middle, got {self.window}.")
        real, half = ~X.symbolic_mask, self.window // 2
        device, card = card_for(X)
        if device:
            return base.renamed(X, card.moving_average(X.held, X.offsets, half, device), "smooth")
        values = X.data if real.all() else X.data[real]
        averages = np.empty_like(values)
        moving_average(values, X.offsets, half, averages)
        if not real.all():
            values, averages = averages, X.data.copy()
            averages[real] = values
        return base.renamed(X, averages, "smooth")


class Lags(SequenceTransformer):
    r"""Put frames a fixed time apart side by side (time embedding).

    .. math:: z_t = (x_t, x_{t+s}, \dots, x_{t+(L-1)s})

    with :math:`L` lags and step :math:`s`. Sequences lose their last :math:`(L-1)s` frames;
    shorter sequences become empty. Channel ``a`` at lag 3 is called ``a t+3``. Cost:
    O(n :math:`L`).

    Parameters
    ----------
    n_lags : int, default=2
        Number of frames side by side.
    step : int, default=1
        Distance between these frames, in frames.

    Examples
    --------
    >>> from mvdfq.frames import Lags
    >>> X = Lags(n_lags=2, step=3).fit_transform([[0.0, 1.0, 2.0, 3.0, 4.0], [0.0, 1.0]])
    >>> X[0]
    array([[0., 1.],
           [3., 4.]])
    >>> X.lengths, X.channel_names
    (array([2, 0]), ('x0', 'x0 t+3'))
    """

    def __init__(self, n_lags: int = 2, *, step: int = 1) -> None:
        self.n_lags = n_lags
        self.step = step

    def _transform(self, X: Sequences) -> Sequences:
        check_scalar(self.n_lags, "n_lags", Integral, min_val=1)
        check_scalar(self.step, "step", Integral, min_val=1)
        lags = [lag * self.step for lag in range(self.n_lags)]
        lengths = np.maximum(X.lengths - lags[-1], 0)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        frames = np.arange(offsets[-1]) + np.repeat(X.offsets[:-1] - offsets[:-1], lengths)
        data = np.concatenate([X.data.take(frames + lag, axis=1) for lag in lags])
        names = tuple(f"{a} t+{lag}" if lag else a for lag in lags for a in channel_names(X))
        flags = X.symbolic * len(lags)
        return replace(X, data=data, offsets=offsets, channel_names=names, symbolic=flags)

    def _check_learned(self) -> None:
        n_rows = self.n_lags * self.n_channels_in_
        require(n_rows <= base.MOST_CHANNELS, f"n_lags must make at most {base.MOST_CHANNELS} rows")

    def channel_shares(self) -> np.ndarray:
        """Return rows with one 1: every lag is a copy of all channels."""
        return np.tile(np.eye(self.n_channels_in_), (self.n_lags, 1))


def with_slopes(kept: np.ndarray, data: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the rows `kept` and, below, `numpy.gradient` of `data`, for each sequence alone."""
    rows = np.empty((len(kept) + len(data), data.shape[1]), data.dtype)
    rows[: len(kept)] = kept
    slopes = rows[len(kept) :]
    inner = np.subtract(data[:, 2:], data[:, :-2], out=slopes[:, 1:-1])
    inner *= 0.5
    lengths = np.diff(offsets)
    single = offsets[:-1][lengths == 1]
    slopes[:, single] = data[:, single] - data[:, single]  # 0, or NaN if the frame is missing
    first, last = offsets[:-1][lengths > 1], offsets[1:][lengths > 1] - 1
    slopes[:, first] = data[:, first + 1] - data[:, first]
    slopes[:, last] = data[:, last] - data[:, last - 1]
    return rows

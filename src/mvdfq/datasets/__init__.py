"""Data sets to try things on: a small real data set, and synthetic data with a seed."""

from importlib.resources import files
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["load_japanese_vowels", "make_autoregressive"]

N_CHANNELS = 12
N_TRAIN = 270
# The poles of the recursion lie at a distance of RADIUS from the origin and at an angle of at most
# MAX_ANGLE (radians per frame): such channels change as slowly as MFCC do.
RADIUS = (0.80, 0.95)
MAX_ANGLE = 0.4
# Frames that are dropped at the start. The recursion starts from zeros; after 200 frames at most
# 0.95**200 < 1e-4 of this start is left.
BURN_IN = 200


def load_japanese_vowels(
    split: Literal["train", "test"] | None = None,
) -> tuple[list[NDArray[np.float64]], NDArray[np.str_]]:
    """Load utterances of the vowels /ae/ by nine male speakers.

    A frame holds the 12 linear prediction cepstrum coefficients of a piece of speech; the task
    is to tell who speaks [1]_ [2]_. The data set ships with the package: nothing is downloaded.

    Parameters
    ----------
    split : {"train", "test"}, default=None
        Which part of the official split. The training part has 270 utterances, 30 per speaker.
        The test part has 370 utterances, between 24 and 88 per speaker. None gives the training
        part followed by the test part.

    Returns
    -------
    X : list of ndarray of shape (12, n_timepoints)
        The utterances, 7 to 29 frames long.
    y : ndarray of str of shape (n_sequences,)
        The speakers, ``"1"`` to ``"9"``.

    References
    ----------
    .. [1] M. Kudo, J. Toyama and M. Shimbo, "Japanese Vowels", UCI Machine Learning Repository,
       1999, https://doi.org/10.24432/C5NS47, licensed under CC BY 4.0.
    .. [2] M. Kudo, J. Toyama and M. Shimbo, "Multidimensional curve classification using
       passing-through regions", Pattern Recognition Letters 20(11-13), 1103-1111, 1999.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> len(X), X[0].shape, X[1].shape
    (270, (12, 20), (12, 26))
    >>> y[0], y[-1]
    (np.str_('1'), np.str_('9'))
    """
    parts = {"train": slice(N_TRAIN), "test": slice(N_TRAIN, None), None: slice(None)}
    if split not in parts:
        raise ValueError(f'split must be "train", "test" or None, got {split!r}.')
    # tools/make_japanese_vowels.py packed the data.
    with (files(__package__) / "japanese_vowels.npz").open("rb") as file, np.load(file) as stored:
        planes, lengths, labels = stored["planes"], stored["lengths"], stored["labels"]
    # The planes are the bytes of little-endian integers, in millionths: dividing by a million
    # gives the published numbers, to the last bit.
    values = np.ascontiguousarray(planes.T).view("<i4")[:, 0] / 1e6
    ends = N_CHANNELS * np.cumsum(lengths, dtype=np.int64)
    X = [np.array(x).reshape(N_CHANNELS, -1) for x in np.split(values, ends[:-1])]
    return X[parts[split]], labels.astype(str)[parts[split]]


def make_autoregressive(
    n_sequences: int = 100,
    n_channels: int = 13,
    n_timepoints: int | tuple[int, int] = 200,
    n_classes: int = 2,
    random_state: int | np.random.Generator | None = None,
) -> tuple[list[NDArray[np.float64]], NDArray[np.int64]]:
    r"""Draw sequences whose dynamics depend on their class.

    Every channel of every class has its own stationary autoregression of order two,

    .. math:: x_t = 2 r \cos(\theta)\, x_{t-1} - r^2 x_{t-2} + \sigma \varepsilon_t ,

    with :math:`\sigma` such that each channel has mean 0 and variance 1 whatever its class:
    classes differ in how values follow each other, not in which values occur.

    Parameters
    ----------
    n_sequences : int, default=100
        Number of sequences. The classes are as equally frequent as possible, in random order.
    n_channels : int, default=13
        Number of channels of each sequence.
    n_timepoints : int or tuple of two int, default=200
        Length of all sequences, or a pair (shortest, longest): lengths are then drawn uniformly
        from this range, both ends included.
    n_classes : int, default=2
        Number of classes.
    random_state : int, numpy.random.Generator or None, default=None
        Seed or source of the random numbers; an int gives the same data at every call.

    Returns
    -------
    X : list of ndarray of shape (n_channels, n_timepoints)
        The sequences.
    y : ndarray of int of shape (n_sequences,)
        The classes of the sequences, 0 to ``n_classes - 1``.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.make_autoregressive(4, 3, (50, 60), n_classes=2, random_state=0)
    >>> [x.shape[0] for x in X], all(50 <= x.shape[1] <= 60 for x in X)
    ([3, 3, 3, 3], True)
    >>> sorted(y.tolist())
    [0, 0, 1, 1]
    """
    shortest, longest = (n_timepoints,) * 2 if isinstance(n_timepoints, int) else n_timepoints
    if min(n_sequences, n_channels, n_classes) < 1:
        got = f"{n_sequences}, {n_channels} and {n_classes}"
        raise ValueError(f"n_sequences, n_channels and n_classes must be at least 1, got {got}.")
    if not 1 <= shortest <= longest:
        wanted = "n_timepoints must be a positive length or a pair (shortest, longest)"
        raise ValueError(f"{wanted}, got shortest={shortest} and longest={longest}.")
    rng = np.random.default_rng(random_state)
    radius = rng.uniform(*RADIUS, size=(n_classes, n_channels))
    angle = rng.uniform(0, MAX_ANGLE, size=(n_classes, n_channels))
    first, second = 2 * radius * np.cos(angle), -(radius**2)
    # The stationary variance of a second-order autoregression driven by unit noise.
    variance = (1 - second) / ((1 + second) * ((1 - second) ** 2 - first**2))
    noise = 1 / np.sqrt(variance)
    y = rng.permutation(np.arange(n_sequences) % n_classes)
    lengths = rng.integers(shortest, longest, size=n_sequences, endpoint=True)
    frames = np.empty((longest, n_sequences, n_channels))
    first, second, noise = first[y], second[y], noise[y]
    before, now = np.zeros((2, n_sequences, n_channels))
    for t in range(-BURN_IN, longest):
        before, now = now, first * now + second * before + noise * rng.standard_normal(now.shape)
        if t >= 0:
            frames[t] = now
    return [frames[:n, i].T.copy() for i, n in enumerate(lengths)], y

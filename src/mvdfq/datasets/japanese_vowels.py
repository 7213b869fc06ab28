"""The Japanese Vowels set: nine speakers, one vowel pair, twelve coefficients per frame."""

from importlib.resources import files
from typing import Literal

import numpy as np
from numpy.typing import NDArray

N_CHANNELS = 12
N_TRAIN = 270


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

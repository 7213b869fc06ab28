"""Wavelet histograms: moments of the coefficients of every sub-band of a waveform."""

import numpy as np

from mvdfq._utils.checks import check_whole
from mvdfq.reproduce.baselines.base import VectorClassifier, needed
from mvdfq.sequences import Sequences

__all__ = ["DWCH", "moments_and_energy"]

WAVELET = "db8"


class DWCH(VectorClassifier):
    r"""Describe a waveform by the histograms of its Daubechies wavelet coefficients.

    The wavelet ``db8`` splits the waveform into `level` sub-bands of detail and one sub-band of the
    rest. The coefficients :math:`a` of each sub-band give four numbers [1]_: the first three
    moments of their histogram and their energy,

    .. math:: \mu, \quad \sigma^2, \quad E\big[((a - \mu) / \sigma)^3\big], \quad E\,|a| .

    Needs PyWavelets.

    Parameters
    ----------
    level : int, default=7
        How often the waveform is halved; a waveform needs 15 * 2**level samples.

    References
    ----------
    .. [1] T. Li, M. Ogihara and Q. Li, "A comparative study on content-based music genre
       classification", SIGIR, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from mvdfq.reproduce.baselines import DWCH
    >>> rng = np.random.default_rng(0)
    >>> X = [np.convolve(rng.normal(size=400), np.ones(1 + 3 * (i % 2))) for i in range(20)]
    >>> clf = DWCH(level=3).fit(X[:16], np.arange(16) % 2)  # doctest: +SKIP
    >>> clf.predict(X[16:])  # doctest: +SKIP
    array([0, 1, 0, 1])
    """

    takes_missing = False
    needs = "pywt"

    def __init__(self, level: int = 7) -> None:
        self.level = level

    def _check(self, X: Sequences) -> None:
        check_whole(self.level, "level")
        if X.n_rows != 1:
            raise ValueError(
                f"DWCH takes waveforms, that is one channel, but X has {X.n_rows}; "
                f"pass the audio itself, or the mean of its channels."
            )

    def _shortest(self) -> tuple[int, str]:
        # In shorter waveforms every coefficient depends on the edges: the filter has length 16.
        return 15 * 2**self.level, "leave it out or take a smaller level"

    def _describe(self, x: np.ndarray) -> np.ndarray:
        pywt = needed("pywt", "PyWavelets", "DWCH")
        bands = pywt.wavedec(x[0], WAVELET, level=self.level)
        return np.concatenate([moments_and_energy(band) for band in bands])


def moments_and_energy(band: np.ndarray) -> np.ndarray:
    """Return mean, variance, skewness and mean magnitude; the skewness of a constant is 0."""
    mean, deviation = band.mean(), band.std()
    skewness = np.mean(((band - mean) / deviation) ** 3) if deviation > 0 else 0.0
    return np.array([mean, deviation**2, skewness, np.abs(band).mean()])

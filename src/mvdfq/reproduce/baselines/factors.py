"""Spectral bases: every spectrogram is factored, and the factors of every class are modelled."""

import warnings

import numpy as np
from scipy.fft import dct
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from mvdfq._utils.checks import check_whole
from mvdfq.reproduce.baselines.base import SEED, Baseline
from mvdfq.reproduce.baselines.blocks import averaged
from mvdfq.reproduce.baselines.mixture import fit_mixtures, summed_likelihoods
from mvdfq.sequences.check import refuse
from mvdfq.sequences.containers import Sequences

__all__ = ["NMFBases", "spectral_bases"]

# A sequence is averaged to this many frames, and a base is described by this many coefficients.
N_FRAMES = 200
N_COEFFICIENTS = 20
# Least share of a band, in units of an equal share. Factors hold many zeros, and without this
# floor their logarithms would outweigh all other values.
FLOOR = 0.1


class NMFBases(Baseline):
    r"""Model the spectral bases of the sequences of every class.

    A sequence of non-negative channels :math:`S` is factored into

    .. math:: S \approx W H, \qquad W, H \ge 0,

    and the columns of :math:`W` are its bases. Each base is scaled to sum 1. The first 20
    coefficients of the cosine transform of its logarithm are modelled by one mixture of Gaussians
    for each class [1]_; the log-likelihoods of the bases of a sequence add up. The original
    factors whole spectrograms; here a sequence is first averaged to 200 frames, to save time.

    Parameters
    ----------
    n_bases : int, default=9
        Bases of each sequence; fewer if the sequence has fewer frames or channels.

    n_components : int, default=3
        Gaussians of each class, with axes along the coefficients.

    Attributes
    ----------
    mixtures_ : list of GaussianMixture
        One mixture for each class.

    References
    ----------
    .. [1] A. Holzapfel and Y. Stylianou, "Musical genre classification using nonnegative matrix
       factorization-based features", IEEE Transactions on Audio, Speech, and Language
       Processing 16(2), 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from mvdfq.reproduce.baselines import NMFBases
    >>> rng = np.random.default_rng(0)
    >>> shapes = rng.uniform(size=(2, 8, 2))
    >>> y = np.arange(20) % 2
    >>> X = [shapes[c] @ rng.uniform(size=(2, 30)) for c in y]
    >>> clf = NMFBases(n_bases=2, n_components=1).fit(X[:14], y[:14])
    >>> clf.score(X[14:], y[14:])
    1.0
    """

    takes_missing = False

    def __init__(self, n_bases: int = 9, *, n_components: int = 3) -> None:
        self.n_bases = n_bases
        self.n_components = n_components

    def _check(self, X: Sequences) -> None:
        for name in ("n_bases", "n_components"):
            check_whole(getattr(self, name), name)
        hint = "NMFBases needs magnitudes, such as the energies of spectral bands (FFT64)"
        refuse(X.data < 0, X, "is negative", hint)

    def _learn(self, X: Sequences, y: np.ndarray, groups: np.ndarray | None) -> None:
        bases, owners = self._describe(X)
        parts = [bases[y[owners] == c] for c in range(y.max() + 1)]
        random = check_random_state(SEED)
        self.mixtures_ = fit_mixtures(parts, self.n_components, "diag", random)

    def _scores(self, X: Sequences) -> np.ndarray:
        return summed_likelihoods(self.mixtures_, *self._describe(X), len(X))

    def _describe(self, X: Sequences) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients of all bases, one base per line, and the sequence of each."""
        parts = [self._bases(x.astype(float)) for x in X]
        owners = np.repeat(np.arange(len(X)), [len(part) for part in parts])
        return np.concatenate(parts), owners

    def _bases(self, x: np.ndarray) -> np.ndarray:
        bases = spectral_bases(averaged(x, N_FRAMES), self.n_bases)
        shares = bases / np.maximum(bases.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        logs = np.log(np.maximum(shares, FLOOR / x.shape[0]))
        return dct(logs, norm="ortho", axis=1)[:, :N_COEFFICIENTS]


def spectral_bases(x: np.ndarray, n_bases: int) -> np.ndarray:
    """Return the bases of one sequence, one base per line."""
    n_bases = min(n_bases, *x.shape)
    model = NMF(n_bases, init="nndsvda", tol=1e-3, max_iter=100, random_state=SEED)
    with warnings.catch_warnings():
        # Bases that still change a little describe a sequence as well.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(x.T).components_

"""The methods of bench_accuracy.py: presets of mvdfq, and peers where they are installed.

Every method takes a list of (channels, time) arrays, of equal or unequal length.
"""

from unittest.mock import patch

import numpy as np

# The end of the name of a method of mvdfq whose words all count alike.
ALIKE = ", words alike"


class WordsAlike:
    """A classifier of mvdfq whose words all count alike, as with more than 1000 sequences."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y):
        """Fit without the weights of words."""
        from mvdfq.terms import standard

        with patch.object(standard, "MOST_WEIGHED", 0):
            self.model.fit(X, y)
        return self

    def __getattr__(self, name):
        return getattr(self.model, name)


class Padded:
    """A classifier of equal lengths, made to take sequences of unequal length."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y):
        """Pad with zeros to the longest training sequence and fit."""
        self.length = max(9, *(x.shape[1] for x in X))  # MiniRocket reads nine frames at least
        self.model.fit(self._array(X), y)
        return self

    def predict(self, X):
        """Pad or cut to the length of training and predict."""
        return self.model.predict(self._array(X))

    def _array(self, X):
        out = np.zeros((len(X), len(X[0]), self.length), np.float32)
        for row, x in zip(out, X, strict=True):
            row[:, : x.shape[1]] = x[:, : self.length]
        return out


class Signatures:
    """Signatures by pysiglib, standardized, and a linear SVM whose C three inner folds choose."""

    # The depth is the largest depth whose signature has at most this many numbers.
    MOST = 12_000

    def fit(self, X, y):
        """Standardize channels, take signatures and fit."""
        from sklearn.model_selection import GridSearchCV
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.svm import SVC

        frames = np.concatenate(X, axis=1)
        self.mean, self.scale = (f(frames, axis=1, keepdims=True) for f in (np.mean, np.std))
        self.scale[self.scale == 0] = 1
        svm = make_pipeline(StandardScaler(), SVC(kernel="linear"))
        grid = {"svc__C": [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]}
        self.model = GridSearchCV(svm, grid, cv=3).fit(self._features(X), y)
        return self

    def predict(self, X):
        """Take signatures and predict."""
        return self.model.predict(self._features(X))

    def _features(self, X):
        import pysiglib

        width, depth = len(X[0]) + 1, 1  # time is a channel
        while sum(width**i for i in range(1, depth + 2)) <= self.MOST:
            depth += 1
        paths = ((x - self.mean) / self.scale for x in X)
        signed = [pysiglib.sig(np.ascontiguousarray(path.T), depth, time_aug=True)
                  for path in paths]  # fmt: skip
        return np.array(signed, np.float64)


def convolution(name):
    """Return a maker of aeon's classifier of this name, with its own settings."""

    def make():
        from aeon.classification import convolution_based

        return Padded(getattr(convolution_based, name)(random_state=0, n_jobs=1))

    return make


def muse():
    """Return aeon's MUSE with its own settings."""
    from aeon.classification.dictionary_based import MUSE

    return Padded(MUSE(random_state=0, n_jobs=1))


def dtw():
    """Return 1-NN with dependent dynamic time warping, no window, channels as they are."""
    from aeon.classification.distance_based import KNeighborsTimeSeriesClassifier

    return KNeighborsTimeSeriesClassifier(distance="dtw", n_jobs=1)


def mar():
    """Return multivariate autoregression with its own settings, a baseline of the paper."""
    from mvdfq.reproduce.baselines import MAR

    return MAR()


PEERS = {
    "minirocket": convolution("MiniRocketClassifier"),
    "multirocket": convolution("MultiRocketClassifier"),
    "multirocket-hydra": convolution("MultiRocketHydraClassifier"),
    "muse": muse,
    "1nn-dtw": dtw,
    "signatures": Signatures,
    "mar": mar,
}


def variant(*changes):
    """Return a maker of the terms of the default, changed."""

    def terms():
        from mvdfq import preset_terms

        words, filters = preset_terms("numbers")
        return [
            {"words": words, "filters": filters, "plain": words.plain()}[one] for one in changes
        ]

    return terms


# Variants of the default: their terms and their penalty.
VARIANTS = {
    "default without words": (variant("filters"), 10),
    "default without filters": (variant("words"), 10),
    "default with plain words": (variant("plain", "filters"), 10),
    "plain words alone": (variant("plain"), 100),
}


def ours(preset):
    """Return a classifier of mvdfq."""
    import mvdfq

    if preset in VARIANTS:
        terms, C = VARIANTS[preset]
        return mvdfq.SequenceClassifier(terms=terms(), C=C, n_jobs=1)
    return mvdfq.SequenceClassifier(None if preset == "default" else preset, n_jobs=1)


def method(name):
    """Return a new classifier: a peer, or mvdfq with a preset or without an option (default)."""
    if name.endswith(ALIKE):
        return WordsAlike(ours(name.removesuffix(ALIKE)))
    return PEERS[name]() if name in PEERS else ours(name)

"""One classifier per preset family and quantizer, with the data that it is fitted to."""

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import mvdfq
from mvdfq import (
    CodebookQuantizer,
    Delta,
    DirectQuantizer,
    HashingQuantizer,
    JointQuantizer,
    Lags,
    Mismatch,
    Profile,
    Rotate,
    Rows,
    SequenceClassifier,
    Smooth,
    Spectrum,
    Stack,
    Standardize,
    Subsequence,
)

NUMBERS, LABELS = mvdfq.make_autoregressive(18, 3, (12, 25), n_classes=3, random_state=0)
LETTERS = ["".join(chr(65 + code) for code in DirectQuantizer(4).fit(NUMBERS).transform([x])[0][0])
           for x in NUMBERS]  # fmt: skip
NAMES = ["π ≈ 3", 'say "a\\b"', "line\nbreak \ud800"]
NAMED = mvdfq.check_sequences(NUMBERS, channel_names=NAMES, sampling_rate=50.0)
STATES = [np.stack([x[0], np.round(x[1]), x[2]]) for x in NUMBERS]
PROBABLE = [np.exp(x) / np.exp(x).sum(axis=0) for x in NUMBERS]
WORDS = np.array(["on", "off", "über"])[LABELS]


def classifier(preset=None, **parts):
    return SequenceClassifier(preset, **{"C": 10, "cv": 2, **parts})


BINS = DirectQuantizer(4)
SMALL = {"frames": "passthrough", "symbols": BINS, "kernel": Spectrum([1, 2]), "pyramid": 2}
VIEWS = Stack(["passthrough", ("slopes", make_pipeline(Smooth(3), Standardize(), Delta()))])
ROTATED = {
    "frames": Stack(["passthrough", Delta(keep=False), Rotate(deltas=True)]),
    "symbols": DirectQuantizer(6),
    "kernel": Spectrum(3, dilation=[1, 2]),
}
CASES = {
    "numbers": (classifier(), NUMBERS, LABELS),
    "rotated": (classifier(**ROTATED), NUMBERS, LABELS),
    "letters": (classifier(), LETTERS, WORDS),
    "mvdfq": (classifier("mvdfqm-sssk"), NUMBERS, LABELS),
    "vq": (classifier("vq-sssk", symbols=CodebookQuantizer(8)), NUMBERS, LABELS),
    "multi-vq": (classifier("multi-vq", symbols=CodebookQuantizer([4, 8])), NUMBERS, LABELS),
    "hashing": (classifier("hashing-spectrum", symbols=HashingQuantizer(4)), NUMBERS, LABELS),
    "1d": (classifier("mvdfqm-1d"), NUMBERS, LABELS),
    "joint": (classifier(symbols=JointQuantizer(2), frames="passthrough"), NUMBERS, LABELS),
    "linear": (classifier(**SMALL, solver="linear"), NUMBERS, LABELS),
    "hashed": (classifier(**SMALL, solver="linear", n_features=9), NUMBERS, LABELS),
    "scaled": (classifier(**{**SMALL, "frames": Standardize()}), NUMBERS, LABELS),
    "margin": (
        classifier(**{**SMALL, "symbols": DirectQuantizer(4, strategy="uniform", margin=1.5)}),
        NUMBERS,
        LABELS,
    ),
    "gamma": (classifier(**SMALL, gamma=0.5), NUMBERS, LABELS),
    "ovo": (classifier(**SMALL, multi_class="ovo", C=(1, 10)), NUMBERS, LABELS),
    "observed": (
        classifier("mvdfqm-mismatch", symbols=BINS, kernel=Mismatch(3, 1, "observed", range(1, 3))),
        NUMBERS,
        LABELS,
    ),
    "profile": (classifier(kernel=Profile(2, 2.0), pyramid=1), PROBABLE, LABELS),
    "subsequence": (
        classifier(kernel=Subsequence(2), symbols=BINS, manifold=False, pyramid=1),
        NUMBERS,
        LABELS,
    ),
    "parts": (
        classifier(
            frames=VIEWS,
            symbols=Rows([BINS, make_pipeline(Rotate(2), BINS)]),
            class_weight={"on": 2.0, "off": np.float64(1), "über": 1},
        ),
        NUMBERS,
        WORDS.astype(object),
    ),
    "two classes": (classifier(frames=Lags(2), kernel="gappy"), NUMBERS, LABELS > 0),
    "names": (classifier(kernel=Spectrum(np.array([2, 3]))), NAMED, WORDS),
    "categories": (
        classifier(frames="passthrough", symbols=DirectQuantizer(4, symbolic=[1])),
        STATES,
        LABELS,
    ),
}

# Stored, and attacked behind --all; their parts are parts of the cases above.
FEW = mvdfq.make_autoregressive(8, 2, (12, 16), n_classes=2, random_state=0)
MORE = {name: (classifier(name), *FEW) for name in ("fast", "music")}
MORE["passes"] = MORE["fast"]


def fitted(name):
    """Return the classifier of a case, fitted; "passes" learns from two blocks."""
    model, X, y = (CASES | MORE)[name]
    if name == "passes":
        return clone(model).fit_blocks([(X[:4], y[:4]), (X[4:], y[4:])])
    return clone(model).fit(X, y)

"""Maps of what decides, (n_channels, n_frames): evidence, and methods that only ask for answers.

A method gets a classifier, a function from many sequences to one number each, a sequence, and
training sequences of other classes (donors).
"""

from functools import partial

import numpy as np

# Parts of a sequence that are hidden together, and how many of them overlap a frame.
PARTS, OVERLAP = 10, 4
# Answers that the Shapley values are estimated from.
SAMPLES = 300


def evidence(clf, ask, x, donors, rng, classes):
    """The evidence of mvdfq: for a class, or for one class against another."""
    why = clf.explain(x)
    if len(classes) == 2:
        return why.between(*classes).by_channel_frame[0]
    column, sign = why.column(classes[0])
    return sign * why.by_channel_frame[column]


def occlusion(hide, clf, ask, x, donors, rng, classes):
    """How much the answer falls if a window of one channel is hidden; the mean over windows."""
    n_channels, n_frames = x.shape
    width = max(n_frames // PARTS, 3)
    starts = np.unique(np.r_[0 : n_frames - width : max(width // OVERLAP, 1), n_frames - width])
    places = [(c, slice(t, t + width)) for c in range(n_channels) for t in starts]
    tried = [hide(x, place, donors, rng) for place in places]
    answers = ask([x, *tried])
    out, times = np.zeros((2, n_channels, n_frames))
    for place, answer in zip(places, answers[1:], strict=True):
        out[place] += answers[0] - answer
        times[place] += 1
    return out / np.maximum(times, 1)


def with_nothing(x, place, donors, rng):
    """Missing values in place of a window."""
    tried = x.copy()
    tried[place] = np.nan
    return tried


def with_donor(x, place, donors, rng):
    """The same window of a sequence of another class."""
    tried = x.copy()
    tried[place] = donor_of(x, donors, rng)[place]
    return tried


def donor_of(x, donors, rng):
    """A training sequence of another class, repeated to the length of `x`."""
    donor = donors[rng.integers(len(donors))]
    return np.take(donor, np.arange(x.shape[1]), axis=1, mode="wrap")


def shapley(clf, ask, x, donors, rng, classes):
    """Shapley values of tenths of channels, estimated by the package shap."""
    import shap

    n_channels, n_frames = x.shape
    part = np.arange(n_frames) * PARTS // n_frames
    feature = np.arange(n_channels)[:, None] * PARTS + part
    donor = donor_of(x, donors, rng)

    def answers(present):
        return ask([np.where(flags[feature] > 0.5, x, donor) for flags in present])

    n = n_channels * PARTS
    explainer = shap.KernelExplainer(answers, np.zeros((1, n)), silent=True)
    values = explainer.shap_values(np.ones(n), nsamples=SAMPLES, l1_reg=False, silent=True)
    return values[feature] / np.bincount(part)[part]


METHODS = {
    "evidence": evidence,
    "NaN occlusion": partial(occlusion, with_nothing),
    "donor occlusion": partial(occlusion, with_donor),
    "shap": shapley,
}

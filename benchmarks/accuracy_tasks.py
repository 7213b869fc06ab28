"""The tasks of bench_accuracy.py: a set of sequences, its splits, and the parts of every split."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from archives import FOLDER, load_uea, uea_names

# 15 training cases say nothing.
LEFT_OUT = {"AtrialFibrillation"}
# Thousands of training cases: the official split alone.
LARGE = {"SpokenArabicDigits"}
OFFICIAL = "official"
# The set of each music task, its protocol, and the rows of its clips.
MUSIC = {
    "GTZAN 5-fold": ("gtzan", "5-fold", "mfcc"),
    "GTZAN artist-disjoint": ("gtzan", "artist-disjoint", "mfcc"),
    "GTZAN fault-filtered": ("gtzan", "fault-filtered", "mfcc"),
    "GTZAN 5-fold, MFCC+FFT64": ("gtzan", "5-fold", "mfcc+fft64"),
    "artist20": ("artist20", "group-per-class", "mfcc"),
}
LETTERS = "letters"


@dataclass(frozen=True)
class Task:
    """A set, its splits, and a function from a split to X_train, y_train, X_test and y_test."""

    name: str
    splits: list[str]
    parts: Callable


def tasks(names, n_resamples):
    """Return the tasks of these names; ``uea`` and ``gtzan`` stand for several tasks."""
    several = {"uea": [name for name in uea_names() if name not in LEFT_OUT],
               "gtzan": [name for name in MUSIC if name.startswith("GTZAN")]}  # fmt: skip
    every = [one for name in names for one in several.get(name, [name])]
    return [music(name) if name in MUSIC else uea(name, n_resamples) for name in every]


def uea(name, n_resamples):
    """Return the task of a set of the UEA archive: the official split and resamples."""
    resamples = [] if name in LARGE else [str(i) for i in range(n_resamples)]
    return Task(name, [OFFICIAL, *resamples], partial(uea_parts, name))


def uea_parts(name, split):
    """Return training and test part: the official parts, or a stratified redraw of their sizes."""
    X_train, y_train, X_test, y_test, _ = load_uea(name)
    if split == OFFICIAL:
        return X_train, y_train, X_test, y_test
    X, y = [*X_train, *X_test], np.concatenate([y_train, y_test])
    rng = np.random.default_rng(int(split))
    chosen = np.zeros(len(y), bool)
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        chosen[members[: np.count_nonzero(y_train == label)]] = True
    return _cut(X, y, np.flatnonzero(chosen), np.flatnonzero(~chosen))


def _cut(X, y, train, test):
    return [X[i] for i in train], y[train], [X[i] for i in test], y[test]


def music(name):
    """Return the task of a music set: the folds of its protocol, cut as `mvdfq reproduce` does."""
    kind, protocol, view = MUSIC[name]
    data = music_set(kind)
    cuts = {cut.name: cut for cut in data.cuts(protocol, seed=0)}

    def parts(split):
        X, y, train, test = data.view(view), data.labels, cuts[split].train, cuts[split].test
        return X[train], y[train], X[test], y[test]  # with the names of the channels

    return Task(name, list(cuts), parts)


@cache
def music_set(kind):
    """Return GTZAN or artist20."""
    from mvdfq.reproduce.loaders import load_artist20, load_gtzan

    return {"gtzan": load_gtzan, "artist20": load_artist20}[kind](FOLDER)


def letters():
    """Yield a line for every set of strings, by the default; bench_letters.py measures."""
    import bench_letters

    for line in bench_letters.test():
        name = line["set"] + (", both strands" if line["strands"] == "both" else "")
        kept = {key: line[key] for key in ("metric", "value", "fit_s", "predict_s")}
        yield {"set": name, "split": OFFICIAL, "method": line["candidate"], **kept}

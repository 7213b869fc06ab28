"""Sequences whose reasons are known: events planted in noise, and splices of real sequences."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from archives import load_uea
from scipy.signal import lfilter

# Noise that remembers this share of the value before.
MEMORY = 0.7


@dataclass(frozen=True)
class Problem:
    """A kind of event, and its size. `n` training sequences and `n // 2` new ones per class."""

    name: str
    kind: str
    n_classes: int = 2
    n_channels: int = 4
    n_frames: int = 100
    size: float = 2.5
    n: int = 80
    solved: bool = True

    @property
    def width(self):
        """Frames of an event."""
        return max(self.n_frames // 7, 12)


PLANTED = [
    Problem("motif", "motif"),
    Problem("weak motif", "motif", size=1.9),
    Problem("motif, 3 classes", "motif", n_classes=3, n_channels=5, n_frames=120),
    Problem("motif, 10 classes", "motif", n_classes=10, n=40),
    Problem("motif, 1000 frames", "motif", n_frames=1000, n=40),
    Problem("level", "level", size=2.0),
    Problem("level, 5 classes", "level", n_classes=5, n_frames=150, size=2.0),
    Problem("variance", "variance", size=2.5),
    Problem("variance, 3 classes", "variance", n_classes=3, n_channels=6, n_frames=200),
    Problem("two channels", "two channels", n_classes=3, n_channels=5),
    Problem("order", "order", size=4.0),
    Problem("absent beat", "absent", size=4.0, solved=False),
]


def planted(problem, seed):
    """Return training sequences, their classes, new sequences, their classes and the masks.

    Class 0 has no event, except that the order of two events tells its classes, and that a beat is
    absent in class 1. A mask (n_channels, n_frames) says where the event of a sequence is.
    """
    rng = np.random.default_rng(seed)
    parts = []
    for n in (problem.n, problem.n // 2):
        y = np.repeat(np.arange(problem.n_classes), n)
        pairs = [_sequence(problem, int(c), rng) for c in y]
        parts += [np.array([x for x, _ in pairs], np.float32), y]
    return (*parts, np.array([mask for _, mask in pairs]))


def _sequence(problem, c, rng):
    shape = problem.n_channels, problem.n_frames
    x = lfilter([np.sqrt(1 - MEMORY**2)], [1, -MEMORY], rng.normal(size=shape), axis=1)
    mask, width = np.zeros(shape, bool), problem.width
    channel = max(c - 1, 0) % problem.n_channels
    start = int(rng.integers(0, problem.n_frames - 2 * width))
    span = slice(start, start + width)
    if problem.kind == "absent":
        return _beats(problem, c, x, mask, rng)
    if problem.kind == "order":
        for i, shape_of in enumerate((c, 1 - c)):
            place = slice(start + i * width, start + (i + 1) * width)
            x[0, place] += problem.size * _motif(width, 3 * shape_of)
            mask[0, place] = True
    elif c and problem.kind == "level":
        x[channel, span] += problem.size
    elif c and problem.kind == "variance":
        x[channel, span] *= problem.size
    elif c:
        channels = [channel, (channel + 2) % problem.n_channels]
        for moved in channels[: 2 if problem.kind == "two channels" else 1]:
            x[moved, span] += problem.size * _motif(width, c)
            mask[moved, span] = True
    mask[channel, span] |= c > 0
    return x, mask


def _motif(width, c):
    """A short wave: each class has its own number of periods, and rises or falls."""
    t = np.linspace(0, 1, width)
    return np.sin(2 * np.pi * (1 + c % 5) * 0.8 * t) * np.hanning(width) * (-1) ** (c // 5) * 1.5


def _beats(problem, c, x, mask, rng):
    """Beats at equal distances in one channel; one of them is absent in class 1."""
    beats = np.arange(rng.integers(5), problem.n_frames - 4, 12)
    absent = rng.choice(beats[1:-1])
    for beat in beats:
        if not c or beat != absent:
            x[0, beat : beat + 3] += problem.size
    mask[0, absent - 2 : absent + 5] = c > 0
    return x, mask


# Real sequences


SPLICED = ["BasicMotions", "JapaneseVowels", "NATOPS", "UWaveGestureLibrary"]
WAYS = ["time", "channel", "cell"]


def spliced(X, y, rng, n):
    """Yield `n` splices of sequences of two classes: values, both classes, mask, way.

    The mask says which cells are of the first class: one half in time, one half of the channels,
    or one of four quarters of both.
    """
    for i, way in zip(range(n), _repeated(WAYS), strict=False):
        a, b = rng.choice(len(X), 2, replace=False)
        while y[a] == y[b]:
            b = rng.integers(len(X))
        n_frames = min(X[a].shape[1], X[b].shape[1])
        early = np.arange(n_frames) < n_frames // 2
        some = rng.permutation(len(X[a])) < len(X[a]) // 2
        mask = {
            "time": np.ones((len(some), 1), bool) & (early ^ bool(i % 2)),
            "channel": some[:, None] & np.ones(n_frames, bool),
            "cell": some[:, None] == early,
        }[way]
        yield np.where(mask, X[a][:, :n_frames], X[b][:, :n_frames]), y[a], y[b], mask, way


def _repeated(values):
    for _, value in product(range(10**6), values):
        yield value


def real(name):
    """Return a set of the UEA archive: training sequences and classes, new ones and theirs."""
    return load_uea(name)[:4]

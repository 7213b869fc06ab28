"""Find events in long recordings: every window is classified, equal neighbours are joined."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from mvdfq._engines.choice import engine_of
from mvdfq._utils.short import Short
from mvdfq.sequences import Sequences, check_sequences
from mvdfq.sequences.windows import frames_of, window_starts

# The label of windows that are like no class.
UNKNOWN = "unknown"
# Values that are classified at once, all channels of some windows: memory does not grow with the
# recording.
BATCH = 2**20


class Event(NamedTuple):
    """Neighbouring windows of one class: times, label, mean probability, number of windows.

    Parameters
    ----------
    start, end : float
        Times in seconds; in frames if the sampling rate is not known.

    label : object
        The class, or ``"unknown"``.

    probability : float
        Mean probability of the class over the windows.

    n_windows : int
        Number of windows.

    Examples
    --------
    >>> from mvdfq.classifier.scanning import Event
    >>> Event(2.5, 4.0, "dog", 0.9, 3).end
    4.0
    """

    start: float
    end: float
    label: Any
    probability: float
    n_windows: int


@dataclass(frozen=True, repr=False)
class Scan(Short):
    """The windows of a recording with their classes, and the events that they add up to.

    Parameters
    ----------
    starts : ndarray of shape (n_windows,)
        Where the windows begin, in seconds; in frames if the sampling rate is not known.

    window, step, length : float
        Length of a window, from one start to the next, and length of the recording.

    labels : list
        Class of each window; ``"unknown"`` if it is like no class, None if it holds no known word
        (silence, missing values).

    classes : list
        The classes of the model.

    probabilities : ndarray of shape (n_windows, n_classes)
        Probabilities of the classes.

    typicality : ndarray of shape (n_windows,) or None
        The p values, if the scan was asked for unknown windows.

    Examples
    --------
    >>> import mvdfq, numpy as np
    >>> X, y = mvdfq.make_autoregressive(40, 2, 100, random_state=0)
    >>> clf = mvdfq.SequenceClassifier("fast").fit(X, y)
    >>> long = np.hstack([x for x in X[:4]])
    >>> scan = clf.scan(long, window=100, step=50)
    >>> len(scan.labels), scan.events[-1].end
    (7, 400.0)
    """

    starts: np.ndarray
    window: float
    step: float
    length: float
    labels: list[Any]
    classes: list[Any]
    probabilities: np.ndarray
    typicality: np.ndarray | None = None

    @property
    def events(self) -> list[Event]:
        """Neighbouring windows of one class as events, without windows that have no class.

        A window speaks for the time around its middle, half a step to both sides; the first and
        the last window also for the edges of the recording. So events do not overlap.
        """
        middles, n = self.starts + self.window / 2, len(self.labels)
        found = []
        for label, run in groupby(range(n), key=lambda i: self.labels[i]):
            mine = list(run)
            if label is None:
                continue
            start = 0.0 if mine[0] == 0 else float(middles[mine[0]] - self.step / 2)
            end = self.length if mine[-1] == n - 1 else float(middles[mine[-1]] + self.step / 2)
            chance = self.probabilities[mine]
            sure = chance[:, self.classes.index(label)] if label in self.classes else chance.max(1)
            found.append(Event(start, end, label, float(sure.mean()), len(mine)))
        return found


def scanned(
    clf: Any, x: Any, window: int | str | None, step: int | str | None, unknown: float | None
) -> Scan:
    """Return the windows of a recording as a classifier judges them, see its method `scan`."""
    X = check_sequences(x, n_channels=clf.n_channels_in_)
    if len(X) != 1:
        raise ValueError(f"scan takes one recording, got {len(X)} sequences.")
    rate = X.sampling_rate or clf.training_["sampling_rate"]
    median = max(int(clf.training_["median_length"]), 1)
    size = median if window is None else frames_of(window, rate, "window")
    step = max(size // 2, 1) if step is None else frames_of(step, rate, "step")
    starts = window_starts(int(X.lengths[0]), size, step)
    parts = [_judged(clf, batch, unknown) for batch in _batches(X, starts, size)]
    labels = [label for part, _, _ in parts for label in part]
    chances = [chance for _, chance, _ in parts] or [np.empty((0, len(clf.classes_)))]
    typical = None if unknown is None else np.concatenate([np.empty(0), *(p[2] for p in parts)])
    unit, n = rate or 1.0, float(X.lengths[0])
    about = starts / unit, size / unit, step / unit, n / unit, labels, clf.classes_.tolist()
    return Scan(*about, np.concatenate(chances), typical)


def _batches(X: Sequences, starts: np.ndarray, size: int) -> Iterator[Sequences]:
    """Yield some windows of one sequence at a time."""
    n = max(BATCH // (X.n_rows * size), 1)
    for a in range(0, len(starts), n):
        parts = [X.data[:, start : start + size] for start in starts[a : a + n].tolist()]
        offsets = np.cumsum([0, *(part.shape[1] for part in parts)])
        yield X.with_data(np.concatenate(parts, axis=1), offsets)


def _judged(clf: Any, X: Sequences, unknown: float | None) -> tuple[list[Any], np.ndarray, Any]:
    """Return labels, probabilities and p values of some windows."""
    with warnings.catch_warnings(), engine_of(clf):
        # the labels say which windows hold no known word
        warnings.filterwarnings("ignore", message="No known word")
        read = clf._read(X)
        decision, _, _, lost = clf._decide(read)
        p = None if unknown is None else clf._doubt(read, decision, lost)
    chosen = clf.problems_.predicted(decision)
    typical = None if p is None else p[np.arange(len(p)), chosen]
    strange = np.zeros(len(lost), bool) if typical is None else typical <= unknown
    labels = [
        None if nothing else UNKNOWN if odd else label
        for label, nothing, odd in zip(clf.classes_[chosen].tolist(), lost, strange, strict=True)
    ]
    return labels, clf.probabilities(decision), typical

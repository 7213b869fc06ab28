"""Long recordings: events in windows, and sequences that arrive a few frames at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from mvdfq._engines.choice import engine_of
from mvdfq._utils.checks import is_number
from mvdfq._utils.errors import ParameterError, Sentence, quiet, warn
from mvdfq._utils.short import Short, counted
from mvdfq.sequences import Sequences, check_sequences, offsets_of
from mvdfq.sequences.check import TABLE, as_array, real, refuse
from mvdfq.sequences.containers import is_table
from mvdfq.sequences.sampling import frames_of, window_starts

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
    >>> from mvdfq.classifier.recordings import Event
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
        events = []
        for label, run in groupby(range(n), key=lambda i: self.labels[i]):
            places = list(run)
            if label is None:
                continue
            start = 0.0 if places[0] == 0 else float(middles[places[0]] - self.step / 2)
            end = self.length if places[-1] == n - 1 else float(middles[places[-1]] + self.step / 2)
            chance = self.probabilities[places]
            sure = chance[:, self.classes.index(label)] if label in self.classes else chance.max(1)
            events.append(Event(start, end, label, float(sure.mean()), len(places)))
        return events


def scanned(
    clf: Any, x: Any, window: int | str | None, step: int | str | None, unknown: float | None
) -> Scan:
    """Return the windows of a recording as a classifier judges them, see its method `scan`."""
    X = check_sequences(x, n_channels=clf.n_channels_in_)
    if len(X) != 1:
        raise ValueError(f"scan takes one recording, got {len(X)} sequences.")
    if getattr(clf, "source_", {}).get("strands") == "both":
        problem = "scan reads one strand, and the model was trained on both strands"
        raise ValueError(Sentence(problem, "; train a model with ", {"strands": "one"}, "."))
    if unknown is not None and not (is_number(unknown) and 0 <= unknown <= 1):
        raise ParameterError("unknown", f"must be a p value from 0 to 1, got {unknown!r}")
    rate = X.sampling_rate or clf.training_["sampling_rate"]
    median = max(int(clf.training_["median_length"]), 1)
    size = median if window is None else frames_of(window, rate, "window")
    step = max(size // 2, 1) if step is None else frames_of(step, rate, "step")
    starts = window_starts(int(X.lengths[0]), size, step)
    parts = [_judged(clf, batch, unknown) for batch in _batches(X, starts, size)]
    labels = [label for part, _, _ in parts for label in part]
    chances = [chance for _, chance, _ in parts] or [np.empty((0, len(clf.classes_)))]
    warn_coarse(clf, unknown)
    typical = None if unknown is None else np.concatenate([np.empty(0), *(p[2] for p in parts)])
    unit, n = rate or 1.0, float(X.lengths[0])
    return Scan(
        starts / unit, window=size / unit, step=step / unit, length=n / unit, labels=labels,
        classes=clf.classes_.tolist(), probabilities=np.concatenate(chances), typicality=typical,
    )  # fmt: skip


def warn_coarse(clf: Any, unknown: float | None) -> None:
    """Warn if no p value can be as small as `unknown`, since few sequences were held out."""
    n = len(clf.calibration_.y) if clf.calibration_ else 0
    if unknown is not None and unknown < (least := 1 / (1 + n)) < 1:
        problem = f"no sequence can be unknown: with {n} held-out sequences, p values are "
        problem += f"{least:.3g} or more; train with more sequences, or pass "
        warn(Sentence(problem, {"unknown": round(least + 5e-4, 3)}, "."))


def _batches(X: Sequences, starts: np.ndarray, size: int) -> Iterator[Sequences]:
    """Yield some windows of one sequence at a time."""
    n = max(BATCH // (X.n_rows * size), 1)
    for a in range(0, len(starts), n):
        parts = [X.data[:, start : start + size] for start in starts[a : a + n].tolist()]
        yield X.with_data(np.concatenate(parts, axis=1), offsets_of(p.shape[1] for p in parts))


def _judged(clf: Any, X: Sequences, unknown: float | None) -> tuple[list[Any], np.ndarray, Any]:
    """Return labels, probabilities and p values of some windows."""
    # the labels say which windows hold no known word
    with quiet("No known word"), engine_of(clf):
        read = clf._read(X)
        decision, _, _, lost = clf._decide(read)
        p = None if unknown is None else clf._doubt(read, decision, lost)
    chosen = clf.problems_.predicted(decision)
    typical = None if p is None else p[np.arange(len(p)), chosen]
    strange = np.zeros(len(lost), bool) if typical is None else typical <= unknown
    each = zip(clf.classes_[chosen].tolist(), lost, strange, strict=True)
    labels = [None if nothing else UNKNOWN if odd else label for label, nothing, odd in each]
    return labels, clf.probabilities(decision), typical


class Stream:
    """One sequence that arrives a few frames at a time, classified after every update.

    `SequenceClassifier.stream` makes a stream. `update` takes frames; the other methods classify
    all frames so far, with the same result to the last bit as for one sequence of these frames, and
    in the same time. With a `window`, the stream forgets: the methods classify the last frames,
    and time and memory do not grow.

    Parameters
    ----------
    classifier : SequenceClassifier
        A fitted classifier of sequences of numbers.
    window : int or str, default=None
        Number of the last frames to classify, or a duration such as ``"5s"``.

    Attributes
    ----------
    n_frames : int
        Number of frames so far, without forgotten frames.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> clf = mvdfq.SequenceClassifier().fit(X, y)
    >>> stream = clf.stream()
    >>> for frame in X[0].T:
    ...     said = stream.update(frame).predict()
    >>> bool(said == clf.predict(X[:1])[0])
    True
    """

    def __init__(self, classifier: Any, window: int | str | None = None) -> None:
        self._classifier = classifier
        rate = classifier.training_["sampling_rate"]
        self._window = None if window is None else frames_of(window, rate, "window")
        self._symbolic = classifier.terms_[0].symbolic_in
        if self._symbolic is None:
            problem = "A stream takes numbers or letters, but the classifier was fitted on symbols"
            hint = "fit a classifier with symbols=... on numbers or letters"
            raise ValueError(f"{problem}; {hint}.")
        self._parts = [np.empty((classifier.n_channels_in_, 0))]

    @property
    def n_frames(self) -> int:
        """Number of frames so far, without forgotten frames."""
        return self._joined().shape[1]

    def _joined(self) -> np.ndarray:
        """Return all frames."""
        self._parts = [np.concatenate(self._parts, axis=1)]
        return self._parts[0]

    def update(self, frames: Any) -> "Stream":
        """Append frames, and return the same stream.

        `frames` is an array of shape (n_channels, n_frames), or one frame of shape (n_channels,).
        If there is one channel, `frames` may be its next values, or a string of letters.
        """
        self._parts.append(self._checked(frames))
        if self._window is not None:
            self._parts = [self._joined()[:, -self._window :]]
        return self

    def decision_function(self) -> np.ndarray:
        """Return the decision values of the frames so far, as of one sequence."""
        return self._decision()[0]

    def predict(self) -> Any:
        """Return the class of the frames so far."""
        clf = self._classifier
        return clf.classes_[clf.problems_.predicted(self._decision())[0]]

    def predict_proba(self) -> np.ndarray:
        """Return the probability of each class given the frames so far, (n_classes,)."""
        return self._classifier.probabilities(self._decision())[0]

    def _decision(self) -> np.ndarray:
        """Return the decision values of all frames so far, as one sequence."""
        frames = self._joined()
        # missing frames at the end count only if more frames follow
        present = np.flatnonzero(~np.isnan(frames).all(axis=0))
        n = int(present[-1]) + 1 if present.size else 0
        return self._classifier.decision_function(self._sequence(frames[:, :n]))

    def _checked(self, frames: Any) -> np.ndarray:
        n_channels = self._classifier.n_channels_in_
        if is_table(frames):
            raise ValueError(f"frames must be an array, got {TABLE[0]}; pass {TABLE[1]}.")
        frames = check_sequences([frames]).data if isinstance(frames, str) else as_array(frames, 0)
        if frames.ndim < 2 and (n_channels == 1 or frames.size == n_channels):
            frames = frames.reshape(n_channels, -1)
        if frames.ndim != 2 or len(frames) != n_channels:
            problem = f"frames must have shape ({n_channels}, n_frames), got {frames.shape}"
            learned = counted(n_channels, "channel")
            raise ValueError(f"{problem}; the classifier was fitted on {learned}.")
        frames = real(frames, 0).astype(float)
        refuse(np.isinf(frames), self._sequence(frames), "is infinite", "NaN marks a missing value")
        return frames

    def _sequence(self, frames: np.ndarray) -> Sequences:
        return Sequences(frames, np.array([0, frames.shape[1]]), symbolic=self._symbolic)

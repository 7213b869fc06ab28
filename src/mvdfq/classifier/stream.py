"""Sequences that arrive a few frames at a time."""

from typing import Any

import numpy as np

from mvdfq.sequences.check import as_array, check_sequences, refuse
from mvdfq.sequences.containers import Sequences
from mvdfq.sequences.windows import frames_of


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
        first = classifier.terms_[0]
        if first.symbolic_in is None:
            raise ValueError(
                "A stream takes numbers or letters, but the classifier was fitted on symbols; "
                "fit a classifier with symbols=... on numbers or letters."
            )
        self._symbolic = first.symbolic_in
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
        """Append frames.

        Parameters
        ----------
        frames : array-like of shape (n_channels, n_frames) or (n_channels,), or str
            The next frames or frame; if there is one channel, its next values or letters.

        Returns
        -------
        self : Stream
            The same stream.
        """
        self._parts.append(self._checked(frames))
        if self._window is not None:
            self._parts = [self._joined()[:, -self._window :]]
        return self

    def decision_function(self) -> np.ndarray:
        """Return the decision values of the frames so far.

        Returns
        -------
        decision : ndarray of shape (n_classes,) or float
            As in `SequenceClassifier.decision_function`.
        """
        return self._decision()[0]

    def predict(self) -> Any:
        """Return the class of the frames so far.

        Returns
        -------
        label : object
            One of the classes.
        """
        clf = self._classifier
        return clf.classes_[clf.problems_.predicted(self._decision())[0]]

    def predict_proba(self) -> np.ndarray:
        """Return the probability of each class given the frames so far.

        Returns
        -------
        probabilities : ndarray of shape (n_classes,)
            The probabilities sum to 1.
        """
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
        frames = check_sequences([frames]).data if isinstance(frames, str) else as_array(frames, 0)
        if frames.ndim < 2 and (n_channels == 1 or frames.size == n_channels):
            frames = frames.reshape(n_channels, -1)
        if frames.ndim != 2 or len(frames) != n_channels:
            raise ValueError(
                f"frames must have shape ({n_channels}, n_frames), got {frames.shape}; the "
                f"classifier was fitted on {n_channels} channels."
            )
        frames = frames.astype(float)
        refuse(np.isinf(frames), self._sequence(frames), "is infinite", "NaN marks a missing value")
        return frames

    def _sequence(self, frames: np.ndarray) -> Sequences:
        return Sequences(frames, np.array([0, frames.shape[1]]), symbolic=self._symbolic)

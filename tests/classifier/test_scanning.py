"""Windows, scans and streams that forget."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import mvdfq
from mvdfq.sequences.sampling import cut, frames_of, window_starts
from naive import windows as naive


@pytest.fixture(scope="module")
def fitted():
    X, y = mvdfq.make_autoregressive(40, 2, (30, 50), random_state=0)
    return mvdfq.SequenceClassifier("fast").fit(X, y)


@given(st.integers(0, 40), st.integers(1, 12), st.integers(1, 12))
def test_starts_against_their_slow_twin(n, size, step):
    assert window_starts(n, size, step).tolist() == naive.starts(n, size, step)


@pytest.mark.parametrize(
    ("duration", "rate", "frames"),
    [("5s", 100.0, 500), ("500ms", 10.0, 5), ("2 min", 1.5, 180), ("0.5h", 2, 3600), (7, None, 7),
     ("7", 100.0, 7)],
)  # fmt: skip
def test_durations(duration, rate, frames):
    assert frames_of(duration, rate, "window") == frames


@pytest.mark.parametrize(
    ("duration", "words"),
    [("5 apples", "a number of frames, or a duration"), ("5s", "rate is not known"),
     (0, "at least one frame"), ("2.5", "whole frames"), (-3, "a duration"), (2.5, "a duration")],
)  # fmt: skip
def test_durations_that_make_no_sense(duration, words):
    with pytest.raises(ValueError, match=words):
        frames_of(duration, None, "window")


def test_windows_keep_values_labels_and_groups():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(2, n)) for n in (10, 3, 0, 7)]
    found = mvdfq.windows(X, 4, 3, y=["a", "b", "a", "c"], groups=["u", "v", "u", "v"])
    assert found.y.tolist() == ["a", "a", "a", "b", "c", "c"]
    assert found.groups.tolist() == ["u", "u", "u", "v", "v", "v"]
    assert found.names == ["0@0", "0@3", "0@6", "1@0", "3@0", "3@3"]
    for window, (i, a) in zip(found.X, [(0, 0), (0, 3), (0, 6), (1, 0), (3, 0), (3, 3)],
                              strict=True):  # fmt: skip
        assert_array_equal(window, X[i][:, a : a + 4])


def test_windows_of_one_recording_are_one_group():
    X = mvdfq.check_sequences([np.zeros((1, 20)), np.ones((1, 20))])
    assert mvdfq.windows(X, 5).groups.tolist() == ["0"] * 4 + ["1"] * 4


def test_windows_take_labels_of_all_recordings_once():
    X = [np.zeros((1, 20)), np.ones((1, 20))]
    with pytest.raises(ValueError, match="y must have 2 entries, got 3"):
        mvdfq.windows(X, 5, y=["a", "b", "c"])
    with pytest.raises(ValueError, match="groups must have 2 entries, got 1"):
        mvdfq.windows(X, 5, groups=["a"])
    with pytest.raises(ValueError, match="y and groups stand in the Dataset"):
        mvdfq.windows(mvdfq.windows(X, 5), 5, y=["a"] * 8)


def test_windows_are_counted_in_plain_english():
    X = mvdfq.check_sequences([np.zeros((1, 20))])
    assert mvdfq.windows(X, 20).remarks == ("cut 1 recording into 1 window of 20 frames, 20 apart",)
    assert "2 windows of 1 frame, 10 apart" in mvdfq.windows(X, 1, 10).remarks[0]


def test_a_scan_says_what_predict_says_of_each_window(fitted):
    x = np.random.default_rng(0).normal(size=(2, 300))
    scan = fitted.scan(x, window=40, step=15)
    parts, _, starts = cut(mvdfq.check_sequences([x]), 40, 15)
    assert_array_equal(scan.starts, starts)
    assert scan.labels == fitted.predict(parts).tolist()
    assert_allclose(scan.probabilities, fitted.predict_proba(parts))
    doubted = fitted.scan(x, window=40, step=15, unknown=0.3)
    assert_allclose(doubted.typicality, fitted.typicality(parts))
    strange = doubted.typicality <= 0.3
    assert [label == "unknown" for label in doubted.labels] == strange.tolist()


def test_p_values_too_coarse_for_unknown_are_told(fitted):
    x, n = np.random.default_rng(0).normal(size=(2, 300)), len(fitted.calibration_.y)
    least = 1 / (1 + n)  # all classes are small, and are judged together
    with pytest.warns(UserWarning, match=f"with {n} held-out seq.* pass unknown=0.0"):
        scan = fitted.scan(x, window=40, step=15, unknown=0.9 * least)
    assert "unknown" not in scan.labels
    assert fitted.p_values([x, -x, 0 * x]).min() >= least


def test_batches_of_windows_do_not_change_a_scan(fitted, monkeypatch):
    x = np.random.default_rng(0).normal(size=(2, 300))
    whole = fitted.scan(x, 40, 15)
    monkeypatch.setattr("mvdfq.classifier.recordings.BATCH", 200)
    again = fitted.scan(x, 40, 15)
    assert again.labels == whole.labels
    assert_allclose(again.probabilities, whole.probabilities)


@given(st.lists(st.sampled_from(["a", "b", None, "unknown"]), min_size=1, max_size=12))
def test_events_against_their_slow_twin(labels):
    starts = 2.0 * np.arange(len(labels))
    chances = np.tile([0.75, 0.25], (len(labels), 1))
    length = float(starts[-1] + 5)
    scan = mvdfq.Scan(starts, 4.0, 2.0, length, labels, ["a", "b"], chances)
    expected = naive.events(starts.tolist(), 4.0, 2.0, length, labels)
    assert [(e.start, e.end, e.label, e.n_windows) for e in scan.events] == expected


def test_windows_without_words_have_no_class(fitted):
    x = np.random.default_rng(0).normal(size=(2, 200))
    x[:, 80:140] = np.nan
    scan = fitted.scan(x, 20, 20)
    assert [label is None for label in scan.labels] == [False] * 4 + [True] * 3 + [False] * 3
    assert all(event.end <= 80 or event.start >= 140 for event in scan.events)


def test_a_scan_of_several_or_no_frames(fitted):
    with pytest.raises(ValueError, match="one recording, got 2"):
        fitted.scan(mvdfq.check_sequences([np.zeros((2, 9)), np.zeros((2, 9))]))
    assert fitted.scan(np.empty((2, 0)), 10).events == []


@given(st.integers(1, 30), st.lists(st.integers(0, 60), max_size=5), st.integers(0, 3))
def test_a_stream_that_forgets_classifies_the_last_frames(fitted, window, cuts, n_missing):
    x = np.random.default_rng(window).normal(size=(2, 60))
    x[:, 60 - n_missing :] = np.nan
    stream = fitted.stream(window=window)
    for piece in np.split(x, sorted(cuts), axis=1):
        stream.update(piece)
    assert stream.n_frames == window
    if window > n_missing:
        last = x[:, 60 - window :]
        assert_allclose(stream.decision_function(), fitted.decision_function([last])[0])


@pytest.mark.parametrize("n_frames", [500, 5000])
def test_a_stream_that_forgets_keeps_few_frames(fitted, n_frames):
    stream = fitted.stream(window=40)
    for piece in np.array_split(np.random.default_rng(0).normal(size=(2, n_frames)), 50, axis=1):
        stream.update(piece)
    assert sum(part.shape[1] for part in stream._parts) == stream.n_frames == 40


@pytest.mark.parametrize("unknown", [5, -1, np.nan, "0.05", True])
def test_unknown_is_a_p_value(fitted, unknown):
    with pytest.raises(ValueError, match="unknown must be a p value from 0 to 1, got"):
        fitted.scan(np.zeros((2, 60)), 20, unknown=unknown)

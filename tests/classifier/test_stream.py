"""Streams: frames as they arrive, and the answer of the batch to the last bit."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import mvdfq
from mvdfq import SequenceClassifier, Spectrum

FRAMES = {
    "none": "passthrough",
    "delta": mvdfq.Delta(),
    "smooth": make_pipeline(mvdfq.Smooth(5), mvdfq.Delta(keep=False)),
    "rotate": mvdfq.Rotate(deltas=True),
    "whole sequence": mvdfq.Centre(),
    "lags": mvdfq.Lags(2, step=3),
    "views": mvdfq.Stack(["passthrough", make_pipeline(mvdfq.Smooth(3), mvdfq.Standardize())]),
}


@pytest.fixture(scope="module", name="data")
def make_data():
    X, y = mvdfq.make_autoregressive(n_sequences=24, n_channels=2, n_timepoints=30, random_state=0)
    return X, y


@pytest.fixture(scope="module", params=FRAMES)
def fitted(request, data):
    clf = SequenceClassifier(
        frames=FRAMES[request.param], symbols="direct", kernel=Spectrum([1, 2]), pyramid=2, C=10
    )
    return clf.fit(*data), request.param


def feed(stream, x, cuts):
    for piece in np.split(x, sorted(cuts), axis=1):
        stream.update(piece)
    return stream


@pytest.mark.filterwarnings("ignore:.*no word|No known word")
@given(data=st.data())
@pytest.mark.slow
def test_a_stream_says_what_the_batch_says(fitted, data):
    clf, _ = fitted
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    n = data.draw(st.integers(1, 40))
    x = np.round(rng.normal(size=(2, n)), 1)  # many ties
    x[rng.random((2, n)) < 0.1] = np.nan
    x[:, n // 2] = 1.0  # not missing from end to end
    cuts = data.draw(st.lists(st.integers(0, n), max_size=6))
    stream = feed(clf.stream(), x, cuts)
    assert_array_equal(stream.decision_function(), clf.decision_function([x])[0])
    assert stream.predict() == clf.predict([x])[0]
    assert_array_equal(stream.predict_proba(), clf.predict_proba([x])[0])
    assert stream.n_frames == n


def test_the_running_answer_is_that_of_the_beginning(fitted, data):
    clf, _ = fitted
    x, stream = data[0][3], clf.stream()
    for t, frame in enumerate(x.T, start=1):
        stream.update(frame)
        if t % 7 == 0:
            assert_array_equal(stream.decision_function(), clf.decision_function([x[:, :t]])[0])


def test_gaps_at_the_end_are_part_of_it_only_if_it_goes_on(data):
    clf = SequenceClassifier(frames="delta", symbols="direct", kernel=Spectrum(1), C=1).fit(*data)
    x = data[0][0]
    gap = np.full((2, 4), np.nan)
    stream = clf.stream().update(x).update(gap)
    assert stream.n_frames == 34
    assert_array_equal(stream.decision_function(), clf.decision_function([x])[0])
    stream.update(x)
    assert_array_equal(
        stream.decision_function(), clf.decision_function([np.hstack([x, gap, x])])[0]
    )


def test_letters_and_single_values():
    clf = SequenceClassifier(kernel=Spectrum(2)).fit(["ABAB", "BABA", "BBAA", "AABB"], [0, 0, 1, 1])
    assert clf.stream().update("AB").update("AB").predict() == 0
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 30)), np.arange(20) % 2
    clf = SequenceClassifier(frames="delta", symbols="direct", kernel=Spectrum(2), C=1).fit(X, y)
    stream = clf.stream()
    for value in X[0]:
        stream.update(value)
    assert_array_equal(stream.decision_function(), clf.decision_function(X[:1])[0])


def test_bad_frames_are_refused_and_change_nothing(data):
    clf = SequenceClassifier(frames="delta", symbols="direct", kernel=Spectrum(1), C=1).fit(*data)
    stream = clf.stream().update(data[0][0])
    before = stream.decision_function()
    with pytest.raises(ValueError, match=r"frames must have shape \(2, n_frames\), got \(3, 5\)"):
        stream.update(np.ones((3, 5)))
    with pytest.raises(ValueError, match=r"must have shape \(2, n_frames\), got \(4,\)"):
        stream.update(np.ones(4))  # one frame has two values
    with pytest.raises(ValueError, match=r"must have shape \(2, n_frames\), got \(1, 3\)"):
        stream.update("ABC")
    with pytest.raises(ValueError, match="channel 1: the value at time 0 is infinite"):
        stream.update([0.0, np.inf])
    assert_array_equal(stream.decision_function(), before)
    assert stream.n_frames == 30


@pytest.mark.filterwarnings("ignore:.* did not occur in training")
@pytest.mark.parametrize("text", ["ZZYYA", "ABZYZ", "YABZY", "AABBC"])
def test_letters_never_seen_are_told_apart(text):
    clf = SequenceClassifier(kernel=Spectrum([1, 2]), manifold=False, pyramid=1)
    clf.fit(["ABAC", "BABC", "BBAA", "AACB"], [0, 0, 1, 1])
    stream = clf.stream()
    for letter in text:
        stream.update(letter)
    assert_array_equal(stream.decision_function(), clf.decision_function([text])[0])


def test_a_classifier_of_symbols_has_no_stream(data):
    X, y = data
    symbols = mvdfq.DirectQuantizer(3).fit_transform(X)
    clf = SequenceClassifier(kernel=Spectrum(2), C=1).fit(symbols, y)
    with pytest.raises(ValueError, match="takes numbers or letters"):
        clf.stream()


def test_a_classifier_that_is_not_fitted_has_no_stream():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        SequenceClassifier().stream()


@pytest.mark.parametrize("n_terms", [1, 2])
def test_a_stream_of_filters_says_what_the_batch_says(n_terms):
    rng = np.random.default_rng(0)
    X, y = [rng.normal(size=(2, 30)) for _ in range(12)], np.arange(12) % 2
    terms = [mvdfq.FilterTerm([1 + i], name=f"filters {i}") for i in range(n_terms)]
    clf = mvdfq.SequenceClassifier(terms=terms, cv=2).fit(X, y)
    stream = clf.stream().update(X[0])
    assert stream.decision_function() == clf.decision_function(X[:1])[0]


@pytest.mark.parametrize(
    "frames",
    [
        np.full((2, 3), 1j),
        np.zeros((2, 3), "M8[s]"),
        np.zeros((2, 3), "m8[s]"),
        ["1", "2"],
        [object(), 1.0],
    ],
    ids=["complex", "dates", "durations", "texts", "objects"],
)
def test_frames_that_are_not_numbers_are_refused(data, frames):
    clf = SequenceClassifier(frames="delta", symbols="direct", kernel=Spectrum(1), C=1).fit(*data)
    with pytest.raises(ValueError, match="must hold real numbers, got dtype"):
        clf.stream().update(frames)


def test_a_table_of_frames_is_refused_since_its_time_runs_down(data):
    clf = SequenceClassifier(frames="delta", symbols="direct", kernel=Spectrum(1), C=1).fit(*data)
    table = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    with pytest.raises(ValueError, match=r"got a table.* pass table\.to_numpy\(\)\.T"):
        clf.stream().update(table)

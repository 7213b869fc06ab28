"""Which channels a row is made of, and what its symbols are called: parts of ours and of others."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import mvdfq
from mvdfq import SequenceClassifier, Spectrum
from mvdfq.frames.base import UnknownShares, shares_of


def telling_channel(n_channels=4, n_sequences=40, seed=0):
    """Sequences of noise, of which channel 1 alone tells the class: by its level."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_sequences) % 2
    X = rng.normal(size=(n_sequences, n_channels, 30))
    X[:, 1] = 3 * np.sign(rng.normal(size=(n_sequences, 30)) + 2 * y[:, None] - 1)
    X[:, 1] += 0.1 * rng.normal(size=(n_sequences, 30))
    return X, y


def fitted(**parts):
    X, y = telling_channel()
    X = mvdfq.check_sequences(X)
    options = {"frames": "passthrough", "kernel": Spectrum(1), "pyramid": 1, "C": 1, "cv": 2}
    return SequenceClassifier(**{**options, **parts}).fit(X, y), X, y


# Shares of channels --------------------------------------------------------------------------


def test_bits_belong_to_the_channels_of_their_component():
    # Channel 1 is the widest: it is the first component alone, whose bit tells the classes.
    clf, *_ = fitted(symbols=mvdfq.HashingQuantizer(3))
    components = [component for component, _ in clf.terms_[0].encoders[-1].modes_]
    assert_allclose(
        clf.terms_[0].encoders[-1].channel_shares(),
        clf.terms_[0].encoders[-1].components_[components] ** 2,
    )
    assert clf.feature_importance_.argmax() == 1


def test_codewords_belong_to_the_channels_that_they_differ_in():
    clf, *_ = fitted(symbols=mvdfq.CodebookQuantizer(2))
    first, second = clf.terms_[0].encoders[-1].codebooks_[0]
    expected = (first - second) ** 2 / ((first - second) ** 2).sum()
    assert_allclose(clf.terms_[0].channel_shares(4)[0], expected)
    assert expected.argmax() == 1


def test_a_single_codeword_is_made_of_all_channels():
    one = mvdfq.CodebookQuantizer(1).fit(telling_channel()[0])
    assert_allclose(one.channel_shares(), np.full((1, 4), 0.25))


def test_symbolic_channels_that_several_views_pass_on_are_counted_once():
    X = [[[0.0, 1.0, 2.0], "ABA"], [[1.0, 0.0, 2.0], "BBA"]]
    stack = mvdfq.Stack(["passthrough", mvdfq.Delta(), mvdfq.Rotate(deltas=True)]).fit(X)
    shares = stack.channel_shares()
    names = stack.get_feature_names_out().tolist()
    assert names == ["x0", "x1", "delta: x0", "delta x0", "pc0", "pc1"]
    assert_allclose(shares, [[1, 0], [0, 1], [1, 0], [1, 0], [1, 0], [1, 0]], atol=1e-12)


def test_lags_are_copies():
    lags = mvdfq.Lags(3).fit(np.zeros((2, 2, 9)))
    assert_array_equal(lags.channel_shares(), np.vstack([np.eye(2)] * 3))


def test_a_channel_never_seen_has_a_name_in_joint_symbols():
    X = [[[0.0, 1.0, 2.0, 3.0], "ABAB"], [[1.0, 0.0, 2.0, 3.0], "BBAA"]]
    joint = mvdfq.JointQuantizer(n_bins=2).fit(X)
    (names,) = joint.symbol_names()
    assert len(names) == joint.n_symbols_[0] == 6
    codes = joint.transform([[[0.0, 3.0, 0.0], "ABZ"]])[0][0]
    assert [names[code] for code in codes] == ["low&65", "high&66", "low&other"]


def test_names_of_many_joint_symbols_take_no_memory():
    X = np.random.default_rng(0).normal(size=(4, 6, 50))
    joint = mvdfq.JointQuantizer(6, n_bins=32).fit(X)
    (names,) = joint.symbol_names()
    assert len(names) == 32**6
    assert names[32**6 - 1] == "&".join(["highest 6"] * 6)


# Parts of others -----------------------------------------------------------------------------


class Doubled(TransformerMixin, BaseEstimator):
    """A transformer of somebody else, which says nothing of itself."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        X = mvdfq.check_sequences(X)
        return X.with_data(2 * X.data)

    def __sklearn_is_fitted__(self):
        return True


class Telling(Doubled):
    """A transformer of somebody else that says which channels its rows are made of."""

    def channel_shares(self):
        return np.eye(4)[::-1]


class Wrong(Doubled):
    def channel_shares(self):
        return np.ones((4, 4))


FOREIGN = {
    "alone": Doubled(),
    "in a pipeline": make_pipeline(mvdfq.Delta(), Doubled()),
    "in a stack": mvdfq.Stack(["passthrough", make_pipeline(Doubled(), mvdfq.Delta(keep=False))]),
    "of scikit-learn": FunctionTransformer(mvdfq.check_sequences),
}


@pytest.mark.parametrize("where", FOREIGN)
def test_parts_that_say_nothing_have_no_importance_by_channel(where):
    clf, X, _ = fitted(frames=FOREIGN[where], symbols="direct")
    name = "FunctionTransformer" if "scikit" in where else "Doubled"
    with pytest.raises(AttributeError, match=f"{name} does not say which channels its rows"):
        clf.feature_importance_  # noqa: B018
    explanation = clf.explain(X[:1])
    with pytest.raises(UnknownShares, match=f"give {name} a method channel_shares"):
        explanation.by_channel  # noqa: B018


@pytest.mark.parametrize("where", FOREIGN)
def test_parts_that_say_nothing_are_explained_by_row(where):
    clf, X, _ = fitted(frames=FOREIGN[where], symbols="direct")
    explanation = clf.explain(X[:1])
    total = explanation.by_row.sum(axis=1) + explanation.constant
    assert_allclose(total, explanation.margins, atol=1e-6)
    reason = explanation.top(1)[0]
    assert reason.channels == ()
    assert str(reason) in str(explanation)
    assert explanation.to_dict()["by_channel"] is None


def test_parts_of_others_may_say_it():
    clf, X, _ = fitted(frames=Telling(), symbols="direct")
    assert clf.feature_importance_.argmax() == 2
    assert_allclose(clf.explain(X[:1]).by_channel, clf.explain(X[:1]).by_row[:, ::-1])


def test_shares_that_cannot_be_right_are_refused():
    clf, *_ = fitted(frames=Wrong(), symbols="direct")
    with pytest.raises(ValueError, match=r"Wrong.channel_shares\(\) must return .* sum to 1"):
        clf.feature_importance_  # noqa: B018
    with pytest.raises(ValueError, match=r"shape \(n_rows, 3\)"):
        shares_of([Telling()], 3)


class Steps(mvdfq.DirectQuantizer):
    """A quantizer of somebody else that gives no names."""

    symbol_names = property()


def test_symbols_without_names_are_numbered():
    clf, X, _ = fitted(symbols=Steps(2))
    assert list(clf.explain(X[:1]).names[0]) == ["#0", "#1"]
    clf, X, _ = fitted(symbols=mvdfq.Rows([mvdfq.DirectQuantizer(2), Steps(3)]))
    names = clf.explain(X[:1]).names
    assert list(names[0]) == ["low", "high"]
    assert list(names[-1]) == ["#0", "#1", "#2"]


def test_a_quantizer_among_the_frames_names_the_symbols():
    frames = make_pipeline(mvdfq.Delta(keep=False), mvdfq.DirectQuantizer(3))
    clf, X, _ = fitted(frames=frames, symbols="passthrough")
    assert list(clf.explain(X[:1]).names[0]) == ["falling", "steady", "rising"]

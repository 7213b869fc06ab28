"""What would be lost without a channel: the slow twin, and laws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mvdfq
from mvdfq import SequenceClassifier
from mvdfq.classifier import learning
from mvdfq.explain.importance import Judged, lost
from mvdfq.terms.base import Work
from mvdfq.terms.svm import FoldMachine
from mvdfq.terms.total import Total
from naive import importance as naive

TELLS, NOISE, COPY, CONSTANT = range(4)


def made(n, seed=0, copies=1):
    """Sequences of three classes: a tone in a channel and its copies, noise, a constant."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    tone = 0.8 * np.sin(np.arange(60) * np.array([0.3, 0.7, 1.3])[y][:, None])
    tells = tone + rng.normal(size=(n, 60))
    noise, constant = rng.normal(size=(n, 60)), np.full((n, 60), 2.0)
    channels = [tells, noise, tells if copies > 1 else rng.normal(size=(n, 60)), constant]
    return np.stack(channels, axis=1), np.array(["a", "b", "c"])[y]


@pytest.fixture(scope="module")
def clf():
    with pytest.warns(UserWarning, match="do not change"):
        return SequenceClassifier("fast").fit(*made(90))


@pytest.mark.parametrize("seed", range(3))
def test_what_is_lost_is_what_the_definition_says(seed):
    rng = np.random.default_rng(seed)
    margins, parts, y = rng.normal(size=(9, 3)), rng.normal(size=(9, 3, 4)), rng.integers(0, 3, 9)
    judged = [
        Judged(margins[a:b], parts[a:b], y[a:b], lambda m: m, 2.5) for a, b in [(0, 4), (4, 9)]
    ]
    expected = naive.lost(margins.tolist(), parts.tolist(), y.tolist(), 2.5)
    found = lost(judged)
    assert_allclose(found[:, :, 0], expected, atol=1e-12)
    assert (found[:, :, 1] < found[:, :, 0]).all()
    assert (found[:, :, 0] < found[:, :, 2]).all()


def test_two_classes_are_one_column():
    rng = np.random.default_rng(0)
    margins, parts, y = rng.normal(size=(8, 1)), rng.normal(size=(8, 1, 2)), np.arange(8) % 2
    found = lost([Judged(margins, parts, y, lambda m: m[:, 0], 1.5)])
    both = [np.concatenate([np.zeros_like(one), one], axis=1) for one in (margins, parts)]
    expected = naive.lost(both[0].tolist(), both[1].tolist(), y.tolist(), 1.5)
    assert_allclose(found[:, :, 0], expected, atol=1e-12)


def test_groups_that_agree_widen_the_interval():
    rng = np.random.default_rng(0)
    margins, y = np.repeat(rng.normal(size=(6, 2)), 5, axis=0), np.arange(30) % 2
    judged = Judged(margins, margins[:, :, None], np.repeat(y[:6], 5), lambda m: m, 1.0)
    alone, grouped = lost([judged]), lost([judged], np.repeat(np.arange(6), 5))
    assert_array_equal(alone[:, :, 0], grouped[:, :, 0])
    assert (np.ptp(grouped[:, 0, 1:], axis=1) > 1.5 * np.ptp(alone[:, 0, 1:], axis=1)).all()


@pytest.mark.parametrize("preset", ["fast", "numbers", "music"])
def test_parts_of_held_out_sequences_sum_to_their_margins(preset):
    X, y = made(24)
    codes, X = np.unique(y, return_inverse=True)[1], mvdfq.check_sequences(X[:, :3])
    total = Total(mvdfq.preset_terms(preset), X, codes, Work())
    K, rng = total.matrix(np.arange(24)), np.random.default_rng(0)
    checks = [np.arange(0, 24, 2), np.array([1, 5])]
    folds = [FoldMachine(check, rng.normal(size=(24, 2)), np.zeros(2)) for check in checks]
    parts = total.held_out(folds, 3)
    expected = np.concatenate([K[fold.check] @ fold.coefficients for fold in folds])
    assert_allclose(parts[:, :, :3].sum(axis=2), expected, atol=1e-4)
    assert_allclose(parts[:, :, 3:].sum(axis=2), expected, atol=1e-4)


@pytest.mark.parametrize("held_out", [False, True])
def test_noise_has_nothing_to_lose_and_a_constant_exactly_nothing(clf, held_out):
    found = clf.importance(*(made(60, 1) if held_out else ()))
    rise = found.log_loss
    assert rise[TELLS, 1] > 0.05
    assert rise[CONSTANT].tolist() == [0, 0, 0]
    for channel in (NOISE, COPY):  # the third channel is noise, too, in these sequences
        assert abs(rise[channel, 0]) < 0.1 * rise[TELLS, 0]
    assert found.accuracy[TELLS, 0] > 0.1
    assert_array_equal(clf.importance().log_loss[:, 0], clf.feature_importance_)
    assert "sequences" in found.source


@pytest.mark.filterwarnings("ignore:The training sequences do not change")
def test_two_copies_share(clf):
    twice = SequenceClassifier("fast").fit(*made(90, copies=2))
    alone, shared = clf.feature_importance_[TELLS], twice.feature_importance_[[TELLS, COPY]]
    assert shared[0] == pytest.approx(shared[1], rel=0.3)
    assert shared.max() < 0.8 * alone
    both = twice.importance(*made(60, 1, copies=2), by={"both": [TELLS, "x2"], "noise": [1]})
    assert both.names == ["both", "noise"]
    alone = twice.importance(*made(60, 1, copies=2), by={"index": 1, "name": "x1", "list": [1]})
    assert_allclose(alone.log_loss, alone.log_loss[[2, 2, 2]])
    assert both.log_loss[0, 0] > 2 * shared.sum() * 0.8


def test_importance_by_terms_and_what_is_refused(clf):
    assert clf.importance(by="terms").names == ["words", "filters"]
    X, y = made(12, 1)
    assert_allclose(clf.importance(X, y, by="terms").log_loss.shape, (2, 3))
    for by in ("rows", {}, {"a": ["x9"]}, {"a": [7]}):
        with pytest.raises(ValueError, match="by must"):
            clf.importance(X, y, by=by)
    with pytest.raises(ValueError, match="classes that were learned"):
        clf.importance(X, ["z"] * 12)
    with pytest.raises(ValueError, match="y must have 12 entries, got 3"):
        clf.importance(X, y[:3])
    for given in ({"X": X}, {"y": y}, {"groups": y}):
        with pytest.raises(ValueError, match="importance takes X and y together, or neither"):
            clf.importance(**given)
    by = {"number": np.int64(1), "list": [1]}
    assert len({*clf.importance(X, y, by=by).log_loss[:, 0]}) == 1
    assert "lost without it, on" in str(clf.importance())


def test_a_file_keeps_the_importance(clf, tmp_path):
    clf.save(tmp_path / "model.mvdfq")
    assert_array_equal(mvdfq.load(tmp_path / "model.mvdfq").lost_, clf.lost_)


@pytest.mark.filterwarnings("ignore:The training sequences do not change")
def test_passes_measure_sequences_that_were_held_out(monkeypatch):
    monkeypatch.setattr(learning, "MANY", 50)
    clf = SequenceClassifier("fast").fit(*made(90))
    assert clf.feature_importance_.argmax() == TELLS
    assert clf.lost_.shape == (6, 2, 3)


@pytest.mark.slow
def test_plain_words_say_that_they_learned_from_what_they_judge():
    X, y = made(60)
    clf = SequenceClassifier("mvdfq-sssk", C=1).fit(X[:, :3], y)
    assert clf.feature_importance_.argmax() == TELLS
    assert "themselves" in clf.importance().source
    linear = SequenceClassifier("mvdfq-sssk", C=1, solver="linear").fit(X[:, :3], y)
    with pytest.raises(AttributeError, match=r"clf\.importance\(X, y\)"):
        linear.feature_importance_  # noqa: B018
    assert linear.importance(X[:, :3], y).log_loss[:, 0].argmax() == TELLS


def test_categories_keep_their_importance():
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    X = [
        [rng.normal(size=20).tolist(), "AB"[c] * 12 + "".join(rng.choice(list("AB"), 8))] for c in y
    ]
    clf = SequenceClassifier().fit(X, y)
    noise, state = clf.feature_importance_
    assert state > noise
    assert clf.explain(X[0]).top(1)[0].channels == ("x1",)

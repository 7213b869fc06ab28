"""p values of classes: "none of these" and "not sure"."""

import numpy as np
import pytest

import mvdfq
from mvdfq.terms import typical
from mvdfq.terms.svm import Problems
from mvdfq.terms.typical import Calibration, Nearness
from mvdfq.terms.validation import Trainer, inner_folds
from naive import typical as naive


@pytest.fixture(scope="module")
def vowels():
    X, y = mvdfq.load_japanese_vowels(split="train")
    X_test, y_test = mvdfq.load_japanese_vowels(split="test")
    return mvdfq.check_sequences(X), y, mvdfq.check_sequences(X_test), y_test


@pytest.fixture(scope="module")
def fitted(vowels):
    return mvdfq.SequenceClassifier("fast").fit(*vowels[:2])


def made(n, n_classes, seed=0):
    """Vectors of some classes, and what the calibration needs of them."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, 5)) * (1 + y[:, None]) + 2 * y[:, None], y


@pytest.mark.parametrize("enough", [1, 6, 100])
def test_p_values_against_their_slow_twin(monkeypatch, enough):
    monkeypatch.setattr(typical, "ENOUGH", enough)
    rng = np.random.default_rng(1)
    y = np.array([0, 0, 0, 1, 1, 2, *[1] * 8])
    scores = rng.integers(0, 6, size=(len(y), 2)).astype(np.float32)  # with ties
    known = Calibration(scores, y, np.ones(3), np.zeros(3))
    decision = rng.integers(-6, 1, size=(7, 3)).astype(float)
    near = Nearness(rng.integers(0, 6, size=7), np.zeros((7, 3)), np.diag([0.0, 1, 0]))
    new = np.stack([-decision, near.distances()], axis=2)
    expected = [naive.typicality(scores.tolist(), y, one, enough) for one in new.tolist()]
    np.testing.assert_allclose(known.p_values(decision, near), expected)


def test_scores_of_folds_against_their_slow_twin():
    Z, y = made(30, 3)
    trainer = Trainer(Problems(3, "ovr"), y, np.ones(30), n_folds=4)
    found = trainer(lambda learn: Z @ Z.T, [1.0]).calibration
    expected = [
        naive.relative_distance(Z[i], y[i], Z[learn], y[learn], 3)
        for learn, check in inner_folds(y, None, 4, 0)
        for i in check
    ]
    np.testing.assert_allclose(found.scores[:, 1], expected, rtol=1e-5)
    np.testing.assert_allclose(found.sizes, naive.class_spread(Z, y, 3))


def standardized(clf, X):
    """The words of all terms side by side, with their shares; not centred."""
    pieces = [
        term.share**0.5 * factor * (z.toarray() if hasattr(z, "toarray") else z)
        for term in clf.terms_
        for z, factor in zip(term.features(term.read(X)), term.factors(), strict=True)
    ]
    return np.hstack(pieces)


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["fast", "mvdfqm-sssk"])
def test_distances_of_new_sequences_against_their_slow_twin(vowels, preset):
    X, y, new = vowels[0][::6], vowels[1][::6], vowels[2][::30]
    clf = mvdfq.SequenceClassifier(preset, C=1).fit(X, y)
    near = clf.sum_.nearness(clf._read(new), clf.train_y_)
    if preset == "fast":
        Z, Z_new = (standardized(clf, mvdfq.check_sequences(one)) for one in (X, new))
        far = [
            [naive.squared(z, Z[clf.train_y_ == c].mean(0)) for c in range(len(clf.classes_))]
            for z in Z_new
        ]
    else:  # K(x, x) - 2 K(x, m) + K(m, m)
        term = clf.terms_[0]
        K, K_new = term.compare(term.train, term.train), term.compare(term.read(new), term.train)
        members = [clf.train_y_ == c for c in range(len(clf.classes_))]
        far = [[1 - 2 * row[m].mean() + K[np.ix_(m, m)].mean() for m in members] for row in K_new]
    # the means of words are kept in half precision
    np.testing.assert_allclose(near.distances(), far, rtol=5e-3)


def test_p_values_of_exchangeable_scores_are_uniform():
    rng, found = np.random.default_rng(0), []
    for _ in range(300):
        scores = rng.normal(size=(61, 2)).astype(np.float32)
        known = Calibration(scores[:60], np.zeros(60, int), np.ones(2), np.zeros(2))
        far = Nearness(scores[60:, 1] + 10.0, np.full((1, 2), 5.0), np.zeros((2, 2)))
        found.append(known.p_values(np.array([scores[60, 0]]), far)[0, 0])
    for alpha in (0.05, 0.1, 0.5):
        assert abs(np.mean(np.array(found) <= alpha) - alpha) < 3 * np.sqrt(alpha / 300) + 0.02


def test_classes_in_another_order_have_the_same_p_values():
    rng = np.random.default_rng(3)
    y, order = np.arange(80) % 4, np.array([2, 0, 3, 1])
    scores, sizes = rng.normal(size=(80, 2)).astype(np.float32), rng.uniform(1, 2, 4)
    decision, cross = rng.normal(size=(9, 4)), rng.normal(size=(9, 4))
    near = Nearness(np.full(9, 4.0), cross, np.eye(4))
    found = Calibration(scores, y, sizes, np.zeros(4)).p_values(decision, near)
    places = np.argsort(order)
    moved = Calibration(scores, places[y], sizes[order], np.zeros(4))
    other = moved.p_values(decision[:, order], Nearness(near.own, cross[:, order], np.eye(4)))
    np.testing.assert_array_equal(other, found[:, order])


def test_sets_cover_the_true_class_as_often_as_asked(fitted, vowels):
    _, _, X_test, y_test = vowels
    for coverage in (0.8, 0.9, 0.95):
        sets = fitted.predict_set(X_test, coverage=coverage)
        share = np.mean([label in one for label, one in zip(y_test, sets, strict=True)])
        assert abs(share - coverage) < 0.05
    assert 0.8 < np.mean([len(one) for one in sets]) < 1.5


def test_typicality_is_the_p_value_of_the_predicted_class(fitted, vowels):
    X_test = vowels[2][:40]
    p, predicted = fitted.typicality(X_test), fitted.predict(X_test)
    for one, label, chosen in zip(p, predicted, fitted.predict_set(X_test, 0.9), strict=True):
        assert (label in chosen) == (one > 0.1)


@pytest.mark.filterwarnings("ignore:.*outside the range")
def test_other_sequences_are_not_typical(fitted, vowels):
    rng = np.random.default_rng(0)
    noise = [rng.normal(size=(12, 20)) for _ in range(20)]
    assert (fitted.typicality(noise) <= 0.05).all()
    assert (fitted.typicality(vowels[2]) <= 0.05).mean() < 0.08
    assert fitted.predict_set(noise) == [[]] * 20


def test_a_class_left_out_is_less_typical(vowels):
    X, y, X_test, y_test = vowels
    known, other = y != "4", y_test == "4"
    clf = mvdfq.SequenceClassifier("fast").fit(X[known], y[known])
    p = clf.typicality(X_test)
    assert np.median(p[other]) < 0.1 < 0.4 < np.median(p[~other])


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [{}, {"solver": "linear"}, {"preset": "mvdfq-sssk"}, {"preset": "mvdfqm-sssk", "gamma": 1.0}],
    ids=str,
)
def test_a_loaded_model_gives_the_same_p_values(vowels, tmp_path, options):
    X, y, X_test, _ = (one[::2] for one in vowels)
    clf = mvdfq.SequenceClassifier(**{"preset": "fast", "C": 1} | options).fit(X, y)
    clf.save(tmp_path / "vowels.mvdfq")
    again = mvdfq.load(tmp_path / "vowels.mvdfq")
    np.testing.assert_array_equal(again.typicality(X_test), clf.typicality(X_test))


def test_letters_weights_and_groups():
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ACGT" if i % 2 else "AACG"), 30)) for i in range(60)]
    y, groups = np.arange(60) % 2, np.arange(60) // 6
    clf = mvdfq.SequenceClassifier(C=1).fit(X, y, np.tile([1.0, 2, 3], 20), groups)
    assert len(clf.calibration_.y) == 60
    assert ((clf.typicality(X) > 0) & (clf.typicality(X) <= 1)).all()
    with pytest.warns(UserWarning, match="unseen|not seen|known"):
        assert clf.typicality(["YYYYYYYY"])[0] <= 0.1


def test_a_sequence_without_words_is_not_typical(fitted):
    with pytest.warns(UserWarning, match="No known word"):
        assert fitted.typicality([np.full((12, 5), np.nan)])[0] == 0


def test_no_p_values_without_held_out_sequences(vowels):
    X, y = vowels[0][::30], vowels[1][::30]  # one sequence per class
    with pytest.warns(UserWarning, match="No sequence could be held out.* are not calibrated"):
        clf = mvdfq.SequenceClassifier("fast").fit(X, y)
    with pytest.raises(ValueError, match="fit could not hold out any sequence"):
        clf.typicality(X)


@pytest.mark.parametrize("coverage", [0, 1, 90, -0.1, None, "0.9"])
def test_coverage_is_a_share(fitted, vowels, coverage):
    with pytest.raises(ValueError, match="coverage must be a number between 0 and 1"):
        fitted.predict_set(vowels[2][:1], coverage=coverage)

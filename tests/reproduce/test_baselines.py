"""The methods the paper compares with: what they compute, and what they refuse."""

import pickle
from dataclasses import fields
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import mvdfq
from mvdfq.reproduce import baselines
from mvdfq.reproduce.baselines import (
    DTW,
    DWCH,
    GAK,
    GMM,
    MAR,
    PLSA,
    BoostedAggregates,
    MeanVariance,
    NMFBases,
)
from mvdfq.reproduce.baselines.base import FOLDS_SEED, SEED, WIDTHS, averaged, radial, trainer_of
from mvdfq.reproduce.baselines.vectors import (
    codeword_counts,
    describe_autoregression,
    fold_in,
    moments_and_energy,
)
from mvdfq.reproduce.baselines.votes import summed_likelihoods
from mvdfq.sequences.statistics import mean_and_variance
from mvdfq.terms.validation import CANDIDATES, inner_folds
from naive import baselines as naive

PUBLIC = [getattr(baselines, name) for name in baselines.__all__]


def name_of(clf):
    return type(clf).__name__


# Each with data it is made for: sizes are small, since the suite is run often.
VOWELS = [
    MeanVariance(),
    GMM(2),
    MAR(1),
    PLSA(16, n_codewords=64),
    BoostedAggregates(10, n_estimators=30, max_depth=2),
]
ALIGNED = [GAK(8), DTW(8)]
SPECTRA = [NMFBases(3, n_components=1)]
WAVES = [DWCH(3)]


def vowels(n_classes=4, step=2):
    """Utterances of some speakers, cut in two: to learn from, and to be tested on."""
    X, y = mvdfq.load_japanese_vowels(split="train")
    kept = [i for i in range(len(y)) if int(y[i]) <= n_classes]
    first, second = kept[::step], kept[1::step]
    return [X[i] for i in first], y[first], [X[i] for i in second], y[second]


def halves(X, y):
    n = len(X) // 2
    return X[:n], y[:n], X[n:], y[n:]


def spectra():
    rng = np.random.default_rng(0)
    shapes = rng.uniform(size=(3, 12, 3)) ** 3
    y = np.arange(48) % 3
    return halves([shapes[c] @ rng.exponential(size=(3, rng.integers(20, 90))) for c in y], y)


def waves():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    noise = [rng.normal(size=rng.integers(200, 400)) for _ in y]
    return halves([np.convolve(x, np.ones(1 + 3 * c)) for x, c in zip(noise, y, strict=True)], y)


def data_for(clf):
    if isinstance(clf, DWCH):
        pytest.importorskip("pywt")
        return waves()
    if isinstance(clf, GAK | DTW):
        pytest.importorskip("tslearn")
    return spectra() if isinstance(clf, NMFBases) else vowels()


ALL = [*VOWELS, *ALIGNED, *SPECTRA, *WAVES]


def sequence(n_channels, n_frames, seed=0, missing=()):
    x = np.random.default_rng(seed).normal(size=(n_channels, n_frames)) * 2 + 1
    for place in missing:
        x[place] = np.nan
    return x


# What is computed.


def test_inner_folds_are_those_of_the_classifier():
    assert FOLDS_SEED == np.random.RandomState(SEED).randint(2**31)


@pytest.mark.parametrize("missing", [[], [(0, 0), (0, 4), (2, 7)]])
def test_means_and_variances_are_those_of_the_values_present(missing):
    x = sequence(3, 9, missing=missing)
    assert_allclose(mean_and_variance(x), naive.mean_and_variance(x.tolist()))


@pytest.mark.parametrize(("n_frames", "n_blocks"), [(12, 4), (13, 5), (7, 7), (3, 8), (100, 60)])
def test_averaged_frames_are_means_of_blocks(n_frames, n_blocks):
    x = sequence(2, n_frames)
    assert_allclose(averaged(x, n_blocks), naive.averaged(x.tolist(), n_blocks))


@pytest.mark.parametrize("n_frames", [1, 2, 9, 10, 19, 31])
def test_segments_hold_the_moments_of_channels_and_slopes(n_frames):
    x = sequence(2, n_frames)
    X = mvdfq.check_sequences([x, sequence(2, 9)])
    segments, owners = BoostedAggregates(10)._segments(X)
    expected = naive.segments(x.tolist(), 10)
    assert_allclose(segments[:-1], expected, atol=1e-12)
    assert_array_equal(owners, [0] * len(expected) + [1])


@pytest.mark.parametrize("order", [1, 3])
def test_autoregressions_solve_their_normal_equations(order):
    x = sequence(2, 20)
    expected = naive.autoregression(x.tolist(), order, 0.05)
    assert_allclose(describe_autoregression(x, order, 0.05), expected)


def test_autoregressions_find_the_one_that_made_the_sequence():
    rng = np.random.default_rng(0)
    A = np.array([[0.5, 0.3], [-0.2, 0.6]])
    x = np.zeros((2, 5000))
    for t in range(1, 5000):
        x[:, t] = [1, 2] + A @ x[:, t - 1] + rng.normal(size=2) * [1, 0.5]
    found = describe_autoregression(x, 1, 1e-9)
    assert_allclose(found, [1, 2, *A.ravel(), 1, 0, 0.25], atol=0.1)


def test_wavelet_numbers_are_moments_of_the_bands():
    pywt = pytest.importorskip("pywt")
    x = sequence(1, 300)
    bands = pywt.wavedec(x[0], "db8", level=3)
    assert len(bands) == 4
    expected = [number for band in bands for number in naive.moments_and_energy(band.tolist())]
    assert_allclose(DWCH(3)._describe(x), expected, atol=1e-12)
    assert_array_equal(moments_and_energy(np.full(5, 2.0)), [2, 0, 0, 2])


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_likelihoods_are_those_of_the_mixtures(covariance_type):
    X, y, X_test, _ = vowels(2)
    clf = GMM(2, covariance_type=covariance_type).fit(X, y)
    frames = clf.scaler_.transform(X_test[:2]).data.T
    owners = np.repeat([0, 1], [x.shape[1] for x in X_test[:2]])
    scores = summed_likelihoods(clf.mixtures_, frames, owners, 2)
    for c, mixture in enumerate(clf.mixtures_):
        shapes = [np.diag(s) if s.ndim == 1 else s for s in mixture.covariances_]
        for i in range(2):
            mine = frames[owners == i].tolist()
            expected = naive.log_likelihood(mine, mixture.weights_, mixture.means_, shapes)
            assert scores[i, c] == pytest.approx(expected)
    assert_allclose(clf.decision_function(X_test[:2]), scores[:, 1] - scores[:, 0])


def test_a_class_is_learned_from_so_many_frames_at_most():
    X, y, X_test, y_test = vowels()
    clf = GMM(1, max_frames=50).fit(X, y)
    assert clf.score(X_test, y_test) > 0.7
    assert not np.array_equal(clf.mixtures_[0].means_, GMM(1).fit(X, y).mixtures_[0].means_)
    assert GMM(1000).fit(X, y).mixtures_[0].n_components < 1000  # no more than frames


def test_codewords_are_counted():
    X = mvdfq.check_sequences([sequence(2, 30), sequence(2, 5, seed=1)])
    symbols = mvdfq.CodebookQuantizer(4).fit_transform(X)
    expected = [[x[0].tolist().count(code) for code in range(4)] for x in symbols]
    counts = codeword_counts(symbols)
    assert_array_equal(counts, expected)
    assert_array_equal(counts.sum(axis=1), [30, 5])


def test_topics_share_all_of_a_sequence():
    X, y, X_test, _ = vowels()
    clf = PLSA(8, n_codewords=32).fit(X, y)
    shares = clf._vectors(mvdfq.check_sequences(X_test))
    assert shares.min() >= 0
    assert_allclose(shares.sum(axis=1), 1)
    # A sequence said twice has the same topics.
    twice = [np.concatenate([x, x], axis=1) for x in X_test]
    doubled = clf._vectors(mvdfq.check_sequences(twice))
    assert_allclose(doubled, shares, atol=1e-9)


def test_shares_of_topics_are_those_counts_were_made_of():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(40, 0.1), size=3)
    shares = rng.dirichlet(np.ones(3), size=10)
    assert_allclose(fold_in(1000 * shares @ topics, topics), shares, atol=1e-3)


def test_bases_are_those_a_spectrogram_was_made_of():
    rng = np.random.default_rng(0)
    shapes = np.kron(np.eye(3), np.ones((4, 1)))  # three bands of four channels
    x = shapes @ rng.exponential(size=(3, 500)) ** 3
    found = baselines.votes.spectral_bases(x, 3)
    found = found / found.sum(axis=1, keepdims=True)
    order = found.argmax(axis=1).argsort()
    assert_allclose(found[order], shapes.T / 4, atol=0.02)


SHORT = [sequence(2, n, seed=n) for n in (3, 4, 2, 4)]


def test_warped_distances_are_those_of_the_best_alignment():
    pytest.importorskip("tslearn")
    clf = DTW().fit(SHORT[:2], [0, 1])
    scaled = [x.tolist() for x in clf.scaler_.transform(SHORT)]
    expected = [[naive.warped_distance(x, other) for other in scaled[:2]] for x in scaled[2:]]
    assert_allclose(-clf._scores(mvdfq.check_sequences(SHORT[2:])), expected)


def test_alignment_kernels_sum_over_all_alignments():
    metrics = pytest.importorskip("tslearn.metrics")
    values = metrics.cdist_gak([x.T for x in SHORT], sigma=1.5)
    lists = [x.tolist() for x in SHORT]
    K = np.array([[naive.alignment_kernel(x, z, 1.5) for z in lists] for x in lists])
    assert_allclose(values, K / np.sqrt(np.outer(K.diagonal(), K.diagonal())))


# What they learn.


@pytest.mark.parametrize("clf", ALL, ids=name_of)
def test_they_beat_chance_on_sequences_of_unequal_length(clf):
    X, y, X_test, y_test = data_for(clf)
    assert len({x.shape[-1] for x in X}) > 1
    clf = clone(clf).fit(X, y)
    assert_array_equal(clf.classes_, np.unique(y))
    assert clf.score(X_test, y_test) > 0.7


def test_dynamics_are_told_apart_by_those_that_look_at_them():
    X, y = mvdfq.make_autoregressive(90, 4, (80, 120), n_classes=3, random_state=0)
    X, y, X_test, y_test = halves(X, y)
    # Values are distributed alike in all classes.
    assert MAR(2).fit(X, y).score(X_test, y_test) > 0.85
    assert (
        BoostedAggregates(100, n_estimators=50, max_depth=2).fit(X, y).score(X_test, y_test) > 0.6
    )
    assert GMM(1).fit(X, y).score(X_test, y_test) < 0.6


@pytest.mark.parametrize("clf", ALL, ids=name_of)
def test_promises_of_estimators(clf):
    X, y, X_test, _ = data_for(clf)
    with pytest.raises(NotFittedError):
        clone(clf).predict(X_test)
    params = clf.get_params()
    first = clone(clf).fit(X, y)
    assert first.get_params() == params
    expected = first.decision_function(X_test)
    again = clone(clf).fit(X[5:], y[5:]).fit(mvdfq.check_sequences(X), y.tolist())
    assert_array_equal(again.decision_function(mvdfq.check_sequences(X_test)), expected)
    copy = pickle.loads(pickle.dumps(first))
    assert_array_equal(copy.predict(X_test), first.predict(X_test))
    # Nothing is learned in predict: every sequence is judged by itself.
    alone = np.concatenate([first.decision_function([x]) for x in X_test[:3]])
    assert_allclose(alone, expected[:3], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("clf", ALL, ids=name_of)
def test_two_classes_have_one_decision_each(clf):
    X, y, X_test, _ = data_for(clf)
    two = np.unique(y)[:2]
    X = [x for x, label in zip(X, y, strict=True) if label in two]
    clf = clone(clf).fit(X, y[np.isin(y, two)])
    decision = clf.decision_function(X_test)
    assert decision.shape == (len(X_test),)
    assert_array_equal(clf.predict(X_test), two[(decision > 0).astype(int)])


def test_they_are_evaluated_like_any_other():
    X, y, _, _ = vowels(2)
    groups = np.arange(len(y)) // 2
    result = mvdfq.evaluate(MeanVariance(), X, y, protocol="group", groups=groups)
    assert result.accuracy > 0.8
    assert result.two_classes["roc_auc"] > 0.9
    assert result.probabilities is None


def test_what_is_chosen_was_best_in_inner_folds():
    X, y, _, _ = vowels()
    clf = MeanVariance().fit(X, y)
    vectors = np.array([mean_and_variance(x) for x in X])
    trainer = trainer_of(np.unique(y, return_inverse=True)[1], None)
    scores = clf.trained_.scores
    assert scores.shape == (4, 5)
    assert clf.validation_score_ == scores.mean(axis=1).max()
    assert clf.C_ in CANDIDATES
    assert round(24 * clf.gamma_, 9) in WIDTHS
    assert clf.validation_score_ >= max(
        trainer(partial(radial, vectors, gamma=width / 24)).scores.mean(axis=1).max()
        for width in WIDTHS
    )


def test_groups_are_kept_together_by_the_inner_folds():
    groups = np.repeat(np.arange(6), 4)
    trainer = trainer_of(np.arange(24) % 2, groups)
    folds = inner_folds(trainer.y, trainer.groups, trainer.n_folds, trainer.random_state)
    assert len(folds) == 5
    for learn, check in folds:
        assert not set(groups[learn]) & set(groups[check])


def test_classes_of_one_member_leave_nothing_to_validate():
    X, _, _, _ = vowels()
    clf = MeanVariance().fit([X[0], X[-1]], ["a", "b"])
    assert np.isnan(clf.validation_score_)
    assert_array_equal(clf.predict([X[0], X[-1]]), ["a", "b"])


# What they refuse.


@pytest.mark.parametrize(
    "clf", [MeanVariance(), MAR(), GMM(), PLSA(), GAK(), DTW(), DWCH(1), NMFBases()], ids=name_of
)
def test_missing_values_are_refused(clf):
    X = [np.ones((1, 40)) for _ in range(4)]
    X[2][0, 7] = np.nan
    message = r"Sequence 2, channel 0: the value at time 7 is missing \(NaN\); .* needs every value"
    with pytest.raises(ValueError, match=message):
        clf.fit(X, [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("clf", "X", "message"),
    [
        (MeanVariance(), [np.ones((2, 3)), np.ones((2, 0))], "1 has 0 frames, .* at least 1"),
        (MeanVariance(), ["ABBA", "BA"], "MeanVariance needs numbers, but channel 0 holds symbols"),
        (MAR(3), [sequence(2, 9), sequence(2, 4)], "Sequence 1 has 4 frames, MAR needs at least 5"),
        (DWCH(5), np.ones((2, 479)), "479 frames, DWCH needs at least 480; leave it out"),
    ],
)
def test_errors_say_what_and_where(clf, X, message):
    with pytest.raises(ValueError, match=message):
        clf.fit(X, [0, 1])


def test_targets_must_fit():
    X = [sequence(2, 8, seed=i) for i in range(4)]
    with pytest.raises(ValueError, match="y must have 4 entries, got 3"):
        MeanVariance().fit(X, [0, 1, 0])
    with pytest.raises(ValueError, match="y must hold at least two classes, got 1 class"):
        MeanVariance().fit(X, [0, 0, 0, 0])
    with pytest.raises(ValueError, match="X has 3 channels, 2 are expected"):
        MeanVariance().fit(X, [0, 1, 0, 1]).predict([np.ones((3, 8))])


def test_a_fit_broken_off_leaves_nothing_that_answers():
    X = [sequence(2, 8, seed=i) for i in range(4)]
    clf = MAR(1).fit(X, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="2 frames, MAR needs at least 3"):
        clf.fit([x[:, :2] for x in X], [0, 1, 0, 1])
    with pytest.raises(NotFittedError):
        clf.predict(X)


@pytest.mark.parametrize("value", PUBLIC, ids=lambda value: value.__name__)
def test_parameters_are_fields_with_their_types(value):
    assert value.__doc__
    assert value._get_param_names() == sorted(field.name for field in fields(value))
    assert {field.type for field in fields(value)} <= {int, float, str}

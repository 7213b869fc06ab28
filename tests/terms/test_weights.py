"""Learned weights: those of the quadratic problem, and what they are good for."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

import mvdfq
from mvdfq import SequenceClassifier, SequenceKernel, Spectrum
from mvdfq.terms.alignment import align, unit_grams
from twins import as_symbols, naive_gram, random_sequences


def stack_of(seed, n_units=4, n=12):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    units = [rng.normal(size=(n, 3)) + u * np.eye(3)[y] for u in range(n_units)]
    return np.stack([F @ F.T for F in units]).astype(np.float32), y


def naive_align(stack, y):
    """The weights by a general solver, on products written out entry by entry."""
    n = len(y)
    centre = np.eye(n) - 1 / n
    units = [centre @ K.astype(float) @ centre for K in stack]
    same = np.array([[float(a == b) for b in y] for a in y])
    target = centre @ same @ centre
    M = np.array([[np.trace(a @ b) for b in units] for a in units])
    a = np.array([np.trace(unit @ target) for unit in units])
    start = np.full(len(a), a.sum() / M.sum())
    result = minimize(
        lambda w: w @ M @ w - 2 * w @ a,
        start,
        jac=lambda w: 2 * M @ w - 2 * a,
        bounds=[(0, None)] * len(a),
        options={"ftol": 1e-15, "gtol": 1e-12, "maxiter": 10**4},
    )
    return result.x * len(a) / result.x.sum()


@given(st.integers(0, 10**6))
def test_weights_solve_the_quadratic_problem(seed):
    stack, y = stack_of(seed)
    weights = align(stack, y)
    assert (weights >= 0).all()
    assert_allclose(weights, naive_align(stack, y), rtol=1e-2, atol=1e-2)


def test_weights_do_not_depend_on_units_of_measure():
    stack, y = stack_of(0)
    factors = np.array([1, 10, 0.1, 3], np.float32)
    shares = align(stack, y) / align(stack, y).sum()
    rescaled = align(stack * factors[:, None, None], y) * factors
    assert_allclose(rescaled / rescaled.sum(), shares, atol=1e-4)


def test_nothing_to_learn_weighs_equally():
    assert_array_equal(align(np.zeros((3, 4, 4), np.float32), np.array([0, 0, 1, 1])), 1)


def test_a_unit_of_nothing_gets_nothing():
    stack, y = stack_of(1)
    stack[0] = 0
    assert align(stack, y)[0] == 0


@pytest.mark.parametrize("manifold", [False, True])
def test_units_are_the_rows_and_groups_of_the_kernel(manifold):
    X = random_sequences(np.random.default_rng(0), [9, 12, 15, 8], [3, 2, 4])
    kernel = SequenceKernel(Spectrum([1, 2]), manifold=manifold).fit(as_symbols(X, [3, 2, 4]))
    options = {"manifold": manifold, "normalize": False}
    rows = list(unit_grams(kernel.train_, kernel.plan_, by_rows=True))
    for r, K in enumerate(rows):
        one = [[x[r]] for x in X]
        expected = naive_gram(Spectrum([1, 2]), one, one, [[3, 2, 4][r]], **options)
        assert_allclose(K, expected, rtol=1e-5)
    groups = list(unit_grams(kernel.train_, kernel.plan_, by_rows=False))
    for k, K in zip([1, 2], groups, strict=True):
        expected = naive_gram(Spectrum(k), X, X, [3, 2, 4], **options)
        assert_allclose(K / K[0, 0], expected / expected[0, 0], rtol=1e-5)


@pytest.fixture(scope="module")
def telling_channel():
    """Sequences whose classes differ in channel 1 of 4 alone."""
    rng = np.random.default_rng(3)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 4, 50))
    X[y == 1, 1] = np.repeat(X[y == 1, 1, ::5], 5, axis=1)  # slower
    return X, y


PARTS = {"frames": "passthrough", "symbols": "direct", "kernel": Spectrum([1, 2]), "pyramid": 1}


def test_the_channel_that_tells_gets_the_weight(telling_channel):
    X, y = telling_channel
    clf = SequenceClassifier(**PARTS, weights="rows", C=10).fit(X, y)
    weights = np.asarray(clf.terms_[0].reader.row_weights)
    assert weights.argmax() == 1
    assert weights[1] > 0.8 * weights.sum()
    assert clf.feature_importance_.argmax() == 1
    plain = SequenceClassifier(**PARTS, C=10).fit(X, y)
    assert plain.terms_[0].reader.row_weights is None
    assert plain.feature_importance_.argmax() == 1


def test_the_group_that_tells_gets_the_weight(telling_channel):
    X, y = telling_channel
    clf = SequenceClassifier(**PARTS, weights="groups", C=10).fit(X, y)
    assert (
        np.asarray(clf.terms_[0].reader.group_weights)[1]
        > np.asarray(clf.terms_[0].reader.group_weights)[0]
    )  # pairs show slowness, singles do not


@pytest.mark.parametrize(
    "options", [{}, {"gamma": 1.0}, {"solver": "linear"}, {"memory_limit": "200 kB"}], ids=str
)
def test_validation_does_not_see_what_weights_were_learned_from(options):
    # pure noise with many rows: weights learned on all labels would look good in the folds
    scores = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 30, 31)), np.arange(40) % 2
        clf = SequenceClassifier(**PARTS, weights="rows", C=10, **options).fit(X, y)
        scores.append(clf.validation_score_)
    assert np.mean(scores) < 0.6


def test_little_memory_learns_from_some_of_the_sequences(telling_channel):
    X, y = telling_channel
    clf = SequenceClassifier(**PARTS, weights="rows", C=10, memory_limit=16 * 30**2 + 20_000)
    assert np.argmax(clf.fit(X, y).terms_[0].reader.row_weights) == 1


@pytest.mark.filterwarnings("ignore:The training sequences do not change")
def test_rows_of_one_symbol_have_no_weight(telling_channel):
    X, y = telling_channel
    X = np.concatenate([X, np.zeros((40, 1, 50))], axis=1)
    clf = SequenceClassifier(**PARTS, weights="rows", C=10).fit(X, y)
    assert np.asarray(clf.terms_[0].reader.row_weights).shape == (5,)
    assert np.asarray(clf.terms_[0].reader.row_weights)[4] == 0
    assert clf.feature_importance_[4] == 0


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "groups", "kernel": "mismatch"}, "has no groups to weight"),
        ({"weights": "rows", "kernel": "profile"}, r"Profile\(\) reads all rows together"),
        ({"weights": "groups", "kernel": mvdfq.Subsequence(2)}, "has no groups to weight"),
        ({"solver": "linear", "kernel": mvdfq.Subsequence(2)}, "no features for solver='linear'"),
        ({"manifold": "yes"}, "manifold must be True or False"),
    ],
    ids=str,
)
def test_options_that_do_not_go_together_are_refused(options, message, telling_channel):
    X, y = telling_channel
    parts = {} if options.get("kernel") == "profile" else PARTS
    with pytest.raises(ValueError, match=message):
        SequenceClassifier(**{**parts, "manifold": False, **options}).fit(np.abs(X), y)

"""Machines: the same as scikit-learn's, one column a problem; votes, ties and temperatures."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_softmax
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from mvdfq.terms.svm import Margins, Problems, fit_margins, fit_shift, fit_temperature
from mvdfq.terms.validation import Cautious, Trainer, inner_folds
from naive.passes import squared_hinge
from naive.terms import boundary


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(5)
    y = np.repeat(np.arange(4), 15)
    F = rng.normal(size=(4, 6))[y] + rng.normal(size=(60, 6))
    return F, F @ F.T, y


def test_one_vs_one_is_that_of_scikit_learn(blobs):
    _, K, y = blobs
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    problems = Problems(4, "ovo")
    margins = fit_margins(K, y, problems, 0.1, sample_weight=weight)
    theirs = SVC(kernel="precomputed", C=0.1, tol=1e-6, break_ties=True).fit(K, y, weight)
    decision = problems.decision(margins.of(K))
    assert_allclose(decision, theirs.decision_function(K), atol=1e-2)
    assert_array_equal(problems.predicted(decision), theirs.predict(K))
    theirs.set_params(decision_function_shape="ovo")
    assert_allclose(margins.of(K), theirs.decision_function(K), atol=1e-2)


def test_one_vs_rest_is_that_of_scikit_learn(blobs):
    _, K, y = blobs
    margins = fit_margins(K, y, Problems(4, "ovr"), 0.1, sample_weight=np.ones(len(y)))
    theirs = OneVsRestClassifier(SVC(kernel="precomputed", C=0.1, tol=1e-6)).fit(K, y)
    assert_allclose(margins.of(K), theirs.decision_function(K))


def test_linear_machines_agree_with_those_on_the_kernel(blobs):
    F, K, y = blobs
    problems = Problems(4, "ovr")
    by_kernel = fit_margins(K, y, problems, 0.1, sample_weight=np.ones(len(y)))
    by_features = fit_margins(sp.csr_array(F), y, problems, 0.1, sample_weight=np.ones(len(y)))
    agree = by_kernel.of(K).argmax(axis=1) == by_features.of(F).argmax(axis=1)
    assert agree.mean() >= 0.95


def test_two_classes_are_one_problem(blobs):
    _, K, y = blobs
    y = y % 2
    for scheme in ("ovr", "ovo"):
        problems = Problems(2, scheme)
        margins = fit_margins(K, y, problems, 1.0, sample_weight=np.ones(len(y)))
        assert margins.coefficients.shape == (60, 1)
        theirs = SVC(kernel="precomputed", C=1.0, tol=1e-6).fit(K, y)
        assert_allclose(problems.decision(margins.of(K)), theirs.decision_function(K))


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_the_squared_hinge_is_that_of_a_general_solver(blobs, C):
    F, K, y = blobs
    y, weight, before = (y > 2).astype(int), np.random.default_rng(0).uniform(0.1, 2, 60), K.copy()
    weight[:3] = 0
    weigh = {"sample_weight": weight, "squared": True}
    margins = fit_margins(K, y, Problems(2, "ovr"), C, **weigh).of(K)[:, 0]
    w, b = squared_hinge(F, 2 * y - 1, weight, C)
    assert_allclose(margins, F @ w + b, atol=1e-4)
    assert_array_equal(K, before)  # the diagonal is as it was
    by_features = fit_margins(sp.csr_array(F), y, Problems(2, "ovr"), C, **weigh).of(F)[:, 0]
    assert np.corrcoef(by_features, margins)[0, 1] > 0.99  # liblinear also shrinks the intercept


def test_votes_decide_and_margins_break_ties():
    # class 0 beats 1, 1 beats 2, 2 beats 0 by far: one vote each
    decision = Problems(3, "ovo").decision(np.array([[0.1, -5.0, 0.1]]))
    assert_allclose(np.rint(decision), 1)
    assert decision.argmax() == 2


def test_a_class_without_weight_is_never_chosen(blobs):
    _, K, y = blobs
    for scheme in ("ovr", "ovo"):
        problems = Problems(4, scheme)
        margins = fit_margins(K, y, problems, 1.0, sample_weight=(y != 2).astype(float))
        assert 2 not in problems.predicted(problems.decision(margins.of(K)))


def naive_loss(decision, y, factor):
    odds = np.exp(factor * decision)
    return -np.mean([np.log(row[c] / row.sum()) for row, c in zip(odds, y, strict=True)])


def test_temperature_fits_the_labels_best():
    rng = np.random.default_rng(1)
    y = rng.integers(3, size=300)
    decision = np.eye(3)[y] + rng.normal(size=(300, 3))
    best = fit_temperature(decision, y, np.ones(300))
    losses = [naive_loss(decision, y, factor * best) for factor in (0.9, 1.0, 1.1)]
    assert losses[1] == min(losses)


def test_few_labels_are_not_taken_for_certain():
    y = np.array([0, 1, 0, 1])
    factor = fit_temperature(2.0 * y - 1, y, np.ones(4))  # all are right
    assert 0.5 < 1 / (1 + np.exp(-factor)) < 0.95


def test_temperature_of_two_classes_is_that_of_the_log_odds():
    rng = np.random.default_rng(2)
    y = rng.integers(2, size=300)
    decision = 2 * y - 1 + rng.normal(size=300)
    both = np.stack([np.zeros(300), decision], axis=1)
    assert fit_temperature(decision, y, np.ones(300)) == fit_temperature(both, y, np.ones(300))


def trained(K, y, candidates, **options):
    trainer = Trainer(Problems(len(set(y)), "ovr"), y, np.ones(len(y)), **options)
    reports = []
    result = trainer(lambda learn: K, candidates, lambda *report: reports.append(report))
    return result, reports


def test_the_penalty_that_does_best_in_the_folds_is_taken(blobs):
    _, K, y = blobs
    noisy = np.where(np.random.default_rng(0).random(60) < 0.3, (y + 1) % 4, y)
    result, reports = trained(K, noisy, [1e-4, 0.01, 100.0])
    assert result.scores.shape == (3, 5)
    assert result.C == [1e-4, 0.01, 100.0][result.scores.mean(axis=1).argmax()]
    assert reports[-1] == (5, 6)


def test_a_rare_class_keeps_the_large_penalty():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [54, 6])
    points = rng.normal(size=(60, 2)) + 2 * y[:, np.newaxis]
    result, _ = trained(points @ points.T, y, Cautious((1e-4, 10.0)))
    assert result.C == 10  # the small penalty is right in 54 of 60 cases, all of class 0
    assert result.scores.shape == (2, 5)
    assert trained(np.eye(60), y, Cautious((1e-4, 10.0)))[0].C == 10  # of equals the largest


def test_two_classes_of_like_weight_take_the_smallest_penalty():
    y = np.repeat([0, 1], [36, 24])
    points = np.random.default_rng(0).normal(size=(60, 2)) + 2 * y[:, np.newaxis]
    result, _ = trained(points @ points.T, y, Cautious((1e-4, 10.0)))
    assert result.C == 1e-4
    assert result.scores.shape == (1, 5)  # no other penalty was tried


def test_the_squared_hinge_has_no_choice(blobs):
    _, K, y = blobs
    result, _ = trained(K, (y == 3).astype(int), Cautious((1.0, 10.0)), squared=True)
    whole = fit_margins(K, (y == 3).astype(int), Problems(2, "ovr"), 1.0,
                        sample_weight=np.ones(60), squared=True)  # fmt: skip
    assert result.C == 1
    assert result.scores.shape == (1, 5)
    assert_allclose(result.margins.coefficients, whole.coefficients)


def rare(rng, n_rare=8, n_others=60):
    """Decision values of two classes of unlike size that overlap a little, and the classes."""
    y = np.repeat([1, 0], [n_rare, n_others])
    return rng.normal(np.where(y == 1, -0.6, -1.0), 0.15), y


def test_the_boundary_is_where_two_classes_are_equally_probable():
    decision, y = rare(np.random.default_rng(0))
    expected = boundary(decision.tolist(), y.tolist())
    assert_allclose(fit_shift(decision, y, np.ones(68)), -expected, rtol=1e-3)
    # the scale and the origin of decision values mean nothing
    assert_allclose(fit_shift(3 * decision + 2, y, np.ones(68)), -(3 * expected + 2), rtol=1e-3)
    # if no value tells the classes apart, all but one are on one side
    assert fit_shift(-decision, y, np.ones(68)) == decision.min()


def test_a_rare_class_is_found():
    y = np.repeat([0, 1], [54, 6])
    points = np.random.default_rng(0).normal(size=(60, 2)) + 2 * y[:, np.newaxis]
    kernel = 0.02 * points @ points.T + np.eye(60)  # every sequence is unlike all others
    result, _ = trained(kernel, y, [10.0])
    plain = fit_margins(kernel, y, Problems(2, "ovr"), 10.0, sample_weight=np.ones(60))
    shift = result.margins.intercepts - plain.intercepts
    assert shift > 0.3  # members of the rare class have margins below 0
    assert_allclose(result.margins.coefficients, plain.coefficients)
    for machine in result.folds:
        members = np.setdiff1d(np.arange(60), machine.check)
        of_fold = fit_margins(kernel[np.ix_(members, members)], y[members], Problems(2, "ovr"),
                              10.0, sample_weight=np.ones(len(members)))  # fmt: skip
        assert_allclose(machine.intercepts, of_fold.intercepts + shift)


def test_no_fold_moves_the_boundary_that_it_is_judged_by():
    y = np.repeat([0, 1], [54, 6])
    random = np.random.default_rng(0)
    others = []
    for _ in range(40):  # no sequence says anything about its class
        points = random.normal(size=(60, 200))
        kernel = points @ points.T / 200
        result, _ = trained(kernel, y, [10.0])
        others.append(result.score)
        for f, fold in enumerate(result.folds):
            rest = [(kernel[m.check] @ m.coefficients)[:, 0] + m.intercepts for m in result.folds]
            judged, places = rest.pop(f), [m.check for m in result.folds if m is not fold]
            told = y[np.concatenate(places)]
            by = fit_shift(np.concatenate(rest), told, np.ones(len(told)))
            accuracy = np.mean((judged + by > 0) == y[fold.check])
            assert_allclose(result.scores[0, f], accuracy)
    assert np.mean(others) <= 0.9  # whoever always says the frequent class is right in 54 of 60


@pytest.mark.parametrize("squared", [False, True])
def test_folds_beside_one_another_change_no_bit(blobs, squared):
    _, K, y = blobs
    y = (y == 3).astype(int)
    results = [trained(K, y, [10.0], squared=squared, n_jobs=n)[0] for n in (1, 3)]
    for one, several in zip(results[0].folds, results[1].folds, strict=True):
        assert_array_equal(one.coefficients, several.coefficients)
    assert results[0].temperature == results[1].temperature


def test_folds_beside_one_another_stay_within_the_memory():
    problems, y = Problems(2, "ovr"), np.zeros(100, int)
    # a matrix of 80 000 bytes, and copies of 51 200 bytes for four fifths of the sequences
    for memory, n in [(80_000, 1), (182_399, 1), (182_401, 2), (10**9, 4)]:
        trainer = Trainer(problems, y, np.ones(100), n_jobs=4, memory=memory)
        assert trainer._folds_at_once() == n
    assert Trainer(Problems(3, "ovr"), y, np.ones(100), n_jobs=4)._folds_at_once() == 1


@pytest.mark.parametrize(("sizes", "scheme"), [((36, 24), "ovr"), ((54, 6), "ovo")])
def test_the_boundary_stays_for_even_classes_and_pairs(sizes, scheme):
    y = np.repeat([0, 1], sizes)
    points = np.random.default_rng(0).normal(size=(60, 2)) + 2 * y[:, np.newaxis]
    kernel, problems = 0.02 * points @ points.T + np.eye(60), Problems(2, scheme)
    result = Trainer(problems, y, np.ones(60))(lambda learn: kernel, [10.0])
    plain = fit_margins(kernel, y, problems, 10.0, sample_weight=np.ones(60))
    assert_allclose(result.margins.intercepts, plain.intercepts)


def test_groups_stay_together(blobs):
    _, _, y = blobs
    groups = np.tile(np.arange(15), 4)
    folds = inner_folds(y, groups, 5, 0)
    assert len(folds) == 5
    for learn, check in folds:
        assert not set(groups[learn]) & set(groups[check])


def test_the_only_member_of_a_class_is_always_learned_from(blobs):
    _, _, y = blobs
    y = y[np.append(np.flatnonzero(y < 3), 45)]  # one member of the last class
    folds = inner_folds(y, None, 5, 0)
    assert len(folds) == 5
    assert all(45 in learn for learn, _ in folds)
    assert sorted(np.concatenate([check for _, check in folds]).tolist()) == list(range(45))


def test_nothing_is_validated_if_nothing_can_be_held_out(blobs):
    _, K, y = blobs
    kept = np.array([0, 15, 30, 45])
    result, _ = trained(K[np.ix_(kept, kept)], y[kept], [0.1, 1.0])
    assert result.scores.shape == (2, 0)
    assert result.C == 1  # of those that were asked for
    assert result.temperature == 1


def test_what_is_learned_from_labels_is_learned_in_the_folds(blobs):
    _, K, y = blobs
    asked = []

    def matrix(learn):
        asked.append(learn if learn is None else len(learn))
        return K

    Trainer(Problems(4, "ovr"), y, np.ones(60))(matrix, [1.0], lambda *_: None)
    # all sequences for the distances, None for the machine that answers
    assert asked == [48] * 5 + [60, None]


def test_margins_are_a_product():
    margins = Margins(np.array([[1.0, 0.0], [2.0, -1.0]]), np.array([0.5, 0.0]))
    assert_allclose(margins.of(np.array([[1.0, 1.0]])), [[3.5, -1.0]])


def test_a_temperature_that_few_labels_fitted_by_chance_is_shrunk():
    rng = np.random.default_rng(0)
    worst = []
    for _ in range(40):
        decision, new = rng.normal(size=(15, 3)), rng.normal(size=(200, 3))
        factor = fit_temperature(decision, rng.integers(0, 3, 15), np.ones(15))
        labels = rng.integers(0, 3, 200)
        worst.append(-np.mean(log_softmax(factor * new, axis=1)[np.arange(200), labels]))
    assert max(worst) < np.log(3) + 0.2  # 0.6 without shrinking
    assert np.mean(worst) < np.log(3) + 0.03


@pytest.mark.parametrize("n", [30, 300])
def test_a_temperature_that_labels_support_stays(n, monkeypatch):
    y = np.arange(n) % 3
    decision = 2 * np.eye(3)[y] + np.random.default_rng(0).normal(size=(n, 3))
    found = fit_temperature(decision, y, np.ones(n))
    monkeypatch.setattr("mvdfq.terms.svm._trust", lambda *_: 1)
    assert 0.9 < found / fit_temperature(decision, y, np.ones(n)) < 1


def test_weights_of_labels_count_as_repeated_labels():
    rng = np.random.default_rng(1)
    y, weight = np.arange(30) % 2, rng.integers(1, 3, 30)
    decision = 2 * y - 1 + rng.normal(size=30)
    again = np.repeat(np.arange(30), weight)
    one = fit_temperature(decision, y, weight.astype(float))
    other = fit_temperature(decision[again], y[again], np.ones(len(again)))
    assert one == pytest.approx(other, rel=0.1)

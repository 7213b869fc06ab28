"""Groups of similar training sequences, and inner folds that keep the groups together."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import StratifiedGroupKFold

import mvdfq
from mvdfq.terms import relatives as room
from mvdfq.terms.relatives import relatives
from mvdfq.terms.validation import QuickFolds


def family_values(sizes, rng, bulk=60):
    """Kernel values of some families, and of `bulk` sequences without relatives."""
    family = np.concatenate([np.repeat(np.arange(len(sizes)), sizes), len(sizes) + np.arange(bulk)])
    n = len(family)
    values = rng.normal(0.1, 0.01, (n, n))
    values[family[:, None] == family] = rng.uniform(0.6, 0.9, (family[:, None] == family).sum())
    values = np.triu(values, 1)
    return values + values.T + np.eye(n), family


def slow_groups(values):
    """Connected components of all pairs that are far above the median pair."""
    pairs = values[np.triu_indices(len(values), 1)]
    deviation = 1.4826 * np.median(np.abs(pairs - np.median(pairs)))
    return connected_components(values > np.median(pairs) + 10 * deviation, directed=False)[1]


def are_same(one, other):
    return ((one[:, None] == one) == (other[:, None] == other)).all()


@pytest.mark.parametrize("seed", range(5))
def test_without_a_bound_groups_are_connected_components(seed):
    rng = np.random.default_rng(seed)
    values, _ = family_values(rng.integers(1, 9, 6), rng)
    chain = rng.permutation(len(values))[:7]  # relatives of relatives are relatives
    values[chain[1:], chain[:-1]] = values[chain[:-1], chain[1:]] = 0.5
    found = relatives(values, np.zeros(len(values), int), 1)
    assert are_same(found, slow_groups(values))
    assert found.max() >= 8


def test_a_group_holds_a_part_of_a_class_and_the_most_similar_first():
    values, family = family_values([20, 20], np.random.default_rng(0), bulk=20)
    values[0, 1] = values[1, 0] = 0.99
    y = np.repeat([0, 1], [40, 20])
    groups = relatives(values, y, 5)
    sizes = np.bincount(groups)[groups]
    assert sizes[family < 2].max() <= 40 // 5
    assert groups[0] == groups[1]
    assert (sizes[family >= 2] == 1).all()
    few = np.repeat([0, 1], [57, 3])  # one sequence of a class of three must not bind others
    bound = relatives(np.where(values > 0.5, 0.9, values), few[::-1].copy(), 5)
    assert (np.bincount(bound)[bound[:3]] == 1).all()


def test_groups_of_copies_do_not_depend_on_rounding():
    values, _ = family_values([], np.random.default_rng(0))
    copies = np.tile(np.arange(60), 3)
    values = values[np.ix_(copies, copies)]
    noise = np.random.default_rng(1).normal(0, 1e-12, values.shape)
    y = np.arange(len(values)) % 2
    expected = relatives(values, y, 5)
    np.testing.assert_array_equal(relatives(values + noise + noise.T, y, 5), expected)


def test_without_relatives_there_are_no_groups():
    values, _ = family_values([], np.random.default_rng(0))
    assert relatives(values, np.zeros(60, int), 5) is None
    assert relatives(np.ones((4, 4)), np.zeros(4, int), 2) is None  # all are alike
    assert relatives(np.ones((1, 1)), np.zeros(1, int), 2) is None


def test_copies_do_not_make_the_inner_accuracy_better(monkeypatch):
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list("ACGT"), 60)) for _ in range(60)]
    labels = rng.permutation(np.arange(60) % 2)  # nothing to learn
    X, y = strings * 3, np.tile(labels, 3)
    honest = mvdfq.SequenceClassifier(n_jobs=1).fit(X, y)
    given = mvdfq.SequenceClassifier(n_jobs=1).fit(X, y, groups=np.tile(np.arange(60), 3))
    assert honest.validation_score_ < 0.7
    assert honest.temperature_ < 1
    monkeypatch.setattr(room, "FAR", np.inf)
    fooled = mvdfq.SequenceClassifier(n_jobs=1).fit(X, y)
    assert fooled.validation_score_ > 0.95
    assert given.validation_score_ < 0.7
    np.testing.assert_array_equal(  # groups are for inner folds alone
        honest.decision_function(strings), fooled.decision_function(strings)
    )


@pytest.mark.parametrize("seed", range(20))
def test_folds_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    n, n_classes, n_folds = rng.integers([40, 2, 2], [200, 5, 6])
    y, groups = rng.integers(0, n_classes, n), rng.integers(0, rng.integers(8, n), n)
    expected, found = (
        [check for _, check in folds(n_folds, shuffle=True, random_state=seed).split(y, y, groups)]
        for folds in (StratifiedGroupKFold, QuickFolds)
    )
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(a, b)

"""Protocols cut as they should, and metrics are what their definitions say."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import roc_auc_score

import mvdfq
import naive
from mvdfq.evaluation import Evaluation, Fold, evaluate, folds_of, roc50

# The confusion matrix of algorithms.md 7.2 and what follows from it.
CONFUSION = np.array([[8, 1, 1], [2, 6, 2], [0, 4, 6]])


def from_confusion(table):
    pairs = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    truth, predicted = np.array(pairs).T
    fold = Fold("test", 0, np.arange(len(truth)), truth, predicted)
    return Evaluation("split", [0, 1, 2], [fold])


def test_worked_numbers_of_both_f1():
    result = from_confusion(CONFUSION)
    assert_array_equal(result.confusion, CONFUSION)
    assert result.accuracy == pytest.approx(0.666667, abs=1e-6)
    assert result.f1 == pytest.approx((0.667669, 0.668681), abs=1e-6)


# Best first: the labels of algorithms.md 7.4, all of them tied in the last case.
RANKED = np.array([1, 0, 1, 1, 0, 0, 1, 0], dtype=bool)


@pytest.mark.parametrize(
    ("n", "scores", "area"),
    [(2, -np.arange(8), 0.5), (4, -np.arange(8), 0.6875), (50, -np.arange(8), 0.6875),
     (50, np.zeros(8), 0.5), (2, np.zeros(8), 0.3)],
)  # fmt: skip
def test_worked_numbers_of_roc50(n, scores, area):
    assert roc50(RANKED, scores, n) == pytest.approx(area)
    assert naive.roc(RANKED.tolist(), scores.tolist(), n) == pytest.approx(area)


@pytest.mark.parametrize("n", [1, 2, 3, 50])
@pytest.mark.parametrize("seed", range(12))
def test_ties_count_as_the_mean_over_their_orders(seed, n):
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(7) < rng.integers(1, 7))
    scores = rng.integers(0, 4, size=7).astype(float)
    assert roc50(truth, scores, n) == pytest.approx(naive.roc(truth.tolist(), scores.tolist(), n))


@pytest.mark.parametrize("n_negative", [3, 49, 50, 51, 400])
def test_roc50_counts_the_positives_above_each_of_fifty_negatives(n_negative):
    rng = np.random.default_rng(n_negative)
    truth = np.arange(n_negative + 12) < 12
    scores = rng.normal(size=len(truth)) + truth
    first = np.sort(scores[~truth])[::-1][:50]
    assert roc50(truth, scores) == pytest.approx(np.mean(scores[truth] > first[:, np.newaxis]))


def test_with_few_negatives_roc50_is_the_whole_area():
    rng = np.random.default_rng(0)
    truth = np.arange(60) < 12
    for scores in (rng.normal(size=60), rng.integers(0, 5, size=60)):
        assert roc50(truth, scores) == pytest.approx(roc_auc_score(truth, scores))


@pytest.mark.parametrize("truth", [[True, True], [False, False], []])
def test_roc50_needs_both_positives_and_negatives(truth):
    with pytest.raises(ValueError, match="truth must hold positives and negatives"):
        roc50(truth, np.arange(len(truth)))


def interval_of(hits, n=200):
    """Interval of the accuracy of one fold in which `hits` of `n` predictions are right."""
    predicted = (np.arange(n) >= hits).astype(int)
    fold = Fold("1", 0, np.arange(n), np.zeros(n, dtype=int), predicted)
    return Evaluation("split", [0, 1], [fold]).interval


def test_worked_number_of_the_interval():
    assert_allclose(interval_of(8, 10), [0.4902, 0.9433], atol=5e-5)


def test_intervals_cover_what_they_promise():
    rng = np.random.default_rng(0)
    for share in (0.5, 0.9, 0.99):
        hits = rng.binomial(200, share, size=2000)
        covered = np.mean([low <= share <= high for low, high in map(interval_of, hits)])
        assert 0.92 < covered < 0.985


Y = np.repeat(["a", "b", "c"], 12)
GROUPS = np.array([f"{label}{i % 4}" for label in "abc" for i in range(12)])


@pytest.mark.parametrize("protocol", ["3-fold", "group", "group-per-class"])
def test_every_sequence_is_tested_once_and_never_learned_from(protocol):
    tested = []
    for _, train, test in folds_of(protocol, Y, groups=GROUPS):
        assert not set(train) & set(test)
        assert len(train) + len(test) == len(Y)
        tested += test.tolist()
        if protocol != "3-fold":
            assert not set(GROUPS[train]) & set(GROUPS[test])
    assert sorted(tested) == list(range(len(Y)))


def test_one_group_of_every_class_is_held_out():
    folds = list(folds_of("group-per-class", Y, groups=GROUPS))
    assert len(folds) == 4
    for _, _, test in folds:
        assert sorted({g[0] for g in GROUPS[test]}) == ["a", "b", "c"]
        assert len(set(GROUPS[test])) == 3


def test_a_split_is_that_of_the_data():
    split = np.array(["train", "test"] * 18)
    [(name, train, test)] = folds_of("split", Y, split=split)
    assert name == "test"
    assert_array_equal(train, np.arange(0, 36, 2))
    assert_array_equal(test, np.arange(1, 36, 2))


@pytest.mark.parametrize(
    ("protocol", "options", "message"),
    [
        ("leave-some-out", {}, "protocol='leave-some-out' is not known; pass '5-fold'"),
        ("13-fold", {}, "13 members of every class, but class a has 12"),
        ("1-fold", {}, "at least two folds"),
        ("group", {}, "needs groups, but the data have none"),
        ("group", {"groups": np.zeros(36)}, "at least two groups"),
        ("group-per-class", {"groups": np.zeros(36)}, "at least two groups in every class"),
        ("split", {}, "needs a split into train and test"),
    ],
)
def test_what_cannot_be_cut_is_refused(protocol, options, message):
    with pytest.raises(ValueError, match=message):
        list(folds_of(protocol, Y, **options))


class Remembers(ClassifierMixin, BaseEstimator):
    """Knows the sequences it was taught, and nothing else."""

    taught: list = []  # noqa: RUF012

    def fit(self, X, y, groups=None):
        Remembers.taught.append((len(X), None if groups is None else set(groups)))
        self.known_ = {x: label for x, label in zip(X, y, strict=True)}
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.array([self.known_.get(x, "?") for x in X])


def test_estimators_learn_from_the_training_part_alone():
    Remembers.taught.clear()
    X = [f"sequence {i}" for i in range(36)]
    reports = []
    result = evaluate(
        Remembers(), X, Y, protocol="3-fold", groups=GROUPS, seeds=(0, 1),
        progress=lambda *report: reports.append(report),
    )  # fmt: skip
    assert result.accuracy == 0
    assert [n for n, _ in Remembers.taught] == [24] * 6
    assert all(groups is not None for _, groups in Remembers.taught)
    assert reports == [(i, 6) for i in range(1, 7)]
    assert {fold.seed for fold in result.folds} == {0, 1}
    first = np.concatenate([fold.test for fold in result.folds[:3]])
    assert sorted(first.tolist()) == list(range(36))


def test_the_whole_of_it_on_real_sequences():
    X, y = mvdfq.load_japanese_vowels(split="train")
    kept = np.isin(y, ["1", "2"])
    X, y = [x for x, keep in zip(X, kept, strict=True) if keep], y[kept]
    clf = mvdfq.SequenceClassifier("mvdfqm-spectrum-alt", C=10)
    result = mvdfq.evaluate(clf, X, y, protocol="3-fold")
    assert result.accuracy > 0.9
    assert result.interval[0] < result.accuracy < result.interval[1]
    area50, area = result.ranking
    assert 0.9 < area50 <= 1
    assert 0.9 < area <= 1
    plain = json.loads(json.dumps(result.to_dict()))
    assert_allclose(plain["error"] + plain["accuracy"], 1)
    assert [row["label"] for row in plain["classes"]] == ["1", "2"]
    assert np.sum(plain["confusion"]) == len(y)


def test_rankings_need_two_classes_in_every_fold():
    both = Fold("a", 0, np.arange(4), np.array([0, 1, 0, 1]), np.zeros(4), np.arange(4.0))
    one = Fold("b", 0, np.arange(2), np.array([0, 0]), np.zeros(2), np.arange(2.0))
    assert Evaluation("group", [0, 1], [both]).ranking == pytest.approx((0.75, 0.75))
    assert Evaluation("group", [0, 1], [both, one]).ranking is None
    assert Evaluation("group", [0, 1, 2], [both]).ranking is None


def test_classes_that_were_never_tested_do_not_count():
    fold = Fold("test", 0, np.arange(3), np.array([0, 2, 2]), np.array([0, 2, 2]))
    assert Evaluation("split", [0, 1, 2], [fold]).f1 == (1, 1)


def test_a_split_of_other_names_is_refused():
    with pytest.raises(ValueError, match=r"got \['Test', 'Train'\]"):
        list(folds_of("split", Y, split=np.array(["Train", "Test"] * 18)))

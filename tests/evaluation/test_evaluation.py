"""Protocols cut as they should, and metrics are what their definitions say."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import mvdfq
from mvdfq.evaluation import Evaluation, Fold, evaluate, evaluate_fitted, folds_of, roc50
from mvdfq.evaluation.measures import honesty_of, share_interval
from naive import kernels as naive, pages as naive_pages

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


def unequal_folds(seed):
    """An evaluation of random folds of 1 to 40 sequences, with or without groups and seeds."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 41, size=rng.integers(1, 8))
    n, chance = int(sizes.sum()), rng.choice([0.0, 0.1, 0.5, 0.97, 1.0])
    y = rng.integers(0, 3, size=n)
    cuts = np.split(rng.permutation(n), np.cumsum(sizes)[:-1])
    folds = []
    for s in range(rng.integers(1, 4)):
        said = np.where(rng.random(n) < chance, y, (y + 1) % 3)
        folds += [Fold(f"fold {i}", s, cut, y[cut], said[cut]) for i, cut in enumerate(cuts)]
    groups = rng.choice([f"g{i}" for i in range(rng.integers(1, 9))], size=n)
    return Evaluation("group", [0, 1, 2], folds, groups if rng.random() < 0.7 else None)


@pytest.mark.parametrize("seed", range(60))
def test_every_accuracy_is_what_the_counts_say(seed):
    result = unequal_folds(seed)
    hits = sum(int(np.sum(fold.truth == fold.predicted)) for fold in result.folds)
    total = sum(len(fold.truth) for fold in result.folds)
    plain = result.to_dict()
    assert result.accuracy == plain["accuracy"] == plain["right"] / plain["n"] == hits / total
    assert np.trace(result.confusion) / result.confusion.sum() == pytest.approx(hits / total)
    low, high = plain["interval_95"]
    assert 0 <= low <= hits / total <= high <= 1
    assert high - low > 1e-3
    by_fold = [np.mean(fold.truth == fold.predicted) for fold in result.folds]
    assert plain["mean_over_folds"] == pytest.approx(np.mean(by_fold))
    assert plain["std_over_folds"] == pytest.approx(np.std(by_fold))
    assert f"{hits / total:.2%}" in result._repr_html_()
    if result.groups is not None:
        assert sum(row["right"] for row in plain["groups"]) == hits
        assert sum(row["n"] for row in plain["groups"]) == total
        assert all(row["accuracy"] == row["right"] / row["n"] for row in plain["groups"])


@pytest.mark.parametrize("seed", range(30))
def test_intervals_are_those_of_the_slow_twin(seed):
    result = unequal_folds(seed)
    right, groups = result.right.tolist(), result.tested_groups
    groups = None if groups is None else groups.tolist()
    expected = naive.share_interval(right, groups, len(result.seeds))
    assert_allclose(result.interval, expected, atol=1e-6)


def test_intervals_over_groups_cover_the_accuracy_of_new_groups():
    rng = np.random.default_rng(0)
    covered, plain = [], []
    for _ in range(600):
        sizes, shares = rng.integers(20, 100, size=6), rng.beta(8, 2, size=6)
        right = rng.random(sizes.sum()) < np.repeat(shares, sizes)
        (low, high), (a, b) = (
            share_interval(right, np.repeat(range(6), sizes)),
            share_interval(right),
        )
        covered.append(low <= 0.8 <= high)
        plain.append(a <= 0.8 <= b)
    assert np.mean(plain) < 0.65  # as if sequences of one group were independent
    assert np.mean(covered) > 0.91


@pytest.mark.parametrize(
    ("groups", "name"),
    [
        (None, "Wilson interval over 6 sequences"),
        (["a"] * 6, "Wilson interval over 6 sequences of one group"),
        (["a", "a", "b", "b", "b", "b"], "t interval over 2 groups"),
    ],
)
def test_an_interval_says_what_it_rests_on(groups, name):
    folds = [Fold("1", s, np.arange(6), np.arange(6) % 2, np.zeros(6, dtype=int)) for s in (0, 1)]
    result = Evaluation("split", [0, 1], folds, None if groups is None else np.array(groups))
    assert result.interval_name == result.to_dict()["interval_name"] == name
    assert f"{name}), split, 2 folds<" in result._repr_html_()
    assert "), split, 1 fold<" in replace(result, folds=folds[:1])._repr_html_()


def test_worked_number_of_the_interval():
    assert_allclose(interval_of(8, 10), [0.4902, 0.9433], atol=5e-5)


def test_intervals_cover_what_they_promise():
    rng = np.random.default_rng(0)
    for share in (0.5, 0.9, 0.99):
        hits = rng.binomial(200, share, size=2000)
        intervals = {n: interval_of(n) for n in np.unique(hits)}
        covered = np.mean([intervals[n][0] <= share <= intervals[n][1] for n in hits])
        assert 0.92 < covered < 0.985


Y = np.repeat(["a", "b", "c"], 12)
GROUPS = np.array([f"{label}{i % 4}" for label in "abc" for i in range(12)])


@pytest.mark.parametrize("protocol", ["3-fold", "group", "leave-group-out", "group-per-class"])
def test_every_sequence_is_tested_once_and_never_learned_from(protocol):
    tested = []
    for _, train, test in folds_of(protocol, Y, groups=GROUPS):
        assert not set(train) & set(test)
        assert len(train) + len(test) == len(Y)
        tested += test.tolist()
        if protocol != "3-fold":
            assert not set(GROUPS[train]) & set(GROUPS[test])
    assert sorted(tested) == list(range(len(Y)))


def test_many_groups_share_ten_folds():
    rng = np.random.default_rng(0)
    groups = np.sort(rng.integers(0, 60, size=300))
    y = rng.integers(0, 3, size=300)
    folds = [test for _, _, test in folds_of("group", y, groups=groups)]
    assert len(folds) == 10
    assert all(len(set(groups[test])) > 1 for test in folds)
    assert all(set(y[test]) == {0, 1, 2} for test in folds)
    assert len(list(folds_of("leave-group-out", y, groups=groups))) == len(np.unique(groups))
    other = [test for _, _, test in folds_of("group", y, groups=groups, seed=1)]
    assert any(a.tolist() != b.tolist() for a, b in zip(folds, other, strict=True))


@pytest.mark.parametrize("n_groups", [11, 30])
def test_small_classes_are_no_hindrance_to_folds_of_groups(n_groups):
    y = np.arange(n_groups) % 6  # two or five members of every class, each a group of its own
    tests = [test for _, _, test in folds_of("group", y, groups=np.arange(n_groups))]
    assert sorted(np.concatenate(tests).tolist()) == list(range(n_groups))


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


@pytest.mark.filterwarnings("ignore:12 of 12 groups are both in the training part")
def test_estimators_learn_from_the_training_part_alone():
    Remembers.taught.clear()
    X = [f"sequence {i}" for i in range(36)]
    reports = []
    result = evaluate(
        Remembers(), X, Y, protocol="3-fold", groups=GROUPS, seeds=(0, 1),
        progress=lambda *report: reports.append(report),
    )  # fmt: skip
    assert result.accuracy == 0
    assert result.remarks == ()
    assert [n for n, _ in Remembers.taught] == [24] * 6
    assert all(groups is not None for _, groups in Remembers.taught)
    assert reports == [(i, 6) for i in range(7)]
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
    assert 0.9 < result.two_classes["roc50"] <= 1
    assert 0.9 < result.two_classes["roc_auc"] <= 1
    plain = json.loads(json.dumps(result.to_dict()))
    assert_allclose(plain["error"] + plain["accuracy"], 1)
    assert [row["label"] for row in plain["classes"]] == ["1", "2"]
    assert np.sum(plain["confusion"]) == len(y)


def test_rankings_are_pooled_so_that_a_fold_may_lack_a_class():
    both = Fold("a", 0, np.arange(4), np.array([0, 1, 0, 1]), np.zeros(4), np.arange(4.0))
    one = Fold("b", 0, np.arange(2), np.array([0, 0]), np.zeros(2), np.arange(2.0))
    assert Evaluation("group", [0, 1], [both]).two_classes["roc_auc"] == 0.75
    area = Evaluation("group", [0, 1], [both, one]).two_classes["roc_auc"]
    assert area == roc_auc_score([0, 1, 0, 1, 0, 0], [0, 1, 2, 3, 0, 1])
    assert Evaluation("group", [0, 1], [one]).two_classes["roc_auc"] is None
    assert Evaluation("group", [0, 1, 2], [both]).two_classes == {}


def test_scores_of_probabilities_by_worked_numbers():
    p, codes = np.array([[0.75, 0.25], [0.95, 0.05], [0.35, 0.65]]), np.array([0, 0, 0])
    # every case has a bin of its own: right by .75, right by .95, wrong by .65
    found = honesty_of(p, codes)
    assert found["log_loss"] == pytest.approx(-np.log(0.75 * 0.95 * 0.35) / 3)
    assert found["calibration_error"] == pytest.approx((0.25 + 0.05 + 0.65) / 3)
    # one bin: the mean probability is .8, and half of the cases are right
    one = np.array([[0.85, 0.15], [0.81, 0.19]])
    assert honesty_of(one, np.array([0, 1]))["calibration_error"] == pytest.approx(0.33)


@pytest.mark.parametrize("seed", range(12))
def test_scores_of_probabilities_against_their_slow_twins(seed):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([0.4] * (2 + seed % 3), size=40)
    p[:2] = np.eye(p.shape[1])[0]  # quite sure, and once quite wrong
    truth = rng.integers(0, p.shape[1], size=40)
    twins = [naive_pages.log_loss, naive_pages.calibration_error]
    expected = [twin(p.tolist(), truth.tolist()) for twin in twins]
    assert_allclose([*honesty_of(p, truth).values()], expected, rtol=1e-6)


def test_an_evaluation_scores_the_probabilities_of_all_classes():
    X, y = mvdfq.make_autoregressive(45, 2, 30, n_classes=3, random_state=3)
    clf = mvdfq.SequenceClassifier("fast", C=1)
    split = np.repeat(["train", "test"], [30, 15])
    split[y == 2] = "test"  # a class that training lacks has the probability 0
    with pytest.warns(UserWarning, match="lacks a class"):
        result = evaluate(clf, X, y, protocol="split", split=split)
    train, test = (np.flatnonzero(split == part) for part in ("train", "test"))
    chances = clf.fit([X[i] for i in train], y[train]).predict_proba([X[i] for i in test])
    full = np.column_stack([chances, np.zeros(len(test))])
    plain = result.to_dict()
    for key, value in honesty_of(full, y[test]).items():
        assert plain[key] == pytest.approx(value)
    rows = result.per_sequence
    assert np.mean([row["log_loss"] for row in rows]) == pytest.approx(plain["log_loss"])
    assert_allclose([row["probability"] for row in rows], chances.max(axis=1))
    fitted = mvdfq.evaluation.evaluate_fitted(clf, [X[i] for i in test], y[test].astype(str))
    assert fitted.to_dict()["log_loss"] == pytest.approx(plain["log_loss"])


@pytest.mark.parametrize("kind", [float, np.uint8, object, str])
def test_labels_of_another_type_are_the_same_labels(kind):
    X, y = mvdfq.make_autoregressive(30, 2, 30, random_state=3)
    clf = mvdfq.SequenceClassifier("mvdfq-spectrum-alt", C=1, cv=2).fit(X, y)
    right = evaluate_fitted(clf, X, y).accuracy
    assert evaluate_fitted(clf, X, y.astype(kind)).accuracy == right > 0.5


def test_a_series_or_a_table_keeps_its_rows_whatever_their_index():
    X, y = mvdfq.make_autoregressive(30, 1, 30, n_classes=3, random_state=3)
    index, clf = np.arange(30)[::-1], mvdfq.SequenceClassifier("mvdfq-spectrum-alt", C=1, cv=2)
    expected = evaluate(clf, X, y).accuracy
    assert expected != 1
    assert evaluate(clf, pd.Series(X, index=index), y).accuracy == expected
    assert evaluate(clf, pd.DataFrame(np.ravel(X).reshape(30, 30), index), y).accuracy == expected
    nested = pd.DataFrame({"a": [pd.Series(x[0]) for x in X]}, index)
    assert evaluate(clf, nested, y).accuracy == expected
    names = [f"s{i}" for i in range(30)]
    named = [evaluate(clf, X, y, names=n).per_sequence for n in (names, pd.Series(names, index))]
    assert named[0] == named[1]


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_labels_may_be_a_column_and_must_be_there():
    X, y = mvdfq.make_autoregressive(30, 2, 30, n_classes=3, random_state=3)
    clf = mvdfq.SequenceClassifier("mvdfq-spectrum-alt", C=1, cv=2).fit(X[:20], y[:20])
    column = pd.DataFrame({"y": y})
    for test in (evaluate, evaluate_fitted):
        assert test(clf, X, column).accuracy == test(clf, X, y).accuracy
        with pytest.raises(ValueError, match=r"the target y is None|y should be a 1d array"):
            test(clf, X, None)
    with pytest.raises(ValueError, match="y must have a label for every sequence, got None"):
        evaluate(clf, X, np.where(y == 1, None, "a"))


def test_classifiers_of_scikit_learn_may_lack_decision_values_or_probabilities():
    X, y = mvdfq.make_autoregressive(30, 2, 30, random_state=3)
    counts = mvdfq.DirectQuantizer(4), mvdfq.SequenceFeatures(mvdfq.Spectrum(2))
    near = evaluate(make_pipeline(*counts, KNeighborsClassifier()), X, y, protocol="3-fold")
    assert near.to_dict()["log_loss"] > 0
    assert near.two_classes["roc_auc"] is None
    linear = evaluate(make_pipeline(*counts, LinearSVC()), X, y, protocol="3-fold")
    assert linear.to_dict()["log_loss"] is None
    assert "log_loss" not in linear.per_sequence[0]


class Guesses(ClassifierMixin, BaseEstimator):
    """Says the first class that it was taught; knows decision values."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def decision_function(self, X):
        return np.asarray(X, dtype=float)


def test_known_groups_are_held_apart():
    X, groups = list(range(36)), np.arange(36) % 4
    result = evaluate(Guesses(), X, Y, groups=groups)
    assert result.protocol == "group"
    assert "4 groups are held apart" in result.remarks[0]
    assert "protocol='5-fold'" in result.remarks[0]
    assert [row["group"] for row in result.per_group] == ["0", "1", "2", "3"]
    for fold in result.folds:
        assert len(set(groups[fold.test])) == 1
    assert evaluate(Guesses(), X, Y).protocol == "5-fold"
    assert evaluate(Guesses(), X, Y, groups=np.zeros(36)).protocol == "5-fold"
    parts = np.repeat(["train", "test"], 18)[np.random.default_rng(0).permutation(36)]
    with pytest.warns(UserWarning, match="4 of 4 groups are both in the training part and in"):
        assert evaluate(Guesses(), X, Y, groups=groups, split=parts).protocol == "split"
    with pytest.warns(UserWarning, match="protocol='group' holds groups apart"):
        mixed = evaluate(Guesses(), X, Y, groups=groups, protocol="3-fold")
    assert mixed.interval_name == "t interval over 4 groups"


def test_one_seed_is_not_several_seeds():
    with pytest.raises(ValueError, match=r"seeds must be several seeds such as \(0, 1, 2\), got 3"):
        evaluate(Guesses(), np.zeros((36, 1, 4)), Y, seeds=3)


def test_groups_that_are_classes_cannot_be_held_apart():
    with pytest.warns(UserWarning, match="are both in the training part") as said:
        result = evaluate(Guesses(), list(range(36)), Y, groups=Y)
    assert result.protocol == "5-fold"
    assert "cannot be held apart" in result.remarks[0]
    assert "holds groups apart" not in str(said[0].message)


def test_a_class_that_the_training_part_lacks_is_told():
    y = np.array(["a", "a", "b", "b", "c", "c"])
    with pytest.warns(UserWarning, match="of 1 fold .the first is 3. lacks a class .*: 2 predict"):
        result = evaluate(Guesses(), list(range(6)), y, groups=[1, 2, 1, 2, 3, 3])
    assert result.protocol == "group"
    with pytest.raises(ValueError, match="leaves class a alone in the training part of 3"):
        evaluate(Guesses(), [1, 2, 3], ["a", "a", "b"], groups=[1, 2, 3], protocol="group")


@pytest.mark.parametrize("missing", [None, float("nan"), "", "NA", "NaT"])
def test_a_sequence_without_a_group_is_refused(missing):
    if missing in ("NA", "NaT"):
        missing = getattr(pytest.importorskip("pandas"), missing)
    groups, message = [*"ab" * 17, missing, "c"], r"1 of 36 without a group \(the first is .* 34"
    with pytest.raises(ValueError, match=message):
        evaluate(Guesses(), list(range(36)), Y, groups=groups)
    with pytest.raises(ValueError, match=message):
        mvdfq.SequenceClassifier().fit(["AB"] * 36, Y, groups=groups)


def test_groups_may_be_of_several_types():
    groups = [1, "one", 2, "two"] * 9
    result = evaluate(Guesses(), list(range(36)), Y, groups=groups)
    assert [row["group"] for row in result.per_group] == ["1", "2", "one", "two"]


def test_folds_of_many_groups_are_repeated_with_every_seed():
    X, groups = list(range(36)), np.arange(36) // 2
    few = evaluate(Guesses(), X, Y, groups=np.arange(36) % 3, seeds=(0, 1))
    many = evaluate(Guesses(), X, Y, groups=groups % 12, seeds=(0, 1), protocol="group")
    assert (len(few.seeds), len(many.seeds)) == (1, 2)


def test_classes_that_were_never_tested_do_not_count():
    fold = Fold("test", 0, np.arange(3), np.array([0, 2, 2]), np.array([0, 2, 2]))
    assert Evaluation("split", [0, 1, 2], [fold]).f1 == (1, 1)


def test_labels_parts_and_names_of_other_sequences_are_refused():
    X, y = mvdfq.make_autoregressive(20, 2, 40, random_state=1)
    clf = mvdfq.SequenceClassifier("fast").fit(X, y)
    for name, labels, options in [
        ("y", y[:9], {}),
        ("split", y, {"split": ["train"] * 9}),
        ("names", y, {"names": ["a"] * 9}),
    ]:
        with pytest.raises(ValueError, match=f"{name} must have 20 entries, got 9"):
            evaluate(clf, X, labels, protocol="2-fold", **options)
    with pytest.raises(ValueError, match="y must have 20 entries, got 9"):
        evaluate_fitted(clf, X, y[:9])
    with pytest.raises(ValueError, match="y must have 20 entries, got 9"):
        clf.importance(X, y[:9])


def test_a_split_of_other_names_is_refused():
    with pytest.raises(ValueError, match=r"got \['Test', 'Train'\]"):
        list(folds_of("split", Y, split=np.array(["Train", "Test"] * 18)))

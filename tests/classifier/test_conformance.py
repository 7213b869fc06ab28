"""The classifiers are natives of scikit-learn: its own checks, and what those do not reach."""

import pickle
import warnings
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils import _safe_indexing, compute_sample_weight
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks
from sklearn.utils.validation import validate_data

from mvdfq import (
    Delta,
    DirectQuantizer,
    Letters,
    SequenceClassifier,
    SequenceClassifierCV,
    SequenceKernel,
    Spectrum,
    Stack,
    check_sequences,
    make_autoregressive,
)

OTHER_LENGTHS = "series of other lengths than in fit are welcome"
DATA_FRAMES = "a data frame holds one line per id and time, and is read by from_long_table"
# The checks of scikit-learn that cannot hold, and why. They are run all the same: one that
# passes one day fails here, and leaves the list.
CANNOT_HOLD = {
    "check_classifiers_train": OTHER_LENGTHS,
    "check_n_features_in_after_fitting": OTHER_LENGTHS,
    "check_classifier_data_not_an_array": DATA_FRAMES,
    "check_sample_weights_pandas_series": DATA_FRAMES,
    "check_sample_weight_equivalence_on_dense_data": "bins are learned from unweighted frames",
}

# Series of two points, as some checks have them, hold no word of most kernels.
QUICK = {"preset": "mvdfqm-spectrum-alt", "C": 10, "cv": 2}


@parametrize_with_checks(
    [
        SequenceClassifier(),
        SequenceClassifier(**QUICK),
        SequenceClassifier(**QUICK, solver="linear"),
        SequenceClassifierCV(),
    ],
    expected_failed_checks=lambda estimator: CANNOT_HOLD,
)
@pytest.mark.filterwarnings("ignore:.*no word", "ignore:No known word", "ignore::RuntimeWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


class OneLength(SequenceClassifier):
    """Refuses series of other lengths, as some checks demand: all else in them must hold."""

    def fit(self, X, y, sample_weight=None, groups=None):
        return super().fit(np.asarray(X), y, sample_weight, groups)

    def decision_function(self, X):
        validate_data(self, X, reset=False, skip_check_array=True)
        return super().decision_function(X)


def test_other_lengths_are_all_that_is_held_against_us():
    # The first and the second of two points are told apart by words of two symbols.
    classifier = OneLength(**QUICK, symbols=DirectQuantizer(6), kernel=Spectrum(2))
    names = {name for name, reason in CANNOT_HOLD.items() if reason is OTHER_LENGTHS}
    checks = [
        (estimator, check)
        for estimator, check in estimator_checks_generator(classifier)
        if check.func.__name__ in names
    ]
    assert len(checks) == 4
    for estimator, check in checks:
        check(estimator)


@dataclass
class Case:
    """A kind of input: sequences, their labels, and a classifier for them."""

    X: Any
    y: np.ndarray
    classifier: SequenceClassifier

    def fitted(self, **options):
        return clone(self.classifier).set_params(**options).fit(self.X, self.y)


def quick(kind=SequenceClassifier, **options):
    """A classifier that can tell autoregressions apart and takes a hundredth of a second."""
    parts = {"symbols": DirectQuantizer(4), "kernel": Spectrum(2)}
    return kind(**{**QUICK, **parts, **options})


def texts(n, seed):
    """Strings of unequal length, each with a favourite letter: the class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    letters = [rng.choice(list("ABC"), p=0.2 + 0.4 * np.eye(3)[c], size=20 + c) for c in y]
    return ["".join(row) for row in letters], y


UNEQUAL, Y = make_autoregressive(36, 5, (40, 70), n_classes=3, random_state=0)
EQUAL, Y_EQUAL = make_autoregressive(36, 5, 50, n_classes=3, random_state=1)
SYMBOLS = DirectQuantizer(4).fit_transform(UNEQUAL)
CASES = {
    "list": Case(UNEQUAL, Y, quick()),
    "3-D": Case(np.array(EQUAL), Y_EQUAL, quick()),
    "Sequences": Case(check_sequences(UNEQUAL, channel_names=list("abcde")), Y, quick()),
    "Symbols": Case(SYMBOLS, Y, quick(symbols=None)),
    "strings": Case(*texts(36, 0), quick(symbols=Letters())),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def as_bytes(classifier, X):
    """All that a classifier says of X, to the last bit."""
    return classifier.decision_function(X).tobytes() + classifier.predict_proba(X).tobytes()


def test_fit_leaves_parameters_and_input_alone(case):
    X, y, classifier = deepcopy((case.X, case.y, case.classifier))
    before = repr(classifier.get_params())
    assert classifier.fit(X, y) is classifier
    classifier.predict(X)
    assert repr(classifier.get_params()) == before
    assert_array_equal(y, case.y)
    for x, original in zip(X, case.X, strict=True):
        assert_array_equal(x, original)


def test_refit_forgets_the_first_fit(case):
    refit = clone(case.classifier).set_params(symbols=DirectQuantizer(3))
    refit.fit(np.random.default_rng(0).normal(size=(8, 9)), list("abababab"))
    assert refit.n_features_in_ == 9
    refit.set_params(symbols=case.classifier.symbols).fit(case.X, case.y)
    assert set(vars(refit)) == set(vars(case.fitted()))
    assert as_bytes(refit, case.X) == as_bytes(case.fitted(), case.X)


def test_clones_are_not_fitted(case):
    copy = clone(case.fitted())
    assert repr(copy.get_params()) == repr(case.classifier.get_params())
    with pytest.raises(NotFittedError, match="not fitted yet"):
        copy.predict(case.X)


def test_pickle_keeps_the_answers(case):
    fitted = case.fitted()
    assert as_bytes(pickle.loads(pickle.dumps(fitted)), case.X) == as_bytes(fitted, case.X)


@pytest.mark.parametrize("options", [{}, {"solver": "linear"}])
@pytest.mark.usefixtures("two_blas_threads")
def test_neither_threads_nor_repetition_change_a_bit(case, options):
    one, two, again = (case.fitted(n_jobs=n, **options) for n in (1, 2, 2))
    assert as_bytes(one, case.X) == as_bytes(two, case.X) == as_bytes(again, case.X)


@pytest.mark.parametrize("solver", ["kernel", "linear"])
def test_weight_zero_is_leaving_out(case, solver):
    classifier = clone(case.classifier).set_params(solver=solver, C=[1, 10])
    weight = np.random.default_rng(0).choice([0, 0.5, 2], size=len(case.y))
    kept = np.flatnonzero(weight)
    part = _safe_indexing(case.X, kept), case.y[kept], weight[kept], kept % 4
    without = clone(classifier).fit(*part)
    fitted = classifier.fit(case.X, case.y, weight, np.arange(len(case.y)) % 4)
    assert as_bytes(fitted, case.X) == as_bytes(without, case.X)
    assert_array_equal(fitted.train_index_, kept)
    assert fitted.validation_score_ == without.validation_score_


def test_weights_are_repetition_where_symbols_are_given():
    weight = np.random.default_rng(0).integers(1, 4, size=len(Y))
    repeated = np.repeat(np.arange(len(Y)), weight)
    weighted = CASES["Symbols"].classifier.fit(SYMBOLS, Y, weight)
    apart = clone(weighted).fit(SYMBOLS[repeated], Y[repeated])
    found, expected = weighted.decision_function(SYMBOLS), apart.decision_function(SYMBOLS)
    assert_allclose(found, expected, atol=5e-3)  # solvers stop at 1e-3
    unweighted = clone(weighted).fit(SYMBOLS, Y).decision_function(SYMBOLS)
    assert np.abs(found - unweighted).max() > 0.02


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_decision_probability_and_label_agree(case, n_classes, multi_class):
    kept = np.flatnonzero(case.y < n_classes)
    X, y = _safe_indexing(case.X, kept), case.y[kept]
    fitted = clone(case.classifier).set_params(multi_class=multi_class).fit(X, y)
    decision, proba = fitted.decision_function(case.X), fitted.predict_proba(case.X)
    n = len(case.y)
    assert decision.shape == ((n,) if n_classes == 2 else (n, n_classes))
    assert proba.shape == (n, n_classes)
    assert_allclose(proba.sum(axis=1), 1)
    winner = (decision > 0).astype(int) if n_classes == 2 else decision.argmax(axis=1)
    assert_array_equal(fitted.predict(case.X), winner)
    assert_array_equal(proba.argmax(axis=1), winner)
    assert fitted.score(X, y) > 0.9


def test_cross_validation_with_groups(case):
    groups = np.arange(len(case.y)) // 3 % 4
    scores = cross_val_score(
        case.classifier, case.X, case.y, groups=groups, cv=GroupKFold(3), error_score="raise"
    )
    assert scores.shape == (3,)
    assert scores.mean() > 0.5  # a third is chance


@pytest.mark.parametrize(
    "labels",
    [["low", "high"], [3, -5], [False, True], [1.0, 2.0], np.array(["b", "a"], dtype=object)],
    ids=str,
)
def test_labels_come_back_as_they_were(labels):
    y = np.asarray(labels)[(Y == 2).astype(int)]
    fitted = quick().fit(UNEQUAL, y.tolist() if y.dtype != object else y)
    assert_array_equal(fitted.classes_, np.unique(y))
    assert fitted.predict(UNEQUAL).dtype == y.dtype
    assert fitted.score(UNEQUAL, y) > 0.9


def test_balanced_weights_are_those_of_scikit_learn():
    y = (Y == 2).astype(int)
    weight = compute_sample_weight("balanced", y)
    balanced = as_bytes(quick(class_weight="balanced").fit(UNEQUAL, y), UNEQUAL)
    by_hand = {c: weight[y == c][0] for c in (0, 1)}
    assert as_bytes(quick(class_weight=by_hand).fit(UNEQUAL, y), UNEQUAL) == balanced
    assert as_bytes(quick().fit(UNEQUAL, y, weight), UNEQUAL) == balanced
    assert as_bytes(quick().fit(UNEQUAL, y), UNEQUAL) != balanced


def test_the_best_penalty_of_the_inner_folds_is_taken():
    chosen = quick(C=[100, 1e-3], cv=3).fit(UNEQUAL, Y)
    scores = chosen.validation_scores_.mean(axis=1)
    assert scores[1] > scores[0]  # in ascending order; the small one learns next to nothing
    assert (chosen.C_, chosen.validation_score_) == (100, scores[1])
    given = quick(C=100, cv=3).fit(UNEQUAL, Y)
    assert as_bytes(chosen, UNEQUAL) == as_bytes(given, UNEQUAL)


def test_grid_search_over_parts():
    grid = {
        "symbols": [DirectQuantizer(3), DirectQuantizer(6)],
        "kernel": [Spectrum(1), "sssk"],
        "C": [1, 10],
    }
    search = GridSearchCV(quick(), grid, cv=2, error_score="raise").fit(UNEQUAL, Y)
    assert len(search.cv_results_["params"]) == 8
    by_hand = cross_val_score(quick(**search.best_params_), UNEQUAL, Y, cv=2)
    assert search.best_score_ == by_hand.mean()
    assert search.best_estimator_.C_ == search.best_params_["C"]


def test_nested_parameters_can_be_searched():
    grid = {"symbols__n_bins": [2, 5]}
    search = GridSearchCV(quick(), grid, cv=2, error_score="raise").fit(UNEQUAL, Y)
    assert (
        search.best_estimator_.terms_[0].encoders[-1].n_bins
        == search.best_params_["symbols__n_bins"]
    )


@pytest.mark.parametrize(
    ("name", "given"),
    [("symbols__n_bins", {}), ("kernel__k", {"kernel": "spectrum"}), ("frames__keep", {})],
)
def test_parameters_of_a_part_that_is_not_an_object_are_refused(name, given):
    clf = SequenceClassifier("mvdfqm-sssk", **given)
    part = name.partition("__")[0]
    with pytest.raises(
        ValueError, match=f"{name} sets a parameter of {part}, but .* such as {part}="
    ):
        clf.set_params(**{name: 3})


def test_frames_before_it_in_a_pipeline_are_its_frames():
    pipeline = make_pipeline(Delta(), quick()).fit(UNEQUAL, Y)
    inside = quick(frames=Delta()).fit(UNEQUAL, Y)
    assert as_bytes(pipeline, UNEQUAL) == as_bytes(inside, UNEQUAL)


def test_calibration_takes_it():
    calibrated = CalibratedClassifierCV(quick(), cv=2).fit(UNEQUAL, Y)
    assert_allclose(calibrated.predict_proba(UNEQUAL).sum(axis=1), 1)
    assert calibrated.score(UNEQUAL, Y) > 0.9


def test_several_labels_a_sequence_by_one_versus_rest():
    indicator = np.stack([Y == 0, Y != 1, Y == 2], axis=1).astype(int)
    with pytest.raises(ValueError, match="1d array"):
        quick().fit(UNEQUAL, indicator)
    several = OneVsRestClassifier(quick()).fit(UNEQUAL, indicator)
    assert (several.predict(UNEQUAL) == indicator).mean() > 0.9
    assert several.predict_proba(UNEQUAL).shape == indicator.shape


class Recorder(SequenceClassifier):
    """Remembers which weights and groups reached `fit`."""

    seen: list = []  # noqa: RUF012 - of the class, since clones are to share it

    def fit(self, X, y, sample_weight=None, groups=None):
        self.seen.append((len(y), sample_weight, groups))
        return super().fit(X, y, sample_weight, groups)


@pytest.mark.parametrize("with_frames", [False, True])
def test_weights_and_groups_are_routed(monkeypatch, with_frames):
    monkeypatch.setattr(Recorder, "seen", [])
    weight, groups = np.arange(1.0, 37), np.arange(36) // 3
    with config_context(enable_metadata_routing=True):
        recorder = quick(Recorder)
        recorder.set_fit_request(sample_weight=True, groups=True)
        recorder.set_score_request(sample_weight=True)
        estimator = make_pipeline(Delta(), recorder) if with_frames else recorder
        prefix = "recorder__" if with_frames else ""
        search = GridSearchCV(estimator, {prefix + "C": [1, 10]}, cv=GroupKFold(2))
        search.fit(UNEQUAL, Y, sample_weight=weight, groups=groups)
    assert [n for n, _, _ in Recorder.seen] == [18] * 4 + [36]
    for n, some_weight, some_groups in Recorder.seen:
        assert len(some_weight) == n
        assert_array_equal((some_weight - 1) // 3, some_groups)  # cut alike


def test_search_routes_weights_and_groups(monkeypatch):
    monkeypatch.setattr(Recorder, "seen", [])
    weight, groups = np.arange(1.0, 37), np.arange(36) // 3
    with config_context(enable_metadata_routing=True):
        search = SequenceClassifierCV(quick(Recorder))
        search.set_fit_request(sample_weight=True, groups=True)
        pipeline = make_pipeline(Delta(), search)
        pipeline.fit(UNEQUAL, Y, sample_weight=weight, groups=groups)
    assert_array_equal(Recorder.seen[0][1], weight)
    assert_array_equal(Recorder.seen[0][2], groups)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_calibrated(n_classes):
    X, y = make_autoregressive(600, 6, 60, n_classes=n_classes, random_state=0)
    rng = np.random.default_rng(0)
    y = np.where(rng.random(len(y)) < 0.1, rng.integers(n_classes, size=len(y)), y)
    fitted = quick(cv=5).fit(X[:200], y[:200])
    decision = fitted.decision_function(X[200:])
    if n_classes == 2:
        decision = np.stack([np.zeros(400), decision], axis=1)

    def loss(factor):
        return log_loss(y[200:], softmax(factor * decision, axis=1))

    ours = log_loss(y[200:], fitted.predict_proba(X[200:]))
    assert ours == pytest.approx(loss(fitted.temperature_))
    assert ours < loss(1) - 0.02
    assert ours < min(map(loss, np.geomspace(0.1, 10, 30))) + 0.02


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"preset": "mvdfq-9d"}, ValueError, r"preset='mvdfq-9d' is not known.*list_presets"),
        (
            {"kernel": "spectral"},
            ValueError,
            "'spectral' is not the name of a kernel; did you",
        ),
        ({"symbols": "bins"}, ValueError, "'bins' is not the name of a quantizer; use codebook"),
        (
            {"frames": "deltas"},
            ValueError,
            "'deltas' is not the name of a transformer; did you",
        ),
        ({"kernel": 3}, TypeError, "kernel must be a name or a kernel, got 3"),
        ({"frames": 3}, TypeError, "3 is not a transformer"),
        ({"solver": "smo"}, ValueError, r"solver must be one of .*'linear'\), got 'smo'"),
        ({"multi_class": "crammer"}, ValueError, "multi_class must be 'ovr' or 'ovo'"),
        ({"C": 0}, ValueError, "C must be"),
        ({"C": "best"}, ValueError, "C must be a number, several numbers or 'auto', got 'best'"),
        ({"C": []}, ValueError, "C must hold at least one number"),
        ({"cv": 1}, ValueError, "cv must be a whole number >= 2"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be a number of threads"),
        ({"class_weight": "even"}, ValueError, "class_weight"),
        ({"solver": "linear", "gamma": 1.0}, ValueError, "gamma needs solver='kernel'"),
    ],
)
def test_options_that_do_not_exist(options, error, message):
    with pytest.raises(error, match=message):
        quick(**options).fit(UNEQUAL, Y)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y": np.zeros(36)}, "y must hold at least two classes, got 1 class"),
        ({"y": Y[:-1]}, "y must have 36 entries, got 35"),
        ({"y": None}, "requires y to be passed"),
        ({"y": np.where(Y == 0, np.nan, Y)}, "y contains NaN"),
        ({"y": np.linspace(0, 1, 36)}, "Unknown label type: continuous"),
        ({"groups": np.zeros(35)}, "groups must have 36 entries, got 35"),
        ({"sample_weight": np.ones(35)}, "sample_weight"),
        ({"sample_weight": np.full(36, -1.0)}, "[Nn]egative"),
        ({"X": [x[:, :0] for x in UNEQUAL]}, "only empty sequences"),
    ],
)
def test_training_sets_that_cannot_be_learned_from(given, message):
    with pytest.raises(ValueError, match=message):
        quick().fit(**{"X": UNEQUAL, "y": Y, **given})


def test_a_penalty_that_does_not_exist_is_refused_before_the_work(monkeypatch):
    monkeypatch.setattr("mvdfq.gram.kernel.gram", None)
    with pytest.raises(ValueError, match="C must be"):
        quick(C="best").fit(UNEQUAL, Y)


def test_a_refit_that_is_broken_off_leaves_nothing_fitted(monkeypatch):
    fitted = quick().fit(UNEQUAL, Y)
    with pytest.raises(ValueError, match="entries"):  # refused at the door: nothing happened
        fitted.fit(UNEQUAL, Y[1:])
    with pytest.raises(ValueError, match="C must be"):
        fitted.set_params(C="best").fit(UNEQUAL, Y)
    fitted.set_params(C=10)
    assert fitted.score(UNEQUAL, Y) > 0.9
    monkeypatch.setattr("mvdfq.gram.kernel.gram", None)
    with pytest.raises(TypeError):
        fitted.fit(UNEQUAL, Y + 1)
    with pytest.raises(NotFittedError):
        fitted.predict(UNEQUAL)


@pytest.mark.parametrize("C", [10, "auto"])
def test_a_class_with_one_member_is_learned_and_the_others_validated(C):
    y = np.where(np.arange(36) == 5, 3, Y)
    fitted = quick(C=C).fit(UNEQUAL, y)
    assert fitted.predict([UNEQUAL[5]]) == [3]
    assert np.isfinite(fitted.validation_score_)


def test_classes_of_one_member_each_are_learned_but_not_validated():
    kept = [int(np.flatnonzero(c == Y)[0]) for c in np.unique(Y)]
    X, y = [UNEQUAL[i] for i in kept], Y[kept]
    with pytest.warns(UserWarning, match="No sequence could be held out"):
        fitted = quick(C="auto").fit(X, y)
    assert_array_equal(fitted.predict(X), y)
    assert np.isnan(fitted.validation_score_)
    assert np.isnan(fitted.validation_std_)
    assert fitted.C_ == 10
    with (
        pytest.raises(ValueError, match="The search needs a class with two members"),
        pytest.warns(UserWarning, match="No sequence could be held out"),
    ):
        SequenceClassifierCV(quick()).fit(X, y)


def test_data_frames_do_not_get_in_the_way():
    pytest.importorskip("pandas")
    for solver in ("kernel", "linear"):
        expected = as_bytes(quick(solver=solver).fit(UNEQUAL, Y), UNEQUAL)
        with config_context(transform_output="pandas"):
            assert as_bytes(quick(solver=solver).fit(UNEQUAL, Y), UNEQUAL) == expected


def test_set_output_is_for_the_end_of_a_pipeline():
    pytest.importorskip("pandas")
    parts = Stack([None, Delta(keep=False)]), DirectQuantizer(4), SequenceKernel(Spectrum(2))
    pipeline = make_pipeline(*parts, SVC(kernel="precomputed", C=10))
    expected = clone(pipeline).fit(UNEQUAL, Y).decision_function(UNEQUAL)
    pipeline.set_output(transform="pandas").fit(UNEQUAL, Y)
    assert_array_equal(pipeline.decision_function(UNEQUAL), expected)
    K = pipeline[:-1].transform(UNEQUAL[:3])
    assert K.shape == (3, 36)
    assert list(K.columns[:2]) == ["sequence 0", "sequence 1"]
    assert type(pipeline[:-2].transform(UNEQUAL[:3])) is type(SYMBOLS)


@pytest.mark.parametrize("transformer", [Delta(), Letters(), DirectQuantizer(), Stack([None])])
def test_set_output_is_accepted(transformer):
    assert transformer.set_output(transform="pandas") is transformer


def test_search_counts_words_once_for_each_kernel(monkeypatch):
    from mvdfq.gram.tiles import gram

    calls = Counter()

    def counted(left, right, plan, **options):
        calls[plan.kernel.k, right is None] += 1
        return gram(left, right, plan, **options)

    monkeypatch.setattr("mvdfq.gram.kernel.gram", counted)
    grid = {"kernel": [Spectrum(k) for k in (1, 2, 3)], "C": [0.1, 1, 10]}
    SequenceClassifierCV(quick(cv=3), grid).fit(UNEQUAL, Y).predict(UNEQUAL)
    assert calls == {(1, True): 1, (2, True): 1, (3, True): 1}


def test_search_results():
    grid = [{"kernel": [Spectrum(1), Spectrum(2)], "C": [0.1, 10]}, {"symbols": ["direct"]}]
    search = SequenceClassifierCV(quick(), grid)
    before = repr(search.get_params())
    search.fit(UNEQUAL, Y)
    assert repr(search.get_params()) == before
    results = search.cv_results_
    assert [sorted(params) for params in results["params"]] == [["C", "kernel"]] * 2 + [
        ["C", "symbols"]
    ]
    assert search.best_score_ == max(results["mean_test_score"])
    assert len(results["std_test_score"]) == 3
    best = clone(search.best_estimator_).set_params(**search.best_params_)
    assert best.fit(UNEQUAL, Y).validation_score_ == search.best_score_
    assert as_bytes(best, UNEQUAL) == as_bytes(search, UNEQUAL)
    assert search.score(UNEQUAL, Y) > 0.7
    assert not hasattr(search, "n_features_in_")


def test_search_does_not_write_into_the_parts_it_is_given():
    quantizer = DirectQuantizer(4)
    grid = {"symbols": [quantizer], "symbols__n_bins": [2, 5]}
    search = SequenceClassifierCV(quick(), grid).fit(UNEQUAL, Y)
    assert quantizer.n_bins == 4
    assert (
        search.best_estimator_.terms_[0].encoders[-1].n_bins
        == search.best_params_["symbols__n_bins"]
    )


def test_search_in_a_search():
    search = SequenceClassifierCV(quick(), {"kernel": [Spectrum(1), Spectrum(2)]})
    assert cross_val_score(search, UNEQUAL, Y, cv=2, error_score="raise").mean() > 0.5


def test_a_search_that_breaks_off_forgets_the_last_search(monkeypatch):
    search = SequenceClassifierCV(quick()).fit(UNEQUAL, Y)
    monkeypatch.setattr(SequenceClassifier, "fit", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        search.fit(UNEQUAL, Y)
    with pytest.raises(NotFittedError):
        search.predict(UNEQUAL)


def test_search_takes_lists_of_values():
    with pytest.raises(TypeError, match="Parameter grid for parameter 'C' needs to be a list"):
        SequenceClassifierCV(quick(), {"C": 1}).fit(UNEQUAL, Y)


def test_search_before_fit_says_so():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        SequenceClassifierCV().predict(UNEQUAL)


def test_collections_of_aeon_go_in_as_they_are():
    datasets = pytest.importorskip("aeon.datasets", exc_type=ImportError)
    X, y = datasets.load_japanese_vowels(split="train")  # a list: the lengths differ
    assert isinstance(X, list)
    assert quick(C=100).fit(X, y).score(X, y) > 0.9
    X, y = datasets.load_basic_motions(split="train")
    assert X.ndim == 3
    fitted = quick().fit(X, y)
    assert fitted.classes_.tolist() == sorted(set(y))
    assert fitted.score(*datasets.load_basic_motions(split="test")) > 0.7


def test_another_sampling_rate_is_warned_of():
    X, y = make_autoregressive(20, 2, 40, random_state=0)
    slow, fast = (check_sequences(X).with_fields(sampling_rate=rate) for rate in (50.0, 100.0))
    clf = SequenceClassifier("fast", C=1).fit(slow, y)
    with pytest.warns(UserWarning, match=r"X has 100 frames per second, .* 50; resample=50"):
        clf.predict(fast)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.predict(slow.with_fields(sampling_rate=53.0))
        clf.predict(X)  # a rate that is not known may be right

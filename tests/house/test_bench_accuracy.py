"""The statistics of benchmarks/bench_accuracy.py, and what it shows of the stored results."""

import os
from collections import Counter

import numpy as np
import pytest

import mvdfq
from mvdfq.classifier.presets import PRESETS


def test_holm_by_worked_numbers(load):
    # sorted: .005 x 4, .01 x 3, .03 x 2, .04 x 1; no corrected value below the value before it
    corrected = load("accuracy_stats").holm([0.01, 0.04, 0.03, 0.005])
    np.testing.assert_allclose(corrected, [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(load("accuracy_stats").holm([0.6, 0.7]), [1, 1])


def test_mean_ranks_by_worked_numbers(load):
    values = np.array([[0.9, 0.8, 0.8], [0.5, 0.7, 0.6]])
    np.testing.assert_allclose(load("accuracy_stats").mean_ranks(values), [2, 1.75, 2.25])


def test_pairs_count_wins_draws_and_losses(load):
    values = np.array([[0.9, 0.8], [0.5, 0.5], [0.1, 0.2], [0.7, 0.6]])
    (pair,) = load("accuracy_stats").compare(values)
    assert pair.counts == (2, 1, 1)
    equal = load("accuracy_stats").compare(values[:, [0, 0]])[0]
    assert (equal.counts, equal.p) == ((0, 4, 0), 1)


def test_lines_join_neighbours_that_do_not_differ(load):
    stats = load("accuracy_stats")
    pairs = [stats.Pair(0, 1, (0, 0, 0), 0.5), stats.Pair(0, 2, (0, 0, 0), 0.01)]
    pairs.append(stats.Pair(1, 2, (0, 0, 0), 0.2))
    assert stats.cliques(np.array([1.2, 2.0, 2.8]), pairs) == [[0, 1], [1, 2]]


def line(name, split, method, value, seconds):
    """Return a line of the results file; to predict takes as long as to fit."""
    times = dict.fromkeys(["fit_s", "predict_s", "fit_cpu_s", "predict_cpu_s"], str(seconds))
    unknown = {"log_loss": "", "calibration_error": ""}
    found = dict(set=name, split=split, method=method, metric="accuracy", value=value)
    return found | times | unknown


def test_time_ratios_use_the_splits_of_both_methods(load):
    rows = [line("a", "0", "minirocket", 1, 2), line("a", "0", "mine", 1, 6)]
    rows += [line("a", "1", "mine", 1, 100), line("b", "0", "minirocket", 1, 4)]
    assert load("accuracy_show").time_ratios(rows, "mine", "_cpu_s") == {"a": 3}
    assert load("accuracy_stats").geometric_mean([2, 8]) == pytest.approx(4)


def test_means_are_over_the_splits_that_all_methods_have(load):
    rows = [line("a", "0", "one", 0.5, 1), line("a", "0", "two", 0.7, 1)]
    rows += [line("a", "1", "one", 0.9, 1)]
    found = load("accuracy_show").table(rows, ["one", "two"])
    np.testing.assert_allclose(found.values, [[0.5, 0.7]])


def test_methods_that_are_not_complete_are_named(load, capsys):
    rows = [line("a", "0", "one", 1, 1), line("a", "1", "one", 1, 1), line("a", "0", "two", 1, 1)]
    assert load("accuracy_show").complete(rows) == ["one"]
    assert "left out: two, 1 of 2 resamples" in capsys.readouterr().out


def test_show_of_the_stored_results(load, capsys, tmp_path):
    pytest.importorskip("matplotlib")
    rows = load("bench_accuracy").stored()
    load("accuracy_show").show(rows, tmp_path, ["minirocket", "multirocket"])
    text = capsys.readouterr().out
    for part in ("Mean of resamples", "without Handwriting", "Official split", "Other tasks"):
        assert part in text
    assert "80 splits of 8 sets" in text
    assert "minirocket : multirocket" in text
    assert "minirocket" in (tmp_path / "accuracy_ranks.svg").read_text()


@pytest.mark.slow
def test_variants_of_the_default_learn(load, monkeypatch):
    methods = load("accuracy_methods")
    X, y = mvdfq.make_autoregressive(n_sequences=20, n_classes=2, random_state=0)
    for name in methods.VARIANTS:
        monkeypatch.setitem(PRESETS, name, None)  # the script adds a preset: forget it afterwards
        assert np.mean(methods.method(name).fit(X, y).predict(X) == y) > 0.8


def test_the_default_without_words_has_the_margins_of_its_filters(load):
    methods = load("accuracy_methods")
    X, y = mvdfq.make_autoregressive(n_sequences=20, n_classes=2, random_state=0)
    model = methods.method("default without words").fit(X, y)
    assert [term.name for term in model.terms_] == ["filters"]
    assert [term.name for term in methods.ours("default with plain words").terms] == [
        "words", "filters",
    ]  # fmt: skip


def test_resamples_keep_the_sizes_of_the_official_parts(load):
    if "MVDFQ_DATA" not in os.environ:
        pytest.skip("needs the folder MVDFQ_DATA")
    task = load("accuracy_tasks").uea("Libras", 2)
    assert task.splits == ["official", "0", "1"]
    official, drawn = task.parts("official"), task.parts("1")
    for i in (1, 3):
        assert Counter(official[i]) == Counter(drawn[i])
    both = {x.tobytes() for x in [*official[0], *official[2]]}
    assert {x.tobytes() for x in [*drawn[0], *drawn[2]]} == both
    assert any((a != b).any() for a, b in zip(official[0], drawn[0], strict=True))


def test_a_star_marks_a_difference_beyond_two_standard_errors(load):
    marked = load("accuracy_show").marked
    assert marked(np.array([1.0, 2.0, 3.0])) == "  +2.00*"  # standard error 0.58
    assert marked(np.array([-1.0, 2.0, 3.0])) == "  +1.33 "  # standard error 1.2
    assert marked(np.array([5.0])) == "  +5.00 "  # one value has no standard error


@pytest.mark.slow
def test_probabilities_of_few_cases_are_measured(load):
    bench = load("bench_probabilities")
    X, y = mvdfq.make_autoregressive(n_sequences=60, n_classes=3, random_state=0)
    y = np.asarray(y)
    train, test = bench.drawn(y, 15, seed=1)
    assert Counter(y[train]) == dict.fromkeys(np.unique(y), 5)
    assert not set(train) & set(test)
    assert bench.drawn(y, 60, seed=1)[0].size == 0  # too few are left to test
    n_classes, shares, _, shrunk = bench.measure(X, y, 15, "true", 1)
    assert n_classes == 3
    assert float(shares) == pytest.approx(np.log(3), abs=1e-4)
    model = mvdfq.SequenceClassifier("fast").fit([X[i] for i in train], y[train])
    chances = model.predict_proba([X[i] for i in test])
    codes = np.searchsorted(model.classes_, y[test])
    assert float(shrunk) == pytest.approx(bench.honesty_of(chances, codes)["log_loss"], abs=1e-4)
    _, _, plain, shrunk = bench.measure(X, y, 15, "shuffled", 1)
    assert plain != shrunk

"""The numbers of a report: every panel against its definition, and the page as text."""

import csv
import json
import re
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mvdfq
from mvdfq.classifier.similarity import points_of
from mvdfq.evaluation import evaluate
from mvdfq.explain.moments import Moment
from mvdfq.pages import details, html, outcome, report as reports, run as runs, stretches
from mvdfq.pages.contents import tidy
from mvdfq.pages.details import explanations, other_class
from mvdfq.pages.outcome import describe
from mvdfq.pages.report import finish
from mvdfq.pages.similar import discriminants, told_apart
from naive import pages as naive_pages

NAMES = [
    "<script>alert(1)</script>",
    "</script><b>",
    "a & b",
    'quote "x"',
    "\u2028line",
    "new\nline",
]


def walks(n=36, channels=3, length=30, seed=0):
    """Three classes of random walks; some values are missing."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = [
        np.cumsum(random.normal((c - 1) * 0.3, 1, (channels, length + i % 5)), axis=1)
        for i, c in enumerate(y)
    ]
    X[0][0, 3] = np.nan
    names = [NAMES[i] if i < len(NAMES) else f"walk {i}" for i in range(n)]
    return X, np.array(["up <b>", "flat", "down"])[y], names


@pytest.fixture(scope="module", params=[None, "mvdfq-sssk"])
def made(request):
    X, y, names = walks()
    clf = mvdfq.SequenceClassifier(request.param, C=10)
    return mvdfq.report(clf, X, y, names, None, protocol="3-fold", details=9)


@pytest.fixture(scope="module")
def run():
    X, y, names = walks()
    clf, recorder = mvdfq.SequenceClassifier("mvdfqm-sssk", C=10), runs.Recorder()
    X = mvdfq.check_sequences(X)
    result = evaluate(clf, X, y, protocol="3-fold", visit=recorder)
    return runs.Run(clf, X, y, names, np.arange(len(y)) // 4, result, recorder)


@pytest.mark.slow
def test_the_verdict_is_the_evaluation(made):
    X, y, _ = walks()
    preset = re.search(r"preset='([^']*)'", made.data["about"]["classifier"])
    clf = mvdfq.SequenceClassifier(preset and preset[1], C=10)
    result = mvdfq.evaluate(clf, X, y, protocol="3-fold")
    verdict = made.data["verdict"]
    assert_allclose(verdict["accuracy"], result.accuracy, rtol=1e-4)
    assert_allclose(verdict["interval_95"], result.interval, rtol=1e-4)
    assert made.data["confusions"]["matrix"] == result.confusion.tolist()
    assert verdict["right"] == np.trace(result.confusion)
    largest, summary = verdict["baselines"]
    assert_allclose(largest["accuracy"], 1 / 3, rtol=1e-4)
    assert summary["name"] == "mean and variance"
    assert 0 <= summary["accuracy"] <= 1


def test_evidence_adds_up_to_the_difference_of_decision_values(made):
    rows, data = walks()[0], made.data
    for detail in data["details"]:
        evidence = np.array(detail["evidence"])
        assert_allclose(evidence.sum(axis=1), detail["by_channel"], atol=2e-4)
        assert_allclose(evidence.sum(axis=0), detail["total"], atol=2e-4)
        total = np.sum(detail["total"]) + detail["constant"]
        assert_allclose(total, detail["margin"], atol=1e-3)
        assert sum(detail["probabilities"]) == pytest.approx(1, abs=1e-3)
        i = int(re.sub(r"\D", "", data["sequences"]["name"][detail["sequence"]]) or -1)
        if data["sequences"]["name"][detail["sequence"]].startswith("walk"):
            assert_allclose(detail["curves"][0], rows[i][0], rtol=1e-4)


def test_evidence_is_that_of_the_classifier_that_had_not_seen_the_sequence(run):
    detail = reports.finish(run, {}, details=1).data["details"][0]
    place = detail["sequence"]
    clf = run.model(int(run.fold_of[place]))
    assert int(run.tested[place]) not in run.recorder.trains[run.fold_of[place]]
    said, other = run.predicted[place], other_class(run, place)
    column = clf.classes_.tolist().index
    margins = clf.explain(run.X[[run.tested[place]]])
    pair = margins.labels.index(tuple(sorted([run.labels[said], run.labels[other]])))
    assert_allclose(abs(detail["margin"]), abs(margins.margins[pair]), rtol=1e-4)
    assert column(run.labels[said]) >= 0


@pytest.mark.parametrize("preset", [None, "mvdfq-sssk"])
def test_what_the_recorder_keeps_is_what_the_classifiers_say(preset):
    X, y, names = walks()
    clf, recorder = mvdfq.SequenceClassifier(preset, C=10), runs.Recorder()
    result = evaluate(clf, mvdfq.check_sequences(X), y, protocol="3-fold", visit=recorder)
    run = runs.Run(clf, X, y, names, None, result, recorder)
    places = np.flatnonzero(run.fold_of == 1)[[3, 0]].tolist()
    judged, own = run.X[run.tested[places]], run.model(1)
    assert_allclose(run.points(1, places).sketch, points_of(own, judged).sketch, atol=1e-6)
    assert_allclose(run.decided(1, places)[0], own.decision_function(judged), atol=1e-6)
    known = explanations(run, 1, judged, places)
    for one, alone in zip(known, own.explain_all(judged), strict=True):
        assert_allclose(one.margins, alone.margins, atol=1e-6)
        assert_allclose(one.constant, alone.constant, atol=1e-6)
        assert one.predicted == alone.predicted
    assert run.decided(0, places) is None  # another fold judged them


def test_a_page_trains_nothing_again(monkeypatch):
    X, y, names = walks()
    clf, recorder = mvdfq.SequenceClassifier(C=10), runs.Recorder()
    result = evaluate(clf, mvdfq.check_sequences(X), y, protocol="3-fold", visit=recorder)
    monkeypatch.setattr(mvdfq.SequenceClassifier, "fit", None)
    run = runs.Run(clf, X, y, names, None, result, recorder)
    data = finish(run, {"title": "", "command": ""}, 4).data
    expected = np.mean([run.model(f).lost_ for f in range(3)], axis=0)
    found = [[one["log_loss"], one["accuracy"]] for one in data["matters"]["channels"]]
    assert_allclose(found, expected[:3], rtol=1e-3, atol=1e-9)
    own = run.model(1).p_values(run.X[run.folds[1].test])
    assert_allclose(run.p_values[run.fold_of == 1], own)


def test_folds_that_were_not_kept_are_fitted_again(monkeypatch):
    monkeypatch.setattr(runs, "MOST_KEPT", 1)
    X, y, names = walks()
    clf = mvdfq.SequenceClassifier("fast", C=10)
    groups = np.arange(len(y)) // 9
    made = mvdfq.report(clf, X, y, names, None, protocol="group", groups=groups, details=8)
    assert len({made.data["sequences"]["fold"][d["sequence"]] for d in made.data["details"]}) > 1
    for detail in made.data["details"]:
        assert detail["margin"] >= -1e-6  # one-vs-rest: the predicted class has the largest margin
        first = detail["neighbours"][0]
        place = first["sequence"]
        assert made.data["sequences"]["name"][place] == first["name"]
        folds = made.data["sequences"]["fold"]
        assert folds[place] != folds[detail["sequence"]]


@pytest.mark.parametrize("preset", [None, "mvdfqm-sssk"])
def test_several_explanations_at_once_equal_single_ones(preset):
    X, y, _ = walks()
    clf = mvdfq.SequenceClassifier(preset, C=10).fit(X, y)
    for one, many in zip(map(clf.explain, X[:5]), clf.explain_all(X[:5]), strict=True):
        assert_allclose(many.by_frame, one.by_frame, atol=1e-10)
        assert_allclose(many.evidence.by_layout, one.evidence.by_layout, atol=1e-10)
        assert_allclose(many.margins, one.margins)
        assert list(map(str, many.top(5))) == list(map(str, one.top(5)))
        assert many.predicted == one.predicted


@pytest.mark.parametrize("letters", [False, True])
def test_the_strongest_words_are_found_without_a_list_of_all_words(letters):
    X, y, _ = walks()
    if letters:
        X = ["".join(np.random.default_rng(i).choice(list("ACGT"), 50)) for i in range(len(y))]
    why = mvdfq.SequenceClassifier(C=10).fit(X, y).explain_all(X[:3])[0]
    both = why.between("flat", "down")
    for one in (why, both):
        slow = replace(one, find_evidence=partial(replace, one.evidence, find_top=None))
        label = one.labels[0]
        assert list(map(str, one.top(12, label))) == list(map(str, slow.top(12, label)))
        assert [r.frames for r in one.top(12, label)] == [r.frames for r in slow.top(12, label)]


def test_printing_finds_the_evidence_of_one_class():
    X, y, _ = walks()
    clf = mvdfq.SequenceClassifier(C=10).fit(X, y)
    alone, all_classes = clf.explain(X[1]), clf.explain(X[1])
    assert all_classes.evidence.by_frame.shape[0] == 3
    assert str(alone) == str(all_classes)
    assert "evidence" not in vars(alone)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_between_is_one_class_against_another(multi_class):
    X, y, _ = walks()
    clf = mvdfq.SequenceClassifier("mvdfqm-sssk", C=10, multi_class=multi_class).fit(X, y)
    why = clf.explain(X[1])
    both, back = why.between("flat", "down"), why.between("down", "flat")
    assert_allclose(both.by_frame, -back.by_frame)
    assert_allclose(both.by_channel_frame.sum() + both.constant[0], both.margins[0])
    assert both.title() == "flat rather than down"
    if multi_class == "ovr":
        at = [why.labels.index(label) for label in ("flat", "down")]
        assert_allclose(both.margins[0], why.margins[at[0]] - why.margins[at[1]])
    words = sum(shares.sum() for *_, shares in both.evidence.words)
    assert_allclose(words + both.constant[0], both.margins[0])


def test_numbers_are_rounded_like_their_slow_twin():
    random = np.random.default_rng(0)
    values = (random.normal(size=3000) * 10.0 ** random.integers(-14, 15, 3000)).tolist()
    values += [0.0, 1.0, -1.0, 123456.0, 99999.9, 1e22, 0.1, 1e-5, np.nan, np.inf, None]
    expected = list(map(naive_pages.tidy, values))
    assert tidy(values) == expected
    assert tidy({"a": [values, [values[0]]]}) == {"a": [expected, [expected[0]]]}


def test_a_map_of_one_class_is_kernel_pca():
    random = np.random.default_rng(0)
    F = random.normal(size=(12, 5))
    K, truth = F @ F.T, np.zeros(12, int)
    places = discriminants(K, K, truth)
    assert_allclose(np.abs(places), np.abs(naive_pages.kernel_pca(K.tolist())), atol=1e-8)
    # a projected landmark lies where the landmark lies
    assert_allclose(discriminants(K, K[3:4], truth)[0], places[3], atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_axes_of_the_map_tell_classes_apart(n_classes):
    random, truth = np.random.default_rng(0), np.arange(100) % n_classes
    F = random.normal(size=(100, 8)) * np.array([8, 8, 8, 8, 1, 1, 1, 1])
    F[:, 4] += 5 * (truth == 0)
    F[:, 5] += 5 * (truth == 1)
    K = F @ F.T
    plain = discriminants(K, K, np.zeros(100, int))
    places = discriminants(K, K, truth)
    found = told_apart(places[:, 0], truth)
    assert found == pytest.approx(naive_pages.between(places[:, 0].tolist(), truth.tolist()))
    assert found > 0.5 > 5 * told_apart(plain[:, 0], truth)


@pytest.mark.parametrize("K", [np.ones((3, 3)), np.eye(1), np.zeros((2, 2))], ids=str)
@pytest.mark.parametrize("apart", [0, 1])
def test_a_map_without_spread_is_one_place(K, apart):
    places = discriminants(K, K, apart * np.arange(len(K)))
    assert_allclose(places, 0, atol=1e-7)
    assert told_apart(places[:, 0], np.arange(len(K))) == 0


def test_curves_keep_peaks_and_evidence_keeps_its_sum():
    row = np.zeros(10_000)
    row[7777], row[123] = 5.0, np.nan
    points = details.curve(row, 300)
    assert len(points) == 300
    assert max(point for point in points if point is not None) == 5.0
    edges = details.bin_edges(10_000, 150)
    assert_allclose(details.sums(np.arange(10_000.0), edges).sum(), np.arange(10_000).sum())
    assert edges[0] == 0
    assert edges[-1] == 10_000
    assert details.curve(np.array([1.0, np.nan]), 300) == [1.0, None]


def test_chosen_sequences_tell_most(run):
    picked = details.chosen(run, 12).tolist()
    assert len(set(picked)) == 12
    wrong = np.flatnonzero(run.truth != run.predicted)
    assert set(wrong[np.argsort(-run.confidence[wrong])][:8].tolist()) <= set(picked)
    assert len(details.chosen(run, None)) == len(run.tested)
    assert len(details.chosen(run, 1)) == 1


def test_trust_against_its_slow_twin(run):
    found = outcome.trust(run)
    sure, right = run.confidence.tolist(), (run.truth == run.predicted).tolist()
    expected = naive_pages.calibration(sure, right)
    assert [(b["n"], round(b["confidence"], 9), b["accuracy"]) for b in found["bins"]] == expected
    kept = sorted(zip(sure, right, strict=True), key=lambda pair: pair[0])[len(sure) // 10 :]
    share = sum(hit for _, hit in kept) / len(kept)
    assert found["without_doubtful_tenth"]["accuracy"] == pytest.approx(share)
    assert found["least_sure"][0] == int(np.argmin(run.confidence))


def test_sets_of_classes_against_their_slow_twin(run):
    found, truth = outcome.trust(run)["sets"], run.truth.tolist()
    assert run.p_values.shape == run.probabilities.shape
    expected = naive_pages.sets_of_classes(run.p_values.tolist(), truth, 0.9)
    assert (found["coverage"], found["mean_size"], found["empty"]) == pytest.approx(expected)
    one = [i for i, c in enumerate(truth) if c == 0]
    mine = naive_pages.sets_of_classes(run.p_values[one].tolist(), [0] * len(one), 0.9)
    assert found["by_class"][0] == pytest.approx(mine[0])


def test_a_class_is_shown_by_stretches_that_hold_what_tells():
    random = np.random.default_rng(1)
    X = ["".join(random.choice(list("ACDE"), 60)) for _ in range(40)]
    y = np.arange(40) % 2
    X = [x[:20] + "WWWW" + x[24:] if c == 0 else x for x, c in zip(X, y, strict=True)]
    X[1] = X[1][:30] + "WWWW" + X[1][34:]  # one of the others holds the letters, too
    clf = mvdfq.SequenceClassifier(kernel=mvdfq.Spectrum(3), C=10).fit(X, y)
    made = mvdfq.report(clf, X, y, path=None, details=1).data["stretches"][0]
    assert len({one["sequence"] for one in made}) == 4
    for one in made:
        assert "WWWW" in one["letters"]
        a, b = one["frames"]
        assert X[one["sequence"]][a:b] == one["letters"]
        assert one["in_class"] == [20, 20]
        assert one["in_others"][1] == 20
        assert one["in_others"][0] <= 2
        assert one["n_logo"] >= 10
        piles = [dict(pile) for pile in one["logo"]]
        at = one["letters"].index("WWWW")
        assert all(max(pile, key=pile.get) == "W" for pile in piles[at : at + 4])


def test_piles_of_letters_against_their_slow_twin():
    texts = ["ACGT", "ACGA", "CGTA", "TTTT"]
    found = [(i, Moment((0, 4), None, (), 1.0, letters=text)) for i, text in enumerate(texts)]
    made = stretches.logo(found[0][1], found)
    assert made["n_logo"] == 3  # TTTT has one letter of four
    expected = naive_pages.logo(["ACGT", "ACGA", " CGT"], "ACGT")
    for pile, slow in zip(made["logo"], expected, strict=True):
        assert dict(pile) == pytest.approx(slow)


def test_stretches_of_unlike_letters_are_shown_first():
    texts = ["AAAA", "AAAA", "AAAA", "AAAA", "ACGT", "TTTT"]
    found = [(i, Moment((0, 4), None, (), 1 - i / 10, letters=t)) for i, t in enumerate(texts)]
    letters = [one.letters for _, one in stretches.chosen(found)]
    assert letters[0] == "AAAA"
    assert {*letters} == {"AAAA", "ACGT", "TTTT"}


def test_free_places_are_filled_with_the_strongest_stretches():
    found = [(i, Moment((0, 4), None, (), 1 - i / 10, letters="AAAA")) for i in range(8)]
    assert [place for place, _ in stretches.chosen(found)] == [0, 1, 2, 3]


@pytest.mark.parametrize("preset", [None, "mvdfqm-sssk"])
def test_evidence_of_stretches_is_that_of_explanations(preset):
    X, y, names = walks()
    clf = mvdfq.SequenceClassifier(preset, C=10).fit(X, y)
    data = mvdfq.report(clf, X, y, names, None, details=1).data
    whys = clf.explain_all(X)
    for c, mine in enumerate(data["stretches"]):
        assert mine
        label = data["classes"][c]
        for one in mine:
            a, b = one["frames"]
            best = []
            for why in whys:
                column, sign = why.column(label)
                best.append(naive_pages.strongest((sign * why.by_time[column]).tolist(), b - a))
            why = whys[one["sequence"]]
            column, sign = why.column(label)
            own = sign * why.by_time[column, a:b].sum()
            assert one["evidence"] == pytest.approx(own, rel=1e-3)
            like = [value >= own / 2 for value in best]
            inside = [found for found, truth in zip(like, y, strict=True) if truth == label]
            assert one["in_class"] == [sum(inside), len(inside)]
            assert one["in_others"] == [sum(like) - sum(inside), len(y) - len(inside)]
            assert one["what"].startswith(data["channels"][one["channels"][0]])


def test_stretches_of_a_large_collection_come_from_some_sequences_of_every_class(monkeypatch):
    monkeypatch.setattr(stretches, "MOST_FRAMES", 3 * 5 * 34)
    X, y, names = walks()
    clf = mvdfq.SequenceClassifier("mvdfqm-sssk", C=10).fit(X, y)
    data = mvdfq.report(clf, X, y, names, None, details=1).data
    assert {one["in_class"][1] for mine in data["stretches"] for one in mine} == {5}


def test_both_strands_are_shown_as_one():
    random = np.random.default_rng(0)
    X = ["".join(random.choice(list("ACGT"), 50)) for _ in range(24)]
    X = [x[:20] + "TGACTCA" + x[27:] if i % 2 else x for i, x in enumerate(X)]
    both = mvdfq.io.both_strands(X)
    clf = mvdfq.SequenceClassifier().fit(both, np.arange(24) % 2)
    detail = mvdfq.report(clf, both, np.arange(24) % 2, path=None, details=1).data["details"][0]
    assert detail["n_frames"] == 50
    assert detail["curves"][0] == X[detail["sequence"]]
    total = np.sum(detail["total"]) + detail["constant"]
    assert total == pytest.approx(detail["margin"], rel=1e-3)
    for one in detail["moments"]:
        a, b = one["frames"]
        assert X[detail["sequence"]][a:b] == one["what"]


def test_health_sees_duplicates_gaps_and_groups(run):
    found = outcome.health(run)
    assert found["sequences_with_gaps"] == 1
    assert found["exact_duplicates"]["n"] == 0
    assert found["groups_on_both_sides"] > 0
    assert sum(found["lengths"]["counts"]) == 36
    assert found["classes"] == [12, 12, 12]


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "terms"), [
    ("mvdfq-sssk", ["words"]), (None, ["words", "filters"])
])  # fmt: skip
def test_what_matters_is_what_judged_sequences_would_lose(preset, terms):
    X, y, _ = walks()
    names = ["filters on z", "speed: left", "drag & lift"]
    X = mvdfq.check_sequences(X, channel_names=names)
    clf = mvdfq.SequenceClassifier(preset, C=10).fit(X, y)
    matters = mvdfq.report(clf, X, y, path=None, details=1).data["matters"]
    assert [one["name"] for one in matters["channels"]] == names
    assert [one["name"] for one in matters["terms"]] == terms
    found = clf.importance(X, y)
    assert_allclose([one["log_loss"] for one in matters["channels"]], found.log_loss, rtol=1e-3)


def test_constant_channels_are_numbers_whatever_their_names_are():
    X, y, _ = walks()
    for x in X:
        x[1:] = 0.1
    X = mvdfq.check_sequences(X, channel_names=["x", "a, b", "none"])
    clf = mvdfq.SequenceClassifier("mvdfqm-sssk", C=10)
    with pytest.warns(UserWarning, match="do not change in channels 'a, b', 'none'"):
        data = mvdfq.report(clf, X, y, path=None, protocol="2-fold", details=1).data
    assert data["health"]["constant_channels"] == [1, 2]


def test_health_sees_sequences_on_both_sides():
    X, y, names = walks()
    X[9] = X[1].copy()  # other classes have other labels
    y[9] = y[1]
    split = np.array(["train" if i < 9 else "test" for i in range(len(y))])
    made = mvdfq.report(
        mvdfq.SequenceClassifier("mvdfqm-sssk", C=10), X, y, names, None, split=split, details=2
    )
    equal = made.data["health"]["exact_duplicates"]
    assert equal["n_across"] == 1
    assert equal["sets"] == [[names[1], names[9]]]
    near = made.data["health"]["near_duplicates"]
    assert {"sequence": 0, "training": names[1], "similarity": 1.0} in near["pairs"]


def test_training_sequences_are_named_if_they_are_judged():
    X, y, names = walks()
    clf = mvdfq.SequenceClassifier("mvdfqm-sssk", C=10).fit(X, y)
    data = mvdfq.report(clf, X, y, names, None, details=2).data
    assert data["verdict"]["protocol"] == "fitted classifier"
    assert data["health"]["near_duplicates"]["n_sequences"] == len(X)


@pytest.mark.slow
def test_removing_a_channel_is_measured():
    X, y, _ = walks()
    clf = mvdfq.SequenceClassifier("mvdfqm-sssk", C=10)
    made = mvdfq.report(clf, X, y, path=None, protocol="3-fold", details=1, remove_channels=True)
    lost = made.data["matters"]["removal"]
    without = mvdfq.evaluate(clf, [x[1:] for x in X], y, protocol="3-fold").accuracy
    assert [one["channel"] for one in lost] == [0, 1, 2]
    assert_allclose(lost[0]["accuracy"], without, rtol=1e-4)


def test_letters_are_shown_as_letters():
    random = np.random.default_rng(0)
    X = ["".join(random.choice(list("ACDEF" if i % 2 else "FGHIK"), 40)) for i in range(24)]
    y = np.arange(24) % 2
    made = mvdfq.report(mvdfq.SequenceClassifier(), X, y, path=None, protocol="2-fold", details=4)
    detail = made.data["details"][0]
    assert detail["curves"][0] == X[int(made.data["sequences"]["name"][detail["sequence"]])]
    assert made.data["verdict"]["baselines"][1]["name"] == "composition"
    assert all(one["curves"] == [] for mine in made.data["stretches"] for one in mine)
    shares, _ = describe(mvdfq.check_sequences(["AAB", "B"]))
    assert_allclose(shares, [[2 / 3, 1 / 3], [0, 1]])


@pytest.mark.filterwarnings("ignore:No known word")
def test_a_kernel_without_words_gives_a_page_without_evidence():
    X, y, _ = walks(18, 2, 20)
    clf = mvdfq.SequenceClassifier("mvdfqm-mismatch", C=10)
    made = mvdfq.report(clf, X, y, path=None, protocol="2-fold", details=2)
    assert made.data["details"][0]["evidence"] is None
    assert "cannot be traced" in made.data["details"][0]["note"]
    assert "cannot be traced" in html.page(made.data)


@pytest.mark.filterwarnings("ignore:No known word")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"names": ["one"]}, "names must hold one name per sequence"),
        ({"details": 0}, "details must be a whole number above 0 or 'all'"),
        ({"path": "page.txt", "details": 1}, "path must end in .html"),
        ({"audio": [None], "details": 1}, "audio must hold one file per sequence"),
    ],
)
def test_wrong_arguments_are_named(changes, message):
    X, y, _ = walks(12, 1, 12)
    arguments = {"path": None, "protocol": "2-fold", **changes}
    with pytest.raises(ValueError, match=message):
        mvdfq.report(mvdfq.SequenceClassifier("mvdfqm-sssk", C=1), X, y, **arguments)


def test_a_class_that_the_classifier_does_not_know_is_compared_with_known_classes():
    X, y = mvdfq.make_autoregressive(60, 2, 40, 4, random_state=0)
    known = np.flatnonzero(y[:40] != 2)
    clf = mvdfq.SequenceClassifier("mvdfqm-sssk").fit([X[i] for i in known], y[known])
    page = mvdfq.report(clf, X[40:], y[40:], path=None, details="all").data
    new = [d for d in page["details"] if page["sequences"]["truth"][d["sequence"]] == 2]
    assert len(new) == np.count_nonzero(y[40:] == 2) > 0
    assert all(len({d["for"], d["against"], 2}) == 3 for d in new)


def test_other_classifiers_are_refused():
    with pytest.raises(TypeError, match="clf must be a SequenceClassifier, got dict"):
        mvdfq.report({}, [[1.0]], [1])


class Tags(HTMLParser):
    """Lists the elements of a page, and the text of its script elements."""

    def __init__(self):
        super().__init__()
        self.found, self.scripts = [], []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, text):
        if self.found and self.found[-1][0] == "script":
            self.scripts[-1] += text


def test_names_cannot_leave_the_data(made):
    page = html.page(made.data)
    tags = Tags()
    tags.feed(page)
    assert sum(tag == "script" for tag, _ in tags.found) == 2
    assert "<script>alert" not in page
    assert "\u2028" not in page
    data = json.loads(tags.scripts[0])
    assert set(NAMES) <= set(data["sequences"]["name"])
    assert data["verdict"] == made.data["verdict"]
    assert not [attrs for _, attrs in tags.found if any(key.startswith("on") for key in attrs)]
    addresses = [attrs.get("src") or attrs.get("href") for _, attrs in tags.found]
    assert all(one is None or one.startswith(("#", "data:")) for one in addresses)


def test_the_policy_allows_no_connection_and_only_our_scripts(made):
    page = html.page(made.data)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "http" not in policy


def test_scripts_never_set_markup():
    for name in html.SCRIPTS:
        text = html.asset(name)
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert word not in text, f"{name} uses {word}"


def test_files_hold_the_same_numbers(made, tmp_path):
    written = made.write(tmp_path / "page.html")
    assert json.loads((tmp_path / "page.json").read_text()) == made.data
    with open(tmp_path / "page.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == made.data["sequences"]["name"]
    assert sum(int(row["correct"]) for row in rows) == made.data["verdict"]["right"]
    assert str(tmp_path / "page.html") in repr(written)


def test_the_schema_is_documented(made):
    root = Path(__file__).parents[2]
    text = (root / "docs/guide/report.md").read_text(encoding="utf-8")
    for key, part in made.data.items():
        assert f"`{key}`" in text, f"docs/guide/report.md does not describe {key}"
        for inner in part if isinstance(part, dict) else []:
            assert f"`{inner}`" in text, f"docs/guide/report.md does not describe {key}.{inner}"
    for inner in made.data["details"][0]:
        assert f"`{inner}`" in text, f"docs/guide/report.md does not describe details.{inner}"


def test_the_picture_of_the_readme_is_small():
    picture = Path(__file__).parents[2] / "docs" / "report.png"
    assert 20_000 < picture.stat().st_size <= 300_000


@pytest.mark.slow
def test_a_page_of_1500_sequences_is_below_one_megabyte():
    X, y, _ = walks(1500, 12, 60)
    names = [f"folder/recording_{i:05d}.wav" for i in range(1500)]
    clf = mvdfq.SequenceClassifier("mvdfqm-spectrum-alt", C=1)
    made = mvdfq.report(clf, X, y, names, None, protocol="2-fold")
    assert len(made.data["details"]) == 60
    assert len(html.page(made.data).encode()) < 1_000_000


def test_a_report_replaces_no_file_of_the_user(made, tmp_path):
    page = tmp_path / "motion.html"
    made.write(page)
    made.write(page)  # a report may be written again
    for suffix in (".csv", ".json"):
        beside = page.with_suffix(suffix)
        beside.write_text("id,time,x,label\n0,0,1.5,walking\n")
        with pytest.raises(FileExistsError, match=f"would replace .*motion{suffix}"):
            made.write(page)
        assert beside.read_text().startswith("id,time")
        beside.unlink()


def test_the_page_says_how_many_of_its_panels_are_done(run):
    told = []
    finish(
        run, {"title": "", "command": ""}, 1, report=lambda done, total: told.append((done, total))
    )
    assert told == [(k, 8) for k in range(1, 9)]


@pytest.mark.parametrize(("label", "against"), [("7", None), (None, "3"), ("3", "7")])
def test_the_page_of_a_sequence_is_about_the_class_that_is_asked_for(label, against):
    X, y = mvdfq.load_japanese_vowels(split="train")
    clf = mvdfq.SequenceClassifier("fast", C=10).fit(X, y)
    run = reports.fitted_run(clf, X[:1], clf.predict(X[:1]))
    detail = details.details(run, 1, (label, against))[0]
    named = [run.labels[detail[key]] for key in ("for", "against")]
    predicted = run.labels[run.predicted[0]]
    assert named == [label or predicted, against or predicted]
    expected = clf.explain(X[0]).between(*named)
    assert_allclose(detail["margin"], expected.margins[0])
    assert_allclose(sum(detail["total"]), expected.by_time.sum())
    page = reports.explanation_page(clf, X, 0, "a", asked=(label, against))
    shown = re.search(r'"for":(\d+),"against":(\d+)', page)
    assert [int(c) for c in shown.groups()] == [detail["for"], detail["against"]]


def test_a_report_of_a_fitted_classifier_takes_labels_of_its_kind():
    X, y = mvdfq.make_autoregressive(24, 2, 30, random_state=0)
    clf = mvdfq.SequenceClassifier("fast", cv=2).fit(X, y)
    assert mvdfq.report(clf, X, y.astype(float), path=None, details=1).data["verdict"]
    with pytest.raises(ValueError, match=r"y must hold labels like \[0, 1\], got \['"):
        mvdfq.report(clf, X, y.astype(str), path=None, details=1)

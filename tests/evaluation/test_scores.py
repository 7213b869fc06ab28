"""What evaluations show: figures agree with counts, groups are apart, training data are named."""

import csv
import json
import re

import numpy as np
import pytest

import mvdfq
from commands import run
from mvdfq.cli import evaluate as command
from mvdfq.io import write_npz
from mvdfq.pages.html import page


def subjects(n_groups=5, seed=0):
    """Sequences of two classes by subjects of very different numbers of sequences."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(4, 20, size=n_groups)
    groups = np.repeat([f"s{g}" for g in range(n_groups)], sizes)
    y = rng.integers(0, 2, size=len(groups))
    y[:2], y[-2:] = [0, 1], [1, 0]
    offsets = np.repeat(rng.normal(0, 2, n_groups), sizes)
    X = [rng.normal(m, 1 + 0.4 * c, (2, 25)) for m, c in zip(offsets, y, strict=True)]
    return X, np.array(["no", "yes"])[y], groups


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The sequences of five subjects as a file and as a long table with a column `subject`."""
    folder = tmp_path_factory.mktemp("subjects")
    X, y, groups = subjects()
    write_npz(folder / "made.npz", X, y, groups=groups)
    lines = ["id,time,u,v,label,subject"]
    for i, x in enumerate(X):
        lines += [f"{i},{t},{u},{v},{y[i]},{groups[i]}" for t, (u, v) in enumerate(x.T)]
    (folder / "made.csv").write_text("\n".join(lines))
    return folder


@pytest.fixture(scope="module")
def made(data):
    """The page and the answers of `mvdfq evaluate` about the same data."""
    target = data / "report.html"
    out, err = run("evaluate", data / "made.csv", "--preset", "fast", "--report", target)
    plain, _ = run("evaluate", data / "made.csv", "--preset", "fast", "--format", "json", "-q")
    return out, err, json.loads(plain), json.loads(target.with_suffix(".json").read_text())


@pytest.mark.slow
def test_the_same_accuracy_stands_everywhere(made):
    out, _, plain, report = made
    verdict, sequences = report["verdict"], report["sequences"]
    hits = sum(a == b for a, b in zip(sequences["truth"], sequences["predicted"], strict=True))
    n = len(sequences["truth"])
    assert len({fold["n"] for fold in plain["folds"]}) > 1
    assert plain["accuracy"] == hits / n
    assert (plain["right"], plain["n"]) == (verdict["right"], verdict["n"]) == (hits, n)
    assert verdict["accuracy"] == pytest.approx(hits / n, rel=1e-4)
    assert f"{hits / n:.2%} ({hits} of {n} right)" in out
    assert f"{plain['mean_over_folds']:.2%} (std {plain['std_over_folds']:.2%})" in out
    low, high = plain["interval_95"]
    assert low <= hits / n <= high
    assert f"{low:.2%} to {high:.2%}, t interval over 5 groups" in out
    assert report["verdict"]["interval_name"] == "t interval over 5 groups"


@pytest.mark.slow
def test_the_same_scores_of_probabilities_stand_everywhere(made, data):
    out, _, plain, report = made
    table, _ = run("evaluate", data / "made.csv", "--preset", "fast", "--format", "csv", "-q")
    lines = list(csv.DictReader(table.splitlines()))
    losses = [float(line["log_loss"]) for line in lines]
    assert np.mean(losses) == pytest.approx(plain["log_loss"], rel=1e-4)
    assert f"log loss           {plain['log_loss']:.4f}" in out
    assert f"{plain['calibration_error']:.2%}, expected" in out
    for key in ("log_loss", "calibration_error"):
        assert report["verdict"][key] == pytest.approx(plain[key], rel=1e-4)
    error = report["trust"]["calibration_error"]
    assert error == pytest.approx(plain["calibration_error"], rel=1e-4)
    sure = np.array([float(line["probability"]) for line in lines])
    assert ((sure > 0.5) & (sure <= 1)).all()


def test_the_largest_class_is_counted_over_all_test_parts(made):
    _, y, groups = subjects()
    hits = 0
    for group in np.unique(groups):
        names, counts = np.unique(y[groups != group], return_counts=True)
        hits += int(np.sum(y[groups == group] == names[counts.argmax()]))
    largest = made[3]["verdict"]["baselines"][0]
    assert largest["accuracy"] == pytest.approx(hits / len(y), rel=1e-4)


def test_known_groups_are_held_apart_and_shown(made):
    out, err, plain, report = made
    assert plain["protocol"] == "group"
    assert "5 groups are held apart" in err
    assert "--protocol 5-fold mixes groups" in err
    assert "5 groups are held apart" in report["verdict"]["remarks"][0]
    assert [row["group"] for row in plain["groups"]] == [f"s{g}" for g in range(5)]
    assert report["health"]["groups_on_both_sides"] == 0
    for row, shown in zip(plain["groups"], report["verdict"]["groups"], strict=True):
        assert row["right"] == shown["right"]
        assert re.search(rf"^{row['group']} +{row['n']} +{row['right']} ", out, re.MULTILINE)
    assert "groupBars" in page(report, {})


def test_repetitions_do_not_part_accuracy_and_counts():
    X, y, _ = subjects()
    clf = mvdfq.SequenceClassifier("fast", C=10)
    verdict = mvdfq.report(clf, X, y, path=None, protocol="3-fold", seeds=(0, 1), details=1).data[
        "verdict"
    ]
    assert verdict["n"] == 2 * len(y)
    assert verdict["accuracy"] == pytest.approx(verdict["right"] / verdict["n"], rel=1e-4)


def test_one_training_per_group_is_asked_for(data):
    arguments = ["evaluate", data / "made.npz", "--preset", "fast", "-C", "1", "--format", "json"]
    out, err = run(*arguments, "--protocol", "leave-group-out", "--progress", "lines")
    assert [fold["name"] for fold in json.loads(out)["folds"]] == [f"s{g}" for g in range(5)]
    assert "5 trainings\n" in err
    _, err = run(*arguments, "--protocol", "leave-group-out", "--progress", "none")
    assert err == ""


@pytest.mark.filterwarnings("default:5 of 5 groups are both in the training part")
def test_mixed_groups_are_told(data):
    options = ["--preset", "fast", "-C", "1", "--protocol", "2-fold"]
    out, err = run("evaluate", data / "made.npz", *options)
    assert "warning: 5 of 5 groups are both in the training part" in err
    assert "--protocol group holds groups apart" in err
    assert "t interval over 5 groups" in out


def test_a_long_evaluation_says_how_long(monkeypatch, capsys):
    clock = iter([0.0, 0.0, 30.0, 60.0])
    monkeypatch.setattr(command.time, "monotonic", lambda: next(clock))
    report = command._telling(lambda done, total: None, n_removed=2)
    report(0, 10)
    report(1, 10)
    report(2, 10)
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "30 trainings, 20 of them for --remove-channels",
        "The first training took 30 s: about 14 min 30 s left.",
    ]


def test_training_holds_groups_apart(data, tmp_path):
    options = ["-o", tmp_path / "m.mvdfq", "--preset", "fast", "--format", "json"]
    out, err = run("train", data / "made.csv", *options)
    X, y, groups = subjects()
    apart = mvdfq.SequenceClassifier("fast").fit(X, y, groups=groups).validation_score_
    assert json.loads(out)["inner_accuracy"] == pytest.approx(apart, abs=0.02)
    assert "The inner folds hold 5 groups apart." in err


def test_groups_that_are_the_classes_are_no_groups(data, tmp_path):
    X, y, _ = subjects()
    write_npz(tmp_path / "speakers.npz", X, y, groups=y)
    options = ["-o", tmp_path / "m.mvdfq", "--preset", "fast", "--format", "json"]
    out, err = run("train", tmp_path / "speakers.npz", *options)
    assert json.loads(out)["inner_accuracy"] > 0.5
    assert "The inner folds mix groups" in err
    with pytest.warns(UserWarning, match="No sequence could be held out"):
        clf = mvdfq.SequenceClassifier("fast").fit(X, y, groups=y)
    assert np.isnan(clf.validation_score_)  # no fold could check a class that it had learned
    assert clf.predict_proba(X).max() > 0.6


def test_training_files_are_named_as_such(data, tmp_path):
    X, y, _ = subjects()
    model, new = tmp_path / "m.mvdfq", tmp_path / "new.npz"
    write_npz(new, [*X[:3], X[0] + 1], y[[0, 1, 2, 0]])
    run("train", data / "made.npz", "-o", model, "--preset", "fast", "-q")
    _, err = run("predict", model, data / "made.npz")
    assert f"trained on {len(y)} of these {len(y)} sequences" in err
    _, err = run("predict", model, new)
    assert "warning: the model was trained on 3 of these 4 sequences; new sequences" in err
    out, err = run("explain", model, new, "--format", "json", "--neighbours", len(y))
    assert "the model was trained on this sequence" in err
    near = json.loads(out)["neighbours"]
    assert len(near) == len(y) - 1
    assert near[0]["similarity"] < 0.999
    _, err = run("explain", model, new, "--which", 4)
    assert "trained on" not in err
    run("explain", model, new, "-o", tmp_path / "one.html")
    assert '"similarity":1.0' not in (tmp_path / "one.html").read_text()

"""Saved models at the shell: test them, look into them, and compare predictions with labels."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    recall_score,
    roc_auc_score,
)

import mvdfq
from commands import run
from mvdfq.evaluation import evaluate_fitted
from mvdfq.io import write_npz

STORED = Path(__file__).parents[1] / "models"


def write_fasta(path, kinds, seed):
    """Sequences of letters, with the label as the second word of the header."""
    rng = np.random.default_rng(seed)
    letters = {"alpha": "AAELKVST", "beta": "VVTISAEL", "gamma": "GGPPNAVV"}
    lines = [f">d{i} {kind}\n{''.join(rng.choice(list(letters[kind]), 12))}\n"
             for i, kind in enumerate(kinds)]  # fmt: skip
    path.write_text("".join(lines))
    return path


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A training file, a test file and a model of two classes."""
    folder = tmp_path_factory.mktemp("two")
    write_fasta(folder / "train.fa", ["alpha", "beta"] * 12, 0)
    write_fasta(folder / "test.fa", ["alpha", "beta", "beta"] * 6, 1)
    run("train", folder / "train.fa", "--label", 1, "-o", folder / "m.mvdfq", "-q", "-C", 1)
    return folder


def test_a_saved_model_is_tested_on_labelled_data(two):
    out, err = run("evaluate", two / "test.fa", "--model", two / "m.mvdfq", "--label", 1,
                   "--format", "json")  # fmt: skip
    result, clf = json.loads(out), mvdfq.load(two / "m.mvdfq")
    data = mvdfq.io.read(two / "test.fa", label=1)
    said, positive = clf.predict(data.X), data.y == "beta"
    scores = clf.decision_function(data.X)
    assert 0 < np.mean(said != data.y) < 0.5  # else the figures below could be anything
    expected = {
        "accuracy": np.mean(said == data.y),
        "balanced_accuracy": balanced_accuracy_score(data.y, said),
        "sensitivity": recall_score(positive, said == "beta"),
        "specificity": recall_score(~positive, said == "alpha"),
        "roc_auc": roc_auc_score(positive, scores),
        "average_precision": average_precision_score(positive, scores),
    }
    assert {key: result[key] for key in expected} == pytest.approx(expected)
    assert result["positive_class"] == "beta"
    assert result["model"] == str(two / "m.mvdfq")
    assert err == ""
    out, _ = run("evaluate", two / "test.fa", "--model", two / "m.mvdfq", "--label", 1)
    for name in ("balanced accuracy", "sensitivity", "specificity", "AUC", "average precision"):
        assert name in out


def test_a_training_and_a_test_file(two):
    arguments = ["--label", 1, "--format", "json", "-C", 1]
    out, _ = run("evaluate", two / "train.fa", "--test", two / "test.fa", *arguments)
    trained = json.loads(out)
    out, _ = run("evaluate", two / "test.fa", "--model", two / "m.mvdfq", *arguments[:4])
    saved = json.loads(out)
    assert trained["protocol"] == "split"
    assert trained["test"] == str(two / "test.fa")
    for key in ("accuracy", "confusion", "roc_auc", "folds"):
        assert trained[key] == saved[key]
    _, err = run("evaluate", two / "train.fa", "--test", two / "test.fa", "--protocol", "group",
                 code=2)  # fmt: skip
    assert "--test does not work with --protocol group" in err


@pytest.mark.parametrize(
    "option",
    [["--kernel", "spectrum"], ["--preset", "letters"], ["-C", "3"], ["--balanced"],
     ["--protocol", "5-fold"], ["--seeds", "3"], ["--test", "x"], ["--recipe", "gtzan"]],
    ids=" ".join,
)  # fmt: skip
def test_a_saved_model_is_not_trained_again(two, option):
    _, err = run("evaluate", two / "test.fa", "--model", two / "m.mvdfq", *option, code=2)
    assert f"{option[0]} does not work" in err


def test_the_training_data_are_no_test(two):
    arguments = ["--model", two / "m.mvdfq", "--label", 1, "--format", "json"]
    _, err = run("evaluate", two / "train.fa", *arguments)
    assert "trained on 24 of these 24 sequences; the figures are too good" in err
    _, err = run("evaluate", two / "test.fa", *arguments)
    assert "trained on" not in err


@pytest.mark.filterwarnings("ignore:.* did not occur in training")
def test_classes_that_the_model_does_not_know_are_errors(two, tmp_path):
    path = write_fasta(tmp_path / "new.fa", ["alpha", "gamma"] * 6, 2)
    out, err = run("evaluate", path, "--model", two / "m.mvdfq", "--label", 1, "--format", "json")
    result = json.loads(out)
    assert [row["label"] for row in result["classes"]] == ["alpha", "beta", "gamma"]
    assert result["accuracy"] <= 0.5
    assert "sensitivity" not in result
    assert "does not know the classes gamma" in err


def test_labels_as_numbers_and_as_text_are_the_same(two, tmp_path):
    X, y = mvdfq.make_autoregressive(60, 2, 60, random_state=1)
    clf = mvdfq.SequenceClassifier().fit(X[:40], y[:40])
    as_numbers, as_text = (evaluate_fitted(clf, X[40:], z[40:]) for z in (y, y.astype(str)))
    assert as_numbers.accuracy == as_text.accuracy > 0.5
    assert as_numbers.two_classes == as_text.two_classes


def test_predictions_are_compared_with_labels(two):
    out, err = run("predict", two / "m.mvdfq", two / "test.fa", "--label", 1, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    hits = sum(row["label"] == row["true"] for row in rows)
    assert f"accuracy {hits / 18:.2%} ({hits} of 18 agree" in err
    assert "balanced accuracy" in err
    out, err = run("predict", two / "m.mvdfq", two / "test.fa", "--label", 1, "-q")
    assert err == ""


def test_labels_of_something_else_are_not_compared(two, tmp_path):
    path = tmp_path / "other.fa"
    path.write_text(">a x\nAAELK\n>b y\nVVTIS\n")
    out, err = run("predict", two / "m.mvdfq", path, "--label", 1, "--format", "json")
    assert "not classes of the model" in err
    assert "true" not in json.loads(out)[0]


def test_balanced_accuracy_for_many_classes(tmp_path):
    X, y = mvdfq.make_autoregressive(40, 2, 30, n_classes=3, random_state=0)
    write_npz(tmp_path / "made.npz", X, y)
    out, _ = run("evaluate", tmp_path / "made.npz", "--protocol", "3-fold", "--format", "json")
    result = json.loads(out)
    recalls = [row["recall"] for row in result["classes"]]
    assert result["balanced_accuracy"] == pytest.approx(np.mean(recalls))
    assert "sensitivity" not in result


def test_inspect_tells_what_a_model_was_trained_on(two):
    facts = json.loads(run("inspect", two / "m.mvdfq", "--format", "json")[0])
    assert facts["classes"] == {"alpha": 12, "beta": 12}
    assert facts["letters"] == "AEIKLSTV"
    training = facts["training"]
    assert (training["n_sequences"], training["shortest"], training["longest"]) == (24, 12, 12)
    assert training["versions"]["mvdfq"] == mvdfq.__version__
    assert len(training["digest"]) == 64
    assert 0 < facts["inner_accuracy"] < 1
    out, _ = run("inspect", two / "m.mvdfq")
    for text in (training["digest"][:16], "inner accuracy", "12 to 12 letters", "numpy", "beta"):
        assert text in out
    shown = next(line for line in out.splitlines() if line.startswith("kernel"))
    assert len(shown) < 200 < len(facts["kernel"])  # a pipe does not wrap lines


def test_inspect_leaves_out_the_kernel_of_a_model_without_one(tmp_path):
    X, y = mvdfq.make_autoregressive(12, 2, 30, random_state=0)
    mvdfq.SequenceClassifier(terms=[mvdfq.FilterTerm("few")]).fit(X, y).save(tmp_path / "m.mvdfq")
    out, _ = run("inspect", tmp_path / "m.mvdfq")
    assert "kernel" not in out
    assert "filters" in out


def test_the_digest_is_that_of_values_lengths_and_labels():
    X, y = mvdfq.make_autoregressive(12, 2, (20, 30), random_state=0)
    new = mvdfq.SequenceClassifier("mvdfqm-spectrum-alt")
    first = new.fit(X, y).training_["digest"]
    assert new.fit(X, y).training_["digest"] == first
    changed = [np.array(x) for x in X]
    changed[3][0, 5] += 1e-9
    assert new.fit(changed, y).training_["digest"] != first
    assert new.fit(X, 1 - y).training_["digest"] != first
    assert new.fit(X[::-1], y).training_["digest"] != first


@pytest.mark.filterwarnings("ignore:No sequence could be held out")
@pytest.mark.parametrize(
    ("kinds", "is_known", "says"),
    [
        (["alpha", "beta"], False, "classes alpha, beta have one training sequence"),
        (["alpha"] * 4 + ["beta"], False, "class beta has one training sequence"),
        (["alpha", "beta"] * 4 + ["gamma"], True, "class gamma has one training sequence"),
    ],
    ids=str,
)
def test_a_class_that_was_not_validated_is_named(tmp_path, kinds, is_known, says):
    path, model = write_fasta(tmp_path / "one.fa", kinds, 0), tmp_path / "m.mvdfq"
    shown = [run("train", path, "--label", 1, "-o", model, "-q"), run("inspect", model)]
    for out, _ in shown:
        words = " ".join(out.split())
        assert says in words
        assert ("unknown: class" in words) == (not is_known)
        assert "nan" not in words
    train = run("train", path, "--label", 1, "-o", model, "--format", "json", "-q")
    for out, _ in (train, run("inspect", model, "--format", "json")):
        facts = json.loads(out)
        assert (facts["inner_accuracy"] is not None) == is_known
        assert facts["inner_accuracy_remark"].startswith(says)


def test_sequences_that_are_like_no_class_are_unknown(tmp_path):
    X, y = mvdfq.load_japanese_vowels(split="train")
    noise = list(np.random.default_rng(0).normal(size=(5, 12, 20)))
    write_npz(tmp_path / "train.npz", X, y)
    write_npz(tmp_path / "new.npz", [*X[:200:20], *noise], [*y[:200:20], *["noise"] * 5])
    model, new = tmp_path / "vowels.mvdfq", tmp_path / "new.npz"
    run("train", tmp_path / "train.npz", "-o", model, "--preset", "fast", "-q")
    out, err = run("predict", model, new, "--unknown", "--format", "json")
    rows = json.loads(out)
    assert [row["label"] for row in rows[-5:]] == ["unknown"] * 5
    assert all(row["typicality"] <= 0.05 for row in rows[-5:])
    assert sum(row["label"] == "unknown" for row in rows) < 8
    assert "(15 of 15 agree" in err or "(14 of 15 agree" in err
    first, _ = run("predict", "--unknown", model, new, "--format", "csv")  # MODEL is no number
    assert first.startswith("name,label,probability,typicality,")
    everything, _ = run("predict", "--unknown", "1", model, new, "--format", "json")
    assert {row["label"] for row in json.loads(everything)} == {"unknown"}
    _, err = run("predict", "--unknown", "2", model, new, code=2)
    assert "less than or equal to 1" in err or "0<=x<=1" in err  # as typer says it

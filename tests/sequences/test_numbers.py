"""Laws of numbers over every preset: types, rounding, constant channels, and strange sequences."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mvdfq
from cases import varied_presets
from commands import run
from mvdfq import SequenceClassifier

# Words with mismatches take long to count one by one, and music has codebooks of 2048 codewords.
PRESETS = varied_presets(["letters"], long=lambda name: "mismatch" in name or name == "music")
TYPES = ["int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64"]
MANY = pytest.mark.filterwarnings(
    "ignore:.*did not occur in training", "ignore:.*lie outside", "ignore:No known word is found"
)


def steps(n, seed, values=(0, 1, 2, 5), n_channels=3):
    """Sequences of a few values, each held for three frames; three classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    chances = [np.roll([0.4, 0.3, 0.2, 0.1], c) for c in y]
    lengths = rng.integers(12, 18, n)
    X = [
        np.repeat(rng.choice(values, (n_channels, length), p=p), 3, axis=1)
        for p, length in zip(chances, lengths, strict=True)
    ]
    return X, y


def waves(n, seed):
    """Sequences of real numbers, with offsets and scales that differ by channel."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    scale = np.array([[1.0], [1e-4], [1e5]])
    return [
        scale * (rng.normal(size=(3, 50)).cumsum(axis=1) + 7 + np.sin(np.arange(50) * (1 + c)))
        for c in y
    ], y


def answers(clf, X):
    return np.column_stack([clf.decision_function(X), clf.predict_proba(X)])


def all_symbols(clf, X):
    """The symbols that each term reads."""
    X = mvdfq.check_sequences(X)
    found = []
    for term in clf.terms_:
        banks = getattr(term, "banks", None)  # filters are encoded anew for each dilation
        found += [term.read(X)] if banks is None else [b.encoder.transform(X) for b in banks]
    return [symbols.codes for symbols in found]


# types ----------------------------------------------------------------------------------------


@MANY
@pytest.mark.parametrize("preset", PRESETS)
def test_values_of_any_type_give_the_same_bits(preset):
    (X, y), (new, _) = steps(18, 0), steps(6, 1)
    clf = SequenceClassifier(preset).fit(X, y)
    expected = answers(clf, new)
    for dtype in TYPES:
        assert_array_equal(answers(clf, [x.astype(dtype) for x in new]), expected)
    single = mvdfq.check_sequences(new)
    single = single.with_data(single.data.astype(np.float32))
    assert_array_equal(answers(clf, single), expected)
    for dtype in ("int8", "float32"):
        other = SequenceClassifier(preset).fit([x.astype(dtype) for x in X], y)
        assert_array_equal(answers(other, new), expected)


def test_files_of_any_type_give_the_same_answers_at_the_shell(tmp_path):
    (X, y), (new, _) = steps(18, 0), steps(6, 1)
    shape = (3, 36)
    said = []
    for dtype in ("int64", "int16", "float32"):
        for name, part in (("train", X), ("new", new)):
            values = np.array([x[:, : shape[1]].astype(dtype) for x in part])
            labels = {"y": y[: len(part)].astype(str)} if name == "train" else {}
            np.savez(tmp_path / f"{name}_{dtype}.npz", X=values, **labels)
        model = tmp_path / "int64.mvdfq"
        if dtype == "int64":
            run("train", tmp_path / "train_int64.npz", "-o", model, "--preset", "fast")
        out, _ = run("predict", model, tmp_path / f"new_{dtype}.npz", "--format", "json",
                     "--probabilities")  # fmt: skip
        said.append([{**line, "name": ""} for line in json.loads(out)])
    assert said[0] == said[1] == said[2]


def test_whole_numbers_beyond_single_precision_are_told_apart():
    X = np.array([[2**24, 2**24 + 1]] * 4, dtype=np.int32)
    assert mvdfq.DirectQuantizer(2).fit_transform(X)[0].tolist() == [[0, 1]]


# rounding -------------------------------------------------------------------------------------


@MANY
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("make", [steps, waves])
def test_rounding_moves_no_training_value_to_another_symbol(preset, make):
    X, y = make(18, 0)
    clf = SequenceClassifier(preset).fit(X, y)
    expected = all_symbols(clf, X)
    rng = np.random.default_rng(1)
    for _ in range(3):
        moved = [x * (1 + rng.choice([-1e-12, 0, 1e-12], x.shape)) for x in X]
        for found, wanted in zip(all_symbols(clf, moved), expected, strict=True):
            assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    "quantizer",
    [
        *(mvdfq.DirectQuantizer(b, strategy=s) for b in (2, 5, 32)
          for s in ("quantile", "uniform", "kmeans", "gaussian")),
        mvdfq.DirectQuantizer(8, strategy="uniform", out_of_range="clip"),
        mvdfq.JointQuantizer(2, n_bins=3),
        mvdfq.JointQuantizer("all", n_bins=3, strategy="uniform"),
        mvdfq.ThresholdQuantizer(3),
        mvdfq.HashingQuantizer(16),
        mvdfq.CodebookQuantizer(64),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize(
    "values", [(0, 1, 2, 5), (0, 1, 2, 4), (0.1, 0.2, 0.3, 0.7), (-8, 0, 1, 8)]
)
def test_no_value_of_a_quantizer_lies_on_an_edge(quantizer, values):
    X, _ = steps(9, 0, values)
    expected = quantizer.fit_transform(X).codes
    for factor in (1 - 1e-12, 1 + 1e-12):
        assert_array_equal(quantizer.transform([x * factor for x in X]).codes, expected)


# constant channels ----------------------------------------------------------------------------


def with_constants(X, change=lambda rng, x: x):
    """Add three constant channels, one of them rounded in two ways; `change` changes the three."""
    rng = np.random.default_rng(0)
    return [
        np.concatenate([x, change(rng, np.stack([
            np.full(x.shape[1], 0.1),
            rng.choice([1e9, np.nextafter(1e9, 2e9)], x.shape[1]),
            np.zeros(x.shape[1])]))])
        for x in X
    ]  # fmt: skip


CHANGES = {
    "jitter": lambda rng, x: x + 1e-9 * rng.normal(size=x.shape),
    "noise": lambda rng, x: x + rng.normal(size=x.shape),
    "missing": lambda rng, x: np.where(rng.random(x.shape) < 0.5, np.nan, x),
    "far": lambda rng, x: 1000 * x + 1e12,
}


@MANY
@pytest.mark.parametrize("preset", PRESETS)
def test_a_channel_that_is_constant_in_training_does_not_count(preset):
    (X, y), (new, _) = waves(18, 0), waves(6, 1)
    clf = SequenceClassifier(preset)
    with pytest.warns(UserWarning, match="do not change in channels 'x3', 'x4', 'x5'; answers"):
        clf.fit(with_constants(X), y)
    expected = answers(clf, with_constants(new))
    for change in CHANGES.values():
        assert_array_equal(answers(clf, with_constants(new, change)), expected)
    assert_array_equal(clf.feature_importance_[3:], 0)
    why = clf.explain(with_constants(new, CHANGES["noise"])[0])
    assert_array_equal(why.by_channel[:, 3:], 0)
    # and the other channels say what they say without the constant channels
    plain = SequenceClassifier(preset).fit(X, y)
    assert_array_equal(expected, answers(plain, new))


def test_a_small_signal_on_a_large_offset_is_not_constant():
    rng = np.random.default_rng(0)
    X = [1e9 + 1e-3 * (rng.normal(size=(1, 60)) + c) for c in (0, 9) * 6]
    clf = SequenceClassifier("fast").fit(X, [0, 1] * 6)
    assert clf.score(X, [0, 1] * 6) == 1


def test_rows_that_become_constant_have_no_words():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(8, 1, 60))
    X = list(np.concatenate([a, 3 * a, a - a.mean() + 7], axis=1))
    assert len(mvdfq.Rotate().fit(X).components_) == 1
    still = [np.full((1, 40), 0.1) for _ in range(8)]
    assert mvdfq.DirectQuantizer(6).fit(mvdfq.Smooth(9).fit_transform(still)).n_symbols_ == [1]


def test_inspect_names_channels_that_change_by_rounding_alone(tmp_path):
    X, y = waves(6, 0)
    np.savez(tmp_path / "data.npz", X=np.array(with_constants(X)), y=y.astype(str))
    out, _ = run("inspect", tmp_path / "data.npz")
    assert "3, 4, 5" in out


# sequences unlike the training sequences ------------------------------------------------------


def test_values_far_outside_the_range_of_training_are_remarked():
    X, y = waves(18, 0)
    clf = SequenceClassifier("fast").fit(mvdfq.check_sequences(X, channel_names=list("abc")), y)
    clf.predict([1.5 * x for x in X])
    strange = [x * [[1], [1000 if i in (2, 5) else 1], [1]] for i, x in enumerate(X)]
    with pytest.warns(UserWarning, match="2 of 18 sequences hold values far outside .* 'b': 'b'"):
        clf.predict(strange)
    with pytest.warns(UserWarning, match="1 of 1 sequence hold values far outside"):
        clf.explain(strange[2])


def test_categories_that_were_never_seen_are_remarked():
    rng = np.random.default_rng(0)
    y = np.arange(12) % 2
    X = [[rng.normal(size=30).tolist(), "".join(rng.choice(list("AB"), 30))] for _ in y]
    clf = SequenceClassifier("fast").fit(X, y)
    clf.predict(X)
    with pytest.warns(UserWarning, match="1 symbol of 'x1' in 1 of 12 sequences did not"):
        clf.predict([[X[0][0], X[0][1][:-1] + "C"], *X[1:]])


def test_the_ranges_of_training_are_kept_in_model_files(tmp_path):
    X, y = waves(18, 0)
    clf = SequenceClassifier("fast").fit(X, y)
    clf.save(tmp_path / "a.mvdfq")
    assert_array_equal(mvdfq.load(tmp_path / "a.mvdfq").ranges_in_, clf.ranges_in_)

"""Model files made to do harm: what they can hold is bounded, and what they hold must answer."""

import json
import time
import tracemalloc
import zipfile
from contextlib import contextmanager, suppress
from functools import cache, partial
from resource import RUSAGE_SELF, getrusage

import numpy as np
import pytest

import mvdfq
from forged import Opened, walk
from model_cases import CASES, MORE, fitted
from mvdfq.frames.base import encode, steps_of
from mvdfq.frames.learned import fits

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*lie outside the range"),
    pytest.mark.filterwarnings("ignore:.*The kernel finds no word"),
    pytest.mark.filterwarnings("ignore:.*No known word"),
]


fitted_once = cache(fitted)


@cache
def saved(name):
    """The bytes of a model file."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mvdfq"
        fitted_once(name).save(path)
        return path.read_bytes()


@pytest.fixture
def open_model(tmp_path):
    def opened(name):
        path = tmp_path / "model.mvdfq"
        path.write_bytes(saved(name))
        return Opened(path)

    return opened


def assert_refused_at_once(opened, message):
    """The file is refused within five seconds of computing and a few hundred megabytes."""
    opened.write()
    start, before = time.process_time(), getrusage(RUSAGE_SELF).ru_maxrss
    with pytest.raises(mvdfq.ModelFileError, match=message):
        mvdfq.load(opened.path)
    assert time.process_time() - start < 5
    assert getrusage(RUSAGE_SELF).ru_maxrss - before < 300_000  # kB


# Work: a few bytes must not describe days or gigabytes.


def nested(kind, depth):
    """Tuples of tuples, or pipelines of pipelines, with 2**depth leaves."""
    value = {"number": 10**6, "tuple": [1, 1]}
    for i in range(1, depth):
        again = {"again": 10**6 + i - 1}
        first = value
        if kind == "tuple":
            value = {"number": 10**6 + i, "tuple": [first, again]}
        else:
            steps = [{"tuple": ["a", first]}, {"tuple": ["b", again]}]
            value = {"number": 10**6 + i, "object": "Pipeline", "state": {"steps": steps}}
    return value


@pytest.mark.parametrize("kind", ["tuple", "pipeline"])
def test_values_that_refer_to_values_are_counted_as_often_as_they_occur(kind, open_model):
    opened = open_model("rotated")
    opened.state("SequenceClassifier")["class_weight"] = {"dict": [[nested(kind, 40), 1]]}
    assert_refused_at_once(opened, "must hold at most 3000000 values")


BOMBS = [
    ("Spectrum", {"k": 10**9, "dilation": 1}),
    ("Spectrum", {"k": {"range": [1, 10**9, 1]}, "dilation": 1}),
    ("Spectrum", {"k": 3, "dilation": {"range": [1, 10**6, 1]}}),
    ("Spectrum", {"k": list(range(1, 5000)), "dilation": list(range(1, 5000))}),
    ("Spatial", {"k": 10**6, "t": 2, "d": 5, "dilation": 1}),
    ("Spatial", {"k": 1, "t": 10**9, "d": 5, "dilation": 1}),
    ("Spatial", {"k": 1, "t": 2, "d": 10**9, "dilation": 1}),
    ("Words", {"layouts": [{"tuple": [0, 1, 2]}] * (10**5 + 1), "weights": None}),
    ("Words", {"layouts": [{"range": [0, 3 * 10**6 - 100, 1]}], "weights": None}),
    ("Words", {"layouts": [{"range": [0, 10**9, 1]}], "weights": None}),
    ("Words", {"layouts": [{"tuple": [0, 2**63]}], "weights": None}),
    ("Spectrum", {"k": 3, "dilation": 2**62}),
    ("Gapped", {"g": 10**9, "k": 5 * 10**8, "dilation": 1}),
    ("Gapped", {"g": 900, "k": 450, "dilation": 1}),
    ("Gapped", {"g": 20, "k": 5, "dilation": list(range(1, 100))}),
    ("Gappy", {"g": 10**6, "k": 2, "dilation": 1, "distinct": True}),
    ("Wildcard", {"k": 10**6, "m": 10**5, "decay": 1.0, "dilation": 1}),
    ("Mismatch", {"k": 10**6, "m": 10**5, "neighbourhood": "full", "dilation": 1}),
    ("Mismatch", {"k": 900, "m": 450, "neighbourhood": "full", "dilation": 1}),
    ("MismatchPairs", {"k": 10**9, "m": 10**8}),
    ("Profile", {"k": 10**9, "sigma": 1.0}),
    ("Subsequence", {"k": 10**9, "decay": 0.5, "max_span": None}),
    ("Subsequence", {"k": 900, "decay": 0.5, "max_span": 10**9}),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "state"), BOMBS, ids=[f"{k}-{i}" for i, (k, _) in enumerate(BOMBS)]
)
def test_kernels_of_too_much_work_are_refused(kernel, state, open_model):
    opened = open_model("rotated")
    opened.state("Plan")["kernel"] = {"object": kernel, "state": state}
    assert_refused_at_once(opened, "is damaged")


def test_a_description_of_many_empty_objects_is_refused(open_model, tmp_path):
    opened = open_model("rotated")
    opened.members = {}
    text = b'{"format": "mvdfq model", "a": [' + b"{}," * (2**26 // 3 - 100) + b"{}]}"
    with zipfile.ZipFile(opened.path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", text)
    assert opened.path.stat().st_size < 10**5
    tracemalloc.start()
    with pytest.raises(mvdfq.ModelFileError, match="at most 6000000 values"):
        mvdfq.load(opened.path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * 2**26  # the text itself


def test_arrays_of_many_lines_without_values_are_refused(open_model):
    opened = open_model("rotated")
    opened.state("SequenceClassifier")["class_weight"] = {"array": "0000.npy"}
    opened.description["arrays"]["0000.npy"].update(shape=[10**12, 0])
    assert_refused_at_once(opened, "is not an array of numbers or text")
    opened.description["arrays"]["0000.npy"].update(shape=[10**12], dtype="<U0")
    assert_refused_at_once(opened, "is not an array of numbers or text")


def test_lags_that_make_too_many_rows_are_refused(open_model):
    opened = open_model("two classes")
    for one in walk(opened.description["model"]):
        if one.get("object") == "Lags":
            one["state"]["n_lags"] = 10**9
    assert_refused_at_once(opened, "n_lags must make at most 1000000 rows")


def test_a_table_whose_size_overflows_is_refused(open_model):
    # 2**21 symbols and words of three: 2**63 slots are a negative number in 64 bits
    opened = open_model("numbers")
    dicts = walk(opened.description["model"])
    words = next(one for one in dicts if one.get("object") == "FittedWords")["state"]
    for one in walk(words["reader"]):
        for name in ("n_symbols", "n_symbols_"):
            if name in one.get("state", {}) and "array" in (one["state"][name] or {}):
                opened.change(one["state"][name], lambda a: np.full_like(a, 2**21))
    opened.write()
    with pytest.raises(mvdfq.ModelFileError, match="values must hold fewer than"):
        mvdfq.load(opened.path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda words: words + np.uint8(100), "columns_ must hold words of symbols of row 0"),
        (lambda words: words[:, 1:], "columns_ must hold words of symbols of row 0"),
    ],
)
def test_words_outside_the_alphabet_are_refused(change, message, open_model):
    # a table has one slot per possible word
    opened = open_model("linear")
    ((_, words), *_) = opened.state("Vocabulary")["words"]["dict"]
    opened.change(words, change)
    opened.write()
    with pytest.raises(mvdfq.ModelFileError, match=message):
        mvdfq.load(opened.path)


def test_training_sequences_of_other_rows_are_refused(open_model):
    opened = open_model("profile")
    opened.change(opened.state("Sequences")["data"], lambda data: data[1:])
    opened.state("Sequences")["channel_names"] = None
    opened.write()
    with pytest.raises(mvdfq.ModelFileError, match="train_ must have 3 rows, got 2"):
        mvdfq.load(opened.path)


def test_weights_of_other_groups_are_refused(open_model):
    opened = open_model("rotated")
    plan = opened.state("Plan")
    plan["group_weights"] = plan["row_weights"]
    opened.write()
    with pytest.raises(mvdfq.ModelFileError, match="group_weights must have 2 entries"):
        mvdfq.load(opened.path)


def test_words_of_other_tasks_are_refused(open_model):
    opened = open_model("linear")
    for name in ("words", "first"):
        opened.state("Vocabulary")[name]["dict"][0][0] = {"tuple": [0, 99]}
    opened.write()
    with pytest.raises(mvdfq.ModelFileError, match="columns_ must hold words for each of"):
        mvdfq.load(opened.path)


# Attributes: what is missing, or of another kind, is noticed by `load` and not by `predict`.

FOREIGN = [
    None, -1, 10**9, "x", [], {"tuple": []}, {"dict": []}, {"float": "nan"}, [[1]],
    {"object": "Delta", "state": {"keep": True}},
    {"object": "Pipeline", "state": {"steps": [{"tuple": ["a", None]}]}},
    {"object": "Spectrum", "state": {"k": 2, "dilation": 1}},
]  # fmt: skip
ARRAYS = [
    lambda a: a[1:],
    lambda a: a.ravel(),
    lambda a: a.astype("U9"),
    lambda a: np.full_like(a, np.nan) if a.dtype.kind == "f" else a + a.dtype.type(100),
]


def objects(opened):
    return [one for one in walk(opened.description["model"]) if "object" in one]


def attributes(opened):
    """Every attribute of every class, once, as the number of its object and its name."""
    seen = {}
    for i, one in enumerate(objects(opened)):
        for name in one["state"]:
            fitted = "n_channels_in_" in one["state"]
            seen.setdefault((one["object"], fitted, name), (i, name))
    return list(seen.values())


def changes(opened, i, name):
    """Functions that change one attribute of a model file."""

    def delete(state, opened):
        del state[name]

    yield delete
    for value in FOREIGN:
        yield lambda state, opened, value=value: state.update({name: value})
    stored = objects(opened)[i]["state"][name]
    if isinstance(stored, dict) and "array" in stored:
        for change in ARRAYS:
            with suppress(Exception):  # a change that this array cannot have
                yield lambda state, opened, change=change: opened.change(state[name], change)


def check_attributes(name, open_model, chosen):
    """Change attributes one by one: `load` refuses the file, or the model still answers."""
    refused = 0
    for i, attribute in attributes(open_model(name))[chosen]:
        for change in changes(open_model(name), i, attribute):
            opened = open_model(name)
            change(objects(opened)[i]["state"], opened)
            opened.write(compression=zipfile.ZIP_STORED)
            try:
                model = mvdfq.load(opened.path)
            except mvdfq.ModelFileError:
                refused += 1
                continue
            assert_answers(model, readable(name, model)[:5], (attribute, change))
    return refused


def assert_answers(model, X, said):
    """Labels, probabilities, p values and explanations, which some kernels do not have."""
    assert len(model.predict(X)) == len(X), said
    assert np.isfinite(model.predict_proba(X)).all(), said
    if model.calibration_ is not None:
        p = model.p_values(X)
        assert ((p >= 0) & (p <= 1)).all(), said
    with suppress_if("cannot be traced to frames"):
        (explanation,) = model.explain_all(X[:1])
        assert all([str(explanation), explanation.to_dict(), explanation._repr_html_()]), said


@contextmanager
def suppress_if(message):
    """Pass over a ValueError that says this, and over no other error."""
    try:
        yield
    except ValueError as error:
        if message not in str(error):
            raise


def readable(name, model):
    """The sequences of a case; a model that has lost its encoders is a model of symbols."""
    X = (CASES | MORE)[name][1]
    own, lost = fitted_once(name).terms_[0].encoders, not steps_of(*model.terms_[0].encoders)
    return encode(own, X) if lost else X


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vq", "linear"])
def test_a_file_that_loads_answers(name, open_model):
    assert check_attributes(name, open_model, slice(None, None, 9)) > 50


@pytest.mark.filterwarnings("ignore:.* did not occur in training")
@pytest.mark.long
@pytest.mark.parametrize("name", CASES | MORE)
def test_a_file_that_loads_answers_for_every_attribute(name, open_model):
    assert check_attributes(name, open_model, slice(None)) > 100


@pytest.mark.parametrize(
    ("kind", "attribute"),
    [
        ("SequenceClassifier", "temperature_"),
        ("SequenceClassifier", "sum_"),
        ("SequenceFeatures", "n_rows_in_"),
        ("SequenceFeatures", "rows_"),
        ("FittedWords", "spreads"),
        ("FittedWords", "means"),
        ("FittedWords", "intercepts"),
        ("Symbols", "n_symbols"),
        ("Plan", "kernel"),
        ("Pipeline", "steps"),
        ("Rotate", "mean_"),
    ],
)
def test_what_is_missing_is_named(kind, attribute, open_model):
    opened = open_model("rotated" if kind == "Symbols" else "numbers")
    del opened.state(kind, attribute)[attribute]
    opened.write()
    with pytest.raises(
        mvdfq.ModelFileError, match=f"must (hold|be) .*{attribute}|{attribute} must"
    ):
        mvdfq.load(opened.path)


@pytest.mark.parametrize(
    ("name", "kind", "attribute", "value", "message"),
    [
        ("rotated", "FittedKernel", "encoders", ["x"], "encoders must be transformers"),
        ("rotated", "SequenceClassifier", "n_channels_in_", 4, "must read n_channels_in_=4"),
        ("rotated", "SequenceClassifier", "training_", {"dict": []}, "training_ must be"),
        ("rotated", "SequenceClassifier", "source_", "x", "source_ must be"),
        ("rotated", "SequenceKernel", "gamma", -1.0, "gamma must be a number > 0"),
        ("rotated", "FittedKernel", "n_jobs", 0, "n_jobs must be a number of threads"),
        ("rotated", "FittedKernel", "memory_limit", "much", "memory_limit must be bytes"),
        ("hashed", "SequenceFeatures", "memory_limit", "x", "memory_limit must be bytes"),
        ("hashed", "SequenceFeatures", "n_jobs", 10**9, "n_jobs must be at most 1024 threads"),
        ("rotated", "Delta", "n_channels_in_", 10**9, "n_channels_in_ must be from 1"),
        ("rotated", "Delta", "n_channels_in_", 2, "must read 3 channels, got 2"),
        ("rotated", "Symbols", "channel_names", {"tuple": ["a"]}, "channel_names must hold"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(
    name, kind, attribute, value, message, open_model
):
    opened = open_model(name)
    opened.state(kind, attribute if kind != "SequenceClassifier" else "")[attribute] = value
    opened.write()
    with pytest.raises(mvdfq.ModelFileError, match=message):
        mvdfq.load(opened.path)


def test_another_encoder_than_that_of_the_kernel_is_refused(open_model):
    opened = open_model("rotated")
    term = opened.state("FittedKernel")
    term["encoders"] = term["encoders"][1:]
    opened.write()
    with pytest.raises(mvdfq.ModelFileError, match="must read n_channels_in_=3 channels, got 12"):
        mvdfq.load(opened.path)


def test_a_model_that_load_would_refuse_is_not_written(tmp_path):
    model = fitted("linear")
    model.n_jobs = "many"
    with pytest.raises(mvdfq.ModelFileError, match="load would refuse SequenceClassifier: n_jobs"):
        model.save(tmp_path / "model.mvdfq")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("value", "hint", "answer"),
    [
        (np.int64(3), int, True),
        (3.0, int, False),
        (True, int, False),
        (3, float, True),
        (np.True_, bool, True),
        (2, bool, False),
        (np.array([1, 2]), "Sequence[int]", True),
        (np.array(1), "Sequence[int]", False),
        ("ab", "Sequence[int]", False),
        ((1, "a"), tuple[int, str], True),
        ((1, "a", 2), tuple[int, str], False),
        (("a", "b"), tuple[str, ...], True),
        ({"a": 1}, dict[str, int], True),
        ({"a": "b"}, dict[str, int], False),
    ],
)
def test_values_are_compared_with_annotations(value, hint, answer):
    from collections.abc import Sequence

    wanted = {"Sequence[int]": Sequence[int]}.get(hint, hint) if isinstance(hint, str) else hint
    assert fits(value, wanted) is answer


def test_the_description_of_a_large_model_stays_far_below_the_bound(open_model):
    text = json.dumps(open_model("numbers").description)
    assert sum(map(text.count, ",[{")) < 6 * 10**6 / 100


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["FittedWords", "FilterBank"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda means: np.full_like(means, np.nan), "means must hold numbers from 0 to 1"),
        (lambda means: means - np.float16(1), "means must hold numbers from 0 to 1"),
        (lambda means: means[1:], "means must be an array of float16 of shape"),
        (lambda means: means[:, :0], "means must be an array of float16 of shape"),
        (lambda means: means.astype(np.float32), "means must be an array of float16"),
        (lambda means: means[..., :2], "a term must have means of 3 classes or one, got 2"),
        (lambda means: means[..., :0], "a term must have means of 3 classes or one, got 0"),
    ],
)
def test_damaged_means_of_words_are_refused(kind, change, message, open_model):
    opened = open_model("numbers")
    means = opened.state(kind)["means"]
    opened.change(means if kind == "FilterBank" else means[0], change)
    opened.write()
    with pytest.raises(mvdfq.ModelFileError, match=message):
        mvdfq.load(opened.path)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), [("FittedWords", "values"), ("FilterBank", "weights")])
def test_weights_that_are_not_finite_are_refused(kind, name, open_model):
    opened = open_model("numbers")
    weights = opened.state(kind)[name]
    nothing = partial(np.full_like, fill_value=np.nan)
    opened.change(weights if kind == "FilterBank" else weights[0], nothing)
    opened.write()
    with pytest.raises(mvdfq.ModelFileError, match=f"{name} must hold finite numbers"):
        mvdfq.load(opened.path)

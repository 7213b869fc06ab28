"""Model files: what is read is what was written, and whatever else is a file is refused."""

import io
import json
import pickle
import subprocess
import sys
import tracemalloc
import zipfile
from contextlib import suppress
from functools import cache

import numpy as np
import pytest
from numpy.lib.format import write_array
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline

import mvdfq
from forged import Opened, npy, walk
from model_cases import BINS, CASES, LABELS, LETTERS, NAMES, NUMBERS, classifier
from mvdfq import (
    Delta,
    ModelFileError,
    SequenceClassifier,
)
from mvdfq.classifier.saving.file import save_model

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*lie outside the range"),
    pytest.mark.filterwarnings("ignore:.*The kernel finds no word"),
    pytest.mark.filterwarnings("ignore:.*No known word"),
]


@cache
def fitted(name):
    model, X, y = CASES[name]
    return clone(model).fit(X, y)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.mvdfq"


@pytest.fixture
def saved(path):
    """The file of a small model with a rotation, bins and a kernel machine."""
    fitted("rotated").save(path)
    return path


def answers(model, X):
    """Everything a classifier says of sequences, as bytes and text."""
    x = X[:1] if isinstance(X, mvdfq.Sequences) else X[0]
    said = [model.decision_function(X), model.predict_proba(X), model.predict(X)]
    if model.terms_[0].reader.plan_.counts_groups:
        explained = model.explain(x)
        said += [explained.margins, explained.by_frame, explained.by_layout]
    told = [(a.dtype, a.shape, a.tolist() if a.dtype == object else a.tobytes()) for a in said]
    return told, repr(model.neighbours(x)), model.validation_scores_.tobytes()


@cache
def expected(name):
    return answers(fitted(name), CASES[name][1])


def same_parameters(a, b):
    a, b = a.get_params(), b.get_params()
    return a.keys() == b.keys() and all(repr(a[key]) == repr(b[key]) for key in a)


@pytest.mark.parametrize("name", CASES)
def test_what_is_read_is_what_was_written(name, path):
    model, (_, X, y) = fitted(name), CASES[name]
    model.save(path)
    again = mvdfq.load(path)
    assert answers(again, X) == expected(name)
    assert same_parameters(again, model)
    again.save(path)
    assert mvdfq.load(path).decision_function(X).tobytes() == expected(name)[0][0][-1]
    refit = clone(again).fit(X, y)
    assert_array_equal(refit.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("name", ["parts", "linear"])
def test_attributes_come_back_with_their_types(name, path):
    model = fitted(name)
    model.save(path)
    again = mvdfq.load(path)
    assert vars(again).keys() == {key for key in vars(model) if not key.startswith("_")}
    for key, value in vars(again).items():
        assert type(value) is type(getattr(model, key)), key
    assert again.classes_.dtype == model.classes_.dtype
    assert again.terms_[0]._made == {}


def test_channel_names_and_labels_can_be_read_by_people(path):
    fitted("names").save(path)
    text = zipfile.ZipFile(path).read("model.json").decode("utf-8", "surrogatepass")
    assert json.loads(text)["channels"] == NAMES
    assert json.loads(text)["labels"] == ["off", "on", "über"]
    assert "über" in text
    assert list(mvdfq.load(path).terms_[0].encoders[0].channel_names_in_) == NAMES


def test_labels_keep_what_arrays_of_text_would_lose(path):
    y = np.array(["a", "a\0", "b"], dtype=object)[LABELS]
    clone(CASES["linear"][0]).fit(NUMBERS, y).save(path)
    assert mvdfq.load(path).classes_.tolist() == ["a", "a\0", "b"]


def test_a_new_process_says_the_same(saved):
    model = fitted("rotated")
    np.save(saved.with_name("X.npy"), np.stack([x[:, :12] for x in NUMBERS]))
    code = (
        "import sys, numpy, mvdfq\n"
        "decision = mvdfq.load(sys.argv[1]).decision_function(numpy.load(sys.argv[2]))\n"
        "print(decision.tobytes().hex())"
    )
    command = [sys.executable, "-c", code, str(saved), str(saved.with_name("X.npy"))]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    decision = model.decision_function([x[:, :12] for x in NUMBERS])
    assert printed.strip() == decision.tobytes().hex()


def test_pickle_and_skops_say_the_same():
    skops_io = pytest.importorskip("skops.io", reason="skops is not installed")
    model = fitted("parts")
    data = skops_io.dumps(model)
    trusted = skops_io.get_untrusted_types(data=data)
    assert answers(skops_io.loads(data, trusted=trusted), NUMBERS) == expected("parts")
    assert answers(pickle.loads(pickle.dumps(model)), NUMBERS) == expected("parts")


# Saving


def test_a_failure_leaves_the_older_file(saved, monkeypatch):
    before = saved.read_bytes()

    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(OSError, match="disk full"):
        fitted("letters").save(saved)
    assert saved.read_bytes() == before
    assert [one.name for one in saved.parent.iterdir()] == [saved.name]


def test_an_older_file_is_replaced(saved):
    fitted("letters").save(saved)
    assert answers(mvdfq.load(saved), LETTERS) == expected("letters")
    assert [one.name for one in saved.parent.iterdir()] == [saved.name]


def test_the_file_is_as_others_in_its_folder(saved):
    other = saved.with_name("other")
    other.touch()
    assert saved.stat().st_mode == other.stat().st_mode


def test_folders_that_do_not_exist_are_missed(tmp_path):
    with pytest.raises(FileNotFoundError):
        fitted("linear").save(tmp_path / "nowhere" / "model.mvdfq")
    with pytest.raises(FileNotFoundError):
        mvdfq.load(tmp_path / "model.mvdfq")
    with pytest.raises(OSError, match="director"):
        mvdfq.load(tmp_path)
    with pytest.raises(OSError, match="director"):
        fitted("linear").save(tmp_path)
    assert not list(tmp_path.iterdir())


class Mine(BaseEstimator):
    """A transformer that mvdfq does not know."""

    def fit(self, X, y=None):
        return self

    def fit_transform(self, X, y=None):
        return X

    def transform(self, X):
        return X


class Delta2(Delta):
    """One that poses as mvdfq's own."""


Delta2.__name__ = "Delta"


@pytest.mark.parametrize("part", [Mine(), Delta2(), make_pipeline(Delta(), Mine())], ids=repr)
def test_classes_of_others_are_not_saved(part, path):
    model = classifier(frames=part, symbols=BINS).fit(NUMBERS, LABELS)
    with pytest.raises(ModelFileError, match=r"model\.mvdfq was not written.*pickle or skops"):
        model.save(path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("note", "mine", "SequenceClassifier.note is not a parameter"),
        ("class_weight", {0: len}, "SequenceClassifier.class_weight holds builtin"),
        ("C", np.array([1, None]), "SequenceClassifier.C must hold text, got other objects"),
        ("C", np.array([1j]), "SequenceClassifier.C must hold numbers or text, got .*complex128"),
        ("random_state", np.random.RandomState(0), "random_state holds RandomState"),
    ],
)
def test_values_that_are_no_numbers_or_text_are_not_saved(name, value, message, path):
    model = clone(CASES["linear"][0]).fit(NUMBERS, LABELS)
    setattr(model, name, value)
    with pytest.raises(ModelFileError, match=message):
        model.save(path)


def test_what_belongs_to_the_session_is_left_out(path):
    model = clone(CASES["linear"][0]).fit(NUMBERS, LABELS)
    model._cache = object()
    model.save(path)
    assert not hasattr(mvdfq.load(path), "_cache")


def test_a_classifier_that_is_not_fitted_is_not_saved(path):
    with pytest.raises(ValueError, match="not fitted"):
        SequenceClassifier().save(path)


# Files that are no models


def assert_refused(path, message, **options):
    with pytest.raises(ModelFileError, match=message) as caught:
        mvdfq.load(path, **options)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("share", [0, 0.001, 0.3, 0.7, 0.99, -1])
def test_files_cut_short_are_refused(saved, share):
    data = saved.read_bytes()
    saved.write_bytes(data[: int(share * len(data))] if share >= 0 else data[:-1])
    assert_refused(saved, "is not a model file, or is incomplete")


@pytest.mark.parametrize("data", [b"some text\n" * 100, pickle.dumps(print), b"PK\x03\x04"])
def test_files_of_another_kind_are_refused(path, data):
    path.write_bytes(data)
    assert_refused(path, "not a model file")


def test_zips_of_others_are_refused(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes.txt", "hello")
    assert_refused(path, r"not a model file: it has no entry model\.json")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.json", '{"format": "another"}')
    assert_refused(path, "not a model file of mvdfq")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.json", "[1, 2]")
    assert_refused(path, "not a model file of mvdfq")


# Files that were changed


@pytest.fixture
def opened(saved):
    return Opened(saved)


def test_a_file_written_again_unchanged_is_read(opened):
    opened.write()
    assert answers(mvdfq.load(opened.path), NUMBERS) == expected("rotated")


def test_newer_formats_ask_for_an_update(opened):
    opened.description.update(schema=2, mvdfq="7.0")
    opened.write()
    assert_refused(opened.path, "written by mvdfq 7.0, in a format .* update mvdfq")


def test_models_larger_than_the_limit_are_refused(saved):
    assert_refused(saved, "needs [0-9]+ bytes, more than the limit of 1000", memory_limit="1 kB")
    opened = Opened(saved)
    opened.state("SequenceClassifier")["class_weight"] = {"array": "0000.npy"}
    opened.change(opened.state("SequenceClassifier")["class_weight"], lambda a: np.zeros(10**5))
    opened.write()
    assert_refused(saved, "needs 8[0-9]{5} bytes", memory_limit="800 kB")
    mvdfq.load(saved, memory_limit="10 MB")


def test_bytes_that_changed_are_noticed(opened):
    name = max(opened.members, key=lambda name: len(opened.members[name]))
    data = bytearray(opened.members[name])
    data[-1] ^= 1
    opened.members[name] = bytes(data)
    opened.write()
    assert_refused(opened.path, f"was changed after it was written: {name} differs")


def test_arrays_that_are_missing_or_too_many_are_noticed(opened):
    opened.members["more.npy"] = npy(np.zeros(3))
    opened.write()
    assert_refused(opened.path, "exactly the arrays that it describes, got other arrays")
    del opened.members["more.npy"], opened.members["0003.npy"]
    opened.write()
    assert_refused(opened.path, "exactly the arrays that it describes, got other arrays")


def lie(opened, shape, dtype="<f8", data=None, passport=True):
    """Claim another shape or type for the first array, in its header and in the description."""
    data = np.zeros(3) if data is None else data
    opened.members["0000.npy"] = npy(data, {"shape": shape, "descr": dtype})
    if passport:
        claims = {"dtype": dtype, "shape": list(shape), "sha256": ""}
        opened.description["arrays"]["0000.npy"] = claims
    opened.write()
    return opened.path


@pytest.mark.parametrize("passport", [True, False])
def test_claims_of_size_take_no_memory(opened, passport):
    path = lie(opened, (10**8,), passport=passport)
    tracemalloc.start()
    assert_refused(path, "0000.npy does not have the described size")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**7
    path = lie(opened, (10**12,))
    assert_refused(path, "needs 80000[0-9]+ bytes, more than the limit")


def test_claims_of_a_long_header_take_no_memory(opened):
    length = 5 * 10**7
    opened.members["0000.npy"] = b"\x93NUMPY\2\0" + length.to_bytes(4, "little") + bytes(length)
    opened.write()
    tracemalloc.start()
    assert_refused(opened.path, "0000.npy does not have the described size")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**7


@pytest.mark.parametrize("shape", [(2,), (4,), (3, 1), (3, 0), ()])
def test_arrays_of_another_size_are_noticed(opened, shape):
    assert_refused(lie(opened, shape), "0000.npy")


@pytest.mark.parametrize(
    ("shape", "dtype"), [((-3, -1), "<f8"), ((3,), "|O"), ((3,), "(1,)f8"), ((3,), "M8[s]")]
)
def test_arrays_of_strange_types_are_refused(opened, shape, dtype):
    opened.description["arrays"]["0000.npy"].update(dtype=dtype, shape=list(shape))
    opened.write()
    assert_refused(opened.path, "not an array of numbers or text")


def test_pickles_posing_as_arrays_are_not_opened(opened):
    buffer = io.BytesIO()
    write_array(buffer, np.array([Trap()], dtype=object), allow_pickle=True)
    opened.members["0000.npy"] = buffer.getvalue()
    size = len(pickle.dumps(Trap())) // 8
    opened.description["arrays"]["0000.npy"].update(dtype="<f8", shape=[size])
    opened.write()
    assert_refused(opened.path, "0000.npy does not have the described size")
    assert not Trap.sprung


class Trap:
    """Says when somebody unpickles it."""

    sprung = False

    def __reduce__(self):
        return setattr, (Trap, "sprung", True)


def test_files_compressed_in_another_way_are_refused(opened):
    opened.write(compression=zipfile.ZIP_BZIP2)
    assert_refused(opened.path, "compressed in another way")


def test_big_endian_machines_write_files_too(opened):
    for passport in opened.description["arrays"].values():
        assert passport["dtype"][0] in "<|"
    for one in walk(opened.description["model"]):
        if "array" in one:
            opened.change(one, lambda array: array.astype(array.dtype.newbyteorder(">")))
    opened.write()
    assert answers(mvdfq.load(opened.path), NUMBERS) == expected("rotated")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"format": "mvdfq model", "schema": NaN}', "holds NaN, which is not JSON"),
        ('{"format": "mvdfq model", "schema": "1"}', "is damaged: TypeError"),
        ('{"format": "mvdfq model"}', "is damaged: KeyError"),
        ('{"format": "mvdfq model", "schema": 1, "arrays": 5}', "is damaged: TypeError"),
        ("{" * 10, "is damaged: JSONDecodeError"),
        ("[" * 100_000, "is damaged: RecursionError"),
        (b"\xff\xfe\xfd", "is damaged"),
    ],
)
def test_descriptions_that_are_none_are_refused(opened, text, message):
    opened.members = {}
    opened.write(text)
    assert_refused(opened.path, message)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"object": "SequenceClassifier", "state": {"feature_importance_": 1}}, "AttributeError"),
        ({"object": "system", "state": {}}, "'system', which is not a part of a model"),
        ({"object": "os.system", "state": {}}, "not a part of a model"),
        ({"object": "eval", "state": {}, "number": 1}, "not a part of a model"),
        ({"object": "Ragged", "state": {}}, "not a part of a model"),
        ({"object": ["Delta"], "state": {}}, "does not describe a value"),
        ({"object": "Delta", "state": []}, "does not describe a value"),
        ({"call": "print"}, "does not describe a value"),
        ({"again": 10**6}, "KeyError"),
        ({"again": []}, "TypeError"),
        ({"array": "model.json"}, "KeyError"),
        ({"dict": [[[], 1]]}, "TypeError"),
        ({"range": [1, 2, 0]}, "ValueError"),
        ({"range": [1, 10**9, 1]}, "at most 3000000 values"),
        ({"text": [], "shape": [10**12, 0]}, "0 words cannot have the shape"),
        ({"text": [1], "shape": [1]}, "an array of text must hold text"),
        ({"text": ["a"], "shape": [2]}, "1 words cannot have the shape"),
        ({"csr": ["0000.npy"], "shape": [1, 1]}, "damaged"),
        (
            {"object": "Delta", "state": {"__class__": 1}},
            "'__class__' is not an attribute of Delta",
        ),
        ({"object": "Delta", "state": {"_keep": 1}}, "'_keep' is not an attribute of Delta"),
        ({"object": "Delta", "state": {"fit": 1}}, "'fit' is not an attribute of Delta"),
        ({"object": "Spectrum", "state": {"has_features": 1}}, "is not an attribute of Spectrum"),
        ({"object": "Standardize", "state": {"args": 1}}, "is not an attribute of Standardize"),
    ],
)
def test_what_describes_nothing_of_ours_is_refused(opened, value, message):
    opened.state("SequenceClassifier")["class_weight"] = value
    opened.write()
    assert_refused(opened.path, message)


def test_objects_that_hold_themselves_are_refused(opened):
    model = opened.description["model"]
    model["state"]["class_weight"] = {"again": model["number"]}
    opened.write()
    assert_refused(opened.path, "KeyError")


def test_deep_trees_are_refused(opened):
    value = []
    for _ in range(900):
        value = [value]
    opened.state("SequenceClassifier")["class_weight"] = value
    opened.write()
    assert_refused(opened.path, "nested at most 200 levels deep|RecursionError")


def test_a_part_alone_is_no_classifier(opened):
    opened.description["model"] = {"object": "Delta", "state": {}}
    opened.write()
    assert_refused(opened.path, "must hold a SequenceClassifier")


def test_parameters_that_the_file_does_not_know_take_their_defaults(opened):
    del opened.state("SequenceClassifier")["memory_limit"]
    del opened.state("Plan")["vocabularies"]
    opened.write()
    assert answers(mvdfq.load(opened.path), NUMBERS) == expected("rotated")
    assert mvdfq.load(opened.path).memory_limit is None


@pytest.mark.parametrize(
    ("kind", "name"), [("SequenceClassifier", "problems_"), ("FittedKernel", "coefficients")]
)
def test_attributes_that_are_missing_are_noticed(opened, kind, name):
    del opened.state(kind)[name]
    opened.write()
    assert_refused(opened.path, "damaged")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("joint", "JointQuantizer"),
        ("joint", "DirectQuantizer"),
        ("scaled", "Standardize"),
        ("rotated", "Rotate"),
        ("rotated", "Stack"),
        ("vq", "CodebookQuantizer"),
        ("hashing", "HashingQuantizer"),
        ("letters", "Letters"),
    ],
)
def test_learned_values_that_are_missing_are_named(name, kind, path):
    fitted(name).save(path)
    opened = Opened(path)
    state = opened.state(kind, "n_channels_in_")
    for attribute in [key for key in state if key.endswith("_")]:
        value = state.pop(attribute)
        opened.write()
        assert_refused(path, f"in {kind}, the file must hold {attribute}, but does not")
        state[attribute] = value


def test_case_is_folded_after_loading(path):
    X, y = ["ACGTTGCAAC", "GGGTTTACGA", "ACGTTGCATT", "GGGTTTACCC"], [0, 1, 0, 1]
    mvdfq.SequenceClassifier().fit(X, y).save(path)
    turned = [x.lower() for x in X]
    assert_array_equal(
        mvdfq.load(path).decision_function(turned), mvdfq.load(path).decision_function(X)
    )


def with_item(place, value):
    """Return a function that puts a value into an array."""

    def change(array):
        array[place] = value
        return array

    return change


def shorter(array):
    return array[:-1]


def narrower(array):
    return array[:, :-1]


UNFITTED = {"object": "Delta", "state": {}}

# Model, class, attribute, what is made of its array, what is said of it.
HARM = [
    (
        "rotated",
        "Symbols",
        "offsets",
        with_item(0, 1),
        "offsets must (run|be)",
    ),
    (
        "rotated",
        "Symbols",
        "offsets",
        with_item(-1, 10**6),
        "offsets must (run|be)",
    ),
    ("rotated", "Symbols", "offsets", with_item(2, 10**6), "must not fall"),
    ("rotated", "Symbols", "offsets", with_item(2, -1), "must not fall"),
    ("rotated", "Symbols", "offsets", lambda a: a[:0], "damaged"),
    (
        "rotated",
        "Symbols",
        "offsets",
        lambda a: a.astype(float),
        "offsets must (run|be)",
    ),
    ("rotated", "Symbols", "data", with_item((0, 3), 200), "data must hold symbols below"),
    (
        "rotated",
        "Symbols",
        "data",
        lambda a: a.astype("i1"),
        "data must be a 2-D array",
    ),
    (
        "rotated",
        "Symbols",
        "data",
        lambda a: a.astype("u8"),
        "data must be a 2-D array",
    ),
    ("rotated", "Symbols", "data", narrower, "offsets must (run|be)"),
    ("rotated", "Symbols", "data", shorter, "channel_names must hold one name for each of the"),
    ("rotated", "Symbols", "n_symbols", shorter, "n_symbols must be an array of int64"),
    ("rotated", "Symbols", "n_symbols", with_item(0, 99), "alphabets of the plan"),
    ("rotated", "Plan", "n_symbols", with_item(0, 2), "alphabets of the rows in use"),
    ("rotated", "Plan", "n_symbols", with_item(0, -1), "n_symbols must hold numbers from 0"),
    ("rotated", "Plan", "row_weights", shorter, "n_symbols must be an array of int64"),
    (
        "rotated",
        "Plan",
        "row_weights",
        with_item(0, np.nan),
        "weights must be finite, not negative and not all 0",
    ),
    (
        "rotated",
        "Plan",
        "row_weights",
        lambda a: 0 * a,
        "weights must be finite, not negative and not all 0",
    ),
    ("rotated", "SequenceKernel", "n_symbols_", with_item(0, 5), "alphabets of the rows in use"),
    ("rotated", "SequenceKernel", "rows_", shorter, "alphabets of the rows in use"),
    ("rotated", "SequenceKernel", "rows_", with_item(0, 99), "rows_ must hold numbers from 0"),
    ("rotated", "FittedKernel", "coefficients", shorter, "must have 18 lines, one per sequence"),
    ("rotated", "FittedKernel", "coefficients", narrower, "coefficients must be an array"),
    ("rotated", "FittedKernel", "intercepts", shorter, "coefficients must be an array"),
    ("rotated", "FittedKernel", "norms", shorter, "norms must be an array"),
    ("rotated", "FittedKernel", "scale", narrower, "scale must be an array"),
    ("rotated", "FittedKernel", "scale", shorter, "scale must be an array"),
    ("rotated", "Rotate", "components_", narrower, "components_ must be an array"),
    ("rotated", "Rotate", "mean_", shorter, "mean_ must be an array"),
    ("hashing", "HashingQuantizer", "components_", narrower, "components_ must be an array"),
    ("hashing", "HashingQuantizer", "mean_", shorter, "mean_ must be an array"),
    ("linear", "FittedFeatures", "coefficients", shorter, "lines, one per word"),
    (
        "rotated",
        "SequenceClassifier",
        "classes_",
        shorter,
        "problems_ must have as many classes",
    ),
    (
        "rotated",
        "SequenceClassifier",
        "train_y_",
        with_item(0, 3),
        "train_y_ must hold numbers from 0 to 2",
    ),
    ("rotated", "SequenceClassifier", "train_index_", shorter, "train_index_ must be an array"),
    ("numbers", "FittedSum", "sketches", shorter, "sketches must be an array of int8"),
    ("numbers", "FittedSum", "sketches", lambda a: a[:, :-1], "sketches must be an array of int8"),
    ("numbers", "FittedSum", "scales", shorter, "scales must be an array of float32"),
    ("numbers", "FittedSum", "scales", with_item(0, np.nan), "scales must hold finite numbers"),
    ("numbers", "FittedSum", "scales", with_item(0, -1.0), "scales must hold finite numbers"),
    ("numbers", "FittedWords", "centre", shorter, "centre must be an array of float32"),
    ("numbers", "FittedWords", "centre", with_item(0, np.inf), "centre must hold finite numbers"),
    (
        "scaled",
        "Standardize",
        "scale_",
        shorter,
        r"scale_ must be an array of float64 of shape \(3,",
    ),
    ("scaled", "Standardize", "scale_", with_item(0, 0.0), "scale_ must be positive"),
    ("scaled", "Standardize", "scale_", with_item(0, np.nan), "scale_ must be positive"),
    ("scaled", "SequenceClassifier", "ranges_in_", shorter, "ranges_in_ must be an array"),
    (
        "scaled",
        "Standardize",
        "mean_",
        lambda a: a.astype("f4"),
        "mean_ must be an array of float64",
    ),
    ("hashing", "HashingQuantizer", "ranges_", with_item(0, 0.0), "ranges_ must be positive"),
    ("hashing", "HashingQuantizer", "low_", shorter, "low_ must be an array"),
    (
        "profile",
        "Sequences",
        "data",
        lambda a: a.astype(int),
        "data must be a 2-D array",
    ),
]


@pytest.mark.parametrize(
    ("name", "kind", "attribute", "change", "message"),
    HARM,
    ids=[f"{number}-{one[1]}.{one[2]}" for number, one in enumerate(HARM)],
)
def test_arrays_that_would_do_harm_are_refused(name, kind, attribute, change, message, path):
    fitted(name).save(path)
    opened = Opened(path)
    opened.change(opened.state(kind, attribute)[attribute], change)
    opened.write()
    assert_refused(path, message)


@pytest.mark.parametrize(
    ("name", "kind", "attribute", "value", "message"),
    [
        ("rotated", "Rotate", "n_channels_in_", None, "n_channels_in_ must be int, got None"),
        ("rotated", "Rotate", "n_channels_in_", 4, "mean_ must be an array"),
        ("rotated", "Rotate", "symbolic_in_", {"tuple": [True, False, False]}, "mean_ must be"),
        (
            "rotated",
            "Rotate",
            "symbolic_in_",
            {"tuple": [0, 0, 2]},
            r"symbolic_in_ must be tuple\[bool",
        ),
        (
            "rotated",
            "Rotate",
            "symbolic_in_",
            {"tuple": [False] * 5},
            "symbolic_in_ must hold one value for each of the 3",
        ),
        ("rotated", "Rotate", "deltas", False, "mean_ must be an array"),
        ("rotated", "DirectQuantizer", "bin_edges_", [], "damaged"),
        ("rotated", "DirectQuantizer", "strategy", "uniform", "parts do not belong together"),
        ("rotated", "Stack", "views_", [], "views_ must hold at least one view"),
        ("rotated", "Stack", "views_", [1], r"views_ must be list\[tuple"),
        (
            "rotated",
            "Stack",
            "views_",
            [{"tuple": ["a", UNFITTED]}],
            "must be fitted, but Delta is not",
        ),
        (
            "rotated",
            "FittedKernel",
            "encoders",
            [UNFITTED],
            "encoders must be fitted",
        ),
        ("joint", "JointQuantizer", "sets_", [{"tuple": [0, 3]}], "channels from 0 to 2"),
        ("joint", "JointQuantizer", "sets_", [{"tuple": [0, -1]}], "channels from 0 to 2"),
        ("joint", "JointQuantizer", "sets_", [{"tuple": []}], "channels from 0 to 2"),
        ("joint", "JointQuantizer", "sets_", [], "at least one set"),
        ("joint", "JointQuantizer", "bins_", None, "bins_ must be DirectQuantizer"),
        ("joint", "JointQuantizer", "columns_", [[]], "columns_ must hold one list for each"),
        ("1d", "JointQuantizer", "columns_", [[1, 2, 3]], r"columns_ must be list\[list"),
        ("vq", "CodebookQuantizer", "codebooks_", [], "at least one codebook"),
        ("vq", "CodebookQuantizer", "codebooks_", [None], r"codebooks_ must be list"),
        ("vq", "CodebookQuantizer", "scaler_", UNFITTED, "scaler_ must be .*Standardize"),
        ("hashing", "HashingQuantizer", "modes_", [{"tuple": [3, 1]}], "modes_ must hold pairs"),
        ("hashing", "HashingQuantizer", "modes_", [{"tuple": [0, 0]}], "modes_ must hold pairs"),
        ("letters", "Letters", "alphabets_", ["AA"], "one string of distinct characters"),
        ("letters", "Letters", "folds_case_", [True] * 2, "folds_case_ must hold True or False"),
        ("letters", "Letters", "kinds_", ["dna"], "kinds_ must hold 'nucleic', 'protein' or ''"),
        (
            "names",
            "Smooth",
            "channel_names_in_",
            {"tuple": ["a"]},
            "channel_names_in_ must hold one",
        ),
        ("rotated", "Plan", "n_levels", 0, "n_levels must be a whole number"),
        ("rotated", "Plan", "n_levels", 60, "n_levels must be a whole number"),
        ("rotated", "Plan", "kernel", "Spectrum", "kernel must be Kernel"),
        ("rotated", "Spectrum", "k", 0, "k must be a whole number"),
        ("rotated", "Spectrum", "k", -3, "k must be a whole number"),
        ("profile", "Profile", "k", 0, "k must be a whole number"),
        ("subsequence", "Subsequence", "k", 0, "k must be a whole number"),
        (
            "rotated",
            "Problems",
            "n_classes",
            10**9,
            "problems_ must have as many classes",
        ),
        ("rotated", "Problems", "scheme", "ovo", None),  # as many pairs as classes: another model
        ("ovo", "Problems", "n_classes", 2, "problems_ must have as many classes"),
        ("linear", "Vocabulary", "size", 10**6, "first and size must number the"),
        ("linear", "Vocabulary", "first", {"dict": []}, "first and size must number the"),
        ("hashed", "Buckets", "size", 0, "size must be a whole number"),
        ("hashed", "Buckets", "size", 10, "lines, one per word"),
    ],
)
def test_values_that_would_do_harm_are_refused(name, kind, attribute, value, message, path):
    fitted(name).save(path)
    opened = Opened(path)
    for one in walk(opened.description["model"]):
        if one.get("object") == kind and attribute in one["state"]:
            one["state"][attribute] = value
    opened.write()
    if message is None:
        mvdfq.load(path).predict(CASES[name][1])
    else:
        assert_refused(path, message)


@pytest.mark.parametrize(
    "change", [with_item((0, 0), 250), narrower, lambda a: a.astype(int)], ids=range(3)
)
def test_words_that_the_kernel_cannot_read_are_refused(change, path):
    fitted("observed").save(path)
    opened = Opened(path)
    ((_, words), *_) = opened.state("Plan")["vocabularies"]["dict"]
    opened.change(words, change)
    opened.write()
    assert_refused(path, "vocabularies must hold")


@pytest.mark.parametrize("part", range(3), ids=["data", "indices", "indptr"])
def test_features_that_point_outside_are_refused(part, path):
    fitted("linear").save(path)
    opened = Opened(path)
    names = opened.state("FittedFeatures")["kept"]["csr"]
    opened.change(names, shorter if part == 0 else with_item(-1, 10**6), key=part)
    opened.write()
    assert_refused(path, "damaged")


# Chance


def survives(path, X):
    """Tell whether a file is not refused; its model must then predict."""
    with suppress(ModelFileError):
        model = mvdfq.load(path)
        assert model.predict(X).shape == (len(X),)
        return True
    return False


def test_damage_of_any_kind_is_noticed(saved):
    data, rng = saved.read_bytes(), np.random.default_rng(0)
    intact = 0
    for _ in range(200):
        a, b = sorted(rng.integers(len(data), size=2))
        changed = bytearray(data)
        if rng.random() < 0.5:
            changed[a] ^= 1 << rng.integers(8)
        else:
            del changed[a : min(b, a + 50)]
        saved.write_bytes(changed)
        intact += survives(saved, NUMBERS)
    assert intact < 20  # a flipped bit in a date hurts nobody


def forge(opened, rng):
    """Change one number or array of one part of the model."""
    dicts = walk(opened.description["model"])
    states = {one["object"]: one["state"] for one in dicts if "object" in one}
    places = [
        [(state, name) for name, one in state.items() if isinstance(one, int | float | None | dict)]
        for state in states.values()
    ]
    places = [names for names in places if names]
    names = places[rng.integers(len(places))]
    state, name = names[rng.integers(len(names))]
    arrays = [one for one in walk([state[name]]) if "array" in one]
    if arrays:
        opened.change(arrays[0], FORGERS[rng.integers(len(FORGERS))])
    else:
        state[name] = [0, -1, 1, 2, 7, 1000, None, True, "x", [], 0.5][rng.integers(11)]


FORGERS = [
    lambda a: a[1:],
    lambda a: a[..., 1:],
    lambda a: a.T[::-1].T,
    lambda a: a.ravel(),
    lambda a: np.zeros_like(a),
    lambda a: np.full_like(a, a.ravel()[-1]) if a.size else a,
    lambda a: a + a if a.dtype.kind in "iuf" else a,
    lambda a: a - 1 if a.dtype.kind in "iuf" else a,
    lambda a: a.astype("f4" if a.dtype.kind == "f" else a.dtype),
]


@pytest.mark.parametrize("name", ["rotated", "linear", "hashing", "observed", "profile"])
def test_forged_files_do_not_crash(name, path):
    # Checksums fit, so that it is up to the checks: what passes them must not end the process.
    fitted(name).save(path)
    data, rng = path.read_bytes(), np.random.default_rng(1)
    loaded = 0
    for _ in range(25):
        path.write_bytes(data)
        opened = Opened(path)
        forge(opened, rng)
        opened.write()
        with suppress(ModelFileError):
            model = mvdfq.load(path)
            loaded += 1
            with suppress(Exception):  # an ordinary error is as good as an answer
                model.decision_function(CASES[name][1])
    assert 0 < loaded < 25


def test_a_large_model_keeps_its_word_table(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(1, 4000)).cumsum(axis=1) + i % 2 for i in range(20)]
    parts = {"symbols": mvdfq.DirectQuantizer(3), "kernel": mvdfq.Spectrum(2)}
    clf = mvdfq.SequenceClassifier(**parts, C=10, cv=2).fit(X, np.arange(20) % 2)
    clf.save(tmp_path / "m.mvdfq")
    again = mvdfq.load(tmp_path / "m.mvdfq")
    monkeypatch.setattr("mvdfq.terms.word_table.word_table", None)  # reading training sequences
    np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))
    clf.terms_[0].values = [clf.terms_[0].values[0][:-1]]
    save_model(clf, tmp_path / "short.mvdfq")
    with pytest.raises(ValueError, match="values must"):
        mvdfq.load(tmp_path / "short.mvdfq")

"""Every public part keeps every promise of its kind; a part that forgets one fails here.

A new part needs one line in `TRANSFORMERS`, `KERNELS` or `TERMS`: an example, quick to fit, and for
transformers the slow twin, which gives the rows of one sequence. The twin of a kernel is the
function of tests/naive/kernels.py that has its name. The twin of a term gives the kernel matrix.
"""

import ast
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import mvdfq
from mvdfq import SequenceClassifier, Spectrum
from mvdfq.classifier.registry import EXPORTED, NAMED, UNNAMED, parse
from mvdfq.classifier.saving.checks import check
from mvdfq.classifier.saving.tree import CLASSES
from mvdfq.frames.base import SequenceTransformer
from mvdfq.frames.learned import LearnedError, learned_names
from mvdfq.terms.base import Term, Work
from mvdfq.terms.fitted import FittedTerm
from naive import kernels as naive, numbers as naive_numbers, terms as naive_views
from twins import fast_gram, naive_gram, random_sequences

GUIDE = Path(__file__).parents[2] / "docs" / "guide"


class Part(NamedTuple):
    """An example, and what gives the rows that it makes of a sequence, slowly."""

    example: Any
    twin: Any


def rows(function):
    """Make a twin of a function of one row."""
    return lambda fitted, x: [function(fitted, row) for row in x]


def scaled(row, centre, spread):
    return [(value - centre) / spread for value in row]


def direct_codes(quantizer, x):
    pairs = zip(x, quantizer.bin_edges_, strict=True)
    return [[naive_numbers.code(v, edges[1:-1]) - 1 for v in row] for row, edges in pairs]


def nearest_codes(quantizer, x):
    return [
        [naive_numbers.nearest(frame, book) for frame in zip(*x, strict=True)]
        for book in quantizer.codebooks_
    ]


def bits(quantizer, x):
    points = naive_numbers.rotated(x, quantizer.mean_, quantizer.components_)
    learned = (quantizer.low_, quantizer.ranges_, quantizer.modes_)
    frames = [naive_numbers.hash_bits(point, *learned) for point in zip(*points, strict=True)]
    return list(zip(*frames, strict=True))


def joint_codes(quantizer, x):
    codes, sizes = direct_codes(quantizer.bins_, x), quantizer.bins_.n_symbols_
    return [
        [
            naive_numbers.joint_code(frame, sizes[list(members)])
            for frame in zip(*(codes[j] for j in members), strict=True)
        ]
        for members in quantizer.sets_
    ]


def of_views(fitted, x):
    """The rows of all views; a view is its own twin, which its own line compares."""
    sequences = [x if view is None else view.transform([x])[0] for _, view in fitted.views_]
    return [list(row) for rows in sequences for row in rows]


def filter_rows(filters, x):
    taps, dilations = list(combinations(range(9), 3)), filters.dilations_.tolist()
    return [
        naive_numbers.filtered(x, members[members >= 0], taps[r % 84], dilations[r // 84], r % 2)
        for r, members in enumerate(filters.members_)
    ]


def threshold_rows(quantizer, x):
    pairs = zip(x, quantizer.thresholds_, strict=True)
    return [naive_numbers.above(row, threshold) for row, cuts in pairs for threshold in cuts]


def letters(quantizer, x):
    return [[quantizer.alphabets_[0].index(letter) for letter in x]]


TRANSFORMERS = {
    "Centre": Part(
        mvdfq.Centre(), rows(lambda _, row: scaled(row, naive_numbers.mean(row), 1))
    ),
    "Delta": Part(mvdfq.Delta(), lambda _, x: [*x, *map(naive_numbers.slopes, x)]),
    "Filters": Part(mvdfq.Filters([1, 2]), filter_rows),
    "Lags": Part(mvdfq.Lags(2, step=3), lambda _, x: naive_numbers.lags(x, 2, 3)),
    "Rotate": Part(
        mvdfq.Rotate(3),
        lambda fitted, x: naive_numbers.rotated(x, fitted.mean_, fitted.components_),
    ),
    "Select": Part(mvdfq.Select([2, 1]), lambda _, x: [x[2], x[1]]),
    "Smooth": Part(mvdfq.Smooth(3), rows(lambda _, row: naive_numbers.moving_average(row, 3))),
    "Stack": Part(mvdfq.Stack(["passthrough", mvdfq.Smooth(3)]), of_views),
    "Standardize": Part(
        mvdfq.Standardize(),
        lambda _, x: [
            scaled(row, naive_numbers.mean(known), naive_numbers.deviation(known))
            for row, known in zip(x, np.hstack(NUMBERS).tolist(), strict=True)
        ],
    ),
    "CodebookQuantizer": Part(mvdfq.CodebookQuantizer(12, standardize=False), nearest_codes),
    "DirectQuantizer": Part(mvdfq.DirectQuantizer(4), direct_codes),
    "HashingQuantizer": Part(mvdfq.HashingQuantizer(5), bits),
    "JointQuantizer": Part(mvdfq.JointQuantizer(n_bins=3), joint_codes),
    "Letters": Part(mvdfq.Letters(), letters),
    "ThresholdQuantizer": Part(mvdfq.ThresholdQuantizer(2), threshold_rows),
    "PerGroup": Part(mvdfq.PerGroup(mvdfq.JointQuantizer(n_bins=2)), of_views),
    "Rows": Part(mvdfq.Rows([mvdfq.DirectQuantizer(3), mvdfq.JointQuantizer(n_bins=2)]), of_views),
}  # fmt: skip

KERNELS = {
    "Gapped": mvdfq.Gapped(4, 2),
    "Gappy": mvdfq.Gappy(4, 2),
    "Mismatch": mvdfq.Mismatch(3, 1),
    "MismatchPairs": mvdfq.MismatchPairs(3, 1),
    "Profile": mvdfq.Profile(2, 2.0),
    "Spatial": mvdfq.Spatial(2, 1, 3),
    "Spectrum": mvdfq.Spectrum(2),
    "Subsequence": mvdfq.Subsequence(2, 0.5, 3),
    "Wildcard": mvdfq.Wildcard(3, 1),
    "Words": mvdfq.Words([(0, 2)]),
}


def plain_gram(fitting, X):
    kernel, rows = TERMS["PlainTerm"].example.kernel, of_symbols(fitting.encoders[0], X)
    return naive_gram(kernel, rows, rows, 4)


def standard_gram(layouts):
    """Make the twin of a term of standardized words: the sum over all rows."""

    def twin(fitting, X):
        rows = zip(*of_symbols(fitting.pieces[0].encoders[0], X), strict=True)
        grams = [naive_views.gram(naive_views.standardized(row, layouts, 1, 0)) for row in rows]
        return np.sum([products for products, _ in grams], axis=0)

    return twin


def of_symbols(encoder, X):
    return [rows.tolist() for rows in map(encoder.transform(X).__getitem__, range(len(X)))]


TERMS = {
    "FilterTerm": Part(
        mvdfq.FilterTerm([1], n_thresholds=1), standard_gram([(0,), (0, 1, 2)])
    ),
    "PlainTerm": Part(mvdfq.PlainTerm(mvdfq.DirectQuantizer(4), Spectrum(2)), plain_gram),
    "WordTerm": Part(
        mvdfq.WordTerm(mvdfq.DirectQuantizer(4), mvdfq.Words([(0,), (0, 2)])),
        standard_gram([(0,), (0, 2)]),
    ),
}  # fmt: skip

# Quantizers whose symbols have no names, and kernels that are not explained; and why.
NUMBERED = {"CodebookQuantizer": "a codeword is a whole frame, which no word describes"}
UNEXPLAINED = {"Profile": "all rows together make a word"}

QUANTIZERS = [name for name in TRANSFORMERS if name in EXPORTED["symbols"]]
CLASS_OF = {name: cls for classes in EXPORTED.values() for name, cls in classes.items()}
KIND_OF = {name: kind for kind, classes in EXPORTED.items() for name in classes}

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*The kernel finds no word"),
    pytest.mark.filterwarnings("ignore:.*No known word"),
    pytest.mark.filterwarnings("ignore:.*positive semi-definite"),
]


def telling(seed=0, n=40):
    """Sequences of noise, of which channel 1 alone tells the class, by its level and its size."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 3, 24))
    X[:, 1] = np.where(y[:, None], 4 * np.sign(X[:, 1] + 0.3), 0.2 * X[:, 1])
    return X, y


NUMBERS, LABELS = telling()
TEXTS = ["".join("AB"[int(v > 0)] if abs(v) < 1 else "C" for v in x[1]) for x in NUMBERS]
CHANCES = np.exp(NUMBERS) / np.exp(NUMBERS).sum(axis=1, keepdims=True)


def data_for(name):
    return {"Letters": TEXTS, "Profile": CHANCES}.get(name, NUMBERS)


def fitted_part(name):
    return clone(TRANSFORMERS[name].example).fit(data_for(name))


def classifier(name, X=None):
    """A classifier with one part of this class, fitted."""
    X = data_for(name) if X is None else X
    parts = {
        "frames": "passthrough",
        "symbols": mvdfq.DirectQuantizer(4),
        "kernel": Spectrum([1, 2]),
    }
    if name == "Profile":
        parts = {}
    parts[KIND_OF[name]] = KERNELS[name] if name in KERNELS else TRANSFORMERS[name].example
    options = {"manifold": False, "pyramid": 1, "C": 1, "cv": 2}
    return SequenceClassifier(**parts, **options).fit(X, LABELS)


def sum_of(name, **options):
    """A classifier whose sum is words and a term of this class, fitted."""
    words = mvdfq.WordTerm(mvdfq.DirectQuantizer(3), mvdfq.Words([(0,)]), name="other words")
    terms = [words, clone(TERMS[name].example)]
    return SequenceClassifier(terms=terms, C=1, cv=2, **options).fit(NUMBERS, LABELS)


def last(base):
    """The classes below a class that have no classes below them."""
    below = base.__subclasses__()
    return {name: cls for one in below for name, cls in last(one).items()} or {base.__name__: base}


# Known everywhere, by one declaration ---------------------------------------------------------


def test_every_part_has_its_line_here():
    assert set(CLASS_OF) == {*TRANSFORMERS, *KERNELS}
    assert set(last(Term)) == set(TERMS)


@pytest.mark.parametrize("name", TERMS)
def test_terms_are_public_and_in_the_guide(name):
    assert getattr(mvdfq, name, None) is last(Term)[name], "add a line to src/mvdfq/__init__.pyi"
    assert f"`{name}(" in (GUIDE / "classifier.md").read_text(), "docs/guide/classifier.md"


@pytest.mark.parametrize("name", CLASS_OF)
def test_parts_are_public(name):
    assert getattr(mvdfq, name, None) is CLASS_OF[name], "add a line to src/mvdfq/__init__.pyi"
    assert CLASS_OF[name].__name__ == name


@pytest.mark.parametrize("name", CLASS_OF)
def test_parts_have_a_name_for_the_command_line_or_a_reason(name):
    kind, cls = KIND_OF[name], CLASS_OF[name]
    names = [short for short, named in NAMED[kind].items() if named is cls]
    assert bool(names) != bool(UNNAMED.get(name)), "UNNAMED says why a part has no name"
    for short in names:
        text = f"{short}([(0, 1)])" if name == "Words" else short
        assert type(parse(kind, text)) is cls


def test_the_names_are_those_that_users_know():
    known = {
        "frames": "centre delta lags rotate smooth standardize",
        "symbols": "codebook direct hashing joint letters",
        "kernel": "gapped gappy mismatch profile spatial spectrum sssk subsequence wildcard",
    }
    for kind, names in known.items():
        assert set(names.split()) <= set(NAMED[kind])


@pytest.mark.parametrize("name", CLASS_OF)
def test_parts_are_in_the_guide(name):
    page = {"frames": "frames.md", "symbols": "symbols.md", "kernel": "kernels.md"}[KIND_OF[name]]
    assert f"`{name}" in (GUIDE / page).read_text(), f"docs/guide/{page} does not name {name}"


def test_model_files_hold_parts_and_nothing_more():
    known = CLASS_OF | last(Term) | last(FittedTerm)
    assert set(CLASSES) - set(known) == {
        "SequenceClassifier", "FittedSum", "FilterBank", "SequenceKernel", "Symbols",
        "SequenceFeatures", "Problems", "Plan", "Sequences", "Vocabulary", "Buckets", "Calibration",
        "Pipeline",
    }  # fmt: skip
    for name, cls in known.items():
        assert CLASSES[name] == cls.__module__
        assert cls.__module__.startswith("mvdfq.")


def imported_names(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("file", ["explain/*.py", "classifier/recordings.py", "classifier/*/*.py"])
def test_rooms_ask_transformers_and_know_none(file):
    paths = list(Path(mvdfq.__file__).parent.glob(file))
    assert paths
    for path in paths:
        assert not set(TRANSFORMERS) & set(imported_names(path)), path


# Saved ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["kernel", "linear"])
@pytest.mark.parametrize("name", TERMS)
def test_terms_are_saved_and_loaded_equal(name, solver, tmp_path):
    clf = sum_of(name, solver=solver)
    clf.save(tmp_path / "model.mvdfq")
    again = mvdfq.load(tmp_path / "model.mvdfq")
    assert_array_equal(again.decision_function(NUMBERS), clf.decision_function(NUMBERS))
    assert_array_equal(again.lost_, clf.lost_)
    assert repr(again.get_params()) == repr(clf.get_params())


@pytest.mark.parametrize("solver", ["kernel", "linear"])
@pytest.mark.parametrize("name", TERMS)
def test_a_term_that_comes_from_a_file_is_checked(name, solver):
    """Every array of numbers must be finite."""
    term = sum_of(name, solver=solver).terms_[1]
    for attribute, value in vars(term).items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            broken = replace(term, **{attribute: np.full_like(value, np.nan)})
            with pytest.raises(LearnedError, match=attribute):
                check(broken)


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASS_OF)
def test_parts_are_saved_and_loaded_equal(name, tmp_path):
    clf, X = classifier(name), data_for(name)
    clf.save(tmp_path / "model.mvdfq")
    again = mvdfq.load(tmp_path / "model.mvdfq")
    assert_array_equal(again.decision_function(X), clf.decision_function(X))
    assert repr(again.get_params()) == repr(clf.get_params())


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_what_fit_learns_is_declared_and_checked(name):
    fitted = fitted_part(name)
    learned = [attribute for attribute in vars(fitted) if attribute.endswith("_")]
    assert set(learned) == set(learned_names(type(fitted))), "annotate it in the class body"
    fitted.check_learned()
    if learned_names(type(fitted)) != learned_names(SequenceTransformer):
        assert type(fitted)._check_learned is not SequenceTransformer._check_learned


# Compared with the slow twins ----------------------------------------------------------------


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers_do_what_their_twins_do(name):
    fitted = fitted_part(name)
    for x in data_for(name)[:3]:
        expected = TRANSFORMERS[name].twin(fitted, x if isinstance(x, str) else x.tolist())
        # filters respond in single precision
        assert_allclose(
            fitted.transform([x])[0], expected, atol=1e-5 if name == "Filters" else 1e-9
        )


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "Profile"])
def test_kernels_do_what_their_twins_do(name):
    X = random_sequences(np.random.default_rng(0), [4, 12, 15], [3, 2], missing=0.1)
    expected = naive_gram(KERNELS[name], X, X, [3, 2], normalize=False)
    assert_allclose(fast_gram(KERNELS[name], X, X, [3, 2], normalize=False), expected)


def test_profiles_do_what_their_twin_does():
    X = CHANCES[:4, :, :6]
    K = mvdfq.SequenceKernel(KERNELS["Profile"], normalize=False).fit_transform(list(X))
    counts = [naive.features(x.T.tolist(), lambda row: naive.profile(row, 2, 2.0)) for x in X]
    assert_allclose(K, [[naive.dot(a, b) for b in counts] for a in counts])


@pytest.mark.parametrize("name", TERMS)
def test_terms_do_what_their_twins_do(name):
    X = mvdfq.check_sequences(NUMBERS[:6])
    fitting = clone(TERMS[name].example).fit(X, LABELS[:6], Work())
    expected = TERMS[name].twin(fitting, NUMBERS[:6])
    assert_allclose(fitting.values, expected, rtol=1e-4, atol=1e-4)


# Explained -----------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["kernel", "linear"])
@pytest.mark.parametrize("name", TERMS)
def test_evidence_of_terms_sums_to_the_margin(name, solver):
    clf = sum_of(name, solver=solver)
    explanation = clf.explain(NUMBERS[1])
    assert list(explanation.by_term) == ["other words", TERMS[name].example.name]
    for evidence in (explanation.by_row, explanation.by_channel, explanation.by_time,
                     explanation.by_layout):  # fmt: skip
        total = evidence.sum(axis=1) + explanation.constant
        assert_allclose(total, explanation.margins, atol=1e-5)
    assert explanation.margins == clf.decision_function(NUMBERS[1:2])


@pytest.mark.parametrize("name", TERMS)
def test_importance_of_terms_finds_the_channel_that_tells(name):
    assert sum_of(name).importance(NUMBERS, LABELS).log_loss[:, 0].argmax() == 1


@pytest.mark.parametrize("name", TERMS)
def test_both_solvers_learn_the_same_of_a_term(name):
    one, other = (sum_of(name, solver=solver) for solver in ("kernel", "linear"))
    assert np.mean(one.predict(NUMBERS) == other.predict(NUMBERS)) > 0.9


@pytest.mark.parametrize("name", [name for name in CLASS_OF if name not in UNEXPLAINED])
def test_evidence_sums_to_the_margin(name):
    clf, X = classifier(name), data_for(name)
    explanation = clf.explain(X[1])
    for evidence in (explanation.by_row, explanation.by_channel, explanation.by_time):
        total = evidence.sum(axis=1) + explanation.constant
        assert_allclose(total, explanation.margins, atol=1e-6)
    assert explanation.by_channel.shape[1] == clf.n_channels_in_


@pytest.mark.parametrize("name", UNEXPLAINED)
def test_kernels_that_are_not_explained_say_so(name):
    with pytest.raises(ValueError, match="cannot be traced to frames"):
        classifier(name).explain(data_for(name)[0])


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_shares_of_channels_sum_to_one(name):
    fitted = fitted_part(name)
    shares, n_rows = fitted.channel_shares(), len(fitted.get_feature_names_out())
    assert shares.shape == (n_rows, fitted.n_channels_in_)
    assert_allclose(shares.sum(axis=1), 1)
    assert (shares >= 0).all()


@pytest.mark.parametrize("name", [name for name in TRANSFORMERS if name != "Letters"])
def test_shares_are_of_the_channels_that_a_row_depends_on(name):
    """A channel without a share in a row can hold anything."""
    fitted = fitted_part(name)
    shares, x = fitted.channel_shares(), NUMBERS[1]
    before = fitted.transform([x])[0]
    for channel in range(3):
        other = x.copy()
        other[channel] = np.random.default_rng(1).normal(scale=2, size=x.shape[1])
        same = (fitted.transform([other])[0] == before).all(axis=1)
        assert same[shares[:, channel] == 0].all()
        assert not same[shares[:, channel] > 0.5].any()


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in TRANSFORMERS if name != "Letters"])
def test_importance_falls_for_a_channel_that_becomes_noise(name):
    noise = NUMBERS.copy()
    noise[:, 1] = np.random.default_rng(2).normal(size=noise[:, 1].shape)
    before, after = (classifier(name, X).feature_importance_[1] for X in (NUMBERS, noise))
    assert after < 0.8 * before


def test_importance_falls_for_letters_that_become_noise():
    rng = np.random.default_rng(0)
    noise = ["".join(rng.choice(list("ABC"), 24)) for _ in TEXTS]
    before, after = (
        classifier("Letters", [list(pair) for pair in zip(first, noise[::-1], strict=True)])
        for first in (TEXTS, noise)
    )
    assert after.feature_importance_[0] < 0.8 * before.feature_importance_[0]


@pytest.mark.parametrize("name", QUANTIZERS)
def test_symbols_have_names(name):
    fitted = fitted_part(name)
    symbols = fitted.transform(data_for(name))
    names = fitted.symbol_names()
    assert [len(row) for row in names] == symbols.n_symbols.tolist()
    assert all(len(set(row)) == len(row) for row in names)
    assert any("#" in symbol for row in names for symbol in row) == (name in NUMBERED)


# Forms of arrays: the same numbers give the same answer -----------------------------------------

WHOLE = np.round(4 * np.array(NUMBERS))


class Subclass(np.ndarray):
    """An array of somebody else's class."""


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def unaligned(x):
    return np.ndarray(x.shape, x.dtype, b"." + x.tobytes(), offset=1)


# Forms that every number type has, and forms that change the number type but not the numbers.
LAYOUTS = {
    "other byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "Fortran order": np.asfortranarray,
    "every third": lambda x: np.repeat(np.repeat(x, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": read_only,
    "unaligned": unaligned,
    "a matrix": lambda x: x.view(np.matrix),
    "a subclass": lambda x: x.view(Subclass),
}
TYPES = {
    "f8": ["i4", "i8", "u8", "g", "O", list, np.ma.masked_array],
    "f4": ["i1", "i2", "f2"],
}


def formed(x, form):
    return x.astype(form) if isinstance(form, str) else form(x)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", [name for name in TRANSFORMERS if name != "Letters"])
def test_forms_of_arrays_change_no_answer(name, dtype):
    example = clone(TRANSFORMERS[name].example)
    X = [np.abs(x).astype(dtype) for x in WHOLE]
    expected = example.fit(X).transform(X)
    for form in [*LAYOUTS.values(), *TYPES[dtype]]:
        given = [formed(x, form) for x in X]
        found = clone(example).fit(given).transform(given)
        assert_array_equal(found.data, expected.data, strict=True)
        assert_array_equal(example.transform(given).data, expected.data, strict=True)


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "Profile"])
def test_forms_of_symbols_change_no_kernel(name):
    X = [(x % 4).astype(np.int64) for x in WHOLE]
    kernel = mvdfq.SequenceKernel(KERNELS[name]).fit(X)
    expected = kernel.transform(X)
    for form in [*LAYOUTS.values(), "u1", ">i4", ">u2", list]:
        given = [formed(x, form) for x in X]
        assert_array_equal(kernel.transform(given), expected)
        assert_array_equal(clone(kernel).fit(given).transform(given), expected)


@pytest.mark.parametrize("form", [*LAYOUTS, *TYPES["f8"]])
def test_forms_of_arrays_change_no_prediction(form):
    X = [np.abs(x) for x in WHOLE]
    model = SequenceClassifier(
        frames="passthrough", symbols=mvdfq.DirectQuantizer(4), kernel=Spectrum(2), C=1
    ).fit(X, LABELS)
    given = [formed(x, LAYOUTS.get(form, form)) for x in X]
    expected = model.decision_function(X)
    assert_array_equal(model.decision_function(given), expected)
    assert_array_equal(clone(model).fit(given, LABELS).decision_function(given), expected)


def test_nullable_columns_of_pandas_are_read():
    pandas = pytest.importorskip("pandas")
    X = [np.abs(x) for x in WHOLE]
    quantizer = mvdfq.DirectQuantizer(4).fit(X)
    for dtype in ("Float64", "Int64", "Float32"):
        frames = [pandas.DataFrame(x.T).astype(dtype) for x in X]  # time down
        assert_array_equal(quantizer.transform(frames).data, quantizer.transform(X).data)
    frames[0].iloc[2, 1] = pandas.NA
    codes = quantizer.transform(frames)
    assert codes[0][1, 2] == codes.missing


@pytest.mark.parametrize("name", ["y", "sample_weight", "groups"])
def test_masked_labels_and_weights_are_refused(name):
    given = {"y": LABELS, "sample_weight": np.ones(len(LABELS)), "groups": np.arange(len(LABELS))}
    given[name] = np.ma.masked_array(given[name], mask=np.arange(len(LABELS)) == 1)
    with pytest.raises(ValueError, match=f"{name} must have a value for every sequence"):
        SequenceClassifier("fast").fit(NUMBERS, **given)

"""Hypothesis over every public call: an answer, or a ValueError or TypeError that says why not."""

import inspect
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import mvdfq
from mvdfq.classifier.registry import EXPORTED

warnings.simplefilter("ignore")
pytestmark = pytest.mark.filterwarnings("ignore")
QUICK = settings(
    max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)

FLOATS = st.one_of(
    st.floats(-5, 5, width=32), st.sampled_from([np.nan, np.inf, -0.0, 1e308, 5e-324, 1e200])
)
ARRAYS = hnp.arrays(
    st.sampled_from([np.float64, np.float32, np.int64, bool]),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6),
    elements=None,
)
SEQUENCES = st.integers(1, 3).flatmap(
    lambda c: st.lists(
        hnp.arrays(np.float64, st.tuples(st.just(c), st.integers(0, 12)), elements=FLOATS),
        max_size=4,
    )
)
LETTERS = st.lists(st.text("ABCab -\0é", max_size=8), max_size=4)
INPUTS = st.one_of(
    SEQUENCES, SEQUENCES, LETTERS, ARRAYS, st.sampled_from([None, 3, "ABC", {}, [[]]])
)
ODD = st.sampled_from(
    [None, 0, 1, 2, 3, -1, 0.5, np.nan, True, "", "x", "auto", [], [1, 2], (0, 1), np.int64(2), {}]
)
# What a call may raise; the message must not be empty.
ALLOWED = (ValueError, TypeError)


def call(function, *arguments, **options):
    """Call a function; return its result, or None if it refused in words."""
    try:
        return function(*arguments, **options)
    except ALLOWED as error:
        if not str(error):
            raise
    return None


def parameters(cls):
    """Parameters of a class, some of them odd."""
    names = [
        name
        for name, one in inspect.signature(cls).parameters.items()
        if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    ]
    return st.dictionaries(st.sampled_from(names), ODD, max_size=2) if names else st.just({})


PARTS = {**EXPORTED["frames"], **EXPORTED["symbols"]}
NEEDED = {"Stack": {"views": [mvdfq.Delta()]}, "Rows": {"views": [mvdfq.DirectQuantizer(3)]}}


@pytest.mark.parametrize("name", PARTS)
def test_transformers_answer_or_refuse(name):
    @QUICK
    @given(parameters(PARTS[name]), INPUTS, INPUTS)
    def check(params, X, new):
        part = call(PARTS[name], **{**NEEDED.get(name, {}), **params})
        if part is not None and call(part.fit, X) is not None:
            call(part.transform, X)
            call(part.transform, new)
            call(part.get_feature_names_out)

    check()


SYMBOLS = st.lists(st.lists(st.integers(-1, 5), max_size=10), max_size=4)


@pytest.mark.parametrize("name", EXPORTED["kernel"])
@pytest.mark.parametrize("how", [mvdfq.SequenceKernel, mvdfq.SequenceFeatures])
def test_kernels_answer_or_refuse(name, how):
    cls = EXPORTED["kernel"][name]
    needed = {"layouts": [(0,), (0, 2)]} if name == "Words" else {}

    @QUICK
    @given(parameters(cls), parameters(how), st.one_of(LETTERS, SYMBOLS, INPUTS), SYMBOLS)
    def check(params, options, X, new):
        kernel = call(cls, **{**needed, **params})
        options.pop("kernel", None)
        reader = call(how, kernel, **options)
        if reader is not None and call(reader.fit, X) is not None:
            K = call(reader.transform, X)
            call(reader.transform, new)
            if isinstance(K, np.ndarray) and reader.gamma is None and kernel.is_definite:
                assert np.isfinite(K).all()

    check()


@settings(QUICK, max_examples=25)
@given(
    parameters(mvdfq.SequenceClassifier),
    INPUTS,
    st.lists(st.sampled_from(["a", "b", 0, 1, None]), max_size=5),
    INPUTS,
)
def test_a_classifier_answers_or_refuses(params, X, y, new):
    clf = call(mvdfq.SequenceClassifier, "mvdfq-spectrum", **{"cv": 2, "C": 1, **params})
    if clf is not None and call(clf.fit, X, y) is not None:
        call(clf.predict, new)
        assert len(clf.predict_proba(X)) == len(X)


FUNCTIONS = {
    name: getattr(mvdfq, name)
    for name in mvdfq.__all__
    if inspect.isfunction(getattr(mvdfq, name)) and name not in ("load", "show_versions")
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_answer_or_refuse(name):
    function = FUNCTIONS[name]
    required = [
        one.name
        for one in inspect.signature(function).parameters.values()
        if one.default is one.empty and one.kind is not one.VAR_KEYWORD
    ]

    @QUICK
    @given(st.tuples(*[st.one_of(INPUTS, ODD) for _ in required]))
    def check(arguments):
        try:
            call(function, *arguments)
        except OSError:  # a file that is not there
            pass

    check()

"""Promises every transformer of sequences keeps.

`sklearn.utils.estimator_checks` hardly looks at estimators whose input is not a 2-D array, so
the promises that matter to users are asserted here.
"""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from mvdfq.frames import Centre, Delta, Lags, Rotate, Select, Smooth, Stack, Standardize
from mvdfq.sequences import Ragged, check_sequences
from mvdfq.symbols import (
    CodebookQuantizer,
    DirectQuantizer,
    HashingQuantizer,
    JointQuantizer,
    Letters,
)

# All take lists of arrays of three channels.
ESTIMATORS = [
    Standardize(),
    Centre(scale=True),
    Delta(keep=False),
    Smooth(3),
    Lags(2),
    Rotate(2, deltas=True),
    Select([2, 1]),
    Stack([None, Delta(keep=False), make_pipeline(Smooth(3), Delta())]),
    DirectQuantizer(4),
    DirectQuantizer(4, strategy="uniform"),
    DirectQuantizer(4, strategy="kmeans", adaptive="budget"),
    DirectQuantizer(3, strategy="gaussian", per_sequence=True),
    CodebookQuantizer((2, 4)),
    HashingQuantizer(5),
    JointQuantizer(2),
    JointQuantizer("all", strategy="kmeans"),
    make_pipeline(Rotate(), DirectQuantizer(4)),
]
N_CHANNELS = 3


def random_sequences(seed, lengths):
    """Unequal, empty and single-frame sequences, the first with a missing value."""
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(N_CHANNELS, n)) for n in lengths]
    X[0][1, 2] = np.nan
    return X


FIRST = random_sequences(0, [12, 0, 1, 30])
SECOND = random_sequences(1, [20, 7])

pytestmark = pytest.mark.filterwarnings("ignore:.*lie outside the range")


@pytest.fixture(params=ESTIMATORS, ids=repr)
def estimator(request):
    return clone(request.param)


def assert_same(a, b):
    """Compare two results, collections or arrays."""
    assert type(a) is type(b)
    if isinstance(a, Ragged):
        assert a.data.dtype == b.data.dtype
        assert a.channel_names == b.channel_names
        assert_array_equal(a.offsets, b.offsets)
        a, b = a.data, b.data
    assert_array_equal(a, b)


def test_fit_leaves_parameters_and_input_alone(estimator):
    before, X = repr(estimator.get_params()), [x.copy() for x in FIRST]
    assert estimator.fit(X, [0, 1, 0, 1]) is estimator
    estimator.transform(X)
    assert repr(estimator.get_params()) == before
    for x, original in zip(X, FIRST, strict=True):
        assert_array_equal(x, original)


def test_refit_forgets_the_first_fit(estimator):
    fresh = clone(estimator).fit(SECOND)
    refit = estimator.fit(FIRST).fit(SECOND)
    assert_same(refit.transform(FIRST), fresh.transform(FIRST))


def test_fitting_twice_learns_the_same(estimator):
    once = clone(estimator).fit_transform(FIRST)
    assert_same(estimator.fit(FIRST).transform(FIRST), once)


def test_transform_learns_nothing(estimator):
    estimator.fit(FIRST)
    before = estimator.transform(FIRST)
    estimator.transform(SECOND)
    assert_same(estimator.transform(FIRST), before)


def test_a_sequence_alone_gives_the_same_as_in_company(estimator):
    together = estimator.fit_transform(FIRST)
    for i, x in enumerate(FIRST):
        assert_array_equal(estimator.transform([x])[0], together[i])


def test_lists_and_checked_collections_are_alike(estimator):
    fitted = clone(estimator).fit(check_sequences(FIRST))
    assert_same(fitted.transform(check_sequences(SECOND)), estimator.fit(FIRST).transform(SECOND))


def test_transform_before_fit_says_so(estimator):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        estimator.transform(FIRST)


def test_clones_are_not_fitted(estimator):
    copy = clone(estimator.fit(FIRST))
    assert repr(copy.get_params()) == repr(estimator.get_params())
    with pytest.raises(NotFittedError):
        copy.transform(FIRST)


def test_pickle_keeps_the_answers(estimator):
    estimator.fit(FIRST)
    copy = pickle.loads(pickle.dumps(estimator))
    assert_same(copy.transform(SECOND), estimator.transform(SECOND))


def test_output_has_one_sequence_for_each(estimator):
    Z = estimator.fit(FIRST).transform(SECOND)
    assert len(Z) == len(SECOND)
    if "Lags" not in repr(estimator):
        assert Z.lengths.tolist() == [x.shape[1] for x in SECOND]
    missing = np.isnan(Z.data) if Z.data.dtype.kind == "f" else Z.data == Z.missing
    assert missing[:, : Z.lengths[0]].any()
    assert not missing[:, Z.lengths[0] :].any()


def test_rows_are_named(estimator):
    X = check_sequences(FIRST, channel_names=["a", "b", "c"], sampling_rate=80)
    Z = estimator.fit(X).transform(SECOND)
    assert list(estimator.get_feature_names_out()) == list(Z.channel_names)
    assert len(set(Z.channel_names)) == Z.n_rows
    assert estimator.transform(X).sampling_rate == 80


def test_output_stays_what_it_is_under_set_output(estimator):
    with config_context(transform_output="pandas"):
        Z = estimator.fit(FIRST).transform(FIRST)
    assert isinstance(Z, Ragged)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([np.ones((4, 9))], "X has 4 channels, 3 are expected"),
        ([[1.0, 2.0]], "X has 1 channel, 3 are expected"),
        (np.ones((3, 9)), r"X must have 3 channels, got a 2-D array.* univariate.* pass \[X\]"),
        ([], "X holds no sequences"),
        ([np.full((3, 5), np.inf)], "Sequence 0, channel 0: the value at time 0 is infinite"),
    ],
)
def test_transform_refuses_what_does_not_fit(estimator, X, message):
    estimator.fit(FIRST)
    with pytest.raises(ValueError, match=message):
        estimator.transform(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([], "X holds no sequences"),
        (check_sequences(FIRST)[:0], "X holds no sequences"),
        ([np.full((3, 5), np.inf)], "Sequence 0, channel 0: the value at time 0 is infinite"),
        ([[1.0, 2.0], [object()]], "Sequence 1 must hold real numbers"),
    ],
)
def test_fit_refuses_what_cannot_be_learned_from(estimator, X, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(X)


def test_letters_keep_the_same_promises():
    letters = Letters().fit(["AB", "C"])
    assert_same(
        clone(letters).fit(["XY"]).fit(["AB", "C"]).transform(["CA"]), letters.transform(["CA"])
    )
    assert_same(pickle.loads(pickle.dumps(letters)).transform(["BX"]), letters.transform(["BX"]))
    with pytest.raises(NotFittedError):
        Letters().transform(["AB"])

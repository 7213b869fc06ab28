from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from mvdfq.frames import Centre, Delta, Filters, Lags, Rotate, Select, Smooth, Stack, Standardize
from mvdfq.frames.stack import groups_by_name
from mvdfq.sequences import check_sequences
from mvdfq.symbols import DirectQuantizer
from naive import numbers as naive
from strategies import any_collections

MISSING = float("nan")


def with_symbols():
    """One numeric and one symbolic channel, with names."""
    X = check_sequences([[[1.0, 2.0, 4.0], "ABA"], [[8.0], "B"]], channel_names=["level", "state"])
    assert X.symbolic == (False, True)
    return X


def rows_of(X, channel):
    return [x[channel].tolist() for x in X]


# Standardize and Centre


@given(any_collections())
def test_standardize_matches_naive(X):
    Z = Standardize().fit_transform(X)
    for channel in range(X.n_rows):
        frames = X.data[channel].tolist()
        centre, spread = naive.mean(frames), naive.deviation(frames) or 1.0
        expected = [(v - centre) / spread for v in frames]
        assert_allclose(Z.data[channel], expected, rtol=1e-12, atol=1e-12)


def test_standardize_learns_from_training_frames_only():
    scaler = Standardize().fit([[0.0, 2.0]])
    assert_array_equal(scaler.transform([[3.0, 5.0]])[0], [[2.0, 4.0]])


@pytest.mark.parametrize("value", [0.1, 1e6 + 0.1, -3.3])
def test_a_constant_channel_is_shifted_to_zero_exactly(value):
    # The mean of equal numbers, computed as a sum, need not be that number.
    x = [np.full(7, value)]
    assert not Standardize().fit_transform(x).data.any()
    assert not Centre(scale=True).fit_transform(x).data.any()


def test_standardize_keeps_its_digits_on_a_large_offset():
    x = 1e8 + np.arange(5.0)
    assert_allclose(Standardize().fit_transform([x])[0][0], (np.arange(5) - 2) / np.sqrt(2))


@given(any_collections(), st.booleans())
def test_centre_matches_naive(X, scale):
    Z = Centre(scale=scale).fit_transform(X)
    for channel in range(X.n_rows):
        for row, found in zip(rows_of(X, channel), rows_of(Z, channel), strict=True):
            spread = (naive.deviation(row) or 1.0) if scale else 1.0
            expected = [(v - naive.mean(row)) / spread for v in row]
            assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


# Delta, Smooth, Lags


@given(any_collections())
def test_delta_matches_naive(X):
    Z = Delta(keep=False).fit_transform(X)
    for channel in range(X.n_rows):
        for row, found in zip(rows_of(X, channel), rows_of(Z, channel), strict=True):
            assert_array_equal(found, naive.slopes(row))


def test_delta_is_numpy_gradient_in_double_precision():
    x = np.random.default_rng(0).normal(size=(3, 50)).astype(np.float32)
    Z = Delta(keep=False).fit_transform([x])
    assert_array_equal(Z[0], np.gradient(x.astype(float), axis=1))


def test_delta_keeps_the_channels_before_the_slopes():
    X = check_sequences([[[1.0, 3.0], [5.0, 4.0]]], channel_names=["a", "b"])
    Z = Delta().fit_transform(X)
    assert_array_equal(Z[0], [[1, 3], [5, 4], [2, 2], [-1, -1]])
    assert Z.channel_names == ("a", "b", "delta a", "delta b")


@given(any_collections(), st.sampled_from([1, 3, 5, 21]))
def test_smooth_matches_naive(X, window):
    Z = Smooth(window).fit_transform(X)
    for channel in range(X.n_rows):
        for row, found in zip(rows_of(X, channel), rows_of(Z, channel), strict=True):
            assert_allclose(found, naive.moving_average(row, window), rtol=1e-12, atol=1e-12)


@given(any_collections(), st.integers(1, 4), st.integers(1, 4))
def test_lags_match_naive(X, n_lags, step):
    Z = Lags(n_lags, step=step).fit_transform(X)
    assert Z.n_rows == n_lags * X.n_rows
    for x, z in zip(X, Z, strict=True):
        assert_array_equal(z, np.array(naive.lags(x.tolist(), n_lags, step)).reshape(z.shape))


@pytest.mark.parametrize(
    ("transformer", "error", "message"),
    [
        (Smooth(4), ValueError, "window must be odd.*got 4"),
        (Smooth(0), ValueError, "window == 0, must be >= 1"),
        (Smooth(2.5), TypeError, "window must be an instance of"),
        (Lags(0), ValueError, "n_lags == 0, must be >= 1"),
        (Lags(2, step=-1), ValueError, "step == -1, must be >= 1"),
        (Rotate(0), ValueError, "n_components == 0, must be >= 1"),
        (Stack([]), ValueError, "views must hold at least one view"),
        (
            Stack([("a", Delta()), ("a", Delta())]),
            ValueError,
            "view name must be unique, .*got 'a'",
        ),
        (Stack([("a__b", Delta())]), ValueError, "without '__' and not 'views', got 'a__b'"),
        (Stack([None, Lags(2)]), ValueError, "Views 'passthrough' and 'lags' differ in length: "),
    ],
)
def test_errors_say_what_is_wrong(transformer, error, message):
    with pytest.raises(error, match=message):
        transformer.fit_transform([[1.0, 2.0, 3.0]])


@pytest.mark.parametrize("transformer", [Rotate(0), DirectQuantizer(1), Stack([])], ids=str)
def test_a_fit_that_fails_leaves_the_transformer_unfitted(transformer):
    with pytest.raises(ValueError, match=r"n_components|n_bins|views"):
        transformer.fit([[1.0, 2.0, 3.0]])
    with pytest.raises(NotFittedError):
        transformer.transform([[1.0, 2.0, 3.0]])


# Rotate


def _gradient(x):
    return np.gradient(x, axis=1) if x.shape[1] > 1 else np.zeros_like(x)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("deltas", [False, True])
def test_rotate_is_principal_component_analysis(seed, deltas):
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(4, 4))
    X = [mix @ rng.normal(size=(4, n)) for n in (30, 50, 1)]
    rotate = Rotate(3, deltas=deltas).fit(X)
    views = [np.vstack([x, _gradient(x)]) if deltas else x for x in X]
    frames = np.concatenate(views, axis=1).T
    reference = PCA(3).fit(frames)
    n = len(frames)
    assert_allclose(rotate.explained_variance_, reference.explained_variance_ * (n - 1) / n)
    ours, theirs = rotate.transform(X).data, reference.transform(frames).T
    assert_allclose(ours, theirs * np.sign((ours * theirs).sum(axis=1, keepdims=True)), atol=1e-9)


def test_few_components_are_the_first_of_all():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(40, 50)) * np.linspace(3, 1, 40)[:, np.newaxis] for _ in range(3)]
    every, few = Rotate().fit(X), Rotate(5).fit(X)
    assert len(every.components_) == 40
    assert_allclose(few.components_, every.components_[:5], atol=1e-12)
    assert_allclose(few.explained_variance_, every.explained_variance_[:5])
    assert_allclose(few.transform(X)[0], every.transform(X)[0][:5], atol=1e-12)


def test_rotate_has_signs_that_do_not_depend_on_the_solver():
    axes = Rotate().fit([[[0.0, -1.0, 5.0], [0.0, 1.0, -5.0], [1.0, 1.2, 0.9]]]).components_
    largest = np.abs(axes).max(axis=1, keepdims=True)
    decisive = np.argmax(np.abs(axes) > largest - 1e-6, axis=1)
    assert (axes[np.arange(len(axes)), decisive] > 0).all()


def test_rotate_a_frame_alone_gives_the_same_bits_as_in_company():
    X = np.random.default_rng(0).normal(size=(1, 13, 3000)).astype(np.float32)
    rotate = Rotate().fit(X)
    together = rotate.transform(X)[0]
    alone = [rotate.transform([X[0][:, t : t + 1]])[0] for t in range(0, 3000, 333)]
    assert_array_equal(np.concatenate(alone, axis=1), together[:, ::333])


@pytest.mark.parametrize("n_channels", range(1, 10))
def test_rotate_adds_channels_in_their_order_to_the_last_bit(n_channels):
    # the compiled loop takes four channels at a time, and the rest one by one
    x = np.random.default_rng(n_channels).normal(size=(n_channels, 150))
    rotate = Rotate().fit([x])
    expected = np.zeros_like(x)
    for c in range(n_channels):
        expected += rotate.components_[:, c, None] * (x[c] - rotate.mean_[c])
    assert_array_equal(rotate.transform([x])[0], expected)


def test_rotate_ignores_frames_with_missing_values():
    x = np.random.default_rng(0).normal(size=(2, 20))
    holed = np.insert(x, 5, [MISSING, 100.0], axis=1)
    plain, rotate = Rotate().fit([x]), Rotate().fit([holed])
    assert_allclose(rotate.components_, plain.components_)
    Z = rotate.transform([holed])[0]
    assert np.isnan(Z[:, 5]).all()
    assert_allclose(np.delete(Z, 5, axis=1), plain.transform([x])[0])


def test_rotate_needs_a_whole_frame():
    with pytest.raises(ValueError, match="at least one frame without missing values"):
        Rotate().fit([[[1.0, MISSING], [MISSING, 1.0]]])


# Select


def test_a_channel_that_is_not_there_cannot_be_kept():
    with pytest.raises(ValueError, match="channels must give channels by index, 0 to 1, or by"):
        Select([2]).fit([np.zeros((2, 3))])


@pytest.mark.parametrize("channel", [1, "x1"])
def test_one_channel_does_not_need_a_list(channel):
    X = Select(channel).fit_transform([[[0.0, 1.0], [5.0, 6.0]]])
    assert_array_equal(X[0], [[5.0, 6.0]])


@pytest.mark.parametrize("channels", [[], [0, 0], [1, "x1"]])
def test_channels_are_kept_once(channels):
    with pytest.raises(ValueError, match="at least one channel, and each channel once"):
        Select(channels).fit([np.zeros((2, 3))])


@pytest.mark.parametrize(
    ("names", "groups"),
    [
        (None, [[0, 1, 2, 3]]),
        (["mfcc 0", "band 0", "mfcc 1", "band 1"], [[0, 2], [1, 3]]),
        (["a1", "delta a1", "delta a2", "b"], [[0, 1, 2], [3]]),
        (["left", "right", "3", "x4"], [[0, 1, 2], [3]]),
    ],
)
def test_channels_of_one_name_are_a_group(names, groups):
    X = check_sequences([np.zeros((4, 5))], channel_names=names)
    assert groups_by_name(X) == groups


def test_many_names_are_one_group():
    X = check_sequences([np.zeros((9, 10))], channel_names=[f"{c}1" for c in "abcdefghi"])
    assert groups_by_name(X) == [list(range(9))]


# Symbolic channels


@pytest.mark.parametrize(
    ("transformer", "names", "symbolic"),
    [
        (Standardize(), ("level", "state"), (False, True)),
        (Centre(scale=True), ("centred level", "state"), (False, True)),
        (Smooth(3), ("smooth level", "state"), (False, True)),
        (Delta(), ("level", "state", "delta level"), (False, True, False)),
        (Delta(keep=False), ("state", "delta level"), (True, False)),
        (Rotate(), ("pc0", "state"), (False, True)),
        (Rotate(deltas=True), ("pc0", "pc1", "state"), (False, False, True)),
        (Select(["state", 0]), ("state", "level"), (True, False)),
        (Lags(2), ("level", "state", "level t+1", "state t+1"), (False, True) * 2),
        (
            Stack([None, Delta(keep=False), Centre()]),
            ("level", "state", "delta level", "centred level"),
            (False, True, False, False),
        ),
    ],
    ids=repr,
)
def test_symbolic_channels_pass_through(transformer, names, symbolic):
    X = with_symbols()
    Z = transformer.fit_transform(X)
    assert Z.channel_names == names
    assert Z.symbolic == symbolic
    state = names.index("state")
    for x, z in zip(X, Z, strict=True):
        assert_array_equal(z[state], x[1, : z.shape[1]])


def test_what_is_symbolic_is_remembered_for_plain_lists():
    scaler = Standardize().fit(with_symbols())
    Z = scaler.transform([[[3.0], [65.0]]])
    assert Z.symbolic == (False, True)
    assert Z.channel_names == ("level", "state")
    assert Z[0][1] == 65.0


def test_letters_where_numbers_were_are_refused():
    scaler = Standardize().fit([[[1.0, 2.0], [1.0, 2.0]]])
    with pytest.raises(
        ValueError, match="Channel 1 of X must hold numbers, as in fit, got symbols"
    ):
        scaler.transform([[[1.0, 2.0], "AB"]])


def test_channels_in_another_order_are_refused():
    X = check_sequences([np.ones((2, 3))], channel_names=["a", "b"])
    other = check_sequences([np.ones((2, 3))], channel_names=["b", "a"])
    with pytest.raises(ValueError, match=r"channels of fit, \['a', 'b'\], got \['b', 'a'\]"):
        Standardize().fit(X).transform(other)


# Stack


def test_stack_puts_views_side_by_side():
    X = check_sequences([[[1.0, 2.0, 6.0]], [[4.0, 4.0]]], channel_names=["a"], sampling_rate=50)
    views = [Delta(keep=False), ("soft", make_pipeline(Smooth(3), Delta(keep=False))), None]
    Z = Stack(views).fit_transform(X)
    assert Z.channel_names == ("delta a", "delta smooth a", "a")
    assert Z.sampling_rate == 50
    parts = [Delta(keep=False).fit_transform(X), views[1][1].fit_transform(X), X]
    assert_array_equal(Z.data, np.concatenate([part.data for part in parts]))
    assert_array_equal(Z.offsets, X.offsets)


def test_stack_tells_channels_of_one_name_apart():
    Z = Stack([Smooth(3), Smooth(5), "passthrough"]).fit_transform([[1.0, 2.0]])
    assert Z.channel_names == ("smooth x0", "smooth-2: smooth x0", "x0")


def test_stack_fits_copies_of_its_views():
    scaler = Standardize()
    stack = Stack([scaler]).fit([[1.0, 2.0]])
    assert not hasattr(scaler, "mean_")
    assert stack.views_[0][1].mean_ == [1.5]


def test_stack_parameters_reach_the_views():
    stack = Stack([None, Smooth(3), ("slope", make_pipeline(Smooth(5), Delta()))])
    params = stack.get_params()
    assert params["smooth__window"] == 3
    assert params["slope__smooth__window"] == 5
    copy = clone(stack).set_params(smooth__window=7, slope__delta__keep=False)
    assert copy.get_params()["smooth__window"] == 7
    assert not copy.get_params()["slope__delta__keep"]
    assert stack.get_params()["smooth__window"] == 3
    with pytest.raises(ValueError, match="Invalid parameter 'rough'"):
        stack.set_params(rough=1)


def test_stack_views_can_be_replaced():
    stack = Stack([None, Smooth(3)])
    original = stack.views
    stack.set_params(smooth=Delta(keep=False))
    assert stack.fit_transform([[1.0, 2.0]]).channel_names == ("x0", "delta x0")
    assert len(original) == 2
    assert isinstance(original[1], Smooth)
    stack.set_params(views=[Smooth(3)], smooth__window=5)
    assert stack.get_params()["smooth__window"] == 5


@pytest.mark.parametrize(
    ("views", "message"),
    [
        (Delta(), r"views must be a list, got Delta; pass \[view\]"),
        (["x"], "A view must be a transformer, 'passthrough' or None, got 'x'"),
        ([Delta], "A view must be a transformer, .* got <class"),
        ([("a", Delta(), 3)], r"a pair \(name, transformer\), got \('a', "),
        ([(Delta(), "a")], r"a pair \(name, transformer\), got \(Delta"),
    ],
    ids=str,
)
def test_stack_refuses_what_is_no_view(views, message):
    with pytest.raises(TypeError, match=message):
        Stack(views).fit([[1.0, 2.0]])


class SignOfLastRow(ClassifierMixin, BaseEstimator):
    """Class 1 where the mean of the last row is positive."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.array([int(x[-1].mean() > 0) for x in X])


def test_stack_works_in_a_grid_search():
    X = [np.array([[9.0, 9.0 + slope, 9.0 + 2 * slope]]) for slope in (-1, 1) * 6]
    y = np.array([0, 1] * 6)
    model = make_pipeline(Stack([None, ("view", Smooth(3))]), SignOfLastRow())
    grid = {"stack__view": [Smooth(3), Delta(keep=False)]}
    search = GridSearchCV(model, grid, cv=2).fit(X, y)
    assert isinstance(search.best_params_["stack__view"], Delta)
    assert search.best_score_ == 1.0


# Filters


def responses_of(filters, x):
    """Responses to one sequence, slowly: rows of all dilations."""
    taps = list(combinations(range(9), 3))
    return [
        naive.filtered(x, m[m >= 0], taps[r % 84], int(filters.dilations_[r // 84]), r % 2)
        for r, m in enumerate(filters.members_)
    ]


@given(any_collections())
def test_filters_match_naive(X):
    filters = Filters([1, 3]).fit(X)
    Z = filters.transform(X)
    for i, x in enumerate(X):
        expected = np.reshape(responses_of(filters, x), Z[i].shape)
        # single precision: 36 weighted values of each channel, at most three channels
        largest = np.nanmax(np.abs(x), initial=0)
        assert_allclose(Z[i], expected, atol=1e-5 * max(largest, 1e-30))


def test_a_filter_that_reads_a_missing_value_has_a_missing_response():
    x = np.ones((1, 30))
    x[0, 15] = np.nan
    Z = Filters(dilations=2).fit([x]).transform([x])[0]
    assert_array_equal(np.flatnonzero(np.isnan(Z[0])), np.arange(7, 24, 2))


def test_rows_of_even_number_repeat_the_ends_and_rows_of_odd_number_read_zeros():
    Z = Filters(dilations=1).fit_transform([np.ones((1, 12))])[0]
    assert not Z[::2].any()  # weights sum to zero, and so does the response to a constant
    assert Z[1::2, 0].any()
    assert not Z[1::2, 4:8].any()


def test_filters_are_stretched_while_they_fit_into_the_median_sequence():
    X = [np.zeros((1, n)) for n in (5, 33, 500)]
    assert Filters().fit(X).dilations_.tolist() == [1, 2, 4]
    assert Filters().fit(X[:1]).dilations_.tolist() == [1]


@pytest.mark.filterwarnings("ignore:Every sequence has more channels")
def test_filters_of_many_channels_sum_at_most_nine():
    X = [np.random.default_rng(0).normal(size=(2000, 20))]
    filters = Filters().fit(X)
    sizes = (filters.members_ >= 0).sum(axis=1)
    assert sizes.min() == 1
    assert 4 <= sizes.max() <= 9
    assert_allclose(filters.transform(X)[0], responses_of(filters, X[0]), atol=1e-5)


def test_symbolic_channels_pass_through_filters():
    Z = Filters(dilations=1).fit_transform(with_symbols())
    assert Z.n_rows == 85
    assert Z.channel_names[0] == "filter 012 step 1 of level"
    assert Z.channel_names[-1] == "state"
    assert Z.symbolic[-1]
    with pytest.raises(ValueError, match="at least one numeric channel"):
        Filters().fit(["ABBA"])


def test_filters_give_the_same_alone_and_in_company_and_for_any_threads():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, n)).astype(np.float32) for n in (40, 0, 1, 90, 20)]
    filters = Filters().fit(X)
    Z = filters.transform(X)
    for i, x in enumerate(X):
        assert_array_equal(filters.transform([x])[0], Z[i])
    assert_array_equal(filters.set_params(n_jobs=3).transform(X).data, Z.data)


@pytest.mark.parametrize("dilations", ["all", 0, [1, 2.5], [], 2**30])
def test_dilations_that_make_no_sense_are_refused(dilations):
    with pytest.raises(ValueError, match="dilations must"):
        Filters(dilations).fit([np.zeros((1, 9))])

"""What makes no sense is refused, in words that say what would do."""

import numpy as np
import pytest

from mvdfq import (
    DirectQuantizer,
    Gapped,
    Mismatch,
    MismatchPairs,
    Profile,
    SequenceFeatures,
    SequenceKernel,
    Spatial,
    Spectrum,
    Subsequence,
    Wildcard,
    Words,
)
from mvdfq._utils.checks import parse_memory
from mvdfq._utils.threads import n_threads

LETTERS = ["ABRACADABRA", "CADABRA"]
NUMBERS = [[0, 1, 2, 3, 1], [3, 2, 1, 1]]


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Spectrum(0), "k must be a whole number >= 1, got 0"),
        (Spectrum(2.0), "k must be a whole number >= 1, got 2.0"),
        (Spectrum(None), "k must be a whole number >= 1, got None"),
        (Spectrum([]), "k must hold at least one number"),
        (Spectrum(2, dilation=0), "dilation must be a whole number >= 1, got 0"),
        (Spatial(2, 1, 0), "d must be a whole number >= 1, got 0"),
        (Spatial(12, 1, 10), "make 100000000000 layouts, more than the limit of 100000"),
        (Gapped(2, 3), "g must be a whole number >= 3, got 2"),
        (Gapped(40, 20), "make 137846528820 layouts"),
        (Wildcard(3, 1, 0), "decay must be a number > 0, got 0"),
        (Mismatch(3, 4), "m must be at most k=3, the length of the words, got m=4"),
        (Mismatch(3, -1), "m must be a whole number >= 0, got -1"),
        (Mismatch(3, 1, "near"), "neighbourhood must be 'full' or 'observed', got 'near'"),
        (Subsequence(2, -1), "decay must be a number > 0, got -1"),
        (Subsequence(2, 2), "decay must be a number > 0 and at most 1, got 2"),
        (Wildcard(3, 1, np.inf), "decay must be a number > 0, got inf"),
        (Subsequence(2, max_span=1), "max_span must be a whole number >= 2, got 1"),
        (Subsequence(10, max_span=100), "make 1731030945644 layouts"),
        (Profile(0), "k must be a whole number >= 1, got 0"),
        (Profile(2, -1), "sigma must be a number > 0, got -1"),
        (Words([]), "got 0 layouts"),
        (Words([(0, 1)], [1, 2]), "got 1 layout and weights"),
        (
            Words([(0, 1)], ["1"]),
            r"got 1 layout and weights=\['1'\]",
        ),
        (Words(3), r"as in \[\(0, 4, 8\)\], got 3"),
        (Words((0, 1)), r"as in \[\(0, 4, 8\)\], got 0"),
        (Words([(0, 1.5)]), "an offset must be a whole number >= 0, got 1.5"),
        (Words([(1, 2)]), r"Offsets must ascend from 0, got \(1, 2\)"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("estimator", [SequenceKernel, SequenceFeatures])
def test_kernels_check_their_parameters(estimator, kernel, message):
    with pytest.raises(ValueError, match=message):
        estimator(kernel).fit(LETTERS)


@pytest.mark.parametrize("kernel", ["spectrum", Spectrum])
def test_a_kernel_is_an_object(kernel):
    with pytest.raises(TypeError, match=r"a kernel such as mvdfq\.Spectrum"):
        SequenceKernel(kernel).fit(LETTERS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pyramid": 0}, "pyramid must be a number of levels, 1 to 16, got 0"),
        ({"row_norm": None}, "row_norm must be 'none' or 'cosine', got None"),
        ({"constant_rows": "some"}, "constant_rows must be one of"),
        ({"row_weights": [1, 2]}, "row_weights must hold 1 non-negative number, one per row"),
        ({"row_weights": [-1]}, "row_weights must hold 1 non-negative number, one per row"),
        ({"row_weights": [0]}, "row_weights must be positive .*got only zeros"),
        ({"group_weights": [1, 2]}, "must hold 1 non-negative number, one per group"),
        ({"gamma": 0}, "gamma must be a number > 0, got 0"),
        ({"gamma": "scale"}, "gamma must be a number > 0, got 'scale'"),
        ({"gamma": 1, "normalize": False}, "gamma needs normalize=True"),
        ({"memory_limit": "plenty"}, "memory_limit must be bytes or text such as .*, got 'plenty'"),
        ({"memory_limit": 0}, "memory_limit must be positive, got 0"),
        ({"memory_limit": 1000}, "memory_limit must be at least .*longest pair .*got 1000 bytes"),
        ({"n_jobs": 0}, "n_jobs must be a number of threads, or -1 .*, got 0"),
        ({"n_jobs": "all"}, "n_jobs must be a number of threads, or -1 .*, got 'all'"),
        ({"n_symbols": 30}, "n_symbols must be None unless X holds plain integers"),
    ],
    ids=str,
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        SequenceKernel(Spectrum(2), **options).fit_transform(LETTERS)


@pytest.mark.parametrize(
    ("n_symbols", "message"),
    [
        (3, "With n_symbols=3, symbols must be from 0 to 2, but row 0 holds the symbol 3"),
        (4.5, "n_symbols must be one whole number, or one number per row .*got 4.5"),
        ([4, 4], r"or one number per row \(1 rows\)"),
    ],
)
def test_alphabets_of_plain_integers_are_checked(n_symbols, message):
    with pytest.raises(ValueError, match=message):
        SequenceKernel(Mismatch(2, 1), n_symbols=n_symbols).fit(NUMBERS)


def test_new_symbols_are_made_by_the_fitted_quantizer():
    X = np.random.default_rng(0).normal(size=(3, 20))
    kernel = SequenceKernel().fit(DirectQuantizer(8).fit_transform(X))
    with pytest.raises(ValueError, match=r"of \[3\] symbols, but fit had alphabets of \[8\]"):
        kernel.transform(DirectQuantizer(3).fit_transform(X))


def test_one_sequence_is_not_a_collection():
    kernel = SequenceKernel().fit([np.array([[0, 1, 0], [1, 1, 0]])])
    with pytest.raises(ValueError, match=r"if X is one sequence, pass \[X\]"):
        kernel.transform(np.array([[0, 1, 0], [1, 1, 0]]))


def test_weights_of_rows_left_out_do_not_count():
    X = [np.array([[0, 1, 0, 1], [2, 2, 2, 2]])]
    kernel = SequenceKernel(Spectrum(1), row_weights=[0, 1])
    with (
        pytest.warns(UserWarning, match=r"Rows \[1\] hold at most one symbol"),
        pytest.raises(ValueError, match="row_weights must be positive for a row in use, got only"),
    ):
        kernel.fit(X)


@pytest.mark.parametrize("kernel", [Mismatch(2, 1), MismatchPairs(2, 1), Subsequence(2)], ids=repr)
def test_kernels_without_groups_have_none_to_weight(kernel):
    with pytest.raises(ValueError, match="has no groups to weight"):
        SequenceKernel(kernel, group_weights=[1]).fit(LETTERS)


def test_alphabets_of_symbols_are_their_own():
    symbols = DirectQuantizer(4).fit_transform(np.random.default_rng(0).normal(size=(3, 20)))
    with pytest.raises(ValueError, match="a quantizer sets the alphabet itself"):
        SequenceKernel(n_symbols=9).fit(symbols)


@pytest.mark.parametrize(("train", "new"), [(LETTERS, NUMBERS), (NUMBERS, LETTERS)])
def test_letters_are_not_compared_with_numbers(train, new):
    with pytest.raises(TypeError, match=r"fit was given (strings|numbers), but X holds (?!\1)"):
        SequenceKernel(Spectrum(1)).fit(train).transform(new)


@pytest.mark.parametrize("train", [LETTERS, NUMBERS])
@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([], "holds no sequences"),
        ("AB", "got one string"),
        (None, "got NoneType"),
        (3, "int"),
    ],
)
def test_what_is_no_list_of_sequences_is_called_so(train, X, message):
    kernel = SequenceKernel(Spectrum(1)).fit(train)
    for read in (kernel.transform, kernel.fit):
        with pytest.raises((TypeError, ValueError), match=f"^X .*{message}"):
            read(X)


def test_numbers_are_not_symbols():
    with pytest.raises(ValueError, match=r"mvdfq\.DirectQuantizer turns numbers into symbols"):
        SequenceKernel().fit([np.zeros((2, 5))])


def test_profiles_are_probabilities():
    X = [np.full((2, 3), 0.5), np.array([[0.5, 0.1, 0.2], [0.5, 1.9, 0.8]])]
    with pytest.raises(ValueError, match=r"Sequence 1, channel 1: the value at time 1 is outside"):
        SequenceKernel(Profile(2)).fit(X)


def test_rows_are_counted():
    with pytest.raises(ValueError, match="X has 2 rows, but SequenceKernel was fitted on 1"):
        SequenceKernel().fit(NUMBERS).transform([[[1, 2, 3], [1, 2, 3]]])


@pytest.mark.parametrize("kernel", [Subsequence(2), MismatchPairs(2, 1)], ids=repr)
@pytest.mark.filterwarnings("ignore:MismatchPairs")
def test_kernels_of_pairs_have_no_features(kernel):
    with pytest.raises(ValueError, match="has no explicit features"):
        SequenceFeatures(kernel).fit(LETTERS)
    with pytest.raises(ValueError, match="pass manifold=False"):
        SequenceKernel(kernel, manifold=True).fit(LETTERS)


def test_neighbourhoods_beyond_listing_are_refused():
    kernel = SequenceKernel(Mismatch(6, 3), manifold=True, n_symbols=2048)
    with pytest.raises(ValueError, match=r"limit of .*; pass neighbourhood='observed'"):
        kernel.fit_transform([np.arange(100), np.arange(100) * 3])


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(None, 2**31), (4096, 4096), ("500MB", 5 * 10**8), ("1.5 GiB", 3 * 2**29), ("2k", 2000)],
)
def test_memory_limits_are_read(limit, expected):
    assert parse_memory(limit) == expected


def test_threads():
    assert n_threads(None) == 1
    assert n_threads(3) == 3
    assert n_threads(-1) >= 1
    assert n_threads(-1000) == 1

"""The small numbers that were worked out by hand, from the fast kernels and from their twins.

The toy strings are X = 1 2 1 3 2 1 and Y = 2 1 3 3 2 1; where the size of the alphabet matters
the symbols are shifted down, so that three symbols are 0, 1, 2.
"""

from itertools import product
from math import comb

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mvdfq import (
    Gapped,
    Gappy,
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
from naive import kernels as naive
from twins import fast_features, fast_gram, naive_counts, naive_gram

X, Y = [1, 2, 1, 3, 2, 1], [2, 1, 3, 3, 2, 1]
TOY = [[X], [Y]]
SHIFTED = [[[s - 1 for s in row]] for row in (X, Y)]
TWO_ROWS = [[X, [3, 3, 3, 3, 2, 1]], [Y, [3, 2, 2, 2, 1, 1]]]
ONE_WINDOW_LESS = [[X, [None, 3, 3, 3, 2, 1]], TWO_ROWS[1]]
JOINT = [[[16, 17, 16, 18, 12, 6]], [[17, 11, 13, 13, 7, 6]]]
CAT_CAR = [[[2, 0, 3]], [[2, 0, 1]]]
CAT_CAT = [[[2, 0, 3]], [[2, 0, 3]]]
HELP_TRIPLE = [[[1, 0, 2, 3, 2]], [[1, 1, 2, 0, 1]]]
HELP_DOUBLE = [[[1, 0, 2, 3, 2, 1]], [[1, 1, 2, 0, 1, 1]]]

# The columns: kernel, the two sequences, size of the alphabet, K(X, Y).
RAW = [
    (Spectrum(1), TOY, 4, 12),
    (Spectrum(2), TOY, 4, 6),
    (Spectrum(3), TOY, 4, 2),
    (Spectrum(6), TOY, 4, 0),
    (Spectrum(7), TOY, 4, 0),
    (Spectrum([1, 2, 3]), TOY, 4, 12 + 6 + 2),
    (Gapped(3, 3), TOY, 4, 2),  # C_0, C_1, C_2
    (Gapped(3, 2), TOY, 4, 9),
    (Gapped(3, 1), TOY, 4, 15),
    (MismatchPairs(3, 0), TOY, 4, 2),  # M_0 .. M_3, cumulated
    (MismatchPairs(3, 1), TOY, 4, 2 + 3),
    (MismatchPairs(3, 2), TOY, 4, 2 + 3 + 3),
    (MismatchPairs(3, 3), TOY, 4, 4 * 4),
    (Mismatch(3, 1), SHIFTED, 3, 29),
    (Mismatch(3, 1), TOY, 5, 47),
    (Spatial(2, 1, 2), TOY, 4, 8),
    (Spatial(2, 1, 5), TOY, 4, 8),
    (Spatial(3, 1, 2), TOY, 4, 2),
    (Spatial(3, 1, 5), TOY, 4, 2),
    (Spatial(2, 2, 2), TOY, 4, 0),
    (Words([(0, 1), (0, 2)]), TOY, 4, 8),  # double(1,2) by hand
    (Spatial(3, 1, 3), HELP_TRIPLE, 4, 0),
    (Spatial(2, 1, 5), HELP_DOUBLE, 4, 3),
    (Gappy(3, 2), TOY, 4, 16),
    (Gappy(3, 2, distinct=False), TOY, 4, 20),
    (Wildcard(3, 1), TOY, 4, 11),
    (Wildcard(3, 1, 0.5), TOY, 4, 4.25),
    (Subsequence(2), CAT_CAR, 4, 0.0625),
    (Subsequence(2), CAT_CAT, 4, 0.140625),
    (Subsequence(2), TOY, 4, 0.5654296875),
    (Subsequence(3), TOY, 4, 0.0859375),
    (Subsequence(2, max_span=6), TOY, 4, 0.5654296875),
    (Subsequence(3, max_span=6), TOY, 4, 0.0859375),
    (Spectrum(2), TWO_ROWS, 4, 6 + 2),
    (Spectrum(1), JOINT, 19, 2),
]
SELF = [
    (Spectrum(2), TWO_ROWS, 4, [18, 14]),
    (Spatial(3, 1, 3), HELP_TRIPLE, 4, [10, 10]),
    (Spatial(2, 1, 5), HELP_DOUBLE, 4, [15, 19]),
]
# With options; six digits.
OTHERWISE = [
    (Spectrum(2), TWO_ROWS, 4, {}, 0.503953),
    (Spectrum(2), TWO_ROWS, 4, {"row_norm": "cosine"}, 0.542532),
    (Spectrum(2), TWO_ROWS, 4, {"row_norm": "cosine", "normalize": False}, 0.542532),
    (Spectrum(2), TWO_ROWS, 4, {"manifold": True}, 0.6),
    (Spectrum(2), TWO_ROWS, 4, {"manifold": True, "normalize": False}, 0.6),
    (Spectrum(2), ONE_WINDOW_LESS, 4, {"manifold": True}, 0.623607),
    (Mismatch(3, 1), SHIFTED, 3, {"manifold": True}, 0.847426),
    (Mismatch(3, 1), SHIFTED, 3, {"manifold": True, "normalize": False}, 23.727922 / 28),
    (Subsequence(2), CAT_CAR, 4, {}, 1 / 2.25),
]
SIZES = [
    (2, 1, 2, [3, 2, 2]),
    (3, 1, 3, [7, 3, 2]),
    (5, 1, 20, [96, 20, 2]),
    (6, 1, 32, [187, 32, 2]),
    (6, 1, 34, [199, 34, 2]),
    (5, 2, 20, [3706, 1540, 514, 114, 6]),
    (5, 2, 2048, [41912326, 16771072, 4206586, 12282, 6]),
    (7, 3, 20, [247780, 110600, 45620, 16664, 4676, 560, 20]),
    (5, 1, 2, [6, 2, 2]),
    (6, 1, 2, [7, 2, 2]),
]
ids = [f"{kernel}-{value}" for kernel, _, _, value in RAW]
pytestmark = pytest.mark.filterwarnings("ignore:.*positive semi-definite")


@pytest.mark.filterwarnings("ignore:.*zero|.*no words|.*short")
@pytest.mark.parametrize("gram", [naive_gram, fast_gram])
@pytest.mark.parametrize(("kernel", "pair", "n_symbols", "value"), RAW, ids=ids)
def test_kernel_value(gram, kernel, pair, n_symbols, value):
    x, y = pair
    K = gram(kernel, [x], [y], n_symbols, normalize=False)
    assert_array_equal(K, [[value]])


@pytest.mark.parametrize("gram", [naive_gram, fast_gram])
@pytest.mark.parametrize(("kernel", "pair", "n_symbols", "values"), SELF, ids=str)
def test_value_of_a_sequence_with_itself(gram, kernel, pair, n_symbols, values):
    assert_array_equal(np.diag(gram(kernel, pair, pair, n_symbols, normalize=False)), values)


@pytest.mark.parametrize("gram", [naive_gram, fast_gram])
@pytest.mark.parametrize(("kernel", "pair", "n_symbols", "options", "value"), OTHERWISE, ids=str)
def test_value_with_options(gram, kernel, pair, n_symbols, options, value):
    K = gram(kernel, pair, pair, n_symbols, **options)
    assert_allclose(K[0, 1], value, atol=5e-7)


def test_normalized_strings_of_letters():
    K = SequenceKernel(Subsequence(2)).fit_transform(["cat", "car"])
    assert_allclose(K, [[1, 1 / 2.25], [1 / 2.25, 1]])


@pytest.mark.parametrize("k", [2, 3])
def test_gappy_pair_kernel_is_spatial_double(k):
    # KeBABS: two k-mers with 0 to m positions between them; here m = 2.
    layouts = [(*range(k), *range(k + gap, 2 * k + gap)) for gap in range(3)]
    doubles = [
        fast_gram(kernel, TOY, TOY, 4, normalize=False)
        for kernel in (Spatial(2, k, 3), Words(layouts))
    ]
    assert_array_equal(*doubles)


# features -------------------------------------------------------------------------------------


def test_features_of_two_symbols_at_two_distances():
    # X: 12:1 13:1 21:2 32:1 and 1.1:1 1.2:1 2.3:1 3.1:1
    counts = fast_features(Spatial(2, 1, 2), [[X]], [[X]], 4, normalize=False)
    assert sorted(counts.data) == [1] * 7 + [2]


def test_two_mers():
    counts = fast_features(Spectrum(2), TOY, TOY, 4, normalize=False).toarray()
    # 12, 13, 21, 32, 33 in any order
    assert sorted(zip(*counts, strict=True)) == [(0, 1), (1, 0), (1, 1), (1, 1), (2, 2)]


def test_spatial_triples_have_25_layouts_and_59675_occurrences():
    counts = fast_features(Spatial(3, 1, 5), [[[0] * 2393]], [[[0] * 2393]], 1, normalize=False)
    assert counts.shape == (1, 25)
    assert counts.sum() == 59675


def test_neighbourhood_counts():
    counts = fast_features(Mismatch(3, 1), SHIFTED, SHIFTED, 3, normalize=False)
    assert counts.sum(axis=1).tolist() == [4 * 7, 4 * 7]
    assert (counts[[0]] @ counts[[1]].T).sum() == 29  # scipy 1.13 gives no single row
    twin = naive_counts(Mismatch(3, 1), SHIFTED, SHIFTED, 3)
    assert twin[0][0, (0, 0, 0, (0, 2, 0))] == 2  # the word 131 in X


def test_observed_neighbourhood():
    counts = fast_features(
        Mismatch(3, 1, neighbourhood="observed"), SHIFTED, SHIFTED, 3, normalize=False
    ).toarray()
    assert_allclose(np.sqrt(counts[0]) @ np.sqrt(counts[1]), 7.242641, atol=5e-7)


# mismatch, in closed form ---------------------------------------------------------------------


@pytest.mark.parametrize(("k", "m", "n_symbols", "sizes"), SIZES)
def test_intersection_sizes(k, m, n_symbols, sizes):
    # Two words of length k that differ in d positions are two sequences with one window each.
    words = [[[1] * d + [0] * (k - d)] for d in range(k + 1)]
    expected = sizes + [0] * (k + 1 - len(sizes))
    assert naive.intersection_sizes(k, m, n_symbols) == expected
    K = fast_gram(Mismatch(k, m), words[:1], words, n_symbols, normalize=False)
    assert_array_equal(K, [expected])


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("n_symbols", [2, 3, 4])
def test_intersection_sizes_count_words(k, n_symbols):
    alphabet = list(product(range(n_symbols), repeat=k))
    pairs = [((0,) * k, (1,) * d + (0,) * (k - d)) for d in range(k + 1)]
    for m in range(k + 1):
        near = [
            sum(max(naive.distance(a, g), naive.distance(b, g)) <= m for g in alphabet)
            for a, b in pairs
        ]
        assert naive.intersection_sizes(k, m, n_symbols) == near


@pytest.mark.parametrize(("n_symbols", "weights"), [(20, [16, 12, 2]), (2, [16, -6, 2])])
def test_mismatch_is_a_weighted_sum_of_gapped_kernels(n_symbols, weights):
    sizes = naive.intersection_sizes(5, 1, n_symbols)
    terms = [
        [(-1) ** (i - j) * comb(5 - j, i - j) * sizes[i] for i in range(j, 3)] for j in range(3)
    ]
    assert [sum(term) for term in terms] == weights
    pair = [[[v % n_symbols for v in (*X, *Y, *X)]], [[v % n_symbols for v in (*Y, *Y, *X)]]]
    K = fast_gram(Mismatch(5, 1), pair, pair, n_symbols, normalize=False)
    parts = [fast_gram(Gapped(5, 5 - j), pair, pair, n_symbols, normalize=False) for j in range(3)]
    assert_array_equal(K, np.tensordot(weights, parts, axes=1))


@pytest.mark.parametrize(("k", "n_symbols"), [(2, 2), (3, 3), (4, 2)])
def test_pairs_are_not_positive_semi_definite(k, n_symbols):
    words = [[list(word)] for word in product(range(n_symbols), repeat=k)]
    pairs = fast_gram(MismatchPairs(k, 1), words, words, n_symbols, normalize=False)
    eigenvalues = [1 + k * (n_symbols - 1) - n_symbols * v for v in range(k + 1)]
    assert_allclose(np.linalg.eigvalsh(pairs)[0], 1 - k)
    assert set(np.linalg.eigvalsh(pairs).round(6)) == set(eigenvalues)
    exact = fast_gram(Spectrum(k), words, words, n_symbols, normalize=False)
    assert_allclose(np.linalg.eigvalsh(pairs + (k - 1) * exact)[0], 0, atol=1e-9)
    wildcard = fast_gram(Wildcard(k, 1), words, words, n_symbols, normalize=False)
    assert_array_equal(wildcard, pairs + k * exact)


# profiles -------------------------------------------------------------------------------------

PROFILE = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
PROFILE_WORDS = [
    (1, {"ab": 1}),
    (2, {"ab": 1, "ba": 1, "bb": 2, "bc": 1}),
    (3, {"aa": 1, "ab": 1, "ac": 1, "ba": 1, "bb": 2, "bc": 1, "cb": 1}),
]


@pytest.mark.parametrize(("sigma", "words"), PROFILE_WORDS)
def test_profile_counts(sigma, words):
    found = naive.profile(PROFILE.tolist(), k=2, sigma=sigma)
    assert {"".join("abc"[i] for i in word) for _, _, word, _ in found} == set(words)
    counts = SequenceFeatures(Profile(2, sigma), normalize=False).fit_transform([PROFILE.T])
    assert sorted(counts.data) == sorted(words.values())


def test_profile_kernel():
    kernel = SequenceKernel(Profile(2, 2.0), normalize=False)
    assert_array_equal(kernel.fit_transform([PROFILE.T]), [[7]])

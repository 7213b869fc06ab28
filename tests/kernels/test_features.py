"""The explicit feature map: its counts are the naive ones, its inner products the kernel."""

from itertools import cycle

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal

from cases import (
    COLLECTIONS,
    N_SYMBOLS,
    PAIRS_ONLY,
    ROW_WEIGHTS,
    WITH_FEATURES,
    pairwise,
    random_profiles,
)
from conftest import size
from mvdfq import Mismatch, Profile, SequenceFeatures, SequenceKernel, Spatial, Spectrum
from mvdfq.gram.vocabulary import portions
from mvdfq.sequences import blocks_of
from naive import kernels as naive
from twins import as_symbols, fast_features, fast_gram, n_groups, naive_counts

OPTIONS = [
    {"normalize": False},
    {"row_weights": ROW_WEIGHTS},
    {"row_norm": "cosine", "pyramid": 2},
    {"manifold": True},
    {"manifold": True, "normalize": False, "row_weights": ROW_WEIGHTS},
    {"manifold": True, "pyramid": 3},
]
# A third of the kernels where the compiler is off: test_kernels.py takes them all.
SOME = size(WITH_FEATURES, WITH_FEATURES[::3])
NAMES = ["missing", "unseen symbols", *size(["short", "empty", "constant row"], [])]
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def assert_same_columns(matrix, counts):
    """The matrix holds the naive counts, in any order of its columns; some may be empty."""
    keys = {key for found in counts for key in found}
    expected = [tuple(found.get(key, 0) for found in counts) for key in keys]
    columns = [tuple(column) for column in matrix.toarray().T.tolist() if any(column)]
    assert sorted(columns) == sorted(expected)


def inner_products(A, B):
    """A times the transpose of B, however many columns they have."""
    both = scipy.sparse.vstack([A, B], format="csr")
    used, columns = np.unique(both.indices, return_inverse=True)
    compact = scipy.sparse.csr_array(
        (both.data, columns, both.indptr), shape=(both.shape[0], len(used))
    ).toarray()
    return compact[: A.shape[0]] @ compact[A.shape[0] :].T


@pytest.mark.parametrize(
    ("kernel", "name", "pyramid"), pairwise(WITH_FEATURES, ["missing", "short"], [1, 3]), ids=str
)
def test_counts_are_naive(kernel, name, pyramid):
    train, _ = COLLECTIONS[name]
    matrix = fast_features(kernel, train, train, N_SYMBOLS, normalize=False, pyramid=pyramid)
    assert_same_columns(matrix, naive_counts(kernel, train, train, N_SYMBOLS, pyramid))


@pytest.mark.parametrize(
    ("kernel", "options", "name"),
    pairwise(SOME, size(OPTIONS, OPTIONS[2:5]), NAMES),
    ids=str,
)
def test_inner_products_are_the_kernel(kernel, options, name):
    train, new = COLLECTIONS[name]
    features = fast_features(kernel, [*new, *train], train, N_SYMBOLS, **options)
    product = (features @ features[len(new) :].T).toarray()
    K = fast_gram(kernel, [*new, *train], train, N_SYMBOLS, **options)
    if options == {"normalize": False}:
        assert_array_equal(product, K)
    else:
        assert_allclose(product, K, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("manifold", [False, True])
@pytest.mark.parametrize("kernel", [Spectrum([1, 3]), Spatial(2, 1, 3)], ids=repr)
def test_group_weights(kernel, manifold):
    train, new = COLLECTIONS["random"]
    weights = [1 + i for i in range(n_groups(kernel))]
    options = {"manifold": manifold, "group_weights": weights}
    A, B = (fast_features(kernel, X, train, N_SYMBOLS, **options) for X in (new, train))
    K = fast_gram(kernel, new, train, N_SYMBOLS, **options)
    assert_allclose((A @ B.T).toarray(), K, rtol=1e-5)


def test_words_never_seen_have_no_column_but_count():
    features = SequenceFeatures(Spectrum(1), manifold=True).fit([[0, 1, 1]])
    # Half of the new sequence is unknown: half of its length is outside the columns.
    assert_allclose(features.transform([[0, 1, 2, 3]]).toarray(), [[0.5, 0.5]], rtol=1e-6)
    raw = SequenceFeatures(Spectrum(1)).fit([[0, 1, 1]])
    assert_allclose(raw.transform([[0, 1, 2, 3]]).toarray(), [[0.5, 0.5]], rtol=1e-6)


def test_profiles():
    rng = np.random.default_rng(29)
    train, new = ([x.T for x in random_profiles(rng, n)] for n in ([9, 12, 5], [8, 4]))
    for options in ({"normalize": False}, {"manifold": True}):
        features = SequenceFeatures(Profile(2, 2.5), **options).fit(train)
        product = features.transform(new) @ features.transform(train).T
        K = SequenceKernel(Profile(2, 2.5), **options).fit(train).transform(new)
        assert_allclose(product.toarray(), K, rtol=1e-5)


@pytest.mark.parametrize("kernel", WITH_FEATURES, ids=repr)
def test_what_transform_returns(kernel):
    train, new = (as_symbols(X, N_SYMBOLS) for X in COLLECTIONS["random"])
    features = SequenceFeatures(kernel).fit(train)
    matrix = features.transform(new)
    names = features.get_feature_names_out()
    assert scipy.sparse.issparse(matrix)
    assert matrix.format == "csr"
    assert matrix.shape == (len(new), len(names))
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("options", [{"normalize": False}, {"manifold": True}], ids=str)
@pytest.mark.parametrize("kernel", SOME, ids=repr)
def test_wide_hashed_features_are_the_exact_ones(kernel, options):
    train, new = COLLECTIONS["random"]
    A, B = (
        fast_features(kernel, X, train, N_SYMBOLS, n_features=2**20, **options)
        for X in (new, train)
    )
    assert A.shape == (len(new), 2**20)
    K = fast_gram(kernel, new, train, N_SYMBOLS, **options)
    assert_allclose(inner_products(A, B), K, rtol=1e-5)


@pytest.mark.parametrize("kernel", [Spectrum(3), Spatial(2, 1, 3), Mismatch(3, 1)], ids=repr)
def test_narrow_hashed_features_lose_no_word(kernel):
    train, new = COLLECTIONS["random"]
    hashed = fast_features(kernel, new, train, N_SYMBOLS, n_features=7, normalize=False)
    totals = [sum(counts.values()) for counts in naive_counts(kernel, new, train, N_SYMBOLS)]
    assert hashed.shape == (len(new), 7)
    assert_array_equal(np.asarray(hashed.sum(axis=1)).ravel(), totals)


@pytest.mark.parametrize("kernel", PAIRS_ONLY, ids=repr)
def test_some_kernels_have_no_features(kernel):
    with pytest.raises(ValueError, match="features"):
        SequenceFeatures(kernel).fit([[0, 1, 1, 0, 1], [1, 0, 1, 1]])


# memory ---------------------------------------------------------------------------------------


def many(n=20, longest=50):
    """Sequences of several rows, enough for several portions."""
    random = np.random.default_rng(1)
    return as_symbols(
        [random.integers(0, 4, (2, m)) for m in random.integers(0, longest, n)], [4, 4]
    )


@pytest.mark.parametrize(
    ("kernel", "options"),
    list(
        zip(
            SOME,
            cycle([*OPTIONS[2:], {"n_features": 50}]),
            strict=False,
        )
    ),
    ids=str,
)
def test_portions_give_the_same_features(kernel, options):
    X = many(longest=size(30, 16))
    options = {k: v for k, v in options.items() if k != "row_weights"}
    whole = SequenceFeatures(kernel, **options)
    expected = whole.fit_transform(X)
    cut = SequenceFeatures(kernel, memory_limit=least_limit(whole, X), **options)
    found = cut.fit_transform(X)
    assert_same_matrix(found, expected)
    assert_same_matrix(cut.transform(X[5:9]), expected[5:9])
    if "n_features" not in options:
        assert_array_equal(cut.get_feature_names_out(), whole.get_feature_names_out())


def least_limit(features, X):
    """The smallest power of two that suffices: then there are several portions."""
    for limit in 2 ** np.arange(12, 24):
        try:
            cuts = portions(X, features.plan_, int(limit), None)
        except ValueError:
            continue
        assert len(cuts) > 2
        return int(limit)
    raise AssertionError


def assert_same_matrix(found, expected):
    assert found.shape == expected.shape
    assert found.indices.dtype == np.int32
    assert_array_equal(found.toarray(), expected.toarray())


def test_blocks_hold_as_many_frames_as_allowed():
    offsets = np.cumsum([0, 3, 4, 0, 9, 1, 1, 0])
    assert blocks_of(offsets, 8) == [slice(0, 3), slice(3, 4), slice(4, 7)]
    assert blocks_of(offsets, 0.5) == [slice(i, i + 1) for i in range(7)]
    assert blocks_of(offsets, 99) == [slice(0, 7)]
    assert blocks_of(offsets[:1], 8) == []


def test_a_limit_below_the_longest_sequence():
    with pytest.raises(ValueError, match=r"memory_limit must be at least about .* bytes"):
        SequenceFeatures(Spectrum(2), memory_limit=2000).fit(many())


def test_a_result_that_cannot_fit_is_refused_first(monkeypatch):
    X, features = many(), SequenceFeatures(Spectrum(3), memory_limit=10**5)
    monkeypatch.setattr("mvdfq.gram.vocabulary.available_memory", lambda: 10_000)
    with pytest.raises(MemoryError, match=r"counts, whose features take about .* GB of memory are"):
        features.fit(X)


def test_a_word_belongs_to_the_part_of_the_possible_starts_in_which_it_begins():
    # docs/guide/kernels.md: of the four starts of ABCABC, two belong to each half
    features = SequenceFeatures(Spectrum(3), pyramid=2, normalize=False).fit(["ABCABC"])
    halves = [name.split(", part ")[1] for name in features.get_feature_names_out()[3:]]
    assert halves == ["1 of 2: A B C", "1 of 2: B C A", "2 of 2: A B C", "2 of 2: C A B"]
    assert [naive.part_of(t, 4, 1) for t in range(4)] == [0, 0, 1, 1]
    assert [naive.part_of(t, 11, 2) for t in range(11)] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3]

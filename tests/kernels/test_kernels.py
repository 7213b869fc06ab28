"""Fast equals naive: every kernel, every option, on pleasant and unpleasant input.

Raw counts are compared exactly. Rooted kernels add up in single precision inside.
"""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from cases import (
    COLLECTIONS,
    KERNELS,
    N_SYMBOLS,
    PAIRS_ONLY,
    ROW_WEIGHTS,
    UNEVEN,
    WITH_FEATURES,
    pairwise,
    random_profiles,
)
from conftest import size
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
from mvdfq.kernels import counting
from mvdfq.kernels.neighbours import NeighbourTask
from naive import kernels as naive
from twins import as_symbols, fast_gram, n_groups, naive_gram, random_sequences

WITH_GROUPS = [kernel for kernel in WITH_FEATURES if not isinstance(kernel, Mismatch)]
OPTIONS = [
    {},
    {"normalize": False, "row_weights": ROW_WEIGHTS},
    {"row_weights": ROW_WEIGHTS},
    {"row_norm": "cosine"},
    {"row_norm": "cosine", "normalize": False, "row_weights": ROW_WEIGHTS},
    {"gamma": 0.5},
]
FEATURE_OPTIONS = [
    {"normalize": False, "pyramid": 3},
    {"normalize": False, "row_weights": ROW_WEIGHTS, "pyramid": 2},
    {"pyramid": 2, "row_norm": "cosine"},
    {"manifold": True},
    {"manifold": True, "normalize": False},
    {"manifold": True, "pyramid": 3},
    {"manifold": True, "row_weights": ROW_WEIGHTS},
    {"manifold": True, "row_norm": "cosine", "pyramid": 2},
    {"manifold": True, "gamma": 1.0},
]
DIAGONAL_OPTIONS = [{"normalize": False}, {}, {"row_weights": ROW_WEIGHTS, "row_norm": "cosine"}]
# What Python computes after the loops need not be computed again where the compiler is off.
OPTIONS = size(OPTIONS, OPTIONS[4:5])
FEATURE_OPTIONS = size(FEATURE_OPTIONS, [FEATURE_OPTIONS[i] for i in (0, 5, 7)])
FEATURE_NAMES = size(list(COLLECTIONS), ["missing", "short", "unseen symbols"])
DIAGONAL_OPTIONS = size(DIAGONAL_OPTIONS, DIAGONAL_OPTIONS[:1])

# Some sequences have nothing to compare; tests at the end look at the warnings that say so.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def assert_fast_is_naive(kernel, A, B, n_symbols=None, **options):
    n_symbols = N_SYMBOLS[: len(B[0])] if n_symbols is None else n_symbols
    expected = naive_gram(kernel, A, B, n_symbols, **options)
    K = fast_gram(kernel, A, B, n_symbols, **options)
    if options.get("manifold"):
        assert_allclose(K, expected, rtol=1e-5)
    elif options.get("normalize", True) or "row_norm" in options:
        assert_allclose(K, expected, rtol=1e-12)
    elif isinstance(kernel, Subsequence):  # the smallest terms are too small beside the largest
        assert_allclose(K, expected, rtol=1e-13)
    else:
        assert_array_equal(K, expected)


def assert_fast_is_naive_on_both(kernel, train, new, **options):
    assert_fast_is_naive(kernel, [*new, *train], train, **options)


@pytest.mark.parametrize("name", COLLECTIONS)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_counts_on_every_kind_of_input(kernel, name):
    assert_fast_is_naive_on_both(kernel, *COLLECTIONS[name], normalize=False)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_options(kernel, options):
    assert_fast_is_naive_on_both(kernel, *COLLECTIONS["random"], **options)


@pytest.mark.parametrize(
    ("kernel", "options", "name"), pairwise(WITH_FEATURES, FEATURE_OPTIONS, FEATURE_NAMES), ids=str
)
@pytest.mark.slow
def test_options_of_kernels_with_features(kernel, options, name):
    train, new = COLLECTIONS[name]
    if "row_weights" in options:
        options = options | {"row_weights": ROW_WEIGHTS[: len(train[0])]}
    assert_fast_is_naive_on_both(kernel, train, new, **options)


@pytest.mark.parametrize("manifold", [False, True])
@pytest.mark.parametrize("kernel", WITH_GROUPS, ids=repr)
def test_group_weights(kernel, manifold):
    weights = [2.0**-i for i in range(n_groups(kernel))]
    options = {"group_weights": weights, "manifold": manifold, "normalize": False}
    assert_fast_is_naive_on_both(kernel, *COLLECTIONS["random"], **options)
    assert_fast_is_naive_on_both(kernel, *COLLECTIONS["missing"], row_norm="cosine", **options)


def test_weights_can_be_zero():
    options = {"row_weights": [0, 1, 2], "group_weights": [1, 0, 1], "normalize": False}
    for manifold in (False, True):
        options["manifold"] = manifold
        assert_fast_is_naive_on_both(Spectrum([1, 2, 3]), *COLLECTIONS["random"], **options)


@pytest.mark.parametrize("manifold", [False, True])
@pytest.mark.parametrize("kernel", UNEVEN, ids=repr)
def test_weights_that_are_no_powers_of_two(kernel, manifold):
    train, new = COLLECTIONS["random"]
    manifold = manifold and kernel in UNEVEN[:3]
    assert_fast_is_naive(kernel, new, train, row_norm="cosine", manifold=manifold)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_constant_rows_can_be_kept(kernel):
    train, new = COLLECTIONS["constant row"]
    options = {"normalize": False, "constant_rows": "keep"}
    assert_fast_is_naive(kernel, new, train, [3, 2, 4], **options)


@pytest.mark.parametrize("options", size([{"normalize": False}, {}, {"gamma": 2.0}], [{}]), ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_fit_transform_is_fit_and_transform(kernel, options):
    train = as_symbols(COLLECTIONS["short"][0], N_SYMBOLS)
    fitted = SequenceKernel(kernel, **options)
    rtol = 1e-14 if options.get("normalize", True) else 0
    assert_allclose(fitted.fit_transform(train), fitted.transform(train), rtol=rtol)


@pytest.mark.parametrize("options", DIAGONAL_OPTIONS, ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.slow
def test_diagonal_is_not_normalized(kernel, options):
    train, _ = COLLECTIONS["random"]
    symbols = as_symbols(train, N_SYMBOLS)
    own = np.diag(naive_gram(kernel, train, train, N_SYMBOLS, **{**options, "normalize": False}))
    assert_allclose(SequenceKernel(kernel, **options).fit(symbols).diagonal(symbols), own)


def test_diagonal_counts_words_never_seen():
    assert_array_equal(SequenceKernel(Spectrum(1)).fit([[0, 1]]).diagonal([[0, 2, 2]]), [1 + 4])


# whatever hypothesis finds --------------------------------------------------------------------

small, step = st.integers(1, 4), st.integers(1, 3)
ANY_KERNEL = {
    "Spectrum": st.builds(Spectrum, small | st.lists(small, min_size=1, unique=True), step),
    "Spatial": st.builds(Spatial, st.integers(1, 3), st.integers(1, 2), step, step),
    "Gapped": st.builds(lambda g, k, D: Gapped(max(g, k), min(g, k), D), small, small, step),
    "Gappy": st.builds(
        lambda g, k, *rest: Gappy(max(g, k), min(g, k), *rest), small, small, st.booleans(), step
    ),
    "Wildcard": st.builds(
        lambda k, m, *rest: Wildcard(max(k, m), min(k, m), *rest),
        small,
        st.integers(0, 4),
        st.sampled_from([0.25, 0.5, 1.0]),
        step,
    ),
    "Subsequence": st.builds(
        lambda k, decay, more: Subsequence(k, decay, k + more),
        small,
        st.sampled_from([0.25, 0.5, 1.0]),
        st.integers(0, 3),
    ),
    "Mismatch": st.builds(
        lambda k, m, *rest: Mismatch(k, min(k, m), *rest),
        st.integers(1, 3),
        st.integers(0, 3),
        st.sampled_from(["full", "observed"]),
        step,
    ),
    "Words": st.builds(
        lambda sets: Words([tuple(sorted({0, *offsets})) for offsets in sets]),
        st.lists(st.sets(st.integers(1, 6), max_size=3), min_size=1, max_size=3),
    ),
}
ANY_PAIR_KERNEL = {
    "Subsequence": st.builds(Subsequence, small, st.sampled_from([0.25, 0.5, 1.0])),
    "MismatchPairs": st.builds(lambda k, m: MismatchPairs(k, min(k, m)), small, st.integers(0, 4)),
}
symbol = st.none() | st.integers(0, 2)
columns = st.lists(st.tuples(symbol, symbol), max_size=12)
# Two rows each, equally long; training and new sequences.
sequence = columns.map(lambda x: [list(row) for row in zip(*x, strict=True)] or [[], []])
sequences = st.lists(sequence, min_size=1, max_size=4)


@pytest.mark.parametrize("name", ANY_KERNEL)
@given(data=st.data(), train=sequences, new=sequences, pyramid=st.integers(1, 3))
@pytest.mark.slow
def test_any_kernel_of_any_sequences(name, data, train, new, pyramid):
    kernel = data.draw(ANY_KERNEL[name])
    assert_fast_is_naive(kernel, new, train, 3, normalize=False, pyramid=pyramid)
    assert_fast_is_naive(kernel, new, train, 3, manifold=True, pyramid=pyramid)


@pytest.mark.parametrize("name", ANY_PAIR_KERNEL)
@given(data=st.data(), train=sequences, new=sequences)
def test_any_kernel_of_pairs_of_any_sequences(name, data, train, new):
    kernel = data.draw(ANY_PAIR_KERNEL[name])
    assert_fast_is_naive(kernel, new, train, 3, normalize=False)


# large alphabets, large counts ----------------------------------------------------------------

# Symbols that fall together in 64 bits where the words are longer: 2**9 * 2048**5 == 2**64.
WIDE = [
    (Spectrum(6), 2048, [0, 1, 512, 1024, 1536, 2047]),
    (Spectrum(12), 2048, [0, 1, 512, 2047]),
    (Spectrum(3), 2**31, [0, 4, 8, 2**29, 2**31 - 1]),
    (Spectrum([2, 3]), 2**32 - 1, [0, 1, 2**31, 2**32 - 2]),
    (Spatial(3, 2, 2), 2048, [0, 512, 1024, 2047]),
    (Gapped(8, 6), 2048, [0, 512, 1024, 2047]),
    (Gappy(7, 6), 2048, [0, 512, 1024, 2047]),
    (Wildcard(7, 2, 0.5), 2048, [0, 512, 1024, 2047]),
    (Subsequence(6, max_span=7), 2048, [0, 512, 1024, 2047]),
    (Words([(0, 1, 2, 4, 5, 7)]), 2048, [0, 512, 1024, 2047]),
]


@pytest.mark.parametrize("manifold", [False, True])
@pytest.mark.parametrize(("kernel", "n_symbols", "used"), WIDE, ids=str)
def test_words_longer_than_64_bits(kernel, n_symbols, used, manifold):
    rng = np.random.default_rng(64)
    # Pieces that recur, whole or with the first symbol changed: long words are seen twice.
    piece = rng.choice(used, 14).tolist()
    lengths = [3, 4, 2, 3, 5]
    X = [[[s for _ in range(n) for s in (int(rng.choice(used)), *piece)]] for n in lengths]
    options = {"manifold": manifold, "normalize": manifold}
    assert_fast_is_naive(kernel, X[3:], X[:3], n_symbols, **options)
    assert_fast_is_naive(kernel, X, X, n_symbols, **options)


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("k", [60, 61, 62, 63, 64, 65])
def test_words_of_about_64_bits(k, n):
    # Words that differ in the first and in the last symbol alone, so that a lost bit shows.
    middle = np.random.default_rng(k).integers(2, size=k - 2).tolist()
    ends = [(0, 0), (1, 0), (0, 1), (1, 1), (1, 0)]
    X = [[[first, *middle, last, *([0] * i)]] for i, (first, last) in enumerate(ends)]
    assert_fast_is_naive(Spectrum(k), X, X[:n], 2, normalize=False)
    assert_fast_is_naive(Gappy(k, k - 1), X, X[:n], 2, normalize=False)


@pytest.mark.parametrize("n_symbols", [254, 255, 256, 65535, 65536])
def test_the_last_symbol_is_not_a_missing_one(n_symbols):
    last = n_symbols - 1
    X = [[[0, last, 0, last, None, last, 0]], [[last, last, 0, None, 0, last]]]
    assert_fast_is_naive(Spectrum([1, 2]), X, X, n_symbols, normalize=False)


@pytest.mark.parametrize(("k", "m", "n_symbols"), [(5, 2, 2048), (7, 3, 20), (9, 4, 5000)])
def test_mismatch_weights_may_be_huge(k, m, n_symbols):
    # Sizes and counts add up to far more than 2**53; sums must not show it.
    rng = np.random.default_rng(53)
    lengths = size((9, 60, 90), (9, 30, 40))
    X = [[rng.choice([0, 1, n_symbols - 1], n, p=[0.8, 0.1, 0.1]).tolist()] for n in lengths]
    compare = partial(naive.mismatch_closed_form, k=k, m=m, n_symbols=n_symbols)
    expected = np.array(naive.gram_of_rows(X, X, compare, normalize=False), dtype=float)
    K = fast_gram(Mismatch(k, m), X, X, n_symbols, normalize=False)
    assert_allclose(K, expected, rtol=1e-15)


@pytest.mark.parametrize("neighbourhood", ["full", "observed"])
def test_mismatch_of_words_longer_than_64_bits(neighbourhood):
    rng = np.random.default_rng(64)
    X = [[rng.choice([0, 512, 1024, 2047], 24, p=[0.7, 0.1, 0.1, 0.1]).tolist()] for _ in range(4)]
    K = fast_gram(Mismatch(6, 1, neighbourhood), X, X, 2048, normalize=False)
    if neighbourhood == "full":
        compare = partial(naive.mismatch_closed_form, k=6, m=1, n_symbols=2048)
        expected = naive.gram_of_rows(X, X, compare, normalize=False)
    else:
        expected = observed_gram(X, 6, 1)
    assert_array_equal(K, expected)


def observed_gram(X, k, m):
    """Mismatch counts of the words that occur, over an alphabet too large to list."""
    windows = [[word for _, word in naive.read(x[0], naive.window(k, 1))] for x in X]
    words = sorted({word for found in windows for word in found})
    phi = [[sum(naive.distance(w, v) <= m for w in found) for v in words] for found in windows]
    return np.array(phi) @ np.array(phi).T


MISMATCHES = [Mismatch(3, 1), Mismatch(4, 2), Mismatch(3, 3), Mismatch(3, 1, "observed")]


@pytest.mark.parametrize("options", [{"normalize": False}, {}, {"manifold": True}], ids=str)
@pytest.mark.parametrize("kernel", MISMATCHES, ids=repr)
def test_mismatch_takes_symbols_beyond_the_alphabet_for_missing(kernel, options):
    rng = np.random.default_rng(7)
    train, new = (random_sequences(rng, [12, 19], [s, s]) for s in (3, 5))
    blanked = [[[c if c < 3 else None for c in row] for row in x] for x in new]
    fitted = SequenceKernel(kernel, **options).fit(as_symbols(train, 3))
    K = fitted.transform(as_symbols(new, 3))
    assert_array_equal(K, fitted.transform(as_symbols(blanked, 3)))
    assert_allclose(K, naive_gram(kernel, blanked, train, 3, **options), rtol=1e-5)
    features = SequenceFeatures(kernel, **options).fit(as_symbols(train, 3))
    A, B = (features.transform(as_symbols(X, 3)) for X in (new, train))
    assert_allclose((A @ B.T).toarray(), K, rtol=1e-5)


@pytest.mark.parametrize("table", [True, False], ids=["table", "columns"])
@pytest.mark.parametrize(
    "options", [{"normalize": False}, {"manifold": True, "pyramid": 2}], ids=str
)
@pytest.mark.parametrize("kernel", [*MISMATCHES[:3], Mismatch(3, 1, dilation=[1, 2])], ids=repr)
def test_neighbours_are_counted_alike_in_a_table_and_in_columns(
    kernel, options, table, monkeypatch
):
    """A table of all words there can be, or columns of those that any window is near to."""
    monkeypatch.setattr(NeighbourTask, "_is_small", lambda self, row: table)
    monkeypatch.setattr("mvdfq.kernels.mismatch.FEW_WORDS", 2**62)
    X = random_sequences(np.random.default_rng(5), [9, 0, 16, 12], [3, 4], missing=0.1)
    K = fast_gram(kernel, X, X, [3, 4], **options)
    assert_allclose(K, naive_gram(kernel, X, X, [3, 4], **options), rtol=1e-5)


@pytest.mark.parametrize("n_features", [None, 16])
@pytest.mark.parametrize("manifold", [False, True])
def test_unseen_letters_are_the_same_alone_and_in_company(manifold, n_features):
    features = SequenceFeatures(Spectrum([1, 2]), manifold=manifold, n_features=n_features)
    features.fit(["ABBA", "BAB"])
    alone = features.transform(["AXXB"]).toarray()[0]
    in_company = features.transform(["ACCB", "AXXB", "AZZA"]).toarray()[1]
    assert_array_equal(alone, in_company)


@pytest.mark.parametrize("name", ["few", "many", "uneven"])
@pytest.mark.parametrize("options", [{"normalize": False}, {"manifold": True}], ids=str)
def test_words_in_all_or_few_sequences(name, options):
    # Words seen in most sequences and words seen in few take different ways through the machine.
    rng = np.random.default_rng(8)
    draw = {
        "few": lambda n: rng.integers(3, size=n),
        "many": lambda n: rng.integers(400, size=n),
        "uneven": lambda n: np.minimum(rng.zipf(1.3, n), 500) - 1,
    }[name]
    X = [[draw(n).tolist(), draw(n).tolist()] for n in rng.integers(60, size=size(70, 12))]
    assert_fast_is_naive(Spectrum([1, 2]), X, X[: len(X) // 2], 500, **options)


def test_large_counts_stay_exact():
    # The products pass 2**24, where single precision begins to skip integers.
    X = [[[0] * 4097 + [1] * 5], [[0] * 4099 + [1] * 2], [[1] * 5003 + [0] * 7]]
    expected = [[sum(x[0].count(s) * y[0].count(s) for s in (0, 1)) for y in X] for x in X]
    assert_array_equal(fast_gram(Spectrum(1), X, X, 2, normalize=False), expected)


@pytest.mark.slow
def test_large_counts_of_many_words_stay_exact():
    rng = np.random.default_rng(24)
    X = [random_sequences(rng, [size(3001, 301)], [2])[0] for _ in range(size(20, 3))]
    assert_fast_is_naive(Spectrum([2, 5]), X, X, 2, normalize=False)
    assert_fast_is_naive(Wildcard(4, 2, 0.5), X[:4], X, 2, normalize=False)


# profiles -------------------------------------------------------------------------------------

PROFILE_OPTIONS = [{"normalize": False}, {}, {"manifold": True}, {"manifold": True, "pyramid": 2}]


@pytest.mark.parametrize("options", PROFILE_OPTIONS, ids=str)
@pytest.mark.parametrize("kernel", [Profile(1, 1.0), Profile(2, 2.5), Profile(3, 3.0)], ids=repr)
def test_profiles(kernel, options):
    rng = np.random.default_rng(29)
    train, new = random_profiles(rng, [9, 0, 12, 2, 1]), random_profiles(rng, [8, 5, 3])
    twin = partial(naive.profile, **kernel.get_params())
    expected = naive.gram(
        [[x.tolist()] for x in new], [[x.tolist()] for x in train], [twin], **options
    )
    fitted = SequenceKernel(kernel, **options).fit([x.T for x in train])
    assert_allclose(fitted.transform([x.T for x in new]), expected, rtol=1e-5)


# warnings and errors --------------------------------------------------------------------------


def test_other_containers_are_the_same_sequences():
    rng = np.random.default_rng(3)
    X = random_sequences(rng, [9, 14, 11], [3, 4])
    fitted = SequenceKernel(Spectrum(2))
    K = fitted.fit_transform(as_symbols(X, [3, 4]))
    assert_array_equal(fitted.fit_transform([np.array(x) for x in X]), K)
    first_row = fast_gram(Spectrum(2), [[x[0]] for x in X], [[x[0]] for x in X], 3)
    assert_allclose(fitted.fit_transform([x[0] for x in X]), first_row, rtol=1e-14)
    letters = ["".join("xyz"[v] for v in x[0]) for x in X]
    assert_allclose(fitted.fit_transform(letters), first_row, rtol=1e-14)


@pytest.mark.filterwarnings("error")
def test_a_sequence_without_words_is_named():
    X = [[0, 1, 1, 0], [1, 0], [0, 0, 1]]
    with pytest.warns(UserWarning, match=r"\b1\b"):
        K = SequenceKernel(Spectrum(3)).fit_transform(X)
    assert_array_equal(K[1], [0, 0, 0])
    assert_array_equal(np.diag(K), [1, 0, 1])
    with pytest.warns(UserWarning, match=r"\b0\b"):
        K = SequenceKernel(Spectrum(3)).fit([X[0], X[2]]).transform([X[1]])
    assert_array_equal(K, [[0, 0]])


@pytest.mark.filterwarnings("error")
def test_a_constant_row_is_named():
    X = [[[0, 1, 1, 0], [2, 2, 2, 2]], [[1, 0, 1], [2, 2, 2]]]
    with pytest.warns(UserWarning, match=r"(?i)constant.*\b1\b|\b1\b.*constant"):
        K = SequenceKernel(Spectrum(2)).fit_transform([np.array(x) for x in X])
    assert_array_equal(K, SequenceKernel(Spectrum(2)).fit_transform([x[0] for x in X]))


@pytest.mark.filterwarnings("error")
def test_mismatch_pairs_warn():
    with pytest.warns(UserWarning, match="positive semi-definite"):
        SequenceKernel(MismatchPairs(2, 1)).fit_transform([[0, 1, 1], [1, 0, 1]])


@pytest.mark.parametrize("kernel", PAIRS_ONLY, ids=repr)
def test_no_manifold_without_features(kernel):
    with pytest.raises(ValueError, match="manifold"):
        SequenceKernel(kernel, manifold=True).fit_transform([[0, 1, 1, 0, 1], [1, 0, 1, 1]])


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("manifold", [False, True])
def test_mismatch_reads_symbols_outside_the_alphabet_as_missing(manifold):
    train, new = [[0, 1, 1, 0, 2, 1], [1, 0, 2, 2, 1, 0]], [0, 1, 9, 0, 2, 1, 1]
    kernel = SequenceKernel(Mismatch(3, 1), n_symbols=20, manifold=manifold, normalize=False)
    kernel.fit(train)
    unseen = [25 if symbol == 9 else symbol for symbol in new]
    missing = [None if symbol == 9 else symbol for symbol in new]
    expected = kernel.transform(as_symbols([[missing]], [20]))
    assert_array_equal(kernel.transform([unseen]), expected)


def test_a_gamma_of_any_size_is_a_number_or_refused():
    # whole numbers beyond 64 bits are objects to NumPy
    found = SequenceKernel(Spectrum(1), gamma=2**70).fit_transform(["AB", "AA"])
    assert_array_equal(found, np.eye(2))
    with pytest.raises(ValueError, match="gamma must be a number > 0"):
        SequenceKernel(Spectrum(1), gamma=10**400).fit(["AB", "AA"])


def test_a_single_block_is_counted_once_whatever_its_keys(monkeypatch):
    counted, count = [], counting.count_entries
    monkeypatch.setattr(counting, "count_entries", lambda *read: counted.append(1) or count(*read))
    X = [np.arange(30)[None] % 7, np.arange(25)[None] % 5]
    SequenceKernel(Spectrum(24), n_symbols=1000).fit_transform(X)  # ranks of words are keys
    assert len(counted) == 1

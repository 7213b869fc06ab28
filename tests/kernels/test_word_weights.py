"""Weights of words: fast equals naive, features are the kernel, and what weights change."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer

from cases import (
    COLLECTIONS,
    N_SYMBOLS,
    PAIRS_ONLY,
    ROW_WEIGHTS,
    UNEVEN,
    WITH_FEATURES,
    kernel_term,
    pairwise,
    random_profiles,
)
from mvdfq import (
    Gapped,
    Mismatch,
    Profile,
    SequenceFeatures,
    SequenceKernel,
    Spatial,
    Spectrum,
    Words,
)
from mvdfq.classifier.saving.tree import TreeReader, TreeWriter
from mvdfq.frames.learned import LearnedError
from naive import kernels as naive, terms as naive_views
from twins import as_symbols, fast_features, fast_gram, n_groups, naive_gram, random_sequences

WEIGHTS = [
    {"word_weights": "std"},
    {"word_weights": "std", "min_share": 0},
    {"word_weights": "std", "min_share": 0.5},
    {"word_weights": "idf"},
    {"word_weights": "idf", "min_share": 0.4},
]
STD, IDF = {"word_weights": "std"}, {"word_weights": "idf"}
OPTIONS = [
    STD,
    IDF | {"normalize": False},
    STD | {"normalize": False, "row_weights": ROW_WEIGHTS, "pyramid": 2, "min_share": 0},
    IDF | {"pyramid": 3, "row_norm": "cosine", "min_share": 0.4},
    STD | {"gamma": 0.5, "min_share": 0.5},
    STD | {"manifold": True},
    STD | {"manifold": True, "normalize": False, "pyramid": 3},
    IDF | {"manifold": True, "row_weights": ROW_WEIGHTS},
    STD | {"manifold": True, "row_norm": "cosine", "normalize": False, "min_share": 0},
]
LARGER = random_sequences(np.random.default_rng(7), range(20, 80), [8, 30, 200])
SMALLER = as_symbols([x[:1] for x in LARGER], 8)
SYMBOLS = as_symbols(LARGER, 200)

# Without a word that has a weight, a sequence has kernel values 0, and a warning says so.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def options_for(train, options):
    """The options with as many row weights as there are rows."""
    if "row_weights" not in options:
        return options
    return options | {"row_weights": ROW_WEIGHTS[: len(train[0])]}


def assert_same(K, expected, options):
    """As near as single precision for roots, and as double precision for counts."""
    rtol = 1e-5 if options.get("manifold") else 1e-11
    assert_allclose(K, expected, rtol=rtol, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "options", "name"),
    pairwise(WITH_FEATURES + UNEVEN[:3], OPTIONS, COLLECTIONS),
    ids=str,
)
def test_fast_is_naive(kernel, options, name):
    train, new = COLLECTIONS[name]
    options = options_for(train, options)
    n_symbols = N_SYMBOLS[: len(train[0])]
    for A in (train, new):
        expected = naive_gram(kernel, A, train, n_symbols, **options)
        assert_same(fast_gram(kernel, A, train, n_symbols, **options), expected, options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "options", "name"),
    pairwise(
        WITH_FEATURES,
        [options for options in OPTIONS if "gamma" not in options],
        ["missing", "short", "empty", "constant row", "unseen symbols"],
    ),
    ids=str,
)
def test_inner_products_of_features_are_the_kernel(kernel, options, name):
    train, new = COLLECTIONS[name]
    options = options_for(train, options)
    features = fast_features(kernel, [*new, *train], train, N_SYMBOLS, **options)
    product = (features @ features[len(new) :].T).toarray()
    expected = fast_gram(kernel, [*new, *train], train, N_SYMBOLS, **options)
    assert_same(product, expected, options)


@pytest.mark.parametrize("manifold", [False, True])
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
def test_groups_and_words_are_weighted_together(weights, manifold):
    train, new = COLLECTIONS["random"]
    kernel = Spatial(2, 1, 3)
    groups = [1 + i for i in range(n_groups(kernel))]
    options = weights | {"manifold": manifold, "group_weights": groups, "row_norm": "cosine"}
    expected = naive_gram(kernel, new, train, N_SYMBOLS, **options)
    assert_same(fast_gram(kernel, new, train, N_SYMBOLS, **options), expected, options)


@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
def test_profiles(weights):
    rng = np.random.default_rng(29)
    train, new = (random_profiles(rng, n) for n in ([9, 12, 5, 7], [8, 4]))
    for options in ({"normalize": False}, {"manifold": True}):
        found = [
            SequenceKernel(Profile(2, 2.5), **weights, **options).fit([x.T for x in train]),
            SequenceFeatures(Profile(2, 2.5), **weights, **options).fit([x.T for x in train]),
        ]
        A, B = ([[x.tolist()] for x in X] for X in (new, train))
        twin = [lambda columns: naive.profile(columns, 2, 2.5)]
        expected = naive.gram(A, B, twin, **weights, **options)
        K, features = (one.transform([x.T for x in new]) for one in found)
        assert_same(K, expected, {"manifold": True})
        product = features @ found[1].transform([x.T for x in train]).T
        assert_same(product.toarray(), expected, {"manifold": True})


def test_idf_is_that_of_scikit_learn():
    rng = np.random.default_rng(3)
    X = ["".join(rng.choice(list("ACGT"), n)) for n in (20, 35, 3, 50)]
    new = ["ACGTTGCAAC", "TTTTXACG", "CCC"]
    theirs = TfidfVectorizer(analyzer="char", ngram_range=(3, 3), lowercase=False).fit(X)
    ours = SequenceFeatures(Spectrum(3), word_weights="idf").fit(X)
    names = [name.split(": ")[1].replace(" ", "") for name in ours.get_feature_names_out()]
    assert names == theirs.get_feature_names_out().tolist()
    for sequences in (X, new):
        expected = theirs.transform(sequences).toarray()
        assert_allclose(ours.transform(sequences).toarray(), expected, rtol=1e-12)


@pytest.mark.parametrize("manifold", [False, True])
def test_every_standardized_word_has_deviation_one(manifold):
    options = {"manifold": manifold, "normalize": False, "pyramid": 2}
    features = SequenceFeatures(Spectrum([1, 2]), word_weights="std", **options)
    values = features.fit_transform(SYMBOLS).toarray()
    mean = np.sqrt(features.row_mean())  # kernels divide by the sum of the row weights
    assert_allclose(values.std(axis=0) * mean, 1, rtol=1e-6)
    assert (np.count_nonzero(values, axis=0) > 0.1 * len(values)).all()
    plain = SequenceFeatures(Spectrum([1, 2]), **options).fit(SYMBOLS)
    assert 0 < features.n_features_out_ < plain.n_features_out_


def test_centred_words_are_the_standardized_words_of_views():
    layouts, row = [(0, 1), (0, 2)], [x[0] for x in LARGER]
    features = SequenceFeatures(
        Words(layouts),
        manifold=True,
        normalize=False,
        pyramid=2,
        word_weights="std",
        min_share=0.2,
    )
    found = features.fit_transform(SMALLER).toarray()
    found -= found.mean(axis=0)
    expected, n_words = naive_views.gram(naive_views.standardized(row, layouts, 2, 0.2))
    assert found.shape[1] == n_words
    assert_allclose(found @ found.T, expected, rtol=1e-9, atol=1e-9)


def test_words_without_weight_count_in_the_shares_of_a_row():
    # B is rare, so it has no weight; A is still a third of the last sequence
    X = ["AA", "AA", "AAC", "AAC", "ABB"]
    features = SequenceFeatures(
        Spectrum(1), manifold=True, normalize=False, word_weights="idf", min_share=0.2
    ).fit(X)
    assert [name[-1] for name in features.get_feature_names_out()] == ["A", "C"]
    found = features.transform(["ABB", "BB", "AXY"]).toarray()[:, 0]
    assert_allclose(found, [np.sqrt(1 / 3), 0, np.sqrt(1 / 3)], rtol=1e-12)


@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
def test_kernels_of_rows_groups_and_times_add_up(weights):
    options = weights | {"normalize": False}
    train, new = COLLECTIONS["random"]
    K = fast_gram(Spectrum([1, 3]), new, train, N_SYMBOLS, **options)
    rows = [
        fast_gram(Spectrum([1, 3]), [[x[r]] for x in new], [[x[r]] for x in train], s, **options)
        for r, s in enumerate(N_SYMBOLS)
    ]
    assert_allclose(sum(rows), K, rtol=1e-12)
    groups = [fast_gram(Spectrum(k), new, train, N_SYMBOLS, **options) for k in (1, 3)]
    assert_allclose(sum(groups), K, rtol=1e-12)
    joined = [a + [None] * 3 + b for a, b in zip(new[0], new[1], strict=True)]
    both = fast_gram(Spectrum([1, 3]), [joined], train, N_SYMBOLS, **options)
    assert_allclose(both[0], K[0] + K[1], rtol=1e-12)


def test_deviations_do_not_depend_on_the_weights_of_layouts():
    train, new = COLLECTIONS["random"]
    options = {"normalize": False, "word_weights": "std"}
    small, large = (
        fast_gram(Words([(0, 1)], [weight]), new, train, N_SYMBOLS, **options)
        for weight in (1e-9, 1e9)
    )
    assert_allclose(small, large, rtol=1e-9)
    assert small.any()


@pytest.mark.parametrize("cls", [SequenceKernel, SequenceFeatures])
@pytest.mark.parametrize("manifold", [False, True])
@pytest.mark.parametrize("kernel", [Spectrum([1, 3]), Mismatch(3, 1)], ids=repr)
@pytest.mark.usefixtures("two_blas_threads")
def test_threads_change_no_bit(cls, kernel, manifold):
    train = SMALLER if isinstance(kernel, Mismatch) else SYMBOLS

    def computed(n_jobs):
        fitted = cls(kernel, manifold=manifold, word_weights="std", n_jobs=n_jobs)
        return dense(fitted.fit_transform(train))

    assert_array_equal(computed(1), computed(4))


def dense(matrix):
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


@pytest.mark.slow
@pytest.mark.parametrize("manifold", [False, True])
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize("kernel", [Spectrum([1, 3]), Gapped(4, 3)], ids=repr)
def test_little_memory_gives_the_same(kernel, weights, manifold):
    plenty, little = (
        SequenceKernel(kernel, manifold=manifold, memory_limit=limit, **weights).fit(SYMBOLS)
        for limit in (None, 2**18)
    )
    for place, factors in plenty.plan_.word_factors.items():
        assert_array_equal(little.plan_.word_factors[place].words, factors.words)
        assert_allclose(little.plan_.word_factors[place].values, factors.values, rtol=1e-9)
    options = {"manifold": manifold}
    assert_same(little.transform(SYMBOLS), plenty.transform(SYMBOLS), options)


@pytest.mark.parametrize("cls", [SequenceKernel, SequenceFeatures])
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
def test_clone_and_pickle_keep_the_answers(cls, weights):
    new = SYMBOLS[:5]
    fitted = cls(Gapped(3, 2), manifold=True, **weights).fit(SYMBOLS)
    expected = dense(fitted.transform(new))
    for copy in (pickle.loads(pickle.dumps(fitted)), clone(fitted).fit(SYMBOLS)):
        assert copy.get_params()["word_weights"] == weights["word_weights"]
        assert copy.get_params()["min_share"] == weights.get("min_share")
        assert_array_equal(dense(copy.transform(new)), expected)


def described(fitted):
    """The description and the arrays of a model file that holds `fitted`."""
    writer = TreeWriter()
    return writer.describe(fitted, "the estimator"), writer.arrays


@pytest.mark.parametrize("cls", [SequenceKernel, SequenceFeatures])
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
def test_model_files_keep_the_answers(cls, weights):
    fitted = cls(Gapped(3, 2), manifold=True, pyramid=2, **weights).fit(SYMBOLS)
    tree, arrays = described(fitted)
    loaded = TreeReader(arrays).built(tree)
    assert loaded.get_params()["word_weights"] == weights["word_weights"]
    expected = dense(fitted.transform(SYMBOLS[:5]))
    assert_array_equal(dense(loaded.transform(SYMBOLS[:5])), expected)


def test_model_files_with_wrong_factors_are_refused():
    kernel = SequenceKernel(Spectrum(1), word_weights="idf").fit(["AAB", "AB"])
    factors = kernel.plan_.word_factors
    factors[0, 0].values[0] = np.inf
    tree, arrays = described(kernel)
    with pytest.raises(LearnedError, match="values must be finite and positive"):
        TreeReader(arrays).built(tree)
    factors[0, 0].values[0] = 1
    factors[0, 1] = factors.pop((0, 0))
    tree, arrays = described(kernel)
    with pytest.raises(LearnedError, match="words for each of 1 tasks, got other tasks"):
        TreeReader(arrays).built(tree)


@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize("normalize", [False, True])
def test_machines_on_weighted_words(weights, normalize):
    train, new = COLLECTIONS["unseen symbols"]
    options = weights | {"manifold": True, "normalize": normalize}
    term = kernel_term(Spectrum([1, 2]), train, N_SYMBOLS, **options)
    K = naive_gram(Spectrum([1, 2]), new, train, N_SYMBOLS, **options)
    found = term.sums(term.reader.read_new(as_symbols(new, N_SYMBOLS)))
    assert_allclose(found, K @ term.coefficients, rtol=1e-4, atol=1e-9)


def test_refit_without_weights_forgets_the_weights():
    train = ["ABAB", "ABBA", "BBBB"]
    kernel = SequenceKernel(Spectrum(1), word_weights="std", min_share=0).fit(train)
    kernel.set_params(word_weights=None, min_share=None)
    expected = SequenceKernel(Spectrum(1)).fit_transform(train)
    assert_array_equal(kernel.fit_transform(train), expected)


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize("cls", [SequenceKernel, SequenceFeatures])
def test_a_sequence_without_a_weighted_word_is_named(cls):
    fitted = cls(Spectrum(1), word_weights="std").fit(["AAB", "AB", "ABB"])
    with pytest.warns(UserWarning, match="no word in sequence 1 .*no word with a weight"):
        found = dense(fitted.transform(["AB", "CCC"]))
    assert found[0].any()
    assert not found[1].any()


@pytest.mark.parametrize("cls", [SequenceKernel, SequenceFeatures])
def test_a_floor_above_all_words_is_named(cls):
    X = ["ABC", "DEF", "GHI"]  # a third of the sequences hold a word
    with pytest.warns(UserWarning, match="No word has a weight.*pass a smaller min_share"):
        cls(Spectrum(1), word_weights="std", min_share=0.4).fit(X)


@pytest.mark.parametrize("cls", [SequenceKernel, SequenceFeatures])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"word_weights": "chi2"}, r"word_weights must be one of .*'std', 'idf'.*got 'chi2'"),
        ({"word_weights": True}, "word_weights must be one of"),
        ({"min_share": 0.1}, r"min_share=0.1 needs word weights"),
        ({"word_weights": "std", "min_share": 1}, "min_share must be .* below 1, got 1"),
        ({"word_weights": "std", "min_share": -0.1}, "min_share must be"),
        ({"word_weights": "std", "min_share": "half"}, "min_share must be .*got 'half'"),
        ({"word_weights": "idf", "min_share": np.nan}, "min_share must be"),
    ],
    ids=str,
)
def test_wrong_options_are_named(cls, options, message):
    with pytest.raises(ValueError, match=message):
        cls(Spectrum(1), **options).fit(["AAB", "AB"])


@pytest.mark.parametrize("cls", [SequenceKernel, SequenceFeatures])
@pytest.mark.parametrize("kernel", PAIRS_ONLY, ids=repr)
def test_kernels_that_are_not_sums_over_words_are_refused(cls, kernel):
    with pytest.raises(ValueError, match="not a sum over words; pass word_weights=None"):
        cls(kernel, word_weights="std").fit([[0, 1, 1, 0, 1], [1, 0, 1, 1]])


def test_hashed_features_are_refused():
    with pytest.raises(ValueError, match=r"word_weights='std' needs .*n_features=16"):
        SequenceFeatures(Spectrum(1), word_weights="std", n_features=16).fit(["AAB", "AB"])

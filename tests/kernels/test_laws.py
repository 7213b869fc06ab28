"""What must hold for every kernel, whatever its numbers are."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

import mvdfq
from cases import KERNELS, N_SYMBOLS, PAIRS_ONLY, WITH_FEATURES, pairwise
from conftest import size
from mvdfq import (
    DirectQuantizer,
    Gapped,
    Mismatch,
    MismatchPairs,
    SequenceFeatures,
    SequenceKernel,
    Spatial,
    Spectrum,
    make_autoregressive,
)
from twins import as_symbols, fast_gram, random_sequences

OPTIONS = [{"normalize": False}, {}, {"manifold": True}, {"manifold": True, "pyramid": 3}]
pytestmark = pytest.mark.filterwarnings("ignore:.*positive semi-definite")

RNG = np.random.default_rng(2014)
LENGTHS = RNG.integers(12, size(40, 16), size=size(16, 5))
X = random_sequences(RNG, LENGTHS, N_SYMBOLS, missing=0.02)
NEW = random_sequences(RNG, [15, size(30, 13)], N_SYMBOLS)
LONG = random_sequences(RNG, RNG.integers(50, size(300, 60), size=size(40, 6)), [8, 30, 200, 2])


def assert_equal(K, expected, options):
    """Raw counts to the last integer, others as far as single precision goes."""
    if options.get("manifold"):
        assert_allclose(K, expected, rtol=1e-5)
    else:
        assert_allclose(K, expected, rtol=0 if "normalize" in options else 1e-12)


def gram_is_a_kernel_matrix(kernel, options):
    K = SequenceKernel(kernel, **options).fit_transform(as_symbols(X, N_SYMBOLS))
    assert_array_equal(K, K.T)
    if "normalize" not in options:
        assert_allclose(np.diag(K), 1, rtol=1e-12)
    if not isinstance(kernel, MismatchPairs):
        eigenvalues = np.linalg.eigvalsh(K)
        assert eigenvalues[0] > -1e-6 * eigenvalues[-1]


def permuting_sequences_permutes_the_gram(kernel, options):
    order = np.random.default_rng(5).permutation(len(X))
    K = fast_gram(kernel, X, X, N_SYMBOLS, **options)
    permuted = [X[i] for i in order]
    again = fast_gram(kernel, permuted, permuted, N_SYMBOLS, **options)
    assert_equal(again, K[np.ix_(order, order)], options)


def values_do_not_depend_on_the_company(kernel, options):
    alone = [fast_gram(kernel, [x], X[:3], N_SYMBOLS, **options)[0] for x in NEW]
    assert_equal(fast_gram(kernel, NEW, X, N_SYMBOLS, **options)[:, :3], alone, options)


def renaming_symbols_changes_nothing(kernel, options):
    rng = np.random.default_rng(6)
    names = [rng.permutation(s).tolist() for s in N_SYMBOLS]

    def renamed(sequences):
        return [
            [
                [None if v is None else new[v] for v in row]
                for row, new in zip(x, names, strict=True)
            ]
            for x in sequences
        ]

    K = fast_gram(kernel, NEW, X, N_SYMBOLS, **options)
    again = fast_gram(kernel, renamed(NEW), renamed(X), N_SYMBOLS, **options)
    assert_equal(again, K, options)


def threads_change_no_bit(kernel, options):
    train, new = as_symbols(X, N_SYMBOLS), as_symbols(NEW, N_SYMBOLS)
    fitted = [SequenceKernel(kernel, n_jobs=n, **options).fit(train) for n in (1, 2, 4)]
    one, *others = [(k.transform(train).tobytes(), k.transform(new).tobytes()) for k in fitted]
    assert others == [one, one]


LAWS = [
    gram_is_a_kernel_matrix,
    permuting_sequences_permutes_the_gram,
    values_do_not_depend_on_the_company,
    renaming_symbols_changes_nothing,
    threads_change_no_bit,
]


def is_a_law(kernel, options, law):
    """Whether the law holds for this kernel, and whether the kernel has these options."""
    if law is values_do_not_depend_on_the_company and hasattr(kernel, "neighbourhood"):
        # Where the training sequences decide which words count, they matter to each other.
        return kernel.neighbourhood == "full"
    return not (kernel in PAIRS_ONLY and "manifold" in options)


@pytest.mark.parametrize(
    ("kernel", "options", "law"),
    pairwise(size(KERNELS, KERNELS[::4]), OPTIONS, LAWS, valid=is_a_law),
    ids=lambda value: getattr(value, "__name__", str(value)),
)
@pytest.mark.usefixtures("two_blas_threads")
def test_laws(kernel, options, law):
    law(kernel, options)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_size_of_the_alphabet_matters_to_mismatch_alone(kernel):
    K, wider = (fast_gram(kernel, NEW, X, s, normalize=False) for s in (4, 5000))
    full_mismatch = isinstance(kernel, Mismatch) and kernel.neighbourhood == "full"
    assert np.array_equal(K, wider) != full_mismatch


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernels_of_rows_add_up(kernel):
    K = fast_gram(kernel, NEW, X, N_SYMBOLS, normalize=False)
    rows = [
        fast_gram(kernel, [[x[r]] for x in NEW], [[x[r]] for x in X], s, normalize=False)
        for r, s in enumerate(N_SYMBOLS)
    ]
    assert_array_equal(K, sum(rows))


@pytest.mark.parametrize("kernel", WITH_FEATURES, ids=repr)
def test_counts_add_up_over_time(kernel):
    # Between the two sequences more symbols are missing than a word can step over.
    joined = [a + [None] * 12 + b for a, b in zip(*NEW, strict=True)]
    one, other, both = fast_gram(kernel, [*NEW, joined], X, N_SYMBOLS, normalize=False)
    assert_array_equal(both, one + other)


LARGER = [Spectrum([1, 3]), Spatial(2, 1, 3), Gapped(4, 3), Mismatch(3, 1)]
LARGER_OPTIONS = [{"normalize": False}, {"manifold": True}]


@pytest.mark.parametrize("options", LARGER_OPTIONS, ids=str)
@pytest.mark.parametrize("kernel", LARGER[:3], ids=repr)
@pytest.mark.usefixtures("two_blas_threads")
def test_threads_change_no_bit_of_more_data(kernel, options):
    symbols = as_symbols(LONG, 200)
    one, *others = [
        SequenceKernel(kernel, n_jobs=n, **options).fit_transform(symbols).tobytes()
        for n in (1, 2, 4)
    ]
    assert others == [one, one]


@pytest.mark.parametrize("options", LARGER_OPTIONS, ids=str)
@pytest.mark.parametrize("kernel", LARGER, ids=repr)
@pytest.mark.slow
def test_little_memory_gives_the_same(kernel, options):
    rows, n_symbols = (1, 8) if isinstance(kernel, Mismatch) else (4, 200)
    # More new sequences than training ones, and a matrix cut into many pieces.
    train, new = (as_symbols([x[:rows] for x in X], n_symbols) for X in (LONG[::3], LONG))
    plenty, little = (
        SequenceKernel(kernel, memory_limit=limit, **options).fit(train) for limit in (None, 2**18)
    )
    assert_equal(little.transform(new), plenty.transform(new), options)
    assert_equal(little.fit_transform(new), plenty.fit_transform(new), options)


@pytest.mark.parametrize("options", LARGER_OPTIONS, ids=str)
@pytest.mark.usefixtures("two_blas_threads")
def test_threads_change_no_bit_of_features(options):
    train = as_symbols(LONG, 200)
    one, other = (
        SequenceFeatures(LARGER[0], n_jobs=n, **options).fit_transform(train) for n in (1, 4)
    )
    assert_array_equal(other.toarray(), one.toarray())


# inside scikit-learn --------------------------------------------------------------------------

SERIES, LABELS = make_autoregressive(size(60, 24), 3, (20, 40), n_classes=2, random_state=0)
KERNEL = SequenceKernel(Spectrum(2), manifold=True)


def pipeline(kernel=KERNEL):
    return make_pipeline(DirectQuantizer(n_bins=4), kernel, SVC(kernel="precomputed", C=10))


@pytest.mark.parametrize("cls", [SequenceKernel, SequenceFeatures])
@pytest.mark.parametrize("kernel", size(WITH_FEATURES, WITH_FEATURES[::8]), ids=repr)
def test_clone_and_pickle_keep_the_answers(kernel, cls):
    train, new = as_symbols(X, N_SYMBOLS), as_symbols(NEW, N_SYMBOLS)
    fitted = cls(kernel, manifold=True).fit(train)
    copies = [pickle.loads(pickle.dumps(fitted)), clone(fitted).fit(train)]
    expected = dense(fitted.transform(new))
    for copy in copies:
        assert_array_equal(dense(copy.transform(new)), expected)


def dense(matrix):
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


@pytest.mark.parametrize("cls", [SequenceKernel, SequenceFeatures])
def test_refit_forgets_and_fit_leaves_parameters_alone(cls):
    first, second = as_symbols(X, N_SYMBOLS), as_symbols(NEW, N_SYMBOLS)
    estimator = cls(Mismatch(3, 1))
    before = repr(estimator.get_params())
    refit = dense(estimator.fit(first).fit(second).transform(first))
    assert_array_equal(refit, dense(cls(Mismatch(3, 1)).fit(second).transform(first)))
    assert repr(estimator.get_params()) == before


@pytest.mark.parametrize("cls", [SequenceKernel, SequenceFeatures])
def test_transform_before_fit_says_so(cls):
    with pytest.raises(NotFittedError):
        cls(Spectrum(2)).transform([[0, 1, 0]])


def test_pipeline_learns():
    assert cross_val_score(pipeline(), SERIES, LABELS, cv=3).mean() > 0.75


def test_grid_search_reaches_into_the_kernel():
    grid = {"sequencekernel__kernel__k": [1, 2], "svc__C": [1, 10]}
    search = GridSearchCV(pipeline(), grid, cv=3).fit(SERIES, LABELS)
    assert set(search.best_params_) == set(grid)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    chosen = search.best_estimator_.named_steps["sequencekernel"].kernel.k
    assert chosen == search.best_params_["sequencekernel__kernel__k"]
    assert search.predict(SERIES[:5]).shape == (5,)


def test_cross_val_predict_is_fold_by_fold():
    predicted = cross_val_predict(pipeline(), SERIES, LABELS, cv=2)
    assert (predicted == LABELS).mean() > 0.75


def test_calibrated_probabilities():
    model = CalibratedClassifierCV(pipeline(), cv=3, ensemble=False).fit(SERIES, LABELS)
    probabilities = model.predict_proba(SERIES)
    assert_allclose(probabilities.sum(axis=1), 1)
    assert (model.predict(SERIES) == LABELS).mean() > 0.75


def test_linear_machine_on_features_is_the_kernel_machine():
    quantizer = DirectQuantizer(n_bins=4)
    features = SequenceFeatures(Spectrum(2), manifold=True)
    explicit = make_pipeline(quantizer, features, SVC(kernel="linear", C=10))
    decisions = [
        model.fit(SERIES, LABELS).decision_function(SERIES) for model in (explicit, pipeline())
    ]
    assert_allclose(*decisions, atol=1e-3)
    linear = make_pipeline(quantizer, features, LinearSVC()).fit(SERIES, LABELS)
    assert linear.score(SERIES, LABELS) > 0.75


def test_roots_in_single_precision_are_as_exact_as_the_docstring_says():
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ABC"), 200)) for _ in range(30)]
    K = mvdfq.SequenceKernel(mvdfq.Spectrum(3), manifold=True).fit_transform(X)
    words = sorted({x[i : i + 3] for x in X for i in range(198)})
    counts = np.array([[sum(x[i : i + 3] == w for i in range(198)) for w in words] for x in X])
    exact = np.sqrt(counts / counts.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(K, exact @ exact.T, rtol=0, atol=1e-6)
    assert np.linalg.eigvalsh(K).min() > -1e-6

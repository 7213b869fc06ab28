"""Prediction by table: the words of a sequence looked up give the margins that the kernel gives."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cases import (
    COLLECTIONS,
    KINDS,
    N_COLUMNS,
    N_SYMBOLS,
    ROW_WEIGHTS,
    TABLE_KERNELS,
    TABLE_OPTIONS,
    by_kernel,
    coefficients,
    has_table,
    kernel_term,
    pairwise,
    term_on,
)
from mvdfq import (
    Mismatch,
    MismatchPairs,
    Profile,
    SequenceFeatures,
    SequenceKernel,
    Spatial,
    Spectrum,
    Subsequence,
)
from mvdfq.terms import word_table
from mvdfq.terms.plain_answers import FittedFeatures
from twins import as_symbols, naive_gram

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    # keys are scrambled by products that wrap around, which Python remarks on and machines do not
    pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply"),
]


def margins_of(term, new, n_symbols):
    return term.sums(term.reader.read_new(as_symbols(new, n_symbols))) + term.intercepts


PLACES = [*((name, True) for name in KINDS), *((name, False) for name in KINDS[-2:])]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "options", "place"),
    pairwise(TABLE_KERNELS, TABLE_OPTIONS, PLACES, valid=has_table),
    ids=str,
)
def test_table_gives_the_margins_of_the_naive_kernel(kernel, options, place, monkeypatch):
    name, dense = place
    if not dense:
        monkeypatch.setattr(word_table, "DENSE_WORDS", 0)
    train, new = COLLECTIONS[name]
    n_symbols = N_SYMBOLS[: len(train[0])]
    if "row_weights" in options:
        options = options | {"row_weights": options["row_weights"][-len(n_symbols) :]}
    term = kernel_term(kernel, train, n_symbols, **options)
    expected = by_kernel(term, naive_gram(kernel, new, train, n_symbols, **options))
    assert term.table is not None
    assert term.table.groups[0].dense == (dense or term.table.groups[0].first[-1] == 0)
    scale = max(1, np.abs(expected).max())
    assert_allclose(margins_of(term, new, n_symbols), expected, rtol=1e-5, atol=1e-5 * scale)


@pytest.mark.parametrize("options", [{}, {"manifold": True, "pyramid": 2}], ids=str)
@pytest.mark.parametrize("kernel", [Spectrum([1, 3]), Spatial(2, 2, 2), Spectrum(8)], ids=str)
def test_table_of_a_linear_machine_gives_its_margins(kernel, options):
    train, new = COLLECTIONS["random"]
    reader = SequenceFeatures(kernel, row_weights=ROW_WEIGHTS, **options)
    values = reader.fit_transform(as_symbols(train, N_SYMBOLS))
    learned = values.T @ coefficients(len(train))
    term = FittedFeatures(
        name="words",
        encoders=[],
        intercepts=np.zeros(N_COLUMNS),
        reader=reader,
        coefficients=learned,
    )
    expected = reader.transform(as_symbols(new, N_SYMBOLS)) @ learned
    assert term.table is not None
    assert_allclose(margins_of(term, new, N_SYMBOLS), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        (Mismatch(3, 1), {"manifold": True}),
        (Mismatch(3, 1, neighbourhood="observed"), {}),
        (Subsequence(2), {}),
        (Spectrum(2), {"gamma": 1.0}),
        (Spectrum(2), {"memory_limit": 100}),
        (Spectrum(64), {}),
    ],
    ids=str,
)
def test_without_a_table_the_kernel_is_computed(kernel, options):
    train, new = COLLECTIONS["random"]
    limit = options.pop("memory_limit", None)
    term = kernel_term(kernel, train, N_SYMBOLS, **options)
    term.memory_limit = limit
    assert term.table is None
    expected = by_kernel(term, naive_gram(kernel, new, train, N_SYMBOLS, **options))
    assert_allclose(margins_of(term, new, N_SYMBOLS), expected, rtol=1e-5, atol=1e-6)


def test_profiles_have_no_table():
    rng = np.random.default_rng(0)
    X = [rng.dirichlet(np.ones(4), 9).T for _ in range(5)]
    reader = SequenceKernel(Profile(k=2, sigma=2)).fit(X)
    term = term_on(reader, coefficients(5))
    assert term.table is None
    assert_allclose(term.sums(reader.read_new(X[:2])), reader.transform(X[:2]) @ coefficients(5))


def test_pairs_at_a_distance_have_one():
    # their kernel is a sum of gapped words with weights of both signs
    train, new = COLLECTIONS["random"]
    term = kernel_term(MismatchPairs(3, 1), train, N_SYMBOLS, normalize=False)
    expected = by_kernel(
        term, naive_gram(MismatchPairs(3, 1), new, train, N_SYMBOLS, normalize=False)
    )
    assert term.table is not None
    assert_allclose(margins_of(term, new, N_SYMBOLS), expected, rtol=1e-5, atol=1e-4)


@pytest.mark.usefixtures("two_blas_threads")
def test_margins_do_not_depend_on_threads_or_company(monkeypatch):
    train, new = COLLECTIONS["random"]
    one = kernel_term(Spatial(3, 1, 3), train, N_SYMBOLS, manifold=True)
    two = kernel_term(Spatial(3, 1, 3), train, N_SYMBOLS, manifold=True, n_jobs=2)
    together = margins_of(two, new, N_SYMBOLS)
    assert_array_equal(margins_of(one, new, N_SYMBOLS), together)
    alone = [margins_of(one, [x], N_SYMBOLS)[0] for x in new]
    assert_array_equal(alone, together)
    monkeypatch.setattr(word_table, "LISTED", 1)  # one sequence at a time
    assert_array_equal(margins_of(one, new, N_SYMBOLS), together)


def test_the_table_is_made_once_and_not_pickled():
    train, _ = COLLECTIONS["random"]
    term = kernel_term(Spectrum(2), train, N_SYMBOLS)
    assert term.table is term.table
    copy = pickle.loads(pickle.dumps(term))
    assert copy._made == {}
    assert_array_equal(copy.table.groups[0].values, term.table.groups[0].values)


def test_the_size_is_what_the_words_take():
    train, _ = COLLECTIONS["random"]
    term = kernel_term(Spectrum(2), train, N_SYMBOLS, pyramid=2)
    assert term.table.nbytes == sum(s**2 for s in N_SYMBOLS) * 3 * N_COLUMNS * 4


@pytest.mark.slow
def test_words_that_fill_sixty_bits_beside_many_sequences():
    rng = np.random.default_rng(0)
    train = [[rng.integers(4096, size=8).tolist()] for _ in range(40)]
    term = kernel_term(Spectrum(5), train, [4096])
    assert term.table is not None
    K = naive_gram(Spectrum(5), train[:3], train, [4096])
    assert_allclose(margins_of(term, train[:3], [4096]), by_kernel(term, K), atol=1e-5)


@pytest.mark.parametrize("kernel", [Spectrum(2), Mismatch(2, 1), Spectrum(9)], ids=str)
def test_nothing_but_symbols_never_seen(kernel):
    train = [[[0, 1, 2, 1, 0, 2]], [[2, 2, 1, 0, 1, 1]]]
    term = kernel_term(kernel, train, [3])
    new = [[[5, 6, 7, 8]], [[0, 1, 9, 1, 0]]]
    expected = by_kernel(term, term.reader.transform(as_symbols(new, [3])))
    assert_allclose(margins_of(term, new, [3]), expected, atol=1e-5)

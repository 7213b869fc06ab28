"""Products of columns: row by row, column by column, and by matrix products."""

import numpy as np
import pytest

from mvdfq._engines import cpu
from mvdfq.gram import sums
from mvdfq.gram.sums import Products
from mvdfq.kernels.counting import Columns


def columns_of(counts):
    """The columns of a dense (n_sequences, n_words) matrix of counts."""
    word, sequence = np.nonzero(counts.T)
    indptr = np.searchsorted(word, np.arange(counts.shape[1] + 1))
    return Columns(
        indptr.astype(np.int64),
        sequence.astype(np.uint32),
        counts[sequence, word].astype(np.float32),
        np.arange(counts.shape[1], dtype=np.uint64),
    )


def counts_of(rng, n_sequences, n_words):
    """Counts of rare, common and frequent words."""
    share = rng.uniform(0, 1, n_words) ** 3
    return rng.integers(1, 4, (n_sequences, n_words)) * (rng.random((n_sequences, n_words)) < share)


@pytest.mark.parametrize("symmetric", [True, False])
def test_rows_and_columns_add_the_same_numbers_in_the_same_order(symmetric):
    rng = np.random.default_rng(0)
    columns = columns_of(np.sqrt(counts_of(rng, 90, 40)))
    first_right = 0 if symmetric else 50
    n_left = 90 if symmetric else 50
    left = np.diff(columns.indptr)
    if not symmetric:
        left = cpu.left_degrees(columns.indptr, columns.sequence, n_left)
    both = []
    for add in (cpu.add_outer_products, cpu.add_row_products):
        out = np.zeros((n_left, 90 - first_right))
        sides = columns.indptr, columns.indptr[:-1] + left, columns.sequence, columns.count
        add(*sides, np.arange(40), np.uint32(first_right), symmetric, out)
        both.append(out)
    assert both[0].any()
    np.testing.assert_array_equal(*both)


@pytest.mark.parametrize("root", [True, False])
@pytest.mark.parametrize("first_right", [0, 50])
@pytest.mark.parametrize("n_columns", [1, 30, 1024])
def test_products_of_several_tasks_are_those_of_dense_matrices(
    root, first_right, n_columns, monkeypatch
):
    monkeypatch.setattr(sums, "DENSE_COLUMNS", n_columns)
    rng = np.random.default_rng(1)
    products = Products(first_right or 90, first_right, 90, root)
    expected = 0
    for _ in range(5):
        counts = counts_of(rng, 90, 40)
        products.add_columns(columns_of(counts), float(counts.sum(axis=1).max()))
        values = np.sqrt(counts) if root else counts
        expected = expected + values[: first_right or 90] @ values[first_right:].T
    products.finish()
    found = products.values
    if not first_right:  # only the upper triangle, without the diagonal
        found, expected = np.triu(found, 1), np.triu(expected, 1)
    np.testing.assert_allclose(found, expected, rtol=1e-6 if root else 0)


def test_whole_numbers_stay_exact_in_a_sum_of_many_products():
    counts = np.zeros((2, 3), int)
    counts[:, 0] = 4095  # one product is exact in single precision, 40 of them are not
    products = Products(1, 1, 2, root=False)
    for _ in range(40):
        products.add_columns(columns_of(counts), 4095.0)
        products.add_columns(columns_of(np.eye(2, 3, dtype=int) * 0 + [[1, 0, 0]]), 1.0)
    products.finish()
    assert products.values[0, 0] == 40 * (4095**2 + 1)

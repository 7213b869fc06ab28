"""Products of columns: as bits, column by column, and by matrix products."""

from dataclasses import replace

import numpy as np
import pytest

from conftest import size
from mvdfq._engines import cpu
from mvdfq.gram import sums
from mvdfq.gram.bits import Bits
from mvdfq.gram.sums import Products
from mvdfq.kernels.counting import Columns, Counted, listed_by_sequence
from naive import kernels as naive


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


def counted_of(counts, root, unit):
    """The counts of a block of sequences, with lists for bits; no words that do not occur."""
    kept = counts.any(axis=0)
    columns = columns_of(counts[:, kept] * unit)
    values, levels = columns.count, unit * np.array([1, 2, 1.5], np.float32)
    if root:
        values, levels = np.sqrt(values), np.sqrt(levels)
    own = (np.sqrt(counts * unit) if root else counts * unit).astype(float)
    keyed = replace(columns, count=values, words=np.flatnonzero(kept).astype(np.uint64))
    lists = listed_by_sequence(keyed, len(counts), levels)
    return Counted(keyed, (own**2).sum(axis=1), 9, np.inf, lists)


@pytest.mark.parametrize("root", [True, False])
@pytest.mark.parametrize(("n_left", "n_right"), [(90, 0), (530, 0), (70, 530), (530, 90)])
def test_products_of_blocks_are_those_of_their_slow_twin(root, n_left, n_right):
    random = np.random.default_rng(3)
    n_left, n_right = size(n_left, min(n_left, 40)), size(n_right, min(n_right, 40))
    products = Products(n_left, n_left if n_right else 0, n_left + n_right, root)
    expected, n_listed = 0, 0
    for unit in (1, 1, 0.5):  # bits of another unit begin anew
        share = random.choice([0, 0.05, 0.3, 0.5], 40)
        counts = random.random((n_left + n_right, len(share))) < share
        counts = counts * random.choice([1, 2, 3, 7], counts.shape, p=[0.8, 0.16, 0.02, 0.02])
        blocks = [counted_of(part, root, unit) for part in (counts[:n_left], counts[n_left:])]
        products.add_counted(blocks[0], blocks[1 if n_right else 0])
        n_listed += all(block.lists is not None for block in blocks[: 2 if n_right else 1])
        pairs = counts[:n_left], counts[n_left:] if n_right else counts
        expected = expected + np.array(
            naive.products(*(part.tolist() for part in pairs), unit, root)
        )
    products.finish()
    assert n_listed == 3
    found = products.values
    if not n_right:  # only the upper triangle, without the diagonal
        found, expected = np.triu(found, 1), np.triu(expected, 1)
    np.testing.assert_allclose(found, expected, rtol=1e-6 if root else 0)


def test_more_bits_than_a_counter_holds_are_added_in_time(monkeypatch):
    finished = []
    finish = Bits.finish
    monkeypatch.setattr(Bits, "finish", lambda bits: (finished.append(bits.most), finish(bits)))
    block = counted_of(np.ones((20, 90), int), False, 1)
    products = Products(20, 0, 20, False)
    for _ in range(100):
        products.add_counted(block, block)
    products.finish()
    assert len(finished) > 2
    assert max(finished) < 2**cpu.DIGITS
    assert products.values[0, 1] == 90 * 100


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

"""Linear machines by passes over blocks: features, solver, classifier, blocks read again."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mvdfq
from cases import as_array
from mvdfq import SequenceClassifier, Words
from mvdfq._engines.spread import LocalBlocks
from mvdfq.classifier import learning, passes
from mvdfq.symbols import Symbols
from mvdfq.terms import standard
from mvdfq.terms.base import Work
from mvdfq.terms.feature_blocks import Labelled, MatrixBlock
from mvdfq.terms.pass_solver import PassSolver
from mvdfq.terms.standard import Scale, column_sums
from mvdfq.terms.svm import Problems
from mvdfq.terms.words import root_shares
from naive import passes as naive_passes, terms as naive_views

LAYOUTS = [(0,), (0, 2)]
rng = np.random.default_rng(0)


# Blocks


@pytest.fixture(scope="module")
def symbols():
    rows = [rng.integers(0, 3, (2, n)).astype(np.uint8) for n in (12, 9, 1, 0, 15)]
    rows[1][0, 4] = 255
    offsets = np.cumsum([0, *(row.shape[1] for row in rows)])
    return Symbols(np.concatenate(rows, axis=1), offsets, n_symbols=np.array([3, 3]))


@pytest.fixture(scope="module")
def source(symbols):
    return mvdfq.WordTerm(None, Words(LAYOUTS), pyramid=2).source(symbols, np.zeros(5), Work())


def test_a_block_of_words_holds_the_root_shares(symbols, source):
    block = source.block(symbols)
    shares = block.times(np.eye(block.n_columns, dtype=np.float32))
    ends = np.cumsum([0, *(row.n_columns for row in block.blocks)])
    for r in range(2):
        for i in range(len(symbols)):
            own = naive_views.root_shares(symbols[i][r].tolist(), LAYOUTS, 2, missing=255)
            mine = shares[i, ends[r] : ends[r + 1]]
            assert_allclose(np.sort(mine[mine > 0]), sorted(own.values()), rtol=1e-5)
    dense = as_array(root_shares(symbols, source.reader.plan_, np.arange(2)))
    assert_allclose(shares, dense, rtol=1e-5)
    slopes = rng.normal(size=(len(symbols), 3)).astype(np.float32)
    assert_allclose(block.gathered(slopes), dense.T @ slopes, rtol=1e-4, atol=1e-6)
    weight = rng.random(len(symbols)) + 0.5
    for found, wanted in zip(block.sums(weight), column_sums(dense, weight), strict=True):
        assert_allclose(found, wanted, rtol=1e-5)


def test_words_that_are_left_out_count_in_the_shares(symbols, source):
    used = np.arange(sum(source.sizes)) % 3 == 0
    every, some = source.block(symbols), source.only(used)[0].block(symbols)
    wanted = every.times(np.eye(every.n_columns, dtype=np.float32))[:, used]
    assert_allclose(some.times(np.eye(some.n_columns, dtype=np.float32)), wanted, rtol=1e-6)


@pytest.mark.parametrize("largest", [9, 400])
def test_counts_above_a_byte_are_kept_too(source, largest):
    codes = np.zeros((2, largest), np.uint8)
    symbols = Symbols(codes, np.array([0, largest]), n_symbols=np.array([3, 3]))
    block = source.block(symbols)
    dense = as_array(root_shares(symbols, source.reader.plan_, np.arange(2)))
    assert_allclose(block.times(np.eye(block.n_columns, dtype=np.float32)), dense, rtol=1e-5)
    assert block.blocks[0].values.dtype == (np.uint8 if largest < 256 else np.float32)


def test_dense_shares_are_bytes_where_nothing_is_missing():
    counts = rng.integers(0, 5, (4, 6))
    totals = np.array([9, 7, 8, 0])
    counts[3] = 0
    shares = np.sqrt(counts / np.maximum(totals, 1)[:, None]).astype(np.float32)
    block = MatrixBlock.of_shares(shares, totals)
    assert block.values.dtype == np.uint8
    weights = rng.normal(size=(6, 2)).astype(np.float32)
    assert_allclose(block.times(weights), shares @ weights, rtol=1e-4, atol=1e-6)
    slopes = rng.normal(size=(4, 2)).astype(np.float32)
    assert_allclose(block.gathered(slopes), shares.T @ slopes, rtol=1e-4, atol=1e-6)
    assert MatrixBlock.of_shares(shares, totals + 1).scale is None  # other totals: no counts


# Solver


@pytest.mark.parametrize(("scheme", "n_classes"), [("ovr", 3), ("ovo", 3), ("ovr", 2)], ids=str)
def test_passes_solve_what_a_general_solver_solves(scheme, n_classes):
    features = rng.random((24, 4)).astype(np.float32)
    y, weight = np.arange(24) % n_classes, rng.random(24) + 0.5
    held = np.arange(24) >= 20
    problems, factor = Problems(n_classes, scheme), np.array([1.0, 2.0, 0.5, 0.0])

    def maker(a):
        rows = slice(a, a + 7)
        block = MatrixBlock(features[rows])
        return lambda: Labelled(block, y[rows], weight[rows], weight[rows], held[rows])

    blocks = LocalBlocks([maker(a) for a in range(0, 24, 7)], 0, None)
    columns = Scale(features.mean(axis=0), factor)
    solver = PassSolver(blocks, columns, problems, 2**30, tolerance=1e-9)
    margins = solver(0.7, everything=False)
    for p, (positive, negative) in enumerate(problems.pairs):
        targets = np.where(y == positive, 1, np.where((y == negative) | (negative < 0), -1, 0))
        targets[held] = 0
        w, b = naive_passes.squared_hinge(features * factor, targets, weight, 0.7)
        wanted = (features * factor) @ w + b
        found = (features * factor) @ margins.coefficients[:, p] + margins.intercepts[p]
        assert_allclose(found, wanted, atol=5e-3)


@pytest.mark.usefixtures("two_blas_threads")
def test_sums_do_not_depend_on_threads_or_on_what_is_kept():
    values = rng.random((9, 50, 3))
    makers = [lambda i=i: MatrixBlock(values[i]) for i in range(9)]
    sums = [
        LocalBlocks(makers, memory, n_jobs).sum(lambda block: block.sums(np.ones(50)))
        for memory, n_jobs in [(0, None), (2000, 2), (2**30, 3)]
    ]
    for other in sums[1:]:
        for a, b in zip(sums[0], other, strict=True):
            assert_array_equal(a, b)
    kept = LocalBlocks(makers, 2500, None)
    kept.sum(lambda block: block.sums(np.ones(50)))
    assert list(kept.kept) == [0, 1]
    third = kept.sum(lambda block: block.sums(np.ones(50)), stride=4)
    assert_allclose(third[1], values[::4].sum(axis=(0, 1)))


# Classifier


@pytest.fixture(scope="module")
def vowels():
    """Three of the nine speakers: 90 sequences to learn from."""
    parts = [mvdfq.load_japanese_vowels(split=split) for split in ("train", "test")]
    chosen = [np.flatnonzero(np.isin(y, ["1", "2", "3"])) for _, y in parts]
    return [([X[i] for i in some], y[some]) for (X, y), some in zip(parts, chosen, strict=True)]


@pytest.fixture(scope="module")
def few():
    """Let many sequences be more than 60."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning, "MANY", 60)
        patch.setattr(passes, "BLOCK_SEQUENCES", 20)
        yield


@pytest.fixture(scope="module")
def fitted(vowels, few):
    return SequenceClassifier("fast").fit(*vowels[0])


def test_many_sequences_are_learned_by_passes(fitted, vowels):
    assert fitted.score(*vowels[1]) > 0.96
    assert fitted.importance(by="terms").names == ["words", "filters"]
    assert 0.9 < fitted.validation_score_ <= 1
    assert fitted.training_["n_sequences"] == 90
    chances = fitted.predict_proba(vowels[1][0])
    assert_allclose(chances.sum(axis=1), 1)
    assert chances.max(axis=1).mean() > 0.6


def test_passes_and_kernel_matrix_give_the_same_labels(fitted, vowels):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning, "MANY", 1000)
        patch.setattr(standard, "MOST_WEIGHED", 0)  # words of passes count alike
        by_matrix = SequenceClassifier("fast", cv=2).fit(*vowels[0])
    X = vowels[1][0]
    assert np.mean(by_matrix.predict(X) == fitted.predict(X)) > 0.97
    found = [one.importance(*vowels[1], by="terms").log_loss for one in (by_matrix, fitted)]
    assert_allclose(*found, atol=0.1)


def test_evidence_files_and_neighbours_of_passes(fitted, vowels, tmp_path):
    X, y = vowels[1]
    found = fitted.explain(X[0])
    assert_allclose(found.by_row.sum(axis=1) + found.constant, found.margins, atol=1e-6)
    assert_allclose(found.margins, fitted.decision_function(X[:1])[0], atol=1e-6)
    assert fitted.feature_importance_.shape == (12,)
    fitted.save(tmp_path / "model.mvdfq")
    again = mvdfq.load(tmp_path / "model.mvdfq")
    assert_array_equal(again.decision_function(X[:20]), fitted.decision_function(X[:20]))
    near = fitted.neighbours(X[0], 3)
    assert all(one.label == vowels[0][1][one.index] for one in near)
    assert near[0].label == y[0]


@pytest.mark.usefixtures("two_blas_threads")
@pytest.mark.slow
def test_threads_do_not_change_machines(vowels, few, fitted):
    X, y = vowels[0]
    other = SequenceClassifier("fast", n_jobs=2).fit(X, y)
    assert_array_equal(other.decision_function(X[:30]), fitted.decision_function(X[:30]))


def test_a_small_memory_limit_chooses_passes(vowels, monkeypatch):
    monkeypatch.setattr(learning, "SMALL_MATRIX", 2**10)
    monkeypatch.setattr(learning, "MANY", 1000)
    X, y = vowels[0]
    options = [("50 kB", "auto"), ("100 kB", "auto"), (None, "auto"), ("50 kB", "kernel")]
    for (limit, solver), wanted in zip(options, [True, False, False, False], strict=True):
        clf = SequenceClassifier("fast", memory_limit=limit, solver=solver)
        training = learning.check_training(clf, mvdfq.check_sequences(X), y, None, None)
        assert learning._goes_by_passes(clf, training) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("n_features", [None, 500])
def test_other_kernels_are_learned_by_passes_too(vowels, few, n_features):
    (X, y), (X_test, y_test) = vowels
    kernel, symbols = mvdfq.Spectrum(2), mvdfq.DirectQuantizer(4)
    options = {"kernel": kernel, "symbols": symbols, "n_features": n_features}
    clf = SequenceClassifier(C=[1, 10], cv=2, **options).fit(X, y)
    assert clf.score(X_test, y_test) > 0.9
    assert clf.validation_scores_.shape == (2, 2)
    assert len(clf.neighbours(X_test[0], 2)) == 2


def test_groups_are_held_out_as_a_whole(vowels):
    y = vowels[0][1]
    groups = np.arange(len(y)) % 13
    trainer = passes.Trainer(Problems(3, "ovr"), np.unique(y, return_inverse=True)[1],
                             np.ones(len(y)), groups)  # fmt: skip
    held = passes.held_out(trainer, np.random.default_rng(0))
    assert 0 < len(held) < len(y) / 2
    assert not set(groups[held]) & set(np.delete(groups, held))


# Blocks that are read again


def test_blocks_give_the_machines_of_all_sequences(vowels):
    (X, y), (X_test, y_test) = vowels
    read = []

    def block(i):
        read.append(i)
        return X[i::3], y[i::3]

    clf = SequenceClassifier("fast").fit_blocks([lambda i=i: block(i) for i in range(3)])
    assert clf.score(X_test, y_test) > 0.96
    assert sorted(set(read)) == [0, 1, 2]
    assert clf.training_["n_sequences"] == 90
    assert sum(clf.training_["classes"].values()) == 90
    for one in clf.neighbours(X_test[0], 3):
        place, i = one.index % 30, one.index // 30
        assert one.label == y[i::3][place]


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([], "at least one block"),
        ([(np.zeros((4, 2, 9)), None)], "Block 0 has no labels"),
        ((np.zeros((4, 2, 9)), [0, 1, 0, 1]), r"must be a pair .* pass \[\(X, y\)\]"),
        ([(np.zeros((4, 2, 9)), [0, 1, 0, 1], [1] * 4)], "Block 0 must be a pair"),
        ([(np.zeros((4, 2, 9)), [0, 1, 0, 1]), (np.zeros((4, 3, 9)), [0, 1, 0, 1])], "channels"),
        ([(np.zeros((4, 2, 9)), [0] * 4)], "two classes"),
    ],
)
def test_blocks_that_do_not_fit_are_refused(blocks, message):
    with pytest.raises(ValueError, match=message):
        SequenceClassifier().fit_blocks(blocks)


def test_the_kernel_solver_cannot_read_blocks():
    blocks = [(np.random.default_rng(0).normal(size=(20, 2, 9)), np.arange(20) % 2)]
    with pytest.raises(ValueError, match="fit_blocks trains a linear model"):
        SequenceClassifier(solver="kernel").fit_blocks(blocks)

"""Sums of kernels: standardized words and filters beside the first kernel."""

import tracemalloc
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import mvdfq
import naive_views
from mvdfq import SequenceClassifier, SequenceFeatures, Words, check_sequences, load
from mvdfq.classifier.similarity import first_kernel, kernel_parts, kernel_sum
from mvdfq.classifier.views import ViewSum, WordView, filter_views
from mvdfq.machines.filter_words import filter_encoder, filter_shares
from mvdfq.machines.machine import KernelMachine
from mvdfq.machines.standard import Scale, column_sums, fit_words, root_shares
from mvdfq.machines.svm import Margins
from mvdfq.machines.word_machine import WordMachine
from mvdfq.sequences import Sequences
from mvdfq.symbols import Symbols

LAYOUTS = [(0,), (0, 1), (0, 2, 4)]
pytestmark = pytest.mark.filterwarnings("ignore:The kernel finds no word")


def made(n=24, seed=0):
    """Sequences of unequal length, some with gaps, one shorter than a filter, one empty."""
    X, y = mvdfq.make_autoregressive(n, 3, (10, 40), n_classes=3, random_state=seed)
    X = [x.astype(np.float32) for x in X]
    X[1][1, 4] = np.nan
    X[2][:, 6:8] = np.nan
    X[3] = X[3][:, :3]
    return X, y


X, Y = made()


@pytest.fixture(scope="module")
def fitted():
    return SequenceClassifier(cv=2).fit(X, Y)


# Standardized words


@pytest.fixture(scope="module")
def symbols():
    rng = np.random.default_rng(0)
    rows = [rng.integers(0, 3, (2, n)).astype(np.uint8) for n in (12, 9, 3, 0, 15, 20)]
    rows[1][0, 4] = 255
    offsets = np.cumsum([0, *(row.shape[1] for row in rows)])
    return Symbols(np.concatenate(rows, axis=1), offsets, n_symbols=np.array([3, 3]))


def standard_gram(symbols, n_levels, min_share, **options):
    return fit_words(symbols, Words(LAYOUTS), n_levels, min_share, **options)


@pytest.mark.parametrize("n_levels", [1, 2])
@pytest.mark.parametrize("min_share", [0.0, 0.4])
def test_standardized_words_match_naive(symbols, n_levels, min_share):
    _, gram = standard_gram(symbols, n_levels, min_share)
    expected, n_words = np.zeros((len(symbols), len(symbols))), 0
    for r in range(2):
        rows = [symbols[i][r].tolist() for i in range(len(symbols))]
        features = naive_views.standardized(rows, LAYOUTS, n_levels, min_share, missing=255)
        products, n = naive_views.gram(features)
        expected += products
        n_words += n
    assert gram.n_words == n_words
    assert_allclose(gram.values, expected, rtol=1e-4, atol=1e-4)
    assert_allclose(np.trace(gram.values) / len(symbols), n_words, rtol=1e-4)  # the scale


def test_the_machine_gives_the_margins_of_the_kernel(symbols):
    reader, gram = standard_gram(symbols, 2, 0.1)
    alpha = np.random.default_rng(1).normal(size=(len(symbols), 2))
    margins = WordMachine.from_gram(gram, reader, alpha).of(symbols)
    assert_allclose(margins, gram.values @ alpha, rtol=1e-4, atol=1e-4)


def test_features_that_do_not_fit_are_made_again(symbols):
    alpha = np.random.default_rng(1).normal(size=(len(symbols), 2))
    (reader, roomy), (_, tight) = (standard_gram(symbols, 2, 0.1, memory=m) for m in (10**9, 1))
    machines = [WordMachine.from_gram(gram, reader, alpha) for gram in (roomy, tight)]
    assert_array_equal(machines[1].of(symbols), machines[0].of(symbols))


def test_a_machine_of_many_classes_takes_little_more_memory_than_its_table():
    # 27,930 words, most of which no sequence holds, and 300 columns
    codes = np.random.default_rng(0).integers(0, 30, (1, 200)).astype(np.uint8)
    symbols = Symbols(codes, np.arange(0, 201, 20), n_symbols=np.array([30]))
    reader, gram = standard_gram(symbols, 1, 0.1)
    alpha = np.random.default_rng(1).normal(size=(len(symbols), 300))
    tracemalloc.start()
    machine = WordMachine.from_gram(gram, reader, alpha)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * sum(values.nbytes for values in machine.values)


def naive_cosines(symbols, n_levels, min_share):
    """The cosines of the standardized words of all rows together."""
    parts = []
    for r in range(symbols.n_rows):
        rows = [symbols[i][r].tolist() for i in range(len(symbols))]
        parts.append(naive_views.standardized(rows, LAYOUTS, n_levels, min_share, missing=255))
    K = np.sum([naive_views.gram(part)[0] for part in parts], axis=0)
    norms = np.sqrt(np.diag(K))
    return K / norms[:, None] / norms


def test_similarities_are_cosines_of_standardized_words(symbols):
    reader, gram = fit_words(symbols, Words(LAYOUTS), 2, 0.1)
    machine = WordMachine.from_gram(gram, reader, np.ones((len(symbols), 1)))
    machine = replace(machine, train=symbols, min_share=0.1)
    assert_allclose(machine.similarities(symbols), naive_cosines(symbols, 2, 0.1), atol=1e-5)


def test_unseen_symbols_are_as_missing_to_similarities(symbols):
    reader, gram = fit_words(symbols, Words(LAYOUTS), 1, 0.0)
    machine = WordMachine.from_gram(gram, reader, np.ones((len(symbols), 1)))
    machine = replace(machine, train=symbols)
    new = symbols[[0]]
    strange, gap = (replace(new, data=new.data.copy()) for _ in range(2))
    strange.data[0, 5], gap.data[0, 5] = 7, 255
    assert_array_equal(machine.similarities(strange), machine.similarities(gap))


# Words of filters


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dilation", [1, 3])
@pytest.mark.parametrize("n_thresholds", [1, 7])
def test_words_of_filters_are_those_of_their_symbols(dtype, dilation, n_thresholds):
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=(2, n)).astype(dtype) for n in (40, 5, 0, 700, 30)]
    rows[4][0, 12:14] = np.nan
    sequences = mvdfq.check_sequences(rows)
    encoder = filter_encoder(dilation, n_thresholds, seed=0).fit(sequences)
    symbols = encoder.transform(sequences)
    layouts = [(0,), (0, dilation, 2 * dilation)]
    reader = SequenceFeatures(Words(layouts), manifold=True, normalize=False, constant_rows="keep")
    plan = reader.fit_reader(symbols).plan_
    expected = root_shares(symbols, plan, np.arange(symbols.n_rows)).toarray()
    found = filter_shares(encoder, sequences, 2)
    assert_allclose(found, expected, rtol=1e-6)
    naive = naive_views.root_shares(symbols[4][0].tolist(), layouts, 1, missing=255)
    words = {(g, word): share for (g, word, *_), share in naive.items()}
    keys = [(0, (a,)) for a in (0, 1)] + [(1, word) for word in product((0, 1), repeat=3)]
    assert_allclose(found[4, :10], [words.get(key, 0) for key in keys], rtol=1e-6)


# The sum


def test_the_sum_is_divided_exactly():
    class Options:
        n_jobs, memory_limit = None, None

    sequences = mvdfq.check_sequences(X)
    quantizer = mvdfq.DirectQuantizer(4)
    symbols = quantizer.fit_transform(sequences)
    kernel = mvdfq.SequenceKernel(Words(LAYOUTS), manifold=True)
    K = kernel.fit_transform(symbols)
    codewords = WordView("codewords", Words(LAYOUTS), mvdfq.DirectQuantizer(3))
    total = ViewSum(K, [codewords, *filter_views([1, 2], 3)], sequences, Options())
    spread = np.trace(total.values) / len(K) - total.values.mean()
    assert_allclose(spread, 1, rtol=1e-4)  # the parts have unit variance, and so has their mean
    alpha, bias = np.random.default_rng(0).normal(size=(len(K), 2)), np.array([1.0, -1.0])
    alpha -= alpha.mean(axis=0)  # as of any support vector machine
    first, fitted, shares = total.divided(Margins(alpha, bias))
    margins = first.of(K) + sum(view.margins(sequences) for view in fitted)
    assert_allclose(margins, total.values @ alpha + bias, rtol=1e-3, atol=1e-3)
    assert len(shares) == 1 + len(fitted)


def test_evidence_of_all_views_sums_to_the_margins(fitted):
    for x in X[:4]:
        found = fitted.explain(x)
        assert_allclose(found.margins, fitted.decision_function([x])[0])
        for part in (found.by_row, found.by_time, found.by_layout, found.by_channel):
            assert_allclose(part.sum(axis=1) + found.constant, found.margins, atol=1e-5)
    assert found.row_names[-3:] == ["filters on x0", "filters on x1", "filters on x2"]
    assert found.by_frame.shape[1] == len(found.row_names) == found.symbols.n_rows
    assert len(found.offsets) == found.by_layout.shape[1]
    assert found.plot() is not None


def test_parts_sum_to_the_whole(fitted):
    found = fitted.explain(X[0])
    assert list(found.by_part) == ["words", "filters"]
    assert_allclose(sum(found.by_part.values()), found.margins)
    both = found.between(*fitted.classes_[:2])
    assert_allclose(sum(both.by_part.values()), both.margins)
    assert list(fitted.part_importance_) == list(found.by_part)
    assert_allclose(sum(fitted.part_importance_.values()), 1)
    rows = fitted.row_importance_
    assert_allclose(fitted.part_importance_["filters"], rows[fitted.kernel_.n_rows_in_ :].sum())


def test_words_sum_to_the_rows_that_hold_them():
    clf = SequenceClassifier(cv=2).fit(X, Y)
    found = clf.explain(X[0])
    n_rows = len(clf.kernel_.rows_)
    rows = np.zeros((len(found.labels), n_rows))
    for block in found.evidence.words:
        assert np.all(np.diff(block.rows) >= 0)
        places = np.repeat(block.rows, np.diff(block.indptr))
        np.add.at(rows, (slice(None), places), block.shares.T)
    assert_allclose(rows, found.by_row[:, :n_rows], atol=1e-6)


def test_the_kernel_of_a_classifier_is_the_whole_sum(monkeypatch, tmp_path):
    sums = []
    divided = ViewSum.divided

    def spy(self, margins):
        sums.append(self.values.copy())
        return divided(self, margins)

    monkeypatch.setattr(ViewSum, "divided", spy)
    clf = SequenceClassifier(cv=2).fit(X, Y)
    roots = np.sqrt(np.diag(sums[0]))
    expected = sums[0] / np.outer(roots, roots)
    every = np.arange(len(X))
    collection = check_sequences(X)
    assert kernel_parts(clf) == ["words", "filters"]
    assert_allclose(kernel_sum(clf, collection, every), expected, atol=1e-5)
    some, others = np.array([3, 1]), np.array([0, 3, 5])
    found = kernel_sum(clf, collection, some, others)
    assert_allclose(found, expected[np.ix_(some, others)], atol=1e-5)
    # a model file holds no means and deviations: the first kernel remains
    clf.save(tmp_path / "m.mvdfq")
    loaded = load(tmp_path / "m.mvdfq")
    assert kernel_parts(loaded) == ["words"]
    first = first_kernel(clf, clf.encode(collection))
    assert_allclose(kernel_sum(loaded, collection, every), first)


def test_importance_finds_the_channel_that_tells():
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    noise = rng.normal(size=(30, 3, 40))
    noise[:, 1] += 3 * np.sin(np.arange(40) * np.where(y, 0.3, 0.9)[:, None])
    clf = SequenceClassifier(cv=2).fit(noise, y)
    assert_allclose(clf.feature_importance_.sum(), 1)
    assert clf.feature_importance_.argmax() == 1
    assert len(clf.row_importance_) == clf.kernel_.n_rows_in_ + 3


@pytest.mark.usefixtures("two_blas_threads")
def test_answers_do_not_depend_on_company_threads_or_memory(fitted):
    decision = fitted.decision_function(X)
    alone = np.concatenate([fitted.decision_function([x]) for x in X])
    assert_array_equal(alone, decision)
    other = SequenceClassifier(cv=2, n_jobs=2).fit(X, Y)
    assert_array_equal(other.decision_function(X), decision)


def test_a_stream_says_what_the_batch_says(fitted):
    stream = fitted.stream()
    for frame in X[0].T:
        stream.update(frame)
    assert_array_equal(stream.decision_function(), fitted.decision_function([X[0]])[0])


def test_a_saved_model_answers_the_same(fitted, tmp_path):
    fitted.save(tmp_path / "model.mvdfq")
    again = mvdfq.load(tmp_path / "model.mvdfq")
    assert_array_equal(again.decision_function(X), fitted.decision_function(X))
    assert_array_equal(again.feature_importance_, fitted.feature_importance_)
    assert_array_equal(again.explain(X[0]).by_frame, fitted.explain(X[0]).by_frame)
    assert again.neighbours(X[0]) == fitted.neighbours(X[0])  # the file does not hold the scales


def test_symbolic_channels_have_words_and_no_filters():
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("AB" if i % 2 else "BC"), 20)) for i in range(12)]
    sequences = [[text, rng.normal(size=20)] for text in texts]
    clf = SequenceClassifier(cv=2).fit(sequences, np.arange(12) % 2)
    assert clf.score(sequences, np.arange(12) % 2) == 1
    assert_allclose(clf.feature_importance_.sum(), 1)


def test_rows_of_many_categories_have_plain_words():
    rng = np.random.default_rng(0)
    letters = list("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    texts = ["".join(rng.choice(letters[i % 2 :: 2], 30)) for i in range(12)]
    sequences = [[text, rng.normal(size=30)] for text in texts]
    clf = SequenceClassifier(cv=2).fit(sequences, np.arange(12) % 2)
    assert isinstance(clf.machine_, KernelMachine)
    assert clf.views_
    assert clf.score(sequences, np.arange(12) % 2) == 1


def test_a_training_sequence_is_not_its_own_neighbour(fitted):
    assert isinstance(fitted.machine_, WordMachine)
    similar = fitted.machine_.similarities(fitted.encode([X[5]]))[0]
    assert np.argmax(similar) == 5
    assert_allclose(similar[5], 1, rtol=1e-5)
    assert 5 not in {one.index for one in fitted.neighbours(X[5], n=100)}


def test_a_sequence_without_symbols_is_named():
    with pytest.warns(UserWarning, match="finds no word in sequence 2"):
        SequenceClassifier(cv=2).fit([*X[:2], X[2][:, :0], *X[3:]], Y)


@pytest.mark.parametrize("parts", [{"pyramid": 1}, {"gamma": 0.5}, {"solver": "linear"}])
def test_views_belong_to_the_parts_of_the_preset(parts):
    assert not SequenceClassifier(cv=2, **parts).fit(X, Y).views_


def test_codewords_have_rows_of_their_own(tmp_path):
    rng = np.random.default_rng(0)
    sequences = [rng.normal(size=(2, 60)) + (i % 2) for i in range(40)]
    labels = np.arange(40) % 2
    clf = SequenceClassifier("music", cv=2).fit(sequences, labels)
    assert clf.views_[0].name == "codewords"
    n = clf.kernel_.n_rows_in_
    assert len(clf.row_importance_) == n + 1 + 6 + 2  # a codebook, six pairs, the channels
    assert_allclose(clf.feature_importance_.sum(), 1)
    found = clf.explain(sequences[0])
    assert found.row_names[-9].startswith("codewords: ")
    assert found.row_names[-8] == "pairs: pc0 & pc1"
    assert_allclose(found.by_row.sum(axis=1) + found.constant, found.margins, atol=1e-6)
    assert_allclose(found.by_channel.sum(axis=1) + found.constant, found.margins, atol=1e-6)
    assert_allclose(found.by_layout.sum(axis=1) + found.constant, found.margins, atol=1e-6)
    clf.save(tmp_path / "music.mvdfq")
    again = mvdfq.load(tmp_path / "music.mvdfq")
    assert_array_equal(again.decision_function(sequences), clf.decision_function(sequences))


def test_every_group_of_channels_has_a_codebook(tmp_path):
    rng = np.random.default_rng(0)
    names = ["mfcc 0", "mfcc 1", "mfcc 2", "band 0", "band 1", "state"]
    data = rng.normal(size=(6, 40 * 30))
    data[5] = rng.integers(0, 3, data.shape[1])
    offsets = np.arange(0, data.shape[1] + 1, 30)
    sequences = Sequences(data, offsets, tuple(names), symbolic=(False,) * 5 + (True,))
    clf = SequenceClassifier("music", cv=2).fit(sequences, np.arange(40) % 2)
    kept = [(one.name, one.encoder[0].channels_.tolist()) for one in clf.views_[:4]]
    groups = [0, 1, 2], [3, 4]
    assert kept == [(name, group) for name in ("codewords", "pairs") for group in groups]
    codebook = clf.views_[1].channel_shares(6)
    assert_allclose(codebook[:, 3:5].sum(axis=1), 1)
    found = clf.explain(sequences[:1])
    assert_allclose(found.by_channel.sum(axis=1) + found.constant, found.margins, atol=1e-6)
    clf.save(tmp_path / "music.mvdfq")
    again = mvdfq.load(tmp_path / "music.mvdfq")
    assert_array_equal(again.decision_function(sequences), clf.decision_function(sequences))


def test_sparse_shares_are_standardized_like_dense_shares():
    rng = np.random.default_rng(0)
    dense = rng.random((30, 12), dtype=np.float32) * (rng.random((30, 12)) < 0.3)
    dense[:, 4] = 0
    sparse = sp.csr_array(dense)
    for found, expected in zip(column_sums(sparse), column_sums(dense), strict=True):
        assert_array_equal(found, expected)
    scale = Scale.of(sparse, 0.2)
    assert 0 < scale.kept.size < 12
    expected = (dense - dense.mean(0, dtype=float)) / dense.std(0, dtype=float).clip(1e-6)
    assert_allclose(scale.features(sparse), expected[:, scale.kept], atol=1e-5)
    assert_array_equal(scale.features(sparse), scale.features(dense))


def test_symbols_alone_do_not_decide(fitted):
    with pytest.raises(ValueError, match="parts that read numbers \\(filters\\)"):
        fitted.decide(fitted.encode(X))


@pytest.mark.filterwarnings("error:Every sequence has more channels than time points")
def test_a_short_sequence_of_known_channels_is_not_suspected(fitted):
    short = X[0][:, :1]
    assert len(fitted.predict([short])) == 1
    assert fitted.explain(short).by_time.shape[1] == 1

"""Sums of terms: standardized words, filters and plain words."""

import tracemalloc
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import mvdfq
from cases import as_array, varied_presets
from mvdfq import SequenceClassifier, SequenceFeatures, Words, check_sequences, load
from mvdfq.classifier.similarity import points_of
from mvdfq.sequences import Sequences
from mvdfq.symbols import Symbols
from mvdfq.terms import standard
from mvdfq.terms.base import Work
from mvdfq.terms.filters import FilterTerm, filter_encoder, filter_shares
from mvdfq.terms.plain import PlainTerm
from mvdfq.terms.plain_answers import FittedKernel
from mvdfq.terms.standard import WIDTH, Scale, column_sums, projection
from mvdfq.terms.svm import Margins
from mvdfq.terms.total import Total
from mvdfq.terms.words import WordTerm, root_shares
from naive import terms as naive_views

LAYOUTS = [(0,), (0, 1), (0, 2, 4)]
BINS = mvdfq.DirectQuantizer(4)
pytestmark = [
    pytest.mark.filterwarnings("ignore:The kernel finds no word"),
    pytest.mark.filterwarnings("ignore:No known word is found in sequence 3"),
]


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


# Classes of the six sequences of `symbols`.
CLASSES = np.array([0, 1, 0, 2, 1, 2])


def word_fitting(symbols, n_levels, min_share, y=CLASSES, **options):
    term = WordTerm(None, Words(LAYOUTS), pyramid=n_levels, min_share=min_share)
    return term.fit(symbols, y, Work(**options))


@pytest.mark.parametrize("n_levels", [1, 2])
@pytest.mark.parametrize("min_share", [0.0, 0.4])
def test_standardized_words_match_naive(symbols, n_levels, min_share):
    fitting = word_fitting(symbols, n_levels, min_share)
    expected, n_words = np.zeros((len(symbols), len(symbols))), 0
    for r in range(2):
        rows = [symbols[i][r].tolist() for i in range(len(symbols))]
        features = naive_views.standardized(rows, LAYOUTS, n_levels, min_share, missing=255)
        products, n = naive_views.gram(features)
        expected += products
        n_words += n
    assert fitting.size == n_words
    assert_allclose(fitting.values, expected, rtol=1e-4, atol=1e-4)
    assert_allclose(np.trace(fitting.values) / len(symbols), n_words, rtol=1e-4)  # the scale


@pytest.mark.parametrize("weight", [None, np.array([1.0, 2.0, 0.0, 1.0, 3.0, 1.0])])
def test_words_that_tell_of_the_classes_weigh_more(symbols, weight):
    fitting = word_fitting(symbols, 2, 0.1, sample_weight=weight)
    again = np.repeat(np.arange(6), np.ones(6, int) if weight is None else weight.astype(int))
    told, weighed = [], np.zeros((6, 6))
    for r in range(2):
        rows = [symbols[i][r].tolist() for i in [*again, *range(6)]]
        # the last six are new: they are measured by the others
        features = naive_views.standardized(rows, LAYOUTS, 2, 0.1, 255, n_train=len(again))
        mine = naive_views.told(features[: len(again)], CLASSES[again].tolist())
        told += mine.values()
        weighed += naive_views.gram(features[-6:], mine)[0]
    assert_allclose(np.sort(np.concatenate(fitting.told)), np.sort(told), rtol=1e-4)
    assert_allclose(fitting.weighed[0], weighed, rtol=1e-4, atol=1e-4)
    assert_allclose(fitting.weighed[1], sum(told), rtol=1e-4)
    assert max(told) > 100 * min(told)


@pytest.mark.parametrize("most", [0, 1000])
def test_the_machine_gives_the_margins_of_the_kernel(symbols, most, monkeypatch):
    monkeypatch.setattr(standard, "MOST_WEIGHED", most)
    fitting = word_fitting(symbols, 2, 0.1)
    alpha = np.random.default_rng(1).normal(size=(len(symbols), 2))
    term = fitting.finish(alpha, 1.0)
    margins = term.sums(symbols) + term.intercepts
    K = fitting.weighed[0] if most else fitting.values
    assert_allclose(margins, K @ alpha, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("y", [np.zeros(6), np.arange(6)])
def test_classes_that_cannot_be_told_leave_all_words_alike(symbols, y):
    fitting = word_fitting(symbols, 2, 0.1, y)
    weighed, size = fitting.weighed
    assert_allclose(weighed, fitting.values * size / fitting.size, rtol=1e-4)


def test_features_that_do_not_fit_are_made_again(symbols):
    alpha = np.random.default_rng(1).normal(size=(len(symbols), 2))
    roomy, tight = (word_fitting(symbols, 2, 0.1, memory_limit=m) for m in (10**9, 1))
    terms = [fitting.finish(alpha, 1.0) for fitting in (roomy, tight)]
    assert_array_equal(terms[1].sums(symbols), terms[0].sums(symbols))


def test_a_machine_of_many_classes_takes_little_more_memory_than_its_table():
    # 3660 words, most of which occur in no sequence, and 300 columns
    codes = np.random.default_rng(0).integers(0, 60, (1, 200)).astype(np.uint8)
    symbols = Symbols(codes, np.arange(0, 201, 20), n_symbols=np.array([60]))
    term = WordTerm(None, Words([(0,), (0, 1)]), min_share=0.1)
    fitting = term.fit(symbols, np.zeros(10), Work())
    alpha = np.random.default_rng(1).normal(size=(len(symbols), 300))
    tracemalloc.start()
    term = fitting.finish(alpha, 1.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * sum(values.nbytes for values in term.values)


# Sketches


def test_products_of_sketches_are_kernel_values_on_average():
    Z = np.random.default_rng(0).normal(size=(5, 300))
    K, columns = Z @ Z.T, np.arange(300)
    sketches = [Z @ projection(f"name {i}", columns) for i in range(400)]
    products = np.array([one @ one.T for one in sketches])
    error = products.std(axis=0) / np.sqrt(len(products))
    assert (np.abs(products.mean(axis=0) - K) < 5 * error + 1e-9).all()
    # as of a random projection: the norms of both, and their product
    size = np.sqrt((np.outer(np.diag(K), np.diag(K)) + K**2) / WIDTH)
    assert_allclose(products.std(axis=0), size, rtol=0.2)


def test_sketches_match_naive(symbols):
    fitting = word_fitting(symbols, 2, 0.1)
    term = fitting.finish(np.ones((len(symbols), 1)), 1.0)
    shares = as_array(root_shares(symbols, term.reader.plan_, np.arange(2)))
    scale = Scale.of(shares, 0.1, np.ones(len(symbols)))
    Z = (shares - scale.mean) * scale.factor
    expected = naive_views.sketches(Z.tolist(), term.name, WIDTH)
    assert_allclose(fitting.sketch(term.name), expected, atol=1e-4)
    # deviations are kept in half precision
    assert_allclose(term.sketch(symbols), expected, atol=0.01)


@pytest.mark.filterwarnings("ignore:No sequence could be held out")
@pytest.mark.parametrize("solver", ["kernel", "linear"])
def test_a_training_sequence_has_the_sketch_that_is_kept(solver):
    clf = SequenceClassifier("fast", cv=2, solver=solver).fit(X, Y)
    points = clf.sum_.points(clf.sum_.read(check_sequences(X)[clf.train_index_]))
    step = 0.6 * clf.sum_.scales[:, None]  # bytes are rounded, deviations a little
    assert (np.abs(points.sketch - clf.sum_.sketches * clf.sum_.scales[:, None]) < step).all()
    assert_allclose(clf.sum_.likeness(points).diagonal(), 1, atol=1e-3)


def test_unseen_symbols_are_as_missing_to_similarities(symbols):
    term = word_fitting(symbols, 1, 0.0).finish(np.ones((len(symbols), 1)), 1.0)
    new = symbols[[0]]
    strange, gap = (replace(new, data=new.data.copy()) for _ in range(2))
    strange.data[0, 5], gap.data[0, 5] = 7, 255
    assert_array_equal(term.sketch(strange), term.sketch(gap))


def test_exact_kernels_and_sketches_are_added():
    terms = [FilterTerm("few"), PlainTerm(mvdfq.DirectQuantizer(4), Words(LAYOUTS), manifold=True)]
    clf = SequenceClassifier(terms=terms, cv=2).fit(X, Y)
    filters, plain = clf.terms_
    new = check_sequences(X[4:6])
    exact = plain.share * plain.compare(plain.read(new), plain.train)
    sketch = filters.sketch(filters.read(new))
    kept = clf.sum_.sketches * clf.sum_.scales[:, None]
    own, other = ((one**2).sum(axis=1) + plain.share for one in (sketch, kept))
    expected = (sketch @ kept.T + exact) / np.sqrt(own[:, None] * other)
    assert_allclose(clf.sum_.likeness(clf.sum_.points(clf.sum_.read(new))), expected, atol=1e-5)


@pytest.mark.parametrize("n_levels", [1, 2, 3])
@pytest.mark.parametrize("missing", [False, True])
def test_words_of_long_sequences_are_those_of_lists(n_levels, missing):
    """Sequences with more places than words are counted in arrays, others in lists."""
    rng = np.random.default_rng(0)
    rows = [rng.integers(0, 2, (2, n)).astype(np.uint8) for n in (40, 5, 0, 90, 30)]
    if missing:
        rows[0][1, 7:9] = 255
    offsets = np.cumsum([0, *(row.shape[1] for row in rows)])
    symbols = Symbols(np.concatenate(rows, axis=1), offsets, n_symbols=np.array([2, 2]))
    term = WordTerm(None, Words(LAYOUTS), pyramid=n_levels)
    plan = term.source(symbols, np.zeros(5), Work()).reader.plan_
    found, (rows_read, groups) = root_shares(symbols, plan, np.arange(2)), read_rows(symbols, plan)
    assert isinstance(found, np.ndarray)
    counts = standard.count_at_keys(rows_read, groups, n_levels).toarray().reshape(10, -1)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    assert_allclose(found.reshape(10, -1), np.sqrt(shares), rtol=1e-6)
    for i, row in enumerate(found.reshape(10, -1)):
        own = symbols[i // 2][i % 2].tolist()
        naive = naive_views.root_shares(own, LAYOUTS, n_levels, missing=255)
        assert_allclose(np.sort(row[row > 0]), sorted(naive.values()), rtol=1e-6)


def read_rows(symbols, plan):
    return [plan.kernel.row([symbols], r) for r in range(2)], plan.groups(0)


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
    expected = as_array(root_shares(symbols, plan, np.arange(symbols.n_rows)))
    found = filter_shares(encoder, sequences, 2)
    assert_allclose(found, expected, rtol=1e-6)
    naive = naive_views.root_shares(symbols[4][0].tolist(), layouts, 1, missing=255)
    words = {(g, word): share for (g, word, *_), share in naive.items()}
    keys = [(0, (a,)) for a in (0, 1)] + [(1, word) for word in product((0, 1), repeat=3)]
    assert_allclose(found[4, :10], [words.get(key, 0) for key in keys], rtol=1e-6)


# The sum


def all_terms():
    plain = PlainTerm(mvdfq.DirectQuantizer(4), Words(LAYOUTS), manifold=True)
    codewords = WordTerm(mvdfq.DirectQuantizer(3), Words(LAYOUTS), name="codewords")
    return [plain, codewords, FilterTerm([1, 2], n_thresholds=3)]


def test_the_sum_is_divided_exactly():
    sequences = mvdfq.check_sequences(X)
    total = Total(all_terms(), sequences, np.asarray(Y), Work())
    for learn in (None, np.arange(len(X))):  # words that weigh by what they tell, words alike
        K = total.matrix(learn)
        spread = np.trace(K) / len(K) - K.mean()
        assert_allclose(spread, 1, rtol=1e-4)  # terms have unit variance, and so has their mean
    K = total.matrix(None)
    alpha, bias = np.random.default_rng(0).normal(size=(len(K), 2)), np.array([1.0, -1.0])
    alpha -= alpha.mean(axis=0)  # as of any support vector machine
    fitted = total.finish(Margins(alpha, bias))
    margins = sum(fitted.sums(fitted.read(sequences)).values(), start=fitted.constant)
    assert_allclose(margins, K @ alpha + bias, rtol=1e-3, atol=1e-3)


@pytest.mark.filterwarnings("ignore:No sequence could be held out")
@pytest.mark.parametrize("solver", ["kernel", "linear"])
def test_the_order_of_terms_does_not_matter(solver):
    clfs = [SequenceClassifier(terms=terms, solver=solver, cv=2).fit(X, Y)
            for terms in (all_terms(), all_terms()[::-1])]  # fmt: skip
    one, other = (clf.decision_function(X) for clf in clfs)
    assert_allclose(one, other, atol=1e-6 if solver == "kernel" else 0.1)
    found = [clf.importance(X, Y, by="terms").log_loss for clf in clfs]
    assert_allclose(found[0], found[1][::-1], atol=1e-5 if solver == "kernel" else 0.1)


@pytest.mark.filterwarnings("ignore:No sequence could be held out")
@pytest.mark.parametrize("solver", ["kernel", "linear"])
def test_weights_are_repeated_sequences(solver):
    # symbols are given: bins and rotations do not know weights
    symbols = mvdfq.DirectQuantizer(4).fit_transform(X)
    weight = np.arange(len(X)) % 3
    again = np.repeat(np.arange(len(X)), weight)
    terms = [WordTerm(None, Words(LAYOUTS), min_share=0.1)]
    clf = SequenceClassifier(terms=terms, cv=2, C=1, solver=solver)
    weighted = clone(clf).fit(symbols, Y, sample_weight=weight)
    repeated = clone(clf).fit(symbols[again], np.asarray(Y)[again])
    one, other = (fitted.decision_function(symbols) for fitted in (weighted, repeated))
    assert_allclose(one, other, atol=1e-3 if solver == "kernel" else 0.1)
    assert_allclose(weighted.class_shares_, repeated.class_shares_)


def test_evidence_of_all_terms_sums_to_the_margins(fitted):
    for x in X[:4]:
        found = fitted.explain(x)
        assert_allclose(found.margins, fitted.decision_function([x])[0])
        for part in (found.by_row, found.by_time, found.by_layout, found.by_channel):
            assert_allclose(part.sum(axis=1) + found.constant, found.margins, atol=1e-5)
    assert found.row_names[-3:] == ["filters on x0", "filters on x1", "filters on x2"]
    assert found.by_frame.shape[1] == len(found.row_names) == found.symbols.n_rows
    assert len(found.offsets) == found.by_layout.shape[1]
    assert found.plot() is not None


def test_terms_sum_to_the_whole(fitted):
    found = fitted.explain(X[0])
    assert list(found.by_term) == ["words", "filters"]
    assert_allclose(sum(found.by_term.values()) + found.constant, found.margins)
    both = found.between(*fitted.classes_[:2])
    assert_allclose(sum(both.by_term.values()) + both.constant, both.margins)
    for name, sums in found.by_term.items():
        mine = [term == name for term in found.row_terms]
        assert_allclose(found.by_row[:, mine].sum(axis=1), sums, atol=1e-6)
        mine = [term == name for term in found.group_terms]
        assert_allclose(found.by_layout[:, mine].sum(axis=1), sums, atol=1e-6)
    assert fitted.importance(by="terms").names == list(found.by_term)


def test_words_sum_to_the_rows_that_hold_them():
    clf = SequenceClassifier(cv=2).fit(X, Y)
    found = clf.explain(X[4])  # long enough for all layouts: no evidence belongs to no word
    n_rows = len(clf.terms_[0].reader.rows_)
    rows = np.zeros((len(found.labels), n_rows))
    for block in found.evidence.words:
        assert np.all(np.diff(block.rows) >= 0)
        places = np.repeat(block.rows, np.diff(block.indptr))
        np.add.at(rows, (slice(None), places), block.shares.T)
    assert_allclose(rows, found.by_row[:, :n_rows], atol=1e-6)


def test_the_kernel_of_a_classifier_is_the_whole_sum(monkeypatch, tmp_path):
    sums = []
    finish = Total.finish

    def spy(self, margins):
        sums.append(self.values.copy())
        return finish(self, margins)

    monkeypatch.setattr(Total, "finish", spy)
    clf = SequenceClassifier(cv=2).fit(X, Y)
    roots = np.sqrt(np.diag(sums[0]))
    expected = sums[0] / np.outer(roots, roots)
    collection = check_sequences(X)
    points = points_of(clf, collection)
    found = clf.sum_.likeness(points, points)
    full = np.sqrt(np.mean((found - expected) ** 2))
    assert full < 1 / np.sqrt(WIDTH)  # the error of a sketch
    some, others = np.array([3, 1]), np.array([0, 3, 5])
    cut = clf.sum_.likeness(points[some], points[others])
    assert_allclose(cut, found[np.ix_(some, others)], atol=1e-6)
    clf.save(tmp_path / "m.mvdfq")
    again = load(tmp_path / "m.mvdfq")
    assert_array_equal(again.sum_.likeness(*[points_of(again, collection)] * 2), found)


@pytest.mark.parametrize("preset", [None, "fast", "mvdfq-sssk"])
def test_one_reading_gives_sums_nearness_and_sketches(preset):
    clf = SequenceClassifier(preset, cv=2, C=1).fit(X, Y)
    read = clf._read(check_sequences(X))
    sums, near, points = clf.sum_.judge(read, clf.train_y_)
    for name, expected in clf.sum_.sums(read).items():
        assert_allclose(sums[name], expected, atol=1e-6)
    for found, expected in zip(near, clf.sum_.nearness(read, clf.train_y_), strict=True):
        assert_allclose(found, expected)
    if preset == "mvdfq-sssk":  # it keeps the training sequences: there are no sketches
        assert points is None
    else:
        assert_allclose(points.sketch, clf.sum_.points(read).sketch, atol=1e-5)


def test_importance_finds_the_channel_that_tells():
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    noise = rng.normal(size=(30, 3, 40))
    noise[:, 1] += 3 * np.sin(np.arange(40) * np.where(y, 0.3, 0.9)[:, None])
    clf = SequenceClassifier(cv=2).fit(noise, y)
    assert clf.feature_importance_.argmax() == 1


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
    assert again.neighbours(X[0]) == fitted.neighbours(X[0])


def test_symbolic_channels_have_words_and_no_filters():
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("AB" if i % 2 else "BC"), 20)) for i in range(12)]
    sequences = [[text, rng.normal(size=20)] for text in texts]
    clf = SequenceClassifier(cv=2).fit(sequences, np.arange(12) % 2)
    assert clf.score(sequences, np.arange(12) % 2) == 1
    assert clf.feature_importance_.argmax() == 0


def test_rows_of_many_categories_have_plain_words():
    rng = np.random.default_rng(0)
    letters = list("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    texts = ["".join(rng.choice(letters[i % 2 :: 2], 30)) for i in range(12)]
    sequences = [[text, rng.normal(size=30)] for text in texts]
    clf = SequenceClassifier(cv=2).fit(sequences, np.arange(12) % 2)
    assert isinstance(clf.terms_[0], FittedKernel)
    assert clf.terms_[1].name == "filters"
    assert clf.score(sequences, np.arange(12) % 2) == 1


def test_a_training_sequence_is_not_its_own_neighbour(fitted):
    similar = fitted.sum_.likeness(fitted.sum_.points(fitted.sum_.read([X[5]])))[0]
    assert np.argmax(similar) == 5
    assert_allclose(similar[5], 1, rtol=1e-3)
    assert 5 not in {one.index for one in fitted.neighbours(X[5], n=100)}


def test_a_sequence_without_symbols_is_named():
    with pytest.warns(UserWarning, match="finds no word in sequence 2"):
        SequenceClassifier(cv=2).fit([*X[:2], X[2][:, :0], *X[3:]], Y)


@pytest.mark.parametrize("parts", [{"pyramid": 1}, {"gamma": 0.5}])
def test_a_part_says_one_plain_term(parts):
    (term,) = SequenceClassifier(cv=2, **parts).fit(X, Y).terms_
    assert isinstance(term, FittedKernel)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "linear", "kernel": mvdfq.Subsequence(2)}, "no features for solver='linear'"),
        ({"manifold": "yes"}, "manifold must be True or False"),
    ],
    ids=str,
)
def test_options_that_do_not_go_together_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        SequenceClassifier(**{"pyramid": 1, "manifold": False, **options}).fit(X, Y)


@pytest.mark.slow
def test_codewords_have_rows_of_their_own(tmp_path):
    rng = np.random.default_rng(0)
    sequences = [rng.normal(size=(2, 60)) + (i % 2) for i in range(40)]
    labels = np.arange(40) % 2
    clf = SequenceClassifier("music", cv=2).fit(sequences, labels)
    assert clf.terms_[1].name == "codewords"
    assert clf.feature_importance_.shape == (2,)
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
    for term in clf.terms_[1:3]:
        views = [view for _, view in term.encoders[0].views_]
        assert [view[0].channels_.tolist() for view in views] == [[0, 1, 2], [3, 4]]
    assert_allclose(clf.terms_[1].channel_shares(6)[1, 3:5].sum(), 1)
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
    ones, weight = np.ones(30), rng.integers(1, 4, 30).astype(float)
    for found, expected in zip(column_sums(sparse, ones), column_sums(dense, ones), strict=True):
        assert_array_equal(found, expected)
    repeated = dense.repeat(weight.astype(int), axis=0)
    often = np.ones(len(repeated))
    for one in (sparse, dense):
        for found, expected in zip(
            column_sums(one, weight), column_sums(repeated, often), strict=True
        ):
            assert_allclose(found, expected)
    for nothing in (sp.csr_array((30, 12), dtype=np.float32), sparse[:0], dense[:0]):
        assert not np.any(column_sums(nothing, ones[: nothing.shape[0]]))
    scale = Scale.of(sparse, 0.2, ones)
    assert 0 < scale.kept.size < 12
    expected = (dense - dense.mean(0, dtype=float)) / dense.std(0, dtype=float).clip(1e-6)
    assert_allclose(scale.features(sparse), expected[:, scale.kept], atol=1e-5)
    assert_array_equal(scale.features(sparse), scale.features(dense))


@pytest.mark.filterwarnings("error:Every sequence has more channels than time points")
def test_a_short_sequence_of_known_channels_is_not_suspected(fitted):
    short = X[0][:, :1]
    assert len(fitted.predict([short])) == 1
    assert fitted.explain(short).by_time.shape[1] == 1


# A user's own sum


def test_a_grid_search_reaches_the_parameters_of_terms():
    clf = SequenceClassifier(terms=mvdfq.preset_terms("fast"), cv=2)
    assert clf.get_params()["terms__words__pyramid"] == 2
    copy = clone(clf).set_params(terms__words__pyramid=1)
    assert (copy.terms[0].pyramid, clf.terms[0].pyramid) == (1, 2)
    grid = {"terms__filters__n_thresholds": [1, 3]}
    found = mvdfq.SequenceClassifierCV(clf, grid).fit(X, Y)
    assert found.best_params_["terms__filters__n_thresholds"] in (1, 3)
    with pytest.raises(ValueError, match=r"terms__NAME__PARAMETER .* the terms are words, filters"):
        clf.set_params(terms__other__pyramid=1)
    with pytest.raises(ValueError, match="preset_terms"):
        SequenceClassifier().set_params(terms__words__pyramid=1)


# labels by turns: the weights of a word may cancel
@pytest.mark.filterwarnings("ignore:No known word")
@pytest.mark.parametrize("name", varied_presets(["mvdfqm-mismatch-alt"]))
def test_a_preset_is_its_terms(name):
    texts = ["ABBA" * 4, "BABA" * 4, "AABB" * 5, "ABAB" * 3] * 3
    sequences = texts if name == "letters" else X[:12]
    small = {"symbols": mvdfq.CodebookQuantizer([4, 8] if "multi" in name else 8)}
    parts = small if "vq" in name else {}
    labels = np.arange(12) % 2
    preset = SequenceClassifier(name, cv=2, C=10, multi_class="ovr", **parts).fit(sequences, labels)
    terms = [term.set_params(**parts) for term in mvdfq.preset_terms(name)]
    own = SequenceClassifier(terms=terms, cv=2, C=10).fit(sequences, labels)
    assert_array_equal(own.decision_function(sequences), preset.decision_function(sequences))
    assert repr(terms[0]).startswith(type(terms[0]).__name__)


def test_own_terms_are_saved(tmp_path):
    clf = SequenceClassifier(terms=all_terms(), cv=2).fit(X, Y)
    clf.save(tmp_path / "own.mvdfq")
    again = mvdfq.load(tmp_path / "own.mvdfq")
    assert_array_equal(again.decision_function(X), clf.decision_function(X))
    assert [term.name for term in again.terms] == ["words", "codewords", "filters"]
    assert again.explain(X[0]).by_term.keys() == clf.explain(X[0]).by_term.keys()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"terms": []}, TypeError, "terms must be a list of terms"),
        ({"terms": [mvdfq.Spectrum()]}, TypeError, "terms must be a list of terms"),
        ({"terms": [FilterTerm(), FilterTerm()]}, ValueError, "another name"),
        ({"terms": [FilterTerm()], "pyramid": 2}, ValueError, "without pyramid"),
        ({"terms": [FilterTerm("many")]}, ValueError, "dilations must be"),
        ({"terms": [FilterTerm(n_thresholds=8)]}, ValueError, "n_thresholds"),
        ({"terms": [WordTerm(None, mvdfq.Spectrum())]}, TypeError, "must be mvdfq.Words"),
        ({"terms": [WordTerm(None, Words([(0,)]), min_share=1)]}, ValueError, "min_share"),
        ({"terms": [PlainTerm(None, "sssk")]}, TypeError, "kernel must be"),
        ({"terms": [PlainTerm(BINS, mvdfq.Spectrum(), row_weights=[])]}, ValueError, "got 0"),
    ],
)
def test_terms_that_cannot_be_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        SequenceClassifier(cv=2, **options).fit(X, Y)


# Nothing to go by


@pytest.mark.parametrize("name", [None, "fast", "mvdfqm-sssk", "mvdfq-spectrum"])
@pytest.mark.parametrize("scheme", ["ovr", "ovo"])
def test_without_any_word_the_classes_have_their_shares(name, scheme):
    labels = np.array([0] * 12 + [1] * 8 + [2] * 4)
    clf = SequenceClassifier(name, cv=2, multi_class=scheme).fit(X, labels)
    nothing = np.full((3, 9), np.nan, np.float32)
    with pytest.warns(UserWarning, match="No known word is found in sequence 1 .* class, 0, and"):
        shares = clf.predict_proba([X[0], nothing, X[1]])
    assert_allclose(shares[1], [12 / 24, 8 / 24, 4 / 24])
    assert_array_equal(shares[[0, 2]], clf.predict_proba(X[:2]))
    with pytest.warns(UserWarning, match="nothing to go by"):
        assert clf.predict([nothing])[0] == 0
    with pytest.warns(UserWarning, match="nothing to go by"):
        found = clf.explain(nothing)
    assert not found.by_row.any()
    assert_allclose(found.constant, found.margins)


# the folds of scikit-learn 1.6 keep each of these classes together
@pytest.mark.filterwarnings("ignore:No sequence could be held out")
def test_letters_that_are_all_new_have_the_shares_of_the_classes():
    texts = ["ABBA", "BABA", "AABB", "ABAB", "AAAA"] * 3
    clf = SequenceClassifier(cv=2).fit(texts, [0, 1, 0, 1, 0] * 3)
    with (
        pytest.warns(UserWarning, match="nothing to go by"),
        pytest.warns(UserWarning, match=r"4 symbols \('X', 'Y'\) in 1 of 1 sequence did not"),
    ):
        assert_allclose(clf.predict_proba(["XYXY"])[0], [0.6, 0.4])


@pytest.mark.parametrize("solver", ["kernel", "linear"])
def test_terms_that_find_nothing_say_so(solver):
    clf = mvdfq.SequenceClassifier(terms=[mvdfq.FilterTerm()], solver=solver)
    with pytest.raises(ValueError, match="nothing that the terms can read: filters need numbers"):
        clf.fit(["ACGT", "ACCT", "GGGT", "TTTT"] * 4, ["a", "a", "b", "b"] * 4)

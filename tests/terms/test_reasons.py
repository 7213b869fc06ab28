"""Evidence that is compared with a baseline: the formulas, and the laws that make reasons true."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mvdfq
from mvdfq import SequenceClassifier, Symbols, Words
from mvdfq.classifier import learning
from mvdfq.terms import standard
from mvdfq.terms.base import Work
from mvdfq.terms.baseline import Baselines, _in_single
from mvdfq.terms.filters import FilterTerm
from mvdfq.terms.words import WordTerm
from naive import reasons as naive_reasons, terms as naive_views

LAYOUTS = [(0,), (0, 1), (0, 2, 4)]
MISSING = 255
pytestmark = pytest.mark.filterwarnings("ignore:The training sequences do not change in channel")
Y = np.array([0, 1, 2, 0, 1, 2, 0])
# classes against all others, and pairs of classes
PAIRS = {"rest": [(0, -1), (1, -1), (2, -1)], "pairs": [(0, 1), (0, 2), (1, 2)]}


@pytest.fixture(scope="module")
def symbols():
    rng = np.random.default_rng(0)
    rows = [rng.integers(0, 3, (2, n)).astype(np.uint8) for n in (12, 9, 11, 3, 15, 20, 8)]
    rows[1][0, 4] = MISSING
    rows[2][1] = MISSING  # a row without words
    offsets = np.cumsum([0, *(row.shape[1] for row in rows)])
    return Symbols(np.concatenate(rows, axis=1), offsets, n_symbols=np.array([3, 3]))


def baseline_of(shares, pair):
    """The means of words over the sequences that a column is compared with."""

    def mean(chosen):  # of the sequences of some classes
        return naive_reasons.means([s for s, y in zip(shares, Y, strict=True) if chosen(y)])

    first, second = pair
    if second < 0:
        return mean(lambda y: y != first)
    one, other = mean(lambda y: y == first), mean(lambda y: y == second)
    return {k: (one.get(k, 0) + other.get(k, 0)) / 2 for k in one.keys() | other.keys()}


@pytest.mark.slow
@pytest.mark.parametrize("n_levels", [1, 2])
@pytest.mark.parametrize("pairs", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("min_share", [0.0, 0.3])
def test_evidence_of_words_follows_the_formulas(symbols, n_levels, pairs, min_share):
    term = WordTerm(None, Words(LAYOUTS), pyramid=n_levels, min_share=min_share)
    alpha = 0.01 * np.random.default_rng(1).normal(size=(len(Y), 3))
    fitted = term.fit(symbols, Y, Work()).finish(alpha, 1.0)
    [(view, _)] = Baselines(pairs, np.bincount(Y) / len(Y)).views(Y)
    found = fitted.evidence(symbols, view)
    sums = fitted.sums(symbols) - fitted.shift(view)
    for i, evidence in enumerate(found):
        assert_allclose(evidence.by_frame.sum(axis=(1, 2)), sums[i], atol=1e-7)
        assert_allclose(evidence.by_layout.sum(axis=(1, 2)), sums[i], atol=1e-7)
    for r in range(2):
        rows = [symbols[i][r].tolist() for i in range(len(Y))]
        shares = [naive_views.root_shares(row, LAYOUTS, n_levels, MISSING) for row in rows]
        for column, pair in enumerate(pairs):
            weight = naive_reasons.weights(shares, alpha[:, column], min_share, Y.tolist())
            args = LAYOUTS, n_levels, weight, baseline_of(shares, pair), MISSING
            for row, evidence in zip(rows, found, strict=True):
                expected = naive_reasons.by_frame(row, *args)
                assert_allclose(evidence.by_frame[column, r], expected, rtol=2e-3, atol=2e-4)
                starts, _ = naive_reasons.by_start(row, *args)
                assert_listed(evidence.words, column, r, starts)


def assert_listed(blocks, column, r, expected):
    """The listed words stand where the words of the row start, with their evidence."""
    found = {}
    for block in blocks:
        for w in np.flatnonzero(block.rows == r):
            at = slice(*block.indptr[w : w + 2])
            for start, share in zip(block.starts[at], block.shares[at, column], strict=True):
                found[block.group, int(start)] = share
    assert found.keys() == expected.keys()
    for key, share in expected.items():
        assert_allclose(found[key], share, rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("dilation", [1, 3])
def test_evidence_of_filters_follows_the_formulas(dilation):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(2, n)) for n in (20, 12, 16, 4, 25, 14, 18)]
    X[1][0, 5] = np.nan
    sequences = mvdfq.check_sequences(X)
    alpha = 0.001 * rng.normal(size=(len(Y), 3))
    term = FilterTerm([dilation], n_thresholds=2)
    fitted = term.fit(sequences, Y, Work()).finish(alpha, 1.0)
    encoder = fitted.banks[0].encoder
    symbols, members = encoder.transform(sequences), encoder[1].members_
    layouts = [(0,), (0, dilation, 2 * dilation)]
    [(view, _)] = Baselines(PAIRS["rest"], np.bincount(Y) / len(Y)).views(Y)
    found = fitted.evidence(sequences, view)
    expected = [np.zeros((2, x.shape[1])) for x in X]
    for row in range(symbols.n_rows):
        rows = [symbols[i][row].tolist() for i in range(len(Y))]
        shares = [naive_views.root_shares(one, layouts, 1, symbols.missing) for one in rows]
        weight = naive_reasons.weights(shares, alpha[:, 0], 0.0, Y.tolist())
        mean = baseline_of(shares, (0, -1))
        own = members[row // 2][members[row // 2] >= 0]
        for one, out in zip(rows, expected, strict=True):
            starts, rest = naive_reasons.by_start(one, layouts, 1, weight, mean, symbols.missing)
            responses = [0.0] * len(one)
            for (g, t), evidence in starts.items():
                for offset in layouts[g]:
                    responses[t + offset] += evidence / len(layouts[g])
            frames = np.array(naive_reasons.by_tap(responses, dilation)) + rest / len(one)
            out[own] += frames / len(own)
    sums = fitted.sums(sequences) - fitted.shift(view)
    for evidence, wanted, total in zip(found, expected, sums, strict=True):
        assert_allclose(evidence.by_frame[0], wanted, rtol=5e-3, atol=5e-4)
        assert_allclose(evidence.by_frame.sum(axis=(1, 2)), total, atol=1e-6)
        assert_allclose(evidence.by_layout.sum(axis=(1, 2)), total, atol=1e-6)


# Laws of classifiers


def planted(n=36, n_classes=3, n_frames=60, seed=0):
    """Noise; class c > 0 has a motif in channel c at a random time. Channel 0 is noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, n_classes + 1, n_frames))
    X[:, n_classes] = 7.0  # constant
    at = rng.integers(0, n_frames - 12, n)
    for x, c, t in zip(X, y, at, strict=True):
        if c:
            x[c, t : t + 12] += 4 * np.sin(np.arange(12) * 0.8)
    return X.astype(np.float32), y, at


@pytest.fixture(scope="module")
def problem():
    return planted()


SCHEMES = {"rest": {}, "pairs": {"multi_class": "ovo"}, "passes": {"solver": "linear"}}


@pytest.fixture(scope="module", params=SCHEMES)
def fitted(request, problem):
    return SequenceClassifier(cv=2, C=1, **SCHEMES[request.param]).fit(*problem[:2])


@pytest.mark.slow
def test_evidence_and_constant_are_the_decision_value(fitted, problem):
    views = fitted.explain_all(problem[0][:4])
    views += [one.between(1, 2) for one in views] + [one.between(2, 0) for one in views]
    for one in views:
        frames = one.by_channel_frame.reshape(len(one.labels), -1)
        for part in (one.by_row, one.by_time, one.by_layout, one.by_channel, frames):
            assert_allclose(part.sum(axis=1) + one.constant, one.margins, atol=1e-7)
        assert_allclose(sum(one.by_term.values()) + one.constant, one.margins, atol=1e-12)
    both = views[4]
    assert_allclose(both.by_frame, -views[0].between(2, 1).by_frame, atol=1e-12)
    assert_allclose(both.by_frame, both.between(1, 2).by_frame)


def test_the_constant_is_the_mean_decision_value_of_the_baseline(fitted, problem):
    X, y, _ = problem
    one = fitted.explain(X[0])
    every = np.array([found.margins for found in fitted.explain_all(X)])
    for label, constant, margins in zip(one.labels, one.constant, every.T, strict=True):
        if isinstance(label, tuple):
            expected = np.mean([margins[y == c].mean() for c in label])
        else:
            expected = margins[y != label].mean()
        assert_allclose(constant, expected, atol=2e-3)
    difference = every[:, fitted.classes_ == 1] - every[:, fitted.classes_ == 2]
    if not isinstance(one.labels[0], tuple):
        middle = np.mean([difference[y == c].mean() for c in (1, 2)])
        assert_allclose(one.between(1, 2).constant, middle, atol=2e-3)


def mean_by_channel(clf):
    """The mean evidence for class 1 of each channel, in new sequences of class 1."""
    X, y, _ = planted(n=150, seed=1)  # training sequences are known by their noise, too
    found = [one.by_channel[one.column(1)[0]] for one in clf.explain_all(X[y == 1])]
    assert_array_equal([one[3] for one in found], 0)
    return np.abs(np.mean(found, axis=0))


@pytest.mark.slow
def test_a_constant_channel_has_no_evidence_and_noise_has_little(fitted):
    mean = mean_by_channel(fitted)  # filters sum several channels, which share their evidence
    assert mean[0] < 0.5 * mean[1]


def test_noise_has_no_evidence_if_words_read_one_channel():
    terms = [WordTerm(mvdfq.DirectQuantizer(4), Words(LAYOUTS))]
    # few training sequences could be told apart by their noise
    clf = SequenceClassifier(terms=terms, cv=2, C=1).fit(*planted(n=300, seed=2)[:2])
    mean = mean_by_channel(clf)
    assert mean[0] < 0.1 * mean[1]


def test_the_reason_is_the_motif(problem):
    X, y, _ = problem
    new, wanted, at = planted(seed=1)
    clf = SequenceClassifier(cv=2, C=1).fit(X, y)
    right = [i for i in np.flatnonzero(wanted) if clf.predict(new[i : i + 1])[0] == wanted[i]]
    assert len(right) > 15
    channels, places = [], []
    for i, one in zip(right, clf.explain_all(new[right]), strict=True):
        c = int(wanted[i])
        mine = one.by_channel_frame[c]
        channels.append(mine.sum(axis=1).argmax() == c)
        places.append(mine[c, at[i] : at[i] + 12].sum() / mine[c].sum())
    assert np.mean(channels) > 0.95
    assert np.mean(places) > 0.4  # a fifth of the frames


def test_reversed_labels_reverse_the_evidence(problem):
    X, y, _ = problem
    X, y = X[y > 0], y[y > 0]
    one, other = (SequenceClassifier(cv=2, C=1).fit(X, labels) for labels in (y, 3 - y))
    assert_array_equal(one.explain(X[0]).labels, other.explain(X[0]).labels)
    for a, b in zip(one.explain_all(X[:5]), other.explain_all(X[:5]), strict=True):
        assert_allclose(a.by_frame, -b.by_frame, atol=1e-5)
        assert_allclose(a.constant, -b.constant, atol=1e-3)  # two runs of a solver
        assert_allclose(a.between(1, 2).by_frame, b.between(2, 1).by_frame, atol=1e-5)


def test_one_of_two_classes_is_compared_with_the_other(problem):
    X, y, _ = problem
    X, y = X[y > 0], y[y > 0]
    clf = SequenceClassifier(cv=2, C=1).fit(X, y)
    decision = clf.decision_function(X)
    means = {c: decision[y == c].mean() for c in (1, 2)}
    for one in clf.explain_all(X[:6]):
        assert_allclose(one.constant, means[3 - one.predicted], atol=2e-3)
        assert_allclose(one.by_time.sum(axis=1) + one.constant, one.margins, atol=1e-7)
        both = one.between(2, 1)
        assert_allclose(both.constant, (means[1] + means[2]) / 2, atol=2e-3)
        assert_allclose(both.by_time.sum(axis=1) + both.constant, one.margins, atol=1e-7)


def test_the_ends_have_their_fair_share(problem):
    X, y, _ = problem
    clf = SequenceClassifier(terms=[FilterTerm()], cv=2, C=1).fit(X, y)
    evidence = np.abs([one.by_channel_frame[0] for one in clf.explain_all(X)]).mean(axis=(0, 1))
    assert (evidence[0] + evidence[-1]) / evidence.sum() < 1.5 * 2 / X.shape[2]


def test_passes_learn_the_means_of_the_matrix(problem, monkeypatch):
    X, y, _ = problem
    symbols = mvdfq.DirectQuantizer(4).fit_transform(X[:, :3])
    weight = np.arange(len(y)) % 3 + 1.0
    terms = [WordTerm(None, Words(LAYOUTS))]
    clf = SequenceClassifier(terms=terms, cv=2, C=1)
    one = clf.fit(symbols, y, sample_weight=weight).terms_[0].means
    monkeypatch.setattr(learning, "MANY", 10)
    other = clf.fit(symbols, y, sample_weight=weight).terms_[0].means
    for a, b in zip(one, other, strict=True):
        assert a.dtype == b.dtype == np.float16
        assert_allclose(a, b, atol=1e-3)


@pytest.mark.parametrize("solver", ["kernel", "linear"])
def test_very_many_classes_are_compared_with_all_sequences(problem, solver, monkeypatch, tmp_path):
    X, y, _ = problem
    monkeypatch.setattr(standard, "MOST_MEANS", 1)
    clf = SequenceClassifier(cv=2, C=1, solver=solver).fit(X, y)
    assert all(means.shape[-1] == 1 for term in clf.terms_ for means in term.class_means)
    clf.save(tmp_path / "model.mvdfq")
    for model in (clf, mvdfq.load(tmp_path / "model.mvdfq")):
        one = model.explain(X[0])
        assert_allclose(one.constant, clf.decision_function(X).mean(axis=0), atol=2e-3)
        assert_allclose(one.by_time.sum(axis=1) + one.constant, one.margins, atol=1e-7)
        both = one.between(0, 1)
        assert_allclose(both.by_time.sum(axis=1) + both.constant, both.margins, atol=1e-7)


def test_the_best_words_of_a_group_are_the_best_of_all_its_words():
    X, y = mvdfq.make_autoregressive(12, n_channels=2, n_timepoints=40, random_state=0)
    terms = [WordTerm(mvdfq.DirectQuantizer(4), Words(LAYOUTS))]
    evidence = SequenceClassifier(terms=terms, cv=2).fit(X, y).explain(X[0]).evidence
    for some, every in zip(evidence.top(0, 2), evidence.words, strict=True):
        best = np.sort(np.abs(every.totals(0)))[-2:]
        assert_allclose(np.sort(np.abs(some.totals(0)))[-2:], best)
        assert len(some.rows) < len(every.rows)


def test_every_half_becomes_the_same_single():
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    halves = halves[np.isfinite(halves)]
    singles = halves.astype(np.float32)
    assert_array_equal(_in_single(halves).view(np.uint32), singles.view(np.uint32))
    assert _in_single(singles) is singles

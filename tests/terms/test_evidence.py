"""Evidence sums to the margin, whichever way it is added up, and stands where the words stand."""

import json
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline

import mvdfq
from cases import (
    COLLECTIONS,
    KINDS,
    N_SYMBOLS,
    TABLE_KERNELS,
    TABLE_OPTIONS,
    by_kernel,
    has_table,
    kernel_term,
    pairwise,
)
from mvdfq import Gappy, Mismatch, SequenceClassifier, Spatial, Spectrum, Wildcard
from mvdfq.terms.evidence import find_evidence
from naive import kernels as naive
from twins import as_symbols, naive_gram, twin

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply"),
]


def evidence_in(term, x, n_symbols):
    return find_evidence(term, term.reader.read_new(as_symbols([x], n_symbols)))[0]


@pytest.mark.parametrize(
    ("kernel", "options", "name"),
    pairwise(TABLE_KERNELS, TABLE_OPTIONS, KINDS, valid=has_table),
    ids=str,
)
def test_evidence_sums_to_the_naive_margin(kernel, options, name):
    train, new = COLLECTIONS[name]
    n_symbols = N_SYMBOLS[: len(train[0])]
    if "row_weights" in options:
        options = options | {"row_weights": options["row_weights"][-len(n_symbols) :]}
    term = kernel_term(kernel, train, n_symbols, **options)
    margins = by_kernel(term, naive_gram(kernel, new, train, n_symbols, **options))
    tolerance = {"rtol": 1e-5, "atol": 1e-5 * max(1, np.abs(margins).max())}
    for x, expected in zip(new, margins, strict=True):
        evidence = evidence_in(term, x, n_symbols)
        for parts in (evidence.by_frame, evidence.by_layout):
            assert_allclose(parts.sum(axis=(1, 2)) + term.intercepts, expected, **tolerance)
        words = sum((shares.sum(axis=0) for *_, shares in evidence.words), np.zeros(3))
        assert_allclose(words + term.intercepts, expected, **tolerance)


@pytest.mark.parametrize("options", [{}, {"manifold": True}, {"manifold": True, "pyramid": 2}])
@pytest.mark.parametrize(
    "kernel",
    [
        Spectrum([1, 2]),
        Spatial(2, 1, 3),
        Gappy(3, 2),
        Gappy(3, 2, distinct=False),
        Wildcard(3, 1, 0.5),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["random", "missing"])
def test_evidence_stands_where_the_words_start(kernel, options, name):
    train, new = COLLECTIONS[name]
    term = kernel_term(kernel, train, N_SYMBOLS, **options)
    assert_starts(term, kernel, train, new[0], options)


def test_evidence_of_mismatches_is_that_of_the_windows():
    train, new = COLLECTIONS["random"]
    term = kernel_term(Mismatch(3, 1), train, N_SYMBOLS)
    assert_starts(term, Mismatch(3, 1), train, new[0], {})


def assert_starts(term, kernel, train, x, options):
    evidence = evidence_in(term, x, N_SYMBOLS)
    twins = [twin(kernel, s) for s in N_SYMBOLS]
    for column in range(3):
        weights = term.coefficients[:, column]
        expected = naive.evidence(x, train, weights, twins, **options)
        found = dict.fromkeys(expected, 0.0)
        for block in evidence.words:
            rows = np.repeat(block.rows, np.diff(block.indptr))
            places = zip(rows.tolist(), block.starts.tolist(), strict=True)
            for place, share in zip(places, block.shares[:, column], strict=True):
                found[place] += share
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            assert found[key] == pytest.approx(value, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("gamma", [0.5, 2.0, 500.0])
@pytest.mark.parametrize("options", [{}, {"manifold": True, "pyramid": 2}], ids=str)
def test_the_rbf_is_split_exactly(gamma, options):
    train, new = COLLECTIONS["random"]
    new = [*new, train[0]]  # a training sequence has the kernel value 1
    term = kernel_term(Spectrum(2), train, N_SYMBOLS, gamma=gamma, **options)
    expected = by_kernel(
        term, naive_gram(Spectrum(2), new, train, N_SYMBOLS, gamma=gamma, **options)
    )
    for x, margins in zip(new, expected, strict=True):
        evidence = evidence_in(term, x, N_SYMBOLS)
        total = evidence.by_frame.sum(axis=(1, 2)) + term.intercepts
        assert_allclose(total, margins, rtol=1e-5, atol=1e-5)


def test_a_table_too_large_makes_no_difference():
    train, new = COLLECTIONS["random"]
    small = kernel_term(Spatial(3, 1, 2), train, N_SYMBOLS, manifold=True)
    none = kernel_term(Spatial(3, 1, 2), train, N_SYMBOLS, manifold=True)
    none.memory_limit = 100
    assert none.table is None
    assert_allclose(
        evidence_in(none, new[0], N_SYMBOLS).by_frame,
        evidence_in(small, new[0], N_SYMBOLS).by_frame,
        atol=1e-6,
    )


def test_evidence_lies_on_the_frames_that_a_word_reads():
    # one word in all of the sequence: (0, 2) reads frames 1 and 3
    term = kernel_term(mvdfq.Words([(0, 2)]), [[[0, 1, 2, 1]], [[2, 2, 0, 0]]], [3])
    x = [[None, 1, None, 1]]
    evidence = evidence_in(term, x, [3])
    assert_allclose(evidence.by_frame[:, 0, [0, 2]], 0)
    assert_allclose(evidence.by_frame[:, 0, 1], evidence.by_frame[:, 0, 3])
    assert np.abs(evidence.by_frame).max() > 0


# what a person sees ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def vowels():
    X, y = mvdfq.load_japanese_vowels(split="train")
    return X, y


@pytest.fixture(scope="module", params=["ovr", "ovo", "two classes", "linear", "hashed"])
def fitted(request, vowels):
    X, y = vowels
    if request.param == "two classes":
        kept = np.isin(y, ["3", "7"])
        X, y = [x for x, keep in zip(X, kept, strict=True) if keep], y[kept]
    options = {
        "ovo": {"multi_class": "ovo"},
        "linear": {"solver": "linear"},
        "hashed": {"solver": "linear", "n_features": 512},
    }
    kernel = {"frames": "delta", "symbols": "direct", "kernel": Spectrum(2), "C": 10}
    return SequenceClassifier(**kernel, **options.get(request.param, {})).fit(X, y), X


def test_explanation_sums_to_the_decision(fitted):
    clf, X = fitted
    for x in X[:3]:
        explanation = clf.explain(x)
        assert explanation.predicted == clf.predict([x])[0]
        total = explanation.by_row.sum(axis=1) + explanation.constant
        assert_allclose(total, explanation.margins, atol=1e-6)
        assert_allclose(
            explanation.by_channel.sum(axis=1), explanation.by_row.sum(axis=1), atol=1e-6
        )
        assert_allclose(explanation.by_time.sum(axis=1), explanation.by_row.sum(axis=1), atol=1e-6)
        assert_allclose(
            explanation.by_layout.sum(axis=1), explanation.by_row.sum(axis=1), atol=1e-6
        )
        assert_allclose(
            clf.problems_.decision(explanation.margins[None]),
            clf.decision_function([x]),
            atol=1e-6,
        )


def test_top_lists_the_words_that_count_most(fitted):
    clf, X = fitted
    explanation = clf.explain(X[0])
    reasons = explanation.top(5)
    sizes = [abs(reason.evidence) for reason in reasons]
    assert sizes == sorted(sizes, reverse=True)
    everything = explanation.top(10**6)
    column, sign = explanation.column()
    total = sum(reason.evidence for reason in everything)
    expected = sign * (explanation.margins[column] - explanation.constant[column])
    assert total == pytest.approx(expected, abs=1e-6)
    assert explanation.column()[1] * explanation.margins[column] > 0  # it speaks for the prediction


def test_reasons_read_like_sentences(vowels):
    X, y = vowels
    X = mvdfq.check_sequences(X, sampling_rate=100, channel_names=[f"lpc{i}" for i in range(12)])
    clf = SequenceClassifier(
        frames="delta", symbols=mvdfq.DirectQuantizer(3), kernel=Spectrum(3), C=10
    ).fit(X, y)
    reason = clf.explain(X[:1]).top(1)[0]
    assert reason.row in clf.terms_[0].reader.row_names_
    assert set(reason.symbols) <= {"low", "middle", "high", "falling", "steady", "rising"}
    assert reason.time == reason.frames[0] / 100
    text = str(reason)
    assert reason.row in text
    assert f"at {reason.time:.2f} s" in text
    assert "-".join(reason.symbols) in text
    assert str(clf.explain(X[:1])).startswith(f"{y[0]} (decision value +")


def test_symbols_of_every_quantizer_have_words(vowels):
    X, y = vowels
    X, y = X[:60], y[:60]
    quantizers = {
        "#": mvdfq.CodebookQuantizer(8),
        "01": mvdfq.HashingQuantizer(4),
        "&": mvdfq.JointQuantizer(n_bins=2),
        "below range": mvdfq.DirectQuantizer(4, strategy="uniform"),
        "highest 1": mvdfq.DirectQuantizer(8),
        "low": mvdfq.Rows([mvdfq.DirectQuantizer(3), mvdfq.JointQuantizer(n_bins=2)]),
    }
    for expected, quantizer in quantizers.items():
        clf = SequenceClassifier(
            frames="passthrough", symbols=quantizer, kernel=Spectrum(1), pyramid=1, C=1
        ).fit(X, y)
        names = clf.explain(X[0]).names
        reader = clf.terms_[0].reader
        assert [len(row) for row in names] == reader.n_symbols_[reader.rows_].tolist()
        assert any(expected in name or name in expected for name in names[0]), names[0]


def test_letters_are_their_own_words():
    clf = SequenceClassifier(kernel=Spectrum(2)).fit(["ABAB", "BABA", "BBAA", "AABB"], [0, 0, 1, 1])
    reason = clf.explain("ABABAB").top(1)[0]
    assert set(reason.symbols) <= {"A", "B"}
    assert clf.explain("ABXAB").top(3)  # a letter never seen has no say


def test_explanations_become_json(fitted):
    clf, X = fitted
    explanation = clf.explain(X[0])
    plain = json.loads(json.dumps(explanation.to_dict()))
    assert plain["predicted"] == explanation.predicted
    assert np.shape(plain["by_time"]) == (len(explanation.labels), X[0].shape[1])
    assert len(plain["top"]) == 10
    assert_allclose(
        np.sum(plain["by_row"], axis=1) + plain["constant"], plain["margins"], atol=1e-6
    )


def test_plot_draws_rows_and_evidence(fitted, tmp_path):
    pytest.importorskip("matplotlib")
    clf, X = fitted
    figure = clf.explain(X[0]).plot()
    rows, evidence = figure.axes[:2]
    assert len(rows.get_yticks()) == len(clf.terms_[0].reader.rows_)
    assert evidence.get_xlabel() == "frame"
    figure.savefig(tmp_path / "explanation.png")
    assert (tmp_path / "explanation.png").stat().st_size > 10_000


def test_errors_say_what_would_do(fitted, vowels):
    clf, X = fitted
    with pytest.raises(ValueError, match=r"explain takes one sequence, got 2 .* explain_all takes"):
        clf.explain(mvdfq.check_sequences(X[:2]))
    with pytest.raises(ValueError, match=r"label must be one of .*got 'nobody'"):
        clf.explain(X[0]).top(label="nobody")
    X, y = vowels
    clf = SequenceClassifier(symbols="direct", frames="passthrough", kernel=Mismatch(2, 1), C=1)
    with pytest.raises(ValueError, match="cannot be traced to frames"):
        clf.fit(X, y).explain(X[0])


def test_rows_of_several_channels_name_them(vowels):
    X, y = vowels
    clf = SequenceClassifier(C=10).fit(X, y)
    explanation = clf.explain(X[0])
    assert explanation.channels == [f"x{c}" for c in range(12)]
    for reason in explanation.top(20):
        assert set(reason.channels) <= set(explanation.channels)
    assert np.argsort(-np.abs(explanation.by_channel), axis=1).shape == (9, 12)


def test_the_picture_names_the_class_that_evidence_is_for(vowels):
    X, y = vowels
    kept = [i for i in range(len(y)) if y[i] in ("3", "7")]
    clf = SequenceClassifier(frames="delta", symbols="direct", kernel=Spectrum(2), C=10)
    clf.fit([X[i] for i in kept], y[kept])
    for i, rival in [(kept[0], "7"), (kept[-1], "3")]:
        explanation = clf.explain(X[i])
        assert explanation.title() == f"{y[i]} rather than {rival}"
        title = explanation.plot().axes[1].get_title()
        assert title == f"evidence for {y[i]} rather than {rival}"
        assert str(explanation).startswith(explanation.title())


def test_words_with_gaps_say_where_their_symbols_stand():
    clf = SequenceClassifier(kernel=Gappy(4, 2), C=10, pyramid=1, manifold=False)
    clf.fit(["AzzB", "AzzB", "BzzA", "BzzA"], [0, 0, 1, 1])
    by_word = {reason.symbols: reason for reason in clf.explain("AzzB").top(20)}
    assert by_word["A", "B"].offsets == (0, 3)
    assert by_word["z", "B"].frames == (1,) or by_word["z", "B"].frames == (2,)


def test_pipelines_and_single_collections_are_explained(vowels):
    X, y = vowels
    frames = make_pipeline(mvdfq.Delta(), mvdfq.Smooth(3))
    clf = SequenceClassifier(frames=frames, symbols="direct", kernel=Spectrum(2), C=10).fit(X, y)
    alone, listed = clf.explain(X[0]), clf.explain(X[:1])
    assert_allclose(alone.margins, listed.margins)
    assert alone.channels == [f"x{c}" for c in range(12)]
    assert len(repr(alone)) < 2000


def test_rows_of_channels_bear_their_names(vowels):
    X, y = vowels
    options = {"frames": "passthrough", "symbols": "direct", "kernel": Spectrum(2), "C": 10}
    assert clf_rows(SequenceClassifier(**options).fit(X, y), X) == [f"x{c}" for c in range(12)]
    named = mvdfq.check_sequences(X, channel_names=[f"lpc {c}" for c in range(12)])
    rows = clf_rows(SequenceClassifier(**options).fit(named, y), named)
    assert rows == [f"lpc {c}" for c in range(12)]


def clf_rows(clf, X):
    return clf.explain(X[:1]).row_names


def test_the_linear_solver_says_why_it_cannot_trace_mismatches(vowels):
    X, y = vowels
    clf = SequenceClassifier(
        frames="passthrough", symbols=mvdfq.DirectQuantizer(3), kernel=Mismatch(2, 1),
        manifold=False, pyramid=1, solver="linear", C=1,
    ).fit(X[:60], y[:60])  # fmt: skip
    with pytest.raises(ValueError, match="pass solver='kernel' and manifold=False"):
        clf.explain(X[0])


def test_groups_are_made_once_for_each_plan_and_alphabet(monkeypatch):
    made, groups = [], Spatial.groups
    monkeypatch.setattr(
        Spatial, "groups", lambda self, n: (made.append((id(self), n)), groups(self, n))[1]
    )
    rng = np.random.default_rng(0)
    train = [[rng.integers(0, n, 30) for n in (3, 4, 3)] for _ in range(8)]
    term = kernel_term(Spatial(3, 1, 3), train, [3, 4, 3])
    made.clear()
    term.sums(term.reader.read_new(as_symbols(train[:2], [3, 4, 3])))
    find_evidence(term, term.reader.read_new(as_symbols(train[:1], [3, 4, 3])))
    assert made == []  # training made the groups of both alphabets already
    again = pickle.loads(pickle.dumps(term))
    assert again.reader.plan_._groups == {}
    for _ in range(2):
        find_evidence(again, again.reader.read_new(as_symbols(train[:1], [3, 4, 3])))
    assert sorted(n for _, n in made) == [3, 4]


def test_words_of_strings_are_letters_and_positions():
    strings = ["ACGTTATAAAG" + "CGT" * 5, "CCGATGCTGAC" + "CGA" * 5] * 6
    model = mvdfq.SequenceClassifier(cv=2).fit(strings, [0, 1] * 6)
    texts = [str(reason).split("  ")[1] for reason in model.explain(strings[0]).top(300)]
    assert "TATAAA at position 5" in texts
    assert len(texts) > 100
    for text in texts:
        word, at = text.split(" at position ")
        start = int(at.split(",")[0]) - 1
        read = strings[0][start : start + len(word)]
        assert all(a in (b, ".") for a, b in zip(word, read, strict=True))


def test_two_rows_of_letters_keep_their_names():
    pairs = [["ACGT" * 3, "HHEE" * 3], ["TTGA" * 3, "HEHE" * 3]] * 6
    model = mvdfq.SequenceClassifier(cv=2).fit(pairs, [0, 1] * 6)
    assert str(model.explain(pairs[0]).top(1)[0]).split("  ")[1].startswith(("x0 ", "x1 "))

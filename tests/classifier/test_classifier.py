"""What a user touches: defaults for whatever comes, presets of the paper, solvers, neighbours."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import SVC

import mvdfq
from cases import varied_presets
from mvdfq import (
    CodebookQuantizer,
    DirectQuantizer,
    HashingQuantizer,
    JointQuantizer,
    Mismatch,
    SequenceClassifier,
    SequenceFeatures,
    SequenceKernel,
    Spatial,
    Spectrum,
)
from mvdfq.classifier import learning
from mvdfq.classifier.presets import PRESETS, preset_terms
from mvdfq.terms import plain
from mvdfq.terms.svm import Problems


@pytest.fixture(scope="module")
def vowels():
    return mvdfq.load_japanese_vowels(split="train"), mvdfq.load_japanese_vowels(split="test")


# the default ----------------------------------------------------------------------------------


def test_the_default_is_excellent_without_an_argument(vowels):
    (X, y), (X_test, y_test) = vowels
    clf = SequenceClassifier().fit(X, y)
    assert clf.score(X_test, y_test) > 0.97
    assert clf.terms_[0].table is not None


@pytest.mark.parametrize(
    ("letters", "longest", "pyramid"),
    [("ACGT", 6, 1), ("acgtN", 6, 1), ("ACGU", 6, 1), ("ABCD", 3, 3), ("ACG", 3, 3)],
)
def test_dna_and_rna_have_long_words_and_no_pyramid(letters, longest, pyramid):
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list(letters), 60)) + letters for _ in range(20)]
    X = [x[:20] + "ACCGCAAG" * (i % 2) + x[20:] for i, x in enumerate(X)]
    clf = SequenceClassifier().fit(X, np.arange(20) % 2)
    assert max(map(len, clf.terms_[0].reader.kernel.layouts)) == longest
    assert clf.terms_[0].reader.pyramid == pyramid
    assert clf.C_ in (1, 10)
    own = SequenceClassifier("letters", pyramid=2, C=3).fit(X, np.arange(20) % 2)
    assert (own.terms_[0].reader.pyramid, own.C_) == (2, 3)


def test_strings_with_spaces_are_text():
    sentences = ["we saw the effect twice", "No effect was seen there"] * 6
    text = SequenceClassifier().fit(sentences, ["a", "b"] * 6)
    assert [len(layout) for layout in text.terms_[0].reader.kernel.layouts] == [1, 2, 3, 4, 5, 6]
    assert text.terms_[0].encoders[-1].folds_case_ == [True]
    both = text.decision_function(["we saw the effect", "WE SAW THE EFFECT"])
    assert both[0] == both[1]
    codes = SequenceClassifier().fit([x.replace(" ", "") for x in sentences], ["a", "b"] * 6)
    assert codes.terms_[0].reader.pyramid == 3
    assert codes.terms_[0].encoders[-1].folds_case_ == [False]


def test_proteins_have_rows_of_similar_residues():
    """A relative has I for V and K for R: letters alone see nothing in common."""
    rng = np.random.default_rng(0)
    every = "ACDEFGHIKLMNPQRSTVWY"
    noise = ["".join(rng.choice(list(every), 30)) + every for _ in range(24)]
    motifs = ["VRWVRW", "IKYIKY"]
    y = np.arange(24) % 2
    X = [x[:10] + motifs[0] * label + x[10:] for x, label in zip(noise, y, strict=True)]
    clf = SequenceClassifier().fit(X, y)
    assert clf.terms_[0].reader.row_weights == [1, 0.25, 0.25]
    assert clf.terms_[0].encoders[-1].transform(X).n_symbols.tolist() == [20, 10, 15]
    relative = noise[0][:10] + motifs[1] + noise[0][10:]
    alone = SequenceClassifier(symbols="letters").fit(X, y)
    gains = [c.decision_function([relative, noise[0]]) for c in (clf, alone)]
    assert gains[0][0] - gains[0][1] > gains[1][0] - gains[1][1]
    own = SequenceClassifier(kernel="spectrum").fit(X, y)
    assert own.terms_[0].reader.row_weights is None
    deeper = SequenceClassifier(pyramid=4).fit(X, y)  # another pyramid reads the same rows
    assert deeper.terms_[0].reader.row_weights == [1, 0.25, 0.25]
    assert own.terms_[0].encoders[-1].transform(X).n_rows == 1
    two = SequenceClassifier().fit([[x, x] for x in X], y)
    assert two.terms_[0].reader.row_weights == [1, 1, 0.25, 0.25, 0.25, 0.25]


def classes_of(make, n=20):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return [make(rng, label) for label in y], y


UNUSUAL = {
    "univariate": lambda rng, c: rng.normal(size=(1, 40)).cumsum(axis=1 if c else 0),
    "lengths 2 to 7": lambda rng, c: rng.normal(size=(3, rng.integers(2, 8))) + c,
    "one frame": lambda rng, c: rng.normal(size=(1, 1)) + 3 * c,
    "constant channel": lambda rng, c: np.stack([np.ones(30), rng.normal(size=30) * (1 + 2 * c)]),
    "constant sequences": lambda rng, c: np.full((2, 20), c + rng.normal() / 9),
    "gaps": lambda rng, c: np.where(
        rng.random((2, 60)) < 0.1, np.nan, rng.normal(size=(2, 60)) + c
    ),
    "a categorical channel": lambda rng, c: [rng.normal(size=9).tolist(), "AB"[c] * 5 + "BABA"],
    "strings": lambda rng, c: "".join(rng.choice(list("AAB" if c else "ABB"), 30)),
    "short strings": lambda rng, c: "AB"[c] + "AB"[rng.integers(2)],
}


@pytest.mark.filterwarnings("ignore:The training sequences do not change")
@pytest.mark.parametrize("name", UNUSUAL)
def test_the_default_takes_whatever_comes(name):
    X, y = classes_of(UNUSUAL[name])
    clf = SequenceClassifier().fit(X, y)
    assert clf.score(X, y) >= 0.8
    assert np.isfinite(clf.decision_function(X)).all()
    assert clf.explain(X[0]).top(1)


def test_hundreds_of_channels_have_a_bounded_number_of_rows():
    X, y = classes_of(lambda rng, c: rng.normal(size=(140, 150)) + c, n=16)
    clf = SequenceClassifier().fit(X, y)
    # two sets of 20 pairs, and two sets of components: 128 of 280 rows, and of 140 rows
    assert clf.terms_[0].encoders[-1].transform(X).n_rows == 20 + 20 + 128 + 128
    assert clf.score(X, y) == 1
    assert len(clf.importance().names) == 140


def test_nothing_to_learn_from_is_no_error():
    with pytest.warns(UserWarning, match="do not change in channels 'x0', 'x1'"):
        clf = SequenceClassifier().fit(np.zeros((10, 2, 15)), np.arange(10) % 3 > 1)
    with pytest.warns(UserWarning, match="nothing to go by"):
        assert_allclose(clf.predict_proba(np.zeros((3, 2, 15))), [[0.7, 0.3]] * 3)


# presets --------------------------------------------------------------------------------------

# The settings of the paper's text, and of its comments: symbols, kernel.
BINS = DirectQuantizer(32, strategy="uniform")
WORDS = CodebookQuantizer(2048)
PAPER = {
    "mvdfq-spectrum": (BINS, Spectrum(6)),
    "mvdfq-mismatch": (BINS, Mismatch(6, 1)),
    "mvdfq-sssk": (BINS, Spatial(3, 1, 5)),
    "mvdfq-spectrum-alt": (BINS, Spectrum(1)),
    "mvdfq-mismatch-alt": (BINS, Mismatch(5, 2)),
    "mvdfq-sssk-alt": (BINS, Spatial(3, 2, 5)),
    "vq-spectrum": (WORDS, Spectrum(5)),
    "vq-mismatch": (WORDS, Mismatch(5, 1)),
    "vq-sssk": (WORDS, Spatial(3, 1, 5)),
    "vq-spectrum-alt": (WORDS, Spectrum(1)),
    "vq-mismatch-alt": (WORDS, Mismatch(5, 2)),
    "hashing-spectrum": (HashingQuantizer(32), Spectrum(6)),
    "hashing-mismatch": (HashingQuantizer(32), Mismatch(6, 1)),
    "hashing-sssk": (HashingQuantizer(32), Spatial(3, 1, 5)),
    "hashing-spectrum-alt": (HashingQuantizer(32), Spectrum(8)),
    "multi-vq": (CodebookQuantizer([1024, 2048, 4096]), Spectrum(5)),
    "mvdfq-1d": (JointQuantizer("all", n_bins=3, strategy="uniform"), Spatial(3, 1, 5)),
}


@pytest.mark.parametrize("name", PAPER)
def test_presets_have_the_settings_of_the_paper(name):
    preset = PRESETS[name]()
    (term,) = preset.terms
    assert repr((term.symbols, term.kernel)) == repr(PAPER[name])
    assert (term.manifold, preset.multi_class, term.pyramid) == (False, "ovo", 1)
    family, _, rest = name.partition("-")
    if family != "multi":
        (rooted,) = PRESETS[f"{family}m-{rest}"]().terms
        assert rooted.manifold
        assert repr((rooted.symbols, rooted.kernel)) == repr(PAPER[name])


@pytest.mark.parametrize("name", varied_presets(["letters"]))
def test_every_preset_learns(name, vowels):
    (X, y), _ = vowels
    long = [i for i in range(0, 90, 2) if X[i].shape[1] >= 10]  # for words of eight symbols
    X, y = [X[i] for i in long], y[long]
    small = {"vq": CodebookQuantizer(16), "multi": CodebookQuantizer([4, 8, 16])}
    symbols = small.get(name.split("-")[0].removesuffix("m"))
    if "mismatch-alt" in name and name.split("-")[0].endswith("m"):
        symbols = DirectQuantizer(3)  # rooted counts of all words within two mismatches
    clf = SequenceClassifier(name, symbols=symbols, C=10).fit(X, y)
    assert clf.score(X, y) > 0.9
    assert clf.decision_function(X).shape == (len(X), 3)


def test_presets_share_nothing():
    assert preset_terms("mvdfq-sssk")[0].kernel is not preset_terms("mvdfq-sssk")[0].kernel


def test_parts_replace_those_of_the_preset_by_name_or_object(vowels):
    (X, y), _ = vowels
    by_name = SequenceClassifier("mvdfqm-spectrum", kernel="sssk", symbols="direct", C=1).fit(X, y)
    by_object = SequenceClassifier(
        "mvdfqm-sssk", symbols=DirectQuantizer(), kernel=Spatial(3, 1, 5), C=1
    ).fit(X, y)
    assert_array_equal(by_name.decision_function(X), by_object.decision_function(X))
    assert by_name.problems_ == Problems(9, "ovo")


def test_steps_by_hand_are_the_preset(vowels):
    (X, y), (X_test, _) = vowels
    clf = SequenceClassifier("mvdfqm-sssk", C=10).fit(X, y)
    quantizer = DirectQuantizer(32, strategy="uniform")
    kernel = SequenceKernel(Spatial(3, 1, 5), manifold=True)
    K = kernel.fit_transform(quantizer.fit_transform(X))
    svc = SVC(kernel="precomputed", C=10, break_ties=True).fit(K, y)
    by_hand = svc.decision_function(kernel.transform(quantizer.transform(X_test)))
    assert_allclose(clf.decision_function(X_test), by_hand, atol=2e-3)


def test_symbols_go_in_as_they_are(vowels):
    (X, y), _ = vowels
    symbols = DirectQuantizer(4).fit_transform(X)
    direct = SequenceClassifier(kernel="spectrum", pyramid=1, C=1).fit(symbols, y)
    whole = SequenceClassifier(symbols=DirectQuantizer(4), kernel="spectrum", pyramid=1, C=1).fit(
        X, y
    )
    assert_array_equal(direct.decision_function(symbols), whole.decision_function(X))
    integers = [np.array(x) for x in symbols]
    plain = SequenceClassifier(symbols="passthrough", kernel="spectrum", pyramid=1, C=1)
    assert_allclose(
        plain.fit(integers, y).decision_function(integers), direct.decision_function(symbols)
    )
    assert_allclose(direct.feature_importance_, whole.feature_importance_, atol=1e-9)


# solvers --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_solvers_agree(vowels, multi_class):
    (X, y), (X_test, _) = vowels
    options = {"kernel": Spectrum([1, 2]), "multi_class": multi_class, "C": 10}
    by_kernel = SequenceClassifier(solver="kernel", **options).fit(X[::3], y[::3])
    by_features = SequenceClassifier(solver="linear", **options).fit(X[::3], y[::3])
    assert np.mean(by_kernel.predict(X_test) == by_features.predict(X_test)) >= 0.99
    assert by_features.terms_[0].table is not None


def test_machines_on_features_are_those_on_the_kernel(vowels):
    (X, y), _ = vowels
    symbols = DirectQuantizer(4).fit_transform(X)
    F = SequenceFeatures(Spectrum(2), manifold=True).fit_transform(symbols)
    K = SequenceKernel(Spectrum(2), manifold=True).fit_transform(symbols)
    on_features = SVC(kernel="linear", C=10).fit(F, y)
    on_kernel = SVC(kernel="precomputed", C=10).fit(K, y)
    assert_allclose(on_features.decision_function(F), on_kernel.decision_function(K), atol=5e-3)


@pytest.mark.slow
def test_many_sequences_take_the_linear_solver(vowels, monkeypatch):
    (X, y), _ = vowels
    monkeypatch.setattr(learning, "MANY", 100)
    assert isinstance(SequenceClassifier(C=1).fit(X, y).terms_[0].reader, SequenceFeatures)
    assert isinstance(SequenceClassifier(C=1, gamma=1.0).fit(X, y).terms_[0].reader, SequenceKernel)
    monkeypatch.setattr(plain, "MANY_WORDS", 1000)
    clf = SequenceClassifier(C=1, kernel=Spectrum([1, 2])).fit(X, y)
    assert clf.terms_[0].reader.n_features == 1000
    assert clf.terms_[0].table is None
    assert clf.score(X, y) > 0.9


def test_hashed_words_of_all_rows_share_columns_but_sequences_keep_their_length(vowels):
    (X, _), _ = vowels
    symbols = DirectQuantizer(4).fit_transform(X)
    F = SequenceFeatures(Spectrum([1, 2]), manifold=True, n_features=64).fit_transform(symbols)
    assert_allclose(F.power(2).sum(axis=1), 1)


# neighbours -----------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"gamma": 1.0}, {"solver": "linear"}], ids=str)
@pytest.mark.slow
def test_neighbours_are_the_most_similar(vowels, options):
    (X, y), (X_test, _) = vowels
    clf = SequenceClassifier(kernel=Spectrum([1, 2]), **options).fit(X, y)
    kernel = SequenceKernel(
        Spectrum([1, 2]), manifold=True, pyramid=2, gamma=options.get("gamma")
    ).fit(clf.terms_[0].encoders[-1].transform(X))
    similar = kernel.transform(clf.terms_[0].encoders[-1].transform(X_test[:1]))[0]
    found = clf.neighbours(X_test[0], 7)
    assert [one.index for one in found] == np.argsort(-similar, kind="stable")[:7].tolist()
    assert_allclose([one.similarity for one in found], np.sort(similar)[::-1][:7], rtol=1e-5)
    assert [one.label for one in found] == y[[one.index for one in found]].tolist()


def test_a_training_sequence_is_not_its_own_neighbour(vowels):
    (X, y), (X_test, _) = vowels
    weight = (np.arange(len(y)) % 3 > 0).astype(float)  # a third is left out
    clf = SequenceClassifier(kernel=Spectrum([1, 2]), C=1).fit(X, y, sample_weight=weight)
    similar = clf.terms_[0].compare(clf.terms_[0].read([X[50]]), clf.terms_[0].train)[0]
    order = clf.train_index_[np.argsort(-similar)]
    assert order[0] == 50  # the most similar is the sequence itself
    assert [one.index for one in clf.neighbours(X[50], 3)] == order[1:4].tolist()
    assert clf.training_places([X[50], X[51], X_test[0]]) == [[50], [], []]  # 51 has no weight


def test_a_training_sequence_with_a_constant_channel_is_not_its_own_neighbour(vowels):
    (X, y), _ = vowels
    X = [np.vstack([x, np.full(x.shape[1], 7.0)]) for x in X]
    with pytest.warns(UserWarning, match="do not change in channel"):
        clf = SequenceClassifier(kernel=Spectrum([1, 2]), C=1).fit(X, y)
    assert clf.training_places([X[50]]) == [[50]]
    assert 50 not in {one.index for one in clf.neighbours(X[50], 3)}


def test_equal_training_sequences_are_found_in_any_type_of_numbers():
    X = [np.array([[0, 1, 2, 3, i]]) for i in (1, 2, 1, 3)] * 3
    clf = SequenceClassifier("fast").fit(X, ["a", "b", "a", "b"] * 3)
    places = [[0, 2, 4, 6, 8, 10], [1, 5, 9]]
    for kind in (np.int8, np.int64, np.float32, np.float64):
        assert clf.training_places([x.astype(kind) for x in X[:2]]) == places
    assert clf.training_places([X[0][:, :-1]]) == [[]]
    assert 1 not in {one.index for one in clf.neighbours(X[1], 12)}


# real data ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.data
def test_music_by_the_defaults(data_folder):
    with np.load(data_folder / "gtzan" / "mfcc.npz") as file:
        values, lengths, labels = file["values"], file["lengths"], file["labels"]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    chosen = np.arange(0, 1000, 5)
    X = [values[starts[i] : starts[i] + 400].T.astype(np.float32) for i in chosen]
    clf = SequenceClassifier(n_jobs=2).fit(X[::2], labels[chosen[::2]])
    assert clf.score(X[1::2], labels[chosen[1::2]]) > 0.45


def test_letters_of_another_kind_are_remarked():
    strings = ["ACGTACGTACCA", "GGTTGGTTAACC"] * 6
    clf = mvdfq.SequenceClassifier(cv=2).fit(strings, [0, 1] * 6)
    with pytest.warns(UserWarning, match="4 symbols.* in 1 of 2 sequences did not occur"):
        clf.predict(["ACGTACGTACCA", "MKVLAAGIVGLL"])
    with pytest.warns(UserWarning, match="in 1 of 1 sequence did not occur"):
        clf.explain("MKVLAAGIVGLL")


# labels and weights ---------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT], ids=str)
def test_a_missing_label_is_named(missing):
    X = np.random.default_rng(0).normal(size=(6, 1, 20))
    y = np.array(["a", "b", missing, "a", "b", "a"], dtype=object)
    with pytest.raises(ValueError, match=r"y must have a label for every sequence, got .* 2;"):
        SequenceClassifier("fast", cv=2).fit(X, y)


def test_an_empty_label_is_missing_in_any_array():
    X, y = np.random.default_rng(0).normal(size=(6, 1, 20)), np.array(list("ab") * 2 + ["", "a"])
    for labels in (y, y.astype(object)):
        with pytest.raises(ValueError, match="got '' for sequence 4; leave such sequences out"):
            SequenceClassifier("fast", cv=2).fit(X, labels)


def test_labels_may_be_objects_of_one_kind():
    X, numbers = np.random.default_rng(0).normal(size=(6, 1, 20)), [0, 1] * 3
    for kind in (int, bool, np.int8, float):
        y = np.array([kind(label) for label in numbers], dtype=object)
        assert SequenceClassifier("fast", cv=2).fit(X, y).classes_.tolist() == [0, 1]
    mixed = np.array([0, "1"] * 3, dtype=object)
    with pytest.raises(ValueError, match="y must hold words or numbers, got both"):
        SequenceClassifier("fast", cv=2).fit(X, mixed)


@pytest.mark.parametrize(
    ("options", "weight", "message"),
    [
        ({}, 1e-300, "sample_weight must hold a weight of at least 1e-06"),
        ({}, 0.0, "at least (one non-zero|1e-06)"),  # scikit-learn before 1.8 lets zeros pass
        ({"class_weight": {0: -1, 1: 1}}, 1.0, "class_weight must hold numbers from 0 on, got -1"),
        ({"class_weight": {0: "x", 1: 1}}, 1.0, "class_weight must hold numbers"),
        ({"class_weight": "even"}, 1.0, "class_weight must be None, 'balanced' or a dictionary"),
        ({"class_weight": [1, 2]}, 1.0, r"class_weight must be None, .* got \[1, 2\]"),
        ({"class_weight": {0: 0, 1: 0}}, 1.0, "class_weight must be positive for a class"),
    ],
)
def test_weights_that_cannot_be_are_refused(options, weight, message):
    X, y = np.random.default_rng(0).normal(size=(6, 1, 20)), np.arange(6) % 2
    with pytest.raises(ValueError, match=message):
        SequenceClassifier("fast", cv=2, **options).fit(X, y, sample_weight=np.full(6, weight))


def test_balanced_classes_are_equally_probable_without_words():
    X, y = np.random.default_rng(0).normal(size=(12, 1, 20)), np.arange(12) % 3 > 1
    clf = SequenceClassifier("fast", cv=2, class_weight="balanced").fit(X, y)
    assert_allclose(clf.class_shares_, [0.5, 0.5])


def test_weights_of_classes_whose_names_are_digits():
    X, y = np.random.default_rng(0).normal(size=(12, 1, 20)), np.arange(12) % 3
    names = np.array(["1", "2", "10"], dtype=object)[y]
    expected = SequenceClassifier("fast", C=1, class_weight={0: 5}).fit(X, y)
    clf = SequenceClassifier("fast", C=1, class_weight={"1": 5}).fit(X, names)
    assert_allclose(clf.class_shares_[clf.classes_ == "1"], expected.class_shares_[0])
    with pytest.raises(
        ValueError, match="class_weight names 'one'; the classes are '1', '10', '2'"
    ):
        SequenceClassifier("fast", C=1, class_weight={"one": 5}).fit(X, names)


# sequences of another kind than those of fit -----------------------------------------------------


def test_names_that_fit_did_not_have_are_told():
    X, y = np.random.default_rng(0).normal(size=(12, 2, 20)), np.arange(12) % 2
    table = pd.DataFrame({"a": [pd.Series(x[0]) for x in X], "b": [pd.Series(x[1]) for x in X]})
    for preset in (None, "fast", "mvdfq-sssk"):
        clf = SequenceClassifier(preset, cv=2).fit(X, y)
        with pytest.warns(UserWarning, match="X names its channels 'a', 'b', fit had no names"):
            assert_array_equal(clf.predict(table), clf.predict(X))
    with pytest.warns(UserWarning, match="X names its channels"):
        assert_allclose(clf.explain(table.iloc[:1]).margins, clf.explain(X[0]).margins)


def test_strings_and_sets_are_refused():
    X, y = np.random.default_rng(0).normal(size=(12, 2, 20)), np.arange(12) % 2
    with pytest.raises(ValueError, match="X has 1 channel, 2 are expected; X holds letters"):
        SequenceClassifier("fast", cv=2).fit(X, y).predict(["ACGT"])
    with pytest.raises(TypeError, match="got set, which has no order; pass a list"):
        SequenceClassifier().fit({"ACGT", "TTTT"}, [0, 1])


def test_letters_from_numbers_are_refused():
    X, y = np.random.default_rng(0).normal(size=(12, 2, 20)), np.arange(12) % 2
    with pytest.raises(
        TypeError, match="preset='letters' reads letters, but X holds numbers; pass"
    ):
        SequenceClassifier("letters", cv=2).fit(X, y)


def test_one_sequence_in_any_container():
    X = np.random.default_rng(0).normal(size=(12, 3, 20))
    tables = [pd.DataFrame(x.T, columns=["a", "b", "c"]) for x in X]
    clf = SequenceClassifier("fast", cv=2).fit(tables, np.arange(12) % 2)
    expected = clf.explain(X[0]).margins
    for x in (tables[0], tables[:1], X[:1], X[0].tolist()):
        assert_array_equal(clf.explain(x).margins, expected)
    assert clf.scan(tables[0], 10).labels == clf.scan(X[0], 10).labels
    with pytest.raises(
        ValueError, match=r"must have the channels of fit, .* got \['b', 'a', 'c'\]"
    ):
        clf.explain(tables[0][["b", "a", "c"]])
    with pytest.raises(
        ValueError, match=r"if the table is one sequence with time down, pass \[X\]"
    ):
        clf.predict(pd.DataFrame(X[0].T))
    with pytest.raises(ValueError, match=r"explain takes one sequence, got 2.*explain_all takes"):
        clf.explain(X[:2])
    for x in (3, None):
        with pytest.raises(ValueError, match="Sequence 0 must be an array, got a single value"):
            clf.explain(x)


def test_one_row_of_a_table_of_series_is_one_sequence():
    X = np.random.default_rng(0).normal(size=(12, 2, 20))
    table = pd.DataFrame({"a": [pd.Series(x[0]) for x in X], "b": [pd.Series(x[1]) for x in X]})
    clf = SequenceClassifier("fast", cv=2).fit(table, np.arange(12) % 2)
    long = {"id": [1] * 20, "time": range(20), "a": X[0, 0], "b": X[0, 1]}
    for x in (table[:1], long, pd.DataFrame(long)):
        assert_array_equal(clf.explain(x).margins, clf.explain(X[0]).margins)
    nameless = SequenceClassifier("fast", cv=2).fit(X, np.arange(12) % 2)
    with pytest.warns(UserWarning, match="fit had no names"):
        assert nameless.explain(long).predicted == nameless.explain(X[0]).predicted


@pytest.mark.parametrize("kind", [list, np.array, lambda x: pd.Series(x, index=[7])])
def test_one_string_in_any_container(kind):
    X = ["ACGTTGCAACGT", "ACGTTTTAACGT", "TTGCAACGGATT", "TTTTAACGGATT"] * 2
    clf = SequenceClassifier().fit(X, ["a", "b"] * 4)
    assert_array_equal(clf.explain(kind(X[:1])).margins, clf.explain(X[0]).margins)
    with pytest.raises(ValueError, match=r"got bytes; pass x\.decode\(\)"):
        clf.predict(kind([X[0].encode()]))


@pytest.mark.parametrize("region", [3, (3, 1), (0, 99), (-2, 4), (0.0, 2.0), (1,)])
def test_a_region_lies_in_the_string(region):
    X = ["ACGTTGCAACGT", "ACGTTTTAACGT", "TTGCAACGGATT", "TTTTAACGGATT"] * 2
    clf = SequenceClassifier().fit(X, ["a", "b"] * 4)
    assert len(clf.mutate(X[0], region=(10, 12)).changes) == 6
    with pytest.raises(ValueError, match="region must be two rising positions, 0 to 12, got"):
        clf.mutate(X[0], region=region)
    with pytest.raises(ValueError, match="mutate takes changes or a region, not both"):
        clf.mutate(X[0], [(0, "A", "C")], region=(0, 2))


def test_neighbours_of_nothing_are_remarked():
    X = np.random.default_rng(0).normal(size=(12, 2, 20))
    clf = SequenceClassifier("fast", cv=2).fit(X, np.arange(12) % 2)
    with pytest.warns(UserWarning, match="No known word is found in sequence 0"):
        clf.neighbours(np.empty((2, 0)))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "typicality", "explain_all"])
def test_warnings_name_the_line_of_the_user(method):
    X, y = np.random.default_rng(0).normal(size=(12, 2, 20)), np.arange(12) % 2
    X[:, 1] = 1
    with warnings.catch_warnings(action="always", record=True) as said:
        clf = SequenceClassifier("fast", cv=2).fit(X, y)
        getattr(clf, method)([np.full((2, 20), 1e6), np.empty((2, 0))])
    assert {warning.filename for warning in said} == {__file__}
    begun = {str(warning.message)[:9] for warning in said}
    assert begun == {"The train", "1 of 2 se", "No known "}


def test_a_penalty_in_single_precision():
    X, y = np.random.default_rng(0).normal(size=(12, 2, 20)), np.arange(12) % 2
    with warnings.catch_warnings(action="error"):
        assert SequenceClassifier("fast", C=np.float32(2), cv=2).fit(X, y).C_ == 2

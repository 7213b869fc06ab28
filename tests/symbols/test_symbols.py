from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline

import mvdfq
from mvdfq.frames import Delta, Standardize
from mvdfq.sequences import check_sequences
from mvdfq.symbols import (
    CodebookQuantizer,
    DirectQuantizer,
    HashingQuantizer,
    JointQuantizer,
    Letters,
    Rows,
    Symbols,
    ThresholdQuantizer,
    check_symbols,
)
from mvdfq.symbols.bins import N_CELLS, kmeans_centres, kmeans_edges
from mvdfq.symbols.whole_frames import lowest_modes
from naive import numbers as naive
from strategies import any_collections

MISSING = float("nan")
N_BINS = st.integers(2, 6)


def codes(symbols, row=0):
    """One row of all sequences as a list, None where a value is missing."""
    return [None if c == symbols.missing else int(c) for c in symbols.codes[row]]


def encode(quantizer, train, values):
    """Codes that a quantizer fitted on one training sequence gives to `values`."""
    return codes(quantizer.fit([train]).transform([values]))


# Worked numbers of the reference


def test_uniform_worked_numbers():
    quantizer = DirectQuantizer(4, strategy="uniform")
    values = [-0.5, 0.0, 0.99, 1.0, 2.5, 3.999, MISSING, 4.0, 4.2]
    assert encode(quantizer, [0.0, 4.0], values) == [0, 1, 1, 2, 3, 4, None, 4, 5]
    assert quantizer.n_symbols_.tolist() == [6]


def test_uniform_clipped_has_no_special_codes():
    quantizer = DirectQuantizer(4, strategy="uniform", out_of_range="clip")
    found = encode(quantizer, [0.0, 4.0], [-0.5, 0.0, 0.99, 1.0, 2.5, 4.0, 4.2])
    assert found == [0, 0, 0, 1, 2, 3, 3]
    assert quantizer.n_symbols_.tolist() == [4]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_uniform_edges_are_searched_not_divided(dtype):
    # floor(0.3 / 0.1) is 2: the literal formula would give 3, 6, 7.
    train = np.array([0, 1], dtype)
    values = np.array([0.3, 0.6, 0.7], dtype)
    expected = [naive.uniform_code(float(v), 0.0, 1.0, 10) for v in values]
    assert encode(DirectQuantizer(10, strategy="uniform"), train, values) == expected
    if dtype == np.float64:
        assert expected == [4, 7, 8]


def test_uniform_margin_worked_numbers():
    quantizer = DirectQuantizer(4, strategy="uniform", margin=1.5)
    values = [-1.1, -1.0, 0.0, 0.5, MISSING, 2.0, 4.0, 5.0, 5.1]
    assert encode(quantizer, [0.0, 4.0], values) == [0, 1, 1, 2, None, 3, 4, 4, 5]
    assert_array_equal(quantizer.bin_edges_[0], [-1.0, 0.5, 2.0, 3.5, 5.0])


def test_margin_widens_the_range_between_percentiles():
    train = [*range(101), 10_000]
    quantizer = DirectQuantizer(4, strategy="uniform", range=(0, 99), margin=3).fit([train])
    assert_allclose(quantizer.bin_edges_[0][[0, 2, 4]], [-99.99, 99.99 / 2, 2 * 99.99])


def test_margin_of_a_constant_channel_changes_nothing():
    quantizer = DirectQuantizer(4, strategy="uniform", margin=9)
    assert encode(quantizer, [2.0, 2.0], [1.9, 2.0, 2.0, 2.1]) == [0, 1, 1, 2]


def test_uniform_constant_channel():
    values = [1.9, 2.0, 2.0, 2.1]
    assert encode(DirectQuantizer(4, strategy="uniform"), [2.0, 2.0], values) == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("n_bins", "error", "centres", "cuts"),
    [
        (2, 89.2, [5.4, 30], [17.7]),
        (3, 2.5, [2, 10.5, 30], [6.25, 20.25]),
        (4, 1.0, [1, 2.5, 10.5, 30], [1.75, 6.5, 20.25]),
    ],
)
def test_kmeans_worked_numbers(n_bins, error, centres, cuts):
    x = np.array([1, 2, 3, 10, 11, 30.0])
    assert_allclose(kmeans_centres(x, n_bins), centres)
    assert_allclose(kmeans_edges(x, n_bins), [1, *cuts, 30])
    assert_allclose(naive.squared_error(naive.best_split(x.tolist(), n_bins)), error)


def test_kmeans_centres_of_a_published_example():
    x = np.array([4.0, 4.1, 4.2, -50, 200.2, 200.4, 200.9, 80, 100, 102])
    assert_allclose(kmeans_centres(x, 4), [-50, 4.1, 94, 200.5])


def test_kmeans_tolerance_worked_number():
    # Shares of the error left with 1, 2, 3, 4 bins: 1, 0.1503, 0.0042, 0.0017.
    x = [1, 2, 3, 10, 11, 30.0]
    for share, n_bins in [(0.2, 2), (0.15, 3), (0.01, 3), (0.004, 4), (0.0001, 4)]:
        quantizer = DirectQuantizer(4, strategy="kmeans", adaptive=share).fit([x])
        assert quantizer.n_symbols_.tolist() == [n_bins]


@pytest.mark.parametrize(
    ("n_bins", "breakpoints"),
    [
        (3, [-0.4307, 0.4307]),
        (4, [-0.6745, 0, 0.6745]),
        (5, [-0.8416, -0.2533, 0.2533, 0.8416]),
        (8, [-1.1503, -0.6745, -0.3186, 0, 0.3186, 0.6745, 1.1503]),
    ],
)
def test_gaussian_worked_breakpoints(n_bins, breakpoints):
    edges = DirectQuantizer(n_bins, strategy="gaussian").fit([[-1.0, 1.0]]).bin_edges_[0]
    assert_allclose(edges[1:-1], breakpoints, atol=5e-5)


def test_gaussian_worked_codes():
    quantizer = DirectQuantizer(4, strategy="gaussian")
    z = [-1, NormalDist().inv_cdf(0.25), -0.5, 0, 0.5, 1]
    assert [c + 1 for c in encode(quantizer, [-1.0, 1.0], z)] == [1, 2, 2, 3, 3, 4]
    assert quantizer.n_symbols_.tolist() == [4]


@pytest.mark.parametrize("strategy", ["quantile", "gaussian", "kmeans"])
def test_a_constant_channel_has_one_bin(strategy):
    quantizer = DirectQuantizer(4, strategy=strategy)
    assert encode(quantizer, [0.3, 0.1 + 0.2], [-9.0, 2.0, 9.0]) == [0] * 3
    assert quantizer.n_symbols_.tolist() == [1]


def test_gaussian_per_sequence_standardizes_each():
    # The breakpoints are those of the normal law, whatever the training sequences were.
    quantizer = DirectQuantizer(4, strategy="gaussian", per_sequence=True).fit([[7, 7, 7], [0, 1]])
    assert_allclose(quantizer.bin_edges_[0][1:-1], [-0.6745, 0, 0.6745], atol=5e-5)
    symbols = quantizer.transform([[1.0, 2.0, 3.0], [100.0, 200.0, 300.0], [7.0, 7.0]])
    assert codes(symbols) == [0, 2, 3, 0, 2, 3, 2, 2]


def test_quantile_worked_numbers():
    x = [0, 0, 0, 0, 1, 2, 3, 4]
    quantizer = DirectQuantizer(4).fit([x])
    assert_array_equal(quantizer.bin_edges_[0], [0, 0.5, 2.5, 4])
    assert [c + 1 for c in codes(quantizer.transform([x]))] == [1, 1, 1, 1, 2, 2, 3, 3]
    assert quantizer.n_symbols_.tolist() == [3]


# Direct quantization against the slow twins


@pytest.mark.filterwarnings("ignore:.*lie outside the range")
@given(any_collections(), N_BINS, any_collections(), st.sampled_from([1, 1.0, 1.5, 7]))
def test_uniform_matches_naive(X, n_bins, other, margin):
    quantizer = DirectQuantizer(n_bins, strategy="uniform", margin=margin).fit(X)
    values = other.data[0].tolist()
    train = naive.present(X.data[0].tolist())
    assume(train)
    expected = [naive.uniform_code(v, min(train), max(train), n_bins, margin) for v in values]
    probe = np.repeat([values], X.n_rows, axis=0)
    assert codes(quantizer.transform(other.with_data(probe))) == expected


@given(any_collections(), N_BINS)
def test_quantile_matches_naive(X, n_bins):
    symbols = DirectQuantizer(n_bins).fit_transform(X)
    for j, row in enumerate(X.data.tolist()):
        breakpoints = naive.quantile_breakpoints(row, n_bins) if naive.present(row) else []
        expected = [naive.code(value, breakpoints) for value in row]
        assert codes(symbols, j) == [None if c is None else c - 1 for c in expected]
        assert symbols.n_symbols[j] == len(breakpoints) + 1


@given(any_collections(), N_BINS)
def test_gaussian_matches_naive(X, n_bins):
    symbols = DirectQuantizer(n_bins, strategy="gaussian").fit_transform(X)
    for j, row in enumerate(X.data.tolist()):
        for value, found in zip(row, codes(symbols, j), strict=True):
            expected = naive.gaussian_code(value, row, n_bins)
            assert found == (None if expected is None else expected - 1)


@given(st.lists(st.integers(-20, 20).map(float), min_size=1, max_size=9), N_BINS)
def test_kmeans_splits_with_the_least_error(values, n_bins):
    found = encode(DirectQuantizer(n_bins, strategy="kmeans"), values, values)
    groups = [[v for v, c in zip(values, found, strict=True) if c == i] for i in range(n_bins)]
    best = naive.best_split(values, min(n_bins, len(set(values))))
    assert_allclose(naive.squared_error(groups), naive.squared_error(best), atol=1e-9)
    assert len(set(found)) == min(n_bins, len(set(values)))


def test_kmeans_on_cells_comes_close_to_kmeans_on_all_values():
    x = np.random.default_rng(0).normal(size=3 * N_CELLS)
    exact = np.sort(x)[:: x.size // N_CELLS]  # as many as are handled one by one
    on_cells, on_values = kmeans_centres(x, 8), kmeans_centres(exact, 8)
    assert_allclose(on_cells, on_values, atol=0.05)
    # No centre can be improved by moving to the mean of the values nearest to it.
    nearest = np.abs(x[:, np.newaxis] - on_cells).argmin(axis=1)
    means = [x[nearest == i].mean() for i in range(8)]
    assert_allclose(on_cells, means, atol=2 * np.ptp(x) / N_CELLS)


def test_kmeans_budget_goes_where_it_helps():
    rng = np.random.default_rng(0)
    X = np.stack([rng.integers(2, size=200).astype(float), rng.normal(size=200), np.ones(200)])
    quantizer = DirectQuantizer(4, strategy="kmeans", adaptive="budget").fit([X])
    # Two values need two bins and a constant one; the rest is the normal channel's.
    assert quantizer.n_symbols_.tolist() == [2, 9, 1]


def test_range_between_percentiles():
    train = [*range(101), 10_000]
    quantizer = DirectQuantizer(4, strategy="uniform", range=(0, 99)).fit([train])
    assert_allclose(quantizer.bin_edges_[0], np.arange(5) * 99.99 / 4)
    assert codes(quantizer.transform([[0, 50, 10_000]])) == [1, 3, 5]


def test_one_number_of_bins_per_channel():
    X = [np.arange(24.0).reshape(2, 12)]
    assert DirectQuantizer([2, 6]).fit(X).n_symbols_.tolist() == [2, 6]


def test_single_precision_values_meet_double_precision_edges():
    # The edge 1/3 lies between two neighbouring float32; neither may change sides.
    below = np.nextafter(np.float32(1 / 3), np.float32(0))
    train, values = np.array([0, 1], np.float32), np.array([below, 1 / 3], np.float32)
    expected = [naive.uniform_code(float(v), 0.0, 1.0, 3) for v in values]
    assert encode(DirectQuantizer(3, strategy="uniform"), train, values) == expected == [1, 2]


@pytest.mark.parametrize(
    ("values", "edges"),
    [
        ([0, 0, 0, 0, 0, 1, 2, 3], [0.5, 1.5]),  # not 0, which five values equal
        ([1, 2, 2, 2, 2, 2, 2, 3], [1.5, 2.5]),  # the nearer end of the equal values
        ([0.1 + 0.2, 0.3, 0.3, 0.7, 0.7, 0.1 * 7], [0.5]),  # rounding makes no edge
        ([1e9, 1e9 + 1e-3, 1e9 + 2e-3, 1e9 + 3e-3], [1e9 + 5e-4, 1e9 + 1.5e-3, 1e9 + 2.5e-3]),
        ([1e9, np.nextafter(1e9, 2e9), 1e9, 1e9], []),
        ([1, np.nextafter(1, 2), 9, 9], [5]),
    ],
)
def test_edges_lie_midway_between_distinct_values(values, edges):
    found = DirectQuantizer(4).fit([np.random.default_rng(0).permutation(values)]).bin_edges_[0]
    assert_allclose(found[1:-1], edges, rtol=0, atol=1e-6)


def test_edges_beyond_single_precision():
    quantizer = DirectQuantizer(2, strategy="uniform", out_of_range="clip").fit([[-1e300, 3e300]])
    values = np.array([-3e38, 3e38], np.float32)
    assert codes(quantizer.transform([values])) == [0, 0]


@pytest.mark.parametrize(("n_bins", "dtype"), [(255, np.uint8), (256, np.uint16)])
def test_codes_take_the_smallest_dtype(n_bins, dtype):
    quantizer = DirectQuantizer(n_bins).fit([np.arange(1000.0)])
    symbols = quantizer.transform([[0.0, MISSING, 1e9]])
    assert symbols.codes.dtype == dtype
    assert codes(symbols) == [0, None, n_bins - 1]


def test_a_channel_without_values_has_one_bin():
    for strategy in ("quantile", "uniform", "kmeans"):
        quantizer = DirectQuantizer(4, strategy=strategy)
        quantizer.fit([[[1.0, 2.0], [MISSING, MISSING]]])
        assert len(set(codes(quantizer.transform([[[1.0, 1.0], [-5.0, 5.0]]]), 1))) == 1


def test_many_values_out_of_range_are_pointed_out():
    quantizer = DirectQuantizer(4, strategy="uniform").fit([[[0.0, 1.0], [0.0, 1.0]]])
    with pytest.warns(UserWarning, match="67% of the values of channel x1 lie outside"):
        quantizer.transform([[[0.0, 0.5, 1.0], [0.5, 50.0, -50.0]]])


def test_symbolic_channels_keep_their_values_as_codes():
    X = check_sequences([[[0.0, 1.0, 2.0], "ACA"]], channel_names=["level", "state"])
    quantizer = DirectQuantizer(2).fit(X)
    assert quantizer.n_symbols_.tolist() == [2, 2]
    symbols = quantizer.transform([[[0.0] * 5, "CBDBA"]])
    assert codes(symbols, 1) == [1, 2, 3, 2, 0]  # B and D were never seen: fresh codes
    assert symbols.n_symbols.tolist() == [2, 2]


@pytest.mark.parametrize(
    "symbolic",
    [[1], ["x1"], 1, "x1", np.array([1]), (False, True), [False, True], np.array([False, True])],
    ids=repr,
)
def test_channels_can_be_declared_symbolic(symbolic):
    X = [[[0.0, 1.0, 2.0, 3.0], [7.0, 5.0, MISSING, 9.0]]]
    symbols = DirectQuantizer(2, symbolic=symbolic).fit_transform(X)
    assert codes(symbols, 1) == [1, 0, None, 2]
    assert codes(symbols, 0) == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("symbolic", "expected"),
    [(np.array([0, 1]), [4, 3]), ([], [2, 2]), ([False, False], [2, 2]), (None, [2, 2])],
)
def test_symbolic_channels_by_index_or_mask(symbolic, expected):
    X = [[[0.0, 1.0, 2.0, 3.0], [7.0, 5.0, MISSING, 9.0]]]
    assert DirectQuantizer(2, symbolic=symbolic).fit(X).n_symbols_.tolist() == expected


@pytest.mark.parametrize(
    ("strategy", "size"),
    [("uniform", 1e308), ("quantile", 1e308), ("kmeans", 1e200), ("gaussian", 1e200)],
)
def test_values_too_large_for_bins_are_refused(strategy, size):
    X = [[[0.0, 1.0, 2.0], [-size, 0.0, size]]]
    with pytest.raises(ValueError, match=r"Channel x1 holds values from .* range is too wide"):
        DirectQuantizer(4, strategy=strategy).fit(X)
    assert DirectQuantizer(4, strategy=strategy, symbolic=[1]).fit(X).n_symbols_[1] == 3


def test_values_too_large_for_a_margin_are_refused():
    with pytest.raises(ValueError, match=r"too wide for uniform bins, at most 1e\+202; divide"):
        DirectQuantizer(4, strategy="uniform", margin=1e100).fit([[-1e203, 1e203]])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"strategy": "cubic"}, "strategy must be one of .*'quantile'.* got 'cubic'"),
        ({"out_of_range": "drop"}, "out_of_range must be 'special' or 'clip', got 'drop'"),
        ({"n_bins": 1}, "n_bins must be integers from 2 to 65533, got 1"),
        ({"n_bins": 2.5}, "n_bins must be integers"),
        ({"n_bins": [4, 4, 4]}, "n_bins must have 2 entries, got 3"),
        ({"range": (1, 99)}, r"range=\(1, 99\) needs strategy='uniform', got .*'quantile'"),
        ({"range": (99, 1), "strategy": "uniform"}, "range must be two rising percentiles"),
        ({"margin": 1.5}, "margin=1.5 needs strategy='uniform', got strategy='quantile'"),
        *(
            ({"margin": m, "strategy": "uniform"}, "margin must be a finite number of at least 1")
            for m in (0.9, -1, np.nan, np.inf, "1.5", None, True, [1.5, 2])
        ),
        ({"adaptive": 0.1}, "adaptive=0.1 needs strategy='kmeans'"),
        ({"adaptive": 2, "strategy": "kmeans"}, "adaptive must be None, 'budget' or a share"),
        ({"adaptive": "bic", "strategy": "kmeans"}, "adaptive must be .* got 'bic'"),
        ({"per_sequence": True}, "per_sequence=True needs strategy='gaussian'"),
        ({"symbolic": [2]}, r"symbolic must give channels by index, 0 to 1, or by name, .*got 2"),
        ({"symbolic": [True]}, "symbolic must have 2 flags, got 1"),
        ({"symbolic": [True, 1]}, "symbolic must give channels .*got True"),
        ({"symbolic": [1.0]}, "symbolic must give channels .*got 1.0"),
        (
            {"range": 5, "strategy": "uniform"},
            "range must be two rising percentiles in 0..100, got 5",
        ),
        ({"range": "ab", "strategy": "uniform"}, "two rising percentiles in 0..100, got 'ab'"),
        ({"adaptive": [1], "strategy": "kmeans"}, r"adaptive must be .* got \[1\]"),
        ({"symbolic": ["b"]}, r"symbolic must .* by name, \['x0', 'x1'\], got 'b'"),
    ],
)
def test_direct_errors_say_what_is_wrong(params, message):
    with pytest.raises(ValueError, match=message):
        DirectQuantizer(**params).fit([[[1.0, 2.0], [3.0, 4.0]]])


# Letters


def test_letters_learn_their_alphabet():
    letters = Letters().fit(["ABBA", "", "CAB"])
    assert letters.alphabets_ == ["ABC"]
    symbols = letters.transform(["CAB", "AXYX"])
    assert codes(symbols) == [2, 0, 1, 0, 3, 4, 3]
    assert symbols.lengths.tolist() == [3, 4]
    assert symbols.n_symbols.tolist() == [3]


def test_letters_in_a_given_alphabet():
    symbols = Letters("TGCA").fit(["A"]).transform(["ATNG"])
    assert codes(symbols) == [3, 0, None, 1]
    assert symbols.n_symbols.tolist() == [4]


def test_letters_beyond_ascii_and_in_several_rows():
    letters = Letters().fit([["éa", "😀b"]])
    assert letters.alphabets_ == ["aé", "b😀"]
    assert letters.transform([["éa", "😀b"]])[0].tolist() == [[1, 0], [1, 0]]


PROTEIN = "ACDEFGHIKLMNPQRSTVWY"


@pytest.mark.parametrize(
    ("X", "alphabet"),
    [
        (["ACgt", "acgt"], "ACGT"),
        (["ACGUacgu"], "ACGU"),
        ([PROTEIN, PROTEIN.lower()], PROTEIN),
        (["Anna", "Bob"], "ABabno"),  # a name
        (["aAbBcC", "CGA"], "ABCGabc"),  # states
        ([PROTEIN, "of no protein"], "".join(sorted({*PROTEIN, *"of no protein"}))),
        (["ACGTü", "acgt"], "ACGTacgtü"),
    ],
)
def test_the_case_of_dna_rna_and_proteins_is_folded_and_no_other(X, alphabet):
    letters = Letters().fit(X)
    assert letters.alphabets_ == [alphabet]
    folds = letters.folds_case_[0]
    assert folds == (not set(alphabet) & set("acgt"))
    read = [x.upper() if folds else x for x in X]
    assert codes(letters.transform(X)) == [alphabet.index(c) for x in read for c in x]


def test_unknown_bases_are_missing_values():
    letters = Letters().fit(["ACgtN", "acgtRnnn"])
    assert letters.alphabets_ == ["ACGT"]
    assert codes(letters.transform(["ANGrx"])) == [0, None, 2, None, None]
    assert letters.transform(["AZ"]).unseen.tolist() == [[False, True]]  # not a base
    assert codes(Letters(fold_case=False).fit(["ACGTn"]).transform(["AnN"])) == [0, None, None]
    assert codes(Letters("ACGTN").fit(["ACGTN"]).transform(["AN"])) == [0, 4]
    assert codes(Letters().fit(["ACN"]).transform(["AN"])) == [0, 2]  # not DNA: T is not there
    K = mvdfq.SequenceKernel(mvdfq.Spectrum(2)).fit_transform(["AACNNNNN", "GGTNNNNN", "AAC"])
    np.testing.assert_allclose(K[0], [1, 0, 1], atol=1e-12)


def naive_residues(text):
    """Residues as numbers of the alphabet; None for what is no residue."""
    read = {**dict(zip(PROTEIN, PROTEIN, strict=True)), "U": "C", "O": "K"}
    return [PROTEIN.index(read[c.upper()]) if c.upper() in read else None for c in text]


@pytest.mark.parametrize("groups", [None, ("LVIM", "ST", "FYW", "EDNQ", "KR")])
def test_unknown_residues_are_missing_values(groups):
    odd = "AXxBbZzJj*-.UuOoC"
    X = [PROTEIN * 40, PROTEIN.lower(), odd]
    letters = Letters(groups=groups).fit(X)
    first = {c: group[0] for group in groups or () for c in group}
    expected = [
        None if n is None else first.get(PROTEIN[n], PROTEIN[n]) for n in naive_residues(odd)
    ]
    found = [
        None if n is None else letters.alphabets_[0][n] for n in codes(letters.transform([odd]))
    ]
    assert found == expected
    assert letters.kinds_ == ["protein"]
    assert letters.transform(["AØ"]).unseen.tolist() == [[False, True]]
    # a given alphabet, and a group, decide otherwise
    assert codes(Letters("AX").fit(X).transform(["AXB"])) == [0, 1, None]
    assert codes(Letters(groups=("BDN",)).fit(X).transform(["B"])) == codes(
        Letters(groups=("BDN",)).fit(X).transform(["D"])
    )


def test_gaps_in_dna_are_missing_values():
    assert codes(Letters().fit(["ACGT-", "ac.gt"]).transform(["A-.t"])) == [0, None, None, 3]
    assert codes(Letters(groups=("AG", "CT")).fit(["ACGTN"]).transform(["ANG"])) == [0, None, 0]


def test_masked_proteins_tell_nothing(tmp_path):
    rng = np.random.default_rng(0)
    lines = []
    for i in range(40):
        residues = "".join(rng.choice(list(PROTEIN), 60))
        masked = residues[:20] + residues[20:40].lower() + residues[40:] if i % 2 else residues
        lines.append(f">s{i} {i % 2}\n{masked}\n")
    (tmp_path / "a.fasta").write_text("".join(lines))
    data = mvdfq.io.read_fasta(tmp_path / "a.fasta", label=1, lower="mask")
    assert any("XXX" in x for x in data.X)
    words = mvdfq.SequenceFeatures(mvdfq.Spectrum(3)).fit(data.X)
    assert not any("X" in name for name in words.get_feature_names_out())


def test_text_is_no_protein():
    text = "THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG".replace(" ", "")
    assert Letters().fit([text]).kinds_ == [""]
    assert Letters().fit([text.replace("J", "") * 9]).kinds_ == [""]
    assert Letters().fit([PROTEIN * 20 + "O"]).kinds_ == ["protein"]
    assert Letters().fit([PROTEIN + "O"]).kinds_ == [""]


def test_each_row_is_folded_by_itself_and_folding_can_be_switched():
    assert Letters().fit([["acgtA", "abcdA"]]).alphabets_ == ["ACGT", "Aabcd"]
    assert Letters(fold_case=False).fit(["ACGTa"]).alphabets_ == ["ACGTa"]
    assert Letters(fold_case=True).fit(["Anna"]).alphabets_ == ["AN"]
    assert codes(Letters("ACGT").fit(["ACGTacgt"]).transform(["Aa"])) == [0, None]
    assert codes(Letters("tgca", fold_case=True).fit(["A"]).transform(["Aa"])) == [3, 3]
    with pytest.raises(ValueError, match="alphabet must hold each character once, got 'Aa'"):
        Letters("Aa", fold_case=True).fit(["A"])
    with pytest.raises(ValueError, match="fold_case must be True, False or 'auto', got 'yes'"):
        Letters(fold_case="yes").fit(["A"])


def test_characters_of_a_group_share_a_symbol():
    X = ["MKVLR", "mxc"]
    letters = Letters(fold_case=True, groups=("ilmv", "KR")).fit(X)
    assert letters.alphabets_ == ["CIKX"]
    first = {letter: group[0] for group in ("ILMV", "KR") for letter in group}
    expected = ["CIKX".index(first.get(c, c)) for x in X for c in x.upper()]
    assert codes(letters.transform(X)) == expected
    assert letters.symbol_names() == [["C", "[ILMV]", "[KR]", "X"]]
    assert codes(letters.transform(["WI"])) == [4, 1]  # W is new, I is of a known group
    given = Letters("KVRL", groups=("VL", "RK")).fit(["A"])
    assert given.alphabets_ == ["RV"]
    assert codes(given.transform(["RKLVA"])) == [0, 0, 1, 1, None]


@pytest.mark.parametrize("groups", ["ILMV", ["IL", "LM"], ["IL", ""], [5], ["II"]])
def test_groups_are_strings_of_distinct_characters(groups):
    with pytest.raises(ValueError, match="groups must"):
        Letters(groups=groups).fit(["A"])


def test_letters_refuse_numbers_and_repeated_characters():
    with pytest.raises(TypeError, match="X must hold strings, got sequences of numbers"):
        Letters().fit([[1.0, 2.0]])
    with pytest.raises(ValueError, match="alphabet must hold each character once, got 'AA'"):
        Letters("AA").fit(["A"])
    with pytest.raises(ValueError, match="alphabet must hold characters"):
        Letters("").fit(["A"])
    with pytest.raises(TypeError, match="alphabet must be a string of characters, got 5"):
        Letters(5).fit(["A"])
    with pytest.raises(TypeError, match=r"got one string; pass \[X\]"):
        Letters().fit("ABBA")


# Codebooks


@pytest.mark.parametrize("n_codewords", [1, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_codebook_codes_are_the_nearest_words(n_codewords, dtype):
    x = np.random.default_rng(0).normal(size=(3, 60)).astype(dtype)
    x[1, 7] = MISSING
    quantizer = CodebookQuantizer(n_codewords).fit([x[:, :40], x[:, 40:]])
    words = quantizer.codebooks_[0].tolist()
    scaled = Standardize().fit([x]).transform([x]).data.T.tolist()
    expected = [naive.nearest(frame, words) for frame in scaled]
    expected[7] = None
    assert codes(quantizer.transform([x])) == expected


def test_codebook_ties_go_to_the_lowest_index():
    quantizer = CodebookQuantizer(3, standardize=False).fit([[0.0, 1.0, 4.0]])
    quantizer.codebooks_ = [np.array([[2.0], [0.0], [2.0], [4.0]])]
    values = [0.0, 1.0, 2.0, 3.0, 4.0]
    expected = [naive.nearest([v], quantizer.codebooks_[0].tolist()) for v in values]
    assert codes(quantizer.transform([values])) == expected == [1, 0, 0, 0, 3]


@pytest.mark.slow
@pytest.mark.parametrize("offset", [0.0, 1e6, 1e12, 1e20])
def test_rounding_never_changes_a_codeword(offset):
    # pairs of codewords that single precision cannot tell apart, and frames between them
    rng = np.random.default_rng(0)
    words = offset + np.repeat(rng.standard_normal((40, 5)), 2, axis=0)
    words[1::2] += np.where(offset, 4 * np.spacing(offset), 1e-12)
    frames = np.concatenate(
        [words, words[::2] * 0.5 + words[1::2] * 0.5, words[rng.permutation(80)]]
    )
    quantizer = CodebookQuantizer(2, standardize=False).fit([frames.T])
    quantizer.codebooks_ = [words]
    expected = [naive.nearest(frame, words.tolist()) for frame in frames.tolist()]
    assert_array_equal(quantizer.transform([frames.T])[0][0], expected)
    alone = [quantizer.transform([frame[:, None]])[0][0, 0] for frame in frames]
    assert_array_equal(alone, expected)


def test_codewords_are_the_means_of_their_frames():
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((2, 2700)) + 10 * rng.integers(6, size=2700)]
    quantizer = CodebookQuantizer((6, 300), standardize=False).fit(X)
    spreads = []
    for codes, words in zip(quantizer.transform(X)[0], quantizer.codebooks_, strict=True):
        means = np.array([X[0][:, codes == code].mean(axis=1) for code in np.unique(codes)])
        spreads.append(np.mean((X[0] - words[codes].T) ** 2))
        # few codewords are learned to the end, many codewords in a few rounds
        assert_allclose(words[np.unique(codes)], means, atol=1e-9 if len(words) == 6 else 1)
    assert spreads[0] < 1.1
    assert spreads[1] < 0.05


def test_several_codebooks_are_several_rows():
    X = [np.random.default_rng(0).normal(size=(2, 60))]
    symbols = CodebookQuantizer((4, 8)).fit_transform(X)
    assert symbols.n_symbols.tolist() == [4, 8]
    assert symbols.channel_names == ("codebook 4", "codebook 8")


def test_a_codebook_is_no_larger_than_the_distinct_frames():
    symbols = CodebookQuantizer(100).fit_transform([[1.0, 2.0, 2.0, 3.0]])
    assert symbols.n_symbols.tolist() == [3]
    assert len(set(codes(symbols))) == 3


def test_codebook_scales_channels_unless_told_otherwise():
    # The first channel has two values far apart, the second two values close together.
    X = [[[0.0, 0.0, 100.0, 100.0], [0.0, 1.0, 0.0, 1.0]]]
    assert len(set(codes(CodebookQuantizer(4).fit_transform(X)))) == 4
    wide = CodebookQuantizer(2, standardize=False).fit_transform(X)
    assert codes(wide)[0] == codes(wide)[1] != codes(wide)[2] == codes(wide)[3]


def test_codebook_is_the_same_for_the_same_seed():
    X = [np.random.default_rng(0).normal(size=(2, 500))]
    first, second = (CodebookQuantizer(8, max_frames=100).fit(X) for _ in range(2))
    assert_array_equal(first.codebooks_[0], second.codebooks_[0])


@pytest.mark.parametrize("quantizer", [CodebookQuantizer(2), HashingQuantizer(2)])
def test_quantizers_of_whole_frames_need_numbers(quantizer):
    with pytest.raises(ValueError, match=r"needs numbers, but channel x1 holds symbols; .*Direct"):
        quantizer.fit([[[1.0, 2.0], "AB"]])
    with pytest.raises(ValueError, match="at least one frame without missing values"):
        quantizer.fit([[[1.0, MISSING], [MISSING, 2.0]]])


def test_codebook_sizes_must_be_positive():
    with pytest.raises(ValueError, match=r"n_codewords must be positive integers, got \(4, 0\)"):
        CodebookQuantizer((4, 0)).fit([[1.0, 2.0]])
    with pytest.raises(ValueError, match=r"n_codewords must be positive integers, got \[\]"):
        CodebookQuantizer([]).fit([[1.0, 2.0]])
    with pytest.raises(ValueError, match="max_frames == 0, must be >= 1"):
        CodebookQuantizer(2, max_frames=0).fit([[1.0, 2.0]])


# Hashing

BOX = [[[0.0, 4.0, 0.0, 4.0], [0.0, 0.0, 2.0, 2.0]]]  # corners of [0, 4] x [0, 2]


def test_hashing_worked_modes():
    first_four = [(0, 1), (0, 2), (1, 1), (0, 3)]
    assert lowest_modes(np.array([4.0, 2.0]), 4) == first_four
    next_four = [(0, 4), (1, 2), (0, 5), (0, 6)]
    assert lowest_modes(np.array([4.0, 2.0]), 8) == first_four + next_four
    equal = lowest_modes(np.ones(13), 32)
    assert np.bincount([i for i, _ in equal]).tolist() == [3] * 6 + [2] * 7
    shrinking = lowest_modes(0.8 ** np.arange(13), 32)
    counts = np.bincount([i for i, _ in shrinking], minlength=13)
    assert counts.tolist() == [7, 6, 5, 4, 3, 2, 2, 1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("point", "bits"),
    [
        ((0.2, 0.2), "1111"),
        ((1.5, 0.2), "1010"),
        ((2.5, 1.7), "0001"),
        ((3.9, 1.7), "0100"),
        ((2.0, 1.0), "0000"),  # where a cosine is 0 it is not positive
        ((5.0, 1.7), "0100"),  # outside: as at (4, 1.7), where a wave would wrap to 0101
    ],
)
def test_hashing_worked_bits(point, bits):
    symbols = HashingQuantizer(4).fit(BOX).transform([np.reshape(point, (2, 1))])
    assert "".join(map(str, symbols.codes[:, 0])) == bits
    assert symbols.n_symbols.tolist() == [2] * 4
    assert symbols.channel_names == ("pc0 mode 1", "pc0 mode 2", "pc1 mode 1", "pc0 mode 3")


@pytest.mark.parametrize("seed", range(5))
def test_hashing_matches_naive(seed):
    rng = np.random.default_rng(seed)
    train = rng.normal(size=(3, 40)) * [[4], [2], [1]]
    quantizer = HashingQuantizer(10).fit([train])
    axes, low, ranges = quantizer.components_, quantizer.low_, quantizer.ranges_
    assert quantizer.modes_ == naive.lowest_modes(ranges.tolist(), 10)
    test = rng.normal(size=(3, 30)) * 4
    test[1, 7] = MISSING
    symbols = quantizer.transform([test])
    points = (axes @ (test - train.mean(axis=1, keepdims=True))).T
    for t, point in enumerate(points.tolist()):
        missing = [symbols.missing] * 10
        expected = missing if t == 7 else naive.hash_bits(point, low, ranges, quantizer.modes_)
        assert symbols.codes[:, t].tolist() == expected


def test_hashing_skips_components_without_extent():
    assert lowest_modes(np.array([1.0, 0.0]), 3) == [(0, 1), (0, 2), (0, 3)]
    with pytest.raises(ValueError, match="at least two different frames, got only equal frames"):
        HashingQuantizer().fit([np.ones((2, 5))])
    with pytest.raises(ValueError, match="n_bits == 0, must be >= 1"):
        HashingQuantizer(0).fit(BOX)


# Joint symbols

X_TOY = [[1, 2, 1, 3, 2, 1], [3, 3, 3, 3, 2, 1]]
Y_TOY = [[2, 1, 3, 3, 2, 1], [3, 2, 2, 2, 1, 1]]


def test_joint_worked_symbols():
    # Uniform bins of 1, 2, 3 are the toy's codes, and their alphabet is 3 + 2.
    joint = JointQuantizer(2, n_bins=3, strategy="uniform").fit([X_TOY, Y_TOY])
    assert joint.n_symbols_.tolist() == [25]
    symbols = joint.transform([X_TOY, Y_TOY])
    assert symbols[0].tolist() == [[16, 17, 16, 18, 12, 6]]
    assert _spectrum_1(symbols) == 2


def test_all_channels_worked_kernel():
    symbols = JointQuantizer("all", n_bins=3, strategy="uniform").fit_transform([X_TOY, Y_TOY])
    assert _spectrum_1(symbols) == 2
    columns = [list(c) for c in zip(*np.hstack([X_TOY, Y_TOY]).tolist(), strict=True)]
    assert symbols.n_symbols.tolist() == [len({tuple(c) for c in columns})]


def _spectrum_1(symbols):
    size = symbols.n_symbols[0]
    counts = [np.bincount(x[0], minlength=size) for x in symbols]
    return counts[0] @ counts[1]


def same_partition(a, b):
    """Do two lists of codes put the same frames together?"""
    return len(set(a)) == len(set(b)) == len(set(zip(a, b, strict=True)))


@pytest.mark.parametrize("order", [2, 3, "all"])
@pytest.mark.parametrize("n_bins", [2, 250])
@pytest.mark.parametrize("seed", range(3))
def test_joint_symbols_are_columns_of_direct_ones(order, n_bins, seed):
    # 250 bins in 5 channels need more than 32 bits; with "all" that is two groups of keys.
    rng = np.random.default_rng(seed)
    train, test = ([rng.integers(300, size=(5, 99)).astype(float)] for _ in range(2))
    test[0][:, :30] = train[0][:, :30]
    test[0][0, 50] = MISSING
    joint = JointQuantizer(order, n_bins=n_bins).fit(train)
    direct = DirectQuantizer(n_bins).fit(train)
    seen, new = direct.transform(train).codes.T, direct.transform(test).codes.T
    for row, members in enumerate(joint.sets_):
        columns = [tuple(new[t, list(members)]) for t in range(99)]
        known = [tuple(column) for column in seen[:, list(members)]]
        found = codes(joint.transform(train), row) + codes(joint.transform(test), row)
        expected = naive.column_ids(known + columns)
        if 0 in members:
            assert found.pop(99 + 50) is None
            expected.pop(99 + 50)
        n_known = joint.n_symbols_[row]
        assert all(c < n_known for c in found[:99])
        assert same_partition(found, expected)


def test_columns_are_told_apart_beyond_64_bits():
    # 13 channels of 32 bins: as one number in base 32, columns that differ by 16 in the last
    # channel would be equal modulo 2**64.
    x = np.tile(np.arange(32.0), (13, 2))
    x[12, 32:] = (x[12, 32:] + 16) % 32
    joint = JointQuantizer("all", n_bins=32).fit([x])
    assert joint.bins_.n_symbols_.tolist() == [32] * 13
    assert len(set(codes(joint.transform([x])))) == 64


def test_columns_not_seen_in_fit_match_no_training_column():
    joint = JointQuantizer("all", n_bins=2).fit([[[0.0, 1.0], [0.0, 1.0]]])
    assert codes(joint.transform([[[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]]])) == [0, 3, 2, 3]


def test_joint_symbols_with_symbolic_channels():
    X = [[[0.0, 0.0, 1.0, 1.0], "ABAB"]]
    joint = JointQuantizer(2, n_bins=2).fit(X)
    assert joint.n_symbols_.tolist() == [6]  # two bins, and A, B, something else
    assert codes(joint.transform([[[0.0, 1.0, 1.0], "BXY"]])) == [2, 5, 5]


def test_too_many_sets_are_drawn_from():
    X = [np.random.default_rng(0).normal(size=(12, 20))]
    first, second = (JointQuantizer(2, max_sets=10).fit(X) for _ in range(2))
    assert len(set(first.sets_)) == len(first.sets_) == 10
    assert all(a < b for a, b in first.sets_)
    assert first.sets_ == second.sets_
    assert first.sets_ != JointQuantizer(2, max_sets=10, random_state=1).fit(X).sets_
    assert len(JointQuantizer(2, max_sets=66).fit(X).sets_) == 66


def test_sets_can_be_named():
    X = check_sequences([np.eye(3)], channel_names=["a", "b", "c"])
    symbols = JointQuantizer(sets=[("a", "c"), (1,)], n_bins=2).fit_transform(X)
    assert symbols.channel_names == ("a & c", "b")


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"sets": [("a", 7)]}, ValueError, r"sets must .* index, 0 to 2, or by name, \['a'.*got 7"),
        ({"sets": []}, ValueError, "sets must hold at least one set of channels"),
        ({"sets": [0, 1]}, TypeError, r"list of tuples of channels, got 0 .* channel is \(0,\)"),
        ({"sets": ["ab"]}, TypeError, "list of tuples of channels, got 'ab' in it"),
        ({"sets": "ab"}, TypeError, "sets must be a list of tuples of channels, got 'ab'"),
        ({"sets": [(0, "a")]}, ValueError, r"must hold each channel once, .*got \(0, 'a'\)"),
        ({"sets": [()]}, ValueError, r"at least one, got \(\)"),
    ],
)
def test_joint_errors_say_what_is_wrong(params, error, message):
    X = check_sequences([np.eye(3)], channel_names=["a", "b", "c"])
    with pytest.raises(error, match=message):
        JointQuantizer(**params).fit(X)


# Symbols


def test_plain_integers_are_symbols():
    symbols = check_symbols([[0, 3, 1], [2]])
    assert symbols.codes.tolist() == [[0, 3, 1, 2]]
    assert symbols.n_symbols.tolist() == [4]
    assert check_symbols(symbols) is symbols
    assert check_symbols([[0, 1]], n_symbols=20).n_symbols.tolist() == [20]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0.5, 1.0]], "Symbols must be integers, but sequence 0 holds float64; .*Direct"),
        ([[0, 1], [-1]], "from 0 to .* but sequence 1 holds symbols from -1 to -1"),
        ([[2**32]], "sequence 0 holds symbols from 4294967296"),
    ],
)
def test_what_is_no_symbol_is_refused(X, message):
    with pytest.raises(ValueError, match=message):
        check_symbols(X)


def test_symbols_are_not_quantized_twice():
    symbols = DirectQuantizer(2).fit_transform([[0.0, 1.0]])
    with pytest.raises(TypeError, match="X must be sequences of numbers, got Symbols"):
        DirectQuantizer(2).fit(symbols)


def test_joined_symbols_keep_missing_values_missing():
    small = Symbols(np.array([[1, 255]], np.uint8), np.array([0, 2]), n_symbols=np.array([2]))
    large = check_symbols([[300]])
    both = small.joined(large)
    assert codes(both) == [1, None, 300]
    assert both.lengths.tolist() == [2, 1]
    assert both.rows(np.array([0, 0])).n_rows == 2


def test_letters_do_not_read_numbers():
    letters = Letters().fit(["AB", "BA"])
    with pytest.raises(TypeError, match="X must hold strings, got sequences of numbers"):
        letters.transform([[65.0, 66.0]])


# Rows


def test_rows_are_those_of_all_quantizers():
    X = [np.random.default_rng(0).normal(size=(3, 20))]
    parts = [DirectQuantizer(4), JointQuantizer(n_bins=2), CodebookQuantizer(300)]
    rows = Rows(parts).fit(X)
    symbols = rows.transform(X)
    alone = [part.fit_transform(X) for part in parts]
    assert symbols.n_symbols.tolist() == [n for one in alone for n in one.n_symbols]
    assert_array_equal(symbols[0], np.concatenate([one[0] for one in alone]))


def test_rows_of_one_name_are_told_apart():
    X = [np.random.default_rng(0).normal(size=(1, 20))]
    symbols = Rows([DirectQuantizer(4), ("fine", DirectQuantizer(9))]).fit_transform(X)
    assert symbols.channel_names == ("x0", "fine: x0")


def test_rows_take_parameters_like_a_pipeline():
    rows = Rows([DirectQuantizer(4), make_pipeline(Delta(), DirectQuantizer(4))])
    rows.set_params(directquantizer__n_bins=3, pipeline__directquantizer__n_bins=2)
    assert rows.fit_transform([[0.0, 1.0, 5.0, 2.0]]).n_symbols.tolist() == [3, 2, 2]


def test_rows_must_be_symbols():
    for view in ("passthrough", Delta()):
        with pytest.raises(TypeError, match=r"must return Symbols, got .*pass a quantizer"):
            Rows([DirectQuantizer(4), view]).fit_transform([[0.0, 1.0, 2.0]])


def test_missing_values_have_the_code_of_the_widest_row():
    x = np.random.default_rng(0).normal(size=(1, 400))
    x[0, 5] = np.nan
    symbols = Rows([DirectQuantizer(4), DirectQuantizer(300)]).fit_transform([x])
    assert symbols.data.dtype == np.uint16
    assert (symbols[0][:, 5] == symbols.missing).all()


# Thresholds


@given(any_collections(), st.integers(1, 4))
def test_thresholds_match_naive(X, n):
    quantizer = ThresholdQuantizer(n).fit(X)
    symbols = quantizer.transform(X)
    for c, row in enumerate(X.data):
        present = ~np.isnan(row)
        if present.any():
            expected = naive.quantiles(row[present].tolist(), n + 1) or [-np.inf] * n
            assert_allclose(quantizer.thresholds_[c], expected)
        for q, threshold in enumerate(quantizer.thresholds_[c]):
            codes = symbols.codes[c * n + q]
            assert codes[present].tolist() == naive.above(row[present], threshold)
            assert (codes[~present] == symbols.missing).all()


def test_a_missing_value_is_missing_at_every_threshold():
    X = [[0.0, np.nan, 2.0, 3.0]]
    symbols = ThresholdQuantizer(2).fit_transform(X)
    assert (symbols.codes == symbols.missing).tolist() == [[False, True, False, False]] * 2
    empty = ThresholdQuantizer(2).fit([[np.nan, np.nan], [np.nan]])
    assert not empty.transform([[1.0]]).codes.any()


def test_thresholds_of_single_precision_are_not_crossed_by_rounding():
    values = np.array([0.1, 0.2, 0.3], np.float32)
    quantizer = ThresholdQuantizer(1).fit([[0.1, 0.2, 0.3]])
    assert quantizer.transform([values]).codes[0].tolist() == [
        int(float(value) >= 0.2) for value in values
    ]


def test_thresholds_of_long_collections_are_learned_from_a_sample():
    values = np.random.default_rng(0).normal(size=200_000)
    thresholds = ThresholdQuantizer(3).fit([values]).thresholds_[0]
    assert_allclose(thresholds, [-0.674, 0, 0.674], atol=0.03)


def test_thresholds_refuse_symbols_and_numbers_that_make_no_sense():
    with pytest.raises(ValueError, match="ThresholdQuantizer needs numbers"):
        ThresholdQuantizer().fit(["ABBA"])
    with pytest.raises(ValueError, match="n_thresholds must be a whole number >= 1"):
        ThresholdQuantizer(0).fit([[1.0, 2.0]])

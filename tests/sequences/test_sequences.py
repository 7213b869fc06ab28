from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_array_equal
from sklearn.model_selection import KFold, cross_validate
from sklearn.utils import indexable

import mvdfq
from mvdfq.frames import Standardize
from mvdfq.sequences import Ragged, Sequences, check_sequences
from mvdfq.sequences.converters import from_long_table, from_time_first
from strategies import any_collections

NAN = float("nan")


def lists(X):
    return [x.tolist() for x in X]


# What is read as a collection


@pytest.mark.parametrize(
    "X",
    [
        [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]],
        np.arange(1.0, 9.0).reshape(2, 2, 2),
        np.arange(1, 9, dtype=np.int16).reshape(2, 2, 2),
        [np.array([[1, 2], [3, 4]], np.float16), np.array([[5, 6], [7, 8]], np.uint8)],
        [np.array([[1, 2], [3, 4]], np.longdouble), [[5, 6], [7, 8]]],
        np.array([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], dtype=object),
    ],
    ids=["lists", "3-D", "3-D int", "mixed dtypes", "long double", "object"],
)
def test_containers_of_two_channels(X):
    X = check_sequences(X)
    assert lists(X) == [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
    assert X.data.dtype in (np.float32, np.float64)
    assert X.symbolic_mask.tolist() == [False, False]


@pytest.mark.parametrize(
    "X",
    [[[1, 2, 3], [4]], [np.array([1.0, 2.0, 3.0]), [[4]]], np.array([[1, 2, 3], [4, NAN, NAN]])],
)
def test_univariate_sequences_need_no_channel_axis(X):
    assert lists(check_sequences(X)) == [[[1, 2, 3]], [[4]]]


def test_an_object_array_of_unequal_sequences():
    X = np.empty(2, dtype=object)
    X[:] = [np.ones((2, 3)), np.zeros((2, 1))]
    assert check_sequences(X).lengths.tolist() == [3, 1]


@pytest.mark.parametrize("X", [["AB", "", "C"], np.array(["AB", "", "C"])])
def test_strings_are_rows_of_symbols(X):
    X = check_sequences(X)
    assert X.symbolic == (True,)
    assert lists(X) == [[[65, 66]], [[]], [[67]]]


def test_strings_among_numeric_rows():
    X = check_sequences([[[0.5, NAN, 2.0], "ABA"]])
    assert X.symbolic == (False, True)
    assert_array_equal(X[0], [[0.5, NAN, 2], [65, 66, 65]])


@pytest.mark.parametrize(
    "x",
    [[1, None, 3], np.ma.masked_array([1, 9, 3], [0, 1, 0]), np.ma.masked_equal([1.0, 9, 3], 9)],
)
def test_none_and_masked_values_are_missing(x):
    assert_array_equal(check_sequences([x])[0], [[1, NAN, 3]])


MASKED = np.ma.masked_equal([[1, 9, 3], [4, 5, 6]], 9)
UNMASKED = [[1, NAN, 3], [4, 5, 6]]


@pytest.mark.parametrize("x", [MASKED, list(MASKED), tuple(MASKED.astype(np.float32))])
def test_masked_rows_are_missing_too(x):
    assert_array_equal(check_sequences([x])[0], UNMASKED)


def test_masked_rows_beside_letters():
    X = check_sequences([[MASKED[0], "ABA"]])
    assert_array_equal(X[0], [[1, NAN, 3], [65, 66, 65]])


def test_masked_frames_with_time_first():
    assert_array_equal(from_time_first([MASKED.T])[0], UNMASKED)
    assert_array_equal(from_time_first([list(MASKED.T)])[0], UNMASKED)


def test_rows_of_letters_are_equally_long_strings():
    X = check_sequences([["up", "dn"]])
    assert X.symbolic == (True, True)
    assert X.lengths.tolist() == [2]


def test_frames_missing_at_the_end_are_not_part_of_a_sequence():
    x = [[NAN, 1, NAN, NAN, NAN], [NAN, NAN, 2, NAN, NAN]]
    X = check_sequences([x, np.full((2, 3), NAN)])
    assert X.lengths.tolist() == [3, 0]
    assert_array_equal(X[0], np.array(x)[:, :3])


def test_large_whole_numbers_keep_their_digits():
    assert check_sequences([[2**24 + 1]])[0][0, 0] == 2**24 + 1


def test_a_checked_collection_is_passed_on():
    X = check_sequences([[1.0, 2.0]])
    assert check_sequences(X) is X
    named = check_sequences(X, channel_names=["a"], sampling_rate=50)
    assert named.channel_names == ("a",)
    assert check_sequences(named).sampling_rate == 50
    assert named.data is X.data


# What is refused, and how


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ("ABBA", TypeError, r"got one string; pass \[X\]"),
        (5, TypeError, "X must be a list of sequences, got int"),
        ({"a": ["u", "v"]}, ValueError, r"no column of ids; id=NAME names one of 'a'"),
        ([], ValueError, "X holds no sequences"),
        ((x for x in [[1.0]]), TypeError, r"must be a list of .* got generator; pass list\(X\)"),
        (map(list, [[1.0]]), TypeError, r"X must be a list of sequences, got map; pass list\(X\)"),
        ([list("ABAB")], ValueError, r'0 must be one string, got a list of 4 single .* "".join\('),
        (["AB", ["up", "down"]], ValueError, r"1 .* same length.* .*categories=.* words"),
        (
            [np.ones((0, 5))],
            ValueError,
            r"0 must have at least one channel, got shape \(0, 5\)",
        ),
        ([np.ma.array(["a"])], ValueError, "Sequence 0 must hold real numbers, got dtype <U1"),
        ([1.0, 2.0], ValueError, r"Sequence 0 .* got a single value \(1.0\).* pass \[X\]"),
        (np.ones(3), ValueError, r"got an array of shape \(3,\); if X is one sequence, pass \[X\]"),
        (np.ones((1, 1, 1, 1)), ValueError, r"got an array of shape \(1, 1, 1, 1\)"),
        ([np.ones((1, 1, 1))], ValueError, r"Sequence 0 must have .* got shape \(1, 1, 1\)"),
        ([[[1, 2], [3]]], ValueError, "Sequence 0 has rows of different lengths"),
        ([[[1, 2], "A"]], ValueError, "Sequence 0 has rows of different lengths"),
        ([[1, 2], [object()]], ValueError, "Sequence 1 must hold real numbers, got dtype object"),
        ([[1j]], ValueError, "Sequence 0 must hold real numbers, got dtype complex128"),
        ([np.ones((2, 3)), np.ones((3, 3))], ValueError, "Sequence 1 has 3 channels, .* 0 has 2"),
        ([np.ones((2, 2)), {"a": [1, 2]}], ValueError, r"1 .* got a table.*pass table\.to_numpy"),
        (["AB", [1.0]], ValueError, "Sequence 1 has letters in other channels than sequence 0"),
        (
            [np.ones((2, 5)), [[1, 2], [3, np.inf]]],
            ValueError,
            "Sequence 1, channel 1: the value at time 1 is infinite; NaN marks a missing value",
        ),
    ],
)
def test_errors_say_what_and_where(X, error, message):
    with pytest.raises(error, match=message):
        check_sequences(X)


def test_names_of_files_are_suspected():
    with pytest.warns(UserWarning, match="names of files: 'a.wav'; mvdfq.io.read reads"):
        check_sequences(["a.wav", "b/c.wav"])
    assert check_sequences(["a.wav", "AB"]).symbolic == (True,)


def test_strings_of_any_library_are_letters():
    pyarrow, texts = pytest.importorskip("pyarrow"), ["AB", "CAB"]
    arrays = pyarrow.array(texts), np.array(texts, np.dtypes.StringDType()), pd.Series(texts)
    for X in map(check_sequences, arrays):
        assert X.symbolic == (True,)
        assert_array_equal(X.data, check_sequences(texts).data)
    assert check_sequences(pyarrow.array([[1.0, 2.0], [3.0]])).lengths.tolist() == [2, 1]


def test_what_looks_like_a_data_frame_is_refused():
    class Frame:
        columns = None

    with pytest.raises(TypeError, match=r"table must be a data frame .* got Frame"):
        check_sequences(Frame())
    with pytest.raises(TypeError, match=r"got a table; mvdfq.io.read\(X\).X reads it"):
        from_time_first({"a": [1, 2]})


def test_missing_values_can_be_refused():
    X = [[1.0, 2.0], [NAN, 3.0]]
    with pytest.raises(ValueError, match=r"Sequence 1, channel 0: the value at time 0 is missing"):
        check_sequences(X, missing="raise")
    assert check_sequences(X[:1], missing="raise").lengths.tolist() == [2]
    assert check_sequences([[1.0, NAN]], missing="raise").lengths.tolist() == [1]  # its end
    with pytest.raises(ValueError, match="missing must be 'break' or 'raise', got 'drop'"):
        check_sequences(X, missing="drop")


def test_another_number_of_channels_is_refused():
    with pytest.raises(ValueError, match="X has 3 channels, 2 are expected"):
        check_sequences([np.ones((3, 9))], n_channels=2)
    with pytest.raises(ValueError, match=r"X must have 2 channels, got a 2-D array.*pass \[X\]"):
        check_sequences(np.ones((2, 9)), n_channels=2)
    with pytest.raises(ValueError, match="one name for each of the 1 channels or be None, got 2"):
        check_sequences([[1.0]], channel_names=["a", "b"])


def test_channel_names_must_differ():
    with pytest.raises(ValueError, match="channel_names must all differ, got 'a' twice"):
        check_sequences([np.ones((3, 9))], channel_names=["a", "b", "a"])


@pytest.mark.parametrize("rate", [0, -1.0, NAN, np.inf, "50", True, [50]])
def test_a_sampling_rate_is_a_positive_number(rate):
    with pytest.raises(ValueError, match="sampling_rate must be a positive number, got"):
        check_sequences([[1.0]], sampling_rate=rate)
    with pytest.raises(ValueError, match="sampling_rate must be a positive number, got"):
        from_long_table(TABLE, channels=["x"], sampling_rate=rate)
    assert check_sequences([[1.0]], sampling_rate=np.float32(50)).sampling_rate == 50


def test_time_first_is_suspected_but_not_once_channels_are_known():
    X = [np.ones((9, 3)), np.ones((9, 2))]
    with pytest.warns(UserWarning, match=r"more channels than time points.*from_time_first"):
        check_sequences(X)
    assert check_sequences(X, n_channels=9).n_rows == 9  # a short sequence for a known model


# How a collection is cut


@given(any_collections(), st.data())
def test_indexing_selects_sequences(X, data):
    indices = data.draw(st.lists(st.integers(-len(X), len(X) - 1), max_size=6))
    part = X[np.array(indices, dtype=int)]
    assert len(part) == len(indices)
    for i, x in zip(indices, part, strict=True):
        assert_array_equal(x, X[i])
    mask = np.arange(len(X)) % 2 == 0
    assert X[mask].lengths.tolist() == X[::2].lengths.tolist() == X.lengths[::2].tolist()


def test_a_part_keeps_what_the_whole_knows():
    X = check_sequences([[[1.0, 3.0], "AB"], [[2.0], "B"]], channel_names="ab", sampling_rate=10)
    part = X[[1]]
    assert isinstance(part, Sequences)
    assert (part.channel_names, part.sampling_rate, part.symbolic) == (
        ("a", "b"),
        10,
        (False, True),
    )


def test_there_is_no_sequence_beyond_the_last():
    X = check_sequences([[1.0], [2.0]])
    with pytest.raises(IndexError):
        X[2]
    assert_array_equal(X[-1], [[2]])


def test_splitters_and_cross_validation_take_a_collection():
    X, y = check_sequences([[float(i), 1.0] for i in range(6)]), np.arange(6)
    indexable(X, y)
    for train, test in KFold(3).split(X):
        assert len(X[train]) + len(X[test]) == 6
    scores = cross_validate(Standardize(), X, y, scoring=lambda est, X, y: len(X), cv=3)
    assert scores["test_score"].tolist() == [2, 2, 2]


def test_other_data_under_the_same_names():
    X = Ragged(np.zeros((1, 2)), np.array([0, 2]), ("a",))
    other = X.with_data(np.ones((1, 2)))
    assert other.channel_names == ("a",)
    assert X.shape == (1,)
    assert replace(X, sampling_rate=5).sampling_rate == 5


# Readers of other conventions


def test_time_first_sequences_are_turned():
    X = from_time_first([[[1, 2], [3, 4], [5, 6]], [[7, 8]]], channel_names=["a", "b"])
    assert lists(X) == [[[1, 3, 5], [2, 4, 6]], [[7], [8]]]
    assert X.channel_names == ("a", "b")


def test_time_first_padding_is_cut_off():
    X = from_time_first(np.array([[[1.0, 2.0], [NAN, NAN]]]))
    assert lists(X) == [[[1], [2]]]


def test_time_first_needs_two_axes():
    with pytest.raises(ValueError, match=r"0 must have shape \(n_timepoints, n_channels\)"):
        from_time_first([[1, 2, 3]])
    with pytest.raises(TypeError, match=r"got generator; pass list\(X\)"):
        from_time_first(x for x in [np.ones((2, 3))])
    with pytest.raises(ValueError, match="Sequence 0 has rows of different lengths"):
        from_time_first([[[1, 2], [3]]])


TABLE = {
    "id": np.array(["b", "a", "b", "a"]),
    "time": np.array([1.0, 0.0, 0.0, 3.0]),
    "x": np.array([1.0, 2.0, 3.0, 4.0]),
    "state": np.array(["up", "down", "down", "odd"]),
    "kind": np.array([7, 5, 7, 5]),
}


def test_long_tables_are_sorted_by_id_and_time():
    X, ids, labels = from_long_table(TABLE, channels=["x"], label="kind")
    assert ids.tolist() == ["a", "b"]
    assert lists(X) == [[[2, 4]], [[3, 1]]]
    assert labels.tolist() == [5, 7]
    assert X.channel_names == ("x",)


def test_long_tables_with_categories():
    X, _, labels = from_long_table(
        TABLE, channels=["x", "state"], categories={"state": ["down", "up"]}
    )
    assert X.symbolic == (False, True)
    assert_array_equal(X[0], [[2, 4], [0, NAN]])  # "odd" is not listed
    assert_array_equal(X[1], [[3, 1], [0, 1]])
    assert labels is None


def test_long_tables_on_a_regular_grid():
    X, _, _ = from_long_table(TABLE, channels=["x"], sampling_rate=1.0)
    assert_array_equal(X[0], [[2, NAN, NAN, 4]])
    assert_array_equal(X[1], [[3, 1]])
    assert X.sampling_rate == 1.0


@pytest.mark.parametrize("kind", ["datetime64[ms]", "timedelta64[ms]"])
def test_dates_are_put_on_a_grid_of_frames_per_second(kind):
    times = np.array([100, 0, 0, 300]).astype(kind)
    X, _, _ = from_long_table(TABLE | {"time": times}, channels=["x"], sampling_rate=10)
    assert_array_equal(X[0], [[2, NAN, NAN, 4]])
    assert_array_equal(X[1], [[3, 1]])


def test_dates_as_text_are_in_the_order_of_time():
    days = ["2024-10-02 09:00", "2024-09-30 10:00", "2024-09-30 09:00", "2024-10-03 08:00"]
    X, _, _ = from_long_table(TABLE | {"time": days}, channels=["x"])
    assert lists(X) == [[[2, 4]], [[3, 1]]]
    with pytest.raises(ValueError, match=r"finite numbers or datetime64 .* got dtype <U16"):
        from_long_table(TABLE | {"time": days}, channels=["x"], sampling_rate=1.0)


def test_masked_cells_of_a_long_table_are_missing():
    mask = [True, False, False, False]
    changes = {c: np.ma.array(TABLE[c], mask=mask) for c in ("x", "state")}
    whole = np.ma.array([2, 1, 2, 1])
    X, ids, _ = from_long_table(
        TABLE | changes | {"id": whole}, channels=["x", "state"], categories={"state": ["down"]}
    )
    assert_array_equal(X[1], [[3], [0]])  # its last frame is missing
    assert_array_equal(X[0], [[2, 4], [0, NAN]])
    assert ids.dtype.kind == "i"


@pytest.mark.parametrize(
    "table", [[{"id": 1, "time": 0, "x": 2.0}], np.zeros(2, [("id", int), ("time", int)])]
)
def test_tables_of_lines_are_pointed_to_pandas(table):
    with pytest.raises(TypeError, match=r"mapping of column .* pandas.DataFrame\(table\)"):
        from_long_table(table)


class NotAvailable:
    """Like pandas.NA: neither equal to itself nor different."""

    def __eq__(self, other):
        return self

    def __bool__(self):
        raise TypeError("ambiguous")


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({}, {"id": "name"}, r"The table has no column 'name'; .* are \['id', 'kind', "),
        ({}, {"channels": ["y"]}, "The table has no column 'y'"),
        ({}, {}, r"Column 'state' must hold numbers, .*categories=\['state'\]"),
        ({"kind": [7, 5, 8, 5]}, {"label": "kind", "channels": ["x"]}, "Sequence 'b' has several"),
        ({"time": [1.0, 0, 1.2, 3]}, {"sampling_rate": 1.0}, "Sequence 'b' has two lines in one"),
        ({"time": [1.0, 0, 0, 1e9]}, {"sampling_rate": 1.0}, "Sequence 'a' fills less than a thou"),
        ({c: [] for c in TABLE}, {}, "The table holds no lines"),
        ({"x": [1.0, 2.0]}, {}, "columns of the table differ in length: .*'id': 4, .*'x': 2"),
        ({"x": np.ones((4, 2))}, {}, r"Column 'x' must be one-dimensional, got shape \(4, 2\)"),
        ({}, {"channels": []}, "The table has no channels"),
        ({}, {"categories": {"sate": []}}, r"categories names 'sate'; the channels are \['x', "),
        ({"time": [1.0, NAN, 0, 3]}, {}, "Column 'time' has no value on line 1"),
        (
            {"time": ["9", "10", "11", "12"]},
            {},
            "numbers or dates, got the text '9'; texts",
        ),
        ({"time": np.array(["2/1/24", 0, 1, 2], object)}, {}, "dates, got the text '2/1/24'"),
        ({"time": np.array(["NaT"] * 4, "M8[s]")}, {}, "Column 'time' has no value on line 0"),
        ({"id": ["b", "a", None, "a"]}, {}, "Column 'id' has no value on line 2"),
        ({"id": ["b", NotAvailable(), "b", "a"]}, {}, "Column 'id' has no value on line 1"),
        ({"id": np.ma.masked_equal([1, 2, 1, 2], 2)}, {}, "Column 'id' has no value on line 1"),
        (
            {"time": ["1", "0", "0", "3"]},
            {"sampling_rate": 1.0},
            "Column 'time' must hold numbers or dates, got the text '1'",
        ),
        (
            {"kind": [NAN, 5, NAN, 5]},
            {"label": "kind", "channels": ["x"]},
            "Sequence 'b' has a line without a label; column 'kind'",
        ),
    ],
)
def test_long_table_errors_say_what_and_where(changes, options, message):
    if "sampling_rate" in options:
        options = options | {"channels": ["x"]}
    with pytest.raises(ValueError, match=message):
        from_long_table(TABLE | changes, **options)


# What people see and pass


def test_collections_are_shown_in_a_line():
    X = check_sequences(
        [np.zeros((2, 5)), np.full((2, 7), np.nan)], channel_names=["x", "y"], sampling_rate=50
    )
    assert repr(X) == (
        "<Sequences: 2 sequences, 2 channels (x, y), 0 to 5 frames long, 50 frames per second>"
    )
    gappy = check_sequences([[1.0, np.nan, 2.0, 3.0]])
    assert repr(gappy).endswith(" 1 channel, 4 frames long, 25.00% of the values missing>")
    assert "symbols in 1 of 1 channels" in repr(check_sequences(["ABBA"]))
    many = check_sequences([np.zeros((40, 90))], channel_names=[f"c{i}" for i in range(40)])
    assert "(c0, c1, c2, c3, c4, c5 and 34 more)" in repr(many)
    symbols = mvdfq.Letters().fit_transform(["ABBA", "AC"])
    assert repr(symbols) == "<Symbols: 2 sequences, 1 row, 2 to 4 frames long, 3 symbols>"


def test_fitted_parts_are_shown_in_a_paragraph():
    X, y = mvdfq.make_autoregressive(40, 3, (60, 90), random_state=0)
    clf = mvdfq.SequenceClassifier("mvdfqm-spectrum").fit(X, y)
    symbols = mvdfq.DirectQuantizer().fit_transform(X)
    features = mvdfq.SequenceFeatures(mvdfq.Spectrum(3)).fit(symbols)
    evaluation = mvdfq.evaluate(mvdfq.SequenceClassifier("mvdfqm-spectrum"), X, y)
    term = clf.terms_[0]
    shown = [term, term.table, term.reader.train_, clf.explain(X[0]).evidence,
             features.columns_, features.plan_, evaluation, evaluation.folds[0]]  # fmt: skip
    for part in shown:
        assert len(repr(part)) < 500, repr(part)[:200]
        assert "array([" not in repr(part)
    assert "<array 40 x 1>" in repr(clf.terms_[0])


def test_time_first_lists_of_unequal_length_get_a_hint():
    X = [np.zeros((50, 3)), np.zeros((40, 3))]
    hint = r"All sequences have 3 columns: if time comes first .* mvdfq\.from_time_first"
    with pytest.raises(ValueError, match=hint):
        check_sequences(X)
    assert mvdfq.from_time_first(X).lengths.tolist() == [50, 40]
    with pytest.raises(ValueError, match=r"5 channels, sequence 0 has 4; all .* channels\.$"):
        check_sequences([np.zeros((4, 9)), np.zeros((5, 8))])
    fitted = mvdfq.DirectQuantizer().fit([np.random.default_rng(0).normal(size=(3, 50))])
    with pytest.raises(ValueError, match=r"50 channels, 3 are expected; if time comes first"):
        fitted.transform([np.zeros((50, 3))])


def test_long_tables_with_groups():
    table = {"id": [7, 7, 3], "time": [1, 0, 0], "x": [0.5, 0.1, 0.9], "who": ["p", "p", "q"]}
    X, ids, labels, groups = from_long_table(table, group="who")
    assert (X.n_rows, ids.tolist(), labels, groups.tolist()) == (1, [3, 7], None, ["q", "p"])
    table["kind"] = ["up", "up", "down"]
    *_, labels, groups = from_long_table(table, group="who", label="kind")
    assert (labels.tolist(), groups.tolist()) == (["down", "up"], ["q", "p"])
    table["who"] = ["p", "r", "q"]
    with pytest.raises(ValueError, match="several values in column 'who'; a group must be"):
        from_long_table(table, group="who", label="kind")


# Containers that users make by hand ------------------------------------------------------------

FLAT, ENDS = np.arange(12.0).reshape(2, 6), np.array([0, 4, 6])


@pytest.mark.parametrize(
    ("data", "offsets", "error", "message"),
    [
        (
            FLAT.astype(int),
            ENDS,
            ValueError,
            r"data must be a 2-D array .*'float64'\), got .*int64",
        ),
        (FLAT.astype(">f8"), ENDS, ValueError, "got an array of >f8"),
        (FLAT.astype("f2"), ENDS, ValueError, "got an array of float16"),
        (FLAT[0], ENDS, ValueError, "with 1 dimensions"),
        (FLAT.tolist(), ENDS, TypeError, "data must be a plain NumPy array, got list"),
        (np.ma.masked_equal(FLAT, 3), ENDS, TypeError, "got MaskedArray; mvdfq.check_sequences"),
        (FLAT.view(np.matrix), ENDS, TypeError, "got matrix"),
        (FLAT, [0, 4, 6], TypeError, "offsets must be a plain NumPy array, got list"),
        (FLAT, ENDS.astype("i4"), ValueError, "offsets must be a list of int64 numbers"),
        (FLAT, ENDS[:0], ValueError, "offsets must be a list of int64 numbers"),
        (FLAT, ENDS + 1, ValueError, "offsets must run from 0 to the number of frames in data, 6"),
        (FLAT, ENDS[:2], ValueError, "offsets must run from 0"),
        (FLAT, np.array([0, 9, 6]), ValueError, "must not fall"),
    ],
)
def test_arrays_that_loops_cannot_read_are_refused(data, offsets, error, message):
    with pytest.raises(error, match=message):
        Sequences(data, offsets)


def test_symbols_are_whole_numbers():
    with pytest.raises(
        ValueError, match=r"\('uint8', 'uint16', 'uint32'\), got an array of float64"
    ):
        mvdfq.Symbols(FLAT, ENDS, n_symbols=np.array([12, 12]))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, ">i8"])
def test_whole_numbers_that_floats_cannot_tell_apart_are_refused(dtype):
    assert check_sequences([np.array([0, 2**53], dtype)]).data.max() == 2**53
    with pytest.raises(ValueError, match=r"Sequence 1 holds whole numbers beyond 2\*\*53"):
        check_sequences([np.array([0, 1], dtype), np.array([0, 2**53 + 1], dtype)])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            {"channel_names": ("a", "b", "c")},
            "one name for each of the 2 channels or be None, got",
        ),
        ({"symbolic": (True,)}, "one flag for each of the 2 channels or be empty, got 1 flags"),
    ],
)
def test_names_and_flags_belong_to_the_channels(more, message):
    with pytest.raises(ValueError, match=message):
        Sequences(np.zeros((2, 6)), np.array([0, 6]), **more)


def test_data_frames_with_time_first_give_the_names_of_channels():
    pandas = pytest.importorskip("pandas")
    frames = [pandas.DataFrame({"acc [g]": [1.0, 2.0], "temp": [3.0, n]}) for n in range(2)]
    assert from_time_first(frames).channel_names == ("acc [g]", "temp")
    assert from_time_first(frames, channel_names=["a", "b"]).channel_names == ("a", "b")
    with pytest.raises(ValueError, match=r"Sequence 1 has the columns \['temp', 'acc \[g\]'\]"):
        from_time_first([frames[0], frames[1][["temp", "acc [g]"]]])

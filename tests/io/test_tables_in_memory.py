"""Tables in memory: whatever holds the table, the reader finds what it finds in a CSV file."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr
from Bio.Seq import Seq
from Bio.SeqRecord import SeqRecord
from numpy.testing import assert_array_equal

import mvdfq
from mvdfq.io import ReadError, read

START = datetime.datetime(2024, 3, 1, 12)
N = 24
COLUMNS = {
    "trial": [f"r{i // 12}" for i in range(N)],
    "when": [START + datetime.timedelta(seconds=i % 12 / 50) for i in range(N)],
    "x": [None if i == 5 else i * 0.25 for i in range(N)],
    "state": ["up" if i % 3 else "down" for i in range(N)],
    "activity": ["walk" if i < 12 else "run" for i in range(N)],
    "subject_id": [7] * 12 + [8] * 12,
}


def frames():
    table = pd.DataFrame(COLUMNS)
    yield "pandas", table
    yield "polars", pl.DataFrame(COLUMNS)
    yield "lazy polars", pl.LazyFrame(COLUMNS)
    yield "pyarrow", pa.table(COLUMNS)
    yield "categories", table.astype({"state": "category", "activity": "category"})
    coded = {key: pa.array(COLUMNS[key]).dictionary_encode() for key in ("state", "activity")}
    yield "dictionaries", pa.table(COLUMNS | coded)
    yield "index", table.set_index("trial")
    yield "two levels", table.set_index(["trial", "when"])
    yield "nullable", table.convert_dtypes()
    yield "columns", COLUMNS
    yield "records", table.to_dict("records")


@pytest.mark.parametrize(
    ("kind", "table"), list(frames()), ids=lambda one: one if type(one) is str else ""
)
def test_every_table_is_read_as_its_csv_file(tmp_path, kind, table):
    path = tmp_path / "table.csv"
    pd.DataFrame(COLUMNS).to_csv(path, index=False)
    expected, found = read(path), read(table)
    assert_array_equal(found.X.data, expected.X.data)
    assert found.X.channel_names == expected.X.channel_names == ("x", "state")
    assert found.X.symbolic == expected.X.symbolic == (False, True)
    assert found.X.sampling_rate == expected.X.sampling_rate == 50
    assert found.names == expected.names == ["r0", "r1"]
    assert found.y.tolist() == expected.y.tolist() == ["walk", "run"]
    assert found.groups.tolist() == expected.groups.tolist() == ["7", "8"]
    assert {*found.remarks} == {*expected.remarks}
    assert_array_equal(mvdfq.check_sequences(table).data, expected.X.data)


def test_a_missing_word_of_a_coded_column_is_missing():
    words = pa.array(["a", None, "b", "a"]).dictionary_encode()
    data = read(pa.table({"id": [1] * 4, "time": [0.0, 0.1, 0.2, 0.3], "w": words}))
    assert_array_equal(np.isnan(data.X.data), [[False, True, False, False]])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_long_tables_of_every_kind(make):
    table = make({"id": [7, 7, 3], "time": [1, 0, 0], "x": [0.5, 0.1, 0.9], "s": ["a", "b", "a"]})
    X, ids, _ = mvdfq.from_long_table(table, categories=["s"])
    assert (ids.tolist(), X.symbolic, X[1].tolist()) == (
        [3, 7],
        (False, True),
        [[0.1, 0.5], [1, 0]],
    )


def test_an_index_of_two_levels_is_id_and_time():
    index = pd.MultiIndex.from_product([["b", "a"], [0, 1, 2]])
    table = pd.DataFrame({"x": np.arange(6.0)}, index=index)
    for data in (read(table), read(table.rename_axis(["instances", "timepoints"]))):
        assert data.names == ["b", "a"]
        assert_array_equal(data.X[1], [[3, 4, 5]])
    X, ids, _ = mvdfq.from_long_table(table)
    assert ids.tolist() == ["a", "b"]
    assert X[0].tolist() == [[3, 4, 5]]
    index = pd.MultiIndex.from_product(
        [["p", "q"], [1, 2], [0, 1, 2]], names=["subject", None, "t"]
    )
    data = read(pd.DataFrame({"x": np.arange(12.0)}, index=index))
    assert data.names == ["p/1", "p/2", "q/1", "q/2"]
    assert data.groups.tolist() == ["p", "p", "q", "q"]


def test_nested_frames_stand_alone():
    """A list holds tables of one sequence each; cells with series made empty sequences."""
    frame = pd.DataFrame({"a": [pd.Series([1.0, 2.0]), pd.Series([3.0])]})
    for X in ([frame], [frame, frame], {"first": frame}):
        with pytest.raises(ReadError, match="a cell of column 'a' holds a series; pass such a ta"):
            read(X)


def test_nested_frames():
    cells = [pd.Series([1.0, 2.0]), pd.Series([3.0, 4.0, 5.0])]
    table = pd.DataFrame({"x": cells, "y": cells, "label": ["u", "v"]})
    for data in (read(table), read(pl.DataFrame({k: list(v) for k, v in table.items()}))):
        assert data.X.lengths.tolist() == [2, 3]
        assert data.X.channel_names == ("x", "y")
        assert data.y.tolist() == ["u", "v"]
    assert read(table.iloc[[1, 0]]).remarks == ()  # the index of a frame is no column
    broken = pd.DataFrame({"x": [*cells, cells[1]], "y": [cells[0], cells[0], cells[1]]})
    with pytest.raises(ReadError, match="row 2: channels of different lengths"):
        read(broken)
    data = read(broken, skip_bad=True)
    assert data.X.lengths.tolist() == [2, 3]
    assert data.names == ["table:1", "table:3"]
    assert [error.problem for error in data.skipped] == ["row 2: channels of different lengths"]


def test_xarray_keeps_its_dimensions():
    values = np.arange(24.0).reshape(3, 4, 2)
    coords = {"time": np.arange(4) / 10, "channel": ["a", "b"], "label": ("trial", ["u", "v", "u"])}
    array = xr.DataArray(values, dims=["trial", "time", "channel"], coords=coords)
    for one in (array, array.transpose("channel", "trial", "time"), array.to_dataset("channel")):
        data = read(one)
        assert_array_equal(data.X[1], values[1].T)
        assert data.X.channel_names == ("a", "b")
        assert data.y.tolist() == ["u", "v", "u"]
        assert data.X.sampling_rate == 10
    assert read(array[:, :, 0].drop_vars("channel").rename(trial="sample")).X.n_rows == 1
    with pytest.raises(ReadError, match=r"dimensions of the array are .*'channel'"):
        read(array.drop_vars("channel").rename(channel="what"))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_lists_of_data_frames_have_time_down(make):
    parts = [make({"time": np.arange(n) / 20, "x": np.arange(n) * 2.0, "y": np.cos(np.arange(n))})
             for n in (9, 5)]  # fmt: skip
    data = read(parts)
    assert data.X.lengths.tolist() == [9, 5]
    assert data.X.channel_names == ("x", "y")
    assert data.X.sampling_rate == 20
    assert read({"p": parts[0], "q": parts[1]}).names == ["p", "q"]
    with pytest.warns(UserWarning, match="'x' rises in every sequence: is it a time"):
        X = mvdfq.check_sequences(parts)
    assert_array_equal(X.data, data.X.data)
    other = make({"time": [0.0, 0.1], "x": [1.0, 2.0], "z": [1.0, 2.0]})
    with pytest.raises(ReadError, match=r"table 1: line 1: channels \['x', 'z'\]"):
        read([parts[0], other])


def test_biopython():
    records = [
        SeqRecord(Seq("MVLSPAD"), "d1", description="d1 globin"),
        SeqRecord(Seq("QVQL"), "d2"),
    ]
    data = read(records)
    assert (data.X, data.names) == (["MVLSPAD", "QVQL"], ["d1", "d2"])
    assert read(records[:1], label=1).y.tolist() == ["globin"]
    assert read(records, labels={"d1": "a", "d2": "b"}).y.tolist() == ["a", "b"]
    assert_array_equal(mvdfq.check_sequences(records).data, mvdfq.check_sequences(data.X).data)
    assert read([Seq("ACGT")]).X == ["ACGT"]


def test_one_row_per_series():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(6, 30))).assign(label=list("ababab"))
    data = read(table)
    assert data.X.lengths.tolist() == [30] * 6
    assert data.y.tolist() == list("ababab")
    assert len(mvdfq.check_sequences(table)) == 6
    bare = table.drop(columns="label")
    assert_array_equal(
        mvdfq.check_sequences(bare).data, mvdfq.check_sequences(bare.to_numpy()).data
    )
    clf = mvdfq.SequenceClassifier("mvdfqm-spectrum").fit(bare, table["label"])
    assert clf.predict(bare).shape == (6,)


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"x": [1, 2], "y": [1]}, {}, "columns of different lengths"),
        ({"x": []}, {}, "no rows"),
        ({"id": ["a", "a"], "time": [0, 1], "x": [1, np.inf]}, {}, "row 2: column 'x'"),
        ({"id": ["a", None], "time": [0, 1], "x": [1, 2]}, {}, "row 2: no id"),
        ({"id": ["a", "a"], "time": [1, 0], "x": [1, 2]}, {}, "row 2: an earlier time"),
        ({"id": ["a", "a"], "time": [0, 1], "x": [1, {}]}, {}, "a cell holds dict"),
        ({"w": ["a", "b"], "v": ["c", "d"]}, {}, r"no column of ids; .*read\(\[table\]\)"),
        ({"id": [1], "time": [0], "x": [1]}, {"label": "kind"}, "no column 'kind'"),
    ],
)
def test_bad_tables(table, options, message):
    with pytest.raises(ReadError, match=message):
        read(table, **options)


def test_what_is_not_a_table():
    with pytest.raises(TypeError, match=r"path must be .* got list; mvdfq.check_sequences"):
        read([[1.0, 2.0]])
    with pytest.raises(TypeError, match="path must be a path"):
        read(5)


def test_data_can_be_indexed_by_arrays(tmp_path):
    path = tmp_path / "a.fasta"
    path.write_text(">a\nMV\n>b\nLS\n>c\nPA\n")
    data = read(path)
    assert data.X[np.array([2, 0])] == ["PA", "MV"]
    assert data.X[np.array([True, False, True])] == ["MV", "PA"]
    assert data.X[1:] == ["LS", "PA"]
    assert data.X[np.int64(1)] == "LS"
    assert data.take([1]).X[np.array([0])] == ["LS"]
    assert data.take(np.array([False, True, True])).names == ["b", "c"]
    with pytest.raises(IndexError):
        data.take(np.array([True]))
    assert data.joined(data).X[np.array([5])] == ["PA"]

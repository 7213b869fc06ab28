"""Wide tables of several channels: the names of columns tell the channel and the moment."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import mvdfq
from mvdfq._utils.errors import Usual
from mvdfq.io import ReadError, read

TIMES, VALUES = range(12), np.arange(48.0).reshape(2, 2, 12)


def wide(path, names, channels=("ax", "ay"), extra=(), times=TIMES, by_time=False):
    """Write two sequences of `VALUES`; `names` makes the name of a column."""
    places = [(c, t) for c in range(len(channels)) for t in times]
    places = sorted(places, key=lambda place: (place[1], place[0])) if by_time else places
    header = ["id", *extra, *(names(channels[c], t) for c, t in places), "label"]
    rows = [
        [f"s{i}", *("7" for _ in extra), *(VALUES[i, c, t] for c, t in places), "ab"[i]]
        for i in range(2)
    ]
    lines = (",".join(f'"{cell}"' for cell in row) for row in [header, *rows])
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("by_time", [False, True])
@pytest.mark.parametrize(
    "form",
    ["{c}_{t}", "{c}{t}", "{c}.{t}", "{c} {t}", "{c}[{t}]", "{c}_t{t}", "{c}_time_0.{t:02}",
     "t{t}_{c}", "{t}_{c}", "('{c}', {t})"],
)  # fmt: skip
def test_names_with_the_same_numbers_are_channels(tmp_path, form, by_time):
    path = wide(tmp_path / "a.csv", lambda c, t: form.format(c=c, t=t), by_time=by_time)
    data = read(path)
    assert [name.strip("('") for name in data.X.channel_names] == ["ax", "ay"]
    assert [data.names, data.y.tolist()] == [["s0", "s1"], ["a", "b"]]
    assert_array_equal(np.array([*data.X]), VALUES)
    assert "2 channels of 12 frames: 'ax', 'ay'" in str(data.remarks[0])
    assert all(isinstance(remark, Usual) for remark in data.remarks)


def test_a_data_frame_has_the_same_channels(tmp_path):
    table = pd.read_csv(wide(tmp_path / "a.csv", "{}_{}".format))
    assert_array_equal(np.array([*read(table).X]), VALUES)
    assert mvdfq.check_sequences(table.drop(columns=["id", "label"])).n_rows == 2


def test_short_sequences_end_where_all_channels_end(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("label,u1,u2,u3,v1,v2,v3\na,1,2,,4,,\nb,1,2,3,4,5,6\n")
    data = read(path)
    assert data.X.lengths.tolist() == [2, 3]
    assert_array_equal(data.X[0], [[1, 2], [4, np.nan]])


@pytest.mark.parametrize(
    "header",
    ["x,y,z", "x1,y1,z1", "v0,v1,v2", "t-2,t-1,t0", "t-1,t0,t+1", "2020-01,2020-02,2021-01",
     "1/30/20,1/31/20,2/1/20", "Jan 2020,Feb 2020,Jan 2021", "2020Q1,2020Q2,2021Q1", "0.5,0.75,1"],
)  # fmt: skip
def test_other_names_are_moments_of_one_channel_in_their_order(tmp_path, header):
    path = tmp_path / "a.csv"
    path.write_text(f"label,{header}\na,1,2,3\nb,4,5,6\n")
    data = read(path, "wide-csv")
    assert_array_equal(np.array([*data.X]), [[[1, 2, 3]], [[4, 5, 6]]])
    assert "1 channel of 3 frames" in data.remarks[0]


def test_columns_in_the_order_of_the_alphabet_are_put_in_the_order_of_numbers(tmp_path):
    names = [f"v{t}" for t in TIMES]
    table = pd.DataFrame(VALUES[0], columns=names, index=[0, 1])[sorted(names)]
    table.to_csv(tmp_path / "a.csv", index=False)
    data = read(tmp_path / "a.csv", label="none")
    assert_array_equal(np.array([*data.X])[:, 0], VALUES[0])
    assert "order of their numbers: 'v0', 'v1', 'v2'" in str(data.remarks)
    assert not all(isinstance(remark, Usual) for remark in data.remarks)


def test_two_numbers_in_a_name_are_remarked(tmp_path):
    data = read(wide(tmp_path / "a.csv", "{}_{}".format, ("s1", "s2")))
    assert data.X.channel_names == ("s1", "s2")
    assert "in the name 's1_0', 's1' is the channel, and the other number" in str(data.remarks)


def test_columns_that_are_not_numbered_alike_are_refused(tmp_path):
    path = wide(tmp_path / "a.csv", "{}_{}".format, extra=("age",))
    with pytest.raises(ReadError, match=r"the same numbers, got 'age' beside .*; drop=NAME leaves"):
        read(path)
    assert_array_equal(np.array([*read(path, drop=["age"]).X]), VALUES)
    path.write_text("id,u1,u2,u3,v1,v2,v3,v4,label\n" + "a,1,2,3,4,5,6,7,x\n" * 2)
    with pytest.raises(ReadError, match="got 'u1', 'u2', 'u3' beside 'v1', 'v2', 'v3', 'v4'"):
        read(path, "wide-csv")


def test_a_name_of_any_length_takes_little_time(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"label,{'_' * 130_000},{'1' * 130_000}\na,1,2\nb,3,4\n")
    assert read(path, "wide-csv").X.lengths.tolist() == [2, 2]


def test_a_group_at_the_end_is_not_the_label(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("kind,u1,u2,subject\na,1.5,2,ann\nb,3.5,4,ben\na,1.5,2.5,ann\n")
    data = read(path, "wide-csv")
    assert data.y.tolist() == ["a", "b", "a"]
    assert data.groups.tolist() == ["ann", "ben", "ann"]


def test_rows_of_few_columns_without_a_label_may_be_one_series(tmp_path):
    for names, match in [("uvw", "not recognised; id=NAME"), (["u1", "u2", "u3"], "which column")]:
        pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=list(names)).to_csv(
            tmp_path / "a.csv", index=False
        )
        with pytest.raises(ReadError, match=match):
            read(tmp_path / "a.csv")


def test_rows_that_may_be_moments_are_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y,z,activity\n" + "1,2,3.5,walk\n" * 30 + "4,5,6.5,run\n" * 30)
    with pytest.raises(ReadError, match=r"if each row is a series, .*add a column of times"):
        read(path)
    with pytest.raises(ReadError, match="no column of ids"):
        read(pd.read_csv(path))
    assert len(read(path, "wide-csv")) == 60
    lines = path.read_text().splitlines()
    timed = [f"{i / 10 if i else 'time'},{line}" for i, line in enumerate(lines)]
    path.write_text("\n".join(timed))
    assert read(path).X.lengths.tolist() == [30, 30]


def test_new_rows_are_read_by_the_columns_of_the_training_table(tmp_path):
    rng, path = np.random.default_rng(0), tmp_path / "a.csv"
    columns = {f"{c}{t}": rng.normal(size=20) + (c == "u") * np.arange(20) for c in "uv"
               for t in range(20)}  # fmt: skip
    names = {"rat": [f"r{i}" for i in range(20)], "cage": list("pq") * 10}
    table = pd.DataFrame({**names, "age": range(20), **columns, "kind": ["a"] * 10 + ["b"] * 10})
    table.to_csv(path, index=False)
    data = read(path, id="rat", group="cage", drop=["age"], label="kind")
    clf = mvdfq.SequenceClassifier("fast").fit(data.X, data.y)
    clf.source_ = data.source
    for columns in (table.columns, table.columns.drop(["kind", "cage", "age"])):
        table[columns].to_csv(tmp_path / "new.csv", index=False)
        answers = mvdfq.predict_files(clf, tmp_path / "new.csv")
        assert list(answers) == table["rat"].tolist()


def test_a_column_that_is_dropped_is_neither_label_nor_value(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("kind,u1,u2,note\na,1.5,2,good\nb,3.5,4,bad\na,1.5,2.5,good\n")
    data = read(path, "wide-csv", drop=["note"])
    assert data.y.tolist() == ["a", "b", "a"]
    assert data.X.lengths.tolist() == [2, 2, 2]
    with pytest.raises(ReadError, match="no column besides id, label and group"):
        read(path, "wide-csv", drop=["note", "u1", "u2"], label="kind")


def test_ids_that_count_rows_do_not_tell_that_rows_are_series(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,x,y,label\n" + "".join(f"{i},{i % 7}.5,{i % 3},a\n" for i in range(40)))
    with pytest.raises(ReadError, match="if each row is a series"):
        read(path)
    assert read(path, "wide-csv").X.lengths[0] == 2


def test_names_that_pandas_made_differ_are_one_channel(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("label,x,x.1,y,y.1\na,1,2,3,4\nb,5,6,7,8\n")
    assert read(path).X[0].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("missing", [-999, "-999", [-999.0]])
def test_missing_values_are_compared_as_numbers(tmp_path, missing):
    path = tmp_path / "a.csv"
    path.write_text("label,t0,t1,t2\nu,-999.0,1,2\nv,3,-999,4\n")
    for table in (path, pd.read_csv(path)):
        lost = np.isnan(read(table, missing=missing).X.data)
        assert lost.tolist() == [[True, False, False, False, True, False]]

"""Tables as people have them: columns, separators, decimals, times and sampling rates."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mvdfq.cli.options import number_or_name
from mvdfq.io import ReadError, read, recognise
from mvdfq.io.tables.times import moments, split_unit
from mvdfq.sequences.sampling import resampled
from naive import numbers as naive_numbers

ROWS = [("a", 0, 1.5, 4.5), ("a", 1, 2.5, 5.5), ("b", 0, 3.5, 6.5), ("b", 1, 0.5, 7.5)]


def write(folder, text, name="table.csv", encoding="utf-8"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode(encoding))
    return path


def in_words(data):
    return " | ".join(data.remarks)


# Separators and decimals


@pytest.mark.parametrize(
    ("mark", "comma"), [(",", "."), (";", "."), (";", ","), ("\t", ","), ("|", ","), (" ", ".")]
)
@pytest.mark.parametrize("above", ["", "# made by a logger; 3, 4\n\n"])
def test_separators_and_decimal_commas(tmp_path, mark, comma, above):
    lines = ["id,time,x,y", *(f"{i},{t},{x},{y}" for i, t, x, y in ROWS)]
    text = "\n".join(line.replace(",", mark) for line in lines)
    data = read(write(tmp_path, above + text.replace(".", comma)))
    assert data.names == ["a", "b"]
    assert_array_equal(data.X.data, np.array([row[2:] for row in ROWS]).T)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        ("1,5;2,25;-3,0", [1.5, 2.25, -3]),
        ("1,5e-3;,5;+2,0E2", [0.0015, 0.5, 200]),
        ("1.234,5;12.345.678,9;7", [1234.5, 12345678.9, 7]),
        ('"1,5";"2";"NA"', [1.5, 2, np.nan]),
    ],
)
def test_decimal_commas_in_a_wide_table(tmp_path, cells, values):
    data = read(write(tmp_path, f"up;{cells};1\ndown;{cells};1\n"))
    assert data.y.tolist() == ["up", "down"]
    assert_array_equal(data.X[0], [[*values, 1]])


@pytest.mark.parametrize("cell", ["²", "9" * 5000])
def test_a_header_of_digits_that_are_not_numbers_of_columns(tmp_path, cell):
    # str.isdigit is true of both, and int refuses both
    path = tmp_path / "a.csv"
    path.write_text(f"a,{cell},{cell[:-1]}³,¹,b\n1,2,3,4,x\n5,6,7,8,y\n2,2,3,4,x\n")
    assert read(path, "wide-csv").X is not None
    assert number_or_name(cell) == cell


@pytest.mark.parametrize("cell", ["1,5e999", "2.5"])
@pytest.mark.parametrize("name", ["x", "time"])
def test_a_number_that_cannot_be_a_time_is_refused_as_a_value(tmp_path, name, cell):
    path = tmp_path / "a.csv"
    path.write_text(f"id;{name};y;label\na;1,5;2;u\na;{cell};3;u\nb;2,5;2;v\nb;3,5;2;v\n")
    with pytest.raises(ReadError, match=r"infinite|write all decimals|is not a time"):
        read(path)


def test_a_comma_that_may_separate_thousands_is_refused(tmp_path):
    path = write(tmp_path, "up;1,234;2.5\ndown;1,111;3.5\n")
    with pytest.raises(ReadError, match=r"line 1: .1,234. beside .2\.5.: write all"):
        read(path)


@pytest.mark.parametrize(("other", "said"), [("0,5", False), ("2", True), ("1234,567", False)])
def test_a_comma_before_three_digits_is_told(tmp_path, other, said):
    path = write(
        tmp_path, f"id;x;y\na;1,234;{other}\na;2,345;{other}\nb;3,456;{other}\nb;3,456;{other}\n"
    )
    data = read(path)
    assert data.X[0][0].tolist() == [1.234, 2.345]
    words = "column 'x': 1,234 is read as 1.234; if the comma separates thousands, write 1234"
    assert (words in in_words(data)) == said
    wide = read(write(tmp_path, f"up;1,234;2,345;{other};3\ndown;3,456;1,234;{other};3\n"))
    assert ("1,234 is read as 1.234" in in_words(wide)) == said


def test_a_comma_in_a_table_with_decimal_points_is_refused(tmp_path):
    for text in ("id;x;y\na;1,234;2.5\na;2,345;3.5\n", "up;1,234;5\ndown;3;1.5\n"):
        with pytest.raises(ReadError, match=r"'1,234' in a table with '[21].5'; write thousands"):
            read(write(tmp_path, text))


@pytest.mark.parametrize(
    "cell", ["1%", "20 °C", "$3", "1 234", "1'234", "1,234,567", "1_0", "9.8 m/s²"]
)
def test_what_is_nearly_a_number_is_no_category(tmp_path, cell):
    path = write(tmp_path, f"id;x;y\na;{cell};1\na;{cell};2\nb;{cell};3\nb;{cell};4\n")
    with pytest.raises(ReadError, match=r"line 2: column 'x': .* is not a number; write numbers"):
        read(path)
    assert read(path, drop=["x"]).X.channel_names == ("y",)
    data = read(path, categories={"x": [cell]})
    assert data.X.symbolic == (True, False)


@pytest.mark.parametrize("word", ["None", "-", "n.a."])
def test_a_word_among_numbers_may_be_missing(tmp_path, word):
    path = write(tmp_path, f"id,x,y\na,{word},1\na,2.5,2\nb,3.5,3\nb,4.5,4\n")
    with pytest.raises(ReadError, match=rf"line 2: column 'x': '{word}' .* missing='{word}'"):
        read(path)
    assert np.isnan(read(path, missing=word).X.data[0, 0])


def test_large_values_that_do_not_rise_are_no_times(tmp_path):
    rows = [f"{i},{t},{1e9 + (7 * t + i) % 5},{15e8 + t}" for i in range(2) for t in range(6)]
    data = read(write(tmp_path, "\n".join(["id,time,x,logged", *rows])))
    assert data.X.channel_names == ("x",)  # a second clock is no channel
    assert data.X.data.min() == 1e9


def test_labels_may_be_called_targets(tmp_path):
    data = read(write(tmp_path, "id,x,target,person\na,1,u,p\na,2,u,p\nb,3,v,q\nb,4,v,q\n"))
    assert [data.y.tolist(), data.groups.tolist()] == [["u", "v"], ["p", "q"]]


def test_words_are_told(tmp_path):
    data = read(write(tmp_path, "id,x,s\na,1,5 kg\na,2,6 kg\nb,3,5 kg\nb,3,6 kg\n"))
    assert "'s' holds words, which are read as categories" in in_words(data)
    path = write(tmp_path, "id,x,s\na,1,infrared\na,2,1%\nb,3,off\nb,3,info\n")
    assert read(path).X.symbolic == (False, True)


@pytest.mark.parametrize("number", [9007199254740993, -9007199254740993])
def test_numbers_that_floats_round_are_told(tmp_path, number):
    words = "'x' holds numbers of 2**53 = 9007199254740992 or more, whose last digits are rounded"
    path = write(tmp_path, f"id,x,y\na,{number},1\na,3,4\nb,3,4\nb,5,4\n")
    assert words in in_words(read(path))
    table = pd.read_csv(path)
    table.to_parquet(tmp_path / "a.parquet")
    assert words in in_words(read(tmp_path / "a.parquet"))
    np.savez(tmp_path / "a.npz", X=np.array([[[number, 1]]]), y=["a"])
    with pytest.raises(ReadError, match=r"whole numbers beyond 2\*\*53"):
        read(tmp_path / "a.npz")
    path = write(tmp_path, f"id,x,y\na,{number - np.sign(number) * 2},1\na,3,4\nb,3,4\nb,5,4\n")
    assert "2**53" not in in_words(read(path))


def test_the_first_line_of_a_spreadsheet_names_the_separator(tmp_path):
    data = read(write(tmp_path, "sep=;\nid;time;x\na;0;1,5\na;1;2,5\n", encoding="utf-16"))
    assert data.X[0].tolist() == [[1.5, 2.5]]


def test_one_column_of_decimal_commas(tmp_path):
    write(tmp_path, "x\n0,5\n0,7\n", "up/a.csv")
    assert read(tmp_path).X[0].tolist() == [[0.5, 0.7]]


# Which column holds what

LONG = "{id},{time},x,{label},{group}\n" + "".join(
    f"{who},{t},{t / 2},{'up' if who < 3 else 'down'},g{who % 2}\n" for who in (1, 2, 3)
    for t in range(4)
)  # fmt: skip


def check_long(data):
    assert data.names == ["1", "2", "3"]
    assert data.X.n_rows == 1
    assert data.X.lengths.tolist() == [4, 4, 4]
    assert data.y.tolist() == ["up", "up", "down"]
    assert data.groups.tolist() == ["g1", "g0", "g1"]


@pytest.mark.parametrize(
    "names",
    [
        ("id", "time", "label", "group"),
        ("ID", "Time", "Label", "Group"),
        ("series_id", "timestamp", "class", "subject"),
        ("trial", "t", "Class", "Subject ID"),
        ("Recording", "Time (ms)", "labels", "participant"),
        ("case id", "frame", "CLASS", "speaker"),
    ],
)
def test_columns_with_known_names(tmp_path, names):
    keys = dict(zip(("id", "time", "label", "group"), names, strict=True))
    path = write(tmp_path, LONG.format(**keys))
    assert recognise(path) == "long-csv"
    data = read(path)
    check_long(data)
    assert all(f"{key} {name!r}" in in_words(data) for key, name in keys.items())


@pytest.mark.parametrize("header", ["i,k,x,l,g", "Wer,Wann,x,Was,Wo", ""])
def test_columns_that_the_user_names(tmp_path, header):
    keys = dict(zip(("id", "time", "label", "group"), "iklg", strict=True))
    body = LONG.format(**keys).partition("\n")[2]
    path = write(tmp_path, f"{header}\n{body}" if header else body)
    check_long(read(path, id=0, time=1, label=-2, group=-1))
    if header:
        i, k, _, label, g = header.split(",")
        check_long(read(path, id=i, time=k, label=label, group=g))
        check_long(read(path, id=i.upper(), time=k, label=label, group=g))
        with pytest.raises(ReadError, match="no column 'nobody'; id=NAME names one of") as caught:
            read(path, id="nobody")
        assert repr(i) in caught.value.hint


def test_the_user_names_the_channels(tmp_path):
    path = write(tmp_path, "id,time,x,y,note\na,0,1,2,dry\na,1,3,4,wet\n")
    data = read(path, channels=["y", "x"])
    assert data.X.channel_names == ("y", "x")
    assert data.X[0].tolist() == [[2, 4], [1, 3]]
    assert "left out 'note'" in in_words(data)
    assert read(path, channels=[2]).X.channel_names == ("x",)
    assert read(path, channels=["time", "x"], time="none").X[0].tolist() == [[0, 1], [1, 3]]
    with pytest.raises(ReadError, match="no column 'z'; channels=NAME names one of"):
        read(path, channels=["z"])


def test_numbers_of_classes_as_programs_write_them(tmp_path):
    values = np.random.default_rng(0).normal(size=(6, 9))
    np.savetxt(tmp_path / "ucr.tsv", np.c_[[1, 2, 1, 2, 2, 1], values], delimiter="\t")
    data = read(tmp_path / "ucr.tsv")
    assert data.y.tolist() == ["1", "2", "1", "2", "2", "1"]
    assert_allclose(data.X[3][0], values[3])


def test_a_time_that_cannot_be_read_is_named(tmp_path):
    write(tmp_path, "Time,x\nMonday,1\nTuesday,2\n", "up/a.csv")
    with pytest.raises(ReadError, match="line 2: column 'Time': 'Monday' is not a time; time="):
        read(tmp_path)
    assert read(tmp_path, time="none").X.channel_names == ("x",)


def test_a_wide_table_with_named_columns(tmp_path):
    path = write(tmp_path, ",kind,who,t0,t1\n0,up,p,1,2\n1,down,q,3,4\n")
    with pytest.raises(ReadError, match="; label=NAME, group=NAME and id=NAME"):
        read(path, label="kind")
    for label, group in (("kind", "who"), (1, 2)):
        data = read(path, label=label, group=group)
        assert [data.y.tolist(), data.groups.tolist()] == [["up", "down"], ["p", "q"]]
        assert data.names == ["0", "1"]
        assert data.X[1].tolist() == [[3, 4]]
    path = write(tmp_path, "who,t0,t1,kind\np,1,2,up\nq,3,4,down\n")
    data = read(path, id="who", label="kind")  # each id once: a row is a series
    assert [data.names, data.X[1].tolist()] == [["p", "q"], [[3, 4]]]
    path = write(tmp_path, "who,a,b,kind\np,1,2,up\np,3,4,up\nq,5,6,down\n")
    assert read(path, id="who", label="kind").X[0].tolist() == [[1, 3], [2, 4]]
    bare = write(tmp_path, "up,p,1,2\ndown,q,3,4\n")
    data = read(bare, label=0, group=1)
    assert [data.y.tolist(), data.groups.tolist()] == [["up", "down"], ["p", "q"]]


def test_labels_are_read_unless_the_user_says_none(tmp_path):
    path = write(tmp_path, "id,time,x,label\na,0,1,up\na,1,2,up\n")
    assert read(path).y.tolist() == ["up"]
    assert read(path).X.channel_names == ("x",)
    assert read(path, label="none", channels=["x"]).y is None


@pytest.mark.parametrize("option", ["time", "channels", "resample"])
def test_options_that_a_wide_table_does_not_have(tmp_path, option):
    path = write(tmp_path, "up,1,2\ndown,3,4\n")
    value = {"time": 0, "channels": ["x"], "resample": 5.0}[option]
    with pytest.raises(ValueError, match=f"{option} has no meaning for the format wide-csv"):
        read(path, "wide-csv", **{option: value})


def test_rows_with_times_are_not_series(tmp_path):
    text = "time,x,y,what,who\n" + "".join(f"{t},{t},{t},a,b\n" for t in range(9))
    with pytest.raises(ReadError, match="not recognised; id=NAME names the column that tells"):
        read(write(tmp_path, text))


def test_a_column_that_tells_the_subject_is_remarked(tmp_path):
    text = "id,time,x,who\n" + "".join(f"{i},{t},{t},{i}\n" for i in range(3) for t in range(3))
    assert "'who' never changes within a sequence; group=NAME" in in_words(
        read(write(tmp_path, text))
    )


# What is no channel


def long_table(folder, columns, n=24, n_rows=12, name="table.csv"):
    """Write a long table of noise `x` with more columns, each a function of sequence and row."""
    rng = np.random.default_rng(0)
    lines = [",".join(["id", "x", *columns])]
    for i in range(n):
        for t in range(n_rows):
            cells = [f"s{i}", rng.normal(), *(column(i, t) for column in columns.values())]
            lines.append(",".join(map(str, cells)))
    return write(folder, "\n".join(lines), name)


def frame(n=24, n_rows=12):
    rng = np.random.default_rng(0)
    ids, rows = np.repeat(np.arange(n), n_rows), np.tile(np.arange(n_rows), n)
    return pd.DataFrame(
        {"id": ids, "step_s": rows / 10, "x": rng.normal(size=len(ids)), "label": ids % 2}
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.sort_values(["label", "id", "step_s"]),
        lambda table: table.set_index(np.random.default_rng(1).permutation(len(table))),
        lambda table: table.set_index(pd.Index(table.label * 100, name="place")),
        lambda table: table.set_index(["id", "step_s"]),
        lambda table: table.set_index([table.label.rename(None), table.label.rename("a")]),
        lambda table: table,
    ],
)
def test_the_index_of_a_data_frame_is_no_channel(tmp_path, change):
    changed = change(frame())
    changed.to_parquet(tmp_path / "a.parquet")
    data = read(tmp_path / "a.parquet", time="step_s")
    assert data.X.channel_names == ("x",)
    assert len(data) == 24
    changed.reset_index(drop=changed.index.names[0] != "id").to_csv(tmp_path / "a.csv")
    again = pd.read_csv(tmp_path / "a.csv").sample(frac=1, random_state=0).sort_values("step_s")
    again.to_csv(tmp_path / "b.csv", index=False)
    for name in ("a.csv", "b.csv"):  # "", and "Unnamed: 0" in any order
        assert read(tmp_path / name, time="step_s").X.channel_names == ("x",)
    # the user may still ask for an index
    if changed.index.name == "place":
        data = read(tmp_path / "a.parquet", time="step_s", channels=["x", "place"])
        assert data.X.channel_names == ("x", "place")


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_the_index_of_a_wide_data_frame_is_no_value(tmp_path, name):
    path = write(tmp_path, f"{name},t0,t1,label\n7,1.5,2,up\n3,3,4,down\n9,0.5,1,up\n")
    data = read(path)
    assert data.names == ["7", "3", "9"]
    assert data.X[0].tolist() == [[1.5, 2]]


@pytest.mark.parametrize(
    "metadata",
    [b"{", b"[]", b'{"index_columns": 5}', b'{"index_columns": [[1], null]}', b"[" * 9999],
)
def test_forged_metadata_of_pandas_are_passed_over(tmp_path, metadata):
    table = pa.table({"id": ["a", "a"], "x": [1.0, 2.0]}).replace_schema_metadata(
        {b"pandas": metadata}
    )
    pq.write_table(table, tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").X.channel_names == ("x",)


@pytest.mark.parametrize("near", ["label_id", "Label Nr", "class_name", "labels"])
@pytest.mark.parametrize("exact", ["label", "Label", "class"])
@pytest.mark.parametrize("first", [True, False])
def test_an_exact_name_wins_and_its_twin_is_no_channel(tmp_path, near, exact, first):
    columns = {near: lambda i, t: 10 + i % 2, exact: lambda i, t: "ab"[i % 2]}
    columns = dict(sorted(columns.items(), key=lambda item: (item[0] == exact) == first))
    data = read(long_table(tmp_path, columns))
    named = near if (near, exact) == ("labels", "class") else exact
    assert f"label {named!r}" in in_words(data)
    assert data.X.channel_names == ("x",)
    other = ({near, exact} - {named}).pop()
    assert f"left out: {other!r} never changes within a sequence and tells the class" in in_words(
        data
    )


@pytest.mark.parametrize(
    ("column", "is_left_out"),
    [
        (lambda i, t: (i % 3) * 0.5, True),
        (lambda i, t: f"kind {i % 3}", True),
        (lambda i, t: "" if t else i % 3, True),  # in the first row alone
        (lambda i, t: 100 * (i % 3) + i, True),  # ids that are sorted by class
        (lambda i, t: i, False),  # each value once, classes mixed
        (lambda i, t: i % 2, False),
        (lambda i, t: (i % 3) + (t == 5), False),
    ],
)
def test_a_column_that_tells_the_class_is_no_channel(tmp_path, column, is_left_out):
    path = long_table(tmp_path, {"what": column, "label": lambda i, t: "abc"[i % 3]})
    data = read(path)
    assert (data.X.channel_names == ("x",)) == is_left_out
    assert ("tells the class" in in_words(data)) == is_left_out
    assert read(path, channels=["x", "what"]).X.channel_names == ("x", "what")
    if is_left_out:
        with pytest.raises(ReadError, match="no other channel than 'what' never changes") as caught:
            read(path, drop=["x"])
        assert "channels=NAMES" in caught.value.hint


def test_columns_that_the_user_drops(tmp_path):
    path = long_table(tmp_path, {"y": lambda i, t: t % 5, "note": lambda i, t: "dry"})
    data = read(path, drop=["note", 1])
    assert data.X.channel_names == ("y",)
    assert "left out 'x', 'note'" in in_words(data)
    with pytest.raises(ReadError, match="no column 'z'; drop=NAME names one of"):
        read(path, drop=["z"])


CLOCKS = [
    ("X[s]", lambda i, t: t / 50, 50),
    ("EMG (ms)", lambda i, t: 20 * t, 50),
    ("packet", lambda i, t: 7 * i + t, None),
    ("a", lambda i, t: 5 + t / 50 + (t % 3) / 1000, None),
    ("a", lambda i, t: 1_700_000_000_000 + 20 * t, 50),
    ("counter", lambda i, t: 12 * i + t, None),  # of all rows
]


@pytest.mark.parametrize(("name", "clock", "rate"), CLOCKS)
def test_a_column_that_rises_in_every_sequence_is_the_time(tmp_path, name, clock, rate):
    data = read(long_table(tmp_path, {name: clock, "y": lambda i, t: (t * i) % 7}))
    assert data.X.channel_names == ("x", "y")
    assert f"time {name!r}" in in_words(data)
    assert data.X.sampling_rate == (pytest.approx(rate) if rate else None)
    # once, it goes back
    path = long_table(tmp_path, {"a": lambda i, t: clock(i, t) if (i, t) != (9, 5) else -1})
    if rate != 50:
        assert read(path).X.channel_names == ("x", "a")


def test_several_clocks_and_a_column_that_may_be_a_clock(tmp_path):
    columns = {
        "X[s]": lambda i, t: t / 50,
        "X[s].1": lambda i, t: t / 10,
        "way": lambda i, t: t * t,
    }
    data = read(long_table(tmp_path, columns))
    assert data.X.channel_names == ("x", "way")
    assert data.X.sampling_rate == 50
    assert "'way' rises in every sequence: is it a time? time=NAME or drop=NAME" in in_words(data)
    assert "rises" not in in_words(read(tmp_path / "table.csv", channels=["way"]))


def test_a_signal_that_rises_alone_stays(tmp_path):
    text = "id,x\n" + "".join(f"s{i},{t + i / 7}\n" for i in range(5) for t in range(12))
    data = read(write(tmp_path, text))
    assert data.X.channel_names == ("x",)
    assert "'x' rises in every sequence: is it a time?" in in_words(data)


@pytest.mark.parametrize("step", ["0.02", "1"])
def test_a_table_without_a_header_whose_first_column_rises(tmp_path, step):
    rng = np.random.default_rng(0)
    values = np.c_[np.arange(401) * float(step), rng.normal(size=(401, 6)), rng.integers(0, 3, 401)]
    text = "\n".join(",".join(f"{value:.6g}" for value in row) for row in values)
    path = write(tmp_path, text, "up/a.csv")
    assert recognise(path) == "csv-folder"
    for i in range(3):
        write(tmp_path, text.replace("\n", f"{i}\n"), f"down/{i}.csv")
    for data in (read(path), read(tmp_path)):
        assert data.X.n_rows == 7
        assert "time '0'" in in_words(data)
        assert data.X.sampling_rate == (50 if step == "0.02" else None)
    assert read(path, label=-1).y.size == 401  # the user says that each row is a series


# Times


@pytest.mark.parametrize(
    ("name", "time"),
    [
        ("timestamp", lambda t: f"{1_700_000_000_000_000 + 20_000 * t}"),
        ("timestamp", lambda t: f"{400_000_000_000_000 + 20_000 * t}"),
        ("Timestamp (ms)", lambda t: f"{20 * t}"),
        ("time_ms", lambda t: f"{20 * t}"),
        ("epoch", lambda t: f"{1.7e9 + t / 50:.3f}"),
        ("when", lambda t: f"{1_700_000_000_000 + 20 * t}"),
        ("when", lambda t: f"2024-03-01T10:00:00.{20 * t:03}"),
        ("when", lambda t: f"2024-03-01 23:59:59.{20 * t:03}Z"),
        ("Datum", lambda t: f"31.12.2023 10:00:00,{20 * t:03}"),
        ("Date", lambda t: f"12/31/2023 10:00:00.{20 * t:03}"),
        ("sensor time", lambda t: f"10:00:00.{20 * t:03}"),
        ("Date", lambda t: f"1/2/2024 11:00:00.{20 * t:03} PM"),
        ("t", lambda t: f"{t / 50}"),
        ("seconds", lambda t: f"{t / 50}"),
        ("t [s]", lambda t: f"{t / 50}"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_times_do_not_become_channels(tmp_path, name, time, first):
    for who in "ab":
        rows = [f"{name};x;y", *(f"{time(t)};{t};{-t}" for t in range(40))]
        if not first:
            rows = [f"{x};{y};{when}" for when, x, y in (row.split(";") for row in rows)]
        write(tmp_path, "\n".join(rows), f"{who}/1.csv")
    data = read(tmp_path)
    assert data.X.channel_names == ("x", "y")
    assert data.X.sampling_rate == 50
    assert f"time {name!r}; channels 'x', 'y'" in in_words(data)
    assert "50 rows per second" in in_words(data)


@pytest.mark.parametrize("name", ["", "index", "frame", "Unnamed: 0", "time"])
def test_a_column_that_counts_rows_is_no_channel(tmp_path, name):
    write(tmp_path, f"{name},x,y\n7,1,2\n8,3,4\n9,5,7\n", "up/a.csv")
    data = read(tmp_path)
    assert data.X.channel_names == ("x", "y")
    assert data.X.sampling_rate is None


def test_a_temperature_is_no_time(tmp_path):
    write(tmp_path, "t,x\n20.5,1\n20.1,3\n21.0,2\n", "up/a.csv")
    assert read(tmp_path).X.channel_names == ("t", "x")


def test_a_second_column_of_times_is_left_out(tmp_path):
    write(tmp_path, "date,time,x\n2024-01-01,10:00:00,1\n2024-01-01,10:00:01,2\n", "up/a.csv")
    data = read(tmp_path)
    assert data.X.channel_names == ("x",)
    assert "time 'time'; channels 'x'; left out 'date'" in in_words(data)
    assert data.X.sampling_rate == 1


def test_times_that_go_back_are_an_error_with_a_way_out(tmp_path):
    write(tmp_path, "timestamp,x\n5,1\n4,3\n6,2\n", "up/a.csv")
    with pytest.raises(ReadError, match=r"line 3: an earlier time.*time='none' keeps"):
        read(tmp_path)
    data = read(tmp_path, time="none")
    assert data.X[0].tolist() == [[1, 3, 2]]
    assert "left out 'timestamp'" in in_words(data)


def test_labels_in_the_files_of_a_folder(tmp_path):
    for i, label in enumerate(["up", "down"]):
        write(tmp_path, f"x,activity\n1,{label}\n2,{label}\n", f"{i}.csv")
    data = read(tmp_path, label="activity")
    assert data.y.tolist() == ["up", "down"]
    assert data.X.channel_names == ("x",)


def test_files_of_a_folder_may_order_their_columns(tmp_path):
    write(tmp_path, "x,y\n1,2\n", "up/a.csv")
    write(tmp_path, "y,x\n4,3\n", "up/b.csv")
    assert read(tmp_path).X.data.tolist() == [[1, 3], [2, 4]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("time", ("time", None)),
        ("time (ms)", ("time", 1e-3)),
        ("Time[us]", ("Time", 1e-6)),
        ("t_ns", ("t", 1e-9)),
        ("t / min", ("t", 60)),
        ("seconds", ("seconds", 1)),
        ("x_speed", ("x_speed", None)),
    ],
)
def test_units_in_names(name, expected):
    assert split_unit(name) == expected


def test_dates_in_the_order_of_the_country():
    day = 86400 * 10**9
    assert np.diff(moments(["31.01.2024", "01.02.2024"])) == [day]
    assert np.diff(moments(["31/01/2024", "01/02/2024"])) == [day]
    assert np.diff(moments(["01/31/2024", "02/01/2024"])) == [day]
    assert np.diff(moments(["2024/1/31 23:00", "2024/2/1 1:00"])) == [day // 12]
    assert np.diff(moments(["1/2/2024 11:30 AM", "1/2/2024 12:30 p.m."])) == [day // 24]
    assert np.diff(moments(["2024-01-01T10:00:00Z", "2024-01-01T12:00:00+01:00"])) == [day // 24]


# Sampling rates


def folder_of_rates(folder, rates, unit=1):
    for i, rate in enumerate(rates):
        times = np.arange(3 * rate) / rate
        rows = [f"{t / unit:.6g},{np.sin(2 * np.pi * t):.6f}" for t in times]
        write(folder, "\n".join(["time,x", *rows]), f"{'ab'[i % 2]}/{i}.csv")


def test_mixed_rates_are_remarked_and_mended(tmp_path):
    folder_of_rates(tmp_path, [50, 50, 100, 25])
    data = read(tmp_path)
    assert data.X.sampling_rate is None
    assert "rates differ: 25 to 100 rows per second; resample=50 brings" in in_words(data)
    data = read(tmp_path, resample=50.0)
    assert data.X.sampling_rate == 50
    assert set(data.X.lengths) == {149, 150}  # 25 rows per second end 20 ms earlier
    for x in data.X:
        assert_allclose(x[0], np.sin(2 * np.pi * np.arange(x.shape[1]) / 50), atol=0.01)


def test_the_unit_of_whole_numbers_is_asked_for(tmp_path):
    folder_of_rates(tmp_path, [50, 100], unit=1e-3)
    assert read(tmp_path).X.sampling_rate is None
    with pytest.raises(ReadError, match="the unit of the times is not known; time='NAME:ms'"):
        read(tmp_path, resample=50.0)
    data = read(tmp_path, time="time:ms", resample=50.0)
    assert set(data.X.lengths) == {150}


def test_units_and_numbers_of_columns_go_together(tmp_path):
    text = "subject,k,x\n" + "".join(f"{i},{20 * t},{t}\n" for i in "ab" for t in range(4))
    data = read(write(tmp_path, text), id=0, time="k:ms")
    assert (data.names, data.X.sampling_rate) == (["a", "b"], 50)
    assert (data.groups, data.X.channel_names) == (None, ("x",))


def test_gaps_survive(tmp_path):
    times = [t / 50 for t in range(100) if not 40 <= t < 60]
    rows = [f"a,{t},{'' if t == 0.2 else t},{'AB'[t > 1]}" for t in times]
    path = write(tmp_path, "\n".join(["id,time,x,state", *rows]))
    data = read(path)
    assert "1 of 1 sequences have gaps in time" in in_words(data)
    data = read(path, resample=50.0)
    missing = np.flatnonzero(np.isnan(data.X[0])[0])
    assert missing.tolist() == [10, *range(40, 60)]
    assert data.X.symbolic == (False, True)
    assert np.flatnonzero(np.isnan(data.X[0])[1]).tolist() == [*range(40, 60)]
    assert set(data.X[0][1][:40]) == {ord("A")}
    with pytest.raises(ValueError, match="resample must be a positive number, got 0"):
        read(path, resample=0)
    with pytest.raises(ReadError, match="too long for resample=1e"):
        read(path, resample=1e9)


@given(
    st.lists(st.floats(0.05, 0.4), min_size=2, max_size=12),
    st.lists(st.floats(-5, 5) | st.just(float("nan")), min_size=13, max_size=13),
    st.sampled_from([0.7, 2.0, 5.0, 12.5, 40.0]),
)
def test_resampling_against_the_slow_twin(steps, values, rate):
    times = np.concatenate([[0], np.cumsum(steps)])
    row = np.array(values[: len(times)])
    fast = resampled(row[None], times, rate, [False])[0]
    slow = naive_numbers.resampled(times.tolist(), row.tolist(), rate, len(fast))
    assert_array_equal(np.isnan(fast), np.isnan(slow))
    assert_allclose(fast, slow, atol=0.05)


def test_a_constant_stays_constant_and_a_line_stays_a_line():
    times = np.cumsum(np.random.default_rng(0).uniform(0.01, 0.02, 200))
    times -= times[0]
    x = np.array([np.full(200, 3.0), 2 * times])
    for rate in (10, 30, 70, 300):
        new = resampled(x, times, rate, [False, False])
        assert_allclose(new[0], 3)
        assert_allclose(new[1], 2 * np.arange(new.shape[1]) / rate, atol=1e-9)


@pytest.mark.parametrize(("last", "is_told"), [("5/1/2024", True), ("13/1/2024", False)])
def test_dates_that_do_not_tell_the_month(tmp_path, last, is_told):
    days = ["1/1/2024", "3/1/2024", "4/1/2024", last]
    path = write(tmp_path, "id,date,x,label\n" + "".join(f"a,{day},1,up\n" for day in days))
    told = "'date': 2/1/2024 is read as February 1, since no date tells which number is the month"
    assert (told in read(path).remarks) == is_told


def test_a_folder_whose_first_table_is_empty(tmp_path):
    for name, text in (("0", ""), ("1", "time,x\n"), ("2", "time,x\n0.1,1\n0.2,2\n")):
        (tmp_path / "up").mkdir(exist_ok=True)
        (tmp_path / "up" / f"{name}.csv").write_text(text)
    with pytest.raises(ReadError, match=r"0\.csv: the file is empty"):
        read(tmp_path)


def test_columns_of_a_nested_table_that_are_left_out(tmp_path):
    path = tmp_path / "nested.json"
    path.write_text('{"X": [[1, 2], [3, 4, 5]], "y": ["up", "down"]}')
    told = "columns without series are left out: 'y'; label=NAME reads one of them as labels"
    assert read(path).remarks == (told,)
    assert read(path, label="y").y.tolist() == ["up", "down"]
    assert read(path, label="y").remarks == ()


@pytest.mark.parametrize(
    ("variable", "value"), [("channel", "value"), ("Sensor_ID", "Reading"), ("variable", "value")]
)
@pytest.mark.parametrize("key", ["id,", ""])
def test_one_value_per_row_is_refused_with_a_pivot(tmp_path, variable, value, key):
    text = f"{key}time,{variable},{value}\n" + "".join(
        f"{'a,' * bool(key)}{t}.5,{c},{t}\n" for t in range(30) for c in "xyz"
    )
    path = write(tmp_path, text)
    with pytest.raises(ReadError, match="names the channel of each value") as caught:
        read(path)
    call = re.search(r"table\.pivot\(.*", caught.value.hint).group()
    table = eval(call, {"table": pd.read_csv(path)})
    assert read(table).X.channel_names == ("x", "y", "z")
    assert read(table).X.lengths.tolist() == [30]


def test_dates_of_excel_are_days(tmp_path):
    days = [45382.5 + t / 20 / 86400 for t in range(50)]
    path = write(tmp_path, "id,timestamp,x\n" + "".join(f"a,{day:.10f},{day}\n" for day in days))
    data = read(path, channels=["x"])
    assert data.X.sampling_rate == pytest.approx(20, rel=1e-3)
    assert "'timestamp': numbers such as 45382.5000000000 are days, as Excel" in in_words(data)
    assert read(path, time="timestamp:s", channels=["x"]).X.sampling_rate > 1e6
    seconds = "".join(f"a,{45382 + t / 20:.2f},{t}\n" for t in range(50))
    assert read(write(tmp_path, f"id,time,x\n{seconds}")).X.sampling_rate == 20


@pytest.mark.parametrize("zone", ["Z", " UTC", " GMT", "UTC"])
def test_times_of_the_zone_zero(zone):
    plain = ["2024-03-31 00:59:58.5", "2024-03-31T01:00:00"]
    assert_array_equal(moments([time + zone for time in plain]), moments(plain))


def test_a_unit_is_not_added_twice(tmp_path):
    path = write(
        tmp_path, "run,t [s],x,y\n,s,g,g\n" + "".join(f"a,{t}.5,{t},1\n" for t in range(9))
    )
    assert read(path, id="run", time="t [s]").X.sampling_rate == 1


def test_lines_above_a_table_get_a_hint(tmp_path):
    for name in ("a", "b"):
        write(tmp_path, "Device: X;1\nt;x;y\n0,5;1;2\n1,5;2;3\n", f"up/{name}.csv")
    with pytest.raises(ReadError, match="not part of the table with '#'"):
        read(tmp_path)

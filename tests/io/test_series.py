"""Files of series: each format is read, written ones come back, broken ones are refused."""

import builtins
import bz2
import gzip
import importlib
import io
import lzma
import pkgutil
import re
import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from numpy.testing import assert_array_equal
from scipy.io import savemat

import mvdfq
from conftest import size
from mvdfq import check_sequences, load_japanese_vowels
from mvdfq.io import FORMATS, read, recognise, write_npz, write_ts
from mvdfq.io.dataset import Dataset
from mvdfq.io.letters import profiles
from mvdfq.io.source import ReadError

pytestmark = pytest.mark.filterwarnings("ignore:Every sequence has more channels:UserWarning")

TS = """# a comment
@problemName toy
@timeStamps false
@univariate false
@dimensions 2
@equalLength false
@classLabel true sitting down up
@data
1,2,?:4,5,6:sitting down
1.5,NaN,3,4e-3:5,6,7,8:up
"""
ARFF = r"""% a comment
@RELATION 'toy'
@attribute bag relational
@attribute t0 numeric
@attribute t1 REAL
@attribute t2 integer
@end bag
@attribute 'the class' {'sitting down', up, "d'accord"}
@data
'1,2,?\n4,5,6','sitting down'
% between
"1.5,2,3\n4,5,6",up
'1,?,?\n4,?,?',"d'accord"
"""
PLAIN_ARFF = "@relation r\n@attribute a real\n@attribute b real\n@attribute c{x,y}\n@data\n1,2,x\n"
LONG = "id,time,x,y,label,group\na,0,1,4,up,g\na,1,,5,up,g\nb,0,3,6,down,h\n"
WIDE = "label,t0,t1,t2\nup,1,2,3\ndown,4,,6\nup,7,8,\n"


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file of a given name; return its path."""

    def write(content, name="data.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def same(X, Y):
    """Do two collections hold the same sequences, NaN counting as equal?"""
    X, Y = check_sequences(X), check_sequences(Y)
    assert_array_equal(X.offsets, Y.offsets)
    assert_array_equal(X.data, Y.data)
    return True


def refused(path, match, **options):
    """The error that reading raises; it names the file, and says what `match` does."""
    with pytest.raises(ReadError, match=match) as caught:
        read(path, **options)
    assert str(path) in str(caught.value)
    return caught.value


# ---------------------------------------------------------------------------------------- .ts


def test_ts(write):
    data = read(write(TS, "toy.ts"))
    rows = [[[1, 2, np.nan], [4, 5, 6]], [[1.5, np.nan, 3, 0.004], [5, 6, 7, 8]]]
    assert same(data.X, [np.array(x) for x in rows])
    assert data.y.tolist() == ["sitting down", "up"]
    assert data.names == ["toy:1", "toy:2"]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.upper().replace("TRUE SITTING DOWN UP", "true"),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\n\n"),
        lambda text: text.replace("@data", "% more\n@Data"),
        lambda text: text.replace(",", " , ").replace(":", " : "),
    ],
)
def test_ts_in_other_dress(write, change):
    assert same(read(write(change(TS))).X, read(write(TS)).X)


@pytest.mark.parametrize("packer", [gzip, bz2, lzma])
@pytest.mark.parametrize("text", [TS, ARFF, LONG, WIDE])
def test_compressed_text(write, text, packer):
    content = packer.compress(text.encode())
    plain, packed = write(text, "plain"), write(content, "packed")
    assert recognise(packed) == recognise(plain)
    assert same(read(packed).X, read(plain).X)
    refused(write(content[:-12], "cut.gz"), "cut short|damaged|recognised")
    damaged = content[:20] + bytes(20) + content[40:]
    refused(write(damaged, "a.ts"), "cut short|damaged|recognised")
    refused(packed, "more than 20 bytes", max_bytes=20)


def test_ts_without_labels_and_with_targets(write):
    bare = TS.replace("@classLabel true sitting down up", "@classLabel false")
    bare = bare.replace(":sitting down", "").replace(":up", ":")  # aeon leaves the colon
    assert read(write(bare)).y is None
    target = "@univariate true\n@targetLabel true\n@data\n1,2:0.5\n3,4:-1e3\n"
    assert read(write(target)).y.tolist() == [0.5, -1000]


def test_ts_with_times(write):
    head = "@timeStamps true\n@classLabel true 1\n@data\n"
    start, end = "2007-01-01 00:00:00", "2007-01-01 00:01:00"
    data = read(write(head + f"({start},4),({end},5):({start},6),({end},?):1\n"))
    assert same(data.X, [np.array([[4, 5], [6, np.nan]])])
    assert data.X.sampling_rate == pytest.approx(1 / 60)
    assert (
        read(write(head + "(0,4),(0.5,5),(1,5):1\n(3,4),(3.5,5):1\n(7,1):1\n")).X.sampling_rate == 2
    )
    assert read(write(head + "(0,4),(2,5):1\n")).X.sampling_rate is None  # of what?
    data = read(write(head + "(0,4),(0.5,5):1\n(0,4),(2.5,5):1\n"))
    assert data.X.sampling_rate is None
    assert "the times are 0.5 apart in one series and 2.5 in another" in data.remarks[0]
    for pairs, n in [("(0,4),(1,5):(0,4),(2,5)", 2), ("(0,4),(1,5):(1,4),(2,5)", 2)]:
        refused(write(f"{head}{pairs}:1\n"), f"line 4: channel {n}: the times .* differ")
    for pairs in ("(0,4),(1,5),(3,6)", "(0,4),(0,5)", "(1,4),(0,5)"):
        refused(write(f"{head}{pairs}:1\n"), "line 4: channel 1: the times do not rise in even")
    refused(write(head + "4,5:1\n"), r"line 4: '4,5' is not a list of \(time,value\) pairs")


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        (":5,6,7,8", "", "line 10: 1 channel, expected 2"),
        ("4e-3", "abc", "line 10: channel 1: value 4 is 'abc', not a number"),
        ("4e-3", "", "line 10: channel 1: value 4 is '', not a number"),
        ("4e-3", "inf", "line 10: channel 1: value 4 is infinite"),
        ("5,6,7,8", "5,6,7", "line 10: channels of different lengths"),
        (":up", ":left", "line 10: label 'left' is not among the labels of @classLabel"),
        (":up", ":?", "line 10: the label is missing"),
        (":up", ":", "line 10: the label is missing"),
        ("1.5,NaN,3,4e-3:5,6,7,8:up", "1.5,NaN", "line 10: no label"),
        ("@classLabel true sitting down up\n", "", "line 7: @data without @classLabel"),
        ("@data", "", "line 9: '1,2,.*' before @data"),
        ("@timeStamps false", "@timeStamps no", "line 3: @timestamps must be true or false"),
        ("@dimensions 2", "@dimensions 3", "line 9: 2 channels, expected 3"),
        ("@dimensions 2", "@dimensions x", "line 5: @dimensions must be a number, got 'x'"),
        ("@univariate false", "@univariate true", "line 9: 2 channels, expected 1"),
        ("@equalLength false", "@equalLength true", "line 10: 4 frames, expected 3"),
        ("@equalLength false", "@seriesLength 7", "line 9: 3 frames, expected 7"),
        ("4e-3", "\0", "line 10: binary data"),
    ],
)
def test_broken_ts(write, old, new, match):
    assert old in TS
    refused(write(TS.replace(old, new), "toy.ts"), match)


def test_cut_ts(write):
    refused(write(TS[: TS.index("@data")]), "line 7: the file ends before @data")
    refused(write(TS[: TS.index("1,2")]), "no sequences after its header")
    refused(write("", "empty.ts"), "the file is empty")


# -------------------------------------------------------------------------------------- .arff


def test_relational_arff(write):
    data = read(write(ARFF))
    rows = [[[1, 2, np.nan], [4, 5, 6]], [[1.5, 2, 3], [4, 5, 6]], [[1], [4]]]
    assert same(data.X, [np.array(x, dtype=float) for x in rows])
    assert data.y.tolist() == ["sitting down", "up", "d'accord"]


def test_plain_arff(write):
    data = read(write(PLAIN_ARFF + "?,3,y\n"))
    assert same(data.X, [np.array([[1.0, 2]]), np.array([[np.nan, 3]])])
    assert data.y.tolist() == ["x", "y"]
    assert read(write(PLAIN_ARFF), label="c").y.tolist() == ["x"]
    named = PLAIN_ARFF.replace("@attribute", "@attribute id numeric\n@attribute", 1)
    named = read(write(named.replace("1,2,x", "77,1,2,x")))
    assert same(named.X, [np.array([[1.0, 2]])])  # the number of a series is not a value
    assert named.names == ["77"]
    refused(write(PLAIN_ARFF), "no column 'speaker'; label=NAME names", label="speaker")
    refused(write(PLAIN_ARFF), "line 6: channel 1: value 3 is 'x', not a number", label="none")


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("4,5,6','sit", "4,5','sit", "line 10: channels of different lengths"),
        ("4,5,6','sit", "4,x,6','sit", "line 10: channel 2: value 2 is 'x', not a number"),
        (r"\n4,5,6" + '",up', '",up', "line 12: 1 channel, expected 2"),
        ('",up', '",?', "line 12: the label is missing"),
        ('",up', '"', "line 12: 1 cell, the header has 2"),
        ('",up', ",up", "line 12: a quote is not closed"),
        ('"1.5', '{0 "1.5', "line 12: a quote is not closed"),
        ("@end bag\n", "", "line 9: 2 cells, the header has 1"),
        ("@data", "@dat", "line 9: '@dat' is not an attribute"),
    ],
)
def test_broken_arff(write, old, new, match):
    assert old in ARFF
    refused(write(ARFF.replace(old, new), "toy.arff"), match)


@pytest.mark.parametrize(
    "line",
    [
        "'" + " " * 20_000,
        " " * 20_000 + "'a' x",
        "'a'" + " " * 20_000 + "x",
        "@attribute 'a" + "\\ " * 20_000,
        "@attribute c {'a'," + " " * 20_000 + "x'",
    ],
)
def test_arff_with_many_spaces_is_refused_at_once(write, line):
    text = ARFF.replace("@data", "@data\n" + line) if line[0] != "@" else line + "\n" + ARFF
    begin = perf_counter()
    refused(write(text, "toy.arff"), "line |no column")
    assert perf_counter() - begin < 2


def expressions():
    """Every regular expression that a file of the room io compiles when it is imported."""
    for found in pkgutil.walk_packages(mvdfq.io.__path__, "mvdfq.io."):
        for name, value in vars(importlib.import_module(found.name)).items():
            if isinstance(value, re.Pattern):
                yield f"{found.name}.{name}", value
    yield from ((f"model {kind}", model.line) for kind, model in profiles.MODELS.items())


# Searched for in a text, and not only compared with the whole of it.
SCANNED = ("ts.PAIR", "ts.CHANNEL_END", "series_rows.ESCAPE", "profiles.NUMBER")
SCANNED += ("long_tables.ENDING", "decoding.NOISE")
MANY = 20_000


@pytest.mark.slow
@pytest.mark.parametrize(("name", "pattern"), [*expressions()], ids=lambda value: str(value)[:40])
def test_expressions_take_linear_time(name, pattern):
    bodies = [c * MANY for c in (" ", "1", "'", '"', "(", ")", ",", ".", "-", "\\", "a", "\t", ":")]
    bodies += ["1," * MANY, "(1,1)" * MANY, ") " * MANY, "' " * MANY, "1.1e" * MANY, "\\'" * MANY]
    starts = ["", "1", "'", '"', "(", "(1,", "@attribute ", "@attribute '", "A 1", "A ", "-", "1,"]
    scan = name.endswith(SCANNED)
    for text in (start + body + end for start in starts for body in bodies for end in ("", "x")):
        text = text if isinstance(pattern.pattern, str) else text.encode()
        begin = perf_counter()
        pattern.fullmatch(text)
        pattern.match(text)
        if scan:
            pattern.findall(text)
        assert perf_counter() - begin < 1, (name, text[:30], text[-3:])


# ----------------------------------------------------------------------------- .npz and .npy


def test_npz_keeps_everything(tmp_path):
    path = tmp_path / "all.npz"
    X = check_sequences(
        [["ABBA", [1, np.nan, 3, 4]], ["BA", [5, 6]]],
        channel_names=["note", "pitch"],
        sampling_rate=12.5,
    )
    write_npz(path, X, y=[3, 4], names=["a", "b"], groups=["g", "h"], split=["train", "test"])
    data = read(path)
    assert same(data.X, X)
    for key in ("channel_names", "sampling_rate", "symbolic"):
        assert getattr(data.X, key) == getattr(X, key)
    assert data.X.data.dtype == X.data.dtype
    assert [data.y.tolist(), data.names] == [[3, 4], ["a", "b"]]
    assert [data.groups.tolist(), data.split.tolist()] == [["g", "h"], ["train", "test"]]
    with np.load(path, allow_pickle=False) as stored:
        assert_array_equal(stored["offsets"], X.offsets)


CUBE = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "arrays",
    [
        {"X": CUBE, "y": np.array(["a", "b"])},
        {"x": CUBE, "labels": np.array([b"a", b"b"])},
        {"data": np.asfortranarray(CUBE), "label": np.array([["a"], ["b"]])},
        {"values": np.concatenate(CUBE, axis=1), "lengths": [4, 4], "y": ["a", "b"]},
        {"values": np.concatenate(CUBE, axis=1).T, "len": [4.0, 4.0], "y": ["a", "b"]},
        {"values": CUBE, "lengths": [4, 4], "y": ["a", "b"]},
        {"X_train": CUBE[:1], "y_train": ["a"], "X_test": CUBE[1:], "y_test": ["b"]},
        {"train_x": CUBE[:1], "train_y": ["a"], "test_x": CUBE[1:], "test_y": ["b"]},
    ],
)
def test_foreign_npz(tmp_path, arrays):
    np.savez(tmp_path / "data.npz", **arrays)
    data = read(tmp_path / "data.npz")
    assert same(data.X, CUBE)
    assert data.y.tolist() == ["a", "b"]
    if len(arrays) == 4:
        assert data.split.tolist() == ["train", "test"]


def test_npy(tmp_path):
    path = tmp_path / "data.npy"
    np.save(path, CUBE)
    assert same(read(path).X, CUBE)
    assert same(read(path, time_first=True).X, CUBE.transpose(0, 2, 1))
    np.save(path, CUBE[0])
    assert read(path).X.n_rows == 1
    np.save(path, CUBE[0, 0])
    refused(path, r"shape \(4,\) cannot be")


def test_nothing_is_unpickled(tmp_path):
    objects = np.array([CUBE[0], None], dtype=object)
    np.save(tmp_path / "data.npy", objects, allow_pickle=True)
    np.savez(tmp_path / "data.npz", X=objects)
    for name in ("data.npy", "data.npz"):
        error = refused(tmp_path / name, "pickled Python objects, which are never loaded")
        assert "write_npz" in error.hint


def test_claims_are_checked_before_memory_is_asked_for(tmp_path):
    buffer = io.BytesIO()
    np.save(buffer, np.zeros((10, 10)))
    content = buffer.getvalue().replace(b"(10, 10), }", b"(10, 10000000000000), }")
    (tmp_path / "lies.npy").write_bytes(content)
    refused(tmp_path / "lies.npy", "claims shape .*, more than its 940 bytes can hold")
    with zipfile.ZipFile(tmp_path / "lies.npz", "w") as archive:
        archive.writestr("X.npy", content)
    refused(tmp_path / "lies.npz", "array 'X' claims shape")
    np.savez_compressed(tmp_path / "bomb.npz", X=np.zeros((1000, 1000)))
    refused(tmp_path / "bomb.npz", "arrays of 8000128 bytes; max_bytes", max_bytes=2**20)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"mvdfq_series": np.int64(2)}, "a layout of a newer mvdfq"),
        ({"offsets": np.array([0, 5, 3])}, "offsets must run from 0 to .* 3, and must not fall"),
        ({"offsets": np.array([0, 5, 3], np.uint8)}, "offsets must run from 0"),
        ({"offsets": np.zeros(2)}, "offsets must be a list of int64 numbers"),
        ({"offsets": np.zeros(())}, "no channels or no sequences"),
        ({"data": np.zeros((0, 3))}, "no channels or no sequences"),
        ({"data": np.zeros(())}, "no channels or no sequences"),
        ({"data": np.zeros(3)}, "data must be a 2-D array"),
        (
            {"data": np.full((1, 3), np.inf)},
            "Sequence 0, channel 0: the value at time 0 is infinite",
        ),
        ({"y": np.zeros(5)}, r"array 'y' has shape \(5,\), expected \(2,\)"),
        ({"y": np.array([0, np.nan])}, "array 'y': label 2 is missing"),
        ({"channel_names": np.array(["a", "b"])}, "array 'channel_names' has shape"),
        ({"sampling_rate": np.float64(-1)}, "sampling_rate must be a positive number"),
    ],
)
def test_broken_npz(tmp_path, change, match):
    path = tmp_path / "data.npz"
    good = {"mvdfq_series": np.int64(1), "data": np.zeros((1, 3)), "offsets": np.array([0, 2, 3])}
    np.savez(path, **(good | change))
    refused(path, match)


# -------------------------------------------------------------------------------------- wide


@pytest.mark.parametrize(
    "text",
    [
        WIDE,
        "up,1,2,3\ndown,4,,6\nup,7,8,\n",
        "1,2,3,up\n4,,6,down\n7,8,,up\n",
        "1;2;3;up\n4;NA;6;down\n7;8;;up\n",
        "1\t2\t3\tup\n4\t?\t6\tdown\n7\t8\tup\n",
        '"up",1,2,3\n"down",4,,6\n"up",7,8\n',
        "t0,t1,label,t2\n1,2,up,3\n4,,down,6\n7,8,up,\n",
    ],
)
def test_wide(write, text):
    data = read(write(text))
    assert recognise(write(text)) == "wide-csv"
    assert same(data.X, [np.array([[1.0, 2, 3]]), np.array([[4, np.nan, 6]]), np.array([[7.0, 8]])])
    assert data.y.tolist() == ["up", "down", "up"]


def test_wide_with_numbers_for_labels(write):
    text = "1,0.5,0.25\n2,0.5,0.125\n1,0.5,0.5\n2,0.1,0.2\n"
    assert read(write(text)).y.tolist() == ["1", "2", "1", "2"]
    unclear = write("1,0.5,1\n2,0.5,2\n1,0.5,1\n2,0.1,2\n")
    assert "label=-1" in refused(unclear, "not clear which column holds the label").hint
    assert read(unclear, label=-1).y.tolist() == ["1", "2", "1", "2"]
    assert read(unclear, label="none").y is None
    assert read(unclear, label="none").X.lengths.tolist() == [3] * 4


def test_wide_with_ids_and_groups(write):
    data = read(write("id,t0,t1,group,kind\nq,1,2,g,up\nr,3,4,h,down\n"), label="kind")
    assert [data.names, data.y.tolist(), data.groups.tolist()] == [
        ["q", "r"],
        ["up", "down"],
        ["g", "h"],
    ]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("up,1,2,3\ndown,4,x,6\n", "line 2: 'x' is not a number"),
        ("up;1,5;2,5\ndown;4,5;3.5\n", "line 2: '4,5' beside '3.5': write all decimals the same"),
        ("up,1,2,3\n,4,5,6\n", "line 2: the label is missing"),
        ("up,1,2,3\ndown,4,1e999,6\n", "line 2: value 2 is infinite"),
        ("up,1,2,3\ndown,,,\n", "line 2: no values"),
        ("label,t0,t1\nup,1,2\nup,1\n", "line 3: 2 cells, the header has 3"),
        ("label,t0,t0\nup,1,2\n", "line 1: two columns 't0'"),
        ('up,1,2,3\n"down,4,5,6\n', "line 2: unexpected end of data"),
    ],
)
def test_broken_wide(write, text, match):
    refused(write(text), match, format="wide-csv")


# -------------------------------------------------------------------------- long and Parquet


def test_long(write):
    data = read(write(LONG))
    assert same(data.X, [np.array([[1, np.nan], [4, 5]]), np.array([[3.0], [6]])])
    assert data.X.channel_names == ("x", "y")
    assert [data.names, data.y.tolist(), data.groups.tolist()] == [
        ["a", "b"],
        ["up", "down"],
        ["g", "h"],
    ]


def test_long_keeps_the_order_of_ids_and_takes_them_interleaved(write):
    text = "time;id;x\n2020-01-01;10;1\n2020-01-01;9;2\n2020-01-02T12:00;10;3\n"
    data = read(write(text))
    assert data.names == ["10", "9"]
    assert same(data.X, [np.array([[1.0, 3]]), np.array([[2.0]])])
    assert data.y is None


def test_text_becomes_symbols_that_do_not_depend_on_the_file(write):
    head = "id,time,step,x\n"
    one = read(write(head + "a,0,A,1\na,1,walk,2\na,2,,3\n"))
    two = read(write(head + "a,0,B,1\na,1,run,2\na,2,walk,3\na,3,A,3\n"))
    assert one.X.symbolic == two.X.symbolic == (True, False)
    assert one.X.data[0, 0] == two.X.data[0, 3] == ord("A")
    assert one.X.data[0, 1] == two.X.data[0, 2] > 0x10FFFF
    assert np.isnan(one.X.data[0, 2])
    listed = read(write(head + "a,0,2,1\na,1,walk,2\n"), categories={"step": [2, "walk"]})
    assert listed.X.data[0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("a,1,,5", "a,1,x,5", "line 3: column 'x': 'x' is not a number"),
        ("a,1,,5", "a,1,inf,5", "line 3: column 'x': the value is infinite"),
        ("a,1,,5", "a,0,,5", "line 3: the same time twice, in sequence 'a'"),
        ("a,1,,5", "a,-1,,5", "line 3: an earlier time, in sequence 'a'; sort the rows"),
        ("a,1,,5", "a,soon,,5", "line 3: column 'time'"),
        ("a,1,,5", "a,,,5", "line 3: column 'time': a time is missing"),
        ("a,1,,5,up", "a,1,,5,down", "line 3: another label than before"),
        ("a,1,,5,up,g", "a,1,,5,up,h", "line 3: another group than before"),
        ("a,1,,5,up,g", "a,1,,5", "line 3: 4 cells, the header has 6"),
        ("6,down", "6,NaN", "line 4: the label is missing, in sequence 'b'"),
        ("x,y", "x,x", "line 1: two columns 'x'"),
        ("x,y", "x,", "line 1: column 4 has no name"),
    ],
)
def test_broken_long(write, old, new, match):
    path = write(LONG.replace(old, new))
    refused(path, match, format="long-csv")
    if "line 1:" not in match:
        data = read(path, "long-csv", skip_bad=True)
        assert len(data) == len(data.skipped) == 1
        assert data.skipped[0].path == str(path)


def test_long_needs_its_columns(write):
    refused(write(LONG), "no column 'who'; id=NAME names one of 'id', 'time'", id="who")
    refused(write("time,x\n0,1\n"), "line 1: no column of ids; id=NAME names", format="long-csv")
    refused(write(LONG), "no column 'kind'", label="kind")
    refused(write("id,time,label\na,0,b\n"), "no column besides id, time, label and group")
    refused(write(LONG.replace("b,0", ",0")), "line 4: no id", skip_bad=True)


def test_parquet_is_read_as_the_long_table_it_is(write, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = pandas.read_csv(write(LONG))
    table["state"] = ["A", None, "B"]
    table["time"] = pandas.to_datetime(table["time"], unit="s")
    table.to_parquet(tmp_path / "data.parquet", index=False)
    data, plain = read(tmp_path / "data.parquet"), read(write(LONG))
    assert recognise(tmp_path / "data.parquet") == "parquet"
    assert same(data.X.data[:2], plain.X.data)
    assert_array_equal(data.X.data[2], [ord("A"), np.nan, ord("B")])
    assert [data.names, data.y.tolist()] == [plain.names, plain.y.tolist()]
    table["time"] = table["time"].min()
    table.to_parquet(tmp_path / "data.parquet", index=False)
    refused(tmp_path / "data.parquet", "row 2: the same time twice")
    content = (tmp_path / "data.parquet").read_bytes()
    refused(write(content[:-40], "cut.parquet"), "damaged or cut short")


def test_parquet_asks_for_pyarrow(write, monkeypatch):
    original = builtins.__import__

    def without_pyarrow(name, *rest):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_pyarrow)
    refused(write(b"PAR1" + bytes(20)), "needs pyarrow; pip install pyarrow")


# ------------------------------------------------------------------------- folders and pairs


def test_folder_of_tables_with_a_folder_a_class(write, tmp_path):
    write("time,x,y\n0,1,4\n1,2,5\n", "up/b.csv")
    write("x;y\n3;\n", "down/a.csv")
    (tmp_path / "up" / ".hidden.csv").write_text("nothing")
    data = read(tmp_path)
    assert recognise(tmp_path) == "csv-folder"
    assert same(data.X, [np.array([[3], [np.nan]]), np.array([[1.0, 2], [4, 5]])])
    assert data.X.channel_names == ("x", "y")
    assert [data.names, data.y.tolist()] == [["down/a.csv", "up/b.csv"], ["down", "up"]]


def test_folder_of_tables_with_a_list(write, tmp_path):
    write("1,2\n3,4\n", "a.csv")
    write("5,6\n", "more/b.csv.gz")
    write("file_name,label,group\na.csv,up,g\nmore/b.csv.gz,down,h\n", "metadata.csv")
    data = read(tmp_path)
    assert same(data.X, [np.array([[1.0, 3], [2, 4]]), np.array([[5.0], [6]])])
    assert data.X.channel_names is None
    assert [data.y.tolist(), data.groups.tolist()] == [["up", "down"], ["g", "h"]]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("x,z\n1,2\n", "line 1: channels .*'x', 'z'.*, other files have .*'x', 'y'"),
        ("1,2\n", "line 1: channels"),
        ("x,y\n1,2\n3\n", "line 3: 1 cell, the header has 2"),
        ("x,y\n1,up\n", "line 2: column 'y': 'up' is not a number"),
        ("time,x,y\n1,1,1\n0,1,1\n", "line 3: an earlier time"),
        ("x,y,label\n1,1,up\n", "line 1: a column 'label' within one series"),
        ("x,y\n", "a header, but no rows"),
        ("", "the file is empty"),
        (b"\x00\x01\x02", "line 1: binary data"),
        (b"x,y\n\xe9,1\n", "line 2: column 'x': '\u00e9' is not a number"),
    ],
)
def test_broken_file_in_a_folder(write, tmp_path, content, match):
    write("x,y\n1,2\n", "up/a.csv")
    bad = write(content, "up/b.csv")
    with pytest.raises(ReadError, match=match) as caught:
        read(tmp_path)
    assert caught.value.path == str(bad)
    data = read(tmp_path, skip_bad=True)
    assert data.names == ["up/a.csv"]
    assert [error.path for error in data.skipped] == [str(bad)]


def test_list_of_files_must_agree_with_the_folder(write, tmp_path):
    write("x\n1\n", "a.csv")
    write("file_name,label\nb.csv,up\n", "metadata.csv")
    with pytest.raises(ReadError, match=r"metadata\.csv: no column holds names such as 'a\.csv'"):
        read(tmp_path)
    write("file_name,label\na.csv,up\na.csv,down\n", "metadata.csv")
    with pytest.raises(ReadError, match=r"metadata\.csv: 'a\.csv' has two labels"):
        read(tmp_path)
    (tmp_path / "metadata.csv").unlink()
    write("x\n1\n", "up/c.csv")
    refused(tmp_path, "files must all lie in the folder, or all in sub-folders")


@pytest.mark.parametrize(("text", "ending"), [(TS, "ts"), (ARFF, "arff"), (WIDE, "csv")])
def test_pair_of_files(write, tmp_path, text, ending):
    write(text, f"toy_TRAIN.{ending}")
    write(text, f"toy_TEST.{ending}")
    for path in (tmp_path, tmp_path / "toy"):
        data = read(path)
        n = len(data) // 2
        assert data.split.tolist() == ["train"] * n + ["test"] * n
        assert same(data.X[:n], data.X[n:])
        assert len(set(data.names)) == 2 * n
    assert recognise(tmp_path / "toy") == recognise(tmp_path) != "csv-folder"
    assert read(tmp_path / f"toy_TRAIN.{ending}").split is None


def test_format_says_which_of_several_pairs(write, tmp_path):
    for part in ("TRAIN", "TEST"):
        write(TS, f"toy_{part}.ts")
        write(ARFF, f"toy_{part}.arff")
    assert [len(read(tmp_path, kind)) for kind in (None, "ts", "arff")] == [4, 4, 6]


def test_parts_must_agree(write, tmp_path):
    write(TS, "toy_TRAIN.ts")
    write(PLAIN_ARFF, "toy_TEST.ts")
    refused(tmp_path, "have 2 and 1 channels")
    write(TS, "other_TRAIN.ts")
    write(TS, "other_TEST.ts")
    refused(tmp_path, r"several data sets: \['other', 'toy'\]; name one of them")
    assert len(read(tmp_path / "other")) == 4


# ---------------------------------------------------------------------- all formats together


def test_what_is_no_series_is_not_taken_for_one(write, tmp_path):
    others = [">seq\nACDE\n", "file_name,label,group\na.wav,1,2\n", "hello world\n", b"RIFF\0\0"]
    for content in [*others, b"\x89PNG\r\n\x1a\n", bytes(range(256)), "", "3\n4\n"]:
        path = write(content)
        if content != others[0]:
            refused(path, "not recognised; name the format, one of audio, |empty|binary data|UTF-8")
            with pytest.raises(ReadError, match=r"not recognised; name|empty|binary|UTF-8"):
                recognise(path)
    with pytest.raises(ReadError, match="no such file or folder"):
        recognise(tmp_path / "nothing")
    refused(tmp_path / "nothing", "no such file or folder")
    with pytest.raises(ValueError, match="format must be one of"):
        read(path, format="xls")


@pytest.mark.parametrize("text", [TS, ARFF, WIDE, LONG])
def test_other_encodings(write, text):
    text = text.replace("up", "\u00fcber")
    plain = read(write(text, "plain"))
    for encoding in ("utf-16", "utf-8-sig", "cp1252"):
        data = read(write(text.encode(encoding), "other"))
        assert same(data.X, plain.X)
        assert data.y.tolist() == plain.y.tolist()
        said = [remark for remark in data.remarks if "read as Windows-1252" in remark]
        assert len(said) == (encoding == "cp1252")


def test_format_can_be_forced(write):
    path = write(LONG.replace("up", "1").replace("down", "2"))
    refused(path, "is not a number", format="wide-csv")
    refused(path, "before @data", format="ts")
    refused(path, "archive is damaged", format="npz")
    refused(path, "array is damaged", format="npy")


@pytest.mark.parametrize("text", [TS, ARFF, WIDE])
def test_bad_series_are_skipped_and_listed(write, text):
    lines = text.splitlines()
    path = write("\n".join([*lines[:-1], lines[-1].replace(",", ",oops,"), *lines[-1:]]))
    refused(path, f"line {len(lines)}: ")
    data = read(path, skip_bad=True)
    assert same(data.X, read(write(text)).X)
    assert [error.path for error in data.skipped] == [str(path)]
    assert f"line {len(lines)}: " in data.skipped[0].problem


def test_progress_is_told(write, tmp_path):
    told = []
    write(TS, "toy_TRAIN.ts")
    write(TS, "toy_TEST.ts")
    read(tmp_path, progress=lambda done, total: told.append(done / total))
    assert told == sorted(told)
    assert told[-1] == 1


def test_writers_refuse_what_the_format_cannot_hold(tmp_path):
    path = tmp_path / "data.ts"
    for label in ("a:b", " a", "", "nan", "a\nb"):
        with pytest.raises(ValueError, match="file cannot hold"):
            write_ts(path, CUBE, ["x", label])
    with pytest.raises(
        ValueError, match="only numbers, but X has symbolic channels; use write_npz"
    ):
        write_ts(path, ["ABBA"])
    with pytest.raises(ValueError, match=r"y has shape \(1,\), X has 2 sequences"):
        write_ts(path, CUBE, ["x"])
    with pytest.raises(ValueError, match="names must be one number or text per sequence, 2 in all"):
        write_npz(path, CUBE, names=["x"])
    assert not path.exists()


VALUES = st.floats(allow_infinity=False, width=64) | st.just(float("nan"))
LABELS = st.text("abcXYZ01.-é_ ", min_size=1, max_size=6).filter(
    lambda text: " ".join(text.split()) == text and text.lower() not in ("na", "nan")
)


@st.composite
def collections(draw):
    n_channels = draw(st.integers(1, 3))
    lengths = draw(st.lists(st.integers(0, 5), min_size=1, max_size=5))
    X = [np.array(draw(st.lists(VALUES, min_size=n_channels * n, max_size=n_channels * n)))
         for n in lengths]  # fmt: skip
    X = [x.reshape(n_channels, -1) for x in X]
    return check_sequences(X), draw(st.lists(LABELS, min_size=len(X), max_size=len(X)))


IN_ONE_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@IN_ONE_FOLDER
@given(collections(), st.booleans(), st.booleans())
def test_ts_round_trip(tmp_path, drawn, labelled, packed):
    X, labels = drawn
    path = tmp_path / ("data.ts.gz" if packed else "data.ts")
    write_ts(path, X, labels if labelled else None)
    data = read(path)
    assert same(data.X, X)
    assert data.y is None if not labelled else data.y.tolist() == labels


@IN_ONE_FOLDER
@given(collections(), st.booleans(), st.none() | st.floats(1e-3, 1e6))
def test_npz_round_trip(tmp_path, drawn, labelled, rate):
    X, labels = drawn
    X = replace(X, channel_names=tuple(f"c {i}" for i in range(X.n_rows)), sampling_rate=rate)
    write_npz(tmp_path / "data.npz", X, labels if labelled else None)
    data = read(tmp_path / "data.npz")
    assert same(data.X, X)
    assert (data.X.channel_names, data.X.sampling_rate) == (X.channel_names, rate)
    assert data.y is None if not labelled else data.y.tolist() == labels


def valid_files(folder):
    write_npz(folder / "own.npz", CUBE, ["a", "b"])
    np.savez(folder / "foreign.npz", X_train=CUBE, y_train=[1, 2], X_test=CUBE, y_test=[1, 2])
    np.save(folder / "array.npy", CUBE)
    texts = {"ts": TS, "arff": ARFF, "wide-csv": WIDE, "long-csv": LONG}
    files = [(kind, text.encode()) for kind, text in texts.items()]
    files += [(kind, gzip.compress(content)) for kind, content in files[:1]]
    for name in ("own.npz", "foreign.npz", "array.npy"):
        files.append((name[-3:], (folder / name).read_bytes()))
    return files


def mutated(content, rng):
    """The content with a few bytes changed, a piece cut out, doubled, or its end cut off."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        at, to = sorted(rng.integers(0, len(content) + 1, size=2))
        piece = rng.choice(np.frombuffer(b"0129.,:;?@#%'\"\\n\n\r\t e-{}()N\0\xff", np.uint8), 3)
        match rng.integers(6):
            case 0:
                content[at : at + 1] = piece[:1].tobytes()
            case 1:
                content[at:at] = piece.tobytes()
            case 2:
                del content[at : min(to, at + 8)]
            case 3:
                content[to:to] = content[at:to]
            case 4:
                content[at : at + 1] = rng.bytes(1)
            case 5:
                del content[to:]
    return bytes(content)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("skip_bad", [False, True])
def test_broken_files_lead_to_an_error_by_name_or_to_data(tmp_path, skip_bad):
    rng = np.random.default_rng(0)
    path = tmp_path / "mutated"
    for kind, content in valid_files(tmp_path):
        outcomes = set()
        for _ in range(size(150, 50)):
            path.write_bytes(mutated(content, rng))
            with suppress(ReadError):
                assert recognise(path) in FORMATS
            try:
                data = read(path, rng.choice([kind, None]), skip_bad=skip_bad)
            except ReadError:
                outcomes.add("refused")
            else:
                assert isinstance(data, Dataset)
                assert len(data) == len(data.names) >= 1
                assert not np.isinf(data.X.data).any()
                outcomes.add("read")
        assert outcomes == {"read", "refused"} or kind in ("npz", "npy")


# -------------------------------------------------------------------------------- real files


def aeon_folder():
    return Path(pytest.importorskip("aeon").__file__).parent / "datasets" / "data"


@pytest.mark.parametrize("split", ["train", "test", None])
def test_japanese_vowels_of_aeon(split):
    X, y = load_japanese_vowels(split)
    folder = aeon_folder() / "JapaneseVowels"
    data = read(folder if split is None else folder / f"JapaneseVowels_{split.upper()}.ts")
    assert same(data.X, X)
    assert_array_equal(data.y, y)


@pytest.mark.parametrize("name", ["BasicMotions", "GunPoint", "ArrowHead"])
def test_arff_and_ts_of_aeon_hold_the_same(name):
    arff, ts = (read(aeon_folder() / name / f"{name}_TRAIN.{ending}") for ending in ("arff", "ts"))
    assert same(arff.X, ts.X)
    assert_array_equal(arff.y, ts.y)


RAGGED = [np.array([[1, np.nan, 0.1], [1e-9, 5, 6]]), np.array([[1 / 3, 2], [3, 4.0]])]


@pytest.mark.parametrize("X", [RAGGED, CUBE, CUBE[:, :1]])
def test_aeon_reads_what_we_write(tmp_path, X):
    datasets = pytest.importorskip("aeon.datasets")
    write_ts(tmp_path / "data.ts", X, ["sitting down", "up"])
    read, labels = datasets.load_from_ts_file(str(tmp_path / "data.ts"))
    assert same(list(read), X)
    assert labels.tolist() == ["sitting down", "up"]


@pytest.mark.parametrize("y", [["down", "up"], [0.5, 1.5], None])
@pytest.mark.parametrize("X", [RAGGED, CUBE, CUBE[:, :1]])
def test_what_aeon_writes_is_read(tmp_path, X, y):
    writers = pytest.importorskip("aeon.datasets")
    kind = None if y is None else "regression" if isinstance(y[0], float) else "classification"
    y = None if y is None else np.array(y)
    writers.save_to_ts_file(X, y, label_type=kind, path=str(tmp_path), header="by aeon")
    data = read(tmp_path / "data.ts")
    assert same(data.X, X)
    assert data.y is y is None or data.y.tolist() == y.tolist()


@pytest.mark.data
@pytest.mark.parametrize("name", ["Libras", "AtrialFibrillation"])
def test_uea_sets_survive_every_format(data_folder, tmp_path, name):
    data = read(data_folder / "uea" / f"{name}.npz")
    assert set(data.split) == {"train", "test"}
    write_ts(tmp_path / "set.ts", data.X, data.y)
    write_npz(tmp_path / "set.npz", data.X, data.y, data.names, split=data.split)
    for file in ("set.ts", "set.npz"):
        again = read(tmp_path / file)
        assert same(again.X, data.X)
        assert_array_equal(again.y, data.y)
    assert_array_equal(again.split, data.split)
    assert again.names == data.names


@pytest.mark.data
def test_uea_npz_is_the_bundled_set(data_folder):
    data = read(data_folder / "uea" / "JapaneseVowels.npz")
    X, y = load_japanese_vowels()
    assert same(data.X, [x.astype(np.float32) for x in X])
    assert_array_equal(data.y, y)


def test_names_that_count_up_are_no_series(tmp_path):
    path = tmp_path / "frame.csv"
    rows = [f"{'ab'[i % 2]},{','.join(f'{i + j / 10}' for j in range(6))}" for i in range(4)]
    path.write_text("class,0,1,2,3,4,5\n" + "\n".join(rows) + "\n")
    data = read(path)
    assert len(data) == 4
    assert data.y.tolist() == ["a", "b", "a", "b"]


PADDED = np.arange(60.0).reshape(2, 3, 10)


@pytest.mark.parametrize(
    ("values", "options"),
    [(PADDED, {}), (PADDED.swapaxes(1, 2), {"time_first": True}), (PADDED[:, 0], {})],
    ids=["channels first", "time first", "univariate"],
)
@pytest.mark.parametrize("ending", ["npz", "mat"])
def test_padding_is_cut_off_where_lengths_say_so(tmp_path, values, options, ending):
    arrays = {"X": values, "y": np.array([0, 1]), "lengths": np.array([10, 4])}
    path = tmp_path / f"padded.{ending}"
    if ending == "npz":
        np.savez(path, **arrays)
    else:
        savemat(path, arrays | {"lengths": arrays["lengths"].astype(float)[:, None]})
    data = read(path, **options)
    expected = [np.atleast_2d(x)[:, :n] for x, n in zip(PADDED, (10, 4), strict=True)]
    assert same(data.X, expected if values.ndim == 3 else [x[:1] for x in expected])
    assert data.remarks == ()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": PADDED, "lengths": [10, 11]}, "the lengths say 2 sequences, 21 frames, at most 11"),
        ({"X": PADDED, "lengths": [3, 2]}, "time_first=True reads"),  # three rows: are they time?
        ({"X": PADDED, "lengths": [10, 4, 1]}, "the lengths say 3 sequences"),
        ({"X": PADDED[0], "lengths": [2, 2]}, "the lengths say 2 sequences, 4 frames"),
        ({"X": PADDED, "lengths": [10, -1]}, "the lengths are not whole numbers >= 0"),
        ({"X": PADDED, "lengths": [10, 1.5]}, "the lengths are not whole numbers >= 0"),
        ({"X": PADDED, "lengths": [10, np.nan]}, "the lengths are not whole numbers >= 0"),
        ({"X": PADDED, "lengths": [10, np.inf]}, "the lengths are not whole numbers >= 0"),
        ({"X": PADDED, "lengths": [10, 2**63]}, "the lengths are not whole numbers >= 0"),
        ({"X": PADDED, "lengths": ["10", "4"]}, "the lengths are not whole numbers >= 0"),
        ({"X": PADDED, "lengths": np.empty(0)}, "the lengths say 0 sequences, 0 frames"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "wrong.npz", y=[0, 1], **arrays)
    refused(tmp_path / "wrong.npz", message)


def test_arrays_of_labels_and_groups_by_name(tmp_path):
    path = tmp_path / "named.npz"
    np.savez(path, X=CUBE, y=[0, 1], Genre=["a", "b"], artists=["c", "d"], classes=["p", "q"])
    data = read(path)
    assert (data.y.tolist(), data.groups) == ([0, 1], None)
    told = "arrays that are not used: 'artists', 'classes', 'genre'; label=NAME or group=NAME reads"
    assert data.remarks[0].startswith(told)
    data = read(path, label="Genre", group="artists")
    assert (data.y.tolist(), data.groups.tolist()) == (["a", "b"], ["c", "d"])
    assert data.remarks[0].startswith("arrays that are not used: 'classes', 'y'")
    assert read(path, label="none").y is None
    refused(path, "no array 'album'; group=NAME is one of 'artists', 'classes'", group="album")
    np.savez(path, X=CUBE, weight=[1, np.nan])
    refused(path, "array 'weight': label 2 is missing", label="weight")


def test_arrays_beside_two_parts_are_told(tmp_path):
    parts = {"X_train": CUBE, "y_train": [0, 1], "X_test": CUBE, "y_test": [0, 1]}
    np.savez(tmp_path / "a.npz", **parts, rate=[8], who_train=["a", "b"], who_test=["c", "d"])
    told = "; ".join(read(tmp_path / "a.npz").remarks)
    assert "not used: 'rate'" in told
    assert "not used: 'who'" in told
    assert read(tmp_path / "a.npz", group="who").groups.tolist() == ["a", "b", "c", "d"]


def test_one_part_alone_is_no_split(tmp_path):
    np.savez(tmp_path / "train.npz", X_train=np.ones((4, 2, 9)), y_train=np.arange(4) % 2)
    assert read(tmp_path / "train.npz").split is None


def test_a_dataset_is_shown_in_a_paragraph(write):
    data = read(write(LONG))
    assert repr(data).splitlines() == [
        "<Dataset: 2 sequences, 2 channels (x, y), 1 to 2 frames long, "
        "16.67% of the values missing; 2 classes (up: 1, down: 1); 2 groups (g: 1, h: 1)>",
        "columns: id 'id'; label 'label'; group 'group'; time 'time'; channels 'x', 'y'",
    ]
    strings = Dataset(["ABBA", "BA"] * 2000, names=["n"] * 4000)
    assert repr(strings) == "<Dataset: 4000 strings of 2 to 4 letters; no labels>"
    many = Dataset(CUBE, y=np.array(["a", "b"]), skipped=(ReadError("x", "bad"),))
    assert repr(many) == "<Dataset: <array 2 x 3 x 4>; 2 classes (a: 1, b: 1); 1 skipped>"

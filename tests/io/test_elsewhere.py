"""Labels from elsewhere: several files, tables of labels, patterns of names; odd tables."""

import gzip
import json
import math
import subprocess
import warnings
from contextlib import suppress

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from commands import run, write_sounds
from mvdfq.io import ReadError, labelling, read, write_npz

RNG = np.random.default_rng(0)


def fasta(path, n, letters="ACGT", prefix="s"):
    path.parent.mkdir(parents=True, exist_ok=True)
    words = ["".join(RNG.choice(list(letters), 30)) for _ in range(n)]
    path.write_text("".join(f">{prefix}{i}\n{word}\n" for i, word in enumerate(words)))
    return path


def series(path, n=30, rate=0.3):
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [f"{t / 50},{math.sin(rate * t):.4f},{math.cos(rate * t):.4f}" for t in range(n)]
    path.write_text("\n".join(["time,x,y", *rows]))
    return path


def test_cells_of_a_table_of_labels_may_hold_spaces(tmp_path):
    data, table = fasta(tmp_path / "all.fa", 4), tmp_path / "labels.csv"
    # numbers after spaces must not make the space the mark between columns
    rows = [f"s{i},part {i % 2},run {i}" for i in range(4)]
    table.write_text("\n".join(["sequence name,label,group of run", *rows]))
    read_data = read(data, labels=table)
    assert read_data.y.tolist() == ["part 0", "part 1"] * 2
    table.write_text("\n".join(f"s{i} {i % 2}" for i in range(4)))
    assert read(data, labels=table).y.tolist() == ["0", "1"] * 2


# FASTA


def test_one_file_per_class(tmp_path):
    one, two = fasta(tmp_path / "promoters.fa", 4), fasta(tmp_path / "background.fa", 3)
    data = read([one, two])
    assert data.y.tolist() == ["promoters"] * 4 + ["background"] * 3
    assert data.names[:2] == ["promoters/s0", "promoters/s1"]  # s0 is in both files
    assert "the files are the classes: promoters, background" in data.remarks
    out, err = run("inspect", one, two)
    assert "promoters" in out
    assert "the files are the classes" in err


def test_folders_of_fasta_files(tmp_path):
    for name in ("a/x.fa", "a/y.fa", "b/z.fa"):
        fasta(tmp_path / "deep" / name, 2, prefix=name[2])
        fasta(tmp_path / "flat" / name[2:], 2, prefix=name[2])
    assert read(tmp_path / "deep").y.tolist() == ["a"] * 4 + ["b"] * 2
    (tmp_path / "flat/notes.txt").write_text("nothing of interest")
    data = read(tmp_path / "flat")
    assert data.y.tolist() == ["x", "x", "y", "y", "z", "z"]
    assert data.names == ["x0", "x1", "y0", "y1", "z0", "z1"]
    said = "passed over a file without sequences: notes.txt"
    assert said in data.remarks
    for name in "xy":
        (tmp_path / f"flat/{name}.fa").unlink()
    assert said in read(tmp_path / "flat").remarks
    (tmp_path / "flat/z.fa").unlink()
    with pytest.raises(ReadError, match="no file of sequences in the folder"):
        read(tmp_path / "flat", "fasta")


@pytest.mark.slow
def test_evaluate_and_train_take_one_file_per_class(tmp_path):
    one, two = fasta(tmp_path / "at.fa", 8, "AAAT"), fasta(tmp_path / "gc.fa", 8, "GGGC")
    out, _ = run("evaluate", one, two, "--format", "json", "-q")
    assert json.loads(out)["n"] == 16
    run("train", one, two, "-o", tmp_path / "m.mvdfq", "-q")
    out, _ = run("predict", tmp_path / "m.mvdfq", one, "--format", "csv", "-q")
    assert all(",at," in line for line in out.splitlines()[1:])


@pytest.mark.parametrize(
    ("make", "hint"),
    [
        (lambda p: fasta(p / "a.fa", 3), "pass one file per class, --label 1 for the second word"),
        (
            lambda p: series(p / "d/a.csv").parent,
            "make one folder per class, or pass --labels TABLE",
        ),
        (lambda p: series(p / "a.csv"), "make one folder per class, or pass --labels"),
    ],
)
def test_missing_labels_have_a_hint_for_the_format(tmp_path, make, hint):
    path = make(tmp_path)
    assert hint in run("train", path, "-o", tmp_path / "m.mvdfq", code=5)[1]
    assert hint in run("inspect", path)[1]


# Tables of labels


def label_table(tmp_path, text):
    path = tmp_path / "elsewhere" / "any name.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("file,kind\na.csv,u\nb.csv,v\n", {}),
        ("kind,file\nu,a\nv,b\n", {}),
        ("a\tu\nb\tv\n", {}),
        ("folder/a.csv;u\nfolder/b.csv;v\n", {}),
        ("name,age,kind,who\nb,30,v,q\na,20,u,p\n", {"label": "kind", "group": "who"}),
        ("name,age,label,subject\nb,30,v,q\na,20,u,p\n", {}),
        ("b,30,v\na,20,u\nc,1,w\n", {"label": 2}),
        ("u\nv\n", {}),
        ("label\nu\nv\n", {}),
    ],
)
def test_tables_of_labels(tmp_path, text, options):
    for name in ("a.csv", "b.csv"):
        series(tmp_path / "data" / name)
    data = read(tmp_path / "data", labels=label_table(tmp_path, text), **options)
    assert (data.names, data.y.tolist()) == (["a.csv", "b.csv"], ["u", "v"])
    if "who" in text or "subject" in text:
        assert data.groups.tolist() == ["p", "q"]
    assert any(remark.startswith("labels: ") for remark in data.remarks)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,label\na.csv,u\n", "'b.csv' has no label in the table of labels; .*such as 'a.csv'"),
        (
            "name,label\nx,u\ny,v\n",
            r"no column holds names such as 'a\.csv'; a row of the table is 'y'",
        ),
        ("a,1,2\nb,3,4\n", "not clear which column holds the labels"),
        ("name,label\na,u\na,v\nb,v\n", "'a' has two labels or groups"),
        ("u\nv\nw\n", "3 labels for 2 sequences"),
        ("", "holds no labels"),
    ],
)
def test_bad_tables_of_labels(tmp_path, text, message):
    for name in ("a.csv", "b.csv"):
        series(tmp_path / "data" / name)
    with pytest.raises(ReadError, match=message):
        read(tmp_path / "data", labels=label_table(tmp_path, text))


def test_labels_in_order_may_hold_spaces(tmp_path):
    for name in ("a.csv", "b.csv"):
        series(tmp_path / "data" / name)
    table = label_table(tmp_path, "sitting down\nwalking up the stairs\n")
    assert read(tmp_path / "data", labels=table).y.tolist() == [
        "sitting down",
        "walking up the stairs",
    ]
    table = label_table(tmp_path, "a.csv up\nb.csv down\n")  # spaces between columns
    assert read(tmp_path / "data", labels=table).y.tolist() == ["up", "down"]


def test_names_with_spaces_are_no_labels(tmp_path):
    for name in ("walk 1.csv", "walk 2.csv"):
        series(tmp_path / "data" / name)
    table = label_table(tmp_path, "walk 1.csv up\nwalk 2.csv down\n")
    message = "the line 'walk 1.csv up' holds the name 'walk 1.csv' and a label"
    with pytest.raises(ReadError, match=message):
        read(tmp_path / "data", labels=table)


def test_files_of_one_name_in_two_folders_are_not_confused(tmp_path):
    for name in ("p/1.csv", "q/1.csv"):
        series(tmp_path / "data" / name)
    with pytest.raises(ReadError, match="no column holds names"):
        read(tmp_path / "data", labels={"1.csv": "u"})
    found = read(tmp_path / "data", labels={"p/1": "u", "q/1": "v"})
    assert found.y.tolist() == ["u", "v"]
    with pytest.raises(ReadError, match=r"'q/1\.csv' has no label"):
        read(tmp_path / "data", labels={"p/1": "u", "r/1": "v"})
    assert read(tmp_path / "data", labels={"p/1": "u"}, skip_bad=True).names == ["p/1.csv"]


def test_labels_for_every_format(tmp_path):
    (tmp_path / "sound").mkdir()
    write_sounds(tmp_path / "sound", 1)
    table = label_table(tmp_path, "noise/0.wav,hiss\ntone/0.wav,beep\n")
    assert read(tmp_path / "sound", labels=table).y.tolist() == ["hiss", "beep"]
    out, _ = run("inspect", tmp_path / "sound", "--labels", table, "--format", "json")
    assert json.loads(out)["classes"] == {"beep": 1, "hiss": 1}
    long = tmp_path / "long.csv"
    long.write_text("id,time,x\na,0,1\na,1,2\nb,0,3\nb,1,5\n")
    assert read(long, labels={"a": "u", "b": "v"}).y.tolist() == ["u", "v"]
    np.savez(tmp_path / "x.npz", X=np.zeros((2, 1, 4)))
    assert read(tmp_path / "x.npz", labels=label_table(tmp_path, "u\nv")).y.tolist() == ["u", "v"]


# Patterns


def test_patterns_read_names_and_folders(tmp_path):
    for name in ("P1/jog.csv", "P1/walk.csv", "P2/jog.csv", "P2/walk.csv"):
        series(tmp_path / name)
    data = read(tmp_path)
    assert data.y.tolist() == ["P1", "P1", "P2", "P2"]
    assert "the folders look like persons, such as 'P1'" in " ".join(data.remarks)
    data = read(tmp_path, label_pattern="/([^/.]+)", group_pattern="^(.+)/")
    assert data.y.tolist() == ["jog", "walk"] * 2
    assert data.groups.tolist() == ["P1", "P1", "P2", "P2"]
    assert "persons" not in " ".join(data.remarks)
    assert "--label-pattern '/([^/.]+)' reads" in run("inspect", tmp_path)[1]
    series(tmp_path / "P1/deep/jog.csv")  # at any depth
    assert len(read(tmp_path, label_pattern="([a-z]+).csv$")) == 5
    out, _err = run("inspect", tmp_path, "--label-pattern", "([a-z]+).csv$", "--format", "json")
    assert json.loads(out)["classes"] == {"jog": 3, "walk": 2}
    with pytest.raises(
        ReadError,
        match=r"label_pattern '\(x\)' finds no label",
    ):
        read(tmp_path, label_pattern="(x)")
    with pytest.raises(ValueError, match="label_pattern 'x' has no group; put the label in"):
        read(tmp_path, label_pattern="x")


def test_patterns_of_sound(tmp_path):
    write_sounds(tmp_path, 2)
    data = read(tmp_path, label_pattern=r"/(\d)", group_pattern="(.+)/")
    assert data.y.tolist() == ["0", "1", "0", "1"]
    assert data.groups.tolist() == ["noise", "noise", "tone", "tone"]


# Odd tables


def table(path, n=400, twice=(), head="id,time,x,y"):
    rows = [f"a,{t / 50},{math.sin(t):.4f},{math.cos(t):.4f}" for t in range(n)]
    for t in twice:
        rows.insert(t + 1, f"a,{t / 50},9,9")
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def test_a_time_stamp_twice_keeps_the_first_row(tmp_path):
    clean, data = read(table(tmp_path / "a.csv")), read(table(tmp_path / "b.csv", twice=[70, 9]))
    assert_array_equal(data.X.data, clean.X.data)
    told = "2 rows with the time of the row before: only the first row of each time is kept"
    assert any(remark.startswith(told) and "line 12" in remark for remark in data.remarks)
    with pytest.raises(ReadError, match=r"the same time twice.*many rows repeat a time.*time="):
        read(table(tmp_path / "c.csv", twice=range(399, 0, -2)))


@pytest.mark.parametrize("units", ["-,ms,g,g", ",[ms],(g),(g)", "name,ms,m/s^2,m/s^2"])
def test_a_row_of_units(tmp_path, units):
    path = table(tmp_path / "a.csv", head=f"id,time,x,y\n{units}")
    data = read(path)
    assert data.X.lengths.tolist() == [400]
    assert data.X.sampling_rate == 50_000  # the times are in milliseconds
    assert any(remark.startswith("line 2 holds units") for remark in data.remarks)


def test_units_tell_the_time_in_any_language(tmp_path):
    rows = [f"{t / 100:.2f};{math.sin(t):.3f};{math.cos(t):.3f}" for t in range(60)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["Zeit;Kanal 1;Kanal 2", "s;mV;mV", *rows]).replace(".", ","))
    for data in (read(path), read(path, time="Zeit")):
        assert data.X.channel_names == ("Kanal 1", "Kanal 2")
        assert data.X.sampling_rate == 100


def test_a_broken_row_is_not_a_row_of_units(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,time,x\na,0,bad\na,1,2\na,2,3\n")
    with pytest.raises(ReadError, match=r"line 2: column 'x': 'bad' .*missing='bad'"):
        read(path)


@pytest.mark.parametrize("missing", [-999, "-999", [-999, "n.d."]])
def test_values_that_stand_for_missing_values(tmp_path, missing):
    path = tmp_path / "a.csv"
    word = "n.d." if isinstance(missing, list) else "-999.0"
    path.write_text(f"id,time,x\na,0,1\na,1,-999\na,2,{word}\na,3,4\n")
    assert_array_equal(read(path, missing=missing).X.data, [[1, np.nan, np.nan, 4]])
    out, _ = run("inspect", path, "--missing", "-999,n.d.", "--format", "json")
    assert json.loads(out)["missing_values_percent"] == 50
    np.save(tmp_path / "x.npy", np.array([[[1.0, -999, 3]]]))
    assert_array_equal(read(tmp_path / "x.npy", missing=-999).X.data, [[1, np.nan, 3]])
    with pytest.raises(
        ValueError, match="missing must hold numbers, since the data do, got '-9,9'"
    ):
        read(tmp_path / "x.npy", missing="-9,9")


def test_numbers_as_categories(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,time,x,gear\na,0,1,3\na,1,2,2\na,2,5,\nb,0,1,3\nb,1,1,3\n")
    data = read(path, categories=["gear"])
    assert data.X.symbolic == (False, True)
    codes = data.X.data[1]
    assert codes[0] == codes[3] != codes[1]
    assert np.isnan(codes[2])
    assert_array_equal(read(path, categories={"gear": [2, 3]}).X.data[1], [1, 0, np.nan, 1, 1])
    assert "'gear' holds words" in run("inspect", path, "--categories", "gear")[1]


@pytest.mark.parametrize("name", ["a.csv", "d/a.csv"])
@pytest.mark.parametrize("head", ["id,time,x,y", "time,x", "x,y,z"])
def test_a_header_alone_has_no_rows(tmp_path, name, head):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{head}\n")
    with pytest.raises(ReadError, match="a header, but no rows"):
        read(tmp_path / "d" if "/" in name else path)


def test_activity_is_a_label(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,time,x,activity\na,0,1,run\na,1,2,run\nb,0,1,sit\nb,1,3,sit\n")
    assert read(path).y.tolist() == ["run", "sit"]


# Other formats


FRAME = {"id": ["a"] * 3 + ["b"] * 3, "time": [0.0, 0.1, 0.2] * 2,
         "x": [1.0, 2.0, None, 4.0, 5.0, 6.5], "label": ["u"] * 3 + ["v"] * 3}  # fmt: skip


def files(folder):
    import pandas as pd

    table = pd.DataFrame(FRAME)
    table.to_parquet(folder / "a.parquet")
    table.to_feather(folder / "a.feather")
    table.to_excel(folder / "a.xlsx", index=False)
    table.to_json(folder / "records.json", orient="records")
    table.to_json(folder / "lines.json", orient="records", lines=True)
    table.to_json(folder / "columns.json", orient="columns")
    table.to_json(folder / "split.json", orient="split")
    (folder / "lists.json").write_text(json.dumps(FRAME))
    return sorted(folder.iterdir())


def test_tables_in_other_formats(tmp_path):
    for path in files(tmp_path):
        data = read(path)
        assert_array_equal(data.X.data, [[1, 2, 4, 5, 6.5]])  # the end of a is missing
        assert (data.names, data.y.tolist()) == (["a", "b"], ["u", "v"]), path
        assert data.X.sampling_rate == 10
        assert run("inspect", path)[0]


def test_nested_json(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(
        '[{"x": [1, 2], "y": [3, 4], "label": "u"}, {"x": [5], "y": [6], "label": "v"}]'
    )
    data = read(path)
    assert_array_equal(data.X.data, [[1, 2, 5], [3, 4, 6]])
    assert data.y.tolist() == ["u", "v"]
    path.write_text('{"X": [[[1, 2], [3, 4]], [[5], [6]]], "y": ["u", "v"]}')
    data = read(path, label="y")
    assert_array_equal(data.X.data, [[1, 2, 5], [3, 4, 6]])
    assert data.y.tolist() == ["u", "v"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.xlsx", "a.parquet", "a.feather", "a.mat"])
def test_damaged_files_are_named(tmp_path, name):
    format = name.partition(".")[2]
    for content in (b"no such thing", b"PAR1 nothing PAR1", b"MATLAB 5.0" + bytes(200)):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ReadError, match=name):
            read(tmp_path / name, format)


def test_words_among_numbers_name_the_file(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('[{"x": [1, "u"], "label": "a"}]')
    with pytest.raises(ReadError, match="row 1: could not convert"):
        read(path)
    path.write_text('[{"id": 1, "time": 0, "x": {"a": 1}}, {"id": 1, "time": 1, "x": 2}]')
    with pytest.raises(ReadError, match=r"a\.json: a cell holds dict"):
        read(path)


@pytest.mark.parametrize("text", ['{"a": 1}', "[1, 2]", '{"a": [1', "[" * 100_000, "[[1], {}]"])
def test_broken_json(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(ReadError):
        read(path)


FASTQ = "@r1 first\nACGT\n+\nIIII\n@r2\nGGCC\n+\nIIII\n"
STOCKHOLM = "# STOCKHOLM 1.0\na MV-LS\nb MVKLS\n//\n"
CLUSTAL = "\n\na     MV-LS 4\nb     MVKLS 5\n      ** **\n\na     PAD 7\nb     PA- 7\n      **\n"


def test_sequences_that_biopython_reads(tmp_path):
    (tmp_path / "a.fastq").write_text(FASTQ)
    assert read(tmp_path / "a.fastq").X == ["ACGT", "GGCC"]
    with gzip.open(tmp_path / "b.fq.gz", "wt") as file:
        file.write(FASTQ)
    assert read(tmp_path / "b.fq.gz").names == ["r1", "r2"]
    (tmp_path / "a.sto").write_text(STOCKHOLM)
    assert read(tmp_path / "a.sto").X == ["MV-LS", "MVKLS"]
    from Bio import SeqIO
    from Bio.Seq import Seq
    from Bio.SeqRecord import SeqRecord

    record = SeqRecord(Seq("ACGTACGT"), "g1", annotations={"molecule_type": "DNA"})
    SeqIO.write([record], tmp_path / "a.gb", "genbank")
    assert read(tmp_path / "a.gb").X == ["ACGTACGT"]
    (tmp_path / "a.fastq").write_text(FASTQ[:-3])
    with pytest.raises(ReadError, match="damaged"):
        read(tmp_path / "a.fastq")


@pytest.mark.parametrize(
    "first", ["CLUSTAL W (1.83) multiple alignment", "MUSCLE (3.8)", "CLUSTAL"]
)
def test_alignments_of_clustal(tmp_path, first):
    path = tmp_path / "a.aln"
    path.write_text(f"{first}\n{CLUSTAL}")
    data = read(path)
    assert (data.X, data.names) == (["MV-LSPAD", "MVKLSPA-"], ["a", "b"])
    for text, match in [
        (CLUSTAL[:-25], r"lengths \[5, 7\], expected one length; the file may be cut short"),
        ("", "expected one length"),
        ("a MV LS 3 4\n", "line 2: expected a name and letters, got 'a MV LS 3 4'"),
        ("a MV1\n", "line 2: record 'a': '1' at position 3"),
    ]:
        path.write_text(f"{first}\n{text}")
        with pytest.raises(ReadError, match=match):
            read(path)


@pytest.mark.slow
def test_arrays_of_matlab(tmp_path):
    from scipy.io import savemat

    X, labels = RNG.normal(size=(4, 2, 9)), np.array(["up", "down", "up", "down"])
    cells = np.empty((1, 4), dtype=object)
    cells[0] = list(X)
    words = np.empty((4, 1), dtype=object)
    words[:, 0] = list(labels)
    for packed in (False, True):
        savemat(tmp_path / "a.mat", {"X": X, "y": labels}, do_compression=packed)
        savemat(tmp_path / "b.mat", {"X": cells, "y": words}, do_compression=packed)
        savemat(tmp_path / "c.mat", {"X_train": X, "y_train": [1, 2, 1, 2]}, do_compression=packed)
        for name in ("a.mat", "b.mat", "c.mat"):
            data = read(tmp_path / name)
            assert_array_equal(data.X.data, np.concatenate(X, axis=1))
            assert data.y.tolist() == (labels.tolist() if name != "c.mat" else [1, 2, 1, 2])


def test_hostile_arrays_are_refused(tmp_path):
    import pandas as pd
    from scipy.io import savemat

    savemat(tmp_path / "s.mat", {"X": {"a": 1}})
    with pytest.raises(ReadError, match="variable 'X' is of class struct"):
        read(tmp_path / "s.mat")
    cells, inner = np.empty((2, 1), dtype=object), np.empty((1, 1), dtype=object)
    inner[0, 0], cells[0, 0], cells[1, 0] = np.ones(3), inner, inner
    savemat(tmp_path / "nested.mat", {"X": cells, "y": [0, 1]})
    with pytest.raises(ReadError, match="variable 'X' holds cells or structures within cells"):
        read(tmp_path / "nested.mat")
    pd.DataFrame(FRAME).to_excel(tmp_path / "big.xlsx")
    with pytest.raises(ReadError, match="too large when unpacked"):
        read(tmp_path / "big.xlsx", max_bytes=1000)
    savemat(tmp_path / "big.mat", {"X": np.zeros((1, 1, 10**6))}, do_compression=True)
    with pytest.raises(ReadError, match="too large when unpacked"):
        read(tmp_path / "big.mat", max_bytes=10**6)
    content = (tmp_path / "big.mat").read_bytes()
    (tmp_path / "cut.mat").write_bytes(content[: len(content) // 2])
    with pytest.raises(ReadError, match="damaged or cut short"):
        read(tmp_path / "cut.mat")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.edf", r"\.edf files are not read; convert: mne.io.read_raw_edf"),
        ("a.h5", r"convert: mvdfq\.io\.write_npz"),
        ("a.pkl", "never loaded"),
        ("a.rds", r"write\.csv"),
    ],
)
def test_other_files_have_a_conversion(tmp_path, name, message):
    (tmp_path / name).write_bytes(b"\x80\x04\x95 binary \0")
    with pytest.raises(ReadError, match=message):
        read(tmp_path / name)


def test_aac_is_read_by_ffmpeg(tmp_path, monkeypatch):
    ffmpeg = pytest.importorskip("imageio_ffmpeg").get_ffmpeg_exe()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/ffmpeg").symlink_to(ffmpeg)
    (tmp_path / "s").mkdir()
    write_sounds(tmp_path / "s", 1)
    for name in ("a.m4a", "a.aac"):
        command = [ffmpeg, "-v", "error", "-i", tmp_path / "s/tone/0.wav", tmp_path / name]
        subprocess.run(command, check=True)
    expected = read(tmp_path / "s/tone/0.wav", recipe="telephone").X[0]
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for name in ("a.m4a", "a.aac"):
        found = read(tmp_path / name, recipe="telephone").X[0]
        means = [x[:2, 10:-20].mean(axis=1) for x in (found, expected)]
        np.testing.assert_allclose(*means, rtol=0.1)
    secret = tmp_path / "playlist.m4a"
    secret.write_bytes(b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n")
    with pytest.raises(ReadError):
        read(secret, "audio")
    (tmp_path / "bad.m4a").write_bytes(b"\0\0\0\x20ftypM4A " + b"x" * 100)
    with pytest.raises(ReadError, match="ffmpeg cannot decode"):
        read(tmp_path / "bad.m4a")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ReadError, match=r"ffmpeg is not found; install ffmpeg, .*ffmpeg -i a.m4a"):
        read(tmp_path / "a.m4a")


# New files for a model, and what the program says of files


@pytest.fixture
def model(tmp_path):
    write_sounds(tmp_path, 4)
    run("train", tmp_path, "-o", tmp_path / "m.mvdfq", "--recipe", "telephone", "-q")
    return tmp_path / "m.mvdfq"


def test_every_sequence_of_files_that_share_names_has_an_answer(tmp_path):
    import mvdfq

    X, y = mvdfq.make_autoregressive(20, 2, 40, random_state=0)
    known = mvdfq.check_sequences(X, channel_names=["x", "y"])
    clf = mvdfq.SequenceClassifier("fast").fit(known, y)
    for i, name in enumerate("ab"):
        rows = [f"{k},{t},{a},{b}" for k in (1, 2) for t, (a, b) in enumerate(X[2 * i + k].T)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,time,x,y", *rows, ""]))
    found = mvdfq.predict_files(clf, [tmp_path / "a.csv", tmp_path / "b.csv"])
    answers = clf.predict(known[1:5]).tolist()
    assert found == dict(zip(["1:1", "2:1", "1:2", "2:2"], answers, strict=True))


@pytest.mark.slow
def test_files_for_a_model(tmp_path, model):
    import mvdfq
    from mvdfq.io import read_for

    paths = [tmp_path / "tone/0.wav", tmp_path / "noise/0.wav"]
    found = mvdfq.predict_files(model, paths)
    assert found == {str(paths[0]): "tone", str(paths[1]): "noise"}
    clf = mvdfq.load(model)
    data = read_for(clf, paths[0])
    assert_array_equal(data.X.data, read(paths[0], recipe="telephone").X.data)
    near = clf.neighbours(data.X, 2)
    assert [one.name for one in near] == [clf.source_["names"][one.index] for one in near]
    assert near[0].name.startswith("tone/")
    trained = read(tmp_path, recipe="telephone")
    again = mvdfq.SequenceClassifier("mvdfqm-spectrum").fit(trained.X, trained.y)
    assert again.neighbours(data.X, 1)[0].name is None
    again.source_ = trained.source
    again.save(tmp_path / "again.mvdfq")
    assert mvdfq.predict_files(tmp_path / "again.mvdfq", paths[0])
    with pytest.raises(ReadError, match=r"there is no such file|no such file"):
        mvdfq.predict_files(model, tmp_path / "nothing.wav")
    (tmp_path / "notes.py").write_text("import numpy, scipy\nx = 1, 2\n")
    with pytest.raises(ReadError, match=r"notes\.py: is damaged or not sound"):
        mvdfq.predict_files(model, tmp_path / "notes.py")
    (tmp_path / "data.h5").write_bytes(b"\x89HDF")
    with pytest.raises(ReadError, match=r"\.h5 files are not read; convert"):
        mvdfq.predict_files(model, tmp_path / "data.h5")


@pytest.mark.slow
def test_evaluate_lists_the_files(tmp_path, model):
    out, _ = run("evaluate", tmp_path, "--recipe", "telephone", "--format", "csv", "-q",
                 "--group-pattern", r"(\d)\.wav")  # fmt: skip
    head, *rows = out.splitlines()
    assert head == "name,group,true,predicted,right,fold,seed,probability,log_loss"
    assert len(rows) == 8
    assert {row.split(",")[0] for row in rows} >= {"tone/0.wav", "noise/3.wav"}
    out, _ = run("evaluate", tmp_path, "--model", model, "--format", "csv", "-q")
    assert len(out.splitlines()) == 9


@pytest.mark.slow
def test_model_cards(tmp_path, model):
    card, _ = run("inspect", model, "--card")
    for words in (
        "# Model card: m.mvdfq",
        "| noise | 4 |",
        "Inner accuracy",
        "hop_length",
        "## Limits",
    ):
        assert words in card
    assert "--card needs a model file" in run("inspect", tmp_path / "tone", "--card", code=2)[1]


@pytest.mark.slow
def test_options_of_the_guide(tmp_path):
    one, two = fasta(tmp_path / "at.fa", 8, "AAAT"), fasta(tmp_path / "gc.fa", 8, "GGGC")
    figures = {}
    for positive in ("at", "gc"):
        out, _ = run("evaluate", one, two, "--positive", positive, "--pyramid", "2",
                     "--class-weight", "at=3,gc=1", "--format", "json", "-q")  # fmt: skip
        figures[positive] = json.loads(out)
        assert figures[positive]["positive_class"] == positive
        assert "pyramid=2" in figures[positive]["classifier"]
        assert "class_weight={'at': 3.0, 'gc': 1.0}" in figures[positive]["classifier"]
    assert figures["at"]["sensitivity"] == figures["gc"]["specificity"]
    assert figures["at"]["roc_auc"] == pytest.approx(figures["gc"]["roc_auc"])
    assert "one of two classes" in run("evaluate", one, two, "--positive", "x", code=5)[1]
    for wrong in ("at", "at=x", "at=-1", "=2"):
        assert "must name classes" in run("evaluate", one, "--class-weight", wrong, code=2)[1]


@pytest.mark.slow
def test_damaged_files_of_other_programs_are_refused_in_a_sentence(tmp_path):
    # readers of other libraries believe what a file says: some of these bytes ended the process
    import pandas as pd
    from scipy.io import savemat

    rng = np.random.default_rng(0)
    table = pd.DataFrame({"id": [1, 1, 2, 2], "time": [0, 1, 0, 1], "x": [1.0, 2, 3, 4]})
    table["label"] = list("aabb")
    table.to_feather(tmp_path / "whole.feather")
    savemat(tmp_path / "whole.mat", {"X": rng.random((4, 2, 9)), "y": [0, 1, 0, 1]})
    (tmp_path / "whole.sto").write_text(
        "# STOCKHOLM 1.0\na ACGT\nb ACGA\n#=GR a SS HH\n//\n", encoding="ascii"
    )
    with pytest.raises(ReadError):
        read(tmp_path / "whole.sto")
    for name, n_changes in [("whole.feather", 30), ("whole.mat", 6)]:
        content = (tmp_path / name).read_bytes()
        for _ in range(n_changes):
            damaged = bytearray(content)
            for place in rng.integers(len(content), size=4):
                damaged[place] ^= 1 << rng.integers(8)
            (tmp_path / f"damaged-{name}").write_bytes(damaged)
            with warnings.catch_warnings(), suppress(ReadError):
                warnings.simplefilter("ignore")
                read(tmp_path / f"damaged-{name}")


def test_a_table_of_labels_is_read_once(tmp_path, monkeypatch):
    X = [np.full((1, 3), float(i)) for i in range(20)]
    write_npz(tmp_path / "a.npz", X, names=[f"s{i}" for i in range(20)])
    (tmp_path / "labels.csv").write_text("name,label\n" + "".join(f"s{i},a\n" for i in range(12)))
    calls, real = [], labelling.rows_of
    monkeypatch.setattr(labelling, "rows_of", lambda *told: calls.append(told) or real(*told))
    data = read(tmp_path / "a.npz", labels=tmp_path / "labels.csv", skip_bad=True)
    assert (len(data), len(data.skipped), len(calls)) == (12, 8, 1)

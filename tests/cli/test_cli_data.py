"""The command line on real folders and tables: what new users have, and what they read."""

import json
import math
import re

import numpy as np
import pytest
import soundfile

import mvdfq
from commands import RATE, run, run_process, tone, write_sounds

pytestmark = pytest.mark.slow


def fasta(path, headers, residues="MVLSPADK"):
    path.write_text("".join(f">{header}\n{residues}\n" for header in headers))
    return path


# FASTA ------------------------------------------------------------------------------------------


def test_headers_that_repeat_are_labels(tmp_path):
    path = fasta(tmp_path / "a.fasta", ["1", "0"] * 20)
    out, err = run("inspect", path)
    assert "0               20" in out
    assert "skipped" not in err
    assert err.splitlines()[0] == "the headers repeat and are read as labels: '1' (20), '0' (20)"
    assert len(json.loads(run("inspect", path, "--format", "json")[0])["remarks"]) == 1


def test_labels_that_look_like_options_stay_as_they_are(tmp_path):
    path = fasta(tmp_path / "a.fasta", ["label=1", "label=0"] * 5)
    assert "'label=1' (5), 'label=0' (5)" in run("inspect", path)[1]


def test_names_of_files_that_look_like_options_stay_as_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "id=3.ts").write_text("")
    assert run("inspect", "id=3.ts", code=3)[1].startswith("error: id=3.ts: the file is empty")


def test_lists_of_problems_are_cut_off(tmp_path):
    path = fasta(tmp_path / "a.fasta", [f"x{i}" for i in range(40)])
    path.write_text(path.read_text() + ">empty\n" * 30)
    _, err = run("inspect", path)
    assert err.count("bad: ") == 10
    assert err.endswith("... and 20 more bad\n")
    _, err = run("gram", path, "-o", tmp_path / "K.npy", "--skip-bad", "-q")
    assert err.count("skipped: ") == 10
    assert err.endswith("... and 20 more skipped\n")


@pytest.mark.parametrize("command", [["inspect"], ["train", "--skip-bad", "-o", "a.mvdfq"]])
def test_fewer_than_half_of_the_records_kept_is_an_error(tmp_path, command):
    path = fasta(tmp_path / "a.fasta", [f"x{i}" for i in range(4)])
    path.write_text(path.read_text() + ">empty\n" * 5)
    _, err = run(*command, path, code=3, cwd=tmp_path)
    assert "only 4 of 9 sequences can be read" in err
    assert "hint: the first problem: " in err


def test_sound_gets_the_advice_of_its_preset(tmp_path):
    folder = tmp_path / "my sounds"
    folder.mkdir()
    write_sounds(folder, 2)
    advice = f"mvdfq train '{folder}' -o MODEL --preset music"
    assert run("inspect", folder)[1].count(advice) == 1
    assert advice in json.loads(run("inspect", folder, "--format", "json")[0])["remarks"][-1]
    assert "--preset music" not in run("inspect", folder, "-q")[1]
    assert "--preset" not in run("inspect", fasta(tmp_path / "a.fasta", ["1", "0"] * 5))[1]


# Tables -----------------------------------------------------------------------------------------


def spread(path, rows, mark=";"):
    """Write a table as a German spreadsheet program does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(mark.join(str(cell).replace(".", ",") for cell in row) for row in rows)
    path.write_text(text, encoding="cp1252")
    return path


def wave(i, n=40):
    """Two classes of waves: slow and fast."""
    return [round(math.sin(0.3 * (1 + i % 2) * t + i), 3) for t in range(n)]


@pytest.fixture
def long_table(tmp_path):
    rows = [
        (f"m{i}", f"2024-03-01 10:{i:02}:{t / 50:05.2f}", x, -x, "gehen" if i % 2 else "stehen")
        for i in range(12)
        for t, x in enumerate(wave(i))
    ]
    return spread(tmp_path / "lang.csv", [("Messung", "Zeitpunkt", "ax", "ay", "Tätigkeit"), *rows])


def test_a_long_table_without_a_renamed_column(long_table):
    _, err = run("inspect", long_table, code=3)
    assert "hint: --id NAME names the column that tells sequences apart" in err
    named = ["--id", "Messung", "--label", "Tätigkeit"]
    out, err = run("inspect", long_table, *named)
    assert "gehen            6" in out
    assert "id 'Messung'; label 'Tätigkeit'; time 'Zeitpunkt'; channels 'ax', 'ay'" in err
    assert "50 rows per second" in err
    facts = json.loads(run("inspect", long_table, "--id", 0, "--label", -1, "--channels", "2,3",
                           "--format", "json")[0])  # fmt: skip
    assert [facts["sequences"], facts["channels"], facts["classes"]["gehen"]] == [12, 2, 6]


def test_a_model_of_a_long_table_says_how_to_read_one_recording(long_table, tmp_path):
    model, one = tmp_path / "m.mvdfq", tmp_path / "one.csv"
    run("train", long_table, "--id", "Messung", "--label", "Tätigkeit", "--preset", "mvdfqm-sssk",
        "-C", 1, "-o", model, "-q")  # fmt: skip
    spread(one, [("Zeitpunkt", "ax", "ay"), *[(t * 0.02, x, x) for t, x in enumerate(wave(0))]])
    _, err = run("predict", model, one, code=3)
    assert "if the file holds one sequence, pass --as csv-folder" in err
    out, _ = run("predict", model, one, "--as", "csv-folder", "-q")
    assert "one.csv" in out


def test_hints_name_the_option(long_table, tmp_path):
    _, err = run("inspect", long_table, "--id", "wer", code=3)
    assert "hint: --id NAME names one of 'Messung', 'Zeitpunkt'" in err
    wide = spread(tmp_path / "w.csv", [("1", *wave(i), "2") for i in range(4)])
    _, err = run("inspect", wide, code=3)
    assert "hint: --label 0 is the first column, --label -1 the last, --label none means" in err
    _, err = run("inspect", wide, "--as", "wide-csv", "--resample", 5, code=5)
    assert err == "error: --resample has no meaning for the format wide-csv; remove it.\n"


def test_a_wide_table_with_decimal_commas(tmp_path):
    rows = [(f"p{i % 3}", *wave(i), "ab"[i % 2]) for i in range(12)]
    path = spread(tmp_path / "w.csv", [("Wer", *(f"v{t}" for t in range(40)), "Was"), *rows])
    named = ["--label", "Was", "--group", "Wer"]
    out, err = run("inspect", path, *named)
    assert "columns: label 'Was'; group 'Wer'; 1 channel of 40 frames" in err
    assert "p2              4" in out


@pytest.fixture
def folder(tmp_path):
    """A folder per class; each file has microseconds since 1970 and one of two rates."""
    for i in range(12):
        step = 10_000 if i % 3 == 0 else 20_000
        values = wave(i, 80)[::1] if step == 10_000 else wave(i, 80)[::2]
        rows = [(1_700_000_000_000_000 + step * t, x, -x) for t, x in enumerate(values)]
        spread(tmp_path / "data" / "ab"[i % 2] / f"{i}.csv", [("timestamp", "x", "y"), *rows])
    return tmp_path / "data"


def test_timestamps_and_mixed_rates(folder):
    out, err = run("inspect", folder)
    assert "channels             2" in out
    assert "columns: time 'timestamp'; channels 'x', 'y'" in err
    assert "rates differ: 50 to 100 rows per second; --resample 50 brings all sequences" in err
    out, err = run("inspect", folder, "--resample", 50)
    assert "frames per second    50" in out
    assert "longest              40" in out
    assert "differ" not in err


@pytest.mark.parametrize("command", ["train", "evaluate", "gram", "inspect"])
def test_every_command_that_reads_names_columns(command):
    out = run(command, "--help")[0]
    assert all(
        option in out for option in ("--id", "--time", "--group", "--channels", "--resample")
    )


# One file for a model of many -------------------------------------------------------------------


def test_a_model_of_a_folder_predicts_and_explains_one_file(folder, tmp_path):
    model = tmp_path / "m.mvdfq"
    run("train", folder, "-o", model, "-q", "--n-jobs", 1, "--resample", 50)
    files = sorted(folder.rglob("*.csv"))
    for one in (files[:1], files[:4]):
        out, err = run("predict", model, *one, "--format", "json", "--n-jobs", 1)
        assert [row["label"] for row in json.loads(out)] == [file.parent.name for file in one]
        assert "all sequences are resampled to 50 rows per second" in err
    out, _ = run("explain", model, files[0], "--n-jobs", 1)
    assert files[0].parent.name in out


@pytest.mark.parametrize(
    "text",
    ["x,y\n{}", "{}", "y,note,x\n{}", "frame;y;x;extra\n{}", "id,x,y\n{}", ",x,y\n{}"],
    ids=["named", "bare", "more columns", "other marks", "with an id", "with an index"],
)
def test_one_file_may_look_as_the_training_files_did(tmp_path, text):
    header = text.partition("\n")[0] if "\n" in text else "x,y"
    names = header.replace(";", ",").split(",")
    for i in range(8):
        rows = [{"x": x, "y": -x, "note": "dry", "frame": t, "extra": t * t % 3, "id": i, "": t}
                for t, x in enumerate(wave(i))]  # fmt: skip
        lines = [",".join(str(row[name]) for name in names) for row in rows]
        body = "\n".join(line.replace(",", ";") if ";" in header else line for line in lines)
        path = tmp_path / "data" / "ab"[i % 2] / f"{i}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(body))
    run("train", tmp_path / "data", "-o", tmp_path / "m.mvdfq", "-q", "--n-jobs", 1)
    out, _ = run("predict", tmp_path / "m.mvdfq", path, "--format", "json", "--n-jobs", 1)
    assert [row["label"] for row in json.loads(out)] == ["b"]


def test_a_model_remembers_the_columns_of_its_table(long_table, tmp_path):
    model = tmp_path / "m.mvdfq"
    run("train", long_table, "--id", "Messung", "--label", "Tätigkeit", "-o", model, "-q",
        "--n-jobs", 1)  # fmt: skip
    out, _ = run("predict", model, long_table, "--format", "json", "--n-jobs", 1)
    assert [row["label"] for row in json.loads(out)] == ["stehen", "gehen"] * 6
    lines = long_table.read_text(encoding="cp1252").splitlines()
    one = tmp_path / "one.csv"
    one.write_text("\n".join(line.rpartition(";")[0] for line in lines[:41]), encoding="cp1252")
    out, _ = run("predict", model, one, "--format", "json", "--n-jobs", 1)
    assert [row["label"] for row in json.loads(out)] == ["stehen"]


@pytest.mark.filterwarnings("default:X has 100 frames per second")
def test_another_sampling_rate_is_remarked(tmp_path):
    for i in range(8):
        rows = [(t / 50, x, -x) for t, x in enumerate(wave(i))]
        path = spread(tmp_path / "data" / "ab"[i % 2] / f"{i}.csv", [("time", "x", "y"), *rows])
    run("train", tmp_path / "data", "-o", tmp_path / "m.mvdfq", "-q", "--n-jobs", 1)
    new = spread(tmp_path / "new.csv", [("time", "x", "y"), *((t / 2, x, y) for t, x, y in rows)])
    _, err = run("predict", tmp_path / "m.mvdfq", new, "--n-jobs", 1)
    assert "X has 100 frames per second, the training data have 50; --resample 50" in err
    _, err = run("predict", tmp_path / "m.mvdfq", path, "--n-jobs", 1)
    assert "training data have" not in err


# Music ------------------------------------------------------------------------------------------


@pytest.fixture
def music(tmp_path):
    """Two classes of tones; beside them what albums come with."""
    rng = np.random.default_rng(0)
    for kind in ("tone", "noise"):
        (tmp_path / "music" / kind).mkdir(parents=True)
        for i in range(4):
            soundfile.write(tmp_path / "music" / kind / f"{i}.wav", tone(kind, rng), RATE)
        for name in ("cover.jpg", "a.cue", "booklet.pdf", "notes.txt"):
            (tmp_path / "music" / kind / name).write_bytes(b"\xff\xd8" if "j" in name else b"hello")
    return tmp_path / "music"


def test_covers_and_notes_are_passed_over_with_one_remark(music, tmp_path):
    model = tmp_path / "m.mvdfq"
    for command in (["inspect", music], ["train", music, "-o", model, "--n-jobs", 1]):
        _, err = run(*command)
        assert err.count("passed over 8 files that are not sound: noise/a.cue, ") == 1
        assert "bad" not in err
    out, _ = run("predict", model, music / "tone", "--format", "json", "--n-jobs", 1)
    assert [row["label"] for row in json.loads(out)] == ["tone"] * 4
    run("predict", model, music / "tone" / "notes.txt", code=3)


def test_a_damaged_sound_file_is_still_an_error(music, tmp_path):
    (music / "tone" / "9.mp3").write_bytes(b"hello")
    _, err = run("train", music, "-o", tmp_path / "m.mvdfq", code=3)
    assert "9.mp3: is damaged or not sound" in err
    _, err = run("train", music, "-o", tmp_path / "m.mvdfq", "--skip-bad", "--n-jobs", 1)
    assert err.count("skipped: ") == 1


def damage(folder):
    """Add sound files that are damaged in many ways, and the mp3 files that decoders talk about."""
    rng = np.random.default_rng(1)
    soundfile.write(folder / "whole.mp3", tone("tone", rng), RATE)
    content = (folder / "whole.mp3").read_bytes()
    (folder / "noise.mp3").write_bytes(content[:400] + rng.bytes(3000))
    (folder / "id3.mp3").write_bytes(b"ID3\x04" + bytes(6))
    (folder / "zeros.mp3").write_bytes(b"ID3\x03" + bytes(5000))
    half = len(content) // 2
    (folder / "mended.mp3").write_bytes(content[:half] + rng.bytes(2000) + content[half:])
    soundfile.write(folder / "silent.wav", np.zeros(RATE), RATE)
    soundfile.write(folder / "short.wav", np.ones(50), RATE)
    soundfile.write(folder / "hole.flac", tone("noise", rng), RATE)
    content = (folder / "hole.flac").read_bytes()
    (folder / "hole.flac").write_bytes(content[:4000] + b"x" * 20 + content[4020:])


def test_inspect_and_train_agree_on_bad_files(music, tmp_path):
    for i in range(10, 20):
        soundfile.write(music / "tone" / f"{i}.wav", tone("tone", np.random.default_rng(i)), RATE)
    damage(music / "tone")
    out, _ = run("inspect", music, "--deep", "--format", "json")
    facts = json.loads(out)
    named = [line.partition(": ")[0] for line in facts["bad"]]
    _, err = run_process("train", music, "-o", tmp_path / "m.mvdfq", "--skip-bad", "--n-jobs", 1,
                         "--kernel", "spectrum")  # fmt: skip
    skipped = [line for line in err.splitlines() if line.startswith("skipped: ")]
    assert [line.split(": ")[1] for line in skipped] == named
    assert [line.removeprefix("skipped: ") for line in skipped] == facts["bad"]
    assert facts["classes"] == {"noise": 4, "tone": facts["sequences"] - 4}
    quick = json.loads(run("inspect", music, "--format", "json")[0])["bad"]
    assert set(quick) <= set(facts["bad"])
    assert "only the headers of sound files are read" in run("inspect", music)[1]


def test_decoders_do_not_talk_and_do_not_tell_lies(music):
    damage(music / "tone")
    out, err = run_process("inspect", music, "--deep")
    assert not re.search("Xing|libmpg123|resync|Illegal", out + err)
    assert "does not exist" not in err
    assert "noise.mp3: is damaged or not sound" in err


def test_sound_has_no_columns(music, tmp_path):
    for command in (["inspect", music], ["train", music, "-o", tmp_path / "m.mvdfq"]):
        _, err = run(*command, "--id", "who", code=5)
        assert err == "error: --id has no meaning for the format audio; remove it.\n"


def test_inspect_of_a_folder_of_damaged_files_is_an_error(tmp_path):
    for i in range(3):
        (tmp_path / f"{i}.wav").write_bytes(b"hello")
    soundfile.write(tmp_path / "9.wav", tone("tone", np.random.default_rng(0)), RATE)
    _, err = run("inspect", tmp_path, code=3)
    assert "only 1 of 4 sequences can be read" in err
    assert err.count("bad: ") == 3
    assert "--skip-bad" not in err


def test_an_id_of_the_user_beats_the_format_of_the_training_data(tmp_path):
    rng = np.random.default_rng(0)
    for label, wide in [("calm", 1), ("loud", 9)]:
        for i in range(6):
            file = tmp_path / "tables" / label / f"{i}.csv"
            file.parent.mkdir(parents=True, exist_ok=True)
            rows = [f"{t},{wide * rng.random():.3f}" for t in range(40)]
            file.write_text("\n".join(["time,level", *rows]) + "\n")
    rows = [f"m{d},{t},{9 * rng.random():.3f}" for d in range(3) for t in range(40)]
    long = tmp_path / "long.csv"
    long.write_text("\n".join(["machine,time,level", *rows]) + "\n")
    run("train", tmp_path / "tables", "-o", tmp_path / "m.mvdfq", "-q")
    out, _ = run("predict", tmp_path / "m.mvdfq", long, "--id", "machine", "--format", "json")
    assert [row["name"] for row in json.loads(out)] == ["m0", "m1", "m2"]


def test_people_see_the_unit_of_lengths_and_that_labels_are_missing(tmp_path):
    path = tmp_path / "a.fasta"
    path.write_text(f">a\n{'ACGT' * 5000}\n>b\nACGTA\n")
    out, err = run("inspect", path)
    assert re.search("^longest +20000 letters$", out, re.MULTILINE)
    assert "the data have no labels, which mvdfq train needs: pass one file per class" in err
    assert json.loads(run("inspect", path, "--format", "json")[0])["longest"] == 20000


def test_constant_channels_keep_their_names(tmp_path):
    rows = [
        f"{i},{t},{'ab'[i % 2]},0.1,7,red,{(i + 3 * t) % 5}" for i in range(6) for t in range(8)
    ]
    table = tmp_path / "table.csv"
    table.write_text('id,time,label,"a, b",none,colour,x\n' + "\n".join(rows) + "\n")
    facts = json.loads(run("inspect", table, "--format", "json")[0])
    assert facts["constant_channels"] == ["a, b", "none", "colour"]
    assert '"a, b", "none", colour' in run("inspect", table)[0]


def test_a_class_without_frames_has_no_share_of_idle_frames(tmp_path):
    still = np.hstack([np.random.default_rng(0).normal(size=(2, 10)), np.ones((2, 20))])
    X = [still, still + 0.5, np.empty((2, 0)), np.empty((2, 0))]
    mvdfq.io.write_npz(tmp_path / "x.npz", X, ["a", "a", "b", "b"])
    rows = run("inspect", tmp_path / "x.npz")[0].splitlines()[-3:]
    assert rows[0].split() == ["classes", "sequences", "frames", "without", "change", "%"]
    assert [row.split() for row in rows[1:]] == [["a", "2", "66.67"], ["b", "2"]]


# Names ------------------------------------------------------------------------------------------


def test_a_name_that_is_too_long_is_a_path_that_cannot_be_read_or_written(tmp_path):
    long = "a" * 300
    table = tmp_path / "a.csv"
    table.write_text("id,x,label\n" + "".join(f"{i // 3},{i},{i // 6}\n" for i in range(12)))
    for command in (
        ["inspect", long],
        ["train", long, "-o", "m.mvdfq"],
        ["gram", f"{long}/x", "-o", "K.npy"],
    ):
        _, err = run(*command, code=3, cwd=tmp_path)
        assert "file name too long" in err.lower()
        assert err.count("\n") == 2
    for command in (["train", table, "-o", long], ["evaluate", table, "--report", f"{long}.html"]):
        _, err = run(*command, code=6, cwd=tmp_path)
        assert "file name too long\nhint: name another output" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--n-jobs", "0"], "--n-jobs must be a number of threads"),
        (["--memory-limit", "3X"], "--memory-limit must be bytes or text"),
        (["--windows", "0"], "--windows must be at least one frame"),
        (["-C", "0"], "-C must be a number > 0"),
        (["--class-weight", "q=1"], "--class-weight names 'q'; the classes are"),
    ],
)
def test_errors_name_options_not_parameters(tmp_path, options, message):
    X, y = mvdfq.make_autoregressive(8, 1, 20, random_state=0)
    mvdfq.io.write_npz(tmp_path / "d.npz", X, y)
    _, err = run("train", tmp_path / "d.npz", "-o", tmp_path / "m", "-q", *options, code=5)
    assert message in err

"""The command line as users type it.

Most commands run in this process, which saves the two seconds that a new process imports for.
What only a process shows (exit codes, warnings, signals, a terminal) is tested in a process.
"""

import csv
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import soundfile

import mvdfq
from commands import RATE, in_terminal, run, run_process, tone
from mvdfq.classifier.registry import NAMED
from mvdfq.cli.errors import described
from mvdfq.io import write_npz, write_ts

COMMANDS = ["demo", "inspect", "train", "predict", "evaluate", "explain", "gram", "reproduce"]
COMMANDS += ["scan", "cache", "doctor", "version"]


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """Three classes of eight files each, by two speakers, in several containers."""
    folder, rng = tmp_path_factory.mktemp("sounds"), np.random.default_rng(0)
    endings = ["wav", "flac", "ogg", "mp3", "au", "wav", "wav", "flac"]
    for kind in ("tone", "noise", "chirp"):
        (folder / kind).mkdir()
        for i, ending in enumerate(endings):
            path = folder / kind / f"{kind}_{'anna' if i % 2 else 'ben'}_{i}.{ending}"
            soundfile.write(path, tone(kind, rng), RATE)
    return folder


@pytest.fixture(scope="module")
def model(recordings, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "sounds.mvdfq"
    out, _ = run("train", recordings, "-o", path, "--format", "json", "--n-jobs", 1)
    assert json.loads(out)["sequences"] == 24
    return path


@pytest.fixture(scope="module")
def series(tmp_path_factory):
    """The same sequences as .ts and .npz."""
    folder = tmp_path_factory.mktemp("series")
    X, y = mvdfq.make_autoregressive(24, 2, (30, 50), random_state=0)
    y = np.array([f"class {label}" for label in y])
    write_ts(folder / "made.ts", X, y)
    write_npz(folder / "made.npz", X, y, groups=np.arange(24) % 3)
    return folder


# help -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(command):
    out, _ = run(command, "--help")
    assert f"Example: mvdfq {command}" in re.sub(r"\s+", " ", out)


def test_help_lists_all_commands_and_exit_codes():
    out, _ = run("--help")
    assert all(f" {command} " in out for command in COMMANDS)
    assert "130 interrupted" in re.sub(r"\s+", " ", out)


def test_help_answers_at_once():
    # nothing heavy is imported for it
    code = "import sys, mvdfq.cli.app; print([m for m in ('numpy', 'sklearn') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"
    times = []
    for _ in range(3):
        before = os.times()
        run_process("--help")
        # processor time: the clock would measure what else the machine does
        times.append(sum(os.times()[2:4]) - sum(before[2:4]))
    assert min(times) < 1  # a third of that on a quiet machine


def test_versions_and_errors_do_not_wait_for_scikit_learn():
    code = (
        "import sys; from mvdfq.cli.app import app\n"
        "for arguments in (['version'], ['inspect', 'nowhere']):\n"
        "    app(arguments, standalone_mode=False)\n"
        "    assert 'sklearn' not in sys.modules, arguments"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "nowhere: no such file or folder" in done.stderr


@pytest.mark.parametrize("option", ["as", "kernel", "symbols", "frames"])
def test_help_lists_the_values(option):
    names = mvdfq.io.FORMATS if option == "as" else NAMED[option]
    listed = re.findall(r"[a-z0-9-]+", run("train", "--help")[0])
    assert sorted(set(names) - set(listed)) == []


def test_versions():
    assert run_process("version")[0] == run("--version")[0] == f"mvdfq {mvdfq.__version__}\n"


# audio ----------------------------------------------------------------------------------------


def test_inspect_counts_what_is_there(recordings):
    out, _ = run("inspect", recordings, "--group-pattern", "_(.+)_", "--format", "json")
    facts = json.loads(out)
    assert (facts["format"], facts["sequences"]) == ("audio", 24)
    assert facts["classes"] == {"chirp": 8, "noise": 8, "tone": 8}
    assert facts["groups"] == {"anna": 12, "ben": 12}
    assert run("inspect", recordings)[0].count("audio") == 1


def test_inspect_finds_duplicates_and_bad_files(recordings, tmp_path):
    for kind in ("a", "b"):
        (tmp_path / kind).mkdir()
        first = next((recordings / "tone").glob("*.wav"))
        (tmp_path / kind / "same.wav").write_bytes(first.read_bytes())
    (tmp_path / "a" / "broken.wav").write_bytes(b"RIFF....WAVEnothing")
    facts = json.loads(run("inspect", tmp_path, "--format", "json")[0])
    assert len(facts["duplicates"]) == 1
    assert "same.wav" in facts["duplicates"][0]
    assert "broken.wav" in facts["bad"][0]


def test_train_and_predict(recordings, model):
    files = sorted((recordings / "noise").iterdir())
    out, _ = run("predict", model, *files, "--format", "json", "--n-jobs", 1)
    rows = json.loads(out)
    assert [row["label"] for row in rows] == ["noise"] * 8
    assert all(0 <= row["probability"] <= 1 for row in rows)
    out, _ = run("predict", model, recordings, "--format", "csv", "--probabilities", "--n-jobs", 1)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 24
    chances = {"p(chirp)", "p(noise)", "p(tone)"}
    assert set(rows[0]) == {"name", "label", "probability", "decision_value", "true", *chances}
    out, _ = run("predict", model, files[0], "--n-jobs", 1)
    assert "noise" in out


def test_the_model_knows_how_sound_became_numbers(recordings, tmp_path):
    path = tmp_path / "m.mvdfq"
    run("train", recordings, "-o", path, "--recipe", "gtzan", "--preset", "mvdfqm-spectrum-alt",
        "-C", "10", "-q", "--n-jobs", 1)  # fmt: skip
    clf = mvdfq.load(path)
    assert clf.source_["recipe"]["sr"] == 22050
    out, _ = run("predict", path, recordings / "tone", "--format", "json", "--n-jobs", 1)
    assert {row["label"] for row in json.loads(out)} == {"tone"}


def test_evaluate_by_speaker(recordings):
    out, err = run("evaluate", recordings, "--protocol", "group", "--group-pattern", "_(.+)_",
                   "--format", "json", "--n-jobs", 1, "--progress", "none")  # fmt: skip
    result = json.loads(out)
    assert [fold["name"] for fold in result["folds"]] == ["anna", "ben"]
    assert result["accuracy"] > 0.9
    assert err == ""


def test_evaluate_writes_a_report_with_sound(recordings, tmp_path):
    page = tmp_path / "report.html"
    out, err = run("evaluate", recordings, "--protocol", "2-fold", "--format", "json",
                   "--report", page, "--details", 2, "--n-jobs", 1)  # fmt: skip
    numbers = json.loads(page.with_suffix(".json").read_text())
    assert numbers["verdict"]["accuracy"] == pytest.approx(json.loads(out)["accuracy"], rel=1e-4)
    assert len(numbers["details"]) == 2
    assert f"report: {page}" in err
    assert "data:audio/" in page.read_text(encoding="utf-8")
    assert len(page.with_suffix(".csv").read_text().splitlines()) == 1 + numbers["verdict"]["n"]
    run("evaluate", recordings, "--protocol", "2-fold", "--report", page, "--no-audio", "-q",
        "--details", 1, "--n-jobs", 1)  # fmt: skip
    assert "data:audio/" not in page.read_text(encoding="utf-8")


def test_a_report_does_not_replace_the_data(tmp_path):
    data = tmp_path / "motion.csv"
    data.write_text("id,time,x,label\n0,0,1.5,walking\n")
    _, error = run("evaluate", data, "--report", tmp_path / "motion.html", code=6)
    assert "motion.csv, which is not part of a report" in error
    assert "motion-report.html" in error
    assert data.read_text().startswith("id,time,x,label")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--report", "page.txt"], "page.txt must end in .html or .htm."),
        (["--report", "nowhere/page.html"], "nowhere is not a folder"),
        (["--report", "p.html", "--details", "0"], "--details must be a whole number above 0"),
        (["--report", "p.html", "--protocol", "homology", "--splits", "x"], "does not work with"),
        (["--remove-channels"], "--remove-channels needs --report."),
        (["--no-audio"], "--no-audio needs --report."),
        (["--details", "9"], "--details needs --report."),
        (["--seed", "-1"], "--seed"),
    ],
)
def test_wrong_options_of_a_report_are_named_before_data_are_read(options, message):
    _, err = run("evaluate", "no-such-data", *options, code=6 if "nowhere" in message else 2)
    assert message in err


def test_explain_writes_a_page(recordings, model, tmp_path):
    file = next((recordings / "chirp").glob("*.wav"))
    _, err = run("explain", model, file, "-o", tmp_path / "why.html", "--n-jobs", 1)
    text = (tmp_path / "why.html").read_text(encoding="utf-8")
    assert file.name in text
    assert "data:audio/" in text
    assert f"page: {tmp_path / 'why.html'}" in err


def test_explain_shows_words_neighbours_and_a_picture(recordings, model, tmp_path):
    file = next((recordings / "chirp").glob("*.wav"))
    out, _ = run("explain", model, file, "--top", 3, "-o", tmp_path / "why.png", "--n-jobs", 1)
    assert "chirp" in out
    assert out.count(" s") >= 3
    assert (tmp_path / "why.png").stat().st_size > 10_000
    out, _ = run("explain", model, file, "--format", "json", "-o", tmp_path / "why.json")
    shown, written = json.loads(out), json.loads((tmp_path / "why.json").read_text())
    assert shown["predicted"] == written["predicted"] == "chirp"
    assert "chirp" in shown["neighbours"][0]["name"]
    assert all(file.name not in one["name"] for one in shown["neighbours"])


def test_bad_files_are_named_or_skipped(recordings, model, tmp_path):
    for path in (recordings / "tone").glob("*.wav"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "broken.wav").write_bytes(b"RIFF\x00\x00\x00\x00WAVEjunk")
    _, err = run("predict", model, tmp_path, "--n-jobs", 1, code=3)
    assert err.startswith("error: ")
    assert "broken.wav" in err
    assert "hint: " in err
    out, err = run("predict", model, tmp_path, "--skip-bad", "--format", "json", "--n-jobs", 1)
    assert len(json.loads(out)) == 3
    assert "skipped" in err
    assert "broken.wav" in err


# series and strings ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["made.ts", "made.npz"])
def test_series_are_recognised(series, name, tmp_path):
    plain = tmp_path / "without an ending"
    plain.write_bytes((series / name).read_bytes())
    for path in (series / name, plain):
        facts = json.loads(run("inspect", path, "--format", "json")[0])
        assert (facts["sequences"], facts["channels"]) == (24, 2)
        assert len(facts["classes"]) == 2


@pytest.mark.filterwarnings("ignore:3 of 3 groups are both in the training part")
def test_series_go_all_the_way(series, tmp_path):
    model = tmp_path / "m.mvdfq"
    run("train", series / "made.ts", "-o", model, "-q", "--n-jobs", 1)
    out, _ = run("predict", model, series / "made.ts", "--format", "json")
    assert {row["label"] for row in json.loads(out)} == {"class 0", "class 1"}
    out, _ = run("evaluate", series / "made.npz", "--protocol", "group", "--format", "csv")
    assert len(out.splitlines()) == 25  # one line per sequence
    out, _ = run("evaluate", series / "made.npz", "--protocol", "3-fold", "--seeds", 2, "-q")
    assert "95 % interval" in out
    assert "6 folds, 48 predictions, seeds 0, 1\n" in out


def test_fasta_with_labels_in_the_header(tmp_path):
    rng = np.random.default_rng(0)
    letters = {"alpha": "AAELK", "beta": "VVTIS"}
    lines = [
        f">d{i} {kind}\n{''.join(rng.choice(list(letters[kind]), 40))}\n"
        for i in range(20)
        for kind in [("alpha", "beta")[i % 2]]
    ]
    path = tmp_path / "some.fa"
    path.write_text("".join(lines))
    run("train", path, "--label", 1, "-o", tmp_path / "m.mvdfq", "-q")
    out, _ = run("predict", tmp_path / "m.mvdfq", path, "--format", "json")
    assert [row["label"] for row in json.loads(out)] == ["alpha", "beta"] * 10
    splits = tmp_path / "splits.tsv"
    roles = [("pos" if i % 2 else "neg") + ("-train" if i < 12 else "-test") for i in range(20)]
    rows = [f"fam\t{role}\td{i}\n" for i, role in enumerate(roles)]
    splits.write_text("family\trole\tid\n" + "".join(rows))
    out, _ = run("evaluate", path, "--protocol", "homology", "--splits", splits, "--balanced",
                 "--format", "json")  # fmt: skip
    assert json.loads(out)["mean"]["roc50"] > 0.9


def test_classes_of_different_letters_are_told(tmp_path):
    for name, text in (("dna", "ACGTA"), ("rna", "ACGUA"), ("short", "ACA"), ("protein", "MKWVE")):
        records = (f">{name}{i}\n{text * (i + 2)}\n" for i in range(8))
        (tmp_path / f"{name}.fa").write_text("".join(records))
    for other, letters in (("rna", "RNA"), ("protein", "other letters")):
        files = [tmp_path / "dna.fa", tmp_path / f"{other}.fa"]
        told = f"classes differ in their letters: DNA in dna; {letters} in {other};"
        assert told in run("inspect", *files)[1]
        assert told in run("train", *files, "-o", tmp_path / "m.mvdfq")[1]
    assert "differ" not in run("inspect", tmp_path / "dna.fa", tmp_path / "short.fa")[1]
    texts = [(tmp_path / f"{name}.fa").read_text() for name in ("dna", "rna")]
    (tmp_path / "both.fa").write_text("".join(texts))
    assert "the letters are DNA and RNA" in run("inspect", tmp_path / "both.fa")[1]


def test_both_strands_are_offered_for_dna_that_is_read_on_one(tmp_path):
    path, model = tmp_path / "reads.fa", tmp_path / "m.mvdfq"
    path.write_text("".join(f">r{i} {'ab'[i % 2]}\n{'ACGTNacgt' * (i + 2)}\n" for i in range(8)))
    _, told = run("inspect", path, "--label", 1)
    assert "--strands both reads the other strand, too" in told
    _, told = run("train", path, "--label", 1, "-o", model)
    assert "--strands both reads the other strand, too" in told
    for arguments in (["--strands", "both"], ["-q"]):
        _, told = run("train", path, "--label", 1, "-o", model, *arguments)
        assert "other strand" not in told
    path.write_text(path.read_text().replace("T", "U").replace("t", "u"))  # RNA has one strand
    assert "other strand" not in run("inspect", path, "--label", 1)[1]


def test_both_strands_of_dna(tmp_path):
    rng = np.random.default_rng(0)
    lines = []
    for i in range(24):
        motif = ("GATTACA", "CCCTGAA")[i % 2]
        strand = "".join(rng.choice(list("ACGT"), 30)) + motif * 3
        if i % 4 > 1:  # half of them are read from the other strand
            strand = mvdfq.io.reverse_complement(strand)
        lines.append(f">d{i} {'ab'[i % 2]}\n{strand}\n")
    path = tmp_path / "reads.fa"
    path.write_text("".join(lines))
    run("train", path, "--label", 1, "--strands", "both", "-o", tmp_path / "m.mvdfq", "-q",
        "--kernel", "spectrum")  # fmt: skip
    out, _ = run("predict", tmp_path / "m.mvdfq", path, "--format", "json")
    rows = json.loads(out)
    assert [row["label"] for row in rows] == ["a", "b"] * 12
    other = tmp_path / "other.fa"
    data = mvdfq.io.read(path)
    turned = [mvdfq.io.reverse_complement(x) for x in data.X]
    other.write_text("".join(f">{n}\n{x}\n" for n, x in zip(data.names, turned, strict=True)))
    out, _ = run("predict", tmp_path / "m.mvdfq", other, "--format", "json")
    # the strand that was read makes no difference, but for words across the halves of the pyramid
    assert [row["label"] for row in json.loads(out)] == [row["label"] for row in rows]


def test_japanese_vowels_as_aeon_has_them():
    folder = Path(pytest.importorskip("aeon").__file__).parent / "datasets/data/JapaneseVowels"
    out, _ = run("evaluate", folder, "--format", "json", "-q")
    result = json.loads(out)
    assert result["protocol"] == "split"
    assert result["folds"][0]["n"] == 370
    assert result["accuracy"] > 0.95


def test_more_rows_of_sound(recordings, tmp_path):
    model = tmp_path / "m.mvdfq"
    run("train", recordings, "-o", model, "--recipe", "gtzan+fft64", "--symbols", "direct",
        "--kernel", "spectrum", "-q", "--n-jobs", 1)  # fmt: skip
    assert mvdfq.load(model).n_channels_in_ == 77


# the matrix -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_gram_is_the_kernel_and_goes_on_where_it_stopped(series, tmp_path, dtype, monkeypatch):
    from mvdfq.classifier.similarity import fitted_kernel
    from mvdfq.gram.checkpoint import store_gram

    monkeypatch.setattr("mvdfq.gram.plan.TILE", 7)
    output = tmp_path / "K.npy"
    data = mvdfq.io.read(series / "made.ts")
    kernel = fitted_kernel(mvdfq.SequenceClassifier("mvdfqm-spectrum-alt"), data.X)
    expected = kernel.compare(kernel.train_, None)[0].astype(dtype)

    def stop_late(done, total):
        if done > total / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store_gram(kernel, output, dtype, stop_late)
    arguments = ["-o", output, "--preset", "mvdfqm-spectrum-alt", "--dtype", dtype]
    out, err = run("gram", series / "made.ts", *arguments, "--format", "json")
    assert re.search(r"[1-9]\d* of 10 tiles come from an earlier run", err)
    assert json.loads(out)["dtype"] == dtype
    K = np.load(output)
    assert K.dtype == dtype
    np.testing.assert_array_equal(K, expected)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["K.names.txt", "K.npy"]


def test_gram_refuses_a_second_run_on_one_output(series, tmp_path):
    from mvdfq._utils.files import locked

    with locked(tmp_path / "K.npy"):
        _, err = run("gram", series / "made.ts", "-o", tmp_path / "K.npy", "-q", code=6)
    assert "K.npy is being written by another run" in err


def test_gram_takes_no_weights_of_classes(series, tmp_path):
    _, err = run("gram", series / "made.npz", "-o", tmp_path / "K.npy", "--class-weight", "a=3",
                 code=2)  # fmt: skip
    assert "--class-weight" in err


@pytest.mark.parametrize("address", ["nonsense", "", "foo://x:1"])
def test_a_wrong_scheduler_is_one_sentence(series, tmp_path, address):
    _, err = run_process("train", series / "made.npz", "-o", tmp_path / "m", "-q",
                         "--scheduler", address, code=2)  # fmt: skip
    assert err.splitlines() == [
        f"error: --scheduler must be the address of a Dask scheduler, got {address!r}.",
        "hint: for example --scheduler tcp://10.0.0.1:8786",
    ]


def test_gram_on_a_full_disk(series, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mvdfq.gram.checkpoint.os.posix_fallocate", full)
    _, err = run("gram", series / "made.ts", "-o", tmp_path / "K.npy", "-q", code=6)
    assert re.search(r"K\.npy: there is no room for a matrix of \d+ bytes \(No space left", err)
    assert list(tmp_path.iterdir()) == []


# errors ---------------------------------------------------------------------------------------


def test_wrong_usage_is_2(recordings):
    run_process("train", recordings, code=2)
    run("nonsense", code=2)
    run("train", recordings, "-o", "m.mvdfq", "-C", "much", code=2)
    run("gram", recordings, "-o", "K.npy", "--dtype", "int8", code=2)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["inspect", "nowhere"], 3, "nowhere: no such file"),
        (["predict", "nowhere.mvdfq", "x.wav"], 4, "nowhere.mvdfq: no such file"),
        (["train", "{series}/made.ts", "-o", "no/folder/m.mvdfq"], 6, "is not a folder"),
        (["train", "{series}/made.ts", "-o", "."], 6, "is not an ordinary file"),
        (["train", "{series}/made.ts", "-o", "{series}/made.ts"], 6, "holds the data"),
        (["train", "{series}/made.ts", "-o", "m", "--preset", "best"], 2, "'best' is not known"),
        (["train", "{series}/made.ts", "-o", "m", "--label", "kind"], 5, "label has no meaning"),
        (["train", "{sound}", "-o", "m", "--strands", "both"], 5, "strands has no meaning"),
        (["evaluate", "{series}/made.ts", "--protocol", "best"], 2, "--protocol best is not known"),
        (["evaluate", "{series}/made.ts", "--group-pattern", "("], 5, "not a regular expression"),
        (["evaluate", "{series}/made.ts", "--group-pattern", "(zzz)"], 3, "finds no group"),
        (["evaluate", "{series}/made.ts", "--protocol", "99-fold"], 5, "99 members of every class"),
        (["evaluate", "{series}/made.ts", "--protocol", "group"], 5, "needs groups"),
        (["evaluate", "{series}/made.ts", "--protocol", "group"], 5, "hint: --group names the col"),
        (["evaluate", "{series}/made.ts", "--protocol", "homology"], 2, "needs --splits"),
        (
            ["evaluate", "{series}/made.ts", "--balanced", "--class-weight", "a=2"],
            2,
            "hint: leave out one of them",
        ),
        (["evaluate", "{series}/made.ts", "--positive", "7"], 5, "--positive must be one of two"),
        (["inspect", "{series}/made.ts", "--as", "smoke"], 5, "--as must be one of audio"),
        (["predict", "{series}/made.ts", "{series}/made.ts"], 4, "not a model file"),
        (["explain", "{model}", "{sound}", "--which", "3"], 5, "must be a number from 1 to 1"),
        (
            ["explain", "{model}", "{sound}", "-o", "x.txt"],
            2,
            "must end in .html, .json",
        ),
        (["gram", "{series}/made.ts", "-o", "K.txt"], 2, "must end in .npy"),
        (["predict", "{model}", "{series}/made.ts"], 5, "holds numbers"),
        (["reproduce", "nothing"], 2, "TABLE='nothing' is not known"),
        (["reproduce", "genre", "--data", ".", "--reading", "x"], 2, "no reading 'x'"),
        (["reproduce", "genre", "--data", ".", "-o", "no/folder/out"], 6, "is not a folder"),
        (["reproduce", "genre", "--data", "nowhere"], 3, "nowhere"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_errors_are_one_sentence_and_a_code(
    arguments, code, says, series, model, recordings, tmp_path
):
    sound = next((recordings / "tone").glob("*.wav"))
    places = {"series": series, "model": model, "sound": sound}
    arguments = [argument.format(**places) for argument in arguments]
    out, err = run(*arguments, code=code, cwd=tmp_path)
    assert out == ""
    assert err.startswith("error: ")
    assert says in err
    assert len(err.splitlines()) <= 2


def test_data_without_labels_are_refused(recordings, tmp_path):
    _, err = run("train", recordings / "tone", "-o", tmp_path / "m.mvdfq", code=5)
    assert "has no labels" in err
    assert "hint: make one folder per class" in err


def test_who_has_read_enough_may_leave(series, tmp_path):
    model = tmp_path / "m.mvdfq"
    run("train", series / "made.ts", "-o", model, "-q")
    command = f"{sys.executable} -m mvdfq predict {model} {series / 'made.ts'} --format csv -q"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -1"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "name,label,probability,decision_value,true\n"


CLOSED = [">&-", "2>&-", ">&- 2>&-", "<&-"]


# One command that imports the whole library: closed streams are met before and after imports.
@pytest.mark.parametrize(
    ("command", "closed"),
    [*product(["--version", "version"], CLOSED), ("doctor", CLOSED[2]), ("doctor", CLOSED[3])],
)
def test_a_closed_stream_leads_nowhere(command, closed):
    program = f"{sys.executable} -m mvdfq {command} {closed}"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert bool(done.stdout) == (closed in ("2>&-", "<&-"))


def test_training_says_that_it_replaces_a_model(series, tmp_path):
    model, data = tmp_path / "m.mvdfq", series / "made.ts"
    assert "replaced" not in run("train", data, "-o", model)[1]
    _, err = run("train", data, "-o", model)
    assert f"{model} exists and will be replaced." in err
    assert run("train", data, "-o", model, "-q")[1] == ""


def test_training_replaces_no_other_file(series, tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("a thought")
    _, err = run("train", series / "made.ts", "-o", notes, code=6)
    assert "notes.txt exists and is not a model file" in err
    assert notes.read_text() == "a thought"


@pytest.mark.parametrize("command", ["inspect", "doctor"])
def test_facts_as_a_table_for_machines(command, series):
    data = [series / "made.ts"] if command == "inspect" else []
    rows = list(csv.DictReader(io.StringIO(run(command, *data, "--format", "csv")[0])))
    assert set(rows[0]) == {"fact", "value"}


def test_data_of_another_kind_than_the_model(recordings, model, series, tmp_path):
    fasta, numbers = tmp_path / "dna.fasta", tmp_path / "numbers.mvdfq"
    fasta.write_text(
        "".join(f">s{i} {'ab'[i % 2]}\n{'AC' * 9}{'GT'[i % 2] * 9}\n" for i in range(8))
    )
    run("train", fasta, "--label", 1, "-o", tmp_path / "letters.mvdfq", "-q")
    run("train", series / "made.npz", "-o", numbers, "-q", "--preset", "mvdfq-sssk")
    sound, table = recordings / "tone", tmp_path / "tables"
    table.mkdir()
    (table / "one.csv").write_text("x,y\n1,2\n2,3\n")
    for trained, wanted, path, found in [
        (model, "sound", fasta, "letters"),
        (model, "sound", table, "numbers"),
        (numbers, "numbers", fasta, "letters"),
        (numbers, "numbers", sound, "sound"),
        (tmp_path / "letters.mvdfq", "letters", sound, "sound"),
        (tmp_path / "letters.mvdfq", "letters", series / "made.npz", "numbers"),
    ]:
        _, err = run("predict", trained, path, "-q", code=5)
        says = f"error: the model was trained on {wanted}, but {path} holds {found}."
        assert says in err.splitlines()


def test_bad_files_read_by_several_processes(recordings, model, tmp_path):
    for path in (recordings / "tone").glob("*.wav"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "a broken.wav").write_bytes(b"RIFF\x00\x00\x00\x00WAVEjunk")
    _, err = run("predict", model, tmp_path, "--n-jobs", 2, code=3)
    assert len(err.splitlines()) == 2


def test_hints_come_from_the_error_and_not_from_its_punctuation():
    shown = described(ValueError("a is wrong; b would do"))
    assert (shown.message, shown.hint) == ("a is wrong; b would do", "")
    shown = described(mvdfq.io.ReadError("x.ts", "line 1: this; that", "mend it"))
    assert (shown.message, shown.hint) == ("x.ts: line 1: this; that", "mend it")


def test_faults_of_the_program_are_not_hidden():
    assert described(ZeroDivisionError("fault")) is None
    assert described(KeyboardInterrupt()).code == 130


def test_names_cannot_paint_the_terminal(recordings, model, tmp_path):
    evil = tmp_path / "a\x1b[31mred[bold].wav"
    evil.write_bytes(next((recordings / "tone").glob("*.wav")).read_bytes())
    out, _ = run("predict", model, evil.name, "--n-jobs", 1, cwd=tmp_path)
    assert "\x1b" not in out
    assert "red[bold].wav" in out
    for output in ("json", "csv"):
        out, _ = run("predict", model, evil.name, "--n-jobs", 1, "--format", output, cwd=tmp_path)
        assert "\x1b" not in out
    out, _ = run("explain", model, evil.name, "--n-jobs", 1, cwd=tmp_path)
    assert "\x1b" not in out
    evil.write_bytes(b"")
    _, err = run("predict", model, evil.name, "--n-jobs", 1, code=3, cwd=tmp_path)
    assert "\x1b" not in err


# a terminal -----------------------------------------------------------------------------------


def test_a_terminal_shows_progress_and_colours(recordings, tmp_path):
    code, drawn = in_terminal("train", recordings, "-o", tmp_path / "m.mvdfq", "--n-jobs", 1)
    assert code == 0
    assert "reading" in drawn
    assert "machines" in drawn
    assert "inner accuracy" in drawn
    assert (tmp_path / "m.mvdfq").exists()


def test_ctrl_c_ends_it_and_writes_nothing(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "large.npz", X=rng.normal(size=(400, 3, 3000)), y=np.arange(400) % 4)
    code, drawn = in_terminal(
        "train", tmp_path / "large.npz", "-o", tmp_path / "m.mvdfq", interrupt_at=b"kernel"
    )
    assert code == 130
    assert "interrupted" in drawn
    assert "Traceback" not in drawn
    assert not (tmp_path / "m.mvdfq").exists()


def test_ctrl_c_while_sound_is_decoded(tmp_path):
    rng = np.random.default_rng(0)
    for i in range(40):
        (tmp_path / "data" / "ab"[i % 2]).mkdir(parents=True, exist_ok=True)
        path = tmp_path / "data" / "ab"[i % 2] / f"{i}.wav"
        soundfile.write(path, rng.normal(size=200_000) / 9, 16_000)
    arguments = ["train", tmp_path / "data", "-o", tmp_path / "m.mvdfq", "--n-jobs", 2]
    code, drawn = in_terminal(*arguments, "--no-cache", interrupt_at=b"reading")
    assert code == 130
    assert "interrupted" in drawn
    assert "Traceback" not in drawn  # neither ours nor that of a process that decodes
    assert "KeyboardInterrupt" not in drawn


def test_an_interrupt_that_a_library_swallows_still_ends_the_command(monkeypatch, tmp_path):
    def swallow(*_, **__):
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        except KeyboardInterrupt:
            raise AttributeError("a library failed later") from None

    monkeypatch.setattr("mvdfq.io.recognise", swallow)
    _, err = run("inspect", tmp_path, code=130)
    assert err == "error: interrupted.\n"


@pytest.mark.parametrize(
    ("protocol", "says"),
    [
        ("1-fold", "--protocol 1-fold must have at least two folds, such as '5-fold'."),
        ("99-fold", "needs 99 members of every class, but class class 0 has 12; use '12-fold'."),
    ],
)
def test_folds_that_cannot_be_cut_are_one_sentence(series, protocol, says):
    _, err = run("evaluate", series / "made.ts", "--protocol", protocol, code=5)
    assert err.startswith("error: --protocol ")
    assert says in err
    assert len(err.splitlines()) == 1


# real recordings ------------------------------------------------------------------------------


# Made data go the same ways above, and test_audio.py and test_proteins.py classify the real data.
@pytest.mark.long
@pytest.mark.data
def test_spoken_digits(data_folder, tmp_path):
    model = tmp_path / "digits.mvdfq"
    run("train", data_folder / "fsdd_wav", "-o", model, "-q")
    files = sorted((data_folder / "fsdd_wav" / "7").iterdir())[:10]
    rows = json.loads(run("predict", model, *files, "--format", "json")[0])
    assert [row["label"] for row in rows] == ["7"] * 10
    out, _ = run("evaluate", data_folder / "fsdd_wav", "--protocol", "group", "--preset", "fast",
                 "--group-pattern", r"_(\w+)_", "--format", "json")  # fmt: skip
    result = json.loads(out)
    assert len(result["folds"]) == 6
    assert result["accuracy"] > 0.7


@pytest.mark.long
@pytest.mark.data
def test_proteins(data_folder, tmp_path):
    out, _ = run("inspect", data_folder / "proteins" / "sequences.fasta.gz", "--format", "json")
    facts = json.loads(out)
    assert (facts["format"], facts["sequences"]) == ("fasta", 4352)
    with gzip.open(data_folder / "proteins" / "splits.tsv.gz", "rt") as file:
        lines = file.read().splitlines()
    splits = tmp_path / "splits.tsv"
    family = [line for line in lines[1:] if line.startswith("7.3.6.2\t")]
    splits.write_text("\n".join([lines[0], *family]) + "\n")
    out, _ = run("evaluate", data_folder / "proteins" / "sequences.fasta.gz", "--protocol",
                 "homology", "--splits", splits, "--balanced", "--format", "json")  # fmt: skip
    assert json.loads(out)["mean"]["roc50"] > 0.5

"""Progress in logs and pipes, and the cache of features that every command uses."""

import json
import os
import re
import time

import pytest

import mvdfq
from commands import in_terminal, run, run_process, write_sounds
from mvdfq._utils import progress as bar, version as sources
from mvdfq.io import write_npz
from mvdfq.io.sound import decoding, feature_cache as cache
from mvdfq.io.sound.feature_cache import FeatureCache


@pytest.fixture(scope="module")
def sounds(tmp_path_factory):
    """Two classes of four files."""
    folder = tmp_path_factory.mktemp("sounds")
    write_sounds(folder, 4)
    return folder


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MVDFQ_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept" / "features"


# progress -------------------------------------------------------------------------------------


def test_lines_of_progress_every_ten_percent(capfd):
    with bar.Lines(gap=0) as lines:
        tell = lines.report("reading")
        for done in range(1, 201):
            tell(done, 200)
        tell(200, 200)  # an end that is told twice is said once
    said = capfd.readouterr().err.splitlines()
    assert [re.match(r"reading (\d+) %", line)[1] for line in said[:-1]] == [
        str(p) for p in range(10, 100, 10)
    ]
    assert re.fullmatch(r"reading done in \d+\.\d s", said[-1])


def test_a_line_after_a_long_silence(capfd, monkeypatch):
    monkeypatch.setattr(bar, "SILENCE", 0.06)
    with bar.Lines(gap=60) as lines:
        tell = lines.report("kernel")
        time.sleep(0.3)
        tell(1, 3)
        time.sleep(0.3)
        tell(3, 3)
        time.sleep(0.3)  # after the end there is nothing to say
    said = capfd.readouterr().err.splitlines()
    assert said[0].startswith("kernel running for 0.")
    assert any(line.startswith("kernel 33 % (1 of 3) in 0.") for line in said)
    assert said[-1].startswith("kernel done in 0.")


def test_nothing_follows_the_line_of_the_end(capfd, monkeypatch):
    def slow(lines, now):
        time.sleep(0.3)
        return "running"

    monkeypatch.setattr(bar, "SILENCE", 0.06)
    monkeypatch.setattr(bar.Lines, "_state", slow)
    with bar.Lines(gap=60) as lines:
        tell = lines.report("kernel")
        time.sleep(0.15)  # the thread is about to say that the work goes on
        tell(3, 3)
    assert capfd.readouterr().err.splitlines()[-1].startswith("kernel done in 0.")


def test_quick_work_says_nothing_in_a_log(capfd):
    with bar.Lines(gap=5, shows_quick=False) as lines:
        lines.report("reading")(10, 10)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.34, "0.3 s"), (45.4, "45 s"), (185, "3 min 5 s"), (7825, "2 h 10 min")]
)
def test_durations_in_words(seconds, text):
    assert bar.duration(seconds) == text


@pytest.mark.slow
def test_progress_without_a_terminal(sounds, tmp_path):
    command = ["train", sounds, "-o", tmp_path / "m.mvdfq", "--n-jobs", "1", "--progress"]
    said = {mode: run(*command, mode)[1] for mode in ("lines", "none")}
    said["bar"] = run_process(*command, "bar")[1]
    for stage in ("reading", "kernel", "machines"):
        assert f"{stage} done in" in said["lines"]
        assert stage in said["bar"]
        assert stage not in said["none"]
    assert "reading 50 % (4 of 8)" in said["lines"]
    assert "━" in said["bar"]
    assert not mvdfq.load(tmp_path / "m.mvdfq").verbose


@pytest.mark.slow
def test_lines_in_a_terminal_if_asked_for(sounds, tmp_path):
    arguments = ["train", sounds, "-o", tmp_path / "m.mvdfq", "--progress", "lines"]
    code, drawn = in_terminal(*arguments)
    assert code == 0
    assert "kernel done in" in drawn
    assert "━" not in drawn


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a small data set and a model of it."""
    folder = tmp_path_factory.mktemp("made")
    X, y = mvdfq.make_autoregressive(12, 2, 30, random_state=0)
    write_npz(folder / "made.npz", X, y)
    mvdfq.SequenceClassifier("mvdfq-sssk", C=1.0).fit(X, y).save(folder / "made.mvdfq")
    return folder


LONG_COMMANDS = {
    "train made.npz -o m.mvdfq": ["kernel", "machines"],
    "predict made.mvdfq made.npz": ["predicting"],
    "evaluate made.npz --model made.mvdfq": ["predicting"],
    "evaluate made.npz --protocol 2-fold -C 1 --preset mvdfq-sssk --report a.html": [
        "evaluating", "page",
    ],
    "gram made.npz -o K.npy": ["symbols", "kernel"],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("command", LONG_COMMANDS)
def test_every_long_command_shows_progress(command, made):
    _, err = run(*command.split(), "--progress", "lines", "--n-jobs", 1, cwd=made)
    for stage in LONG_COMMANDS[command]:
        assert f"{stage} done in" in err
    assert "done in" not in run(*command.split(), "-q", "--n-jobs", 1, cwd=made)[1]


@pytest.mark.long
@pytest.mark.parametrize("command", LONG_COMMANDS)
def test_ctrl_c_in_a_terminal_is_one_line(command, made, monkeypatch):
    monkeypatch.chdir(made)
    before = {path.name: path.read_bytes() for path in made.iterdir()}
    code, drawn = in_terminal(*command.split(), interrupt_at=LONG_COMMANDS[command][0].encode())
    assert code == 130
    assert drawn.count("error: interrupted.") == 1
    assert "Traceback" not in drawn
    left = {path.name: path.read_bytes() for path in made.iterdir()}
    hidden = [name for name in left if name.startswith(".K.npy.")]  # the next run goes on
    assert {name: left[name] for name in left if name not in hidden} == before


# the cache ------------------------------------------------------------------------------------


def entries(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_every_command_uses_the_cache(sounds, own_cache, tmp_path, monkeypatch):
    model = tmp_path / "m.mvdfq"
    run("train", sounds, "-o", model, "--preset", "mvdfqm-spectrum-alt", "-q", "--n-jobs", 1)
    assert len(entries(own_cache)) == 8
    first = sounds / "tone" / "0.wav"
    monkeypatch.setattr(decoding, "decoded_features", lambda *_: pytest.fail("it was decoded"))
    run("predict", model, sounds, "-q", "--n-jobs", 1)
    run("explain", model, first, "-q", "--n-jobs", 1)
    run("evaluate", sounds, "--model", model, "-q", "--n-jobs", 1)
    plain = "--preset", "mvdfqm-spectrum-alt"
    run("evaluate", sounds, "--protocol", "2-fold", *plain, "-q", "--n-jobs", 1)
    run("gram", sounds, "-o", tmp_path / "K.npy", "-q", "--n-jobs", 1)
    with pytest.raises(pytest.fail.Exception):
        run("predict", model, sounds, "-q", "--n-jobs", 1, "--no-cache")
    with pytest.raises(pytest.fail.Exception):
        run("explain", model, first, "-q", "--n-jobs", 1, "--no-cache")


def test_without_the_cache_nothing_is_kept(sounds, own_cache, tmp_path):
    run("gram", sounds, "-o", tmp_path / "K.npy", "-q", "--n-jobs", 1, "--no-cache")
    assert not own_cache.exists()


def test_data_that_are_no_sound_leave_the_cache_alone(own_cache, tmp_path):
    X, y = mvdfq.make_autoregressive(8, 2, 30, random_state=0)
    write_npz(tmp_path / "made.npz", X, y)
    run("gram", tmp_path / "made.npz", "-o", tmp_path / "K.npy", "-q")
    assert not own_cache.exists()


def test_a_cache_that_cannot_be_made_is_not_missed(sounds, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("MVDFQ_CACHE", str(tmp_path / "file"))
    run("gram", sounds, "-o", tmp_path / "K.npy", "-q", "--n-jobs", 1)


def test_other_code_makes_other_entries(sounds, own_cache, tmp_path, monkeypatch):
    command = ["gram", sounds / "tone", "-o", tmp_path / "K.npy", "-q", "--n-jobs", 1]
    run(*command)
    run(*command)
    assert len(entries(own_cache)) == 4
    monkeypatch.setattr(cache, "code_key", lambda: "other")
    run(*command)
    assert len(entries(own_cache)) == 8


def test_the_key_follows_the_source_files():
    files = {
        path.name
        for path in sources.source_files("mvdfq.io.sound.decoding", "mvdfq.io.sound.recipes")
    }
    assert {"decoding.py", "recipes.py", "spectral.py"} <= files
    assert "csv_tables.py" not in files  # a changed reader of tables keeps the features


def test_the_entries_used_longest_ago_go_first(sounds, tmp_path, monkeypatch):
    folder = tmp_path / "kept"
    monkeypatch.setattr(cache, "code_key", lambda: "code")
    mvdfq.io.read(sounds / "tone", cache=folder)
    store = FeatureCache(folder)
    for age, entry in enumerate(entries(folder)):
        os.utime(entry, (1e9 - age, 1e9 - age))
    names = [path for _, path, _ in store.entries()]
    assert names == entries(folder)[::-1]
    store.load(names[0])  # used again: now the last to go
    size = names[0].stat().st_size
    assert store.trim(2 * size) == 2
    assert entries(folder) == sorted([names[0], names[3]])
    (folder / "notes.txt").write_text("mine")
    (names[0].parent / ".half.unfinished").write_text("of a killed process")
    assert store.trim(0) == 2
    assert entries(folder) == [folder / "notes.txt"]
    monkeypatch.setenv("MVDFQ_CACHE_SIZE", str(2 * size))
    mvdfq.io.read(sounds, cache=folder)
    assert len(entries(folder)) == 3  # two entries and the notes


def test_the_cache_is_shown_and_cleared(sounds, own_cache, tmp_path):
    assert json.loads(run("cache", "--format", "json")[0])["recordings"] == 0
    assert not own_cache.exists()  # looking creates nothing
    run("gram", sounds, "-o", tmp_path / "K.npy", "-q", "--n-jobs", 1)
    facts = json.loads(run("cache", "--format", "json")[0])
    assert (facts["folder"], facts["recordings"]) == (str(own_cache), 8)
    assert facts["bytes"] == sum(path.stat().st_size for path in entries(own_cache))
    assert facts["limit_in_bytes"] == 2**31
    (own_cache / "notes.txt").write_text("mine")
    facts = json.loads(run("cache", "clear", "--format", "json")[0])
    assert facts["removed_recordings"] == 8
    assert entries(own_cache) == [own_cache / "notes.txt"]

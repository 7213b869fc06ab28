"""Faults: whatever ends a program, files are old or new, never a part; and odd names are names."""

import gc
import os
import subprocess
import sys
import threading
import time
import zipfile
from functools import cache
from hashlib import sha256

import pytest
from sklearn.base import clone

import mvdfq
from commands import run
from made_results import made_genre
from model_cases import CASES
from mvdfq._utils import files
from mvdfq.reproduce import result

pytestmark = pytest.mark.filterwarnings("ignore")
NAMES = [
    "a\nb.mvdfq", "\U0001f3b5.mvdfq", "a b;c&d.mvdfq", "-o.mvdfq", "x" * 249 + ".mvdfq",
    "'\".mvdfq",
]  # fmt: skip
X, Y = CASES["linear"][1:]


@cache
def made_report(model):
    return mvdfq.report(model, X[:6], Y[:6], path=None)


# What writes files for users; the command line uses the same function for its other files.
WRITERS = {
    "model": lambda model, to: model.save(to / "a.mvdfq"),
    "npz": lambda model, to: mvdfq.io.write_npz(to / "a.npz", X, Y),
    "ts": lambda model, to: mvdfq.io.write_ts(to / "a.ts", X, Y),
    "ts.gz": lambda model, to: mvdfq.io.write_ts(to / "a.ts.gz", X, Y),
    "report": lambda model, to: made_report(model).write(to / "a.html"),
    "csv": lambda model, to: result.write_csv(made_genre(), to / "a.csv"),
    "json": lambda model, to: result.write_json(made_genre(), to / "a.json"),
}


@pytest.fixture(scope="module")
def model():
    model, X, y = CASES["linear"]
    return clone(model).fit(X, y)


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_any_name_is_the_name_of_a_model(name, model, tmp_path):
    model.save(tmp_path / name)
    assert [one.name for one in tmp_path.iterdir()] == [name]
    assert (mvdfq.load(tmp_path / name).classes_ == model.classes_).all()
    out, _ = run("inspect", tmp_path / name)
    assert "\x1b" not in out


def test_a_name_that_is_not_unicode_is_the_name_of_a_model(model, tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.mvdfq")
    model.save(path)
    assert (mvdfq.load(path).classes_ == model.classes_).all()


@pytest.mark.slow
def test_writers_of_one_file_do_not_mix(model, tmp_path):
    path = tmp_path / "a.mvdfq"
    other = clone(CASES["letters"][0]).fit(*CASES["letters"][1:])
    end, failed = time.monotonic() + 1.5, []

    def write(one):
        while time.monotonic() < end:
            one.save(path)

    writers = [threading.Thread(target=write, args=[one]) for one in (model, other, model)]
    model.save(path)
    for thread in writers:
        thread.start()
    while time.monotonic() < end:
        try:
            mvdfq.load(path)
        except mvdfq.ModelFileError as error:
            failed.append(error)
    for thread in writers:
        thread.join()
    assert failed == []
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    data = tmp_path / "a.npz"
    X, y = mvdfq.make_autoregressive(6, 1, 10, n_classes=2, random_state=0)
    mvdfq.io.write_npz(data, X, y=y)
    _, err = run("train", data, "-o", tmp_path / "nowhere" / "a.mvdfq", "-q", code=6)
    assert "nowhere" in err


def test_a_writer_removes_what_a_killed_writer_of_its_file_left(tmp_path):
    path, other = tmp_path / "a.txt", tmp_path / "b.txt"
    begin = {one: f".{sha256(one.name.encode()).hexdigest()[:16]}." for one in (path, other)}
    for one in (path, other):
        (tmp_path / f"{begin[one]}{'0' * 32}.unfinished").write_text("half")
    (tmp_path / f"{begin[path]}notes").write_text("mine")
    with files.replacing(path) as file:
        files.replace_file(path, "second")  # a writer that lives keeps its file
        file.write(b"first")
    assert path.read_text() == "first"
    kept = {f"{begin[path]}notes", f"{begin[other]}{'0' * 32}.unfinished"}
    assert {one.name for one in tmp_path.iterdir()} == {path.name, *kept}


def test_an_interrupt_while_a_file_is_created_leaves_nothing(tmp_path, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "hold", stopped)
    with pytest.raises(KeyboardInterrupt):
        files.replace_file(tmp_path / "a.txt", "new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_an_interrupted_writer_keeps_the_old_file(write, model, tmp_path, monkeypatch):
    write(model, tmp_path)
    old = {one.name: one.read_bytes() for one in tmp_path.iterdir()}

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("mvdfq._utils.files.os.fsync", stopped)
    with pytest.raises(KeyboardInterrupt):
        write(model, tmp_path)
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == old


PARENT = """
import os, subprocess, sys
child = "from mvdfq._utils.threads import end_with_parent as end; import os, time; " \
    "end(os.getppid()); print('ready', flush=True); time.sleep(60)"
one = subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE)
one.stdout.readline()
print(one.pid, flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps the number of a dead parent")
def test_a_worker_ends_with_its_parent():
    done = subprocess.run([sys.executable, "-c", PARENT], capture_output=True, text=True)
    end = time.monotonic() + 10
    while is_running(int(done.stdout)):
        assert time.monotonic() < end, "the worker lives on"
        time.sleep(0.05)


def is_running(number):
    listed = subprocess.run(["ps", "-o", "stat=", "-p", str(number)], capture_output=True)
    return listed.stdout.strip()[:1] not in (b"", b"Z")


def test_ctrl_c_while_an_archive_is_opened_says_nothing_else(model, tmp_path, monkeypatch):
    def interrupted(archive):
        raise KeyboardInterrupt

    said = []
    monkeypatch.setattr(zipfile.ZipFile, "__enter__", interrupted)
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    with pytest.raises(KeyboardInterrupt):
        model.save(tmp_path / "m.mvdfq")
    gc.collect()
    assert said == []
    assert list(tmp_path.iterdir()) == []

"""Faults: whatever ends a program, files are old or new, never a part; and odd names are names."""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest
from sklearn.base import clone

import mvdfq
from commands import run
from model_cases import CASES

pytestmark = pytest.mark.filterwarnings("ignore")
NAMES = [
    "a\nb.mvdfq", "\U0001f3b5.mvdfq", "a b;c&d.mvdfq", "-o.mvdfq", "x" * 249 + ".mvdfq",
    "'\".mvdfq",
]  # fmt: skip


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


SAVE = """
import sys, mvdfq
model = mvdfq.load(sys.argv[1])
print("ready", flush=True)
while True:
    model.save(sys.argv[2])
"""


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_writer_leaves_a_whole_file(number, model, tmp_path):
    source, target = tmp_path / "a.mvdfq", tmp_path / "b.mvdfq"
    model.save(source)
    rng = random.Random(0)
    for _ in range(10):
        command = [sys.executable, "-c", SAVE, str(source), str(target)]
        done = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        done.stdout.readline()
        time.sleep(rng.uniform(0.05, 0.2))
        done.send_signal(number)
        done.wait()
        done.stdout.close()
        assert (mvdfq.load(target).classes_ == model.classes_).all()
    if number == signal.SIGINT:  # kill -9 leaves no time to remove the unfinished file
        assert {one.name for one in tmp_path.iterdir()} == {source.name, target.name}

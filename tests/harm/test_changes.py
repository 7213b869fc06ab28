"""Files that change while they are read, and processes that share a cache or an output."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest
import soundfile

import mvdfq
from commands import run, write_sounds
from mvdfq.io import ReadError, read, source, write_npz, write_ts
from mvdfq.io.sound import decoding
from mvdfq.io.tables import arrays

CHANGED = "the file changed while it was read; wait until no program writes"


def grow(path):
    with open(path, "ab") as file:
        file.write(b"more")


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def remove(path):
    path.unlink()


def replaced(path):
    other = path.with_name("other")
    other.write_bytes(b"something else")
    os.replace(other, path)


def write_table(path):
    lines = [f"{s},{t},{(s * 7 + t * 3) % 11},c{s % 2}" for s in range(4) for t in range(9)]
    path.write_text("\n".join(["id,time,x,label", *lines]) + "\n")


def write_fasta(path):
    path.write_text(
        "".join(f">p{i} {'ab'[i % 2]}\nMVLSPADKTN{'AC'[i % 2] * 9}\n" for i in range(4))
    )


def write_parquet(path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table as write

    columns = {"id": [0, 0, 1, 1], "time": [0, 1, 0, 1], "x": [1.0, 2, 3, 4]}
    write(pyarrow.table(columns), path)


SERIES = [np.arange(12.0).reshape(2, 6) * i for i in (1, 2, 3)]
WRITERS = {
    "a.csv": write_table,
    "a.fasta": write_fasta,
    "a.ts": lambda path: write_ts(path, SERIES, [*"uvu"]),
    "a.npz": lambda path: write_npz(path, SERIES, [*"uvu"]),
    "a.npy": lambda path: np.save(path, np.stack(SERIES)),
    "a.parquet": write_parquet,
    "a.wav": lambda path: soundfile.write(path, np.sin(np.arange(8000.0)), 8000),
}


# What each reader calls when a part of its file is read.
MOMENTS = dict.fromkeys([".csv", ".fasta", ".ts", ".npz", ".parquet"], (source.Source, "tell"))
MOMENTS |= {".npy": (arrays, "guarded_array"), ".wav": (decoding, "decoded_features")}


@pytest.fixture(params=WRITERS)
def path(request, tmp_path, monkeypatch):
    """A file of every format; readers report progress after every line."""
    monkeypatch.setattr(source, "STEP", 1)
    path = tmp_path / request.param
    WRITERS[request.param](path)
    return path


@pytest.fixture
def read_while(monkeypatch):
    """Return what reads a file and changes it once, when a part of it is read."""

    def read_while(path, change, **options):
        changes = iter([change])

        def disturbed(function):
            def call(*arguments):
                next(changes, lambda path: None)(path)
                return function(*arguments)

            return call

        owner, name = MOMENTS[path.suffix]
        monkeypatch.setattr(owner, name, disturbed(getattr(owner, name)))
        return read(path, **options)

    return read_while


@pytest.mark.parametrize("change", [grow, cut])
def test_a_file_that_changes_while_it_is_read_is_refused(path, change, read_while):
    # a .ts file is parsed line by line: a half line is an error before the end is reached
    message = r"changed while it was read|line \d+: " if path.suffix == ".ts" else CHANGED
    with pytest.raises(ReadError, match=message):
        read_while(path, change)


@pytest.mark.parametrize("change", [remove, replaced])
def test_a_file_that_goes_while_it_is_read_is_read(path, change, read_while):
    expected = read(path)
    found = read_while(path, change)
    assert_same = np.testing.assert_array_equal
    if isinstance(expected.X, list):
        assert found.X == expected.X
    else:
        assert_same(found.X.data, expected.X.data)
    assert_same(found.y, expected.y)


def test_features_of_a_file_that_changes_are_not_kept(tmp_path, read_while):
    path = tmp_path / "a.wav"
    WRITERS["a.wav"](path)
    with pytest.raises(ReadError, match=CHANGED):
        read_while(path, grow, cache=tmp_path / "kept")
    assert not [file for file in (tmp_path / "kept").rglob("*") if file.is_file()]


def test_the_program_says_that_a_file_changes(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    write_table(path)
    states = iter(range(100))
    monkeypatch.setattr("mvdfq.io.source.state_of", lambda _: next(states))
    _, err = run("inspect", path, code=3)
    assert "a.csv: the file changed while it was read" in err
    assert "hint: wait until no program writes to the file, or read a copy" in err


@pytest.fixture
def sounds(tmp_path):
    folder = tmp_path / "sounds"
    folder.mkdir()
    write_sounds(folder, 3)
    return folder


@pytest.mark.parametrize("change", [remove, cut, lambda path: path.write_bytes(b"")])
def test_a_sound_file_that_changes_after_it_was_listed(sounds, change, tmp_path, monkeypatch):
    first, last = sounds / "noise" / "0.wav", sounds / "tone" / "2.wav"
    real = decoding.decoded_features
    expected = read(sounds)

    def decoded(stream, name, recipe):
        if name == str(first):
            change(last)
        return real(stream, name, recipe)

    monkeypatch.setattr(decoding, "decoded_features", decoded)
    command = ["train", sounds, "-o", tmp_path / "m.mvdfq", "-q", "--n-jobs", 1, "--no-cache"]
    _, err = run(*command, code=3)
    assert str(last) in err
    WRITERS["a.wav"](last)
    found = read(sounds, skip_bad=True)
    assert [*found.names] == [name for name in expected.names if name != "tone/2.wav"]


def test_a_folder_that_changes_between_two_passes_is_refused(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("time,x\n0,1.5\n1,2.5\n")
    (part,) = mvdfq.io.list_parts(tmp_path)
    assert len(part()) == len(part()) == 2
    (tmp_path / "b.csv").write_text("time,x\n0,1.5\n1,3.5\n2,4.5\n")
    with pytest.raises(ReadError, match=r"b\.csv: the file changed while it was read"):
        part()


def test_a_report_does_without_the_sound_of_a_file_that_has_gone(sounds):
    from mvdfq.pages.contents import sound_clips

    files = sorted(sounds.rglob("*.wav"))
    files[1].unlink()
    files[2].write_bytes(b"RIFF")
    assert sound_clips(files, dict.fromkeys(range(6), 0.5)).keys() == set("0345")


# processes that share something ----------------------------------------------------------------

SHARE = """
import sys, numpy as np
from mvdfq.io import read, write_npz
for i in range(int(sys.argv[3])):
    X = read(sys.argv[1], cache=sys.argv[2]).X
    write_npz(sys.argv[4], X)
print(float(np.abs(X.data).sum()))
"""


@pytest.mark.long
def test_processes_that_share_a_cache_and_an_output_do_not_mix(sounds, tmp_path, monkeypatch):
    monkeypatch.setenv("MVDFQ_CACHE_SIZE", "20 kB")  # three of six entries: each removes entries
    folder, output = tmp_path / "kept", tmp_path / "a.npz"
    command = [sys.executable, "-c", SHARE, sounds, folder, "4", output]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running = [subprocess.Popen(command, **pipes) for _ in range(3)]
    expected = read(sounds).X
    while any(process.poll() is None for process in running):
        if output.exists():
            np.testing.assert_array_equal(read(output).X.data, expected.data)
        time.sleep(0.02)
    said = [process.communicate() for process in running]
    assert {out for out, _ in said} == {f"{float(np.abs(expected.data).sum())}\n"}, said
    kept = [file.name for file in folder.rglob("*") if file.is_file()]
    assert 0 < len(kept) <= 3
    assert all(name.endswith(".features") for name in kept)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "kept", "sounds"]

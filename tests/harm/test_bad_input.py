"""Bad input and faults: an answer that is right, or a sentence that says why not."""

import builtins
import bz2
import gzip
import lzma
import os
import re
import signal
import subprocess
import sys
import time
import tracemalloc
import zipfile
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
import pytest

import mvdfq
import mvdfq.io
from mvdfq import io as readers
from mvdfq._utils.files import replacing
from mvdfq.cli import main
from mvdfq.cli.errors import CANNOT_WRITE, described, watched_interrupts
from mvdfq.io.source import LONGEST_LINE, LONGEST_PACKED_LINE

# Regular expressions that meet the content of files.


def patterns():
    """Every compiled expression of the rooms that read files."""
    for package in (mvdfq.io, import_module("mvdfq.reproduce")):
        for module in iter_modules(package.__path__, f"{package.__name__}."):
            for name, value in vars(import_module(module.name)).items():
                values = value.values() if isinstance(value, dict) else [value]
                for one in values:
                    found = [one] if isinstance(one, re.Pattern) else getattr(one, "_fields", ())
                    for field in found:
                        pattern = field if isinstance(field, re.Pattern) else getattr(one, field)
                        if isinstance(pattern, re.Pattern) and isinstance(pattern.pattern, str):
                            yield pytest.param(pattern, id=f"{module.name[6:]}.{name}")


PIECES = [
    " ",
    "\t",
    "a",
    "1",
    "1.",
    "1,",
    "(",
    "(1,",
    "'",
    "\\'",
    '"',
    "-",
    "1-1",
    "@attribute ",
    "{",
    ".1",
]


@pytest.mark.parametrize("pattern", list(patterns()))
def test_expressions_take_time_in_proportion_to_the_text(pattern):
    for start in ("", "a", "1", "@attribute ", "("):
        for piece in PIECES:
            text = start + piece * 20_000
            begin = time.process_time()
            pattern.match(text)
            pattern.fullmatch(text + "\x00")
            assert time.process_time() - begin < 1, (start, piece)


def test_arff_of_many_spaces_is_read_at_once(tmp_path):
    path = tmp_path / "a.arff"
    path.write_text(f"@relation a\n@attribute b {{{' ' * 20_000}'a'}}\n@data\n{' ' * 20_000}'\n")
    begin = time.process_time()
    with pytest.raises(readers.ReadError):
        readers.read(path)
    assert time.process_time() - begin < 1


# Numbers and labels of tables.


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "label,x0,x1\na,1_0,2\nb,3,4\n"),
        ("a.ts", "@classLabel true a b\n@data\n1_0,2:a\n1,2:b\n"),
        ("a.arff", "@relation a\n@attribute x numeric\n@attribute y numeric\n@data\n1_0,2\n"),
    ],
)
def test_an_underscore_is_not_part_of_a_number(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(readers.ReadError, match="1_0"):
        readers.read(path)


def test_a_label_keeps_its_newline(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('label,x0,x1\n"a\nb",1,2\nc,3,4\n')
    assert readers.read(path).y.tolist() == ["a\nb", "c"]


def test_an_infinite_time_is_refused(tmp_path):
    path = tmp_path / "a.ts"
    path.write_text("@timeStamps true\n@classLabel true a b\n@data\n(0,1),(inf,2):a\n")
    with pytest.raises(readers.ReadError, match="line 4"):
        readers.read(path)


# Memory.


@pytest.mark.parametrize(("packer", "ending"), [(gzip, "gz"), (bz2, "bz2"), (lzma, "xz")])
def test_an_endless_line_is_refused(tmp_path, monkeypatch, packer, ending):
    monkeypatch.setattr("mvdfq.io.source.LONGEST_PACKED_LINE", 2**22)
    path = tmp_path / f"a.fa.{ending}"
    with packer.open(path, "wb") as file:
        file.write(b">a\n")
        for _ in range(100):
            file.write(b"A" * 2**20)
    tracemalloc.start()
    with pytest.raises(readers.ReadError, match=r"a\.fa\.\w+: line 2: more than 4194304 .*unpack"):
        readers.read_fasta(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # pieces of the line, and the line; the dictionary of xz
    assert peak < 2.5 * 2**22 + 2**23 * (packer is lzma)
    monkeypatch.setattr("mvdfq.io.source.LONGEST_LINE", 100)
    plain = tmp_path / "a.fa"
    plain.write_text(">a\n" + "A" * 101)
    with pytest.raises(readers.ReadError, match=r"a\.fa: line 2: more than 100 characters"):
        readers.read_fasta(plain)


def test_limits_of_a_line_bound_memory():
    assert 2.5 * LONGEST_PACKED_LINE < 2e8 < LONGEST_LINE


def test_arrays_that_unpack_to_much_are_refused(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, X=np.zeros((10**5, 20)))
    with pytest.raises(readers.ReadError, match=r"arrays of 16[0-9]* bytes"):
        readers.read(path, max_bytes=10**6)


def test_arrays_that_claim_many_sequences_without_values_are_refused(tmp_path):
    path = tmp_path / "a.npy"
    with open(path, "wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 1, 0)}
        np.lib.format.write_array_header_1_0(file, header)
    with pytest.raises(readers.ReadError, match=r"more than its .* bytes can hold"):
        readers.read(path)


@pytest.mark.parametrize("damage", ["lzma", "encrypted", "cut", "deflate"])
def test_damaged_archives_are_refused_in_a_sentence(damage, tmp_path):
    path = tmp_path / "a.npz"
    kind = zipfile.ZIP_LZMA if damage == "lzma" else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(path, "w", kind) as archive:
        for name in ("X.npy", "y.npy"):
            archive.writestr(name, os.urandom(300))
    data = bytearray(path.read_bytes())
    if damage == "encrypted":
        for place in [m.start() for m in re.finditer(b"PK\x01\x02", data)]:
            data[place + 8] |= 1
        for place in [m.start() for m in re.finditer(b"PK\x03\x04", data)]:
            data[place + 6] |= 1
    elif damage == "cut":
        del data[100:200]
    else:
        data[60:90] = bytes(30)
    path.write_bytes(data)
    with pytest.raises(readers.ReadError):
        readers.read(path)


# Numbers that overflow.


@pytest.mark.parametrize(
    "part",
    [mvdfq.Standardize(), mvdfq.Rotate(), mvdfq.Centre(scale=True)],
    ids=lambda part: type(part).__name__,
)
def test_numbers_too_large_to_square_are_refused(part):
    X = [1e200 * np.random.default_rng(0).normal(size=(2, 30)) for _ in range(3)]
    with pytest.raises(ValueError, match="too large to square"):
        part.fit(X).transform(X)


def test_a_classifier_refuses_numbers_too_large_to_square():
    X, y = mvdfq.make_autoregressive(10, 2, 30, n_classes=2, random_state=0)
    with pytest.raises(ValueError, match="too large to square"):
        mvdfq.SequenceClassifier().fit([1e200 * x for x in X], y)


# Faults of the system.

FULL = "/dev/full"


@pytest.mark.skipif(not os.path.exists(FULL), reason="this system has no /dev/full")
@pytest.mark.parametrize("argument", ["version", "--help"])
def test_output_to_a_full_disk_is_said(argument):
    with open(FULL, "w") as full:
        command = [sys.executable, "-m", "mvdfq", argument]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == CANNOT_WRITE
    assert done.stderr.startswith("error: cannot write standard output: no space left")
    assert "Traceback" not in done.stderr
    assert "ignored" not in done.stderr


def test_a_full_disk_names_the_file(tmp_path, monkeypatch):
    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(OSError, match="No space") as caught,
        replacing(tmp_path / "a.mvdfq") as file,
    ):
        file.write(b"model")
    known = described(caught.value)
    assert known.code == CANNOT_WRITE
    assert known.message == f"cannot write {tmp_path / 'a.mvdfq'}: no space left on device"
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_names_the_file_and_not_its_helper(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, replacing(tmp_path / "no" / "a.mvdfq"):
        pass
    assert caught.value.filename == str(tmp_path / "no" / "a.mvdfq")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder") as caught, replacing(tmp_path / "folder"):
        pass
    assert caught.value.filename == str(tmp_path / "folder")


@pytest.fixture
def handlers(monkeypatch):
    """The signal handlers that the program sets, which stay without effect in the tests."""
    handlers = {}

    def set_handler(number, handler):
        before, handlers[number] = handlers.get(number), handler
        return before

    monkeypatch.setattr("signal.signal", set_handler)
    monkeypatch.setattr("atexit.register", lambda *_: None)
    return handlers


def test_an_interrupt_while_the_program_starts_is_said(monkeypatch, capsys, handlers):
    real = builtins.__import__

    def interrupted(name, *args, **kwargs):
        if name == "mvdfq.cli.app":
            raise KeyboardInterrupt
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", interrupted)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 130
    assert capsys.readouterr().err == "error: interrupted.\n"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_in_a_destructor_is_not_lost():
    done = []

    class Dying:
        def __del__(self):
            os.kill(os.getpid(), signal.SIGINT)
            done.append("destructor")

    def command():
        with watched_interrupts():
            Dying()
            time.sleep(5)
            done.append("command")

    with pytest.raises(KeyboardInterrupt):
        command()
    assert done == ["destructor"]


LATE = """
import os, sys
from mvdfq.cli import main
class Late:
    def __del__(self):
        os.kill(os.getpid(), 2)
sys.late = Late()
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_while_python_ends_changes_nothing():
    done = subprocess.run([sys.executable, "-c", LATE, "version"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_while_the_program_ends_is_said(monkeypatch, capfd, handlers):
    codes = []
    monkeypatch.setattr("sys.argv", ["mvdfq", "version"])
    monkeypatch.setattr("os._exit", codes.append)
    with pytest.raises(SystemExit):
        main()
    handlers[signal.SIGINT](signal.SIGINT, None)
    assert codes == [130]
    assert capfd.readouterr().err == "error: interrupted.\n"


@pytest.mark.parametrize("preset", ["numbers", "fast", "music"])
def test_presets_of_numbers_refuse_strings(preset):
    with pytest.raises(ValueError, match=f"preset='{preset}' reads numbers.* preset='letters'"):
        mvdfq.SequenceClassifier(preset).fit(["ACGTACGT", "TTGA"] * 4, [0, 1] * 4)

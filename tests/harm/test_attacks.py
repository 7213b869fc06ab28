"""Attacks that docs/security.md lists; attacks on model files are in test_hostile_models.py."""

import csv
import io
import re
import socket
import struct
from pathlib import Path

import numpy as np
import pytest

import mvdfq
from commands import run
from mvdfq import io as readers
from mvdfq._utils.short import csv_cell
from mvdfq.pages.html import write_csv

ROOT = Path(__file__).parents[2]


def test_every_line_of_the_threat_model_names_a_test_that_exists():
    lines = (ROOT / "docs" / "security.md").read_text().splitlines()
    rows = [line for line in lines if line.startswith("| ") and "`test_" in line]
    assert len(rows) >= 15
    files = {path.stem: path.read_text() for path in (ROOT / "tests").rglob("test_*.py")}
    for row in rows:
        for file, name in re.findall(r"`(test_\w+)\.py::(test_\w+)`", row):
            assert f"def {name}(" in files[file], row


# Spreadsheets

FORMULAS = ["=1+1", "+1+cmd", "-2+3", "@SUM(1)", "\t=1"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_cells_are_not_formulas(formula):
    assert csv_cell(formula) == f"'{formula}"


def test_reports_write_no_formulas(tmp_path):
    sequences = {"name": ["=HYPERLINK(1)"], "truth": [0], "predicted": [0]}
    write_csv({"sequences": sequences, "classes": ["@a"]}, tmp_path / "a.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "a.csv").read_text())))
    assert rows[1] == ["'=HYPERLINK(1)", "'@a", "'@a", "1"]


def test_predictions_write_no_formulas(tmp_path):
    X, y = mvdfq.make_autoregressive(12, 1, 20, n_classes=2, random_state=0)
    labels = np.array(["=cmd|' /C calc'!A0", "-1"])[y]
    mvdfq.SequenceClassifier("mvdfq-spectrum", C=1, cv=2).fit(X, labels).save(tmp_path / "a.mvdfq")
    readers.write_npz(tmp_path / "a.npz", X)
    printed, _ = run("predict", tmp_path / "a.mvdfq", tmp_path / "a.npz", "--format", "csv")
    cells = {cell for row in csv.reader(io.StringIO(printed)) for cell in row}
    assert "'=cmd|' /C calc'!A0" in cells
    assert "-1" in cells
    assert not any(cell.startswith("=") for cell in cells)


# Sound that promises more than it holds


def wav(n_bytes, rate=8000, channels=1, bits=16, data=b"\0\0" * 100):
    frame = channels * bits // 8
    head = struct.pack("<HHIIHH", 1, channels, rate, min(rate * frame, 2**32 - 1), frame, bits)
    chunks = b"fmt " + struct.pack("<I", 16) + head + b"data" + struct.pack("<I", n_bytes) + data
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


@pytest.mark.parametrize(
    "content",
    [wav(2**32 - 1), wav(2**31), wav(200, rate=2**31 - 1), wav(200, channels=1024), wav(0)],
    ids=["4 GB", "2 GB", "rate", "channels", "nothing"],
)
def test_headers_of_sound_do_not_decide_about_memory(content, tmp_path):
    from resource import RUSAGE_SELF, getrusage

    path = tmp_path / "a.wav"
    path.write_bytes(content)
    before = getrusage(RUSAGE_SELF).ru_maxrss
    try:
        found = readers.read([path], "audio")
    except readers.ReadError:
        pass
    else:
        assert found.X.data.size < 10**6
    assert getrusage(RUSAGE_SELF).ru_maxrss - before < 300_000  # kB


# The network


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("the network was used")

    for name in ("connect", "connect_ex", "bind"):
        monkeypatch.setattr(socket.socket, name, refuse)
    for name in ("create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)


@pytest.mark.filterwarnings("ignore:No known word")
def test_no_command_uses_the_network(no_network, tmp_path):
    X, y = mvdfq.make_autoregressive(20, 1, 20, n_classes=2, random_state=0)
    data, model, page = tmp_path / "a.npz", tmp_path / "a.mvdfq", tmp_path / "a.html"
    readers.write_npz(data, X, y=y)
    preset = ["--preset", "mvdfq-spectrum", "-q"]
    run("train", data, *preset, "-o", model)
    run("predict", model, data, "-q")
    run("evaluate", data, *preset, "--report", page)
    assert not re.search(r"(?:src|href)=.?https?:", page.read_text())


def test_the_test_of_the_network_can_fail(no_network):
    with pytest.raises(AssertionError, match="the network was used"):
        socket.create_connection(("localhost", 1))


def test_no_module_imports_a_client_of_the_network():
    source = ROOT / "src" / "mvdfq"
    clients = re.compile(
        r"^\s*(?:import|from) (?:socket|urllib(?!\.parse)|http|requests|ftplib)\b", re.M
    )
    assert [str(p) for p in source.rglob("*.py") if clients.search(p.read_text())] == []
    runners = re.compile(r"(?<![._])\b(?:eval|exec)\(|pickle\.load|os\.system|allow_pickle=True")
    assert [str(p) for p in source.rglob("*.py") if runners.search(p.read_text())] == []

"""Output of commands: tables that fit, decimals below each other, keys in one style."""

import json
import os
import re
import subprocess
import sys
import warnings
from textwrap import dedent

import numpy as np
import pytest
import soundfile

import mvdfq
from commands import run
from mvdfq.cli import output
from mvdfq.cli.errors import one_line_warnings
from mvdfq.cli.output import show_confusion
from mvdfq.io import write_npz

COUNTS = [[10 * (i == j) + (i + j) % 3 for j in range(6)] for i in range(6)]
NAMES = [f"a class with a long name {i}" for i in range(6)]
LETTERS = list("abcdef")


@pytest.fixture
def width(monkeypatch):
    """Sets the width of the terminal; None stands for a pipe."""

    def set_width(columns):
        monkeypatch.setattr(output, "screen_width", lambda: columns)

    return set_width


def shown(capsys, *arguments):
    show_confusion(*arguments)
    out = capsys.readouterr().out
    return [line for line in out.splitlines() if line]


def matrix_of(lines, n):
    """The numbers at the ends of the last `n` lines."""
    return [[int(number) for number in line.split()[-n:]] for line in lines[-n:]]


def test_confusions_in_a_pipe_are_never_cut(width, capsys):
    width(None)
    lines = shown(capsys, NAMES, COUNTS)
    assert all(name in lines[1] for name in NAMES)
    assert matrix_of(lines, 6) == COUNTS
    many = 60
    lines = shown(capsys, [f"class {i:02}" for i in range(many)], np.eye(many, dtype=int).tolist())
    assert matrix_of(lines, many) == np.eye(many, dtype=int).tolist()


def test_confusions_that_fit_the_terminal_have_full_names(width, capsys):
    width(80)
    lines = shown(capsys, LETTERS, COUNTS)
    assert lines[1].split()[-6:] == LETTERS
    assert matrix_of(lines, 6) == COUNTS


def test_long_names_get_a_legend(width, capsys):
    width(80)
    lines = shown(capsys, NAMES, COUNTS)
    assert max(map(len, lines)) <= 80
    assert lines[1].split()[-6:] == LETTERS
    assert all(f"{a} = {name}" in " ".join(lines) for a, name in zip(LETTERS, NAMES, strict=True))
    assert matrix_of(lines, 6) == COUNTS


@pytest.mark.parametrize(("n", "columns"), [(30, 60), (50, 400)])
def test_many_classes_show_the_largest_confusions(width, capsys, n, columns):
    width(columns)
    counts = (10 * np.eye(n, dtype=int)).tolist()
    counts[3][7], counts[7][3], counts[1][0] = 6, 2, 4
    lines = shown(capsys, [f"class {i}" for i in range(n)], counts)
    assert max(map(len, lines)) <= columns
    assert [line.split() for line in lines[2:]] == [
        ["class", "3", "class", "7", "6", "37.5%"],
        ["class", "1", "class", "0", "4", "28.6%"],
        ["class", "7", "class", "3", "2", "16.7%"],
    ]
    assert "the 3 largest confusions" in lines[0]


def test_decimals_stand_below_each_other(width, capsys):
    width(80)
    rows = [{"f1": 1.0, "n": 12, "evidence": 0.066}, {"f1": 0.25, "n": 3, "evidence": -1.25}]
    output.table(rows)
    # older versions of rich put one more space before the first column
    assert dedent(capsys.readouterr().out).splitlines() == [
        "  f1   n  evidence",
        "1.00  12    +0.066",
        "0.25   3    -1.250",
    ]
    output.table([{"value": 1e-9}, {"value": 2.5}])
    assert capsys.readouterr().out.split() == ["value", "1e-09", "2.5"]


def test_numbers_are_not_wrapped(width, capsys):
    width(30)
    output.table([{"text": "many words " * 5, "evidence": -0.1234}, {"text": "", "evidence": 1.0}])
    out = capsys.readouterr().out
    assert "-0.1234" in out
    assert "+1.0000" in out
    assert max(map(len, out.splitlines())) <= 30


@pytest.mark.slow
def test_a_pipe_gets_whole_lines(tmp_path):
    rng = np.random.default_rng(0)
    y = np.array([f"a class with a rather long name, number {i % 9}" for i in range(36)])
    write_npz(tmp_path / "made.npz", [rng.normal(size=(1, 20)) + i % 9 for i in range(36)], y)
    command = [sys.executable, "-m", "mvdfq", "evaluate", tmp_path / "made.npz", "--protocol",
               "2-fold", "-q", "--preset", "mvdfqm-spectrum-alt"]  # fmt: skip
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    out = subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout
    heading = next(line for line in out.splitlines() if line.startswith("true"))
    assert all(name in heading for name in y)


@pytest.mark.parametrize("command", ["train", "predict", "evaluate", "explain", ""])
def test_flags_have_no_type(command):
    out, _ = run(*([command] if command else []), "--help")
    assert "bool" not in out.lower()


def keys_of(value, known=()):
    """All keys of a JSON value but those below `known`, which are labels of the user."""
    if isinstance(value, list):
        return {key for one in value for key in keys_of(one, known)}
    if not isinstance(value, dict):
        return set()
    below = [keys_of(one, known) for key, one in value.items() if key not in known]
    return {*value}.union(*below)


LABELS = ("probabilities", "versions", "by_seed")


def test_keys_for_programs_have_one_style(tmp_path):
    X, y = mvdfq.make_autoregressive(24, 2, 40, random_state=0)
    data, model = tmp_path / "made.npz", tmp_path / "m.mvdfq"
    write_npz(data, X, np.array(["No", "Yes"])[y], groups=np.arange(24) % 3)
    base = ["--format", "json", "-q"]
    commands = [
        ["train", data, "-o", model],
        ["inspect", data],
        ["inspect", model],
        ["predict", model, data, "--probabilities"],
        ["evaluate", data],
        ["explain", model, data],
        ["gram", data, "-o", tmp_path / "K.npy"],
        ["reproduce"],
        ["reproduce", "genre"],
    ]
    for command in commands:
        result = json.loads(run(*command, *base)[0])
        wrong = [
            key
            for key in keys_of(result, LABELS) - {"No", "Yes", "0", "1", "2"}
            if not re.fullmatch("[a-z][a-z0-9_]*", key)
        ]
        assert wrong == [], command
    for command in (["cache"], ["doctor"]):
        result = json.loads(run(*command, "--format", "json")[0])
        assert all(re.fullmatch("[a-z][a-z0-9_]*", key) for key in result)


@pytest.mark.slow
def test_warnings_are_one_line_of_the_program(tmp_path):
    rng = np.random.default_rng(0)
    for name in ("high/1.wav", "low/1.wav", "low/2.wav"):
        (tmp_path / "sounds" / name).parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(tmp_path / "sounds" / name, rng.normal(size=4000) / 9, 8000)
    command = [sys.executable, "-m", "mvdfq", "gram", tmp_path / "sounds", "-o",
               tmp_path / "K.npy", "--kernel", "spectrum", "--progress", "none"]  # fmt: skip
    err = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert err == ("warning: Class 'high' has only one file, so this class cannot be tested.\n")


@pytest.mark.filterwarnings("always")
def test_the_same_warning_is_said_once(capsys):
    with one_line_warnings():
        for _ in range(3):
            warnings.warn("rows [1]\n  are constant", stacklevel=1)
        warnings.warn("another", stacklevel=1)
    said = capsys.readouterr().err
    assert said == "warning: rows [1] are constant\nwarning: another\n"


def test_confusions_of_hundreds_of_classes(width, capsys):
    names = [f"class {i}" for i in range(300)]
    counts = np.roll(np.eye(300, dtype=int), 1, axis=1).tolist()
    width(80)
    assert "the 10 largest confusions" in shown(capsys, names, counts)[0]

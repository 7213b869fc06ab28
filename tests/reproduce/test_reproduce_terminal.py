"""The command and its tables, in a terminal."""

import csv
import inspect
import io
import json
from dataclasses import replace

import pytest
from rich.console import Console
from typer.testing import CliRunner

from mvdfq.cli.app import app
from mvdfq.cli.reproduce import MORE
from mvdfq.reproduce import api
from mvdfq.reproduce.arrange import difference, number, with_spread
from mvdfq.reproduce.result import Row
from mvdfq.reproduce.show import blocks


@pytest.fixture
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert Console().width == 100


def run(*arguments, code=0):
    done = CliRunner().invoke(app, ["reproduce", *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done


def with_result(monkeypatch, result):
    """Let the program find a result without computing it; return the calls."""
    calls, signature = [], inspect.signature(api.run)

    def fake(*arguments, **options):
        calls.append(signature.bind(*arguments, **options).arguments)
        return result

    monkeypatch.setattr(api, "run", fake)
    return calls


def test_genres_are_a_matrix(genre):
    first = blocks(genre)[0]
    assert [row["kernel"] for row in first.rows] == ["Spectrum", "Mismatch", "SSSK"]
    assert [*first.rows[0]] == ["kernel", "VQ", "hashing", "MVDFQ", "VQ-M", "hashing-M", "MVDFQ-M"]
    assert first.rows[0]["VQ"] == "31.5 ± 1.5 (34.5)"
    titles = [block.title for block in blocks(genre)]
    assert sum("error in percent" in title for title in titles) == 9
    assert sum(title.endswith("as used") for title in titles) == 3
    assert sum("plain folds" in title for title in titles) == 6


@pytest.mark.parametrize("name", ["genre", "artist"])
def test_nothing_is_cut_at_100_columns(name, request, monkeypatch, wide, tmp_path):
    result = request.getfixturevalue(name)
    with_result(monkeypatch, result)
    out = run(name, "--data", tmp_path).stdout
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 100
    words = set(out.split())
    for block in blocks(result):
        for row in block.rows:
            missing = [w for v in row.values() for w in str(v).split() if w not in words]
            assert not missing


def test_lists_show_both_figures(artist):
    first = blocks(artist)[0].rows
    assert first[0] == {
        "method": "MFCC mean+variance", "paper": "59.54", "line": "967", "ours": "60.5 ± 2.0",
        "diff.": "+1.0", "F1": "60.1/60.5", "paper's F1": "66.22", "runs": "1x6",
    }  # fmt: skip
    assert any(row["line"] == "972 (comment)" for row in first)


def test_numbers_are_as_long_as_the_paper_has_them():
    shown = [number(v) for v in (25.0, 16.74, 17.3, 1413.0, 2.5e-6, 0.0065, 0.0, None)]
    assert shown == ["25.0", "16.74", "17.3", "1413", "2.5e-06", "0.0065", "0.0", ""]
    row = Row("a", value=3.04, published=3.0, std=0.0, n_seeds=1, n_folds=1)
    assert (with_spread(row), difference(row)) == ("3.0", "+0.0")
    assert difference(replace(row, value=2.96)) == "+0.0"
    assert difference(replace(row, value=0.06, metric="time_s_1000x1000")) == "x 0.02"


def test_for_machines(genre, monkeypatch, wide, tmp_path):
    with_result(monkeypatch, genre)
    plain = json.loads(run("genre", "--data", tmp_path, "--format", "json").stdout)
    assert (plain["table"], len(plain["rows"])) == ("genre", 162)
    out = run("genre", "--data", tmp_path, "--format", "csv").stdout
    assert len(list(csv.DictReader(io.StringIO(out)))) == 162


def test_options_reach_the_run(genre, monkeypatch, wide, tmp_path):
    calls = with_result(monkeypatch, genre)
    run("genre", "--data", tmp_path, "--reading", "text", "--reading", "tuned",
        "--protocol", "5-fold", "--seeds", 2, "--quick", "--cache", tmp_path / "c",
        "--n-jobs", 1, "--memory-limit", "1 GB", "-q", "-o", tmp_path / "out")  # fmt: skip
    assert calls[0].pop("progress").__name__ == "silent"
    assert calls == [
        {
            "table": "genre", "folder": tmp_path, "readings": ["text", "tuned"],
            "protocols": ["5-fold"], "seeds": 2, "quick": True,
            "cache": tmp_path / "c", "n_jobs": 1, "memory_limit": "1 GB",
        }
    ]  # fmt: skip
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["genre.csv", "genre.html", "genre.json"]


def test_what_is_not_said_is_left_to_the_run(genre, monkeypatch, wide, tmp_path):
    calls = with_result(monkeypatch, genre)
    run("genre", "--data", tmp_path)
    assert calls[0].keys() == {"table", "folder", "n_jobs", "memory_limit", "progress"}


def test_ctrl_c_says_that_it_goes_on(monkeypatch, wide, tmp_path):
    def broken_off(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "run", broken_off)
    done = run("genre", "--data", tmp_path, code=130)
    assert MORE in done.stderr
    assert "interrupted" in done.stderr


def test_tables_are_listed_and_shown_without_data(wide):
    listed = json.loads(run("--format", "json").stdout)
    assert {"table": "genre", "title": "Music genre recognition", "published_figures": 18} in listed
    done = run("genre")
    assert done.stdout.count("error_pct") == 1  # what is the same in all lines is said once
    assert len(done.stdout.splitlines()) == 18 + 3
    assert "--data FOLDER" in done.stderr
    shown = json.loads(run("settings", "--format", "json").stdout)
    assert {"5-6", "(5,2)"} <= {figure["text"] for figure in shown}


def test_settings_are_only_quoted_where_data_are_at_hand_too(wide, tmp_path):
    done = run("settings", "--data", tmp_path)
    assert "VQ codewords" in done.stdout
    assert "cannot be computed" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["nothing"], 2, "TABLE='nothing' is not known"),
        (["genre", "--data", ".", "--reading", "loud"], 2, "no reading 'loud'"),
        (["homology", "--data", ".", "--protocol", "5-fold"], 2, "this table has no protocols"),
        (["genre", "-o", "out"], 2, "only work when a table is computed"),
        (["genre", "--kept"], 2, "only work when a table is computed"),
        (["settings", "--data", ".", "--seeds", "2"], 2, "only work when a table is computed"),
        (["datasets", "--data", "nowhere"], 3, "nowhere: is not there"),
        (["genre", "--data", ".", "-o", "no/such/place"], 6, "is not a folder"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, code, says, wide, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert says in run(*arguments, code=code).stderr

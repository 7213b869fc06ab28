"""The page about the paper's tables says what the results files say, and nothing else."""

import importlib.util
import re
from dataclasses import replace
from pathlib import Path

import pytest

from mvdfq.reproduce.claims import claims, remarks
from mvdfq.reproduce.published import TABLES, figures
from mvdfq.reproduce.result import Result, Row, read_json, write_csv, write_json
from mvdfq.reproduce.show import Block

ROOT = Path(__file__).parents[2]
# The 18 errors of the genre table as printed.
CELLS = [f for f in figures("genre") if (f.metric, f.status) == ("error_pct", "printed")]
FILES = sorted((ROOT / "benchmarks" / "results" / "paper").glob("*.json"))


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tool():
    return loaded(ROOT / "tools" / "write_reproduction.py")


@pytest.fixture(scope="module")
def program():
    return loaded(ROOT / "benchmarks" / "reproduce_paper.py")


def test_the_pages_are_what_the_results_say(tool):
    for path, make in ((tool.PAGE, tool.section), (tool.SHORT, tool.summary)):
        page = path.read_text()
        assert tool.filled(page, make) == page, "run python tools/write_reproduction.py"


def test_every_table_has_its_place(tool):
    for path in (tool.PAGE, tool.SHORT):
        marks = re.findall(r"<!-- ([\w-]+) -->", path.read_text())
        assert {*TABLES} - {"ismir", "ismir-compare"} <= {*marks}


def test_the_short_page_has_at_most_40_lines_of_findings(tool):
    text = tool.SHORT.read_text().partition("## What we found")[2].partition("## Data sets")[0]
    assert len([line for line in text.splitlines() if line.strip()]) <= 40


def test_the_short_table_shows_every_reading(tool, tmp_path, monkeypatch):
    monkeypatch.setattr(tool, "RESULTS", tmp_path)
    plain = {"published": 20.0, "protocol": "5-fold"}
    rows = [
        Row("VQ", reading="text", scheme="ovo", value=21.0, **plain),
        Row("VQ", reading="text", scheme="ovr", value=25.0, **plain),
        Row("VQ", reading="tuned", value=19.0, **plain),
        Row("VQ", reading="tuned", value=50.0, published=20.0, protocol="artist-disjoint"),
        Row("mine", reading="tuned", value=5.0),
    ]
    write_json(Result("genre", "t", rows), tmp_path / "genre.json")
    assert tool.summary("genre").splitlines()[2:3] == ["| VQ | 20.0 | 21.0 | 19.0 |"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_results_files_come_from_one_result(path, tmp_path):
    result = read_json(path)
    write_json(result, tmp_path / "again.json")
    write_csv(result, tmp_path / "again.csv")
    assert (tmp_path / "again.json").read_text() == path.read_text()
    assert (tmp_path / "again.csv").read_text() == path.with_suffix(".csv").read_text()
    assert any(row.value is not None for row in result.rows)
    assert result.claims == claims(result.rows)
    assert result.remarks == remarks(result.table)
    places = [(*row.place, row.reading, row.protocol, row.scheme) for row in result.rows]
    assert len(set(places)) == len(places)


def test_a_later_run_of_some_cells_adds_to_a_result(program):
    seen = {"reading": "text", "protocol": "5-fold"}
    many = Row("VQ", scheme="ovo", value=21.4, n_seeds=5, **seen)
    once = Row("MVDFQ", scheme="ovo", value=30.0, n_seeds=1, **seen)
    lacking = Row("Sim. hashing", note="not run yet", **seen)
    old = Result("genre", "t", [many, once, lacking], facts={"threads": 1})
    again = replace(many, value=20.8, n_seeds=1)
    rest = replace(again, scheme="ovr", value=20.1)
    hashing = replace(lacking, note="", value=25.0, n_seeds=1)
    new = Result("genre", "t", [again, rest, hashing, Row("DTW", note="not run yet", **seen)])
    merged = program.merged
    found = merged(old, new)
    assert found.rows == [many, rest, once, hashing, new.rows[-1]]
    better = merged(old, Result("genre", "t", [replace(once, value=29.0)])).rows
    assert better == [many, replace(once, value=29.0), lacking]


def test_cells_cannot_break_a_table(tool):
    text = tool.markdown(Block("", [{"name": "a|b<c", "value": 1.23456}], ["below"]))
    assert text.splitlines()[2] == "| a\\|b&lt;c | 1.235 |"
    assert text.splitlines()[-2] == "- below"


def test_an_ordering_is_counted(tool):
    low, high = Row("a", value=1.0), Row("b", value=2.0)
    for pairs, rooted, ours, reached in [
        ([(low, high), (high, low)], [], "1 of 2", "no"),
        ([(low, high), (high, high)], [], "1 of 2", "no"),
        ([(low, high)], [(low, high)], "2 of 2 (1 of 1 with the manifold)", "yes"),
        ([(low, high), (low, None)], [], "1 of 1, 1 not run", ""),
        ([(high, low)], [(None, high)], "0 of 1, 1 not run", "no"),
        ([(None, low)], [], "not run", ""),
    ]:
        line = tool.compared("order", pairs, rooted)
        assert (line["ours"], line["reached"]) == (ours, reached)


@pytest.fixture
def inferred(tool, tmp_path, monkeypatch):
    """Write a genre table whose inferred cells lie a given number of points above print."""
    monkeypatch.setattr(tool, "RESULTS", tmp_path)

    def write(gaps):
        rows = [
            Row(f.name, f.kernel, f.manifold, reading="inferred", scheme="ovr", protocol="5-fold",
                published=f.value, value=f.value + gap, std=1.0, n_seeds=2, n_folds=5)
            for f, gap in zip(CELLS, gaps, strict=False)
        ]  # fmt: skip
        strict = replace(rows[0], protocol="fault-filtered", value=40.0)
        text = replace(rows[0], reading="text", scheme="ovo", value=35.0)
        other = Row("VQ, the author's codewords", reading="inferred", scheme="ovr", value=1.0)
        write_json(Result("genre", "t", [*rows, strict, text, other]), tmp_path / "genre.json")

    return write


def reached(tool):
    return [(line["ours"], line["reached"]) for line in tool.inferred_targets()]


def test_inferred_cells_near_print_are_counted(tool, inferred):
    mine = [f.name == "MVDFQ" for f in CELLS]
    best = [(f.kernel, f.manifold) == ("SSSK", "yes") for f in CELLS]
    assert (len(mine), sum(mine)) == (18, 6)
    inferred([2.0 if own else 4.0 for own in mine])
    assert reached(tool) == [("2.0", "no"), ("6 of 6", "yes"), ("6 of 18", "no")]
    inferred([-0.5 if first else 2.9 for first in best])
    assert reached(tool) == [("0.5", "yes"), ("1 of 6", "no"), ("18 of 18", "yes")]
    inferred([1.0] * 9)
    n = sum(mine[:9])
    assert reached(tool)[-2:] == [(f"{n} of 6, {6 - n} not run", ""), ("9 of 18, 9 not run", "")]


def test_inferred_cells_stand_beside_print(tool, inferred):
    inferred([1.0] * 18)
    lines = tool.beside_print()
    assert len(lines) == 18
    assert lines[0] == {
        "cell": f"{CELLS[0].name}, {CELLS[0].kernel}",
        "paper": CELLS[0].text,
        "inferred": f"{CELLS[0].value + 1:.1f} ± 1.0",
        "diff.": "+1.0",
        "runs": "2x5",
        "text, one-vs-one": "35.0",
        "text, one-vs-rest": "",
        "inferred, artist-disjoint": "",
        "inferred, fault-filtered": "40.0",
    }

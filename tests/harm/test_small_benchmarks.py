"""Small versions of benchmarks/bench_load.py."""

import importlib
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Every sequence has more channels"),
    pytest.mark.skipif(sys.platform == "win32", reason="the script asks POSIX for memory"),
]


@pytest.fixture(scope="module")
def bench():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
        yield importlib.import_module("bench_load")


def lines_of(bench, work, share):
    log = bench.Log()
    bench.WORKS[work](log, share)
    return {line["step"]: line for line in log.lines}


def test_predictions_are_flat_in_memory(bench):
    line = lines_of(bench, "50 000 predictions", 0.01)["predict"]
    assert line["grown_mb"] < 20
    assert line["seconds"] >= 0
    assert line["peak_mb"] > 50


@pytest.mark.parametrize(
    ("work", "share", "steps"),
    [
        ("a million frames", 0.01, {"fit", "predict", "explain"}),
        ("2000 channels", 0.02, {"fit", "predict", "explain"}),
        ("1000 classes", 0.03, {"fit", "predict"}),
    ],
)
def test_large_collections(bench, work, share, steps):
    assert lines_of(bench, work, share).keys() == steps


@pytest.mark.long
def test_callers_get_the_same_bits(bench):
    found = lines_of(bench, "many callers", 0.1)
    assert found.keys() == {"8 threads", "fork", "spawn", "loky"}
    assert {line["remark"] for line in found.values()} == {"the same bits"}


@pytest.mark.long
def test_many_sequences_at_the_command_line(bench):
    found = lines_of(bench, "100 000 sequences", 0.005)
    assert found.keys() == {"mvdfq train", "mvdfq predict"}
    assert all(line["remark"].endswith("lines of progress") for line in found.values())

"""Results of benchmarks/bench_archive.py: their layout, their resamples, and what is computed."""

import sys

import numpy as np
import pytest

import mvdfq
from mvdfq.io import write_ts


@pytest.fixture
def bench(load):
    return load("bench_archive")


@pytest.fixture
def archive(tmp_path):
    """Return a folder of two problems: one in a folder of its own, one as flat files."""
    X, y = mvdfq.make_autoregressive(n_sequences=24, n_classes=2, n_timepoints=30, random_state=0)
    labels = np.array(["up", "down"])[np.asarray(y, int)]
    for folder, name in [(tmp_path / "in" / "Libras", "Libras"), (tmp_path / "in", "Waves")]:
        folder.mkdir(parents=True, exist_ok=True)
        write_ts(folder / f"{name}_TRAIN.ts", X[:14], labels[:14])
        write_ts(folder / f"{name}_TEST.ts", X[14:], labels[14:])
    return tmp_path / "in"


def test_a_file_has_three_lines_about_the_run_and_one_per_case(bench, archive, tmp_path, capsys):
    bench.run(archive, tmp_path / "out", ["fast"], 2, [])
    for name in ("Libras", "Waves"):
        for i in (0, 1):
            path = tmp_path / f"out/mvdfq-fast/Predictions/{name}/testResample{i}.csv"
            first, _, third, *cases = path.read_text().splitlines()
            assert first.split(",")[:5] == [name, "mvdfq-fast", "TEST", str(i), "MILLISECONDS"]
            assert "down=0 up=1" in first
            numbers = third.split(",")
            assert (len(numbers), numbers[5], len(cases)) == (9, "2", 10)
            rows = [case.split(",") for case in cases]
            assert all(row[2] == "" and len(row) == 5 for row in rows)
            true, guess, p = (np.array([row[k:m] for row in rows], float)
                              for k, m in [(0, 1), (1, 2), (3, 5)])  # fmt: skip
            np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)
            np.testing.assert_array_equal(p.argmax(axis=1), guess[:, 0])
            assert float(numbers[0]) == pytest.approx(np.mean(true == guess))
    said = capsys.readouterr().out
    assert "2 problems" in said
    assert "NATOPS" in said
    assert "Libras," not in said


def test_what_is_there_is_not_computed_again(bench, archive, tmp_path, monkeypatch, capsys):
    bench.run(archive, tmp_path, ["fast"], 1, ["Waves"])
    before = capsys.readouterr().out
    monkeypatch.setattr(bench, "load", lambda files: pytest.fail("the result is there"))
    bench.run(archive, tmp_path, ["fast"], 1, ["Waves", "Cricket"])
    assert "Waves fast resample 0" in before
    assert "not there: Cricket" in capsys.readouterr().out


def test_resample_0_is_the_split_and_others_redraw_class_by_class(bench):
    codes = np.array([0, 0, 1, 1, 1, 0, 1, 1, 0, 0])
    train, test = bench.drawn(codes, 5, 0)
    assert (train.tolist(), test.tolist()) == ([0, 1, 2, 3, 4], [5, 6, 7, 8, 9])
    train, test = bench.drawn(codes, 5, 1)
    # numpy's generator with seed 1 shuffles [0, 1, 5, 8, 9] first, then [2, 3, 4, 6, 7]
    random = np.random.RandomState(1)
    order = [random.permutation(5) for _ in range(2)]
    first, second = np.array([0, 1, 5, 8, 9])[order[0]], np.array([2, 3, 4, 6, 7])[order[1]]
    assert train.tolist() == [*first[:2], *second[:3]]
    assert test.tolist() == [*first[2:], *second[3:]]


def test_without_a_folder_the_script_says_what_it_needs(bench, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["bench_archive.py"])
    bench.main()
    assert "needs a folder of .ts files" in capsys.readouterr().out

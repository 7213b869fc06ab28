"""The command line on real folders and tables: what new users have, and what they read."""

import json

import pytest

from commands import run


def fasta(path, headers, residues="MVLSPADK"):
    path.write_text("".join(f">{header}\n{residues}\n" for header in headers))
    return path


# FASTA ------------------------------------------------------------------------------------------


def test_headers_that_repeat_are_labels(tmp_path):
    path = fasta(tmp_path / "a.fasta", ["1", "0"] * 20)
    out, err = run("inspect", path)
    assert "0               20" in out
    assert "skipped" not in err
    assert err.splitlines()[0] == "the headers repeat and are read as labels: '1' (20), '0' (20)"
    assert len(json.loads(run("inspect", path, "--format", "json")[0])["remarks"]) == 1


def test_lists_of_problems_are_cut_off(tmp_path):
    path = fasta(tmp_path / "a.fasta", [f"x{i}" for i in range(40)])
    path.write_text(path.read_text() + ">empty\n" * 30)
    _, err = run("inspect", path)
    assert err.count("bad: ") == 10
    assert err.endswith("... and 20 more bad\n")
    _, err = run("gram", path, "-o", tmp_path / "K.npy", "--skip-bad", "-q")
    assert err.count("skipped: ") == 10
    assert err.endswith("... and 20 more skipped\n")


@pytest.mark.parametrize("command", [["inspect"], ["train", "--skip-bad", "-o", "a.mvdfq"]])
def test_fewer_than_half_of_the_records_kept_is_an_error(tmp_path, command):
    path = fasta(tmp_path / "a.fasta", [f"x{i}" for i in range(4)])
    path.write_text(path.read_text() + ">empty\n" * 5)
    _, err = run(*command, path, code=3, cwd=tmp_path)
    assert "only 4 of 9 sequences can be read" in err
    assert "hint: the first problem: " in err

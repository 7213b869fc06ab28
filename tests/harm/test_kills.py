"""Commands that are killed lose nothing; tools/kill.py kills them."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the script forks")
TOOL = Path(__file__).parents[2] / "tools" / "kill.py"
TARGETS = ["gram", "extract", "train", "save", "report", "reproduce"]


def killed(target, n):
    """Run the script that kills `n` times."""
    command = [sys.executable, TOOL, target, "--kills", str(n)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"{target} | {n} | ")


@pytest.mark.slow
def test_kills_do_not_change_the_matrix():
    killed("gram", 2)


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS)
def test_ten_kills_lose_nothing(target):
    killed(target, 10)


@pytest.fixture(scope="module")
def kill():
    return pytest.importorskip("kill")


def test_the_script_sees_a_half_written_file(kill, tmp_path):
    files = {"a.csv": "x,seconds\n1,0.5\n", "a.json": "[1, 2]", "a.html": "<p>whole</p>"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    allowed = [kill.contents(tmp_path)]
    (tmp_path / "a.csv").write_text("x,seconds\n1,0.7\n")  # only the time is another
    (tmp_path / ".K.npy.0.unfinished").write_text("half")
    assert list(kill.damaged(tmp_path, allowed)) == []
    for name, text in files.items():
        (tmp_path / name).write_text(text[: len(text) // 2])
    (tmp_path / "b.mvdfq").write_bytes(b"PK")
    found = sorted(problem.partition(" ")[0] for problem in kill.damaged(tmp_path, allowed))
    assert found == [*sorted(files), "b.mvdfq"]


@pytest.mark.parametrize(
    ("code", "said", "is_good"),
    [
        (130, "error: interrupted.\n", True),
        (1, "error: interrupted.\n", False),
        (130, "", False),
        (130, "error: interrupted.\nTraceback (most recent call last)\n", False),
    ],
)
def test_the_script_reads_what_a_program_says(kill, code, said, is_good, tmp_path):
    (tmp_path / "said").write_text(said)
    process = SimpleNamespace(code=code, said=tmp_path / "said")
    assert (kill.said_badly(process) == []) == is_good


def test_the_script_knows_strays(kill):
    assert kill.is_stray(".0123456789abcdef.00.unfinished")
    assert not kill.is_stray(".K.npy.0123.journal")
    assert not kill.is_stray("cache/features/00/.1.2.unfinished")
    assert not kill.is_stray("a.html")

"""The demonstration runs as `make demo` runs it, and classifies well."""

import math
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRIPT = "examples/demo.py"


def test_make_demo_runs_the_script():
    assert f"\n\t@$(PY) {SCRIPT}\n" in (ROOT / "Makefile").read_text()


def test_demo_prints_a_table_of_small_errors():
    # Warnings would frighten whoever tries the package first.
    command = [sys.executable, "-W", "error", SCRIPT]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stderr) == (0, "")
    _, table, why, farewell = shown.stdout.split("\n\n")
    numbers = [[float(cell) for cell in row.split()[-3:]] for row in table.splitlines()[1:]]
    assert all(math.isfinite(cell) for row in numbers for cell in row)
    assert numbers[0][0] < 5  # the default
    assert "by speaker" in why
    assert why.count(" at frame ") == 5
    assert farewell.count(".") >= 1

"""The demonstration runs as `make demo` runs it, and classifies well."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def demo(*options):
    # Warnings would frighten whoever tries the package first.
    command = [sys.executable, "-W", "error", "-m", "mvdfq", "demo", *options]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    return shown.stdout, shown.stderr


def test_make_demo_runs_the_command():
    assert "\n\t@$(VENV)/bin/mvdfq demo\n" in (ROOT / "Makefile").read_text()


def test_demo_shows_errors_and_reasons():
    out, err = demo()
    assert "the default" in out
    assert "Why utterance 0 is by speaker 1" in out
    assert out.count(" at frame ") == 5
    assert "mvdfq train --help" in err


def test_demo_classifies_well():
    out, err = demo("--format", "json", "-q")
    assert err == ""
    errors = {row["classifier"]: row["error %"] for row in json.loads(out)["classifiers"]}
    assert errors["the default"] < 5
    assert max(errors.values()) < 15

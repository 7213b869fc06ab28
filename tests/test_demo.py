"""The demonstration runs as `make demo` runs it, and classifies well."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def demo(folder, *options):
    # Warnings would frighten whoever tries the package first.
    command = [sys.executable, "-W", "error", "-m", "mvdfq", "demo", *options]
    shown = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    return shown.stdout, shown.stderr


def test_make_demo_runs_the_command():
    assert "\n\t@$(VENV)/bin/mvdfq demo\n" in (ROOT / "Makefile").read_text()


def test_demo_shows_errors_and_reasons(tmp_path):
    out, err = demo(tmp_path)
    assert "the default" in out
    assert "Why utterance 0 is by speaker 1" in out
    assert out.count(" at frame ") == 5
    assert "mvdfq train --help" in err
    assert str(tmp_path / "mvdfq-demo.html") in err
    assert "Japanese vowels" in (tmp_path / "mvdfq-demo.html").read_text(encoding="utf-8")
    numbers = json.loads((tmp_path / "mvdfq-demo.json").read_text())
    assert numbers["verdict"]["n"] == 370
    assert numbers["verdict"]["baselines"][1]["accuracy"] > 0.9


def test_demo_classifies_well(tmp_path):
    out, err = demo(tmp_path, "--format", "json", "-q")
    assert err == ""
    errors = {row["classifier"]: row["error %"] for row in json.loads(out)["classifiers"]}
    assert errors["the default"] < 5
    assert max(errors.values()) < 15

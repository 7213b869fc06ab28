"""The demonstration runs as `make demo` runs it, and classifies well."""

import json
import re
import subprocess
import sys
from pathlib import Path

from commands import run

ROOT = Path(__file__).parents[2]


def demo(folder, *options):
    # Warnings would frighten whoever tries the package first.
    command = [sys.executable, "-W", "error", "-m", "mvdfq", "demo", *options]
    shown = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    return shown.stdout, shown.stderr


def test_make_demo_runs_the_command():
    assert "\n\t@$(VENV)/bin/mvdfq demo\n" in (ROOT / "Makefile").read_text()


def test_demo_shows_errors_reasons_and_what_comes_next(tmp_path):
    out, err = demo(tmp_path)
    assert "the default" in out
    assert "Why is utterance 1 by speaker 1? It is truly by speaker 1." in out
    assert "frames, counted from 0, that speak for" in out
    assert "mvdfq evaluate FOLDER" in out
    seconds = int(re.search(r"The demonstration took (\d+) s", err)[1])
    assert seconds >= 1
    assert str(tmp_path / "mvdfq-demo.html") in err
    assert "Japanese vowels" in (tmp_path / "mvdfq-demo.html").read_text(encoding="utf-8")
    numbers = json.loads((tmp_path / "mvdfq-demo.json").read_text())
    assert numbers["verdict"]["n"] == 370
    assert numbers["verdict"]["baselines"][1]["accuracy"] > 0.9


def test_demo_classifies_well(monkeypatch):
    monkeypatch.setattr("mvdfq.cli.demo._report", lambda *_: Path("page.html"))  # tested above
    out, err = run("demo", "--format", "json", "-q")
    assert err == ""
    errors = {row["classifier"]: row["error_percent"] for row in json.loads(out)["classifiers"]}
    assert errors["the default"] < 5
    assert max(errors.values()) < 15

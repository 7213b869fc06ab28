"""The examples run as they are, without a warning, and classify well above chance."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import SMALL

ROOT = Path(__file__).parents[2]


def shown_by(script):
    command = [sys.executable, "-W", "error", f"examples/{script}"]
    shown = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    return shown.stdout


@pytest.mark.long
@pytest.mark.skipif(SMALL, reason="takes minutes where the compiler is off")
def test_digits_are_recognised_in_every_walk():
    _, table = shown_by("digits.py").split("\n\n")
    accuracies = [float(a) for a in re.findall(r"([\d.]+) ± ", table)]
    assert len(accuracies) == 3
    assert min(accuracies) > 90


@pytest.mark.slow
@pytest.mark.skipif(SMALL, reason="takes minutes where the compiler is off")
def test_the_fewest_bins_within_one_standard_error_are_chosen():
    *scores, last = shown_by("how_many_bins.py").splitlines()
    best = max(float(line.split()[-1]) for line in scores)
    chosen, accuracy = int(re.findall(r"n_bins': (\d+)", last)[0]), float(last.split()[-1])
    (score,) = (float(line.split()[-1]) for line in scores if int(line.split()[0]) == chosen)
    assert best - 0.03 < score
    assert chosen < 32
    assert accuracy > 0.95


# `make docs` runs every example, and test_figures.py draws every figure.
@pytest.mark.long
@pytest.mark.skipif(SMALL, reason="takes minutes where the compiler is off")
def test_speakers_are_recognised_and_drawn():
    pytest.importorskip("matplotlib")
    accuracy = float(shown_by("speakers.py").partition("%")[0])
    assert accuracy > 97


@pytest.mark.skipif(SMALL, reason="takes minutes where the compiler is off")
def test_languages_are_recognised_by_characters_and_by_words():
    _, table, why = shown_by("text.py").split("\n\n")
    accuracies = [float(line.split()[-1]) for line in table.splitlines()[1:]]
    assert accuracies[0] > 85
    assert accuracies[1] > 60
    assert "is German" in why
    assert why.count(" at position ") == 3
    assert "'IE ' at position" in why  # text is read in upper case

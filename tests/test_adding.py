"""The worked examples of CONTRIBUTING.md, carried out in a copy of the package."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COPIED = ["pyproject.toml", "docs/guide", "src/mvdfq"]
COPIED += [f"tests/{name}.py" for name in ("naive", "naive_numbers", "twins", "test_parts")]

# A step: the path of a file in backticks, what is done, a colon, and the block of text.
STEP = re.compile(r"^`([^`\n]+)`, ([^\n]*):\n\n```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)

EXAMPLES = {"A kernel": "Distant", "A quantizer": "SignQuantizer"}


def steps(title):
    """The steps of one section: file, what is done to it, text."""
    section = (ROOT / "CONTRIBUTING.md").read_text().partition(f"### {title}\n")[2]
    return STEP.findall(re.split(r"^##", section, flags=re.MULTILINE)[0])


@pytest.fixture
def package(tmp_path):
    for name in COPIED:
        source, target = ROOT / name, tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            # without what numba compiled; with what Python compiled, which saves half of the time
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.nbi", "*.nbc"))
        else:
            shutil.copy(source, target)
    return tmp_path


def carry_out(package, path, action, text):
    """Write a new file, or add lines to a file: at its end or at the beginning of a table."""
    file = package / path
    assert file.exists() != action.startswith("new"), path
    table = re.search(r" in `(\w+)`$", action)
    before = file.read_text() if file.exists() else ""
    if table is None:
        file.write_text(f"{before}\n\n{text}" if before else text)
    else:
        first = f"\n{table[1]} = {{\n"
        assert before.count(first) == 1
        file.write_text(before.replace(first, first + text))


def check_parts(package, name, *files):
    """Run the tests of one part, without the compiler, which would start anew in the copy."""
    tests = ["tests/test_parts.py", *files, "-k", f"{name} or every_part", "-x", "-q"]
    paths = os.pathsep.join(str(package / folder) for folder in ("src", "tests"))
    environment = os.environ | {"PYTHONPATH": paths, "NUMBA_DISABLE_JIT": "1"}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # starts sooner
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *tests]
    return subprocess.run(command, cwd=package, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("title", EXAMPLES)
def test_an_example_is_a_whole_part(title, package):
    for path, action, text in steps(title):
        carry_out(package, path, action, text)
    (new,) = [path for path, action, _ in steps(title) if action == "new"]
    done = check_parts(package, EXAMPLES[title], new)
    assert done.returncode == 0, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= 8


@pytest.mark.parametrize("forgotten", range(1, 6), ids=lambda i: steps("A kernel")[i][0])
def test_a_step_that_is_forgotten_is_noticed(forgotten, package):
    for number, step in enumerate(steps("A kernel")):
        if number != forgotten:
            carry_out(package, *step)
    assert check_parts(package, "Distant").returncode in (1, 2)

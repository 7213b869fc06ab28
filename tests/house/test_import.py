"""`import mvdfq` is quick, and every public name is there all the same."""

import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

import mvdfq

ROOT = Path(__file__).parents[2]
HEAVY = {"numpy", "scipy", "sklearn", "numba", "pandas", "torch"}


def run(code):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def seconds(code):
    start = time.perf_counter()
    run(code)
    return time.perf_counter() - start


def test_import_loads_nothing_heavy():
    loaded = set(run("import mvdfq, sys; print(*sys.modules)").split())
    assert "mvdfq" in loaded
    assert not HEAVY & loaded
    assert not {name for name in loaded if name.startswith("mvdfq.")}


def test_import_is_quick():
    # Best of five, since others may be busy on the machine.
    bare = min(seconds("pass") for _ in range(5))
    ours = min(seconds("import mvdfq") for _ in range(5))
    inside = "import time; t = time.perf_counter(); import mvdfq; print(time.perf_counter() - t)"
    assert min(float(run(inside)) for _ in range(5)) < 0.2
    assert ours - bare < 0.2


NAMES = sorted(set(mvdfq.__all__) - {"__version__", "figures", "io", "reproduce"})


@pytest.mark.parametrize("name", NAMES)
def test_public_name_resolves(name):
    value = getattr(mvdfq, name)
    assert value.__name__ == name
    assert value.__module__.startswith("mvdfq.")


def test_dir_lists_names_not_yet_imported():
    listed = run("import mvdfq; print(*dir(mvdfq))").split()
    assert {*mvdfq.__all__, "__version__"} <= set(listed)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="No mvdfq attribute Spectra"):
        mvdfq.Spectra  # noqa: B018


def test_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert mvdfq.__version__ == project["version"]
    assert f"\nversion: {project['version']}\n" in (ROOT / "CITATION.cff").read_text()

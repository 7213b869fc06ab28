"""What README.md and the guide show is run, and what they link to exists.

The Python blocks of one page are executed one after the other. Shell commands are run as written,
except the commands in INSTEAD, for the reasons that INSTEAD gives. The first command of each name
is run by a shell, the others, on all pages, in this process, which saves the time to start.
"""

import contextlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from commands import run

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
# The blocks of a tutorial build on each other, whatever their language.
TUTORIALS = [page for page in PAGES if page.parent.name == "tutorials" and page.stem != "index"]

# The commands of the package lie beside the interpreter, which need not be on the path.
BESIDE = str(Path(sys.executable).parent)
WITH_COMMANDS = os.environ | {"PATH": os.pathsep.join([BESIDE, os.environ.get("PATH", "")])}

STARTED = set()  # names of commands that a shell has run
INSTEAD = {
    "make test": "make test would start itself again",
    "make quick": "make quick would start itself again",
    "make demo": "test_demo.py runs the command that make demo runs",
    "pip install .": "pip would change what is being tested; make test installs the package",
    "uv tool install .": "uv would install a command for the user who runs the tests",
    "uvx --from . mvdfq demo": "uv need not be there; test_demo.py runs the command",
}


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


def commands(page):
    lines = "".join(blocks(page, "sh")).splitlines()
    return [command for line in lines if (command := line.partition("#")[0].strip())]


def with_blocks(language):
    pages = [page for page in PAGES if page not in TUTORIALS and blocks(page, language)]
    return pytest.mark.parametrize("page", pages, ids=lambda page: str(page.relative_to(ROOT)))


@with_blocks("python")
def test_python_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what they write is not ours to keep
    namespace = {}
    for block in blocks(page, "python"):
        exec(compile(block, page, "exec"), namespace)


@with_blocks("sh")
def test_shell_commands_run(page, tmp_path):
    for command in commands(page):
        if command in INSTEAD:
            continue
        name, *arguments = shlex.split(command)
        if name in STARTED and name in ("mvdfq", "python"):
            run_here(name, arguments, tmp_path)
            continue
        STARTED.add(name)
        # what the package's own commands write is not ours to keep
        place = tmp_path if name in ("mvdfq", "python") else ROOT
        subprocess.run(
            command, shell=True, cwd=place, check=True, capture_output=True, env=WITH_COMMANDS
        )


def run_here(name, arguments, place):
    """Run a command of the package, or ``python -c CODE``, in this process."""
    if name == "mvdfq":
        run(*arguments, cwd=place)
        return
    flag, code = arguments
    assert flag == "-c"
    with contextlib.chdir(place):
        exec(code, {})


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MVDFQ_CACHE", str(tmp_path / "cache"))
    namespace = {}
    blocks = re.findall(r"^```(python|sh)\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
    for language, block in blocks:
        if language == "python":
            exec(compile(block, page, "exec"), namespace)
            continue
        for command in block.splitlines():
            name, *arguments = shlex.split(command)
            assert name == "mvdfq"
            run(*arguments)
    assert [*tmp_path.glob("*.html")], "a tutorial ends in a report page"


def test_readme_opens_with_the_two_commands():
    assert commands(ROOT / "README.md")[:2] == ["make demo", "make test"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        made = target == "gallery/index.rst"  # by `make docs`, which checks the links of the site
        assert made or "://" in target or (page.parent / target).exists(), target

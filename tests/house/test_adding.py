"""The worked examples of CONTRIBUTING.md, carried out in a copy of the package."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COPIED = ["pyproject.toml", "docs/guide", "docs/api.rst", "src/mvdfq"]
TESTS = ["house/test_parts", "house/test_site", "cli/test_cli_parts"]
COPIED += ["tests/naive", "tests/twins.py", "tests/commands.py"]
COPIED += [f"tests/{name}.py" for name in (*TESTS, "cli/test_cli", "pages/test_pages")]

# A step: the path of a file in backticks, what is done, a colon, and the block of text.
STEP = re.compile(r"^`([^`\n]+)`, ([^\n]*):\n\n```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)

EXAMPLES = {"A kernel": "Distant", "A quantizer": "SignQuantizer", "A term": "MeanTerm"}
# Tests that look at all parts at once.
OF_ALL = "every_part or nothing_more or public_name or lists_of_values"


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
            shutil.copytree(source, target)  # with what Python and numba compiled
        else:
            shutil.copy(source, target)
    return tmp_path


# The words of a step that name a place, the place in the file, and what stands there then.
CHANGES = [
    (r" in `([\w.]+)`$", r"^ *{}(: .*)? = [{{(\[]\n", lambda place, text: place + text),
    (r" before `(\w+)`$", r"^(#.*\n)*{}\b.* = ", lambda place, text: f"{text}\n\n{place}"),
    (r" before the line of `(.+)`$", r"^ *{}.*\n", lambda place, text: text + place),
    (r" in place of the line of `(.+)`$", r"^ *{}.*\n", lambda place, text: text),
]


def carry_out(package, path, action, text):
    """Write a new file, or change a file as the words of a step say: at its end if at no place."""
    file = package / path
    assert file.exists() != action.startswith("new"), path
    before = file.read_text() if file.exists() else ""
    for words, place, put in CHANGES:
        if found := re.search(words, action):
            (at,) = re.finditer(place.format(re.escape(found[1])), before, re.MULTILINE)
            file.write_text(before[: at.start()] + put(at[0], text) + before[at.end() :])
            return
    file.write_text(f"{before}\n\n{text}" if before else text)


def check_parts(package, name, *files, most=1):
    """Run the tests of one part, until `most` of them fail."""
    tests = [*(f"tests/{one}.py" for one in TESTS), *files]
    return run_tests(package, *tests, "-k", f"{name} or {OF_ALL}", f"--maxfail={most}")


def failed(done):
    """The names of the tests that failed, without their parameters."""
    return set(re.findall(r"^FAILED [^ ]*::(\w+)", done.stdout, re.MULTILINE))


def run_tests(package, *tests, compiled=False):
    """Run tests in the copy, without the compiler unless all loops were compiled before."""
    paths = os.pathsep.join(str(package / folder) for folder in ("src", "tests"))
    environment = os.environ | {"PYTHONPATH": paths, "NUMBA_DISABLE_JIT": str(1 - compiled)}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # starts sooner
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *tests]
    command += ["-W", "ignore:overflow encountered"]  # compiled loops let hashes overflow
    return subprocess.run(command, cwd=package, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("title", EXAMPLES)
def test_an_example_is_a_whole_part(title, package):
    for path, action, text in steps(title):
        carry_out(package, path, action, text)
    (new,) = [path for path, action, _ in steps(title) if action == "new"]
    done = check_parts(package, EXAMPLES[title], new)
    assert done.returncode == 0, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= 8


# Steps of a kernel that write a line into a list are forgotten together: each has its own test.
FORGOTTEN = [("A kernel", forgotten) for forgotten in ([1], [2], [3], [4], [5, 6, 7])]
FORGOTTEN += [
    pytest.param("A term", [i], marks=pytest.mark.long) for i in range(1, len(steps("A term")))
]


@pytest.mark.parametrize(("title", "forgotten"), FORGOTTEN)
def test_a_step_that_is_forgotten_is_noticed(title, forgotten, package):
    for number, step in enumerate(steps(title)):
        if number not in forgotten:
            carry_out(package, *step)
    done = check_parts(package, EXAMPLES[title], most=len(forgotten))
    assert done.returncode in (1, 2)
    assert len(forgotten) == 1 or len(failed(done)) == len(forgotten), done.stdout


# Tests that a recipe must pass, by the title of the recipe.
DEMANDED = {
    "A command-line option": ("tests/cli/test_cli.py", "not_sure or help_shows_an_example"),
    "A panel of the page": (
        "tests/pages/test_pages.py",
        "sssk and (by_length or schema or policy)",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("title", DEMANDED)
def test_an_option_and_a_panel_work(title, package):
    for path, action, text in steps(title):
        carry_out(package, path, action, text)
    file, names = DEMANDED[title]
    done = run_tests(package, file, "-k", names, compiled=True)
    assert done.returncode == 0, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= 2


@pytest.mark.long
def test_a_panel_that_the_guide_does_not_describe_is_noticed(package):
    for path, action, text in steps("A panel of the page"):
        if not path.startswith("docs"):
            carry_out(package, path, action, text)
    assert run_tests(package, "tests/pages/test_pages.py", "-k", "sssk and schema").returncode == 1


def test_files_that_the_page_names_exist():
    page = (ROOT / "CONTRIBUTING.md").read_text()
    new = {path for path, action, _ in STEP.findall(page) if action == "new"}
    named = set(re.findall(r"`((?:src|tests|docs|benchmarks)/[\w./]+\.\w+)`", page))
    named |= {
        f"src/mvdfq/{path}" for path in re.findall(r"`((?:classifier|terms)/[\w/]+\.py)`", page)
    }
    new |= {path for path in named if path.endswith("/spaced.py")}  # of test_reader_example.py
    assert [path for path in sorted(named - new) if not (ROOT / path).exists()] == []

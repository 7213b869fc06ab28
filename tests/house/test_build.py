"""What is released: an sdist and a wheel that install and run where nothing else is installed."""

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.long


def run(*command, cwd):
    """Run a command outside of the repository; return what it wrote."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(folder):
    """Build an sdist and a wheel into a folder, with a fixed time in both."""
    pytest.importorskip("build", reason="the package build is not installed")
    os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
    run(sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT), cwd=folder)
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(tmp_path_factory.mktemp("dist"))


def test_the_files_hold_what_they_should(built):
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    names = zipfile.ZipFile(wheel).namelist()
    data = ["pages/assets/page.html", "reproduce/published.csv", "cli/options.toml", "cli/card.md"]
    data += ["io/source.toml"]
    for name in ("py.typed", "__init__.pyi", *data):
        assert f"mvdfq/{name}" in names
    assert not [name for name in names if name.startswith(("tests", "docs"))]
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "LICENSE", "tests/conftest.py", "docs/conf.py"} <= inside
    unwanted = (".ci/", "build/", "docs/gallery/", "docs/api/")
    assert not [name for name in inside if name.startswith(unwanted)]


def test_a_second_build_has_the_same_bytes(built, tmp_path):
    again = build(tmp_path)
    for path in sorted(built.iterdir()):
        assert path.read_bytes() == (again / path.name).read_bytes(), path.name


def test_the_description_is_accepted(built):
    pytest.importorskip("twine", reason="the package twine is not installed")
    files = map(str, built.iterdir())
    assert "PASSED" in run(sys.executable, "-m", "twine", "check", "--strict", *files, cwd=built)


def test_the_conda_recipe_has_the_bounds_of_the_project():
    recipe = (ROOT / "conda/recipe.yaml").read_text().replace("pysoundfile", "soundfile")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f'version: "{project["version"]}"' in recipe
    for needed in project["dependencies"]:
        assert f"    - {needed.replace('>=', ' >=')}\n" in recipe
    rattler_build = pytest.importorskip("rattler_build", reason="rattler-build is not installed")
    (rendered,) = rattler_build.Stage0Recipe.from_file(str(ROOT / "conda/recipe.yaml")).render()
    assert len(rendered.recipe.requirements.run) == len(project["dependencies"]) + 1


def test_the_wheel_runs_the_demo_in_an_empty_environment(built, tmp_path):
    run(sys.executable, "-m", "venv", "empty", cwd=tmp_path)
    place = "Scripts/python.exe" if os.name == "nt" else "bin/python"
    python = str(tmp_path / "empty" / place)
    (wheel,) = built.glob("*.whl")
    run(python, "-m", "pip", "install", "--quiet", str(wheel), cwd=tmp_path)
    shown = run(python, "-m", "mvdfq", "demo", cwd=tmp_path)
    assert "Who is speaking?" in shown
    assert (tmp_path / "mvdfq-demo.html").stat().st_size > 100_000
    version = run(python, "-c", "import mvdfq; print(mvdfq.__version__)", cwd=tmp_path).strip()
    assert version in wheel.name


def test_the_lower_bound_of_the_build_backend_is_true(tmp_path):
    (needed,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    run(sys.executable, "-m", "venv", "oldest", cwd=tmp_path)
    place = "Scripts/python.exe" if os.name == "nt" else "bin/python"
    pip = [str(tmp_path / "oldest" / place), "-m", "pip", "--quiet"]
    run(*pip, "install", needed.replace(">=", "=="), cwd=tmp_path)
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", str(ROOT), cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        assert b"License-Expression: BSD-3-Clause" in archive.read(name)

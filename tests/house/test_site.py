"""The site: every page is listed, every public name is in the reference, figures are measured."""

import csv
import importlib.util
import re
import tomllib
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import mvdfq

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [path for path in DOCS.rglob("*.md") if not {"api", "gallery"} & {*path.parts}]


def listed():
    """Pages that a list of pages names, by their path from docs without an ending."""
    found = {"index"}
    for page in PAGES:
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), re.DOTALL):
            lines = [line for line in block.split("\n") if line and not line.startswith(":")]
            names = [re.sub(r".*<(.*)>", r"\1", line) for line in lines]
            found |= {(page.parent / name).relative_to(DOCS).as_posix() for name in names}
    return found


def test_every_page_is_in_a_list_and_every_entry_exists():
    pages = {page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES}
    assert pages - listed() == set(), "add the page to a toctree: docs/background.md, say"
    assert listed() - pages == {"api", "gallery/index"}


def test_every_public_name_is_in_the_reference():
    names = set(re.findall(r"^   (\w+)$", (DOCS / "api.rst").read_text(), re.MULTILINE))
    public = {*mvdfq.__all__, *mvdfq.io.__all__, *mvdfq.reproduce.__all__} - {"__version__"}
    assert public - {"io", "reproduce", "figures"} - names == set()


def test_every_decision_is_in_the_index():
    page = (DOCS / "decisions.md").read_text()
    titles = re.findall(r"^## (\d+)\. (.*)$", page, re.MULTILINE)
    anchors = [
        re.sub(r"[^\w\- ]", "", f"{n} {title}".lower()).replace(" ", "-") for n, title in titles
    ]
    index = page[: page.index("\n## ")]
    assert sorted(re.findall(r"\[(\d+)\]\(#", index), key=int) == [n for n, _ in titles]
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) == set(anchors)


def test_the_figures_of_the_decision_on_temperatures_are_measured():
    page = (DOCS / "decisions.md").read_text()
    with open(ROOT / "benchmarks/results/probabilities.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for labels, n in product(("true", "shuffled"), ("15", "30", "60")):
        mine = [row for row in rows if (row["labels"], row["cases"]) == (labels, n)]
        values = np.array(
            [[float(row[k]) for k in ("shares", "not shrunk", "shrunk")] for row in mine]
        )
        worst = (values[:, 1:] - values[:, :1]).max(axis=0)
        cells = " | ".join(f"{value:.3f}" for value in [*values.mean(axis=0), *worst])
        assert f"| {labels} | {n} | {cells} |" in page


GUIDE = [page for page in sorted((DOCS / "guide").glob("*.md")) if page.stem != "index"]


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.stem)
def test_a_page_of_the_guide_has_a_picture_its_cost_and_an_example(page):
    text = page.read_text()
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
    assert pictures
    assert all((page.parent / name).is_file() for name in pictures)
    assert re.search(r"\bcost\b", text, re.IGNORECASE)
    assert "```python" in text or "```sh" in text


def test_the_figures_of_the_comparison_are_measured():
    path = ROOT / "tools" / "write_comparison.py"
    spec = importlib.util.spec_from_file_location("write_comparison", path)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    for path in tool.PAGES:
        page = path.read_text()
        assert tool.filled(page) == page, "run python tools/write_comparison.py"
        assert "| mvdfq, default" in page or "| plain words alone |" in page


def test_the_version_stands_in_one_place():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1] == (
        version
    )
    others = [*(ROOT / "src").rglob("*.py"), DOCS / "conf.py", ROOT / "Makefile"]
    assert [path for path in others if f'"{version}"' in path.read_text()] == []


@pytest.mark.parametrize("name", ["scaling", "reliability", "security"])
def test_pages_of_other_rooms_are_listed_if_present(name):
    assert (DOCS / f"{name}.md").exists() <= (name in listed())


def test_the_released_versions_of_python_are_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    said = {one.rpartition(" ")[2] for one in project["classifiers"] if ":: 3." in one}
    workflow = (ROOT / ".github/workflows/tests.yml").read_text()
    assert said == set(re.findall(r'"(3\.\d+)"', workflow))
    assert f">={min(said, key=lambda v: int(v[2:]))}" == project["requires-python"]
    assert "Unverified" in workflow

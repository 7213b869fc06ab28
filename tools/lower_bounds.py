"""Print the lower bounds of pyproject.toml as ``name==version``, for `make test-oldest`.

With --tests, print the test files that need no package of the group `dev` but pytest and
hypothesis; with --extras, the slow test files of the optional packages.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
# Groups that users install, without torch, whose oldest wheels have gigabytes of CUDA libraries.
GROUPS = ("plot", "tables", "cluster", "baselines")
# Slow test files of the packages of these groups, and of soundfile.
EXTRAS = ["io/test_audio.py", "reproduce/test_baselines.py", "classifier/test_cluster.py"]
# Packages of the tests that have no bound of ours.
OTHERS = re.compile(r"^\s*(?:import|from) (?:aeon|Bio|librosa|selenium|skops)\b", re.MULTILINE)


def lower_bounds() -> list[str]:
    """Return the lower bounds of the dependencies and of the groups that users install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = project["optional-dependencies"]
    wanted = sum((groups[name] for name in GROUPS), start=project["dependencies"])
    return [re.sub(r">=", "==", requirement) for requirement in wanted]


def tests() -> list[str]:
    """Return the test files that the lower bounds can run; benchmarks go by newer versions."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return [
        str(path.relative_to(ROOT))
        for path in files
        if not OTHERS.search(path.read_text()) and not path.name.startswith("test_bench")
    ]


def extras() -> list[str]:
    """Return the slow test files of the optional packages."""
    return [f"tests/{name}" for name in EXTRAS]


if __name__ == "__main__":
    functions = {"--tests": tests, "--extras": extras}
    print(*functions.get(sys.argv[-1], lower_bounds)())

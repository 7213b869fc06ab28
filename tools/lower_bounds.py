"""Print the lower bounds of pyproject.toml as ``name==version``, for `make test-oldest`.

With --tests, print the quick test files that need no package of the group `dev` but pytest and
hypothesis.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
# Packages of the tests that have no bound of ours.
OTHERS = re.compile(r"^\s*(?:import|from) (?:aeon|Bio|librosa|selenium|skops)\b", re.MULTILINE)


def lower_bounds() -> list[str]:
    """Return the lower bounds of the dependencies and of the groups that users install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = project["optional-dependencies"]
    wanted = [*project["dependencies"], *groups["plot"], *groups["tables"]]
    return [re.sub(r">=", "==", one) for one in wanted]


def tests() -> list[str]:
    """Return the test files that the lower bounds can run."""
    files = sorted((ROOT / "tests").glob("test_*.py"))
    return [str(one.relative_to(ROOT)) for one in files if not OTHERS.search(one.read_text())]


if __name__ == "__main__":
    print(*(tests() if "--tests" in sys.argv else lower_bounds()))

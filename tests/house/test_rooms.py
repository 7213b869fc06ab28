"""The architecture and the house rules, as tests."""

import ast
import copy
import pickle
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import mvdfq
from mvdfq._utils.errors import Sentence
from mvdfq.cli.errors import FLAGS, in_options

ROOT = Path(__file__).parents[2]
PACKAGE = Path(mvdfq.__file__).parent
SOURCES = sorted(set(PACKAGE.rglob("*.py")) - {PACKAGE / "__init__.py"})

# A room may import from itself and from rooms that stand before it, and from no other.
ROOMS = ["_utils", "_engines", "sequences", "frames", "symbols", "kernels", "gram", "terms"]
ROOMS += ["explain", "classifier", "evaluation", "io", "pages", "datasets", "reproduce", "cli"]
ROOMS += ["__main__"]


def room_of(path):
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@cache
def tree_of(path):
    return ast.parse(path.read_text())


def imported_modules(path):
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} imports relatively: write the whole name"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path):
    room = room_of(path)
    assert room in ROOMS, f"{room} has no place yet: say in ROOMS where it stands"
    for module in imported_modules(path):
        # The package itself is the shop window: rooms do not look through it from behind.
        package, _, rest = module.partition(".")
        if package == "mvdfq":
            other = rest.partition(".")[0]
            assert other in ROOMS[: ROOMS.index(room) + 1], f"{path} imports {module}"


def test_the_root_stays_short():
    entries = {path.stem for path in PACKAGE.iterdir() if path.suffix in ("", ".py")}
    entries -= {"__init__", "__main__", "__pycache__", "py"}
    assert len(entries) <= 16, sorted(entries)


def test_datasets_need_numpy_alone():
    for path in (path for path in SOURCES if room_of(path) == "datasets"):
        for module in imported_modules(path):
            top = module.partition(".")[0]
            assert top in sys.stdlib_module_names or top == "numpy" or ".datasets." in module


def test_naive_twins_lean_on_nothing_they_check():
    for path in ROOT.glob("tests/naive/*.py"):
        assert not [module for module in imported_modules(path) if module.startswith("mvdfq")]


@pytest.mark.slow
def test_no_test_file_imports_another():
    # What two test files share lies in tests/cases.py and in the modules beside it.
    tests = sorted((ROOT / "tests").rglob("*.py"))
    for path in [*tests, *ROOT.glob("tools/*.py"), *ROOT.glob("benchmarks/*.py")]:
        found = [module for module in imported_modules(path) if module.startswith("test_")]
        assert not found, f"{path.name} imports {found}: move what it needs to tests/cases.py"


def test_the_library_does_not_print():
    for path in SOURCES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "print", f"{path}:{node.lineno} prints"


def texts(path):
    """The texts of a file that are not documentation, f-strings with X for their values."""
    tree = tree_of(path)
    documented = ast.Module | ast.ClassDef | ast.FunctionDef
    skipped = {ast.get_docstring(node, clean=False)
               for node in ast.walk(tree) if isinstance(node, documented)}  # fmt: skip
    for node in ast.walk(tree):
        pieces = node.values if isinstance(node, ast.JoinedStr) else [node]
        values = [piece.value if isinstance(piece, ast.Constant) else "X" for piece in pieces]
        if all(isinstance(value, str) for value in values) and values[0:1] != ["X"] * len(pieces):
            yield from {"".join(values)} - skipped


def test_texts_keep_parameters_apart():
    # The command line writes --id NAME, which it can only do with the pieces of a Sentence.
    named = "|".join(set(FLAGS) - {"C", "id", "preset", "missing"})
    named = re.compile(rf"(?<![\w.('\"])({named}|id(?==NAME))=")
    rooms = [PACKAGE / room for room in ("_engines", "terms", "classifier", "evaluation", "io")]
    for path in (path for path in SOURCES if path.is_relative_to(PACKAGE) and
                 any(path.is_relative_to(room) for room in rooms)):  # fmt: skip
        for text in texts(path):
            assert not named.search(text), f"{path}: {text!r} needs a Sentence"


def test_a_sentence_keeps_its_pieces():
    text = Sentence("a: ", Sentence({"id": "NAME"}, " or ", {"pyramid": 1}))
    assert text == "a: id=NAME or pyramid=1"
    assert in_options(text) == "a: --id NAME or --pyramid 1"
    assert in_options(Sentence({"label_pattern": "_(.+)_"})) == "--label-pattern '_(.+)_'"
    for same in (pickle.loads(pickle.dumps(text)), str(ValueError(text)), copy.deepcopy(text)):
        assert same.pieces == text.pieces


def repository_files():
    """Files git tracks, or would track: what others will see."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [path for name in listed.stdout.splitlines() if (path := ROOT / name).is_file()]


def test_no_file_speaks_of_the_machine_it_was_written_on():
    # Paths of one machine and places packages come from; split, for this is a file as well.
    forbidden = ["/" + folder + "/" for folder in ("work", "root", "home", "tmp")]
    forbidden += ["../" + "shared", "index" + "-url", "index" + "_url", "find" + "-links"]
    for path in repository_files():
        text = path.read_bytes().decode("utf-8", errors="ignore")
        if path.relative_to(ROOT) == Path(".ci/run"):
            text = text.replace("../" + "shared", "")  # the one file that may know its neighbour
        found = [words for words in forbidden if words in text]
        assert not found, f"{path} contains {found}"

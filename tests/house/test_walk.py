"""The map in CONTRIBUTING.md names the files that fit, predict and explain really pass through."""

import copy
import re
import sys
import threading
from pathlib import Path

import pytest

import mvdfq

ROOT = Path(__file__).parents[2]
PACKAGE = Path(mvdfq.__file__).parent
PRESETS = {"default": None, "preset of the paper": "mvdfqm-sssk"}
# Rooms whose files the map names; of other rooms it names the room.
MAPPED = ("classifier", "terms", "explain")
EVERYWHERE = "_utils"


def named(call, column):
    """Return the rooms and files that the table of a call names in a column."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    table = re.search(rf"^One `{call}`.*?:\n\n(\|.*?)\n\n", page, re.DOTALL | re.MULTILINE)[1]
    header, _, *lines = [row.strip("| ").split(" | ") for row in table.splitlines()]
    cells = [dict(zip(header, line, strict=True)) for line in lines]
    texts = [row["default"] if row[column] == "the same" else row[column] for row in cells]
    return {name for text in texts for name in re.findall(r"`([^`]+)`", text)}


def passed(call):
    """Run a function; return the files of mapped rooms, and the other rooms, that it enters."""
    files = set()

    def see(frame, event, _):
        if event == "call" and frame.f_code.co_name != "<module>":
            files.add(frame.f_code.co_filename)

    threading.setprofile(see)
    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    paths = [Path(file).relative_to(PACKAGE) for file in files if file.startswith(str(PACKAGE))]
    return {p.as_posix() if p.parts[0] in MAPPED else f"{p.parts[0]}/" for p in paths} - {
        f"{EVERYWHERE}/"
    }


@pytest.mark.slow
@pytest.mark.parametrize("column", PRESETS)
def test_the_map_names_the_files_that_a_call_passes_through(column):
    X, y = mvdfq.load_japanese_vowels(split="train")
    # the first call imports files, and compiles loops
    mvdfq.SequenceClassifier(PRESETS[column]).fit(X[::9], y[::9]).explain(X[0])
    clf = mvdfq.SequenceClassifier(PRESETS[column])
    assert passed(lambda: clf.fit(X[::3], y[::3])) == named("fit", column)
    fresh = copy.deepcopy(clf)  # its word tables are not made yet
    assert passed(lambda: clf.predict(X[:2])) == named("predict", column)
    explained = passed(lambda: print(why := fresh.explain(X[0]), *why.top()))
    assert explained == named("predict", column) | named("explain", column)

"""The reader in CONTRIBUTING.md is carried out: one file, one record, all ways to read."""

import gzip
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from mvdfq.io import ReadError, read, recognise, recognition

TEXT = "!spaced\nup 1 2 3\ndown 4 5\n"


@pytest.fixture(autouse=True)
def spaced():
    """Run the code block, and list its record where the records are listed."""
    page = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page[page.index("### A reader") :]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]
    module: dict = {"__name__": "spaced"}
    exec(compile(code, "spaced.py", "exec"), module)
    row = re.search(r"```text\n\s+(Format.*?),\n```", section, re.DOTALL)[1]
    record = eval(row, {"Format": recognition.Format, "spaced": SimpleNamespace(**module)})
    recognition.RECORDS.append(record)
    yield
    recognition.RECORDS.remove(record)


def test_a_file_is_recognised_and_read(tmp_path):
    path = tmp_path / "no ending"
    path.write_bytes(gzip.compress(TEXT.encode()))
    assert recognise(path) == "spaced"
    data = read(path)
    assert (data.X.lengths.tolist(), data.y.tolist()) == ([3, 2], ["up", "down"])
    assert len(read(path, "spaced")) == 2


def test_a_broken_line_is_named_or_skipped(tmp_path):
    path = tmp_path / "x.spaced"
    path.write_text(TEXT + "up 1 x\n")
    with pytest.raises(ReadError, match="line 4: value 2 is 'x', not a number"):
        read(path)
    assert len(read(path, skip_bad=True).skipped) == 1
    path.write_text("!spaced\n")
    with pytest.raises(ReadError, match="the file holds no sequences after its header"):
        read(path)


def test_two_files_are_one_data_set(tmp_path):
    for part in ("TRAIN", "TEST"):
        (tmp_path / f"toy_{part}.spaced").write_text(TEXT)
    assert read(tmp_path).split.tolist() == ["train"] * 2 + ["test"] * 2


def test_options_of_other_formats_are_refused(tmp_path):
    (tmp_path / "x.spaced").write_text(TEXT)
    with pytest.raises(ValueError, match="label has no meaning for the format spaced"):
        read(tmp_path / "x.spaced", label="a")

"""A folder of tables: one series per file, one time point per row."""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from mvdfq.io.base import Dataset, ReadError
from mvdfq.io.formats import Format, Glimpse
from mvdfq.io.long import Growing, by_key, chunks
from mvdfq.io.tables import COLUMNS, Columns, is_value, named_rows, rows_of
from mvdfq.io.text import Source

__all__ = ["FORMAT"]

METADATA = "metadata.csv"
ENDING = re.compile(r"\.(csv|tsv)(\.gz)?$", re.IGNORECASE)


def _is_csv_folder(glimpse: Glimpse) -> bool:
    """Is there a table in the folder whose first lines hold a number?"""
    files = csv_files(glimpse.path) if glimpse.path.is_dir() else []
    return bool(files) and any(re.search(r"\d", line) for line in Glimpse(files[0]).lines)


def csv_files(folder: Path) -> list[Path]:
    """Return the tables in a folder and its sub-folders, without hidden files and metadata.csv."""
    found = (path for path in folder.rglob("*") if ENDING.search(path.name))
    named = [(path.relative_to(folder), path) for path in found if path.name != METADATA]
    return [path for name, path in sorted(named) if not re.search(r"(^|/)\.", name.as_posix())]


def read_csv_folder(source: Source, **options: Any) -> Dataset:
    """Read a folder with one series per file; `read_series` says which options there are."""
    if not source.path.is_dir():
        source.fail("not a folder")
    columns, files = Columns(**options), csv_files(source.path)
    if not files:
        source.fail("no .csv file in the folder")
    facts = _facts(source, files, columns)
    growing = Growing(source, columns)
    for i, path in enumerate(files):
        name = path.relative_to(source.path).as_posix()
        who = growing.code("id", [name])[0]
        growing.paths[int(who)] = path
        try:
            _add_file(growing, Source(path, max_bytes=source.max_bytes), name, facts(path))
        except ReadError as error:
            growing.spoil(who, error.problem, error.hint)
        source.tell(i + 1, len(files))
    if not growing.chunks:
        source.fail("no file that can be read", str(next(iter(growing.bad.values()))))
    return growing.dataset()


def _facts(source: Source, files: Sequence[Path], columns: Columns) -> Any:
    """Return a function that gives label and group of a file, by metadata.csv or sub-folder."""
    if (source.path / METADATA).is_file():
        listed = _metadata(Source(source.path / METADATA), columns)
        return lambda path: _listed(listed, path, source.path)
    depths = {len(path.relative_to(source.path).parts) for path in files}
    if columns.label is None or depths == {1}:
        return lambda path: {}
    if depths != {2}:
        hint = f"make one folder per class, or write {METADATA} with file_name,label"
        source.fail("files must all lie in the folder, or all in sub-folders of the folder", hint)
    return lambda path: {"label": path.parent.name}


def _metadata(source: Source, columns: Columns) -> dict[str, dict[str, str]]:
    keys = {"label": str(columns.label), "group": columns.group}
    listed: dict[str, dict[str, str]] = {}
    for line, row in named_rows(source, ["file_name"], list(keys.values())):
        if row["file_name"] in listed:
            source.fail(f"line {line}: {row['file_name']!r} a second time")
        listed[row["file_name"]] = {key: row[name] for key, name in keys.items() if name in row}
    return listed


def _listed(listed: Mapping[str, dict[str, str]], path: Path, folder: Path) -> dict[str, str]:
    name = path.relative_to(folder).as_posix()
    if name not in listed:
        raise ReadError(path, f"not listed in {METADATA}")
    return listed[name]


def _add_file(growing: Growing, file: Source, name: str, facts: Mapping[str, str]) -> None:
    """Add a file whose rows are time points and whose header names the channels."""
    rows = rows_of(file)
    number, first = next(rows, (0, []))
    if not first:
        file.fail("the file is empty")
    is_header = not all(map(is_value, first))
    header = first if is_header else [str(i) for i in range(len(first))]
    places = _check_file(growing, file, header, is_header)
    done = 0
    for chunk in chunks(rows if is_header else chain([(number, first)], rows)):
        for line, row in chunk:
            if len(row) != len(header):
                file.fail(f"line {line}: {len(row)} cells, the first line has {len(header)}")
        lines, cells = zip(*chunk, strict=True)
        keyed = {key: [word] * len(lines) for key, word in {"id": name, **facts}.items()}
        keyed["time"] = [str(i) for i in range(done, done + len(lines))]
        growing.add(lines, keyed | by_key(list(zip(*cells, strict=True)), header, places))
        done += len(lines)
    if not done:
        file.fail("a header, but no values")


def _check_file(
    growing: Growing, file: Source, header: list[str], is_header: bool
) -> dict[str, int]:
    """Compare the channels with the channels of the first file; return the place of the time."""
    columns, channels = growing.columns, growing.channels
    if columns.label in header and is_header:
        hint = f"labels come from sub-folders or {METADATA}; a long table is one file"
        file.fail(f"line 1: a column {columns.label!r} within one series", hint)
    found = Columns(label=None, time=columns.time).find(file, header)
    places = {key: place for key, place in found.items() if key == "time"}
    own = [name for name in header if name != columns.time]
    if not channels:
        growing.channels, growing.is_named = own, is_header
    elif own != channels or is_header != growing.is_named:
        file.fail(f"line 1: channels {own[:20]}, other files have {channels[:20]}")
    return places


FORMAT = Format("csv-folder", _is_csv_folder, read_csv_folder, options=COLUMNS, is_series=True)

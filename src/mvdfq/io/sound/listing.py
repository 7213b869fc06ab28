"""The sound files of a folder; their places in the folder give names, classes and groups."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq.io.dataset import Case, Dataset, dataset_of
from mvdfq.io.sound.decoding import MEND, meant_as_sound, shown, unreadable
from mvdfq.io.source import ReadError, Source, check_inside
from mvdfq.io.tables.csv_tables import METADATA, named_rows


def list_audio(path: Any) -> Dataset:
    """List the sound files of a folder with their classes and groups, without reading them.

    Files in a folder that are not sound, such as pictures of covers, are passed over.

    Parameters
    ----------
    path : str, Path or list of these
        A folder, a file, or several files, as in `read_audio`.

    Returns
    -------
    listing : Dataset
        `X` is an array of the paths; `skipped` holds the problems of the folder.

    Examples
    --------
    >>> from mvdfq.io import list_audio
    >>> list_audio(["7_anna_1.wav", "7_ben_1.wav"]).names
    ['7_anna_1.wav', '7_ben_1.wav']
    """
    paths = [path] if isinstance(path, str | os.PathLike) else path
    source = Source(Path("."), skip_bad=True)
    if paths is not path and os.path.isdir(path):
        has_table = os.path.isfile(os.path.join(path, METADATA))
        found = (_from_metadata if has_table else _from_folders)(Path(path), source)
    else:
        for one in paths:
            if not isinstance(one, str | os.PathLike):
                raise TypeError(f"path must hold paths of files, got {type(one).__name__}.")
        found = [Case(Path(one), name=os.fspath(one)) for one in paths]
    cases = []
    for case in found:
        if shown(case.name) == case.name:
            cases.append(case)
        else:
            _refuse(source, case.values, "the name is not valid UTF-8", "rename the file")
    source.skipped.sort(key=lambda problem: problem.path)
    return dataset_of(source, cases, lambda files: np.array(files, dtype=object))


def _refuse(source: Source, path: Path, problem: str, hint: str) -> None:
    source.leave_out(ReadError(shown(path), problem, hint))


def _from_folders(root: Path, source: Source) -> list[Case]:
    """List a folder with one sub-folder per class, or a folder of files without classes."""
    entries = _entries(root, root, source)
    folders = [entry for entry in entries if os.path.isdir(entry)]
    found: list[Path] = []
    for folder in folders:
        before = len(found), len(source.skipped)
        found += _walk(folder, root, source, (os.path.realpath(root),))
        if before == (len(found), len(source.skipped)):
            hint = "put the files of the class into the folder, or remove the folder"
            _refuse(source, folder, "is an empty folder", hint)
    sound = list(filter(meant_as_sound, found))
    has_classes = bool(sound or source.skipped)
    beside = [entry for entry in entries if entry not in folders]
    alone = list(filter(meant_as_sound, beside))
    for file in alone if has_classes else ():
        hint = "move the file into the folder of its class"
        _refuse(source, file, "lies beside the class folders", hint)
    passed = sorted(shown(file.relative_to(root)) for file in {*found, *beside} - {*sound, *alone})
    if n := len(passed):
        files = "1 file that is" if n == 1 else f"{n} files that are"
        few = f"{', '.join(passed[:5])}{', ...' if n > 5 else ''}"
        source.remark(f"passed over {files} not sound: {few}")
    if not has_classes:
        return [Case(file, name=file.name) for file in alone]
    inside = [(file, file.relative_to(root)) for file in sound]
    return [Case(file, place.parts[0], place.as_posix()) for file, place in inside]


def _walk(folder: Path, root: Path, source: Source, above: tuple[str, ...]) -> Iterator[Path]:
    """Yield all files below a class folder; follow links, but not in circles and not outside."""
    here = os.path.realpath(folder)
    if here in above:
        _refuse(source, folder, "is a link to a folder that contains the link", "remove the link")
        return
    for entry in _entries(folder, root, source):
        if os.path.isdir(entry):
            yield from _walk(entry, root, source, (*above, here))
        else:
            yield entry


def _entries(folder: Path, root: Path, source: Source) -> list[Path]:
    """Return the files and folders in a folder, sorted by name, without hidden ones."""
    try:
        names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError as error:
        source.leave_out(unreadable(folder, error))
        return []
    entries = []
    for path in (folder / name for name in names):
        try:
            check_inside(path, root)
            entries.append(path)
        except ReadError as error:
            _refuse(source, path, error.problem, error.hint)
    return entries


def _from_metadata(root: Path, source: Source) -> list[Case]:
    """List the files that metadata.csv names, in the order of the table."""
    source.path = root / METADATA
    check_inside(source.path, root)
    cases: dict[str, Case] = {}
    for line, row in named_rows(source, ["file_name", "label"], ["group"]):
        name, problem = row["file_name"], ""
        if absent := [key for key in ("file_name", "label", "group") if not row.get(key, "-")]:
            problem = f"no {absent[0]}"
        elif os.path.isabs(name) or ".." in Path(name).parts:
            problem = f"{name!r} lies outside the folder"
        elif name in cases:
            problem = f"{name!r} is listed a second time"
        elif not (root / name).resolve().is_relative_to(root.resolve()):
            problem = f"{name!r} is a link that leads out of the folder"
        elif not os.path.isfile(root / name):
            problem = f"there is no file {name!r}"
        if problem:
            source.skip(f"line {line}: {problem}", MEND)
        else:
            cases[name] = Case(root / name, row["label"], name, row.get("group"))
    return list(cases.values())

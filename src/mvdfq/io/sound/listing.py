"""The sound files of a folder; their places in the folder give names, classes and groups."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq._utils.short import Short
from mvdfq.io.dataset import Dataset
from mvdfq.io.labelling import Elsewhere
from mvdfq.io.sound.decoding import MEND, meant_as_sound, shown, unreadable
from mvdfq.io.source import ReadError, Source, check_inside
from mvdfq.io.tables.csv_tables import METADATA, named_rows


@dataclass(repr=False)
class AudioListing(Short):
    """The sound files of a folder, and their names, labels and groups.

    Labels and groups are empty lists if the folder does not name them. Problems of the folder are
    in the order of names, or of `metadata.csv`. Files in a folder that are not sound, such as
    pictures of covers, are passed over.
    """

    files: list[Path] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    problems: list[ReadError] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)
    # How the table of files was read.
    notes: list[str] = field(default_factory=list)

    @property
    def remarks(self) -> list[str]:
        """Say which files were passed over, in one line."""
        n, some = len(self.passed_over), ", ".join(sorted(self.passed_over)[:5])
        if not n:
            return self.notes
        files = "1 file that is" if n == 1 else f"{n} files that are"
        return [*self.notes, f"passed over {files} not sound: {some}{', ...' if n > 5 else ''}"]

    @property
    def n_seen(self) -> int:
        """Number of files that were looked at, sound or not."""
        return len(self.files) + len(self.problems) + len(self.passed_over)

    def add(self, file: Path, name: str, label: str | None, group: str | None = None) -> None:
        """Add a file, or note why it cannot be added."""
        if shown(name) != name:
            self.refuse(file, "the name is not valid UTF-8", "rename the file")
            return
        self.files.append(file)
        self.names.append(name)
        self.labels += [] if label is None else [label]
        self.groups += [] if group is None else [group]

    def add_sound(self, file: Path, name: str, label: str | None) -> None:
        """Add a file if it is meant as sound, and pass over all others."""
        if meant_as_sound(file):
            self.add(file, name, label)
        else:
            self.passed_over.append(shown(name))

    def refuse(self, path: Path, problem: str, hint: str) -> None:
        """Note what is wrong with a file or folder."""
        self.problems.append(ReadError(shown(path), problem, hint))

    def label(self, elsewhere: Elsewhere) -> None:
        """Take labels and groups from elsewhere; leave out files without them."""
        X, y, groups = np.arange(len(self.files)), self.column("labels"), self.column("groups")
        data = Dataset(X, y, self.names, groups)
        if self.files:
            data = elsewhere.applied(data, Source(Path("."), skip_bad=True))
        self.keep(data.X.tolist())
        self.problems += data.skipped
        self.notes += data.remarks
        self.labels, self.groups = (
            [] if values is None else values.tolist() for values in (data.y, data.groups)
        )

    def column(self, name: str) -> np.ndarray | None:
        """Return labels or groups as an array; None if the folder does not name them."""
        values = getattr(self, name)
        return np.array(values) if values else None

    def keep(self, kept: list[int]) -> None:
        """Keep the files with these indices, and leave out all others."""
        columns: list[list[Any]] = [self.files, self.names, self.labels, self.groups]
        for values in columns:
            values[:] = [values[i] for i in kept] if values else []


def list_audio(path: Any) -> AudioListing:
    """List the sound files of a folder with their classes and groups, without reading them.

    Parameters
    ----------
    path : str, Path or list of these
        A folder, a file, or several files, as in `read_audio`.

    Returns
    -------
    listing : AudioListing
        The files, and the problems of the folder.

    Examples
    --------
    >>> from mvdfq.io import list_audio
    >>> list_audio(["7_anna_1.wav", "7_ben_1.wav"]).names
    ['7_anna_1.wav', '7_ben_1.wav']
    """
    paths = [path] if isinstance(path, str | os.PathLike) else path
    if paths is not path and os.path.isdir(path):
        has_table = os.path.isfile(os.path.join(path, METADATA))
        return (_from_metadata if has_table else _from_folders)(Path(path))
    listing = AudioListing()
    for one in paths:
        if not isinstance(one, str | os.PathLike):
            raise TypeError(f"path must hold paths of files, got {type(one).__name__}.")
        listing.add(Path(one), os.fspath(one), None)
    return listing


def _from_folders(root: Path) -> AudioListing:
    """List a folder with one sub-folder per class, or a folder of files without classes."""
    listing = AudioListing()
    entries = _entries(root, root, listing)
    folders = [entry for entry in entries if os.path.isdir(entry)]
    for folder in folders:
        before = listing.n_seen
        _walk(folder, root, listing, (_identity(root),))
        if listing.n_seen == before:
            hint = "put the files of the class into the folder, or remove the folder"
            listing.refuse(folder, "is an empty folder", hint)
    has_classes = bool(listing.files or listing.problems)
    for entry in (entry for entry in entries if entry not in folders):
        if has_classes and meant_as_sound(entry):
            hint = "move the file into the folder of its class"
            listing.refuse(entry, "lies beside the class folders", hint)
        else:
            listing.add_sound(entry, entry.name, None)
    listing.problems.sort(key=lambda problem: problem.path)
    return listing


def _walk(folder: Path, root: Path, listing: AudioListing, above: tuple[Any, ...]) -> None:
    """Add all files below a class folder; follow links, but not in circles and not outside."""
    here = _identity(folder)
    if here in above:
        listing.refuse(folder, "is a link to a folder that contains the link", "remove the link")
        return
    for entry in _entries(folder, root, listing):
        if os.path.isdir(entry):
            _walk(entry, root, listing, (*above, here))
        else:
            parts = entry.relative_to(root).parts
            listing.add_sound(entry, "/".join(parts), parts[0])


def _identity(folder: Path) -> tuple[int, int]:
    status = os.stat(folder)
    return status.st_dev, status.st_ino


def _entries(folder: Path, root: Path, listing: AudioListing) -> list[Path]:
    """Return the files and folders in a folder, sorted by name, without hidden ones."""
    try:
        names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError as error:
        listing.problems.append(unreadable(folder, error))
        return []
    entries = []
    for path in (folder / name for name in names):
        try:
            check_inside(path, root)
            entries.append(path)
        except ReadError as error:
            listing.refuse(path, error.problem, error.hint)
    return entries


def _from_metadata(root: Path) -> AudioListing:
    """List the files that metadata.csv names, in the order of the table."""
    check_inside(root / METADATA, root)
    source, listing = Source(root / METADATA, skip_bad=True), AudioListing()
    seen: set[str] = set()
    for line, row in named_rows(source, ["file_name", "label"], ["group"]):
        problem = _row_problem(row, root, seen)
        seen.add(row["file_name"])
        if problem:
            source.skip(f"line {line}: {problem}", MEND)
        else:
            listing.add(root / row["file_name"], row["file_name"], row["label"], row.get("group"))
    listing.problems += source.skipped
    listing.notes += source.remarks
    return listing


def _row_problem(row: dict[str, str], root: Path, seen: set[str]) -> str | None:
    """Say what is wrong with a row of the table; None if nothing is wrong."""
    for column in ("file_name", "label", "group"):
        if not row.get(column, "-"):
            return f"no {column}"
    name = row["file_name"]
    if os.path.isabs(name) or ".." in Path(name).parts:
        return f"{name!r} lies outside the folder"
    if name in seen:
        return f"{name!r} is listed a second time"
    if not (root / name).resolve().is_relative_to(root.resolve()):
        return f"{name!r} is a link that leads out of the folder"
    return None if os.path.isfile(root / name) else f"there is no file {name!r}"

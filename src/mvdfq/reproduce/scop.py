"""Proteins and the families to find among them, read from a folder."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from mvdfq.io.letters.fasta import read_records
from mvdfq.io.letters.labels import ROLES, HomologyTask, homology_tasks, read_splits
from mvdfq.io.letters.profiles import read as read_profiles
from mvdfq.io.letters.residues import substitution_rows
from mvdfq.io.source import ReadError, Source, read_lines
from mvdfq.reproduce.store import Shelf
from mvdfq.sequences import Sequences

# Class, fold, superfamily and family, as SCOP writes them after the id: "1.27.1.2" or "a.1.1.2".
CODE = re.compile(r"\w+\.\d+\.\d+\.\d+")
# Marks in the file of SCOP 1.59: not used, or one of the roles.
MARKS = dict(zip("01234", ["", *ROLES], strict=True))
PROFILE_VIEWS = ("log-odds", "probabilities")
FASTA = ("*.fasta", "*.fasta.gz", "*.fa", "*.fa.gz")
ROLE_FILES = ("*.tsv", "*.tsv.gz", "*.txt", "*.txt.gz", "*.csv", "*.csv.gz")


@dataclass(frozen=True, eq=False)
class ProteinSet:
    """Proteins, the SCOP family of each protein, and one task per family."""

    name: str
    strings: list[str]
    names: list[str]
    codes: np.ndarray
    tasks: list[HomologyTask]
    profiles: Path | None = None  # their folder
    _read: Shelf = field(default_factory=lambda: Shelf(1), repr=False)

    def __len__(self) -> int:
        return len(self.strings)

    @property
    def classes(self) -> list[str]:
        """The families."""
        return [task.family for task in self.tasks]

    def view(self, name: str) -> Any:
        """Return the proteins in one form; only the last form stays in memory."""
        if name == "letters":
            return self.strings
        if name in PROFILE_VIEWS:
            return self._read.once(name, lambda: self._profiles(name))
        return self._read.once(name, lambda: substitution_rows(self.strings))

    def _profiles(self, values: str) -> Sequences:
        """Return the profiles in the order of the proteins, as "log-odds" or "probabilities"."""
        assert self.profiles is not None  # cells of profiles are not run without profiles
        read = read_profiles(Source(self.profiles), values)
        places = {name: i for i, name in enumerate(read.names)}
        lacking = [name for name in self.names if name not in places]
        if lacking:
            hint = "a profile is needed for every sequence that is used, named by its id"
            raise ReadError(self.profiles, f"no profile of {lacking[0]!r}", hint)
        return read.take([places[name] for name in self.names]).X

    @cached_property
    def digest(self) -> str:
        """A digest of the proteins and tasks."""
        return joblib.hash((self.strings, self.codes.tolist(), self.tasks))

    @cached_property
    def profiles_digest(self) -> str:
        """A digest of the profiles; empty without profiles."""
        if self.profiles is None:
            return ""
        files = sorted(path for path in self.profiles.rglob("*") if path.is_file())
        return joblib.hash([joblib.hash(path.read_bytes()) for path in files])

    def small(self, n_tasks: int = 3, n_positive: int = 12, n_negative: int = 60) -> "ProteinSet":
        """Return a part for a smoke run: a few tasks, and a few proteins of every role."""

        def kept(y: np.ndarray) -> np.ndarray:  # the first positives, evenly spaced negatives
            positive, negative = np.flatnonzero(y)[:n_positive], np.flatnonzero(~y)
            chosen = np.linspace(0, len(negative) - 1, min(n_negative, len(negative))).astype(int)
            return np.sort(np.concatenate([positive, negative[chosen]]))

        tasks = []
        for t in self.tasks[:n_tasks]:
            a, b = kept(t.y_train), kept(t.y_test)
            tasks.append(HomologyTask(t.family, t.train[a], t.test[b], t.y_train[a], t.y_test[b]))
        return replace(self._with(tasks), name=f"{self.name}, a part")

    def _with(self, tasks: list[HomologyTask]) -> "ProteinSet":
        """Return some tasks, and the proteins that they need."""
        used = np.unique(np.concatenate([part for t in tasks for part in (t.train, t.test)]))
        moved = [
            replace(t, train=np.searchsorted(used, t.train), test=np.searchsorted(used, t.test))
            for t in tasks
        ]
        strings, names = [self.strings[i] for i in used], [self.names[i] for i in used]
        known: Any = {"strings": strings, "names": names, "codes": self.codes[used]}
        return replace(self, **known, tasks=moved, _read=Shelf(1))


def load_scop(folder: str | Path) -> ProteinSet:
    """Read proteins and tasks of remote homology detection from a folder.

    Two forms are known. Liao and Noble: ``sequences.fasta`` and ``splits.tsv``, plain or gzipped,
    with lines ``family role id``. The SCOP 1.59 set of the paper: one FASTA file, and one file of
    roles with one line per sequence and one column per family: 0 is not used, 1 and 2 are positive
    and negative in training, 3 and 4 in the test. A first line may name the families. A first
    column may name the sequences; without it the lines follow the FASTA file. Sequences without a
    role are left out. Profiles are read from the folder ``profiles`` beside these files.
    """
    folder = Path(folder)
    strings, codes = _proteins(_only(folder, FASTA, "a FASTA file (.fasta or .fa)"))
    if splits := sorted(folder.glob("splits.tsv*")):
        name, roles = "Liao-Noble SCOP 1.53", read_splits(splits[0])
    else:
        path = _only(folder, ROLE_FILES, "a file of roles (.tsv, .txt or .csv), or splits.tsv")
        name, roles = "SCOP 1.59", _read_marks(path, list(strings))
    try:
        tasks = homology_tasks(strings, roles)
    except ValueError as error:
        raise ReadError(folder, str(error).rstrip(".")) from None
    profiles = folder / "profiles" if (folder / "profiles").is_dir() else None
    return ProteinSet(name, [*strings.values()], [*strings], codes, tasks, profiles)._with(tasks)


def _only(folder: Path, patterns: Iterable[str], what: str) -> Path:
    """Return the one file of a kind that a folder holds."""
    files = sorted(path for pattern in patterns for path in folder.glob(pattern))
    if len(files) != 1:
        names = ", ".join(path.name for path in files) or "none"
        raise ReadError(folder, f"expected {what}, found {names}", "exactly one file is needed")
    return files[0]


def _proteins(path: Path) -> tuple[dict[str, str], np.ndarray]:
    """Return sequences by their ids, and the SCOP family of each; an unknown family is the id."""
    strings: dict[str, str] = {}
    codes = []
    for record in read_records(path):
        if not record.sequence or record.id in strings or not record.id:
            problem = "is there twice" if record.id in strings else "has no id or no residues"
            raise ReadError(path, f"line {record.line}: {record.id!r} {problem}")
        strings[record.id] = record.sequence
        code = CODE.match(record.header[len(record.id) :].strip())
        codes.append(code[0] if code else record.id)
    return strings, np.array(codes)


def _read_marks(path: Path, names: list[str]) -> dict[str, dict[str, list[str]]]:
    """Read the file of roles of SCOP 1.59: family -> role -> ids."""
    lines = [(number, re.split(r"[\s,;]+", line.strip())) for number, line in read_lines(path)]
    lines = [(number, fields) for number, fields in lines if fields != [""]]
    if not lines:
        raise ReadError(path, "holds no lines", "one is needed for every sequence")
    number, first = lines[0]
    header = [] if set(first[1:] or first) <= set(MARKS) else lines.pop(0)[1]
    has_ids = bool(lines) and lines[0][1][0] not in MARKS
    if not has_ids and len(lines) != len(names):
        problem = f"{len(lines)} lines for {len(names)} sequences"
        raise ReadError(path, problem, "without ids every sequence needs its line")
    n_families = len(lines[0][1]) - has_ids
    families = header[-n_families:] or [str(i + 1) for i in range(n_families)]
    if len(header) not in (0, n_families, n_families + has_ids) or len({*families}) < n_families:
        problem = f"line {number}: names of {n_families} families expected, all different"
        raise ReadError(path, problem)
    roles: dict[str, dict[str, list[str]]] = {f: {r: [] for r in ROLES} for f in families}
    for name, marks in _marks(path, lines, names, has_ids).items():
        for family, mark in zip(families, marks, strict=True):
            if MARKS[mark]:
                roles[family][MARKS[mark]].append(name)
    return roles


def _marks(path: Path, lines: list[Any], names: list[str], has_ids: bool) -> dict[str, list[str]]:
    """Return the marks of every sequence that has a line in the file."""
    known, rows = set(names), dict[str, list[str]]()
    for place, (number, fields) in enumerate(lines):
        name, marks = (fields[0], fields[1:]) if has_ids else (names[place], fields)
        strange = next((mark for mark in marks if mark not in MARKS), None)
        problem, hint = "", ""
        if len(fields) != len(lines[0][1]):
            problem = f"{len(fields)} columns, expected {len(lines[0][1])}"
        elif name not in known or name in rows:
            problem = f"{name!r} {'has two lines' if name in rows else 'is not in the FASTA file'}"
        elif strange is not None:
            problem, hint = f"{strange!r} is not a role", "roles are 0 to 4"
        if problem:
            raise ReadError(path, f"line {number}: {problem}", hint)
        rows[name] = marks
    return rows

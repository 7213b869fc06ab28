"""Proteins and the families to find among them, read from a folder."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from mvdfq.io.letters.fasta import read_records
from mvdfq.io.letters.labels import HomologyTask, homology_tasks, read_splits
from mvdfq.io.letters.profiles import read_profiles
from mvdfq.io.letters.residues import substitution_rows
from mvdfq.io.source import ReadError
from mvdfq.reproduce.store import Shelf
from mvdfq.sequences import Sequences

# Class, fold, superfamily and family, as SCOP writes them after the id: "1.27.1.2" or "a.1.1.2".
CODE = re.compile(r"\w+\.\d+\.\d+\.\d+")
# Sets by the number of their proteins.
KNOWN = {4352: "Liao-Noble SCOP 1.53", 7329: "SCOP 1.59"}
PROFILE_VIEWS = ("log-odds", "probabilities")
FASTA = ("*.fasta", "*.fasta.gz", "*.fa", "*.fa.gz")
SPLITS = ("splits.tsv", "splits.tsv.gz")


@dataclass(frozen=True, eq=False)
class ProteinSet:
    """Proteins, the SCOP family of each protein, and one task per family.

    `profiles` is the folder of the profiles, None without profiles.
    """

    name: str
    strings: list[str]
    names: list[str]
    codes: np.ndarray
    tasks: list[HomologyTask]
    profiles: Path | None = None
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
        is_profile = name in PROFILE_VIEWS
        read = self._profiles if is_profile else lambda _: substitution_rows(self.strings)
        return self._read.once(name, lambda: read(name))

    def _profiles(self, values: str) -> Sequences:
        """Return the profiles in the order of the proteins, as "log-odds" or "probabilities"."""
        if self.profiles is None:
            raise ValueError(f"{self.name} has no profiles.")
        read = read_profiles(self.profiles, values=values)
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
            some = np.linspace(0, len(negative) - 1, min(n_negative, len(negative))).astype(int)
            return np.sort(np.concatenate([positive, negative[some]]))

        tasks = []
        for task in self.tasks[:n_tasks]:
            train, test = kept(task.y_train), kept(task.y_test)
            parts = task.train[train], task.test[test], task.y_train[train], task.y_test[test]
            tasks.append(HomologyTask(task.family, *parts))
        return replace(self._with(tasks), name=f"{self.name}, a part")

    def _with(self, tasks: list[HomologyTask]) -> "ProteinSet":
        """Return some tasks, and the proteins that they need."""
        used = np.unique(np.concatenate([part for t in tasks for part in (t.train, t.test)]))
        moved = [
            replace(t, train=np.searchsorted(used, t.train), test=np.searchsorted(used, t.test))
            for t in tasks
        ]
        return replace(
            self,
            strings=[self.strings[i] for i in used],
            names=[self.names[i] for i in used],
            codes=self.codes[used],
            tasks=moved,
            _read=Shelf(1),
        )


def load_scop(folder: str | Path) -> ProteinSet:
    """Read proteins and tasks of remote homology detection from a folder.

    The folder holds one FASTA file, plain or gzipped, and ``splits.tsv`` with the columns family,
    role and id. Sequences without a role are left out. Profiles are read from the folder
    ``profiles`` beside these files.
    """
    folder = Path(folder)
    found = [_only(folder, *each) for each in ((FASTA, "a FASTA file"), (SPLITS, "splits.tsv"))]
    strings, codes = _proteins(found[0])
    try:
        tasks = homology_tasks(strings, read_splits(found[1]))
    except ValueError as error:
        raise ReadError(folder, str(error).rstrip(".")) from None
    profiles = folder / "profiles" if (folder / "profiles").is_dir() else None
    name = KNOWN.get(len(strings), "proteins")
    known = ProteinSet(name, [*strings.values()], [*strings], codes, tasks, profiles)
    return known._with(tasks)


def _only(folder: Path, patterns: Sequence[str], what: str) -> Path:
    """Return the one file of a kind that a folder holds."""
    files = sorted(path for pattern in patterns for path in folder.glob(pattern))
    if len(files) != 1:
        names = ", ".join(path.name for path in files) or "none"
        problem = f"expected {what} ({', '.join(patterns)}), found {names}"
        raise ReadError(folder, problem, "exactly one file is needed")
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
